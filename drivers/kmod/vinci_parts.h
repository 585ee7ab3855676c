/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* vinci_parts.h - what the objects of common/core.h have in this device only. */
#ifndef VINCI_KMOD_PARTS_H
#define VINCI_KMOD_PARTS_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/spinlock.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

struct vinci_identity {
	struct pid *pid; /* NULL: nobody */
};

struct vinci_device_parts {
	struct drm_device drm;
	struct mutex lock; /* the device, and every object, hold, file and share */
	atomic_t live; /* objects, holds and files that have not been freed: zero at unload */
};

struct vinci_file_parts {
	struct drm_file *drm;
	bool dead; /* written under the lock: the process has gone, somebody else keeps the descriptor */
};

struct vinci_object_parts {
	struct kref ref; /* each hold and dma-buf has one: the memory may be looked at until they are freed */
	struct file *memory; /* owned; constant */
	spinlock_t users_lock; /* for a dma-buf in the making: it cannot take the device's lock */
};

struct vinci_hold_parts {
	struct drm_gem_object gem;
	bool by_dmabuf; /* constant */
};

static inline bool vinci_same_identity(const struct vinci_identity *a, const struct vinci_identity *b)
{
	return a->pid && a->pid == b->pid;
}

static inline void vinci_identity_get(struct vinci_identity *identity)
{
	get_pid(identity->pid);
}

static inline void vinci_identity_put(struct vinci_identity *identity)
{
	put_pid(identity->pid);
}

static inline void vinci_users_lock(struct vinci_object_parts *own)
{
	spin_lock(&own->users_lock);
}

static inline void vinci_users_unlock(struct vinci_object_parts *own)
{
	spin_unlock(&own->users_lock);
}

#endif
