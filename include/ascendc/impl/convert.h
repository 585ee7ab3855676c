/* SPDX-License-Identifier: MIT */
/* Conversions between types, comparisons to bits, selection by them, and reductions. */
#ifndef VINCI_ASCENDC_CONVERT_H
#define VINCI_ASCENDC_CONVERT_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor.h"
#include "vector.h"

namespace AscendC {

/* NONE: rounds to nearest even where something is lost. ODD is left out: only some cards have it. */
enum class RoundMode { CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC };

enum class CMPMODE { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

} // namespace AscendC

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

inline double round_to_integer(double value, AscendC::RoundMode mode)
{
	switch (mode) {
	case AscendC::RoundMode::CAST_FLOOR:
		return std::floor(value);
	case AscendC::RoundMode::CAST_CEIL:
		return std::ceil(value);
	case AscendC::RoundMode::CAST_ROUND:
		return std::round(value);
	case AscendC::RoundMode::CAST_TRUNC:
		return std::trunc(value);
	default:
		return std::nearbyint(value);
	}
}

/* Out of range is the nearest that there is; NaN is 0. */
template <typename D> D to_integer(double value, AscendC::RoundMode mode)
{
	value = round_to_integer(value, mode);
	if (std::isnan(value))
		return 0;
	if (value <= static_cast<double>(std::numeric_limits<D>::min()))
		return std::numeric_limits<D>::min();
	if (value >= static_cast<double>(std::numeric_limits<D>::max()))
		return std::numeric_limits<D>::max();
	return static_cast<D>(value);
}

/*
 * Integers to integers wrap: the low bits stay. Reals to smaller reals round to nearest even whatever the mode; the
 * others differ in the last bit only where a card has them.
 */
template <typename D, typename S> D convert(S value, AscendC::RoundMode mode)
{
	if constexpr (is_real<S> && !is_real<D>)
		return to_integer<D>(static_cast<double>(static_cast<float>(value)), mode);
	else if constexpr (is_real<D>)
		return static_cast<D>(static_cast<float>(value));
	else
		return static_cast<D>(value);
}

template <typename T> bool compare(T a, T b, AscendC::CMPMODE mode)
{
	switch (mode) {
	case AscendC::CMPMODE::LT:
		return a < b;
	case AscendC::CMPMODE::GT:
		return a > b;
	case AscendC::CMPMODE::EQ:
		return a == b;
	case AscendC::CMPMODE::LE:
		return a <= b;
	case AscendC::CMPMODE::GE:
		return a >= b;
	default:
		return a != b;
	}
}

template <typename T, typename F>
void reduce(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, int32_t count, bool index, F better)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *x = src.at(0, n);
	size_t best = 0;

	if (n == 0)
		return;
	for (size_t i = 1; i < n; i++) {
		if (better(static_cast<wide_t<T>>(x[i]), static_cast<wide_t<T>>(x[best])))
			best = i;
	}
	dst.SetValue(0, x[best]);
	if (index) {
		/* As bits, in an element of the tensor's own size. */
		if constexpr (sizeof(T) == sizeof(uint16_t))
			dst.template ReinterpretCast<uint16_t>().SetValue(1, static_cast<uint16_t>(best));
		else
			dst.template ReinterpretCast<uint32_t>().SetValue(1, static_cast<uint32_t>(best));
	}
}

} // namespace vinci_ascendc

namespace AscendC {

template <typename D, typename S>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, const uint32_t count)
{
	const S *x = src.at(0, count);
	D *to = dst.at(0, count);

	for (uint32_t i = 0; i < count; i++)
		to[i] = ::vinci_ascendc::convert<D>(x[i], mode);
}

/* In repeats, as many elements each as the wider type has in one; a mask counts or chooses them. */
template <typename D, typename S, bool isSetMask = true, typename M>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, M mask, const uint8_t repeatTime,
	  const UnaryRepeatParams &p)
{
	using wider = std::conditional_t<(sizeof(D) > sizeof(S)), D, S>;
	::vinci_ascendc::operand<D> to = {dst, p.dstBlkStride, p.dstRepStride};
	::vinci_ascendc::operand<S> from = {src, p.srcBlkStride, p.srcRepStride};

	::vinci_ascendc::each_lane<wider>(::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, [&](size_t r, size_t i) {
		*to.at(r, i) = ::vinci_ascendc::convert<D>(*from.at(r, i), mode);
	});
}

/* Bit i % 8 of dst[i / 8] tells of element i. */
template <typename T>
void Compare(const LocalTensor<uint8_t> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode,
	     uint32_t count)
{
	const T *x = src0.at(0, count);
	const T *y = src1.at(0, count);
	uint8_t *to = dst.at(0, (count + 7) / 8);

	for (uint32_t i = 0; i < count; i++) {
		uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
		bool set = ::vinci_ascendc::compare<::vinci_ascendc::wide_t<T>>(x[i], y[i], mode);

		to[i / 8] = static_cast<uint8_t>(set ? to[i / 8] | bit : to[i / 8] & ~bit);
	}
}

template <typename T>
void CompareScalar(const LocalTensor<uint8_t> &dst, const LocalTensor<T> &src0,
		   const ::vinci_ascendc::same_t<T> &scalar, CMPMODE mode, uint32_t count)
{
	const T *x = src0.at(0, count);
	uint8_t *to = dst.at(0, (count + 7) / 8);

	for (uint32_t i = 0; i < count; i++) {
		uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
		bool set = ::vinci_ascendc::compare<::vinci_ascendc::wide_t<T>>(x[i], scalar, mode);

		to[i / 8] = static_cast<uint8_t>(set ? to[i / 8] | bit : to[i / 8] & ~bit);
	}
}

template <typename T>
void Compares(const LocalTensor<uint8_t> &dst, const LocalTensor<T> &src0, const ::vinci_ascendc::same_t<T> &scalar,
	      CMPMODE mode, uint32_t count)
{
	CompareScalar(dst, src0, scalar, mode, count);
}

/* src0 where the bit is set, else src1. */
template <typename T, typename M>
void Select(const LocalTensor<T> &dst, const LocalTensor<M> &mask, const LocalTensor<T> &src0,
	    const LocalTensor<T> &src1, SELMODE, uint32_t count)
{
	const uint8_t *bits = mask.template ReinterpretCast<uint8_t>().at(0, (count + 7) / 8);
	const T *x = src0.at(0, count);
	const T *y = src1.at(0, count);
	T *to = dst.at(0, count);

	for (uint32_t i = 0; i < count; i++)
		to[i] = bits[i / 8] >> (i % 8) & 1 ? x[i] : y[i];
}

template <typename T, typename M>
void Select(const LocalTensor<T> &dst, const LocalTensor<M> &mask, const LocalTensor<T> &src0,
	    ::vinci_ascendc::same_t<T> src1, SELMODE, uint32_t count)
{
	const uint8_t *bits = mask.template ReinterpretCast<uint8_t>().at(0, (count + 7) / 8);
	const T *x = src0.at(0, count);
	T *to = dst.at(0, count);

	for (uint32_t i = 0; i < count; i++)
		to[i] = bits[i / 8] >> (i % 8) & 1 ? x[i] : src1;
}

/* The sum is kept in float and rounded once; a card adds in pairs, so the last bits of halves may differ. */
template <typename T>
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *x = src.at(0, n);
	float sum = 0;

	static_assert(::vinci_ascendc::is_real<T>, "ReduceSum: half and float");
	for (size_t i = 0; i < n; i++)
		sum += static_cast<float>(x[i]);
	dst.SetValue(0, sum);
}

/* The first of the largest; with calIndex its place follows the value. */
template <typename T>
void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t count,
	       bool calIndex = false)
{
	::vinci_ascendc::reduce(dst, src, count, calIndex, [](auto a, auto b) { return a > b; });
}

template <typename T>
void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t count,
	       bool calIndex = false)
{
	::vinci_ascendc::reduce(dst, src, count, calIndex, [](auto a, auto b) { return a < b; });
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_CONVERT_H */
