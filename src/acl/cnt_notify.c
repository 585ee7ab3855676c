/* SPDX-License-Identifier: MIT */
/* cnt_notify.c - chapter 9: counting notifies. */
#include "acl/api.h"
#include "rts/cnt_notify.h"
#include "util/cleanup.h"

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	code = rts_context_current(&ctx);
	if (!code)
		code = rts_cnt_notify_create(ctx, flag, cntNotify);
	return api_result(code);
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	return api_result(rts_cnt_notify_destroy(cntNotify));
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	REQUIRE_NOT_NULL(info);
	code = rts_stream_get(stream, &st);
	return api_result(code ? code : rts_cnt_notify_record(cntNotify, st, info));
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	REQUIRE_NOT_NULL(info);
	code = rts_stream_get(stream, &st);
	return api_result(code ? code : rts_cnt_notify_wait(cntNotify, st, info));
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	code = rts_stream_get(stream, &st);
	return api_result(code ? code : rts_cnt_notify_reset(cntNotify, st));
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(cntNotify);
	REQUIRE_NOT_NULL(notifyId);
	return api_result(rts_cnt_notify_id(cntNotify, notifyId));
}
