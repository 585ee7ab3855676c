/* SPDX-License-Identifier: MIT */
/* symbol_kernels.cpp - kernels and variables of a program, and their addresses for symbol_test.c. */
#include "kernel_operator.h"
#include "aclrtlaunch_fill.h"
#include "aclrtlaunch_weigh.h"
#include "symbol_kernels.h"

__gm__ float weights[4] = {1, 2, 3, 4};
namespace {
__gm__ int64_t runs;
}
static __gm__ struct {
	int32_t a, b;
} pair = {5, 6};

/* out[block] = scale * weights[block] */
extern "C" __global__ __aicore__ void weigh(__gm__ float *out, float scale)
{
	out[block_idx] = scale * weights[block_idx];
}

/* Known by its address only. */
__global__ __aicore__ void count_run(GM_ADDR out)
{
	*reinterpret_cast<__gm__ int64_t *>(out) = ++runs;
}

extern "C" __global__ __aicore__ void fill(__gm__ int32_t *out, filling f)
{
	for (int32_t i = 0; i < f.count; i++)
		out[i] = f.value;
}

extern "C" const void *symbol_of(enum symbol symbol)
{
	switch (symbol) {
	case SYMBOL_WEIGHTS:
		return &weights;
	case SYMBOL_RUNS:
		return &runs;
	case SYMBOL_PAIR:
		return &pair;
	case SYMBOL_WEIGH:
		return reinterpret_cast<const void *>(weigh);
	default:
		return reinterpret_cast<const void *>(count_run);
	}
}

/* As host code does it that never saw the kernel. */
extern "C" uint32_t launch_weigh(uint32_t blocks, void *stream, void *out, float scale)
{
	return ACLRT_LAUNCH_KERNEL(weigh)(blocks, stream, out, scale);
}

/* Structs go by their address. */
extern "C" uint32_t launch_fill(void *stream, void *out, int32_t value, int32_t count)
{
	filling f = {value, count};

	return ACLRT_LAUNCH_KERNEL(fill)(1, stream, out, &f);
}
