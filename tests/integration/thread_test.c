/* SPDX-License-Identifier: MIT */
/* thread_test.c - many threads use the library as one program's parts do; nothing grows when all of it is repeated. */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define THREADS 8
#define ROUNDS 20
#define WORDS 4096
#define LIVES 1000
#define PAUSES 1000
#define ROOM 8 /* workers that come when others are behind; the blocks of their queues are kept as well */
#define SIZE (WORDS * sizeof(uint32_t))

/* cmocka's assertions belong to the thread of the test. */
#define MUST(call)                                                                                                  \
	do {                                                                                                        \
		aclError code_ = (call);                                                                            \
		if (code_) {                                                                                        \
			fprintf(stderr, "%s: %d: %s\n", #call, code_, aclGetRecentErrMsg());                        \
			abort();                                                                                    \
		}                                                                                                   \
	} while (0)

/* What a worker of a program does: a value goes up, from one block to another, comes down, and is the same. */
static void work(uint32_t seed)
{
	uint32_t *in, *out;
	aclrtStream stream;
	aclrtEvent event;
	void *a, *b;

	MUST(aclrtMallocHost((void **)&in, SIZE));
	MUST(aclrtMallocHost((void **)&out, SIZE));
	for (uint32_t i = 0; i < WORDS; i++)
		in[i] = seed + i;
	MUST(aclrtCreateStream(&stream));
	MUST(aclrtCreateEvent(&event));
	MUST(aclrtMalloc(&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
	MUST(aclrtMalloc(&b, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
	MUST(aclrtMemcpyAsync(a, SIZE, in, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
	MUST(aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	MUST(aclrtMemcpyAsync(out, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
	MUST(aclrtRecordEvent(event, stream));
	MUST(aclrtSynchronizeEvent(event));
	if (memcmp(in, out, SIZE))
		abort();
	MUST(aclrtDestroyEvent(event));
	MUST(aclrtDestroyStream(stream));
	MUST(aclrtFree(a));
	MUST(aclrtFree(b));
	MUST(aclrtFreeHost(in));
	MUST(aclrtFreeHost(out));
}

struct worker {
	pthread_t thread;
	int32_t device;
	uint32_t seed;
};

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	MUST(aclrtSetDevice(w->device));
	for (uint32_t i = 0; i < ROUNDS; i++)
		work(w->seed + i);
	MUST(aclrtResetDevice(w->device));
	return NULL;
}

/* @n threads, the i-th on device i % devices. */
static void run_workers(unsigned n, unsigned devices)
{
	struct worker workers[THREADS];

	for (unsigned i = 0; i < n; i++) {
		workers[i].device = (int32_t)(i % devices);
		workers[i].seed = i << 16;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]), 0);
	}
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

static void two_on_two_devices(void **state)
{
	(void)state;
	run_workers(2, 2);
}

static void eight_on_one_device(void **state)
{
	(void)state;
	run_workers(THREADS, 1);
}

/* ---- streams that are used now and then --------------------------------------------------------- */

static void now_and_then_kernel(const void *args, const struct vinci_block *block)
{
	(void)block;
	++**(uint32_t *const *)args;
}

static const struct vinci_kernel now_and_then = {
	.abi = VINCI_KERNEL_ABI, .name = "now_and_then", .run = now_and_then_kernel, .args_size = 8
};

/* This thread runs what it launches: the workers keep its stream, then they forget it, and then it is back. */
static void *pauses(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	uint32_t ran = 0, *at = &ran;
	aclrtStream stream;

	MUST(aclrtSetDevice(0));
	MUST(aclrtCreateStream(&stream));
	for (uint32_t i = 0; i < PAUSES; i++) {
		MUST((aclError)vinciLaunchKernel(&now_and_then, 1, stream, &at, sizeof(at)));
		MUST(aclrtSynchronizeStream(stream));
		if (ran != i + 1)
			abort();
		if (!(rand_r(&seed) % 4))
			usleep((useconds_t)rand_r(&seed) % 300);
	}
	MUST(aclrtDestroyStream(stream));
	MUST(aclrtResetDevice(0));
	return NULL;
}

static void streams_that_are_used_now_and_then(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pauses, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- one context, handed round ----------------------------------------------------------------- */

struct round_robin {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	unsigned turn;
	aclrtContext context;
	aclrtStream stream;
	void *memory; /* on the device: one uint32_t, counted up by whoever has the turn */
};

static void take_turn(struct round_robin *r)
{
	uint32_t value;

	MUST(aclrtSetCurrentContext(r->context));
	MUST(aclrtMemcpyAsync(&value, sizeof(value), r->memory, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST, r->stream));
	MUST(aclrtSynchronizeStream(r->stream));
	value++;
	MUST(aclrtMemcpy(r->memory, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
}

struct turn_taker {
	pthread_t thread;
	struct round_robin *round;
	unsigned self;
};

static void *turn_main(void *arg)
{
	struct turn_taker *t = arg;
	struct round_robin *r = t->round;

	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&r->lock);
		while (r->turn % THREADS != t->self)
			pthread_cond_wait(&r->turned, &r->lock);
		take_turn(r);
		r->turn++;
		pthread_cond_broadcast(&r->turned);
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

static void a_context_goes_round(void **state)
{
	struct round_robin r = { .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER };
	struct turn_taker takers[THREADS];
	uint32_t value = 0;

	(void)state;
	MUST(aclrtCreateContext(&r.context, 0));
	MUST(aclrtCreateStream(&r.stream));
	MUST(aclrtMalloc(&r.memory, sizeof(value), ACL_MEM_MALLOC_HUGE_FIRST));
	MUST(aclrtMemcpy(r.memory, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
	for (unsigned i = 0; i < THREADS; i++) {
		takers[i] = (struct turn_taker){ .round = &r, .self = i };
		assert_int_equal(pthread_create(&takers[i].thread, NULL, turn_main, &takers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
	MUST(aclrtMemcpy(&value, sizeof(value), r.memory, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(value, THREADS * ROUNDS);
	MUST(aclrtFree(r.memory));
	MUST(aclrtDestroyStream(r.stream));
	MUST(aclrtDestroyContext(r.context));
}

/* ---- again and again --------------------------------------------------------------------------- */

struct footprint {
	unsigned fds, maps, threads;
	size_t heap; /* bytes in use; 0 below a sanitizer */
};

static struct footprint measure(void)
{
	return (struct footprint){ .fds = t_count_fds(),
				   .maps = t_count_backed_maps(),
				   .threads = t_count_threads(),
				   .heap = mallinfo2().uordblks };
}

static void whole_life(void)
{
	MUST(aclInit(NULL));
	for (int32_t device = 0; device < 2; device++) {
		MUST(aclrtSetDevice(device));
		work((uint32_t)device);
		MUST(aclrtResetDevice(device));
	}
	MUST(aclFinalize());
}

/* Workers give back what they used a moment after the call that waited for them. */
static bool no_more_than(void *arg)
{
	const struct footprint *before = arg;
	struct footprint now = measure();

	return now.fds <= before->fds && now.threads <= before->threads + ROOM && now.maps <= before->maps + 2 * ROOM &&
	       now.heap <= before->heap + LIVES * 1024;
}

/* The first rounds fill what is kept for later: parked workers, and freed ranges, some hundreds of them. */
static void a_thousand_lives(void **state)
{
	struct footprint before, after;

	(void)state;
	for (int i = 0; i < 300; i++)
		whole_life();
	before = measure();
	for (int i = 0; i < LIVES; i++)
		whole_life();
	if (t_until(no_more_than, &before, 10000))
		return;
	after = measure();
	fail_msg("before and after: %u and %u descriptors, %u and %u maps, %u and %u threads, %zu and %zu bytes", before.fds,
		 after.fds, before.maps, after.maps, before.threads, after.threads, before.heap, after.heap);
}

/* ------------------------------------------------------------------------------------------------ */

static int setup(void **state)
{
	(void)state;
	return aclInit(NULL);
}

static int teardown(void **state)
{
	(void)state;
	return aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_on_two_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(eight_on_one_device, setup, teardown),
		cmocka_unit_test_setup_teardown(streams_that_are_used_now_and_then, setup, teardown),
		cmocka_unit_test_setup_teardown(a_context_goes_round, setup, teardown),
		cmocka_unit_test(a_thousand_lives),
	};

	(void)mallopt(M_ARENA_MAX, 1); /* mallinfo2() knows only the first */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
