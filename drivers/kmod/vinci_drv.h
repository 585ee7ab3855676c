/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vinci_drv.h - the kernel's share of the device: the objects are those of common/core.h.
 *
 * A hold is a GEM object, and so is each handle. Several holds of one object, also in one file, are several GEM
 * objects: that is how closing a handle is known to be the end of this hold and no other.
 *
 * Locks: the device's protects all of it. Under it DRM's object_name_lock is taken, never the other
 * way round, and no user memory is touched: a page fault may take as long as its user wants. mmap runs
 * without it.
 */
#ifndef VINCI_KMOD_DRV_H
#define VINCI_KMOD_DRV_H

#include <drm/drm_ioctl.h>

#include "common/checks.h"
#include "common/core.h"

#define VINCI_REQUEST_COUNT (DRM_VINCI_LIST + 1)

static inline struct vinci_device *to_vinci(struct drm_device *drm)
{
	return container_of(drm, struct vinci_device, own.drm);
}

static inline struct vinci_hold *to_hold(struct drm_gem_object *gem)
{
	return container_of(gem, struct vinci_hold, own.gem);
}

/* vinci_file.c */
int vinci_open(struct drm_device *drm, struct drm_file *file);
void vinci_postclose(struct drm_device *drm, struct drm_file *file);
/* The process has gone, or its last descriptor: all that hangs off the file goes. */
void vinci_file_release(struct vinci_file *file);
/* Only the process that opened a file may use it. */
bool vinci_file_is_own(struct vinci_file *file);

/* vinci_gem.c; without the lock */
struct vinci_hold *vinci_hold_make(struct vinci_object *object);
int vinci_object_map(struct vinci_object *object, struct vm_area_struct *vma, unsigned long page);
void vinci_object_put(struct vinci_object *object);
int vinci_mmap(struct file *filp, struct vm_area_struct *vma);

/* vinci_prime.c */
int vinci_prime_handle_to_fd(struct drm_device *drm, struct drm_file *drm_file, u32 handle, u32 flags, int *fd);
struct dma_buf *vinci_prime_export(struct drm_gem_object *gem, int flags);
struct drm_gem_object *vinci_prime_import(struct drm_device *drm, struct dma_buf *dmabuf);

/* vinci_requests.c */
extern const struct drm_ioctl_desc vinci_requests[VINCI_REQUEST_COUNT];
long vinci_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);

#endif
