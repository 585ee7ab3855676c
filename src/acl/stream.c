/* SPDX-License-Identifier: MIT */
/* stream.c - chapter 6: streams. */
#include "acl/api.h"
#include "rts/state.h"
#include "rts/stream.h"
#include "util/cleanup.h"

static int create(aclrtStream *out, uint32_t priority, uint32_t flags)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct rts_context *ctx;
	aclrtStream handle;
	int code;

	code = rts_context_current(&ctx);
	if (!code)
		code = rts_stream_create(ctx, priority, flags, &st);
	if (code)
		return code;
	handle = ((struct rts_object *)st)->handle; /* an object with a handle begins with it */
	if (!handle)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "the thread's context has just been destroyed");
	*out = handle;
	rts_state_stream(handle, ACL_RT_STREAM_STATE_CREATE_POST);
	return 0;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
	REQUIRE_NOT_NULL(stream);
	return api_result(create(stream, RTS_PRIORITY_GREATEST, 0));
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
	REQUIRE_NOT_NULL(stream);
	return api_result(create(stream, priority, flag));
}

/* ---- configurations: IPV350's way ---- */

static int check_ipv350(const char *function)
{
	int code = rts_process_start();

	if (code || rts_profile()->product == RTS_PRODUCT_IPV350)
		return code;
	return api_product_refuse(function);
}

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void)
{
	aclrtStreamConfigHandle *handle = NULL;
	int code = check_ipv350(__func__);

	if (!code)
		code = rts_stream_config_new(&handle);
	(void)api_result(code);
	return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
	int code = check_ipv350(__func__);

	if (code)
		return api_result(code);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_stream_config_free(handle));
}

/* Memory for models' temporary data is kept for whoever loads models. */
aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue,
				 size_t valueSize)
{
	int code = check_ipv350(__func__);

	if (code)
		return api_result(code);
	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(attrValue);
	return api_result(rts_stream_config_set(handle, attr, attrValue, valueSize));
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
	uint32_t priority, flags;
	int code = check_ipv350(__func__);

	if (code)
		return api_result(code);
	REQUIRE_NOT_NULL(stream);
	REQUIRE_NOT_NULL(handle);
	code = rts_stream_config_get(handle, &priority, &flags);
	return api_result(code ? code : create(stream, priority, flags));
}

aclError aclrtDestroyStream(aclrtStream stream)
{
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_stream_destroy(stream, false));
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_stream_destroy(stream, true));
}

/* Any context's stream: synchronising switches to it, in CANN's words. */
static int synchronize(aclrtStream stream, int32_t timeout)
{
	struct rts_stream *st;
	int code;

	code = rts_stream_get_any(stream, &st);
	if (code)
		return code;
	code = rts_stream_synchronize(st, timeout);
	rts_stream_put(&st);
	return code;
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
	return api_result(synchronize(stream, -1));
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
	return api_result(synchronize(stream, timeout));
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
	struct rts_stream *st;
	int code;

	REQUIRE_NOT_NULL(status);
	code = rts_stream_get_any(stream, &st);
	if (code)
		return api_result(code);
	code = rts_stream_check_captured(st, "asked how far it is");
	if (!code)
		*status = rts_stream_idle(st) ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
	struct rts_stream *st;
	int code;

	REQUIRE_NOT_NULL(streamId);
	code = rts_stream_get_any(stream, &st);
	if (code)
		return api_result(code);
	*streamId = rts_stream_id(st);
	rts_stream_put(&st);
	return ACL_SUCCESS;
}

/* Needs a current context, but any context's stream will do. */
static int property(aclrtStream stream, uint32_t (*get)(const struct rts_stream *), uint32_t *out)
{
	struct rts_context *ctx;
	struct rts_stream *st;
	int code;

	code = rts_context_current(&ctx);
	if (!code)
		code = rts_stream_get_any(stream, &st);
	if (code)
		return code;
	*out = get(st);
	rts_stream_put(&st);
	return 0;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
	REQUIRE_NOT_NULL(priority);
	return api_result(property(stream, rts_stream_priority, priority));
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
	REQUIRE_NOT_NULL(flags);
	return api_result(property(stream, rts_stream_flags, flags));
}

/* Either pointer may be NULL. */
aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
	if (leastPriority)
		*leastPriority = (int32_t)RTS_PRIORITY_LEAST;
	if (greatestPriority)
		*greatestPriority = (int32_t)RTS_PRIORITY_GREATEST;
	return ACL_SUCCESS;
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(streamCount);
	code = rts_context_current(&ctx);
	if (!code)
		*streamCount = rts_streams_available(ctx->device);
	return api_result(code);
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
	struct rts_stream *st;
	int code;

	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_stream_set_failure_mode(st, mode);
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtStreamAbort(aclrtStream stream)
{
	struct rts_stream *st;
	int code;

	REQUIRE_PRODUCT();
	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_stream_abort(st);
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtStreamStop(aclrtStream stream)
{
	struct rts_stream *st;
	int code;

	REQUIRE_PRODUCT();
	if (!stream)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID,
					   "stream is NULL; the default stream cannot be stopped, only aborted"));
	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_stream_stop(st);
	rts_stream_put(&st);
	return api_result(code);
}

#define PROF_TRACE_BYTES 18

/*
 * A mark for a profiler that collects on the device. Without one, as here, a card does no more for it than take its
 * turn.
 */
aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream)
{
	struct rts_stream *st;
	int code;

	REQUIRE_NOT_NULL(userdata);
	if (length <= 0 || length > PROF_TRACE_BYTES)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "length is %d; it must be from 1 to %d", length,
					   PROF_TRACE_BYTES));
	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_stream_mark(st);
	rts_stream_put(&st);
	return api_result(code);
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
	struct rts_stream *st;
	int code;

	code = rts_stream_get(stream, &st);
	if (code)
		return api_result(code);
	code = rts_launch_host_func(st, fn, args);
	rts_stream_put(&st);
	return api_result(code);
}
