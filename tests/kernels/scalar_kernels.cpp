/* SPDX-License-Identifier: MIT */
/* Every way to write a launch that has to work. Nothing here prints, so no launch may carry VINCI_KERNEL_PRINTS. */
#include "kernel_operator.h"
#include "scalar_kernels.h"

extern "C" __global__ __aicore__ void Index(__gm__ int64_t *out)
{
	int32_t idx = block_idx;

	out[idx] = AscendC::GetBlockIdx() * 1000 + AscendC::GetBlockNum() + (block_num == AscendC::GetBlockNum());
}

extern "C" __global__ __aicore__ void Mixed(__gm__ int64_t *out, uint8_t small, odd o, bool yes, wide w, double real,
					    picky p, int8_t negative) noexcept
{
	out[0] = small;
	out[1] = o.a * 100 + o.b * 10 + o.c;
	out[2] = yes;
	out[3] = static_cast<int64_t>(w.words[0] + w.words[3]);
	out[4] = static_cast<int64_t>(real * 4);
	out[5] = p.value;
	out[6] = negative;
	out[7] = reinterpret_cast<uintptr_t>(&w) % alignof(wide);
}

static int touched;

extern "C" __global__ __aicore__ void NoArgs()
{
	__atomic_add_fetch(&touched, 1, __ATOMIC_RELAXED);
}

template <typename T, int N> __global__ __aicore__ void Fill(__gm__ T *data, T value)
{
	for (int i = 0; i < N; i++)
		data[i] = value;
}

template <typename T> struct box {
	static constexpr uint32_t two = 2;
	template <typename U> struct of {
		static constexpr uint32_t blocks = 3;
	};
};

namespace ops {
namespace {

__global__ __aicore__ void Scale(GM_ADDR data, int factor)
{
	reinterpret_cast<__gm__ int *>(data)[block_idx] *= factor;
}

} // namespace

extern "C" __global__ __aicore__ void Add(__gm__ int *data, int value)
{
	data[block_idx] += value;
}

} // namespace ops

#if defined(NEVER_DEFINED)
extern "C" __global__ __aicore__ void Excluded(no_such_type *x)
{
	Broken<<<1>>>(x);
}
#endif
#if 0
its <<< not code
#endif

extern "C" __global__ __aicore__ void Trap()
{
	asm volatile("trap");
}

#define LAUNCH(k, n, ...) k<<<n, nullptr, stream>>>(__VA_ARGS__)
#define LAUNCH_NAMED(prefix, suffix, ...)                                                                            \
	prefix##suffix<<<1,                                                                                          \
			 nullptr, stream>>>(                                                                         \
		__VA_ARGS__)
#define LAUNCH_LATER(k) k<<<1, nullptr, stream>>>
#define CONFIG 1, nullptr, stream
#define PASS(x) (x)

uint32_t launch_index(uint32_t blocks, void *stream, int64_t *out)
{
	return Index<<<blocks, nullptr, stream>>>(out);
}

uint32_t launch_mixed(void *stream, int64_t *out, odd o, wide w, picky p)
{
	/* numbers convert to the parameters' types as in any call */
	return Mixed<<<1, nullptr, stream>>>(out, 300 - 50, o, 7, w, 2.5f, p, -3);
}

uint32_t launch_no_args(void *stream)
{
	touched = 0;
	if (uint32_t error = NoArgs<<<5, nullptr, stream>>>())
		return error;
	return touched == 5 ? 0 : 1;
}

template <typename T> static uint32_t fill_with(void *stream, T *data, T value)
{
	return Fill<T, (8 > 4 ? 2 : 1)><<<1, nullptr, stream>>>(data, value);
}

uint32_t launch_fill(void *stream, float *floats, int16_t *shorts)
{
	uint32_t error = fill_with<float>(stream, floats, 1.5f);

	return error ? error : PASS(Fill<int16_t, 2><<<1, nullptr, stream>>>(shorts, -2));
}

uint32_t launch_scale(void *stream, int *data)
{
	return ::ops::Scale<<<box<box<int>>::of<box<int>>::blocks, nullptr, stream>>>((GM_ADDR)data, 10);
}

uint32_t launch_spread_out(void *stream, int *data)
{
	const char *text = "Add<<<1, nullptr, stream>>>(data)"; // Add<<<1>>>(x)

	return ops::Add /* <<< */ <<<
		/* blocks, >>>( */ box<int>::two, // a name>>>(
		nullptr, /*
		>>>(data) */
		stream
	>>> /* the arguments */ (
		data, text[0] == 'A' ? 5 : '>');
}

uint32_t launch_by_macro(void *stream, int *data)
{
	uint32_t error = LAUNCH(ops::Add, 2, data, 1);

	if (!error)
		error = LAUNCH_NAMED(ops::A, dd, data, 10);
	if (!error)
		error = LAUNCH_LATER(ops::Add)(data, 100);
	return error ? error : ops::Add<<<CONFIG>>>(data, 1000);
}

int32_t launch_sum(void *stream, int *data)
{
	int n = 1;

	/* two launches in one expression; a comparison and a shift in the configuration */
	return static_cast<int32_t>(ops::Add<<<n < 2 ? 1 : 2, 0, stream>>>(data, 3)) +
	       (int32_t)ops::Add<<<0, nullptr, stream>>>(data, 3);
}

uint32_t launch_dim(int64_t blocks, void *stream, int64_t *out)
{
	return Index<<<blocks, nullptr, stream>>>(out);
}

/* Block 0 looks until all others have been there. */
extern "C" __global__ __aicore__ void Meet(__gm__ int32_t *seen, __gm__ int32_t *count)
{
	AscendC::GlobalTensor<int32_t> all;

	all.SetGlobalBuffer(seen);
	all.SetValue(block_idx, 1);
	AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE>(all[block_idx]);
	if (block_idx != 0)
		return;
	for (*count = 0; *count != block_num;) {
		*count = 0;
		for (int i = 0; i < block_num; i++) {
			AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE>(all[i]);
			*count += all.GetValue(i);
		}
	}
}

uint32_t launch_meet(uint32_t blocks, void *stream, int32_t *seen, int32_t *count)
{
	return Meet<<<blocks, nullptr, stream>>>(seen, count);
}

uint32_t launch_trap(void *stream)
{
	return Trap<<<1, nullptr, stream>>>();
}

int scalar_text(const char **raw)
{
	*raw = R"x(Add<<<1>>>(x) )" \
)x";
	return __LINE__;
}
