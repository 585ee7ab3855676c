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
#include "vector.h"

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

/* Elements to add on either side of each block; their value is the lowest bytes of 8. */
struct DataCopyPadParams {
	bool isPad = false;
	uint8_t leftPadding = 0;
	uint8_t rightPadding = 0;
	uint64_t paddingValue = 0;

	DataCopyPadParams() = default;
	DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
		: isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
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

template <typename T> constexpr bool is_global = false;
template <typename T> constexpr bool is_global<AscendC::GlobalTensor<T>> = true;

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

enum class atomic_kind : uint8_t { none, add, max, min };

/* What copies to global memory do there, until SetAtomicNone() or the block's end. */
struct atomic_mode {
	atomic_kind kind;
	const void *type; /* a name of the type, which copies must have */
};

inline thread_local atomic_mode atomic = {atomic_kind::none, nullptr};

template <typename T> inline char type_name = 0;

template <typename T> T combine(T old, T value)
{
	using W = wide_t<T>;

	switch (atomic.kind) {
	case atomic_kind::add:
		return static_cast<T>(op_add()(static_cast<W>(old), static_cast<W>(value)));
	case atomic_kind::max:
		return static_cast<T>(op_max()(static_cast<W>(old), static_cast<W>(value)));
	default:
		return static_cast<T>(op_min()(static_cast<W>(old), static_cast<W>(value)));
	}
}

template <typename T> void update(T *at, T value)
{
	using bits = std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>;
	bits *word = reinterpret_cast<bits *>(at);
	bits seen = __atomic_load_n(word, __ATOMIC_RELAXED), wanted;
	T now;

	do {
		std::memcpy(static_cast<void *>(&now), &seen, sizeof(now));
		now = combine(now, value);
		std::memcpy(&wanted, static_cast<const void *>(&now), sizeof(now));
	} while (!__atomic_compare_exchange_n(word, &seen, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* To global memory. */
template <typename T> void store(T *to, const T *from, size_t bytes)
{
	if (atomic.kind == atomic_kind::none) {
		std::memmove(static_cast<void *>(to), static_cast<const void *>(from), bytes);
		return;
	}
	if (atomic.type != &type_name<T>)
		fail("a copy to global memory of another type than SetAtomicAdd, SetAtomicMax or SetAtomicMin named");
	if constexpr (is_one_of<T, int8_t, int16_t, half, bfloat16_t, int32_t, float>)
		for (size_t i = 0; i < bytes / sizeof(T); i++)
			update(to + i, from[i]);
}

template <typename T> void set_atomic(atomic_kind kind)
{
	static_assert(is_one_of<T, int8_t, int16_t, half, bfloat16_t, int32_t, float>,
		      "no card has atomic copies of this type");
	atomic = {kind, &type_name<T>};
}

template <typename D, typename S> void copy_elements(const D &dst, const S &src, size_t bytes)
{
	bytes = bytes / data_block * data_block;
	std::memmove(bytes_of(dst, bytes), bytes_of(src, bytes), bytes);
}

template <typename T> void copy_elements(const AscendC::GlobalTensor<T> &dst, const AscendC::LocalTensor<T> &src, size_t bytes)
{
	bytes = bytes / data_block * data_block;
	store(dst.GetPhyAddr(0), src.at(0, bytes / sizeof(T)), bytes);
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

	for (size_t i = 0; i < p.blockCount; i++) {
		if constexpr (is_global<D>)
			store(reinterpret_cast<typename D::PrimType *>(d + i * to),
			      reinterpret_cast<const typename D::PrimType *>(s + i * from), length);
		else
			std::memmove(d + i * to, s + i * from, length);
	}
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
		::vinci_ascendc::store(
			reinterpret_cast<T *>(to + static_cast<int64_t>(i) * (params.blockLen + params.dstStride)),
			src.at(i * step / sizeof(T), params.blockLen / sizeof(T)), params.blockLen);
}

/* The same with the narrower parameters that there were first. */
template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params,
		 const DataCopyPadParams &pad)
{
	T value;

	static_assert(sizeof(T) <= sizeof(pad.paddingValue), "DataCopyPad: types of at most 8 bytes");
	std::memcpy(static_cast<void *>(&value), &pad.paddingValue, sizeof(value));
	DataCopyPad(dst, src, DataCopyExtParams(params.blockCount, params.blockLen, params.srcStride, params.dstStride),
		    DataCopyPadExtParams<T>(pad.isPad, pad.leftPadding, pad.rightPadding, value));
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params)
{
	DataCopyPad(dst, src,
		    DataCopyExtParams(params.blockCount, params.blockLen, params.srcStride, params.dstStride));
}

/* Copies to global memory add to what is there, or keep the greater or the lesser, each element for itself. */
template <typename T> void SetAtomicAdd()
{
	::vinci_ascendc::set_atomic<T>(::vinci_ascendc::atomic_kind::add);
}

template <typename T> void SetAtomicMax()
{
	::vinci_ascendc::set_atomic<T>(::vinci_ascendc::atomic_kind::max);
}

template <typename T> void SetAtomicMin()
{
	::vinci_ascendc::set_atomic<T>(::vinci_ascendc::atomic_kind::min);
}

inline void SetAtomicNone()
{
	::vinci_ascendc::atomic.kind = ::vinci_ascendc::atomic_kind::none;
}

inline void DisableDmaAtomic()
{
	SetAtomicNone();
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_COPY_H */
