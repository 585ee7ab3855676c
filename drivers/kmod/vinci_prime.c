// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Memory objects as dma-buf descriptors: a creator may hand one to any process, by whatever way descriptors travel, and
 * whoever has it may map it or import it. It is a user of the object: while it is open the memory stays charged.
 *
 * For processors only: no device can attach. To map pages for a device would be to pin them, in any number, for any
 * user.
 */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>

#include "vinci_compat.h"
#include "vinci_drv.h"

struct vinci_dmabuf {
	struct vinci_object *object; /* owned reference */
	bool is_user; /* counted in object->users */
};

static int dmabuf_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	return -EOPNOTSUPP;
}

static struct sg_table *dmabuf_map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void dmabuf_unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
			 enum dma_data_direction direction)
{
}

static int dmabuf_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct vinci_dmabuf *d = dmabuf->priv;

	return vma->vm_flags & VM_SHARED ? vinci_object_map(d->object, vma, vma->vm_pgoff) : -EINVAL;
}

/* With the last descriptor; no locks are held. */
static void dmabuf_release(struct dma_buf *dmabuf)
{
	struct vinci_dmabuf *d = dmabuf->priv;
	struct vinci_device *device = d->object->device;

	if (d->is_user) {
		mutex_lock(&device->own.lock);
		vinci_object_drop_user(d->object);
		mutex_unlock(&device->own.lock);
	}
	vinci_object_put(d->object);
	kfree(d);
	drm_dev_put(&device->own.drm);
}

static const struct dma_buf_ops dmabuf_ops = {
	.attach = dmabuf_attach,
	.map_dma_buf = dmabuf_map,
	.unmap_dma_buf = dmabuf_unmap,
	.mmap = dmabuf_mmap,
	.release = dmabuf_release,
};

/* Its last hold may be going at this moment, or a piece of it. */
static int add_user(struct vinci_dmabuf *d)
{
	struct vinci_object *object = d->object;
	int r = 0;

	vinci_users_lock(&object->own);
	if (!object->users)
		r = -ENOENT;
	else if (object->split_count)
		r = -EINVAL;
	else
		object->users++;
	vinci_users_unlock(&object->own);
	d->is_user = !r;
	return r;
}

/* Under DRM's object_name_lock, so without ours. */
struct dma_buf *vinci_prime_export(struct drm_gem_object *gem, int flags)
{
	struct vinci_object *object = to_hold(gem)->object;
	struct vinci_dmabuf *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int r;

	if (!d)
		return ERR_PTR(-ENOSPC);
	d->object = object;
	info.ops = &dmabuf_ops;
	info.size = object->span;
	info.flags = flags;
	info.priv = d;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		kfree(d);
		return dmabuf;
	}
	/* From here on its release cleans up. */
	kref_get(&object->own.ref);
	drm_dev_get(gem->dev);
	r = add_user(d);
	if (r) {
		dma_buf_put(dmabuf);
		return ERR_PTR(r);
	}
	return dmabuf;
}

/* A hold of its own for the file that imports; hold_open() puts it into the lists. Under DRM's object_name_lock. */
struct drm_gem_object *vinci_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct vinci_dmabuf *d = dmabuf->priv;
	struct vinci_hold *hold;

	if (dmabuf->ops != &dmabuf_ops || &d->object->device->own.drm != drm)
		return ERR_PTR(-EOPNOTSUPP);
	hold = vinci_hold_make(d->object);
	if (!hold)
		return ERR_PTR(-ENOSPC);
	hold->is_imported = true;
	hold->own.by_dmabuf = true;
	return &hold->own.gem;
}

static int check_export(struct vinci_hold *hold)
{
	if (hold->is_imported)
		return -EACCES;
	return hold->object->type == VINCI_OBJECT_BO && !hold->object->split_count ? 0 : -EINVAL;
}

int vinci_prime_handle_to_fd(struct drm_device *drm, struct drm_file *drm_file, u32 handle, u32 flags, int *fd)
{
	struct vinci_device *device = to_vinci(drm);
	struct vinci_hold *hold;
	int r = -ENOENT;

	mutex_lock(&device->own.lock);
	hold = vinci_hold_find(drm_file->driver_priv, handle);
	if (hold)
		r = check_export(hold);
	mutex_unlock(&device->own.lock);
	return r ? r : drm_gem_prime_handle_to_fd(drm, drm_file, handle, flags, fd);
}
