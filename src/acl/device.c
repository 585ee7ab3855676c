/* SPDX-License-Identifier: MIT */
/* device.c - chapter 4: devices. */
#include "acl/api.h"
#include "acl/extras.h"
#include "rts/device_info.h"
#include "rts/process.h"

#include <string.h>

/*
 * The device of a user's number, for calls on devices that are in use: they have to work after the device has died
 * (aclrtResetDevice is how a program gets out of that), so that the connection is opened but not asked for.
 */
static int device_of_user(int32_t user, uint32_t *device)
{
	int code = rts_process_check_fork();

	if (!code && !rts_device_total())
		code = rts_process_start();
	return code ? code : rts_device_from_user(user, device);
}

static aclError set(int32_t user)
{
	uint32_t device;
	int code = rts_device_start();

	if (!code)
		code = rts_device_from_user(user, &device);
	if (!code)
		code = rts_device_set(device);
	return api_result(code);
}

aclError aclrtSetDevice(int32_t deviceId)
{
	return set(deviceId);
}

static aclError reset(int32_t user, bool force)
{
	uint32_t device;
	int code = device_of_user(user, &device);

	if (!code)
		code = rts_device_reset(device, force);
	return api_result(code);
}

aclError aclrtResetDevice(int32_t deviceId)
{
	return reset(deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
	return reset(deviceId, true);
}

/* The two below leave out a daemon of the card's system that starts other processes, which there is none of here. */
static aclError check_910(const char *function)
{
	static const char family[] = "Ascend910";
	int code = rts_process_start();

	if (code)
		return api_result(code);
	if (strncmp(rts_profile()->soc, family, sizeof(family) - 1))
		return u_report(ACL_ERROR_API_NOT_SUPPORT, "%s is for %s*; this is %s", function, family,
				rts_profile()->soc);
	return ACL_SUCCESS;
}

aclError aclrtSetDeviceWithoutTsdVXX(int32_t deviceId)
{
	aclError code = check_910(__func__);

	return code ? code : set(deviceId);
}

aclError aclrtResetDeviceWithoutTsdVXX(int32_t deviceId)
{
	aclError code = check_910(__func__);

	return code ? code : reset(deviceId, false);
}

/* "No device" is an answer here, not an error of the thread: not recorded as its last one. */
aclError aclrtGetDevice(int32_t *deviceId)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(deviceId);
	code = rts_device_get(&device);
	if (!code)
		*deviceId = rts_device_to_user(device);
	return code;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
	int code;

	REQUIRE_NOT_NULL(count);
	code = rts_process_start();
	if (!code)
		code = rts_visible_check();
	if (!code)
		*count = rts_device_count();
	return api_result(code);
}

aclError aclrtSynchronizeDevice(void)
{
	return api_result(rts_device_synchronize(-1));
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
	return api_result(rts_device_synchronize(timeout));
}

/* The application runs on the host, the device is something beside it. */
aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
	REQUIRE_NOT_NULL(runMode);
	*runMode = ACL_HOST;
	return ACL_SUCCESS;
}

const char *aclrtGetSocName(void)
{
	if (api_result(rts_process_start()))
		return NULL;
	return rts_profile()->soc;
}

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
	REQUIRE_NOT_NULL(pid);
	return api_result(rts_process_bare_tgid(pid));
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(deviceStatus);
	code = device_of_user(deviceId, &device);
	if (!code)
		*deviceStatus = rts_device_alive(device) ? ACL_RT_DEVICE_STATUS_NORMAL : ACL_RT_DEVICE_STATUS_ABNORMAL;
	return api_result(code);
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(value);
	code = rts_process_start();
	if (!code)
		code = rts_device_from_user((int32_t)deviceId, &device);
	if (!code)
		code = rts_device_attribute(device, attr, value);
	return api_result(code);
}

/* ---- numbers: the user's, the logical (the device's index), the physical (the same on a host of its own) ---- */

static int to_logic(int32_t user, int32_t *out)
{
	uint32_t device;
	int code = rts_process_start();

	if (!code)
		code = rts_device_from_user(user, &device);
	if (!code)
		*out = (int32_t)device;
	return code;
}

static int to_user(int32_t logic, int32_t *out)
{
	int code = rts_process_start();
	int32_t user = -1;

	if (code)
		return code;
	if (logic >= 0 && (uint32_t)logic < rts_device_total())
		user = rts_device_to_user((uint32_t)logic);
	if (user < 0)
		return u_report(ACL_ERROR_RT_INVALID_DEVICEID,
				"Value %d for device id is invalid. Expected value: one of the %u devices that "
				"ASCEND_RT_VISIBLE_DEVICES leaves visible",
				logic, rts_device_count());
	*out = user;
	return 0;
}

aclError aclrtGetLogicDevIdByUserDevId(int32_t userDevid, int32_t *logicDevId)
{
	REQUIRE_NOT_NULL(logicDevId);
	return api_result(to_logic(userDevid, logicDevId));
}

aclError aclrtGetUserDevIdByLogicDevId(int32_t logicDevId, int32_t *userDevid)
{
	REQUIRE_NOT_NULL(userDevid);
	return api_result(to_user(logicDevId, userDevid));
}

/* CANN names it wrongly: what it calls the logical number is the user's. */
aclError aclrtGetLogicDevIdByPhyDevId(int32_t phyDevId, int32_t *logicDevId)
{
	REQUIRE_NOT_NULL(logicDevId);
	return api_result(to_user(phyDevId, logicDevId));
}

aclError aclrtGetPhyDevIdByLogicDevId(int32_t logicDevId, int32_t *phyDevId)
{
	REQUIRE_NOT_NULL(phyDevId);
	return api_result(to_logic(logicDevId, phyDevId));
}

aclError aclrtGetUserDevIdByPhyDevId(int32_t phyDevId, int32_t *userDevId)
{
	REQUIRE_NOT_NULL(userDevId);
	return api_result(to_user(phyDevId, userDevId));
}

aclError aclrtGetPhyDevIdByUserDevId(int32_t userDevId, int32_t *phyDevId)
{
	REQUIRE_NOT_NULL(phyDevId);
	return api_result(to_logic(userDevId, phyDevId));
}
