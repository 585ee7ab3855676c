/* SPDX-License-Identifier: MIT */
/* engine_test.c - batches, indirect copies, cache maintenance, reduction and random numbers. */
#include "mem_util.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define N 4096 /* bytes of the buffers */

static aclrtStream stream;
static unsigned char *device_a, *device_b, *pinned;

static int set_up(void **state)
{
	(void)state;
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMalloc((void **)&device_a, N, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMalloc((void **)&device_b, N, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMallocHost((void **)&pinned, N));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtFree(device_a));
	assert_ok(aclrtFree(device_b));
	assert_ok(aclrtFreeHost(pinned));
	assert_ok(aclrtResetDevice(0));
	return 0;
}

static void fill(void *where, unsigned char first, size_t count)
{
	unsigned char *bytes = malloc(count);

	assert_non_null(bytes);
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(first + i);
	assert_ok(aclrtMemcpy(where, count, bytes, count, ACL_MEMCPY_DEFAULT));
	free(bytes);
}

static void assert_bytes(const void *where, unsigned char first, size_t count)
{
	unsigned char bytes[N];

	assert_ok(aclrtMemcpy(bytes, sizeof(bytes), where, count, ACL_MEMCPY_DEFAULT));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(bytes[i], (unsigned char)(first + i));
}

/* ---- batches ---- */

static const aclrtMemcpyBatchAttr to_device = { .dstLoc = { 0, ACL_MEM_LOCATION_TYPE_DEVICE },
						.srcLoc = { 0, ACL_MEM_LOCATION_TYPE_HOST } };
static const aclrtMemcpyBatchAttr to_host = { .dstLoc = { 0, ACL_MEM_LOCATION_TYPE_HOST },
					      .srcLoc = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };

struct batch {
	void *dsts[3], *srcs[3];
	size_t maxs[3], sizes[3];
	aclrtMemcpyBatchAttr attrs[2];
	size_t starts[2];
};

/* Two copies up from pageable and pinned memory, one down. */
static struct batch three_copies(unsigned char *pageable)
{
	return (struct batch){
		.dsts = { device_a, device_a + 512, pinned + 2048 },
		.srcs = { pageable, pinned, device_b },
		.maxs = { 100, 300, 600 },
		.sizes = { 100, 200, 600 },
		.attrs = { to_device, to_host },
		.starts = { 0, 2 },
	};
}

static void prepare(unsigned char *pageable)
{
	fill(pageable, 1, 100);
	fill(pinned, 50, N);
	fill(device_b, 99, N);
	assert_ok(aclrtMemset(device_a, N, 0, N));
}

static void assert_copied(void)
{
	assert_bytes(device_a, 1, 100);
	assert_bytes(device_a + 512, 50, 200);
	assert_bytes(pinned + 2048, 99, 600);
}

/* covers: aclrtMemcpyBatch, aclrtMemcpyBatchV2 effect */
static void batch_copies(void **state)
{
	unsigned char pageable[100];
	struct batch b = three_copies(pageable);
	size_t bad = 7;

	(void)state;
	prepare(pageable);
	assert_ok(aclrtMemcpyBatch(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad));
	assert_true(bad == SIZE_MAX);
	assert_copied();
	prepare(pageable);
	assert_ok(aclrtMemcpyBatchV2(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2));
	assert_copied();
}

/* covers: aclrtMemcpyBatchAsync, aclrtMemcpyBatchAsyncV2 effect */
static void batch_waits_its_turn(void **state)
{
	unsigned char pageable[100];
	struct batch b = three_copies(pageable);
	struct m_gate gate = { 0 };
	unsigned char was[200] = { 0 };
	size_t bad = 7;

	(void)state;
	prepare(pageable);
	b.srcs[0] = pinned + 1024; /* nothing pageable: it must not wait */
	m_close(&gate, stream);
	assert_ok(aclrtMemcpyBatchAsync(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad, stream));
	assert_true(bad == SIZE_MAX);
	assert_ok(aclrtMemcpy(was, sizeof(was), device_a + 512, sizeof(was), ACL_MEMCPY_DEVICE_TO_HOST));
	for (size_t i = 0; i < sizeof(was); i++)
		assert_int_equal(was[i], 0);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
	assert_bytes(device_a + 512, 50, 200);
	assert_bytes(pinned + 2048, 99, 600);

	b = three_copies(pageable);
	prepare(pageable);
	assert_ok(aclrtMemcpyBatchAsyncV2(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_copied();
}

/* covers: aclrtMemcpyBatch, aclrtMemcpyBatchV2, aclrtMemcpyBatchAsync, aclrtMemcpyBatchAsyncV2 failure */
static void batch_names_the_bad_copy(void **state)
{
	unsigned char pageable[100];
	struct batch b = three_copies(pageable);
	size_t bad = 7;

	(void)state;
	prepare(pageable);
	b.dsts[2] = device_b + 1024; /* within the device */
	assert_refused(aclrtMemcpyBatch(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(bad, 2);
	assert_bytes(device_a, 0, 1); /* none was made */
	assert_refused(aclrtMemcpyBatchAsync(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(bad, 2);
	b = three_copies(pageable);
	b.attrs[0].dstLoc.id = 1; /* device_a is on 0 */
	assert_refused(aclrtMemcpyBatchV2(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2),
		       ACL_ERROR_RT_PARAM_INVALID);
	b = three_copies(pageable);
	b.sizes[1] = 0; /* legal, but not on a stream */
	assert_ok(aclrtMemcpyBatch(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad));
	assert_refused(aclrtMemcpyBatchAsyncV2(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	b = three_copies(pageable);
	b.dsts[0] = device_a + N + 32; /* beyond what was allocated */
	assert_refused(aclrtMemcpyBatch(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad),
		       ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

/* covers: aclrtMemcpyBatch, aclrtMemcpyBatchAsync failure */
static void batch_arguments(void **state)
{
	unsigned char pageable[100];
	struct batch b = three_copies(pageable);
	size_t bad = 7;

	(void)state;
	prepare(pageable);
#define BATCH(dsts_, sizes_, count_, starts_, attrs_)                                                                  \
	aclrtMemcpyBatch(dsts_, b.maxs, b.srcs, sizes_, count_, b.attrs, starts_, attrs_, &bad)
	assert_refused(BATCH(NULL, b.sizes, 3, b.starts, 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(BATCH(b.dsts, NULL, 3, b.starts, 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(BATCH(b.dsts, b.sizes, 0, b.starts, 2), ACL_ERROR_INVALID_PARAM);
	assert_refused(BATCH(b.dsts, b.sizes, 3, b.starts, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(BATCH(b.dsts, b.sizes, 1, b.starts, 2), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(BATCH(b.dsts, b.sizes, 3, &b.starts[1], 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpyBatch(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, NULL),
		       ACL_ERROR_INVALID_PARAM);
	b.maxs[1] = b.sizes[1] - 1;
	assert_refused(BATCH(b.dsts, b.sizes, 3, b.starts, 2), ACL_ERROR_INVALID_PARAM);
	memset(b.sizes, 0, sizeof(b.sizes)); /* nothing to do: nothing else is looked at */
	assert_ok(BATCH(NULL, b.sizes, 3, NULL, 0));
	assert_true(bad == SIZE_MAX);
	b = three_copies(pageable);
	b.attrs[1].rsv[15] = 1;
	assert_refused(aclrtMemcpyBatchAsync(b.dsts, b.maxs, b.srcs, b.sizes, 3, b.attrs, b.starts, 2, &bad, stream),
		       ACL_ERROR_INVALID_PARAM);
#undef BATCH
}

/* ---- indirect copies ---- */

/* covers: aclrtMemcpyAsyncWithOffset effect */
static void addresses_are_read_late(void **state)
{
	void *cells[2] = { device_a, device_b }, **on_device;
	struct m_gate gate = { 0 };

	(void)state;
	assert_ok(aclrtMalloc((void **)&on_device, sizeof(cells), ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMemset(on_device, sizeof(cells), 0, sizeof(cells)));
	fill(device_b, 7, N);
	assert_ok(aclrtMemset(device_a, N, 0, N));
	m_close(&gate, stream);
	assert_ok(aclrtMemcpyAsyncWithOffset(on_device, 64, 128, (const void **)&on_device[1], 64, 3,
					     ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
	assert_ok(aclrtMemcpy(on_device, sizeof(cells), cells, sizeof(cells), ACL_MEMCPY_HOST_TO_DEVICE));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
	assert_bytes(device_a + 128, 10, 64);
	assert_ok(aclrtFree(on_device));
}

/* covers: aclrtMemcpyAsyncWithOffset failure */
static void bad_addresses_fail_the_task(void **state)
{
	void *cells[2] = { device_a, (void *)(uintptr_t)0x1000 }, **on_device;
	const aclrtMemcpyKind inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
	const void **second;

	(void)state;
	assert_ok(aclrtMalloc((void **)&on_device, sizeof(cells), ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMemcpy(on_device, sizeof(cells), cells, sizeof(cells), ACL_MEMCPY_HOST_TO_DEVICE));
	second = (const void **)&on_device[1];
	assert_ok(aclrtMemcpyAsyncWithOffset(on_device, 64, 0, second, 64, 0, inner, stream));
	assert_refused(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtMemcpyAsyncWithOffset(on_device, N, N - 8, (const void **)on_device, N, 0, inner, stream));
	assert_refused(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemcpyAsyncWithOffset(on_device, 63, 0, second, 64, 0, inner, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpyAsyncWithOffset(cells, 64, 0, second, 64, 0, inner, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpyAsyncWithOffset(NULL, 64, 0, second, 64, 0, inner, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemcpyAsyncWithOffset(on_device, 64, 0, second, 64, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFree(on_device));
}

/* covers: aclrtGetMemcpyDescSize, aclrtSetMemcpyDesc, aclrtMemcpyAsyncWithDesc effect */
static void described_copy(void **state)
{
	const aclrtMemcpyKind inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
	size_t size = 0;
	void *desc;

	(void)state;
	assert_ok(aclrtGetMemcpyDescSize(inner, &size));
	assert_int_equal(size, 32);
	assert_ok(aclrtMalloc(&desc, size, ACL_MEM_MALLOC_HUGE_FIRST));
	fill(device_b, 33, N);
	assert_ok(aclrtSetMemcpyDesc(desc, inner, device_b, device_a, 1000, NULL));
	for (int i = 0; i < 2; i++) { /* it can be used again */
		assert_ok(aclrtMemset(device_a, N, 0, N));
		assert_ok(aclrtMemcpyAsyncWithDesc(desc, inner, stream));
		assert_ok(aclrtSynchronizeStream(stream));
		assert_bytes(device_a, 33, 1000);
		assert_bytes(device_a + 1000, 0, 1);
	}
	assert_ok(aclrtFree(desc));
}

/* covers: aclrtGetMemcpyDescSize, aclrtSetMemcpyDesc, aclrtMemcpyAsyncWithDesc failure */
static void descriptions_refused(void **state)
{
	const aclrtMemcpyKind inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
	size_t size = 5;

	(void)state;
	assert_refused(aclrtGetMemcpyDescSize(inner, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetMemcpyDescSize(ACL_MEMCPY_HOST_TO_DEVICE, &size), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtGetMemcpyDescSize((aclrtMemcpyKind)8, &size), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(size, 5);
	assert_refused(aclrtSetMemcpyDesc(NULL, inner, device_b, device_a, 8, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetMemcpyDesc(device_a, inner, device_b, device_a, 0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetMemcpyDesc(device_a, inner, device_b, device_a, 8, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSetMemcpyDesc(device_a + 8, inner, device_b, device_a, 8, NULL),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetMemcpyDesc(device_a, inner, pinned, device_a, 8, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSetMemcpyDesc(device_a, ACL_MEMCPY_DEVICE_TO_DEVICE, device_b, device_a, 8, NULL),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtMemcpyAsyncWithDesc(device_a, inner, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemcpyAsyncWithDesc(pinned, inner, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtMemset(device_a, N, 0x5a, N)); /* no description there */
	assert_ok(aclrtMemcpyAsyncWithDesc(device_a, inner, stream));
	assert_refused(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

/* ---- caches ---- */

/* covers: aclrtCmoAsync, aclrtCmoGetDescSize, aclrtCmoSetDesc, aclrtCmoAsyncWithDesc effect */
static void caches_keep_what_they_hold(void **state)
{
	aclrtStreamStatus status;
	struct m_gate gate = { 0 };
	size_t size = 0;
	void *desc;

	(void)state;
	assert_ok(aclrtCmoGetDescSize(&size));
	assert_int_equal(size, 32);
	assert_ok(aclrtMalloc(&desc, size, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtCmoSetDesc(desc, device_b, N));
	fill(device_b, 3, N);
	m_close(&gate, stream);
	for (int op = ACL_RT_CMO_TYPE_PREFETCH; op <= ACL_RT_CMO_TYPE_FLUSH; op++) {
		assert_ok(aclrtCmoAsync(device_b, N, (aclrtCmoType)op, stream));
		assert_ok(aclrtCmoAsyncWithDesc(desc, (aclrtCmoType)op, stream, NULL));
	}
	assert_ok(aclrtStreamQuery(stream, &status)); /* they are tasks */
	assert_int_equal(status, ACL_STREAM_STATUS_NOT_READY);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
	assert_bytes(device_b, 3, 256);
	assert_ok(aclrtFree(desc));
}

/* covers: aclrtCmoAsync, aclrtCmoGetDescSize, aclrtCmoSetDesc, aclrtCmoAsyncWithDesc failure */
static void caches_refused(void **state)
{
	void *other;

	(void)state;
	assert_refused(aclrtCmoAsync(NULL, N, ACL_RT_CMO_TYPE_PREFETCH, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCmoAsync(device_a, 0, ACL_RT_CMO_TYPE_PREFETCH, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCmoAsync(device_a, N, (aclrtCmoType)4, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtCmoAsync(pinned, N, ACL_RT_CMO_TYPE_PREFETCH, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCmoGetDescSize(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCmoSetDesc(NULL, device_a, N), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCmoSetDesc(device_b, device_a, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCmoAsyncWithDesc(NULL, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtCmoSetDesc(device_b, device_a, (size_t)1 << 40)); /* more than there is: found when it runs */
	assert_ok(aclrtCmoAsyncWithDesc(device_b, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL));
	assert_refused(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMalloc(&other, N, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtSetDevice(0));
	assert_refused(aclrtCmoAsync(other, N, ACL_RT_CMO_TYPE_PREFETCH, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtResetDevice(0)); /* set twice by now */
	assert_ok(aclrtFree(other));
	assert_ok(aclrtResetDevice(1));
}

/* ---- reduction ---- */

/* Puts both operands on the device, reduces, and reads the result back into @a. */
static void reduce(void *a, const void *b, size_t size, aclrtReduceKind kind, aclDataType type)
{
	assert_ok(aclrtMemcpy(device_a, N, a, size, ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpy(device_b, N, b, size, ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtReduceAsync(device_a, device_b, size, kind, type, stream, NULL));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtMemcpy(a, size, device_a, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

#define SUM ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM
#define MAX ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX
#define MIN ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN

/* covers: aclrtReduceAsync effect */
static void reduces_each_type(void **state)
{
	int8_t i8[3] = { 100, -100, 3 };
	const int8_t j8[3] = { 100, 1, -4 };
	int16_t i16[2] = { -5, 300 };
	const int16_t j16[2] = { 7, 299 };
	int32_t i32[2] = { INT32_MAX, -1 };
	const int32_t j32[2] = { 1, -1 };
	float f[3] = { 1.5f, -2.0f, INFINITY };
	const float g[3] = { 0.25f, -3.0f, 1.0f };
	uint16_t h[3] = { 0x3c00, 0x7bff, 0x0001 }, bf[2] = { 0x3f80, 0xc000 };
	const uint16_t k[3] = { 0x3800, 0x7bff, 0x0001 }, bg[2] = { 0x4000, 0x3f80 };

	(void)state;
	reduce(i8, j8, sizeof(i8), SUM, ACL_INT8);
	assert_int_equal(i8[0], -56); /* wraps */
	assert_int_equal(i8[1], -99);
	reduce(i16, j16, sizeof(i16), MAX, ACL_INT16);
	assert_int_equal(i16[0], 7);
	assert_int_equal(i16[1], 300);
	reduce(i32, j32, sizeof(i32), SUM, ACL_INT32);
	assert_int_equal(i32[0], INT32_MIN);
	assert_int_equal(i32[1], -2);
	reduce(f, g, sizeof(f), SUM, ACL_FLOAT);
	assert_true(f[0] == 1.75f && f[1] == -5.0f && f[2] == FLT_MAX); /* saturates, as a stream does at first */
	reduce(f, g, sizeof(f), MIN, ACL_FLOAT);
	assert_true(f[0] == 0.25f && f[1] == -5.0f && f[2] == 1.0f);
	reduce(h, k, sizeof(h), SUM, ACL_FLOAT16);
	assert_int_equal(h[0], 0x3e00); /* 1.5 */
	assert_int_equal(h[1], 0x7bff); /* the largest */
	assert_int_equal(h[2], 0x0002); /* below the normal numbers */
	reduce(bf, bg, sizeof(bf), SUM, ACL_BF16);
	assert_int_equal(bf[0], 0x4040); /* 3 */
	assert_int_equal(bf[1], 0xbf80); /* -1 */
}

/* covers: aclrtReduceAsync failure */
static void reductions_refused(void **state)
{
	(void)state;
#define REDUCE(dst, count, kind, type) aclrtReduceAsync(dst, device_b, count, kind, type, stream, NULL)
	assert_refused(REDUCE(NULL, 8, SUM, ACL_FLOAT), ACL_ERROR_INVALID_PARAM);
	assert_refused(REDUCE(device_a, 8, SUM, ACL_DOUBLE), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtReduceAsync(device_a, device_b, 8, SUM, ACL_FLOAT, stream, pinned),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(REDUCE(device_a, 0, SUM, ACL_FLOAT), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(REDUCE(device_a, 8, (aclrtReduceKind)14, ACL_FLOAT), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(REDUCE(device_a, 6, SUM, ACL_FLOAT), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(REDUCE(device_a, 8, SUM, ACL_UINT8), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(REDUCE(device_a, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(REDUCE(pinned, 8, SUM, ACL_FLOAT), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(REDUCE(device_a, 2 * N, SUM, ACL_FLOAT), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
#undef REDUCE
}

/* ---- random numbers ---- */

static aclrtRandomParaInfo value(const void *bytes, uint8_t size)
{
	aclrtRandomParaInfo info = { .size = size };

	memcpy(info.valueOrAddr, bytes, size);
	return info;
}

static aclrtRandomParaInfo number(float f)
{
	return value(&f, sizeof(f));
}

/* @count numbers into device_a; the counter is at the end of device_b. */
static aclrtRandomNumTaskInfo task_of(aclrtRandomNumFuncType type, uint64_t seed, uint64_t count)
{
	aclrtRandomNumTaskInfo info = { .dataType = ACL_FLOAT,
					.randomNumFuncParaInfo.funcType = type,
					.randomResultAddr = device_a,
					.randomCounterAddr = device_b + N - 16,
					.randomSeed = value(&seed, 8),
					.randomNum = value(&count, 8) };

	return info;
}

static void draw(const aclrtRandomNumTaskInfo *info, void *out, size_t size)
{
	assert_ok(aclrtMemset(device_a, N, 0xff, N));
	assert_ok(aclrtRandomNumAsync(info, stream, NULL));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtMemcpy(out, size, device_a, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

static double mean_of(const float *numbers, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum / (double)count;
}

/* Salmon et al. publish what Philox4x32-10 gives for a counter and a key of zeros. */
static void first_words_are_philox(void)
{
	aclrtRandomNumTaskInfo info = task_of(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 0, 2);
	const uint64_t min = 0, max = UINT64_C(0xffffffffffffffff);
	uint64_t got[2];

	info.dataType = ACL_UINT64;
	info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = (aclrtUniformDisInfo){ value(&min, 8), value(&max, 8) };
	draw(&info, got, sizeof(got));
	assert_true(got[0] == UINT64_C(0xe169c58d6627e8d5));
	assert_true(got[1] == UINT64_C(0x9b00dbd8bc57ac4c));
}

/* covers: aclrtRandomNumAsync effect */
static void distributions(void **state)
{
	aclrtRandomNumTaskInfo info = task_of(ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 42, 1000);
	float x[1000], y[1000];
	uint8_t bits[125];
	unsigned ones = 0;

	(void)state;
	assert_ok(aclrtMemset(device_b, N, 0, N));
	first_words_are_philox();
	info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = (aclrtUniformDisInfo){ number(-2), number(4) };
	draw(&info, x, sizeof(x));
	draw(&info, y, sizeof(y));
	assert_memory_equal(x, y, sizeof(x)); /* the seed decides */
	for (int i = 0; i < 1000; i++)
		assert_true(x[i] >= -2 && x[i] < 4);
	assert_true(fabs(mean_of(x, 1000) - 1) < 0.25);
	info = task_of(ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, 43, 1000);
	info.randomNumFuncParaInfo.paramInfo.normalDisInfo = (aclrtNormalDisInfo){ number(10), number(2) };
	draw(&info, x, sizeof(x));
	assert_true(fabs(mean_of(x, 1000) - 10) < 0.4);
	info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
	draw(&info, x, sizeof(x));
	for (int i = 0; i < 1000; i++)
		assert_true(x[i] >= 6 && x[i] <= 14);
	info = task_of(ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, 44, 1000);
	info.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation = number(0.25f);
	draw(&info, bits, sizeof(bits));
	for (int i = 0; i < 1000; i++)
		ones += bits[i / 8] >> (i % 8) & 1;
	assert_in_range(ones, 700, 800);
}

/* covers: aclrtRandomNumAsync failure */
static void draws_refused(void **state)
{
	aclrtRandomNumTaskInfo info = task_of(ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, 1, N);
	const aclrtNormalDisInfo shape = { number(0), number(1) };

	(void)state;
	info.randomNumFuncParaInfo.paramInfo.normalDisInfo = shape;
	assert_refused(aclrtRandomNumAsync(NULL, stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtRandomNumAsync(&info, stream, pinned), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtRandomNumAsync(&info, stream, NULL)); /* four bytes each: found when it runs */
	assert_refused(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	info.dataType = ACL_INT32;
	assert_refused(aclrtRandomNumAsync(&info, stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
	info.dataType = ACL_FLOAT16;
	assert_refused(aclrtRandomNumAsync(&info, stream, NULL), ACL_ERROR_RT_PARAM_INVALID); /* mean has 4 bytes */
	info.dataType = ACL_FLOAT;
	info.randomResultAddr = pinned;
	assert_refused(aclrtRandomNumAsync(&info, stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
	info.randomResultAddr = device_a;
	info.randomCounterAddr = NULL;
	assert_refused(aclrtRandomNumAsync(&info, stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
	info.randomNumFuncParaInfo.funcType = (aclrtRandomNumFuncType)4;
	assert_refused(aclrtRandomNumAsync(&info, stream, NULL), ACL_ERROR_RT_PARAM_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_copies),
		cmocka_unit_test(batch_waits_its_turn),
		cmocka_unit_test(batch_names_the_bad_copy),
		cmocka_unit_test(batch_arguments),
		cmocka_unit_test(addresses_are_read_late),
		cmocka_unit_test(bad_addresses_fail_the_task),
		cmocka_unit_test(described_copy),
		cmocka_unit_test(descriptions_refused),
		cmocka_unit_test(caches_keep_what_they_hold),
		cmocka_unit_test(caches_refused),
		cmocka_unit_test(reduces_each_type),
		cmocka_unit_test(reductions_refused),
		cmocka_unit_test(distributions),
		cmocka_unit_test(draws_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
