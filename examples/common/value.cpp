// SPDX-License-Identifier: MIT
// The two kernels of the examples, and C functions that launch them.
#include "kernel_operator.h"

#include "value.h"

extern "C" __global__ __aicore__ void store_kernel(__gm__ int32_t *where, int32_t value)
{
	*where = value;
}

extern "C" __global__ __aicore__ void copy_kernel(__gm__ int32_t *to, __gm__ const int32_t *from)
{
	*to = *from;
}

aclError value_store(int32_t *where, int32_t value, aclrtStream stream)
{
	return static_cast<aclError>(store_kernel<<<1, nullptr, stream>>>(where, value));
}

aclError value_copy(int32_t *to, const int32_t *from, aclrtStream stream)
{
	return static_cast<aclError>(copy_kernel<<<1, nullptr, stream>>>(to, from));
}
