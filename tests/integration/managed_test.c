/* SPDX-License-Identifier: MIT */
/* managed_test.c - memory that host and devices use at one address, and advice about it. */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "mem_util.h"

#define UNIT (2 * MIB)
#define N 1000 /* words that kernels work on */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static aclrtStream stream;

static const aclrtMemManagedLocation nowhere = { ACL_MEM_LOCATIONTYPE_INVALID, 0 };
static const aclrtMemManagedLocation host = { ACL_MEM_LOCATIONTYPE_HOST, 55 };
static const aclrtMemManagedLocation device0 = { ACL_MEM_LOCATIONTYPE_DEVICE, 0 };
static const aclrtMemManagedLocation device3 = { ACL_MEM_LOCATIONTYPE_DEVICE, 3 };
static const aclrtMemManagedLocation node0 = { ACL_MEM_LOCATIONTYPE_HOST_NUMA, 0 };
static const aclrtMemManagedLocation here = { ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, 77 };

static int set_up(void **state)
{
	(void)state;
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&stream));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtResetDevice(0));
	return 0;
}

static void *make(size_t size)
{
	void *ptr = NULL;

	assert_ok(aclrtMemAllocManaged(&ptr, size, ACL_RT_MEM_ATTACH_GLOBAL));
	assert_non_null(ptr);
	return ptr;
}

/* ---- memory ---- */

/* Doubles words where the host wrote them. */
static void twice_run(const void *args, const struct vinci_block *block)
{
	int *words = *(int *const *)args;

	(void)block;
	for (int i = 0; i < N; i++)
		words[i] *= 2;
}

static const struct vinci_kernel twice = {
	.abi = VINCI_KERNEL_ABI, .name = "twice", .run = twice_run, .args_size = sizeof(void *)
};

/* covers: aclrtMemAllocManaged effect */
static void one_address(void **state)
{
	size_t before = m_free(), size = 0;
	int *words = make(3 * MIB);
	aclrtPtrAttributes attributes;
	void *base = NULL;

	(void)state;
	assert_int_equal((uintptr_t)words % UNIT, 0);
	assert_int_equal(m_free(), before);
	assert_ok(aclrtPointerGetAttributes(words + N, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
	assert_int_equal(attributes.pageSize, UNIT);
	assert_ok(aclrtMemGetAddressRange(words + 5, &base, &size));
	assert_ptr_equal(base, words);
	assert_int_equal(size, 2 * UNIT);
	for (int i = 0; i < N; i++)
		words[i] = i;
	assert_int_equal(vinciLaunchKernel(&twice, 1, stream, &words, sizeof(words)), 0);
	assert_ok(aclrtSynchronizeStream(stream));
	for (int i = 0; i < N; i++)
		assert_int_equal(words[i], 2 * i);
	assert_ok(aclrtFree(words));
	assert_refused(aclrtFree(words), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemset(words, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

/* covers: aclrtMemAllocManaged failure */
static void not_allocated(void **state)
{
	void *ptr = state;

	(void)state;
	assert_refused(aclrtMemAllocManaged(NULL, 1, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemAllocManaged(&ptr, 1, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemAllocManaged(&ptr, 0, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemAllocManaged(&ptr, UINT64_MAX, ACL_RT_MEM_ATTACH_GLOBAL),
		       ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_refused(aclrtMemAllocManaged(&ptr, 3072 * GIB + 1, ACL_RT_MEM_ATTACH_GLOBAL),
		       ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_ptr_equal(ptr, state);
}

/* Every direction, also between devices without peer access. */
static void copies(void **state)
{
	unsigned char up[64], down[64], *managed = make(UNIT), *pinned, *device, *far;

	(void)state;
	memset(up, 0x3c, sizeof(up));
	assert_ok(aclrtMallocHost((void **)&pinned, 64));
	assert_ok(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMalloc((void **)&far, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtMemcpy(managed, 64, up, 64, ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpyAsync(device, 64, managed, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	assert_ok(aclrtMemcpyAsync(pinned, 64, managed, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
	assert_ok(aclrtMemcpyAsync(far, 64, managed, 64, ACL_MEMCPY_DEFAULT, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_memory_equal(pinned, up, 64);
	assert_ok(aclrtMemcpy(down, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_memory_equal(down, up, 64);
	assert_ok(aclrtMemcpy(down, 64, far, 64, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_memory_equal(down, up, 64);
	assert_ok(aclrtMemset(managed, UNIT, 1, 64));
	assert_ok(aclrtMemsetAsync(managed, UNIT, 2, 32, stream));
	assert_ok(aclrtMemcpyAsync(pinned, 64, managed, 64, ACL_MEMCPY_DEFAULT, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(pinned[31], 2);
	assert_int_equal(pinned[32], 1);
	assert_refused(aclrtMemset(managed, 2 * UNIT, 1, UNIT + 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemsetD32(managed, UNIT, 1, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemsetD32Async(managed, UNIT, 1, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtFree(managed));
	assert_ok(aclrtFree(device));
	assert_ok(aclrtFree(far));
	assert_ok(aclrtFreeHost(pinned));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

/* Freed while a task that was submitted before uses it; a child of fork does not have it. */
static void lifetime(void **state)
{
	atomic_int *word = make(1);
	struct m_gate gate = { .store_to = word, .value = 1 };
	int status = 0;
	pid_t child;

	(void)state;
	atomic_store(word, 5);
	child = fork();
	if (!child)
		_exit(msync(word, UNIT, MS_ASYNC) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	m_close(&gate, stream);
	assert_ok(aclrtFree(word));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
}

/* ---- atomic operations ---- */

#define TURNS 20000

/* What host and kernel work on at once, a line of its own for each width. */
struct counters {
	_Alignas(64) uint8_t b8;
	_Alignas(64) uint16_t b16;
	_Alignas(64) uint32_t b32;
	_Alignas(64) uint64_t b64;
	_Alignas(64) float f32;
	_Alignas(64) atomic_int started;
};

static void add_float(float *to)
{
	float seen, wanted;

	__atomic_load(to, &seen, __ATOMIC_RELAXED);
	do
		wanted = seen + 1;
	while (!__atomic_compare_exchange(to, &seen, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void count_up(struct counters *c)
{
	atomic_fetch_add(&c->started, 1);
	for (int i = 0; i < TURNS; i++) {
		__atomic_fetch_add(&c->b8, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->b16, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->b32, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->b64, 1, __ATOMIC_RELAXED);
		add_float(&c->f32);
	}
}

static void count_run(const void *args, const struct vinci_block *block)
{
	(void)block;
	count_up(*(struct counters *const *)args);
}

static const struct vinci_kernel count_kernel = {
	.abi = VINCI_KERNEL_ABI, .name = "count", .run = count_run, .args_size = sizeof(void *)
};

static uint32_t host_atomics(aclrtAtomicOperation op)
{
	uint32_t answer = 1;

	assert_ok(aclrtDeviceGetHostAtomicCapabilities(&answer, &op, 1, 0));
	return answer;
}

/* covers: aclrtDeviceGetHostAtomicCapabilities effect */
static void atomics_with_the_host(void **state)
{
	const uint32_t widths = ACL_RT_ATOMIC_CAPABILITY_SCALAR8 | ACL_RT_ATOMIC_CAPABILITY_SCALAR16 |
				ACL_RT_ATOMIC_CAPABILITY_SCALAR32 | ACL_RT_ATOMIC_CAPABILITY_SCALAR64,
		       integer = widths | ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_UNSIGNED;
	struct counters *c = make(sizeof(*c));
	uint64_t deadline = t_now_ms() + 20000;

	(void)state;
	assert_int_equal(host_atomics(ACL_RT_ATOMIC_OPERATION_INTEGER_ADD), integer);
	assert_int_equal(host_atomics(ACL_RT_ATOMIC_OPERATION_CAS), integer);
	assert_int_equal(host_atomics(ACL_RT_ATOMIC_OPERATION_FLOAT_ADD),
			 ACL_RT_ATOMIC_CAPABILITY_SCALAR32 | ACL_RT_ATOMIC_CAPABILITY_SCALAR64);
	assert_int_equal(host_atomics(ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT),
			 widths | ACL_RT_ATOMIC_CAPABILITY_UNSIGNED);
	assert_int_equal(host_atomics(ACL_RT_ATOMIC_OPERATION_DMA_ADD),
			 ACL_RT_ATOMIC_CAPABILITY_SIGNED | (widths & ~(uint32_t)ACL_RT_ATOMIC_CAPABILITY_SCALAR64));
	assert_int_equal(host_atomics((aclrtAtomicOperation)20), 0);
	assert_int_equal(vinciLaunchKernel(&count_kernel, 1, stream, &c, sizeof(c)), 0);
	while (!atomic_load(&c->started))
		assert_true(t_now_ms() < deadline);
	count_up(c);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(c->b8, (uint8_t)(2 * TURNS));
	assert_int_equal(c->b16, (uint16_t)(2 * TURNS));
	assert_int_equal(c->b32, 2 * TURNS);
	assert_int_equal(c->b64, 2 * TURNS);
	assert_true(c->f32 == 2 * TURNS);
	assert_ok(aclrtFree(c));
}

/* covers: aclrtDeviceGetP2PAtomicCapabilities effect */
static void atomics_between_devices(void **state)
{
	const aclrtAtomicOperation ops[] = { ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH, ACL_RT_ATOMIC_OPERATION_XOR };
	uint32_t answers[2] = { 0 };
	int32_t linked = 0;

	(void)state;
	assert_ok(aclrtDeviceCanAccessPeer(&linked, 2, 5));
	assert_int_equal(linked, 1);
	assert_ok(aclrtDeviceGetP2PAtomicCapabilities(answers, ops, 2, 2, 5));
	assert_int_equal(answers[0], host_atomics(ops[0]));
	assert_int_equal(answers[1], host_atomics(ops[1]));
	assert_true(answers[1] & ACL_RT_ATOMIC_CAPABILITY_SIGNED);
}

/* covers: aclrtDeviceGetHostAtomicCapabilities, aclrtDeviceGetP2PAtomicCapabilities failure */
static void atomics_refused(void **state)
{
	const aclrtAtomicOperation ops[] = { ACL_RT_ATOMIC_OPERATION_XOR, (aclrtAtomicOperation)45 };
	uint32_t answers[2] = { 5, 6 };

	(void)state;
	assert_refused(aclrtDeviceGetHostAtomicCapabilities(NULL, ops, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetHostAtomicCapabilities(answers, NULL, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetHostAtomicCapabilities(answers, ops, 0, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetHostAtomicCapabilities(answers, ops, 1, 8), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtDeviceGetHostAtomicCapabilities(answers, ops, 2, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetP2PAtomicCapabilities(NULL, ops, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtDeviceGetP2PAtomicCapabilities(answers, ops, 1, 1, 1), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtDeviceGetP2PAtomicCapabilities(answers, ops, 1, 0, -1), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtDeviceGetP2PAtomicCapabilities(answers, ops, 2, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(answers[0], 5);
	assert_int_equal(answers[1], 6);
}

/* ---- advice ---- */

static int32_t ask(aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size)
{
	int32_t answer = 1234;

	assert_ok(aclrtMemManagedGetAttr(attribute, ptr, size, &answer, sizeof(answer)));
	return answer;
}

static void advise(const void *ptr, size_t size, aclrtMemManagedAdviseType what, aclrtMemManagedLocation where)
{
	assert_ok(aclrtMemManagedAdvise(ptr, size, what, where));
}

/* covers: aclrtMemManagedAdvise, aclrtMemManagedGetAttr effect */
static void advice_is_kept(void **state)
{
	const aclrtMemManagedRangeAttribute id = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
					    type = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
					    exact = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
					    mostly = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
	char *ptr = make(4 * UNIT);

	(void)state;
	assert_int_equal(ask(mostly, ptr, 4 * UNIT), 0);
	assert_int_equal(ask(id, ptr, 4 * UNIT), -2);
	assert_int_equal(ask(type, ptr, 4 * UNIT), ACL_MEM_LOCATIONTYPE_INVALID);
	assert_int_equal(ask(exact, ptr, 4 * UNIT), -2);
	advise(ptr + UNIT, 2 * UNIT, ACL_MEM_ADVISE_SET_READ_MOSTLY, nowhere);
	assert_int_equal(ask(mostly, ptr + UNIT, 2 * UNIT), 1);
	assert_int_equal(ask(mostly, ptr, 2 * UNIT), 0);
	advise(ptr + UNIT, UNIT, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, nowhere);
	assert_int_equal(ask(mostly, ptr + UNIT, UNIT), 0);
	assert_int_equal(ask(mostly, ptr + 2 * UNIT, UNIT), 1);
	advise(ptr, 4 * UNIT, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, device3);
	assert_int_equal(ask(id, ptr, 4 * UNIT), 3);
	assert_int_equal(ask(type, ptr, 4 * UNIT), ACL_MEM_LOCATIONTYPE_DEVICE);
	assert_int_equal(ask(exact, ptr, 1), 3);
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, host);
	assert_int_equal(ask(id, ptr, UNIT), -1);
	assert_int_equal(ask(type, ptr, UNIT), ACL_MEM_LOCATIONTYPE_HOST);
	assert_int_equal(ask(exact, ptr, UNIT), -2);
	assert_int_equal(ask(id, ptr, UNIT + 1), -2); /* not all the same */
	assert_int_equal(ask(type, ptr, UNIT + 1), ACL_MEM_LOCATIONTYPE_INVALID);
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, node0);
	assert_int_equal(ask(id, ptr, UNIT), 0);
	assert_int_equal(ask(type, ptr, UNIT), ACL_MEM_LOCATIONTYPE_HOST_NUMA);
	advise(ptr, 4 * UNIT, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, here);
	assert_int_equal(ask(type, ptr, 4 * UNIT), ACL_MEM_LOCATIONTYPE_HOST_NUMA);
	advise(ptr, 4 * UNIT, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, nowhere);
	assert_int_equal(ask(id, ptr, 4 * UNIT), -2);
	assert_ok(aclrtFree(ptr));
}

/* covers: aclrtMemManagedGetAttrs effect */
static void several_answers(void **state)
{
	aclrtMemManagedRangeAttribute what[] = { ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
						 ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY };
	int32_t who[4], mostly = 7;
	void *data[] = { who, &mostly };
	size_t sizes[] = { sizeof(who), sizeof(mostly) };
	char *ptr = make(2 * UNIT);

	(void)state;
	advise(ptr, 2 * UNIT, ACL_MEM_ADVISE_SET_ACCESSED_BY, host);
	advise(ptr, 2 * UNIT, ACL_MEM_ADVISE_SET_ACCESSED_BY, device3);
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_ACCESSED_BY, device0);
	assert_ok(aclrtMemManagedGetAttrs(what, 2, ptr, UNIT, data, sizes));
	assert_int_equal(who[0], 0);
	assert_int_equal(who[1], 3);
	assert_int_equal(who[2], -1);
	assert_int_equal(who[3], -2);
	assert_int_equal(mostly, 0);
	assert_ok(aclrtMemManagedGetAttrs(what, 1, ptr, 2 * UNIT, data, sizes)); /* who accesses all of it */
	assert_int_equal(who[0], 3);
	assert_int_equal(who[1], -1);
	assert_int_equal(who[2], -2);
	advise(ptr, 2 * UNIT, ACL_MEM_ADVISE_UNSET_ACCESSED_BY, host);
	sizes[0] = sizeof(who[0]);
	who[1] = 99;
	assert_ok(aclrtMemManagedGetAttrs(what, 1, ptr, UNIT, data, sizes));
	assert_int_equal(who[0], 0);
	assert_int_equal(who[1], 99);
	assert_ok(aclrtFree(ptr));
}

/* covers: aclrtMemManagedAdvise failure */
static void advice_refused(void **state)
{
	const aclrtMemManagedLocation none = { ACL_MEM_LOCATIONTYPE_DEVICE, 99 },
				      no_node = { ACL_MEM_LOCATIONTYPE_HOST_NUMA, 9999 };
	const aclrtMemManagedAdviseType prefer = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION,
					by = ACL_MEM_ADVISE_SET_ACCESSED_BY;
	char *ptr = make(UNIT), on_stack;

	(void)state;
	assert_refused(aclrtMemManagedAdvise(NULL, UNIT, prefer, host), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedAdvise(ptr, 0, prefer, host), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, (aclrtMemManagedAdviseType)6, host),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, prefer, none), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, prefer, nowhere), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, prefer, no_node), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, by, node0), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT + 1, prefer, host), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemManagedAdvise(&on_stack, 1, prefer, host), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFree(ptr));
	assert_refused(aclrtMemManagedAdvise(ptr, UNIT, prefer, host), ACL_ERROR_RT_PARAM_INVALID);
}

/* covers: aclrtMemManagedGetAttr, aclrtMemManagedGetAttrs failure */
static void questions_refused(void **state)
{
	aclrtMemManagedRangeAttribute what[] = { ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
						 ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY };
	int32_t first = 11, second = 22;
	void *data[] = { &first, &second };
	size_t sizes[] = { 4, 3 };
	char *ptr = make(UNIT);

	(void)state;
	assert_refused(aclrtMemManagedGetAttr(what[0], NULL, 1, &first, 4), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttr(what[0], ptr, 1, NULL, 4), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttr(what[0], ptr, 0, &first, 4), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttr(what[0], ptr, 1, &first, 8), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedGetAttr((aclrtMemManagedRangeAttribute)9, ptr, 1, &first, 4),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedGetAttr(what[0], &first, 1, &first, 4), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedGetAttr(what[0], ptr, UNIT + 1, &first, 4), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtMemManagedGetAttrs(NULL, 2, ptr, 1, data, sizes), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttrs(what, 2, ptr, 1, NULL, sizes), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttrs(what, 2, ptr, 1, data, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedGetAttrs(what, 0, ptr, 1, data, sizes), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedGetAttrs(what, 2, ptr, 1, data, sizes), ACL_ERROR_RT_PARAM_INVALID);
	sizes[1] = 0;
	assert_refused(aclrtMemManagedGetAttrs(what, 2, ptr, 1, data, sizes), ACL_ERROR_RT_PARAM_INVALID);
	data[1] = NULL;
	sizes[1] = 4;
	assert_refused(aclrtMemManagedGetAttrs(what, 2, ptr, 1, data, sizes), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(first, 11);
	assert_int_equal(second, 22);
	assert_ok(aclrtFree(ptr));
}

/* ---- prefetching ---- */

/* Pages that are there. */
static size_t resident(void *ptr, size_t size)
{
	size_t pages = size / (size_t)sysconf(_SC_PAGESIZE), count = 0;
	unsigned char *there = malloc(pages);

	assert_non_null(there);
	assert_int_equal(mincore(ptr, size, there), 0);
	for (size_t i = 0; i < pages; i++)
		count += there[i] & 1;
	free(there);
	return count;
}

/* Kernels before 5.14 leave pages to come when they are touched. */
static void assert_resident(void *ptr, size_t size)
{
	if (!madvise(NULL, 0, MADV_POPULATE_WRITE))
		assert_int_equal(resident(ptr, size), size / (size_t)sysconf(_SC_PAGESIZE));
}

/* covers: aclrtMemManagedPrefetchAsync effect */
static void prefetch(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	char *ptr = make(2 * UNIT);

	(void)state;
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ptr, UNIT), -2);
	m_close(&gate, stream);
	assert_ok(aclrtMemManagedPrefetchAsync(ptr, UNIT, device0, 0, stream));
	assert_int_equal(resident(ptr, 2 * UNIT), 0); /* in the stream's order */
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ptr, UNIT), 0);
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, ptr, UNIT),
			 ACL_MEM_LOCATIONTYPE_DEVICE);
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, ptr, UNIT), 0);
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ptr, 2 * UNIT), -2);
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_resident(ptr, UNIT);
	assert_int_equal(resident(ptr + UNIT, UNIT), 0);
	ptr[5] = 1;
	assert_ok(aclrtMemManagedPrefetchAsync(ptr, UNIT, here, 0, NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_int_equal(ptr[5], 1);
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, ptr, UNIT),
			 ACL_MEM_LOCATIONTYPE_HOST_NUMA);
	m_gate_end(&gate);
	assert_ok(aclrtFree(ptr));
}

/* A place that is preferred by who accesses the memory is filled at once. */
static void fetched_by_advice(void **state)
{
	char *ptr = make(2 * UNIT);

	(void)state;
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, device0);
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_ACCESSED_BY, host);
	assert_int_equal(resident(ptr, 2 * UNIT), 0);
	advise(ptr, UNIT, ACL_MEM_ADVISE_SET_ACCESSED_BY, device0);
	assert_resident(ptr, UNIT);
	assert_int_equal(resident(ptr + UNIT, UNIT), 0);
	assert_ok(aclrtFree(ptr));
}

/* covers: aclrtMemManagedPrefetchBatchAsync effect */
static void prefetch_many(void **state)
{
	const aclrtMemManagedRangeAttribute last = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
	char *one = make(2 * UNIT), *two = make(UNIT);
	const void *ptrs[] = { one, two, one + UNIT };
	size_t sizes[] = { UNIT, UNIT, UNIT }, firsts[] = { 0, 2 };
	aclrtMemManagedLocation places[] = { device3, host };

	(void)state;
	assert_ok(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 3, places, firsts, 2, 0, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(ask(last, one, UNIT), 3);
	assert_int_equal(ask(last, two, UNIT), 3);
	assert_int_equal(ask(last, one + UNIT, UNIT), -1);
	assert_resident(one, 2 * UNIT);
	assert_resident(two, UNIT);
	assert_ok(aclrtFree(one));
	assert_ok(aclrtFree(two));
}

/* covers: aclrtMemManagedPrefetchAsync, aclrtMemManagedPrefetchBatchAsync failure */
static void prefetch_refused(void **state)
{
	const aclrtMemManagedLocation none = { ACL_MEM_LOCATIONTYPE_DEVICE, -1 };
	char *ptr = make(UNIT);
	const void *ptrs[] = { ptr, NULL };
	size_t sizes[] = { UNIT, UNIT }, firsts[] = { 0, 1 }, wrong[] = { 0, 0 }, late[] = { 1, 2 };
	aclrtMemManagedLocation places[] = { host, host };

	(void)state;
	assert_refused(aclrtMemManagedPrefetchAsync(NULL, UNIT, host, 0, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchAsync(ptr, 0, host, 0, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchAsync(ptr, UNIT, host, 1, stream), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchAsync(ptr, UNIT, none, 0, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedPrefetchAsync(ptr, UNIT, nowhere, 0, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedPrefetchAsync(ptrs, UNIT, host, 0, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedPrefetchAsync(ptr, UNIT, host, 0, ptr), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(NULL, sizes, 1, places, firsts, 1, 0, stream),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 1, places, firsts, 2, 0, stream),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 1, places, firsts, 0, 0, stream),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 1, places, firsts, 1, 1, stream),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, places, firsts, 2, 0, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	ptrs[1] = &places;
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, places, firsts, 2, 0, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	ptrs[1] = ptr;
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, places, wrong, 2, 0, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMemManagedPrefetchBatchAsync(ptrs, sizes, 2, places, late, 1, 0, stream),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(ask(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ptr, UNIT), -2);
	assert_ok(aclrtFree(ptr));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(one_address),
		T(not_allocated),
		T(copies),
		T(lifetime),
		T(advice_is_kept),
		T(several_answers),
		T(advice_refused),
		T(questions_refused),
		T(prefetch),
		T(fetched_by_advice),
		T(prefetch_many),
		T(prefetch_refused),
		T(atomics_with_the_host),
		T(atomics_between_devices),
		T(atomics_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
