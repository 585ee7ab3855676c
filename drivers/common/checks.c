// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
#include "common/checks.h"
#include "common/share_policy.h"

__u64 vinci_page_size(__u32 page_kind)
{
	switch (page_kind) {
	case VINCI_PAGE_4K:
		return 4096;
	case VINCI_PAGE_2M:
		return 2ull << 20;
	case VINCI_PAGE_1G:
		return 1ull << 30;
	default:
		return 0;
	}
}

/* A share's name: within its field, and nothing behind it. Whether the length fits the kind is for the lookup to find.
 */
static int check_name(__u32 kind, const __u8 *name, __u32 len)
{
	__u32 i;

	if (!vinci_share_policy(kind) || !len || len > VINCI_NAME_MAX)
		return -EINVAL;
	for (i = len; i < VINCI_NAME_MAX; i++)
		if (name[i])
			return -EINVAL;
	return 0;
}

int vinci_check_get_param(const struct drm_vinci_get_param *a)
{
	return a->pad || a->param > VINCI_PARAM_INSTANCE ? -EINVAL : 0;
}

int vinci_check_device_info(const struct drm_vinci_device_info *a, __u32 devices)
{
	return a->device < devices ? 0 : -ENODEV;
}

int vinci_check_bo_create(const struct drm_vinci_bo_create *a, __u32 devices)
{
	__u64 page = vinci_page_size(a->page_kind);

	if (a->pad || (a->flags & ~VINCI_BO_HOST) || !page)
		return -EINVAL;
	if (!a->size || a->size % page)
		return -EINVAL;
	if (a->flags & VINCI_BO_HOST)
		return a->device || a->numa_node < -1 ? -EINVAL : 0;
	if (a->numa_node != -1)
		return -EINVAL;
	return a->device < devices ? 0 : -ENODEV;
}

int vinci_check_bo_split(const struct drm_vinci_bo_split *a, __u32 page_kind, __u64 file_size)
{
	__u64 page = vinci_page_size(page_kind);

	if (a->pad || a->pad2 || !a->size || a->size % page || a->offset % page)
		return -EINVAL;
	if (a->size > file_size || a->offset > file_size - a->size)
		return -EINVAL;
	return 0;
}

int vinci_check_notify_ids(const struct drm_vinci_notify_ids *a, __u32 devices)
{
	if (a->pad || !a->count || a->count > 64)
		return -EINVAL;
	return a->device < devices ? 0 : -ENODEV;
}

int vinci_check_notify_create(const struct drm_vinci_notify_create *a, __u32 devices, __u32 ids)
{
	if (a->device >= devices)
		return -ENODEV;
	return a->flags || a->id >= ids ? -EINVAL : 0;
}

int vinci_check_notify_status(const struct drm_vinci_notify_status *a)
{
	return a->pad ? -EINVAL : 0;
}

static __u64 pages(__u64 size, __u64 page)
{
	return size / page + !!(size % page);
}

int vinci_check_export(const struct drm_vinci_share_export *a, __u32 object, __u32 page_kind, __u64 object_size)
{
	const struct vinci_share_policy *policy = vinci_share_policy(a->kind);
	__u64 page = vinci_page_size(page_kind);

	if (!policy || policy->object != object || (a->flags & ~VINCI_SHARE_UNVALIDATED))
		return -EINVAL;
	if (!policy->slots && !(a->flags & VINCI_SHARE_UNVALIDATED))
		return -EINVAL;
	if (object == VINCI_OBJECT_NOTIFY)
		return a->size ? -EINVAL : 0;
	return a->size && pages(a->size, page) == pages(object_size, page) ? 0 : -EINVAL;
}

int vinci_check_allow(const struct drm_vinci_share_allow *a)
{
	if (a->flags & ~VINCI_ALLOW_SDID || (!(a->flags & VINCI_ALLOW_SDID) && a->sdid))
		return -EINVAL;
	if (a->elem_size < sizeof(__s32) || a->elem_size > VINCI_PID_SIZE_MAX)
		return -EINVAL;
	return check_name(a->kind, a->name, a->name_len);
}

int vinci_check_import(const struct drm_vinci_share_import *a, __u32 devices)
{
	if (a->flags || check_name(a->kind, a->name, a->name_len))
		return -EINVAL;
	return a->device < devices ? 0 : -ENODEV;
}

int vinci_check_share_close(const struct drm_vinci_share_close *a)
{
	return check_name(a->kind, a->name, a->name_len);
}

int vinci_check_attr(const struct drm_vinci_share_attr *a)
{
	if (a->pad || check_name(a->kind, a->name, a->name_len))
		return -EINVAL;
	switch (a->attr) {
	case VINCI_SHARE_ATTR_UNVALIDATED:
		return a->value == 1 ? 0 : -EINVAL;
	case VINCI_SHARE_ATTR_LINK:
		return a->value <= 3 && a->kind == VINCI_SHARE_IPC_MEM ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

int vinci_check_peer(const struct drm_vinci_peer *a, __u32 devices)
{
	if (a->op < VINCI_PEER_ENABLE || a->op > VINCI_PEER_QUERY || a->device == a->peer)
		return -EINVAL;
	return a->device < devices && a->peer < devices ? 0 : -ENODEV;
}

int vinci_check_list(const struct drm_vinci_list *a)
{
	if (a->pad || a->type < VINCI_LIST_PROCESSES || a->type > VINCI_LIST_NOTIFIES)
		return -EINVAL;
	return a->elem_size >= VINCI_LIST_SIZE_MIN && a->elem_size <= VINCI_LIST_SIZE_MAX ? 0 : -EINVAL;
}
