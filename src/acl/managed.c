/* SPDX-License-Identifier: MIT */
/* managed.c - chapter 11.5: memory that host and devices use at one address. */
#include "acl/api.h"
#include "rts/managed.h"
#include "util/cleanup.h"

aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE(flag == ACL_RT_MEM_ATTACH_GLOBAL, "%s: flag is 0x%x; it must be ACL_RT_MEM_ATTACH_GLOBAL (1)", __func__,
		flag);
	return api_result(rts_managed_alloc(size, ptr));
}

aclError aclrtMemManagedAdvise(const void *const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
			       aclrtMemManagedLocation location)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_managed_advise(ptr, size, advise, location));
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size, void *data,
				size_t dataSize)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(data);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_managed_attributes(&attribute, 1, ptr, size, &data, &dataSize));
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t numAttributes, const void *ptr,
				 size_t size, void **data, size_t *dataSizes)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(attributes);
	REQUIRE_NOT_NULL(data);
	REQUIRE_NOT_NULL(dataSizes);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_managed_attributes(attributes, numAttributes, ptr, size, data, dataSizes));
}

static aclError prefetch(const struct rts_prefetches *what, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	if (!code)
		code = rts_managed_prefetch(what, st);
	return api_result(code);
}

aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
				      aclrtStream stream)
{
	const struct rts_prefetches what = { &ptr, &size, 1, &location, &(const size_t){ 0 }, 1 };

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	REQUIRE(!flags, "%s: flags is 0x%x; it is reserved and must be 0", __func__, flags);
	return prefetch(&what, stream);
}

aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
					   aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs,
					   size_t numPrefetchLocs, uint64_t flags, aclrtStream stream)
{
	const struct rts_prefetches what = { ptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs };

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptrs);
	REQUIRE_NOT_NULL(sizes);
	REQUIRE_NOT_NULL(prefetchLocs);
	REQUIRE_NOT_NULL(prefetchLocIdxs);
	REQUIRE(numPrefetchLocs && numPrefetchLocs <= count,
		"%s: numPrefetchLocs is %zu; it is at least 1 and at most count, %zu", __func__, numPrefetchLocs,
		count);
	REQUIRE(!flags, "%s: flags is 0x%llx; it is reserved and must be 0", __func__, (unsigned long long)flags);
	return prefetch(&what, stream);
}
