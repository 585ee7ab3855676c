/* SPDX-License-Identifier: MIT */
/* soft.h - the pieces of transport_soft.c: meeting vincid, and starting it. */
#ifndef VINCI_DRV_SOFT_H
#define VINCI_DRV_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct drv_settings;

struct soft_address {
	struct sockaddr_un un;
	socklen_t len;
	bool is_path; /* VINCI_SOCKET; else an abstract name of ours */
};

/* Longest wait for an answer of vincid, which never blocks on anybody: then it is taken for dead. */
#define SOFT_ANSWER_MS 30000

/*
 * Connects, starting vincid when nobody listens, and exchanges hello and welcome. Returns a socket or -errno; then @why
 * holds a sentence. @ring: the descriptor of the ring for closing handles, or -1.
 */
int soft_connect(const struct drv_settings *settings, int *ring, char *why, size_t why_len);

/*
 * Never 0 to 2: what a program prints while its standard files are closed must reach neither vincid nor memory. Takes
 * over @fd; a descriptor above 2 or -errno.
 */
int soft_raise_fd(int fd);

/*
 * After EINTR: may the wait be begun once more? Its own limit, SOFT_ANSWER_MS, then begins anew, so that signals that keep
 * coming would make it endless. Counted from the first time: twice the limit in all. @until: 0 before.
 */
bool soft_may_repeat(int64_t *until);

/* The first descriptor of a message, or -1; any more are closed. */
int soft_take_fd(struct msghdr *msg);

/* Starts a vincid that listens at @address. 0 also when another process has just done so. */
int soft_launch(const struct drv_settings *settings, const struct soft_address *address, char *why, size_t why_len);

#endif
