/* SPDX-License-Identifier: MIT */
/*
 * refused_device.c - chapters 2 to 5, 16 and 24: setting up, run-time configuration, devices, contexts, the rest.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: the options steer compilation of operators and modes of overflow, on which nothing here depends yet. */
REFUSE(aclrtSetSysParamOpt, aclSysParamOpt opt, int64_t value)
REFUSE(aclrtGetSysParamOpt, aclSysParamOpt opt, int64_t *value)
REFUSE(aclrtCtxSetSysParamOpt, aclSysParamOpt opt, int64_t value)
REFUSE(aclrtCtxGetSysParamOpt, aclSysParamOpt opt, int64_t *value)

/* Refused: limits on the cores of a device, stream or thread are not kept yet. */
REFUSE(aclrtGetDeviceResLimit, int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
REFUSE(aclrtSetDeviceResLimit, int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
REFUSE(aclrtResetDeviceResLimit, int32_t deviceId)
REFUSE(aclrtGetStreamResLimit, aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
REFUSE(aclrtSetStreamResLimit, aclrtStream stream, aclrtDevResLimitType type, uint32_t value)
REFUSE(aclrtResetStreamResLimit, aclrtStream stream)
REFUSE(aclrtUseStreamResInCurrentThread, aclrtStream stream)
REFUSE(aclrtUnuseStreamResInCurrentThread, aclrtStream stream)
REFUSE(aclrtGetResInCurrentThread, aclrtDevResLimitType type, uint32_t *value)

/* Refused: a CPU has no second task scheduler to choose. */
REFUSE(aclrtSetTsDevice, aclrtTsId tsId)

/* Refused: utilisation is not measured yet. */
REFUSE(aclrtGetDeviceUtilizationRate, int32_t deviceId, aclrtUtilizationInfo *utilizationInfo)

/* Refused: saturation and overflow flags of a card's arithmetic are not modelled yet. */
REFUSE(aclrtSetDeviceSatMode, aclrtFloatOverflowMode mode)
REFUSE(aclrtGetDeviceSatMode, aclrtFloatOverflowMode *mode)
REFUSE(aclrtGetOverflowStatus, void *outputAddr, size_t outputSize, aclrtStream stream)
REFUSE(aclrtResetOverflowStatus, aclrtStream stream)
REFUSE(aclrtCtxGetFloatOverflowAddr, void **overflowAddr)
REFUSE(aclrtGetFloatOverflowStatus, void *outputAddr, uint64_t outputSize, aclrtStream stream)
REFUSE(aclrtResetFloatOverflowStatus, aclrtStream stream)
REFUSE(aclrtNpuGetFloatOverFlowStatus, void *outputAddr, uint64_t outputSize, uint32_t checkMode,
	aclrtStream stream)
REFUSE(aclrtNpuClearFloatOverFlowStatus, uint32_t checkMode, aclrtStream stream)

/* Refused: attributes of the SoC are not in the profile table yet. */
REFUSE(aclrtGetDeviceCapability, int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value)

/* Refused: kinds of links between devices are not modelled yet, only which devices reach each other. */
REFUSE(aclrtGetDevicesTopo, uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value)
REFUSE(aclrtDeviceGetHostAtomicCapabilities, uint32_t *capabilities, const aclrtAtomicOperation *operations,
	uint32_t count, int32_t deviceId)
REFUSE(aclrtDeviceGetP2PAtomicCapabilities, uint32_t *capabilities, const aclrtAtomicOperation *operations,
	uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId)

/* Refused: callbacks on changes of a device or stream are not there yet. */
REFUSE(aclrtRegDeviceStateCallback, const char *regName, aclrtDeviceStateCallback callback, void *args)

/* Refused: the software device has no bus address and no UUID yet. */
REFUSE(aclrtDeviceGetUuid, int32_t deviceId, aclrtUuid *uuid)
REFUSE(aclrtDeviceGetPCIBusId, int32_t deviceId, char *pciBusId, int32_t len)
REFUSE(aclrtDeviceGetByPCIBusId, const char *pciBusId, int32_t *deviceId)

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
