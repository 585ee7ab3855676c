/* SPDX-License-Identifier: MIT */
/*
 * pool_seg.c - the segments of a pool and the device's objects behind them. Runs under the pools' lock.
 *
 * A segment may lie in several objects and an object behind several segments. What is given back of an object is split
 * off it, so that the charge of exactly these bytes goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rts/memory.h"
#include "rts/pool_impl.h"
#include "rts/usage.h"

/* ---- objects ---- */

/* Memory for a range that has none. 0 or -errno */
static int back(struct rts_pool *pool, uintptr_t base, size_t size)
{
	struct drm_vinci_bo_create bo = {
		.size = size, .device = pool->device, .page_kind = VINCI_PAGE_2M, .numa_node = -1
	};
	struct pool_backing *b = malloc(sizeof(*b));
	struct drv *drv = rts_drv_at(pool->epoch);
	void *at;
	int r;

	if (!b)
		return -ENOBUFS;
	r = drv_bo_create(drv, &bo);
	if (r)
		goto err_free;
	r = drv_map(drv, bo.mmap_offset, size, (void *)base, true, &at);
	if (r)
		goto err_close;
	*b = (struct pool_backing){ .base = base, .size = size, .left = size, .handle = bo.handle };
	LIST_INSERT_HEAD(&pool->backings, b, link);
	rts_usage_add(pool->device, RTS_COMPONENT_ASCENDCL, size);
	return 0;

err_close:
	(void)drv_close_handle(drv, bo.handle);
	r = r == -ENOMEM ? -ENOBUFS : r;
err_free:
	free(b);
	return r;
}

static void backing_end(struct rts_pool *pool, struct pool_backing *b)
{
	(void)drv_close_handle(rts_drv_at(pool->epoch), b->handle);
	rts_usage_sub(pool->device, RTS_COMPONENT_ASCENDCL, b->left);
	LIST_REMOVE(b, link);
	free(b);
}

static struct pool_backing *backing_of(const struct rts_pool *pool, uintptr_t at)
{
	struct pool_backing *b;

	LIST_FOREACH(b, &pool->backings, link)
		if (at - b->base < b->size)
			return b;
	return NULL;
}

/* Gives back a range of one object; the pages go as well, also while the object stays for others. 0 or -errno */
static int unback(struct rts_pool *pool, struct pool_backing *b, uintptr_t base, size_t size)
{
	struct drv *drv = rts_drv_at(pool->epoch);
	uint64_t offset;
	uint32_t piece;
	int r;

	if (size < b->left) {
		r = drv_bo_split(drv, b->handle, base - b->base, size, &piece, &offset);
		if (r)
			return r;
		b->left -= size;
		(void)drv_close_handle(drv, piece);
		rts_usage_sub(pool->device, RTS_COMPONENT_ASCENDCL, size);
		(void)madvise((void *)base, size, MADV_REMOVE);
	} else {
		backing_end(pool, b);
	}
	(void)mmap((void *)base, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	return 0;
}

/* ---- segments ---- */

static void list_seg(struct pool_seg *seg)
{
	if (seg->state < POOL_BUSY)
		LIST_INSERT_HEAD(&seg->pool->lists[seg->state], seg, by_state);
}

static void unlist_seg(struct pool_seg *seg)
{
	if (seg->state < POOL_BUSY)
		LIST_REMOVE(seg, by_state);
}

/* A cached segment leaves the cache. */
static void set_state(struct pool_seg *seg, enum pool_seg_state state)
{
	unlist_seg(seg);
	rts_stream_put(&seg->freed.stream);
	seg->state = state;
	list_seg(seg);
}

/* Only neighbours that were given back in the same stream: then the later place is right for both. */
static bool alike(const struct pool_seg *a, const struct pool_seg *b)
{
	return a->state == b->state && a->state < POOL_BUSY && a->freed.stream == b->freed.stream;
}

/* @seg takes in the one before it. */
static void merge_left(struct pool_seg *seg)
{
	struct pool_seg *left = TAILQ_PREV(seg, pool_segs, by_address);

	if (!left || !alike(left, seg))
		return;
	seg->base = left->base;
	seg->size += left->size;
	if (left->freed.target > seg->freed.target)
		seg->freed.target = left->freed.target;
	TAILQ_REMOVE(&seg->pool->segs, left, by_address);
	unlist_seg(left);
	rts_stream_put(&left->freed.stream);
	free(left);
}

static void merge(struct pool_seg *seg)
{
	struct pool_seg *right = TAILQ_NEXT(seg, by_address);

	merge_left(seg);
	if (right)
		merge_left(right);
}

/* The first @size bytes of a free or cached segment, as one of its own if there are more; NULL: no host memory. */
static struct pool_seg *split(struct pool_seg *seg, size_t size)
{
	struct pool_seg *left;

	if (size == seg->size)
		return seg;
	left = malloc(sizeof(*left));
	if (!left)
		return NULL;
	*left = (struct pool_seg){
		.pool = seg->pool, .base = seg->base, .size = size, .state = seg->state, .freed = seg->freed
	};
	if (left->freed.stream)
		rts_object_ref(&left->freed.stream->obj);
	seg->base += size;
	seg->size -= size;
	TAILQ_INSERT_BEFORE(seg, left, by_address);
	list_seg(left);
	return left;
}

bool pool_segs_init(struct rts_pool *pool)
{
	struct pool_seg *seg = malloc(sizeof(*seg));

	TAILQ_INIT(&pool->segs);
	if (!seg)
		return false;
	*seg = (struct pool_seg){ .pool = pool, .base = pool->base, .size = pool->size };
	TAILQ_INSERT_HEAD(&pool->segs, seg, by_address);
	list_seg(seg);
	return true;
}

void pool_segs_end(struct rts_pool *pool)
{
	struct pool_backing *b;
	struct pool_seg *seg;

	while ((b = LIST_FIRST(&pool->backings)))
		backing_end(pool, b);
	while ((seg = TAILQ_FIRST(&pool->segs))) {
		TAILQ_REMOVE(&pool->segs, seg, by_address);
		if (seg->state == POOL_BUSY)
			(void)rts_va_remove(seg->base, RTS_SEG_POOL, NULL);
		rts_stream_put(&seg->freed.stream);
		seg->pool = NULL;
		if (seg->state != POOL_DYING)
			free(seg);
	}
}

/* ---- giving back ---- */

void pool_cache(struct pool_seg *seg, struct event_place freed)
{
	seg->state = POOL_CACHED;
	seg->freed = freed;
	list_seg(seg);
	merge(seg);
}

/* Gives back the first @size bytes of a segment, or what of them is in one object. *seg: what is left. False: the
 * device refuses. */
static bool release_some(struct pool_seg **seg, size_t size)
{
	struct rts_pool *pool = (*seg)->pool;
	struct pool_backing *b = backing_of(pool, (*seg)->base);
	struct pool_seg *part;

	if (size > b->base + b->size - (*seg)->base)
		size = b->base + b->size - (*seg)->base;
	part = split(*seg, size);
	if (!part)
		return false;
	if (unback(pool, b, part->base, size)) {
		merge(part);
		return false;
	}
	if (part == *seg)
		*seg = NULL;
	pool->reserved -= size;
	set_state(part, POOL_FREE);
	merge(part);
	return true;
}

/* Where the device refuses a part, that one is cached; nothing uses it any more. */
void pool_release(struct pool_seg *seg)
{
	seg->state = POOL_CACHED;
	list_seg(seg);
	while (seg && release_some(&seg, seg->size))
		continue;
}

static struct pool_seg *idle_seg(const struct rts_pool *pool)
{
	struct pool_seg *seg;

	LIST_FOREACH(seg, &pool->lists[POOL_CACHED], by_state)
		if (place_reached(&seg->freed))
			return seg;
	return NULL;
}

bool pool_trim(struct rts_pool *pool, uint64_t keep)
{
	uint64_t before = pool->reserved;
	struct pool_seg *seg;

	while (pool->reserved >= keep + RTS_POOL_UNIT && (seg = idle_seg(pool))) {
		size_t excess = (pool->reserved - keep) & ~(RTS_POOL_UNIT - 1);

		if (!release_some(&seg, excess < seg->size ? excess : seg->size))
			break;
	}
	return pool->reserved < before;
}

/* ---- taking ---- */

static bool may_reuse(struct rts_stream *st, const struct pool_seg *seg, enum pool_reuse how)
{
	switch (how) {
	case REUSE_STREAM:
		return seg->freed.stream == st;
	case REUSE_EVENT:
		return pool_is_ordered(st, &seg->freed);
	case REUSE_REACHED:
		return place_reached(&seg->freed);
	default:
		return true;
	}
}

/* The smallest one that is large enough. */
static struct pool_seg *best_seg(const struct rts_pool *pool, enum pool_seg_state state, size_t size,
				 struct rts_stream *st, enum pool_reuse how)
{
	struct pool_seg *seg, *best = NULL;

	LIST_FOREACH(seg, &pool->lists[state], by_state)
		if (seg->size >= size && (!best || seg->size < best->size) &&
		    (state == POOL_FREE || may_reuse(st, seg, how)))
			best = seg;
	return best;
}

static int publish(struct pool_seg *seg)
{
	const struct rts_segment entry = { .base = seg->base,
					   .size = seg->size,
					   .kind = RTS_SEG_POOL,
					   .device = seg->pool->device,
					   .owner = seg->pool->device,
					   .page_kind = VINCI_PAGE_2M,
					   .priv = seg };
	int r = rts_va_insert(&entry);

	if (!r)
		set_state(seg, POOL_BUSY);
	return r;
}

static int out_of_host(void)
{
	return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a block of a pool");
}

/* *out NULL: nothing fits. */
static int take_cached(struct rts_pool *pool, size_t size, struct rts_stream *st, struct pool_seg **out)
{
	struct pool_seg *seg = NULL;
	int r;

	for (enum pool_reuse how = REUSE_STREAM; !seg && how < REUSES; how++)
		if (pool->reuse[how])
			seg = best_seg(pool, POOL_CACHED, size, st, how);
	*out = NULL;
	if (!seg)
		return 0;
	seg = split(seg, size);
	if (!seg)
		return out_of_host();
	r = seg->freed.stream == st || pool_is_ordered(st, &seg->freed) ? 0 : pool_order(st, &seg->freed);
	if (!r)
		r = publish(seg);
	if (r)
		merge(seg);
	else
		*out = seg;
	return r;
}

static int take_free(struct rts_pool *pool, size_t size, struct pool_seg **out)
{
	struct pool_seg *seg = best_seg(pool, POOL_FREE, size, NULL, REUSE_STREAM);
	int r;

	*out = NULL;
	if (!seg)
		return -ENOSPC;
	seg = split(seg, size);
	if (!seg)
		return out_of_host();
	r = back(pool, seg->base, size);
	if (r) {
		merge(seg);
		return r;
	}
	pool->reserved += size;
	r = publish(seg);
	if (r) {
		set_state(seg, POOL_DYING);
		pool_release(seg);
		return r;
	}
	*out = seg;
	return 0;
}

int pool_take(struct rts_pool *pool, size_t size, struct rts_stream *st, uintptr_t *out)
{
	struct pool_seg *seg;
	int r = take_cached(pool, size, st, &seg);

	if (!r && !seg)
		r = take_free(pool, size, &seg);
	if (r)
		return r;
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	*out = seg->base;
	return 0;
}
