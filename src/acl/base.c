/* SPDX-License-Identifier: MIT */
/* base.c - data buffers, half-precision conversions, sizes of types: nothing here needs a device. */
#include "acl/api.h"
#include "acl/acl_base_rt.h"

#include <stdlib.h>
#include <string.h>

struct aclDataBuffer {
	void *data; /* the caller's */
	size_t size;
};

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size)
{
	aclDataBuffer *buffer = malloc(sizeof(*buffer));

	if (!buffer) {
		(void)u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left for a data buffer");
		return NULL;
	}
	buffer->data = data;
	buffer->size = size;
	return buffer;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
	REQUIRE_NOT_NULL(dataBuffer);
	free((aclDataBuffer *)dataBuffer);
	return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
	REQUIRE_NOT_NULL(dataBuffer);
	dataBuffer->data = data;
	dataBuffer->size = size;
	return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
	return dataBuffer ? dataBuffer->data : NULL;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
	return dataBuffer ? (uint32_t)dataBuffer->size : 0;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
	return dataBuffer ? dataBuffer->size : 0;
}

size_t aclDataTypeSize(aclDataType dataType)
{
	switch (dataType) {
	case ACL_DT_UNDEFINED:
	case ACL_STRING:
		return 0;
	case ACL_UINT1: /* packed, but no less than a byte */
	case ACL_INT4:
	case ACL_BOOL:
	case ACL_INT8:
	case ACL_UINT8:
	case ACL_HIFLOAT8:
	case ACL_FLOAT8_E5M2:
	case ACL_FLOAT8_E4M3FN:
	case ACL_FLOAT8_E8M0:
		return 1;
	case ACL_FLOAT16:
	case ACL_INT16:
	case ACL_UINT16:
	case ACL_BF16:
		return 2;
	case ACL_FLOAT:
	case ACL_INT32:
	case ACL_UINT32:
	case ACL_COMPLEX32:
		return 4;
	case ACL_COMPLEX128:
		return 16;
	default: /* as CANN: also what it has no size for */
		return 8;
	}
}

/* ---- halves: 1 bit of sign, 5 of exponent (bias 15), 10 of mantissa --------------------------- */

static float float_from_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* The largest exponent is a number as any other: there is no infinity and no NaN among CANN's halves. */
float aclFloat16ToFloat(aclFloat16 value)
{
	uint32_t sign = (uint32_t)(value & 0x8000) << 16;
	uint32_t exponent = value >> 10 & 0x1f, mantissa = value & 0x3ff;
	unsigned shift;

	if (exponent)
		return float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
	if (!mantissa)
		return float_from_bits(sign);
	shift = (unsigned)__builtin_clz(mantissa) - 21; /* brings the first 1 to the place of the hidden bit */
	return float_from_bits(sign | (113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13);
}

/* Drops @shift bits, to nearest and to even between two; a carry runs on into the exponent, as it should. */
static uint32_t shift_rounded(uint32_t value, unsigned shift)
{
	uint32_t half = 1u << (shift - 1), rest = value & ((1u << shift) - 1), kept = value >> shift;

	return kept + (rest > half || (rest == half && (kept & 1)));
}

aclFloat16 aclFloatToFloat16(float value)
{
	uint32_t bits, magnitude, exponent;
	uint16_t sign;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint16_t)(bits >> 16 & 0x8000);
	magnitude = bits & 0x7fffffff;
	exponent = magnitude >> 23;
	if (magnitude >= 0x477ff000) /* would round to 65536 or more: saturates, infinity and NaN too */
		return sign | 0x7bff;
	if (exponent >= 113)
		return sign | (uint16_t)shift_rounded(magnitude - (112u << 23), 13);
	if (exponent < 102) /* below half of the smallest */
		return sign;
	return sign | (uint16_t)shift_rounded((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
}
