/* SPDX-License-Identifier: MIT */
/*
 * refused_memory.c - chapter 11: memory, and 20: shared buffers.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtCmoAsyncWithBarrier, void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
	aclrtStream stream)
REFUSE(aclrtCmoWaitBarrier, aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)
