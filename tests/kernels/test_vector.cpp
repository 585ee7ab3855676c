/* SPDX-License-Identifier: MIT */
/* test_vector.cpp - the vector part of the shim, used as a kernel uses it, against values that are known or computed
 * otherwise. */
#include "kernel_operator.h"

#include <cmath>
#include <limits>

#include "cmocka_cpp.h" /* after the shim, which has functions that it makes macros of */

using namespace AscendC;

namespace {

uint16_t bits_of(half h)
{
	uint16_t bits;

	memcpy(&bits, &h, sizeof(bits));
	return bits;
}

half half_of(uint16_t bits)
{
	half h;

	memcpy(static_cast<void *>(&h), &bits, sizeof(bits));
	return h;
}

/* What a kernel has: a pipe, and buffers of n elements filled from a list. */
template <typename T, uint32_t n> struct fixture {
	TPipe pipe;
	TBuf<TPosition::VECCALC> memory[4];
	LocalTensor<T> a, b, out, work;

	fixture()
	{
		for (auto &m : memory)
			pipe.InitBuffer(m, n * sizeof(T));
		a = memory[0].template Get<T>();
		b = memory[1].template Get<T>();
		out = memory[2].template Get<T>();
		work = memory[3].template Get<T>();
		for (uint32_t i = 0; i < n; i++) {
			a.SetValue(i, static_cast<int>(i) - static_cast<int>(n) / 2);
			b.SetValue(i, static_cast<int>(i % 7) + 1);
			out.SetValue(i, 99);
		}
	}
	~fixture()
	{
		vinci_ascendc::ub.release();
	}
};

/* --- half ------------------------------------------------------------------------------------- */

void test_half_known_values(void **)
{
	static const struct {
		float value;
		uint16_t bits;
	} known[] = {
		{ 0.0f, 0x0000 },
		{ -0.0f, 0x8000 },
		{ 1.0f, 0x3c00 },
		{ -2.0f, 0xc000 },
		{ 0.1f, 0x2e66 },
		{ 65504.0f, 0x7bff },
		{ 65519.0f, 0x7bff },
		{ 65520.0f, 0x7c00 },
		{ 1e9f, 0x7c00 },
		{ -1e9f, 0xfc00 },
		{ std::ldexp(1.0f, -14), 0x0400 },
		{ std::ldexp(1.0f, -24), 0x0001 },
		{ std::ldexp(1.0f, -25), 0x0000 },
		{ std::ldexp(1.5f, -25), 0x0001 },
		{ std::ldexp(1.5f, -24), 0x0002 },
		{ std::ldexp(1023.5f, -24), 0x0400 },
		{ 1.0f + std::ldexp(1.0f, -11), 0x3c00 },
		{ 1.0f + std::ldexp(3.0f, -11), 0x3c02 },
		{ std::numeric_limits<float>::infinity(), 0x7c00 },
	};

	for (const auto &k : known)
		assert_int_equal(bits_of(half(k.value)), k.bits);
	assert_true(std::isnan(static_cast<float>(half(std::nanf("")))));
}

void test_half_every_value_comes_back(void **)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		float f = half_of(static_cast<uint16_t>(bits));

		if (std::isnan(f))
			assert_true((bits & 0x7fff) > 0x7c00);
		else
			assert_int_equal(bits_of(half(f)), bits);
	}
}

/* Between two neighbours the nearer one, in the middle the even one. */
void test_half_rounds_to_nearest_even(void **)
{
	for (uint32_t bits = 0; bits < 0x7bff; bits++) {
		double low = half_of(static_cast<uint16_t>(bits)), high = half_of(static_cast<uint16_t>(bits + 1));
		float middle = static_cast<float>((low + high) / 2);

		assert_int_equal(bits_of(half(middle)), bits & 1 ? bits + 1 : bits);
		assert_int_equal(bits_of(half(std::nextafter(middle, 0.0f))), bits);
		assert_int_equal(bits_of(half(std::nextafter(middle, 1e9f))), bits + 1);
	}
}

void test_bfloat(void **)
{
	assert_true(static_cast<float>(bfloat16_t(1.0f)) == 1.0f);
	assert_true(static_cast<float>(bfloat16_t(1.0f + std::ldexp(1.0f, -8))) == 1.0f);
	assert_true(static_cast<float>(bfloat16_t(1.0f + std::ldexp(3.0f, -8))) == 1.0f + std::ldexp(1.0f, -6));
	assert_true(static_cast<float>(bfloat16_t(3e38f)) > 2.9e38f);
	assert_true(std::isnan(static_cast<float>(bfloat16_t(std::nanf("")))));
	assert_true(half(1.5) + bfloat16_t(2) == 3.5f);
}

/* --- instructions ----------------------------------------------------------------------------- */

template <typename T> void check_arithmetic()
{
	fixture<T, 512> f;

	Add(f.out, f.a, f.b, 500);
	for (uint32_t i = 0; i < 512; i++)
		assert_true(f.out.GetValue(i) ==
			    (i < 500 ? T(static_cast<int>(i) - 256 + static_cast<int>(i % 7) + 1) : T(99)));
	Sub(f.out, f.a, f.b, 512);
	assert_true(f.out.GetValue(3) == T(-257));
	Mul(f.out, f.a, f.b, 512);
	assert_true(f.out.GetValue(500) == T(244 * 4));
	Max(f.out, f.a, f.b, 512);
	assert_true(f.out.GetValue(0) == T(1) && f.out.GetValue(511) == T(255));
	Min(f.out, f.a, f.b, 512);
	assert_true(f.out.GetValue(0) == T(-256) && f.out.GetValue(511) == T(1));
	Adds(f.out, f.a, 2, 512);
	assert_true(f.out.GetValue(256) == T(2));
	Muls(f.out, f.a, 3, 512);
	assert_true(f.out.GetValue(255) == T(-3));
	Relu(f.out, f.a, 512);
	assert_true(f.out.GetValue(0) == T(0) && f.out.GetValue(300) == T(44));
	Duplicate(f.out, 7, 10);
	assert_true(f.out.GetValue(9) == T(7) && f.out.GetValue(300) == T(44));
	CreateVecIndex(f.out, 5, 20);
	assert_true(f.out.GetValue(19) == T(24));
	ReduceMax(f.out, f.a, f.work, 512, true);
	assert_true(f.out.GetValue(0) == T(255));
	ReduceMin(f.out, f.a, f.work, 512);
	assert_true(f.out.GetValue(0) == T(-256));
}

void test_arithmetic(void **)
{
	check_arithmetic<float>();
	check_arithmetic<half>();
	check_arithmetic<int32_t>();
	check_arithmetic<int16_t>();
}

void test_integers_wrap(void **)
{
	fixture<int32_t, 64> f;

	f.a.SetValue(0, std::numeric_limits<int32_t>::max());
	f.b.SetValue(0, 1);
	Add(f.out, f.a, f.b, 1);
	assert_int_equal(f.out.GetValue(0), std::numeric_limits<int32_t>::min());
	Mul(f.out, f.a, f.a, 1);
	assert_int_equal(f.out.GetValue(0), 1);
	ShiftLeft(f.out, f.a, 4, 1);
	assert_int_equal(f.out.GetValue(0), -16);
	f.a.SetValue(0, -16);
	ShiftRight(f.out, f.a, 2, 1);
	assert_int_equal(f.out.GetValue(0), -4);
	And(f.out, f.a, f.b, 1);
	assert_int_equal(f.out.GetValue(0), 0);
	Or(f.out, f.a, f.b, 1);
	assert_int_equal(f.out.GetValue(0), -15);
	Not(f.out, f.b, 1);
	assert_int_equal(f.out.GetValue(0), -2);
}

void test_functions(void **)
{
	fixture<float, 64> f;

	Abs(f.out, f.a, 64);
	assert_true(f.out.GetValue(0) == 32.0f);
	Exp(f.out, f.b, 64);
	assert_true(std::fabs(f.out.GetValue(1) - 7.389056f) < 1e-5f);
	Ln(f.out, f.b, 64);
	assert_true(std::fabs(f.out.GetValue(2) - 1.0986123f) < 1e-6f);
	Sqrt(f.out, f.b, 64);
	assert_true(f.out.GetValue(3) == 2.0f);
	Rsqrt(f.out, f.b, 64);
	assert_true(f.out.GetValue(3) == 0.5f);
	Reciprocal(f.out, f.b, 64);
	assert_true(f.out.GetValue(1) == 0.5f);
	Div(f.out, f.a, f.b, 64);
	assert_true(f.out.GetValue(62) == 30.0f / 7.0f);
	LeakyRelu(f.out, f.a, 0.5f, 64);
	assert_true(f.out.GetValue(0) == -16.0f && f.out.GetValue(40) == 8.0f);
	Duplicate(f.out, 1.0f, 64);
	Axpy(f.out, f.b, 2.0f, 64);
	assert_true(f.out.GetValue(2) == 7.0f);
	ReduceSum(f.out, f.a, f.work, 64);
	assert_true(f.out.GetValue(0) == -32.0f);
}

/* A mask of five elements, two repeats, sources that lie two blocks apart. */
void test_repeats(void **)
{
	fixture<float, 512> f;
	const uint64_t bits[2] = {0x5, 0};

	Add(f.out, f.a, f.b, uint64_t{5}, 2, BinaryRepeatParams(1, 2, 1, 8, 16, 8));
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t i = 0; i < 64; i++)
			assert_true(f.out.GetValue(r * 64 + i) ==
				    (i < 5 ? f.a.GetValue(r * 128 + i) + f.b.GetValue(r * 64 + i) : 99.0f));
	}
	Relu(f.out, f.b, bits, 1, UnaryRepeatParams());
	assert_true(f.out.GetValue(0) == 1.0f && f.out.GetValue(2) == 3.0f);
	assert_true(f.out.GetValue(1) == f.a.GetValue(1) + 2.0f);
	Adds(f.out, f.a, 1.0f, uint64_t{64}, 1, UnaryRepeatParams(1, 2, 8, 16));
	assert_true(f.out.GetValue(8) == f.a.GetValue(16) + 1.0f);
}

void test_casts(void **)
{
	fixture<float, 64> f;
	LocalTensor<int32_t> integers = f.work.ReinterpretCast<int32_t>();
	LocalTensor<half> halves = f.out.ReinterpretCast<half>();
	static const float values[] = {2.5f, -2.5f, 1e10f, -1e10f, 0.49f, 3.5f};
	static const int32_t rounded[][6] = {
		{2, -2, INT32_MAX, INT32_MIN, 0, 4}, /* RINT */
		{2, -3, INT32_MAX, INT32_MIN, 0, 3}, /* FLOOR */
		{3, -2, INT32_MAX, INT32_MIN, 1, 4}, /* CEIL */
		{3, -3, INT32_MAX, INT32_MIN, 0, 4}, /* ROUND */
		{2, -2, INT32_MAX, INT32_MIN, 0, 3}, /* TRUNC */
	};

	for (uint32_t i = 0; i < 6; i++)
		f.a.SetValue(i, values[i]);
	for (int mode = 0; mode < 5; mode++) {
		Cast(integers, f.a, static_cast<RoundMode>(mode + 1), 6);
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(integers.GetValue(i), rounded[mode][i]);
	}
	Cast(halves, f.a, RoundMode::CAST_NONE, 6);
	assert_int_equal(bits_of(halves.GetValue(2)), 0x7c00);
	assert_int_equal(bits_of(halves.GetValue(0)), 0x4100);
}

void test_compare_and_select(void **)
{
	fixture<float, 64> f;
	LocalTensor<uint8_t> mask = f.work.ReinterpretCast<uint8_t>();

	Compare(mask, f.a, f.b, CMPMODE::GT, 64);
	Select(f.out, mask, f.a, f.b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_true(f.out.GetValue(i) == std::fmax(f.a.GetValue(i), f.b.GetValue(i)));
	CompareScalar(mask, f.a, 0, CMPMODE::LT, 64);
	Select(f.out, mask, f.a, 5, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
	assert_true(f.out.GetValue(0) == -32.0f && f.out.GetValue(32) == 5.0f);
}

/* --- copies and queues ------------------------------------------------------------------------ */

void test_copies_count_in_blocks(void **)
{
	fixture<int32_t, 64> f;
	int32_t memory[64];
	GlobalTensor<int32_t> gm;

	for (int i = 0; i < 64; i++)
		memory[i] = 1000 + i;
	gm.SetGlobalBuffer(memory, 64);
	assert_int_equal(gm[60].GetSize(), 4);
	DataCopy(f.out, gm, 12); /* one block of 8, and a rest */
	assert_int_equal(f.out.GetValue(7), 1007);
	assert_int_equal(f.out.GetValue(8), 99);
	DataCopy(f.out, gm[8], DataCopyParams(2, 1, 2, 1)); /* blocks 0 and 3 of it to blocks 0 and 2 */
	assert_int_equal(f.out.GetValue(0), 1008);
	assert_int_equal(f.out.GetValue(8), 99);
	assert_int_equal(f.out.GetValue(16), 1032);
	DataCopy(gm[16], f.a, 8);
	assert_int_equal(memory[16], -32);
	assert_int_equal(memory[24], 1024);
	DataCopy(f.out[8], f.a, 8);
	assert_int_equal(f.out.GetValue(8), -32);
	vinci_ascendc::ub.release();
}

void test_padded_copies(void **)
{
	fixture<int32_t, 64> f;
	int32_t memory[32];
	GlobalTensor<int32_t> gm;

	for (int i = 0; i < 32; i++)
		memory[i] = i;
	gm.SetGlobalBuffer(memory, 32);
	DataCopyPad(f.out, gm, DataCopyExtParams(2, 12, 4, 0), DataCopyPadExtParams<int32_t>(true, 1, 0, -7));
	assert_int_equal(f.out.GetValue(0), -7);
	assert_int_equal(f.out.GetValue(1), 0);
	assert_int_equal(f.out.GetValue(3), 2);
	assert_int_equal(f.out.GetValue(8), -7);
	assert_int_equal(f.out.GetValue(9), 4);
	DataCopyPad(gm[10], f.b, DataCopyExtParams(1, 12, 0, 0));
	assert_int_equal(memory[10], 1);
	assert_int_equal(memory[12], 3);
	assert_int_equal(memory[13], 13);
}

void test_queues_are_first_in_first_out(void **)
{
	TPipe pipe;
	TQue<QuePosition::VECIN, 2> queue;
	LocalTensor<half> first, second;

	assert_ptr_equal(GetTPipePtr(), &pipe);
	pipe.InitBuffer(queue, 2, 100);
	first = queue.AllocTensor<half>();
	second = queue.AllocTensor<half>();
	assert_false(queue.HasIdleBuffer());
	assert_int_equal(first.GetSize(), 64); /* 100 bytes take four blocks */
	assert_ptr_not_equal(first.GetPhyAddr(), second.GetPhyAddr());
	assert_true(queue.VacantInQue());
	queue.EnQue(second);
	queue.EnQue<half>(first);
	assert_false(queue.VacantInQue());
	assert_int_equal(queue.GetTensorCountInQue(), 2);
	assert_ptr_equal(queue.DeQue<half>().GetPhyAddr(), second.GetPhyAddr());
	queue.FreeTensor(second);
	assert_ptr_equal(queue.AllocTensor<half>().GetPhyAddr(), second.GetPhyAddr());
	assert_ptr_equal(queue.DeQue<half>().GetPhyAddr(), first.GetPhyAddr());
	assert_false(queue.HasTensorInQue());
	vinci_ascendc::ub.release();
}

/* --- reductions of a repeat ------------------------------------------------------------------- */

void test_repeats_are_reduced(void **)
{
	fixture<float, 256> f;
	float sum = 0;

	for (uint32_t i = 0; i < 192; i++)
		f.a.SetValue(i, static_cast<float>((i * 37) % 101));
	WholeReduceSum<float>(f.out, f.a, 64, 3, 2, 1, 8);
	for (uint32_t r = 0; r < 3; r++) {
		sum = 0;
		for (uint32_t i = 0; i < 64; i++)
			sum += f.a.GetValue(r * 64 + i); /* small integers: exact in any order */
		assert_true(f.out.GetValue(2 * r) == sum);
	}
	assert_true(f.out.GetValue(1) == 99);

	/* Of the first 5 elements of each, a repeat later every 4 blocks, which lie two apart. */
	WholeReduceMax<float>(f.out, f.a, 5, 2, 1, 2, 4);
	assert_true(f.out.GetValue(0) == 74 + 37 * 0 && f.out.ReinterpretCast<uint32_t>().GetValue(1) == 2);
	WholeReduceMin<float>(f.out, f.a, 64, 1, 1, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
	assert_true(f.out.ReinterpretCast<uint32_t>().GetValue(0) == 0 && f.out.GetValue(1) == 0);
	ReduceRepeat<ReduceType::MAX>(f.out, f.a, 64, 3, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);
	assert_int_equal(f.out.ReinterpretCast<uint32_t>().GetValue(0), 30); /* 37 * 30 mod 101 is 100 */
	ReduceRepeat<ReduceType::MAX>(f.out, f.a, 64, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
	assert_true(f.out.GetValue(0) == 100);
}

/* Pairs of pairs, each sum a half: one after the other the ones would be lost beside 2048. */
void test_half_sums_are_made_in_pairs(void **)
{
	fixture<half, 128> f;

	for (uint32_t i = 0; i < 128; i++)
		f.a.SetValue(i, i == 0 ? 2048.0f : 1.0f);
	WholeReduceSum<half>(f.out, f.a, 128, 1, 1, 1, 8);
	/* (2048 + 1) is 2048; then 2, 4, 8, ... 64 are added. */
	assert_true(static_cast<float>(f.out.GetValue(0)) == 2048 + 2 + 4 + 8 + 16 + 32 + 64);
}

void test_blocks_and_pairs_are_reduced(void **)
{
	fixture<float, 128> f;
	uint64_t odd[2] = { 0xaaaaaaaaaaaaaaaa, 0 };

	for (uint32_t i = 0; i < 128; i++)
		f.a.SetValue(i, static_cast<float>(i));
	BlockReduceSum<float>(f.out, f.a, 2, 64, 1, 1, 8);
	for (uint32_t b = 0; b < 16; b++)
		assert_true(f.out.GetValue(b) == 8 * 8 * b + 28);
	BlockReduceMax<float>(f.out, f.a, 1, 20, 1, 1, 8);
	assert_true(f.out.GetValue(0) == 7 && f.out.GetValue(1) == 15 && f.out.GetValue(2) == 19);
	assert_true(f.out.GetValue(3) == 8 * 8 * 3 + 28); /* no element of it takes part */
	BlockReduceMin<float>(f.out, f.a, 1, odd, 1, 1, 8);
	for (uint32_t b = 0; b < 8; b++)
		assert_true(f.out.GetValue(b) == 8 * b + 1);
	PairReduceSum<float>(f.out, f.a, 2, 64, 1, 1, 8);
	for (uint32_t i = 0; i < 64; i++)
		assert_true(f.out.GetValue(i) == 4 * i + 1);
}

/* --- moving elements ---------------------------------------------------------------------------- */

void test_elements_are_spread(void **)
{
	fixture<float, 128> f;

	Duplicate<float>(f.out, 5, 3, 2, 2, 8);
	for (uint32_t i = 0; i < 128; i++)
		assert_true(f.out.GetValue(i) == (i % 64 < 3 ? 5 : 99));
	Brcb(f.out, f.a, 2, BrcbRepeatParams(1, 8));
	for (uint32_t i = 0; i < 128; i++)
		assert_true(f.out.GetValue(i) == static_cast<float>(i / 8) - 64);
	Copy<float>(f.work, f.a, 8, 2, CopyRepeatParams(1, 1, 1, 4));
	for (uint32_t i = 0; i < 16; i++)
		assert_true(f.work.GetValue(i) == static_cast<float>(i % 8 + i / 8 * 32) - 64);
}

void test_elements_are_gathered(void **)
{
	fixture<int32_t, 64> f;
	LocalTensor<uint32_t> offsets = f.work.ReinterpretCast<uint32_t>();

	for (uint32_t i = 0; i < 32; i++)
		offsets.SetValue(i, 4 * (31 - i));
	Gather(f.out, f.a, offsets, 8, 32);
	for (int i = 0; i < 32; i++)
		assert_int_equal(f.out.GetValue(static_cast<uint32_t>(i)), 31 - i + 2 - 32);
	assert_int_equal(f.out.GetValue(32), 99);

	Interleave(f.out, f.work, f.a, f.b, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(f.out.GetValue(i), i % 2 ? f.b.GetValue(i / 2) : f.a.GetValue(i / 2));
	assert_int_equal(f.work.GetValue(3), f.b.GetValue(3));
	DeInterleave(f.out[32], f.work[32], f.out, f.work, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(f.out.GetValue(32 + i), f.a.GetValue(i));
		assert_int_equal(f.work.GetValue(32 + i), f.b.GetValue(i));
	}
}

void test_transpose(void **)
{
	fixture<int16_t, 256> f;

	Transpose(f.out, f.a);
	for (uint32_t row = 0; row < 16; row++)
		for (uint32_t column = 0; column < 16; column++)
			assert_int_equal(f.out.GetValue(column * 16 + row), f.a.GetValue(row * 16 + column));
}

/* --- masks, atomics, events --------------------------------------------------------------------- */

void test_a_mask_that_was_set_before(void **)
{
	fixture<int32_t, 64> f;

	SetMaskNorm();
	SetVectorMask<int32_t>(0, 0x5);
	Add<int32_t, false>(f.out, f.a, f.b, MASK_PLACEHOLDER, 1, BinaryRepeatParams());
	assert_int_equal(f.out.GetValue(0), -32 + 1);
	assert_int_equal(f.out.GetValue(1), 99);
	assert_int_equal(f.out.GetValue(2), -30 + 3);
	assert_int_equal(f.out.GetValue(3), 99);
	SetVectorMask<int32_t>(2);
	Duplicate<int32_t, false>(f.out, 7, MASK_PLACEHOLDER, 1, 1, 8);
	assert_true(f.out.GetValue(1) == 7 && f.out.GetValue(2) == -27);
	ResetMask();
	Adds<int32_t, false>(f.out, f.a, 1, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
	assert_int_equal(f.out.GetValue(63), 32);
}

void test_a_mask_that_counts(void **)
{
	fixture<int32_t, 160> f;

	SetMaskCount();
	SetVectorMask<int32_t, MaskMode::COUNTER>(70);
	Adds<int32_t, false>(f.out, f.a, 1, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
	SetVectorMask<int32_t, MaskMode::COUNTER>(0, 3);
	Duplicate<int32_t, false>(f.out, 5, MASK_PLACEHOLDER, 1, 1, 8);
	SetMaskNorm();
	ResetMask();
	for (int i = 0; i < 160; i++)
		assert_int_equal(f.out.GetValue(static_cast<uint32_t>(i)), i < 3 ? 5 : i < 70 ? i - 80 + 1 : 99);
}

void test_tensors_without_a_pipe(void **)
{
	{
		LocalMemAllocator<Hardware::UB> allocator;
		LocalTensor<half> a = allocator.Alloc<half, 5>();
		LocalTensor<float> b = allocator.Alloc<TPosition::VECIN, float>(16);
		LocalTensor<int32_t> same(TPosition::VECCALC, 32, 16);

		assert_int_equal(a.GetSize(), 5);
		assert_ptr_equal(reinterpret_cast<char *>(b.GetPhyAddr()), reinterpret_cast<char *>(a.GetPhyAddr()) + 32);
		assert_int_equal(allocator.GetCurAddr(), 96);
		b.SetValue(3, 1.0f);
		assert_int_equal(same.GetValue(3), 0x3f800000);
	}
	vinci_ascendc::ub.release();
}

void test_casts_in_repeats(void **)
{
	fixture<float, 128> f;
	LocalTensor<half> halves = f.work.ReinterpretCast<half>();

	Cast<half, float>(halves, f.a, RoundMode::CAST_NONE, 64, 2, UnaryRepeatParams(1, 1, 4, 8));
	for (uint32_t i = 0; i < 128; i++)
		assert_true(static_cast<float>(halves.GetValue(i)) == static_cast<float>(i) - 64);
	Cast<float, half>(f.out, halves, RoundMode::CAST_NONE, 3, 1, UnaryRepeatParams(1, 1, 8, 4));
	assert_true(f.out.GetValue(2) == -62 && f.out.GetValue(3) == 99);
}

template <typename T> void check_atomics()
{
	fixture<T, 64> f;
	alignas(32) T memory[64];
	GlobalTensor<T> global;

	global.SetGlobalBuffer(memory, 64);
	for (auto &m : memory)
		m = T(3);
	SetAtomicAdd<T>();
	DataCopy(global, f.b, 64);
	DataCopyPad(global, f.b, DataCopyExtParams(1, 2 * sizeof(T), 0, 0));
	SetAtomicNone();
	for (int i = 0; i < 64; i++)
		assert_true(static_cast<float>(memory[i]) == static_cast<float>(3 + (i % 7 + 1) * (i < 2 ? 2 : 1)));
	SetAtomicMax<T>();
	DataCopy(global, f.a, DataCopyParams(1, static_cast<uint16_t>(64 * sizeof(T) / 32), 0, 0));
	SetAtomicMin<T>();
	DataCopy(global, f.b, 64);
	DisableDmaAtomic();
	for (int i = 0; i < 64; i++)
		assert_true(static_cast<float>(memory[i]) == static_cast<float>(i % 7 + 1));
	DataCopy(global, f.a, 64);
	assert_true(static_cast<float>(memory[0]) == -32);
}

void test_atomic_copies(void **)
{
	check_atomics<float>();
	check_atomics<half>();
	check_atomics<int32_t>();
	check_atomics<int16_t>();
	check_atomics<int8_t>();
}

void test_padding_by_the_older_parameters(void **)
{
	fixture<int16_t, 64> f;
	int16_t memory[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, back[8] = {};
	GlobalTensor<int16_t> global;

	global.SetGlobalBuffer(memory, 8);
	DataCopyPad(f.out, global, DataCopyParams(2, 6, 2, 0), DataCopyPadParams(true, 1, 2, 42));
	assert_true(f.out.GetValue(0) == 42 && f.out.GetValue(1) == 1 && f.out.GetValue(3) == 3 && f.out.GetValue(4) == 42);
	assert_true(f.out.GetValue(16) == 42 && f.out.GetValue(17) == 5 && f.out.GetValue(19) == 7);
	global.SetGlobalBuffer(back, 8);
	DataCopyPad(global, f.out[1], DataCopyParams(1, 6, 0, 0));
	assert_true(back[0] == 1 && back[2] == 3 && back[3] == 0);
}

void test_event_ids(void **)
{
	TPipe pipe;
	TEventID first = GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
	TEventID second = pipe.AllocEventID<HardEvent::MTE2_V>();

	assert_int_not_equal(first, second);
	assert_int_not_equal(pipe.FetchEventID(HardEvent::MTE2_V), first);
	assert_int_equal(pipe.FetchEventID<HardEvent::V_MTE3>(), 0);
	SetFlag<HardEvent::MTE2_V>(first);
	WaitFlag<HardEvent::MTE2_V>(first);
	pipe.ReleaseEventID<HardEvent::MTE2_V>(first);
	assert_int_equal(pipe.AllocEventID<HardEvent::MTE2_V>(), first);
}

} // namespace

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_known_values),
		cmocka_unit_test(test_half_every_value_comes_back),
		cmocka_unit_test(test_half_rounds_to_nearest_even),
		cmocka_unit_test(test_bfloat),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_integers_wrap),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_casts),
		cmocka_unit_test(test_compare_and_select),
		cmocka_unit_test(test_copies_count_in_blocks),
		cmocka_unit_test(test_padded_copies),
		cmocka_unit_test(test_queues_are_first_in_first_out),
		cmocka_unit_test(test_repeats_are_reduced),
		cmocka_unit_test(test_half_sums_are_made_in_pairs),
		cmocka_unit_test(test_blocks_and_pairs_are_reduced),
		cmocka_unit_test(test_elements_are_spread),
		cmocka_unit_test(test_elements_are_gathered),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_a_mask_that_was_set_before),
		cmocka_unit_test(test_a_mask_that_counts),
		cmocka_unit_test(test_tensors_without_a_pipe),
		cmocka_unit_test(test_casts_in_repeats),
		cmocka_unit_test(test_atomic_copies),
		cmocka_unit_test(test_padding_by_the_older_parameters),
		cmocka_unit_test(test_event_ids),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
