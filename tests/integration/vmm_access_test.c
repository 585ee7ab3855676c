/* SPDX-License-Identifier: MIT */
/* vmm_access_test.c - who may use a mapping; mappings exported by key; what a reset takes; many threads at once. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "vmm_util.h"

/* --- access ------------------------------------------------------------------------------- */

static aclrtMemAccessDesc desc_of(aclrtMemAccessFlags flags, aclrtMemLocationType type, uint32_t id)
{
	return (aclrtMemAccessDesc){ .flags = flags, .location = { .id = id, .type = type } };
}

static uint64_t access_of(void *va, aclrtMemLocationType type, uint32_t id)
{
	aclrtMemLocation location = { .id = id, .type = type };
	uint64_t flags = 99;

	assert_ok(aclrtMemGetAccess(va, &location, &flags));
	return flags;
}

#define RW ACL_RT_MEM_ACCESS_FLAGS_READWRITE
#define DEVICE ACL_MEM_LOCATION_TYPE_DEVICE
#define HOST ACL_MEM_LOCATION_TYPE_HOST

/* covers: aclrtMemSetAccess, aclrtMemGetAccess effect */
static void test_access(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);
	uint8_t *va = reserve(PAGE);
	aclrtMemAccessDesc both[] = { desc_of(RW, DEVICE, 1), desc_of(RW, HOST, 0) };

	(void)state;
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	/* The memory's own device by itself, others once it is granted. */
	assert_int_equal(access_of(va, DEVICE, 0), RW);
	assert_int_equal(access_of(va, DEVICE, 1), ACL_RT_MEM_ACCESS_FLAGS_NONE);
	assert_int_equal(access_of(va, HOST, 0), ACL_RT_MEM_ACCESS_FLAGS_NONE);
	assert_ok(aclrtMemSetAccess(va, PAGE, both, 2));
	assert_ok(aclrtMemSetAccess(va, PAGE, both, 2));
	assert_int_equal(access_of(va, DEVICE, 1), RW);
	assert_int_equal(access_of(va, HOST, 0), RW);
	assert_int_equal(access_of(va, DEVICE, 2), ACL_RT_MEM_ACCESS_FLAGS_NONE);
	/* It belongs to the mapping. */
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	assert_int_equal(access_of(va, DEVICE, 1), ACL_RT_MEM_ACCESS_FLAGS_NONE);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

/* covers: aclrtMemSetAccess, aclrtMemGetAccess failure */
static void test_access_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(2 * PAGE);
	uint8_t *va = reserve(4 * PAGE);
	aclrtMemAccessDesc desc = desc_of(RW, DEVICE, 0);
	uint64_t flags = 99;

	(void)state;
	assert_ok(aclrtMapMem(va, 2 * PAGE, 0, handle, 0));
	assert_refused(aclrtMemSetAccess(NULL, 2 * PAGE, &desc, 1), BAD_PARAM);
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, NULL, 1), BAD_PARAM);
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 0), BAD_PARAM);
	assert_refused(aclrtMemSetAccess(va, PAGE, &desc, 1), REFUSED);
	assert_refused(aclrtMemSetAccess(va + PAGE, PAGE, &desc, 1), REFUSED);
	assert_refused(aclrtMemSetAccess(va + 2 * PAGE, 2 * PAGE, &desc, 1), REFUSED);
	desc.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), UNSUPPORTED);
	desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), UNSUPPORTED);
	desc = desc_of(RW, DEVICE, 64);
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), BAD_PARAM);
	desc = desc_of(RW, HOST, 1);
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), BAD_PARAM);
	desc = desc_of(RW, ACL_MEM_LOCATION_TYPE_HOST_NUMA, 0);
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), BAD_PARAM);
	desc = desc_of(RW, DEVICE, 5); /* not set in this process */
	assert_refused(aclrtMemSetAccess(va, 2 * PAGE, &desc, 1), REFUSED);
	desc = desc_of(RW, DEVICE, 0);
	assert_refused(aclrtMemGetAccess(NULL, &desc.location, &flags), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAccess(va, NULL, &flags), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAccess(va, &desc.location, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAccess(va + PAGE, &desc.location, &flags), REFUSED);
	desc.location.id = 64;
	assert_refused(aclrtMemGetAccess(va, &desc.location, &flags), BAD_PARAM);
	assert_int_equal(flags, 99);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* True when a page is in this process's page table, so that using it faults no more. */
static bool is_mapped(const void *ptr)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)ptr / 4096 * sizeof(entry))), sizeof(entry));
	close(fd);
	return entry >> 63;
}

/* covers: aclrtMemP2PMap effect */
static void test_p2p_map(void **state)
{
	enum { PAGES = 64 };
	char key[65];
	void *ptr = NULL, *again = NULL;
	unsigned char backed[PAGES * 4];
	unsigned i;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, PAGES * 4 * 4096 - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtDeviceEnablePeerAccess(0, 0));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtDeviceEnablePeerAccess(1, 0));
	/* Backed through another address: this one is not in the page table yet. */
	assert_ok(aclrtIpcMemGetExportKey(ptr, PAGES * 4 * 4096 - 64, key, sizeof(key), 1));
	assert_ok(aclrtIpcMemImportByKey(&again, key, 0));
	for (i = 0; i < PAGES; i++)
		atomic_store(word(again, i * 4096), i);
	assert_false(is_mapped((uint8_t *)ptr + 32 * 4096));
	assert_ok(aclrtMemP2PMap(ptr, PAGES * 2 * 4096, 1, 0));
	for (i = 0; i < PAGES; i++)
		assert_true(is_mapped((uint8_t *)ptr + i * 4096));
	for (i = 0; i < PAGES; i++)
		assert_int_equal(atomic_load(word(ptr, i * 4096)), i);
	/* What nobody has touched costs nothing. */
	assert_int_equal(mincore(ptr, sizeof(backed) * 4096, backed), 0);
	for (i = PAGES; i < 2 * PAGES; i++)
		assert_false(backed[i] & 1);
	assert_ok(aclrtIpcMemClose(key));
	assert_ok(aclrtFree(ptr));
	assert_ok(aclrtDeviceDisablePeerAccess(1));
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtDeviceDisablePeerAccess(0));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

/* covers: aclrtMemP2PMap failure */
static void test_p2p_map_arguments(void **state)
{
	void *ptr = NULL, *host = NULL;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMallocHost(&host, 4096));
	assert_refused(aclrtMemP2PMap(NULL, PAGE, 1, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemP2PMap(ptr, 0, 1, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemP2PMap(ptr, PAGE, 1, 1), BAD_ARGUMENT);
	assert_refused(aclrtMemP2PMap(ptr, PAGE, 99, 0), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtMemP2PMap(ptr, PAGE, 1, 0), REFUSED); /* not enabled */
	assert_refused(aclrtMemP2PMap(ptr, 64 * PAGE, 0, 0), REFUSED);
	assert_refused(aclrtMemP2PMap(host, 4096, 0, 0), REFUSED);
	assert_ok(aclrtFree(ptr));
	assert_ok(aclrtFreeHost(host));
}

/* --- keys, reset -------------------------------------------------------------------------- */

/* Mapped memory can be exported by key, which pins the mapping; not what is exported as a handle. */
static void test_key_of_a_mapping(void **state)
{
	aclrtDrvMemHandle handle = create(2 * PAGE);
	uint8_t *va = reserve(4 * PAGE);
	uint64_t number = 0;
	void *again = NULL;
	char key[65];

	(void)state;
	assert_refused(aclrtIpcMemGetExportKey(va, PAGE, key, sizeof(key), 1), REFUSED);
	assert_ok(aclrtMapMem(va, 2 * PAGE, 0, handle, 0));
	assert_refused(aclrtIpcMemGetExportKey(va, PAGE, key, sizeof(key), 1), REFUSED);
	assert_ok(aclrtIpcMemGetExportKey(va, 2 * PAGE, key, sizeof(key), 1));
	assert_refused(aclrtUnmapMem(va), REFUSED);
	assert_ok(aclrtIpcMemImportByKey(&again, key, 0));
	atomic_store(word(va, 8), 3);
	assert_int_equal(atomic_load(word(again, 8)), 3);
	assert_ok(aclrtIpcMemClose(key));
	assert_refused(aclrtUnmapMem(va), REFUSED);
	assert_ok(aclrtIpcMemClose(key));
	assert_ok(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
	assert_refused(aclrtIpcMemGetExportKey(va, 2 * PAGE, key, sizeof(key), 1), REFUSED);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* The last user of the device takes its memory along; addresses stay reserved. */
static void test_reset(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE), idle = create(PAGE);
	uint8_t *va = reserve(2 * PAGE);
	char key[65];

	(void)state;
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	assert_ok(aclrtIpcMemGetExportKey(va, PAGE, key, sizeof(key), 1));
	assert_ok(aclrtResetDeviceForce(0));
	assert_ok(aclrtSetDevice(0));
	assert_int_equal(m_free(), left_before);
	assert_refused(aclrtUnmapMem(va), REFUSED);
	assert_refused(aclrtFreePhysical(handle), BAD_PARAM);
	assert_refused(aclrtFreePhysical(idle), BAD_PARAM);
	handle = create(PAGE);
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	assert_int_equal(atomic_load(word(va, 0)), 0);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtReleaseMemAddress(va));
}

static void *map_and_unmap(void *arg)
{
	aclrtPhysicalMemProp prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	uint8_t *va = arg;
	aclrtDrvMemHandle handle;
	intptr_t bad = 0;
	unsigned i;

	for (i = 0; i < 200 && !bad; i++) {
		bad = aclrtMallocPhysical(&handle, PAGE, &prop, 0);
		bad = bad ? bad : aclrtMapMem(va, PAGE, 0, handle, 0);
		if (!bad)
			atomic_store(word(va, 0), i);
		bad = bad ? bad : aclrtFreePhysical(handle);
		bad = bad ? bad : aclrtUnmapMem(va);
	}
	return (void *)bad;
}

static void test_threads(void **state)
{
	enum { THREADS = 16 };
	uint8_t *va = reserve(THREADS * PAGE);
	pthread_t threads[THREADS];
	void *bad = NULL;
	unsigned i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, va + i * PAGE), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	assert_ok(aclrtReleaseMemAddress(va));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_access),
		TEST(test_access_arguments),
		TEST(test_p2p_map),
		TEST(test_p2p_map_arguments),
		TEST(test_key_of_a_mapping),
		TEST(test_reset),
		TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
