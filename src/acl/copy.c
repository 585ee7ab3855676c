/* SPDX-License-Identifier: MIT */
/* copy.c - chapter 11: copying and filling memory. A count of 0 is success before anything else is looked at. */
#include "acl/api.h"
#include "rts/memory.h"

static aclError check_kind(const char *function, aclrtMemcpyKind kind)
{
	if ((uint32_t)kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: kind is %d; it must be one of ACL_MEMCPY_* from 0 to %d",
			function, (int)kind, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE);
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
	aclError r;

	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(dst);
	REQUIRE_NOT_NULL(src);
	r = check_kind(__func__, kind);
	return r ? r : api_result(rts_copy(dst, destMax, src, count, kind));
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
			  aclrtStream stream)
{
	aclError r;

	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(dst);
	REQUIRE_NOT_NULL(src);
	r = check_kind(__func__, kind);
	return r ? r : api_result(rts_copy_async(dst, destMax, src, count, kind, stream));
}

/* What it adds, a check for pageable memory, aclrtMemcpyAsync has made ever since. */
aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
				       aclrtStream stream)
{
	aclError r;

	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(dst);
	REQUIRE_NOT_NULL(src);
	r = check_kind(__func__, kind);
	return r ? r : api_result(rts_copy_async(dst, destMax, src, count, kind, stream));
}

static aclError check_2d(const char *function, const struct rts_rect *rect, aclrtMemcpyKind kind)
{
	if (!rect->dst || !rect->src)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument %s is NULL", function,
				rect->dst ? "src" : "dst");
	if (rect->width > rect->dpitch || rect->width > rect->spitch)
		return u_report(ACL_ERROR_INVALID_PARAM,
				"%s: width is %zu; it must not be larger than dpitch (%zu) and spitch (%zu)", function,
				rect->width, rect->dpitch, rect->spitch);
	switch (kind) {
	case ACL_MEMCPY_HOST_TO_DEVICE:
	case ACL_MEMCPY_DEVICE_TO_HOST:
	case ACL_MEMCPY_DEVICE_TO_DEVICE:
	case ACL_MEMCPY_DEFAULT:
		return ACL_SUCCESS;
	default:
		return u_report(
			ACL_ERROR_INVALID_PARAM,
			"%s: kind is %d; it must be HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE or DEFAULT",
			function, (int)kind);
	}
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
		       aclrtMemcpyKind kind)
{
	const struct rts_rect rect = { dst, src, dpitch, spitch, width, height };
	aclError r;

	if (!width || !height)
		return ACL_SUCCESS;
	r = check_2d(__func__, &rect, kind);
	return r ? r : api_result(rts_copy_2d(&rect, kind));
}

/* Only newer products copy rows within a device. */
static aclError check_2d_product(const char *function, aclrtMemcpyKind kind)
{
	const uint32_t able = RTS_PRODUCT_A2 | RTS_PRODUCT_A3 | RTS_PRODUCT_950;

	if (kind != ACL_MEMCPY_DEVICE_TO_DEVICE || !rts_context_peek() || rts_profile()->product & able)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: kind is DEVICE_TO_DEVICE, which %s does not do by rows", function,
			rts_profile()->soc);
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			    aclrtMemcpyKind kind, aclrtStream stream)
{
	const struct rts_rect rect = { dst, src, dpitch, spitch, width, height };
	aclError r;

	if (!width || !height)
		return ACL_SUCCESS;
	r = check_2d(__func__, &rect, kind);
	if (!r)
		r = check_2d_product(__func__, kind);
	return r ? r : api_result(rts_copy_2d_async(&rect, kind, stream));
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(devPtr);
	return api_result(rts_set(devPtr, maxCount, value, count));
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(devPtr);
	return api_result(rts_set_async(devPtr, maxCount, value, count, stream));
}

static aclError check_words(const char *function, const void *ptr, size_t mem_size, size_t count)
{
	aclrtPtrAttributes attributes;
	int r;

	if (!ptr)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument ptr is NULL", function);
	if ((uintptr_t)ptr % sizeof(uint32_t))
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: ptr is %p; it must be a multiple of 4", function, ptr);
	if (count > mem_size / sizeof(uint32_t))
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: N is %zu words of 4 bytes; memSize is only %zu bytes",
				function, count, mem_size);
	r = rts_memory_attributes(ptr, &attributes);
	if (r)
		return api_result(r);
	if (attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED ||
	    attributes.location.type == ACL_MEM_LOCATION_TYPE_MANAGED)
		return u_report(ACL_ERROR_INVALID_PARAM,
				"%s: %p is %s memory; it must be of aclrtMalloc or aclrtMallocHost", function, ptr,
				attributes.location.type == ACL_MEM_LOCATION_TYPE_MANAGED ? "managed" : "pageable");
	return ACL_SUCCESS;
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N)
{
	aclError r;

	REQUIRE_PRODUCT();
	if (!N)
		return ACL_SUCCESS;
	r = check_words(__func__, ptr, memSize, N);
	return r ? r : api_result(rts_set32(ptr, value, N));
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream)
{
	aclError r;

	REQUIRE_PRODUCT();
	if (!N)
		return ACL_SUCCESS;
	r = check_words(__func__, ptr, memSize, N);
	return r ? r : api_result(rts_set32_async(ptr, value, N, stream));
}
