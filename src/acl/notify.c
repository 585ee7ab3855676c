/* SPDX-License-Identifier: MIT */
/* notify.c - chapter 8: notifies. */
#include "acl/api.h"
#include "rts/stream.h"

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
	REQUIRE_NOT_NULL(notify);
	return api_result(rts_notify_create(flag, notify));
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(notify);
	code = rts_context_current(&ctx);
	if (!code)
		code = rts_notify_destroy(notify);
	return api_result(code);
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
	struct rts_stream *st;
	int code;

	REQUIRE_NOT_NULL(notify);
	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_notify_record(notify, st);
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
	struct rts_context *ctx;
	struct rts_stream *st;
	int code;

	REQUIRE_NOT_NULL(notify);
	code = rts_context_current(&ctx);
	if (!code)
		code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_notify_wait(notify, st, ctx, timeout);
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
	REQUIRE_NOT_NULL(notify);
	REQUIRE_NOT_NULL(notifyId);
	return api_result(rts_notify_id(notify, notifyId));
}

static int batch_reset(aclrtNotify *notifies, uint32_t num)
{
	struct rts_context *ctx;
	int code;

	if (!num)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "num is 0; it must be the number of notifies to reset");
	code = rts_context_current(&ctx);
	for (uint32_t i = 0; i < num && !code; i++)
		code = rts_notify_reset(notifies[i]);
	return code;
}

/* The number is taken as 32 bits, as CANN does. */
aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(notifies);
	return api_result(batch_reset(notifies, (uint32_t)num));
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(notify);
	REQUIRE_NOT_NULL(key);
	return api_result(rts_notify_export(notify, key, len, flags));
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(notify);
	REQUIRE_NOT_NULL(pid);
	return api_result(rts_notify_allow(notify, NULL, pid, num));
}

/* Checked before any is put on the list. */
static int server_pids_check(const aclrtNotify notify, const aclrtServerPid *pids, size_t num)
{
	if (!notify || !pids || !num)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "notify is %p, serverPids is %p and num is %zu; none may be 0",
				(void *)notify, (const void *)pids, num);
	for (size_t i = 0; i < num; i++)
		if (!pids[i].pid || pids[i].num != 1)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"serverPids[%zu] has %zu processes at %p; each element names exactly 1", i,
					pids[i].num, (void *)pids[i].pid);
	return 0;
}

static int allow_servers(aclrtNotify notify, const aclrtServerPid *pids, size_t num)
{
	int code = rts_process_start();

	if (!code && !(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		code = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"aclrtNotifySetImportPidInterServer is for super nodes (Atlas A3); this device is an %s",
				rts_profile()->soc);
	if (!code)
		code = server_pids_check(notify, pids, num);
	for (size_t i = 0; i < num && !code; i++)
		code = rts_notify_allow(notify, &pids[i].sdid, pids[i].pid, 1);
	return code;
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids, size_t num)
{
	REQUIRE_PRODUCT();
	return api_result(allow_servers(notify, serverPids, num));
}

aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(notify);
	REQUIRE_NOT_NULL(key);
	return api_result(rts_notify_import(key, flags, notify));
}
