/* SPDX-License-Identifier: MIT */
/* fatbin_say.cpp - a kernel of a binary that prints. */
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void say(int32_t value)
{
	AscendC::printf("block %d of a binary says %d\n", block_idx, value);
}
