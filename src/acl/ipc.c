/* SPDX-License-Identifier: MIT */
/* ipc.c - chapter 11.7: device memory shared between processes by key. */
#include "acl/api.h"
#include "rts/ipc.h"

aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE_NOT_NULL(key);
	return api_result(rts_ipc_export(devPtr, size, key, len, flags));
}

aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(key);
	REQUIRE_NOT_NULL(pid);
	return api_result(rts_ipc_allow(key, pid, num));
}

/* The acl layer leaves these two to the runtime, whose code for NULL is another. */
aclError aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *serverPids, size_t num)
{
	REQUIRE_PRODUCT();
	if (!key || !serverPids)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument %s is NULL", __func__,
					   key ? "serverPids" : "key"));
	return api_result(rts_ipc_allow_servers(key, serverPids, num));
}

aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr)
{
	REQUIRE_PRODUCT();
	if (!key)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument key is NULL", __func__));
	return api_result(rts_ipc_set_attr(key, (uint32_t)type, attr));
}

aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE_NOT_NULL(key);
	return api_result(rts_ipc_import(key, flags, devPtr));
}

aclError aclrtIpcMemClose(const char *key)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(key);
	return api_result(rts_ipc_close(key));
}
