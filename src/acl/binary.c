/* SPDX-License-Identifier: MIT */
/* binary.c - chapter 14: binaries and their functions. */
#include "acl/api.h"
#include "rts/module.h"
#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* What aclrtCreateBinary describes. It is the application's memory; the mark tells it from other pointers. */
#define BINARY_MARK UINT64_C(0x76696e6369626e72)

struct binary_data {
	uint64_t mark;
	const void *data;
	size_t size;
};

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen)
{
	struct binary_data *binary;

	if (!data) {
		u_report(ACL_ERROR_INVALID_PARAM, "%s: argument data is NULL", __func__);
		return NULL;
	}
	binary = malloc(sizeof(*binary));
	if (!binary) {
		u_report(ACL_ERROR_BAD_ALLOC, "out of host memory for the description of a binary");
		return NULL;
	}
	*binary = (struct binary_data){ .mark = BINARY_MARK, .data = data, .size = dataLen };
	return binary;
}

aclError aclrtDestroyBinary(aclrtBinary binary)
{
	struct binary_data *b = binary;

	REQUIRE_NOT_NULL(binary);
	REQUIRE(b->mark == BINARY_MARK, "%p was not made by aclrtCreateBinary", binary);
	b->mark = 0;
	free(b);
	return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(aclrtBinary binary, aclrtBinHandle *binHandle)
{
	const struct binary_data *b = binary;

	REQUIRE_NOT_NULL(binary);
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE(b->mark == BINARY_MARK, "%p was not made by aclrtCreateBinary", binary);
	return api_result(rts_binary_load_data(b->data, b->size, NULL, binHandle));
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle)
{
	REQUIRE_NOT_NULL(binPath);
	REQUIRE_NOT_NULL(binHandle);
	return api_result(rts_binary_load_file(binPath, options, binHandle));
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options,
				 aclrtBinHandle *binHandle)
{
	REQUIRE_NOT_NULL(data);
	REQUIRE_NOT_NULL(binHandle);
	return api_result(rts_binary_load_data(data, length, options, binHandle));
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
	REQUIRE_NOT_NULL(binHandle);
	return api_result(rts_binary_unload(binHandle));
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle)
{
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE_NOT_NULL(kernelName);
	REQUIRE_NOT_NULL(funcHandle);
	return api_result(rts_binary_function(binHandle, kernelName, funcHandle));
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle *funcHandle)
{
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE_NOT_NULL(funcHandle);
	return api_result(rts_binary_function_by_entry(binHandle, funcEntry, funcHandle));
}

aclError aclrtRegisterCpuFunc(aclrtBinHandle handle, const char *funcName, const char *kernelName,
			      aclrtFuncHandle *funcHandle)
{
	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(funcName);
	REQUIRE_NOT_NULL(kernelName);
	REQUIRE_NOT_NULL(funcHandle);
	return api_result(rts_binary_cpu_function(handle, funcName, kernelName, funcHandle));
}

aclError aclrtBinaryGetDevAddress(aclrtBinHandle binHandle, void **binAddr, size_t *binSize)
{
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE_NOT_NULL(binAddr);
	REQUIRE_NOT_NULL(binSize);
	return api_result(rts_binary_image(binHandle, binAddr, binSize));
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size)
{
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE_NOT_NULL(name);
	REQUIRE(dptr || size, "%s: arguments dptr and size are both NULL", __func__);
	return api_result(rts_binary_global(binHandle, name, dptr, size));
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void *userData)
{
	REQUIRE_NOT_NULL(binHandle);
	REQUIRE_NOT_NULL(callback);
	return api_result(rts_binary_set_callback(binHandle, callback, userData));
}

/* --- functions -------------------------------------------------------------------------------- */

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	size_t size;
	int code;

	REQUIRE_NOT_NULL(name);
	code = rts_function_get(funcHandle, &fn);
	if (code)
		return api_result(code);
	size = strlen(fn->kernel->name) + 1;
	if (maxLen < size)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "maxLen is %u; \"%s\" takes %zu bytes", maxLen,
					   fn->kernel->name, size));
	memcpy(name, fn->kernel->name, size);
	return ACL_SUCCESS;
}

aclError aclrtFunctionGetBinary(aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code = rts_function_get(funcHandle, &fn);
	void *handle;

	if (code)
		return api_result(code);
	if (!binHandle)
		return api_result(
			u_report(ACL_ERROR_RT_PARAM_INVALID, "binHandle is NULL; it must be where the handle goes"));
	handle = rts_binary_handle(fn->binary);
	if (!handle)
		return api_result(
			u_report(ACL_ERROR_RT_INVALID_HANDLE, "the function's binary has just been unloaded"));
	*binHandle = handle;
	return ACL_SUCCESS;
}

aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(funcHandle);
	return api_result(rts_symbol_function(symbol, funcHandle));
}

/* Kernels of this library have one body: for the vector cores where cores are separate, else for all. */
static bool on_vector_cores(const struct rts_function *fn)
{
	return rts_fault_code(fn) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	void *address;
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(aicAddr);
	REQUIRE_NOT_NULL(aivAddr);
	code = rts_function_get(funcHandle, &fn);
	if (code)
		return api_result(code);
	address = fn->cpu_name ? NULL : (void *)(uintptr_t)fn->kernel->run;
	*aicAddr = on_vector_cores(fn) ? NULL : address;
	*aivAddr = on_vector_cores(fn) ? address : NULL;
	return ACL_SUCCESS;
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	size_t size;
	int code;

	REQUIRE_PRODUCT();
	code = rts_function_get(funcHandle, &fn);
	if (code)
		return api_result(code);
	if (!aicSize || !aivSize)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL; it must be where a size goes",
					   aicSize ? "aivSize" : "aicSize"));
	size = fn->cpu_name ? 0 : rts_function_bytes(fn);
	if (!size)
		return api_result(u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
					   "the size of %s is not known: only of exported code for the cores it is",
					   fn->kernel->name));
	*aicSize = on_vector_cores(fn) ? 0 : size;
	*aivSize = on_vector_cores(fn) ? size : 0;
	return ACL_SUCCESS;
}

static int attribute(const struct rts_function *fn, aclrtFuncAttribute attr, int64_t *value)
{
	bool vector = on_vector_cores(fn);

	switch ((int)attr) {
	case ACL_FUNC_ATTR_KERNEL_TYPE:
		*value = fn->cpu_name ? ACL_KERNEL_TYPE_AICPU : vector ? ACL_KERNEL_TYPE_VECTOR : ACL_KERNEL_TYPE_AICORE;
		return 0;
	case ACL_FUNC_ATTR_KERNEL_RATIO: /* vector cores in the low 16 bits, cube cores in the next */
		*value = vector ? 1 : 1 << 16;
		return 0;
	case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
		*value = 0;
		return 0;
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "function attribute %d is unknown; 1 to 3 are known",
				(int)attr);
	}
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(attrValue);
	code = rts_function_get(funcHandle, &fn);
	if (!code)
		code = attribute(fn, attrType, attrValue);
	return api_result(code);
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code;

	REQUIRE_NOT_NULL(func);
	REQUIRE_NOT_NULL(paramCount);
	code = rts_function_get(func, &fn);
	if (!code)
		code = rts_function_param_count(fn, paramCount);
	return api_result(code);
}

aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code;

	REQUIRE_NOT_NULL(func);
	REQUIRE(paramOffset || paramSize, "%s: arguments paramOffset and paramSize are both NULL", __func__);
	code = rts_function_get(func, &fn);
	if (!code)
		code = rts_function_param(fn, paramIndex, paramOffset, paramSize);
	return api_result(code);
}

/* Only kernels of the SIMT kind take a dynamic buffer, and there are none here. */
aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags, size_t *dynamicUbufSize)
{
	u_cleanup(rts_function_put) struct rts_function *fn = NULL;
	int code;

	REQUIRE_NOT_NULL(func);
	REQUIRE_NOT_NULL(dynamicUbufSize);
	REQUIRE(!flags, "%s: argument flags is %u; it must be 0", __func__, flags);
	code = rts_function_get(func, &fn);
	if (!code)
		*dynamicUbufSize = 0;
	return api_result(code);
}
