/* SPDX-License-Identifier: MIT */
/* reduce.c - dst = dst op src, element by element, as a card's copy engine does it. Integers wrap. */
#include "rts/engine.h"
#include "rts/memory.h"
#include "rts/options.h"
#include "util/cleanup.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SUM_MAX ((uint64_t)4 << 30) /* bytes, as in CANN's runtime */

struct reduce {
	char *dst;
	const char *src;
	uint64_t count; /* elements */
	void (*apply)(const struct reduce *);
	aclrtReduceKind kind;
	bool saturate;			 /* floats: the largest number instead of infinity, 0 instead of NaN */
	_Atomic uint32_t *overflows; /* counts them; NULL: nobody asks */
};

#define KEEP_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define KEEP_SMALLER(a, b) ((a) < (b) ? (a) : (b))

/* The sum is formed in unsigned, where running over is defined. */
#define REDUCE_INTEGER(name, type, utype)                                                                              \
	static void name(const struct reduce *r)                                                                       \
	{                                                                                                              \
		type a, b;                                                                                             \
                                                                                                                       \
		for (uint64_t i = 0; i < r->count; i++) {                                                              \
			memcpy(&a, r->dst + i * sizeof(a), sizeof(a));                                                 \
			memcpy(&b, r->src + i * sizeof(b), sizeof(b));                                                 \
			if (r->kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM)                                               \
				a = (type)(utype)((utype)a + (utype)b);                                                \
			else                                                                                           \
				a = r->kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? KEEP_LARGER(a, b) :                  \
										  KEEP_SMALLER(a, b);                  \
			memcpy(r->dst + i * sizeof(a), &a, sizeof(a));                                                 \
		}                                                                                                      \
	}

REDUCE_INTEGER(reduce_int8, int8_t, uint8_t)
REDUCE_INTEGER(reduce_int16, int16_t, uint16_t)
REDUCE_INTEGER(reduce_int32, int32_t, uint32_t)
REDUCE_INTEGER(reduce_uint32, uint32_t, uint32_t)

/* @largest: of the type. Sums only: a maximum is no larger than what was there. */
static float checked_sum(const struct reduce *r, float a, float b, float largest)
{
	float sum = a + b;

	if (fabsf(sum) <= largest)
		return sum;
	if (r->overflows)
		atomic_fetch_add(r->overflows, 1);
	if (!r->saturate)
		return sum;
	return isnan(sum) ? 0 : copysignf(largest, sum);
}

static float combine(const struct reduce *r, float a, float b, float largest)
{
	if (r->kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM)
		return checked_sum(r, a, b, largest);
	return r->kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? KEEP_LARGER(a, b) : KEEP_SMALLER(a, b);
}

static void reduce_float(const struct reduce *r)
{
	float a, b;

	for (uint64_t i = 0; i < r->count; i++) {
		memcpy(&a, r->dst + i * sizeof(a), sizeof(a));
		memcpy(&b, r->src + i * sizeof(b), sizeof(b));
		a = combine(r, a, b, FLT_MAX);
		memcpy(r->dst + i * sizeof(a), &a, sizeof(a));
	}
}

#define HALF_MAX 65504.0f
#define BFLOAT_MAX 0x1.fep127f

#define REDUCE_SHORT(name, to_float, from_float, largest)                                                              \
	static void name(const struct reduce *r)                                                                       \
	{                                                                                                              \
		uint16_t a, b;                                                                                         \
                                                                                                                       \
		for (uint64_t i = 0; i < r->count; i++) {                                                              \
			memcpy(&a, r->dst + i * sizeof(a), sizeof(a));                                                 \
			memcpy(&b, r->src + i * sizeof(b), sizeof(b));                                                 \
			a = from_float(combine(r, to_float(a), to_float(b), largest));                                 \
			memcpy(r->dst + i * sizeof(a), &a, sizeof(a));                                                 \
		}                                                                                                      \
	}

REDUCE_SHORT(reduce_half, rts_half_to_float, rts_half_from_float, HALF_MAX)
REDUCE_SHORT(reduce_bfloat, rts_bfloat_to_float, rts_bfloat_from_float, BFLOAT_MAX)

#define NEWER (RTS_PRODUCT_A2 | RTS_PRODUCT_A3 | RTS_PRODUCT_950)
#define STARS (NEWER | RTS_PRODUCT_310B)
#define EVERY (STARS | RTS_PRODUCT_310P | RTS_PRODUCT_910)

/* The table of aclrtReduceAsync in CANN's reference. */
static const struct {
	aclDataType type;
	uint32_t size; /* bytes */
	uint32_t products;
	void (*apply)(const struct reduce *);
} types[] = {
	{ ACL_INT8, 1, STARS, reduce_int8 },
	{ ACL_INT16, 2, STARS | RTS_PRODUCT_310P, reduce_int16 },
	{ ACL_INT32, 4, STARS, reduce_int32 },
	{ ACL_UINT32, 4, RTS_PRODUCT_950, reduce_uint32 },
	{ ACL_FLOAT16, 2, STARS | RTS_PRODUCT_310P, reduce_half },
	{ ACL_BF16, 2, NEWER, reduce_bfloat },
	{ ACL_FLOAT, 4, EVERY, reduce_float },
};

static int run_reduce(void *payload, struct rts_stream *stream)
{
	const struct reduce *r = payload;

	(void)stream;
	r->apply(r);
	return 0;
}

static const struct rts_task_type reduce_type = { .name = "reduction", .run = run_reduce, .memory = true };

static int plan(struct reduce *r, uint64_t bytes, aclDataType type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].type != type || !(types[i].products & rts_profile()->product))
			continue;
		if (bytes % types[i].size)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"count is %llu bytes; elements of this type have %u",
					(unsigned long long)bytes, types[i].size);
		r->apply = types[i].apply;
		r->count = bytes / types[i].size;
		return 0;
	}
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "type is %d, which a %s does not reduce", (int)type,
			rts_profile()->soc);
}

static int check_kind(uint64_t count, aclrtReduceKind kind)
{
	if (!count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "count is 0; it must be a positive number of bytes");
	if ((int)kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "kind is %d; aclrtReduceKind has 10 to 13", (int)kind);
	if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL: nothing published says what it computes");
	if (kind != ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM && !(rts_profile()->product & STARS))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind is %d; a %s only sums", (int)kind,
				rts_profile()->soc);
	if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM && count > SUM_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "count is %llu; a sum has at most %llu bytes",
				(unsigned long long)count, (unsigned long long)SUM_MAX);
	return 0;
}

static int check_place(const void *ptr, uint64_t count, const char *what, const struct rts_stream *stream)
{
	struct rts_place place;
	int r = rts_place(ptr, count, what, &place);

	if (r)
		return r;
	if (place.type == ACL_MEM_LOCATION_TYPE_DEVICE && place.device == rts_stream_device(stream))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not memory of the stream's device %d", what, ptr,
			rts_device_to_user(rts_stream_device(stream)));
}

int rts_reduce(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct reduce task = { .dst = dst, .src = src, .kind = kind };
	int r = rts_stream_get(handle, &stream);

	if (!r)
		r = check_kind(count, kind);
	if (!r)
		r = plan(&task, count, type);
	if (!r)
		r = check_place(dst, count, "dst", stream);
	if (!r)
		r = check_place(src, count, "src", stream);
	if (r)
		return r;
	task.overflows = rts_overflow_counter(stream, &task.saturate);
	return rts_stream_submit(stream, &reduce_type, &task, sizeof(task));
}
