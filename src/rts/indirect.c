/* SPDX-License-Identifier: MIT */
/*
 * indirect.c - tasks whose addresses lie in device memory and are read when they run, and cache maintenance. What is
 * read then may be anything, so it is checked then: a bad address fails the task.
 */
#include "rts/engine.h"
#include "rts/memory.h"
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <string.h>

#define COPY_MAX ((size_t)4 << 30) /* bytes of a copy within a device, as in CANN's runtime */
#define LINE 64			   /* bytes that are prefetched at once */

/* In device memory. The check tells a description from whatever else lies there. */
struct copy_desc {
	uint64_t dst, src, count, check;
};

struct cache_desc {
	uint64_t ptr, size, check, unused;
};

#define COPY_CHECK UINT64_C(0x76696e6369637079)
#define CACHE_CHECK UINT64_C(0x76696e6369636d6f)

_Static_assert(sizeof(struct copy_desc) == RTS_COPY_DESC_BYTES, "size that aclrtGetMemcpyDescSize() gives");
_Static_assert(sizeof(struct cache_desc) == RTS_CACHE_DESC_BYTES, "size that aclrtCmoGetDescSize() gives");

static int place_on_device(const void *ptr, size_t len, const char *what, struct rts_place *place)
{
	int r = rts_place(ptr, len, what, place);

	if (!r && place->type != ACL_MEM_LOCATION_TYPE_DEVICE)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not device memory", what, ptr);
	return r;
}

static int check_inner(aclrtMemcpyKind kind, int code)
{
	if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
		return 0;
	return u_report(code, "kind is %d; an indirect copy is ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (%d)", (int)kind,
			ACL_MEMCPY_INNER_DEVICE_TO_DEVICE);
}

static int submit(const struct rts_task_type *type, const void *task, size_t size, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get(handle, &stream);

	return r ? r : rts_stream_submit(stream, type, task, size);
}

/* ---- copies ---- */

bool rts_task_reaches(struct rts_stream *stream, const void *ptr, size_t len)
{
	struct rts_segment seg;

	if (rts_va_look(ptr, &seg) != RTS_VA_FOUND || seg.host || seg.device != rts_stream_device(stream))
		return false;
	return rts_va_range(ptr, len, &seg) && seg.kind != RTS_SEG_RESERVED;
}

static int copy_checked(struct rts_stream *stream, uint64_t dst, uint64_t src, size_t count)
{
	void *to = (void *)(uintptr_t)dst;
	const void *from = (const void *)(uintptr_t)src;

	if (!rts_task_reaches(stream, to, count) || !rts_task_reaches(stream, from, count)) {
		rts_stream_explain(stream,
				   "an indirect copy of %zu bytes found the addresses 0x%llx and 0x%llx, which are not "
				   "both memory of the stream's device",
				   count, (unsigned long long)src, (unsigned long long)dst);
		return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	}
	memmove(to, from, count);
	return 0;
}

static int run_offset_copy(void *payload, struct rts_stream *stream)
{
	const struct rts_offset_copy *copy = payload;
	uint64_t dst, src;

	memcpy(&dst, copy->dst, sizeof(dst));
	memcpy(&src, copy->src, sizeof(src));
	return copy_checked(stream, dst + copy->dst_offset, src + copy->src_offset, copy->count);
}

static const struct rts_task_type offset_copy_type = {
	.name = "memory copy by offset", .run = run_offset_copy, .memory = true,
};

int rts_copy_by_offset(const struct rts_offset_copy *copy, aclrtMemcpyKind kind, aclrtStream stream)
{
	struct rts_place place;
	int r = check_inner(kind, ACL_ERROR_RT_PARAM_INVALID);

	if (!r && (!copy->dst || !copy->src))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "argument %s is NULL", copy->dst ? "src" : "dst");
	if (!r)
		r = rts_check_max(copy->dst_max, copy->count);
	if (!r)
		r = place_on_device(copy->dst, sizeof(void *), "dst", &place);
	if (!r)
		r = place_on_device(copy->src, sizeof(void *), "src", &place);
	return r ? r : submit(&offset_copy_type, copy, sizeof(*copy), stream);
}

static int check_desc_place(const void *desc, struct rts_place *place)
{
	if ((uintptr_t)desc % RTS_COPY_DESC_ALIGN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "desc is %p; it must be a multiple of %d", desc,
				RTS_COPY_DESC_ALIGN);
	return place_on_device(desc, RTS_COPY_DESC_BYTES, "desc", place);
}

int rts_copy_desc_set(void *desc, aclrtMemcpyKind kind, void *src, void *dst, size_t count)
{
	const struct copy_desc value = { (uintptr_t)dst, (uintptr_t)src, count, COPY_CHECK };
	struct rts_place at, from, to;
	int r = rts_process_check_fork();

	if (!r)
		r = check_inner(kind, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	if (!r && count > COPY_MAX)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "count is %zu; a copy within a device has at most %zu bytes",
			     count, COPY_MAX);
	if (!r)
		r = check_desc_place(desc, &at);
	if (!r)
		r = place_on_device(dst, count, "dstAddr", &to);
	if (!r)
		r = place_on_device(src, count, "srcAddr", &from);
	if (!r && to.device != from.device)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID,
			     "srcAddr is on device %d and dstAddr on device %d; the copy is within one device",
			     rts_device_to_user(from.device), rts_device_to_user(to.device));
	if (!r)
		memcpy(desc, &value, sizeof(value));
	return r;
}

static int run_desc_copy(void *payload, struct rts_stream *stream)
{
	struct copy_desc desc;

	memcpy(&desc, *(void **)payload, sizeof(desc));
	if (desc.check == COPY_CHECK)
		return copy_checked(stream, desc.dst, desc.src, desc.count);
	rts_stream_explain(stream, "what lies at %p is no description of a copy; aclrtSetMemcpyDesc makes one",
			   *(void **)payload);
	return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
}

static const struct rts_task_type desc_copy_type = {
	.name = "memory copy by description", .run = run_desc_copy, .memory = true,
};

int rts_copy_by_desc(const void *desc, aclrtMemcpyKind kind, aclrtStream stream)
{
	struct rts_place place;
	int r = check_inner(kind, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);

	if (!r)
		r = check_desc_place(desc, &place);
	return r ? r : submit(&desc_copy_type, &desc, sizeof(desc), stream);
}

/* ---- caches ---- */

struct cache_task {
	const void *ptr; /* memory, or a description of it */
	size_t size;
	uint32_t op;
	uint32_t by_desc;
};

/*
 * The caches of this device are the machine's, which are coherent: writing back and invalidating leave only order to be
 * made. Prefetching is a hint that touches no page; more than the product's cache holds would push itself out.
 */
static void maintain(const char *at, size_t size, uint32_t op)
{
	size_t end = size < rts_profile()->l2_bytes ? size : (size_t)rts_profile()->l2_bytes;

	if (op != ACL_RT_CMO_TYPE_PREFETCH) {
		atomic_thread_fence(memory_order_seq_cst);
		return;
	}
	for (size_t i = 0; i < end; i += LINE)
		__builtin_prefetch(at + i);
}

static int run_cache_op(void *payload, struct rts_stream *stream)
{
	const struct cache_task *task = payload;
	struct cache_desc desc;

	if (!task->by_desc) {
		maintain(task->ptr, task->size, task->op);
		return 0;
	}
	memcpy(&desc, task->ptr, sizeof(desc));
	if (desc.check == CACHE_CHECK && rts_task_reaches(stream, (void *)(uintptr_t)desc.ptr, desc.size)) {
		maintain((const char *)(uintptr_t)desc.ptr, desc.size, task->op);
		return 0;
	}
	rts_stream_explain(stream, "what lies at %p does not describe memory of the stream's device; aclrtCmoSetDesc does",
			   task->ptr);
	return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
}

static const struct rts_task_type cache_type = { .name = "cache operation", .run = run_cache_op, .memory = true };

static int check_cache(const struct cache_task *task, size_t bytes, const struct rts_stream *stream)
{
	struct rts_place place;
	int r = place_on_device(task->ptr, bytes, "src", &place);

	if (r || place.device == rts_stream_device(stream))
		return r;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"the memory is on device %d and the stream on device %d; a device maintains its own caches",
			rts_device_to_user(place.device), rts_device_to_user(rts_stream_device(stream)));
}

static int submit_cache(const struct cache_task *task, size_t bytes, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get(handle, &stream);

	if (!r)
		r = check_cache(task, bytes, stream);
	return r ? r : rts_stream_submit(stream, &cache_type, task, sizeof(*task));
}

static int check_cache_op(aclrtCmoType op)
{
	if ((uint32_t)op <= ACL_RT_CMO_TYPE_FLUSH)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "cmoType is %d; aclrtCmoType has 0 to %d", (int)op,
			ACL_RT_CMO_TYPE_FLUSH);
}

int rts_cache_op(const void *ptr, size_t size, aclrtCmoType op, aclrtStream stream)
{
	const struct cache_task task = { .ptr = ptr, .size = size, .op = (uint32_t)op };
	int r = check_cache_op(op);

	return r ? r : submit_cache(&task, size, stream);
}

int rts_cache_desc_set(void *desc, void *ptr, size_t size)
{
	const struct cache_desc value = { .ptr = (uintptr_t)ptr, .size = size, .check = CACHE_CHECK };
	struct rts_context *ctx;
	struct rts_place place;
	int r = rts_context_current(&ctx);

	if (!r && (!desc || !ptr))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "argument %s is NULL", desc ? "src" : "cmoDesc");
	if (!r && !size)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "size is 0; it must be a positive number of bytes");
	if (!r)
		r = place_on_device(desc, sizeof(value), "cmoDesc", &place);
	if (!r)
		memcpy(desc, &value, sizeof(value));
	return r;
}

int rts_cache_op_by_desc(const void *desc, aclrtCmoType op, aclrtStream stream)
{
	const struct cache_task task = { .ptr = desc, .op = (uint32_t)op, .by_desc = 1 };

	if (!desc)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "argument cmoDesc is NULL");
	if ((uint32_t)op > ACL_RT_CMO_TYPE_FLUSH)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "cmoType is %d; aclrtCmoType has 0 to %d", (int)op,
				ACL_RT_CMO_TYPE_FLUSH);
	return submit_cache(&task, RTS_CACHE_DESC_BYTES, stream);
}

/* ---- caches, and waiting for them, in models ---- */

/* models_lock. The list that @stream records into. */
static int recorded_track(struct rts_stream *stream, struct model_track **out)
{
	struct model_track *track = atomic_load(&stream->track);

	if (!track)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"stream %d is not bound to a model, as cache operations with barriers want it",
				rts_stream_id(stream));
	if (atomic_load(&track->model->state) >= MODEL_READY)
		return u_report(ACL_ERROR_RT_STREAM_MODEL,
				"stream %d belongs to a model that is complete, and takes no more tasks",
				rts_stream_id(stream));
	*out = track;
	return 0;
}

static int explain_memory(int code)
{
	return code == ACL_ERROR_RT_MEMORY_ALLOCATION ? u_report(code, "out of host memory for a recorded task") : code;
}

static int check_barrier(aclrtCmoType op, uint32_t barrier)
{
	int r = check_cache_op(op);

	if (r || (op == ACL_RT_CMO_TYPE_INVALID) == (barrier != 0))
		return r;
	if (barrier)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"barrierId is %u with cmoType %d; it must be 0, except for INVALID (%d)",
				barrier, (int)op, ACL_RT_CMO_TYPE_INVALID);
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "barrierId is 0; with ACL_RT_CMO_TYPE_INVALID it must be above 0");
}

/* models_lock */
static int append_cache(struct model_track *track, const struct cache_task *task, uint32_t barrier)
{
	struct model_mark *mark;
	int r = track_append(track, &cache_type, task, sizeof(*task));

	if (r || !barrier)
		return r;
	r = mark_append(track, &mark);
	if (!r)
		mark->barrier = barrier;
	return r;
}

int rts_cache_op_barrier(const void *ptr, size_t size, aclrtCmoType op, uint32_t barrier, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	const struct cache_task task = { .ptr = ptr, .size = size, .op = (uint32_t)op };
	struct model_track *track;
	int r = check_barrier(op, barrier);

	if (!r)
		r = rts_stream_get(handle, &stream);
	if (!r)
		r = check_cache(&task, size, stream);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = recorded_track(stream, &track);
	if (!r)
		r = append_cache(track, &task, barrier);
	u_mutex_unlock(&models_lock);
	return explain_memory(r);
}

/* models_lock. What is on the waiting stream itself is there, too: it has been passed when the wait begins. */
static int append_waits(struct model_track *track, uint32_t barrier)
{
	bool found = false;
	int r = 0;

	for (struct model_track *t = track->model->tracks; t && !r; t = t->next) {
		const struct model_step *last = t->last;

		for (struct model_step *s = t->first; s && !r; s = s == last ? NULL : s->next) {
			struct model_mark *mark = mark_of(s);

			if (!mark || mark->barrier != barrier)
				continue;
			found = true;
			r = mark_wait_append(track, mark, 0);
		}
	}
	if (!r && !found)
		r = u_report(ACL_ERROR_RT_STREAM_MODEL,
			     "no cache operation with barrier %u has been recorded in model %u", barrier,
			     track->model->id);
	return r;
}

static int check_wait(const aclrtBarrierCmoInfo *info, size_t i)
{
	if (info->cmoType == ACL_RT_CMO_TYPE_INVALID && info->barrierId)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"cmoInfo[%zu]: cmoType is %d and barrierId %u; they must be %d (INVALID) and above 0", i,
			(int)info->cmoType, info->barrierId, ACL_RT_CMO_TYPE_INVALID);
}

int rts_cache_wait(const aclrtBarrierCmoInfo *infos, size_t count, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct model_track *track;
	int r = 0;

	for (size_t i = 0; i < count && !r; i++)
		r = check_wait(&infos[i], i);
	if (!r)
		r = rts_stream_get(handle, &stream);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = recorded_track(stream, &track);
	for (size_t i = 0; i < count && !r; i++)
		r = append_waits(track, infos[i].barrierId);
	u_mutex_unlock(&models_lock);
	return explain_memory(r);
}
