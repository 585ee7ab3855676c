/* SPDX-License-Identifier: MIT */
/* vmm_test.c - physical memory, reserved addresses and mappings in one process: every rule, count and order of freeing. */
#include "vmm_util.h"

/* --- physical memory ---------------------------------------------------------------------- */

/* covers: aclrtMallocPhysical, aclrtFreePhysical effect */
static void test_create_charges(void **state)
{
	aclrtDrvMemHandle handle = create(3 * PAGE);

	(void)state;
	assert_int_equal(m_free(), left_before - 3 * PAGE);
	assert_ok(aclrtFreePhysical(handle));
	assert_int_equal(m_free(), left_before);
}

/* covers: aclrtMallocPhysical failure */
static void test_create_arguments(void **state)
{
	aclrtPhysicalMemProp good = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0), prop;
	aclrtDrvMemHandle handle = &good;
	size_t free_bytes = m_free();

	(void)state;
	assert_refused(aclrtMallocPhysical(NULL, PAGE, &good, 0), BAD_ARGUMENT);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtMallocPhysical(&handle, 0, &good, 0), BAD_ARGUMENT);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &good, 1), BAD_ARGUMENT);
	prop = good;
	prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = good;
	prop.allocationType = (aclrtMemAllocationType)1;
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_MANAGED, 0);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_DDR_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM_P2P_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 99);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), ACL_ERROR_RT_INVALID_DEVICEID);
	/* A device that this process has not set has no memory for it. */
	prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 3);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), REFUSED);
	prop = prop_of(ACL_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, 1);
	assert_refused(aclrtMallocPhysical(&handle, PAGE, &prop, 0), UNSUPPORTED);
	assert_refused(aclrtMallocPhysical(&handle, PAGE + 4096, &good, 0), REFUSED);
	assert_refused(aclrtMallocPhysical(&handle, free_bytes + PAGE, &good, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_refused(aclrtMallocPhysical(&handle, SIZE_MAX - PAGE + 1, &good, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_ptr_equal(handle, &good);
}

static void test_pages_of_1g_round_up(void **state)
{
	aclrtPhysicalMemProp prop = prop_of(ACL_HBM_MEM_HUGE1G, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	aclrtDrvMemHandle handle = NULL;
	uint8_t *va = reserve(GIB);

	(void)state;
	assert_ok(aclrtMallocPhysical(&handle, 300 * MIB, &prop, 0));
	assert_int_equal(m_free(), left_before - GIB);
	assert_ok(aclrtMapMem(va, 300 * MIB, 0, handle, 0));
	atomic_store(word(va, 299 * MIB), 1);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* covers: aclrtFreePhysical failure */
static void test_free_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);
	uint8_t *va = reserve(PAGE);
	int on_stack = 0;

	(void)state;
	assert_refused(aclrtFreePhysical(NULL), BAD_ARGUMENT);
	assert_refused(aclrtFreePhysical(&on_stack), BAD_PARAM);
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	/* Freed while mapped: takes effect at the unmapping; once more is too often. */
	assert_ok(aclrtFreePhysical(handle));
	assert_int_equal(m_free(), left_before - PAGE);
	assert_refused(aclrtFreePhysical(handle), BAD_PARAM);
	atomic_store(word(va, 0), 1);
	assert_ok(aclrtUnmapMem(va));
	assert_int_equal(m_free(), left_before);
	assert_refused(aclrtFreePhysical(handle), BAD_PARAM);
	assert_refused(aclrtMapMem(va, PAGE, 0, handle, 0), BAD_PARAM);
	assert_ok(aclrtReleaseMemAddress(va));
}

static const struct {
	int attr;
	aclrtMemLocationType type;
	int read_back;
	size_t granularity;
} kinds[] = {
	{ ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE, PAGE },
	{ ACL_HBM_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_NORMAL, PAGE },
	{ ACL_HBM_MEM_HUGE1G, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE1G, GIB },
	{ ACL_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE, PAGE },
	{ ACL_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_NORMAL, PAGE },
	{ ACL_MEM_HUGE1G, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE1G, GIB },
	{ ACL_MEM_P2P_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_P2P_HUGE, PAGE },
	{ ACL_MEM_P2P_NORMAL, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_P2P_NORMAL, PAGE },
	{ ACL_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_HUGE, PAGE },
	{ ACL_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_NORMAL, PAGE },
	{ ACL_DDR_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_HUGE, PAGE },
	{ ACL_DDR_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_NORMAL, PAGE },
	{ ACL_DDR_MEM_P2P_HUGE, ACL_MEM_LOCATION_TYPE_HOST_NUMA, ACL_MEM_P2P_HUGE, PAGE },
	{ ACL_MEM_P2P_HUGE, ACL_MEM_LOCATION_TYPE_HOST_NUMA, ACL_MEM_P2P_HUGE, PAGE },
};

/* covers: aclrtMemGetAllocationPropertiesFromHandle, aclrtMemGetAllocationGranularity effect */
static void test_kinds(void **state)
{
	aclrtPhysicalMemProp prop, back;
	aclrtDrvMemHandle handle;
	size_t granularity;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		prop = prop_of(kinds[i].attr, kinds[i].type, 0);
		granularity = 0;
		assert_ok(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
		assert_int_equal(granularity, kinds[i].granularity);
		assert_ok(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED,
							   &granularity));
		assert_int_equal(granularity, kinds[i].granularity);
		assert_ok(aclrtMallocPhysical(&handle, granularity, &prop, 0));
		/* Host memory costs the device nothing. */
		assert_int_equal(m_free(), left_before -
						   (kinds[i].type == ACL_MEM_LOCATION_TYPE_DEVICE ? granularity : 0));
		memset(&back, 0xff, sizeof(back));
		assert_ok(aclrtMemGetAllocationPropertiesFromHandle(handle, &back));
		assert_int_equal(back.handleType, ACL_MEM_HANDLE_TYPE_NONE);
		assert_int_equal(back.allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED);
		assert_int_equal(back.memAttr, kinds[i].read_back);
		assert_int_equal(back.location.type, kinds[i].type);
		assert_int_equal(back.location.id, 0);
		assert_ok(aclrtFreePhysical(handle));
	}
}

/* covers: aclrtMemGetAllocationPropertiesFromHandle, aclrtMemGetAllocationGranularity failure */
static void test_kinds_arguments(void **state)
{
	aclrtPhysicalMemProp prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	aclrtDrvMemHandle handle = create(PAGE);
	size_t granularity = 5;

	(void)state;
	assert_refused(aclrtMemGetAllocationPropertiesFromHandle(NULL, &prop), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAllocationPropertiesFromHandle(handle, NULL), BAD_ARGUMENT);
	assert_ok(aclrtFreePhysical(handle));
	assert_refused(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop), BAD_PARAM);
	assert_refused(aclrtMemGetAllocationGranularity(NULL, 0, &granularity), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAllocationGranularity(&prop, 0, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemGetAllocationGranularity(&prop, 7, &granularity), UNSUPPORTED);
	prop = prop_of(ACL_DDR_MEM, ACL_MEM_LOCATION_TYPE_HOST, 0);
	assert_refused(aclrtMemGetAllocationGranularity(&prop, 0, &granularity), BAD_ARGUMENT);
	prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 99);
	assert_refused(aclrtMemGetAllocationGranularity(&prop, 0, &granularity), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_int_equal(granularity, 5);
}

/* --- reserving ---------------------------------------------------------------------------- */

/* covers: aclrtReserveMemAddress, aclrtReleaseMemAddress effect */
static void test_reserve(void **state)
{
	static const size_t sizes[] = { 1, PAGE, 3 * PAGE, GIB, 72 * GIB, 32 * TIB };
	void *expect, *va = NULL;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (FEW_ADDRESSES && sizes[i] > TIB)
			continue;
		va = reserve(sizes[i]);
		assert_int_equal((uintptr_t)va % PAGE, 0);
		if (sizes[i] >= GIB)
			assert_int_equal((uintptr_t)va % GIB, 0);
		/* Nothing is there: neither for copies nor in memory. */
		assert_refused(aclrtMemset(va, 1, 0, 1), REFUSED);
		assert_ok(aclrtReleaseMemAddress(va));
		/* Nor afterwards, for as long as the addresses are not given back to the system. */
		if (sizes[i] < TIB)
			assert_refused(aclrtMemset(va, 1, 0, 1), REFUSED);
	}
	/* The same address again, and one that a client chose: 32 TiB at 40 TiB. */
	expect = (void *)(40 * TIB);
	for (i = 0; i < 3 && !FEW_ADDRESSES; i++) {
		assert_ok(aclrtReserveMemAddress(&va, 32 * TIB, 0, expect, 1));
		assert_ptr_equal(va, expect);
		assert_ok(aclrtReleaseMemAddress(va));
	}
	assert_int_equal(m_free(), left_before);
}

/* covers: aclrtReserveMemAddress failure */
static void test_reserve_arguments(void **state)
{
	void *va = &va, *taken = reserve(GIB);

	(void)state;
	assert_refused(aclrtReserveMemAddress(NULL, PAGE, 0, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtReserveMemAddress(&va, 0, 0, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtReserveMemAddress(&va, PAGE, 0, NULL, 2), BAD_ARGUMENT);
	assert_refused(aclrtReserveMemAddress(&va, PAGE, PAGE, NULL, 0), BAD_PARAM);
	/* Alignment of a chosen address: the size's power of two, above 512 MiB one GiB. */
	assert_refused(aclrtReserveMemAddress(&va, PAGE, 0, (void *)(40 * TIB + MIB), 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddress(&va, 3 * PAGE, 0, (void *)(40 * TIB + 2 * PAGE), 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddress(&va, 600 * MIB, 0, (void *)(40 * TIB + 512 * MIB), 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddress(&va, GIB, 0, taken, 0), REFUSED);
	assert_refused(aclrtReserveMemAddress(&va, SIZE_MAX, 0, NULL, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_refused(aclrtReserveMemAddress(&va, 200 * TIB, 0, NULL, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_ptr_equal(va, &va);
	assert_ok(aclrtReleaseMemAddress(taken));
}

/* covers: aclrtReleaseMemAddress failure */
static void test_release_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);
	uint8_t *va = reserve(4 * PAGE);
	void *memory = NULL;

	(void)state;
	assert_ok(aclrtMalloc(&memory, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_refused(aclrtReleaseMemAddress(NULL), BAD_ARGUMENT);
	assert_refused(aclrtReleaseMemAddress(va + PAGE), BAD_PARAM);
	assert_refused(aclrtReleaseMemAddress(memory), BAD_PARAM);
	assert_ok(aclrtMapMem(va + PAGE, PAGE, 0, handle, 0));
	assert_refused(aclrtReleaseMemAddress(va), REFUSED);
	assert_refused(aclrtFree(va), BAD_PARAM);
	assert_refused(aclrtFree(va + PAGE), BAD_PARAM);
	assert_ok(aclrtUnmapMem(va + PAGE));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_refused(aclrtReleaseMemAddress(va), BAD_PARAM);
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtFree(memory));
}

/* covers: aclrtReserveMemAddressNoUCMemory failure */
static void test_reserve_no_uc(void **state)
{
	void *va = &va;

	(void)state;
	assert_refused(aclrtReserveMemAddressNoUCMemory(NULL, GIB, 0, (void *)(40 * TIB), 0), BAD_ARGUMENT);
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, 0, 0, (void *)(40 * TIB), 0), BAD_ARGUMENT);
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, GIB, 0, (void *)(40 * TIB), 0), UNSUPPORTED);
	assert_ptr_equal(va, &va);
}

/* --- mapping ------------------------------------------------------------------------------ */

/* covers: aclrtMapMem, aclrtUnmapMem effect */
static void test_map(void **state)
{
	aclrtDrvMemHandle one = create(PAGE), two = create(2 * PAGE);
	uint8_t *va = reserve(8 * PAGE);
	aclrtPtrAttributes attributes = { 0 };
	uint64_t host[2] = { 1, 2 }, back[2] = { 0 };

	(void)state;
	assert_ok(aclrtMapMem(va + PAGE, PAGE, 0, one, 0));
	assert_ok(aclrtMapMem(va + 2 * PAGE, 2 * PAGE, 0, two, 0));
	/* The same memory a second time. */
	assert_ok(aclrtMapMem(va + 6 * PAGE, PAGE, 0, one, 0));
	atomic_store(word(va, PAGE), 21);
	assert_int_equal(atomic_load(word(va, 6 * PAGE)), 21);
	/* Mappings side by side are one range for copies, and each its own otherwise. */
	assert_ok(aclrtMemcpy(va + 2 * PAGE - 8, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpy(back, 16, va + 2 * PAGE - 8, 16, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_memory_equal(host, back, 16);
	assert_int_equal(range_size(va + 3 * PAGE), 2 * PAGE);
	assert_refused(aclrtMemcpy(back, 16, va + 4 * PAGE - 8, 16, ACL_MEMCPY_DEVICE_TO_HOST), REFUSED);
	assert_ok(aclrtPointerGetAttributes(va + PAGE, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(attributes.location.id, 0);
	assert_refused(aclrtPointerGetAttributes(va, &attributes), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtUnmapMem(va + 6 * PAGE));
	assert_refused(aclrtMemset(va + 6 * PAGE, 1, 0, 1), REFUSED);
	assert_int_equal(atomic_load(word(va, PAGE)), 21);
	assert_ok(aclrtUnmapMem(va + PAGE));
	assert_ok(aclrtUnmapMem(va + 2 * PAGE));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(one));
	assert_ok(aclrtFreePhysical(two));
}

/* covers: aclrtMapMem failure */
static void test_map_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(2 * PAGE);
	uint8_t *va = reserve(4 * PAGE);
	void *memory = NULL;

	(void)state;
	assert_refused(aclrtMapMem(NULL, 2 * PAGE, 0, handle, 0), BAD_ARGUMENT);
	assert_refused(aclrtMapMem(va, 2 * PAGE, 0, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtMapMem(va, 0, 0, handle, 0), BAD_ARGUMENT);
	assert_refused(aclrtMapMem(va, 2 * PAGE, 0, handle, 1), BAD_ARGUMENT);
	assert_refused(aclrtMapMem(va, 2 * PAGE, PAGE, handle, 0), BAD_PARAM);
	assert_refused(aclrtMapMem(va, 2 * PAGE, 0, va, 0), BAD_PARAM);
	assert_refused(aclrtMapMem(va + 4096, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va, 2 * PAGE - 4096, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va, PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va, 4 * PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va + 3 * PAGE, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va + 64 * GIB, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_ok(aclrtMalloc(&memory, 4 * PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_refused(aclrtMapMem(memory, 2 * PAGE, 0, handle, 0), REFUSED);
	/* Over another mapping: at its start, its end, around it. */
	assert_ok(aclrtMapMem(va + PAGE, 2 * PAGE, 0, handle, 0));
	assert_refused(aclrtMapMem(va + PAGE, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_refused(aclrtMapMem(va + 2 * PAGE, 2 * PAGE, 0, handle, 0), REFUSED);
	assert_ok(aclrtUnmapMem(va + PAGE));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtFree(memory));
}

/* covers: aclrtUnmapMem failure */
static void test_unmap_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(2 * PAGE);
	uint8_t *va = reserve(4 * PAGE);

	(void)state;
	assert_ok(aclrtMapMem(va, 2 * PAGE, 0, handle, 0));
	assert_refused(aclrtUnmapMem(NULL), BAD_ARGUMENT);
	assert_refused(aclrtUnmapMem(va + PAGE), REFUSED);
	assert_refused(aclrtUnmapMem(va + 2 * PAGE), REFUSED);
	assert_refused(aclrtUnmapMem(&va), REFUSED);
	assert_ok(aclrtUnmapMem(va));
	assert_refused(aclrtUnmapMem(va), REFUSED);
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* covers: aclrtMemMapNoAccess effect */
/* covers: aclrtMemMapNoAccess failure */
static void test_map_no_access(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);
	uint8_t *va = reserve(PAGE);

	(void)state;
	assert_refused(aclrtMemMapNoAccess(NULL, PAGE, 0, handle, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemMapNoAccess(va, PAGE, 0, NULL, 0), BAD_ARGUMENT);
	/* What the real drivers of these products answer; nothing gets mapped. */
	assert_refused(aclrtMemMapNoAccess(va, PAGE, 0, handle, 0), UNSUPPORTED);
	assert_refused(aclrtUnmapMem(va), REFUSED);
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* Both orders that clients use, and the one in which the handle goes first. */
static void test_orders_of_freeing(void **state)
{
	static const char *const orders[] = { "ufr", "urf", "fur" };
	aclrtDrvMemHandle handle;
	const char *step;
	uint8_t *va;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		handle = create(PAGE);
		va = reserve(PAGE);
		assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
		for (step = orders[i]; *step; step++)
			assert_ok(*step == 'u' ? aclrtUnmapMem(va) :
				  *step == 'f' ? aclrtFreePhysical(handle) :
						 aclrtReleaseMemAddress(va));
		assert_int_equal(m_free(), left_before);
	}
}

/* Sleep gives the memory back and keeps the addresses, wake maps new memory there. */
static void test_sleep_and_wake(void **state)
{
	enum { SEGMENTS = 8 };
	aclrtDrvMemHandle handles[SEGMENTS];
	uint8_t *va = reserve(SEGMENTS * PAGE);
	unsigned round, i;

	(void)state;
	for (round = 0; round < 5; round++) {
		for (i = 0; i < SEGMENTS; i++) {
			handles[i] = create(PAGE);
			assert_ok(aclrtMapMem(va + i * PAGE, PAGE, 0, handles[i], 0));
			assert_int_equal(atomic_load(word(va, i * PAGE)), 0);
			assert_ok(aclrtMemset(va + i * PAGE, PAGE, (int)(round + i), PAGE));
		}
		assert_int_equal(m_free(), left_before - SEGMENTS * PAGE);
		for (i = 0; i < SEGMENTS; i++) {
			assert_int_equal(va[(i + 1) * PAGE - 1], round + i);
			assert_ok(aclrtUnmapMem(va + i * PAGE));
			assert_ok(aclrtFreePhysical(handles[i]));
		}
		assert_int_equal(m_free(), left_before);
	}
	assert_ok(aclrtReleaseMemAddress(va));
}

/* A kernel that was launched before keeps the pages; the address can be used for something else after it. */
static void test_unmap_under_a_kernel(void **state)
{
	aclrtDrvMemHandle old = create(PAGE), new = create(PAGE);
	uint8_t *va = reserve(2 * PAGE);
	struct m_gate gate = { .store_to = (atomic_int *)(void *)va, .value = 5 };
	aclrtStream stream = NULL;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMapMem(va, PAGE, 0, old, 0));
	assert_ok(aclrtMapMem(va + PAGE, PAGE, 0, old, 0));
	m_close(&gate, stream);
	assert_ok(aclrtUnmapMem(va));
	assert_refused(aclrtMemset(va, 1, 0, 1), REFUSED);
	m_open(&gate);
	/* Waits for the kernel, which writes to the old memory. */
	assert_ok(aclrtMapMem(va, PAGE, 0, new, 0));
	assert_int_equal(*(atomic_int *)(void *)va, 0);
	assert_int_equal(*(atomic_int *)(void *)(va + PAGE), 5);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtUnmapMem(va + PAGE));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(old));
	assert_ok(aclrtFreePhysical(new));
	assert_ok(aclrtDestroyStream(stream));
	m_gate_end(&gate);
}

/* Released under a kernel: the addresses are nobody else's before it has ended. */
static bool reserves_again(void *va)
{
	void *again = NULL;

	return !aclrtReserveMemAddress(&again, PAGE, 0, va, 0) && again == va;
}

static void test_release_under_a_kernel(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);
	uint8_t *va = reserve(PAGE);
	struct m_gate gate = { .store_to = (atomic_int *)(void *)va, .value = 5 };
	aclrtStream stream = NULL;
	void *again = NULL;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	m_close(&gate, stream);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_int_equal(m_free(), left_before);
	assert_refused(aclrtReserveMemAddress(&again, PAGE, 0, va, 0), REFUSED);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtDestroyStream(stream));
	m_gate_end(&gate);
	/* The worker that ended the task gives the range back, a moment after the stream is through. */
	assert_true(t_until(reserves_again, va, 10000));
	assert_ok(aclrtReleaseMemAddress(va));
}

/* What was mapped first decides what else can be. */
static void test_one_device_a_reservation(void **state)
{
	aclrtPhysicalMemProp on_host = prop_of(ACL_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, 0);
	aclrtPhysicalMemProp on_one = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 1);
	aclrtDrvMemHandle zero = create(PAGE), one = NULL, host = NULL;
	uint8_t *va = reserve(4 * PAGE);

	(void)state;
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMallocPhysical(&one, PAGE, &on_one, 0));
	assert_ok(aclrtMallocPhysical(&host, PAGE, &on_host, 0));
	assert_ok(aclrtMapMem(va, PAGE, 0, zero, 0));
	assert_ok(aclrtUnmapMem(va));
	assert_refused(aclrtMapMem(va, PAGE, 0, one, 0), REFUSED);
	assert_refused(aclrtMapMem(va, PAGE, 0, host, 0), REFUSED);
	assert_ok(aclrtMapMem(va + PAGE, PAGE, 0, zero, 0));
	assert_ok(aclrtUnmapMem(va + PAGE));
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(zero));
	assert_ok(aclrtFreePhysical(one));
	assert_ok(aclrtFreePhysical(host));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

static void test_host_memory(void **state)
{
	aclrtPhysicalMemProp prop = prop_of(ACL_MEM_P2P_HUGE, ACL_MEM_LOCATION_TYPE_HOST_NUMA, (uint32_t)-1);
	aclrtPtrAttributes attributes = { 0 };
	aclrtDrvMemHandle handle = NULL;
	uint8_t *va = reserve(PAGE);

	(void)state;
	assert_ok(aclrtMallocPhysical(&handle, PAGE, &prop, 0));
	assert_int_equal(m_free(), left_before);
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	va[PAGE - 1] = 1;
	assert_ok(aclrtPointerGetAttributes(va, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtReleaseMemAddress(va));
}

/* --- retain ------------------------------------------------------------------------------- */

/* covers: aclrtMemRetainAllocationHandle effect */
static void test_retain(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE), one = NULL, two = NULL;
	uint8_t *va = reserve(PAGE);

	(void)state;
	assert_ok(aclrtMapMem(va, PAGE, 0, handle, 0));
	assert_ok(aclrtMemRetainAllocationHandle(va, &one));
	assert_ok(aclrtMemRetainAllocationHandle(va, &two));
	assert_ptr_equal(one, handle);
	assert_ptr_equal(two, handle);
	assert_ok(aclrtFreePhysical(one));
	assert_ok(aclrtFreePhysical(two));
	/* The creation's count is dropped, and a retain gives the handle life again. */
	assert_ok(aclrtFreePhysical(handle));
	assert_refused(aclrtFreePhysical(handle), BAD_PARAM);
	assert_ok(aclrtMemRetainAllocationHandle(va, &one));
	assert_ok(aclrtUnmapMem(va));
	assert_int_equal(m_free(), left_before - PAGE);
	assert_ok(aclrtFreePhysical(one));
	assert_int_equal(m_free(), left_before);
	assert_ok(aclrtReleaseMemAddress(va));
}

/* covers: aclrtMemRetainAllocationHandle failure */
static void test_retain_arguments(void **state)
{
	aclrtDrvMemHandle handle = create(2 * PAGE), out = NULL;
	uint8_t *va = reserve(4 * PAGE);

	(void)state;
	assert_ok(aclrtMapMem(va, 2 * PAGE, 0, handle, 0));
	assert_refused(aclrtMemRetainAllocationHandle(NULL, &out), BAD_ARGUMENT);
	assert_refused(aclrtMemRetainAllocationHandle(va, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemRetainAllocationHandle(va + PAGE, &out), REFUSED);
	assert_refused(aclrtMemRetainAllocationHandle(va + 2 * PAGE, &out), REFUSED);
	assert_ok(aclrtUnmapMem(va));
	assert_refused(aclrtMemRetainAllocationHandle(va, &out), REFUSED);
	assert_null(out);
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtFreePhysical(handle));
}

/* Which link is taken can only be chosen where there are two. */
/* covers: aclrtMemMapSetLink failure */
static void test_no_links(void **state)
{
	aclrtDrvMemHandle handle = create(PAGE);

	(void)state;
	assert_refused(aclrtMemMapSetLink(NULL, ACL_RT_MEM_ACCESS_LINK_SIO), BAD_ARGUMENT);
	assert_refused(aclrtMemMapSetLink(handle, (aclrtMemLinkType)4), BAD_PARAM);
	assert_refused(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_SIO), ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED);
	assert_ok(aclrtFreePhysical(handle));
	assert_refused(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_SIO), BAD_PARAM);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_create_charges),
		TEST(test_create_arguments),
		TEST(test_pages_of_1g_round_up),
		TEST(test_free_arguments),
		TEST(test_kinds),
		TEST(test_kinds_arguments),
		TEST(test_reserve),
		TEST(test_reserve_arguments),
		TEST(test_release_arguments),
		TEST(test_reserve_no_uc),
		TEST(test_map),
		TEST(test_map_arguments),
		TEST(test_unmap_arguments),
		TEST(test_map_no_access),
		TEST(test_orders_of_freeing),
		TEST(test_sleep_and_wake),
		TEST(test_unmap_under_a_kernel),
		TEST(test_release_under_a_kernel),
		TEST(test_one_device_a_reservation),
		TEST(test_host_memory),
		TEST(test_retain),
		TEST(test_retain_arguments),
		TEST(test_no_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
