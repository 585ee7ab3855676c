/* SPDX-License-Identifier: MIT */
/*
 * refused_base.c - acl_base_rt.h and the names that CANN's library exports beyond its headers.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: attributes of the package and the application log are not offered yet. */
REFUSE_AS(float, 0, aclFloat16ToFloat, aclFloat16 value)
REFUSE_AS(aclFloat16, 0, aclFloatToFloat16, float value)
REFUSE_AS(aclDataBuffer *, NULL, aclCreateDataBuffer, void *data, size_t size)
REFUSE(aclDestroyDataBuffer, const aclDataBuffer *dataBuffer)
REFUSE(aclUpdateDataBuffer, aclDataBuffer *dataBuffer, void *data, size_t size)
REFUSE_AS(void *, NULL, aclGetDataBufferAddr, const aclDataBuffer *dataBuffer)
REFUSE_AS(uint32_t, 0, aclGetDataBufferSize, const aclDataBuffer *dataBuffer)
REFUSE_AS(size_t, 0, aclGetDataBufferSizeV2, const aclDataBuffer *dataBuffer)
REFUSE_AS(size_t, 0, aclDataTypeSize, aclDataType dataType)
REFUSE_VOID(aclAppLog, aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
	const char *fmt, ...)
REFUSE_AS(const char *, NULL, aclrtGetSocName, void)
REFUSE(aclGetCannAttributeList, const aclCannAttr **cannAttrList, size_t *num)
REFUSE(aclGetCannAttribute, aclCannAttr cannAttr, int32_t *value)
REFUSE(aclGetDeviceCapability, uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value)

/* Refused: exported by CANN without being declared in a header. */
REFUSE_VOID(aclAppLogWithArgs, aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
	const char *fmt, va_list args)
REFUSE(aclrtSetDeviceWithoutTsdVXX, int32_t deviceId)
REFUSE(aclrtResetDeviceWithoutTsdVXX, int32_t deviceId)
REFUSE_AS(uint32_t, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, vinciLaunchKernel, const struct vinci_kernel *kernel, uint32_t block_dim,
	void *stream, const void *args, size_t args_size)
