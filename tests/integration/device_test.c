/* SPDX-License-Identifier: MIT */
/* device_test.c - devices and contexts: counting, threads, default contexts, numbers, errors. */
#include "scenario.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define DEAD_HANDLE ((void *)(uintptr_t)0x7fff00000001)

/* In a test: the code, and a sentence with this word. */
static void assert_says(int code, int wanted, const char *word)
{
	const char *text = aclGetRecentErrMsg();

	assert_int_equal(code, wanted);
	assert_non_null(text);
	if (!strstr(text, word))
		fail_msg("\"%s\" is not in: %s", word, text);
}

static int forget_errors(void **state)
{
	(void)state;
	(void)aclGetRecentErrMsg();
	(void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
	return 0;
}

static int reset_all(void **state)
{
	(void)state;
	for (int32_t d = 0; d < 8; d++)
		(void)aclrtResetDeviceForce(d);
	return 0;
}

static void in_a_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* covers: aclrtGetDeviceCount, aclrtGetSocName, aclrtGetRunMode effect */
static void what_there_is(void **state)
{
	aclrtRunMode mode = ACL_DEVICE;
	uint32_t count = 0;

	(void)state;
	assert_int_equal(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	assert_int_equal(count, 8);
	assert_string_equal(aclrtGetSocName(), "Ascend910B1");
	assert_ptr_equal(aclrtGetSocName(), aclrtGetSocName());
	assert_int_equal(aclrtGetRunMode(&mode), ACL_SUCCESS);
	assert_int_equal(mode, ACL_HOST);
}

/* covers: aclrtGetDeviceCount, aclrtGetRunMode failure */
static void nowhere_to_say_it(void **state)
{
	(void)state;
	assert_says(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM, "count is NULL");
	assert_says(aclrtGetRunMode(NULL), ACL_ERROR_INVALID_PARAM, "runMode is NULL");
}

/* covers: aclrtSetDevice, aclrtGetDevice, aclrtResetDevice, aclrtGetPrimaryCtxState effect */
static void counted(void **state)
{
	int32_t device = -1, active = -1;

	(void)state;
	assert_int_equal(aclrtGetPrimaryCtxState(2, NULL, &active), ACL_SUCCESS);
	assert_int_equal(active, 0);
	assert_int_equal(aclrtSetDevice(2), ACL_SUCCESS);
	assert_int_equal(aclrtSetDevice(2), ACL_SUCCESS);
	assert_int_equal(aclrtGetDevice(&device), ACL_SUCCESS);
	assert_int_equal(device, 2);
	assert_int_equal(aclrtGetPrimaryCtxState(2, NULL, &active), ACL_SUCCESS);
	assert_int_equal(active, 1);
	assert_int_equal(aclrtResetDevice(2), ACL_SUCCESS);
	assert_int_equal(aclrtGetDevice(&device), ACL_SUCCESS);
	assert_int_equal(aclrtResetDevice(2), ACL_SUCCESS);
	assert_int_equal(aclrtGetPrimaryCtxState(2, NULL, &active), ACL_SUCCESS);
	assert_int_equal(active, 0);
	assert_int_equal(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
	assert_says(aclrtResetDevice(2), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "device 2 is not set");
}

/* covers: aclrtResetDeviceForce effect */
static void force_ignores_the_count(void **state)
{
	int32_t device, active = -1;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(aclrtSetDevice(1), ACL_SUCCESS);
	assert_int_equal(aclrtResetDeviceForce(1), ACL_SUCCESS);
	assert_int_equal(aclrtGetPrimaryCtxState(1, NULL, &active), ACL_SUCCESS);
	assert_int_equal(active, 0);
	assert_int_equal(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
	assert_int_equal(aclrtResetDeviceForce(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
	assert_int_equal(aclrtResetDevice(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

/* covers: aclrtSetDevice, aclrtResetDevice, aclrtResetDeviceForce, aclrtGetPrimaryCtxState failure */
static void wrong_numbers(void **state)
{
	static const int32_t wrong[] = { -1, 8, 64, INT32_MAX, INT32_MIN };
	uint32_t flags = 0;
	int32_t active = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_says(aclrtSetDevice(wrong[i]), ACL_ERROR_RT_INVALID_DEVICEID, "0 to 7");
		assert_int_equal(aclrtResetDevice(wrong[i]), ACL_ERROR_RT_INVALID_DEVICEID);
		assert_int_equal(aclrtResetDeviceForce(wrong[i]), ACL_ERROR_RT_INVALID_DEVICEID);
		assert_int_equal(aclrtGetPrimaryCtxState(wrong[i], NULL, &active), ACL_ERROR_RT_INVALID_DEVICEID);
	}
	assert_int_equal(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetPrimaryCtxState(0, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(active, 77);
}

static void *no_device_here(void *arg)
{
	int32_t *device = arg;

	assert_int_equal(aclrtGetDevice(device), ACL_ERROR_RT_CONTEXT_NULL);
	assert_int_equal(*device, 77);
	assert_int_equal(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS); /* asking is no error */
	assert_int_equal(aclrtSetDevice(5), ACL_SUCCESS);
	assert_int_equal(aclrtGetDevice(device), ACL_SUCCESS);
	return NULL;
}

/* covers: aclrtGetDevice failure */
static void of_each_thread(void **state)
{
	int32_t device = 77;

	(void)state;
	assert_int_equal(aclrtSetDevice(3), ACL_SUCCESS);
	in_a_thread(no_device_here, &device);
	assert_int_equal(device, 5);
	assert_int_equal(aclrtGetDevice(&device), ACL_SUCCESS);
	assert_int_equal(device, 3);
	assert_says(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM, "deviceId is NULL");
	assert_int_equal(aclrtResetDevice(5), ACL_SUCCESS); /* another thread's count */
	assert_int_equal(aclrtResetDevice(5), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

static void *set_and_reset(void *arg)
{
	int32_t device;

	for (int i = 0; i < 50; i++) {
		if (aclrtSetDevice(*(int32_t *)arg) || aclrtGetDevice(&device) || device != *(int32_t *)arg)
			abort();
		if (aclrtSynchronizeDevice() && aclrtGetLastError(ACL_RT_THREAD_LEVEL) != ACL_ERROR_RT_CONTEXT_NULL)
			abort();
		if (aclrtResetDevice(*(int32_t *)arg))
			abort();
	}
	return NULL;
}

/* 64 threads on 8 devices: every count is exact, and nothing is left. */
static void many_threads(void **state)
{
	pthread_t threads[64];
	int32_t devices[64], active = -1;

	(void)state;
	for (int i = 0; i < 64; i++) {
		devices[i] = i % 8;
		assert_int_equal(pthread_create(&threads[i], NULL, set_and_reset, &devices[i]), 0);
	}
	for (int i = 0; i < 64; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int32_t d = 0; d < 8; d++) {
		assert_int_equal(aclrtGetPrimaryCtxState(d, NULL, &active), ACL_SUCCESS);
		assert_int_equal(active, 0);
		assert_int_equal(aclrtResetDevice(d), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
	}
}

/* Other threads see the end of a context that they still point at. */
static void *reset_4(void *arg)
{
	(void)arg;
	assert_int_equal(aclrtResetDevice(4), ACL_SUCCESS);
	return NULL;
}

/* covers: aclrtSynchronizeDevice, aclrtSynchronizeDeviceWithTimeout failure */
static void synchronise_wrongly(void **state)
{
	(void)state;
	assert_int_equal(aclrtSetDevice(4), ACL_SUCCESS);
	assert_says(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_PARAM_INVALID, "-1");
	assert_says(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID, "-1");
	in_a_thread(reset_4, NULL);
	assert_says(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL, "device 4 was reset");
	assert_says(aclrtSynchronizeDeviceWithTimeout(5), ACL_ERROR_RT_CONTEXT_NULL, "device 4 was reset");
}

static atomic_int gate, passed;

/* Holds up its stream until the gate opens. */
static void wait_for_gate(void *arg)
{
	(void)arg;
	while (!atomic_load(&gate))
		sched_yield();
	atomic_fetch_add(&passed, 1);
}

/* covers: aclrtSynchronizeDevice, aclrtSynchronizeDeviceWithTimeout effect */
static void synchronise(void **state)
{
	aclrtStream streams[2];

	(void)state;
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeDevice(), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
		assert_int_equal(aclrtLaunchHostFunc(streams[i], wait_for_gate, NULL), ACL_SUCCESS);
	}
	assert_says(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "20");
	assert_int_equal(atomic_load(&passed), 0);
	atomic_store(&gate, 1);
	assert_int_equal(aclrtSynchronizeDevice(), ACL_SUCCESS);
	assert_int_equal(atomic_load(&passed), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* covers: aclrtCreateContext, aclrtDestroyContext, aclrtSetCurrentContext, aclrtGetCurrentContext effect */
static void contexts(void **state)
{
	aclrtContext primary, a, b, now;
	int32_t device = -1;

	(void)state;
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtGetCurrentContext(&primary), ACL_SUCCESS);
	assert_int_equal(aclrtCreateContext(&a, 1), ACL_SUCCESS);
	assert_int_equal(aclrtGetCurrentContext(&now), ACL_SUCCESS);
	assert_ptr_equal(now, a);
	assert_int_equal(aclrtGetDevice(&device), ACL_SUCCESS);
	assert_int_equal(device, 1);
	assert_int_equal(aclrtCreateContext(&b, 1), ACL_SUCCESS);
	assert_ptr_not_equal(a, b);
	assert_int_equal(aclrtSetCurrentContext(primary), ACL_SUCCESS);
	assert_int_equal(aclrtGetDevice(&device), ACL_SUCCESS);
	assert_int_equal(device, 0);
	assert_int_equal(aclrtDestroyContext(a), ACL_SUCCESS); /* not this thread's */
	assert_int_equal(aclrtGetCurrentContext(&now), ACL_SUCCESS);
	assert_ptr_equal(now, primary);
	assert_int_equal(aclrtSetCurrentContext(b), ACL_SUCCESS);
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS); /* drops the binding to b */
	assert_int_equal(aclrtGetCurrentContext(&now), ACL_SUCCESS);
	assert_ptr_equal(now, primary);
	assert_int_equal(aclrtSetCurrentContext(b), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyContext(b), ACL_SUCCESS);
	assert_int_equal(aclrtGetCurrentContext(&now), ACL_ERROR_RT_CONTEXT_NULL);
}

/* A context alone opens a device, and resetting the device leaves it. */
static void a_context_beside_the_primary_one(void **state)
{
	aclrtContext ctx, now;
	int32_t active = -1;
	void *memory;

	(void)state;
	assert_int_equal(aclrtCreateContext(&ctx, 6), ACL_SUCCESS);
	assert_int_equal(aclrtGetPrimaryCtxState(6, NULL, &active), ACL_SUCCESS);
	assert_int_equal(active, 0);
	assert_int_equal(aclrtResetDevice(6), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
	assert_int_equal(aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
	assert_int_equal(aclrtSetDevice(6), ACL_SUCCESS);
	assert_int_equal(aclrtResetDevice(6), ACL_SUCCESS);
	assert_int_equal(aclrtSetCurrentContext(ctx), ACL_SUCCESS);
	assert_int_equal(aclrtGetCurrentContext(&now), ACL_SUCCESS);
	assert_int_equal(aclrtFree(memory), ACL_SUCCESS); /* the memory stayed: its device is in use */
	assert_int_equal(aclrtDestroyContext(ctx), ACL_SUCCESS);
}

/* covers: aclrtCreateContext, aclrtDestroyContext, aclrtSetCurrentContext, aclrtGetCurrentContext failure */
static void wrong_contexts(void **state)
{
	aclrtContext primary, ctx, untouched = DEAD_HANDLE;
	aclrtStream stream;

	(void)state;
	assert_int_equal(aclrtCreateContext(NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtCreateContext(&untouched, 8), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtCreateContext(&untouched, -1), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtGetCurrentContext(&untouched), ACL_ERROR_RT_CONTEXT_NULL);
	assert_ptr_equal(untouched, DEAD_HANDLE);
	assert_int_equal(aclrtGetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtSetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtDestroyContext(NULL), ACL_ERROR_INVALID_PARAM);
	(void)aclGetRecentErrMsg();
	assert_says(aclrtSetCurrentContext(DEAD_HANDLE), ACL_ERROR_RT_PARAM_INVALID, "alive");
	assert_int_equal(aclrtSetCurrentContext(&untouched), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtDestroyContext(DEAD_HANDLE), ACL_ERROR_RT_CONTEXT_NULL);

	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtGetCurrentContext(&primary), ACL_SUCCESS);
	(void)aclGetRecentErrMsg();
	assert_says(aclrtDestroyContext(primary), ACL_ERROR_RT_CONTEXT_NULL, "aclrtResetDevice");
	assert_int_equal(aclrtCreateContext(&ctx, 0), ACL_SUCCESS);
	assert_int_equal(aclrtCreateStream(&stream), ACL_SUCCESS);
	assert_int_equal(aclrtSetCurrentContext(stream), ACL_ERROR_RT_PARAM_INVALID); /* a handle of another type */
	assert_int_equal(aclrtDestroyContext(ctx), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyContext(ctx), ACL_ERROR_RT_CONTEXT_NULL);
	assert_int_equal(aclrtSetCurrentContext(ctx), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE); /* it went with its context */
	assert_int_equal(aclrtResetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtSetCurrentContext(primary), ACL_ERROR_RT_PARAM_INVALID);
}

/* covers: aclrtCtxGetCurrentDefaultStream effect */
static void default_streams(void **state)
{
	aclrtStream first, again, other;
	aclrtContext ctx;

	(void)state;
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(&first), ACL_SUCCESS);
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(&again), ACL_SUCCESS);
	assert_ptr_equal(first, again);
	assert_int_equal(aclrtSynchronizeStream(first), ACL_SUCCESS);
	assert_int_equal(aclrtCreateContext(&ctx, 0), ACL_SUCCESS);
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(&other), ACL_SUCCESS);
	assert_ptr_not_equal(first, other);
	assert_int_equal(aclrtDestroyContext(ctx), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStream(other), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclrtCtxGetCurrentDefaultStream failure */
static void no_default_stream(void **state)
{
	aclrtStream stream = DEAD_HANDLE;

	(void)state;
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
	assert_ptr_equal(stream, DEAD_HANDLE);
}

static void *bind_and_end(void *ctx)
{
	assert_int_equal(aclrtSetCurrentContext(ctx), ACL_SUCCESS);
	return NULL;
}

/* A thread that ends lets go of its context; one that lives may hold a destroyed one without harm. */
static void threads_and_contexts(void **state)
{
	aclrtContext ctx, now;

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(aclrtCreateContext(&ctx, 0), ACL_SUCCESS);
		in_a_thread(bind_and_end, ctx);
		assert_int_equal(aclrtDestroyContext(ctx), ACL_SUCCESS);
		assert_int_equal(aclrtGetCurrentContext(&now), ACL_ERROR_RT_CONTEXT_NULL);
	}
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void *fresh_thread(void *arg)
{
	(void)arg;
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
	assert_null(aclGetRecentErrMsg());
	return NULL;
}

/* covers: aclrtPeekAtLastError, aclrtGetLastError effect */
/* covers: aclGetRecentErrMsg effect */
static void last_errors(void **state)
{
	(void)state;
	assert_int_equal(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
	assert_int_equal(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM); /* the acl layer's own: not recorded */
	in_a_thread(fresh_thread, NULL);
	assert_int_equal(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
	assert_non_null(strstr(aclGetRecentErrMsg(), "Value 99 for device id"));
}

/* covers: aclrtPeekAtLastError, aclrtGetLastError failure */
/* covers: aclGetRecentErrMsg failure */
static void no_last_error(void **state)
{
	(void)state;
	assert_null(aclGetRecentErrMsg());
	assert_int_equal(aclrtPeekAtLastError((aclrtLastErrLevel)1), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetLastError((aclrtLastErrLevel)-1), ACL_ERROR_INVALID_PARAM);
	assert_non_null(aclGetRecentErrMsg());
	assert_null(aclGetRecentErrMsg());
}

/* ---- what a device tells --------------------------------------------------------------------- */

static int64_t attribute(aclrtDevAttr attr)
{
	int64_t value = -77;

	assert_int_equal(aclrtGetDeviceInfo(2, attr, &value), ACL_SUCCESS);
	return value;
}

/* covers: aclrtQueryDeviceStatus, aclrtGetDeviceInfo, aclrtDeviceGetBareTgid effect */
static void properties(void **state)
{
	aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
	int32_t pid = 0;

	(void)state;
	assert_int_equal(aclrtQueryDeviceStatus(0, &status), ACL_SUCCESS);
	assert_int_equal(status, ACL_RT_DEVICE_STATUS_NORMAL);
	assert_int_equal(attribute(ACL_DEV_ATTR_CUBE_CORE_NUM), 24);
	assert_int_equal(attribute(ACL_DEV_ATTR_AICORE_CORE_NUM), 24);
	assert_int_equal(attribute(ACL_DEV_ATTR_VECTOR_CORE_NUM), 48);
	assert_int_equal(attribute(ACL_DEV_ATTR_AICPU_CORE_NUM), 6);
	assert_int_equal(attribute(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), 64ll << 30);
	assert_int_equal(attribute(ACL_DEV_ATTR_L2_CACHE_SIZE), 192 << 20);
	assert_int_equal(attribute(ACL_DEV_ATTR_PHY_CHIP_ID), 2);
	assert_int_equal(attribute(ACL_DEV_ATTR_IS_VIRTUAL), 0);
	assert_int_equal(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
	assert_int_equal(pid, getpid());
}

/* covers: aclrtQueryDeviceStatus, aclrtGetDeviceInfo, aclrtDeviceGetBareTgid failure */
static void no_properties(void **state)
{
	aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
	int64_t value = 77;

	(void)state;
	assert_int_equal(aclrtQueryDeviceStatus(0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtQueryDeviceStatus(8, &status), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(status, ACL_RT_DEVICE_STATUS_END);
	assert_int_equal(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_IS_VIRTUAL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetDeviceInfo(8, ACL_DEV_ATTR_IS_VIRTUAL, &value), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtGetDeviceInfo(UINT32_MAX, ACL_DEV_ATTR_IS_VIRTUAL, &value),
			 ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(aclrtGetDeviceInfo(0, (aclrtDevAttr)9999, &value), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_int_equal(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SUPER_POD_ID, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_int_equal(value, 77);
	assert_int_equal(aclrtDeviceGetBareTgid(NULL), ACL_ERROR_INVALID_PARAM);
}

/* ---- ASCEND_RT_VISIBLE_DEVICES --------------------------------------------------------------- */

static void check_number(aclError (*fn)(int32_t, int32_t *), int32_t in, int32_t wanted)
{
	int32_t out = -77;

	if (wanted >= 0) {
		CHECK_CODE(fn(in, &out), ACL_SUCCESS);
		CHECK(out == wanted);
	} else {
		CHECK_CODE(fn(in, &out), ACL_ERROR_RT_INVALID_DEVICEID);
		CHECK(out == -77);
	}
	CHECK_CODE(fn(in, NULL), ACL_ERROR_INVALID_PARAM);
}

/* With 2,3,6 visible. */
static void visible(void)
{
	static const int32_t listed[] = { 2, 3, 6 };
	uint32_t count = 0;
	int32_t device = -1;
	int64_t chip = -1;

	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	CHECK(count == 3);
	CHECK_SAYS(aclrtSetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID, "0 to 2");
	setenv("ASCEND_RT_VISIBLE_DEVICES", "0,1,2,3", 1); /* too late */
	for (int32_t user = 0; user < 3; user++) {
		CHECK_CODE(aclrtSetDevice(user), ACL_SUCCESS);
		CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
		CHECK(device == user);
		CHECK_CODE(aclrtGetDeviceInfo((uint32_t)user, ACL_DEV_ATTR_PHY_CHIP_ID, &chip), ACL_SUCCESS);
		CHECK(chip == listed[user]);
		check_number(aclrtGetLogicDevIdByUserDevId, user, listed[user]);
		check_number(aclrtGetPhyDevIdByUserDevId, user, listed[user]);
		check_number(aclrtGetPhyDevIdByLogicDevId, user, listed[user]);
		check_number(aclrtGetUserDevIdByLogicDevId, listed[user], user);
		check_number(aclrtGetUserDevIdByPhyDevId, listed[user], user);
		check_number(aclrtGetLogicDevIdByPhyDevId, listed[user], user);
	}
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	CHECK(count == 3);
	check_number(aclrtGetLogicDevIdByUserDevId, 3, -1);
	check_number(aclrtGetPhyDevIdByUserDevId, -1, -1);
	check_number(aclrtGetPhyDevIdByLogicDevId, 8, -1);
	check_number(aclrtGetUserDevIdByLogicDevId, 0, -1);
	check_number(aclrtGetUserDevIdByPhyDevId, 8, -1);
	check_number(aclrtGetLogicDevIdByPhyDevId, -1, -1);
}

static void visible_none(void)
{
	uint32_t count = 77;

	CHECK_SAYS(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE, "EE2002");
	CHECK_SAYS(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE, getenv("ASCEND_RT_VISIBLE_DEVICES"));
	CHECK(count == 77);
	CHECK_CODE(aclrtSetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID);
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
}

/* covers: aclrtGetLogicDevIdByUserDevId, aclrtGetUserDevIdByLogicDevId, aclrtGetLogicDevIdByPhyDevId effect */
/* covers: aclrtGetPhyDevIdByLogicDevId, aclrtGetUserDevIdByPhyDevId, aclrtGetPhyDevIdByUserDevId effect */
/* covers: aclrtGetLogicDevIdByUserDevId, aclrtGetUserDevIdByLogicDevId, aclrtGetLogicDevIdByPhyDevId failure */
/* covers: aclrtGetPhyDevIdByLogicDevId, aclrtGetUserDevIdByPhyDevId, aclrtGetPhyDevIdByUserDevId failure */
/* covers: aclrtGetDeviceCount failure */
static void visible_devices(void **state)
{
	static const char *const some[] = { "ASCEND_RT_VISIBLE_DEVICES=2,3,6,x", NULL };
	static const char *const none[][2] = {
		{ "ASCEND_RT_VISIBLE_DEVICES=", NULL },
		{ "ASCEND_RT_VISIBLE_DEVICES=8", NULL },
		{ "ASCEND_RT_VISIBLE_DEVICES=3,2", NULL },
		{ "ASCEND_RT_VISIBLE_DEVICES=1,1", NULL },
	};

	(void)state;
	run_scenario_with("visible", some);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		run_scenario_with("visible_none", none[i]);
}

/* ---- an A3 ----------------------------------------------------------------------------------- */

static void super_pod(void)
{
	int64_t value = -1;

	CHECK(!strcmp(aclrtGetSocName(), "Ascend910_9391"));
	CHECK_CODE(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID, &value), ACL_SUCCESS);
	CHECK(value >= 0);
	CHECK_CODE(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_SUPER_POD_ID, &value), ACL_SUCCESS);
	CHECK(value == 0);
	CHECK_CODE(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value), ACL_SUCCESS);
	CHECK(value == 1ll << 30);
}

/* covers: aclrtGetSocName, aclrtGetDeviceInfo effect */
static void another_soc(void **state)
{
	char instance[64];
	const char *const env[] = { "VINCI_SOC=Ascend910_9391", "VINCI_DEVICES=2", "VINCI_MEMORY=1G", instance, NULL };

	(void)state;
	snprintf(instance, sizeof(instance), "VINCI_INSTANCE=test-a3-%d", getpid());
	run_scenario_with("super_pod", env);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, forget_errors, reset_all)

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "visible", visible },
		{ "visible_none", visible_none },
		{ "super_pod", super_pod },
	};
	const struct CMUnitTest tests[] = {
		TEST(what_there_is),
		TEST(nowhere_to_say_it),
		TEST(counted),
		TEST(force_ignores_the_count),
		TEST(wrong_numbers),
		TEST(of_each_thread),
		TEST(many_threads),
		TEST(synchronise_wrongly),
		TEST(synchronise),
		TEST(contexts),
		TEST(a_context_beside_the_primary_one),
		TEST(wrong_contexts),
		TEST(default_streams),
		TEST(no_default_stream),
		TEST(threads_and_contexts),
		TEST(last_errors),
		TEST(no_last_error),
		TEST(properties),
		TEST(no_properties),
		TEST(visible_devices),
		TEST(another_soc),
	};
	char instance[64];

	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	snprintf(instance, sizeof(instance), "test-device-%d", getpid());
	setenv("VINCI_INSTANCE", instance, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
