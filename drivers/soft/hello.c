/* SPDX-License-Identifier: MIT */
/* Who may come in: version, user, process and settings are checked once, and every refusal is a sentence. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft/server.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int hello_reply(int sock, int status, const char *why, int ring)
{
	struct wire_welcome w = {
		.magic = WIRE_WELCOME_MAGIC, .status = status, .major = VINCI_UAPI_MAJOR, .minor = VINCI_UAPI_MINOR
	};
	struct iovec iov = { .iov_base = &w, .iov_len = sizeof(w) };

	(void)snprintf(w.why, sizeof(w.why), "%s", why);
	return client_send(sock, &iov, 1, ring) == sizeof(w) ? 0 : -EPIPE;
}

__attribute__((format(printf, 3, 4))) static int say(char *why, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, WIRE_WHY_MAX, format, args);
	va_end(args);
	return error;
}

/* --- settings ------------------------------------------------------------------------------ */

#define OTHER "; use another VINCI_INSTANCE, or end its clients first"

static int check_peers(const struct vinci_config *have, const struct wire_settings *want, char *why)
{
	uint64_t all = have->devices == 64 ? ~0ull : (1ull << have->devices) - 1;
	uint64_t mask;
	uint32_t d;

	for (d = 0; want->has_peers && d < have->devices; d++) {
		mask = all & ~(1ull << d);
		if ((want->peers[d] ^ have->peers[d]) & mask)
			return say(
				why, -EINVAL,
				"the running instance lets NPU %u reach the NPUs of mask %#llx, asked for: %#llx" OTHER,
				d, (unsigned long long)(have->peers[d] & mask),
				(unsigned long long)(want->peers[d] & mask));
	}
	return 0;
}

static int check_settings(const struct vinci_config *have, const struct wire_settings *want, char *why)
{
	if (want->devices && want->devices != have->devices)
		return say(why, -EINVAL, "the running instance has %u NPUs, asked for: %u" OTHER, have->devices,
			   want->devices);
	if (want->mem_bytes && want->mem_bytes != have->mem_bytes)
		return say(why, -EINVAL,
			   "the NPUs of the running instance have %llu bytes of memory, asked for: %llu" OTHER,
			   (unsigned long long)have->mem_bytes, (unsigned long long)want->mem_bytes);
	if (want->notify_limit && want->notify_limit != have->notify_limit)
		return say(why, -EINVAL, "the NPUs of the running instance have %u notifies, asked for: %u" OTHER,
			   have->notify_limit, want->notify_limit);
	if (want->soc[0] && strncmp((const char *)want->soc, have->soc, sizeof(have->soc)))
		return say(why, -EINVAL, "the running instance is of %s, asked for: %.*s" OTHER, have->soc,
			   (int)sizeof(want->soc), (const char *)want->soc);
	return check_peers(have, want, why);
}

/* Settings that a newer client may know and we do not must be unset. */
static int read_settings(const struct wire_hello *hello, const uint8_t *tail, size_t size, struct wire_settings *out,
			 char *why)
{
	size_t i;

	if (hello->pad || hello->settings_size != size)
		return say(why, -EPROTO, "the hello is malformed");
	memset(out, 0, sizeof(*out));
	memcpy(out, tail, size < sizeof(*out) ? size : sizeof(*out));
	for (i = sizeof(*out); i < size; i++)
		if (tail[i])
			return say(why, -EINVAL,
				   "the library asks for a setting that this vincid (version %d.%d) does not know",
				   VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR);
	return 0;
}

static int check_version(const struct wire_hello *hello, char *why)
{
	if (hello->major == VINCI_UAPI_MAJOR)
		return 0;
	return say(why, -EPROTO,
		   "the library speaks version %u.%u of the interface and vincid %d.%d: install one release of both",
		   hello->major, hello->minor, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR);
}

/* --- identity ------------------------------------------------------------------------------ */

static int open_pidfd(int sock, int32_t pid)
{
	socklen_t len = sizeof(int);
	int fd = -1;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	return (int)syscall(SYS_pidfd_open, pid, 0u); /* sets close-on-exec by itself */
}

static int check_user(struct client *client, const struct ucred *peer, char *why)
{
	if (client->server->any_user || peer->uid == geteuid() || !peer->uid)
		return 0;
	return say(why, -EPERM, "this vincid serves user %u, not user %u; give both a socket with VINCI_SOCKET",
		   (unsigned int)geteuid(), (unsigned int)peer->uid);
}

/*
 * The process that connected must be the one that says hello: a child that was forked in between would be
 * served under its parent's pidfd.
 */
static int identify(struct client *client, const struct ucred *sender, char *why)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int r;

	if (getsockopt(client->sock, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return say(why, -EPERM, "the kernel does not name the client");
	if (sender->pid <= 0 || peer.pid <= 0)
		return say(why, -EPERM,
			   "the process is in a pid namespace that vincid cannot see: share the host's (--pid=host), "
			   "or run vincid in the container");
	if (sender->pid != peer.pid)
		return say(why, -EPERM, "the connection was made by process %d, but process %d uses it", peer.pid,
			   sender->pid);
	if (check_user(client, &peer, why))
		return -EPERM;
	client->process.pid = peer.pid;
	client->process.uid = peer.uid;
	client->pidfd = open_pidfd(client->sock, peer.pid);
	if (client->pidfd < 0 && errno == ESRCH)
		return say(why, -ESRCH, "the process has ended");
	if (client->pidfd < 0)
		r = soft_process_start(peer.pid, &client->process.identity.start);
	else
		r = soft_process_start_fd(client->pidfd, peer.pid, &client->process.identity.start);
	if (r == -ENOSPC)
		return say(why, -EMFILE, "vincid has no descriptors left (ulimit -n)");
	/* Unknown (no /proc): no whitelist will match it, and that is all. */
	if (r)
		client->process.identity.start = 0;
	return 0;
}

static int admit(struct client *client, const struct wire_hello *hello, const uint8_t *tail, size_t tail_size,
		 const struct ucred *sender, char *why)
{
	struct wire_settings settings;
	int r = check_version(hello, why);

	if (!r)
		r = read_settings(hello, tail, tail_size, &settings, why);
	if (!r)
		r = identify(client, sender, why);
	if (!r)
		r = check_settings(soft_device_config(client->server->device), &settings, why);
	if (r)
		return r;
	r = client->pidfd >= 0 ? server_watch_pidfd(client->server, client) : 0;
	if (!r)
		r = soft_file_open(client->server->device, &client->process, &client->file);
	return r ? say(why, r, "vincid is out of resources (%s)", strerror(-r)) : 0;
}

int hello_answer(struct client *client, const void *message, size_t size, const struct ucred *sender)
{
	const size_t head = offsetof(struct wire_hello, settings);
	struct wire_hello hello = { 0 };
	char why[WIRE_WHY_MAX] = "";
	int ring = -1;
	int r, sent;

	if (size < head)
		return -EPROTO;
	memcpy(&hello, message, head);
	if (hello.magic != WIRE_HELLO_MAGIC)
		return -EPROTO;
	r = admit(client, &hello, (const uint8_t *)message + head, size - head, sender, why);
	if (!r)
		ring = ring_create(client);
	sent = hello_reply(client->sock, r, why, ring);
	if (ring >= 0)
		(void)close(ring);
	return r ? r : sent;
}
