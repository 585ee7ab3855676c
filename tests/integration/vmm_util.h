/* SPDX-License-Identifier: MIT */
/* vmm_util.h - what the tests of physical memory and mappings share. */
#ifndef VINCI_VMM_UTIL_H
#define VINCI_VMM_UTIL_H

#include "few_addresses.h"
#include "mem_util.h"

#define REFUSED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define BAD_PARAM ACL_ERROR_RT_PARAM_INVALID
#define BAD_ARGUMENT ACL_ERROR_INVALID_PARAM
#define UNSUPPORTED ACL_ERROR_RT_FEATURE_NOT_SUPPORT

#define PAGE (2 * MIB)
#define TIB (1024 * GIB)

static size_t left_before;

static inline int setup(void **state)
{
	(void)state;
	if (aclrtSetDevice(0))
		return -1;
	left_before = m_free();
	return 0;
}

static inline int teardown(void **state)
{
	size_t left = m_free();

	(void)state;
	if (left != left_before)
		print_error("%zu bytes of device memory were not given back\n", left_before - left);
	return aclrtResetDeviceForce(0) || left != left_before ? -1 : 0;
}

static inline aclrtPhysicalMemProp prop_of(int attr, aclrtMemLocationType type, uint32_t id)
{
	return (aclrtPhysicalMemProp){ .handleType = ACL_MEM_HANDLE_TYPE_NONE,
				       .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
				       .memAttr = (aclrtMemAttr)attr,
				       .location = { .id = id, .type = type } };
}

static inline aclrtDrvMemHandle create(size_t size)
{
	aclrtPhysicalMemProp prop = prop_of(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
	aclrtDrvMemHandle handle = NULL;

	assert_ok(aclrtMallocPhysical(&handle, size, &prop, 0));
	assert_non_null(handle);
	return handle;
}

static inline uint8_t *reserve(size_t size)
{
	void *va = NULL;

	assert_ok(aclrtReserveMemAddress(&va, size, 0, NULL, 0));
	return va;
}

static inline _Atomic uint64_t *word(void *ptr, size_t offset)
{
	return (_Atomic uint64_t *)(void *)((uint8_t *)ptr + offset);
}

static inline size_t range_size(void *ptr)
{
	void *base = NULL;
	size_t size = 0;

	assert_ok(aclrtMemGetAddressRange(ptr, &base, &size));
	return size;
}

#endif
