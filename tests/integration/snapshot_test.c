/* SPDX-License-Identifier: MIT */
/* snapshot_test.c - the process is held, its devices' memory kept and put back. */
#include "mem_util.h"

#include "vinci/kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define WAIT_MS 30000
#define SIZE ((size_t)3 << 20)

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

/* As another process that shares the memory would: not by the library. */
static void scribble(unsigned char *at, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++)
		((volatile unsigned char *)at)[i] = value;
}

static bool holds(const unsigned char *at, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++)
		if (((const volatile unsigned char *)at)[i] != value)
			return false;
	return true;
}

/* covers: aclrtSnapShotProcessLock, aclrtSnapShotProcessBackup effect */
/* covers: aclrtSnapShotProcessRestore, aclrtSnapShotProcessUnlock effect */
static void memory_comes_back(void **state)
{
	unsigned char *large, *small, *untouched;
	aclrtDrvMemHandle physical;
	aclrtPhysicalMemProp prop = { .handleType = ACL_MEM_HANDLE_TYPE_NONE,
				      .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
				      .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	void *reserved;

	(void)state;
	assert_ok(aclrtMalloc((void **)&large, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMalloc((void **)&small, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMalloc((void **)&untouched, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtReserveMemAddress(&reserved, (size_t)8 << 20, 0, NULL, 1));
	assert_ok(aclrtMallocPhysical(&physical, (size_t)2 << 20, &prop, 0));
	assert_ok(aclrtMapMem((char *)reserved + ((size_t)4 << 20), (size_t)2 << 20, 0, physical, 0));
	assert_ok(aclrtMemset(large, SIZE, 1, SIZE));
	assert_ok(aclrtMemset(small, 64, 2, 64));
	assert_ok(aclrtMemset((char *)reserved + ((size_t)4 << 20), 4096, 3, 4096));
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	assert_ok(aclrtSnapShotProcessBackup(getpid(), NULL));
	scribble(large, SIZE, 9);
	scribble(small, 64, 9);
	scribble(untouched, SIZE, 9);
	scribble((unsigned char *)reserved + ((size_t)4 << 20), 8192, 9);
	assert_ok(aclrtSnapShotProcessRestore(getpid(), NULL));
	assert_true(holds(large, SIZE, 1));
	assert_true(holds(small, 64, 2));
	assert_true(holds(untouched, SIZE, 0));
	assert_true(holds((unsigned char *)reserved + ((size_t)4 << 20), 4096, 3));
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
	assert_ok(aclrtUnmapMem((char *)reserved + ((size_t)4 << 20)));
	assert_ok(aclrtFreePhysical(physical));
	assert_ok(aclrtReleaseMemAddress(reserved));
	assert_ok(aclrtFree(large));
	assert_ok(aclrtFree(small));
	assert_ok(aclrtFree(untouched));
}

struct caller {
	aclrtContext context;
	atomic_uint begun, done, kind;
};

static void count_kernel(const void *args, const struct vinci_block *block)
{
	(void)block;
	atomic_fetch_add(*(atomic_uint *const *)args, 1);
}

static const struct vinci_kernel count = {
	.abi = VINCI_KERNEL_ABI, .name = "count", .run = count_kernel, .args_size = 8
};

static void *call(void *arg)
{
	struct caller *c = arg;
	atomic_uint ran = 0, *at = &ran;
	aclrtStream stream;
	void *memory;

	assert_ok(aclrtSetCurrentContext(c->context));
	atomic_store(&c->begun, 1);
	switch (atomic_load(&c->kind)) {
	case 0:
		assert_ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
		atomic_store(&c->done, 1);
		assert_ok(aclrtFree(memory));
		break;
	case 1:
		assert_ok(aclrtCreateStream(&stream));
		atomic_store(&c->done, 1);
		assert_ok(aclrtDestroyStream(stream));
		break;
	default:
		assert_int_equal(vinciLaunchKernel(&count, 1, NULL, &at, sizeof(at)), 0);
		atomic_store(&c->done, 1);
		assert_ok(aclrtSynchronizeStream(NULL));
	}
	return NULL;
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

static void calls_wait_until_it_is_unlocked(void **state)
{
	struct caller callers[3] = { { .kind = 0 }, { .kind = 1 }, { .kind = 2 } };
	pthread_t threads[3];
	int32_t device = -1;

	(void)state;
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	for (int i = 0; i < 3; i++) {
		assert_ok(aclrtGetCurrentContext(&callers[i].context));
		assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_true(t_until(is_set, &callers[i].begun, WAIT_MS));
		assert_false(t_until(is_set, &callers[i].done, 30));
	}
	assert_ok(aclrtGetDevice(&device)); /* asks only */
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(callers[i].done, 1);
	}
}

static void allocate_when_told(void *arg)
{
	struct caller *c = arg;
	void *memory;

	atomic_store(&c->begun, 1);
	assert_true(t_until(is_set, &c->kind, WAIT_MS));
	assert_ok(aclrtSetCurrentContext(c->context));
	assert_ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtFree(memory));
	atomic_store(&c->done, 1);
}

/* Otherwise what waits for them would never end. */
static void tasks_go_on(void **state)
{
	struct caller c = { .kind = 0 };

	(void)state;
	assert_ok(aclrtGetCurrentContext(&c.context));
	assert_ok(aclrtLaunchHostFunc(NULL, allocate_when_told, &c));
	assert_true(t_until(is_set, &c.begun, WAIT_MS));
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	atomic_store(&c.kind, 1);
	assert_ok(aclrtSnapShotProcessBackup(getpid(), NULL));
	assert_int_equal(c.done, 1);
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
}

static unsigned seen[16], seen_count;
static uint32_t answer;

static uint32_t tell(int32_t device, void *arg)
{
	void *memory;

	assert_int_equal(device, 0);
	/* a callback's own calls do not wait for its end */
	assert_ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtFree(memory));
	seen[seen_count++ % 16] = (unsigned)(uintptr_t)arg;
	return answer;
}

/* covers: aclrtSnapShotCallbackRegister, aclrtSnapShotCallbackUnregister effect */
static void callbacks_are_told(void **state)
{
	(void)state;
	for (int stage = 0; stage <= ACL_RT_SNAPSHOT_UNLOCK_POST; stage++)
		assert_ok(aclrtSnapShotCallbackRegister((aclrtSnapShotStage)stage, tell, (void *)(uintptr_t)stage));
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	assert_ok(aclrtSnapShotProcessBackup(getpid(), NULL));
	assert_ok(aclrtSnapShotProcessRestore(getpid(), NULL));
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
	assert_int_equal(seen_count, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(seen[i], i);
	answer = 5;
	assert_refused(aclrtSnapShotProcessLock(getpid(), NULL), ACL_ERROR_SNAPSHOT_CALLBACK_FAILED);
	answer = 0;
	for (int stage = 0; stage <= ACL_RT_SNAPSHOT_UNLOCK_POST; stage++)
		assert_ok(aclrtSnapShotCallbackUnregister((aclrtSnapShotStage)stage, tell));
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
	assert_int_equal(seen_count, 7);
}

/* covers: aclrtSnapShotProcessLock, aclrtSnapShotProcessBackup failure */
/* covers: aclrtSnapShotProcessRestore, aclrtSnapShotProcessUnlock failure */
/* covers: aclrtSnapShotCallbackRegister, aclrtSnapShotCallbackUnregister failure */
static void steps_out_of_order(void **state)
{
	aclrtSnapShotBackupArgs args = { 0 };

	(void)state;
	assert_refused(aclrtSnapShotProcessLock(getpid() + 1, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSnapShotProcessLock(getpid(), &args), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSnapShotProcessBackup(getpid(), &args), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtSnapShotProcessBackup(getpid(), NULL), ACL_ERROR_SNAPSHOT_BACKUP_FAILED);
	assert_refused(aclrtSnapShotProcessRestore(getpid(), NULL), ACL_ERROR_SNAPSHOT_RESTORE_FAILED);
	assert_refused(aclrtSnapShotProcessUnlock(getpid(), NULL), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
	assert_ok(aclrtSnapShotProcessLock(getpid(), NULL));
	assert_refused(aclrtSnapShotProcessLock(getpid(), NULL), ACL_ERROR_SNAPSHOT_LOCK_FAILED);
	assert_refused(aclrtSnapShotProcessRestore(getpid(), NULL), ACL_ERROR_SNAPSHOT_RESTORE_FAILED);
	assert_ok(aclrtSnapShotProcessBackup(getpid(), NULL));
	assert_refused(aclrtSnapShotProcessBackup(getpid(), NULL), ACL_ERROR_SNAPSHOT_BACKUP_FAILED);
	assert_ok(aclrtSnapShotProcessUnlock(getpid(), NULL));
	assert_refused(aclrtSnapShotCallbackRegister((aclrtSnapShotStage)6, tell, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, tell), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, tell, NULL));
	assert_refused(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, tell, NULL),
		       ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED);
	assert_ok(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, tell));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(calls_wait_until_it_is_unlocked),
		cmocka_unit_test(tasks_go_on),
		cmocka_unit_test(callbacks_are_told),
		cmocka_unit_test(steps_out_of_order),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
