/* SPDX-License-Identifier: MIT */
/*
 * half and bfloat16_t, in software: compilers know the former only for some targets. Arithmetic is that of float,
 * rounded to nearest even where a value is stored. For + - * and / that is what a core computes: float has more than
 * twice the bits.
 */
#ifndef VINCI_ASCENDC_HALF_H
#define VINCI_ASCENDC_HALF_H

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

inline uint32_t float_bits(float f)
{
	uint32_t bits;

	std::memcpy(&bits, &f, sizeof(bits));
	return bits;
}

inline float bits_float(uint32_t bits)
{
	float f;

	std::memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Below 2^-14 a half counts in units of 2^-24: adding 0.5 makes the addition round there. */
inline uint16_t float_to_half(float f)
{
	uint32_t bits = float_bits(f);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t rest = bits & 0x7fffffff;

	if (rest > 0x7f800000)
		return static_cast<uint16_t>(sign | 0x7e00);
	if (rest >= 0x47800000)
		return static_cast<uint16_t>(sign | 0x7c00);
	if (rest < 0x38800000)
		return static_cast<uint16_t>(sign | (float_bits(bits_float(rest) + 0.5f) - float_bits(0.5f)));
	rest += (rest >> 13 & 1) + 0xfff - (112u << 23);
	return static_cast<uint16_t>(sign | rest >> 13);
}

inline float half_to_float(uint16_t half)
{
	uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
	uint32_t rest = half & 0x7fff;

	if (rest >= 0x7c00)
		return bits_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest < 0x400)
		return bits_float(sign | float_bits(static_cast<float>(rest) * (1.0f / 16777216)));
	return bits_float(sign | ((rest << 13) + (112u << 23)));
}

inline uint16_t float_to_bfloat(float f)
{
	uint32_t bits = float_bits(f);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return static_cast<uint16_t>(bits >> 16 | 0x40);
	return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace vinci_ascendc

class half {
public:
	half() = default;
	template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
	half(T value) : bits(::vinci_ascendc::float_to_half(static_cast<float>(value)))
	{
	}
	operator float() const
	{
		return ::vinci_ascendc::half_to_float(bits);
	}

private:
	uint16_t bits;
};

class bfloat16_t {
public:
	bfloat16_t() = default;
	template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
	bfloat16_t(T value) : bits(::vinci_ascendc::float_to_bfloat(static_cast<float>(value)))
	{
	}
	operator float() const
	{
		return ::vinci_ascendc::bits_float(static_cast<uint32_t>(bits) << 16);
	}

private:
	uint16_t bits;
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "as wide as in memory");

#endif /* VINCI_ASCENDC_HALF_H */
