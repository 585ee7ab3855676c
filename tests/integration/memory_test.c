/* SPDX-License-Identifier: MIT */
/* memory_test.c - device memory: page policies, accounting, freeing, and what is known about pointers. */
#include <pthread.h>

#include "mem_util.h"

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

static size_t page_size_of(const void *ptr)
{
	aclrtPtrAttributes attributes = { 0 };

	assert_ok(aclrtPointerGetAttributes(ptr, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	return attributes.pageSize;
}

static size_t size_of(void *ptr)
{
	void *base = NULL;
	size_t size = 0;

	assert_ok(aclrtMemGetAddressRange(ptr, &base, &size));
	assert_ptr_equal(base, ptr);
	return size;
}

/* ---- allocation ---- */

typedef aclError (*malloc_fn)(void **ptr, size_t size, aclrtMemMallocPolicy policy);

static aclError with_cfg(void **ptr, size_t size, aclrtMemMallocPolicy policy)
{
	return aclrtMallocWithCfg(ptr, size, policy, NULL);
}

static aclError for_scheduler(void **ptr, size_t size, aclrtMemMallocPolicy policy)
{
	return aclrtMallocForTaskScheduler(ptr, size, policy, NULL);
}

#define FIRST ACL_MEM_MALLOC_HUGE_FIRST

static const struct {
	malloc_fn malloc;
	size_t size;
	int policy;
	size_t real, page; /* bytes that may be used, page size */
} policies[] = {
	/* Rounded up to 32 and padded by 32; 2M pages for more than 1 MiB of that. */
	{ aclrtMalloc, 4 * KIB, FIRST, 4 * KIB + 32, 4 * KIB },
	{ aclrtMalloc, 4 * KIB - 32, FIRST, 4 * KIB, 4 * KIB },
	{ aclrtMalloc, MIB - 32, FIRST, MIB, 4 * KIB },
	{ aclrtMalloc, MIB - 31, FIRST, MIB + 32, 2 * MIB },
	{ aclrtMalloc, MIB, FIRST, MIB + 32, 2 * MIB },
	{ aclrtMalloc, 2 * MIB, FIRST, 2 * MIB + 32, 2 * MIB },
	{ aclrtMalloc, 2 * MIB - 32, FIRST, 2 * MIB, 2 * MIB },
	{ aclrtMalloc, 1, ACL_MEM_MALLOC_HUGE_ONLY, 64, 2 * MIB },
	{ aclrtMalloc, 3 * MIB + 1, ACL_MEM_MALLOC_HUGE_ONLY, 3 * MIB + 64, 2 * MIB },
	{ aclrtMalloc, 3 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY, 3 * MIB + 32, 4 * KIB },
	{ aclrtMalloc, MIB, ACL_MEM_MALLOC_HUGE_FIRST_P2P, MIB + 32, 2 * MIB },
	{ aclrtMalloc, 64 * KIB, ACL_MEM_MALLOC_HUGE_FIRST_P2P, 64 * KIB + 32, 4 * KIB },
	{ aclrtMalloc, 64 * KIB, ACL_MEM_MALLOC_HUGE_ONLY_P2P, 64 * KIB + 32, 2 * MIB },
	{ aclrtMalloc, 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 4 * MIB + 32, 4 * KIB },
	{ aclrtMalloc, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY, GIB, GIB },
	{ aclrtMalloc, 1, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P, 32, GIB },
	/* Unknown values are the default. */
	{ aclrtMalloc, MIB, 77, MIB + 32, 2 * MIB },
	{ aclrtMalloc, 64 * KIB, 77, 64 * KIB + 32, 4 * KIB },
	{ aclrtMalloc, MIB, ACL_MEM_MALLOC_NORMAL_ONLY | ACL_MEM_TYPE_HIGH_BAND_WIDTH, MIB + 32, 2 * MIB },
	{ aclrtMallocCached, MIB, FIRST, MIB + 32, 2 * MIB },
	{ aclrtMallocCached, 64 * KIB, ACL_MEM_MALLOC_HUGE_ONLY, 64 * KIB + 32, 2 * MIB },
	{ aclrtMallocCached, 2 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY, 2 * MIB + 32, 4 * KIB },
	{ aclrtMallocCached, 64 * KIB, ACL_MEM_MALLOC_HUGE_ONLY_P2P, 64 * KIB + 32, 4 * KIB },
	{ aclrtMallocAlign32, MIB, FIRST, MIB, 4 * KIB },
	{ aclrtMallocAlign32, 2 * MIB, FIRST, 2 * MIB, 2 * MIB },
	{ aclrtMallocAlign32, 2 * MIB + 1, FIRST, 2 * MIB + 32, 2 * MIB },
	{ with_cfg, 2 * MIB, FIRST, 2 * MIB, 2 * MIB },
	{ with_cfg, 2 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY | ACL_MEM_TYPE_HIGH_BAND_WIDTH, 2 * MIB, 4 * KIB },
	{ for_scheduler, 8 * KIB, FIRST, 8 * KIB, 4 * KIB },
};

/* covers: aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached, aclrtMallocWithCfg effect */
/* covers: aclrtMallocForTaskScheduler, aclrtFree effect */
/* covers: aclrtGetMemInfo, aclrtMemGetAddressRange, aclrtPointerGetAttributes effect */
static void test_policies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		size_t before = m_free(), page = policies[i].page;
		void *ptr = NULL;

		assert_ok(policies[i].malloc(&ptr, policies[i].size, (aclrtMemMallocPolicy)policies[i].policy));
		assert_int_equal(page_size_of(ptr), page);
		assert_int_equal((uintptr_t)ptr % page, 0);
		assert_int_equal(size_of(ptr), policies[i].real);
		assert_int_equal(before - m_free(), (policies[i].real + page - 1) / page * page);
		assert_ok(aclrtFree(ptr));
		assert_int_equal(m_free(), before);
	}
}

static void test_small(void **state)
{
	static const size_t sizes[] = { 1, 32, 448, 480, 481, 2000, 4000, 4032 };
	size_t before = m_free(), n = sizeof(sizes) / sizeof(sizes[0]);
	void *ptrs[sizeof(sizes) / sizeof(sizes[0])];

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_ok(aclrtMalloc(&ptrs[i], sizes[i], FIRST));
		assert_int_equal((uintptr_t)ptrs[i] % 512, 0);
		assert_int_equal(size_of(ptrs[i]), (sizes[i] + 31) / 32 * 32 + 32);
		assert_int_equal(page_size_of(ptrs[i]), 4 * KIB);
		assert_ok(aclrtMemset(ptrs[i], size_of(ptrs[i]), (int)i + 1, size_of(ptrs[i])));
	}
	/* They share what is charged, and nobody's bytes are another's. */
	assert_in_range(before - m_free(), 1, 64 * KIB);
	for (size_t i = 0; i < n; i++) {
		unsigned char host[4096];

		assert_ok(aclrtMemcpy(host, sizeof(host), ptrs[i], sizes[i], ACL_MEMCPY_DEVICE_TO_HOST));
		for (size_t b = 0; b < sizes[i]; b++)
			assert_int_equal(host[b], i + 1);
	}
	for (size_t i = 0; i < n; i++) {
		assert_refused(aclrtFree((char *)ptrs[i] + 256), ACL_ERROR_RT_PARAM_INVALID);
		assert_ok(aclrtFree(ptrs[i]));
		assert_refused(aclrtFree(ptrs[i]), ACL_ERROR_RT_PARAM_INVALID);
	}
	assert_int_equal(m_free(), before);
}

#define SMALL_MANY 3000

static void test_small_many(void **state)
{
	static void *ptrs[SMALL_MANY];
	size_t before = m_free();

	(void)state;
	for (size_t i = 0; i < SMALL_MANY; i++) {
		assert_ok(aclrtMallocAlign32(&ptrs[i], 32 + i % 4000, FIRST));
		assert_ok(aclrtMemcpy(ptrs[i], 32, &i, sizeof(i), ACL_MEMCPY_HOST_TO_DEVICE));
	}
	for (size_t i = 0; i < SMALL_MANY; i += 2)
		assert_ok(aclrtFree(ptrs[i]));
	for (size_t i = 0; i < SMALL_MANY; i += 2) {
		assert_ok(aclrtMallocAlign32(&ptrs[i], 32 + i % 4000, FIRST));
		assert_ok(aclrtMemcpy(ptrs[i], 32, &i, sizeof(i), ACL_MEMCPY_HOST_TO_DEVICE));
	}
	for (size_t i = 0; i < SMALL_MANY; i++) {
		size_t read = 0;

		assert_ok(aclrtMemcpy(&read, sizeof(read), ptrs[i], sizeof(read), ACL_MEMCPY_DEVICE_TO_HOST));
		assert_int_equal(read, i);
		assert_ok(aclrtFree(ptrs[i]));
	}
	assert_int_equal(m_free(), before);
}

/* covers: aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached, aclrtMallocWithCfg failure */
/* covers: aclrtMallocForTaskScheduler failure */
static void test_malloc_arguments(void **state)
{
	static const malloc_fn all[] = { aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached, with_cfg, for_scheduler };
	void *ptr = (void *)1;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_refused(all[i](NULL, 1, FIRST), ACL_ERROR_INVALID_PARAM);
		assert_refused(all[i](&ptr, 0, FIRST), ACL_ERROR_INVALID_PARAM);
		assert_refused(all[i](&ptr, SIZE_MAX / 4, FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
		assert_refused(all[i](&ptr, 65 * GIB, FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
	}
	for (size_t i = 0; i < 3; i++)
		assert_refused(all[i](&ptr, SIZE_MAX - 3, FIRST), ACL_ERROR_INVALID_PARAM);
	for (size_t i = 3; i < 5; i++)
		assert_refused(all[i](&ptr, SIZE_MAX - 3, FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_ptr_equal(ptr, (void *)1);
}

static aclError try_attr(aclrtMallocAttrType attr, uint32_t value, void **ptr)
{
	aclrtMallocAttribute attribute = { .attr = attr, .value.deviceId = value };
	aclrtMallocConfig cfg = { .attrs = &attribute, .numAttrs = 1 };

	return aclrtMallocWithCfg(ptr, MIB, FIRST, &cfg);
}

/* covers: aclrtMallocWithCfg effect */
/* covers: aclrtMallocWithCfg failure */
static void test_malloc_cfg(void **state)
{
	aclrtMallocConfig empty = { .attrs = NULL, .numAttrs = 0 }, broken = { .attrs = NULL, .numAttrs = 1 };
	void *ptr = NULL;

	(void)state;
	assert_refused(aclrtMallocWithCfg(&ptr, MIB, FIRST, &broken), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMallocWithCfg(&ptr, MIB, FIRST, &empty), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(try_attr(ACL_RT_MEM_ATTR_DEVICE_ID, 1, &ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(try_attr(ACL_RT_MEM_ATTR_DEVICE_ID, 0xffffffff, &ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(try_attr(ACL_RT_MEM_ATTR_VA_FLAG, 1, &ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(try_attr((aclrtMallocAttrType)9, 1, &ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMallocWithCfg(&ptr, MIB, FIRST | ACL_MEM_ACCESS_USER_SPACE_READONLY, NULL),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_null(ptr);
	assert_ok(try_attr(ACL_RT_MEM_ATTR_DEVICE_ID, 0, &ptr));
	assert_ok(aclrtFree(ptr));
	assert_ok(try_attr(ACL_RT_MEM_ATTR_MODULE_ID, 33, &ptr));
	assert_ok(aclrtFree(ptr));
}

static const char *no_memory_text(size_t size)
{
	static char text[2048];
	const char *got;
	void *ptr;

	(void)aclGetRecentErrMsg();
	assert_int_equal(aclrtMalloc(&ptr, size, FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
	got = aclGetRecentErrMsg();
	assert_non_null(got);
	snprintf(text, sizeof(text), "%s", got);
	return text;
}

static void test_no_memory_message(void **state)
{
	char wanted[64];

	(void)state;
	snprintf(wanted, sizeof(wanted), "%zu of %zu bytes free", m_free(), 64 * GIB);
	assert_non_null(strstr(no_memory_text(65 * GIB), wanted));
	snprintf(wanted, sizeof(wanted), "%zu are wanted", 65 * GIB + 4 * KIB);
	assert_non_null(strstr(no_memory_text(65 * GIB), wanted));
}

/* 48 GiB are legal on a machine that has less: what is not touched costs nothing. */
static void test_lazy(void **state)
{
	const size_t size = 48 * GIB;
	unsigned long rss = t_rss_kib();
	size_t before = m_free();
	unsigned char byte = 0;
	char *ptr = NULL;

	(void)state;
	assert_ok(aclrtMalloc((void **)&ptr, size, FIRST));
	assert_int_equal(before - m_free(), size + 2 * MIB);
	for (int i = 0; i <= 8; i++) {
		char *at = ptr + (size - 1) / 8 * (size_t)i;

		assert_ok(aclrtMemset(at, 1, i + 1, 1));
		assert_ok(aclrtMemcpy(&byte, 1, at, 1, ACL_MEMCPY_DEVICE_TO_HOST));
		assert_int_equal(byte, i + 1);
	}
	assert_in_range(t_rss_kib() - rss, 0, 64 * KIB);
	assert_ok(aclrtFree(ptr));
	assert_int_equal(m_free(), before);
}

/* ---- freeing ---- */

/* covers: aclrtFree failure */
static void test_free_refused(void **state)
{
	char *ptr = NULL, *host = NULL, *plain = malloc(8192);
	void *area = NULL;
	int on_stack;

	(void)state;
	assert_ok(aclrtMalloc((void **)&ptr, 3 * MIB, FIRST));
	assert_ok(aclrtMallocHost((void **)&host, 8192));
	assert_ok(aclrtReserveMemAddress(&area, 4 * MIB, 0, NULL, 0));
	assert_refused(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFree(ptr + 512), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(ptr + 2 * MIB), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(plain), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(&on_stack), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree(area), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFree((void *)UINTPTR_MAX), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtReleaseMemAddress(area));
	assert_ok(aclrtFreeHost(host));
	assert_ok(aclrtFree(ptr));
	assert_refused(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
	free(plain);
}

static void *free_it(void *ptr)
{
	return (void *)(uintptr_t)aclrtFree(ptr);
}

static void test_free_without_context(void **state)
{
	size_t before = m_free();
	void *ptr = NULL, *result = NULL;
	pthread_t thread;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, MIB, FIRST));
	assert_int_equal(pthread_create(&thread, NULL, free_it, ptr), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_null(result);
	assert_int_equal(m_free(), before);
}

/* The charge goes at once; the pages stay until the tasks that were there before have ended. */
static void test_free_while_kernel_runs(void **state)
{
	size_t before = m_free();
	struct m_gate gate = { .value = 5 };
	aclrtStream stream = NULL;
	void *ptr = NULL, *small = NULL;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMalloc(&ptr, 4 * MIB, FIRST));
	assert_ok(aclrtMalloc(&small, 64, FIRST));
	gate.store_to = (atomic_int *)(void *)((char *)ptr + 3 * MIB);
	m_close(&gate, stream);
	/* A copy and a set that wait behind the kernel use the memory as well. */
	assert_ok(aclrtMemcpyAsync(ptr, MIB, (char *)ptr + 2 * MIB, MIB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	assert_ok(aclrtMemsetAsync(small, 64, 3, 64, stream));
	assert_ok(aclrtFree(ptr));
	assert_ok(aclrtFree(small));
	assert_int_equal(m_free(), before);
	assert_refused(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
	assert_ok(aclrtDestroyStream(stream));
	assert_int_equal(m_free(), before);
}

struct later {
	struct m_gate *gate;
	void *ptr;
	atomic_bool opened;
};

/* Opens the gate after the memory was seen to be there still for some round trips to the device. */
static void *open_later(void *arg)
{
	struct later *later = arg;
	aclrtPtrAttributes attributes;
	size_t left, total;
	uintptr_t wrong = aclrtSetDevice(0) != 0;

	for (int i = 0; i < 100; i++)
		wrong |= aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) ||
			 aclrtPointerGetAttributes(later->ptr, &attributes);
	atomic_store(&later->opened, true);
	m_open(later->gate);
	wrong |= aclrtResetDevice(0) != 0;
	return (void *)wrong;
}

/* covers: aclrtFreeWithDevSync, aclrtFreeHostWithDevSync effect */
static void test_free_with_sync(void **state)
{
	static aclError (*const frees[])(void *) = { aclrtFreeWithDevSync, aclrtFreeHostWithDevSync };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct m_gate gate = { .value = 5 };
		struct later later = { .gate = &gate };
		pthread_t thread;
		void *wrong;

		assert_ok(i ? aclrtMallocHost(&later.ptr, 4096) : aclrtMalloc(&later.ptr, MIB, FIRST));
		m_close(&gate, NULL);
		assert_int_equal(pthread_create(&thread, NULL, open_later, &later), 0);
		assert_ok(frees[i](later.ptr));
		assert_true(atomic_load(&later.opened));
		assert_int_equal(pthread_join(thread, &wrong), 0);
		assert_null(wrong);
		m_gate_end(&gate);
		assert_refused(frees[i](later.ptr), ACL_ERROR_RT_PARAM_INVALID);
	}
}

/* covers: aclrtFreeWithDevSync, aclrtFreeHostWithDevSync failure */
static void test_free_with_sync_refused(void **state)
{
	int on_stack;

	(void)state;
	assert_refused(aclrtFreeWithDevSync(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFreeHostWithDevSync(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFreeWithDevSync(&on_stack), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFreeHostWithDevSync(&on_stack), ACL_ERROR_RT_PARAM_INVALID);
}

/* ---- questions ---- */

/* covers: aclrtGetMemInfo failure */
static void test_info(void **state)
{
	size_t left = 1, total = 2;
	void *ptr = NULL;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, 4 * KIB, FIRST));
	for (int attr = 0; attr <= ACL_MEM_P2P_HUGE1G; attr++) {
		bool giga = attr == ACL_HBM_MEM_HUGE1G || attr == ACL_HBM_MEM_P2P_HUGE1G || attr == ACL_MEM_HUGE1G ||
			    attr == ACL_MEM_P2P_HUGE1G;

		assert_ok(aclrtGetMemInfo((aclrtMemAttr)attr, &left, &total));
		assert_int_equal(total, 64 * GIB);
		assert_int_equal(left % (4 * KIB), 0);
		if (giga)
			assert_int_equal(left, 63 * GIB);
	}
	assert_ok(aclrtFree(ptr));
	left = 1;
	assert_refused(aclrtGetMemInfo((aclrtMemAttr)18, &left, &total), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
	assert_refused(aclrtGetMemInfo((aclrtMemAttr)-1, &left, &total), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
	assert_refused(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &total), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetMemInfo(ACL_HBM_MEM, &left, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(left, 1);
}

static int type_of(const void *ptr)
{
	aclrtPtrAttributes attributes = { .location.id = 99 };

	assert_ok(aclrtPointerGetAttributes(ptr, &attributes));
	assert_int_equal(attributes.location.id, 0);
	return (int)attributes.location.type;
}

/* covers: aclrtPointerGetAttributes failure */
static void test_attributes(void **state)
{
	aclrtPtrAttributes attributes = { .pageSize = 7 };
	void *ptr = NULL, *host = NULL, *area = NULL;
	int on_stack;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, MIB, FIRST));
	assert_ok(aclrtMallocHost(&host, 100));
	assert_ok(aclrtReserveMemAddress(&area, 2 * MIB, 0, NULL, 0));
	assert_int_equal(type_of(ptr), ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(type_of((char *)ptr + MIB), ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(type_of(host), ACL_MEM_LOCATION_TYPE_HOST);
	assert_int_equal(type_of(&on_stack), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
	assert_refused(aclrtPointerGetAttributes(area, &attributes), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtReleaseMemAddress(area));
	assert_ok(aclrtFree(ptr));
	assert_refused(aclrtPointerGetAttributes(ptr, &attributes), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtFreeHost(host));
	assert_refused(aclrtPointerGetAttributes(NULL, &attributes), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtPointerGetAttributes(ptr, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(attributes.pageSize, 7);
}

/* covers: aclrtMemGetAddressRange effect */
/* covers: aclrtMemGetAddressRange failure */
static void test_address_range(void **state)
{
	void *ptr = NULL, *host = NULL, *base = NULL;
	size_t size = 0;

	(void)state;
	assert_ok(aclrtMallocAlign32(&ptr, 3 * MIB, FIRST));
	assert_ok(aclrtMallocHost(&host, 5000));
	assert_ok(aclrtMemGetAddressRange((char *)ptr + 3 * MIB - 1, &base, NULL));
	assert_ptr_equal(base, ptr);
	assert_ok(aclrtMemGetAddressRange((char *)ptr + 1, NULL, &size));
	assert_int_equal(size, 3 * MIB);
	assert_ok(aclrtMemGetAddressRange((char *)host + 4999, &base, &size));
	assert_ptr_equal(base, host);
	assert_int_equal(size, 5024);
	assert_refused(aclrtMemGetAddressRange(NULL, &base, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemGetAddressRange(ptr, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemGetAddressRange((char *)ptr + 3 * MIB, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemGetAddressRange(&size, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFree(ptr));
	assert_refused(aclrtMemGetAddressRange(ptr, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
	assert_ptr_equal(base, host);
	assert_ok(aclrtFreeHost(host));
}

/* covers: aclrtCheckMemType effect */
/* covers: aclrtCheckMemType failure */
static void test_check_type(void **state)
{
	void *addresses[3] = { 0 };
	uint32_t result = 9;

	(void)state;
	assert_ok(aclrtMalloc(&addresses[0], MIB, FIRST));
	assert_ok(aclrtMalloc(&addresses[1], 64, FIRST));
	assert_ok(aclrtMallocHost(&addresses[2], 64));
	assert_ok(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
	assert_int_equal(result, 1);
	assert_ok(aclrtCheckMemType(addresses, 3, ACL_RT_MEM_TYPE_DEV, &result, 0));
	assert_int_equal(result, 0);
	assert_ok(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP, &result, 0));
	assert_int_equal(result, 1);
	assert_ok(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DVPP, &result, 0));
	assert_int_equal(result, 0);
	result = 9;
	assert_refused(aclrtCheckMemType(NULL, 2, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtCheckMemType(addresses, 0, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, &result, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtCheckMemType(addresses, 2, 0x100, &result, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(result, 9);
	assert_ok(aclrtFree(addresses[0]));
	assert_ok(aclrtFree(addresses[1]));
	assert_ok(aclrtFreeHost(addresses[2]));
}

/* covers: aclrtMemFlush, aclrtMemInvalidate effect */
/* covers: aclrtMemFlush, aclrtMemInvalidate failure */
static void test_cache(void **state)
{
	int value = 41, read = 0;
	int *ptr = NULL;

	(void)state;
	assert_ok(aclrtMalloc((void **)&ptr, MIB, FIRST));
	assert_ok(aclrtMemcpy(ptr, MIB, &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemFlush(ptr, MIB));
	*ptr += 1; /* as a kernel would */
	assert_ok(aclrtMemInvalidate(ptr, MIB));
	assert_ok(aclrtMemcpy(&read, sizeof(read), ptr, sizeof(read), ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(read, 42);
	assert_refused(aclrtMemFlush(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemFlush(ptr, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemInvalidate(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemInvalidate(ptr, 0), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtFree(ptr));
}

static void *without_context(void *arg)
{
	uint32_t result;
	size_t size;
	void *ptr;

	(void)arg;
	if (aclrtMalloc(&ptr, 64, FIRST) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtMallocHost(&ptr, 64) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtGetMemInfo(ACL_HBM_MEM, &size, &size) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtCheckMemType(&arg, 1, ACL_RT_MEM_TYPE_DEV, &result, 0) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtMemFlush(&size, 1) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtFreeWithDevSync(&size) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtMemset(&size, 8, 0, 8) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtMemcpy(&size, 8, &result, 4, ACL_MEMCPY_HOST_TO_HOST) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtMemcpyAsync(&size, 8, &result, 4, ACL_MEMCPY_HOST_TO_HOST, NULL) != ACL_ERROR_RT_CONTEXT_NULL)
		return (void *)1;
	return NULL;
}

static void test_no_context(void **state)
{
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, without_context, NULL), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_small_many),
		cmocka_unit_test(test_malloc_arguments),
		cmocka_unit_test(test_malloc_cfg),
		cmocka_unit_test(test_no_memory_message),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_free_refused),
		cmocka_unit_test(test_free_without_context),
		cmocka_unit_test(test_free_while_kernel_runs),
		cmocka_unit_test(test_free_with_sync),
		cmocka_unit_test(test_free_with_sync_refused),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_address_range),
		cmocka_unit_test(test_check_type),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_no_context),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
