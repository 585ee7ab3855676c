/* SPDX-License-Identifier: MIT */
/* device_info.c - chapters 4, 11.2 and 24: what devices are, can and are called. */
#include "rts/device_info.h"
#include "acl/acl_base_rt.h"
#include "acl/api.h"
#include "rts/peer.h"

#include <string.h>

static int device_of(int64_t user, uint32_t *device)
{
	int code = rts_process_start();

	return code ? code : rts_device_from_user(user > INT32_MAX ? -1 : (int32_t)user, device);
}

/* ---- sizes and abilities ---- */

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)
{
	int code;

	REQUIRE_NOT_NULL(value);
	code = rts_process_start();
	if (code)
		return api_result(code);
	REQUIRE(deviceId < rts_device_count(), "%s: deviceId is %u; there are %u devices", __func__, deviceId,
		rts_device_count());
	switch (deviceInfo) {
	case ACL_DEVICE_INFO_AI_CORE_NUM:
		*value = rts_profile()->cube_cores;
		return ACL_SUCCESS;
	case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
		*value = rts_profile()->vector_cores;
		return ACL_SUCCESS;
	case ACL_DEVICE_INFO_L2_SIZE:
		*value = (int64_t)rts_profile()->l2_bytes;
		return ACL_SUCCESS;
	default:
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: deviceInfo is %d; aclDeviceInfo has 0 to 2", __func__,
				(int)deviceInfo);
	}
}

#define NOT_THERE (-1)

/* Kernels run on all cores of a kind alike; nothing runs on the device's own CPUs, and memory is not measured. */
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)
{
	uint32_t device;
	int32_t load;
	int code;

	REQUIRE_NOT_NULL(utilizationInfo);
	REQUIRE(!utilizationInfo->utilizationExtend, "%s: utilizationExtend is %p; it is reserved and must be NULL",
		__func__, (void *)utilizationInfo->utilizationExtend);
	code = device_of(deviceId, &device);
	if (code)
		return api_result(code);
	load = (int32_t)rts_device_load(device);
	utilizationInfo->cubeUtilization = load;
	utilizationInfo->vectorUtilization = rts_profile()->vector_cores ? load : NOT_THERE;
	utilizationInfo->aicpuUtilization = 0;
	utilizationInfo->memoryUtilization = NOT_THERE;
	return ACL_SUCCESS;
}

/* By the instructions that the two run, as CANN tells operators apart. */
aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
	uint32_t arch;
	int code;

	if (!socVersion || !canCompatible)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument %s is NULL", __func__,
					   socVersion ? "canCompatible" : "socVersion"));
	code = rts_process_start();
	if (code)
		return api_result(code);
	arch = rts_soc_arch(socVersion);
	if (!arch)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID,
					   "socVersion \"%.64s\" is no SoC of CANN's platform_config", socVersion));
	*canCompatible = arch == rts_profile()->arch;
	return ACL_SUCCESS;
}

/* Memory is coherent: what was written before is seen by whoever is told of it afterwards. */
aclError aclrtDeviceL2CacheFlush(void *rsv)
{
	struct rts_context *ctx;
	int code;

	REQUIRE(!rsv, "%s: argument rsv is %p; it is reserved and must be NULL", __func__, rsv);
	code = rts_context_current(&ctx);
	if (!code)
		atomic_thread_fence(memory_order_seq_cst);
	return api_result(code);
}

/* Neither the update of queued tasks nor queues between devices are there. */
aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(value);
	code = device_of(deviceId, &device);
	if (!code && devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
	    devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: devFeatureType is %d; it must be 1 or 21", __func__,
				(int)devFeatureType);
	if (!code)
		*value = ACL_DEV_FEATURE_NOT_SUPPORT;
	return api_result(code);
}

/* Of 310P, 310B and 910 CANN's platform_config says neither. Nothing here compiles operators. */
static const aclCannAttr attributes[] = { ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16 };

static bool has_attributes(void)
{
	return rts_profile()->product & (RTS_PRODUCT_A2 | RTS_PRODUCT_A3 | RTS_PRODUCT_950);
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
	int code;

	REQUIRE_NOT_NULL(cannAttrList);
	REQUIRE_NOT_NULL(num);
	code = rts_process_start();
	if (code)
		return api_result(code);
	*cannAttrList = attributes;
	*num = has_attributes() ? sizeof(attributes) / sizeof(attributes[0]) : 0;
	return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
	int code;

	REQUIRE_NOT_NULL(value);
	REQUIRE((int)cannAttr >= ACL_CANN_ATTR_INF_NAN && cannAttr <= ACL_CANN_ATTR_JIT_COMPILE,
		"%s: cannAttr is %d; aclCannAttr has 0 to 2", __func__, (int)cannAttr);
	code = rts_process_start();
	if (!code)
		*value = cannAttr != ACL_CANN_ATTR_JIT_COMPILE && has_attributes();
	return api_result(code);
}

/* Kernels and copies run on the host's processors and reach its memory; the other engines are not there. */
static bool reaches_host(aclrtHacType type)
{
	switch (type) {
	case ACL_RT_HAC_TYPE_STARS:
	case ACL_RT_HAC_TYPE_AICPU:
	case ACL_RT_HAC_TYPE_AIC:
	case ACL_RT_HAC_TYPE_AIV:
	case ACL_RT_HAC_TYPE_PCIEDMA:
	case ACL_RT_HAC_TYPE_SDMA:
		return true;
	default:
		return false;
	}
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(capabilities);
	code = device_of(deviceId, &device);
	if (!code && (uint32_t)hacType > ACL_RT_HAC_TYPE_CCU)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: hacType is %d; aclrtHacType has 0 to %d", __func__,
				(int)hacType, ACL_RT_HAC_TYPE_CCU);
	if (!code)
		*capabilities =
			reaches_host(hacType) ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
	return api_result(code);
}

/* ---- links and names ---- */

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value)
{
	uint32_t device, other;
	int code;

	REQUIRE_NOT_NULL(value);
	code = device_of(deviceId, &device);
	if (!code)
		code = device_of(otherDeviceId, &other);
	if (!code)
		code = rts_device_link(device, other, value);
	return api_result(code);
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid)
{
	unsigned char bytes[sizeof(uuid->bytes)];
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(uuid);
	code = device_of(deviceId, &device);
	if (!code)
		code = rts_device_uuid(device, bytes);
	for (size_t i = 0; !code && i < sizeof(bytes); i++)
		uuid->bytes[i] = (char)bytes[i];
	return api_result(code);
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len)
{
	uint32_t device;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(pciBusId);
	code = device_of(deviceId, &device);
	if (!code)
		code = rts_device_pci(device, pciBusId, len < 0 ? 0 : (size_t)len);
	return api_result(code);
}

aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId)
{
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(pciBusId);
	REQUIRE_NOT_NULL(deviceId);
	code = rts_process_start();
	if (!code)
		code = rts_device_by_pci(pciBusId, deviceId);
	return api_result(code);
}

/* ---- atomic operations ---- */

/* NULL is the runtime's to find here. */
static int check_atomics(const uint32_t *capabilities, const aclrtAtomicOperation *operations, uint32_t count)
{
	if (capabilities && operations && count)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s", !capabilities ? "argument capabilities is NULL" :
							  !operations	? "argument operations is NULL" :
									  "count is 0; at least one operation is to be asked for");
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
					      const uint32_t count, int32_t deviceId)
{
	uint32_t device;
	int code = check_atomics(capabilities, operations, count);

	if (!code)
		code = device_of(deviceId, &device);
	if (!code)
		code = rts_atomics(operations, count, capabilities);
	return api_result(code);
}

/* Two devices that have no link do nothing to each other's memory. */
static int pair_atomics(uint32_t *capabilities, const aclrtAtomicOperation *operations, uint32_t count, uint32_t src,
			uint32_t dst)
{
	bool linked = false;
	int code = rts_peer_linked(src, dst, &linked);

	if (!code)
		code = rts_atomics(operations, count, capabilities);
	if (!code && !linked)
		memset(capabilities, 0, count * sizeof(*capabilities));
	return code;
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
					     const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId)
{
	uint32_t src, dst;
	int code = check_atomics(capabilities, operations, count);

	if (!code && srcDeviceId == dstDeviceId)
		code = u_report(ACL_ERROR_RT_INVALID_DEVICEID, "srcDeviceId and dstDeviceId are both %d; two devices are wanted",
				srcDeviceId);
	if (!code)
		code = device_of(srcDeviceId, &src);
	if (!code)
		code = device_of(dstDeviceId, &dst);
	if (!code)
		code = pair_atomics(capabilities, operations, count, src, dst);
	return api_result(code);
}
