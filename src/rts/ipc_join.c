/* SPDX-License-Identifier: MIT */
/*
 * ipc_join.c - the opposite of ipc_split.c: a range is exported that has pieces in it which were exported on their own
 * before. When nobody shares them any more, the range gets one new object, and the pieces end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/ipc.h"
#include "rts/memory.h"
#include "rts/share.h"

/* No key and no other process: the device's word counts, which also knows of importers that outlived their key. */
static bool is_idle(const struct ipc_piece *piece)
{
	struct drm_vinci_bo_info info;

	return !drv_bo_info(rts_drv(), piece->bo, &info) && info.holders == 1 && !info.shares;
}

static bool is_inside(const struct ipc_piece *piece, const struct ipc_place *place)
{
	return place->offset <= piece->offset && piece->offset + piece->size <= place->offset + place->size;
}

bool ipc_can_join(const struct ipc_place *place, const struct ipc_alloc *alloc)
{
	const struct ipc_piece *piece;

	LIST_FOREACH(piece, &alloc->pieces, link) {
		if (!ipc_overlaps(piece->offset, piece->size, place) || ipc_contains(piece->offset, piece->size, place))
			continue;
		if (piece->stranded || !is_inside(piece, place) || !is_idle(piece))
			return false;
	}
	return true;
}

/* The piece behind @at, or the next one after it: outermost first, as its inner ones end with it. */
static const struct ipc_piece *piece_from(const struct ipc_place *place, const struct ipc_alloc *alloc, uint64_t at)
{
	const struct ipc_piece *piece, *next = NULL;

	LIST_FOREACH(piece, &alloc->pieces, link) {
		if (piece->offset < at || !is_inside(piece, place))
			continue;
		if (!next || piece->offset < next->offset ||
		    (piece->offset == next->offset && piece->size > next->size))
			next = piece;
	}
	return next;
}

/* The pages are mapped nowhere any more, so they are reached by a mapping for the purpose. */
static void drop_pages(const struct ipc_container *around, uint64_t from, uint64_t size)
{
	struct drv *drv = rts_drv();
	void *pages;

	if (drv_map(drv, around->mmap_offset + (from - around->offset), size, NULL, true, &pages))
		return; /* backed until the allocation is freed */
	(void)madvise(pages, size, MADV_REMOVE);
	(void)drv_unmap(drv, pages, size);
}

/* Takes the range [from, to) out of the object around: its charge and its pages end. */
static void drop_gap(const struct ipc_container *around, uint64_t from, uint64_t to)
{
	uint64_t mmap_offset;
	uint32_t bo;

	if (from >= to)
		return;
	drop_pages(around, from, to - from);
	if (drv_bo_split(rts_drv(), around->bo, from - around->offset, to - from, &bo, &mmap_offset))
		u_log(U_WARN, "%llu bytes stay charged until their allocation is freed", (unsigned long long)(to - from));
	else
		(void)drv_close_handle(rts_drv(), bo);
}

static void drop_gaps(const struct ipc_place *place, const struct ipc_alloc *alloc, const struct ipc_container *around)
{
	uint64_t at = place->offset, end = place->offset + place->size;
	const struct ipc_piece *piece;

	while ((piece = piece_from(place, alloc, at))) {
		drop_gap(around, at, piece->offset);
		at = piece->offset + piece->size;
	}
	drop_gap(around, at, end);
}

static void drop_pieces(const struct ipc_place *place, struct ipc_alloc *alloc)
{
	struct ipc_piece *piece, *next;

	for (piece = LIST_FIRST(&alloc->pieces); piece; piece = next) {
		next = LIST_NEXT(piece, link);
		if (!is_inside(piece, place))
			continue;
		LIST_REMOVE(piece, link);
		(void)drv_close_handle(rts_drv(), piece->bo);
		free(piece);
	}
}

static int map_failed(const struct ipc_place *place, int err)
{
	return u_report(rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_MAP, err),
			"the parts of the allocation at %p that were exported before could not be joined (%s)",
			(void *)place->seg.base, rts_errno_text(err));
}

/* Fills the new object and puts it in the place; the old pages are intact until it is there. */
static int take_place(const struct ipc_place *place, const struct ipc_piece *whole)
{
	struct drv *drv = rts_drv();
	uint8_t *addr = (uint8_t *)(place->seg.base + place->offset);
	void *new, *at;
	int err;

	err = drv_map(drv, whole->mmap_offset, whole->size, NULL, true, &new);
	if (err)
		return map_failed(place, err);
	ipc_move_contents(new, addr, whole->size, true);
	err = drv_map(drv, whole->mmap_offset, whole->size, addr, true, &at);
	(void)drv_unmap(drv, new, whole->size);
	return err ? map_failed(place, err) : 0;
}

static int create_whole(const struct ipc_place *place, struct ipc_piece *whole)
{
	struct drm_vinci_bo_create bo = {
		.size = place->size,
		.device = place->seg.owner,
		.page_kind = place->seg.page_kind,
		.numa_node = -1,
	};
	int err = drv_bo_create(rts_drv(), &bo);

	if (err)
		return rts_span_report(place->seg.owner, place->size, place->size, place->seg.page_kind, err);
	whole->offset = place->offset;
	whole->size = place->size;
	whole->bo = bo.handle;
	whole->mmap_offset = bo.mmap_offset;
	return 0;
}

/* For a moment the range is charged twice. */
int ipc_join(const struct ipc_place *place, struct ipc_alloc *alloc, const struct ipc_container *around, uint32_t *bo)
{
	struct ipc_piece *whole = calloc(1, sizeof(*whole));
	int r;

	if (!whole)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	r = create_whole(place, whole);
	if (r)
		goto err_free;
	r = take_place(place, whole);
	if (r)
		goto err_close;
	drop_gaps(place, alloc, around);
	drop_pieces(place, alloc);
	LIST_INSERT_HEAD(&alloc->pieces, whole, link);
	*bo = whole->bo;
	return 0;

err_close:
	(void)drv_close_handle(rts_drv(), whole->bo);
err_free:
	free(whole);
	return r;
}
