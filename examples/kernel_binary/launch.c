/* SPDX-License-Identifier: MIT */
/*
 * A kernel from a file: nothing of it is linked. Its arguments go into a list; a placeholder is a pointer to bytes that travel
 * with the launch, so that small tables need no memory of their own on the device.
 */
#include "example.h"

#include <stdio.h>
#include <string.h>

#define COUNT 1000u
#define BLOCKS 8
#define DEGREE 2u

static const int64_t coefficients[DEGREE + 1] = { 7, -3, 2 };

static aclrtArgsHandle arguments(aclrtFuncHandle kernel, void *out)
{
	uint32_t count = COUNT, degree = DEGREE;
	aclrtArgsHandle args;
	aclrtParamHandle param, table;
	void *bytes;

	CHECK(aclrtKernelArgsInit(kernel, &args));
	CHECK(aclrtKernelArgsAppend(args, &out, sizeof(out), &param));
	CHECK(aclrtKernelArgsAppend(args, &count, sizeof(count), &param));
	CHECK(aclrtKernelArgsAppendPlaceHolder(args, &table));
	CHECK(aclrtKernelArgsAppend(args, &degree, sizeof(degree), &param));
	CHECK(aclrtKernelArgsGetPlaceHolderBuffer(args, table, sizeof(coefficients), &bytes));
	memcpy(bytes, coefficients, sizeof(coefficients));
	CHECK(aclrtKernelArgsFinalize(args));
	return args;
}

static unsigned wrong_of(const int64_t *values)
{
	unsigned wrong = 0;

	for (int64_t i = 0; i < COUNT; i++)
		wrong += values[i] != coefficients[0] + coefficients[1] * i + coefficients[2] * i * i;
	return wrong;
}

int main(int argc, char **argv)
{
	int64_t values[COUNT];
	char path[4096];
	aclrtBinHandle binary;
	aclrtFuncHandle kernel;
	aclrtStream stream;
	size_t parameters;
	void *out;

	example_begin("launch");
	if (argc != 2)
		example_fail("usage: launch <directory of polynomial.o>");
	snprintf(path, sizeof(path), "%s/polynomial.o", argv[1]);
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtMalloc(&out, sizeof(values), ACL_MEM_MALLOC_HUGE_FIRST));
	CHECK(aclrtBinaryLoadFromFile(path, NULL, &binary));
	REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "polynom", &kernel));
	CHECK(aclrtBinaryGetFunction(binary, "polynomial", &kernel));
	CHECK(aclrtFunctionGetParamCount(kernel, &parameters));
	example_say("the kernel has %zu parameters", parameters);

	CHECK(aclrtLaunchKernelWithConfig(kernel, BLOCKS, stream, NULL, arguments(kernel, out), NULL));
	CHECK(aclrtMemcpyAsync(values, sizeof(values), out, sizeof(values), ACL_MEMCPY_DEVICE_TO_HOST, stream));
	CHECK(aclrtSynchronizeStream(stream));
	example_say("%u values, %u wrong", COUNT, wrong_of(values));

	CHECK(aclrtBinaryUnLoad(binary));
	example_say("the function went with its binary:");
	REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtFunctionGetParamCount(kernel, &parameters));
	CHECK(aclrtFree(out));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
