/* SPDX-License-Identifier: MIT */
/* half.c - float16 and bfloat16. Done in integers: not every compiler has the types for every machine. */
#include "rts/engine.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

float rts_bfloat_to_float(uint16_t bfloat)
{
	return float_of((uint32_t)bfloat << 16);
}

uint16_t rts_bfloat_from_float(float value)
{
	uint32_t bits = bits_of(value);

	if (isnan(value))
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float rts_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;

	if (exponent == 0x1f)
		return float_of(sign | 0x7f800000 | mantissa << 13);
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
	return copysignf((float)mantissa * 0x1p-24f, float_of(sign | 0x3f800000));
}

/* Drops @shift bits, to nearest and to even between two; a carry runs on into the exponent, as it should. */
static uint32_t drop_bits(uint32_t value, unsigned shift)
{
	uint32_t half = 1u << (shift - 1), rest = value & ((1u << shift) - 1), kept = value >> shift;

	return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t rts_half_from_float(float value)
{
	uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);

	if (isnan(value))
		return sign | 0x7e00;
	if (magnitude >= 0x477ff000) /* would round to 65536 or more */
		return sign | 0x7c00;
	if (exponent >= 113)
		return sign | (uint16_t)drop_bits(magnitude - (112u << 23), 13);
	if (exponent < 102) /* below half of the smallest */
		return sign;
	return sign | (uint16_t)drop_bits((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
}
