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

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtCmoAsyncWithBarrier, void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
	aclrtStream stream)
REFUSE(aclrtCmoWaitBarrier, aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)
