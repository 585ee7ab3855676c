/* SPDX-License-Identifier: MIT */
/* options.c - options, limits on cores, and what arithmetic does on overflow. */
#include "rts/options.h"
#include "rts/memory.h"
#include "rts/stream.h"
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

/* ---- memory of devices that the library keeps for itself ---- */

#define WORDS_BYTES RTS_OVERFLOW_BYTES

/* One piece for each device, made when it is asked for; zeros at first. */
static int words_of(_Atomic(void *) *pieces, uint32_t device, void **address)
{
	void *at = atomic_load(&pieces[device]), *none = NULL;
	int r;

	if (!at) {
		r = rts_small_alloc(device, WORDS_BYTES, &at);
		if (r)
			return r;
		memset(at, 0, WORDS_BYTES);
		if (!atomic_compare_exchange_strong(&pieces[device], &none, at)) {
			(void)rts_memory_free(at); /* another thread was faster */
			at = none;
		}
	}
	*address = at;
	return 0;
}

static _Atomic(void *) sync_memory[VINCI_MAX_DEVICES];

int rts_sync_address(void **address)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	return r ? r : words_of(sync_memory, ctx->device, address);
}

/* ---- overflow ---- */

static atomic_uint sat_mode = ACL_RT_OVERFLOW_MODE_SATURATION;
static _Atomic(void *) overflow_memory[VINCI_MAX_DEVICES];

static int overflow_memory_of(uint32_t device, void **address)
{
	return words_of(overflow_memory, device, address);
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

	if (!r)
		r = rts_stream_check_captured(stream, "told what to do on overflow");
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

static int overflow_stream_check(aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	int r = rts_stream_get_any(handle, &stream);

	return r ? r : rts_stream_check_captured(stream, "asked for overflow");
}

int rts_overflow_get(void *out, size_t size, aclrtStream stream)
{
	void *memory;
	int r = overflow_stream_check(stream);

	if (r)
		return r;

	if (size != RTS_OVERFLOW_BYTES)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "outputSize is %zu; it must be %d", size, RTS_OVERFLOW_BYTES);
	r = rts_overflow_address(&memory);
	return r ? r : rts_copy_async(out, size, memory, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}

int rts_overflow_reset(aclrtStream stream)
{
	void *memory;
	int r = overflow_stream_check(stream);

	if (!r)
		r = rts_overflow_address(&memory);
	return r ? r : rts_set_async(memory, RTS_OVERFLOW_BYTES, 0, RTS_OVERFLOW_BYTES, stream);
}

/* ---- sizes that kernels get ---- */

/*
 * A kernel's stack is a worker's, which is larger than any of these, and what it prints has no bound; so all that is
 * left to do is to tell the size that a card would have given.
 */
#define LIMITS (ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE + 1)
#define KIB 1024u
#define SIMT_THREADS 32u /* that share a stack */

struct limit {
	uint32_t usual, least, most, unit;
};

static const struct limit limits[LIMITS] = {
	[ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE] = { 1152, 0, UINT32_MAX / SIMT_THREADS, 128 },
	[ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE] = { 1024, 0, UINT32_MAX - 128, 128 },
	[ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE] = { 32 * KIB, 0, 192 * KIB, 16 * KIB },
	[ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE] = { 32 * KIB, KIB, 64 * KIB * KIB, 8 },
	[ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE] = { 2 * KIB * KIB, KIB * KIB, 64 * KIB * KIB, 8 },
};

static _Atomic uint32_t limit_set[LIMITS]; /* 1 more than the value; 0: the usual one */

static int check_limit(aclrtDeviceLimit limit)
{
	if (rts_profile()->product & RTS_PRODUCT_950 || limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE ||
	    limit == ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s runs no SIMT kernels, which limit %d is for",
			rts_profile()->soc, (int)limit);
}

static uint32_t limit_value(aclrtDeviceLimit limit)
{
	uint32_t kept = atomic_load(&limit_set[limit]);

	return kept ? kept - 1 : limits[limit].usual;
}

static uint32_t limit_most(aclrtDeviceLimit limit)
{
	if (limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE && rts_profile()->product & RTS_PRODUCT_950)
		return 128 * KIB;
	return limits[limit].most;
}

static int limit_set_check(aclrtDeviceLimit limit, uint32_t value)
{
	const aclrtDeviceLimit other = limit == ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE
					       ? ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE
					       : ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE;

	if (value < limits[limit].least || value > limit_most(limit))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "value is %u; limit %d takes %u to %u bytes", value,
				(int)limit, limits[limit].least, limit_most(limit));
	if (!value && limit <= ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE && !limit_value(other))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"value is 0; the stacks of threads and of branches cannot both be 0");
	return 0;
}

int rts_device_limit_set(aclrtDeviceLimit limit, uint32_t value)
{
	const struct limit *l = &limits[limit];
	int r = check_limit(limit);

	if (!r)
		r = limit_set_check(limit, value);
	if (r)
		return r;
	if (limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE && value < l->usual)
		value = l->usual;
	atomic_store(&limit_set[limit], (value + l->unit - 1) / l->unit * l->unit + 1);
	return 0;
}

int rts_device_limit(aclrtDeviceLimit limit, uint32_t *value)
{
	int r = check_limit(limit);

	if (!r)
		*value = limit_value(limit) * (limit == ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE ? SIMT_THREADS : 1);
	return r;
}

void rts_options_device_gone(uint32_t device)
{
	for (int type = 0; type < 2; type++)
		atomic_store(&device_cores[device][type], 0);
	atomic_store(&overflow_memory[device], NULL); /* they go with the device's memory */
	atomic_store(&sync_memory[device], NULL);
}
