/* SPDX-License-Identifier: MIT */
/* kernel_args.c - chapter 14: lists of arguments. */
#include "acl/api.h"
#include "rts/module.h"
#include "util/cleanup.h"

/* A bound on what alignment adds: CANN's own counts a slot for each parameter, too. */
static size_t list_bytes(const struct rts_function *fn, size_t user)
{
	return user + (size_t)fn->kernel->param_count * VINCI_KERNEL_SLOT;
}

static int function_check(aclrtFuncHandle handle)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;

	return rts_function_get(handle, &fn);
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(argsHandle);
	code = function_check(funcHandle);
	if (!code)
		code = rts_args_init(argsHandle);
	return api_result(code);
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void *userHostMem,
				      size_t actualArgsSize)
{
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE_NOT_NULL(userHostMem);
	REQUIRE(actualArgsSize, "%s: argument actualArgsSize is 0; it must be positive", __func__);
	code = function_check(funcHandle);
	if (!code)
		code = rts_args_init_in(argsHandle, userHostMem, actualArgsSize);
	return api_result(code);
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(actualArgsSize);
	code = rts_function_get(funcHandle, &fn);
	if (!code)
		*actualArgsSize = list_bytes(fn, userArgsSize);
	return api_result(code);
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize)
{
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(memSize);
	code = function_check(funcHandle);
	if (!code)
		*memSize = rts_args_handle_bytes();
	return api_result(code);
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize, aclrtParamHandle *paramHandle)
{
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE_NOT_NULL(param);
	REQUIRE(paramSize, "%s: argument paramSize is 0; it must be positive", __func__);
	REQUIRE_NOT_NULL(paramHandle);
	return api_result(rts_args_append(argsHandle, param, paramSize, paramHandle));
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE_NOT_NULL(paramHandle);
	return api_result(rts_args_append_place_holder(argsHandle, paramHandle));
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
					     void **bufferAddr)
{
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE_NOT_NULL(paramHandle);
	REQUIRE(dataSize, "%s: argument dataSize is 0; it must be positive", __func__);
	REQUIRE_NOT_NULL(bufferAddr);
	return api_result(rts_args_place_holder_buffer(argsHandle, paramHandle, dataSize, bufferAddr));
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
				   size_t paramSize)
{
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE_NOT_NULL(paramHandle);
	REQUIRE_NOT_NULL(param);
	REQUIRE(paramSize, "%s: argument paramSize is 0; it must be positive", __func__);
	return api_result(rts_args_update(argsHandle, paramHandle, param, paramSize));
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
	REQUIRE_NOT_NULL(argsHandle);
	return api_result(rts_args_finalize(argsHandle));
}
