/* SPDX-License-Identifier: MIT */
/*
 * memory.h - device and host memory, copies and sets: what the acl layer calls, and what the files of this part share.
 */
#ifndef VINCI_RTS_MEMORY_H
#define VINCI_RTS_MEMORY_H

#include "rts/rts.h"

#define RTS_PAGE_4K ((size_t)4096)

/* Bytes of a page of @page_kind (VINCI_PAGE_*). */
static inline size_t rts_page_size(uint32_t page_kind)
{
	switch (page_kind) {
	case VINCI_PAGE_2M:
		return (size_t)2 << 20;
	case VINCI_PAGE_1G:
		return (size_t)1 << 30;
	default:
		return RTS_PAGE_4K;
	}
}

/* @align is a power of two; the caller has excluded overflow. */
static inline size_t rts_round_up(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

/* ---- va.c ---- */

enum rts_va_state {
	RTS_VA_UNKNOWN, /* nothing of vinci's: pageable host memory, if it is memory at all */
	RTS_VA_FOUND,
	RTS_VA_GONE, /* see rts_va_gone() */
};

/* What is at @ptr now; *seg is set when found. */
enum rts_va_state rts_va_look(const void *ptr, struct rts_segment *seg);
/* As rts_va_find(), but a registration inside an allocation is not looked at. */
bool rts_va_find_outer(const void *ptr, struct rts_segment *seg);
/* As rts_va_insert() with @extent bytes that nothing else may use: the pages and a guard behind them. */
int rts_va_insert_extent(const struct rts_segment *seg, size_t extent);
/* True when a registration touches [base, base + size); *seg is the first. */
bool rts_va_registered(uintptr_t base, size_t size, struct rts_segment *seg);
/* True when a segment other than VMM and registrations, or a freed one, touches [base, base + size). */
bool rts_va_touches(uintptr_t base, size_t size);
/* Gives the addresses of all freed ranges back to the system: for when it has none left. */
void rts_va_drain(void);

/* ---- memory.c ---- */

/* @policy: aclrtMemMallocPolicy. @size as asked for plus padding. 107002, 207001. */
int rts_memory_alloc(size_t size, uint32_t policy, void **out);
int rts_memory_free(void *ptr); /* 107000 */
/* Bytes; 107002, 107016. */
int rts_memory_info(uint32_t attr, size_t *free_bytes, size_t *total_bytes);
int rts_memory_attributes(const void *ptr, aclrtPtrAttributes *attributes); /* 507899, 107017 */
int rts_memory_range(const void *ptr, void **base, size_t *size);	    /* 107000 */
/* *same: every address is in device memory and @mem_type asks for it. 107000, 107002. */
int rts_memory_check_type(void *const *addresses, uint32_t count, uint32_t mem_type, bool *same);

/*
 * An address range with a BO mapped at its start. @extent: bytes that are reserved from @base on; the last page of it
 * stays unreadable, so that running over the end is noticed.
 */
struct rts_span {
	uintptr_t base;
	size_t extent;
	uint32_t handle;
	uint32_t device;
	uint32_t page_kind;
	uint64_t mmap_offset;
};

/* Addresses for @extent bytes from a multiple of @align (a page or more) on, without memory. 0 or -ENOMEM */
int rts_reserve(size_t extent, size_t align, uintptr_t *base);
/* A new BO of @size bytes (rounded up to whole pages of @page_kind) and its mapping, aligned to the page kind. 0 or
 * -errno. */
int rts_span_create(struct rts_span *span, uint32_t device, size_t size, uint32_t page_kind);
/* The charge goes at once; the mapping stays. 0 or -errno, and then the memory is gone for this process all the same. */
int rts_span_close(const struct rts_span *span);
/* The code for what rts_span_close() answered for the span at @base, after a sentence; 0 for 0. */
int rts_span_close_report(uintptr_t base, int err);
/* Says how much is free and how much was wanted; returns the code for @err. */
int rts_span_report(uint32_t device, size_t wanted, size_t asked, uint32_t page_kind, int err);

/* ---- small.c: allocations below a page share slabs ---- */

#define RTS_SMALL_MAX (RTS_PAGE_4K - 1)

int rts_small_alloc(uint32_t device, size_t size, void **out);
/* 107000 when no block starts at @ptr; @slab is the priv of the segment that contains it. */
int rts_small_free(void *slab, uintptr_t ptr);
/* For va.c: the block that contains @ptr; false when it is free. Lock-free; a slab that has gone gives nonsense, not a
 * fault. */
bool rts_small_resolve(const void *slab, uintptr_t ptr, struct rts_segment *seg);
void rts_small_device_gone(uint32_t device);

/* ---- host.c ---- */

int rts_host_alloc(size_t size, void **out); /* 107002, 207001 */
int rts_host_free(void *ptr);		     /* 107000 */
/* @flags: ACL_HOST_REG_*, checked. 107000, 107002, 207000, 507910 */
int rts_host_register(void *ptr, size_t size, uint32_t flags);
int rts_host_unregister(void *ptr);		       /* 107002, 507911 */
int rts_host_device_pointer(void *ptr, void **device); /* 107000, 107002 */

/* ---- copy.c ---- */

struct rts_rect {
	void *dst;
	const void *src;
	size_t dpitch, spitch; /* bytes from row to row */
	size_t width, height;  /* bytes, rows */
};

int rts_copy(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind);
int rts_copy_async(void *dst, size_t dst_max, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream);
int rts_copy_2d(const struct rts_rect *rect, aclrtMemcpyKind kind);
int rts_copy_2d_async(const struct rts_rect *rect, aclrtMemcpyKind kind, aclrtStream stream);

/* ---- set.c ---- */

int rts_set(void *ptr, size_t max, int value, size_t count);
int rts_set_async(void *ptr, size_t max, int value, size_t count, aclrtStream stream);
/* @count words of 32 bits; @ptr is aligned to them */
int rts_set32(void *ptr, uint32_t value, size_t count);
int rts_set32_async(void *ptr, uint32_t value, size_t count, aclrtStream stream);

/* Shared by copy.c and set.c. */
struct rts_place {
	aclrtMemLocationType type; /* HOST, DEVICE or UNREGISTERED (pageable) */
	uint32_t device;	   /* DEVICE: where it is used; the importing device */
	uint32_t owner;		   /* DEVICE: device of the physical memory */
	bool by_key;		   /* imported by key */
	bool managed;		   /* every device's */
};

/* Where [ptr, ptr + len) is; @what names the argument. 507899 when it is not inside one allocation. */
int rts_place(const void *ptr, size_t len, const char *what, struct rts_place *place);
/* 107002: no context; 107003: @stream is not of the current one. */
int rts_stream_own(struct rts_stream *stream);
/* @max: what the caller says the destination holds. 107000 */
int rts_check_max(size_t max, size_t count);

#endif
