/* SPDX-License-Identifier: MIT */
/*
 * stream.h - streams as contexts, the acl layer and other kinds of task see them; exec.h is what they are made of.
 */
#ifndef VINCI_RTS_STREAM_H
#define VINCI_RTS_STREAM_H

#include "rts/rts.h"

/* Lowest and highest: larger numbers are less urgent. */
#define RTS_PRIORITY_LEAST 7u
#define RTS_PRIORITY_GREATEST 0u

/*
 * A stream of @ctx; @prio is clamped. The caller gets a reference on top of the handle's; a context keeps it in default_stream
 * until it is released itself. The stream holds a reference to its context until it is destroyed. 207000 for ACL_STREAM_HUGE,
 * 207008 when the device has no more streams, 207001, 207005.
 */
int rts_stream_create(struct rts_context *ctx, uint32_t prio, uint32_t flags, struct rts_stream **out);
/*
 * Takes the handle away and waits for the tasks (@force: drops them; one that runs ends by itself). 107017, 107003, 107002 when the
 * stream is not the current context's, 107000 from a task of the same stream.
 */
int rts_stream_destroy(aclrtStream handle, bool force);

/*
 * For a context that goes: destroys its streams, the default one too. Without @force their tasks are run to the end, but waits
 * that nothing in this process can end any more fail; with it nothing is waited for. The context keeps and later drops its own
 * reference to the default stream.
 */
void rts_streams_shutdown(struct rts_context *ctx, bool force);
/* Waits for the tasks of all streams of @ctx; the first error of them, 507046 on timeout (ms, -1: none). */
int rts_streams_synchronize(struct rts_context *ctx, int timeout_ms);

bool rts_stream_idle(struct rts_stream *stream);
int32_t rts_stream_id(const struct rts_stream *stream);
uint32_t rts_stream_priority(const struct rts_stream *stream);
uint32_t rts_stream_flags(const struct rts_stream *stream);
/* 107027: it is being captured and cannot be @what. */
int rts_stream_check_captured(const struct rts_stream *stream, const char *what);
bool rts_stream_captured(const struct rts_stream *stream);
/* How many more streams this process can have on @device. */
uint32_t rts_streams_available(uint32_t device);

/* stream_attr.c. 107000 for an unknown attribute or a wrong value, 207000 */
int rts_stream_set_attr(struct rts_stream *stream, aclrtStreamAttr attr, const aclrtStreamAttrValue *value);
int rts_stream_get_attr(struct rts_stream *stream, aclrtStreamAttr attr, aclrtStreamAttrValue *value);
/* 0: go on after a failed task, 1: stop. 207000 for the way back. */
int rts_stream_set_failure_mode(struct rts_stream *stream, uint64_t mode);
/*
 * stop.c. Both return when the running task has ended: 107000 from a task of the same stream. Stopping leaves the tasks
 * behind it; aborting drops them, and the stream answers 107023 meanwhile.
 */
int rts_stream_stop(struct rts_stream *stream);
int rts_stream_abort(struct rts_stream *stream);
/* All streams of @device; 107022 is their answer. @timeout_ms 0: none; 107019. A callback that fails: 507000. */
int rts_device_abort(uint32_t device, uint32_t timeout_ms);

/* True on a thread that is running a task of @stream just now: waiting for the stream would never end. */
bool rts_stream_running_here(const struct rts_stream *stream);

/* A function of the user's as a task, on a worker thread. 107000 for NULL. */
int rts_launch_host_func(struct rts_stream *stream, aclrtHostFunc fn, void *arg);

/* stream_config.c. 107000 for a handle that is not alive, and for attributes and values that there are not. */
int rts_stream_config_new(aclrtStreamConfigHandle **handle);
int rts_stream_config_free(aclrtStreamConfigHandle *handle);
int rts_stream_config_set(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *value, size_t size);
int rts_stream_config_get(const aclrtStreamConfigHandle *handle, uint32_t *priority, uint32_t *flags);

/* A task that does nothing. */
int rts_stream_mark(struct rts_stream *stream);

/* Id of the task that this thread submitted last, in its stream; 0: none yet. */
uint32_t rts_thread_last_task(void);

/* kernel.c. 107000 for a bad descriptor, block_dim 0 or wrong arguments. */
struct vinci_kernel;
int rts_launch_kernel(struct rts_stream *stream, const struct vinci_kernel *kernel, uint32_t block_dim, const void *args,
		      size_t args_size);

/* notify.c and notify_shared.c; every handle is checked (107017). */
struct rts_notify;

int rts_notify_create(uint64_t flags, aclrtNotify *handle);
int rts_notify_destroy(aclrtNotify handle);
int rts_notify_record(aclrtNotify handle, struct rts_stream *stream);
/* @seconds 0: for ever */
int rts_notify_wait(aclrtNotify handle, struct rts_stream *stream, struct rts_context *ctx, uint32_t seconds);
int rts_notify_reset(aclrtNotify handle);
int rts_notify_id(aclrtNotify handle, uint32_t *id);
int rts_notify_export(aclrtNotify handle, char *key, size_t len, uint64_t flags);
int rts_notify_allow(aclrtNotify handle, const uint32_t *sdid, const int32_t *pids, size_t count);
int rts_notify_import(const char *key, uint64_t flags, aclrtNotify *handle);

#endif
