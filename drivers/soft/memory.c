/* SPDX-License-Identifier: MIT */
/* Objects' memory: sealed memfds, and their place in the mmap offset space. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/internal.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* Objects begin at multiples of 2 MiB, and an offset is not handed out again until all have been. */
#define OFFSET_FIRST (1ull << 32)
#define OFFSET_END (1ull << 62)
#define OFFSET_ALIGN (2ull << 20)

/* --- files --------------------------------------------------------------------------------- */

static int open_memfd(void)
{
	int fd = memfd_create("vinci", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before 6.3 */
		fd = memfd_create("vinci", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -ENOSPC : fd;
}

/* Backed on first touch; sealed before anybody sees it. */
static int create_file(uint64_t size)
{
	int fd = open_memfd();
	int r;

	if (fd < 0)
		return fd;
	do
		r = ftruncate(fd, (off_t)size);
	while (r && errno == EINTR);
	if (r) {
		r = errno == EFBIG ? -EFBIG : -ENOSPC;
		goto err_close;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		r = -ENOSPC;
		goto err_close;
	}
	return fd;

err_close:
	(void)close(fd);
	return r;
}

/* --- mmap offsets -------------------------------------------------------------------------- */

/* Overlapping ranges count as equal: a search by any byte finds its object. */
static int compare_offsets(const void *left, const void *right)
{
	const struct vinci_object *a = left, *b = right;

	if (a->own.offset + a->span <= b->own.offset)
		return -1;
	return a->own.offset >= b->own.offset + b->span;
}

static struct vinci_object *find_offset(struct vinci_device *device, uint64_t offset)
{
	struct vinci_object key = { .own.offset = offset, .span = 1 };
	struct vinci_object **node;

	if (offset >= OFFSET_END)
		return NULL;
	node = tfind(&key, &device->own.offsets, compare_offsets);
	return node ? *node : NULL;
}

static int place_offset(struct vinci_device *device, struct vinci_object *object)
{
	uint64_t at = device->own.next_offset ? device->own.next_offset : OFFSET_FIRST;
	struct vinci_object **node;
	bool wrapped = false;

	for (;;) {
		if (object->span > OFFSET_END - at) {
			if (wrapped)
				return -ENOSPC;
			wrapped = true;
			at = OFFSET_FIRST;
		}
		object->own.offset = at;
		node = tsearch(object, &device->own.offsets, compare_offsets);
		if (!node)
			return -ENOSPC;
		if (*node == object)
			break;
		at = ((*node)->own.offset + (*node)->span + OFFSET_ALIGN - 1) / OFFSET_ALIGN * OFFSET_ALIGN;
	}
	device->own.next_offset = (at + object->span + OFFSET_ALIGN - 1) / OFFSET_ALIGN * OFFSET_ALIGN;
	return 0;
}

/* --- objects ------------------------------------------------------------------------------- */

int vinci_object_alloc(struct vinci_device *device, __u64 size, struct vinci_object **out)
{
	struct vinci_object *object = calloc(1, sizeof(*object));
	int r = -ENOSPC;

	if (!object)
		return -ENOSPC;
	object->span = size;
	object->own.fd = create_file(size);
	if (object->own.fd < 0) {
		r = object->own.fd;
		goto err_free;
	}
	r = place_offset(device, object);
	if (r)
		goto err_close;
	*out = object;
	return 0;

err_close:
	(void)close(object->own.fd);
err_free:
	free(object);
	return r;
}

void vinci_object_free(struct vinci_object *object)
{
	(void)tdelete(object, &object->device->own.offsets, compare_offsets);
	(void)close(object->own.fd);
	free(object);
}

__u64 vinci_hold_offset(struct vinci_hold *hold)
{
	return hold->object->own.offset;
}

void soft_memory_set(struct soft_memory *memory, const struct vinci_hold *hold)
{
	const struct vinci_object *object = hold->object;

	memory->fd = object->own.fd;
	memory->page_kind = object->page_kind;
	memory->handle = hold->handle;
	memory->base = object->own.offset;
	memory->size = object->span;
}

/* Like the kernel's offset manager: only a holder may map. */
int soft_mmap(struct vinci_file *file, uint64_t offset, uint64_t size, struct soft_memory *memory)
{
	struct vinci_object *object = find_offset(file->device, offset);
	struct vinci_hold *hold;

	if (!object || !size || offset % 4096 || size > object->span ||
	    offset - object->own.offset > object->span - size)
		return -EINVAL;
	list_for_each_entry(hold, &object->holds, by_object) {
		if (hold->file != file)
			continue;
		soft_memory_set(memory, hold);
		memory->handle = 0; /* no request made it */
		return 0;
	}
	return -EACCES;
}
