/* SPDX-License-Identifier: MIT */
/*
 * refused_model.c - chapter 15: recorded models.
 * REASON is what the message and docs/status.md give for the functions below it.
 */
#include "acl/refused.h"

#define REASON "changing single recorded tasks by their handles is not there yet"
REFUSE(aclmdlRIGetTasksByStream, aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks)
REFUSE(aclmdlRITaskGetType, aclmdlRITask task, aclmdlRITaskType *type)
REFUSE(aclmdlRITaskGetSeqId, aclmdlRITask task, uint32_t *id)
REFUSE(aclmdlRITaskGetParams, aclmdlRITask task, aclmdlRITaskParams *params)
REFUSE(aclmdlRITaskSetParams, aclmdlRITask task, aclmdlRITaskParams *params)
REFUSE(aclmdlRIKernelTaskGetAttribute, aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
	aclrtLaunchKernelAttrValue *attrValue)
REFUSE(aclmdlRITaskDisable, aclmdlRITask task)
REFUSE(aclmdlRIUpdate, aclmdlRI modelRI)
