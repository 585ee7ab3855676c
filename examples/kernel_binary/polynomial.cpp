// SPDX-License-Identifier: MIT
#include "kernel_operator.h"

// out[i] = the polynomial at i; every block takes each block_num-th i. The coefficients travel with the launch.
extern "C" __global__ __aicore__ void polynomial(GM_ADDR out, uint32_t count, GM_ADDR coefficients, uint32_t degree)
{
	__gm__ int64_t *values = reinterpret_cast<__gm__ int64_t *>(out);
	__gm__ const int64_t *c = reinterpret_cast<__gm__ const int64_t *>(coefficients);

	for (uint32_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum()) {
		int64_t sum = 0;

		for (uint32_t k = degree + 1; k-- > 0;)
			sum = sum * i + c[k];
		values[i] = sum;
	}
}
