/* SPDX-License-Identifier: MIT */
/*
 * harness.h - one suite for every device. A test speaks to nodes: open device files, in this process or in another,
 * behind whichever transport the suite was started with.
 */
#ifndef VINCI_TESTS_UAPI_HARNESS_H
#define VINCI_TESTS_UAPI_HARNESS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include "drv/drv.h"
#include "drv/transport.h"

#define NPUS 4u
#define NPU_MEMORY (64ull << 30)
#define NOTIFIES 64u
#define MIB (1ull << 20)
#define GIB (1ull << 30)

struct node;

/* "inproc", "vincid", or "drm": vinci.ko, loaded with the numbers above and peers=6,5,3,0 */
int harness_init(const char *device);
bool harness_in_process(void);
/* cmocka's setup and teardown: a device of its own for each test, nothing left behind. */
int test_setup(void **state);
int test_teardown(void **state);
/* What the test's device is opened with. */
const struct drv_settings *test_settings(void);
int64_t now_ms(void);

/* A file of this process; several are possible. */
struct node *node_self(void);
/* A file of a new process. */
struct node *node_peer(void);
/* The same for a process with this pid, which must be free. NULL: the system does not let us. */
struct node *node_peer_pid(pid_t pid);
pid_t node_pid(const struct node *node);
int node_ioctl(struct node *node, unsigned long request, void *arg);
/* With an input array at @pointer_at (offset of its pointer within @arg). */
int node_ioctl_array(struct node *node, unsigned long request, void *arg, size_t pointer_at, const void *array,
		     size_t size);
int node_post_close(struct node *node, uint32_t handle);
/* This process' nodes only. */
int node_map(struct node *node, uint64_t offset, size_t size, void **out);
/* One word of what is mapped at @offset. */
int node_peek(struct node *node, uint64_t offset, uint64_t *value);
int node_poke(struct node *node, uint64_t offset, uint64_t value);
/* Closes the file with everything in it; a peer's process ends. */
void node_close(struct node *node);
/* SIGKILL; returns when the process is gone. */
void node_kill(struct node *node);

/* Requests in short form. */
struct name {
	uint32_t kind;
	uint32_t len;
	uint8_t bytes[VINCI_NAME_MAX];
};

struct bo {
	uint32_t handle;
	uint64_t offset;
	uint64_t size;
};

int bo_create(struct node *node, uint32_t device, uint64_t size, uint32_t page_kind, struct bo *out);
int handle_close(struct node *node, uint32_t handle);
int bo_info(struct node *node, uint32_t handle, struct drm_vinci_bo_info *info);
int share_export(struct node *node, uint32_t handle, uint32_t kind, uint32_t flags, uint64_t size, struct name *name);
int share_allow(struct node *node, const struct name *name, const int32_t *pids, uint32_t count);
int share_allow_pid(struct node *node, const struct name *name, pid_t pid);
int share_import(struct node *node, const struct name *name, uint32_t device, struct drm_vinci_share_import *out);
int share_close(struct node *node, const struct name *name);
int share_attr(struct node *node, const struct name *name, uint32_t attr, uint64_t value);
int notify_create(struct node *node, uint32_t device, struct bo *out, uint32_t *id);
int peer_op(struct node *node, uint32_t device, uint32_t peer, uint32_t op, uint32_t *active);
uint64_t mem_used(struct node *node, uint32_t device);

#define assert_fails(call, error) assert_int_equal(call, -(error))
#define assert_ok(call) assert_int_equal(call, 0)

#endif
