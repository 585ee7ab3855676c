/* SPDX-License-Identifier: MIT */
/* launch.c - chapter 14: launching functions of binaries. */
#include "acl/api.h"
#include "rts/module.h"
#include "rts/stream.h"
#include "util/cleanup.h"

_Static_assert(sizeof(struct rts_place_holder) == sizeof(aclrtPlaceHolderInfo) &&
		       offsetof(struct rts_place_holder, data) == offsetof(aclrtPlaceHolderInfo, dataOffset),
	       "place holders are passed on as they are");

/* What every launch looks up. */
struct target {
	struct rts_function *fn;
	struct rts_stream *st;
	uint64_t timeout_us;
};

static void target_put(struct target *t)
{
	rts_function_put(&t->fn);
	rts_stream_put(&t->st);
}

static int target_get(const void *func, aclrtStream stream, const aclrtLaunchKernelCfg *cfg, struct target *t)
{
	int code = t->fn ? 0 : rts_function_get(func, &t->fn);

	if (!code)
		code = rts_launch_config(cfg, &t->timeout_us);
	if (!code)
		code = rts_stream_get(stream, &t->st);
	return code;
}

static aclError launch_device(aclrtFuncHandle func, uint32_t blocks, const void *args, size_t size,
			      const aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
	u_cleanup(target_put) struct target t = { 0 };
	int code = target_get(func, stream, cfg, &t);

	if (!code)
		code = rts_launch_device(t.st, t.fn, blocks, t.timeout_us, args, size);
	return api_result(code);
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
			   aclrtStream stream)
{
	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(argsData);
	return launch_device(funcHandle, numBlocks, argsData, argsSize, NULL, stream);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
			     aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(argsData);
	return launch_device(funcHandle, numBlocks, argsData, argsSize, cfg, stream);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
				     aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve)
{
	u_cleanup(target_put) struct target t = { 0 };
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE(numBlocks, "%s: argument numBlocks is 0; it must be positive", __func__);
	REQUIRE_NOT_NULL(argsHandle);
	REQUIRE(!reserve, "%s: argument reserve is %p; it is reserved and must be NULL", __func__, reserve);
	code = target_get(funcHandle, stream, cfg, &t);
	if (!code)
		code = rts_launch_args(t.st, t.fn, numBlocks, t.timeout_us, argsHandle);
	return api_result(code);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
				       aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
				       aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)
{
	u_cleanup(target_put) struct target t = { 0 };
	int code;

	REQUIRE_NOT_NULL(funcHandle);
	REQUIRE_NOT_NULL(hostArgs);
	code = target_get(funcHandle, stream, cfg, &t);
	if (!code && placeHolderNum && !placeHolderArray)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "placeHolderArray is NULL and placeHolderNum is %zu",
				placeHolderNum);
	if (!code)
		code = rts_launch_host(t.st, t.fn, numBlocks, t.timeout_us, hostArgs, argsSize,
				       (const void *)placeHolderArray, placeHolderNum);
	return api_result(code);
}

/* The only one that takes the address of a __global__ function as well. */
aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
					void **args)
{
	u_cleanup(target_put) struct target t = { 0 };
	int code;

	REQUIRE_NOT_NULL(func);
	REQUIRE(numBlocks, "%s: argument numBlocks is 0; it must be positive", __func__);
	code = rts_function_get_any(func, &t.fn);
	if (!code)
		code = target_get(func, stream, cfg, &t);
	if (!code)
		code = rts_launch_array(t.st, t.fn, numBlocks, t.timeout_us, args);
	return api_result(code);
}
