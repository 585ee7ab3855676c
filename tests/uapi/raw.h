/* SPDX-License-Identifier: MIT */
/* raw.h - a client of vincid that speaks the wire protocol by itself and keeps to no rule it does not want to. */
#ifndef VINCI_TESTS_UAPI_RAW_H
#define VINCI_TESTS_UAPI_RAW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "soft/wire.h"

/* To the vincid of the test's instance, which must be running. */
int raw_connect(void);
pid_t raw_server_pid(int sock);
int raw_send(int sock, const void *message, size_t size);
/* Bytes, 0 when the other side has gone, -ETIMEDOUT. @fd: a descriptor that came along, or -1. */
ssize_t raw_receive(int sock, void *message, size_t size, int *fd);
/* The welcome's status. @ring may be NULL. */
int raw_hello(int sock, unsigned int major, unsigned int minor, struct wire_welcome *welcome, int *ring);
/* The reply's status, or -EPIPE. @fd may be NULL. */
int raw_call(int sock, unsigned long request, void *arg, const void *array, size_t array_size, int *fd);
/* Has vincid hung up? */
int raw_is_dropped(int sock);

#endif
