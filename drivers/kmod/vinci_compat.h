/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* vinci_compat.h - what differs between the kernels that one source is built for: by feature, not by version. */
#ifndef VINCI_KMOD_COMPAT_H
#define VINCI_KMOD_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

/* DRM's fake offsets use the whole unsigned range: a flag of the operations since 6.12, of the open file before. */
#ifdef FOP_UNSIGNED_OFFSET
#define VINCI_FOP_FLAGS .fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define VINCI_FOP_FLAGS
#endif

/* A member of struct drm_driver until 6.13: Kbuild looks. */
#ifdef VINCI_HAVE_DRIVER_DATE
#define VINCI_DRIVER_DATE .date = "20260101",
#else
#define VINCI_DRIVER_DATE
#endif

/* Kbuild looks whether the kernel has vm_flags_set() (6.3, and where it was backported). */
#ifndef VINCI_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

/* The subsystem of compute accelerators: Linux 6.2 and later, where it is built. */
#if IS_ENABLED(CONFIG_DRM_ACCEL)
#include <drm/drm_accel.h>
#define VINCI_HAVE_ACCEL 1
static inline bool vinci_is_accel_client(const struct drm_file *file)
{
	return drm_is_accel_client(file);
}
#else
static inline bool vinci_is_accel_client(const struct drm_file *file)
{
	return false;
}
#endif

#endif
