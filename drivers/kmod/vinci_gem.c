// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory objects: their memory, who holds them, and what they are charged.
 *
 * The memory is a shmem file, and a mapping is one of that file: faults, shared futexes, MADV_REMOVE, partial and
 * repeated mappings work as for any shared memory, and a mapping outlives handle, file and module.
 */
#include <linux/mman.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "vinci_compat.h"
#include "vinci_drv.h"

/* --- objects ------------------------------------------------------------------------------- */

/* Nobody holds it yet: the caller adds the first hold or calls vinci_object_destroy(). */
struct vinci_object *vinci_object_create(struct vinci_device *device, u32 type, u64 size)
{
	struct vinci_object *object;

	/* Other resources than the NPU's memory are ENOSPC. */
	if (size > MAX_LFS_FILESIZE)
		return ERR_PTR(-ENOSPC);
	object = kzalloc(sizeof(*object), GFP_KERNEL_ACCOUNT);
	if (!object)
		return ERR_PTR(-ENOSPC);
	/* The name in /proc/PID/maps is the same as with vincid. */
	object->memory = shmem_file_setup("memfd:vinci", size, VM_NORESERVE);
	if (IS_ERR(object->memory)) {
		kfree(object);
		return ERR_PTR(-ENOSPC);
	}
	kref_init(&object->ref);
	spin_lock_init(&object->users_lock);
	object->device = device;
	object->type = type;
	object->span = size;
	object->size = size;
	INIT_LIST_HEAD(&object->holds);
	INIT_LIST_HEAD(&object->shares);
	list_add_tail(&object->link, &device->objects);
	atomic_inc(&device->live);
	return object;
}

static void free_object(struct kref *ref)
{
	struct vinci_object *object = container_of(ref, struct vinci_object, ref);

	fput(object->memory);
	kvfree(object->splits);
	atomic_dec(&object->device->live);
	kfree(object);
}

void vinci_object_put(struct vinci_object *object)
{
	kref_put(&object->ref, free_object);
}

static bool is_charged(const struct vinci_object *object)
{
	return object->type == VINCI_OBJECT_BO && !(object->flags & VINCI_BO_HOST);
}

/* It has no users (any more). */
void vinci_object_destroy(struct vinci_object *object)
{
	if (is_charged(object))
		object->device->used[object->owner] -= object->size;
	if (object->type == VINCI_OBJECT_NOTIFY)
		vinci_notify_gone(object);
	list_del_init(&object->link);
	vinci_object_put(object);
}

void vinci_object_drop_user(struct vinci_object *object)
{
	u32 users;

	spin_lock(&object->users_lock);
	users = --object->users;
	spin_unlock(&object->users_lock);
	if (!users)
		vinci_object_destroy(object);
}

/* --- holds --------------------------------------------------------------------------------- */

/* DRM closes a handle: by request, or with the file. */
static void hold_close(struct drm_gem_object *gem, struct drm_file *drm_file)
{
	struct vinci_hold *hold = to_hold(gem);
	struct vinci_device *device = to_vinci(gem->dev);
	struct vinci_share *share, *next;

	mutex_lock(&device->lock);
	if (list_empty(&hold->by_file))
		goto out_unlock; /* dropped with its file */
	/* The names of an object go with the handle that made them. */
	if (!vinci_hold_is_imported(hold)) {
		list_for_each_entry_safe(share, next, &hold->object->shares, by_object)
			vinci_share_withdraw(share);
	}
	vinci_hold_drop(hold);
out_unlock:
	mutex_unlock(&device->lock);
}

/* Without the lock, perhaps in mmap(). */
static void hold_free(struct drm_gem_object *gem)
{
	struct vinci_hold *hold = to_hold(gem);
	struct vinci_device *device = to_vinci(gem->dev);

	drm_gem_object_release(gem);
	vinci_object_put(hold->object);
	kfree(hold);
	atomic_dec(&device->live);
}

static void link_hold(struct vinci_hold *hold, struct vinci_file *file, struct vinci_share *share, u32 device)
{
	struct vinci_object *object = hold->object;

	hold->file = file;
	hold->share = share;
	hold->device = device;
	list_add_tail(&hold->by_object, &object->holds);
	list_add_tail(&hold->by_file, &file->holds);
	file->hold_count++;
	if (share)
		list_add_tail(&hold->by_share, &share->openers);
	if (!object->payer)
		object->payer = file;
	spin_lock(&object->users_lock);
	object->users++;
	spin_unlock(&object->users_lock);
}

/*
 * A handle has been made: of a dma-buf, which keeps the object meanwhile, or by vinci_hold_create(), which
 * goes on itself.
 */
static int hold_open(struct drm_gem_object *gem, struct drm_file *drm_file)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_hold *hold = to_hold(gem);
	int r = 0;

	if (!hold->by_dmabuf)
		return 0;
	mutex_lock(&file->device->lock);
	if (file->hold_count >= VINCI_MAX_HANDLES)
		r = -ENOSPC;
	else
		link_hold(hold, file, NULL, hold->object->owner);
	mutex_unlock(&file->device->lock);
	return r;
}

static const struct drm_gem_object_funcs hold_funcs = {
	.open = hold_open,
	.close = hold_close,
	.free = hold_free,
	.export = vinci_prime_export,
};

struct vinci_hold *vinci_hold_alloc(struct vinci_object *object)
{
	struct vinci_hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);
	int r;

	if (!hold)
		return NULL;
	hold->base.funcs = &hold_funcs;
	drm_gem_private_object_init(&object->device->drm, &hold->base, object->span);
	kref_get(&object->ref);
	hold->object = object;
	INIT_LIST_HEAD(&hold->by_object);
	INIT_LIST_HEAD(&hold->by_file);
	INIT_LIST_HEAD(&hold->by_share);
	atomic_inc(&object->device->live);
	/* A page more than the object: two objects never touch. vinci_mmap() keeps it out of reach. */
	r = drm_gem_create_mmap_offset_size(&hold->base, object->span + PAGE_SIZE);
	if (r) {
		drm_gem_object_put(&hold->base);
		return NULL;
	}
	return hold;
}

int vinci_hold_create(struct vinci_file *file, struct vinci_object *object, struct vinci_share *share,
		      u32 device, struct vinci_hold **out)
{
	struct vinci_hold *hold;
	int r;

	if (file->hold_count >= VINCI_MAX_HANDLES)
		return -ENOSPC;
	hold = vinci_hold_alloc(object);
	if (!hold)
		return -ENOSPC;
	/* Another thread may guess the handle and close it: hold_close() waits until we are done. */
	r = drm_gem_handle_create(file->drm, &hold->base, &hold->handle);
	if (!r) {
		link_hold(hold, file, share, device);
		*out = hold;
	}
	drm_gem_object_put(&hold->base);
	return r ? -ENOSPC : 0;
}

/* The object goes with its last hold; a closed share with its last opener. */
void vinci_hold_drop(struct vinci_hold *hold)
{
	struct vinci_object *object = hold->object;
	struct vinci_share *share = hold->share;
	struct vinci_hold *other;

	list_del_init(&hold->by_object);
	list_del_init(&hold->by_share);
	list_del_init(&hold->by_file);
	hold->file->hold_count--;
	hold->share = NULL;
	if (share)
		vinci_share_opener_gone(share);
	if (object->payer == hold->file) {
		object->payer = NULL;
		list_for_each_entry(other, &object->holds, by_object) {
			object->payer = other->file;
			if (other->file == hold->file)
				break;
		}
	}
	hold->file = NULL;
	vinci_object_drop_user(object);
}

/* Files, not handles: the stamp marks those already counted. */
u32 vinci_object_holders(struct vinci_object *object)
{
	u64 stamp = ++object->device->stamp;
	struct vinci_hold *hold;
	u32 n = 0;

	list_for_each_entry(hold, &object->holds, by_object) {
		if (hold->file->stamp == stamp)
			continue;
		hold->file->stamp = stamp;
		n++;
	}
	return n;
}

u64 vinci_hold_offset(struct vinci_hold *hold)
{
	return drm_vma_node_offset_addr(&hold->base.vma_node);
}

struct vinci_hold *vinci_hold_find(struct vinci_file *file, u32 handle)
{
	struct drm_gem_object *gem = drm_gem_object_lookup(file->drm, handle);

	if (!gem)
		return NULL;
	if (list_empty(&to_hold(gem)->by_file)) {
		drm_gem_object_put(gem);
		return NULL;
	}
	return to_hold(gem);
}

/* --- mappings ------------------------------------------------------------------------------ */

/* The hold whose range has the first of the pages, with a reference. */
static struct drm_gem_object *find_offset(struct drm_device *drm, unsigned long first, unsigned long pages)
{
	struct drm_vma_offset_manager *manager = drm->vma_offset_manager;
	struct drm_gem_object *gem = NULL;
	struct drm_vma_offset_node *node;

	drm_vma_offset_lock_lookup(manager);
	node = drm_vma_offset_lookup_locked(manager, first, pages);
	if (node) {
		gem = container_of(node, struct drm_gem_object, vma_node);
		if (!kref_get_unless_zero(&gem->refcount))
			gem = NULL;
	}
	drm_vma_offset_unlock_lookup(manager);
	return gem;
}

int vinci_object_map(struct vinci_object *object, struct vm_area_struct *vma, unsigned long page)
{
	vma->vm_pgoff = page;
	vma_set_file(vma, object->memory);
	/* A forked child has no use for it, and would keep it. The user can have that back with MADV_DOFORK. */
	vm_flags_set(vma, VM_DONTCOPY);
	return call_mmap(vma->vm_file, vma);
}

int vinci_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *drm_file = filp->private_data;
	unsigned long pages = vma_pages(vma), at;
	struct drm_gem_object *gem;
	struct vinci_hold *hold;
	int r = -EINVAL;

	if (!vinci_file_is_own(drm_file->driver_priv))
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	gem = find_offset(drm_file->minor->dev, vma->vm_pgoff, pages);
	if (!gem)
		return -EINVAL;
	hold = to_hold(gem);
	at = vma->vm_pgoff - drm_vma_node_start(&gem->vma_node);
	if (at < hold->object->span >> PAGE_SHIFT && pages <= (hold->object->span >> PAGE_SHIFT) - at)
		r = drm_vma_node_is_allowed(&gem->vma_node, drm_file) ?
			    vinci_object_map(hold->object, vma, at) : -EACCES;
	drm_gem_object_put(gem);
	return r;
}

/* --- requests ------------------------------------------------------------------------------ */

/* A new BO, charged, with its first hold. */
static int create_bo(struct vinci_file *file, const struct drm_vinci_bo_create *a, struct vinci_hold **out)
{
	struct vinci_object *object = vinci_object_create(file->device, VINCI_OBJECT_BO, a->size);
	int r;

	if (IS_ERR(object))
		return PTR_ERR(object);
	object->creator_pid = pid_nr(file->pid);
	object->creator_uid = file->uid;
	object->owner = a->device;
	object->flags = a->flags;
	object->page_kind = a->page_kind;
	if (is_charged(object))
		file->device->used[a->device] += a->size;
	r = vinci_hold_create(file, object, NULL, a->device, out);
	if (r)
		vinci_object_destroy(object);
	return r;
}

static int create_charged(struct vinci_file *file, struct drm_vinci_bo_create *a)
{
	struct vinci_device *device = file->device;
	struct vinci_hold *hold;
	int r;

	if (a->flags & VINCI_BO_HOST) {
		if (a->size > 1ull << 46)
			return -ENOSPC;
	} else if (a->size > device->config.mem_bytes - device->used[a->device]) {
		return -ENOMEM;
	}
	r = create_bo(file, a, &hold);
	if (r)
		return r;
	a->handle = hold->handle;
	a->mmap_offset = vinci_hold_offset(hold);
	return 0;
}

VINCI_HANDLER(vinci_bo_create)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_bo_create *a = data;
	int r = vinci_check_bo_create(a, device->config.devices);

	if (r)
		return r;
	mutex_lock(&device->lock);
	r = create_charged(file, a);
	mutex_unlock(&device->lock);
	return r;
}

static u32 count_shares(const struct vinci_object *object)
{
	struct vinci_share *share;
	u32 n = 0;

	list_for_each_entry(share, &object->shares, by_object)
		n += !share->closed;
	return n;
}

static void describe(struct vinci_hold *hold, struct drm_vinci_bo_info *a)
{
	struct vinci_object *object = hold->object;

	a->object = object->type;
	a->size = object->size;
	a->mmap_offset = vinci_hold_offset(hold);
	a->device = object->owner;
	a->flags = object->flags;
	a->page_kind = object->page_kind;
	a->holders = vinci_object_holders(object);
	a->shares = count_shares(object);
	a->id = object->id;
}

VINCI_HANDLER(vinci_bo_info)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_bo_info *a = data;
	struct vinci_hold *hold;

	mutex_lock(&device->lock);
	hold = vinci_hold_find(file, a->handle);
	if (hold)
		describe(hold, a);
	mutex_unlock(&device->lock);
	if (!hold)
		return -ENOENT;
	drm_gem_object_put(&hold->base);
	return 0;
}

static bool overlaps_split(const struct vinci_object *object, u64 offset, u64 size)
{
	u32 i;

	for (i = 0; i < object->split_count; i++)
		if (offset < object->splits[i].offset + object->splits[i].size &&
		    object->splits[i].offset < offset + size)
			return true;
	return false;
}

/* Room for one more range, so that nothing can fail once the piece exists. */
static int reserve_split(struct vinci_object *object)
{
	u32 room = object->split_room ? object->split_room * 2 : 8;
	struct vinci_range *splits;

	if (object->split_count < object->split_room)
		return 0;
	if (room > VINCI_MAX_HANDLES)
		return -ENOSPC;
	splits = kvmalloc_array(room, sizeof(*splits), GFP_KERNEL_ACCOUNT);
	if (!splits)
		return -ENOSPC;
	if (object->split_count)
		memcpy(splits, object->splits, object->split_count * sizeof(*splits));
	kvfree(object->splits);
	object->splits = splits;
	object->split_room = room;
	return 0;
}

/* With one user, the creator, there is no dma-buf; and with a split there will be none. */
static int begin_split(struct vinci_object *object, u64 offset, u64 size)
{
	bool alone;

	spin_lock(&object->users_lock);
	alone = object->users == 1;
	if (alone)
		object->splits[object->split_count++] = (struct vinci_range){ offset, size };
	spin_unlock(&object->users_lock);
	return alone ? 0 : -EBUSY;
}

static void undo_split(struct vinci_object *object)
{
	spin_lock(&object->users_lock);
	object->split_count--;
	spin_unlock(&object->users_lock);
}

static int check_split(struct vinci_hold *hold, const struct drm_vinci_bo_split *a)
{
	struct vinci_object *object = hold->object;
	int r;

	if (vinci_hold_is_imported(hold))
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

static int split(struct vinci_file *file, struct vinci_hold *hold, struct drm_vinci_bo_split *a)
{
	struct vinci_object *object = hold->object;
	struct drm_vinci_bo_create piece = {
		.size = a->size, .device = object->owner, .flags = object->flags, .page_kind = object->page_kind
	};
	struct vinci_hold *made;
	int r;

	r = check_split(hold, a);
	if (!r)
		r = reserve_split(object);
	if (!r)
		r = begin_split(object, a->offset, a->size);
	if (r)
		return r;
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

VINCI_HANDLER(vinci_bo_split)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_bo_split *a = data;
	struct vinci_hold *hold;
	int r = -ENOENT;

	mutex_lock(&device->lock);
	hold = vinci_hold_find(file, a->handle);
	if (hold)
		r = split(file, hold, a);
	mutex_unlock(&device->lock);
	if (hold)
		drm_gem_object_put(&hold->base);
	return r;
}
