// SPDX-License-Identifier: MIT
#include "kernel_operator.h"

#include "batch.h"

__aicore__ inline uint32_t word_of(uint32_t number, uint32_t place)
{
	return (number * 2654435761u) ^ (place * 40503u);
}

// Every block takes each block_num-th word.
extern "C" __global__ __aicore__ void fill_kernel(__gm__ uint32_t *words, uint32_t count, uint32_t number)
{
	for (uint32_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum())
		words[i] = word_of(number, i);
}

extern "C" __global__ __aicore__ void check_kernel(__gm__ const uint32_t *words, uint32_t count, uint32_t number,
						   __gm__ uint64_t *wrong)
{
	uint64_t differ = 0;

	for (uint32_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum())
		differ += words[i] != word_of(number, i);
	wrong[AscendC::GetBlockIdx()] += differ;
}

aclError batch_fill(uint32_t *words, uint32_t count, uint32_t number, aclrtStream stream)
{
	return static_cast<aclError>(fill_kernel<<<BATCH_BLOCKS, nullptr, stream>>>(words, count, number));
}

aclError batch_check(const uint32_t *words, uint32_t count, uint32_t number, uint64_t *wrong, aclrtStream stream)
{
	return static_cast<aclError>(check_kernel<<<BATCH_BLOCKS, nullptr, stream>>>(words, count, number, wrong));
}
