/* SPDX-License-Identifier: MIT */
/*
 * ipc_split.c - gives a range of an allocation an object of its own, so that its importers reach these pages and nothing else,
 * whatever they do with the descriptor.
 *
 * The address of the range stays. The new object is mapped in its place and the contents are moved over, while no task of
 * this process runs; other threads that touch the range from the host during an export of a part see it half moved, as they would
 * during aclrtFree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/ipc.h"
#include "rts/memory.h"
#include "rts/share.h"

#define HOST_PAGE 4096u
#define MOVE_CHUNK (UINT64_C(2) << 20) /* the most that a move backs twice */

bool ipc_contains(uint64_t offset, uint64_t size, const struct ipc_place *place)
{
	return offset <= place->offset && place->offset + place->size <= offset + size;
}

bool ipc_overlaps(uint64_t offset, uint64_t size, const struct ipc_place *place)
{
	return offset < place->offset + place->size && place->offset < offset + size;
}

static void smallest_container(const struct ipc_place *place, const struct ipc_alloc *alloc, struct ipc_container *c)
{
	const struct ipc_piece *piece;

	*c = (struct ipc_container){ 0, rts_round_up(place->seg.size, rts_page_size(place->seg.page_kind)),
				 place->seg.handle, place->seg.mmap_offset, false };
	if (!alloc)
		return;
	LIST_FOREACH(piece, &alloc->pieces, link)
		if (ipc_contains(piece->offset, piece->size, place) && piece->size <= c->size)
			*c = (struct ipc_container){ piece->offset, piece->size, piece->bo, piece->mmap_offset,
						 piece->stranded };
}

/* Some of the pages are in a piece that does not hold all of them. */
static const struct ipc_piece *piece_in_the_way(const struct ipc_place *place, const struct ipc_alloc *alloc,
						const struct ipc_container *c)
{
	const struct ipc_piece *piece;

	if (!alloc)
		return NULL;
	LIST_FOREACH(piece, &alloc->pieces, link)
		if (ipc_overlaps(piece->offset, piece->size, place) && piece->bo != c->bo && piece->size < c->size)
			return piece;
	return NULL;
}

bool ipc_place_whole(const struct ipc_place *place, const struct ipc_alloc *alloc, uint32_t *bo)
{
	struct ipc_container c;

	smallest_container(place, alloc, &c);
	if (c.stranded || c.size != place->size || piece_in_the_way(place, alloc, &c))
		return false;
	*bo = c.bo;
	return true;
}

static bool is_zero(const uint64_t *page)
{
	size_t i;

	for (i = 0; i < HOST_PAGE / sizeof(*page); i++)
		if (page[i])
			return false;
	return true;
}

/* Pages that hold nothing but zeros are not written, so that what was never touched stays unbacked. Says whether any was. */
static bool copy_chunk(uint8_t *to, const uint8_t *from, uint64_t len)
{
	bool any = false;
	uint64_t page;

	for (page = 0; page < len; page += HOST_PAGE) {
		if (is_zero((const uint64_t *)(const void *)(from + page)))
			continue;
		memcpy(to + page, from + page, HOST_PAGE);
		any = true;
	}
	return any;
}

/* Reading backs pages in the old object: those that hold only zeros are dropped from it at once. */
void ipc_move_contents(uint8_t *to, uint8_t *from, uint64_t size, bool keep)
{
	uint64_t at, len;

	for (at = 0; at < size; at += MOVE_CHUNK) {
		len = size - at < MOVE_CHUNK ? size - at : MOVE_CHUNK;
		if (!copy_chunk(to + at, from + at, len) || !keep)
			(void)madvise(from + at, len, MADV_REMOVE); /* what stays there is never shared again */
	}
}

/*
 * Puts the piece's object where its pages were. The old pages are mapped a second time first: once the place is taken, nothing
 * can fail any more.
 */
static int move_piece(const struct ipc_place *place, const struct ipc_container *from, struct ipc_piece *piece)
{
	struct drv *drv = rts_drv();
	void *addr = (void *)(place->seg.base + piece->offset);
	void *old, *new;
	int err;

	err = drv_map(drv, from->mmap_offset + (piece->offset - from->offset), piece->size, NULL, true, &old);
	if (err)
		return err;
	err = drv_map(drv, piece->mmap_offset, piece->size, addr, true, &new);
	if (!err) {
		piece->stranded = false;
		ipc_move_contents(new, old, piece->size, false);
	}
	(void)drv_unmap(drv, old, piece->size);
	return err;
}

static int split_failed(const struct ipc_place *place, int err)
{
	int code = rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_BO_SPLIT, err);

	if (err == -EBUSY)
		return u_report(code, "bytes %llu to %llu of the allocation at %p cannot be given pages of their own: the memory around them is exported by another key or mapped by another process; close that first, or export the whole allocation",
				(unsigned long long)place->offset, (unsigned long long)(place->offset + place->size),
				(void *)place->seg.base);
	return u_report(code, "bytes %llu to %llu of the allocation at %p could not be given pages of their own (%s)",
			(unsigned long long)place->offset, (unsigned long long)(place->offset + place->size),
			(void *)place->seg.base, rts_errno_text(err));
}

static int split(const struct ipc_place *place, struct ipc_alloc *alloc, const struct ipc_container *from, uint32_t *bo)
{
	struct ipc_piece *piece = calloc(1, sizeof(*piece));
	int err;

	if (!piece)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	piece->offset = place->offset;
	piece->size = place->size;
	piece->stranded = true;
	err = drv_bo_split(rts_drv(), from->bo, place->offset - from->offset, place->size, &piece->bo,
			   &piece->mmap_offset);
	if (err) {
		free(piece);
		return split_failed(place, err);
	}
	LIST_INSERT_HEAD(&alloc->pieces, piece, link);
	err = move_piece(place, from, piece);
	if (err)
		return split_failed(place, err);
	*bo = piece->bo;
	return 0;
}

int ipc_place_object(const struct ipc_place *place, struct ipc_alloc *alloc, uint32_t *bo)
{
	const struct ipc_piece *piece;
	struct ipc_container c;

	if (ipc_place_whole(place, alloc, bo))
		return 0;
	smallest_container(place, alloc, &c);
	if (place->seg.kind != RTS_SEG_DEVICE)
		return RTS_REFUSE("only the whole of a mapping can be exported by key: bytes %llu to %llu of %zu were given",
				(unsigned long long)place->offset, (unsigned long long)(place->offset + place->size),
				place->seg.size);
	piece = piece_in_the_way(place, alloc, &c);
	if (piece && !c.stranded && ipc_can_join(place, alloc))
		return ipc_join(place, alloc, &c, bo);
	if (piece || c.stranded)
		return RTS_REFUSE("bytes %llu to %llu of the allocation at %p are exported on their own, or were and are still mapped by another process; export the same range again, or one that does not overlap it",
				(unsigned long long)(piece ? piece->offset : c.offset),
				(unsigned long long)(piece ? piece->offset + piece->size : c.offset + c.size),
				(void *)place->seg.base);
	return split(place, alloc, &c, bo);
}

void ipc_pieces_close(struct ipc_alloc *alloc)
{
	struct ipc_piece *piece;

	while ((piece = LIST_FIRST(&alloc->pieces))) {
		LIST_REMOVE(piece, link);
		(void)drv_close_handle(rts_drv(), piece->bo);
		free(piece);
	}
}
