/* SPDX-License-Identifier: MIT */
/*
 * random.c - random numbers on a stream: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"),
 * keyed by the seed and counted from what the counter's memory holds: the same seed and counter give the same numbers.
 * How a card turns the generator's words into numbers is not published: the distributions agree, the bits do not.
 */
#include "rts/engine.h"
#include "rts/memory.h"
#include "util/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_BYTES 16
#define TRUNCATED_AT 2.0 /* standard deviations, as in the operators named "truncated normal" */

struct stream_of_words {
	uint32_t counter[4];
	uint32_t key[2];
};

static void philox_round(uint32_t c[4], const uint32_t k[2])
{
	uint64_t p = (uint64_t)0xD2511F53 * c[0], q = (uint64_t)0xCD9E8D57 * c[2];
	uint32_t c1 = c[1], c3 = c[3];

	c[0] = (uint32_t)(q >> 32) ^ c1 ^ k[0];
	c[1] = (uint32_t)q;
	c[2] = (uint32_t)(p >> 32) ^ c3 ^ k[1];
	c[3] = (uint32_t)p;
}

/* The four words of block @index; @again tells tries for the same index apart. */
static void words_at(const struct stream_of_words *s, uint64_t index, uint32_t again, uint32_t out[4])
{
	uint32_t key[2] = { s->key[0], s->key[1] };
	uint64_t low = s->counter[0] | (uint64_t)s->counter[1] << 32, sum = low + index;
	uint64_t high = (s->counter[2] | (uint64_t)s->counter[3] << 32) + (sum < low);

	out[0] = (uint32_t)sum;
	out[1] = (uint32_t)(sum >> 32);
	out[2] = (uint32_t)high;
	out[3] = (uint32_t)(high >> 32) ^ again;
	for (int i = 0; i < 10; i++) {
		philox_round(out, key);
		key[0] += 0x9E3779B9;
		key[1] += 0xBB67AE85;
	}
}

/* ---- parameters ---- */

static size_t type_size(aclDataType type)
{
	switch (type) {
	case ACL_BF16:
	case ACL_FLOAT16:
		return 2;
	case ACL_INT32:
	case ACL_UINT32:
	case ACL_FLOAT:
		return 4;
	case ACL_INT64:
	case ACL_UINT64:
		return 8;
	default:
		return 0;
	}
}

static bool is_float(aclDataType type)
{
	return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
}

/* The bytes of a parameter, zero-extended; one that is an address holds @size bytes there. */
static uint64_t value_of(const aclrtRandomParaInfo *info, size_t size)
{
	uint64_t value = 0, address;

	if (!info->isAddr) {
		memcpy(&value, info->valueOrAddr, info->size);
		return value;
	}
	memcpy(&address, info->valueOrAddr, sizeof(address));
	memcpy(&value, (const void *)(uintptr_t)address, size);
	return value;
}

static double number_of(const aclrtRandomParaInfo *info, aclDataType type)
{
	uint64_t bits = value_of(info, type_size(type));
	uint32_t word = (uint32_t)bits;
	float f;

	if (type == ACL_FLOAT16)
		return rts_half_to_float((uint16_t)bits);
	if (type == ACL_BF16)
		return rts_bfloat_to_float((uint16_t)bits);
	memcpy(&f, &word, sizeof(f));
	return f;
}

/* ---- drawing ---- */

static void store_float(void *out, size_t i, aclDataType type, double value)
{
	float f = (float)value;
	uint16_t h = type == ACL_BF16 ? rts_bfloat_from_float(f) : rts_half_from_float(f);

	if (type == ACL_FLOAT)
		memcpy((char *)out + i * sizeof(f), &f, sizeof(f));
	else
		memcpy((char *)out + i * sizeof(h), &h, sizeof(h));
}

/* 24 bits: what a float can tell apart. */
static double unit(uint32_t word)
{
	return (word >> 8) * 0x1p-24;
}

static void draw_bits(const aclrtRandomNumTaskInfo *info, const struct stream_of_words *s, uint64_t count)
{
	double ratio = number_of(&info->randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation, info->dataType);
	uint8_t *out = info->randomResultAddr;
	uint32_t words[4];

	memset(out, 0, (count + 7) / 8);
	for (uint64_t i = 0; i < count; i++) {
		if (i % 4 == 0)
			words_at(s, i / 4, 0, words);
		if (unit(words[i % 4]) >= ratio)
			out[i / 8] |= (uint8_t)(1u << (i % 8));
	}
}

static void draw_uniform_floats(const aclrtRandomNumTaskInfo *info, const struct stream_of_words *s, uint64_t count)
{
	const aclrtUniformDisInfo *range = &info->randomNumFuncParaInfo.paramInfo.uniformDisInfo;
	double min = number_of(&range->min, info->dataType), max = number_of(&range->max, info->dataType);
	uint32_t words[4];

	for (uint64_t i = 0; i < count; i++) {
		if (i % 4 == 0)
			words_at(s, i / 4, 0, words);
		store_float(info->randomResultAddr, i, info->dataType, min + unit(words[i % 4]) * (max - min));
	}
}

/* From min on, below max. The difference is taken in unsigned: right for signed types too. */
static void draw_integers(const aclrtRandomNumTaskInfo *info, const struct stream_of_words *s, uint64_t count)
{
	const aclrtUniformDisInfo *range = &info->randomNumFuncParaInfo.paramInfo.uniformDisInfo;
	size_t size = type_size(info->dataType);
	uint64_t min = value_of(&range->min, size), span = value_of(&range->max, size) - min, value;
	uint32_t words[4];

	if (size == 4)
		span = (uint32_t)span;
	for (uint64_t i = 0; i < count; i++) {
		if (i % 2 == 0)
			words_at(s, i / 2, 0, words);
		value = words[i % 2 * 2] | (uint64_t)words[i % 2 * 2 + 1] << 32;
		value = min + (span ? value % span : 0);
		memcpy((char *)info->randomResultAddr + i * size, &value, size); /* little-endian, as both machines are */
	}
}

/* Box and Muller's transform of two words. */
static double normal(uint32_t a, uint32_t b)
{
	return sqrt(-2.0 * log((a + 1.0) * 0x1p-32)) * cos(6.283185307179586 * b * 0x1p-32);
}

static double truncated(const struct stream_of_words *s, uint64_t index)
{
	uint32_t words[4], again = 0;
	double value;

	do {
		words_at(s, index, again, words);
		again++;
		value = normal(words[0], words[1]);
		if (fabs(value) > TRUNCATED_AT)
			value = normal(words[2], words[3]);
	} while (fabs(value) > TRUNCATED_AT);
	return value;
}

static void draw_normal(const aclrtRandomNumTaskInfo *info, const struct stream_of_words *s, uint64_t count)
{
	const aclrtNormalDisInfo *shape = &info->randomNumFuncParaInfo.paramInfo.normalDisInfo;
	double mean = number_of(&shape->mean, info->dataType), deviation = number_of(&shape->stddev, info->dataType);
	bool cut = info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
	uint32_t words[4];
	double value;

	for (uint64_t i = 0; i < count; i++) {
		if (!cut && i % 2 == 0)
			words_at(s, i / 2, 0, words);
		value = cut ? truncated(s, i) : normal(words[i % 2 * 2], words[i % 2 * 2 + 1]);
		store_float(info->randomResultAddr, i, info->dataType, mean + deviation * value);
	}
}

static void draw(const aclrtRandomNumTaskInfo *info, uint64_t count)
{
	uint64_t seed = value_of(&info->randomSeed, sizeof(seed));
	struct stream_of_words s = { .key = { (uint32_t)seed, (uint32_t)(seed >> 32) } };

	memcpy(s.counter, info->randomCounterAddr, sizeof(s.counter));
	switch (info->randomNumFuncParaInfo.funcType) {
	case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK:
		draw_bits(info, &s, count);
		break;
	case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS:
		if (is_float(info->dataType))
			draw_uniform_floats(info, &s, count);
		else
			draw_integers(info, &s, count);
		break;
	default:
		draw_normal(info, &s, count);
	}
}

/* Bytes of @count results; SIZE_MAX when that is more than there can be. */
static size_t result_bytes(const aclrtRandomNumTaskInfo *info, uint64_t count)
{
	size_t size = type_size(info->dataType);

	if (info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK)
		return count / 8 + (count % 8 != 0);
	return count > SIZE_MAX / size ? SIZE_MAX : count * size;
}

/* ---- the task ---- */

static int run_random(void *payload, struct rts_stream *stream)
{
	const aclrtRandomNumTaskInfo *info = *(aclrtRandomNumTaskInfo **)payload;
	uint64_t count = value_of(&info->randomNum, sizeof(count));

	if (!rts_task_reaches(stream, info->randomResultAddr, result_bytes(info, count))) {
		rts_stream_explain(stream, "%llu random numbers at %p do not fit memory of the stream's device",
				   (unsigned long long)count, info->randomResultAddr);
		return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	}
	draw(info, count);
	return 0;
}

static void drop_random(void *payload)
{
	free(*(void **)payload);
}

static const struct rts_task_type random_type = {
	.name = "random numbers", .run = run_random, .drop = drop_random, .memory = true,
};

static int check_device(const void *ptr, size_t len, const char *what, const struct rts_stream *stream)
{
	struct rts_place place;
	int r = rts_place(ptr, len, what, &place);

	if (!r && (place.type != ACL_MEM_LOCATION_TYPE_DEVICE || place.device != rts_stream_device(stream)))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not memory of the stream's device", what, ptr);
	return r;
}

static int check_param(const aclrtRandomParaInfo *info, size_t size, const char *what, const struct rts_stream *stream)
{
	size_t most = info->isAddr ? sizeof(uint64_t) : size;
	uint64_t address;

	if (info->isAddr > 1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s.isAddr is %u; it must be 0 or 1", what, info->isAddr);
	if (!info->size || info->size > most)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s.size is %u; it must be from 1 to %zu", what, info->size,
				most);
	if (!info->isAddr)
		return 0;
	memcpy(&address, info->valueOrAddr, sizeof(address));
	return check_device((const void *)(uintptr_t)address, size, what, stream);
}

static int check_shape(const aclrtRandomNumTaskInfo *info, const struct rts_stream *stream)
{
	const aclrtRandomNumFuncParaInfo *f = &info->randomNumFuncParaInfo;
	size_t size = type_size(info->dataType);
	int r;

	switch (f->funcType) {
	case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK:
		return check_param(&f->paramInfo.dropoutBitmaskInfo.dropoutRation, size, "dropoutRation", stream);
	case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS:
		r = check_param(&f->paramInfo.uniformDisInfo.min, size, "min", stream);
		return r ? r : check_param(&f->paramInfo.uniformDisInfo.max, size, "max", stream);
	default:
		r = check_param(&f->paramInfo.normalDisInfo.mean, size, "mean", stream);
		return r ? r : check_param(&f->paramInfo.normalDisInfo.stddev, size, "stddev", stream);
	}
}

static int check_types(const aclrtRandomNumTaskInfo *info)
{
	aclrtRandomNumFuncType f = info->randomNumFuncParaInfo.funcType;

	if ((uint32_t)f > ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "funcType is %d; aclrtRandomNumFuncType has 0 to 3", (int)f);
	if (!type_size(info->dataType) ||
	    (f != ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS && !is_float(info->dataType)))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"dataType is %d; it must be float32, float16 or bfloat16%s", (int)info->dataType,
				f == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS ? ", or an integer of 32 or 64 bits" : "");
	if (!info->randomCounterAddr || !info->randomResultAddr)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL",
				info->randomCounterAddr ? "randomResultAddr" : "randomCounterAddr");
	return 0;
}

static int check_info(const aclrtRandomNumTaskInfo *info, const struct rts_stream *stream)
{
	int r = check_types(info);

	if (!r)
		r = check_param(&info->randomSeed, sizeof(uint64_t), "randomSeed", stream);
	if (!r)
		r = check_param(&info->randomNum, sizeof(uint64_t), "randomNum", stream);
	if (!r)
		r = check_shape(info, stream);
	if (!r)
		r = check_device(info->randomCounterAddr, COUNTER_BYTES, "randomCounterAddr", stream);
	return r ? r : check_device(info->randomResultAddr, 1, "randomResultAddr", stream);
}

int rts_random(const aclrtRandomNumTaskInfo *info, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	aclrtRandomNumTaskInfo *copy;
	int r = rts_stream_get(handle, &stream);

	if (!r)
		r = check_info(info, stream);
	if (r)
		return r;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory is left for a task");
	*copy = *info;
	r = rts_stream_submit(stream, &random_type, &copy, sizeof(copy));
	if (r)
		free(copy);
	return r;
}
