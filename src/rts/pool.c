/* SPDX-License-Identifier: MIT */
/* pool.c - pools as objects: creation, attributes, and what streams, devices and aclrtFree do to them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rts/memory.h"
#include "rts/pool_impl.h"
#include "util/cleanup.h"

static struct {
	struct u_mutex lock; /* all pools; see pool_impl.h */
	LIST_HEAD(, rts_pool) list;
} pools = { .lock = U_MUTEX_INIT(RANK_POOL, "pools") };

static void pool_put(struct rts_pool **pool)
{
	if (*pool)
		rts_object_put(&(*pool)->obj);
	*pool = NULL;
}

/* @code: what a dead pool is to the caller. On success the lock is held, until pool_unlock(). */
static int pool_lock(aclrtMemPool handle, int code, struct rts_pool **out)
{
	int r = rts_process_check_fork();

	if (r)
		return r;
	*out = (struct rts_pool *)rts_object_get(handle, RTS_POOL);
	if (*out) {
		u_mutex_lock(&pools.lock);
		if (!(*out)->gone)
			return 0;
		u_mutex_unlock(&pools.lock);
	}
	pool_put(out);
	return u_report(code, "pool %p is no live pool of this process: destroyed, gone with its device, or never one",
			handle);
}

static void pool_unlock(struct rts_pool *pool)
{
	u_mutex_unlock(&pools.lock);
	pool_put(&pool);
}

/* ---- creation and end ---- */

static void pool_released(struct rts_object *obj)
{
	free(obj);
}

/* 0 means the whole device. */
static int choose_size(uint32_t device, size_t asked, size_t *size)
{
	struct drm_vinci_device_info info;
	int r = drv_device_info(rts_drv(), device, &info);

	if (r)
		return u_report(rts_errno_code(0, RTS_OP_QUERY, r), "device %d does not answer: %s",
				rts_device_to_user(device), rts_errno_text(r));
	if (asked > info.mem_total)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "maxSize is %zu; device %d has %llu bytes", asked,
				rts_device_to_user(device), (unsigned long long)info.mem_total);
	*size = asked ? rts_round_up(asked, RTS_POOL_UNIT) : info.mem_total & ~(RTS_POOL_UNIT - 1);
	return 0;
}

/* From now on the pool's addresses are known as ones with nothing behind them, wherever no block is. */
static int take_addresses(struct rts_pool *pool)
{
	struct rts_segment seg = { .size = pool->size, .kind = RTS_SEG_POOL, .page_kind = VINCI_PAGE_2M };
	int r = rts_reserve(pool->size, RTS_POOL_UNIT, &pool->base);

	if (r)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
				"this process has no %zu bytes of addresses left for a pool", pool->size);
	seg.base = pool->base;
	r = rts_va_insert(&seg);
	if (r)
		(void)munmap((void *)pool->base, pool->size);
	else
		(void)rts_va_bury(pool->base, RTS_SEG_POOL, NULL);
	return r;
}

/* The device may go, and the pool with it, as soon as it is in the list. */
static int publish(struct rts_pool *pool, aclrtMemPool *handle)
{
	int r = rts_object_publish(&pool->obj, RTS_POOL, pool_released);

	if (r)
		return r;
	*handle = atomic_load(&pool->obj.handle);
	u_mutex_lock(&pools.lock);
	LIST_INSERT_HEAD(&pools.list, pool, link);
	atomic_fetch_add(&pools_alive, 1);
	u_mutex_unlock(&pools.lock);
	return 0;
}

static int pool_init(struct rts_pool *pool, aclrtMemPool *handle)
{
	int r = take_addresses(pool);

	if (r)
		return r;
	if (!pool_segs_init(pool)) {
		r = u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a pool");
		goto err_addresses;
	}
	r = publish(pool, handle);
	if (r)
		goto err_segs;
	return 0;

err_segs:
	pool_segs_end(pool);
err_addresses:
	rts_va_drop(pool->base, pool->size);
	return r;
}

int rts_pool_create(const aclrtMemPoolProps *props, aclrtMemPool *handle)
{
	struct rts_context *ctx;
	struct rts_pool *pool;
	uint32_t device;
	size_t size;
	int r = rts_context_current(&ctx);

	if (!r)
		r = rts_device_from_user((int32_t)props->location.id, &device);
	if (!r)
		r = choose_size(device, props->maxSize, &size);
	if (r)
		return r;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a pool");
	pool->device = device;
	pool->epoch = rts_process_epoch();
	pool->size = size;
	pool->reuse[REUSE_STREAM] = true;
	tasks_guard_memory();
	r = pool_init(pool, handle);
	if (r)
		free(pool);
	return r;
}

static void addresses_drop(void *arg)
{
	struct rts_pool *pool = arg;

	rts_va_drop(pool->base, pool->size);
	pool_put(&pool);
}

/* The lock is held. Its addresses are for addresses_drop(), with the handle's reference, when earlier tasks end. */
static void pool_end(struct rts_pool *pool)
{
	(void)rts_object_unpublish(atomic_load(&pool->obj.handle), RTS_POOL);
	pool->gone = true;
	LIST_REMOVE(pool, link);
	atomic_fetch_sub(&pools_alive, 1);
	pool_segs_end(pool);
}

int rts_pool_destroy(aclrtMemPool handle)
{
	struct rts_pool *pool;
	int r = pool_lock(handle, ACL_ERROR_RT_INTERNAL_ERROR, &pool);

	if (r)
		return r;
	pool_end(pool);
	pool_unlock(pool);
	rts_exec_defer(addresses_drop, pool);
	return 0;
}

static struct rts_pool *end_one_of(uint32_t device)
{
	struct rts_pool *pool;

	u_mutex_lock(&pools.lock);
	LIST_FOREACH(pool, &pools.list, link)
		if (pool->device == device)
			break;
	if (pool)
		pool_end(pool);
	u_mutex_unlock(&pools.lock);
	return pool;
}

void rts_pool_device_gone(uint32_t device)
{
	struct rts_pool *pool;

	while ((pool = end_one_of(device)))
		rts_exec_defer(addresses_drop, pool);
}

/* ---- attributes ---- */

static int unknown_attr(aclrtMemPoolAttr attr)
{
	return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "attribute %d is unknown; aclrtMemPoolAttr has 1 to 8", (int)attr);
}

static int set_threshold(struct rts_pool *pool, uint64_t bytes)
{
	if (bytes > pool->size)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the threshold is %llu bytes; the pool has at most %zu",
				(unsigned long long)bytes, pool->size);
	pool->threshold = bytes;
	return 0;
}

static int clear_high(uint64_t *high, uint64_t value)
{
	if (value)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "a highest value can only be set to 0, not to %llu",
				(unsigned long long)value);
	*high = 0;
	return 0;
}

static int set_attr(struct rts_pool *pool, aclrtMemPoolAttr attr, const void *value)
{
	switch (attr) {
	case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
	case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		pool->reuse[attr] = *(const uint32_t *)value != 0;
		return 0;
	case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
		return set_threshold(pool, *(const uint64_t *)value);
	case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
		return clear_high(&pool->reserved_high, *(const uint64_t *)value);
	case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
		return clear_high(&pool->used_high, *(const uint64_t *)value);
	case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
	case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "attribute %d can only be read", (int)attr);
	default:
		return unknown_attr(attr);
	}
}

int rts_pool_set_attr(aclrtMemPool handle, aclrtMemPoolAttr attr, const void *value)
{
	struct rts_pool *pool;
	int r;

	if (!value)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "argument value is NULL");
	r = pool_lock(handle, ACL_ERROR_RT_PARAM_INVALID, &pool);
	if (r)
		return r;
	r = set_attr(pool, attr, value);
	pool_unlock(pool);
	return r;
}

static int get_attr(const struct rts_pool *pool, aclrtMemPoolAttr attr, void *value)
{
	uint64_t *bytes = value;

	switch (attr) {
	case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
	case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(uint32_t *)value = pool->reuse[attr];
		return 0;
	case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
		*bytes = pool->threshold;
		return 0;
	case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
		*bytes = pool->reserved;
		return 0;
	case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
		*bytes = pool->reserved_high;
		return 0;
	case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
		*bytes = pool->used;
		return 0;
	case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
		*bytes = pool->used_high;
		return 0;
	default:
		return unknown_attr(attr);
	}
}

int rts_pool_get_attr(aclrtMemPool handle, aclrtMemPoolAttr attr, void *value)
{
	struct rts_pool *pool;
	int r;

	if (!value)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "argument value is NULL");
	r = pool_lock(handle, ACL_ERROR_RT_PARAM_INVALID, &pool);
	if (r)
		return r;
	r = get_attr(pool, attr, value);
	pool_unlock(pool);
	return r;
}

/* ---- giving back what is idle ---- */

/* The lock is held. */
static bool reclaim(uint32_t device)
{
	struct rts_pool *pool;
	bool any = false;

	LIST_FOREACH(pool, &pools.list, link)
		if (pool->device == device)
			any |= pool_trim(pool, 0);
	return any;
}

bool rts_pool_reclaim(uint32_t device)
{
	bool any = false;

	if (atomic_load(&pools_alive)) {
		u_mutex_lock(&pools.lock);
		any = reclaim(device);
		u_mutex_unlock(&pools.lock);
	}
	return any;
}

void rts_pool_settle(void)
{
	struct rts_pool *pool;

	if (!atomic_load(&pools_alive) || rts_process_forked())
		return;
	u_mutex_lock(&pools.lock);
	LIST_FOREACH(pool, &pools.list, link)
		(void)pool_trim(pool, pool->used + pool->threshold);
	u_mutex_unlock(&pools.lock);
}

int rts_pool_trim_to(aclrtMemPool handle, size_t keep)
{
	struct rts_pool *pool;
	int r = pool_lock(handle, ACL_ERROR_RT_INTERNAL_ERROR, &pool);

	if (r)
		return r;
	if (keep > pool->size)
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "minBytesToKeep is %zu; the pool has at most %zu bytes", keep,
			     pool->size);
	else if (keep < pool->reserved && keep < pool->used)
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR,
			     "minBytesToKeep is %zu, but %llu bytes of the pool are in use", keep,
			     (unsigned long long)pool->used);
	else
		(void)pool_trim(pool, keep);
	pool_unlock(pool);
	return r;
}

/* ---- blocks ---- */

static int report_no_room(const struct rts_pool *pool, size_t size, int err)
{
	if (err != -ENOSPC)
		return rts_span_report(pool->device, size, size, VINCI_PAGE_2M, err);
	return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
			"the pool has no %zu bytes in one piece; of its %zu, %llu are in use and %llu kept for streams "
			"that gave them back",
			size, pool->size, (unsigned long long)pool->used,
			(unsigned long long)(pool->reserved - pool->used));
}

int rts_pool_alloc(aclrtMemPool handle, size_t size, struct rts_stream *st, void **out)
{
	struct rts_pool *pool;
	uint64_t position;
	uintptr_t base = 0;
	int r = rts_stream_position(st, &position); /* a stream that takes no tasks says so */

	if (!r && size > SIZE_MAX - RTS_POOL_UNIT)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "size %zu is too large to be rounded up", size);
	if (!r)
		r = pool_lock(handle, ACL_ERROR_RT_INTERNAL_ERROR, &pool);
	if (r)
		return r;
	size = rts_round_up(size, RTS_POOL_UNIT);
	r = pool_take(pool, size, st, &base);
	if ((r == -ENOSPC || r == -ENOMEM) && reclaim(pool->device))
		r = pool_take(pool, size, st, &base);
	if (r < 0)
		r = report_no_room(pool, size, r);
	pool_unlock(pool);
	if (!r)
		*out = (void *)base;
	return r;
}

/* The lock is held. The busy segment at @base, no longer in the index and not counted as used; NULL: there is none. */
static struct pool_seg *take_busy(uintptr_t base)
{
	struct rts_segment entry;
	struct pool_seg *seg;

	if (!rts_va_remove(base, RTS_SEG_POOL, &entry))
		return NULL;
	seg = entry.priv;
	seg->pool->used -= seg->size;
	return seg;
}

static void dying_end(void *arg)
{
	struct pool_seg *seg = arg;

	u_mutex_lock(&pools.lock);
	if (seg->pool)
		pool_release(seg);
	else
		free(seg);
	u_mutex_unlock(&pools.lock);
}

bool rts_pool_free(uintptr_t base)
{
	struct pool_seg *seg;

	u_mutex_lock(&pools.lock);
	seg = take_busy(base);
	if (seg)
		seg->state = POOL_DYING;
	u_mutex_unlock(&pools.lock);
	if (seg)
		rts_exec_defer(dying_end, seg);
	return seg != NULL;
}

/* What aclrtMalloc returned; who frees it earlier finds that out from this task. */
static int free_run(void *payload, struct rts_stream *st)
{
	void *ptr = *(void **)payload;
	int r = rts_memory_free(ptr);

	if (r)
		rts_stream_explain(st, "%p, to be freed in stream %d, could not be freed when its turn came", ptr,
				   st->id);
	return r;
}

static const struct rts_task_type free_type = { .name = "free", .run = free_run };

int rts_pool_free_async(void *ptr, struct rts_stream *st)
{
	struct event_place place = { .stream = st };
	struct rts_segment found;
	struct pool_seg *seg;
	int r = rts_stream_position(st, &place.target);

	if (r)
		return r;
	if (rts_va_find_outer(ptr, &found) && found.base == (uintptr_t)ptr &&
	    (found.kind == RTS_SEG_DEVICE || found.kind == RTS_SEG_SMALL || found.kind == RTS_SEG_MANAGED))
		return rts_stream_submit(st, &free_type, &ptr, sizeof(ptr));
	u_mutex_lock(&pools.lock);
	seg = take_busy((uintptr_t)ptr);
	if (seg) {
		rts_object_ref(&st->obj);
		pool_cache(seg, place);
	}
	u_mutex_unlock(&pools.lock);
	if (seg)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%p is not the start of device memory that is allocated%s", ptr,
			rts_va_gone(ptr) ? " (any more)" : "");
}
