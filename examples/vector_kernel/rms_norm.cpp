// SPDX-License-Identifier: MIT
#include "kernel_operator.h"

using namespace AscendC;

// Known to the host by its address.
__gm__ float gains[256] = {};

extern "C" const void *gains_symbol()
{
	return &gains;
}

// Rows of @columns values, each divided by the root of its mean square and multiplied by the gains. Every block takes
// each block_num-th row: copied in, computed, copied out.
extern "C" __global__ __aicore__ void rms_norm(GM_ADDR in, GM_ADDR out, uint32_t rows, uint32_t columns)
{
	DataCopyExtParams row(1, columns * sizeof(float), 0, 0);
	DataCopyPadExtParams<float> no_padding;
	GlobalTensor<float> from, to, gain;
	TQue<TPosition::VECIN, 2> ins;
	TQue<TPosition::VECOUT, 2> outs;
	TBuf<TPosition::VECCALC> gain_buffer, work_buffer;
	TPipe pipe;

	pipe.InitBuffer(ins, 2, columns * sizeof(float));
	pipe.InitBuffer(outs, 2, columns * sizeof(float));
	pipe.InitBuffer(gain_buffer, columns * sizeof(float));
	pipe.InitBuffer(work_buffer, columns * sizeof(float));
	LocalTensor<float> g = gain_buffer.Get<float>();
	LocalTensor<float> work = work_buffer.Get<float>();

	gain.SetGlobalBuffer(gains, columns);
	DataCopyPad(g, gain, row, no_padding);
	for (uint32_t i = GetBlockIdx(); i < rows; i += GetBlockNum()) {
		from.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(in) + i * columns, columns);
		to.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(out) + i * columns, columns);

		LocalTensor<float> x = ins.AllocTensor<float>();
		DataCopyPad(x, from, row, no_padding);
		ins.EnQue(x);

		x = ins.DeQue<float>();
		LocalTensor<float> y = outs.AllocTensor<float>();
		Mul(y, x, x, columns);
		ReduceSum(work, y, work, columns);
		Muls(work, work, 1.0f / columns, 1);
		Sqrt(work, work, 1);
		Muls(y, x, 1.0f / work.GetValue(0), columns);
		Mul(y, y, g, columns);
		outs.EnQue(y);
		ins.FreeTensor(x);

		y = outs.DeQue<float>();
		DataCopyPad(to, y, row);
		outs.FreeTensor(y);
	}
}
