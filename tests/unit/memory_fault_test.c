/* SPDX-License-Identifier: MIT */
/*
 * memory_fault_test.c - every allocation, mapping and request that memory functions make fails once: each time the code
 * is one that an application can make something of, and nothing is left behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "acl/acl.h"
#include "rts/memory.h"
#include "test_util.h"

#define MIB ((size_t)1 << 20)

/* The how-manieth call fails; 0: none. */
static int fail_at, calls;
static int close_error, create_error;

static bool fails(void)
{
	return fail_at && ++calls == fail_at;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_drv_bo_create(struct drv *drv, struct drm_vinci_bo_create *bo);
int __wrap_drv_bo_create(struct drv *drv, struct drm_vinci_bo_create *bo);
int __real_drv_map(struct drv *drv, uint64_t offset, size_t size, void *addr, bool writable, void **out);
int __wrap_drv_map(struct drv *drv, uint64_t offset, size_t size, void *addr, bool writable, void **out);
int __real_drv_close_handle(struct drv *drv, uint32_t handle);
int __wrap_drv_close_handle(struct drv *drv, uint32_t handle);

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (!fails())
		return __real_mmap(addr, len, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

int __wrap_drv_bo_create(struct drv *drv, struct drm_vinci_bo_create *bo)
{
	if (create_error)
		return create_error;
	return fails() ? -ENOMEM : __real_drv_bo_create(drv, bo);
}

int __wrap_drv_map(struct drv *drv, uint64_t offset, size_t size, void *addr, bool writable, void **out)
{
	return fails() ? -ENOMEM : __real_drv_map(drv, offset, size, addr, writable, out);
}

/* The object is closed in any case: only the answer is lost. */
int __wrap_drv_close_handle(struct drv *drv, uint32_t handle)
{
	int r = __real_drv_close_handle(drv, handle);

	return close_error ? close_error : r;
}

static size_t free_bytes(void)
{
	size_t left = 0, total;

	assert_int_equal(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), 0);
	return left;
}

/* A little of everything. Returns the first code that is not 0, and gives back what it got. */
static int scenario(void)
{
	void *huge = NULL, *pages = NULL, *small = NULL, *host = NULL, *device;
	int r = aclrtMalloc(&huge, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);

	if (!r)
		r = aclrtMalloc(&pages, 8192, ACL_MEM_MALLOC_NORMAL_ONLY);
	if (!r)
		r = aclrtMalloc(&small, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
	if (!r)
		r = aclrtMallocHost(&host, 8192);
	if (!r)
		r = aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &device);
	if (!r)
		r = aclrtMemcpyAsync(huge, 64, host, 64, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, NULL);
	if (!r)
		r = aclrtMemcpyAsync(pages, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, NULL);
	if (!r)
		r = aclrtSynchronizeStream(NULL);
	/* What was got is given back, whatever fails on the way. */
	if ((huge && aclrtFree(huge)) || (pages && aclrtFree(pages)) || (small && aclrtFree(small)) ||
	    (host && aclrtFreeHost(host)))
		return -1;
	return r;
}

static void test_sweep(void **state)
{
	size_t before = free_bytes();
	unsigned fds, maps;
	int r = 1, failed = 0;

	(void)state;
	for (int i = 0; i < 20; i++) /* workers, chunks, the list of sentences */
		assert_int_equal(scenario(), 0);
	rts_va_drain();
	fds = t_count_fds();
	maps = t_count_maps();
	for (fail_at = 1; r || calls >= fail_at; fail_at++) {
		calls = 0;
		r = scenario();
		if (r) {
			assert_int_equal(r, ACL_ERROR_RT_MEMORY_ALLOCATION);
			assert_non_null(aclGetRecentErrMsg());
			failed++;
		}
		assert_int_equal(free_bytes(), before);
		assert_true(fail_at < 1000);
	}
	fail_at = 0;
	assert_true(failed >= 10);
	assert_int_equal(scenario(), 0);
	rts_va_drain();
	assert_int_equal(t_count_fds(), fds);
	assert_in_range(t_count_maps(), 0, maps + 2);
	assert_int_equal(free_bytes(), before);
}

/* The device does not answer a close: the memory is gone for this process all the same, and the caller hears of it. */
static void test_close_fails(void **state)
{
	aclrtPtrAttributes attributes;
	void *ptr = NULL, *small = NULL;

	(void)state;
	assert_int_equal(aclrtMalloc(&ptr, MIB, ACL_MEM_MALLOC_HUGE_FIRST), 0);
	assert_int_equal(aclrtMalloc(&small, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
	close_error = -EIO;
	assert_int_equal(aclrtFree(ptr), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_non_null(aclGetRecentErrMsg());
	assert_int_equal(aclrtFree(small), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_non_null(aclGetRecentErrMsg());
	close_error = 0;
	assert_int_equal(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtFree(small), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtPointerGetAttributes(ptr, &attributes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

/* What the device may answer to a wish for memory, and what becomes of it. */
static void test_create_fails(void **state)
{
	static const struct {
		int err, code;
	} rows[] = {
		{ -ENOMEM, ACL_ERROR_RT_MEMORY_ALLOCATION },
		{ -EINVAL, ACL_ERROR_RT_DRV_INTERNAL_ERROR },
		{ -ENODEV, ACL_ERROR_RT_NO_DEVICE },
		{ -ENOTCONN, ACL_ERROR_RT_LOST_HEARTBEAT }, /* last: from now on the device is lost */
	};
	void *ptr = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t size = 64; size <= MIB; size *= 128) {
			create_error = rows[i].err;
			assert_int_equal(aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST), rows[i].code);
			assert_non_null(aclGetRecentErrMsg());
			assert_null(ptr);
		}
	}
	create_error = 0;
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep), cmocka_unit_test(test_close_fails),
		cmocka_unit_test(test_create_fails), /* last: it takes the device away */
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
