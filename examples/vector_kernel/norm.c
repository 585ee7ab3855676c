/* SPDX-License-Identifier: MIT */
/*
 * A vector kernel: the host knows it by a header that the build makes of it, and one of its variables by address.
 */
#include "example.h"

#include "aclrtlaunch_rms_norm.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 64u
#define COLUMNS 200u
#define BLOCKS 8

const void *gains_symbol(void);

static float gains[COLUMNS], values[ROWS][COLUMNS], normed[ROWS][COLUMNS];

static unsigned wrong_in_row(const float *in, const float *out)
{
	unsigned wrong = 0;
	double sum = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		sum += (double)in[i] * in[i];
	for (unsigned i = 0; i < COLUMNS; i++) {
		double wanted = in[i] / sqrt(sum / COLUMNS) * gains[i];

		wrong += !(fabs(out[i] - wanted) <= 1e-5 * fabs(wanted) + 1e-6);
	}
	return wrong;
}

int main(void)
{
	void *in, *out;
	aclrtStream stream;
	unsigned wrong = 0;
	size_t size;

	example_begin("norm");
	for (unsigned i = 0; i < ROWS * COLUMNS; i++)
		values[i / COLUMNS][i % COLUMNS] = (float)(i * 7919 % 1000) / 100 - 5;
	for (unsigned i = 0; i < COLUMNS; i++)
		gains[i] = 1 + (float)i / COLUMNS;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtMalloc(&in, sizeof(values), ACL_MEM_MALLOC_HUGE_FIRST));
	CHECK(aclrtMalloc(&out, sizeof(values), ACL_MEM_MALLOC_HUGE_FIRST));
	CHECK(aclrtMemcpy(in, sizeof(values), values, sizeof(values), ACL_MEMCPY_HOST_TO_DEVICE));
	CHECK(aclrtGetSymbolSize(gains_symbol(), &size));
	example_say("the kernel's variable has room for %zu gains", size / sizeof(float));
	CHECK(aclrtMemcpyToSymbol(gains_symbol(), gains, sizeof(gains), 0, ACL_MEMCPY_HOST_TO_DEVICE));

	CHECK((aclError)ACLRT_LAUNCH_KERNEL(rms_norm)(BLOCKS, stream, in, out, ROWS, COLUMNS));
	CHECK(aclrtSynchronizeStream(stream));
	CHECK(aclrtMemcpy(normed, sizeof(normed), out, sizeof(normed), ACL_MEMCPY_DEVICE_TO_HOST));
	for (unsigned row = 0; row < ROWS; row++)
		wrong += wrong_in_row(values[row], normed[row]);
	example_say("%u values, %u wrong", ROWS * COLUMNS, wrong);

	CHECK(aclrtFree(in));
	CHECK(aclrtFree(out));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return wrong != 0;
}
