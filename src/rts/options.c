/* SPDX-License-Identifier: MIT */
/* options.c - options, limits on cores, and what arithmetic does on overflow. */
#include "rts/options.h"
#include "rts/memory.h"
#include "util/cleanup.h"

#include <string.h>

/* ---- options of the process and of contexts ---- */

#define OPTIONS 4 /* aclSysParamOpt; the last one is the process's only */

static _Atomic int64_t process_options[OPTIONS];

static int check_option(aclSysParamOpt opt, int64_t value)
{
	int64_t most = opt == ACL_OPT_DETERMINISTIC ? 3 : 1;

	if (value >= 0 && value <= most)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "value is %lld; option %d has 0 to %lld", (long long)value, (int)opt,
			(long long)most);
}

int rts_option_set(aclSysParamOpt opt, int64_t value, bool of_context)
{
	struct rts_context *ctx;
	int r = check_option(opt, value);

	if (!r && of_context)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	if (of_context)
		atomic_store(&ctx->options[opt], value + 1);
	else
		atomic_store(&process_options[opt], value);
	return 0;
}

int rts_option_get(aclSysParamOpt opt, int64_t *value, bool of_context)
{
	struct rts_context *ctx;
	int64_t kept;
	int r;

	if (!of_context) {
		*value = atomic_load(&process_options[opt]);
		return 0;
	}
	r = rts_context_current(&ctx);
	if (r)
		return r;
	kept = atomic_load(&ctx->options[opt]);
	if (!kept)
		return u_report(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
				"option %d has not been set in the current context; aclrtCtxSetSysParamOpt does",
				(int)opt);
	*value = kept - 1;
	return 0;
}

/* ---- cores ---- */

static _Atomic uint32_t device_cores[VINCI_MAX_DEVICES][2]; /* 1 more than the limit; 0: none */
/* A handle and no reference: a stream that has gone limits nothing any more. */
static _Thread_local aclrtStream thread_stream;

static uint32_t all_cores(aclrtDevResLimitType type)
{
	return type == ACL_RT_DEV_RES_CUBE_CORE ? rts_profile()->cube_cores : rts_profile()->vector_cores;
}

static int check_type(aclrtDevResLimitType type)
{
	if ((uint32_t)type <= ACL_RT_DEV_RES_VECTOR_CORE)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "type is %d; aclrtDevResLimitType has 0 and 1", (int)type);
}

static int check_cores(aclrtDevResLimitType type, uint32_t value)
{
	int r = check_type(type);

	if (!r && value > all_cores(type))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "value is %u; a %s has %u such cores", value,
			     rts_profile()->soc, all_cores(type));
	return r;
}

static int check_in_use(uint32_t device)
{
	struct rts_context *ctx = rts_context_peek();

	if (rts_device_primary_active(device) || (ctx && ctx->device == device))
		return 0;
	return u_report(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d is not in use; aclrtSetDevice comes first",
			rts_device_to_user(device));
}

static uint32_t cores_of_device(uint32_t device, aclrtDevResLimitType type)
{
	uint32_t kept = atomic_load(&device_cores[device][type]);

	return kept ? kept - 1 : all_cores(type);
}

int rts_cores_set(uint32_t device, aclrtDevResLimitType type, uint32_t value)
{
	int r = check_type(type);

	if (!r)
		r = check_in_use(device);
	if (!r)
		r = check_cores(type, value);
	if (!r)
		atomic_store(&device_cores[device][type], value + 1);
	return r;
}

int rts_cores_get(uint32_t device, aclrtDevResLimitType type, uint32_t *value)
{
	int r = check_type(type);

	if (!r)
		r = check_in_use(device);
	if (!r)
		*value = cores_of_device(device, type);
	return r;
}

int rts_cores_reset(uint32_t device)
{
	int r = check_in_use(device);

	for (int type = 0; !r && type < 2; type++)
		atomic_store(&device_cores[device][type], 0);
	return r;
}

int rts_stream_cores_set(aclrtStream handle, aclrtDevResLimitType type, uint32_t value)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get_any(handle, &stream);

	if (!r)
		r = check_cores(type, value);
	if (!r)
		atomic_store(&rts_stream_options(stream)->cores[type], value + 1);
	return r;
}

int rts_stream_cores_get(aclrtStream handle, aclrtDevResLimitType type, uint32_t *value)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get_any(handle, &stream);
	uint32_t kept;

	if (!r)
		r = check_type(type);
	if (r)
		return r;
	kept = atomic_load(&rts_stream_options(stream)->cores[type]);
	*value = kept ? kept - 1 : cores_of_device(rts_stream_device(stream), type);
	return 0;
}

int rts_stream_cores_reset(aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get_any(handle, &stream);

	for (int type = 0; !r && type < 2; type++)
		atomic_store(&rts_stream_options(stream)->cores[type], 0);
	return r;
}

int rts_thread_cores_from(aclrtStream handle, bool use)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get_any(handle, &stream);

	if (!r)
		thread_stream = use ? ((struct rts_object *)stream)->handle : NULL;
	return r;
}

/* The limit of the stream that the thread uses; false: it uses none, or that one has no limit. */
static bool cores_of_thread(aclrtDevResLimitType type, uint32_t *value)
{
	struct rts_object *obj = thread_stream ? rts_object_get(thread_stream, RTS_STREAM) : NULL;
	uint32_t kept;

	if (!obj)
		return false;
	kept = atomic_load(&rts_stream_options((struct rts_stream *)obj)->cores[type]);
	rts_object_put(obj);
	if (kept)
		*value = kept - 1;
	return kept;
}

int rts_thread_cores(aclrtDevResLimitType type, uint32_t *value)
{
	struct rts_context *ctx;
	int r = check_type(type);

	if (!r)
		r = rts_context_current(&ctx);
	if (!r && !cores_of_thread(type, value))
		*value = cores_of_device(ctx->device, type);
	return r;
}

/* ---- overflow ---- */

static atomic_uint sat_mode = ACL_RT_OVERFLOW_MODE_SATURATION;
static _Atomic(void *) overflow_memory[VINCI_MAX_DEVICES];

static int overflow_memory_of(uint32_t device, void **address)
{
	void *at = atomic_load(&overflow_memory[device]), *none = NULL;
	int r;

	if (!at) {
		r = rts_small_alloc(device, RTS_OVERFLOW_BYTES, &at);
		if (r)
			return r;
		memset(at, 0, RTS_OVERFLOW_BYTES);
		if (!atomic_compare_exchange_strong(&overflow_memory[device], &none, at)) {
			(void)rts_memory_free(at); /* another thread was faster */
			at = none;
		}
	}
	*address = at;
	return 0;
}

int rts_sat_mode_set(aclrtFloatOverflowMode mode)
{
	if ((uint32_t)mode >= ACL_RT_OVERFLOW_MODE_UNDEF)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "mode is %d; it must be 0 (saturation) or 1 (INF and NaN)",
				(int)mode);
	atomic_store(&sat_mode, (uint32_t)mode);
	return 0;
}

aclrtFloatOverflowMode rts_sat_mode(void)
{
	return (aclrtFloatOverflowMode)atomic_load(&sat_mode);
}

int rts_overflow_switch_set(aclrtStream handle, uint32_t on)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get(handle, &stream);
	void *memory;

	if (!r && on)
		r = overflow_memory_of(rts_stream_device(stream), &memory);
	if (!r)
		atomic_store(&rts_stream_options(stream)->overflow_switch, on);
	return r;
}

int rts_overflow_switch(aclrtStream handle, uint32_t *on)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get(handle, &stream);

	if (!r)
		*on = atomic_load(&rts_stream_options(stream)->overflow_switch);
	return r;
}

int rts_overflow_address(void **address)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	return r ? r : overflow_memory_of(ctx->device, address);
}

_Atomic uint32_t *rts_overflow_counter(struct rts_stream *stream, bool *saturate)
{
	const struct rts_stream_options *options = rts_stream_options(stream);

	*saturate = options->sat_mode == ACL_RT_OVERFLOW_MODE_SATURATION;
	if (!atomic_load(&options->overflow_switch))
		return NULL;
	return atomic_load(&overflow_memory[rts_stream_device(stream)]);
}

int rts_overflow_get(void *out, size_t size, aclrtStream stream)
{
	void *memory;
	int r;

	if (size != RTS_OVERFLOW_BYTES)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "outputSize is %zu; it must be %d", size, RTS_OVERFLOW_BYTES);
	r = rts_overflow_address(&memory);
	return r ? r : rts_copy_async(out, size, memory, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}

int rts_overflow_reset(aclrtStream stream)
{
	void *memory;
	int r = rts_overflow_address(&memory);

	return r ? r : rts_set_async(memory, RTS_OVERFLOW_BYTES, 0, RTS_OVERFLOW_BYTES, stream);
}

void rts_options_device_gone(uint32_t device)
{
	for (int type = 0; type < 2; type++)
		atomic_store(&device_cores[device][type], 0);
	atomic_store(&overflow_memory[device], NULL); /* it goes with the device's memory */
}
