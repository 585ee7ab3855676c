/* SPDX-License-Identifier: MIT */
/* Instructions that move elements within the unified buffer: spread, gathered, interleaved, transposed. */
#ifndef VINCI_ASCENDC_ARRANGE_H
#define VINCI_ASCENDC_ARRANGE_H

#include <cstddef>
#include <cstdint>

#include "tensor.h"
#include "vector.h"

namespace AscendC {

/* Strides in blocks of 32 bytes. */
struct BrcbRepeatParams {
	uint16_t dstBlkStride = 1;
	uint16_t dstRepStride = 8;

	BrcbRepeatParams() = default;
	BrcbRepeatParams(uint16_t block, uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat)
	{
	}
};

struct CopyRepeatParams {
	uint16_t dstStride = 1;
	uint16_t srcStride = 1;
	uint16_t dstRepeatSize = 8;
	uint16_t srcRepeatSize = 8;

	CopyRepeatParams() = default;
	CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dst_repeat, uint16_t src_repeat)
		: dstStride(dst), srcStride(src), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat)
	{
	}
};

template <typename T, bool isSetMask = true, typename M>
void Duplicate(const LocalTensor<T> &dst, const ::vinci_ascendc::same_t<T> &scalar, M mask, const uint8_t repeatTime,
	       const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
	::vinci_ascendc::operand<T> to = {dst, dstBlockStride, dstRepeatStride};

	::vinci_ascendc::each_lane<T>(::vinci_ascendc::chosen<isSetMask>(mask), repeatTime,
				      [&](size_t r, size_t i) { *to.at(r, i) = scalar; });
}

template <typename T, bool isSetMask = true, typename M>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, const uint8_t repeatTime,
	  const CopyRepeatParams &p)
{
	::vinci_ascendc::operand<T> to = {dst, p.dstStride, p.dstRepeatSize};
	::vinci_ascendc::operand<T> from = {src, p.srcStride, p.srcRepeatSize};

	::vinci_ascendc::each_lane<T>(::vinci_ascendc::chosen<isSetMask>(mask), repeatTime,
				      [&](size_t r, size_t i) { *to.at(r, i) = *from.at(r, i); });
}

/* Each of 8 elements a repeat fills a block of 32 bytes. */
template <typename T>
void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint8_t repeatTime, const BrcbRepeatParams &p)
{
	constexpr size_t per_block = ::vinci_ascendc::data_block / sizeof(T);
	size_t stride = p.dstBlkStride ? p.dstBlkStride : 1;

	for (size_t r = 0; r < repeatTime; r++) {
		for (size_t j = 0; j < 8; j++) {
			T *to = dst.at((r * p.dstRepStride + j * stride) * per_block, per_block);

			for (size_t i = 0; i < per_block; i++)
				to[i] = *src.at(r * 8 + j, 1);
		}
	}
}

/* dst[i] = what lies @base and offset[i] bytes behind src. */
template <typename T>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
	    const uint32_t base, const uint32_t count)
{
	const uint32_t *offsets = offset.at(0, count);
	T *to = dst.at(0, count);

	for (uint32_t i = 0; i < count; i++)
		to[i] = *src.at((size_t{base} + offsets[i]) / sizeof(T), 1);
}

/* The elements of two in turns, half of them in each of the results; and back. */
template <typename T>
void Interleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1, const LocalTensor<T> &src0,
		const LocalTensor<T> &src1, const int32_t count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *x = src0.at(0, n);
	const T *y = src1.at(0, n);
	T *low = dst0.at(0, n);
	T *high = dst1.at(0, n);

	for (size_t i = 0; i < 2 * n; i++) {
		T *to = i < n ? low + i : high + (i - n);

		*to = i % 2 ? y[i / 2] : x[i / 2];
	}
}

template <typename T>
void DeInterleave(const LocalTensor<T> &dst0, const LocalTensor<T> &dst1, const LocalTensor<T> &src0,
		  const LocalTensor<T> &src1, const int32_t count)
{
	size_t n = count > 0 ? static_cast<size_t>(count) : 0;
	const T *low = src0.at(0, n);
	const T *high = src1.at(0, n);
	T *even = dst0.at(0, n);
	T *odd = dst1.at(0, n);

	for (size_t i = 0; i < 2 * n; i++) {
		const T *from = i < n ? low + i : high + (i - n);
		T *to = i % 2 ? odd : even;

		to[i / 2] = *from;
	}
}

/* 16 rows of 16. */
template <typename T> void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src)
{
	const T *from = src.at(0, 256);
	T *to = dst.at(0, 256);

	static_assert(sizeof(T) == 2, "Transpose: types of 16 bits");
	for (size_t i = 0; i < 256; i++)
		to[i] = from[i % 16 * 16 + i / 16];
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_ARRANGE_H */
