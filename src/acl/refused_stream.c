/* SPDX-License-Identifier: MIT */
/*
 * refused_stream.c - chapters 6 to 10 and 12: streams and what is queued on them.
 * REASON is what the message and docs/status.md give for the functions below it.
 */
#include "acl/refused.h"

#define REASON "CANN has it on IPV350 alone, for operators that a model leaves to the host"
REFUSE(aclrtSubscribeHostFunc, uint64_t hostFuncThreadId, aclrtStream exeStream)
REFUSE(aclrtProcessHostFunc, int32_t timeout)
REFUSE(aclrtUnSubscribeHostFunc, uint64_t hostFuncThreadId, aclrtStream exeStream)

#undef REASON
#define REASON "no product of CANN's reference has it"
REFUSE(aclrtSetOpExecuteTimeOutWithMs, uint32_t timeout)

#undef REASON
#define REASON "a task that is queued cannot be changed any more"
REFUSE(aclrtTaskUpdateAsync, aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo *info,
	aclrtStream execStream)
