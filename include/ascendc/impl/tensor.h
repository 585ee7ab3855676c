/* SPDX-License-Identifier: MIT */
/* Tensors: views of global memory and of the unified buffer. Sizes and indices are in elements. */
#ifndef VINCI_ASCENDC_TENSOR_H
#define VINCI_ASCENDC_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "buffer.h"
#include "qualifiers.h"

namespace AscendC {

enum class TPosition : uint8_t {
	GM,
	A1,
	A2,
	B1,
	B2,
	C1,
	C2,
	CO1,
	CO2,
	VECIN,
	VECOUT,
	VECCALC,
	LCM = VECCALC,
	SPM,
	SHM = SPM,
	TSCM,
	C2PIPE2GM,
	C2PIPE2LOCAL,
	MAX,
};

using QuePosition = TPosition;

enum class CacheMode { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };

template <typename T> class GlobalTensor {
public:
	using PrimType = T;

	void SetGlobalBuffer(__gm__ T *buffer, uint64_t size)
	{
		data = buffer;
		elements = size;
	}
	void SetGlobalBuffer(__gm__ T *buffer)
	{
		SetGlobalBuffer(buffer, 0);
	}
	const __gm__ T *GetPhyAddr() const
	{
		return data;
	}
	__gm__ T *GetPhyAddr(uint64_t offset) const
	{
		return data + offset;
	}
	/* Numbers in global memory may be flags that other blocks look at. */
	T GetValue(uint64_t offset) const
	{
		if constexpr (std::is_integral_v<T>)
			return __atomic_load_n(data + offset, __ATOMIC_RELAXED);
		else
			return data[offset];
	}
	void SetValue(uint64_t offset, T value)
	{
		if constexpr (std::is_integral_v<T>)
			__atomic_store_n(data + offset, value, __ATOMIC_RELAXED);
		else
			data[offset] = value;
	}
	T &operator()(uint64_t offset) const
	{
		return data[offset];
	}
	GlobalTensor operator[](uint64_t offset) const
	{
		GlobalTensor part;

		part.SetGlobalBuffer(data + offset, elements > offset ? elements - offset : 0);
		return part;
	}
	uint64_t GetSize() const
	{
		return elements;
	}
	void SetL2CacheHint(CacheMode)
	{
	}

private:
	__gm__ T *data = nullptr;
	uint64_t elements = 0;
};

template <typename T> class LocalTensor {
public:
	using PrimType = T;

	LocalTensor() = default;
	LocalTensor(T *at, uint32_t size) : data(at), elements(size)
	{
	}
	/* At an address in the unified buffer, without a pipe. */
	LocalTensor(TPosition position, uint32_t address, uint32_t size)
		: data(reinterpret_cast<T *>(::vinci_ascendc::ub.place(address, size_t{size} * sizeof(T)))), elements(size)
	{
		if (position != TPosition::VECIN && position != TPosition::VECOUT && position != TPosition::VECCALC)
			::vinci_ascendc::fail("a tensor outside of the unified buffer");
	}
	__ubuf__ T *GetPhyAddr() const
	{
		return data;
	}
	__ubuf__ T *GetPhyAddr(uint32_t offset) const
	{
		return data + offset;
	}
	T GetValue(uint32_t offset) const
	{
		return *at(offset, 1);
	}
	template <typename U> void SetValue(uint32_t offset, U value) const
	{
		*at(offset, 1) = static_cast<T>(value);
	}
	T &operator()(uint32_t offset) const
	{
		return *at(offset, 1);
	}
	LocalTensor operator[](uint32_t offset) const
	{
		return LocalTensor(data + offset, elements > offset ? elements - offset : 0);
	}
	uint32_t GetSize() const
	{
		return elements;
	}
	uint32_t GetLength() const
	{
		return static_cast<uint32_t>(elements * sizeof(T));
	}
	void SetSize(uint32_t size)
	{
		elements = size;
	}
	template <typename U> LocalTensor<U> ReinterpretCast() const
	{
		return LocalTensor<U>(reinterpret_cast<U *>(data),
				      static_cast<uint32_t>(elements * sizeof(T) / sizeof(U)));
	}

	/* The address of @count elements from @offset on, all of them in the unified buffer. */
	T *at(size_t offset, size_t count) const
	{
		::vinci_ascendc::ub.check(data + offset, count * sizeof(T));
		return data + offset;
	}

private:
	T *data = nullptr;
	uint32_t elements = 0;
};

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

/* Tensors one behind the other, for kernels without a pipe. Each allocator begins at the buffer's start. */
template <Hardware hardware = Hardware::UB> class LocalMemAllocator {
	static_assert(hardware == Hardware::UB, "LocalMemAllocator: only of the unified buffer");

public:
	uint32_t GetCurAddr() const
	{
		return head;
	}
	template <typename T> LocalTensor<T> Alloc(uint32_t size)
	{
		LocalTensor<T> tensor(TPosition::VECCALC, head, size);

		head += static_cast<uint32_t>(::vinci_ascendc::round_up(size * sizeof(T), ::vinci_ascendc::data_block));
		return tensor;
	}
	template <typename T, uint32_t size> LocalTensor<T> Alloc()
	{
		return Alloc<T>(size);
	}
	template <TPosition pos, typename T> LocalTensor<T> Alloc(uint32_t size)
	{
		static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::VECCALC,
			      "Alloc: only of the unified buffer");
		return Alloc<T>(size);
	}
	template <TPosition pos, typename T, uint32_t size> LocalTensor<T> Alloc()
	{
		return Alloc<pos, T>(size);
	}

private:
	uint32_t head = 0; /* bytes */
};

} // namespace AscendC

#endif /* VINCI_ASCENDC_TENSOR_H */
