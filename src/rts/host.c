/* SPDX-License-Identifier: MIT */
/*
 * host.c - host memory that the device may use: allocated here (aclrtMallocHost) or the application's own, registered.
 *
 * It is plain anonymous memory, so a forked child has its copy of it, as of everything else of the host's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/memory.h"

/* Of a host allocation; its segment's priv. */
struct host_block {
	uintptr_t base;
	size_t mapped;
};

static int host_map(size_t size, struct host_block *block)
{
	size_t mapped = rts_round_up(size, RTS_PAGE_4K);
	void *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		rts_va_drain();
		at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (at == MAP_FAILED)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
				"the host has no %zu bytes of memory for this process: %s", size,
				strerrordesc_np(errno));
	*block = (struct host_block){ (uintptr_t)at, mapped };
	return 0;
}

int rts_host_alloc(size_t size, void **out)
{
	struct rts_context *ctx;
	struct rts_segment seg;
	struct host_block *block;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (size > SIZE_MAX / 2)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes are more than a process can have", size);
	block = calloc(1, sizeof(*block));
	if (!block)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe an allocation");
	size = rts_round_up(size, 32);
	r = host_map(size, block);
	if (r)
		goto err_free;
	seg = (struct rts_segment){ .base = block->base,
				    .size = size,
				    .kind = RTS_SEG_HOST,
				    .page_kind = VINCI_PAGE_4K,
				    .host = true,
				    .priv = block };
	r = rts_va_insert(&seg);
	if (r)
		goto err_unmap;
	*out = (void *)block->base;
	return 0;

err_unmap:
	(void)munmap((void *)block->base, block->mapped);
err_free:
	free(block);
	return r;
}

static void host_drop(void *arg)
{
	struct host_block *block = arg;

	rts_va_drop(block->base, block->mapped);
	free(block);
}

int rts_host_free(void *ptr)
{
	uintptr_t at = (uintptr_t)ptr;
	struct rts_segment seg, registered;
	struct host_block *block;

	if (rts_process_forked())
		return rts_process_start();
	if (!rts_va_bury(at, RTS_SEG_HOST, &seg))
		return u_report(
			ACL_ERROR_RT_PARAM_INVALID, "%p is not the start of host memory from aclrtMallocHost%s", ptr,
			rts_va_find_outer(ptr, &seg) && !seg.host ? "; it is device memory, for aclrtFree" : "");
	block = seg.priv;
	/* A registration ends with the memory. */
	while (rts_va_registered(at, block->mapped, &registered))
		(void)rts_va_remove(registered.base, RTS_SEG_HOST_REGISTERED, NULL);
	rts_exec_defer(host_drop, block);
	return 0;
}

/* ---- registration ---- */

/* Registered memory is the application's, or lies inside one host allocation. */
static int check_place(uintptr_t base, size_t size)
{
	struct rts_segment seg;

	if (rts_va_find_outer((void *)base, &seg) && seg.kind == RTS_SEG_HOST && size <= seg.size - (base - seg.base))
		return 0;
	if (!rts_va_touches(base, size))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"0x%lx+0x%zx is not host memory all through; only host memory can be registered",
			(unsigned long)base, size);
}

/* msync() says whether every page is mapped; MS_ASYNC has no other effect. */
static int check_mapped(uintptr_t base, size_t size)
{
	if (!msync((void *)base, size, MS_ASYNC))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "0x%lx+0x%zx is not mapped all through: %s", (unsigned long)base,
			size, strerrordesc_np(errno));
}

static int check_range(uintptr_t base, size_t size)
{
	int r;

	if (base % RTS_PAGE_4K)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"0x%lx is not a multiple of 4096; whole pages are registered", (unsigned long)base);
	if (size > UINTPTR_MAX - base)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "0x%lx+0x%zx runs over the end of the address space",
				(unsigned long)base, size);
	r = check_place(base, size);
	return r ? r : check_mapped(base, size);
}

int rts_host_register(void *ptr, size_t size, uint32_t flags)
{
	struct rts_segment seg = { .base = (uintptr_t)ptr,
				   .size = size,
				   .kind = RTS_SEG_HOST_REGISTERED,
				   .host = true,
				   .page_kind = VINCI_PAGE_4K,
				   .priv = (void *)(uintptr_t)flags },
			   other;
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (flags & (ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY))
		return u_report(
			ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"flags 0x%x: registering I/O memory or memory that is read-only for the device is reserved",
			flags);
	r = check_range(seg.base, size);
	if (r)
		return r;
	if (rts_va_registered(seg.base, size, &other))
		return u_report(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
				"0x%lx+0x%zx overlaps what is registered already: 0x%lx+0x%zx", (unsigned long)seg.base,
				size, (unsigned long)other.base, other.size);
	return rts_va_insert_extent(&seg, size);
}

int rts_host_unregister(void *ptr)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (rts_va_remove((uintptr_t)ptr, RTS_SEG_HOST_REGISTERED, NULL))
		return 0;
	return u_report(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "%p is not the start of registered host memory", ptr);
}

/* The device's threads use host addresses as they are. */
int rts_host_device_pointer(void *ptr, void **device)
{
	struct rts_context *ctx;
	struct rts_segment seg;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (!rts_va_find(ptr, &seg) || seg.kind != RTS_SEG_HOST_REGISTERED ||
	    !((uintptr_t)seg.priv & ACL_HOST_REG_MAPPED))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%p is not registered with ACL_HOST_REG_MAPPED, so the device has no address for it",
				ptr);
	*device = ptr;
	return 0;
}
