/* SPDX-License-Identifier: MIT */
/* callback.c - chapter 12: callbacks in threads of the application's. */
#include "acl/api.h"
#include "rts/report_thread.h"
#include "util/cleanup.h"

#include <pthread.h>

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	if (!code)
		code = rts_report_subscribe(threadId, st);
	return api_result(code);
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	if (!code)
		code = rts_report_unsubscribe(threadId, st);
	return api_result(code);
}

static int launch(aclrtCallback fn, void *user_data, bool blocks, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	if (!fn)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL; it must be the function to call");
	code = rts_stream_get(stream, &st);
	return code ? code : rts_report_launch(st, fn, user_data, blocks);
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream)
{
	REQUIRE(blockType == ACL_CALLBACK_NO_BLOCK || blockType == ACL_CALLBACK_BLOCK,
		"blockType is %d; it must be ACL_CALLBACK_NO_BLOCK (0) or ACL_CALLBACK_BLOCK (1)", (int)blockType);
	return api_result(launch(fn, userData, blockType == ACL_CALLBACK_BLOCK, stream));
}

aclError aclrtProcessReport(int32_t timeout)
{
	REQUIRE(timeout > 0 || timeout == -1, "timeout is %d ms; it must be positive, or -1 to wait for ever", timeout);
	return api_result(rts_report_process((uint64_t)pthread_self(), timeout));
}
