/* SPDX-License-Identifier: MIT */
/* memory_life_test.c - device memory over resets, forks, many threads and other processes, and at the end of a device.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "mem_util.h"

#define FIRST ACL_MEM_MALLOC_HUGE_FIRST

static int setup(void **state)
{
	(void)state;
	return aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDeviceForce(0);
}

static void test_reset(void **state)
{
	void *ptr = NULL, *small = NULL, *other = NULL;
	aclrtPtrAttributes attributes;
	size_t before;

	(void)state;
	assert_ok(aclrtMalloc(&other, MIB, FIRST));
	assert_ok(aclrtSetDevice(3));
	before = m_free();
	assert_ok(aclrtMalloc(&ptr, 3 * MIB, FIRST));
	assert_ok(aclrtMalloc(&small, 100, FIRST));
	assert_ok(aclrtResetDevice(3));
	assert_ok(aclrtSetDevice(3));
	assert_int_equal(m_free(), before);
	assert_refused(aclrtPointerGetAttributes(ptr, &attributes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtPointerGetAttributes(small, &attributes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(small), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtResetDevice(3));
	/* Memory of another device is not touched. */
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtMemset(other, MIB, 1, MIB));
	assert_ok(aclrtFree(other));
	assert_ok(aclrtResetDevice(0));
}

static void test_fork(void **state)
{
	aclrtPtrAttributes attributes;
	void *ptr = NULL, *base;
	pid_t child;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, MIB, FIRST));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		bool ok = aclrtFree(ptr) == ACL_ERROR_RT_DRV_INTERNAL_ERROR &&
			  aclrtFreeHost(ptr) == ACL_ERROR_RT_DRV_INTERNAL_ERROR &&
			  aclrtPointerGetAttributes(ptr, &attributes) == ACL_ERROR_RT_DRV_INTERNAL_ERROR &&
			  aclrtMemGetAddressRange(ptr, &base, NULL) == ACL_ERROR_RT_DRV_INTERNAL_ERROR &&
			  aclrtMalloc(&base, 64, FIRST) == ACL_ERROR_RT_DRV_INTERNAL_ERROR &&
			  aclrtMemcpy(ptr, 8, &base, 8, ACL_MEMCPY_DEFAULT) == ACL_ERROR_RT_DRV_INTERNAL_ERROR;

		_exit(ok ? 0 : 1);
	}
	assert_int_equal(t_wait_pid(child, 20000), 0);
	assert_ok(aclrtMemset(ptr, MIB, 7, MIB));
	assert_ok(aclrtFree(ptr));
}

#define THREADS 64
#define ROUNDS 40

static void *churn(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	unsigned char host[64];

	if (aclrtSetDevice(0))
		return (void *)1;
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = (size_t)rand_r(&seed) % (i % 8 ? 4000 : 3 * MIB) + sizeof(host);
		unsigned char *ptr = NULL;

		if (aclrtMalloc((void **)&ptr, size, FIRST) || aclrtMemset(ptr, size, i, size) ||
		    aclrtMemcpy(host, sizeof(host), ptr + size - sizeof(host), sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST))
			return (void *)2;
		for (size_t b = 0; b < sizeof(host); b++)
			if (host[b] != (unsigned char)i)
				return (void *)3;
		if (aclrtFree(ptr))
			return (void *)4;
	}
	return NULL;
}

static void test_threads(void **state)
{
	size_t before = m_free();
	pthread_t threads[THREADS];

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *failed;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(m_free(), before);
}

struct race {
	void *ptr;
	pthread_barrier_t barrier;
	atomic_int wins;
};

static void *race_free(void *arg)
{
	struct race *race = arg;
	int r;

	pthread_barrier_wait(&race->barrier);
	r = aclrtFree(race->ptr);
	if (!r)
		atomic_fetch_add(&race->wins, 1);
	return (void *)(uintptr_t)(r && r != ACL_ERROR_RT_PARAM_INVALID);
}

static void test_free_once(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct race race = { 0 };
		pthread_t threads[4];

		assert_int_equal(pthread_barrier_init(&race.barrier, NULL, 4), 0);
		assert_ok(aclrtMalloc(&race.ptr, i % 2 ? 64 : MIB, FIRST));
		for (int t = 0; t < 4; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, race_free, &race), 0);
		for (int t = 0; t < 4; t++) {
			void *wrong;

			assert_int_equal(pthread_join(threads[t], &wrong), 0);
			assert_null(wrong);
		}
		assert_int_equal(atomic_load(&race.wins), 1);
		pthread_barrier_destroy(&race.barrier);
	}
}

/* Nothing grows: descriptors, mappings beyond the freed ranges that are kept. */
static void test_no_leak(void **state)
{
	unsigned fds = 0, maps = 0;
	void *ptr;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1200; i++) {
			assert_ok(aclrtMalloc(&ptr, i % 2 ? 64 : 64 * KIB, FIRST));
			assert_ok(aclrtFree(ptr));
		}
		if (!round) {
			fds = t_count_fds();
			maps = t_count_maps();
		}
	}
	assert_int_equal(t_count_fds(), fds);
	if (!T_TSAN) /* which maps memory of its own as it goes */
		assert_in_range(t_count_maps(), 0, maps + 64);
}

/* ---- other processes ---- */

static size_t peer_bytes(const char *line)
{
	return (size_t)strtoull(line, NULL, 10);
}

/* Allocates as it is told, and leaves without freeing. */
static int peer_alloc(void)
{
	char line[T_LINE_MAX];
	void *ptr = NULL;

	if (aclrtSetDevice(0))
		return 2;
	while (t_hear(line, sizeof(line), 30000)) {
		size_t size = peer_bytes(line);

		if (size ? aclrtMallocAlign32(&ptr, size, FIRST) : aclrtFree(ptr))
			return 3;
		t_say("done");
	}
	return 0;
}

static bool is_free(void *arg)
{
	return m_free() == *(size_t *)arg;
}

static void tell(struct t_peer *peer, size_t size)
{
	assert_true(t_write_line(peer, "%zu", size));
	assert_true(t_expect(peer, "done", 20000));
}

static void test_two_processes(void **state)
{
	static const char *const args[] = { "alloc", NULL };
	size_t before = m_free();
	struct t_peer peer;
	void *ptr = NULL;

	(void)state;
	assert_true(t_spawn(&peer, args, NULL));
	tell(&peer, 10 * MIB);
	assert_int_equal(m_free(), before - 10 * MIB);
	assert_ok(aclrtMallocAlign32(&ptr, 12 * KIB, FIRST));
	assert_int_equal(m_free(), before - 10 * MIB - 12 * KIB);
	tell(&peer, 0);
	assert_int_equal(m_free(), before - 12 * KIB);
	tell(&peer, 4 * KIB);
	tell(&peer, 2 * GIB);
	assert_int_equal(m_free(), before - 2 * GIB - 16 * KIB);
	t_kill(&peer);
	before -= 12 * KIB;
	assert_true(t_until(is_free, &before, 20000));
	assert_ok(aclrtFree(ptr));
}

/* A device of 14 MiB: what HUGE_FIRST does when 2M pages run out, and how memory ends. */
static int peer_tight(void)
{
	void *big = NULL, *first = NULL, *ptr = NULL;
	aclrtPtrAttributes attributes;
	size_t left, total;

	if (aclrtSetDevice(0) || aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) || left != 14 * MIB || total != 14 * MIB)
		return 2;
	if (aclrtMallocAlign32(&big, 12 * MIB + 512 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY))
		return 3;
	if (aclrtMallocAlign32(&ptr, MIB + 32, ACL_MEM_MALLOC_HUGE_ONLY) != ACL_ERROR_RT_MEMORY_ALLOCATION)
		return 4;
	/* 1.5 MiB are left: not one 2M page, but small ones. */
	if (aclrtMallocAlign32(&first, MIB + 32, FIRST) || aclrtPointerGetAttributes(first, &attributes) ||
	    attributes.pageSize != 4 * KIB)
		return 5;
	if (aclrtMallocAlign32(&ptr, MIB + 32, FIRST) != ACL_ERROR_RT_MEMORY_ALLOCATION)
		return 6;
	if (aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) || left != 512 * KIB - 4 * KIB)
		return 7;
	if (aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &left, &total) || left != 0 || total != 14 * MIB)
		return 8;
	/* The charge of what is freed is there again at once. */
	for (int i = 0; i < 100; i++)
		if (aclrtFree(first) || aclrtMallocAlign32(&first, MIB + 32, FIRST))
			return 9;
	if (aclrtMallocAlign32(&ptr, 508 * KIB, FIRST) || aclrtMalloc(&big, 1, FIRST) != ACL_ERROR_RT_MEMORY_ALLOCATION)
		return 10;
	return 0;
}

static void test_tight_device(void **state)
{
	static const char *const args[] = { "tight", NULL };
	static const char *const env[] = { "VINCI_INSTANCE=test-memory-tight", "VINCI_MEMORY=14M", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, env));
	assert_int_equal(t_wait(&peer, 30000), 0);
}

/* Pointers name the device as the user numbers it. */
static int peer_visible(void)
{
	aclrtPtrAttributes attributes;
	void *ptr = NULL;

	if (aclrtSetDevice(1) || aclrtMalloc(&ptr, MIB, FIRST) || aclrtPointerGetAttributes(ptr, &attributes))
		return 2;
	return attributes.location.id == 1 ? 0 : 3;
}

static void test_visible_devices(void **state)
{
	static const char *const args[] = { "visible", NULL };
	static const char *const env[] = { "ASCEND_RT_VISIBLE_DEVICES=2,5", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, env));
	assert_int_equal(t_wait(&peer, 30000), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset),	     cmocka_unit_test(test_fork),
		cmocka_unit_test(test_threads),	     cmocka_unit_test(test_free_once),
		cmocka_unit_test(test_no_leak),	     cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_tight_device), cmocka_unit_test(test_visible_devices),
	};

	if (argc > 1 && !strcmp(argv[1], "alloc"))
		return peer_alloc();
	if (argc > 1 && !strcmp(argv[1], "tight"))
		return peer_tight();
	if (argc > 1 && !strcmp(argv[1], "visible"))
		return peer_visible();
	return cmocka_run_group_tests(tests, setup, teardown);
}
