/* SPDX-License-Identifier: MIT */
/* host_memory_test.c - host memory for the device: allocated and registered. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "mem_util.h"

static int setup(void **state)
{
	(void)state;
	return aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDevice(0);
}

static int type_of(const void *ptr)
{
	aclrtPtrAttributes attributes = { .location.id = 99 };

	assert_ok(aclrtPointerGetAttributes(ptr, &attributes));
	assert_int_equal(attributes.location.id, 0);
	assert_int_equal(attributes.pageSize, sysconf(_SC_PAGESIZE));
	return (int)attributes.location.type;
}

/* covers: aclrtMallocHost, aclrtFreeHost, aclrtMallocHostWithCfg effect */
static void test_alloc(void **state)
{
	size_t before = m_free();
	char *ptr = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		aclrtMallocAttribute attrs[] = { { .attr = ACL_RT_MEM_ATTR_MODULE_ID, .value.moduleId = 3 },
						 { .attr = ACL_RT_MEM_ATTR_VA_FLAG, .value.vaFlag = 1 } };
		aclrtMallocConfig cfg = { .attrs = attrs, .numAttrs = 2 };

		assert_ok(i ? aclrtMallocHostWithCfg((void **)&ptr, 10000, &cfg)
			    : aclrtMallocHost((void **)&ptr, 10000));
		assert_int_equal((uintptr_t)ptr % 4096, 0);
		assert_int_equal(type_of(ptr + 9999), ACL_MEM_LOCATION_TYPE_HOST);
		memset(ptr, 5, 10000);
		assert_int_equal(m_free(), before);
		assert_ok(aclrtFreeHost(ptr));
	}
	assert_ok(aclrtMallocHostWithCfg((void **)&ptr, 1, NULL));
	assert_ok(aclrtFreeHost(ptr));
}

/* covers: aclrtMallocHost, aclrtFreeHost, aclrtMallocHostWithCfg failure */
static void test_alloc_refused(void **state)
{
	aclrtMallocAttribute attr = { .attr = ACL_RT_MEM_ATTR_DEVICE_ID };
	aclrtMallocConfig cfg = { .attrs = &attr, .numAttrs = 1 }, empty = { .attrs = NULL, .numAttrs = 0 };
	char *ptr = NULL, *device = NULL, *plain = malloc(100);

	(void)state;
	assert_refused(aclrtMallocHost(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMallocHost((void **)&ptr, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMallocHost((void **)&ptr, SIZE_MAX), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_refused(aclrtMallocHost((void **)&ptr, SIZE_MAX / 4), ACL_ERROR_RT_MEMORY_ALLOCATION);
	assert_refused(aclrtMallocHostWithCfg(NULL, 1, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMallocHostWithCfg((void **)&ptr, 0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtMallocHostWithCfg((void **)&ptr, 1, &empty), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtMallocHostWithCfg((void **)&ptr, 1, &cfg), ACL_ERROR_RT_PARAM_INVALID);
	assert_null(ptr);
	assert_ok(aclrtMallocHost((void **)&ptr, 8192));
	assert_ok(aclrtMalloc((void **)&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_refused(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFreeHost(ptr + 4096), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFreeHost(plain), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFreeHost(ptr));
	assert_refused(aclrtFreeHost(ptr), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFree(device));
	free(plain);
}

/* The host's memory is the child's as well, unlike the device's. */
static void test_fork(void **state)
{
	char *ptr = NULL;
	pid_t child;

	(void)state;
	assert_ok(aclrtMallocHost((void **)&ptr, 4096));
	strcpy(ptr, "inherited");
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(strcmp(ptr, "inherited") ? 1 : 0);
	assert_int_equal(t_wait_pid(child, 20000), 0);
	assert_ok(aclrtFreeHost(ptr));
}

static void test_free_while_used(void **state)
{
	struct m_gate gate = { .value = 9 };
	aclrtStream stream = NULL;
	char *ptr = NULL;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtMallocHost((void **)&ptr, 4096));
	gate.store_to = (atomic_int *)(void *)ptr;
	m_close(&gate, stream);
	assert_ok(aclrtFreeHost(ptr));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	m_gate_end(&gate);
	assert_ok(aclrtDestroyStream(stream));
}

static char *plain_pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

/* covers: aclrtHostRegister, aclrtHostRegisterV2, aclrtHostUnregister, aclrtHostGetDevicePointer effect */
static void test_register(void **state)
{
	char *plain = plain_pages(64 * KIB);
	void *device = NULL, *again = NULL;

	(void)state;
	assert_int_equal(type_of(plain), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
	assert_ok(aclrtHostRegister(plain, 16 * KIB, ACL_HOST_REGISTER_MAPPED, &device));
	assert_int_equal(type_of(plain + 16 * KIB - 1), ACL_MEM_LOCATION_TYPE_HOST);
	assert_int_equal(type_of(plain + 16 * KIB), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
	assert_ok(aclrtHostGetDevicePointer(plain, &again, 0));
	assert_ptr_equal(again, device);
	*(int *)device = 77; /* as a kernel would */
	assert_int_equal(*(int *)(void *)plain, 77);
	/* Beside it, and again when it is gone. */
	assert_ok(aclrtHostRegisterV2(plain + 16 * KIB, 100, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
	assert_ok(aclrtHostGetDevicePointer(plain + 16 * KIB + 50, &again, 0));
	assert_ok(aclrtHostUnregister(plain));
	assert_int_equal(type_of(plain), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
	assert_ok(aclrtHostRegisterV2(plain, 16 * KIB, ACL_HOST_REG_PINNED));
	assert_int_equal(type_of(plain), ACL_MEM_LOCATION_TYPE_HOST);
	assert_ok(aclrtHostUnregister(plain));
	assert_ok(aclrtHostUnregister(plain + 16 * KIB));
	assert_int_equal(munmap(plain, 64 * KIB), 0);
}

/* Registered memory is pinned, so copies of it wait on their stream. */
static void test_registered_copy(void **state)
{
	int *plain = (int *)(void *)plain_pages(4096);
	struct m_gate gate = { .value = 0 };
	int *device = NULL;

	(void)state;
	assert_ok(aclrtMalloc((void **)&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtHostRegisterV2(plain, 4096, ACL_HOST_REG_PINNED));
	*device = 0;
	*plain = 1;
	m_close(&gate, NULL);
	assert_ok(aclrtMemcpyAsync(device, 4, plain, 4, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
	assert_int_equal(*device, 0);
	*plain = 2;
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_int_equal(*device, 2);
	m_gate_end(&gate);
	assert_refused(aclrtMemcpyAsync(device, 4097, plain, 4097, ACL_MEMCPY_HOST_TO_DEVICE, NULL),
		       ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_ok(aclrtHostUnregister(plain));
	assert_ok(aclrtFree(device));
	assert_int_equal(munmap(plain, 4096), 0);
}

/* Memory of aclrtMallocHost may be registered; the registration ends with it. */
static void test_register_allocated(void **state)
{
	void *device = NULL, *base = NULL;
	char *ptr = NULL;
	size_t size = 0;

	(void)state;
	assert_ok(aclrtMallocHost((void **)&ptr, 64 * KIB));
	assert_ok(aclrtHostRegister(ptr + 8192, 4096, ACL_HOST_REGISTER_MAPPED, &device));
	assert_ptr_equal(device, ptr + 8192);
	assert_int_equal(type_of(ptr + 8192), ACL_MEM_LOCATION_TYPE_HOST);
	assert_ok(aclrtMemGetAddressRange(ptr + 8200, &base, &size));
	assert_ptr_equal(base, ptr);
	assert_int_equal(size, 64 * KIB);
	/* A copy that crosses it is inside the allocation. */
	assert_ok(aclrtMemset(ptr + 8192, 56 * KIB, 1, 56 * KIB));
	assert_refused(aclrtMemset(ptr + 8192, 56 * KIB + 1, 1, 56 * KIB + 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_refused(aclrtHostRegister(ptr + 60 * KIB, 8192, ACL_HOST_REGISTER_MAPPED, &device),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFreeHost(ptr));
	assert_refused(aclrtHostUnregister(ptr + 8192), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* covers: aclrtHostRegister, aclrtHostRegisterV2, aclrtHostUnregister, aclrtHostGetDevicePointer failure */
static void test_register_refused(void **state)
{
	char *plain = plain_pages(64 * KIB), *hole = plain_pages(16 * KIB), *device = NULL;
	void *out = (void *)1;

	(void)state;
	assert_int_equal(munmap(hole + 4096, 4096), 0);
	assert_ok(aclrtMalloc((void **)&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_refused(aclrtHostRegister(NULL, 4096, 0, &out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostRegister(plain, 4096, 0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostRegister(plain, 0, 0, &out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostRegister(plain, 4096, (aclrtHostRegisterType)2, &out),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtHostRegister(plain, 4096, ACL_HOST_REGISTER_IOMEMORY, &out),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtHostRegister(plain + 8, 4096, 0, &out), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegister(plain, SIZE_MAX, 0, &out), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegister(hole, 16 * KIB, 0, &out), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegister(device, 4096, 0, &out), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegisterV2(NULL, 4096, ACL_HOST_REG_MAPPED), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostRegisterV2(plain, 0, ACL_HOST_REG_MAPPED), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostRegisterV2(plain, 4096, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegisterV2(plain, 4096, 0x1), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegisterV2(plain, 4096, ACL_HOST_REG_MAPPED | 0x100), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostRegisterV2(plain, 4096, ACL_HOST_REG_READONLY), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtHostUnregister(plain), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
	assert_refused(aclrtHostUnregister(NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(out, (void *)1);

	assert_ok(aclrtHostRegisterV2(plain + 8192, 8192, ACL_HOST_REG_PINNED));
	assert_refused(aclrtHostRegisterV2(plain, 12 * KIB, ACL_HOST_REG_MAPPED),
		       ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	assert_refused(aclrtHostRegisterV2(plain + 12 * KIB, 1, ACL_HOST_REG_MAPPED),
		       ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	assert_refused(aclrtHostUnregister(plain + 12 * KIB), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
	assert_refused(aclrtHostGetDevicePointer(plain + 8192, &out, 0), ACL_ERROR_RT_PARAM_INVALID); /* only pinned */
	assert_refused(aclrtHostGetDevicePointer(plain, &out, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostGetDevicePointer(device, &out, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtHostGetDevicePointer(NULL, &out, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostGetDevicePointer(plain, NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtHostGetDevicePointer(plain, &out, 1), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtHostUnregister(plain + 8192));
	assert_ok(aclrtFree(device));
	assert_int_equal(munmap(plain, 64 * KIB), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_alloc_refused),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_free_while_used),
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_registered_copy),
		cmocka_unit_test(test_register_allocated),
		cmocka_unit_test(test_register_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
