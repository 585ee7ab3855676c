/* SPDX-License-Identifier: MIT */
/* notify_poll_test.c - waits of shared notifies where futex_waitv() is missing, and failures of what exporting needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "acl/acl.h"
#include "rts/rts.h"
#include "test_util.h"

#define LONG_MS 30000
#define WAITS 40

static atomic_int fail_create, fail_export, fail_map, fail_thread;
static atomic_uint refused;

/* As a container or an emulator answers. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == 449) {
		atomic_fetch_add(&refused, 1);
		errno = EPERM;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

#define WRAP(fn, flag, proto, args)        \
	int __real_##fn proto;             \
	int __wrap_##fn proto;             \
	int __wrap_##fn proto              \
	{                                  \
		return atomic_load(&(flag)) ? -atomic_load(&(flag)) : __real_##fn args; \
	}

WRAP(drv_notify_create, fail_create, (struct drv *drv, uint32_t device, uint32_t id, uint32_t *handle, uint64_t *offset),
     (drv, device, id, handle, offset))
WRAP(drv_share_export, fail_export,
     (struct drv *drv, uint32_t handle, uint32_t kind, uint32_t flags, uint64_t size, struct drv_name *name),
     (drv, handle, kind, flags, size, name))
WRAP(drv_map, fail_map, (struct drv *drv, uint64_t offset, size_t size, void *addr, bool writable, void **out),
     (drv, offset, size, addr, writable, out))

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return atomic_load(&fail_thread) ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

static aclrtNotify notify_new(void)
{
	aclrtNotify notify = NULL;

	assert_int_equal(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	return notify;
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_int_equal(aclrtCreateStream(&stream), ACL_SUCCESS);
	return stream;
}

static void without_a_thread_a_wait_fails(void **state)
{
	aclrtNotify notify = notify_new();
	aclrtStream stream = stream_new();
	char key[65];

	(void)state;
	/* The worker exists already; the poller is the thread that does not come. */
	assert_int_equal(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_SUCCESS);
	assert_int_equal(aclrtNotifyBatchReset(&notify, 1), ACL_SUCCESS);
	atomic_store(&fail_thread, 1);
	assert_int_equal(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS), ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
	atomic_store(&fail_thread, 0);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

static void waits_without_waitv(void **state)
{
	aclrtNotify notifies[WAITS], late = notify_new();
	aclrtStream streams[WAITS], records = stream_new(), timed = stream_new();
	char key[65];

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < WAITS; i++) {
			notifies[i] = notify_new();
			streams[i] = stream_new();
			assert_int_equal(aclrtNotifyGetExportKey(notifies[i], key, 65, 0), ACL_SUCCESS);
			assert_int_equal(aclrtWaitAndResetNotify(notifies[i], streams[i], i % 2 ? 0 : 100), ACL_SUCCESS);
		}
		assert_int_equal(aclrtSynchronizeStreamWithTimeout(streams[WAITS - 1], 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		for (unsigned i = 0; i < WAITS; i++)
			assert_int_equal(aclrtRecordNotify(notifies[(i * 7) % WAITS], records), ACL_SUCCESS);
		for (unsigned i = 0; i < WAITS; i++)
			assert_int_equal(aclrtSynchronizeStreamWithTimeout(streams[i], LONG_MS), ACL_SUCCESS);
		for (unsigned i = 0; i < WAITS; i++) {
			assert_int_equal(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
			assert_int_equal(aclrtDestroyNotify(notifies[i]), ACL_SUCCESS);
		}
	}
	assert_int_equal(aclrtWaitAndResetNotify(late, timed, 1), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(timed, LONG_MS), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_true(atomic_load(&refused) > 0);
	assert_int_equal(aclrtDestroyStream(records), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyStream(timed), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyNotify(late), ACL_SUCCESS);
}

/* A failed export leaves a private notify that works and can be exported later, and nothing open. */
static void a_failed_export_changes_nothing(void **state)
{
	static atomic_int *const flags[] = { &fail_create, &fail_export, &fail_map };
	static const int codes[][2] = {
		{ ENOMEM, ACL_ERROR_RT_MEMORY_ALLOCATION },
		{ EINVAL, ACL_ERROR_RT_DRV_INTERNAL_ERROR },
	};
	unsigned fds = t_count_fds(), maps = t_count_maps();
	aclrtNotify notify = notify_new();
	aclrtStream stream = stream_new();
	char key[65] = "untouched";

	(void)state;
	for (unsigned i = 0; i < 20 * 6; i++) {
		unsigned f = i % 3, c = i / 3 % 2;

		atomic_store(flags[f], codes[c][0]);
		assert_int_equal(aclrtNotifyGetExportKey(notify, key, 65, 0), codes[c][1]);
		atomic_store(flags[f], 0);
		assert_string_equal(key, "untouched");
	}
	assert_true(t_count_fds() <= fds);
	assert_true(t_count_maps() <= maps + 10); /* a worker's stack and heap; what every failure leaves would be 20 */
	assert_int_equal(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
	assert_int_equal(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_SUCCESS);
	assert_int_equal(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

static int setup(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_thread_a_wait_fails),
		cmocka_unit_test(waits_without_waitv),
		cmocka_unit_test(a_failed_export_changes_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
