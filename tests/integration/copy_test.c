/* SPDX-License-Identifier: MIT */
/* copy_test.c - copies and sets: order of the checks, directions, what waits and what does not, devices and their
 * links. */
#include <pthread.h>

#include "mem_util.h"

/* aclrtMemcpyAsyncWithCondition */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SIZE ((size_t)256 << 10)
#define OUTSIDE ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define FIRST ACL_MEM_MALLOC_HUGE_FIRST

#define H2H ACL_MEMCPY_HOST_TO_HOST
#define H2D ACL_MEMCPY_HOST_TO_DEVICE
#define D2H ACL_MEMCPY_DEVICE_TO_HOST
#define D2D ACL_MEMCPY_DEVICE_TO_DEVICE
#define AUTO ACL_MEMCPY_DEFAULT
#define BUF ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE

/* SIZE bytes of each sort of memory, twice. */
enum { DEV, PIN, PAGEABLE, SORTS };
static unsigned char *mem[SORTS][2];
static aclrtStream stream;

static int setup(void **state)
{
	int r = aclrtSetDevice(0);

	(void)state;
	for (int i = 0; i < 2 && !r; i++) {
		r |= aclrtMallocAlign32((void **)&mem[DEV][i], SIZE, FIRST);
		r |= aclrtMallocHost((void **)&mem[PIN][i], SIZE);
		mem[PAGEABLE][i] = malloc(SIZE);
		r |= !mem[PAGEABLE][i];
	}
	return r ? r : aclrtCreateStream(&stream);
}

static int teardown(void **state)
{
	int r = aclrtDestroyStream(stream);

	(void)state;
	for (int i = 0; i < 2; i++) {
		r |= aclrtFree(mem[DEV][i]);
		r |= aclrtFreeHost(mem[PIN][i]);
		free(mem[PAGEABLE][i]);
	}
	return r ? r : aclrtResetDevice(0);
}

static void fill(unsigned char *ptr, unsigned seed)
{
	for (size_t i = 0; i < SIZE; i++)
		ptr[i] = (unsigned char)(i * 7 + i / 256 + seed);
}

static bool holds(const unsigned char *ptr, unsigned seed)
{
	for (size_t i = 0; i < SIZE; i++)
		if (ptr[i] != (unsigned char)(i * 7 + i / 256 + seed))
			return false;
	return true;
}

/* ---- synchronous ---- */

/* The direction that is said is not looked at. */
/* covers: aclrtMemcpy effect */
static void test_sync(void **state)
{
	static const aclrtMemcpyKind kinds[] = { H2H, H2D, D2H, D2D, AUTO, BUF };
	unsigned seed = 0;

	(void)state;
	for (int from = 0; from < SORTS; from++)
		for (int to = 0; to < SORTS; to++)
			for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
				fill(mem[from][0], ++seed);
				assert_ok(aclrtMemcpy(mem[to][1], SIZE, mem[from][0], SIZE, kinds[k]));
				assert_true(holds(mem[to][1], seed));
			}
	/* Parts, and not a byte more. */
	fill(mem[DEV][1], 1);
	fill(mem[PAGEABLE][0], 2);
	assert_ok(aclrtMemcpy(mem[DEV][1] + 1000, 5, mem[PAGEABLE][0] + 77, 3, H2D));
	assert_memory_equal(mem[DEV][1] + 1000, mem[PAGEABLE][0] + 77, 3);
	assert_int_equal(mem[DEV][1][1003], (unsigned char)(1003 * 7 + 1003 / 256 + 1));
	assert_int_equal(mem[DEV][1][999], (unsigned char)(999 * 7 + 999 / 256 + 1));
}

/* covers: aclrtMemcpy failure */
static void test_sync_order(void **state)
{
	char a[16] = "0123456789", *dev = (char *)mem[DEV][0];

	(void)state;
	/* A count of 0 comes before everything, then NULL, the kind, the room. */
	assert_ok(aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)99));
	assert_refused(aclrtMemcpy(NULL, 0, a, 1, (aclrtMemcpyKind)99), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpy(a, 0, NULL, 1, (aclrtMemcpyKind)99), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
	assert_refused(aclrtMemcpy(dev, 0, a, 1, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpy(dev, 0, a, 1, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpy(dev, 0, a, 1, (aclrtMemcpyKind)-1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpy(dev, 0, a, 1, H2D), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy(dev, 9, a, 10, H2D), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy(dev, 9, dev, 10, D2D), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtMemcpy(dev, 10, dev, 10, D2D));
	assert_ok(aclrtMemcpy(a, 2 * SIZE, a, 2 * SIZE, H2H));
	/* Overlap is refused where memcpy_s sees it. */
	assert_refused(aclrtMemcpy(a + 1, 8, a, 8, H2H), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy(a, 8, a + 7, 8, H2H), ACL_ERROR_RT_PARAM_INVALID);
	assert_string_equal(a, "0123456789");
	assert_ok(aclrtMemcpy(a + 8, 8, a, 8, H2H));
}

static void test_sync_ranges(void **state)
{
	unsigned char *dev = mem[DEV][0], *page = mem[PAGEABLE][0], *gone = NULL, *small = NULL;
	void *area = NULL;

	(void)state;
	assert_refused(aclrtMemcpy(dev + 1, SIZE, page, SIZE, H2D), OUTSIDE);
	assert_refused(aclrtMemcpy(page, SIZE, dev + SIZE - 1, 2, D2H), OUTSIDE);
	assert_refused(aclrtMemcpy(dev + SIZE, 1, page, 1, H2D), OUTSIDE);
	assert_refused(aclrtMemcpy(page, 1, dev + SIZE + 4095, 1, D2H), OUTSIDE);
	assert_refused(aclrtMemcpy(dev, SIZE_MAX, page, SIZE_MAX, H2D), OUTSIDE);
	assert_refused(aclrtMemcpy(mem[PIN][0] + 1, SIZE, page, SIZE, H2H), OUTSIDE);
	assert_ok(aclrtMemcpy(dev + SIZE - 1, 1, page, 1, H2D));

	assert_ok(aclrtMalloc((void **)&small, 100, FIRST));
	assert_ok(aclrtMemcpy(small, 160, page, 160, H2D));
	assert_refused(aclrtMemcpy(small, 161, page, 161, H2D), OUTSIDE);
	assert_ok(aclrtFree(small));
	assert_refused(aclrtMemcpy(small, 1, page, 1, H2D), OUTSIDE);

	assert_ok(aclrtMalloc((void **)&gone, MIB, FIRST));
	assert_ok(aclrtFree(gone));
	assert_refused(aclrtMemcpy(gone, 1, page, 1, H2D), OUTSIDE);
	assert_refused(aclrtMemcpy(page, 1, gone + MIB - 1, 1, D2H), OUTSIDE);
	assert_refused(aclrtMemset(gone, 1, 0, 1), OUTSIDE);

	assert_ok(aclrtReserveMemAddress(&area, 4 * MIB, 0, NULL, 0));
	assert_refused(aclrtMemcpy(area, 1, page, 1, H2D), OUTSIDE);
	assert_refused(aclrtMemcpyAsync(area, 1, mem[PIN][0], 1, H2D, stream), OUTSIDE);
	assert_ok(aclrtReleaseMemAddress(area));
}

/* ---- queued ---- */

/* Behind a closed gate nothing may have happened when the call returns; *after* says that it did in the end. */
static void check_waits(unsigned char *dst, unsigned char *src, aclrtMemcpyKind kind)
{
	struct m_gate gate = { .value = 0 };

	fill(src, 3);
	fill(dst, 4);
	m_close(&gate, stream);
	assert_ok(aclrtMemcpyAsync(dst, SIZE, src, SIZE, kind, stream));
	assert_true(holds(dst, 4));
	fill(src, 5);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_true(holds(dst, 5));
	m_gate_end(&gate);
}

/* covers: aclrtMemcpyAsync effect */
static void test_async_waits(void **state)
{
	static const aclrtMemcpyKind kinds[] = { H2H, H2D, D2H, D2D, AUTO };

	(void)state;
	/* Between kinds of memory that are known the direction is corrected. */
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		check_waits(mem[DEV][0], mem[DEV][1], kinds[k]);
		check_waits(mem[DEV][0], mem[PIN][0], kinds[k]);
		check_waits(mem[PIN][0], mem[DEV][0], kinds[k]);
	}
}

struct opener {
	struct m_gate *gate;
	unsigned char *dst;
	bool early; /* the copy was there before the gate opened */
};

static void *open_gate(void *arg)
{
	struct opener *opener = arg;

	opener->early = !holds(opener->dst, 4);
	m_open(opener->gate);
	return NULL;
}

/* Pageable memory: done on return, behind all that is queued. */
static void check_blocks(unsigned char *dst, unsigned char *src, aclrtMemcpyKind kind)
{
	struct m_gate gate = { .value = 0 };
	struct opener opener = { .gate = &gate, .dst = dst };
	pthread_t thread;

	fill(src, 3);
	fill(dst, 4);
	m_close(&gate, stream);
	assert_int_equal(pthread_create(&thread, NULL, open_gate, &opener), 0);
	assert_ok(aclrtMemcpyAsync(dst, SIZE, src, SIZE, kind, stream));
	assert_true(holds(dst, 3));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(opener.early);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
}

static void test_async_pageable(void **state)
{
	(void)state;
	check_blocks(mem[DEV][0], mem[PAGEABLE][0], H2D);
	check_blocks(mem[DEV][0], mem[PAGEABLE][0], D2D);
	check_blocks(mem[DEV][0], mem[PAGEABLE][0], AUTO);
	check_blocks(mem[PAGEABLE][0], mem[DEV][0], D2H);
	check_blocks(mem[PAGEABLE][0], mem[DEV][0], D2D);
	check_blocks(mem[PAGEABLE][0], mem[DEV][0], AUTO);
	check_blocks(mem[PAGEABLE][0], mem[PIN][0], H2D);
	check_blocks(mem[PIN][0], mem[PAGEABLE][0], D2H);
	check_blocks(mem[PAGEABLE][0], mem[PAGEABLE][1], H2D);
}

static void test_async_kinds(void **state)
{
	static const struct {
		int to, from;
		aclrtMemcpyKind kind;
		int code;
	} rows[] = {
		{ DEV, PAGEABLE, H2H, ACL_ERROR_RT_PARAM_INVALID },
		{ DEV, PAGEABLE, D2H, ACL_ERROR_RT_PARAM_INVALID },
		{ PAGEABLE, DEV, H2H, ACL_ERROR_RT_PARAM_INVALID },
		{ PAGEABLE, DEV, H2D, ACL_ERROR_RT_PARAM_INVALID },
		{ PAGEABLE, PIN, D2H, ACL_ERROR_RT_PARAM_INVALID },
		{ PAGEABLE, PIN, D2D, ACL_ERROR_RT_PARAM_INVALID },
		{ PIN, PAGEABLE, H2D, ACL_ERROR_RT_PARAM_INVALID },
		{ PIN, PAGEABLE, D2D, ACL_ERROR_RT_PARAM_INVALID },
		/* Host to host is not a stream's work. */
		{ PAGEABLE, PIN, H2H, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PAGEABLE, PIN, AUTO, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PIN, PAGEABLE, H2H, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PAGEABLE, PAGEABLE, AUTO, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PAGEABLE, PAGEABLE, H2H, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PIN, PIN, H2D, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PIN, PIN, AUTO, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ PIN, DEV, BUF, ACL_ERROR_RT_PARAM_INVALID },
		{ DEV, DEV, BUF, ACL_ERROR_RT_PARAM_INVALID },
		{ PAGEABLE, PAGEABLE, BUF, ACL_ERROR_RT_PARAM_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fill(mem[rows[i].to][0], 9);
		assert_refused(
			aclrtMemcpyAsync(mem[rows[i].to][0], SIZE, mem[rows[i].from][1], SIZE, rows[i].kind, stream),
			rows[i].code);
		assert_ok(aclrtSynchronizeStream(stream));
		assert_true(holds(mem[rows[i].to][0], 9));
	}
}

/* The host's buffer may be used again at once. */
static void test_async_buffered(void **state)
{
	(void)state;
	for (int sort = PIN; sort <= PAGEABLE; sort++) {
		struct m_gate gate = { .value = 0 };

		fill(mem[sort][0], 6);
		fill(mem[DEV][0], 7);
		m_close(&gate, stream);
		assert_ok(aclrtMemcpyAsync(mem[DEV][0], SIZE, mem[sort][0], SIZE, BUF, stream));
		memset(mem[sort][0], 0, SIZE);
		assert_true(holds(mem[DEV][0], 7));
		m_open(&gate);
		assert_ok(aclrtSynchronizeStream(stream));
		assert_true(holds(mem[DEV][0], 6));
		m_gate_end(&gate);
	}
}

typedef aclError (*async_fn)(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind,
			     aclrtStream st);

/* covers: aclrtMemcpyAsync, aclrtMemcpyAsyncWithCondition failure */
static void test_async_order(void **state)
{
	static const async_fn both[] = { aclrtMemcpyAsync, aclrtMemcpyAsyncWithCondition };
	unsigned char *dev = mem[DEV][0], *pin = mem[PIN][0];
	aclrtStream gone = NULL, foreign = NULL;
	aclrtContext own = NULL, other = NULL;

	(void)state;
	assert_ok(aclrtCreateStream(&gone));
	assert_ok(aclrtDestroyStream(gone));
	assert_ok(aclrtGetCurrentContext(&own));
	assert_ok(aclrtCreateContext(&other, 0));
	assert_ok(aclrtCreateStream(&foreign));
	assert_ok(aclrtSetCurrentContext(own));
	for (int i = 0; i < 2; i++) {
		assert_ok(both[i](NULL, 0, NULL, 0, (aclrtMemcpyKind)99, gone));
		assert_refused(both[i](NULL, 1, pin, 1, (aclrtMemcpyKind)99, gone), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 1, NULL, 1, (aclrtMemcpyKind)99, gone), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 0, pin, 1, (aclrtMemcpyKind)6, gone), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 0, pin, 1, H2D, gone), ACL_ERROR_RT_INVALID_HANDLE);
		assert_refused(both[i](dev, 0, pin, 1, H2D, foreign), ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](pin, 1, pin, 1, H2H, foreign), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
		assert_ok(both[i](dev, 1, dev, 1, D2D, foreign));
		assert_refused(both[i](dev, 1, pin, 1, H2D, foreign), ACL_ERROR_RT_STREAM_CONTEXT);
		assert_refused(both[i](dev, 1, mem[PAGEABLE][0], 1, H2D, foreign), ACL_ERROR_RT_STREAM_CONTEXT);
		assert_refused(both[i](dev + SIZE - 1, 2, pin, 2, H2D, stream), OUTSIDE);
		assert_refused(both[i](dev, SIZE + 1, pin, SIZE + 1, H2D, stream), OUTSIDE);
	}
	assert_ok(aclrtSetCurrentContext(other));
	assert_ok(aclrtDestroyStream(foreign));
	assert_ok(aclrtDestroyContext(other));
	assert_ok(aclrtSetCurrentContext(own));
}

/* covers: aclrtMemcpyAsyncWithCondition effect */
static void test_async_with_condition(void **state)
{
	(void)state;
	fill(mem[PIN][0], 8);
	assert_ok(aclrtMemcpyAsyncWithCondition(mem[DEV][0], SIZE, mem[PIN][0], SIZE, H2D, NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_true(holds(mem[DEV][0], 8));
	assert_ok(aclrtMemcpyAsyncWithCondition(mem[PAGEABLE][0], SIZE, mem[DEV][0], SIZE, D2H, stream));
	assert_true(holds(mem[PAGEABLE][0], 8));
}

/* ---- sets ---- */

static bool all_are(const unsigned char *ptr, size_t count, unsigned char value)
{
	for (size_t i = 0; i < count; i++)
		if (ptr[i] != value)
			return false;
	return true;
}

/* covers: aclrtMemset effect */
/* covers: aclrtMemset failure */
static void test_set(void **state)
{
	(void)state;
	for (int sort = 0; sort < SORTS; sort++) {
		memset(mem[sort][0], 1, SIZE);
		assert_ok(aclrtMemset(mem[sort][0] + 1, SIZE, 0x1234, SIZE - 2));
		assert_true(all_are(mem[sort][0] + 1, SIZE - 2, 0x34));
		assert_int_equal(mem[sort][0][0], 1);
		assert_int_equal(mem[sort][0][SIZE - 1], 1);
	}
	assert_ok(aclrtMemset(NULL, 0, 0, 0));
	assert_refused(aclrtMemset(NULL, 1, 0, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemset(mem[DEV][0], 9, 0, 10), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemset(mem[DEV][0] + 1, SIZE, 0, SIZE), OUTSIDE);
	assert_refused(aclrtMemset(mem[PIN][0] + 1, SIZE, 0, SIZE), OUTSIDE);
}

/* covers: aclrtMemsetAsync effect */
/* covers: aclrtMemsetAsync failure */
static void test_set_async(void **state)
{
	(void)state;
	for (int sort = DEV; sort <= PIN; sort++) {
		struct m_gate gate = { .value = 0 };

		memset(mem[sort][0], 1, SIZE);
		m_close(&gate, stream);
		assert_ok(aclrtMemsetAsync(mem[sort][0], SIZE, -1, SIZE, stream));
		assert_true(all_are(mem[sort][0], SIZE, 1));
		m_open(&gate);
		assert_ok(aclrtSynchronizeStream(stream));
		assert_true(all_are(mem[sort][0], SIZE, 0xff));
		m_gate_end(&gate);
	}
	assert_ok(aclrtMemsetAsync(mem[PAGEABLE][0], SIZE, 2, SIZE, stream));
	assert_true(all_are(mem[PAGEABLE][0], SIZE, 2));
	assert_ok(aclrtMemsetAsync(NULL, 0, 0, 0, stream));
	assert_refused(aclrtMemsetAsync(NULL, 1, 0, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetAsync(mem[DEV][0], 9, 0, 10, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemsetAsync(mem[DEV][0] + 1, SIZE, 0, SIZE, stream), OUTSIDE);
	assert_refused(aclrtMemsetAsync(mem[DEV][0], 9, 0, 9, (aclrtStream)mem), ACL_ERROR_RT_INVALID_HANDLE);
}

static void check_words(uint32_t value, size_t from, size_t to)
{
	uint32_t *words = (uint32_t *)(void *)mem[DEV][0];

	for (size_t i = from; i < to; i++)
		assert_int_equal(words[i], value);
}

/* covers: aclrtMemsetD32, aclrtMemsetD32Async effect */
static void test_set_words(void **state)
{
	struct m_gate gate = { .value = 0 };

	(void)state;
	assert_ok(aclrtMemset(mem[DEV][0], SIZE, 0, SIZE));
	assert_ok(aclrtMemsetD32(mem[DEV][0], SIZE, 0xdeadbeef, 100));
	check_words(0xdeadbeef, 0, 100);
	check_words(0, 100, SIZE / 4);
	m_close(&gate, stream);
	assert_ok(aclrtMemsetD32Async(mem[DEV][0], SIZE, 0x01020304, SIZE / 4, stream));
	check_words(0, 100, SIZE / 4);
	/* host memory does not wait for the stream, nor need one */
	assert_ok(aclrtMemsetD32Async(mem[PIN][0], SIZE, 0x0a0b0c0d, 1, stream));
	assert_int_equal(mem[PIN][0][0], 0x0d);
	assert_ok(aclrtMemsetD32Async(mem[PIN][0], SIZE, 0x0e, 1, (aclrtStream)mem));
	assert_int_equal(mem[PIN][0][0], 0x0e);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	check_words(0x01020304, 0, SIZE / 4);
	m_gate_end(&gate);
	assert_ok(aclrtMemsetD32(mem[PIN][0], SIZE, 1, 1));
	assert_int_equal(mem[PIN][0][0], 1);
}

/* covers: aclrtMemsetD32, aclrtMemsetD32Async failure */
static void test_set_words_refused(void **state)
{
	unsigned char *dev = mem[DEV][0];
	void *gone = NULL;

	(void)state;
	assert_ok(aclrtMalloc(&gone, MIB, FIRST));
	assert_ok(aclrtFree(gone));
	assert_ok(aclrtMemsetD32(NULL, 0, 0, 0));
	assert_ok(aclrtMemsetD32Async(NULL, 0, 0, 0, stream));
	assert_refused(aclrtMemsetD32(NULL, 4, 0, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32(dev + 2, 4, 0, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32(dev, 7, 0, 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32(dev, SIZE, 0, SIZE_MAX / 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32(mem[PAGEABLE][0], 4, 0, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32(gone, 4, 0, 1), OUTSIDE);
	assert_refused(aclrtMemsetD32(dev, 2 * SIZE, 0, SIZE / 2), OUTSIDE);
	assert_refused(aclrtMemsetD32Async(NULL, 4, 0, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32Async(dev + 1, 4, 0, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32Async(dev, 3, 0, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32Async(mem[PAGEABLE][0], 4, 0, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32Async(dev, 2 * SIZE, 0, SIZE / 2, stream), OUTSIDE);
	assert_refused(aclrtMemsetD32Async(dev, 4, 0, 1, (aclrtStream)mem), ACL_ERROR_RT_INVALID_HANDLE);
}

/* ---- 2D ---- */

#define WIDTH ((size_t)100)
#define HEIGHT ((size_t)50)
#define DPITCH ((size_t)300)
#define SPITCH ((size_t)200)

static void check_rows(const unsigned char *dst, const unsigned char *src)
{
	for (size_t row = 0; row < HEIGHT; row++) {
		assert_memory_equal(dst + row * DPITCH, src + row * SPITCH, WIDTH);
		assert_true(all_are(dst + row * DPITCH + WIDTH, DPITCH - WIDTH, 0));
	}
}

/* covers: aclrtMemcpy2d effect */
static void test_2d(void **state)
{
	(void)state;
	for (int host = PIN; host <= PAGEABLE; host++) {
		fill(mem[host][0], 1);
		memset(mem[DEV][0], 0, SIZE);
		assert_ok(aclrtMemcpy2d(mem[DEV][0], DPITCH, mem[host][0], SPITCH, WIDTH, HEIGHT, H2D));
		check_rows(mem[DEV][0], mem[host][0]);
		fill(mem[DEV][0], 2);
		memset(mem[host][0], 0, SIZE);
		assert_ok(aclrtMemcpy2d(mem[host][0], DPITCH, mem[DEV][0], SPITCH, WIDTH, HEIGHT, AUTO));
		check_rows(mem[host][0], mem[DEV][0]);
	}
}

/* covers: aclrtMemcpy2dAsync effect */
static void test_2d_async(void **state)
{
	static const int sorts[][2] = { { DEV, PIN }, { PIN, DEV }, { DEV, DEV } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsigned char *dst = mem[sorts[i][0]][0], *src = mem[sorts[i][1]][1];
		struct m_gate gate = { .value = 0 };

		fill(src, 1);
		memset(dst, 0, SIZE);
		m_close(&gate, stream);
		assert_ok(aclrtMemcpy2dAsync(dst, DPITCH, src, SPITCH, WIDTH, HEIGHT, AUTO, stream));
		assert_true(all_are(dst, SIZE, 0));
		m_open(&gate);
		assert_ok(aclrtSynchronizeStream(stream));
		check_rows(dst, src);
		m_gate_end(&gate);
	}
	fill(mem[PAGEABLE][0], 3);
	memset(mem[DEV][0], 0, SIZE);
	assert_ok(aclrtMemcpy2dAsync(mem[DEV][0], DPITCH, mem[PAGEABLE][0], SPITCH, WIDTH, HEIGHT, H2D, stream));
	check_rows(mem[DEV][0], mem[PAGEABLE][0]);
}

static aclError sync_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			aclrtMemcpyKind kind, aclrtStream unused)
{
	(void)unused;
	return aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind);
}

/* covers: aclrtMemcpy2d, aclrtMemcpy2dAsync failure */
static void test_2d_refused(void **state)
{
	aclError (*const both[])(void *, size_t, const void *, size_t, size_t, size_t, aclrtMemcpyKind,
				 aclrtStream) = { sync_2d, aclrtMemcpy2dAsync };
	unsigned char *dev = mem[DEV][0], *pin = mem[PIN][0], *page = mem[PAGEABLE][0];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_ok(both[i](NULL, 0, NULL, 0, 0, 1, H2H, stream));
		assert_ok(both[i](NULL, 0, NULL, 0, 1, 0, H2H, stream));
		assert_refused(both[i](NULL, 8, pin, 8, 8, 8, H2D, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 8, NULL, 8, 8, 8, H2D, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 7, pin, 8, 8, 8, H2D, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 8, pin, 7, 8, 8, H2D, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 8, pin, 8, 8, 8, H2H, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 8, pin, 8, 8, 8, BUF, stream), ACL_ERROR_INVALID_PARAM);
		assert_refused(both[i](dev, 8, pin, 8, 8, 5242881, H2D, stream), ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](dev, 5000001, pin, 5000001, 5000001, 1, H2D, stream),
			       ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](dev, SIZE_MAX / 2, pin, 8, 8, 4, H2D, stream), ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](page, 8, pin, 8, 8, 8, AUTO, stream), ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](dev, 8, page, 8, 8, 8, D2H, stream), ACL_ERROR_RT_PARAM_INVALID);
		assert_refused(both[i](dev, SIZE, pin, 8, 8, 2, H2D, stream), OUTSIDE);
		assert_refused(both[i](dev, 8, pin + SIZE - 63, 8, 8, 8, H2D, stream), OUTSIDE);
		assert_ok(both[i](dev, 8, pin + SIZE - 64, 8, 8, 8, H2D, stream));
	}
	/* Only the queued one copies within devices. */
	assert_refused(aclrtMemcpy2d(dev, 8, mem[DEV][1], 8, 8, 8, AUTO), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy2d(dev, 8, mem[DEV][1], 8, 8, 8, D2D), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy2dAsync(dev, 8, pin, 8, 8, 8, H2D, (aclrtStream)mem), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtSynchronizeStream(stream));
}

/* ---- several devices ---- */

/* Memory of devices 1 and 2, context on 2. */
struct pair {
	void *one, *two;
	aclrtStream stream;
};

static void pair_open(struct pair *pair)
{
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMalloc(&pair->one, MIB, FIRST));
	assert_ok(aclrtSetDevice(2));
	assert_ok(aclrtMalloc(&pair->two, MIB, FIRST));
	assert_ok(aclrtCreateStream(&pair->stream));
}

static void pair_close(struct pair *pair)
{
	assert_ok(aclrtSetDevice(2));
	assert_ok(aclrtDestroyStream(pair->stream));
	assert_ok(aclrtFree(pair->one));
	assert_ok(aclrtFree(pair->two));
	assert_ok(aclrtResetDevice(2));
	assert_ok(aclrtResetDevice(2));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

static void test_peers(void **state)
{
	struct pair pair;
	int read = 0;

	(void)state;
	pair_open(&pair);
	assert_ok(aclrtMemset(pair.one, 4, 1, 4));
	assert_ok(aclrtMemcpy(&read, 4, pair.one, 4, D2H));
	assert_int_equal(read, 0x01010101);
	assert_refused(aclrtMemcpy(pair.two, 4, pair.one, 4, D2D), OUTSIDE);
	assert_refused(aclrtMemcpyAsync(pair.two, 4, pair.one, 4, D2D, pair.stream), OUTSIDE);
	assert_ok(aclrtDeviceEnablePeerAccess(1, 0));
	assert_refused(aclrtMemcpy(pair.two, 4, pair.one, 4, D2D), OUTSIDE);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtDeviceEnablePeerAccess(2, 0));
	assert_ok(aclrtMemcpy(pair.two, 4, pair.one, 4, D2D));
	assert_ok(aclrtMemcpy(&read, 4, pair.two, 4, D2H));
	assert_int_equal(read, 0x01010101);
	assert_ok(aclrtSetDevice(2));
	assert_ok(aclrtMemset(pair.two, 4, 2, 4));
	assert_ok(aclrtMemcpyAsync(pair.one, 4, pair.two, 4, AUTO, pair.stream));
	assert_ok(aclrtSynchronizeStream(pair.stream));
	assert_ok(aclrtMemcpy(&read, 4, pair.one, 4, D2H));
	assert_int_equal(read, 0x02020202);
	assert_ok(aclrtDeviceDisablePeerAccess(1));
	assert_refused(aclrtMemcpy(pair.one, 4, pair.two, 4, D2D), OUTSIDE);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtDeviceDisablePeerAccess(2));
	assert_ok(aclrtResetDevice(1));
	pair_close(&pair);
}

/* A device of the A3 class copies between devices without that. */
static int peer_a3(void)
{
	void *one = NULL, *two = NULL;
	int read = 0;

	if (aclrtSetDevice(1) || aclrtMalloc(&one, MIB, FIRST) || aclrtSetDevice(2) || aclrtMalloc(&two, MIB, FIRST))
		return 2;
	if (aclrtMemset(one, 4, 3, 4) || aclrtMemcpy(two, 4, one, 4, D2D) || aclrtMemcpy(&read, 4, two, 4, D2H))
		return 3;
	return read == 0x03030303 ? 0 : 4;
}

static void test_peers_a3(void **state)
{
	static const char *const args[] = { "a3", NULL };
	static const char *const env[] = { "VINCI_INSTANCE=test-copy-a3", "VINCI_SOC=Ascend910_9391", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, env));
	assert_int_equal(t_wait(&peer, 30000), 0);
}

/* Memory of device 1 imported by key for device 2: what CANN's reference allows, and nothing else. */
static void test_imported(void **state)
{
	void *imported = NULL;
	struct pair pair;
	char key[65];
	int read = 0;

	(void)state;
	pair_open(&pair);
	assert_ok(aclrtMemset(pair.one, MIB, 4, MIB));
	assert_ok(aclrtIpcMemGetExportKey(pair.one, MIB, key, sizeof(key),
					  ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	assert_ok(aclrtIpcMemImportByKey(&imported, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	assert_refused(aclrtFree(imported), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpy(&read, 4, imported, 4, D2H), OUTSIDE);
	assert_refused(aclrtMemcpy(imported, 4, &read, 4, H2D), OUTSIDE);
	assert_refused(aclrtMemcpyAsync(mem[PIN][0], 4, imported, 4, D2H, pair.stream), OUTSIDE);
	assert_refused(aclrtMemcpyAsync(imported, 4, mem[PAGEABLE][0], 4, H2D, pair.stream), OUTSIDE);
	assert_refused(aclrtMemcpy(pair.two, 4, imported, 4, D2D), OUTSIDE);
	assert_refused(aclrtMemcpyAsync(pair.two, 4, imported, 4, AUTO, pair.stream), OUTSIDE);
	assert_refused(aclrtMemcpy2d(mem[PIN][0], 8, imported, 8, 8, 8, D2H), OUTSIDE);
	assert_ok(aclrtMemcpyAsync(pair.two, 4, imported, 4, D2D, pair.stream));
	assert_ok(aclrtSynchronizeStream(pair.stream));
	assert_ok(aclrtMemcpy(&read, 4, pair.two, 4, D2H));
	assert_int_equal(read, 0x04040404);
	assert_ok(aclrtIpcMemClose(key));
	assert_ok(aclrtIpcMemClose(key));
	pair_close(&pair);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_sync_order),
		cmocka_unit_test(test_sync_ranges),
		cmocka_unit_test(test_async_waits),
		cmocka_unit_test(test_async_pageable),
		cmocka_unit_test(test_async_kinds),
		cmocka_unit_test(test_async_buffered),
		cmocka_unit_test(test_async_order),
		cmocka_unit_test(test_async_with_condition),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_set_async),
		cmocka_unit_test(test_set_words),
		cmocka_unit_test(test_set_words_refused),
		cmocka_unit_test(test_2d),
		cmocka_unit_test(test_2d_async),
		cmocka_unit_test(test_2d_refused),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_peers_a3),
		cmocka_unit_test(test_imported),
	};

	if (argc > 1 && !strcmp(argv[1], "a3"))
		return peer_a3();
	return cmocka_run_group_tests(tests, setup, teardown);
}
