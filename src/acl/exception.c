/* SPDX-License-Identifier: MIT */
/* exception.c - chapter 13: callbacks for failed kernels, and what they may ask. */
#include "acl/api.h"
#include "rts/module.h"
#include "rts/stream.h"

#define NO_INFO UINT32_MAX

static int callback_check(aclrtExceptionInfoCallback callback)
{
	if (callback)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL; it must be the function to call");
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
	int code = callback_check(callback);

	return api_result(code ? code : rts_exception_register(callback));
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
	int code = callback_check(callback);

	return api_result(code ? code : rts_exception_unregister(callback));
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
	return api_result(rts_exception_set(callback));
}

static bool info_check(const aclrtExceptionInfo *info, const char *function)
{
	if (!info)
		u_report(ACL_ERROR_INVALID_PARAM, "%s: argument info is NULL", function);
	return info;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
	return info_check(info, __func__) ? info->task : NO_INFO;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
	return info_check(info, __func__) ? info->stream : NO_INFO;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
	return info_check(info, __func__) ? info->thread : NO_INFO;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
	return info_check(info, __func__) ? info->device : NO_INFO;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
	return info_check(info, __func__) ? (uint32_t)info->code : NO_INFO;
}

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen)
{
	if (!info_check(info, __func__))
		return (aclError)NO_INFO;
	REQUIRE_NOT_NULL(devArgsPtr);
	REQUIRE_NOT_NULL(devArgsLen);
	*devArgsPtr = (void *)(uintptr_t)info->args;
	*devArgsLen = info->args_size;
	return ACL_SUCCESS;
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *func)
{
	void *handle;

	if (!info_check(info, __func__))
		return (aclError)NO_INFO;
	REQUIRE_NOT_NULL(func);
	handle = info->function ? atomic_load(&info->function->obj.handle) : NULL;
	if (!handle)
		return api_result(u_report(
			ACL_ERROR_RT_PARAM_INVALID,
			"the failed kernel has no function handle: it was launched by <<<>>>, or is unloaded"));
	*func = handle;
	return ACL_SUCCESS;
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(taskId);
	code = rts_context_current(&ctx);
	if (!code)
		*taskId = rts_thread_last_task();
	return api_result(code);
}
