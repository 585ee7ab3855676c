/* SPDX-License-Identifier: MIT */
/*
 * Memory in the order of a stream: many batches are queued at once, each takes memory from a pool and gives it back,
 * and all of them get the same, because none begins before the last has ended. Another stream gets it once an event
 * says that it may.
 */
#include "example.h"
#include "value.h"

#include "acl/acl_rt_memory_soma.h"

#define BATCHES 8
#define BYTES ((size_t)2 << 20) /* a pool's unit */

static unsigned mib(aclrtMemPool pool, aclrtMemPoolAttr attr)
{
	uint64_t bytes;

	CHECK(aclrtMemPoolGetAttr(pool, attr, &bytes));
	return (unsigned)(bytes >> 20);
}

static aclrtMemPool pool_new(void)
{
	const aclrtMemPoolProps props = {
		.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED,
		.location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE },
		.maxSize = 16 * BYTES,
	};
	uint64_t keep = props.maxSize; /* nothing goes back to the device before it is asked for */
	uint32_t follow = 1;
	aclrtMemPool pool;

	CHECK(aclrtMemPoolCreate(&pool, &props));
	CHECK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &keep));
	CHECK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES, &follow));
	return pool;
}

/* The batch's value goes through memory that it has only while it runs. */
static void queue_batch(aclrtMemPool pool, aclrtStream stream, int32_t value, int32_t *result)
{
	void *scratch;

	CHECK(aclrtMemPoolMallocAsync(&scratch, BYTES, pool, stream));
	CHECK(value_store(scratch, value, stream));
	CHECK(value_copy(result, scratch, stream));
	CHECK(aclrtMemPoolFreeAsync(scratch, stream));
}

static void check_results(const int32_t *results)
{
	int32_t values[BATCHES];

	CHECK(aclrtMemcpy(values, sizeof(values), results, sizeof(values), ACL_MEMCPY_DEVICE_TO_HOST));
	for (int i = 0; i < BATCHES; i++)
		if (values[i] != EXAMPLE_VALUE + i)
			example_fail("batch %d has %d", i, values[i]);
}

/* From one stream to another, by an event. */
static void hand_over(aclrtMemPool pool, aclrtStream from, aclrtStream to)
{
	void *first, *early, *late;
	aclrtEvent given;

	CHECK(aclrtCreateEventExWithFlag(&given, ACL_EVENT_SYNC));
	CHECK(aclrtMemPoolMallocAsync(&first, BYTES, pool, from));
	CHECK(aclrtMemPoolFreeAsync(first, from));
	CHECK(aclrtMemPoolMallocAsync(&early, BYTES, pool, to));
	CHECK(aclrtRecordEvent(given, from));
	CHECK(aclrtStreamWaitEvent(to, given));
	CHECK(aclrtMemPoolMallocAsync(&late, BYTES, pool, to));
	example_say("another stream gets %s memory, and %s after an event", early == first ? "the same" : "other",
		    late == first ? "the same" : "other");
	CHECK(aclrtMemPoolFreeAsync(early, to));
	CHECK(aclrtMemPoolFreeAsync(late, to));
	CHECK(aclrtSynchronizeStreamWithTimeout(to, EXAMPLE_TIMEOUT_MS));
	CHECK(aclrtDestroyEvent(given));
}

int main(void)
{
	aclrtStream stream, other;
	aclrtMemPool pool;
	int32_t *results;
	void *block;

	example_begin("pool");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtCreateStream(&other));
	CHECK(aclrtMalloc((void **)&results, BATCHES * sizeof(*results), ACL_MEM_MALLOC_NORMAL_ONLY));
	pool = pool_new();

	for (int32_t i = 0; i < BATCHES; i++)
		queue_batch(pool, stream, EXAMPLE_VALUE + i, &results[i]);
	CHECK(aclrtSynchronizeStreamWithTimeout(stream, EXAMPLE_TIMEOUT_MS));
	check_results(results);
	example_say("%d batches were right; at most %u MiB were in use and %u MiB taken from the device", BATCHES,
		    mib(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), mib(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH));
	hand_over(pool, stream, other);
	CHECK(aclrtMemPoolTrimTo(pool, 0));
	example_say("trimmed: %u MiB are left", mib(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT));
	CHECK(aclrtMemPoolMallocAsync(&block, BYTES, pool, stream));
	CHECK(aclrtMemPoolFreeAsync(block, stream));
	example_say("a block is given back once:");
	REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(block, stream));

	CHECK(aclrtMemPoolDestroy(pool));
	CHECK(aclrtFree(results));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtDestroyStream(other));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
