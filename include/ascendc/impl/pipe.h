/* SPDX-License-Identifier: MIT */
/*
 * TPipe, queues and buffers. A block runs its instructions in order on one thread, so a queue has nobody to wait for:
 * taking from an empty one, or allocating when all its buffers are in use, would hang a card and fails the kernel here.
 */
#ifndef VINCI_ASCENDC_PIPE_H
#define VINCI_ASCENDC_PIPE_H

#include <cstddef>
#include <cstdint>

#include "buffer.h"
#include "core.h"
#include "tensor.h"

namespace AscendC {

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
	static constexpr uint32_t buffers_max = 64;

	template <typename T> LocalTensor<T> AllocTensor()
	{
		for (uint32_t i = 0; i < count; i++) {
			if (state[i] == is_free) {
				state[i] = is_allocated;
				return tensor<T>(i);
			}
		}
		::vinci_ascendc::fail("AllocTensor: all buffers of the queue are in use");
	}
	template <typename T> void AllocTensor(LocalTensor<T> &tensor)
	{
		tensor = AllocTensor<T>();
	}
	template <typename T> bool EnQue(const LocalTensor<T> &tensor)
	{
		uint32_t i = index_of(tensor.GetPhyAddr());

		if (state[i] != is_allocated)
			::vinci_ascendc::fail("EnQue: the tensor is not one that AllocTensor gave");
		if (queued >= (depth > 0 ? depth : 1))
			::vinci_ascendc::fail("EnQue: the queue holds as many tensors as its depth allows");
		state[i] = is_queued;
		order[(first + static_cast<uint32_t>(queued++)) % buffers_max] = static_cast<uint8_t>(i);
		return true;
	}
	template <typename T> LocalTensor<T> DeQue()
	{
		uint32_t i = order[first];

		if (queued == 0)
			::vinci_ascendc::fail("DeQue: the queue is empty");
		first = (first + 1) % buffers_max;
		queued--;
		state[i] = is_allocated;
		return tensor<T>(i);
	}
	template <typename T> void DeQue(LocalTensor<T> &tensor)
	{
		tensor = DeQue<T>();
	}
	template <typename T> void FreeTensor(LocalTensor<T> &tensor)
	{
		uint32_t i = index_of(tensor.GetPhyAddr());

		if (state[i] != is_allocated)
			::vinci_ascendc::fail("FreeTensor: the tensor is queued or free already");
		state[i] = is_free;
	}
	bool VacantInQue() const
	{
		return queued < (depth > 0 ? depth : 1);
	}
	bool HasTensorInQue() const
	{
		return queued > 0;
	}
	int32_t GetTensorCountInQue() const
	{
		return queued;
	}
	bool HasIdleBuffer() const
	{
		for (uint32_t i = 0; i < count; i++) {
			if (state[i] == is_free)
				return true;
		}
		return false;
	}
	void FreeAllEvent()
	{
	}

	/* For TPipe. */
	void init(unsigned char *at, uint32_t number, uint32_t bytes)
	{
		base = at;
		count = number;
		length = bytes;
		queued = 0;
		first = 0;
		for (uint32_t i = 0; i < buffers_max; i++)
			state[i] = is_free;
	}

private:
	enum buffer_state : uint8_t { is_free, is_allocated, is_queued };

	template <typename T> LocalTensor<T> tensor(uint32_t i) const
	{
		return LocalTensor<T>(reinterpret_cast<T *>(base + static_cast<size_t>(i) * length),
				      static_cast<uint32_t>(length / sizeof(T)));
	}
	uint32_t index_of(const void *at) const
	{
		size_t offset = static_cast<size_t>(static_cast<const unsigned char *>(at) - base);

		if (!length || offset / length >= count)
			::vinci_ascendc::fail("the tensor belongs to another queue");
		return static_cast<uint32_t>(offset / length);
	}

	unsigned char *base = nullptr;
	uint32_t count = 0;
	uint32_t length = 0; /* bytes of a buffer */
	int32_t queued = 0;
	uint32_t first = 0; /* in order */
	uint8_t order[buffers_max] = {};
	uint8_t state[buffers_max] = {};
};

constexpr TPosition queue_end(TPosition pos)
{
	return pos == TPosition::VECIN ? TPosition::VECCALC : pos == TPosition::VECOUT ? TPosition::GM : pos;
}

template <TPosition pos, int32_t depth, auto mask = 0> class TQue : public TQueBind<pos, queue_end(pos), depth, mask> {
};

template <TPosition pos = TPosition::VECCALC> class TBuf {
public:
	template <typename T> LocalTensor<T> Get()
	{
		return Get<T>(static_cast<uint32_t>(length / sizeof(T)));
	}
	template <typename T> LocalTensor<T> Get(uint32_t size)
	{
		return GetWithOffset<T>(size, 0);
	}
	/* The offset is in bytes. */
	template <typename T> LocalTensor<T> GetWithOffset(uint32_t size, uint32_t offset)
	{
		if (offset > length || size > (length - offset) / sizeof(T))
			::vinci_ascendc::fail("TBuf: more was asked for than InitBuffer was told");
		return LocalTensor<T>(reinterpret_cast<T *>(base + offset), size);
	}
	uint32_t GetBufLen() const
	{
		return length;
	}

	/* For TPipe. */
	void init(unsigned char *at, uint32_t bytes)
	{
		base = at;
		length = bytes;
	}

private:
	unsigned char *base = nullptr;
	uint32_t length = 0;
};

/* The buffers of a block are handed out one behind the other, and all come back with Reset or a new pipe. */
class TPipe {
public:
	TPipe()
	{
		Init();
	}
	void Init()
	{
		::vinci_ascendc::ub.used = 0;
		current() = this;
	}
	void Reset()
	{
		Init();
	}
	void Destroy()
	{
		Init();
	}
	template <typename Q> bool InitBuffer(Q &queue, uint8_t number, uint32_t bytes)
	{
		size_t length = ::vinci_ascendc::round_up(bytes, ::vinci_ascendc::data_block);

		if (number == 0 || number > Q::buffers_max || bytes == 0 ||
		    bytes > ::vinci_ascendc::unified_buffer::size)
			::vinci_ascendc::fail("InitBuffer: a queue has 1 to 64 buffers of at least one byte");
		queue.init(::vinci_ascendc::ub.take(length * number), number, static_cast<uint32_t>(length));
		return true;
	}
	template <TPosition pos> bool InitBuffer(TBuf<pos> &buffer, uint32_t bytes)
	{
		size_t length = ::vinci_ascendc::round_up(bytes, ::vinci_ascendc::data_block);

		if (bytes == 0 || bytes > ::vinci_ascendc::unified_buffer::size)
			::vinci_ascendc::fail("InitBuffer: a buffer has at least one byte, and at most 192 KiB");
		buffer.init(::vinci_ascendc::ub.take(length), static_cast<uint32_t>(length));
		return true;
	}

	/* Flags have nobody to signal here, yet there are no more of them than on a core. */
	template <HardEvent event> TEventID AllocEventID()
	{
		uint8_t &used = events[static_cast<size_t>(event)];

		for (TEventID id = 0; id < 8; id++) {
			if (!(used >> id & 1)) {
				used = static_cast<uint8_t>(used | 1u << id);
				return id;
			}
		}
		::vinci_ascendc::fail("AllocEventID: all 8 events of this kind are in use");
	}
	template <HardEvent event> void ReleaseEventID(TEventID id)
	{
		if (id < 0 || id >= 8 || !(events[static_cast<size_t>(event)] >> id & 1))
			::vinci_ascendc::fail("ReleaseEventID: the event was not allocated");
		events[static_cast<size_t>(event)] &= static_cast<uint8_t>(~(1u << id));
	}
	/* One that is free now. */
	TEventID FetchEventID(HardEvent event)
	{
		for (TEventID id = 0; id < 8; id++) {
			if (!(events[static_cast<size_t>(event)] >> id & 1))
				return id;
		}
		::vinci_ascendc::fail("FetchEventID: all 8 events of this kind are in use");
	}
	template <HardEvent event> TEventID FetchEventID()
	{
		return FetchEventID(event);
	}

	__attribute__((visibility("hidden"))) static TPipe *&current()
	{
		static thread_local TPipe *pipe = nullptr;

		return pipe;
	}

private:
	uint8_t events[static_cast<size_t>(HardEvent::FIX_MTE3) + 1] = {}; /* bits: ids in use, by kind */
};

__attribute__((always_inline)) inline TPipe *GetTPipePtr()
{
	return TPipe::current();
}

} // namespace AscendC

using AscendC::GetTPipePtr;

#endif /* VINCI_ASCENDC_PIPE_H */
