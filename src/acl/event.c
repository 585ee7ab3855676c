/* SPDX-License-Identifier: MIT */
/* event.c - chapter 7: events. */
#include "acl/api.h"
#include "rts/event.h"
#include "util/cleanup.h"

aclError aclrtCreateEvent(aclrtEvent *event)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_create(RTS_EVENT_ALL, false, event));
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_create(flag, false, event));
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_create(flag, true, event));
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_destroy(event));
}

static int record(aclrtEvent event, aclrtStream stream, uint32_t kind)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	return code ? code : rts_event_record(event, st, kind);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
	REQUIRE_NOT_NULL(event);
	return api_result(record(event, stream, ACL_EVENT_RECORD_DEFAULT));
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(event);
	REQUIRE(flag == ACL_EVENT_RECORD_DEFAULT || flag == ACL_EVENT_RECORD_EXTERNAL,
		"flag is %u; it must be ACL_EVENT_RECORD_DEFAULT (0) or ACL_EVENT_RECORD_EXTERNAL (1)", flag);
	return api_result(record(event, stream, flag));
}

static int stream_wait(aclrtEvent event, aclrtStream stream, uint32_t seconds, uint32_t kind)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	return code ? code : rts_event_wait(event, st, seconds, kind);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
	REQUIRE_NOT_NULL(event);
	return api_result(stream_wait(event, stream, rts_event_wait_limit(), ACL_EVENT_WAIT_DEFAULT));
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(event);
	REQUIRE(flag == ACL_EVENT_WAIT_DEFAULT || flag == ACL_EVENT_WAIT_EXTERNAL,
		"flag is %u; it must be ACL_EVENT_WAIT_DEFAULT (0) or ACL_EVENT_WAIT_EXTERNAL (1)", flag);
	REQUIRE(!timeout || flag == ACL_EVENT_WAIT_DEFAULT, "timeout is %u s; with ACL_EVENT_WAIT_EXTERNAL it must be 0",
		timeout);
	return api_result(stream_wait(event, stream, timeout, flag));
}

static int wait_with_timeout(aclrtEvent event, aclrtStream stream, int32_t timeout)
{
	if (timeout < 0)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "timeout is %d s; it must be positive, or 0 to wait for ever", timeout);
	return stream_wait(event, stream, (uint32_t)timeout, ACL_EVENT_WAIT_DEFAULT);
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
	REQUIRE_NOT_NULL(event);
	return api_result(wait_with_timeout(event, stream, timeout));
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
	REQUIRE_PRODUCT();

	struct rts_context *ctx;
	int code = rts_context_current(&ctx);

	if (!code)
		rts_event_set_wait_limit(timeout);
	return api_result(code);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_NOT_NULL(event);
	code = rts_stream_get(stream, &st);
	if (!code)
		code = rts_event_reset(event, st);
	return api_result(code);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
	bool complete;
	int code;

	REQUIRE_NOT_NULL(event);
	REQUIRE_NOT_NULL(status);
	code = rts_event_query(event, &complete);
	if (!code)
		*status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
	return api_result(code);
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
	bool complete;
	int code;

	REQUIRE_NOT_NULL(event);
	REQUIRE_NOT_NULL(status);
	code = rts_event_query_status(event, &complete);
	if (!code)
		*status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
	return api_result(code);
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
	bool complete;
	int code;

	REQUIRE_NOT_NULL(event);
	REQUIRE_NOT_NULL(status);
	code = rts_event_query_waits(event, &complete);
	if (!code)
		*status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
	return api_result(code);
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_synchronize(event, -1));
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_synchronize(event, timeout));
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
	REQUIRE_NOT_NULL(ms);
	REQUIRE_NOT_NULL(startEvent);
	REQUIRE_NOT_NULL(endEvent);
	return api_result(rts_event_elapsed(startEvent, endEvent, ms));
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
	REQUIRE_NOT_NULL(timestamp);
	REQUIRE_NOT_NULL(event);
	return api_result(rts_event_timestamp(event, timestamp));
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
	REQUIRE_NOT_NULL(event);
	REQUIRE_NOT_NULL(eventId);
	return api_result(rts_event_id(event, eventId));
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(eventCount);
	code = rts_context_current(&ctx);
	if (!code)
		*eventCount = rts_events_available(ctx->device);
	return api_result(code);
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(event);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_event_name(event, handle));
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(event);
	code = rts_context_current(&ctx);
	if (!code)
		code = rts_event_open(ctx, &handle, event);
	return api_result(code);
}
