/* SPDX-License-Identifier: MIT */
/*
 * DataCopy between global memory and the unified buffer. Copies count in blocks of 32 bytes: as on a card the rest of a
 * length that is no multiple is not copied, and DataCopyPad is for those.
 */
#ifndef VINCI_ASCENDC_COPY_H
#define VINCI_ASCENDC_COPY_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "buffer.h"
#include "tensor.h"

namespace AscendC {

/* In blocks of 32 bytes; strides are the gaps between the end of one and the beginning of the next. */
struct DataCopyParams {
	uint16_t blockCount = 1;
	uint16_t blockLen = 0;
	uint16_t srcStride = 0;
	uint16_t dstStride = 0;

	DataCopyParams() = default;
	DataCopyParams(uint16_t count, uint16_t len, uint16_t src, uint16_t dst)
		: blockCount(count), blockLen(len), srcStride(src), dstStride(dst)
	{
	}
};

/* Lengths in bytes; strides in bytes in global memory and in blocks of 32 bytes in the unified buffer. */
struct DataCopyExtParams {
	uint16_t blockCount = 1;
	uint32_t blockLen = 0;
	int64_t srcStride = 0;
	int64_t dstStride = 0;
	uint32_t rsv = 0;

	DataCopyExtParams() = default;
	DataCopyExtParams(uint16_t count, uint32_t len, int64_t src, int64_t dst, uint32_t reserved = 0)
		: blockCount(count), blockLen(len), srcStride(src), dstStride(dst), rsv(reserved)
	{
	}
};

/* Elements to add on either side of each block. */
template <typename T> struct DataCopyPadExtParams {
	bool isPad = false;
	uint8_t leftPadding = 0;
	uint8_t rightPadding = 0;
	T paddingValue = T(0);

	DataCopyPadExtParams() = default;
	DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
		: isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
	{
	}
};

} // namespace AscendC

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

template <typename T> unsigned char *bytes_of(const AscendC::LocalTensor<T> &tensor, size_t size)
{
	unsigned char *at = reinterpret_cast<unsigned char *>(tensor.GetPhyAddr());

	ub.check(at, size);
	return at;
}

template <typename T> unsigned char *bytes_of(const AscendC::GlobalTensor<T> &tensor, size_t)
{
	return reinterpret_cast<unsigned char *>(tensor.GetPhyAddr(0));
}

template <typename D, typename S> void copy_elements(const D &dst, const S &src, size_t bytes)
{
	bytes = bytes / data_block * data_block;
	std::memmove(bytes_of(dst, bytes), bytes_of(src, bytes), bytes);
}

template <typename D, typename S> void copy_blocks(const D &dst, const S &src, const AscendC::DataCopyParams &p)
{
	size_t length = p.blockLen * data_block;
	size_t to = (p.blockLen + size_t{p.dstStride}) * data_block;
	size_t from = (p.blockLen + size_t{p.srcStride}) * data_block;

	if (p.blockCount == 0 || length == 0)
		return;
	unsigned char *d = bytes_of(dst, to * (p.blockCount - 1u) + length);
	const unsigned char *s = bytes_of(src, from * (p.blockCount - 1u) + length);

	for (size_t i = 0; i < p.blockCount; i++)
		std::memmove(d + i * to, s + i * from, length);
}

} // namespace vinci_ascendc

namespace AscendC {

template <typename T> void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t count)
{
	::vinci_ascendc::copy_elements(dst, src, size_t{count} * sizeof(T));
}

template <typename T> void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count)
{
	::vinci_ascendc::copy_elements(dst, src, size_t{count} * sizeof(T));
}

template <typename T> void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count)
{
	::vinci_ascendc::copy_elements(dst, src, size_t{count} * sizeof(T));
}

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params)
{
	::vinci_ascendc::copy_blocks(dst, src, params);
}

template <typename T>
void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params)
{
	::vinci_ascendc::copy_blocks(dst, src, params);
}

template <typename T>
void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params)
{
	::vinci_ascendc::copy_blocks(dst, src, params);
}

/* Each block begins on 32 bytes of the unified buffer; what fills it up to the next 32 is the padding value. */
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &params,
		 const DataCopyPadExtParams<T> &pad)
{
	size_t left = pad.isPad ? pad.leftPadding : 0u;
	size_t right = pad.isPad ? pad.rightPadding : 0u;
	size_t count = params.blockLen / sizeof(T);
	size_t row = ::vinci_ascendc::round_up((left + count + right) * sizeof(T), ::vinci_ascendc::data_block);
	size_t step = row + static_cast<size_t>(params.dstStride) * ::vinci_ascendc::data_block;
	const unsigned char *from = ::vinci_ascendc::bytes_of(src, 0);

	for (size_t i = 0; i < params.blockCount; i++) {
		T *to = dst.at(i * step / sizeof(T), row / sizeof(T));

		for (size_t j = 0; j < row / sizeof(T); j++)
			to[j] = pad.paddingValue;
		std::memcpy(to + left, from + static_cast<int64_t>(i) * (params.blockLen + params.srcStride),
			    params.blockLen);
	}
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &params)
{
	size_t row = ::vinci_ascendc::round_up(params.blockLen, ::vinci_ascendc::data_block);
	size_t step = row + static_cast<size_t>(params.srcStride) * ::vinci_ascendc::data_block;
	unsigned char *to = ::vinci_ascendc::bytes_of(dst, 0);

	for (size_t i = 0; i < params.blockCount; i++)
		std::memcpy(to + static_cast<int64_t>(i) * (params.blockLen + params.dstStride),
			    src.at(i * step / sizeof(T), params.blockLen / sizeof(T)), params.blockLen);
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_COPY_H */
