/* SPDX-License-Identifier: MIT */
/*
 * refused_model.c - chapters 15 and 21: recorded models and snapshots.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: recorded models are not there yet. */
REFUSE(aclmdlRICaptureBegin, aclrtStream stream, aclmdlRICaptureMode mode)
REFUSE(aclmdlRICaptureToModelRIBegin, aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode)
REFUSE(aclmdlRICaptureGetInfo, aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
REFUSE(aclmdlRICaptureThreadExchangeMode, aclmdlRICaptureMode *mode)
REFUSE(aclmdlRICaptureEnd, aclrtStream stream, aclmdlRI *modelRI)
REFUSE(aclmdlRICaptureTaskGrpBegin, aclrtStream stream)
REFUSE(aclmdlRICaptureTaskGrpEnd, aclrtStream stream, aclrtTaskGrp *handle)
REFUSE(aclmdlRICaptureTaskUpdateBegin, aclrtStream stream, aclrtTaskGrp handle)
REFUSE(aclmdlRICaptureTaskUpdateEnd, aclrtStream stream)
REFUSE(aclmdlRIBuildBegin, aclmdlRI *modelRI, uint32_t flag)
REFUSE(aclmdlRIBindStream, aclmdlRI modelRI, aclrtStream stream, uint32_t flag)
REFUSE(aclmdlRIEndTask, aclmdlRI modelRI, aclrtStream stream)
REFUSE(aclmdlRIBuildEnd, aclmdlRI modelRI, void *reserve)
REFUSE(aclmdlRIUnbindStream, aclmdlRI modelRI, aclrtStream stream)
REFUSE(aclmdlRIExecute, aclmdlRI modelRI, int32_t timeout)
REFUSE(aclmdlRIExecuteAsync, aclmdlRI modelRI, aclrtStream stream)
REFUSE(aclmdlRIAbort, aclmdlRI modelRI)
REFUSE(aclmdlRIDestroy, aclmdlRI modelRI)
REFUSE(aclmdlRIDestroyRegisterCallback, aclmdlRI modelRI, aclrtCallback func, void *userData)
REFUSE(aclmdlRIDestroyUnregisterCallback, aclmdlRI modelRI, aclrtCallback func)
REFUSE(aclmdlRISetName, aclmdlRI modelRI, const char *name)
REFUSE(aclmdlRIGetName, aclmdlRI modelRI, uint32_t maxLen, char *name)
REFUSE(aclmdlRIGetId, aclmdlRI modelRI, uint32_t *modelRIId)
REFUSE(aclmdlRIGetStreams, aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams)
REFUSE(aclmdlRIGetTasksByStream, aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks)
REFUSE(aclmdlRITaskGetType, aclmdlRITask task, aclmdlRITaskType *type)
REFUSE(aclmdlRITaskGetSeqId, aclmdlRITask task, uint32_t *id)
REFUSE(aclmdlRITaskGetParams, aclmdlRITask task, aclmdlRITaskParams *params)
REFUSE(aclmdlRITaskSetParams, aclmdlRITask task, aclmdlRITaskParams *params)
REFUSE(aclmdlRIKernelTaskGetAttribute, aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
	aclrtLaunchKernelAttrValue *attrValue)
REFUSE(aclmdlRITaskDisable, aclmdlRITask task)
REFUSE(aclmdlRIUpdate, aclmdlRI modelRI)
REFUSE(aclmdlRICondHandleCreate, aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
	aclmdlRICondHandle *handle)
REFUSE(aclmdlRICondHandleGetCondPtr, aclmdlRICondHandle handle, uint64_t **ptr)
REFUSE(aclmdlRIAddCondTask, aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags)
REFUSE(aclmdlRIDebugJsonPrint, aclmdlRI modelRI, const char *path, uint32_t flags)
REFUSE(aclmdlRIDebugPrint, aclmdlRI modelRI)

/* Refused: snapshots of a process on a device are not there yet. */
REFUSE(aclrtSnapShotProcessLock, int pid, void *reserve)
REFUSE(aclrtSnapShotProcessBackup, int pid, aclrtSnapShotBackupArgs *args)
REFUSE(aclrtSnapShotProcessRestore, int pid, aclrtSnapShotRestoreArgs *args)
REFUSE(aclrtSnapShotProcessUnlock, int pid, void *reserve)
REFUSE(aclrtSnapShotCallbackRegister, aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void *args)
REFUSE(aclrtSnapShotCallbackUnregister, aclrtSnapShotStage stage, aclrtSnapShotCallBack callback)
