/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * checks.h - the rules of the UAPI that need nothing but the argument itself: padding, flags, ranges, multiples. Every
 * device runs them first. 0, -EINVAL or -ENODEV.
 */
#ifndef VINCI_COMMON_CHECKS_H
#define VINCI_COMMON_CHECKS_H

#include "common/compat.h"

/* Elements of arrays may grow, within reason. */
#define VINCI_PID_SIZE_MAX 64u
#define VINCI_LIST_SIZE_MIN 8u
#define VINCI_LIST_SIZE_MAX 4096u

/* bytes; 0: no such kind */
__u64 vinci_page_size(__u32 page_kind);

int vinci_check_get_param(const struct drm_vinci_get_param *a);
int vinci_check_device_info(const struct drm_vinci_device_info *a, __u32 devices);
int vinci_check_bo_create(const struct drm_vinci_bo_create *a, __u32 devices);
int vinci_check_bo_split(const struct drm_vinci_bo_split *a, __u32 page_kind, __u64 file_size);
int vinci_check_notify_ids(const struct drm_vinci_notify_ids *a, __u32 devices);
int vinci_check_notify_create(const struct drm_vinci_notify_create *a, __u32 devices, __u32 ids);
int vinci_check_notify_status(const struct drm_vinci_notify_status *a);
int vinci_check_export(const struct drm_vinci_share_export *a, __u32 object, __u32 page_kind, __u64 object_size);
int vinci_check_allow(const struct drm_vinci_share_allow *a);
int vinci_check_import(const struct drm_vinci_share_import *a, __u32 devices);
int vinci_check_share_close(const struct drm_vinci_share_close *a);
int vinci_check_attr(const struct drm_vinci_share_attr *a);
int vinci_check_peer(const struct drm_vinci_peer *a, __u32 devices);
int vinci_check_list(const struct drm_vinci_list *a);

#endif
