/* SPDX-License-Identifier: MIT */
/* ipc.h - device memory shared by key: what the acl layer calls, and what ipc*.c and vmm*.c share. */
#ifndef VINCI_RTS_IPC_H
#define VINCI_RTS_IPC_H

#include <sys/queue.h>

#include "rts/rts.h"

#define RTS_IPC_KEY_LEN 64 /* characters; a NUL follows */
#define RTS_IPC_PIDS_MAX 31 /* per call */

/* Writes RTS_IPC_KEY_LEN + 1 bytes. @len: what the caller says the buffer holds. */
int rts_ipc_export(void *ptr, size_t size, char *key, size_t len, uint64_t flags);
int rts_ipc_allow(const char *key, const int32_t *pids, size_t count);
int rts_ipc_allow_servers(const char *key, const aclrtServerPid *servers, size_t count);
int rts_ipc_import(const char *key, uint64_t flags, void **out);
/* An import of this process, oldest first; when there is none (left), the key itself, which only its exporter may close. */
int rts_ipc_close(const char *key);
int rts_ipc_set_attr(const char *key, uint32_t type, uint64_t attr);

/* --- for ipc*.c; under rts_share_lock ------------------------------------------------------ */

/*
 * A part of an allocation that was split off into an object of its own. Pieces nest: what is backed by a
 * piece is what no smaller piece inside it backs.
 */
struct ipc_piece {
	LIST_ENTRY(ipc_piece) link;
	uint64_t offset, size; /* in the allocation */
	uint32_t bo;
	uint64_t mmap_offset;
	bool stranded; /* split at the device, but the contents could not be moved: charged, never exported */
};

struct ipc_export {
	LIST_ENTRY(ipc_export) by_key, by_alloc;
	struct ipc_alloc *alloc;
	struct drv_name name;
};

/* An allocation or mapping that has pieces or keys. */
struct ipc_alloc {
	LIST_ENTRY(ipc_alloc) link;
	LIST_HEAD(, ipc_export) exports;
	LIST_HEAD(, ipc_piece) pieces;
	uintptr_t base;
	uint32_t device;
};

/* A device connection, a current context, and @name from @key if that is not NULL. 107002, 107000. */
int ipc_enter(const char *key, struct drv_name *name, uint32_t *device);
struct ipc_export *ipc_export_find(const struct drv_name *name);
/* The device's key, which is its exporter's to close. */
int ipc_key_close(const struct drv_name *name);
/* Keys of this process's memory on @device. */
void ipc_allocs_end(uint32_t device);

/* The pages that a range needs, within the segment that holds it. */
struct ipc_place {
	struct rts_segment seg;
	uint64_t offset, size; /* multiples of the page size */
	uint64_t told; /* bytes that importers are told; as many pages */
};

/* A range of an allocation and the object behind it: the allocation's own (bo of the segment) or a piece's. */
struct ipc_container {
	uint64_t offset, size;
	uint32_t bo;
	uint64_t mmap_offset;
	bool stranded;
};

/* [offset, offset + size) and the pages of @place. */
bool ipc_contains(uint64_t offset, uint64_t size, const struct ipc_place *place);
bool ipc_overlaps(uint64_t offset, uint64_t size, const struct ipc_place *place);
/* @keep: what is not zero stays in the old place too, for the case that the move has to be given up. */
void ipc_move_contents(uint8_t *to, uint8_t *from, uint64_t size, bool keep);

/* ipc_join.c: pieces that nobody shares any more become one object with what lies between them. */
bool ipc_can_join(const struct ipc_place *place, const struct ipc_alloc *alloc);
int ipc_join(const struct ipc_place *place, struct ipc_alloc *alloc, const struct ipc_container *around, uint32_t *bo);

/* The object that backs exactly these pages, if there is one already: false when a split is needed first (or impossible). */
bool ipc_place_whole(const struct ipc_place *place, const struct ipc_alloc *alloc, uint32_t *bo);
/* Splits if needed. No task may be running. */
int ipc_place_object(const struct ipc_place *place, struct ipc_alloc *alloc, uint32_t *bo);
void ipc_pieces_close(struct ipc_alloc *alloc);

#endif
