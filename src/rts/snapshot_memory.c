/* SPDX-License-Identifier: MIT */
/*
 * snapshot_memory.c - pages of devices' memory that have been touched, kept in the process's own. Those that had not
 * been are zeros, and become so again. Memory that another process owns is left alone, and so is the host's.
 */
#include "rts/snapshot_memory.h"
#include "rts/fault.h"
#include "rts/rts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define PIECE_PAGES ((size_t)16384) /* 64 MiB */
#define STEP ((size_t)2 << 20) /* mappings begin at multiples of it */

struct piece {
	struct piece *next;
	char *base;
	size_t pages, kept;
	char *data; /* of the pages kept, one behind the other */
	unsigned char touched[]; /* bit 0 of each; what is beside it is the kernel's */
};

static struct piece *pieces; /* newest first */

/* Of memory that may be unmapped meanwhile. */
struct copy {
	struct piece *piece;
	bool back;
};

static void copy_pages(void *arg)
{
	const struct copy *c = arg;
	char *data = c->piece->data;

	for (size_t i = 0; i < c->piece->pages; i++) {
		char *page = c->piece->base + i * PAGE;

		if (!(c->piece->touched[i] & 1))
			continue;
		memcpy(c->back ? page : data, c->back ? data : page, PAGE);
		data += PAGE;
	}
}

static void zero_pages(void *arg)
{
	static unsigned char now[PIECE_PAGES];
	const struct piece *p = arg;

	if (mincore(p->base, p->pages * PAGE, now))
		return;
	for (size_t i = 0; i < p->pages; i++)
		if (now[i] & 1 && !(p->touched[i] & 1))
			memset(p->base + i * PAGE, 0, PAGE);
}

static void piece_free(struct piece *p)
{
	free(p->data);
	free(p);
}

static int piece_save(char *base, size_t pages)
{
	struct piece *p = calloc(1, sizeof(*p) + pages);
	struct copy copy = { .piece = p };
	struct fault fault;

	if (!p)
		return ACL_ERROR_RT_MEMORY_ALLOCATION;
	p->base = base;
	p->pages = pages;
	if (mincore(base, pages * PAGE, p->touched)) { /* it has gone meanwhile */
		piece_free(p);
		return 0;
	}
	for (size_t i = 0; i < pages; i++)
		p->kept += p->touched[i] & 1;
	p->data = malloc(p->kept * PAGE + 1);
	if (!p->data) {
		piece_free(p);
		return ACL_ERROR_RT_MEMORY_ALLOCATION;
	}
	if (!fault_guard(copy_pages, &copy, &fault)) {
		piece_free(p);
		return 0;
	}
	p->next = pieces;
	pieces = p;
	return 0;
}

/* @done: where what has been saved already ends; small allocations share pages. */
static int range_save(uintptr_t base, size_t size, uintptr_t *done)
{
	uintptr_t at = base & ~(PAGE - 1), end = (base + size + PAGE - 1) & ~(PAGE - 1);
	int r = 0;

	if (at < *done)
		at = *done;
	while (!r && at < end) {
		size_t pages = (end - at) / PAGE < PIECE_PAGES ? (end - at) / PAGE : PIECE_PAGES;

		r = piece_save((char *)at, pages);
		at += pages * PAGE;
	}
	*done = at;
	return r;
}

static int mappings_save(const struct rts_segment *reserved, uintptr_t *done)
{
	uintptr_t at = reserved->base;
	struct rts_segment seg;
	int r = 0;

	while (!r && at < reserved->base + reserved->size) {
		if (!rts_va_find((void *)at, &seg) || seg.kind != RTS_SEG_VMM) {
			at += STEP;
			continue;
		}
		if (!seg.host)
			r = range_save(seg.base, seg.size, done);
		at = seg.base + seg.size;
	}
	return r;
}

static int segment_save(const struct rts_segment *seg, uintptr_t *done)
{
	switch (seg->kind) {
	case RTS_SEG_RESERVED:
		return mappings_save(seg, done);
	case RTS_SEG_DEVICE:
	case RTS_SEG_SMALL:
	case RTS_SEG_POOL:
	case RTS_SEG_MANAGED:
	case RTS_SEG_VARIABLES:
		return seg->host ? 0 : range_save(seg->base, seg->size, done);
	default:
		return 0;
	}
}

int snapshot_memory_save(void)
{
	struct rts_segment seg;
	uintptr_t done = 0;
	int r = 0;

	fault_start_once();
	snapshot_memory_forget();
	for (uintptr_t at = 0; !r && rts_va_next(at, &seg); at = seg.base + 1)
		r = segment_save(&seg, &done);
	if (!r)
		return 0;
	snapshot_memory_forget();
	return u_report(r, "out of host memory for a copy of the devices'");
}

void snapshot_memory_restore(void)
{
	struct fault fault;

	for (struct piece *p = pieces; p; p = p->next)
		if (fault_guard(zero_pages, p, &fault))
			(void)fault_guard(copy_pages, &(struct copy){ .piece = p, .back = true }, &fault);
}

void snapshot_memory_forget(void)
{
	struct piece *next;

	for (; pieces; pieces = next) {
		next = pieces->next;
		piece_free(pieces);
	}
}
