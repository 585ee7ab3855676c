/* SPDX-License-Identifier: MIT */
/*
 * memory.c - device memory: allocation by page policy, accounting, freeing, and what is known about a pointer.
 *
 * An allocation of a page or more owns whole pages and a BO of its own, so that it can be shared without its
 * neighbours. Freeing returns the charge at once; the pages stay mapped until the tasks that were submitted before have
 * ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rts/managed.h"
#include "rts/mbuf.h"
#include "rts/memory.h"
#include "rts/pool.h"
#include "rts/usage.h"

/* aclrtMemMallocPolicy without the bits for bandwidth and access. */
#define POLICY_MASK 0xffu
/* HUGE_FIRST takes 2M pages for sizes above this, after rounding. */
#define HUGE_FIRST_ABOVE ((size_t)1 << 20)

/* Of an allocation with a BO of its own; its segment's priv. */
struct allocation {
	struct rts_span span;
};

static const char *page_name(uint32_t page_kind)
{
	static const char *const names[] = { "4K", "2M", "1G" };

	return names[page_kind];
}

/* ---- spans ---- */

static int reserve(size_t extent, size_t align, uintptr_t *out)
{
	size_t slack = align > RTS_PAGE_4K ? align - RTS_PAGE_4K : 0;
	uintptr_t start, base;
	void *area;

	if (extent > SIZE_MAX / 2)
		return -ENOMEM;
	area = mmap(NULL, extent + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return -errno;
	start = (uintptr_t)area;
	base = rts_round_up(start, align);
	if (base > start)
		(void)munmap(area, base - start);
	if (start + slack > base)
		(void)munmap((void *)(base + extent), start + slack - base);
	*out = base;
	return 0;
}

/* Addresses of freed memory are kept for a while; they are the first to go. */
int rts_reserve(size_t extent, size_t align, uintptr_t *out)
{
	int r = reserve(extent, align, out);

	if (r) {
		rts_va_drain();
		r = reserve(extent, align, out);
	}
	return r;
}

int rts_span_create(struct rts_span *span, uint32_t device, size_t size, uint32_t page_kind)
{
	size_t page = rts_page_size(page_kind);
	struct drm_vinci_bo_create bo = { .device = device, .page_kind = page_kind, .numa_node = -1 };
	uintptr_t base;
	void *at;
	int r;

	if (size > SIZE_MAX / 2)
		return -ENOMEM;
	bo.size = rts_round_up(size, page);
	r = drv_bo_create(rts_drv(), &bo);
	if (r)
		return r;
	r = rts_reserve(bo.size + RTS_PAGE_4K, page, &base);
	if (r)
		goto err_close;
	r = drv_map(rts_drv(), bo.mmap_offset, bo.size, (void *)base, true, &at);
	if (r)
		goto err_unreserve;
	rts_usage_add(device, RTS_COMPONENT_APP, bo.size);
	*span = (struct rts_span){ base, bo.size + RTS_PAGE_4K, bo.handle, device, page_kind, bo.mmap_offset };
	return 0;

err_unreserve:
	(void)munmap((void *)base, bo.size + RTS_PAGE_4K);
err_close:
	(void)drv_close_handle(rts_drv(), bo.handle);
	return r == -ENOMEM ? -ENOBUFS : r;
}

int rts_span_close(const struct rts_span *span)
{
	rts_usage_sub(span->device, RTS_COMPONENT_APP, span->extent - RTS_PAGE_4K);
	return drv_close_handle(rts_drv(), span->handle);
}

int rts_span_close_report(uintptr_t base, int err)
{
	if (!err)
		return 0;
	return u_report(rts_errno_code(0, RTS_OP_QUERY, err),
			"the memory at 0x%lx is unmapped, but the device could not be told (%s)", (unsigned long)base,
			rts_errno_text(err));
}

static int report_full(uint32_t device, size_t wanted, size_t asked, uint32_t page_kind)
{
	struct drm_vinci_device_info info;

	if (drv_device_info(rts_drv(), device, &info))
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "device %d has less than %zu bytes free",
				rts_device_to_user(device), wanted);
	return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
			"device %d has %llu of %llu bytes free and %zu are wanted (%zu in %s pages)",
			rts_device_to_user(device), (unsigned long long)(info.mem_total - info.mem_used),
			(unsigned long long)info.mem_total, wanted, asked, page_name(page_kind));
}

int rts_span_report(uint32_t device, size_t wanted, size_t asked, uint32_t page_kind, int err)
{
	if (err == -ENOMEM)
		return report_full(device, rts_round_up(wanted, rts_page_size(page_kind)), asked, page_kind);
	if (err == -ENOBUFS)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
				"this process has no room for a mapping of %zu bytes (ulimit -v, vm.max_map_count)",
				wanted);
	return u_report(rts_errno_code(0, RTS_OP_BO_CREATE, err),
			"the device refuses %zu bytes in %s pages on device %d: %s", wanted, page_name(page_kind),
			rts_device_to_user(device), rts_errno_text(err));
}

/* ---- allocation ---- */

/* The page kind that a policy asks for first. */
static uint32_t policy_pages(uint32_t policy, size_t size)
{
	switch (policy) {
	case ACL_MEM_MALLOC_HUGE_ONLY:
	case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
		return VINCI_PAGE_2M;
	case ACL_MEM_MALLOC_NORMAL_ONLY:
	case ACL_MEM_MALLOC_NORMAL_ONLY_P2P:
		return VINCI_PAGE_4K;
	case ACL_MEM_MALLOC_HUGE1G_ONLY:
	case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
		return VINCI_PAGE_1G;
	default: /* HUGE_FIRST; what is unknown is treated like it */
		return size > HUGE_FIRST_ABOVE ? VINCI_PAGE_2M : VINCI_PAGE_4K;
	}
}

static bool policy_falls_back(uint32_t policy)
{
	switch (policy) {
	case ACL_MEM_MALLOC_HUGE_ONLY:
	case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
	case ACL_MEM_MALLOC_HUGE1G_ONLY:
	case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
		return false;
	default:
		return true;
	}
}

static int create_by_policy(struct rts_span *span, uint32_t device, size_t size, uint32_t policy)
{
	uint32_t pages = policy_pages(policy, size);
	int r = rts_span_create(span, device, size, pages);

	if (r == -ENOMEM && rts_pool_reclaim(device))
		r = rts_span_create(span, device, size, pages);
	if (r == -ENOMEM && pages != VINCI_PAGE_4K && policy_falls_back(policy)) {
		pages = VINCI_PAGE_4K;
		r = rts_span_create(span, device, size, pages);
	}
	return r ? rts_span_report(device, size, size, pages, r) : 0;
}

static int alloc_pages(uint32_t device, size_t size, uint32_t policy, void **out)
{
	struct allocation *a = calloc(1, sizeof(*a));
	struct rts_segment seg;
	int r;

	if (!a)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe an allocation");
	r = create_by_policy(&a->span, device, size, policy);
	if (r)
		goto err_free;
	seg = (struct rts_segment){ .base = a->span.base,
				    .size = size,
				    .kind = RTS_SEG_DEVICE,
				    .device = device,
				    .owner = device,
				    .page_kind = a->span.page_kind,
				    .handle = a->span.handle,
				    .mmap_offset = a->span.mmap_offset,
				    .priv = a };
	r = rts_va_insert_extent(&seg, a->span.extent);
	if (r)
		goto err_span;
	*out = (void *)a->span.base;
	return 0;

err_span:
	(void)rts_span_close(&a->span);
	(void)munmap((void *)a->span.base, a->span.extent);
err_free:
	free(a);
	return r;
}

int rts_memory_alloc(size_t size, uint32_t policy, void **out)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (size > SIZE_MAX / 2)
		return rts_span_report(ctx->device, SIZE_MAX / 2, size, VINCI_PAGE_4K, -ENOMEM);
	size = rts_round_up(size, 32);
	policy &= POLICY_MASK;
	if (size <= RTS_SMALL_MAX && policy_pages(policy, size) == VINCI_PAGE_4K)
		return rts_small_alloc(ctx->device, size, out);
	return alloc_pages(ctx->device, size, policy, out);
}

/* ---- freeing ---- */

static void allocation_drop(void *arg)
{
	struct allocation *a = arg;

	rts_va_drop(a->span.base, a->span.extent);
	free(a);
}

/* False: somebody else was faster. *err: the device's answer. */
static bool release(uintptr_t base, int *err)
{
	struct rts_segment seg;
	struct allocation *a;

	if (!rts_va_bury(base, RTS_SEG_DEVICE, &seg))
		return false;
	a = seg.priv;
	rts_ipc_memory_freed(base);
	*err = rts_span_close(&a->span);
	rts_exec_defer(allocation_drop, a);
	return true;
}

static int refuse_free(uintptr_t ptr, const struct rts_segment *seg)
{
	switch (seg->kind) {
	case RTS_SEG_DEVICE:
	case RTS_SEG_POOL:
	case RTS_SEG_MANAGED:
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"0x%lx is inside an allocation; only its start, 0x%lx, can be freed",
				(unsigned long)ptr, (unsigned long)seg->base);
	case RTS_SEG_IPC:
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"0x%lx is memory imported by key; aclrtIpcMemClose gives it back, not aclrtFree",
				(unsigned long)ptr);
	case RTS_SEG_RESERVED:
	case RTS_SEG_VMM:
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"0x%lx is in a reservation; aclrtUnmapMem and aclrtReleaseMemAddress give it back, not "
				"aclrtFree",
				(unsigned long)ptr);
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"0x%lx is host memory; aclrtFree takes what aclrtMalloc returned", (unsigned long)ptr);
	}
}

/* False: nothing of this kind starts at @at any more. */
static bool free_by_kind(uintptr_t at, enum rts_segment_kind kind, int *err)
{
	switch (kind) {
	case RTS_SEG_POOL:
		return rts_pool_free(at);
	case RTS_SEG_MANAGED:
		return rts_managed_free(at);
	default:
		return release(at, err);
	}
}

int rts_memory_free(void *ptr)
{
	uintptr_t at = (uintptr_t)ptr;
	struct rts_segment seg;
	int r = 0;

	if (rts_process_forked())
		return rts_process_start();
	if (rts_va_find_outer(ptr, &seg)) {
		if (seg.kind == RTS_SEG_SMALL)
			return rts_small_free(seg.priv, at);
		if (seg.base != at ||
		    (seg.kind != RTS_SEG_DEVICE && seg.kind != RTS_SEG_POOL && seg.kind != RTS_SEG_MANAGED))
			return refuse_free(at, &seg);
		if (free_by_kind(at, seg.kind, &r))
			return rts_span_close_report(at, r);
	}
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"0x%lx is not allocated%s; aclrtFree takes what aclrtMalloc returned, once", (unsigned long)at,
			rts_va_gone(ptr) ? " any more" : "");
}

/* Also after the device has died: then there is nothing to tell it, and nothing that the user could have done. */
void rts_memory_device_gone(uint32_t device)
{
	struct rts_segment seg = { 0 };
	int ignored;

	rts_buf_device_gone(device);
	rts_small_device_gone(device);
	rts_pool_device_gone(device);
	for (uintptr_t from = 0; rts_va_next(from, &seg); from = seg.base + 1) {
		if (seg.kind == RTS_SEG_DEVICE && seg.device == device)
			(void)release(seg.base, &ignored);
	}
}

/* ---- questions ---- */

/* Page kind that the totals of an attribute are counted in. One pool serves all of them. */
static const uint8_t attr_pages[] = {
	[ACL_DDR_MEM] = VINCI_PAGE_4K,		[ACL_HBM_MEM] = VINCI_PAGE_4K,
	[ACL_DDR_MEM_HUGE] = VINCI_PAGE_2M,	[ACL_DDR_MEM_NORMAL] = VINCI_PAGE_4K,
	[ACL_HBM_MEM_HUGE] = VINCI_PAGE_2M,	[ACL_HBM_MEM_NORMAL] = VINCI_PAGE_4K,
	[ACL_DDR_MEM_P2P_HUGE] = VINCI_PAGE_2M, [ACL_DDR_MEM_P2P_NORMAL] = VINCI_PAGE_4K,
	[ACL_HBM_MEM_P2P_HUGE] = VINCI_PAGE_2M, [ACL_HBM_MEM_P2P_NORMAL] = VINCI_PAGE_4K,
	[ACL_HBM_MEM_HUGE1G] = VINCI_PAGE_1G,	[ACL_HBM_MEM_P2P_HUGE1G] = VINCI_PAGE_1G,
	[ACL_MEM_NORMAL] = VINCI_PAGE_4K,	[ACL_MEM_HUGE] = VINCI_PAGE_2M,
	[ACL_MEM_HUGE1G] = VINCI_PAGE_1G,	[ACL_MEM_P2P_NORMAL] = VINCI_PAGE_4K,
	[ACL_MEM_P2P_HUGE] = VINCI_PAGE_2M,	[ACL_MEM_P2P_HUGE1G] = VINCI_PAGE_1G,
};

int rts_memory_info(uint32_t attr, size_t *free_bytes, size_t *total_bytes)
{
	struct drm_vinci_device_info info;
	struct rts_context *ctx;
	size_t page;
	int r;

	if (attr >= sizeof(attr_pages))
		return u_report(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "%u is no kind of memory; aclrtMemAttr has 0 to %zu",
				attr, sizeof(attr_pages) - 1);
	r = rts_context_current(&ctx);
	if (r)
		return r;
	r = drv_device_info(rts_drv(), ctx->device, &info);
	if (r)
		return u_report(rts_errno_code(0, RTS_OP_QUERY, r), "device %d does not answer: %s",
				rts_device_to_user(ctx->device), rts_errno_text(r));
	page = rts_page_size(attr_pages[attr]);
	*free_bytes = (info.mem_total - info.mem_used) & ~(page - 1);
	*total_bytes = info.mem_total & ~(page - 1);
	return 0;
}

static void host_attributes(aclrtPtrAttributes *out, aclrtMemLocationType type)
{
	out->location.type = type;
	out->location.id = 0;
	out->pageSize = (uint32_t)sysconf(_SC_PAGESIZE);
}

static int segment_attributes(const struct rts_segment *seg, aclrtPtrAttributes *out)
{
	if (seg->kind == RTS_SEG_RESERVED)
		return u_report(
			ACL_ERROR_RT_INVALID_HANDLE,
			"the address is reserved (0x%lx+0x%zx) and nothing is mapped there; aclrtMapMem comes first",
			(unsigned long)seg->base, seg->size);
	if (seg->host || seg->kind == RTS_SEG_HOST || seg->kind == RTS_SEG_HOST_REGISTERED) {
		host_attributes(out, ACL_MEM_LOCATION_TYPE_HOST);
		return 0;
	}
	out->location.type =
		seg->kind == RTS_SEG_MANAGED ? ACL_MEM_LOCATION_TYPE_MANAGED : ACL_MEM_LOCATION_TYPE_DEVICE;
	out->location.id = (uint32_t)rts_device_to_user(seg->device);
	out->pageSize = (uint32_t)rts_page_size(seg->page_kind);
	return 0;
}

int rts_memory_attributes(const void *ptr, aclrtPtrAttributes *attributes)
{
	aclrtPtrAttributes out = { 0 };
	struct rts_segment seg;
	int r = 0;

	if (rts_process_forked())
		return rts_process_start();
	switch (rts_va_look(ptr, &seg)) {
	case RTS_VA_FOUND:
		r = segment_attributes(&seg, &out);
		break;
	case RTS_VA_GONE:
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"%p is in device address space, but nothing is allocated there", ptr);
	default:
		host_attributes(&out, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
	}
	if (!r)
		*attributes = out;
	return r;
}

int rts_memory_range(const void *ptr, void **base, size_t *size)
{
	struct rts_segment seg;

	if (rts_process_forked())
		return rts_process_start();
	if (!base && !size)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"both outputs are NULL; one of base and size has to be asked for");
	if (!rts_va_find(ptr, &seg) || (seg.kind == RTS_SEG_HOST_REGISTERED && !rts_va_find_outer(ptr, &seg)) ||
	    seg.kind == RTS_SEG_RESERVED)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%p is not in memory that was allocated, imported or mapped through this library", ptr);
	if (base)
		*base = (void *)seg.base;
	if (size)
		*size = seg.size;
	return 0;
}

static bool in_device_memory(const void *ptr)
{
	struct rts_segment seg;

	return rts_va_find(ptr, &seg) && !seg.host && seg.kind != RTS_SEG_RESERVED && seg.kind != RTS_SEG_HOST &&
	       seg.kind != RTS_SEG_HOST_REGISTERED;
}

int rts_memory_check_type(void *const *addresses, uint32_t count, uint32_t mem_type, bool *same)
{
	const uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
	struct rts_context *ctx;
	bool all = mem_type & ACL_RT_MEM_TYPE_DEV;
	int r;

	if (!count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is 0; at least one address is to be checked");
	if (mem_type & ~known)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "memType is 0x%x; it is an OR of ACL_RT_MEM_TYPE_* (0x%x)",
				mem_type, known);
	r = rts_context_current(&ctx);
	if (r)
		return r;
	for (uint32_t i = 0; all && i < count; i++)
		all = in_device_memory(addresses[i]);
	*same = all;
	return 0;
}
