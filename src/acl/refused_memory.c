/* SPDX-License-Identifier: MIT */
/*
 * refused_memory.c - chapter 11: memory, and 20: shared buffers.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: usage is not accounted by component yet. */
REFUSE(aclrtGetMemUsageInfo, int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
	size_t *outputNum)

/* Refused: placement of a mapping on a link is not modelled yet. */
REFUSE(aclrtMemMapSetLink, aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink)

/* Refused: managed memory needs pages that migrate, which is not there yet. */
REFUSE(aclrtMemAllocManaged, void **ptr, uint64_t size, uint32_t flag)
REFUSE(aclrtMemManagedAdvise, const void *ptr, uint64_t size, aclrtMemManagedAdviseType advise,
	aclrtMemManagedLocation location)
REFUSE(aclrtMemManagedGetAttr, aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size,
	void *data, size_t dataSize)
REFUSE(aclrtMemManagedGetAttrs, aclrtMemManagedRangeAttribute *attributes, size_t numAttributes,
	const void *ptr, size_t size, void **data, size_t *dataSizes)
REFUSE(aclrtMemManagedPrefetchAsync, const void *ptr, size_t size, aclrtMemManagedLocation location,
	uint32_t flags, aclrtStream stream)
REFUSE(aclrtMemManagedPrefetchBatchAsync, const void **ptrs, size_t *sizes, size_t count,
	aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs,
	uint64_t flags, aclrtStream stream)

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtCmoAsyncWithBarrier, void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
	aclrtStream stream)
REFUSE(aclrtCmoWaitBarrier, aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)

/* Refused: shared buffers belong to the queues of the data transfer library. */
REFUSE(aclrtAllocBuf, aclrtMbuf *buf, size_t size)
REFUSE(aclrtFreeBuf, aclrtMbuf buf)
REFUSE(aclrtGetBufData, aclrtMbuf buf, void **dataPtr, size_t *size)
REFUSE(aclrtSetBufDataLen, aclrtMbuf buf, size_t len)
REFUSE(aclrtGetBufDataLen, aclrtMbuf buf, size_t *len)
REFUSE(aclrtSetBufUserData, aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset)
REFUSE(aclrtGetBufUserData, aclrtMbuf buf, void *dataPtr, size_t size, size_t offset)
REFUSE(aclrtCopyBufRef, aclrtMbuf buf, aclrtMbuf *newBuf)
REFUSE(aclrtAppendBufChain, aclrtMbuf headBuf, aclrtMbuf buf)
REFUSE(aclrtGetBufFromChain, aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf)
REFUSE(aclrtGetBufChainNum, aclrtMbuf headBuf, uint32_t *num)

/* Refused: pools whose memory is given back in the order of streams are not there yet. */
REFUSE(aclrtMemPoolCreate, aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
REFUSE(aclrtMemPoolDestroy, aclrtMemPool memPool)
REFUSE(aclrtMemPoolSetAttr, aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
REFUSE(aclrtMemPoolGetAttr, aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
REFUSE(aclrtMemPoolMallocAsync, void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
REFUSE(aclrtMemPoolFreeAsync, void *ptr, aclrtStream stream)
REFUSE(aclrtMemPoolTrimTo, aclrtMemPool memPool, size_t minBytesToKeep)
