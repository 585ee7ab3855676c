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
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: opt is %d; it must be from 0 to %d", function, (int)opt, (int)last);
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
