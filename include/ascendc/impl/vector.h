/* SPDX-License-Identifier: MIT */
/*
 * Vector instructions, element by element: on the first `count` elements, or in repeats of 256 bytes whose blocks of 32
 * bytes lie apart by strides, with a mask that says which elements of a repeat take part. half and bfloat16_t are
 * computed as float.
 */
#ifndef VINCI_ASCENDC_VECTOR_H
#define VINCI_ASCENDC_VECTOR_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "buffer.h"
#include "half.h"
#include "tensor.h"

namespace AscendC {

/* Strides in blocks of 32 bytes: within a repeat and from one repeat to the next. */
struct BinaryRepeatParams {
	uint8_t dstBlkStride = 1;
	uint8_t src0BlkStride = 1;
	uint8_t src1BlkStride = 1;
	uint8_t dstRepStride = 8;
	uint8_t src0RepStride = 8;
	uint8_t src1RepStride = 8;

	BinaryRepeatParams() = default;
	BinaryRepeatParams(uint8_t db, uint8_t s0b, uint8_t s1b, uint8_t dr, uint8_t s0r, uint8_t s1r)
		: dstBlkStride(db), src0BlkStride(s0b), src1BlkStride(s1b), dstRepStride(dr), src0RepStride(s0r),
		  src1RepStride(s1r)
	{
	}
};

struct UnaryRepeatParams {
	uint16_t dstBlkStride = 1;
	uint16_t srcBlkStride = 1;
	uint8_t dstRepStride = 8;
	uint8_t srcRepStride = 8;

	UnaryRepeatParams() = default;
	UnaryRepeatParams(uint16_t db, uint16_t sb, uint8_t dr, uint8_t sr)
		: dstBlkStride(db), srcBlkStride(sb), dstRepStride(dr), srcRepStride(sr)
	{
	}
};

} // namespace AscendC

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

constexpr size_t repeat_bytes = 256;

template <typename T> struct wide {
	using type = T;
};
template <> struct wide<half> {
	using type = float;
};
template <> struct wide<bfloat16_t> {
	using type = float;
};
template <typename T> using wide_t = typename wide<T>::type;

/* A scalar converts to the tensor's type instead of taking part in finding it. */
template <typename T> struct same {
	using type = T;
};
template <typename T> using same_t = typename same<T>::type;

template <typename T> constexpr bool is_real = std::is_floating_point_v<wide_t<T>>;
template <typename T, typename... A> constexpr bool is_one_of = (std::is_same_v<T, A> || ...);
template <typename T> constexpr bool is_arithmetic = is_one_of<T, half, float, int16_t, int32_t, bfloat16_t>;
template <typename T> constexpr bool is_bits = is_one_of<T, int16_t, uint16_t, int32_t, uint32_t>;

/* Which elements of a repeat take part: the first @count, or those whose bits are set. */
struct lanes {
	uint64_t bits[2];
	bool counted = false; /* bits[0] is the number of elements of all repeats */

	explicit lanes(uint64_t count)
		: bits{count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1,
		       count >= 128 ? ~uint64_t{0} : count > 64 ? (uint64_t{1} << (count - 64)) - 1 : 0}
	{
	}
	explicit lanes(const uint64_t *mask) : bits{mask[0], mask[1]}
	{
	}
	bool has(size_t i) const
	{
		return i < 128 && (bits[i / 64] >> (i % 64) & 1);
	}
};

/* What SetVectorMask(), SetMaskCount() and SetMaskNorm() have set; a core begins a kernel with all. */
inline thread_local uint64_t vector_mask[2] = {~uint64_t{0}, ~uint64_t{0}};
inline thread_local bool mask_counts = false;

/* The mask of an instruction: the one it is given, or the one that was set before. */
template <bool given, typename M> lanes chosen(M mask)
{
	if (mask_counts && given)
		fail("SetMaskCount is in force: an instruction has to have isSetMask false");
	if constexpr (!given) {
		lanes set(vector_mask);

		set.counted = mask_counts;
		return set;
	} else if constexpr (std::is_pointer_v<M>) {
		return lanes(static_cast<const uint64_t *>(mask));
	} else {
		return lanes(mask > 0 ? static_cast<uint64_t>(mask) : 0);
	}
}

/* Where the elements of an operand of a repeated instruction are. */
template <typename T> struct operand {
	const AscendC::LocalTensor<T> &tensor;
	size_t block, repeat; /* strides, in blocks */

	T *at(size_t r, size_t i) const
	{
		constexpr size_t per_block = data_block / sizeof(T);

		return tensor.at((r * repeat + i / per_block * block) * per_block + i % per_block, 1);
	}
};

template <typename D, typename F> void each_lane(const lanes &mask, size_t repeats, F f)
{
	constexpr size_t per_repeat = repeat_bytes / sizeof(D);

	if (mask.counted) {
		for (size_t i = 0; i < mask.bits[0]; i++)
			f(i / per_repeat, i % per_repeat);
		return;
	}
	for (size_t r = 0; r < repeats; r++) {
		for (size_t i = 0; i < per_repeat; i++) {
			if (mask.has(i))
				f(r, i);
		}
	}
}

struct op_add {
	template <typename W> W operator()(W a, W b) const
	{
		if constexpr (std::is_integral_v<W>)
			return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
		else
			return a + b;
	}
};
struct op_sub {
	template <typename W> W operator()(W a, W b) const
	{
		if constexpr (std::is_integral_v<W>)
			return static_cast<W>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
		else
			return a - b;
	}
};
struct op_mul {
	template <typename W> W operator()(W a, W b) const
	{
		if constexpr (std::is_integral_v<W>)
			return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
		else
			return a * b;
	}
};
struct op_div {
	template <typename W> W operator()(W a, W b) const
	{
		return a / b;
	}
};
struct op_max {
	template <typename W> W operator()(W a, W b) const
	{
		return a < b ? b : a;
	}
};
struct op_min {
	template <typename W> W operator()(W a, W b) const
	{
		return b < a ? b : a;
	}
};
struct op_and {
	template <typename W> W operator()(W a, W b) const
	{
		return static_cast<W>(a & b);
	}
};
struct op_or {
	template <typename W> W operator()(W a, W b) const
	{
		return static_cast<W>(a | b);
	}
};
struct op_add_relu {
	template <typename W> W operator()(W a, W b) const
	{
		return op_max()(op_add()(a, b), W(0));
	}
};
struct op_sub_relu {
	template <typename W> W operator()(W a, W b) const
	{
		return op_max()(op_sub()(a, b), W(0));
	}
};
struct op_leaky {
	template <typename W> W operator()(W a, W slope) const
	{
		return a < W(0) ? a * slope : a;
	}
};
struct op_left {
	template <typename W> W operator()(W a, W by) const
	{
		return by >= W(8 * sizeof(W)) ? W(0) : static_cast<W>(static_cast<uint64_t>(a) << by);
	}
};
struct op_right {
	template <typename W> W operator()(W a, W by) const
	{
		return static_cast<W>(a >> (by >= W(8 * sizeof(W)) ? W(8 * sizeof(W) - 1) : by));
	}
};
struct op_abs {
	template <typename W> W operator()(W a) const
	{
		return std::fabs(a);
	}
};
struct op_exp {
	template <typename W> W operator()(W a) const
	{
		return std::exp(a);
	}
};
struct op_ln {
	template <typename W> W operator()(W a) const
	{
		return std::log(a);
	}
};
struct op_sqrt {
	template <typename W> W operator()(W a) const
	{
		return std::sqrt(a);
	}
};
struct op_rsqrt {
	template <typename W> W operator()(W a) const
	{
		return W(1) / std::sqrt(a);
	}
};
struct op_reciprocal {
	template <typename W> W operator()(W a) const
	{
		return W(1) / a;
	}
};
struct op_relu {
	template <typename W> W operator()(W a) const
	{
		return op_max()(a, W(0));
	}
};
struct op_not {
	template <typename W> W operator()(W a) const
	{
		return static_cast<W>(~a);
	}
};

template <typename Op, typename T>
void binary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &a, const AscendC::LocalTensor<T> &b,
	    int32_t count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *x = a.at(0, n);
	const T *y = b.at(0, n);
	T *to = dst.at(0, n);

	for (size_t i = 0; i < n; i++)
		to[i] = static_cast<T>(Op()(static_cast<wide_t<T>>(x[i]), static_cast<wide_t<T>>(y[i])));
}

template <typename Op, typename T>
void binary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &a, const AscendC::LocalTensor<T> &b,
	    const lanes &mask, uint8_t repeats, const AscendC::BinaryRepeatParams &p)
{
	operand<T> to = {dst, p.dstBlkStride, p.dstRepStride};
	operand<T> x = {a, p.src0BlkStride, p.src0RepStride};
	operand<T> y = {b, p.src1BlkStride, p.src1RepStride};

	each_lane<T>(mask, repeats, [&](size_t r, size_t i) {
		*to.at(r, i) =
			static_cast<T>(Op()(static_cast<wide_t<T>>(*x.at(r, i)), static_cast<wide_t<T>>(*y.at(r, i))));
	});
}

template <typename T, typename F>
void unary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, int32_t count, F f)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *x = src.at(0, n);
	T *to = dst.at(0, n);

	for (size_t i = 0; i < n; i++)
		to[i] = static_cast<T>(f(static_cast<wide_t<T>>(x[i])));
}

template <typename T, typename F>
void unary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const lanes &mask, uint8_t repeats,
	   const AscendC::UnaryRepeatParams &p, F f)
{
	operand<T> to = {dst, p.dstBlkStride, p.dstRepStride};
	operand<T> x = {src, p.srcBlkStride, p.srcRepStride};

	each_lane<T>(mask, repeats, [&](size_t r, size_t i) {
		*to.at(r, i) = static_cast<T>(f(static_cast<wide_t<T>>(*x.at(r, i))));
	});
}

/* An operation with a scalar as its second operand. */
template <typename Op, typename T> struct with_scalar {
	wide_t<T> scalar;

	wide_t<T> operator()(wide_t<T> a) const
	{
		return Op()(a, scalar);
	}
};

} // namespace vinci_ascendc

namespace AscendC {

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

constexpr uint64_t MASK_PLACEHOLDER = 0;

/* For instructions with isSetMask false: the mask chooses elements of each repeat, or counts those of all. */
inline void SetMaskNorm()
{
	::vinci_ascendc::mask_counts = false;
}

inline void SetMaskCount()
{
	::vinci_ascendc::mask_counts = true;
}

template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(const uint64_t high, const uint64_t low)
{
	::vinci_ascendc::vector_mask[0] = low;
	::vinci_ascendc::vector_mask[1] = high;
}

template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(int32_t length)
{
	const uint64_t count = static_cast<uint64_t>(length > 0 ? length : 0);
	const ::vinci_ascendc::lanes first(count);

	if (mode == MaskMode::COUNTER)
		SetVectorMask<T, mode>(0, count);
	else
		SetVectorMask<T, mode>(first.bits[1], first.bits[0]);
}

inline void ResetMask()
{
	SetVectorMask<half>(~uint64_t{0}, ~uint64_t{0});
}

/* The three forms of an instruction: elements, repeats with a number of elements, repeats with bits. */
#define VINCI_ASCENDC_BINARY(name, op, types)                                                                          \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                   \
		  const int32_t &count)                                                                                \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::binary<::vinci_ascendc::op>(dst, src0, src1, count);                                  \
	}                                                                                                              \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask,    \
		  const uint8_t repeatTime, const BinaryRepeatParams &params)                                          \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::binary<::vinci_ascendc::op>(dst, src0, src1, ::vinci_ascendc::chosen<isSetMask>(mask), \
							     repeatTime, params);                                      \
	}                                                                                                              \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                   \
		  const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &params)                   \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::binary<::vinci_ascendc::op>(dst, src0, src1, ::vinci_ascendc::chosen<isSetMask>(mask), \
							     repeatTime, params);                                      \
	}

#define VINCI_ASCENDC_UNARY(name, op, types)                                                                           \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count)                          \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::unary(dst, src, count, ::vinci_ascendc::op());                                        \
	}                                                                                                              \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const uint8_t repeatTime,       \
		  const UnaryRepeatParams &params)                                                                     \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::unary(dst, src, ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, params,         \
				       ::vinci_ascendc::op());                                                         \
	}                                                                                                              \
	template <typename T, bool isSetMask = true>                                                                   \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[],                         \
		  const uint8_t repeatTime, const UnaryRepeatParams &params)                                           \
	{                                                                                                              \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type");                      \
		::vinci_ascendc::unary(dst, src, ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, params,         \
				       ::vinci_ascendc::op());                                                         \
	}

#define VINCI_ASCENDC_SCALAR(name, op, types) \
	template <typename T, bool isSetMask = true> \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const ::vinci_ascendc::same_t<T> &scalar, \
		  const int32_t &count) \
	{ \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type"); \
		::vinci_ascendc::unary(dst, src, count, ::vinci_ascendc::with_scalar<::vinci_ascendc::op, T>{scalar}); \
	} \
	template <typename T, bool isSetMask = true> \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const ::vinci_ascendc::same_t<T> &scalar, \
		  uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams &params) \
	{ \
		static_assert(::vinci_ascendc::types<T>, #name ": no card has it for this type"); \
		::vinci_ascendc::unary(dst, src, ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, params, \
				       ::vinci_ascendc::with_scalar<::vinci_ascendc::op, T>{scalar}); \
	}

VINCI_ASCENDC_BINARY(Add, op_add, is_arithmetic)
VINCI_ASCENDC_BINARY(Sub, op_sub, is_arithmetic)
VINCI_ASCENDC_BINARY(Mul, op_mul, is_arithmetic)
VINCI_ASCENDC_BINARY(Div, op_div, is_real)
VINCI_ASCENDC_BINARY(Max, op_max, is_arithmetic)
VINCI_ASCENDC_BINARY(Min, op_min, is_arithmetic)
VINCI_ASCENDC_BINARY(And, op_and, is_bits)
VINCI_ASCENDC_BINARY(Or, op_or, is_bits)
VINCI_ASCENDC_BINARY(AddRelu, op_add_relu, is_arithmetic)
VINCI_ASCENDC_BINARY(SubRelu, op_sub_relu, is_arithmetic)

VINCI_ASCENDC_UNARY(Abs, op_abs, is_real)
VINCI_ASCENDC_UNARY(Exp, op_exp, is_real)
VINCI_ASCENDC_UNARY(Ln, op_ln, is_real)
VINCI_ASCENDC_UNARY(Sqrt, op_sqrt, is_real)
VINCI_ASCENDC_UNARY(Rsqrt, op_rsqrt, is_real)
VINCI_ASCENDC_UNARY(Reciprocal, op_reciprocal, is_real)
VINCI_ASCENDC_UNARY(Relu, op_relu, is_arithmetic)
VINCI_ASCENDC_UNARY(Not, op_not, is_bits)

VINCI_ASCENDC_SCALAR(Adds, op_add, is_arithmetic)
VINCI_ASCENDC_SCALAR(Muls, op_mul, is_arithmetic)
VINCI_ASCENDC_SCALAR(Maxs, op_max, is_arithmetic)
VINCI_ASCENDC_SCALAR(Mins, op_min, is_arithmetic)
VINCI_ASCENDC_SCALAR(LeakyRelu, op_leaky, is_real)
VINCI_ASCENDC_SCALAR(ShiftLeft, op_left, is_bits)
VINCI_ASCENDC_SCALAR(ShiftRight, op_right, is_bits)

#undef VINCI_ASCENDC_BINARY
#undef VINCI_ASCENDC_UNARY
#undef VINCI_ASCENDC_SCALAR

/* dst += src * scalar */
template <typename T, typename U>
void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, const int32_t &count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const U *x = src.at(0, n);
	T *to = dst.at(0, n);

	for (size_t i = 0; i < n; i++)
		to[i] = static_cast<T>(static_cast<float>(to[i]) +
				       static_cast<float>(x[i]) * static_cast<float>(scalar));
}

template <typename T>
void Duplicate(const LocalTensor<T> &dst, const ::vinci_ascendc::same_t<T> &scalar, const int32_t &count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	T *to = dst.at(0, n);

	for (size_t i = 0; i < n; i++)
		to[i] = scalar;
}

/* dst[i] = first + i */
template <typename T>
void CreateVecIndex(const LocalTensor<T> &dst, const ::vinci_ascendc::same_t<T> &first, uint32_t count)
{
	T *to = dst.at(0, count);

	for (uint32_t i = 0; i < count; i++)
		to[i] = static_cast<T>(static_cast<::vinci_ascendc::wide_t<T>>(first) +
				       static_cast<::vinci_ascendc::wide_t<T>>(i));
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_VECTOR_H */
