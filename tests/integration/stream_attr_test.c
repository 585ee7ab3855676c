/* SPDX-License-Identifier: MIT */
/* stream_attr_test.c - attributes of streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "acl/acl.h"

#define assert_ok(call) assert_code(call, ACL_SUCCESS)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

static aclrtStream stream, other;

static uint64_t get(aclrtStream st, aclrtStreamAttr attr)
{
	aclrtStreamAttrValue value;

	memset(&value, 0, sizeof(value));
	assert_ok(aclrtGetStreamAttribute(st, attr, &value));
	return value.failureMode;
}

static int set(aclrtStream st, aclrtStreamAttr attr, uint64_t number)
{
	aclrtStreamAttrValue value;

	memset(&value, 0, sizeof(value));
	value.failureMode = number;
	return aclrtSetStreamAttribute(st, attr, &value);
}

/* covers: aclrtSetStreamAttribute, aclrtGetStreamAttribute effect */
static void attributes_are_a_stream_s_own(void **state)
{
	static const aclrtStreamAttr kept[] = { ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, ACL_STREAM_ATTR_USER_CUSTOM_TAG,
						ACL_STREAM_ATTR_CACHE_OP_INFO };
	uint32_t priority;

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		assert_int_equal(get(stream, kept[i]), 0);
		assert_ok(set(stream, kept[i], 1));
		assert_int_equal(get(stream, kept[i]), 1);
		assert_int_equal(get(other, kept[i]), 0);
		assert_ok(set(stream, kept[i], 0));
		assert_int_equal(get(stream, kept[i]), 0);
		assert_ok(set(NULL, kept[i], 1));
		assert_int_equal(get(NULL, kept[i]), 1);
	}
	assert_ok(set(stream, ACL_STREAM_ATTR_PRIORITY, 5));
	assert_int_equal(get(stream, ACL_STREAM_ATTR_PRIORITY), 5);
	assert_ok(aclrtStreamGetPriority(stream, &priority));
	assert_int_equal(priority, 5);
	assert_ok(set(stream, ACL_STREAM_ATTR_PRIORITY, 99));
	assert_int_equal(get(stream, ACL_STREAM_ATTR_PRIORITY), 7);
	assert_ok(set(stream, ACL_STREAM_ATTR_PRIORITY, UINT32_MAX));
	assert_int_equal(get(stream, ACL_STREAM_ATTR_PRIORITY), 0);
	assert_int_equal(get(stream, ACL_STREAM_ATTR_FAILURE_MODE), 0);
	assert_ok(set(stream, ACL_STREAM_ATTR_FAILURE_MODE, 1));
	assert_int_equal(get(stream, ACL_STREAM_ATTR_FAILURE_MODE), 1);
}

/* covers: aclrtSetStreamAttribute, aclrtGetStreamAttribute failure */
static void attributes_are_checked(void **state)
{
	aclrtStreamAttrValue value;
	aclrtStream fixed;

	(void)state;
	memset(&value, 0, sizeof(value));
	assert_code(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(set(stream, (aclrtStreamAttr)0, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(set(stream, (aclrtStreamAttr)6, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtGetStreamAttribute(stream, (aclrtStreamAttr)6, &value), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(set(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 2), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(set(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, 2), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(set(stream, ACL_STREAM_ATTR_FAILURE_MODE, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT); /* no way back */
	assert_code(set(NULL, ACL_STREAM_ATTR_PRIORITY, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(set(&value, ACL_STREAM_ATTR_PRIORITY, 1), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtGetStreamAttribute(&value, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtCreateStreamWithConfig(&fixed, 0, ACL_STREAM_CPU_SCHEDULE));
	assert_code(set(fixed, ACL_STREAM_ATTR_PRIORITY, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclrtDestroyStream(fixed));
}

static void the_overflow_switch_is_an_attribute(void **state)
{
	uint32_t flag = 7;

	(void)state;
	assert_ok(aclrtSetStreamOverflowSwitch(other, 1));
	assert_ok(aclrtGetStreamOverflowSwitch(other, &flag));
	assert_int_equal(flag, 1);
	assert_int_equal(get(other, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), 1);
	assert_ok(set(other, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 0));
	assert_ok(aclrtGetStreamOverflowSwitch(other, &flag));
	assert_int_equal(flag, 0);
}

static int set_up(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) || aclrtCreateStream(&other);
}

static int tear_down(void **state)
{
	(void)state;
	return aclrtDestroyStream(stream) || aclrtDestroyStream(other) || aclrtResetDevice(0) || aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_a_stream_s_own),
		cmocka_unit_test(attributes_are_checked),
		cmocka_unit_test(the_overflow_switch_is_an_attribute),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
