/* SPDX-License-Identifier: MIT */
/* mbuf_test.c - shared buffers: memory with several references, what is kept beside it, and chains. */
#include <pthread.h>
#include <stdbool.h>

#include "mem_util.h"

#define CHAIN_MAX 128
#define USER 96 /* bytes that a buffer keeps for the user */

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

static aclrtMbuf make(size_t size)
{
	aclrtMbuf buf = NULL;

	assert_ok(aclrtAllocBuf(&buf, size));
	assert_non_null(buf);
	return buf;
}

static unsigned char *data_of(aclrtMbuf buf, size_t size)
{
	void *data = NULL;
	size_t got = 0;

	assert_ok(aclrtGetBufData(buf, &data, &got));
	assert_int_equal(got, size);
	return data;
}

static size_t len_of(aclrtMbuf buf)
{
	size_t len = SIZE_MAX;

	assert_ok(aclrtGetBufDataLen(buf, &len));
	return len;
}

/* covers: aclrtAllocBuf, aclrtGetBufData, aclrtSetBufDataLen, aclrtGetBufDataLen, aclrtFreeBuf effect */
static void one_buffer(void **state)
{
	size_t before = m_free();
	aclrtMbuf buf = make(3 * MIB);
	unsigned char *data = data_of(buf, 3 * MIB), down[2];
	aclrtPtrAttributes attributes;

	(void)state;
	assert_int_equal(m_free(), before - 4 * MIB);
	assert_int_equal(len_of(buf), 0);
	assert_ok(aclrtPointerGetAttributes(data, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_ok(aclrtMemset(data, 3 * MIB, 9, 3 * MIB));
	assert_ok(aclrtMemcpy(down, 2, data + 3 * MIB - 2, 2, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(down[1], 9);
	assert_ok(aclrtSetBufDataLen(buf, 3 * MIB));
	assert_int_equal(len_of(buf), 3 * MIB);
	assert_ok(aclrtSetBufDataLen(buf, 1));
	assert_int_equal(len_of(buf), 1);
	assert_ok(aclrtFreeBuf(buf));
	assert_int_equal(m_free(), before);
}

/* covers: aclrtAllocBuf, aclrtGetBufData, aclrtSetBufDataLen, aclrtGetBufDataLen, aclrtFreeBuf failure */
static void no_buffers(void **state)
{
	aclrtMbuf buf = NULL;
	size_t size = 5;
	void *data;

	(void)state;
	assert_refused(aclrtAllocBuf(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocBuf(&buf, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocBuf(&buf, 4 * GIB + 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_null(buf);
	buf = make(100);
	assert_refused(aclrtGetBufData(NULL, &data, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufData(buf, NULL, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufData(buf, &data, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetBufDataLen(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetBufDataLen(buf, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetBufDataLen(buf, 101), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufDataLen(NULL, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufDataLen(buf, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFreeBuf(NULL), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtFreeBuf(buf));
	assert_refused(aclrtFreeBuf(buf), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufData(buf, &data, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetBufDataLen(buf, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufDataLen(buf, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFreeBuf(&size), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(size, 5);
}

/* covers: aclrtSetBufUserData, aclrtGetBufUserData effect */
static void user_data(void **state)
{
	unsigned char in[USER], out[USER] = { 0 };
	aclrtMbuf buf = make(1);

	(void)state;
	for (int i = 0; i < USER; i++)
		in[i] = (unsigned char)(i + 1);
	assert_ok(aclrtSetBufUserData(buf, in, USER, 0));
	assert_ok(aclrtSetBufUserData(buf, in, 6, 90));
	assert_ok(aclrtGetBufUserData(buf, out, 10, 86));
	assert_memory_equal(out, in + 86, 4);
	assert_memory_equal(out + 4, in, 6);
	assert_ok(aclrtFreeBuf(buf));
}

/* covers: aclrtSetBufUserData, aclrtGetBufUserData failure */
static void user_data_refused(void **state)
{
	unsigned char bytes[USER + 1] = { 0 };
	aclrtMbuf buf = make(1);

	(void)state;
	assert_refused(aclrtSetBufUserData(buf, bytes, USER, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetBufUserData(buf, bytes, 2, SIZE_MAX), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetBufUserData(buf, NULL, 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetBufUserData(NULL, bytes, 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufUserData(buf, bytes, USER + 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufUserData(buf, NULL, 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufUserData(NULL, bytes, 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtFreeBuf(buf));
	assert_refused(aclrtSetBufUserData(buf, bytes, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufUserData(buf, bytes, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
}

/* covers: aclrtCopyBufRef effect */
static void references(void **state)
{
	size_t before = m_free();
	aclrtMbuf buf = make(2 * MIB), copy = NULL;
	unsigned char *data = data_of(buf, 2 * MIB), word[4] = "one";

	(void)state;
	assert_ok(aclrtSetBufDataLen(buf, 77));
	assert_ok(aclrtSetBufUserData(buf, word, 4, 8));
	assert_ok(aclrtCopyBufRef(buf, &copy));
	assert_ptr_not_equal(copy, buf);
	assert_ptr_equal(data_of(copy, 2 * MIB), data);
	assert_int_equal(len_of(copy), 77);
	assert_ok(aclrtSetBufUserData(copy, "two", 4, 8)); /* from now on its own */
	assert_ok(aclrtSetBufDataLen(copy, 78));
	assert_ok(aclrtGetBufUserData(buf, word, 4, 8));
	assert_string_equal((char *)word, "one");
	assert_int_equal(len_of(buf), 77);
	assert_ok(aclrtMemset(data, 4, 5, 4));
	assert_ok(aclrtFreeBuf(buf));
	assert_int_equal(m_free(), before - 2 * MIB);
	assert_int_equal(data_of(copy, 2 * MIB)[3], 5);
	assert_ok(aclrtFreeBuf(copy));
	assert_int_equal(m_free(), before);
}

static uint32_t count_of(aclrtMbuf head)
{
	uint32_t count = 0;

	assert_ok(aclrtGetBufChainNum(head, &count));
	return count;
}

static aclrtMbuf at(aclrtMbuf head, uint32_t index)
{
	aclrtMbuf buf = NULL;

	assert_ok(aclrtGetBufFromChain(head, index, &buf));
	return buf;
}

/* covers: aclrtAppendBufChain, aclrtGetBufFromChain, aclrtGetBufChainNum effect */
static void chains(void **state)
{
	size_t before = m_free();
	aclrtMbuf buf[4], copy = NULL;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		buf[i] = make((i + 1) * 4096);
		assert_ok(aclrtSetBufDataLen(buf[i], i + 1));
	}
	assert_int_equal(count_of(buf[0]), 1);
	assert_ok(aclrtAppendBufChain(buf[2], buf[3]));
	assert_ok(aclrtAppendBufChain(buf[0], buf[1]));
	assert_ok(aclrtAppendBufChain(buf[0], buf[2])); /* a chain behind a chain */
	assert_int_equal(count_of(buf[0]), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_ptr_equal(at(buf[0], i), buf[i]);
	assert_ok(aclrtCopyBufRef(buf[1], &copy)); /* from there to the end */
	assert_int_equal(count_of(copy), 3);
	assert_int_equal(len_of(at(copy, 2)), 4);
	assert_ptr_equal(data_of(at(copy, 1), 3 * 4096), data_of(buf[2], 3 * 4096));
	assert_ok(aclrtFreeBuf(buf[0]));
	assert_refused(aclrtFreeBuf(buf[3]), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(m_free(), before - (2 + 3 + 4) * 4096);
	assert_ok(aclrtFreeBuf(copy));
	assert_int_equal(m_free(), before);
}

/* covers: aclrtAppendBufChain, aclrtGetBufFromChain, aclrtGetBufChainNum, aclrtCopyBufRef failure */
static void chains_refused(void **state)
{
	aclrtMbuf head = make(1), second = make(1), other = make(1), dead = make(1), got = NULL;
	uint32_t count = 0;

	(void)state;
	assert_ok(aclrtFreeBuf(dead));
	assert_ok(aclrtAppendBufChain(head, second));
	assert_refused(aclrtAppendBufChain(NULL, other), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAppendBufChain(head, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAppendBufChain(head, head), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtAppendBufChain(head, second), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtAppendBufChain(second, other), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtAppendBufChain(head, dead), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtAppendBufChain(dead, other), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFreeBuf(second), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufFromChain(NULL, 0, &got), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufFromChain(head, 0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufFromChain(head, 2, &got), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtGetBufFromChain(head, CHAIN_MAX, &got), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufFromChain(second, 0, &got), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetBufChainNum(NULL, &count), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufChainNum(head, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetBufChainNum(second, &count), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCopyBufRef(NULL, &got), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCopyBufRef(head, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCopyBufRef(dead, &got), ACL_ERROR_RT_PARAM_INVALID);
	assert_null(got);
	for (int i = 2; i < CHAIN_MAX; i++)
		assert_ok(aclrtAppendBufChain(head, make(1)));
	assert_refused(aclrtAppendBufChain(head, other), ACL_ERROR_RT_OVER_LIMIT);
	assert_int_equal(count_of(head), CHAIN_MAX);
	assert_ok(aclrtFreeBuf(head));
	assert_ok(aclrtFreeBuf(other));
}

/* Buffers go with their device's memory. */
static void device_reset(void **state)
{
	aclrtMbuf buf = make(4096);
	size_t size = 0;
	void *data;

	(void)state;
	assert_ok(aclrtResetDevice(0));
	assert_refused(aclrtGetBufData(buf, &data, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFreeBuf(buf));
	assert_refused(aclrtFreeBuf(buf), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtAllocBuf(&buf, 1), ACL_ERROR_RT_CONTEXT_NULL);
	assert_ok(aclrtSetDevice(0));
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 500

static aclrtMbuf shared;

/* References come and go while others look. */
static void *share(void *arg)
{
	bool right = true;

	(void)arg;
	for (int i = 0; right && i < ROUNDS; i++) {
		aclrtMbuf one = NULL, two = NULL;
		uint32_t count = 0;
		size_t len = 0;

		right = !aclrtCopyBufRef(shared, &one) && !aclrtCopyBufRef(one, &two) &&
			!aclrtAppendBufChain(one, two) && !aclrtGetBufChainNum(one, &count) && count == 2 &&
			!aclrtGetBufDataLen(two, &len) && len == 42 && !aclrtFreeBuf(one) &&
			aclrtGetBufDataLen(two, &len);
	}
	return right ? NULL : (void *)1;
}

static void threads(void **state)
{
	size_t before = m_free();
	pthread_t thread[THREADS];
	void *failed;

	(void)state;
	shared = make(4096);
	assert_ok(aclrtSetBufDataLen(shared, 42));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, share, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
	}
	assert_ok(aclrtFreeBuf(shared));
	assert_int_equal(m_free(), before);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(one_buffer), T(no_buffers),	  T(user_data),	   T(user_data_refused), T(references),
		T(chains),     T(chains_refused), T(device_reset), T(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
