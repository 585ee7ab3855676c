/* SPDX-License-Identifier: MIT */
/* pool_impl.h - what a pool is made of, for pool*.c. One lock protects all pools. */
#ifndef VINCI_RTS_POOL_IMPL_H
#define VINCI_RTS_POOL_IMPL_H

#include <sys/queue.h>

#include "rts/event_impl.h"
#include "rts/pool.h"

enum pool_seg_state {
	POOL_FREE, /* nothing is mapped */
	POOL_CACHED,
	POOL_BUSY, /* in the index of addresses */
	POOL_DYING, /* freed by aclrtFree, waits for earlier tasks */
};

struct pool_seg {
	struct rts_pool *pool; /* NULL: the pool went while the segment was dying */
	TAILQ_ENTRY(pool_seg) by_address;
	LIST_ENTRY(pool_seg) by_state; /* free and cached ones */
	uintptr_t base;
	size_t size;
	enum pool_seg_state state;
	struct event_place freed; /* cached: where it was given back, with a reference */
};

/* An object of the device's behind a range of the pool, less the parts that were given back. */
struct pool_backing {
	LIST_ENTRY(pool_backing) link;
	uintptr_t base;
	size_t size, left;
	uint32_t handle;
};

/* Ways to reuse; all but the first are attributes, with these numbers. */
enum pool_reuse {
	REUSE_STREAM,
	REUSE_EVENT = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES,
	REUSE_REACHED = ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC,
	REUSE_WAIT = ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
	REUSES,
};

struct rts_pool {
	struct rts_object obj;
	/* fixed */
	uint32_t device;
	uint64_t epoch; /* of the connection that its objects belong to */
	uintptr_t base;
	size_t size;
	/* the lock protects the rest */
	LIST_ENTRY(rts_pool) link;
	bool gone;
	TAILQ_HEAD(pool_segs, pool_seg) segs; /* by address, without gaps */
	LIST_HEAD(, pool_seg) lists[POOL_BUSY]; /* free, cached */
	LIST_HEAD(, pool_backing) backings;
	bool reuse[REUSES];
	uint64_t threshold; /* bytes, as all below */
	uint64_t used, used_high, reserved, reserved_high;
};

/* pool_seg.c; the lock is held. */

/* A pool with one free segment, or false: no host memory. */
bool pool_segs_init(struct rts_pool *pool);
/* Ends all segments; the range stays mapped. */
void pool_segs_end(struct rts_pool *pool);
/*
 * Takes a cached or a free segment for @stream; it may have to wait (submitted here). A reported code, or unreported:
 * -ENOSPC, nothing fits; the device's -errno.
 */
int pool_take(struct rts_pool *pool, size_t size, struct rts_stream *stream, uintptr_t *out);
/* A busy segment that has left the index. @freed: with a reference that becomes the segment's. */
void pool_cache(struct pool_seg *seg, struct event_place freed);
/* A dying segment's time has come. */
void pool_release(struct pool_seg *seg);
/* Gives back cached memory that nobody uses any more, down to @keep reserved bytes. True if there was some. */
bool pool_trim(struct rts_pool *pool, uint64_t keep);

/* pool_order.c */

extern atomic_uint pools_alive;

/* Is @stream known to run after @place? */
bool pool_is_ordered(struct rts_stream *stream, const struct event_place *place);
/* Makes @stream wait for @place. */
int pool_order(struct rts_stream *stream, const struct event_place *place);

#endif
