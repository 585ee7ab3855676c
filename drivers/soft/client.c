/* SPDX-License-Identifier: MIT */
/* One client's messages: taken off the socket, checked, run, answered. Nothing here waits for a client. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/server.h"

/* One-way messages taken from one client in one round. */
#define ONE_WAY_MAX 4096u

/* Messages are received here and copied to their size when they have to stay. */
static uint64_t receive_buffer[WIRE_MESSAGE_MAX / sizeof(uint64_t) + 1];

/* --- coming and going ---------------------------------------------------------------------- */

int client_accept(struct server *server, int sock)
{
	struct client *client = calloc(1, sizeof(*client));
	int r = -ENOMEM;

	if (!client)
		goto err_close;
	client->server = server;
	client->sock = sock;
	client->pidfd = -1;
	INIT_LIST_HEAD(&client->held);
	r = server_watch_client(server, client);
	if (r)
		goto err_free;
	list_add_tail(&client->link, &server->clients);
	server->client_count++;
	return 0;

err_free:
	free(client);
err_close:
	(void)close(sock);
	return r;
}

/* The structure stays until the round is over: other events may still name it. */
void client_disconnect(struct client *client)
{
	struct server *server = client->server;

	if (client->is_dead)
		return;
	client->is_dead = true;
	/* What it closed before it went is closed, not lost. */
	if (client->file) {
		(void)ring_empty(client);
		soft_file_release(client->file);
	}
	ring_destroy(client);
	(void)close(client->sock);
	if (client->pidfd >= 0)
		(void)close(client->pidfd);
	free(client->message);
	client->message = NULL;
	list_del_init(&client->held);
	list_del_init(&client->link);
	list_add_tail(&client->link, &server->dead);
	server->client_count--;
}

/* --- arrays -------------------------------------------------------------------------------- */

/*
 * The caller's array, as far as it came with the message, and the one that goes back. Both are addressed by the
 * caller's own pointer; the first address used is the start.
 */
struct wire_user {
	struct soft_user user;
	const uint8_t *in;
	size_t in_size;
	uint64_t in_base;
	uint8_t *out; /* owned */
	size_t out_size;
	size_t out_room;
	uint64_t out_base;
};

static int user_read(struct soft_user *user, void *dst, uint64_t src, size_t size)
{
	struct wire_user *u = (struct wire_user *)user;

	if (!u->in_base)
		u->in_base = src;
	if (src < u->in_base || src - u->in_base > u->in_size || size > u->in_size - (src - u->in_base))
		return -EFAULT;
	memcpy(dst, u->in + (src - u->in_base), size);
	return 0;
}

static int out_grow(struct wire_user *u, size_t need)
{
	size_t room = u->out_room ? u->out_room : 1024;
	uint8_t *out;

	if (need > WIRE_LISTING_MAX)
		return -ENOSPC;
	while (room < need)
		room *= 2;
	out = realloc(u->out, room);
	if (!out)
		return -ENOSPC;
	memset(out + u->out_room, 0, room - u->out_room);
	u->out = out;
	u->out_room = room;
	return 0;
}

static int user_write(struct soft_user *user, uint64_t dst, const void *src, size_t size)
{
	struct wire_user *u = (struct wire_user *)user;
	size_t at;
	int r;

	if (!dst)
		return -EFAULT;
	if (!u->out_base)
		u->out_base = dst;
	/* Listings are written front to back: never far beyond what is there. */
	if (dst < u->out_base || dst - u->out_base > u->out_size)
		return -EFAULT;
	at = (size_t)(dst - u->out_base);
	if (at + size > u->out_room) {
		r = out_grow(u, at + size);
		if (r)
			return r;
	}
	memcpy(u->out + at, src, size);
	if (at + size > u->out_size)
		u->out_size = at + size;
	return 0;
}

/* --- answers ------------------------------------------------------------------------------- */

ssize_t client_send(int sock, struct iovec *iov, size_t count, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
	struct cmsghdr *cmsg;
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	do
		n = sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Its buffer full of answers it does not read, or gone: the client is dropped. */
static void answer(struct client *client, const struct wire_reply *reply, const void *arg, size_t size, int fd)
{
	struct iovec iov[2] = {
		{ .iov_base = (void *)(uintptr_t)reply, .iov_len = sizeof(*reply) },
		{ .iov_base = (void *)(uintptr_t)arg, .iov_len = size },
	};
	size_t count = reply->ret ? 1 : 2;
	ssize_t n = client_send(client->sock, iov, count, fd);

	/* Too many descriptors under way: the object can still be mapped by asking for it. */
	if (n < 0 && errno == ETOOMANYREFS && fd >= 0)
		n = client_send(client->sock, iov, count, -1);
	if (n < 0)
		client_disconnect(client);
}

static int make_array_fd(const struct wire_user *u)
{
	int fd = memfd_create("vinci-list", MFD_CLOEXEC);
	size_t done = 0;
	ssize_t n;

	while (fd >= 0 && done < u->out_size) {
		n = write(fd, u->out + done, u->out_size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			(void)close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	return fd;
}

static void answer_array(struct client *client, struct wire_reply *reply, const void *arg, size_t size,
			 const struct wire_user *u)
{
	int fd = make_array_fd(u);

	reply->flags = WIRE_REPLY_ARRAY;
	reply->size = u->out_size;
	if (fd < 0)
		reply->ret = -ENOSPC;
	answer(client, reply, arg, size, fd);
	if (fd >= 0)
		(void)close(fd);
}

static void answer_object(struct client *client, struct wire_reply *reply, const void *arg, size_t size,
			  const struct soft_memory *memory)
{
	reply->flags = WIRE_REPLY_OBJECT;
	reply->page_kind = memory->page_kind;
	reply->base = memory->base;
	reply->size = memory->size;
	reply->handle = memory->handle;
	answer(client, reply, arg, size, memory->fd);
}

/* --- requests ------------------------------------------------------------------------------ */

static int run_mmap(struct client *client, const void *arg, struct soft_memory *memory)
{
	struct wire_mmap m;

	memcpy(&m, arg, sizeof(m));
	return soft_mmap(client->file, m.offset, m.size, memory);
}

/* The message has been checked: header, argument of the size the number says, array. */
static void run_message(struct client *client, const uint8_t *message, size_t size)
{
	static uint64_t arg[WIRE_ARG_MAX / sizeof(uint64_t)];
	struct soft_memory memory = { .fd = -1 };
	struct wire_user user = { .user = { user_read, user_write } };
	struct wire_reply reply = { 0 };
	struct wire_request head;
	size_t arg_size;

	memcpy(&head, message, sizeof(head));
	arg_size = _IOC_SIZE(head.request);
	memcpy(arg, message + sizeof(head), arg_size);
	user.in = message + sizeof(head) + arg_size;
	user.in_size = size - sizeof(head) - arg_size;
	reply.seq = head.seq;
	if (head.request == WIRE_MMAP)
		reply.ret = run_mmap(client, arg, &memory);
	else
		reply.ret = soft_ioctl(client->file, head.request, arg, &user.user, &memory);
	if (head.flags & WIRE_ONE_WAY)
		(void)reply; /* nobody waits for it */
	else if (!reply.ret && memory.fd >= 0)
		answer_object(client, &reply, arg, arg_size, &memory);
	else if (!reply.ret && user.out_size)
		answer_array(client, &reply, arg, arg_size, &user);
	else
		answer(client, &reply, arg, arg_size, -1);
	free(user.out);
}

void client_empty_ring(struct client *client)
{
	if (!client->is_dead && !ring_empty(client))
		client_disconnect(client);
}

void client_run_held(struct client *client)
{
	uint8_t *message = client->message;

	if (client->is_dead || !message)
		return;
	client->message = NULL;
	run_message(client, message, client->message_size);
	free(message);
}

static void refuse(struct client *client, uint32_t seq, int error)
{
	struct wire_reply reply = { .seq = seq, .ret = error };

	answer(client, &reply, NULL, 0, -1);
}

static bool is_request(const uint8_t *message, size_t size)
{
	struct wire_request head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, message, sizeof(head));
	if (head.flags & ~WIRE_ONE_WAY || head.array_size > WIRE_ARRAY_MAX ||
	    size != sizeof(head) + _IOC_SIZE(head.request) + head.array_size)
		return false;
	return !(head.flags & WIRE_ONE_WAY) || (head.request == DRM_IOCTL_GEM_CLOSE && !head.array_size);
}

static int hold_message(struct client *client, const uint8_t *message, size_t size)
{
	client->message = malloc(size);
	if (!client->message)
		return -ENOMEM;
	memcpy(client->message, message, size);
	client->message_size = size;
	list_add_tail(&client->held, &client->server->held);
	return 0;
}

/* A process forked from the client has its socket but not its pid: it gets an answer, and nothing else. */
static void take_request(struct client *client, const uint8_t *message, size_t size, int32_t sender)
{
	struct wire_request head;

	if (!is_request(message, size)) {
		client_disconnect(client);
		return;
	}
	memcpy(&head, message, sizeof(head));
	if (sender != client->process.pid) {
		if (!(head.flags & WIRE_ONE_WAY))
			refuse(client, head.seq, -EPERM);
		return;
	}
	if (head.flags & WIRE_ONE_WAY)
		run_message(client, message, size);
	else if (hold_message(client, message, size))
		refuse(client, head.seq, -ENOSPC);
}

/* Bytes received, 0 when there is nothing now, -1 when the client has to go. */
static ssize_t receive_message(struct client *client, struct ucred *sender)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(struct ucred))]; /* no room for descriptors: the kernel drops them */
	} control;
	struct iovec iov = { .iov_base = receive_buffer, .iov_len = WIRE_MESSAGE_MAX };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *cmsg;
	ssize_t n = recvmsg(client->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!n || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return -1;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_CREDENTIALS ||
	    cmsg->cmsg_len != CMSG_LEN(sizeof(*sender)))
		return -1;
	memcpy(sender, CMSG_DATA(cmsg), sizeof(*sender));
	return n;
}

void client_receive(struct client *client)
{
	struct ucred sender;
	unsigned int i;
	ssize_t n;

	for (i = 0; i < ONE_WAY_MAX && !client->is_dead && !client->message; i++) {
		n = receive_message(client, &sender);
		if (!n)
			return;
		if (n < 0) {
			client_disconnect(client);
			return;
		}
		if (client->file)
			take_request(client, (const uint8_t *)receive_buffer, (size_t)n, sender.pid);
		else if (hello_answer(client, receive_buffer, (size_t)n, &sender))
			client_disconnect(client);
	}
}
