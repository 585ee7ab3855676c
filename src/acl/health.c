/* SPDX-License-Identifier: MIT */
/*
 * health.c - chapter 13: what is wrong with a device. Its memory is the host's, whose errors the kernel deals with, so
 * that all that can be wrong is that the device has gone.
 */
#include "acl/api.h"
#include "rts/device_info.h"
#include "rts/process.h"
#include "rts/stream.h"


/* Also for a device that has died: the connection is opened but not asked for. */
static int device_of(int32_t user, uint32_t *device)
{
	int code = rts_process_check_fork();

	if (!code && !rts_device_total())
		code = rts_process_start();
	return code ? code : rts_device_from_user(user, device);
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo)
{
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(errorInfo);
	code = device_of(deviceId, &device);
	if (code)
		return api_result(code);
	errorInfo->tryRepair = 0;
	errorInfo->hasDetail = 0;
	errorInfo->errorType = rts_device_alive(device) ? ACL_RT_NO_ERROR : ACL_RT_ERROR_OTHERS;
	return ACL_SUCCESS;
}

static int check_repairable(const aclrtErrorInfo *info, uint32_t device)
{
	switch ((int)info->errorType) {
	case ACL_RT_NO_ERROR:
		return 0;
	case ACL_RT_ERROR_MEMORY:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the memory of device %d has no error to repair",
				rts_device_to_user(device));
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"errorType is %d; only memory can be repaired (ACL_RT_ERROR_MEMORY). A device that has "
				"gone comes back when every device is reset",
				(int)info->errorType);
	}
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo)
{
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(errorInfo);
	code = device_of(deviceId, &device);
	if (!code && !rts_device_primary_active(device))
		code = u_report(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d is not in use; aclrtSetDevice comes first",
				deviceId);
	if (!code)
		code = check_repairable(errorInfo, device);
	return api_result(code);
}

/* No array is too small for none. */
aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize)
{
	uint32_t device;
	int code;

	(void)arraySize;
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memUceInfoArray);
	REQUIRE_NOT_NULL(retSize);
	code = device_of(deviceId, &device);
	if (!code && !rts_device_alive(device))
		code = u_report(ACL_ERROR_RT_LOST_HEARTBEAT, "device %d has gone", deviceId);
	if (!code)
		*retSize = 0;
	return api_result(code);
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
{
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	code = device_of(deviceId, &device);
	return api_result(code ? code : rts_device_abort(device, timeout));
}

/* Reserved words that a newer CANN may give a meaning are 0. */
static bool knows(const aclrtMemUceInfo *info)
{
	for (size_t i = 0; i < sizeof(info->reserved) / sizeof(info->reserved[0]); i++)
		if (info->reserved[i])
			return false;
	return true;
}

static int check_uses(uint32_t device)
{
	struct rts_context *ctx;
	int code = rts_context_current(&ctx);

	if (!code && ctx->device != device)
		code = u_report(ACL_ERROR_RT_CONTEXT_NULL, "the current device is %d, not %d",
				rts_device_to_user(ctx->device), rts_device_to_user(device));
	return code;
}

/* There is never anything that could be repaired, so that any address is a wrong one. */
aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize)
{
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memUceInfoArray);
	REQUIRE(arraySize <= MAX_MEM_UCE_INFO_ARRAY_SIZE, "%s: arraySize is %zu; it is at most %d", __func__, arraySize,
		MAX_MEM_UCE_INFO_ARRAY_SIZE);
	for (size_t i = 0; i < arraySize; i++)
		REQUIRE(knows(&memUceInfoArray[i]), "%s: memUceInfoArray[%zu].reserved must be all zeros", __func__, i);
	code = device_of(deviceId, &device);
	if (!code)
		code = check_uses(device);
	if (!code && arraySize)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "the memory of device %d has no error at %p", deviceId,
				memUceInfoArray[0].addr);
	return api_result(code);
}
