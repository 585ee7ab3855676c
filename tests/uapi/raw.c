/* SPDX-License-Identifier: MIT */
#include "raw.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"

#define ANSWER_MS 10000

int raw_connect(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "vinci-%u-%s-%d", (unsigned int)geteuid(),
			 test_settings()->instance, VINCI_UAPI_MAJOR);

	assert_true(sock >= 0);
	assert_ok(connect(sock, (struct sockaddr *)&un,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)));
	return sock;
}

pid_t raw_server_pid(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	assert_ok(getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len));
	return peer.pid;
}

int raw_send(int sock, const void *message, size_t size)
{
	return send(sock, message, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

ssize_t raw_receive(int sock, void *message, size_t size, int *fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { message, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct cmsghdr *cmsg;
	ssize_t n;

	*fd = -1;
	if (poll(&p, 1, ANSWER_MS) != 1)
		return -ETIMEDOUT;
	n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cmsg), sizeof(*fd));
	return n;
}

int raw_hello(int sock, unsigned int major, unsigned int minor, struct wire_welcome *welcome, int *ring)
{
	struct wire_hello hello = {
		.magic = WIRE_HELLO_MAGIC, .major = (uint16_t)major, .minor = (uint16_t)minor,
		.settings_size = sizeof(hello.settings),
	};
	int fd;

	assert_ok(raw_send(sock, &hello, sizeof(hello)));
	assert_int_equal(raw_receive(sock, welcome, sizeof(*welcome), &fd), sizeof(*welcome));
	assert_int_equal(welcome->magic, WIRE_WELCOME_MAGIC);
	assert_int_equal(fd >= 0, !welcome->status);
	if (ring)
		*ring = fd;
	else if (fd >= 0)
		(void)close(fd);
	return welcome->status;
}

int raw_call(int sock, unsigned long request, void *arg, const void *array, size_t array_size, int *fd)
{
	static uint32_t seq;
	struct wire_request head = { .seq = ++seq, .request = (uint32_t)request, .array_size = (uint32_t)array_size };
	size_t size = _IOC_SIZE(request);
	uint8_t message[2048];
	struct wire_reply reply;
	int got = -1;
	ssize_t n;

	assert_true(sizeof(head) + size + array_size <= sizeof(message));
	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), arg, size);
	if (array_size)
		memcpy(message + sizeof(head) + size, array, array_size);
	if (raw_send(sock, message, sizeof(head) + size + array_size))
		return -EPIPE;
	n = raw_receive(sock, message, sizeof(message), &got);
	if (fd)
		*fd = got;
	else if (got >= 0)
		(void)close(got);
	if (n <= 0)
		return -EPIPE;
	assert_true((size_t)n >= sizeof(reply));
	memcpy(&reply, message, sizeof(reply));
	assert_int_equal(reply.seq, seq);
	if (!reply.ret) {
		assert_int_equal(n, sizeof(reply) + size);
		memcpy(arg, message + sizeof(reply), size);
	}
	return reply.ret;
}

int raw_is_dropped(int sock)
{
	uint8_t byte[64];
	int fd;

	return raw_receive(sock, byte, sizeof(byte), &fd) == 0;
}
