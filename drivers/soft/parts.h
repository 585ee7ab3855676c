/* SPDX-License-Identifier: MIT */
/* parts.h - what the objects of common/core.h have in this device only. */
#ifndef VINCI_SOFT_PARTS_H
#define VINCI_SOFT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/vinci_drm.h"

struct vinci_hold;

struct vinci_identity {
	uint64_t start; /* soft_process_start(); 0: unknown, or nobody: it matches nothing */
};

struct vinci_device_parts {
	int32_t node[VINCI_MAX_DEVICES]; /* NUMA, -1: unknown */
	void *offsets; /* tsearch tree of objects by mmap offset */
	uint64_t next_offset;
};

struct vinci_file_parts {
	struct vinci_hold **handles; /* by handle */
	uint32_t handle_room;
	uint32_t handle_hint;
};

struct vinci_object_parts {
	int fd; /* sealed memfd; owned */
	uint64_t offset; /* mmap offset of the first byte */
};

struct vinci_hold_parts {
};

static inline bool vinci_same_identity(const struct vinci_identity *a, const struct vinci_identity *b)
{
	return a->start && a->start == b->start;
}

/* A number needs no references, one thread no locks. */
static inline void vinci_identity_get(struct vinci_identity *identity)
{
	(void)identity;
}

static inline void vinci_identity_put(struct vinci_identity *identity)
{
	(void)identity;
}

static inline void vinci_users_lock(struct vinci_object_parts *own)
{
	(void)own;
}

static inline void vinci_users_unlock(struct vinci_object_parts *own)
{
	(void)own;
}

#endif
