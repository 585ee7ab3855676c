/* SPDX-License-Identifier: MIT */
/* Memory objects: their files, their place in the mmap offset space, who holds them, and what they are charged. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
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
	const struct soft_object *a = left, *b = right;

	if (a->offset + a->span <= b->offset)
		return -1;
	return a->offset >= b->offset + b->span;
}

static struct soft_object *find_offset(struct soft_device *device, uint64_t offset)
{
	struct soft_object key = { .offset = offset, .span = 1 };
	struct soft_object **node;

	if (offset >= OFFSET_END)
		return NULL;
	node = tfind(&key, &device->offsets, compare_offsets);
	return node ? *node : NULL;
}

static int place_offset(struct soft_device *device, struct soft_object *object)
{
	uint64_t at = device->next_offset ? device->next_offset : OFFSET_FIRST;
	struct soft_object **node;
	bool wrapped = false;

	for (;;) {
		if (object->span > OFFSET_END - at) {
			if (wrapped)
				return -ENOSPC;
			wrapped = true;
			at = OFFSET_FIRST;
		}
		object->offset = at;
		node = tsearch(object, &device->offsets, compare_offsets);
		if (!node)
			return -ENOSPC;
		if (*node == object)
			break;
		at = ((*node)->offset + (*node)->span + OFFSET_ALIGN - 1) / OFFSET_ALIGN * OFFSET_ALIGN;
	}
	device->next_offset = (at + object->span + OFFSET_ALIGN - 1) / OFFSET_ALIGN * OFFSET_ALIGN;
	return 0;
}

/* --- objects ------------------------------------------------------------------------------- */

/* Nobody holds it yet: the caller adds the first hold or calls soft_object_destroy(). @error: -errno with NULL. */
struct soft_object *soft_object_create(struct soft_device *device, uint32_t type, uint64_t size, int *error)
{
	struct soft_object *object = calloc(1, sizeof(*object));

	*error = -ENOSPC;
	if (!object)
		return NULL;
	object->device = device;
	object->type = type;
	object->span = size;
	object->size = size;
	links_init(&object->holds);
	links_init(&object->shares);
	object->fd = create_file(size);
	if (object->fd < 0) {
		*error = object->fd;
		goto err_free;
	}
	if (place_offset(device, object))
		goto err_close;
	links_add(&device->objects, &object->link);
	return object;

err_close:
	(void)close(object->fd);
err_free:
	free(object);
	return NULL;
}

static bool is_charged(const struct soft_object *object)
{
	return object->type == VINCI_OBJECT_BO && !(object->flags & VINCI_BO_HOST);
}

void soft_object_destroy(struct soft_object *object)
{
	if (is_charged(object))
		object->device->used[object->owner] -= object->size;
	if (object->type == VINCI_OBJECT_NOTIFY)
		soft_notify_gone(object);
	object->device->orphans -= object->is_orphan;
	links_del(&object->link);
	(void)tdelete(object, &object->device->offsets, compare_offsets);
	(void)close(object->fd);
	free(object->splits);
	free(object);
}

/* --- holds --------------------------------------------------------------------------------- */

int soft_hold_create(struct soft_file *file, struct soft_object *object, struct soft_share *share, uint32_t device,
		     struct soft_hold **out)
{
	struct soft_hold *hold = calloc(1, sizeof(*hold));
	int r;

	if (!hold)
		return -ENOSPC;
	hold->file = file;
	hold->object = object;
	hold->share = share;
	hold->device = device;
	r = soft_handle_add(file, hold);
	if (r) {
		free(hold);
		return r;
	}
	links_init(&hold->by_share);
	links_add(&object->holds, &hold->by_object);
	if (share)
		links_add(&share->openers, &hold->by_share);
	if (!object->payer)
		object->payer = file;
	*out = hold;
	return 0;
}

/* The object goes with its last hold; a closed share with its last opener. */
void soft_hold_drop(struct soft_hold *hold)
{
	struct soft_object *object = hold->object;
	struct soft_share *share = hold->share;
	struct soft_hold *other;

	links_del(&hold->by_object);
	links_del(&hold->by_share);
	if (share) {
		soft_share_opener_gone(share);
	} else {
		object->is_orphan = true;
		object->device->orphans++;
	}
	if (object->payer == hold->file) {
		object->payer = NULL;
		links_for_each(other, &object->holds, struct soft_hold, by_object) {
			object->payer = other->file;
			if (other->file == hold->file)
				break;
		}
	}
	free(hold);
	if (links_empty(&object->holds))
		soft_object_destroy(object);
}

/* Files, not handles: the stamp marks those already counted. */
uint32_t soft_object_holders(struct soft_object *object)
{
	uint64_t stamp = ++object->device->stamp;
	struct soft_hold *hold;
	uint32_t n = 0;

	links_for_each(hold, &object->holds, struct soft_hold, by_object) {
		if (hold->file->stamp == stamp)
			continue;
		hold->file->stamp = stamp;
		n++;
	}
	return n;
}

uint32_t soft_object_shares(const struct soft_object *object)
{
	struct soft_share *share;
	uint32_t n = 0;

	links_for_each(share, &object->shares, struct soft_share, by_object)
		n += !share->closed;
	return n;
}

void soft_memory_set(struct soft_memory *memory, const struct soft_object *object, uint32_t handle)
{
	memory->fd = object->fd;
	memory->page_kind = object->page_kind;
	memory->handle = handle;
	memory->base = object->offset;
	memory->size = object->span;
}

/* Like the kernel's offset manager: only a holder may map. */
int soft_mmap(struct soft_file *file, uint64_t offset, uint64_t size, struct soft_memory *memory)
{
	struct soft_object *object = find_offset(file->device, offset);
	struct soft_hold *hold;

	if (!object || !size || offset % 4096 || size > object->span ||
	    offset - object->offset > object->span - size)
		return -EINVAL;
	links_for_each(hold, &object->holds, struct soft_hold, by_object) {
		if (hold->file != file)
			continue;
		soft_memory_set(memory, object, 0);
		return 0;
	}
	return -EACCES;
}

/* --- requests ------------------------------------------------------------------------------ */

/* A new BO, charged, with its first hold. */
static int create_bo(struct soft_file *file, const struct drm_vinci_bo_create *a, struct soft_hold **out)
{
	struct soft_object *object;
	int r;

	object = soft_object_create(file->device, VINCI_OBJECT_BO, a->size, &r);
	if (!object)
		return r;
	object->creator = file->process;
	object->owner = a->device;
	object->flags = a->flags;
	object->page_kind = a->page_kind;
	if (is_charged(object))
		file->device->used[a->device] += a->size;
	r = soft_hold_create(file, object, NULL, a->device, out);
	if (r) {
		soft_object_destroy(object);
		return r;
	}
	soft_numa_place(object->fd, object->span,
			a->flags & VINCI_BO_HOST ? a->numa_node : file->device->node[a->device]);
	return 0;
}

SOFT_HANDLER(soft_bo_create)
{
	struct drm_vinci_bo_create *a = data;
	const struct soft_config *config = &file->device->config;
	struct soft_hold *hold;
	int r = vinci_check_bo_create(a, config->devices);

	if (r)
		return r;
	if (a->flags & VINCI_BO_HOST) {
		if (a->size > 1ull << 46)
			return -ENOSPC;
	} else if (a->size > config->mem_bytes - file->device->used[a->device]) {
		return -ENOMEM;
	}
	r = create_bo(file, a, &hold);
	if (r)
		return r;
	a->handle = hold->handle;
	a->mmap_offset = hold->object->offset;
	soft_memory_set(call->memory, hold->object, hold->handle);
	return 0;
}

SOFT_HANDLER(soft_bo_info)
{
	struct drm_vinci_bo_info *a = data;
	struct soft_hold *hold = soft_handle_find(file, a->handle);
	struct soft_object *object;

	(void)call;
	if (!hold)
		return -ENOENT;
	object = hold->object;
	a->object = object->type;
	a->size = object->size;
	a->mmap_offset = object->offset;
	a->device = object->owner;
	a->flags = object->flags;
	a->page_kind = object->page_kind;
	a->holders = soft_object_holders(object);
	a->shares = soft_object_shares(object);
	a->id = object->id;
	return 0;
}

static bool overlaps_split(const struct soft_object *object, uint64_t offset, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < object->split_count; i++)
		if (offset < object->splits[i].offset + object->splits[i].size &&
		    object->splits[i].offset < offset + size)
			return true;
	return false;
}

/* Room for one more range, so that nothing can fail once the piece exists. */
static int reserve_split(struct soft_object *object)
{
	struct soft_range *splits;

	if (object->split_count >= SOFT_MAX_HANDLES)
		return -ENOSPC;
	splits = realloc(object->splits, (object->split_count + 1) * sizeof(*splits));
	if (!splits)
		return -ENOSPC;
	object->splits = splits;
	return 0;
}

static int check_split(struct soft_hold *hold, const struct drm_vinci_bo_split *a)
{
	struct soft_object *object = hold->object;
	int r;

	if (hold->share)
		return -EACCES;
	if (object->type != VINCI_OBJECT_BO)
		return -EINVAL;
	r = vinci_check_bo_split(a, object->page_kind, object->span);
	if (r)
		return r;
	if (overlaps_split(object, a->offset, a->size))
		return -EINVAL;
	return soft_object_holders(object) > 1 || !links_empty(&object->shares) ? -EBUSY : 0;
}

SOFT_HANDLER(soft_bo_split)
{
	struct drm_vinci_bo_split *a = data;
	struct soft_hold *hold = soft_handle_find(file, a->handle), *piece;
	struct soft_object *object;
	int r;

	if (!hold)
		return -ENOENT;
	object = hold->object;
	r = check_split(hold, a);
	if (!r)
		r = reserve_split(object);
	if (!r)
		r = create_bo(file, &(struct drm_vinci_bo_create){
			.size = a->size, .device = object->owner, .flags = object->flags,
			.page_kind = object->page_kind, .numa_node = -1 }, &piece);
	if (r)
		return r;
	object->splits[object->split_count++] = (struct soft_range){ a->offset, a->size };
	object->size -= a->size;
	if (is_charged(object))
		file->device->used[object->owner] -= a->size;
	a->new_handle = piece->handle;
	a->mmap_offset = piece->object->offset;
	soft_memory_set(call->memory, piece->object, piece->handle);
	return 0;
}
