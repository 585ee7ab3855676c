/* SPDX-License-Identifier: MIT */
/* vmm_reserve.c - reserved addresses: space that nothing can be read from or written to, for mappings to be put into. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/memory.h"
#include "rts/share.h"
#include "rts/vmm.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define GIB ((uint64_t)1 << 30)

/* --- reserving ---------------------------------------------------------------------------- */

/* Fails with EEXIST rather than go elsewhere; kernels before 4.17 take the address as a hint. */
static int reserve_at(void *expect, size_t size, uintptr_t *base)
{
	void *area = mmap(expect, size, PROT_NONE, VMM_NO_ACCESS | MAP_FIXED_NOREPLACE, -1, 0);

	if (area == MAP_FAILED)
		return -errno;
	if (area != expect) {
		(void)munmap(area, size);
		return -EEXIST;
	}
	*base = (uintptr_t)area;
	return 0;
}

static int reserve_anywhere(size_t size, size_t align, uintptr_t *base)
{
	size_t slack = align - RTS_PAGE_4K;
	uintptr_t start, end;
	void *area;

	if (size > SIZE_MAX / 2)
		return -ENOMEM;
	area = mmap(NULL, size + slack, PROT_NONE, VMM_NO_ACCESS, -1, 0);
	if (area == MAP_FAILED)
		return -errno;
	start = rts_round_up((uintptr_t)area, align);
	end = (uintptr_t)area + size + slack;
	if (start > (uintptr_t)area)
		(void)munmap(area, start - (uintptr_t)area);
	if (end > start + size)
		(void)munmap((void *)(start + size), end - (start + size));
	*base = start;
	return 0;
}

static int reserve_area(void *expect, size_t size, uintptr_t *base)
{
	return expect ? reserve_at(expect, size, base) :
			reserve_anywhere(size, size >= GIB ? GIB : RTS_VMM_PAGE, base);
}

/* An address to start at is aligned to the size's power of two, above 512 MiB to 1 GiB. */
static size_t expect_align(size_t size)
{
	size_t align = RTS_VMM_PAGE;

	if (size > GIB / 2)
		return GIB;
	while (align < size)
		align *= 2;
	return align;
}

static int reserve_check(size_t size, size_t alignment, const void *expect, bool no_uc)
{
	if (alignment)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "alignment is %zu; it is reserved and must be 0", alignment);
	if (no_uc && !(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"aclrtReserveMemAddressNoUCMemory exists on Atlas A3 devices; this one is an %s: use aclrtReserveMemAddress",
				rts_profile()->soc);
	if (no_uc && (!expect || size % GIB))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"size is %zu and expectPtr %p; a multiple of 1 GiB and an address are wanted", size, expect);
	if (expect && (uintptr_t)expect % expect_align(size))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"expectPtr is %p; for %zu bytes it must be a multiple of 0x%zx", expect, size,
				expect_align(size));
	return 0;
}

static int reserve_failed(size_t size, const void *expect, int err)
{
	if (err == -EEXIST)
		return RTS_REFUSE("the %zu bytes at expectPtr %p are not all free in this process", size, expect);
	return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no %zu bytes of addresses can be had%s (%s)", size,
			expect ? " at expectPtr" : "", rts_errno_text(err));
}

static int reservation_insert(struct vmm_reservation *res)
{
	struct rts_segment seg = {
		.base = res->base,
		.size = res->size,
		.kind = RTS_SEG_RESERVED,
		.page_kind = VINCI_PAGE_2M,
		.priv = res,
	};

	LIST_INIT(&res->mappings);
	LIST_INIT(&res->dead);
	return rts_va_insert(&seg);
}

/* Addresses of freed memory are kept for a while; somebody who needs them comes first. */
static int reserve_area_or_drain(void *expect, size_t size, uintptr_t *base)
{
	int r = reserve_area(expect, size, base);

	if (r) {
		rts_va_drain();
		r = reserve_area(expect, size, base);
	}
	return r ? reserve_failed(size, expect, r) : 0;
}

int rts_vmm_reserve(size_t size, size_t alignment, void *expect, bool no_uc, void **out)
{
	struct vmm_reservation *res;
	int r = rts_process_start();

	if (!r)
		r = reserve_check(size, alignment, expect, no_uc);
	if (!r && size > SIZE_MAX / 2)
		r = reserve_failed(size, expect, -ENOMEM);
	if (r)
		return r;
	res = calloc(1, sizeof(*res));
	if (!res)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	res->size = rts_round_up(size, RTS_VMM_PAGE);
	res->no_uc = no_uc;
	r = reserve_area_or_drain(expect, res->size, &res->base);
	if (r)
		goto err_free;
	r = reservation_insert(res);
	if (r)
		goto err_unmap;
	*out = (void *)res->base;
	return 0;

err_unmap:
	(void)munmap((void *)res->base, res->size);
err_free:
	free(res);
	return r;
}

/* --- releasing ---------------------------------------------------------------------------- */

void vmm_reservation_free(struct vmm_reservation *res)
{
	rts_va_drop(res->base, res->size);
	free(res);
}

struct vmm_reservation *vmm_reservation_of(uintptr_t addr)
{
	struct rts_segment seg;

	if (!rts_va_find_outer((void *)addr, &seg) || seg.kind != RTS_SEG_RESERVED)
		return NULL;
	return seg.priv;
}

static int release_locked(void *va)
{
	struct vmm_reservation *res = vmm_reservation_of((uintptr_t)va);
	const struct vmm_mapping *m;

	if (!res || res->base != (uintptr_t)va)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%p is not the start of reserved addresses", va);
	m = LIST_FIRST(&res->mappings);
	if (m)
		return RTS_REFUSE("memory is still mapped at %p in the addresses reserved from %p on: aclrtUnmapMem first",
				  (void *)m->base, va);
	(void)rts_va_bury(res->base, RTS_SEG_RESERVED, NULL);
	res->released = true;
	if (!res->dying)
		vmm_reservation_free(res);
	return 0;
}

int rts_vmm_release(void *va)
{
	int r = rts_process_start();

	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = release_locked(va);
	u_mutex_unlock(&rts_share_lock);
	return r;
}
