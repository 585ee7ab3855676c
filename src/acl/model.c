/* SPDX-License-Identifier: MIT */
/* model.c - chapter 15: recorded models. */
#include "acl/api.h"
#include "rts/model.h"

/* --- capture -------------------------------------------------------------------------------------- */

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_capture_begin(stream, mode));
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	REQUIRE(status || modelRI, "status and modelRI are both NULL; at least one must be where an answer goes");
	return api_result(rts_capture_info(stream, status, modelRI));
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(mode);
	return api_result(rts_capture_exchange_mode(mode));
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_capture_end(stream, modelRI));
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_capture_begin_branch(stream, modelRI, mode));
}

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
				  aclmdlRICondHandle *handle)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_cond_create(modelRI, defaultLaunchValue, flag, handle));
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(ptr);
	return api_result(rts_cond_pointer(handle, ptr));
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	if (flags)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is %u; it must be 0", flags));
	return api_result(rts_cond_add(&params, stream));
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_group_begin(stream));
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_group_end(stream, handle));
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_update_begin(stream, handle));
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	return api_result(rts_update_end(stream));
}

/* --- building ------------------------------------------------------------------------------------- */

aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag)
{
	REQUIRE_NOT_NULL(modelRI);
	if (flag)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is %u; it must be 0", flag));
	return api_result(rts_model_build_begin(modelRI));
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag)
{
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_bind(modelRI, stream, flag));
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream)
{
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_end_task(modelRI, stream));
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve)
{
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE(!reserve, "reserve is %p; it must be NULL", reserve);
	return api_result(rts_model_build_end(modelRI));
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream)
{
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_unbind(modelRI, stream));
}

/* --- running -------------------------------------------------------------------------------------- */

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_execute(modelRI, timeout));
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_execute_async(modelRI, stream));
}

aclError aclmdlRIAbort(aclmdlRI modelRI)
{
	return api_result(rts_model_abort(modelRI));
}

/* --- the object ----------------------------------------------------------------------------------- */

aclError aclmdlRIDestroy(aclmdlRI modelRI)
{
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_destroy(modelRI));
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData)
{
	return api_result(rts_model_on_destroy(modelRI, func, userData));
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func)
{
	return api_result(rts_model_off_destroy(modelRI, func));
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char *name)
{
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE_NOT_NULL(name);
	return api_result(rts_model_set_name(modelRI, name));
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name)
{
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE_NOT_NULL(name);
	return api_result(rts_model_get_name(modelRI, name, maxLen));
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE_NOT_NULL(modelRIId);
	return api_result(rts_model_get_id(modelRI, modelRIId));
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams)
{
	REQUIRE_PRODUCT();
	if (!numStreams)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "numStreams is NULL"));
	return api_result(rts_model_get_streams(modelRI, streams, numStreams));
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags)
{
	(void)flags; /* the arguments of kernels are not among what is printed */
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(modelRI);
	REQUIRE_NOT_NULL(path);
	return api_result(rts_model_print_json(modelRI, path));
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(modelRI);
	return api_result(rts_model_print(modelRI));
}
