/* SPDX-License-Identifier: MIT */
/*
 * Reductions within a repeat of 256 bytes: of all of it, of each block of 32 bytes, and of neighbours. Sums are made as
 * cores make them, in pairs of pairs, each rounded to the type.
 */
#ifndef VINCI_ASCENDC_REDUCE_H
#define VINCI_ASCENDC_REDUCE_H

#include <cstddef>
#include <cstdint>

#include "tensor.h"
#include "vector.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM, MAX, MIN };

/* What of an extreme is stored, and in which order. */
enum class ReduceOrder { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

} // namespace AscendC

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

template <typename T> constexpr size_t per_repeat = repeat_bytes / sizeof(T);
template <typename T> constexpr size_t per_block = data_block / sizeof(T);

/* One repeat's elements, and which of them take part. */
template <typename T> struct repeat {
	T value[per_repeat<T>];
	bool used[per_repeat<T>];

	repeat(const operand<T> &src, size_t r, const lanes &mask)
	{
		for (size_t i = 0; i < per_repeat<T>; i++) {
			used[i] = mask.has(i);
			value[i] = used[i] ? *src.at(r, i) : T(0);
		}
	}

	/* Of @n elements, a power of two, from @from on. */
	T sum(size_t from, size_t n) const
	{
		if (n == 1)
			return value[from];
		return static_cast<T>(static_cast<wide_t<T>>(sum(from, n / 2)) +
				      static_cast<wide_t<T>>(sum(from + n / 2, n / 2)));
	}

	/* The first of the greatest (or least) of those that take part; false: none does. */
	bool extreme(size_t from, size_t n, bool least, size_t *best) const
	{
		bool found = false;

		for (size_t i = from; i < from + n; i++) {
			if (!used[i])
				continue;
			if (!found || (least ? static_cast<wide_t<T>>(value[i]) < static_cast<wide_t<T>>(value[*best])
					     : static_cast<wide_t<T>>(value[i]) > static_cast<wide_t<T>>(value[*best])))
				*best = i;
			found = true;
		}
		return found;
	}

	bool reduce(AscendC::ReduceType type, size_t from, size_t n, T *out) const
	{
		size_t best = 0;

		if (type == AscendC::ReduceType::SUM) {
			*out = sum(from, n);
			return true;
		}
		if (!extreme(from, n, type == AscendC::ReduceType::MIN, &best))
			return false;
		*out = value[best];
		return true;
	}
};

template <typename T>
void store_extreme(const AscendC::LocalTensor<T> &dst, size_t at, T value, size_t index, AscendC::ReduceOrder order)
{
	using bits = std::conditional_t<sizeof(T) == sizeof(uint16_t), uint16_t, uint32_t>;
	bool index_first = order == AscendC::ReduceOrder::ORDER_INDEX_VALUE;
	auto words = dst.template ReinterpretCast<bits>();

	if (order == AscendC::ReduceOrder::ORDER_ONLY_VALUE) {
		*dst.at(at, 1) = value;
	} else if (order == AscendC::ReduceOrder::ORDER_ONLY_INDEX) {
		*dst.template ReinterpretCast<uint32_t>().at(at, 1) = static_cast<uint32_t>(index);
	} else {
		*dst.at(2 * at + index_first, 1) = value;
		*words.at(2 * at + !index_first, 1) = static_cast<bits>(index);
	}
}

template <AscendC::ReduceType type, typename T>
void reduce_repeats(const AscendC::LocalTensor<T> &dst, const operand<T> &src, const lanes &mask, int32_t repeats,
		    int32_t stride, AscendC::ReduceOrder order)
{
	static_assert(is_one_of<T, half, float>, "reductions of a repeat: half and float");
	if (mask.counted)
		fail("a reduction of repeats while SetMaskCount is in force");
	for (size_t r = 0; r < static_cast<size_t>(repeats > 0 ? repeats : 0); r++) {
		const repeat<T> in(src, r, mask);
		size_t at = r * static_cast<size_t>(stride), best = 0;

		if (type == AscendC::ReduceType::SUM)
			*dst.at(at, 1) = in.sum(0, per_repeat<T>);
		else if (in.extreme(0, per_repeat<T>, type == AscendC::ReduceType::MIN, &best))
			store_extreme(dst, at, in.value[best], best, order);
	}
}

/* Each @n elements to one; a repeat's results are @stride times their number apart. */
template <AscendC::ReduceType type, typename T>
void reduce_groups(const AscendC::LocalTensor<T> &dst, const operand<T> &src, const lanes &mask, int32_t repeats,
		   int32_t stride, size_t n)
{
	constexpr size_t all = per_repeat<T>;

	static_assert(is_one_of<T, half, float>, "reductions of a repeat: half and float");
	if (mask.counted)
		fail("a reduction of repeats while SetMaskCount is in force");
	for (size_t r = 0; r < static_cast<size_t>(repeats > 0 ? repeats : 0); r++) {
		const repeat<T> in(src, r, mask);

		for (size_t group = 0; group < all / n; group++) {
			T value;

			if (in.reduce(type, group * n, n, &value))
				*dst.at(r * static_cast<size_t>(stride) * (all / n) + group, 1) = value;
		}
	}
}

template <typename T> operand<T> strided(const AscendC::LocalTensor<T> &tensor, int32_t block, int32_t repeat)
{
	return {tensor, static_cast<size_t>(block), static_cast<size_t>(repeat)};
}

} // namespace vinci_ascendc

namespace AscendC {

/* M: the number of elements that take part, or their bits. */
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask, const int32_t repeatTime,
		  const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
		  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)
{
	static_assert(std::is_same_v<T, U>, "ReduceRepeat: no card of this kind has it for two types");
	::vinci_ascendc::reduce_repeats<type>(dst, ::vinci_ascendc::strided(src, srcBlkStride, srcRepStride),
					      ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, dstRepStride, order);
}

template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask, const int32_t repeatTime,
		     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)
{
	static_assert(std::is_same_v<T, U>, "ReduceDataBlock: no card of this kind has it for two types");
	::vinci_ascendc::reduce_groups<type>(dst, ::vinci_ascendc::strided(src, srcBlkStride, srcRepStride),
					     ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, dstRepStride,
					     ::vinci_ascendc::per_block<T>);
}

template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, M mask, const int32_t repeatTime,
		    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)
{
	static_assert(std::is_same_v<T, U> && type == ReduceType::SUM, "ReducePairElem: sums of one type");
	::vinci_ascendc::reduce_groups<type>(dst, ::vinci_ascendc::strided(src, srcBlkStride, srcRepStride),
					     ::vinci_ascendc::chosen<isSetMask>(mask), repeatTime, dstRepStride, 2);
}

/* The same under the names that they had before, and with the order of parameters that each had. */
template <typename T, bool isSetMask = true, typename M>
void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, const int32_t repeatTime,
		    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)
{
	ReduceRepeat<ReduceType::SUM, T, T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
						       srcRepStride);
}

template <typename T, bool isSetMask = true, typename M>
void WholeReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, const int32_t repeatTime,
		    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
		    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)
{
	ReduceRepeat<ReduceType::MAX, T, T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
						       srcRepStride, order);
}

template <typename T, bool isSetMask = true, typename M>
void WholeReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, const int32_t repeatTime,
		    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
		    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)
{
	ReduceRepeat<ReduceType::MIN, T, T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
						       srcRepStride, order);
}

#define VINCI_ASCENDC_GROUPS(name, as, type)                                                                           \
	template <typename T, bool isSetMask = true, typename M>                                                       \
	void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, M mask,              \
		  const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                  \
	{                                                                                                              \
		as<ReduceType::type, T, T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,          \
						      srcRepStride);                                                   \
	}

VINCI_ASCENDC_GROUPS(BlockReduceSum, ReduceDataBlock, SUM)
VINCI_ASCENDC_GROUPS(BlockReduceMax, ReduceDataBlock, MAX)
VINCI_ASCENDC_GROUPS(BlockReduceMin, ReduceDataBlock, MIN)
VINCI_ASCENDC_GROUPS(PairReduceSum, ReducePairElem, SUM)

#undef VINCI_ASCENDC_GROUPS

} // namespace AscendC

#endif /* VINCI_ASCENDC_REDUCE_H */
