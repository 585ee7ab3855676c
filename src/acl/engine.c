/* SPDX-License-Identifier: MIT */
/* engine.c - chapters 11.3, 11.6 and 12: batches, indirect copies, cache maintenance, reduction, random numbers. */
#include "acl/api.h"
#include "rts/engine.h"
#include "rts/memory.h"

/* ---- batches ---- */

static bool all_empty(const size_t *sizes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sizes[i])
			return false;
	return true;
}

static aclError check_arrays(const char *function, const struct rts_batch *b)
{
	const void *const arrays[] = { b->dsts, b->dst_maxs, b->srcs, b->attrs, b->attr_starts };
	static const char *const names[] = { "dsts", "destMaxs", "srcs", "attrs", "attrsIndexes" };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (!arrays[i])
			return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument %s is NULL", function, names[i]);
	for (size_t i = 0; i < b->count; i++)
		if (b->dst_maxs[i] < b->sizes[i])
			return u_report(ACL_ERROR_INVALID_PARAM,
					"%s: copy %zu has %zu bytes, and its destination takes %zu (destMaxs)",
					function, i, b->sizes[i], b->dst_maxs[i]);
	for (size_t k = 0; k < b->attr_count; k++)
		for (size_t i = 0; i < sizeof(b->attrs[k].rsv); i++)
			if (b->attrs[k].rsv[i])
				return u_report(ACL_ERROR_INVALID_PARAM,
						"%s: attrs[%zu].rsv is reserved and must be all zeros", function, k);
	return ACL_SUCCESS;
}

/* @stream: NULL when @queued is false, where it has no meaning. */
static aclError copy_batch(const char *function, const struct rts_batch *b, bool queued, aclrtStream stream,
			   size_t *fail_index)
{
	size_t bad = SIZE_MAX;
	int r;

	if (!b->sizes)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument sizes is NULL", function);
	if (!b->count)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: numBatches is 0; it must be a positive number of copies",
				function);
	if (!all_empty(b->sizes, b->count)) {
		r = check_arrays(function, b);
		if (r)
			return r;
		r = queued ? rts_copy_batch_async(b, stream, &bad) : rts_copy_batch(b, &bad);
	} else {
		r = ACL_SUCCESS;
	}
	if (fail_index)
		*fail_index = bad; /* an output of failures, too */
	return api_result(r);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
			  aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex)
{
	const struct rts_batch b = { dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs };

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(failIndex);
	return copy_batch(__func__, &b, false, NULL, failIndex);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
			       aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
			       aclrtStream stream)
{
	const struct rts_batch b = { dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs };

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(failIndex);
	return copy_batch(__func__, &b, true, stream, failIndex);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
			    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
	const struct rts_batch b = { dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs };

	REQUIRE_PRODUCT();
	return copy_batch(__func__, &b, false, NULL, NULL);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
				 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream)
{
	const struct rts_batch b = { dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs };

	REQUIRE_PRODUCT();
	return copy_batch(__func__, &b, true, stream, NULL);
}

/* ---- indirect copies ---- */

static aclError check_kind(const char *function, aclrtMemcpyKind kind)
{
	if ((uint32_t)kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: kind is %d; aclrtMemcpyKind has 0 to %d", function, (int)kind,
			ACL_MEMCPY_INTER_DEVICE_TO_DEVICE);
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize)
{
	aclError r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(descSize);
	r = check_kind(__func__, kind);
	if (r)
		return r;
	if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
		return api_result(u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
					   "%s: kind is %d; only copies within a device have a description", __func__,
					   (int)kind));
	*descSize = RTS_COPY_DESC_BYTES;
	return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count, void *config)
{
	aclError r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(desc);
	r = check_kind(__func__, kind);
	if (r)
		return r;
	REQUIRE_NOT_NULL(srcAddr);
	REQUIRE_NOT_NULL(dstAddr);
	REQUIRE(count, "%s: count is 0; it must be a positive number of bytes", __func__);
	REQUIRE(!config, "%s: config is reserved and must be NULL", __func__);
	return api_result(rts_copy_desc_set(desc, kind, srcAddr, dstAddr, count));
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream)
{
	aclError r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(desc);
	r = check_kind(__func__, kind);
	if (r)
		return r;
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_copy_by_desc(desc, kind, stream));
}

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset, const void **src, size_t count,
				    size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream)
{
	const struct rts_offset_copy copy = { dst, (const void *const *)src, destMax, dstDataOffset, srcDataOffset, count };

	REQUIRE_PRODUCT();
	if (!count)
		return ACL_SUCCESS;
	return api_result(rts_copy_by_offset(&copy, kind, stream));
}

/* ---- caches ---- */

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(src);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_cache_op(src, size, cmoType, stream));
}

aclError aclrtCmoGetDescSize(size_t *size)
{
	REQUIRE_PRODUCT();
	if (!size)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument size is NULL", __func__));
	*size = RTS_CACHE_DESC_BYTES;
	return ACL_SUCCESS;
}

aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size)
{
	REQUIRE_PRODUCT();
	return api_result(rts_cache_desc_set(cmoDesc, src, size));
}

/* CANN looks at no reserve here. */
aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void *reserve)
{
	REQUIRE_PRODUCT();
	(void)reserve;
	return api_result(rts_cache_op_by_desc(cmoDesc, cmoType, stream));
}

aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId, aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(src);
	if (!size)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: size is 0", __func__));
	return api_result(rts_cache_op_barrier(src, size, cmoType, barrierId, stream));
}

/* CANN does not look at flag. */
aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)
{
	REQUIRE_PRODUCT();
	(void)flag;
	REQUIRE_NOT_NULL(taskInfo);
	REQUIRE(taskInfo->barrierNum && taskInfo->barrierNum <= ACL_RT_CMO_MAX_BARRIER_NUM,
		"%s: taskInfo->barrierNum is %zu; it must be 1 to %u", __func__, taskInfo->barrierNum,
		ACL_RT_CMO_MAX_BARRIER_NUM);
	return api_result(rts_cache_wait(taskInfo->cmoInfo, taskInfo->barrierNum, stream));
}

/* ---- arithmetic ---- */

/* What the acl layer has a name for; which of them a product reduces is the runtime's matter. */
static bool has_reduce_type(aclDataType type)
{
	switch (type) {
	case ACL_FLOAT:
	case ACL_FLOAT16:
	case ACL_INT16:
	case ACL_INT4:
	case ACL_INT8:
	case ACL_INT32:
	case ACL_BF16:
	case ACL_UINT8:
	case ACL_UINT16:
	case ACL_UINT32:
		return true;
	default:
		return false;
	}
}

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type,
			  aclrtStream stream, void *reserve)
{
	REQUIRE_NOT_NULL(dst);
	REQUIRE_NOT_NULL(src);
	REQUIRE(!reserve, "%s: reserve must be NULL", __func__);
	REQUIRE(has_reduce_type(type), "%s: type is %d, which cannot be reduced", __func__, (int)type);
	return api_result(rts_reduce(dst, src, count, kind, type, stream));
}

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo, aclrtStream stream, void *reserve)
{
	REQUIRE_PRODUCT();
	if (!taskInfo)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument taskInfo is NULL", __func__));
	if (reserve)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: reserve must be NULL", __func__));
	return api_result(rts_random(taskInfo, stream));
}
