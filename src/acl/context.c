/* SPDX-License-Identifier: MIT */
/* context.c - chapter 5: contexts. */
#include "acl/api.h"
#include "rts/stream.h"

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
	struct rts_context *ctx;
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(context);
	code = rts_device_start();
	if (!code)
		code = rts_device_from_user(deviceId, &device);
	if (!code)
		code = rts_context_create(device, &ctx);
	if (!code)
		*context = ctx->obj.handle;
	return api_result(code);
}

aclError aclrtDestroyContext(aclrtContext context)
{
	REQUIRE_NOT_NULL(context);
	return api_result(rts_context_destroy(context));
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
	REQUIRE_NOT_NULL(context);
	return api_result(rts_context_set_current(context));
}

/* Another thread may destroy the context between the look at it and the copy of its handle. */
static int current_handle(aclrtContext *out)
{
	struct rts_context *ctx;
	void *handle;
	int code = rts_context_current(&ctx);

	if (code)
		return code;
	handle = ctx->obj.handle;
	if (!handle)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "the thread's context has just been destroyed");
	*out = handle;
	return 0;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
	REQUIRE_NOT_NULL(context);
	return api_result(current_handle(context));
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
	struct rts_stream *st;
	aclrtStream handle = NULL;
	int code;

	REQUIRE_NOT_NULL(stream);
	code = rts_stream_get(NULL, &st);
	if (code)
		return api_result(code);
	handle = ((struct rts_object *)st)->handle; /* an object with a handle begins with it */
	rts_stream_put(&st);
	if (!handle)
		return api_result(u_report(ACL_ERROR_RT_CONTEXT_NULL, "the thread's context has just been destroyed"));
	*stream = handle;
	return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
	uint32_t device;
	int code;

	REQUIRE_NOT_NULL(active);
	REQUIRE(!flags, "flags is %p; it is reserved and must be NULL", (void *)flags);
	code = rts_process_start();
	if (!code)
		code = rts_device_from_user(deviceId, &device);
	if (!code)
		*active = rts_device_primary_active(device);
	return api_result(code);
}
