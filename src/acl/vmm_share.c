/* SPDX-License-Identifier: MIT */
/* vmm_share.c - chapter 11.4: physical memory shared between processes. */
#include <endian.h>
#include <string.h>

#include "acl/api.h"
#include "rts/vmm.h"

#define NUMBER_BYTES 8u /* of VINCI_SHARE_VMM's names, little-endian */

static uint64_t number_of(const struct drv_name *name)
{
	uint64_t number;

	memcpy(&number, name->bytes, sizeof(number));
	return le64toh(number);
}

static struct drv_name name_of_number(uint64_t number)
{
	struct drv_name name = { .kind = VINCI_SHARE_VMM, .len = NUMBER_BYTES };

	number = htole64(number);
	memcpy(name.bytes, &number, sizeof(number));
	return name;
}

/* Kind of a V2 handle: 107000 when it is neither. */
static int kind_of(aclrtMemSharedHandleType type, uint32_t *kind)
{
	if (type != ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT && type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "shareType is %d; %d (default) or %d (fabric) is wanted",
				(int)type, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC);
	*kind = type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT ? VINCI_SHARE_VMM : VINCI_SHARE_FABRIC;
	return 0;
}

/* @shareable points at a number or at an aclrtMemFabricHandle, at any alignment. */
static int name_of(const void *shareable, aclrtMemSharedHandleType type, struct drv_name *name)
{
	uint64_t number;
	uint32_t kind = 0;
	int r = kind_of(type, &kind);

	if (r)
		return r;
	if (kind == VINCI_SHARE_VMM) {
		memcpy(&number, shareable, sizeof(number));
		*name = name_of_number(number);
		return 0;
	}
	memset(name, 0, sizeof(*name));
	name->kind = kind;
	name->len = sizeof(aclrtMemFabricHandle);
	memcpy(name->bytes, shareable, sizeof(aclrtMemFabricHandle));
	return 0;
}

static void put_name(const struct drv_name *name, void *shareable)
{
	uint64_t number = number_of(name);

	if (name->kind == VINCI_SHARE_VMM)
		memcpy(shareable, &number, sizeof(number));
	else
		memcpy(shareable, name->bytes, sizeof(aclrtMemFabricHandle));
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
					 uint64_t *shareableHandle)
{
	struct drv_name name;
	int r;

	REQUIRE_NOT_NULL(handle);
	REQUIRE(handleType == ACL_MEM_HANDLE_TYPE_NONE, "%s: handleType is %d; %d is wanted", __func__, (int)handleType,
		ACL_MEM_HANDLE_TYPE_NONE);
	REQUIRE_NOT_NULL(shareableHandle);
	r = rts_phys_export(handle, VINCI_SHARE_VMM, flags, &name);
	if (!r)
		put_name(&name, shareableHandle);
	return api_result(r);
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
					   void *shareableHandle)
{
	struct drv_name name;
	uint32_t kind = 0;
	int r;

	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(shareableHandle);
	r = kind_of(shareType, &kind);
	if (!r)
		r = rts_phys_export(handle, kind, flags, &name);
	if (!r)
		put_name(&name, shareableHandle);
	return api_result(r);
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
	struct drv_name name = name_of_number(shareableHandle);

	REQUIRE_NOT_NULL(pid);
	REQUIRE(pidNum, "%s: pidNum is 0; it must be the number of process ids", __func__);
	return api_result(rts_phys_allow(&name, pid, pidNum));
}

aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, int32_t *pid,
					   size_t pidNum)
{
	struct drv_name name;
	int r;

	REQUIRE_NOT_NULL(shareableHandle);
	REQUIRE_NOT_NULL(pid);
	REQUIRE(pidNum, "%s: pidNum is 0; it must be the number of process ids", __func__);
	r = name_of(shareableHandle, shareType, &name);
	if (!r)
		r = rts_phys_allow(&name, pid, pidNum);
	return api_result(r);
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle *handle)
{
	struct drv_name name = name_of_number(shareableHandle);
	uint32_t device;
	int r;

	REQUIRE_NOT_NULL(handle);
	r = rts_process_start();
	if (!r)
		r = rts_device_from_user(deviceId, &device);
	if (!r)
		r = rts_phys_import(&name, device, handle);
	return api_result(r);
}

/* For the calling thread's current device. */
aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
					     aclrtDrvMemHandle *handle)
{
	struct rts_context *ctx;
	struct drv_name name;
	int r;

	REQUIRE_NOT_NULL(shareableHandle);
	REQUIRE_NOT_NULL(handle);
	REQUIRE(!flags, "%s: flags is 0x%llx; it is reserved and must be 0", __func__, (unsigned long long)flags);
	r = rts_process_start();
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = name_of(shareableHandle, shareType, &name);
	if (!r)
		r = rts_phys_import(&name, ctx->device, handle);
	return api_result(r);
}
