/* SPDX-License-Identifier: MIT */
/* fatbin_kernels.cpp - kernels that are loaded from a binary. */
#include "kernel_operator.h"

namespace {
int64_t calls;
}

extern "C" {
int32_t shared_factor = 3;
}

/* out[block] = a + b * factor + the block */
extern "C" __global__ __aicore__ void scale(GM_ADDR out, int32_t a, uint8_t b)
{
	reinterpret_cast<__gm__ int64_t *>(out)[block_idx] = a + b * shared_factor + block_idx;
}

/* Adds *step, which travels with the launch, to each of the elements. */
extern "C" __global__ __aicore__ void add_step(GM_ADDR out, GM_ADDR step, GM_ADDR count)
{
	__gm__ int32_t *values = reinterpret_cast<__gm__ int32_t *>(out);
	int32_t n = *reinterpret_cast<__gm__ int32_t *>(count);

	for (int32_t i = 0; i < n; i++)
		values[i] += *reinterpret_cast<__gm__ int32_t *>(step);
}

/* How often this load of the binary has run it. */
extern "C" __global__ __aicore__ void count_calls(GM_ADDR out)
{
	*reinterpret_cast<__gm__ int64_t *>(out) = ++calls;
}

extern "C" __global__ __aicore__ void fail_trap(GM_ADDR out)
{
	*reinterpret_cast<__gm__ int64_t *>(out) = 1;
	asm("trap");
	*reinterpret_cast<__gm__ int64_t *>(out) = 2;
}

/* One block of several. */
extern "C" __global__ __aicore__ void fail_block(GM_ADDR at, int64_t block)
{
	if (block_idx == block)
		*reinterpret_cast<volatile __gm__ int64_t *>(at) = 1;
}

extern "C" __global__ __aicore__ void fail_division(GM_ADDR out, int32_t by)
{
	*reinterpret_cast<volatile __gm__ int32_t *>(out) = 100 / by;
}

namespace {
int64_t deep(volatile int64_t *from, int64_t left)
{
	volatile int64_t here[64];

	here[left % 64] = *from + left;
	return left ? deep(here + left % 64, left - 1) + here[left % 64] : *from;
}
} // namespace

extern "C" __global__ __aicore__ void fail_stack(GM_ADDR out)
{
	volatile int64_t start = 1;

	*reinterpret_cast<__gm__ int64_t *>(out) = deep(&start, 1 << 30);
}
