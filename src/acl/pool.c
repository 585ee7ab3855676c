/* SPDX-License-Identifier: MIT */
/* pool.c - chapter 11.10: pools of memory in the order of streams. */
#include "acl/api.h"
#include "rts/pool.h"
#include "util/cleanup.h"

static bool is_zero(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

/* What a pool's memory can be shared as is not looked at: the reference has no function that would share it. */
aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memPool);
	REQUIRE_NOT_NULL(poolProps);
	REQUIRE(poolProps->allocType == ACL_MEM_ALLOCATION_TYPE_PINNED,
		"%s: allocType is %d; it must be ACL_MEM_ALLOCATION_TYPE_PINNED (0)", __func__,
		(int)poolProps->allocType);
	REQUIRE(poolProps->location.type == ACL_MEM_LOCATION_TYPE_DEVICE,
		"%s: location.type is %d; it must be ACL_MEM_LOCATION_TYPE_DEVICE (1)", __func__,
		(int)poolProps->location.type);
	REQUIRE(is_zero(poolProps->reserved, sizeof(poolProps->reserved)), "%s: reserved must be all zeros", __func__);
	return api_result(rts_pool_create(poolProps, memPool));
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memPool);
	return api_result(rts_pool_destroy(memPool));
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memPool);
	return api_result(rts_pool_set_attr(memPool, attr, value));
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memPool);
	return api_result(rts_pool_get_attr(memPool, attr, value));
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(memPool);
	REQUIRE_NOT_NULL(stream);
	if (!size)
		return ACL_SUCCESS;
	code = rts_stream_get(stream, &st);
	if (!code)
		code = rts_pool_alloc(memPool, size, st, ptr);
	return api_result(code);
}

/* The default stream has to be named by its handle. */
aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	if (!stream)
		return api_result(u_report(ACL_ERROR_RT_INTERNAL_ERROR, "%s: argument stream is NULL", __func__));
	code = rts_stream_get(stream, &st);
	if (!code)
		code = rts_pool_free_async(ptr, st);
	return api_result(code);
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memPool);
	return api_result(rts_pool_trim_to(memPool, minBytesToKeep));
}
