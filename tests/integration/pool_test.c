/* SPDX-License-Identifier: MIT */
/* pool_test.c - pools of memory that streams are given and give back in their order. */
#include <pthread.h>
#include <stdbool.h>

#include "acl/acl_rt_memory_soma.h"
#include "mem_util.h"

#define POOL (64 * MIB)
#define UNIT (2 * MIB) /* blocks are multiples of it */

static aclrtStream a, b;
static aclrtMemPool pool;

static aclrtMemPool make(size_t max_size)
{
	const aclrtMemPoolProps props = {
		.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED,
		.location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE },
		.maxSize = max_size,
	};
	aclrtMemPool made = NULL;

	assert_ok(aclrtMemPoolCreate(&made, &props));
	assert_non_null(made);
	return made;
}

static int set_up(void **state)
{
	(void)state;
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&a));
	assert_ok(aclrtCreateStream(&b));
	pool = make(POOL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)aclrtMemPoolDestroy(pool);
	assert_ok(aclrtDestroyStream(a));
	assert_ok(aclrtDestroyStream(b));
	assert_ok(aclrtResetDevice(0));
	return 0;
}

static uint64_t bytes_of(aclrtMemPoolAttr attr)
{
	uint64_t value = UINT64_MAX;

	assert_ok(aclrtMemPoolGetAttr(pool, attr, &value));
	return value;
}

static void set_bytes(aclrtMemPoolAttr attr, uint64_t value)
{
	assert_ok(aclrtMemPoolSetAttr(pool, attr, &value));
}

static void set_reuse(aclrtMemPoolAttr attr)
{
	uint32_t on = 7, got = 0;

	assert_ok(aclrtMemPoolGetAttr(pool, attr, &got));
	assert_int_equal(got, 0);
	assert_ok(aclrtMemPoolSetAttr(pool, attr, &on));
	assert_ok(aclrtMemPoolGetAttr(pool, attr, &got));
	assert_int_equal(got, 1);
}

/* Nothing is given back to the device by itself. */
static void keep_all(void)
{
	set_bytes(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, POOL);
}

static void assert_use(uint64_t used, uint64_t reserved)
{
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), used);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), reserved);
}

static void *take(size_t size, aclrtStream stream)
{
	void *block = NULL;

	assert_ok(aclrtMemPoolMallocAsync(&block, size, pool, stream));
	assert_non_null(block);
	return block;
}

static void give(void *block, aclrtStream stream)
{
	assert_ok(aclrtMemPoolFreeAsync(block, stream));
}

static bool idle(aclrtStream stream)
{
	aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;

	assert_ok(aclrtStreamQuery(stream, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

/* Without a wait that would have the pool trimmed. */
static void until_idle(aclrtStream stream)
{
	uint64_t deadline = t_now_ms() + 20000;

	while (!idle(stream))
		assert_true(t_now_ms() < deadline);
}

/* ---- blocks ---- */

/* covers: aclrtMemPoolCreate, aclrtMemPoolMallocAsync, aclrtMemPoolFreeAsync effect */
/* covers: aclrtMemPoolDestroy, aclrtMemPoolGetAttr effect */
static void blocks(void **state)
{
	size_t before = m_free(), size = 0;
	aclrtPtrAttributes attributes;
	unsigned char up[100], down[100];
	void *block, *base = NULL, *nothing = &before;

	(void)state;
	assert_ok(aclrtMemPoolMallocAsync(&nothing, 0, pool, a));
	assert_ptr_equal(nothing, &before);
	assert_use(0, 0);
	block = take(1, a);
	assert_use(UNIT, UNIT);
	assert_int_equal(m_free(), before - UNIT);
	assert_ok(aclrtPointerGetAttributes(block, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(attributes.pageSize, UNIT);
	assert_ok(aclrtMemGetAddressRange((char *)block + 5, &base, &size));
	assert_ptr_equal(base, block);
	assert_int_equal(size, UNIT);
	assert_ok(aclrtMemsetAsync((char *)block + UNIT - 100, 100, 0x5a, 100, a));
	memset(up, 0x5a, sizeof(up));
	assert_ok(aclrtMemcpyAsync(down, 100, (char *)block + UNIT - 100, 100, ACL_MEMCPY_DEVICE_TO_HOST, a));
	give(block, a);
	assert_use(0, UNIT);
	assert_refused(aclrtPointerGetAttributes(block, &attributes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemset(block, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtSynchronizeStream(a));
	assert_memory_equal(up, down, sizeof(up));
	assert_use(0, 0);
	assert_int_equal(m_free(), before);
	assert_ok(aclrtMemPoolDestroy(pool));
}

/* Pools of any size are addresses only; a size of 0 is the device's. */
static void whole_device(void **state)
{
	size_t before = m_free();

	(void)state;
	assert_ok(aclrtMemPoolDestroy(pool));
	pool = make(0);
	assert_int_equal(m_free(), before);
	give(take(40 * GIB, a), a);
	assert_int_equal(m_free(), before - 40 * GIB);
}

/* covers: aclrtMemPoolCreate failure */
static void no_pools(void **state)
{
	aclrtMemPoolProps props = { .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtMemPool made = &props;

	(void)state;
	assert_refused(aclrtMemPoolCreate(NULL, &props), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolCreate(&made, NULL), ACL_ERROR_INVALID_PARAM);
	props.location.type = ACL_MEM_LOCATION_TYPE_HOST;
	assert_refused(aclrtMemPoolCreate(&made, &props), ACL_ERROR_INVALID_PARAM);
	props.location = (aclrtMemLocation){ 99, ACL_MEM_LOCATION_TYPE_DEVICE };
	assert_refused(aclrtMemPoolCreate(&made, &props), ACL_ERROR_RT_INVALID_DEVICEID);
	props.location.id = 0;
	props.allocType = (aclrtMemAllocationType)1;
	assert_refused(aclrtMemPoolCreate(&made, &props), ACL_ERROR_INVALID_PARAM);
	props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
	props.reserved[31] = 1;
	assert_refused(aclrtMemPoolCreate(&made, &props), ACL_ERROR_INVALID_PARAM);
	props.reserved[31] = 0;
	props.maxSize = (size_t)1 << 50;
	assert_refused(aclrtMemPoolCreate(&made, &props), ACL_ERROR_RT_PARAM_INVALID);
	assert_ptr_equal(made, &props);
}

/* covers: aclrtMemPoolMallocAsync, aclrtMemPoolFreeAsync, aclrtMemPoolDestroy failure */
static void no_blocks(void **state)
{
	char on_stack;
	void *block, *other = &on_stack;

	(void)state;
	assert_refused(aclrtMemPoolMallocAsync(NULL, 1, pool, a), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolMallocAsync(&other, 1, NULL, a), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolMallocAsync(&other, 1, pool, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolMallocAsync(&other, 1, pool, pool), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtMemPoolMallocAsync(&other, 1, a, a), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolMallocAsync(&other, SIZE_MAX, pool, a), ACL_ERROR_RT_PARAM_INVALID);
	block = take(POOL - UNIT, a);
	assert_refused(aclrtMemPoolMallocAsync(&other, UNIT + 1, pool, a), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_ptr_equal(other, &on_stack);
	assert_refused(aclrtMemPoolFreeAsync(NULL, a), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolFreeAsync(block, NULL), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolFreeAsync(&on_stack, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolFreeAsync((char *)block + 64, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree((char *)block + 64), ACL_ERROR_RT_PARAM_INVALID);
	give(block, a);
	assert_refused(aclrtMemPoolFreeAsync(block, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolDestroy(NULL), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtMemPoolDestroy(pool));
	assert_refused(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolMallocAsync(&other, 1, pool, a), ACL_ERROR_RT_INTERNAL_ERROR);
}

/* ---- reuse ---- */

/* What a stream gave back it gets again while nothing of it has run: the smallest that will do. Neighbours join. */
static void same_stream(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	char *small, *large, *two;
	void *between;

	(void)state;
	keep_all();
	m_close(&gate, a);
	large = take(3 * UNIT, a);
	between = take(UNIT, a);
	small = take(2 * UNIT, b);
	give(small, a);
	give(large, a);
	assert_ptr_equal(take(2 * UNIT, a), small);
	two = take(2 * UNIT, a);
	assert_ptr_equal(two, large);
	assert_use(5 * UNIT, 6 * UNIT);
	give(two, a);
	give(between, a);
	assert_ptr_equal(take(4 * UNIT, a), large);
	assert_use(6 * UNIT, 6 * UNIT);
	assert_false(idle(a));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(a));
	m_gate_end(&gate);
}

/* By itself another stream gets none of it, also when it has come free. */
static void other_stream(void **state)
{
	void *block = take(UNIT, a);

	(void)state;
	keep_all();
	give(block, a);
	until_idle(a);
	assert_ptr_not_equal(take(UNIT, b), block);
	assert_use(UNIT, 2 * UNIT);
}

/* covers: aclrtMemPoolSetAttr effect */
static void reuse_after_event(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	aclrtEvent before, after;
	void *block = take(UNIT, a);

	(void)state;
	set_reuse(ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES);
	keep_all();
	assert_ok(aclrtCreateEventExWithFlag(&before, ACL_EVENT_SYNC));
	assert_ok(aclrtCreateEventExWithFlag(&after, ACL_EVENT_SYNC));
	assert_ok(aclrtRecordEvent(before, a));
	m_close(&gate, a);
	give(block, a);
	assert_ok(aclrtRecordEvent(after, a));
	assert_ok(aclrtStreamWaitEvent(b, before));
	assert_ptr_not_equal(take(UNIT, b), block);
	assert_ok(aclrtStreamWaitEvent(b, after));
	assert_ok(aclrtStreamAbort(b)); /* which waits no more */
	assert_ptr_not_equal(take(UNIT, b), block);
	assert_ok(aclrtStreamWaitEvent(b, after));
	assert_ptr_equal(take(UNIT, b), block);
	assert_false(idle(b));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(b));
	m_gate_end(&gate);
	assert_ok(aclrtDestroyEvent(before));
	assert_ok(aclrtDestroyEvent(after));
}

static void reuse_what_is_free(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	void *block = take(UNIT, a), *other;

	(void)state;
	set_reuse(ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC);
	keep_all();
	m_close(&gate, a);
	give(block, a);
	other = take(UNIT, b);
	assert_ptr_not_equal(other, block);
	m_open(&gate);
	until_idle(a);
	assert_ptr_equal(take(UNIT, b), block);
	m_gate_end(&gate);
}

/* The stream that gets it waits for the one that gave it back. */
static void reuse_waits(void **state)
{
	atomic_int *block = take(UNIT, a);
	struct m_gate gate = { .store_to = block, .value = 7 };
	int down = 0;

	(void)state;
	set_reuse(ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
	m_close(&gate, a);
	give(block, a);
	assert_ptr_equal(take(UNIT, b), block);
	assert_ok(aclrtMemsetAsync(block, sizeof(int), 1, sizeof(int), b));
	assert_false(idle(b));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(b));
	assert_ok(aclrtMemcpy(&down, sizeof(down), block, sizeof(down), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(down, 0x01010101);
	m_gate_end(&gate);
}

/* ---- what is kept ---- */

static void thresholds(void **state)
{
	void *blocks[4];

	(void)state;
	set_bytes(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, UNIT);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), UNIT);
	for (int i = 0; i < 4; i++)
		blocks[i] = take(UNIT, a);
	for (int i = 0; i < 3; i++)
		give(blocks[i], a);
	assert_use(UNIT, 4 * UNIT);
	assert_ok(aclrtSynchronizeDevice());
	assert_use(UNIT, 2 * UNIT);
	set_bytes(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 0);
	assert_ok(aclrtSynchronizeStream(b));
	assert_use(UNIT, UNIT);
}

static void highest(void **state)
{
	(void)state;
	keep_all();
	give(take(3 * UNIT, a), a);
	give(take(5 * UNIT, b), b);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 5 * UNIT);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH), 8 * UNIT);
	set_bytes(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 0);
	set_bytes(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, 0);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 0);
	give(take(UNIT, a), a);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), UNIT);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH), 8 * UNIT);
}

/* covers: aclrtMemPoolSetAttr, aclrtMemPoolGetAttr failure */
static void attributes_refused(void **state)
{
	uint64_t value = 1;

	(void)state;
	assert_refused(aclrtMemPoolSetAttr(NULL, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolGetAttr(NULL, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, NULL),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, NULL),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolSetAttr(a, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolGetAttr(a, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &value),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value),
		       ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolSetAttr(pool, (aclrtMemPoolAttr)9, &value), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolGetAttr(pool, (aclrtMemPoolAttr)0, &value), ACL_ERROR_RT_INTERNAL_ERROR);
	value = POOL + 1;
	assert_refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value),
		       ACL_ERROR_RT_INTERNAL_ERROR);
	assert_int_equal(bytes_of(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), 0);
}

/* covers: aclrtMemPoolTrimTo effect */
static void trimming(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	unsigned char *used = take(4 * UNIT, a), *last = used + 4 * UNIT - 1;
	size_t before = m_free();

	(void)state;
	keep_all();
	assert_ok(aclrtMemset(used, 4 * UNIT, 3, 4 * UNIT));
	m_close(&gate, b);
	give(take(6 * UNIT, b), b);
	assert_ok(aclrtMemPoolTrimTo(pool, 4 * UNIT)); /* nothing has come free yet */
	assert_use(4 * UNIT, 10 * UNIT);
	m_open(&gate);
	until_idle(b);
	assert_ok(aclrtMemPoolTrimTo(pool, 12 * UNIT));
	assert_use(4 * UNIT, 10 * UNIT);
	assert_ok(aclrtMemPoolTrimTo(pool, 7 * UNIT));
	assert_use(4 * UNIT, 7 * UNIT);
	assert_int_equal(m_free(), before - 3 * UNIT);
	assert_ok(aclrtMemPoolTrimTo(pool, 5 * UNIT - 1)); /* whole units */
	assert_use(4 * UNIT, 5 * UNIT);
	assert_ok(aclrtMemPoolTrimTo(pool, 4 * UNIT));
	assert_int_equal(m_free(), before);
	/* A part of what was one block, while the rest is in use. */
	give(used, a);
	assert_ptr_equal(take(3 * UNIT, a), used);
	assert_ok(aclrtMemPoolTrimTo(pool, 3 * UNIT));
	assert_int_equal(m_free(), before + UNIT);
	assert_int_equal(used[3 * UNIT - 1], 3);
	/* What comes there again is new. */
	assert_ptr_equal(take(UNIT, b), used + 3 * UNIT);
	assert_int_equal(*last, 0);
	assert_int_equal(m_free(), before);
	m_gate_end(&gate);
}

/* covers: aclrtMemPoolTrimTo failure */
static void trimming_refused(void **state)
{
	void *block = take(2 * UNIT, a);

	(void)state;
	give(take(UNIT, a), a);
	assert_refused(aclrtMemPoolTrimTo(NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemPoolTrimTo(a, 0), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolTrimTo(pool, 0), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolTrimTo(pool, POOL + 1), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_use(2 * UNIT, 3 * UNIT);
	give(block, a);
}

/* A pool or a device that is full gets back what is idle, before it refuses. */
static void reclaim(void **state)
{
	size_t total;
	void *block, *mine;

	(void)state;
	keep_all();
	give(take(10 * UNIT, a), a);
	until_idle(a);
	block = take(POOL, b);
	give(block, b);
	until_idle(b);
	total = m_free();
	assert_ok(aclrtMalloc(&mine, total + POOL / 2, ACL_MEM_MALLOC_HUGE_ONLY));
	assert_use(0, 0);
	assert_ok(aclrtFree(mine));
	assert_int_equal(m_free(), total + POOL);
}

/* ---- by component ---- */

static aclrtMemUsageInfo usage_of(const char *name)
{
	aclrtMemUsageInfo infos[4];
	size_t count = 0;

	assert_ok(aclrtGetMemUsageInfo(0, infos, 4, &count));
	for (size_t i = 0; i < count && i < 4; i++) {
		if (i)
			assert_true(infos[i].curMemSize <= infos[i - 1].curMemSize);
		if (!strcmp(infos[i].name, name))
			return infos[i];
	}
	return (aclrtMemUsageInfo){ .curMemSize = 0 };
}

/* covers: aclrtGetMemUsageInfo effect */
static void usage(void **state)
{
	const aclrtPhysicalMemProp prop = { .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
					    .memAttr = ACL_HBM_MEM_HUGE,
					    .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtDrvMemHandle physical;
	aclrtMemUsageInfo infos[2];
	void *mine, *small;
	size_t count = 0;

	(void)state;
	assert_int_equal(usage_of("APP").curMemSize, 0);
	assert_int_equal(usage_of("ASCENDCL").curMemSize, 0);
	assert_ok(aclrtMalloc(&mine, 3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
	assert_ok(aclrtMalloc(&small, 1, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_int_equal(usage_of("APP").curMemSize, 4 * MIB + 64 * KIB);
	assert_ok(aclrtMallocPhysical(&physical, 8 * MIB, &prop, 0));
	assert_int_equal(usage_of("APP").curMemSize, 12 * MIB + 64 * KIB);
	give(take(20 * MIB, a), a);
	assert_int_equal(usage_of("ASCENDCL").curMemSize, 20 * MIB);
	assert_ok(aclrtGetMemUsageInfo(0, infos, 1, &count)); /* the largest */
	assert_int_equal(count, 1);
	assert_string_equal(infos[0].name, "ASCENDCL");
	assert_ok(aclrtSynchronizeStream(a));
	assert_ok(aclrtFree(mine));
	assert_ok(aclrtFree(small));
	assert_ok(aclrtFreePhysical(physical));
	assert_int_equal(usage_of("APP").curMemSize, 0);
	assert_true(usage_of("APP").memPeakSize >= 12 * MIB + 64 * KIB);
	assert_int_equal(usage_of("ASCENDCL").curMemSize, 0);
	assert_true(usage_of("ASCENDCL").memPeakSize >= 20 * MIB);
	assert_ok(aclrtGetMemUsageInfo(7, infos, 2, &count)); /* nothing was there */
	assert_int_equal(count, 0);
}

/* covers: aclrtGetMemUsageInfo failure */
static void usage_refused(void **state)
{
	aclrtMemUsageInfo info;
	size_t count = 3;

	(void)state;
	assert_refused(aclrtGetMemUsageInfo(0, NULL, 1, &count), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetMemUsageInfo(0, &info, 1, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(count, 3);
	assert_refused(aclrtGetMemUsageInfo(8, &info, 1, &count), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtGetMemUsageInfo(0, &info, 0, &count), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(count, 0);
}

/* ---- lifetimes ---- */

/* A task that was submitted before may use a block's memory to its end. */
static void gone_while_in_use(void **state)
{
	atomic_int *freed = take(UNIT, a), *out = take(UNIT, b);
	struct m_gate first = { .store_to = freed, .value = 1 }, second = { .store_to = out, .value = 2 };
	size_t before = m_free();

	(void)state;
	m_close(&first, a);
	m_close(&second, b);
	assert_ok(aclrtFree(freed));
	assert_use(UNIT, 2 * UNIT);
	assert_refused(aclrtFree(freed), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemset(freed, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtMemPoolDestroy(pool));
	assert_int_equal(m_free(), before + 2 * UNIT);
	assert_refused(aclrtMemset(out, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemPoolFreeAsync(out, b), ACL_ERROR_RT_PARAM_INVALID);
	m_open(&first);
	m_open(&second);
	assert_ok(aclrtSynchronizeStream(a));
	assert_ok(aclrtSynchronizeStream(b));
	m_gate_end(&first);
	m_gate_end(&second);
}

/* A task whose stream had nothing to do with the one that gave the memory back fails, and not the process. */
static void given_back_elsewhere(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	void *block = take(UNIT, a);

	(void)state;
	assert_ok(aclrtMemPoolDestroy(make(POOL))); /* the library's handler comes before cmocka's for this test */
	m_close(&gate, a);
	assert_ok(aclrtMemsetAsync(block, UNIT, 1, UNIT, a));
	give(block, b);
	assert_ok(aclrtSynchronizeStream(b));
	assert_use(0, 0);
	m_open(&gate);
	assert_refused(aclrtSynchronizeStream(a), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtSynchronizeStream(a));
	m_gate_end(&gate);
}

static void freed_by_aclrtFree(void **state)
{
	size_t before = m_free();
	void *block = take(3 * UNIT, a);

	(void)state;
	assert_ok(aclrtFree(block));
	assert_use(0, 0);
	assert_int_equal(m_free(), before);
	assert_ptr_equal(take(UNIT, b), block);
}

/* What aclrtMalloc returned is freed where the stream comes to it. */
static void other_memory(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	size_t before = m_free();
	void *mine, *small;

	(void)state;
	assert_ok(aclrtMalloc(&mine, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
	assert_ok(aclrtMalloc(&small, 100, ACL_MEM_MALLOC_HUGE_FIRST));
	m_close(&gate, a);
	give(mine, a);
	give(small, a);
	give(small, a);
	assert_ok(aclrtMemset(mine, 1, 0, 1));
	assert_true(m_free() < before - 4 * MIB);
	m_open(&gate);
	assert_refused(aclrtSynchronizeStream(a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemset(mine, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_int_equal(m_free(), before);
	m_gate_end(&gate);
}

/* The device's last user takes its pools along. */
static void device_reset(void **state)
{
	uint64_t value;
	size_t before;
	void *block;

	(void)state;
	block = take(UNIT, a);
	give(take(UNIT, b), b);
	assert_ok(aclrtDestroyStream(a));
	assert_ok(aclrtDestroyStream(b));
	before = m_free();
	assert_ok(aclrtResetDevice(0));
	assert_refused(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtSetDevice(0));
	assert_int_equal(m_free(), before + 2 * UNIT);
	assert_ok(aclrtCreateStream(&a));
	assert_ok(aclrtCreateStream(&b));
}

/* A stream that takes no tasks gets no memory either. */
static void stopped_stream(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	void *block = take(UNIT, a), *mine;

	(void)state;
	assert_ok(aclrtSetStreamFailureMode(a, ACL_STOP_ON_FAILURE));
	assert_ok(aclrtMalloc(&mine, 100, ACL_MEM_MALLOC_HUGE_FIRST));
	m_close(&gate, a);
	give(mine, a);
	give(mine, a);
	m_open(&gate);
	assert_refused(aclrtSynchronizeStream(a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolMallocAsync(&mine, 1, pool, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemPoolFreeAsync(block, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_use(UNIT, UNIT);
	assert_ok(aclrtFree(block));
	m_gate_end(&gate);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 300

/* Each fills what it gets, in its stream, and finds it filled before it gives it back. */
static void *use_pool(void *arg)
{
	int id = (int)(intptr_t)arg;
	unsigned char down[64];
	aclrtStream stream;
	bool right = true;

	if (aclrtSetDevice(0) || aclrtCreateStream(&stream))
		return (void *)1;
	for (int i = 0; i < ROUNDS && right; i++) {
		size_t size = (size_t)(1 + (i * 7 + id) % 3) * UNIT;
		char *block = NULL;

		right = !aclrtMemPoolMallocAsync((void **)&block, size, pool, stream) &&
			!aclrtMemsetAsync(block + size - 64, 64, id + i, 64, stream) &&
			!aclrtMemcpyAsync(down, 64, block + size - 64, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream) &&
			!aclrtMemPoolFreeAsync(block, stream) && (i % 5 || !aclrtSynchronizeStream(stream));
		right = right && down[0] == (unsigned char)(id + i) && down[63] == down[0];
	}
	if (aclrtSynchronizeStream(stream) || aclrtDestroyStream(stream))
		right = false;
	return right && !aclrtResetDevice(0) ? NULL : (void *)1;
}

static void threads(void **state)
{
	pthread_t thread[THREADS];
	void *failed;

	(void)state;
	set_reuse(ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
	set_reuse(ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC);
	for (intptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use_pool, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
	}
	assert_ok(aclrtSynchronizeStream(a));
	assert_use(0, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(blocks),	  T(whole_device),	 T(no_pools),	       T(no_blocks),	      T(same_stream),
		T(other_stream),  T(reuse_after_event),	 T(reuse_what_is_free), T(reuse_waits),	      T(thresholds),
		T(highest),	  T(attributes_refused), T(trimming),	       T(trimming_refused),   T(reclaim),
		T(gone_while_in_use), T(freed_by_aclrtFree), T(other_memory),  T(device_reset),	      T(stopped_stream),
		T(given_back_elsewhere), T(threads),	 T(usage),	       T(usage_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
