// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* Objects: who holds them, what they are charged, and how a piece becomes an object of its own. */
#include "common/checks.h"
#include "common/core.h"

/* --- objects ------------------------------------------------------------------------------- */

/* Nobody holds it yet: the caller adds the first hold or calls vinci_object_destroy(). */
int vinci_object_create(struct vinci_file *file, __u32 type, __u64 size, __u32 owner, struct vinci_object **out)
{
	struct vinci_object *object;
	int r = vinci_object_alloc(file->device, size, &object);

	if (r)
		return r;
	object->device = file->device;
	object->creator_pid = file->process.pid;
	object->creator_uid = file->process.uid;
	object->type = type;
	object->span = size;
	object->size = size;
	object->owner = owner;
	INIT_LIST_HEAD(&object->holds);
	INIT_LIST_HEAD(&object->shares);
	list_add_tail(&object->link, &file->device->objects);
	*out = object;
	return 0;
}

static bool is_charged(const struct vinci_object *object)
{
	return object->type == VINCI_OBJECT_BO && !(object->flags & VINCI_BO_HOST);
}

void vinci_object_destroy(struct vinci_object *object)
{
	if (is_charged(object))
		object->device->used[object->owner] -= object->size;
	if (object->type == VINCI_OBJECT_NOTIFY)
		vinci_notify_gone(object);
	object->device->orphans -= object->is_orphan;
	list_del_init(&object->link);
	vinci_free(object->splits);
	vinci_object_free(object);
}

void vinci_object_drop_user(struct vinci_object *object)
{
	__u32 users;

	vinci_users_lock(&object->own);
	users = --object->users;
	vinci_users_unlock(&object->own);
	if (!users)
		vinci_object_destroy(object);
}

/* The stamp marks the files already counted. */
__u32 vinci_object_holders(struct vinci_object *object)
{
	__u64 stamp = ++object->device->stamp;
	struct vinci_hold *hold;
	__u32 n = 0;

	list_for_each_entry(hold, &object->holds, by_object) {
		if (hold->file->stamp == stamp)
			continue;
		hold->file->stamp = stamp;
		n++;
	}
	return n;
}

/* --- holds --------------------------------------------------------------------------------- */

void vinci_hold_link(struct vinci_hold *hold, struct vinci_file *file, struct vinci_share *share, __u32 device)
{
	struct vinci_object *object = hold->object;

	hold->file = file;
	hold->share = share;
	hold->is_imported |= !!share;
	hold->device = device;
	INIT_LIST_HEAD(&hold->by_share);
	list_add_tail(&hold->by_object, &object->holds);
	list_add_tail(&hold->by_file, &file->holds);
	file->hold_count++;
	if (share)
		list_add_tail(&hold->by_share, &share->openers);
	if (!object->payer)
		object->payer = file;
	vinci_users_lock(&object->own);
	object->users++;
	vinci_users_unlock(&object->own);
}

int vinci_hold_create(struct vinci_file *file, struct vinci_object *object, struct vinci_share *share, __u32 device,
		      struct vinci_hold **out)
{
	int r;

	if (file->hold_count >= file->device->config.max_handles)
		return -ENOSPC;
	r = vinci_hold_alloc(file, object, out);
	if (!r)
		vinci_hold_link(*out, file, share, device);
	return r;
}

/* The file may hold the object again; else whoever does pays. */
static void pass_charge(struct vinci_object *object, const struct vinci_file *from)
{
	struct vinci_hold *other;

	if (object->payer != from)
		return;
	object->payer = NULL;
	list_for_each_entry(other, &object->holds, by_object) {
		object->payer = other->file;
		if (other->file == from)
			break;
	}
}

/* The object goes with its last user; a closed share with its last opener. */
void vinci_hold_close(struct vinci_hold *hold)
{
	struct vinci_object *object = hold->object;
	struct vinci_share *share, *next;

	if (!hold->is_imported) {
		list_for_each_entry_safe(share, next, &object->shares, by_object)
			vinci_share_withdraw(share);
		object->is_orphan = true;
		object->device->orphans++;
	}
	list_del_init(&hold->by_object);
	list_del_init(&hold->by_share);
	list_del_init(&hold->by_file);
	hold->file->hold_count--;
	if (hold->share)
		vinci_share_opener_gone(hold->share);
	pass_charge(object, hold->file);
	hold->share = NULL;
	hold->file = NULL;
	vinci_object_drop_user(object);
}

/* --- requests ------------------------------------------------------------------------------ */

/* A new BO, charged, with its first hold. */
static int create_bo(struct vinci_file *file, const struct drm_vinci_bo_create *a, struct vinci_hold **out)
{
	struct vinci_object *object;
	int r = vinci_object_create(file, VINCI_OBJECT_BO, a->size, a->device, &object);

	if (r)
		return r;
	object->flags = a->flags;
	object->page_kind = a->page_kind;
	if (is_charged(object))
		file->device->used[a->device] += a->size;
	r = vinci_hold_create(file, object, NULL, a->device, out);
	if (r) {
		vinci_object_destroy(object);
		return r;
	}
	vinci_object_place(object, is_charged(object) ? vinci_device_node(file->device, a->device) : a->numa_node);
	return 0;
}

VINCI_REQUEST(vinci_bo_create)
{
	struct drm_vinci_bo_create *a = data;
	const struct vinci_config *config = &file->device->config;
	struct vinci_hold *hold;
	int r = vinci_check_bo_create(a, config->devices);

	if (r)
		return r;
	if (a->flags & VINCI_BO_HOST) {
		if (a->size > VINCI_MAX_HOST_BYTES)
			return -ENOSPC;
	} else if (a->size > config->mem_bytes - file->device->used[a->device]) {
		return -ENOMEM;
	}
	r = create_bo(file, a, &hold);
	if (r)
		return r;
	a->handle = hold->handle;
	a->mmap_offset = vinci_hold_offset(hold);
	return 0;
}

static __u32 count_shares(const struct vinci_object *object)
{
	struct vinci_share *share;
	__u32 n = 0;

	list_for_each_entry(share, &object->shares, by_object)
		n += !!share->creator;
	return n;
}

VINCI_REQUEST(vinci_bo_info)
{
	struct drm_vinci_bo_info *a = data;
	struct vinci_hold *hold = vinci_hold_find(file, a->handle);
	struct vinci_object *object;

	if (!hold)
		return -ENOENT;
	object = hold->object;
	a->object = object->type;
	a->size = object->size;
	a->mmap_offset = vinci_hold_offset(hold);
	a->device = object->owner;
	a->flags = object->flags;
	a->page_kind = object->page_kind;
	a->holders = vinci_object_holders(object);
	a->shares = count_shares(object);
	a->id = object->id;
	return 0;
}

/* --- splitting ----------------------------------------------------------------------------- */

static bool overlaps_split(const struct vinci_object *object, __u64 offset, __u64 size)
{
	__u32 i;

	for (i = 0; i < object->split_count; i++)
		if (offset < object->splits[i].offset + object->splits[i].size &&
		    object->splits[i].offset < offset + size)
			return true;
	return false;
}

static int check_split(struct vinci_hold *hold, const struct drm_vinci_bo_split *a)
{
	struct vinci_object *object = hold->object;
	int r;

	if (hold->is_imported)
		return -EACCES;
	if (object->type != VINCI_OBJECT_BO)
		return -EINVAL;
	r = vinci_check_bo_split(a, object->page_kind, object->span);
	if (r)
		return r;
	if (overlaps_split(object, a->offset, a->size))
		return -EINVAL;
	return vinci_object_holders(object) > 1 || !list_empty(&object->shares) ? -EBUSY : 0;
}

/* Room for one more range, so that nothing can fail once the piece exists. */
static int reserve_split(struct vinci_object *object)
{
	__u32 room = object->split_room ? object->split_room * 2 : 8;
	struct vinci_range *splits;

	if (object->split_count < object->split_room)
		return 0;
	if (room > VINCI_MAX_HANDLES)
		return -ENOSPC;
	splits = vinci_alloc(room, sizeof(*splits));
	if (!splits)
		return -ENOSPC;
	if (object->split_count)
		memcpy(splits, object->splits, object->split_count * sizeof(*splits));
	vinci_free(object->splits);
	object->splits = splits;
	object->split_room = room;
	return 0;
}

/* Only while the creator's hold is the one user: from now on nobody else can become one. */
static int begin_split(struct vinci_object *object, __u64 offset, __u64 size)
{
	bool alone;

	vinci_users_lock(&object->own);
	alone = object->users == 1;
	if (alone)
		object->splits[object->split_count++] = (struct vinci_range){ offset, size };
	vinci_users_unlock(&object->own);
	return alone ? 0 : -EBUSY;
}

static void undo_split(struct vinci_object *object)
{
	vinci_users_lock(&object->own);
	object->split_count--;
	vinci_users_unlock(&object->own);
}

VINCI_REQUEST(vinci_bo_split)
{
	struct drm_vinci_bo_split *a = data;
	struct drm_vinci_bo_create piece = { .size = a->size, .numa_node = -1 };
	struct vinci_hold *hold = vinci_hold_find(file, a->handle), *made;
	struct vinci_object *object;
	int r;

	if (!hold)
		return -ENOENT;
	object = hold->object;
	r = check_split(hold, a);
	if (!r)
		r = reserve_split(object);
	if (!r)
		r = begin_split(object, a->offset, a->size);
	if (r)
		return r;
	piece.device = object->owner;
	piece.flags = object->flags;
	piece.page_kind = object->page_kind;
	r = create_bo(file, &piece, &made);
	if (r) {
		undo_split(object);
		return r;
	}
	object->size -= a->size;
	if (is_charged(object))
		file->device->used[object->owner] -= a->size;
	a->new_handle = made->handle;
	a->mmap_offset = vinci_hold_offset(made);
	return 0;
}
