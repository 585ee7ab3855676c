/* SPDX-License-Identifier: MIT */
/*
 * refused_device.c - chapters 2 to 5, 16 and 24: setting up, run-time configuration, devices, contexts, the rest.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: utilisation is not measured yet. */
REFUSE(aclrtGetDeviceUtilizationRate, int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)

/* Refused: the older questions about overflow; aclrtGetOverflowStatus and its like answer. */
REFUSE(aclrtGetFloatOverflowStatus, void *outputAddr, uint64_t outputSize, aclrtStream stream)
REFUSE(aclrtResetFloatOverflowStatus, aclrtStream stream)
REFUSE(aclrtNpuGetFloatOverFlowStatus, void *outputAddr, uint64_t outputSize, uint32_t checkMode,
	aclrtStream stream)
REFUSE(aclrtNpuClearFloatOverFlowStatus, uint32_t checkMode, aclrtStream stream)

/* Refused: limits of a core's stack and buffers do not apply to kernels on a CPU yet. */
REFUSE(aclrtDeviceSetLimit, aclrtDeviceLimit limit, size_t value)
REFUSE(aclrtDeviceGetLimit, aclrtDeviceLimit limit, size_t *value)

/* Refused: there is no cache of a device to flush. */
REFUSE(aclrtDeviceL2CacheFlush, void *rsv)

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtSetGroup, int32_t groupId)
REFUSE(aclrtGetGroupCount, uint32_t *count)
REFUSE_AS(aclrtGroupInfo *, NULL, aclrtCreateGroupInfo, void)
REFUSE(aclrtDestroyGroupInfo, aclrtGroupInfo *groupInfo)
REFUSE(aclrtGetAllGroupInfo, aclrtGroupInfo *groupInfo)
REFUSE(aclrtGetGroupInfoDetail, const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
	void *attrValue, size_t valueLen, size_t *paramRetSize)

/* Refused: information about operators is kept for profiling, which is not there yet. */
REFUSE(aclrtCacheLastTaskOpInfo, const void *infoPtr, size_t infoSize)
REFUSE(aclrtCacheLastTaskExtendInfo, const char *extendInfoPtr, size_t infoSize)
REFUSE(aclrtProfTrace, void *userdata, int32_t length, aclrtStream stream)
