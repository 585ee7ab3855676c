/* SPDX-License-Identifier: MIT */
/*
 * copy.c - copies. Where memory is decides the direction; what the caller says about it is checked as CANN's runtime
 * does: not at all when it copies synchronously, by a table when it queues.
 *
 * Every range is looked up before the copy is made or queued, and memory that goes away afterwards stays mapped until
 * the tasks that were queued before have ended.
 */
#include <stdlib.h>
#include <string.h>

#include "rts/memory.h"
#include "rts/model.h"
#include "util/cleanup.h"

/* Most rows and bytes of a row in a 2D copy, as in CANN's runtime. */
#define MAX_HEIGHT ((size_t)5242880)
#define MAX_WIDTH ((size_t)5000000)

struct copy {
	struct rts_place dst, src;
	aclrtMemcpyKind kind; /* corrected; never DEFAULT once planned */
};

/* ---- where memory is ---- */

static bool inside(const struct rts_segment *seg, uintptr_t at, size_t len)
{
	return seg->kind != RTS_SEG_RESERVED && len <= seg->size - (at - seg->base);
}

static int report_outside(const void *ptr, size_t len, const char *what, const struct rts_segment *seg)
{
	if (seg->kind == RTS_SEG_RESERVED || seg->kind == RTS_SEG_VMM)
		return u_report(
			ACL_ERROR_RT_DRV_INTERNAL_ERROR,
			"%s: %zu bytes from %p on are not all mapped in the reservation there; aclrtMapMem comes first",
			what, len, ptr);
	return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
			"%s: %zu bytes from %p on run over the end of the allocation 0x%lx+0x%zx", what, len, ptr,
			(unsigned long)seg->base, seg->size);
}

int rts_place(const void *ptr, size_t len, const char *what, struct rts_place *place)
{
	struct rts_segment seg;

	switch (rts_va_look(ptr, &seg)) {
	case RTS_VA_FOUND:
		break;
	case RTS_VA_GONE:
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "%s: %p is not allocated (any more)", what, ptr);
	default:
		*place = (struct rts_place){ .type = ACL_MEM_LOCATION_TYPE_UNREGISTERED };
		return 0;
	}
	if (!inside(&seg, (uintptr_t)ptr, len) && !rts_va_range(ptr, len, &seg))
		return report_outside(ptr, len, what, &seg);
	place->type = seg.host ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
	place->device = seg.device;
	place->owner = seg.owner;
	place->by_key = seg.kind == RTS_SEG_IPC;
	place->managed = seg.kind == RTS_SEG_MANAGED;
	return 0;
}

static bool on_device(const struct rts_place *place)
{
	return place->type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

static bool pageable(const struct copy *copy)
{
	return copy->dst.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED ||
	       copy->src.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

/* The direction that the addresses say. */
static aclrtMemcpyKind natural_kind(const struct copy *copy)
{
	if (on_device(&copy->src))
		return on_device(&copy->dst) ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
	return on_device(&copy->dst) ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_HOST;
}

/*
 * With pageable memory on one side, that side may also be called device memory (a buffer of the media engines is
 * unknown to the driver, too); what is known has to be named right.
 */
static bool kind_allowed(const struct copy *copy, aclrtMemcpyKind kind)
{
	bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
	bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;

	if (copy->src.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED && from_device != on_device(&copy->src))
		return false;
	return copy->dst.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED || to_device == on_device(&copy->dst);
}

static const char *kind_name(aclrtMemcpyKind kind)
{
	static const char *const names[] = { "HOST_TO_HOST",	 "HOST_TO_DEVICE", "DEVICE_TO_HOST",
					     "DEVICE_TO_DEVICE", "DEFAULT",	   "HOST_TO_BUF_TO_DEVICE" };

	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

static const char *type_name(const struct rts_place *place)
{
	switch (place->type) {
	case ACL_MEM_LOCATION_TYPE_DEVICE:
		return "device memory";
	case ACL_MEM_LOCATION_TYPE_HOST:
		return "pinned host memory";
	default:
		return "pageable host memory";
	}
}

static int correct_kind(struct copy *copy, aclrtMemcpyKind kind)
{
	if (kind == ACL_MEMCPY_DEFAULT || !pageable(copy)) {
		copy->kind = natural_kind(copy);
		return 0;
	}
	if (!kind_allowed(copy, kind))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "kind is %s, but the source is %s and the destination %s",
				kind_name(kind), type_name(&copy->src), type_name(&copy->dst));
	copy->kind = kind;
	return 0;
}

/* ---- what the connection between two devices allows ---- */

/* Imported by key from another device. */
static bool foreign(const struct rts_place *place)
{
	return place->by_key && place->owner != place->device;
}

/* CANN's reference, IPC memory: what works on memory of another device. */
static int check_foreign(const struct copy *copy, aclrtMemcpyKind asked, bool sync)
{
	if (!foreign(&copy->dst) && !foreign(&copy->src))
		return 0;
	if (asked == ACL_MEMCPY_DEFAULT)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"memory imported from another device: the direction of the copy has to be named, "
				"ACL_MEMCPY_DEFAULT is not supported");
	if (!on_device(&copy->dst) || !on_device(&copy->src))
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"memory imported from another device cannot be copied from or to the host; copy it to "
				"memory of this device with aclrtMemcpyAsync first");
	if (sync && copy->dst.device == copy->src.device)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"memory imported from another device cannot be copied synchronously within this "
				"device; use aclrtMemcpyAsync");
	return 0;
}

static int check_peers(const struct copy *copy)
{
	uint32_t a = copy->dst.owner, b = copy->src.owner;

	if (!on_device(&copy->dst) || !on_device(&copy->src) || a == b || copy->dst.managed || copy->src.managed ||
	    rts_profile()->features & RTS_FEATURE_PEER_COPY_FREE || rts_peer_active(b, a))
		return 0;
	return u_report(
		ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		"a copy from device %d to device %d needs peer access in both directions: aclrtDeviceEnablePeerAccess",
		rts_device_to_user(b), rts_device_to_user(a));
}

static int check_links(const struct copy *copy, aclrtMemcpyKind asked, bool sync)
{
	int r = check_foreign(copy, asked, sync);

	return r ? r : check_peers(copy);
}

static int find_places(struct copy *copy, const void *dst, size_t dst_len, const void *src, size_t src_len)
{
	int r = rts_place(dst, dst_len, "destination", &copy->dst);

	return r ? r : rts_place(src, src_len, "source", &copy->src);
}

int rts_check_max(size_t max, size_t count)
{
	if (count <= max)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes do not fit the destination, which has %zu", count, max);
}

int rts_stream_own(struct rts_stream *stream)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (!r && rts_stream_context(stream) != ctx)
		r = u_report(ACL_ERROR_RT_STREAM_CONTEXT,
			     "the stream belongs to another context than the current one of this thread");
	return r;
}

/* ---- synchronous ---- */

static bool overlap(const void *dst, const void *src, size_t count)
{
	uintptr_t a = (uintptr_t)dst, b = (uintptr_t)src;

	return a < b ? b - a < count : a - b < count;
}

static int copy_now(void *dst, const void *src, size_t count, const struct copy *copy)
{
	if (!overlap(dst, src, count))
		memcpy(dst, src, count);
	else if (natural_kind(copy) == ACL_MEMCPY_HOST_TO_HOST)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "source %p and destination %p overlap within %zu bytes",
				src, dst, count);
	else
		memmove(dst, src, count);
	return 0;
}

int rts_copy(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind)
{
	struct rts_context *ctx;
	struct copy copy = { 0 };
	int r = rts_check_max(dst_max, count);

	if (r || dst == src)
		return r;
	r = rts_context_current(&ctx);
	if (!r)
		r = rts_capture_permits("aclrtMemcpy", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
	if (!r)
		r = find_places(&copy, dst, count, src, count);
	if (!r)
		r = check_links(&copy, kind, true);
	return r ? r : copy_now(dst, src, count, &copy);
}

/* ---- queued ---- */

struct copy_task {
	void *dst;
	const void *src;
	size_t count;
	void *owned; /* the copy of the source that ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE made, or NULL */
};

static int run_copy(void *payload, struct rts_stream *stream)
{
	const struct copy_task *task = payload;

	(void)stream;
	memmove(task->dst, task->src, task->count);
	return 0;
}

static void drop_copy(void *payload)
{
	struct copy_task *task = payload;

	free(task->owned);
}

static const struct rts_task_type copy_type = {
	.name = "memory copy", .run = run_copy, .drop = drop_copy, .memory = true,
};

static int queue_copy(struct rts_stream *stream, void *dst, const void *src, size_t count)
{
	struct copy_task task = { .dst = dst, .src = src, .count = count };

	return rts_stream_submit(stream, &copy_type, &task, sizeof(task));
}

/* The host's buffer is free again when this returns. */
static int queue_buffered(struct rts_stream *stream, void *dst, const void *src, size_t count)
{
	struct copy_task task = { .dst = dst, .count = count, .owned = malloc(count) };
	int r;

	if (!task.owned)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a buffer of %zu bytes", count);
	memcpy(task.owned, src, count);
	task.src = task.owned;
	r = rts_stream_submit(stream, &copy_type, &task, sizeof(task));
	if (r)
		free(task.owned);
	return r;
}

static int correct_queued_kind(struct copy *copy, aclrtMemcpyKind kind)
{
	if (kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
		return correct_kind(copy, kind);
	copy->kind = kind;
	if (!on_device(&copy->src) && on_device(&copy->dst))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"kind is HOST_TO_BUF_TO_DEVICE, but the source is %s and the destination %s",
			type_name(&copy->src), type_name(&copy->dst));
}

/* Before a copy that was to be queued is done at once. */
static int drain(struct rts_stream *stream)
{
	int r;

	if (rts_stream_captured(stream))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"stream %d is being captured; a copy from or to pageable host memory cannot be (aclrtMallocHost)",
				rts_stream_id(stream));
	r = rts_stream_synchronize(stream, -1);
	return r ? r : rts_capture_permits("a copy from or to pageable host memory", ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC);
}

static int start_copy(struct rts_stream *stream, void *dst, const void *src, size_t count, const struct copy *copy)
{
	int r;

	if (copy->kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
		return queue_buffered(stream, dst, src, count);
	if (!pageable(copy))
		return queue_copy(stream, dst, src, count);
	/* Pageable memory may move or go while a task waits, so CANN copies it at once, behind all that is queued. */
	r = drain(stream);
	return r ? r : copy_now(dst, src, count, copy);
}

int rts_copy_async(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct rts_context *ctx;
	struct copy copy = { 0 };
	int r = rts_stream_get_any(handle, &stream);

	if (!r)
		r = rts_check_max(dst_max, count);
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = find_places(&copy, dst, count, src, count);
	if (!r)
		r = correct_queued_kind(&copy, kind);
	if (r)
		return r;
	if (copy.kind == ACL_MEMCPY_HOST_TO_HOST)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"a copy from host to host cannot be queued on a stream; use aclrtMemcpy");
	if (dst == src)
		return 0;
	r = check_links(&copy, kind, false);
	if (!r)
		r = rts_stream_own(stream);
	return r ? r : start_copy(stream, dst, src, count, &copy);
}

/* ---- 2D ---- */

/* Bytes from the first to the last of the rectangle; 0 when that is more than there can be. */
static size_t extent_2d(size_t pitch, const struct rts_rect *rect)
{
	size_t rows = rect->height - 1;

	if (rows && pitch > (SIZE_MAX - rect->width) / rows)
		return 0;
	return rows * pitch + rect->width;
}

static int check_rect(const struct rts_rect *rect)
{
	if (rect->height > MAX_HEIGHT || rect->width > MAX_WIDTH)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%zu rows of %zu bytes; a copy has at most %zu rows and %zu bytes in a row",
				rect->height, rect->width, MAX_HEIGHT, MAX_WIDTH);
	if (!extent_2d(rect->dpitch, rect) || !extent_2d(rect->spitch, rect))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%zu rows at pitches %zu and %zu run over the end of the address space", rect->height,
				rect->dpitch, rect->spitch);
	return 0;
}

static int plan_2d(struct copy *copy, const struct rts_rect *rect, aclrtMemcpyKind kind, bool sync)
{
	int r = find_places(copy, rect->dst, extent_2d(rect->dpitch, rect), rect->src, extent_2d(rect->spitch, rect));

	if (!r)
		r = correct_kind(copy, kind);
	if (r)
		return r;
	if (copy->kind == ACL_MEMCPY_HOST_TO_HOST || (sync && copy->kind == ACL_MEMCPY_DEVICE_TO_DEVICE))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "a 2D copy from %s to %s; %s", type_name(&copy->src),
				type_name(&copy->dst),
				sync ? "aclrtMemcpy2d copies between host and device"
				     : "aclrtMemcpy2dAsync copies between host and device or within devices");
	return check_links(copy, kind, sync);
}

static void copy_rows(const struct rts_rect *rect)
{
	char *dst = rect->dst;
	const char *src = rect->src;

	for (size_t row = 0; row < rect->height; row++)
		memmove(dst + row * rect->dpitch, src + row * rect->spitch, rect->width);
}

int rts_copy_2d(const struct rts_rect *rect, aclrtMemcpyKind kind)
{
	struct rts_context *ctx;
	struct copy copy = { 0 };
	int r = check_rect(rect);

	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = rts_capture_permits("aclrtMemcpy2d", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
	if (!r)
		r = plan_2d(&copy, rect, kind, true);
	if (!r)
		copy_rows(rect);
	return r;
}

static int run_rows(void *payload, struct rts_stream *stream)
{
	(void)stream;
	copy_rows(payload);
	return 0;
}

static const struct rts_task_type rows_type = { .name = "2D memory copy", .run = run_rows, .memory = true };

int rts_copy_2d_async(const struct rts_rect *rect, aclrtMemcpyKind kind, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct rts_context *ctx;
	struct copy copy = { 0 };
	int r = rts_stream_get_any(handle, &stream);

	if (!r)
		r = check_rect(rect);
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = plan_2d(&copy, rect, kind, false);
	if (!r)
		r = rts_stream_own(stream);
	if (r)
		return r;
	if (!pageable(&copy))
		return rts_stream_submit(stream, &rows_type, rect, sizeof(*rect));
	r = drain(stream);
	if (!r)
		copy_rows(rect);
	return r;
}
