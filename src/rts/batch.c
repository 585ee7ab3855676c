/* SPDX-License-Identifier: MIT */
/* batch.c - many copies between host and device in one call. All places are checked before the first copy is made. */
#include "rts/engine.h"
#include "rts/memory.h"
#include "util/cleanup.h"

#include <string.h>

#define BATCH_MAX 4096 /* copies in one synchronous call, as in CANN's driver */

static int check_starts(const struct rts_batch *b)
{
	if (!b->attr_count || b->attr_count > b->count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "numAttrs is %zu; it must be from 1 to numBatches, %zu",
				b->attr_count, b->count);
	if (b->attr_starts[0])
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[0] is %zu; the first must be 0",
				b->attr_starts[0]);
	for (size_t i = 1; i < b->attr_count; i++)
		if (b->attr_starts[i] <= b->attr_starts[i - 1] || b->attr_starts[i] >= b->count)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"attrsIndexes[%zu] is %zu; it must be above the one before it, %zu, and below "
					"numBatches, %zu",
					i, b->attr_starts[i], b->attr_starts[i - 1], b->count);
	return 0;
}

static const char *side_name(bool device)
{
	return device ? "device memory" : "host memory";
}

/* What the attribute says about one end, against what is there. */
static int check_end(const aclrtMemLocation *said, const struct rts_place *place, const char *what, size_t i)
{
	bool device = place->type == ACL_MEM_LOCATION_TYPE_DEVICE;
	bool host_said = said->type == ACL_MEM_LOCATION_TYPE_HOST || said->type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
	int32_t id = rts_device_to_user(place->device);

	if (device && said->type == ACL_MEM_LOCATION_TYPE_DEVICE && said->id == (uint32_t)id)
		return 0;
	if (!device && host_said)
		return 0;
	if (device && said->type == ACL_MEM_LOCATION_TYPE_DEVICE)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "copy %zu: %s is on device %d; its attribute says %u", i,
				what, id, said->id);
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "copy %zu: %s is %s; its attribute says location type %d", i, what,
			side_name(device), (int)said->type);
}

static int check_direction(const struct rts_place *dst, const struct rts_place *src, size_t i)
{
	bool to = dst->type == ACL_MEM_LOCATION_TYPE_DEVICE, from = src->type == ACL_MEM_LOCATION_TYPE_DEVICE;

	if (to == from)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"copy %zu: from %s to %s; a batch copies between host and device", i, side_name(from),
				side_name(to));
	if (dst->by_key || src->by_key)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"copy %zu: memory imported by key cannot be in a batch; use aclrtMemcpy", i);
	return 0;
}

static int find_end(const void *ptr, size_t size, const char *what, struct rts_place *place)
{
	if (!ptr)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "an address of the batch's %s is NULL", what);
	return rts_place(ptr, size, what, place);
}

static int check_copy(const struct rts_batch *b, size_t i, const aclrtMemcpyBatchAttr *attr, bool *to_device)
{
	struct rts_place dst = { 0 }, src = { 0 };
	int r = find_end(b->dsts[i], b->sizes[i], "destination", &dst);

	if (!r)
		r = find_end(b->srcs[i], b->sizes[i], "source", &src);
	if (!r)
		r = check_end(&attr->dstLoc, &dst, "the destination", i);
	if (!r)
		r = check_end(&attr->srcLoc, &src, "the source", i);
	if (!r)
		r = check_direction(&dst, &src, i);
	if (!r)
		*to_device = dst.type == ACL_MEM_LOCATION_TYPE_DEVICE;
	return r;
}

static int check_all(const struct rts_batch *b, bool queued, size_t *bad)
{
	size_t k = 0;
	bool to_device;
	int r;

	for (size_t i = 0; i < b->count; i++) {
		if (k + 1 < b->attr_count && i >= b->attr_starts[k + 1])
			k++;
		r = 0;
		if (queued && !b->sizes[i])
			r = u_report(ACL_ERROR_RT_PARAM_INVALID, "copy %zu: its size is 0", i);
		if (!r)
			r = check_copy(b, i, &b->attrs[k], &to_device);
		if (r) {
			*bad = i;
			return r;
		}
	}
	return 0;
}

int rts_copy_batch(const struct rts_batch *b, size_t *bad)
{
	int r = rts_process_check_fork();

	*bad = SIZE_MAX;
	if (!r)
		r = check_starts(b);
	if (!r && b->count > BATCH_MAX)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "numBatches is %zu; at most %d copies fit one batch", b->count,
			     BATCH_MAX);
	if (!r)
		r = check_all(b, false, bad);
	for (size_t i = 0; !r && i < b->count; i++)
		memcpy(b->dsts[i], b->srcs[i], b->sizes[i]);
	return r;
}

int rts_copy_batch_async(const struct rts_batch *b, aclrtStream handle, size_t *bad)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct rts_context *ctx;
	int r = rts_stream_get_any(handle, &stream);

	*bad = SIZE_MAX;
	if (!r)
		r = check_starts(b);
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = check_all(b, true, bad);
	/* A copy may be queued already when the next fails: the stream was destroyed meanwhile, or stops on failure. */
	for (size_t i = 0; !r && i < b->count; i++)
		r = rts_copy_async(b->dsts[i], b->dst_maxs[i], b->srcs[i], b->sizes[i], ACL_MEMCPY_DEFAULT, handle);
	return r;
}
