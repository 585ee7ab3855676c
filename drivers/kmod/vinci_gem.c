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

int vinci_object_alloc(struct vinci_device *device, __u64 size, struct vinci_object **out)
{
	struct vinci_object *object;

	/* Other resources than the NPU's memory are ENOSPC. */
	if (size > MAX_LFS_FILESIZE)
		return -ENOSPC;
	object = kzalloc(sizeof(*object), GFP_KERNEL_ACCOUNT);
	if (!object)
		return -ENOSPC;
	/* The name in /proc/PID/maps is the same as with vincid. */
	object->own.memory = shmem_file_setup("memfd:vinci", size, VM_NORESERVE);
	if (IS_ERR(object->own.memory)) {
		kfree(object);
		return -ENOSPC;
	}
	kref_init(&object->own.ref);
	spin_lock_init(&object->own.users_lock);
	atomic_inc(&device->own.live);
	*out = object;
	return 0;
}

static void free_object(struct kref *ref)
{
	struct vinci_object *object = container_of(ref, struct vinci_object, own.ref);

	fput(object->own.memory);
	atomic_dec(&object->device->own.live);
	kfree(object);
}

void vinci_object_put(struct vinci_object *object)
{
	kref_put(&object->own.ref, free_object);
}

void vinci_object_free(struct vinci_object *object)
{
	vinci_object_put(object);
}

/* Its pages lie where they are touched first: the kernel exports no way to say so for a shmem file. */
void vinci_object_place(struct vinci_object *object, __s32 node)
{
}

__s32 vinci_device_node(const struct vinci_device *device, __u32 npu)
{
	return NUMA_NO_NODE;
}

/* --- holds --------------------------------------------------------------------------------- */

/* DRM closes a handle: by request, or with the file, which may have dropped the hold before. */
static void hold_close(struct drm_gem_object *gem, struct drm_file *drm_file)
{
	struct vinci_hold *hold = to_hold(gem);
	struct vinci_device *device = to_vinci(gem->dev);

	mutex_lock(&device->own.lock);
	if (!list_empty(&hold->by_file))
		vinci_hold_close(hold);
	mutex_unlock(&device->own.lock);
}

/* Without the lock, perhaps in mmap(). */
static void hold_free(struct drm_gem_object *gem)
{
	struct vinci_hold *hold = to_hold(gem);
	struct vinci_device *device = to_vinci(gem->dev);

	drm_gem_object_release(gem);
	vinci_object_put(hold->object);
	kfree(hold);
	atomic_dec(&device->own.live);
}

/* A handle has been made: of a dma-buf, which keeps the object meanwhile, or by vinci_hold_alloc(). */
static int hold_open(struct drm_gem_object *gem, struct drm_file *drm_file)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_hold *hold = to_hold(gem);
	int r = 0;

	if (!hold->own.by_dmabuf)
		return 0;
	mutex_lock(&file->device->own.lock);
	if (file->hold_count >= VINCI_MAX_HANDLES)
		r = -ENOSPC;
	else
		vinci_hold_link(hold, file, NULL, hold->object->owner);
	mutex_unlock(&file->device->own.lock);
	return r;
}

static const struct drm_gem_object_funcs hold_funcs = {
	.open = hold_open,
	.close = hold_close,
	.free = hold_free,
	.export = vinci_prime_export,
};

struct vinci_hold *vinci_hold_make(struct vinci_object *object)
{
	struct vinci_hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);

	if (!hold)
		return NULL;
	hold->own.gem.funcs = &hold_funcs;
	drm_gem_private_object_init(&object->device->own.drm, &hold->own.gem, object->span);
	kref_get(&object->own.ref);
	hold->object = object;
	INIT_LIST_HEAD(&hold->by_file);
	atomic_inc(&object->device->own.live);
	/* A page more than the object: two objects never touch. vinci_mmap() keeps it out of reach. */
	if (drm_gem_create_mmap_offset_size(&hold->own.gem, object->span + PAGE_SIZE)) {
		drm_gem_object_put(&hold->own.gem);
		return NULL;
	}
	return hold;
}

/* Another thread may guess the handle and close it: hold_close() waits for the lock, and the handle for that. */
int vinci_hold_alloc(struct vinci_file *file, struct vinci_object *object, struct vinci_hold **out)
{
	struct vinci_hold *hold = vinci_hold_make(object);
	int r;

	if (!hold)
		return -ENOSPC;
	r = drm_gem_handle_create(file->own.drm, &hold->own.gem, &hold->handle);
	drm_gem_object_put(&hold->own.gem);
	if (r)
		return -ENOSPC;
	*out = hold;
	return 0;
}

/* The handle stays in DRM's table until the descriptor goes, but leads nowhere. */
void vinci_hold_gone(struct vinci_hold *hold)
{
	cond_resched(); /* a file may have many */
}

__u64 vinci_hold_offset(struct vinci_hold *hold)
{
	return drm_vma_node_offset_addr(&hold->own.gem.vma_node);
}

/* A hold in the lists has its handle's reference: DRM drops that after hold_close(), which waits for the lock. */
struct vinci_hold *vinci_hold_find(struct vinci_file *file, __u32 handle)
{
	struct drm_gem_object *gem = drm_gem_object_lookup(file->own.drm, handle);
	bool dropped;

	if (!gem)
		return NULL;
	dropped = list_empty(&to_hold(gem)->by_file);
	drm_gem_object_put(gem);
	return dropped ? NULL : to_hold(gem);
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
	vma_set_file(vma, object->own.memory);
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
