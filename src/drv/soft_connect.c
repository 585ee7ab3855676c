/* SPDX-License-Identifier: MIT */
/*
 * Meeting vincid. Who finds nobody listening starts one; who is disconnected before the welcome met an instance on its
 * way out, and tries again.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "drivers/soft/wire.h"
#include "drv/drv.h"
#include "drv/soft.h"

/* Give up after so long without a welcome. */
#define MEET_MS 20000

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool soft_may_repeat(int64_t *until)
{
	int64_t now = now_ms();

	if (!*until)
		*until = now + SOFT_ANSWER_MS;
	return now < *until;
}

static int address_path(const char *path, struct soft_address *address, char *why, size_t why_len)
{
	size_t len = strlen(path);

	if (!len || len >= sizeof(address->un.sun_path)) {
		(void)snprintf(why, why_len, "VINCI_SOCKET has %zu characters; a socket's path has 1 to %zu", len,
			       sizeof(address->un.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	memcpy(address->un.sun_path, path, len + 1);
	address->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
	address->is_path = true;
	return 0;
}

static int address_abstract(const char *instance, struct soft_address *address, char *why, size_t why_len)
{
	/* The leading NUL makes the name abstract: no file, gone with the socket. */
	size_t room = sizeof(address->un.sun_path) - 1;
	int len = snprintf(address->un.sun_path + 1, room, "vinci-%u-%s-%d", (unsigned int)geteuid(), instance,
			   VINCI_UAPI_MAJOR);

	if (len < 0 || (size_t)len >= room) {
		(void)snprintf(why, why_len, "VINCI_INSTANCE has %zu characters; at most %zu fit", strlen(instance),
			       room - 24);
		return -ENAMETOOLONG;
	}
	address->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
	return 0;
}

static int make_address(const struct drv_settings *settings, struct soft_address *address, char *why, size_t why_len)
{
	memset(address, 0, sizeof(*address));
	address->un.sun_family = AF_UNIX;
	if (settings->socket)
		return address_path(settings->socket, address, why, why_len);
	return address_abstract(settings->instance && *settings->instance ? settings->instance : "default", address,
				why, why_len);
}

/*
 * An abstract name can be taken by anybody, so the server must run as this user. A path was chosen by the user: its
 * owner, or root, may serve it.
 */
static int check_server(int sock, const struct soft_address *address, char *why, size_t why_len)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct stat st;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len)) {
		(void)snprintf(why, why_len, "the user of vincid is unknown (%s)", strerror(errno));
		return -errno;
	}
	if (peer.uid == geteuid())
		return 0;
	if (address->is_path && (!peer.uid || (!stat(address->un.sun_path, &st) && st.st_uid == peer.uid)))
		return 0;
	(void)snprintf(
		why, why_len,
		"the vincid of this instance runs as user %u, but this process as user %u; use another VINCI_INSTANCE, "
		"or give both a socket with VINCI_SOCKET",
		(unsigned int)peer.uid, (unsigned int)geteuid());
	return -EPERM;
}

static int set_limits(int sock)
{
	struct timeval limit = { .tv_sec = SOFT_ANSWER_MS / 1000 };
	int buffer = WIRE_MESSAGE_MAX + 4096;

	/* A smaller buffer than wanted only bounds how many pids fit one call. */
	(void)setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		return -errno;
	return 0;
}

static void make_hello(const struct drv_settings *settings, struct wire_hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	hello->magic = WIRE_HELLO_MAGIC;
	hello->major = VINCI_UAPI_MAJOR;
	hello->minor = VINCI_UAPI_MINOR;
	hello->settings_size = sizeof(hello->settings);
	hello->settings.devices = settings->devices;
	hello->settings.notify_limit = settings->notify_limit;
	hello->settings.mem_bytes = settings->mem_bytes;
	memcpy(hello->settings.soc, settings->soc, sizeof(hello->settings.soc));
	hello->settings.has_peers = settings->has_peers;
	if (settings->has_peers)
		memcpy(hello->settings.peers, settings->peers, sizeof(hello->settings.peers));
}

int soft_raise_fd(int fd)
{
	int high;

	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		high = -errno;
	(void)close(fd);
	return high;
}

int soft_take_fd(struct msghdr *msg)
{
	struct cmsghdr *cmsg;
	int fd = -1, extra;
	size_t i, n;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&extra, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
			if (fd < 0)
				fd = extra;
			else
				(void)close(extra);
		}
	}
	fd = fd < 0 ? fd : soft_raise_fd(fd);
	return fd < 0 ? -1 : fd;
}

static ssize_t receive(int sock, void *buffer, size_t size, int *fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buffer, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int64_t until = 0;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR && soft_may_repeat(&until));
	*fd = n < 0 ? -1 : soft_take_fd(&msg);
	return n;
}

static int send_hello(int sock, const struct drv_settings *settings)
{
	struct wire_hello hello;
	int64_t until = 0;
	ssize_t n;

	make_hello(settings, &hello);
	do
		n = send(sock, &hello, sizeof(hello), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR && soft_may_repeat(&until));
	return n < 0 ? -errno : 0;
}

/* -ECONNRESET: it left before it answered; come again. */
static int exchange_hello(int sock, const struct drv_settings *settings, int *ring, char *why, size_t why_len)
{
	struct wire_welcome welcome;
	ssize_t n;
	int r = send_hello(sock, settings);

	if (r == -EPIPE || r == -ECONNRESET || r == -ENOTCONN)
		return -ECONNRESET;
	n = r ? r : receive(sock, &welcome, sizeof(welcome), ring);
	if (!n || (n < 0 && errno == ECONNRESET))
		return -ECONNRESET;
	if (n < 0) {
		(void)snprintf(why, why_len, "vincid does not answer (%s): if it is stopped, continue it or end it",
			       strerror(r ? -r : errno));
		return -ETIMEDOUT;
	}
	if ((size_t)n < sizeof(welcome) || welcome.magic != WIRE_WELCOME_MAGIC) {
		(void)snprintf(why, why_len, "what listens at this address is not vincid");
		return -EPROTO;
	}
	if (!welcome.status)
		return 0;
	welcome.why[sizeof(welcome.why) - 1] = 0;
	(void)snprintf(why, why_len, "%s", welcome.why);
	return welcome.status < 0 && welcome.status > -4096 ? welcome.status : -EPROTO;
}

static int open_socket(void)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return sock < 0 ? -errno : soft_raise_fd(sock);
}

static int connect_once(const struct soft_address *address)
{
	int sock = open_socket();
	int64_t until = 0;
	int r;

	if (sock < 0)
		return sock;
	r = set_limits(sock);
	if (r)
		goto err_close;
	/* A full backlog makes connect() wait (SO_SNDTIMEO); after a signal it is simply called again. */
	do
		r = connect(sock, (const struct sockaddr *)&address->un, address->len) ? -errno : 0;
	while (r == -EINTR && soft_may_repeat(&until));
	if (!r)
		return sock;
err_close:
	(void)close(sock);
	return r;
}

static void connect_failed(const struct soft_address *address, int error, char *why, size_t why_len)
{
	if (error == -EACCES && address->is_path)
		(void)snprintf(
			why, why_len,
			"user %u may not connect to VINCI_SOCKET=%s: start vincid with --mode=0666, or let the user "
			"into its directory",
			(unsigned int)geteuid(), address->un.sun_path);
	else
		(void)snprintf(why, why_len, "vincid could not be reached (%s)", strerror(-error));
}

static int meet(const struct drv_settings *settings, const struct soft_address *address, int *ring, char *why,
		size_t why_len)
{
	int sock = connect_once(address);
	int r;

	if (sock < 0) {
		connect_failed(address, sock, why, why_len);
		return sock;
	}
	r = check_server(sock, address, why, why_len);
	if (!r)
		r = exchange_hello(sock, settings, ring, why, why_len);
	if (!r)
		return sock;
	if (*ring >= 0)
		(void)close(*ring);
	(void)close(sock);
	return r;
}

/* Nobody listens. Only an abstract address is ours to serve: a path is where the user keeps a vincid. */
static int nobody(const struct drv_settings *settings, const struct soft_address *address, int error, char *why,
		  size_t why_len)
{
	if (!address->is_path && !settings->no_start)
		return soft_launch(settings, address, why, why_len);
	if (!address->is_path) {
		(void)snprintf(why, why_len, "no vincid is running for this instance");
		return error;
	}
	(void)snprintf(why, why_len,
		       "no vincid listens at VINCI_SOCKET=%s (%s): start one there with vincid --socket=%s",
		       address->un.sun_path, strerror(-error), address->un.sun_path);
	return error;
}

int soft_connect(const struct drv_settings *settings, int *ring, char *why, size_t why_len)
{
	int64_t deadline = now_ms() + MEET_MS;
	struct soft_address address;
	int r = make_address(settings, &address, why, why_len);

	if (r)
		return r;
	(void)snprintf(why, why_len, "vincid could not be reached");
	while (now_ms() < deadline) {
		*ring = -1;
		r = meet(settings, &address, ring, why, why_len);
		if (r >= 0) {
			if (why_len)
				why[0] = 0;
			return r;
		}
		if (r == -ECONNREFUSED || (r == -ENOENT && address.is_path)) {
			r = nobody(settings, &address, r, why, why_len);
			if (r)
				return r;
			continue;
		}
		if (r != -ECONNRESET)
			break;
		if (address.is_path)
			(void)poll(NULL, 0, 1); /* an instance that leaves; it is started by others */
	}
	if (r == -EAGAIN || r == -ECONNRESET || !r) {
		(void)snprintf(why, why_len, "vincid was not ready within %d seconds", MEET_MS / 1000);
		return -ETIMEDOUT;
	}
	return r;
}
