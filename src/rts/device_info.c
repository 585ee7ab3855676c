/* SPDX-License-Identifier: MIT */
#include "rts/device_info.h"

#include <string.h>

static int ask(uint32_t device, struct drm_vinci_device_info *info)
{
	return rts_errno_code(0, RTS_OP_QUERY, drv_device_info(rts_drv(), device, info));
}

bool rts_device_alive(uint32_t device)
{
	struct drm_vinci_device_info info;

	return !ask(device, &info);
}

static bool is_known(aclrtDevAttr attr)
{
	int n = (int)attr;

	return n == 1 || n == 101 || n == 102 || (n >= 201 && n <= 212) || n == 301 || n == 302 ||
	       (n >= 401 && n <= 409) || n == 501 || n == 601;
}

static int refuse(const struct rts_profile *profile, aclrtDevAttr attr)
{
	if (!is_known(attr))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"Value %d for attr is invalid. Expected value: one of aclrtDevAttr", (int)attr);
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attribute %d has no value on a %s of this library",
			(int)attr, profile->soc);
}

/* The super pod of one host: this server, and no other. */
static int pod_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value)
{
	struct drm_vinci_device_info info;
	int code;

	if (!(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		return refuse(rts_profile(), attr);
	code = ask(device, &info);
	if (code)
		return u_report(code, "device %d does not answer", rts_device_to_user(device));
	*value = attr == ACL_DEV_ATTR_SUPER_POD_DEVICE_ID ? (int64_t)info.sdid : 0;
	return 0;
}

static int memory_attribute(uint32_t device, int64_t *value)
{
	struct drm_vinci_device_info info;
	int code = ask(device, &info);

	if (code)
		return u_report(code, "device %d does not answer", rts_device_to_user(device));
	*value = (int64_t)info.mem_total;
	return 0;
}

int rts_device_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value)
{
	const struct rts_profile *profile = rts_profile();

	switch (attr) {
	case ACL_DEV_ATTR_AICPU_CORE_NUM:
		*value = profile->aicpu_cores;
		return 0;
	case ACL_DEV_ATTR_AICORE_CORE_NUM:
	case ACL_DEV_ATTR_CUBE_CORE_NUM:
		*value = profile->cube_cores;
		return 0;
	case ACL_DEV_ATTR_VECTOR_CORE_NUM:
		*value = profile->vector_cores;
		return 0;
	case ACL_DEV_ATTR_L2_CACHE_SIZE:
		*value = (int64_t)profile->l2_bytes;
		return 0;
	case ACL_DEV_ATTR_PHY_CHIP_ID:
		*value = device;
		return 0;
	case ACL_DEV_ATTR_SMP_ID: /* one host */
	case ACL_DEV_ATTR_IS_VIRTUAL:
		*value = 0;
		return 0;
	case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
		return memory_attribute(device, value);
	case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
	case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
	case ACL_DEV_ATTR_SUPER_POD_ID:
		return pod_attribute(device, attr, value);
	default:
		return refuse(profile, attr);
	}
}
