/* SPDX-License-Identifier: MIT */
/* cnt_notify_test.c - counting notifies, on an Ascend 950. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "acl/acl.h"

#define LONG_MS 30000
#define FOREVER 0

#define assert_ok(call) assert_code(call, ACL_SUCCESS)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

static aclrtStream first, second;
static aclrtCntNotify counter;

static int record(unsigned mode, uint32_t value)
{
	aclrtCntNotifyRecordInfo info = { .mode = (aclrtCntNotifyRecordMode)mode, .value = value };

	return aclrtCntNotifyRecord(counter, first, &info);
}

static int wait(unsigned mode, uint32_t value, uint32_t timeout, int clear)
{
	aclrtCntNotifyWaitInfo info = { .mode = (aclrtCntNotifyWaitMode)mode, .value = value, .timeout = timeout, .isClear = (uint8_t)clear };

	return aclrtCntNotifyWaitWithTimeout(counter, second, &info);
}

/* The counter stands at @value. */
static void stands_at(uint32_t value)
{
	assert_ok(aclrtSynchronizeStream(first));
	assert_ok(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value, FOREVER, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(second, LONG_MS));
}

/* covers: aclrtCntNotifyCreate, aclrtCntNotifyRecord, aclrtCntNotifyReset, aclrtCntNotifyGetId, aclrtCntNotifyDestroy effect */
static void records_change_the_counter(void **state)
{
	aclrtCntNotify other;
	uint32_t a, b;

	(void)state;
	stands_at(0);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 5));
	stands_at(5);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 3));
	stands_at(8);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 3));
	stands_at(11);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 9));
	stands_at(9);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, UINT32_MAX));
	stands_at(8);
	assert_ok(aclrtCntNotifyReset(counter, first));
	stands_at(0);
	assert_ok(aclrtCntNotifyCreate(&other, 0));
	assert_ok(aclrtCntNotifyGetId(counter, &a));
	assert_ok(aclrtCntNotifyGetId(other, &b));
	assert_int_not_equal(a, b);
	assert_ok(aclrtCntNotifyDestroy(other));
}

static void waits(unsigned mode, uint32_t value, uint32_t before, uint32_t after)
{
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, before));
	assert_ok(aclrtSynchronizeStream(first));
	assert_ok(wait(mode, value, FOREVER, 0));
	assert_code(aclrtSynchronizeStreamWithTimeout(second, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, after));
	assert_ok(aclrtSynchronizeStream(second));
	assert_ok(aclrtSynchronizeStream(first));
}

/* covers: aclrtCntNotifyWaitWithTimeout effect */
static void waits_are_for_their_condition(void **state)
{
	(void)state;
	waits(ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 3, 3, 2);
	waits(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 3, 4, 3);
	waits(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 3, 3, 4);
	waits(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 3, 2, 3);
	waits(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 6, 5, 7);
	assert_ok(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 7, FOREVER, 1));
	assert_ok(aclrtSynchronizeStream(second));
	stands_at(0);
}

static void clearing_waits_take_turns(void **state)
{
	(void)state;
	assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 0));
	for (unsigned i = 0; i < 500; i++) {
		aclrtCntNotifyWaitInfo empty = { .mode = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE };

		assert_ok(aclrtCntNotifyWaitWithTimeout(counter, first, &empty));
		assert_ok(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1));
		assert_ok(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, FOREVER, 1));
	}
	assert_ok(aclrtSynchronizeStreamWithTimeout(first, LONG_MS));
	assert_ok(aclrtSynchronizeStream(second));
	stands_at(0);
}

static void waits_end(void **state)
{
	(void)state;
	assert_ok(aclrtCntNotifyReset(counter, first));
	assert_ok(aclrtSynchronizeStream(first));
	assert_ok(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 1, 0));
	assert_code(aclrtSynchronizeStream(second), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_ok(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, FOREVER, 0));
	assert_ok(aclrtDestroyStreamForce(second));
	assert_ok(aclrtCreateStream(&second));
}

/* covers: aclrtCntNotifyCreate, aclrtCntNotifyRecord, aclrtCntNotifyWaitWithTimeout, aclrtCntNotifyReset, aclrtCntNotifyGetId failure */
static void arguments_are_checked(void **state)
{
	aclrtCntNotifyRecordInfo info = { .value = 1 };
	aclrtCntNotifyWaitInfo waits_for = { .value = 1 };
	aclrtCntNotify other = (aclrtCntNotify)&info;
	uint32_t id = 7;

	(void)state;
	assert_code(aclrtCntNotifyCreate(NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyCreate(&other, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(record(3, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(record(5, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCntNotifyRecord(counter, first, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyRecord(other, first, &info), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(wait(5, 1, FOREVER, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCntNotifyWaitWithTimeout(counter, first, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyWaitWithTimeout(other, first, &waits_for), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtCntNotifyReset(NULL, first), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyReset(other, first), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtCntNotifyGetId(counter, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyGetId(other, &id), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(id, 7);
}

/* covers: aclrtCntNotifyDestroy failure */
static void destruction_is_checked(void **state)
{
	aclrtCntNotify other;

	(void)state;
	assert_ok(aclrtCntNotifyCreate(&other, 0));
	assert_ok(aclrtCntNotifyDestroy(other));
	assert_code(aclrtCntNotifyDestroy(other), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtCntNotifyDestroy(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCntNotifyDestroy(first), ACL_ERROR_RT_INVALID_HANDLE);
}

static int set_up(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&first) || aclrtCreateStream(&second) ||
	       aclrtCntNotifyCreate(&counter, 0);
}

static int tear_down(void **state)
{
	(void)state;
	return aclrtCntNotifyDestroy(counter) || aclrtDestroyStream(first) || aclrtDestroyStream(second) || aclrtResetDevice(0) ||
	       aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_change_the_counter),
		cmocka_unit_test(waits_are_for_their_condition),
		cmocka_unit_test(clearing_waits_take_turns),
		cmocka_unit_test(waits_end),
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(destruction_is_checked),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
