/* SPDX-License-Identifier: MIT */
/* symbol_test.c - the program's own kernels and their variables, by address, and aclrtlaunch_*.h. */
#include "mem_util.h"
#include "symbol_kernels.h"

#include <dlfcn.h>
#include <stdlib.h>

#define OTHER_DEVICE 1

static const void *weights, *runs, *pair, *weigh, *count_run;

static int setup(void **state)
{
	(void)state;
	assert_ok(aclInit(NULL));
	assert_ok(aclrtSetDevice(0));
	weights = symbol_of(SYMBOL_WEIGHTS);
	runs = symbol_of(SYMBOL_RUNS);
	pair = symbol_of(SYMBOL_PAIR);
	weigh = symbol_of(SYMBOL_WEIGH);
	count_run = symbol_of(SYMBOL_COUNT_RUN);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclFinalize());
	return 0;
}

static void assert_says(int code, int wanted, const char *word)
{
	const char *text = aclGetRecentErrMsg();

	assert_int_equal(code, wanted);
	assert_non_null(text);
	assert_non_null(strstr(text, word));
}

static void *device_new(size_t size)
{
	void *p = NULL;

	assert_ok(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
	return p;
}

/* covers: aclrtGetSymbolAddress, aclrtGetSymbolSize, vinciRegisterSymbol effect */
static void variables_have_addresses_and_sizes(void **state)
{
	aclrtPtrAttributes attributes;
	float values[4], more[4] = { 10, 20, 30, 40 };
	void *at = NULL, *again = NULL;
	size_t size = 0;

	(void)state;
	assert_ok(aclrtGetSymbolSize(weights, &size));
	assert_int_equal(size, sizeof(values));
	assert_ok(aclrtGetSymbolSize(runs, &size));
	assert_int_equal(size, 8);
	assert_ok(aclrtGetSymbolSize(pair, &size));
	assert_int_equal(size, 8);
	assert_ok(aclrtGetSymbolAddress(weights, &at));
	assert_ok(aclrtGetSymbolAddress(weights, &again));
	assert_ptr_equal(at, again);

	/* It is memory of the device. */
	assert_ok(aclrtPointerGetAttributes(at, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(attributes.location.id, 0);
	assert_ok(aclrtMemcpy(values, sizeof(values), at, sizeof(values), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(values[0] == 1 && values[3] == 4);
	assert_refused(aclrtMemcpy(values, 32, at, 32, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtMemcpy(at, sizeof(more), more, sizeof(more), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpyFromSymbol(values, sizeof(values), weights, sizeof(values), 0, ACL_MEMCPY_DEFAULT));
	assert_memory_equal(values, more, sizeof(values));
}

/* covers: aclrtMemcpyToSymbol, aclrtMemcpyFromSymbol effect */
static void copies_to_variables_reach_kernels(void **state)
{
	float set[2] = { 0.5f, 0.25f }, scaled[4], back[3];
	float all[4] = { 1, 2, 3, 4 };
	void *out = device_new(sizeof(scaled));

	(void)state;
	assert_ok(aclrtMemcpyToSymbol(weights, all, sizeof(all), 0, ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpyToSymbol(weights, set, sizeof(set), sizeof(float), ACL_MEMCPY_DEFAULT));
	assert_int_equal(launch_weigh(4, NULL, out, 8), 0);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(scaled, sizeof(scaled), out, sizeof(scaled), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(scaled[0] == 8 && scaled[1] == 4 && scaled[2] == 2 && scaled[3] == 32);
	assert_ok(aclrtMemcpyFromSymbol(back, 100, weights, sizeof(back), 4, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(back[0] == 0.5f && back[1] == 0.25f && back[2] == 4);
	assert_ok(aclrtFree(out));
}

static void structs_go_by_their_address(void **state)
{
	int32_t values[4];
	void *out = device_new(sizeof(values));

	(void)state;
	assert_ok(aclrtMemset(out, sizeof(values), 0, sizeof(values)));
	assert_int_equal(launch_fill(NULL, out, 77, 3), 0);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(values, sizeof(values), out, sizeof(values), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(values[0] == 77 && values[2] == 77 && values[3] == 0);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtMemcpyToSymbolAsync, aclrtMemcpyFromSymbolAsync effect */
static void copies_in_a_stream_keep_its_order(void **state)
{
	aclrtStream stream;
	int64_t *host;
	void *out = device_new(8);
	struct {
		void *out;
	} args = { out };
	aclrtFuncHandle fn;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMallocHost((void **)&host, 16));
	assert_ok(aclrtGetFuncBySymbol(count_run, &fn));
	host[0] = 41;
	host[1] = 0;
	assert_ok(aclrtMemcpyToSymbolAsync(runs, host, 8, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream));
	assert_ok(aclrtLaunchKernelWithHostArgs(fn, 1, stream, NULL, &args, sizeof(args), NULL, 0));
	assert_ok(aclrtMemcpyFromSymbolAsync(&host[1], 8, runs, 8, 0, ACL_MEMCPY_DEVICE_TO_HOST, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(host[1], 42);
	assert_ok(aclrtFreeHost(host));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtFree(out));
}

/* covers: aclrtGetSymbolAddress, aclrtGetSymbolSize failure */
/* covers: aclrtMemcpyToSymbol, aclrtMemcpyFromSymbol failure */
/* covers: aclrtMemcpyToSymbolAsync, aclrtMemcpyFromSymbolAsync failure */
static void variables_refuse(void **state)
{
	const aclrtMemcpyKind in = ACL_MEMCPY_HOST_TO_DEVICE, out = ACL_MEMCPY_DEVICE_TO_HOST;
	char host[32];
	void *at = (void *)1;
	size_t size = 7;

	(void)state;
	assert_refused(aclrtGetSymbolAddress(host, &at), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtGetSymbolAddress((const char *)weights + 4, &at), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtGetSymbolAddress(weigh, &at), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtGetSymbolAddress(NULL, &at), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetSymbolAddress(weights, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetSymbolSize(host, &size), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtGetSymbolSize(weights, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(at, (void *)1);
	assert_int_equal(size, 7);

	assert_ok(aclrtMemcpyToSymbol(NULL, NULL, 0, 0, ACL_MEMCPY_HOST_TO_HOST));
	assert_refused(aclrtMemcpyToSymbol(weights, NULL, 1, 0, in), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbol(weights, host, 1, 0, out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbol(weights, host, 17, 0, in), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbol(weights, host, 1, 16, in), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbol(weights, host, 2, SIZE_MAX, in), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbol(host, host, 1, 0, in), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtMemcpyToSymbolAsync(weights, host, 17, 0, in, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyToSymbolAsync(weights, host, 1, 0, in, host), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtMemcpyFromSymbol(host, 3, weights, 4, 0, out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyFromSymbol(host, 32, weights, 17, 0, out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyFromSymbol(host, 32, weights, 4, 0, in), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyFromSymbol(NULL, 32, weights, 4, 0, out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyFromSymbolAsync(host, 3, weights, 4, 0, out, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyFromSymbolAsync(host, 32, weights, 4, 0, out, host), ACL_ERROR_RT_INVALID_HANDLE);
}

static void a_variable_belongs_to_one_device(void **state)
{
	void *at = NULL;
	size_t size;

	(void)state;
	assert_ok(aclrtGetSymbolAddress(pair, &at));
	assert_ok(aclrtSetDevice(OTHER_DEVICE));
	assert_says(aclrtGetSymbolSize(pair, &size), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "belongs to device 0");
	assert_ok(aclrtResetDevice(OTHER_DEVICE));
	assert_ok(aclrtSetDevice(0));
}

/* covers: aclrtGetFuncBySymbol effect */
static void kernels_have_handles(void **state)
{
	struct {
		void *out;
		float scale, pad;
	} args = { .scale = 2 };
	aclrtFuncHandle fn, again, other;
	aclrtBinHandle bin, bin2;
	float out[2];
	char name[16];
	size_t count = 0;

	(void)state;
	assert_ok(aclrtGetFuncBySymbol(weigh, &fn));
	assert_ok(aclrtGetFuncBySymbol(weigh, &again));
	assert_ok(aclrtGetFuncBySymbol(count_run, &other));
	assert_ptr_equal(fn, again);
	assert_ptr_not_equal(fn, other);
	assert_ok(aclrtFunctionGetBinary(fn, &bin));
	assert_ok(aclrtFunctionGetBinary(other, &bin2));
	assert_ptr_equal(bin, bin2);
	assert_ok(aclrtGetFunctionName(fn, sizeof(name), name));
	assert_string_equal(name, "weigh");
	assert_ok(aclrtGetFunctionName(other, sizeof(name), name));
	assert_string_equal(name, "count_run");
	assert_ok(aclrtFunctionGetParamCount(fn, &count));
	assert_int_equal(count, 2);

	args.out = device_new(sizeof(out));
	assert_ok(aclrtLaunchKernelWithHostArgs(fn, 2, NULL, NULL, &args, sizeof(args), NULL, 0));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(out, sizeof(out), args.out, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(out[0] == 2);

	/* A launch that takes addresses as well. */
	args.scale = 3;
	assert_ok(aclrtLaunchKernelWithArgsArray((void *)(uintptr_t)weigh, 1, NULL, NULL,
						 (void *[]){ &args.out, &args.scale }));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(out, sizeof(out), args.out, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(out[0] == 3);
	assert_ok(aclrtFree(args.out));

	/* Handles that were given up are not given again. */
	assert_ok(aclrtBinaryUnLoad(bin));
	assert_refused(aclrtGetFunctionName(fn, sizeof(name), name), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtGetFuncBySymbol(weigh, &again));
	assert_ptr_not_equal(fn, again);
}

/* covers: aclrtGetFuncBySymbol failure */
static void what_is_no_kernel_has_no_handle(void **state)
{
	aclrtFuncHandle fn = (aclrtFuncHandle)1;

	(void)state;
	assert_refused(aclrtGetFuncBySymbol(weights, &fn), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
	assert_refused(aclrtGetFuncBySymbol(&fn, &fn), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
	assert_refused(aclrtGetFuncBySymbol(NULL, &fn), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFuncBySymbol(weigh, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(fn, (aclrtFuncHandle)1);
	assert_refused(aclrtLaunchKernelWithArgsArray(&fn, 1, NULL, NULL, NULL), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: vinciUnregisterSymbol effect */
/* covers: aclrtGetFunctionSize effect */
static void a_library_comes_and_goes(void **state)
{
	const void *(*symbol)(enum symbol);
	size_t aic = 1, aiv = 0, size;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const void *its_weights, *its_weigh;
	aclrtFuncHandle fn;

	(void)state;
	assert_non_null(library);
	*(void **)&symbol = dlsym(library, "symbol_of");
	assert_non_null(symbol);
	its_weights = symbol(SYMBOL_WEIGHTS);
	its_weigh = symbol(SYMBOL_WEIGH);
	assert_ptr_not_equal(its_weights, weights);
	assert_ok(aclrtGetSymbolSize(its_weights, &size));
	assert_int_equal(dlclose(library), 0);
	assert_refused(aclrtGetSymbolSize(its_weights, &size), ACL_ERROR_RT_INVALID_SYMBOL);

	/* Handles of its kernels keep it. */
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	*(void **)&symbol = dlsym(library, "symbol_of");
	its_weigh = symbol(SYMBOL_WEIGH);
	assert_ok(aclrtGetFuncBySymbol(its_weigh, &fn));
	assert_int_equal(dlclose(library), 0);
	assert_ok(aclrtGetFunctionSize(fn, &aic, &aiv));
	assert_int_equal(aic, 0);
	assert_in_range(aiv, 1, 4096);
	assert_ok(aclrtGetFuncBySymbol(its_weigh, &fn));
}

/* covers: aclrtGetFunctionSize failure */
static void sizes_that_nobody_knows(void **state)
{
	size_t aic = 5, aiv = 5;
	aclrtFuncHandle fn;

	(void)state;
	assert_ok(aclrtGetFuncBySymbol(count_run, &fn));
	assert_refused(aclrtGetFunctionSize(fn, &aic, &aiv), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtGetFunctionSize(fn, NULL, &aiv), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetFunctionSize(fn, &aic, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetFunctionSize(&fn, &aic, &aiv), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(aic + aiv, 10);
}

/* covers: vinciRegisterSymbol, vinciUnregisterSymbol failure */
static void symbols_that_are_wrong(void **state)
{
	static char byte;
	const struct vinci_kernel old = { .abi = VINCI_KERNEL_ABI + 1, .name = "old" };
	struct vinci_symbol none = { .address = &byte, .name = "none" };
	struct vinci_symbol wrong = { .address = &byte, .name = "wrong", .kernel = &old };
	aclrtFuncHandle fn;
	size_t size;

	(void)state;
	vinciUnregisterSymbol(&none);
	assert_ok(aclrtGetSymbolSize(weights, &size));
	vinciRegisterSymbol(&none);
	assert_refused(aclrtGetSymbolSize(&byte, &size), ACL_ERROR_RT_INVALID_SYMBOL);
	assert_refused(aclrtGetFuncBySymbol(&byte, &fn), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
	vinciRegisterSymbol(&wrong);
	assert_says(aclrtGetFuncBySymbol(&byte, &fn), ACL_ERROR_RT_PARAM_INVALID, "launch ABI");
	vinciUnregisterSymbol(&none);
	vinciUnregisterSymbol(&wrong);
	assert_refused(aclrtGetFuncBySymbol(&byte, &fn), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_have_addresses_and_sizes),
		cmocka_unit_test(copies_to_variables_reach_kernels),
		cmocka_unit_test(structs_go_by_their_address),
		cmocka_unit_test(copies_in_a_stream_keep_its_order),
		cmocka_unit_test(variables_refuse),
		cmocka_unit_test(a_variable_belongs_to_one_device),
		cmocka_unit_test(kernels_have_handles),
		cmocka_unit_test(what_is_no_kernel_has_no_handle),
		cmocka_unit_test(a_library_comes_and_goes),
		cmocka_unit_test(sizes_that_nobody_knows),
		cmocka_unit_test(symbols_that_are_wrong),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
