/* SPDX-License-Identifier: MIT */
/* options.c - chapter 3: options and limits on cores; modes of overflow of chapters 4, 6 and 12. */
#include "rts/options.h"
#include "acl/api.h"

/* ---- options ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* ACL_OPT_STRONG_CONSISTENCY is between the others */
static const aclSysParamOpt last_of_context = ACL_OPT_STRONG_CONSISTENCY;
#pragma GCC diagnostic pop

static aclError check_option(const char *function, aclSysParamOpt opt, aclSysParamOpt last)
{
	if ((uint32_t)opt <= (uint32_t)last)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: opt is %d; it must be from 0 to %d", function, (int)opt,
			(int)last);
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
	aclError r = check_option(__func__, opt, ACL_OPT_ENABLE_KERNEL_EARLY_START);

	return r ? r : api_result(rts_option_set(opt, value, false));
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
	aclError r;

	REQUIRE_NOT_NULL(value);
	r = check_option(__func__, opt, ACL_OPT_ENABLE_KERNEL_EARLY_START);
	return r ? r : api_result(rts_option_get(opt, value, false));
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
	aclError r = check_option(__func__, opt, last_of_context);

	return r ? r : api_result(rts_option_set(opt, value, true));
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
	aclError r;

	REQUIRE_NOT_NULL(value);
	r = check_option(__func__, opt, last_of_context);
	return r ? r : api_result(rts_option_get(opt, value, true));
}

/* ---- cores ---- */

static int device_of(int32_t user, uint32_t *device)
{
	int r = rts_process_start();

	return r ? r : rts_device_from_user(user, device);
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
	uint32_t device;
	int r;

	REQUIRE_NOT_NULL(value);
	r = device_of(deviceId, &device);
	return api_result(r ? r : rts_cores_get(device, type, value));
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
	uint32_t device;
	int r = device_of(deviceId, &device);

	return api_result(r ? r : rts_cores_set(device, type, value));
}

aclError aclrtResetDeviceResLimit(int32_t deviceId)
{
	uint32_t device;
	int r = device_of(deviceId, &device);

	return api_result(r ? r : rts_cores_reset(device));
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
{
	REQUIRE_NOT_NULL(value);
	return api_result(rts_stream_cores_get(stream, type, value));
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value)
{
	return api_result(rts_stream_cores_set(stream, type, value));
}

aclError aclrtResetStreamResLimit(aclrtStream stream)
{
	return api_result(rts_stream_cores_reset(stream));
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream)
{
	return api_result(rts_thread_cores_from(stream, true));
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream)
{
	return api_result(rts_thread_cores_from(stream, false));
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
	REQUIRE_NOT_NULL(value);
	return api_result(rts_thread_cores(type, value));
}

/* ---- overflow ---- */

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
	return api_result(rts_sat_mode_set(mode));
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
	REQUIRE_NOT_NULL(mode);
	*mode = rts_sat_mode();
	return ACL_SUCCESS;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
	REQUIRE_PRODUCT();
	REQUIRE(flag <= 1, "%s: flag is %u; it must be 0 or 1", __func__, flag);
	return api_result(rts_overflow_switch_set(stream, flag));
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(flag);
	return api_result(rts_overflow_switch(stream, flag));
}

aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr)
{
	if (!overflowAddr)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument overflowAddr is NULL", __func__));
	return api_result(rts_overflow_address(overflowAddr));
}

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream)
{
	REQUIRE_NOT_NULL(outputAddr);
	return api_result(rts_overflow_get(outputAddr, outputSize, stream));
}

aclError aclrtResetOverflowStatus(aclrtStream stream)
{
	return api_result(rts_overflow_reset(stream));
}

/* ---- task schedulers: there is one, and choosing it has no effect, as on products without a second ---- */

aclError aclrtSetTsDevice(aclrtTsId tsId)
{
	struct rts_context *ctx;

	REQUIRE(tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR,
		"%s: tsId is %d; it must be ACL_TS_ID_AICORE (0) or ACL_TS_ID_AIVECTOR (1)", __func__, (int)tsId);
	return api_result(rts_context_current(&ctx));
}

/* ---- the older questions ---- */

static int overflow_get(const char *function, void *out, uint64_t size, aclrtStream stream)
{
	if (!out)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument outputAddr is NULL", function);
	return rts_overflow_get(out, size, stream);
}

aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream)
{
	return api_result(overflow_get(__func__, outputAddr, outputSize, stream));
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream)
{
	return api_result(rts_overflow_reset(stream));
}

/* A mode other than 0 asks for flags of a core by kind, of which there is one kind here. */
static int check_mode(uint32_t mode)
{
	if (!mode)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "checkMode is %u; only 0, any overflow, is told apart", mode);
}

aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize, uint32_t checkMode, aclrtStream stream)
{
	int r = check_mode(checkMode);

	return api_result(r ? r : overflow_get(__func__, outputAddr, outputSize, stream));
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream)
{
	int r = check_mode(checkMode);

	return api_result(r ? r : rts_overflow_reset(stream));
}

/* ---- sizes that kernels get ---- */

static aclError check_limit(const char *function, aclrtDeviceLimit limit)
{
	if ((uint32_t)limit <= ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: limit is %d; it must be from 0 to 4", function, (int)limit);
}

/* A card asks its first device, whether the program has it or not. */
static int limits_begin(void)
{
	uint32_t device;
	int r = rts_process_start();

	return r ? r : rts_device_from_user(0, &device);
}

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value)
{
	aclError r;

	REQUIRE_PRODUCT();
	r = check_limit(__func__, limit);
	if (r)
		return r;
	REQUIRE(value <= UINT32_MAX, "%s: value is %zu; it must be at most %u", __func__, value, UINT32_MAX);
	r = limits_begin();
	return api_result(r ? r : rts_device_limit_set(limit, (uint32_t)value));
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value)
{
	uint32_t bytes;
	aclError r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(value);
	r = check_limit(__func__, limit);
	if (r)
		return r;
	r = limits_begin();
	if (!r)
		r = rts_device_limit(limit, &bytes);
	if (!r)
		*value = bytes;
	return api_result(r);
}

/* ---- synchronising cores ---- */

aclError aclrtGetHardwareSyncAddr(void **addr)
{
	REQUIRE_PRODUCT();
	if (!addr)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument addr is NULL", __func__));
	return api_result(rts_sync_address(addr));
}
