/* SPDX-License-Identifier: MIT */
/* options_test.c - options, limits on cores, modes of overflow; what devices are, can and are called. */
#include "mem_util.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#define CUBE ACL_RT_DEV_RES_CUBE_CORE
#define VECTOR ACL_RT_DEV_RES_VECTOR_CORE

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

/* ---- options ---- */

/* covers: aclrtSetSysParamOpt, aclrtGetSysParamOpt, aclrtCtxSetSysParamOpt, aclrtCtxGetSysParamOpt effect */
static void options_are_kept(void **state)
{
	aclrtContext other, first;
	int64_t value = 9;

	(void)state;
	assert_ok(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
	assert_int_equal(value, 0);
	assert_ok(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3));
	assert_ok(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
	assert_ok(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
	assert_int_equal(value, 3);
	assert_ok(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
	assert_int_equal(value, 1);
	assert_ok(aclrtGetCurrentContext(&first));
	assert_ok(aclrtCreateContext(&other, 0)); /* has its own, and none yet */
	assert_refused(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
	assert_ok(aclrtDestroyContext(other));
	assert_ok(aclrtSetCurrentContext(first));
	assert_ok(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
}

/* covers: aclrtSetSysParamOpt, aclrtGetSysParamOpt, aclrtCtxSetSysParamOpt, aclrtCtxGetSysParamOpt failure */
static void options_refused(void **state)
{
	int64_t value = 9;

	(void)state;
	assert_refused(aclrtSetSysParamOpt((aclSysParamOpt)4, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, -1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, 2), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
	assert_int_equal(value, 9);
}

/* ---- cores ---- */

static uint32_t cores_here(aclrtDevResLimitType type)
{
	uint32_t value = 0;

	assert_ok(aclrtGetResInCurrentThread(type, &value));
	return value;
}

static void *cores_in_thread(void *out)
{
	assert_ok(aclrtSetDevice(0));
	*(uint32_t *)out = cores_here(CUBE);
	assert_ok(aclrtResetDevice(0));
	return NULL;
}

static uint32_t cores_elsewhere(void)
{
	uint32_t value = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, cores_in_thread, &value), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return value;
}

/* covers: aclrtGetDeviceResLimit, aclrtSetDeviceResLimit, aclrtResetDeviceResLimit effect */
static void cores_of_a_device(void **state)
{
	uint32_t value = 0;

	(void)state;
	assert_ok(aclrtGetDeviceResLimit(0, CUBE, &value));
	assert_int_equal(value, 24);
	assert_ok(aclrtGetDeviceResLimit(0, VECTOR, &value));
	assert_int_equal(value, 48);
	assert_ok(aclrtSetDeviceResLimit(0, CUBE, 8));
	assert_ok(aclrtGetDeviceResLimit(0, CUBE, &value));
	assert_int_equal(value, 8);
	assert_int_equal(cores_here(CUBE), 8);
	assert_int_equal(cores_elsewhere(), 8);
	assert_int_equal(cores_here(VECTOR), 48);
	assert_ok(aclrtResetDeviceResLimit(0));
	assert_int_equal(cores_here(CUBE), 24);
}

/* covers: aclrtGetStreamResLimit, aclrtSetStreamResLimit, aclrtResetStreamResLimit effect */
/* covers: aclrtUseStreamResInCurrentThread, aclrtUnuseStreamResInCurrentThread, aclrtGetResInCurrentThread effect */
static void cores_of_a_stream(void **state)
{
	uint32_t value = 0;
	aclrtStream stream;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtSetDeviceResLimit(0, CUBE, 8));
	assert_ok(aclrtGetStreamResLimit(stream, CUBE, &value));
	assert_int_equal(value, 8);
	assert_ok(aclrtSetStreamResLimit(stream, CUBE, 12)); /* may be above the device's */
	assert_ok(aclrtGetStreamResLimit(stream, CUBE, &value));
	assert_int_equal(value, 12);
	assert_int_equal(cores_here(CUBE), 8); /* nobody uses it yet */
	assert_ok(aclrtUseStreamResInCurrentThread(stream));
	assert_int_equal(cores_here(CUBE), 12);
	assert_int_equal(cores_here(VECTOR), 48); /* the stream limits only the others */
	assert_int_equal(cores_elsewhere(), 8);
	assert_ok(aclrtUnuseStreamResInCurrentThread(stream));
	assert_int_equal(cores_here(CUBE), 8);
	assert_ok(aclrtUseStreamResInCurrentThread(stream));
	assert_ok(aclrtResetStreamResLimit(stream));
	assert_int_equal(cores_here(CUBE), 8);
	assert_ok(aclrtSetStreamResLimit(stream, CUBE, 0));
	assert_int_equal(cores_here(CUBE), 0);
	assert_ok(aclrtDestroyStream(stream)); /* limits nothing any more */
	assert_int_equal(cores_here(CUBE), 8);
	assert_ok(aclrtResetDeviceResLimit(0));
}

/* covers: aclrtGetDeviceResLimit, aclrtSetDeviceResLimit, aclrtResetDeviceResLimit, aclrtGetStreamResLimit failure */
static void limits_refused(void **state)
{
	uint32_t value = 5;

	(void)state;
	assert_refused(aclrtSetDeviceResLimit(0, CUBE, 25), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetDeviceResLimit(0, (aclrtDevResLimitType)2, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetDeviceResLimit(8, CUBE, 1), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtSetDeviceResLimit(3, CUBE, 1), ACL_ERROR_RT_DEV_SETUP_ERROR); /* not in use */
	assert_refused(aclrtGetDeviceResLimit(3, CUBE, &value), ACL_ERROR_RT_DEV_SETUP_ERROR);
	assert_refused(aclrtGetDeviceResLimit(0, CUBE, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtResetDeviceResLimit(3), ACL_ERROR_RT_DEV_SETUP_ERROR);
	assert_refused(aclrtGetStreamResLimit(NULL, (aclrtDevResLimitType)7, &value), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(value, 5);
}

/* covers: aclrtSetStreamResLimit, aclrtResetStreamResLimit, aclrtUseStreamResInCurrentThread failure */
/* covers: aclrtUnuseStreamResInCurrentThread, aclrtGetResInCurrentThread failure */
static void stream_limits_refused(void **state)
{
	aclrtStream stale;

	(void)state;
	assert_ok(aclrtCreateStream(&stale));
	assert_ok(aclrtDestroyStream(stale));
	assert_refused(aclrtSetStreamResLimit(NULL, VECTOR, 49), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetStreamResLimit(stale, VECTOR, 4), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtResetStreamResLimit(stale), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtUseStreamResInCurrentThread(stale), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtUnuseStreamResInCurrentThread(stale), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtGetResInCurrentThread(CUBE, NULL), ACL_ERROR_INVALID_PARAM);
}

/* ---- overflow ---- */

/* The sum of the largest float and itself, as a new stream forms it. */
static float overflowing_sum(aclrtStream stream)
{
	const float largest = 3.40282347e38f;
	float *a, out = 0;

	assert_ok(aclrtMalloc((void **)&a, sizeof(*a), ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMemcpy(a, sizeof(*a), &largest, sizeof(largest), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtReduceAsync(a, a, sizeof(*a), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtMemcpy(&out, sizeof(out), a, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_ok(aclrtFree(a));
	return out;
}

static uint32_t overflows(aclrtStream stream)
{
	uint32_t *status, out = 77;

	assert_ok(aclrtMalloc((void **)&status, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtGetOverflowStatus(status, 64, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtMemcpy(&out, sizeof(out), status, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_ok(aclrtFree(status));
	return out;
}

/* covers: aclrtSetDeviceSatMode, aclrtGetDeviceSatMode effect */
static void mode_of_new_streams(void **state)
{
	aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
	aclrtStream saturates, infinite;

	(void)state;
	assert_ok(aclrtGetDeviceSatMode(&mode));
	assert_int_equal(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
	assert_ok(aclrtCreateStream(&saturates));
	assert_ok(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
	assert_ok(aclrtGetDeviceSatMode(&mode));
	assert_int_equal(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
	assert_ok(aclrtCreateStream(&infinite));
	assert_true(overflowing_sum(saturates) == 3.40282347e38f);
	assert_true(isinf(overflowing_sum(infinite)));
	assert_ok(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
	assert_ok(aclrtDestroyStream(saturates));
	assert_ok(aclrtDestroyStream(infinite));
}

/* covers: aclrtSetStreamOverflowSwitch, aclrtGetStreamOverflowSwitch, aclrtCtxGetFloatOverflowAddr effect */
/* covers: aclrtGetOverflowStatus, aclrtResetOverflowStatus effect */
static void overflows_are_noted(void **state)
{
	uint32_t on = 9, *address = NULL, count = 0;
	aclrtStream stream;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtGetStreamOverflowSwitch(stream, &on));
	assert_int_equal(on, 0);
	(void)overflowing_sum(stream);
	assert_int_equal(overflows(stream), 0); /* nobody asked */
	assert_ok(aclrtSetStreamOverflowSwitch(stream, 1));
	assert_ok(aclrtGetStreamOverflowSwitch(stream, &on));
	assert_int_equal(on, 1);
	(void)overflowing_sum(stream);
	assert_int_not_equal(overflows(stream), 0);
	assert_ok(aclrtCtxGetFloatOverflowAddr((void **)&address));
	assert_ok(aclrtMemcpy(&count, sizeof(count), address, sizeof(count), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_not_equal(count, 0);
	assert_ok(aclrtResetOverflowStatus(stream));
	assert_int_equal(overflows(stream), 0);
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtSetDeviceSatMode, aclrtGetDeviceSatMode, aclrtSetStreamOverflowSwitch failure */
/* covers: aclrtGetStreamOverflowSwitch, aclrtCtxGetFloatOverflowAddr, aclrtGetOverflowStatus failure */
/* covers: aclrtResetOverflowStatus failure */
static void overflow_refused(void **state)
{
	aclrtStream stale;
	void *memory;

	(void)state;
	assert_ok(aclrtCreateStream(&stale));
	assert_ok(aclrtDestroyStream(stale));
	assert_ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_refused(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetDeviceSatMode(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetStreamOverflowSwitch(NULL, 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetStreamOverflowSwitch(stale, 1), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtGetStreamOverflowSwitch(NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCtxGetFloatOverflowAddr(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetOverflowStatus(NULL, 64, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetOverflowStatus(memory, 32, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtResetOverflowStatus(stale), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtFree(memory));
}

/* ---- devices ---- */

/* covers: aclGetDeviceCapability, aclrtGetDeviceCapability, aclGetCannAttribute, aclGetCannAttributeList effect */
/* covers: aclrtHostMemMapCapabilities, aclrtSetTsDevice effect */
static void what_a_device_can(void **state)
{
	aclrtHostMemMapCapability reach = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
	const aclCannAttr *list = NULL;
	int32_t ability = 9;
	int64_t value = 0;
	size_t count = 0;

	(void)state;
	assert_ok(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value));
	assert_int_equal(value, 24);
	assert_ok(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value));
	assert_int_equal(value, 48);
	assert_ok(aclGetDeviceCapability(7, ACL_DEVICE_INFO_L2_SIZE, &value));
	assert_int_equal(value, 192 * MIB);
	assert_ok(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &ability));
	assert_int_equal(ability, ACL_DEV_FEATURE_NOT_SUPPORT);
	assert_ok(aclGetCannAttributeList(&list, &count));
	assert_in_range(count, 1, 3);
	for (size_t i = 0; i < count; i++) {
		assert_ok(aclGetCannAttribute(list[i], &ability));
		assert_int_equal(ability, 1);
	}
	assert_ok(aclGetCannAttribute(ACL_CANN_ATTR_JIT_COMPILE, &ability));
	assert_int_equal(ability, 0);
	assert_ok(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIV, &reach));
	assert_int_equal(reach, ACL_RT_HOST_MEM_MAP_SUPPORTED);
	assert_ok(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_RDMA, &reach));
	assert_int_equal(reach, ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED);
	assert_ok(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR));
	assert_int_equal(cores_here(CUBE), 24); /* no effect: there is one scheduler */
}

/* covers: aclGetDeviceCapability, aclrtGetDeviceCapability, aclGetCannAttribute, aclGetCannAttributeList failure */
/* covers: aclrtHostMemMapCapabilities, aclrtSetTsDevice failure */
static void abilities_refused(void **state)
{
	aclrtHostMemMapCapability reach;
	const aclCannAttr *list;
	int32_t ability;
	int64_t value;

	(void)state;
	assert_refused(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclGetDeviceCapability(8, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetDeviceCapability(8, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &ability),
		       ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtGetDeviceCapability(0, (aclrtDevFeatureType)2, &ability), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &ability), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclGetCannAttributeList(&list, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostMemMapCapabilities(0, (aclrtHacType)10, &reach), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostMemMapCapabilities(UINT32_MAX, ACL_RT_HAC_TYPE_AIV, &reach),
		       ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtSetTsDevice(ACL_TS_ID_RESERVED), ACL_ERROR_INVALID_PARAM);
}

/* covers: aclrtGetDevicesTopo, aclrtDeviceGetUuid, aclrtDeviceGetPCIBusId, aclrtDeviceGetByPCIBusId effect */
static void names_and_links(void **state)
{
	aclrtUuid uuids[8], again;
	char bus[13];
	uint64_t link = 0;
	int32_t device = -1;

	(void)state;
	assert_ok(aclrtGetDevicesTopo(0, 5, &link));
	assert_int_equal(link, ACL_RT_DEVS_TOPOLOGY_HCCS);
	for (int32_t i = 0; i < 8; i++) {
		assert_ok(aclrtDeviceGetUuid(i, &uuids[i]));
		for (int32_t j = 0; j < i; j++)
			assert_memory_not_equal(&uuids[i], &uuids[j], sizeof(again));
		assert_ok(aclrtDeviceGetPCIBusId(i, bus, sizeof(bus)));
		assert_int_equal(strlen(bus), 12);
		assert_ok(aclrtDeviceGetByPCIBusId(bus, &device));
		assert_int_equal(device, i);
	}
	assert_ok(aclrtDeviceGetUuid(3, &again));
	assert_memory_equal(&again, &uuids[3], sizeof(again));
}

/* The device that a child sees as its first, and the parent as number 3. */
static int print_uuid(void)
{
	aclrtUuid uuid;
	char text[33] = { 0 };

	if (aclrtDeviceGetUuid(0, &uuid))
		return 1;
	for (size_t i = 0; i < sizeof(uuid.bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)uuid.bytes[i]);
	return !t_say("%s", text);
}

/* covers: aclrtDeviceGetUuid effect */
static void uuid_outlives_numbers(void **state)
{
	const char *const args[] = { "uuid", NULL };
	const char *const env[] = { "ASCEND_RT_VISIBLE_DEVICES=3,4", NULL };
	char line[T_LINE_MAX], text[33] = { 0 };
	struct t_peer peer;
	aclrtUuid uuid;

	(void)state;
	assert_ok(aclrtDeviceGetUuid(3, &uuid));
	for (size_t i = 0; i < sizeof(uuid.bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)uuid.bytes[i]);
	assert_true(t_spawn(&peer, args, env));
	assert_true(t_read_line(&peer, line, sizeof(line), 20000));
	assert_string_equal(line, text);
	assert_int_equal(t_wait(&peer, 20000), 0);
}

/* covers: aclrtGetDevicesTopo, aclrtDeviceGetUuid, aclrtDeviceGetPCIBusId, aclrtDeviceGetByPCIBusId failure */
static void names_refused(void **state)
{
	char bus[13];
	int32_t device = 6;
	aclrtUuid uuid;
	uint64_t link;

	(void)state;
	assert_refused(aclrtGetDevicesTopo(0, 8, &link), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtGetDevicesTopo(0, 1, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceGetUuid(-1, &uuid), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtDeviceGetUuid(0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDeviceGetPCIBusId(0, bus, 12), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetPCIBusId(0, bus, -1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetByPCIBusId("0000:3d:00.0", &device), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetByPCIBusId("", &device), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(device, 6);
}

/* covers: aclrtGetErrorVerbose, aclrtRepairError, aclrtGetMemUceInfo, aclrtMemUceRepair effect */
static void nothing_is_wrong(void **state)
{
	aclrtErrorInfo error = { .errorType = ACL_RT_ERROR_OTHERS, .hasDetail = 1, .tryRepair = 1 };
	aclrtMemUceInfo bad_memory;
	size_t count = 9;

	(void)state;
	assert_ok(aclrtGetErrorVerbose(0, &error));
	assert_int_equal(error.errorType, ACL_RT_NO_ERROR);
	assert_int_equal(error.hasDetail, 0);
	assert_int_equal(error.tryRepair, 0);
	assert_ok(aclrtRepairError(0, &error)); /* nothing to do */
	assert_ok(aclrtGetMemUceInfo(0, &bad_memory, 1, &count));
	assert_int_equal(count, 0);
	assert_ok(aclrtMemUceRepair(0, &bad_memory, count));
}

/* covers: aclrtGetErrorVerbose, aclrtRepairError, aclrtGetMemUceInfo, aclrtMemUceRepair failure */
static void health_refused(void **state)
{
	aclrtErrorInfo error = { .errorType = ACL_RT_ERROR_MEMORY };
	aclrtMemUceInfo bad_memory = { .addr = &error, .len = 1 };
	size_t count = 9;

	(void)state;
	assert_refused(aclrtGetErrorVerbose(8, &error), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtGetErrorVerbose(0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(error.errorType, ACL_RT_ERROR_MEMORY);
	assert_refused(aclrtRepairError(0, &error), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtRepairError(5, &error), ACL_ERROR_RT_DEV_SETUP_ERROR);
	error.errorType = ACL_RT_ERROR_LINK;
	assert_refused(aclrtRepairError(0, &error), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetMemUceInfo(0, NULL, 1, &count), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetMemUceInfo(8, &bad_memory, 1, &count), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtMemUceRepair(0, NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemUceRepair(0, &bad_memory, MAX_MEM_UCE_INFO_ARRAY_SIZE + 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemUceRepair(8, &bad_memory, 0), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtMemUceRepair(1, &bad_memory, 0), ACL_ERROR_RT_CONTEXT_NULL);
	assert_refused(aclrtMemUceRepair(0, &bad_memory, 1), ACL_ERROR_RT_PARAM_INVALID); /* nothing is wrong there */
	bad_memory.reserved[13] = 1;
	assert_refused(aclrtMemUceRepair(0, &bad_memory, 1), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(count, 9);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_kept),
		cmocka_unit_test(options_refused),
		cmocka_unit_test(cores_of_a_device),
		cmocka_unit_test(cores_of_a_stream),
		cmocka_unit_test(limits_refused),
		cmocka_unit_test(stream_limits_refused),
		cmocka_unit_test(mode_of_new_streams),
		cmocka_unit_test(overflows_are_noted),
		cmocka_unit_test(overflow_refused),
		cmocka_unit_test(what_a_device_can),
		cmocka_unit_test(abilities_refused),
		cmocka_unit_test(names_and_links),
		cmocka_unit_test(uuid_outlives_numbers),
		cmocka_unit_test(names_refused),
		cmocka_unit_test(nothing_is_wrong),
		cmocka_unit_test(health_refused),
	};

	if (argc == 2 && !strcmp(argv[1], "uuid"))
		return print_uuid();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
