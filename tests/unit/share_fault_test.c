/* SPDX-License-Identifier: MIT */
/*
 * share_fault_test.c - every call below sharing fails once, at every place where it is made: the API answers with a code and a
 * sentence, and after cleaning up nothing is left behind.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../integration/few_addresses.h"

#include "acl/acl.h"
#include "drv/drv.h"
#include "rts/memory.h"
#include "test_util.h"

#define MIB ((size_t)1 << 20)
#define PAGE (2 * MIB)

/* --- faults ------------------------------------------------------------------------------- */

static unsigned countdown; /* the call that fails; 0: none */
static int fault; /* -errno of it */

static bool fails(void)
{
	return countdown && !--countdown;
}

#define WRAP(type, name, params, args, result)                  \
	type __real_##name params;                              \
	type __wrap_##name params;                              \
	type __wrap_##name params                               \
	{                                                       \
		return fails() ? (result) : __real_##name args; \
	}

WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(int, rts_va_insert, (const struct rts_segment *seg), (seg),
     u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory: this test says so"))
WRAP(int, rts_object_publish, (struct rts_object * obj, enum rts_type type, void (*release)(struct rts_object *)),
     (obj, type, release), u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "no handle: this test says so"))
WRAP(int, drv_bo_create, (struct drv * drv, struct drm_vinci_bo_create *bo), (drv, bo), fault)
WRAP(int, drv_bo_split,
     (struct drv * drv, uint32_t bo, uint64_t offset, uint64_t size, uint32_t *new_bo, uint64_t *mmap_offset),
     (drv, bo, offset, size, new_bo, mmap_offset), fault)
WRAP(int, drv_map, (struct drv * drv, uint64_t offset, size_t size, void *addr, bool writable, void **out),
     (drv, offset, size, addr, writable, out), fault)
WRAP(int, drv_share_export,
     (struct drv * drv, uint32_t bo, uint32_t kind, uint32_t flags, uint64_t size, struct drv_name *name),
     (drv, bo, kind, flags, size, name), fault)
WRAP(int, drv_share_import,
     (struct drv * drv, const struct drv_name *name, uint32_t device, struct drm_vinci_share_import *in),
     (drv, name, device, in), fault)
WRAP(int, drv_share_allow,
     (struct drv * drv, const struct drv_name *name, const uint32_t *sdid, const int32_t *pids, uint32_t count),
     (drv, name, sdid, pids, count), fault)
WRAP(int, drv_share_close, (struct drv * drv, const struct drv_name *name), (drv, name), fault)
WRAP(int, drv_peer, (struct drv * drv, uint32_t device, uint32_t peer, uint32_t op, bool *active),
     (drv, device, peer, op, active), fault)

/* --- tasks that run on and on ------------------------------------------------------------- */

static unsigned waits; /* for all tasks of the process */
static int wait_code; /* how they end */

int __real_rts_exec_quiesce(int32_t timeout_ms);
int __wrap_rts_exec_quiesce(int32_t timeout_ms);
int __wrap_rts_exec_quiesce(int32_t timeout_ms)
{
	waits++;
	return wait_code ? wait_code : __real_rts_exec_quiesce(timeout_ms);
}

/* One deferred call at most is held back. */
static struct {
	bool wanted;
	void (*fn)(void *arg);
	void *arg;
} held;

void __real_rts_exec_defer(void (*fn)(void *arg), void *arg);
void __wrap_rts_exec_defer(void (*fn)(void *arg), void *arg);
void __wrap_rts_exec_defer(void (*fn)(void *arg), void *arg)
{
	if (!held.wanted) {
		__real_rts_exec_defer(fn, arg);
		return;
	}
	held.wanted = false;
	held.fn = fn;
	held.arg = arg;
}

/* --- scenarios: each leaves nothing behind, whatever fails on the way --------------------- */

static size_t free_bytes(void)
{
	size_t left = 0, total = 0;

	assert_int_equal(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), 0);
	return left;
}

/* A code of the runtime's, and a sentence for it. */
static int checked(int code)
{
	if (!code)
		return 0;
	assert_int_equal(code % 100000 / 1000, 7);
	assert_non_null(aclGetRecentErrMsg());
	return code;
}

static int key_of_all(void)
{
	void *ptr = NULL, *again = NULL;
	char key[65] = "";
	int r = checked(aclrtMalloc(&ptr, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));

	if (r)
		return r;
	r = checked(aclrtIpcMemGetExportKey(ptr, 4 * MIB, key, sizeof(key), 1));
	if (!r) {
		*(int *)ptr = 5;
		r = checked(aclrtIpcMemImportByKey(&again, key, 1));
	}
	if (!r) {
		assert_int_equal(*(int *)again, 5);
		assert_int_equal(aclrtIpcMemClose(key), 0);
	}
	if (key[0] && !r)
		r = checked(aclrtIpcMemClose(key));
	*(int *)ptr = 6;
	assert_int_equal(aclrtFree(ptr), 0);
	return r;
}

static int key_of_joined_parts(void)
{
	uint8_t *ptr = NULL;
	char key[65] = "";
	unsigned i;
	int r = checked(aclrtMalloc((void **)&ptr, 8 * MIB - 64, ACL_MEM_MALLOC_HUGE_FIRST));

	if (r)
		return r;
	for (i = 0; i < 4; i++)
		ptr[i * PAGE] = (uint8_t)(i + 1);
	r = checked(aclrtIpcMemGetExportKey(ptr + PAGE, PAGE, key, sizeof(key), 0));
	if (!r)
		r = checked(aclrtIpcMemClose(key));
	if (!r)
		r = checked(aclrtIpcMemGetExportKey(ptr, 3 * PAGE, key, sizeof(key), 0));
	for (i = 0; i < 4; i++)
		assert_int_equal(ptr[i * PAGE], i + 1);
	assert_int_equal(aclrtFree(ptr), 0);
	return r;
}

/* Whatever fails: the contents stay, and so does what can be done with the memory. */
static int key_of_part(void)
{
	uint8_t *ptr = NULL;
	char key[65] = "";
	unsigned i;
	int r = checked(aclrtMalloc((void **)&ptr, 8 * MIB - 64, ACL_MEM_MALLOC_HUGE_FIRST));

	if (r)
		return r;
	for (i = 0; i < 4; i++)
		ptr[i * PAGE] = (uint8_t)(i + 1);
	r = checked(aclrtIpcMemGetExportKey(ptr + PAGE, PAGE, key, sizeof(key), 0));
	for (i = 0; i < 4; i++)
		assert_int_equal(ptr[i * PAGE], i + 1);
	if (r)
		assert_int_equal(key[0], 0);
	assert_int_equal(aclrtMemset(ptr, 8 * MIB - 64, 9, 8 * MIB - 64), 0);
	assert_int_equal(aclrtFree(ptr), 0);
	return r;
}

static int handle_and_mapping(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE, .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtDrvMemHandle handle = NULL, other = NULL;
	uint64_t number = 0;
	void *va = NULL;
	bool mapped = false;
	int r = checked(aclrtMallocPhysical(&handle, PAGE, &prop, 0));

	if (r)
		return r;
	r = checked(aclrtReserveMemAddress(&va, 2 * PAGE, 0, NULL, 0));
	if (!r) {
		r = checked(aclrtMapMem(va, PAGE, 0, handle, 0));
		mapped = !r;
	}
	if (!r)
		r = checked(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
	if (!r)
		r = checked(aclrtMemImportFromShareableHandle(number, 1, &other));
	if (mapped) {
		*(int *)va = 1;
		assert_int_equal(aclrtUnmapMem(va), 0);
	}
	if (va) {
		/* What failed to be mapped can be tried again. */
		unsigned later = countdown;

		countdown = 0;
		assert_int_equal(aclrtMapMem(va, PAGE, 0, handle, 0), 0);
		assert_int_equal(aclrtUnmapMem(va), 0);
		assert_int_equal(aclrtReleaseMemAddress(va), 0);
		countdown = later;
	}
	if (other)
		assert_int_equal(aclrtFreePhysical(other), 0);
	assert_int_equal(aclrtFreePhysical(handle), 0);
	return r;
}

static int whitelist(void)
{
	void *ptr = NULL;
	char key[65] = "";
	int32_t nobody = 0x3fffff;
	int r = checked(aclrtMalloc(&ptr, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));

	if (r)
		return r;
	r = checked(aclrtIpcMemGetExportKey(ptr, 4 * MIB, key, sizeof(key), 0));
	if (!r)
		r = checked(aclrtIpcMemSetImportPid(key, &nobody, 1));
	assert_int_equal(aclrtFree(ptr), 0);
	return r;
}

/* --- the sweep ---------------------------------------------------------------------------- */

/* Addresses of freed memory are kept unused for a while: they go first. */
static unsigned count_maps(void)
{
	rts_va_drain();
	return t_count_maps();
}

static const int faults[] = { -ENOMEM, -EINVAL, -EBUSY, -ENOSPC, -EACCES, -EPERM, -ESTALE, -EIO, -EPROTO };

static void sweep(int (*scenario)(void))
{
	size_t left = free_bytes();
	unsigned maps, fds, n, i;
	int r = 0;

	assert_int_equal(scenario(), 0);
	maps = count_maps();
	fds = t_count_fds();
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		fault = faults[i];
		for (n = 1; n < 100; n++) {
			countdown = n;
			r = scenario();
			if (countdown) /* fewer calls than that were made */
				break;
			assert_int_equal(free_bytes(), left);
		}
		countdown = 0;
		assert_true(n > 4);
		assert_true(n < 100);
		assert_int_equal(r, 0);
	}
	assert_int_equal(scenario(), 0);
	assert_int_equal(t_count_fds(), fds);
	if (!FEW_ADDRESSES) /* the sanitizer maps a shadow of everything for itself */
		assert_true(count_maps() < maps + 16);
}

static void test_key_of_all(void **state)
{
	(void)state;
	sweep(key_of_all);
}

static void test_key_of_part(void **state)
{
	(void)state;
	sweep(key_of_part);
}

static void test_key_of_joined_parts(void **state)
{
	(void)state;
	sweep(key_of_joined_parts);
}

static void test_handle_and_mapping(void **state)
{
	(void)state;
	sweep(handle_and_mapping);
}

static void test_whitelist(void **state)
{
	(void)state;
	sweep(whitelist);
}

/* --- waiting for tasks -------------------------------------------------------------------- */

static void test_only_parts_wait(void **state)
{
	uint8_t *ptr = NULL;
	char key[65] = "", part[65] = "";

	(void)state;
	assert_int_equal(aclrtMalloc((void **)&ptr, 8 * MIB, ACL_MEM_MALLOC_HUGE_FIRST), 0);
	ptr[PAGE] = 3;
	waits = 0;
	assert_int_equal(aclrtIpcMemGetExportKey(ptr, 8 * MIB, key, sizeof(key), 0), 0);
	assert_int_equal(waits, 0);
	assert_int_equal(aclrtIpcMemClose(key), 0);
	/* Tasks that do not end in time: nothing is split, nothing is given. */
	wait_code = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
	assert_int_equal(aclrtIpcMemGetExportKey(ptr + PAGE, PAGE, part, sizeof(part), 0),
			 ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_non_null(strstr(aclGetRecentErrMsg(), "tasks"));
	assert_int_equal(part[0], 0);
	wait_code = 0;
	assert_int_equal(waits, 1);
	assert_int_equal(aclrtIpcMemGetExportKey(ptr, 8 * MIB, key, sizeof(key), 0), 0);
	assert_int_equal(aclrtIpcMemClose(key), 0);
	assert_int_equal(waits, 1);
	assert_int_equal(aclrtIpcMemGetExportKey(ptr + PAGE, PAGE, part, sizeof(part), 0), 0);
	assert_int_equal(waits, 2);
	assert_int_equal(ptr[PAGE], 3);
	/* The same part again is there already. */
	assert_int_equal(aclrtIpcMemGetExportKey(ptr + PAGE, PAGE, key, sizeof(key), 0), 0);
	assert_int_equal(waits, 2);
	assert_int_equal(aclrtFree(ptr), 0);
}

struct remap {
	aclrtDrvMemHandle handle;
	void *va;
	int code;
	atomic_bool done, let_go, too_early;
};

static void *remap_main(void *arg)
{
	struct remap *m = arg;

	m->code = aclrtSetDevice(0);
	if (!m->code)
		m->code = aclrtMapMem(m->va, PAGE, 0, m->handle, 0);
	atomic_store(&m->too_early, !atomic_load(&m->let_go));
	atomic_store(&m->done, true);
	return NULL;
}

static bool remap_is_done(void *arg)
{
	return atomic_load(&((struct remap *)arg)->done);
}

/* While tasks may use what was unmapped, its pages stay and nothing else takes their place. */
static void test_map_waits_for_what_was_unmapped(void **state)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE, .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	struct remap m = { .code = -1 };
	aclrtDrvMemHandle old = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(aclrtMallocPhysical(&old, PAGE, &prop, 0), 0);
	assert_int_equal(aclrtMallocPhysical(&m.handle, PAGE, &prop, 0), 0);
	assert_int_equal(aclrtReserveMemAddress(&m.va, 2 * PAGE, 0, NULL, 0), 0);
	assert_int_equal(aclrtMapMem(m.va, PAGE, 0, old, 0), 0);
	*(int *)m.va = 11;
	held.wanted = true;
	assert_int_equal(aclrtUnmapMem(m.va), 0);
	assert_int_equal(aclrtFreePhysical(old), 0);
	assert_int_equal(*(volatile int *)m.va, 11);
	assert_int_equal(pthread_create(&thread, NULL, remap_main, &m), 0);
	assert_false(t_until(remap_is_done, &m, 100));
	assert_int_equal(*(volatile int *)m.va, 11);
	atomic_store(&m.let_go, true);
	held.fn(held.arg);
	pthread_join(thread, NULL);
	assert_int_equal(m.code, 0);
	assert_false(m.too_early);
	assert_int_equal(*(volatile int *)m.va, 0);
	assert_int_equal(aclrtUnmapMem(m.va), 0);
	assert_int_equal(aclrtReleaseMemAddress(m.va), 0);
	assert_int_equal(aclrtFreePhysical(m.handle), 0);
}

/* An import that is closed stays mapped until tasks have ended; imported again it is another mapping. */
static void test_import_closed_under_tasks(void **state)
{
	void *ptr = NULL, *one = NULL, *two = NULL;
	char key[65] = "";

	(void)state;
	assert_int_equal(aclrtMalloc(&ptr, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST), 0);
	assert_int_equal(aclrtIpcMemGetExportKey(ptr, 4 * MIB, key, sizeof(key), 1), 0);
	assert_int_equal(aclrtIpcMemImportByKey(&one, key, 0), 0);
	held.wanted = true;
	assert_int_equal(aclrtIpcMemClose(key), 0);
	*(volatile int *)one = 12;
	assert_int_equal(*(volatile int *)ptr, 12);
	assert_int_equal(aclrtMemset(one, 4, 0, 4), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_int_equal(aclrtIpcMemImportByKey(&two, key, 0), 0);
	assert_ptr_not_equal(one, two);
	held.fn(held.arg);
	assert_int_equal(*(volatile int *)two, 12);
	assert_int_equal(aclrtIpcMemClose(key), 0);
	assert_int_equal(aclrtFree(ptr), 0);
}

static int group_setup(void **state)
{
	(void)state;
	return aclrtSetDevice(1) || aclrtSetDevice(0) ? -1 : 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_of_all),
		cmocka_unit_test(test_key_of_part),
		cmocka_unit_test(test_key_of_joined_parts),
		cmocka_unit_test(test_handle_and_mapping),
		cmocka_unit_test(test_whitelist),
		cmocka_unit_test(test_only_parts_wait),
		cmocka_unit_test(test_map_waits_for_what_was_unmapped),
		cmocka_unit_test(test_import_closed_under_tasks),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
