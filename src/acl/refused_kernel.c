/* SPDX-License-Identifier: MIT */
/*
 * refused_kernel.c - chapters 13, 14 and 18: faults, kernels from binaries, dumps.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: faults of kernels are not reported to callbacks yet. */
REFUSE(aclrtExceptionInfoCallbackRegister,  aclrtExceptionInfoCallback callback)
REFUSE(aclrtExceptionInfoCallbackUnregister,  aclrtExceptionInfoCallback callback)
REFUSE(aclrtSetExceptionInfoCallback, aclrtExceptionInfoCallback callback)
REFUSE_AS(uint32_t, UINT32_MAX, aclrtGetTaskIdFromExceptionInfo, const aclrtExceptionInfo *info)
REFUSE_AS(uint32_t, UINT32_MAX, aclrtGetStreamIdFromExceptionInfo, const aclrtExceptionInfo *info)
REFUSE_AS(uint32_t, UINT32_MAX, aclrtGetThreadIdFromExceptionInfo, const aclrtExceptionInfo *info)
REFUSE_AS(uint32_t, UINT32_MAX, aclrtGetDeviceIdFromExceptionInfo, const aclrtExceptionInfo *info)
REFUSE_AS(uint32_t, UINT32_MAX, aclrtGetErrorCodeFromExceptionInfo, const aclrtExceptionInfo *info)
REFUSE(aclrtBinarySetExceptionCallback, aclrtBinHandle binHandle, aclrtOpExceptionCallback callback,
	void *userData)
REFUSE(aclrtGetArgsFromExceptionInfo, const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen)
REFUSE(aclrtGetFuncHandleFromExceptionInfo, const aclrtExceptionInfo *info, aclrtFuncHandle *func)

/* Refused: memory errors of a chip and their repair are not modelled. */
REFUSE(aclrtGetMemUceInfo, int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize,
	size_t *retSize)
REFUSE(aclrtMemUceRepair, int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize)
REFUSE(aclrtGetErrorVerbose, int32_t deviceId, aclrtErrorInfo *errorInfo)
REFUSE(aclrtRepairError, int32_t deviceId, const aclrtErrorInfo *errorInfo)

/* Refused: stopping a stream in the middle is not there yet. */
REFUSE(aclrtDeviceTaskAbort, int32_t deviceId, uint32_t timeout)

/* Refused: callbacks on changes of a device or stream are not there yet. */
REFUSE(aclrtSetDeviceTaskAbortCallback, const char *regName, aclrtDeviceTaskAbortCallback callback,
	void *args)

/* Refused: kernels come from ascendc_library() and <<<>>>; loading them from a binary is not there yet. */
REFUSE(aclrtBinaryLoadFromFile, const char *binPath, aclrtBinaryLoadOptions *options,
	aclrtBinHandle *binHandle)
REFUSE(aclrtBinaryLoadFromData, const void *data, size_t length, const aclrtBinaryLoadOptions *options,
	aclrtBinHandle *binHandle)
REFUSE_AS(aclrtBinary, NULL, aclrtCreateBinary, const void *data, size_t dataLen)
REFUSE(aclrtDestroyBinary, aclrtBinary binary)
REFUSE(aclrtBinaryLoad, aclrtBinary binary, aclrtBinHandle *binHandle)
REFUSE(aclrtBinaryUnLoad, aclrtBinHandle binHandle)
REFUSE(aclrtBinaryGetFunction, aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle)
REFUSE(aclrtBinaryGetFunctionByEntry, aclrtBinHandle binHandle, uint64_t funcEntry,
	aclrtFuncHandle *funcHandle)
REFUSE(aclrtBinaryGetDevAddress, aclrtBinHandle binHandle, void **binAddr, size_t *binSize)
REFUSE(aclrtBinaryGetGlobal, aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size)
REFUSE(aclrtGetFuncBySymbol, const void *symbol, aclrtFuncHandle *funcHandle)
REFUSE(aclrtRegisterCpuFunc, aclrtBinHandle handle, const char *funcName, const char *kernelName,
	aclrtFuncHandle *funcHandle)
REFUSE(aclrtGetFunctionAddr, aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
REFUSE(aclrtGetFunctionSize, aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize)
REFUSE(aclrtGetFunctionName, aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
REFUSE(aclrtGetFunctionAttribute, aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue)
REFUSE(aclrtFunctionGetBinary, aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle)
REFUSE(aclrtFunctionGetParamCount, const void *func, size_t *paramCount)
REFUSE(aclrtFunctionGetParamInfo, const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
REFUSE(aclrtFunctionGetAvailDynUbufPerBlock, void *func, uint32_t flags, size_t *dynamicUbufSize)
REFUSE(aclrtGetHardwareSyncAddr, void **addr)
REFUSE(aclrtKernelArgsInit, aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
REFUSE(aclrtKernelArgsInitByUserMem, aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
	void *userHostMem, size_t actualArgsSize)
REFUSE(aclrtKernelArgsGetMemSize, aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize)
REFUSE(aclrtKernelArgsGetHandleMemSize, aclrtFuncHandle funcHandle, size_t *memSize)
REFUSE(aclrtKernelArgsAppend, aclrtArgsHandle argsHandle, void *param, size_t paramSize,
	aclrtParamHandle *paramHandle)
REFUSE(aclrtKernelArgsAppendPlaceHolder, aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
REFUSE(aclrtKernelArgsGetPlaceHolderBuffer, aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
	size_t dataSize, void **bufferAddr)
REFUSE(aclrtKernelArgsParaUpdate, aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
	size_t paramSize)
REFUSE(aclrtKernelArgsFinalize, aclrtArgsHandle argsHandle)
REFUSE(aclrtLaunchKernel, aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
	size_t argsSize, aclrtStream stream)
REFUSE(aclrtLaunchKernelV2, aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
	size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
REFUSE(aclrtLaunchKernelWithConfig, aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
	aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve)
REFUSE(aclrtLaunchKernelWithHostArgs, aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
	aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
	size_t placeHolderNum)
REFUSE(aclrtLaunchKernelWithArgsArray, void *func, uint32_t numBlocks, aclrtStream stream,
	aclrtLaunchKernelCfg *cfg, void **args)

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtLaunchSIMTKernelWithArgsArray, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args)
REFUSE(aclrtLaunchSIMTKernelWithHostArgs, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
	aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)

/* Refused: there is no operator whose data could be dumped. */
REFUSE(aclmdlInitDump, void)
REFUSE(aclmdlSetDump, const char *dumpCfgPath)
REFUSE(aclmdlFinalizeDump, void)
