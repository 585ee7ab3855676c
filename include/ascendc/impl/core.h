/* SPDX-License-Identifier: MIT */
/*
 * What orders a core's units among each other and with its caches. A block runs in program order on one thread and
 * memory is coherent, so most of this has been done when it is asked for. Blocks do not wait for each other: there is no
 * SyncAll.
 */
#ifndef VINCI_ASCENDC_CORE_H
#define VINCI_ASCENDC_CORE_H

#include <cstdint>

#include "tensor.h"

typedef enum { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX = 10 } pipe_t;
typedef enum { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 } event_t;

/* Kernels here are those of vector cores. */
#define ASCEND_IS_AIV constexpr(true)
#define ASCEND_IS_AIC constexpr(false)
#define KERNEL_TASK_TYPE_DEFAULT(type)
#define KERNEL_TASK_TYPE(key, type)

namespace AscendC {

using TEventID = int8_t;

enum class HardEvent : uint8_t {
	MTE2_MTE1,
	MTE1_MTE2,
	MTE1_M,
	M_MTE1,
	MTE2_V,
	V_MTE2,
	MTE3_V,
	V_MTE3,
	M_V,
	V_M,
	V_V,
	MTE3_MTE1,
	MTE1_MTE3,
	MTE1_V,
	MTE2_M,
	M_MTE2,
	V_MTE1,
	M_FIX,
	FIX_M,
	MTE3_MTE2,
	MTE2_MTE3,
	S_V,
	V_S,
	S_MTE2,
	MTE2_S,
	S_MTE3,
	MTE3_S,
	MTE2_FIX,
	FIX_MTE2,
	FIX_S,
	M_S,
	FIX_MTE3,
};

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

template <pipe_t pipe> void PipeBarrier()
{
}

template <HardEvent event> void SetFlag(int32_t)
{
}

template <HardEvent event> void WaitFlag(int32_t)
{
}

/* For kernels that look at what another block writes: what was read before is read again. */
template <typename T, CacheLine line, DcciDst dst = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T> &)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* What a kernel without a TPipe begins with. */
inline void InitSocState()
{
}

inline int64_t GetSubBlockIdx()
{
	return 0;
}

inline int64_t GetSubBlockNum()
{
	return 1;
}

inline int64_t GetTaskRation()
{
	return 1;
}

[[noreturn]] inline void Trap()
{
	__builtin_trap();
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_CORE_H */
