/* SPDX-License-Identifier: MIT */
/*
 * The loop. A request runs one round after it was received, and in between every message and every death that had
 * arrived by then is taken care of, and then what is in the rings: what a process did before it told another one has
 * always been seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/server.h"

/* Who started this process comes at once, or has died. */
#define FIRST_CLIENT_MS 10000

#define RING_LOOK_MS 200

/* epoll's data is a client pointer; its lowest bit tells the pidfd from the socket. */
#define TAG_PIDFD ((uintptr_t)1)

static int watch(struct server *server, int fd, uintptr_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Room to learn of everything at once: two descriptors a client, the listener and the signals. */
static int make_event_room(struct server *server)
{
	uint32_t need = server->client_count * 2 + 4;
	struct epoll_event *events;

	if (need <= server->event_room)
		return 0;
	events = realloc(server->events, need * 2 * sizeof(*events));
	if (!events)
		return -ENOMEM;
	server->events = events;
	server->event_room = need * 2;
	return 0;
}

int server_watch_pidfd(struct server *server, struct client *client)
{
	return watch(server, client->pidfd, (uintptr_t)client | TAG_PIDFD);
}

int server_watch_client(struct server *server, struct client *client)
{
	int r = make_event_room(server);

	return r ? r : watch(server, client->sock, (uintptr_t)client);
}

/* Out of descriptors: the spare one serves to turn the client away, or the listener would stay ready for ever. */
static void refuse_without_fd(struct server *server)
{
	int sock;

	(void)close(server->spare);
	sock = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (sock >= 0) {
		(void)hello_reply(sock, -EMFILE, "vincid has no descriptors left (ulimit -n)", -1);
		(void)close(sock);
	}
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_one(struct server *server, int sock)
{
	if (server->client_count >= SERVER_MAX_CLIENTS) {
		(void)hello_reply(sock, -EUSERS, "vincid serves as many clients as it can", -1);
		(void)close(sock);
		return;
	}
	(void)client_accept(server, sock); /* refused ones are closed there */
}

/* The number of clients that came. */
static unsigned int accept_all(struct server *server)
{
	unsigned int n;
	int sock;

	for (n = 0; n < SERVER_MAX_CLIENTS; n++) {
		sock = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (sock < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (sock < 0 && (errno == EMFILE || errno == ENFILE))
			refuse_without_fd(server);
		if (sock < 0)
			break;
		accept_one(server, sock);
	}
	return n;
}

static void handle_event(struct server *server, const struct epoll_event *event)
{
	struct client *client = (struct client *)(uintptr_t)(event->data.u64 & ~TAG_PIDFD);

	if (event->data.u64 == (uintptr_t)server) {
		(void)accept_all(server);
	} else if (event->data.u64 == (uintptr_t)&server->signals) {
		server->stop = true;
	} else if (event->data.u64 & TAG_PIDFD) {
		/* What it sent before it died has been done by those who look later: first that, then the end. */
		client_receive(client);
		client_disconnect(client);
	} else {
		client_receive(client);
	}
}

static void bury(struct server *server)
{
	struct client *client, *tmp;

	list_for_each_entry_safe(client, tmp, &server->dead, link) {
		list_del_init(&client->link);
		free(client);
	}
}

static void empty_rings(struct server *server)
{
	struct client *client, *tmp;

	list_for_each_entry_safe(client, tmp, &server->clients, link)
		client_empty_ring(client);
}

/* One by one from the front: a ring that makes no sense takes its client out of the list, whichever it is. */
static void run_requests(struct server *server, struct list_head *ready)
{
	struct client *client;

	while (!list_empty(ready)) {
		client = list_entry(ready->next, struct client, held);
		list_del_init(&client->held);
		empty_rings(server);
		client_run_held(client);
	}
}

/* Moves this round's requests to @ready, in order. */
static void take_held(struct server *server, struct list_head *ready)
{
	struct list_head *held = &server->held;

	while (!list_empty(held)) {
		struct list_head *first = held->next;

		list_del_init(first);
		list_add_tail(first, ready);
	}
}

/*
 * Nobody is woken by a ring. That can wait for the next request, unless it is the last hold on memory whose creator
 * has gone: then a look now and again gives it back.
 */
static int round_timeout(const struct server *server, const struct list_head *ready, bool had_client)
{
	if (!list_empty(ready))
		return 0;
	if (soft_device_has_orphans(server->device))
		return RING_LOOK_MS;
	return had_client || server->stays ? -1 : FIRST_CLIENT_MS;
}

/*
 * Nobody left. A client that is connecting just now is either seen here or meets a closed door, and then starts
 * another vincid: the name is free again with this socket.
 */
static bool may_leave(struct server *server)
{
	if (server->client_count || server->stays)
		return false;
	return !accept_all(server) || !server->client_count;
}

int server_start(struct server *server)
{
	int r = make_event_room(server);

	if (!r)
		r = watch(server, server->listener, (uintptr_t)server);
	if (!r && server->signals >= 0)
		r = watch(server, server->signals, (uintptr_t)&server->signals);
	return r;
}

int server_run(struct server *server)
{
	bool had_client = false;
	struct list_head ready;
	int n, i, r = 0;

	while (!r && !server->stop) {
		INIT_LIST_HEAD(&ready);
		take_held(server, &ready);
		n = epoll_wait(server->epoll, server->events, (int)server->event_room,
			       round_timeout(server, &ready, had_client));
		if (n < 0 && errno != EINTR)
			r = -errno;
		for (i = 0; i < n; i++)
			handle_event(server, &server->events[i]);
		run_requests(server, &ready);
		if (!n)
			empty_rings(server);
		bury(server);
		had_client |= server->client_count > 0;
		if ((had_client || n == 0) && may_leave(server))
			break;
	}
	return r;
}
