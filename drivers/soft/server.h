/* SPDX-License-Identifier: MIT */
/* server.h - vincid: one thread, one epoll, a client a connection. */
#ifndef VINCI_SOFT_SERVER_H
#define VINCI_SOFT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "soft/device.h"
#include "common/list.h"
#include "soft/wire.h"

#define SERVER_MAX_CLIENTS 8192u

struct server {
	struct vinci_device *device;
	int epoll;
	int listener;
	int signals; /* signalfd for a clean end, or -1 */
	int spare; /* given up for a moment to refuse a client when descriptors run out */
	bool stays; /* does not leave with its last client */
	bool any_user; /* a socket's path, not its name, decides who may connect */
	bool stop;
	uint32_t client_count;
	struct list_head clients;
	struct list_head held; /* clients with a request to run in this round */
	struct list_head dead; /* disconnected in this round; freed at its end */
	struct epoll_event *events;
	uint32_t event_room;
};

struct client {
	struct list_head link; /* server->clients or server->dead */
	struct list_head held;
	struct server *server;
	struct vinci_file *file; /* NULL until the hello */
	struct vinci_process process;
	int sock;
	int pidfd; /* -1 where the kernel has none */
	bool is_dead;
	struct wire_ring *ring; /* NULL: there is none */
	uint32_t ring_taken; /* ours; what the page says is for the client */
	uint8_t *message; /* the request held; owned */
	size_t message_size;
};

/* What can fail before clients are let in. */
int server_start(struct server *server);
/* 0 when it ended as it should, else -errno */
int server_run(struct server *server);
int server_watch_client(struct server *server, struct client *client);
/* Also hear of the end of the client's process, by its pidfd. */
int server_watch_pidfd(struct server *server, struct client *client);

/* client.c */
/* Takes over the socket, also when it fails. */
int client_accept(struct server *server, int sock);
/* Takes what has arrived: runs one-way messages, holds the first request. Disconnects on any nonsense. */
void client_receive(struct client *client);
void client_run_held(struct client *client);
/* Closes the handles in its ring. Disconnects a client whose ring makes no sense. */
void client_empty_ring(struct client *client);
void client_disconnect(struct client *client);
/* One message, with a descriptor unless it is -1; never waits. */
ssize_t client_send(int sock, struct iovec *iov, size_t count, int fd);

/* ring.c */
/* A ring for the client, and a descriptor for it to map; -1: there is none. */
int ring_create(struct client *client);
void ring_destroy(struct client *client);
/* False: the client's count is nonsense. */
bool ring_empty(struct client *client);

/* hello.c: opens the client's file, or says why not */
int hello_answer(struct client *client, const void *message, size_t size, const struct ucred *sender);
int hello_reply(int sock, int status, const char *why, int ring);

#endif
