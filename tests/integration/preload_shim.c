/* SPDX-License-Identifier: MIT */
/* preload_shim.c - what limiters and profilers preload: functions in front of the library's that count and pass on. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "acl/acl.h"

#define FRONT __attribute__((visibility("default")))

FRONT atomic_uint shim_mallocs, shim_frees;

FRONT aclError aclrtMalloc(void **ptr, size_t size, aclrtMemMallocPolicy policy)
{
	__typeof__(aclrtMalloc) *next;

	*(void **)&next = dlsym(RTLD_NEXT, "aclrtMalloc");
	atomic_fetch_add(&shim_mallocs, 1);
	return next(ptr, size, policy);
}

FRONT aclError aclrtFree(void *ptr)
{
	__typeof__(aclrtFree) *next;

	*(void **)&next = dlsym(RTLD_NEXT, "aclrtFree");
	atomic_fetch_add(&shim_frees, 1);
	return next(ptr);
}
