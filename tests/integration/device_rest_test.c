/* SPDX-License-Identifier: MIT */
/*
 * device_rest_test.c - what else devices are asked: how busy they are, whose operators they run, what overflowed, how
 * large kernels' stacks are.
 */
#include "mem_util.h"

#include "acl/extras.h"
#include "vinci/kernel.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

#define WAIT_MS 30000

static int set_up(void **state)
{
	(void)state;
	assert_ok(aclrtSetDevice(0));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_ok(aclrtResetDevice(0));
	return 0;
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

static int launch(const struct vinci_kernel *kernel, uint32_t blocks, aclrtStream stream, void *arg)
{
	return (int)vinciLaunchKernel(kernel, blocks, stream, &arg, sizeof(arg));
}

/* ---- load ---- */

struct busy {
	atomic_uint started, end;
};

static void busy_kernel(const void *args, const struct vinci_block *block)
{
	struct busy *b = *(struct busy *const *)args;

	(void)block;
	atomic_fetch_add(&b->started, 1);
	while (!atomic_load(&b->end))
		;
}

static const struct vinci_kernel busy = { .abi = VINCI_KERNEL_ABI, .name = "busy", .run = busy_kernel, .args_size = 8 };

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

/* covers: aclrtGetDeviceUtilizationRate effect */
static void a_device_is_as_busy_as_its_kernels(void **state)
{
	aclrtUtilizationInfo idle = { 9, 9, 9, 9, NULL }, one = idle, all = idle, other = idle;
	aclrtStream stream = stream_new();
	struct busy b = { 0 }, many = { 0 };

	(void)state;
	assert_ok(aclrtGetDeviceUtilizationRate(0, &idle));
	assert_int_equal(idle.cubeUtilization, 0);
	assert_int_equal(idle.vectorUtilization, 0);
	assert_int_equal(idle.aicpuUtilization, 0);
	assert_int_equal(idle.memoryUtilization, -1);
	assert_ok(launch(&busy, 1, stream, &b));
	assert_true(t_until(is_set, &b.started, WAIT_MS));
	assert_ok(aclrtGetDeviceUtilizationRate(0, &one));
	assert_in_range(one.vectorUtilization, 1, 100);
	assert_ok(aclrtGetDeviceUtilizationRate(1, &other));
	assert_int_equal(other.vectorUtilization, 0);
	atomic_store(&b.end, 1);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(launch(&busy, 64, stream, &many));
	assert_true(t_until(is_set, &many.started, WAIT_MS));
	assert_ok(aclrtGetDeviceUtilizationRate(0, &all));
	assert_in_range(all.vectorUtilization, one.vectorUtilization, 100);
	atomic_store(&many.end, 1);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtGetDeviceUtilizationRate failure */
static void load_refused(void **state)
{
	aclrtUtilizationInfo info = { .utilizationExtend = (void *)&info };

	(void)state;
	assert_refused(aclrtGetDeviceUtilizationRate(0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetDeviceUtilizationRate(0, &info), ACL_ERROR_INVALID_PARAM);
	info.utilizationExtend = NULL;
	assert_refused(aclrtGetDeviceUtilizationRate(8, &info), ACL_ERROR_RT_INVALID_DEVICEID);
}

/* ---- instructions ---- */

/* covers: aclrtCheckArchCompatibility effect */
static void operators_of_the_same_instructions_run(void **state)
{
	static const struct {
		const char *soc;
		int32_t same;
	} cases[] = { { "Ascend910B1", 1 },	 { "Ascend910B4-1", 1 }, { "Ascend910_9391", 1 },
		      { "Ascend910A", 0 },	 { "Ascend310P3", 0 },	 { "Ascend310B1", 0 },
		      { "Ascend950PR_9589", 0 }, { "Ascend035A", 0 },	 { "Ascend031", 0 } };
	int32_t same;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		same = 9;
		assert_ok(aclrtCheckArchCompatibility(cases[i].soc, &same));
		assert_int_equal(same, cases[i].same);
	}
}

/* covers: aclrtCheckArchCompatibility failure */
static void instructions_refused(void **state)
{
	int32_t same = 9;

	(void)state;
	assert_refused(aclrtCheckArchCompatibility(NULL, &same), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCheckArchCompatibility("", &same), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCheckArchCompatibility("Ascend911", &same), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCheckArchCompatibility("Ascend910B1", NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(same, 9);
}

/* ---- overflow ---- */

/* From the largest number to infinity, unless *scale is 1. */
static void multiply_kernel(const void *args, const struct vinci_block *block)
{
	const volatile float *scale = *(const volatile float *const *)args;
	volatile float product = FLT_MAX;

	(void)block;
	product *= *scale;
	(void)product;
}

static const struct vinci_kernel multiply = {
	.abi = VINCI_KERNEL_ABI, .name = "multiply", .run = multiply_kernel, .args_size = 8
};

static uint32_t status(aclrtStream stream, bool npu)
{
	uint32_t host[16];
	void *device = NULL;

	assert_ok(aclrtMalloc(&device, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST));
	if (npu)
		assert_ok(aclrtNpuGetFloatOverFlowStatus(device, sizeof(host), 0, stream));
	else
		assert_ok(aclrtGetFloatOverflowStatus(device, sizeof(host), stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtMemcpy(host, sizeof(host), device, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_ok(aclrtFree(device));
	return host[0];
}

/* covers: aclrtGetFloatOverflowStatus, aclrtResetFloatOverflowStatus effect */
/* covers: aclrtNpuGetFloatOverFlowStatus, aclrtNpuClearFloatOverFlowStatus effect */
static void kernels_overflow(void **state)
{
	aclrtStream stream = stream_new();
	float one = 1, two = 2;

	(void)state;
	assert_ok(launch(&multiply, 1, stream, &two));
	assert_int_equal(status(stream, false), 0); /* nobody asked */
	assert_ok(aclrtSetStreamOverflowSwitch(stream, 1));
	assert_ok(launch(&multiply, 1, stream, &one));
	assert_int_equal(status(stream, false), 0);
	for (uint32_t blocks = 1; blocks <= 16; blocks *= 16) {
		assert_ok(launch(&multiply, blocks, stream, &two));
		assert_int_not_equal(status(stream, false), 0);
		assert_int_not_equal(status(stream, true), 0);
		assert_ok(blocks == 1 ? aclrtResetFloatOverflowStatus(stream)
				      : aclrtNpuClearFloatOverFlowStatus(0, stream));
		assert_int_equal(status(stream, true), 0);
	}
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtGetFloatOverflowStatus, aclrtResetFloatOverflowStatus failure */
/* covers: aclrtNpuGetFloatOverFlowStatus, aclrtNpuClearFloatOverFlowStatus failure */
static void overflow_refused(void **state)
{
	aclrtStream dead = stream_new();
	char buffer[64];

	(void)state;
	assert_ok(aclrtDestroyStream(dead));
	assert_refused(aclrtGetFloatOverflowStatus(NULL, 64, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetFloatOverflowStatus(buffer, 63, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtResetFloatOverflowStatus(dead), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtNpuGetFloatOverFlowStatus(NULL, 64, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtNpuGetFloatOverFlowStatus(buffer, 64, 1, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtNpuClearFloatOverFlowStatus(1, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtNpuClearFloatOverFlowStatus(0, dead), ACL_ERROR_RT_INVALID_HANDLE);
}

/* ---- sizes that kernels get ---- */

#define STACK ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE
#define FIFO ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE

/* covers: aclrtDeviceSetLimit, aclrtDeviceGetLimit effect */
static void limits_are_rounded_and_told(void **state)
{
	size_t value = 0;

	(void)state;
	assert_ok(aclrtDeviceGetLimit(STACK, &value));
	assert_int_equal(value, 32768);
	assert_ok(aclrtDeviceSetLimit(STACK, 32769));
	assert_ok(aclrtDeviceGetLimit(STACK, &value));
	assert_int_equal(value, 49152);
	assert_ok(aclrtDeviceSetLimit(STACK, 5));
	assert_ok(aclrtDeviceGetLimit(STACK, &value));
	assert_int_equal(value, 32768);
	assert_ok(aclrtDeviceSetLimit(FIFO, 1025));
	assert_ok(aclrtDeviceGetLimit(FIFO, &value));
	assert_int_equal(value, 1032);
}

/* covers: aclrtDeviceSetLimit, aclrtDeviceGetLimit failure */
static void sizes_refused(void **state)
{
	size_t value = 9;

	(void)state;
	assert_refused(aclrtDeviceSetLimit((aclrtDeviceLimit)5, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceGetLimit((aclrtDeviceLimit)-1, &value), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceGetLimit(STACK, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceSetLimit(STACK, (size_t)UINT32_MAX + 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceSetLimit(STACK, 196609), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceSetLimit(FIFO, 1023), ACL_ERROR_RT_PARAM_INVALID);
	for (int limit = 0; limit < 5; limit++) {
		if (limit == STACK || limit == FIFO)
			continue; /* the others are for kernels that an Atlas A2 does not run */
		assert_refused(aclrtDeviceSetLimit((aclrtDeviceLimit)limit, 4096), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
		assert_refused(aclrtDeviceGetLimit((aclrtDeviceLimit)limit, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	}
	assert_int_equal(value, 9);
}

/* ---- the rest ---- */

/* covers: aclrtGetHardwareSyncAddr, aclrtDeviceL2CacheFlush, aclrtProfTrace effect */
static void small_things(void **state)
{
	aclrtPtrAttributes attributes = { 0 };
	void *first = NULL, *again = NULL;
	char mark[18] = { 0 };

	(void)state;
	assert_ok(aclrtGetHardwareSyncAddr(&first));
	assert_ok(aclrtGetHardwareSyncAddr(&again));
	assert_ptr_equal(first, again);
	assert_ok(aclrtPointerGetAttributes(first, &attributes)); /* it is the device's: a kernel may use it */
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_ok(aclrtDeviceL2CacheFlush(NULL));
	assert_ok(aclrtProfTrace(mark, sizeof(mark), NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
}

/* covers: aclrtGetHardwareSyncAddr, aclrtDeviceL2CacheFlush, aclrtProfTrace failure */
static void small_things_refused(void **state)
{
	aclrtStream dead = stream_new();
	char mark[19] = { 0 };

	(void)state;
	assert_ok(aclrtDestroyStream(dead));
	assert_refused(aclrtGetHardwareSyncAddr(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceL2CacheFlush(mark), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtProfTrace(NULL, 1, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtProfTrace(mark, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtProfTrace(mark, 19, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtProfTrace(mark, 1, dead), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclrtSetDeviceWithoutTsdVXX, aclrtResetDeviceWithoutTsdVXX effect */
static void devices_are_counted_alike(void **state)
{
	int32_t device = -1;

	(void)state;
	assert_ok(aclrtSetDeviceWithoutTsdVXX(1));
	assert_ok(aclrtGetDevice(&device));
	assert_int_equal(device, 1);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtResetDeviceWithoutTsdVXX(1));
	assert_refused(aclrtResetDeviceWithoutTsdVXX(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

/* covers: aclrtSetDeviceWithoutTsdVXX, aclrtResetDeviceWithoutTsdVXX failure */
static void no_such_devices(void **state)
{
	(void)state;
	assert_refused(aclrtSetDeviceWithoutTsdVXX(8), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtResetDeviceWithoutTsdVXX(-1), ACL_ERROR_RT_INVALID_DEVICEID);
}

/* Another product, in a process of its own: devices of an Atlas 310P, which are none of the 910 family. */
static int other_product(void)
{
	size_t bytes;
	void *addr;

	return aclrtSetDeviceWithoutTsdVXX(0) != ACL_ERROR_API_NOT_SUPPORT ||
	       aclrtResetDeviceWithoutTsdVXX(0) != ACL_ERROR_API_NOT_SUPPORT || aclrtSetDevice(0) ||
	       aclrtGetHardwareSyncAddr(&addr) != ACL_ERROR_RT_FEATURE_NOT_SUPPORT ||
	       aclrtDeviceGetLimit(STACK, &bytes) != ACL_ERROR_RT_FEATURE_NOT_SUPPORT || aclrtResetDevice(0);
}

/* And of a 950, where limits for SIMT kernels are kept. */
static int simt_product(void)
{
	size_t value = 0;

	return aclrtSetDevice(0) || aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 200) ||
	       aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, &value) || value != 8192 ||
	       aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 0) ||
	       aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE, 0) != ACL_ERROR_RT_PARAM_INVALID ||
	       aclrtDeviceSetLimit(STACK, 131073) != ACL_ERROR_RT_PARAM_INVALID || aclrtResetDevice(0);
}

#define FAIL_UNLESS(cond)                                             \
	do {                                                          \
		if (!(cond)) {                                        \
			fprintf(stderr, "%s\n", #cond);               \
			return 1;                                     \
		}                                                     \
	} while (0)

/* And an IPV350, whose streams are made of configurations. */
static int configured_product(void)
{
	const uint32_t flag = 0, priority = 3, wrong = 8;
	aclrtStreamConfigHandle *config;
	aclrtContext context = NULL;
	aclrtStream stream = NULL;
	const size_t size = 4096;
	const void *work = &size;

	FAIL_UNLESS(!aclrtSetDevice(0) && !aclrtCreateContext(&context, 0));
	config = aclrtCreateStreamConfigHandle();
	FAIL_UNLESS(config);
	FAIL_UNLESS(!aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
	FAIL_UNLESS(!aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
	FAIL_UNLESS(!aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_ADDR_PTR, &work, sizeof(work)));
	FAIL_UNLESS(!aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_SIZE, &size, sizeof(size)));
	FAIL_UNLESS(config->workptr == work && config->workSize == size && !config->flag && config->priority == 3);
	FAIL_UNLESS(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &wrong, 4) == ACL_ERROR_RT_PARAM_INVALID);
	FAIL_UNLESS(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, 8) ==
		    ACL_ERROR_RT_PARAM_INVALID);
	FAIL_UNLESS(aclrtSetStreamConfigOpt(config, (aclrtStreamConfigAttr)4, &flag, 4) == ACL_ERROR_RT_PARAM_INVALID);
	FAIL_UNLESS(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, NULL, 4) == ACL_ERROR_INVALID_PARAM);
	FAIL_UNLESS(aclrtCreateStreamV2(NULL, config) == ACL_ERROR_INVALID_PARAM);
	FAIL_UNLESS(aclrtCreateStreamV2(&stream, NULL) == ACL_ERROR_INVALID_PARAM);
	FAIL_UNLESS(!aclrtCreateStreamV2(&stream, config));
	FAIL_UNLESS(!aclrtDestroyStreamConfigHandle(config));
	FAIL_UNLESS(aclrtDestroyStreamConfigHandle(config) == ACL_ERROR_RT_PARAM_INVALID);
	FAIL_UNLESS(aclrtCreateStreamV2(&stream, config) == ACL_ERROR_RT_PARAM_INVALID);
	FAIL_UNLESS(!aclrtSynchronizeStream(stream) && !aclrtDestroyStream(stream));
	FAIL_UNLESS(!aclrtDestroyContext(context) && !aclrtResetDevice(0));
	return 0;
}

/* covers: aclrtCreateStreamConfigHandle, aclrtDestroyStreamConfigHandle failure */
/* covers: aclrtSetStreamConfigOpt, aclrtCreateStreamV2 failure */
static void configurations_refused(void **state)
{
	aclrtStreamConfigHandle config = { 0 };
	aclrtStream stream = NULL;
	uint32_t flag = 0;

	(void)state;
	(void)aclGetRecentErrMsg();
	assert_null(aclrtCreateStreamConfigHandle());
	assert_non_null(aclGetRecentErrMsg());
	assert_refused(aclrtSetStreamConfigOpt(&config, ACL_RT_STREAM_FLAG, &flag, 4),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtCreateStreamV2(&stream, &config), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtDestroyStreamConfigHandle(&config), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_null(stream);
}

/* covers: aclrtCreateStreamConfigHandle, aclrtDestroyStreamConfigHandle effect */
/* covers: aclrtSetStreamConfigOpt, aclrtCreateStreamV2 effect */
static void other_products(void **state)
{
	static const char *const socs[] = { "Ascend310P3", "Ascend950PR_9589", "Ascend035A" };
	static const char *const parts[] = { "other", "simt", "configured" };
	char soc[64], instance[64];
	struct t_peer peer;

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(soc, sizeof(soc), "VINCI_SOC=%s", socs[i]);
		snprintf(instance, sizeof(instance), "VINCI_INSTANCE=test-rest-%d-%d", i, getpid());
		assert_true(t_spawn(&peer, (const char *const[]){ parts[i], NULL },
				    (const char *const[]){ soc, instance, NULL }));
		assert_int_equal(t_wait(&peer, WAIT_MS), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_as_busy_as_its_kernels),
		cmocka_unit_test(load_refused),
		cmocka_unit_test(operators_of_the_same_instructions_run),
		cmocka_unit_test(instructions_refused),
		cmocka_unit_test(kernels_overflow),
		cmocka_unit_test(overflow_refused),
		cmocka_unit_test(limits_are_rounded_and_told),
		cmocka_unit_test(sizes_refused),
		cmocka_unit_test(small_things),
		cmocka_unit_test(small_things_refused),
		cmocka_unit_test(devices_are_counted_alike),
		cmocka_unit_test(no_such_devices),
		cmocka_unit_test(configurations_refused),
		cmocka_unit_test(other_products),
	};

	if (argc == 2 && !strcmp(argv[1], "other"))
		return other_product();
	if (argc == 2 && !strcmp(argv[1], "simt"))
		return simt_product();
	if (argc == 2 && !strcmp(argv[1], "configured"))
		return configured_product();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
