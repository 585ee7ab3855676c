/* SPDX-License-Identifier: MIT */
/* value_test.c - streams that write a word of device memory and wait for its value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define LONG_MS 30000
#define WORDS 64
#define GEQ ACL_STREAM_WAIT_VALUE_GEQ
#define EQ ACL_STREAM_WAIT_VALUE_EQ
#define AND ACL_STREAM_WAIT_VALUE_AND
#define NOR ACL_STREAM_WAIT_VALUE_NOR

#define assert_ok(call) assert_code(call, ACL_SUCCESS)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

static uint64_t *words; /* device memory */
static aclrtStream first, second;

static void set(uint64_t *word, uint64_t value)
{
	assert_ok(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
}

static uint64_t get(const uint64_t *word)
{
	uint64_t value = 0;

	assert_ok(aclrtMemcpy(&value, 8, word, 8, ACL_MEMCPY_DEVICE_TO_HOST));
	return value;
}

/* covers: aclrtValueWrite effect */
static void a_write_happens_in_order(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(aclrtValueWrite(&words[i % 2], i, 0, first));
	assert_ok(aclrtValueWrite(&words[2], UINT64_MAX, 0, first));
	assert_ok(aclrtSynchronizeStream(first));
	assert_int_equal(get(&words[0]), 998);
	assert_int_equal(get(&words[1]), 999);
	assert_true(get(&words[2]) == UINT64_MAX);
}

static void passes(uint64_t now, uint64_t value, uint32_t test)
{
	set(words, now);
	assert_ok(aclrtValueWait(words, value, test, second));
	assert_ok(aclrtSynchronizeStreamWithTimeout(second, LONG_MS));
}

static void waits(uint64_t now, uint64_t value, uint32_t test, uint64_t then)
{
	set(words, now);
	assert_ok(aclrtValueWait(words, value, test, second));
	assert_code(aclrtSynchronizeStreamWithTimeout(second, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(aclrtValueWrite(words, then, 0, first));
	assert_ok(aclrtSynchronizeStreamWithTimeout(second, LONG_MS));
}

/* covers: aclrtValueWait effect */
static void a_wait_is_for_its_test(void **state)
{
	(void)state;
	passes(5, 5, GEQ);
	passes(6, 5, GEQ);
	passes(0, UINT64_MAX, GEQ); /* as a signed difference */
	waits(4, 5, GEQ, 7);
	passes(5, 5, EQ);
	waits(6, 5, EQ, 5);
	passes(6, 2, AND);
	waits(4, 2, AND, 2);
	passes(1, 2, NOR);
	waits(UINT64_MAX, 0, NOR, 1);
	waits(UINT64_MAX << 32, UINT32_MAX, NOR, 0);
}

struct store {
	_Atomic uint64_t *word;
	uint64_t value;
};

static void store_kernel(const void *args, const struct vinci_block *block)
{
	const struct store *s = args;

	(void)block;
	atomic_store(s->word, s->value);
}

static const struct vinci_kernel store_desc = { .abi = VINCI_KERNEL_ABI,
						.name = "store",
						.run = store_kernel,
						.args_size = sizeof(struct store) };

/* A kernel tells nobody that it writes. */
static void a_wait_sees_what_anybody_writes(void **state)
{
	const struct store store = { .word = (_Atomic uint64_t *)words, .value = 1 };

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		set(words, 0);
		assert_ok(aclrtValueWait(words, 1, EQ, first));
		assert_ok(aclrtValueWait(words, 1, EQ, second));
		assert_code(aclrtSynchronizeStreamWithTimeout(second, 2), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_int_equal(vinciLaunchKernel(&store_desc, 1, NULL, &store, sizeof(store)), 0);
		assert_ok(aclrtSynchronizeStream(first));
		assert_ok(aclrtSynchronizeStreamWithTimeout(second, LONG_MS));
	}
}

static void streams_take_turns(void **state)
{
	(void)state;
	set(&words[0], 0);
	set(&words[1], 0);
	for (uint64_t i = 1; i <= 2000; i++) {
		assert_ok(aclrtValueWait(&words[1], i, EQ, first));
		assert_ok(aclrtValueWrite(&words[0], i, 0, first));
		assert_ok(aclrtValueWait(&words[0], i - 1, GEQ, second));
		assert_ok(aclrtValueWrite(&words[1], i, 0, second));
		assert_ok(aclrtValueWait(&words[0], i, EQ, second));
	}
	assert_ok(aclrtSynchronizeStreamWithTimeout(first, LONG_MS));
	assert_ok(aclrtSynchronizeStream(second));
	assert_int_equal(get(&words[0]), 2000);
}

static void a_wait_can_be_ended(void **state)
{
	aclrtStream stream, other;
	uint64_t *word;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtCreateStream(&other));
	assert_ok(aclrtMalloc((void **)&word, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
	set(word, 0);
	assert_ok(aclrtValueWait(word, 1, EQ, stream));
	assert_ok(aclrtValueWait(word, 1, EQ, other));
	assert_ok(aclrtFree(word)); /* its pages stay while the waits look at them */
	assert_code(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(aclrtStreamAbort(stream));
	assert_ok(aclrtDestroyStreamForce(other));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtValueWrite, aclrtValueWait failure */
static void arguments_are_checked(void **state)
{
	uint64_t plain = 0, *pinned;
	void *freed;

	(void)state;
	assert_ok(aclrtMallocHost((void **)&pinned, 64));
	assert_ok(aclrtMalloc(&freed, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtFree(freed));
	assert_code(aclrtValueWrite(NULL, 1, 0, first), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtValueWrite(words, 1, 1, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWrite((char *)words + 4, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWrite(&plain, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWrite(pinned, 1, 0, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWrite(freed, 1, 0, first), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_code(aclrtValueWrite(words, 1, 0, &plain), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtValueWait(NULL, 1, EQ, first), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtValueWait(words, 1, 4, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWait((char *)words + 1, 1, EQ, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWait(&plain, 1, EQ, first), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtValueWait(freed, 1, EQ, first), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_code(aclrtValueWait(words, 1, EQ, words), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtFreeHost(pinned));
	assert_int_equal(plain, 0);
}

static int set_up(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc((void **)&words, WORDS * 8, ACL_MEM_MALLOC_HUGE_FIRST) ||
	       aclrtCreateStream(&first) || aclrtCreateStream(&second);
}

static int tear_down(void **state)
{
	(void)state;
	return aclrtDestroyStream(first) || aclrtDestroyStream(second) || aclrtFree(words) || aclrtResetDevice(0) || aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_happens_in_order),
		cmocka_unit_test(a_wait_is_for_its_test),
		cmocka_unit_test(a_wait_sees_what_anybody_writes),
		cmocka_unit_test(streams_take_turns),
		cmocka_unit_test(a_wait_can_be_ended),
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
