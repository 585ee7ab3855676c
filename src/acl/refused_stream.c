/* SPDX-License-Identifier: MIT */
/*
 * refused_stream.c - chapters 6 to 10 and 12: streams and what is queued on them.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: CANN has it on IPV350 alone. */
REFUSE_AS(aclrtStreamConfigHandle *, NULL, aclrtCreateStreamConfigHandle, void)
REFUSE(aclrtDestroyStreamConfigHandle, aclrtStreamConfigHandle *handle)
REFUSE(aclrtSetStreamConfigOpt, aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
	const void *attrValue, size_t valueSize)
REFUSE(aclrtCreateStreamV2, aclrtStream *stream, const aclrtStreamConfigHandle *handle)

/* Refused: streams that start each other or keep their tasks belong to recorded models, which are not there yet. */
REFUSE(aclrtActiveStream, aclrtStream activeStream, aclrtStream stream)
REFUSE(aclrtSwitchStream, void *leftValue, aclrtCondition cond, void *rightValue,
	aclrtCompareDataType dataType, aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream)
REFUSE(aclrtPersistentTaskClean, aclrtStream stream)

/* Refused: CANN has it on IPV350 alone, for operators that a model leaves to the host. */
REFUSE(aclrtSubscribeHostFunc, uint64_t hostFuncThreadId, aclrtStream exeStream)
REFUSE(aclrtProcessHostFunc, int32_t timeout)
REFUSE(aclrtUnSubscribeHostFunc, uint64_t hostFuncThreadId, aclrtStream exeStream)

/* Refused: no product of CANN's reference has it. */
REFUSE(aclrtSetOpExecuteTimeOutWithMs, uint32_t timeout)

/* Refused: labels jump inside a recorded model, which is not there yet. */
REFUSE(aclrtCreateLabel, aclrtLabel *label)
REFUSE(aclrtSetLabel, aclrtLabel label, aclrtStream stream)
REFUSE(aclrtDestroyLabel, aclrtLabel label)
REFUSE(aclrtCreateLabelList, aclrtLabel *labels, size_t num, aclrtLabelList *labelList)
REFUSE(aclrtDestroyLabelList, aclrtLabelList labelList)
REFUSE(aclrtSwitchLabelByIndex, void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream)

/* Refused: a task that is queued cannot be changed any more. */
REFUSE(aclrtTaskUpdateAsync, aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo *info,
	aclrtStream execStream)
