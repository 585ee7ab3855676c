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

/* Known by numbers, too. */
extern "C" __global__ __aicore__ void keyed_7(GM_ADDR out)
{
	*reinterpret_cast<__gm__ int64_t *>(out) = 7;
}

extern "C" __global__ __aicore__ void keyed_18446744073709551615(GM_ADDR out)
{
	*reinterpret_cast<__gm__ int64_t *>(out) = 8;
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
	reinterpret_cast<__gm__ int64_t *>(out)[block_idx] = 1;
	asm("trap");
	reinterpret_cast<__gm__ int64_t *>(out)[block_idx] = 2;
}

/* Faults are what these are for, so the sanitizer leaves them alone. */
#define FAULTS __attribute__((no_sanitize("undefined")))

/* One block of several. */
extern "C" FAULTS __global__ __aicore__ void fail_block(GM_ADDR at, int64_t block)
{
	if (block_idx == block)
		*reinterpret_cast<volatile __gm__ int64_t *>(at) = 1;
}

extern "C" FAULTS __global__ __aicore__ void fail_division(GM_ADDR out, int32_t by)
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

/* Vector code: out = a + b for halves, a tile of each block after the other. */
extern "C" __global__ __aicore__ void add_halves(GM_ADDR a, GM_ADDR b, GM_ADDR out, int32_t length, int32_t tile)
{
	AscendC::TPipe pipe;
	AscendC::TQue<AscendC::QuePosition::VECIN, 2> in_a, in_b;
	AscendC::TQue<AscendC::QuePosition::VECOUT, 2> to;
	AscendC::GlobalTensor<half> ga, gb, gout;

	ga.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(a) + length * AscendC::GetBlockIdx(), length);
	gb.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(b) + length * AscendC::GetBlockIdx(), length);
	gout.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(out) + length * AscendC::GetBlockIdx(), length);
	pipe.InitBuffer(in_a, 2, tile * sizeof(half));
	pipe.InitBuffer(in_b, 2, tile * sizeof(half));
	pipe.InitBuffer(to, 2, tile * sizeof(half));
	for (int32_t i = 0; i < length; i += tile) {
		AscendC::LocalTensor<half> x = in_a.AllocTensor<half>();
		AscendC::LocalTensor<half> y = in_b.AllocTensor<half>();
		AscendC::LocalTensor<half> z = to.AllocTensor<half>();

		AscendC::DataCopy(x, ga[i], tile);
		AscendC::DataCopy(y, gb[i], tile);
		in_a.EnQue(x);
		in_b.EnQue(y);
		x = in_a.DeQue<half>();
		y = in_b.DeQue<half>();
		AscendC::Add(z, x, y, tile);
		to.EnQue(z);
		z = to.DeQue<half>();
		AscendC::DataCopy(gout[i], z, tile);
		in_a.FreeTensor(x);
		in_b.FreeTensor(y);
		to.FreeTensor(z);
	}
}

/* What a queue, a pipe and a tensor do not allow. */
extern "C" __global__ __aicore__ void fail_vector(GM_ADDR, int64_t how)
{
	AscendC::TPipe pipe;
	AscendC::TQue<AscendC::QuePosition::VECIN, 1> queue;
	AscendC::LocalTensor<float> tensor;

	pipe.InitBuffer(queue, 1, 1024);
	if (how == 0)
		queue.DeQue<float>();
	tensor = queue.AllocTensor<float>();
	if (how == 1)
		queue.AllocTensor<float>();
	if (how == 2)
		pipe.InitBuffer(queue, 2, 128 * 1024);
	if (how == 3)
		AscendC::Add(tensor, tensor, tensor, 1 << 20);
}
