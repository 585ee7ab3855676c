/* SPDX-License-Identifier: MIT */
/*
 * pool.h - pools of device memory that is given out and taken back in the order of streams.
 *
 * A pool is a range of addresses as large as the pool may get, in segments. A segment is free (no memory behind it),
 * cached (given back, its memory kept) or busy. Memory is charged to the device from the moment that a segment needs it
 * until it is trimmed.
 *
 * What was given back in a stream belongs to it at once: the stream's next tasks run after those that used it. Another
 * stream gets it only where the pool's attributes say how it may: it has waited for an event that the first recorded
 * later, the first has come so far, or it is made to wait for the first.
 */
#ifndef VINCI_RTS_POOL_H
#define VINCI_RTS_POOL_H

#include "acl/acl_rt_memory_soma.h"
#include "rts/rts.h"

/* Sizes are multiples of it. */
#define RTS_POOL_UNIT ((size_t)2 << 20)

/* 107000 for a size, 107001, 107002, 207001 */
int rts_pool_create(const aclrtMemPoolProps *props, aclrtMemPool *handle);
/* Blocks that are out go with it; their pages stay until earlier tasks have ended. 507000 */
int rts_pool_destroy(aclrtMemPool handle);
/* 107000 for a dead pool, NULL or what can only be read; 507000 for an unknown attribute or a wrong value */
int rts_pool_set_attr(aclrtMemPool handle, aclrtMemPoolAttr attr, const void *value);
int rts_pool_get_attr(aclrtMemPool handle, aclrtMemPoolAttr attr, void *value);
/* 507000 for a dead pool or a full one; 207001 when the device is full */
int rts_pool_alloc(aclrtMemPool handle, size_t size, struct rts_stream *stream, void **out);
/* Also for what aclrtMalloc returned: freed when the stream comes to it. 107000 */
int rts_pool_free_async(void *ptr, struct rts_stream *stream);
/* 507000 when more is in use, or for more than the pool can have */
int rts_pool_trim_to(aclrtMemPool handle, size_t keep);

/* ---- for memory.c ---- */

/* A block is freed outside of any stream: its memory leaves the pool when earlier tasks have ended. False: no block is
 * at @base. */
bool rts_pool_free(uintptr_t base);
/* The device is full: gives back what no pool is using. True if there was something. */
bool rts_pool_reclaim(uint32_t device);
void rts_pool_device_gone(uint32_t device);

/* ---- for streams and events ---- */

/* The host has waited for something: idle memory above each pool's threshold goes. */
void rts_pool_settle(void);
/* What names a stream and never another one; NULL for none, or once it has been destroyed. */
static inline const void *rts_stream_identity(const struct rts_stream *stream)
{
	return stream ? atomic_load((_Atomic(void *) *)&((const struct rts_object *)stream)->handle) : NULL;
}
/* What is submitted to @stream from now on runs after @other has completed @target tasks. */
void rts_pool_ordered(const struct rts_stream *stream, const void *other, uint64_t target);

#endif
