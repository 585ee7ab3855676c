// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Requests: under the device's lock, but for the two that read or write an array of the caller's outside of it. */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "vinci_drv.h"

/* --- under the lock ------------------------------------------------------------------------ */

static int run_locked(struct drm_file *drm_file, void *data, VINCI_REQUEST((*run)))
{
	struct vinci_file *file = drm_file->driver_priv;
	int r;

	mutex_lock(&file->device->own.lock);
	r = run(file, data);
	mutex_unlock(&file->device->own.lock);
	return r;
}

#define LOCKED(name) \
	static int name(struct drm_device *drm, void *data, struct drm_file *drm_file) \
	{ \
		return run_locked(drm_file, data, vinci_##name); \
	}

LOCKED(get_param)
LOCKED(device_info)
LOCKED(bo_create)
LOCKED(bo_info)
LOCKED(bo_split)
LOCKED(notify_ids)
LOCKED(notify_create)
LOCKED(notify_status)
LOCKED(share_export)
LOCKED(share_import)
LOCKED(share_close)
LOCKED(share_attr)
LOCKED(peer)

/* --- whitelists ---------------------------------------------------------------------------- */

static int read_pids(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids)
{
	size_t size = (size_t)a->count * a->elem_size;
	void *array = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	int r = -EFAULT;

	if (!array)
		return -ENOSPC;
	if (!copy_from_user(array, u64_to_user_ptr(a->pids), size))
		r = vinci_pids_parse(file, a, array, pids);
	kvfree(array);
	return r;
}

static int share_allow(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct drm_vinci_share_allow *a = data;
	struct vinci_pids pids = {};
	int r;

	mutex_lock(&file->device->own.lock);
	r = vinci_allow_begin(file, a);
	mutex_unlock(&file->device->own.lock);
	if (r)
		return r;
	r = read_pids(file, a, &pids);
	if (!r) {
		mutex_lock(&file->device->own.lock);
		r = vinci_allow_finish(file, a, &pids);
		mutex_unlock(&file->device->own.lock);
	}
	vinci_pids_free(&pids);
	return r;
}

/* --- listings ------------------------------------------------------------------------------ */

struct listing {
	struct vinci_rows rows;
	size_t row_size;
	u8 *memory; /* owned */
	u32 room;
};

static void emit(struct vinci_rows *rows, const void *row)
{
	struct listing *l = container_of(rows, struct listing, rows);

	if (rows->count < l->room)
		memcpy(l->memory + rows->count * l->row_size, row, l->row_size);
	cond_resched(); /* there may be millions */
}

static void walk(struct listing *l, struct vinci_file *file, u32 type)
{
	l->rows.count = 0;
	mutex_lock(&file->device->own.lock);
	vinci_list_rows(file, type, &l->rows);
	mutex_unlock(&file->device->own.lock);
}

/* Until as many rows were collected as exist and the caller has room for: others go on meanwhile. */
static int collect(struct listing *l, struct vinci_file *file, const struct drm_vinci_list *a)
{
	u64 room;

	for (walk(l, file, a->type); l->rows.count > l->room && a->count > l->room; walk(l, file, a->type)) {
		room = min_t(u64, a->count, (u64)l->rows.count + l->rows.count / 8 + 16);
		if (fatal_signal_pending(current))
			return -EINTR;
		kvfree(l->memory);
		l->memory = NULL;
		l->room = 0;
		if (room * l->row_size > INT_MAX)
			return -ENOSPC;
		l->memory = kvmalloc(room * l->row_size, GFP_KERNEL_ACCOUNT);
		if (!l->memory)
			return -ENOSPC;
		l->room = room;
	}
	return 0;
}

/* The caller's element may be smaller than ours, or larger: then the rest is zero. */
static int copy_out(const struct listing *l, const struct drm_vinci_list *a)
{
	size_t size = min_t(size_t, l->row_size, a->elem_size);
	u32 i, n = min3(l->rows.count, l->room, a->count);

	for (i = 0; i < n; i++) {
		u8 __user *to = u64_to_user_ptr(a->array + (u64)i * a->elem_size);

		if (copy_to_user(to, l->memory + i * l->row_size, size) || clear_user(to + size, a->elem_size - size))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

static int list(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vinci_list *a = data;
	struct listing l = { .rows = { .emit = emit } };
	int r = vinci_check_list(a);

	if (r)
		return r;
	l.row_size = vinci_row_size(a->type);
	r = collect(&l, drm_file->driver_priv, a);
	if (!r)
		r = copy_out(&l, a);
	if (!r)
		a->count = l.rows.count;
	kvfree(l.memory);
	return r;
}

/* --- dispatch ------------------------------------------------------------------------------ */

#define ENTRY(name, handler) DRM_IOCTL_DEF_DRV(VINCI_##name, handler, DRM_RENDER_ALLOW)

const struct drm_ioctl_desc vinci_requests[VINCI_REQUEST_COUNT] = {
	ENTRY(GET_PARAM, get_param),
	ENTRY(DEVICE_INFO, device_info),
	ENTRY(BO_CREATE, bo_create),
	ENTRY(BO_INFO, bo_info),
	ENTRY(BO_SPLIT, bo_split),
	ENTRY(NOTIFY_IDS, notify_ids),
	ENTRY(NOTIFY_CREATE, notify_create),
	ENTRY(NOTIFY_STATUS, notify_status),
	ENTRY(SHARE_EXPORT, share_export),
	ENTRY(SHARE_ALLOW, share_allow),
	ENTRY(SHARE_IMPORT, share_import),
	ENTRY(SHARE_CLOSE, share_close),
	ENTRY(SHARE_ATTR, share_attr),
	ENTRY(PEER, peer),
	ENTRY(LIST, list),
};

/* Of DRM's own requests those that have a meaning here; the rest is as unknown as it is to vincid. */
static bool is_offered(unsigned int nr)
{
	switch (nr) {
	case _IOC_NR(DRM_IOCTL_VERSION):
	case _IOC_NR(DRM_IOCTL_GET_CAP):
	case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
	case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
	case _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
		return true;
	default:
		return nr >= DRM_COMMAND_BASE && nr - DRM_COMMAND_BASE < VINCI_REQUEST_COUNT;
	}
}

/*
 * A newer caller's structure is longer: what we do not know comes back as zero. drm_ioctl() would
 * return it as it came.
 */
static int clear_tail(unsigned int cmd, unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd), known;

	if (nr < DRM_COMMAND_BASE || !(cmd & IOC_OUT))
		return 0;
	known = _IOC_SIZE(vinci_requests[nr - DRM_COMMAND_BASE].cmd);
	if (_IOC_SIZE(cmd) <= known)
		return 0;
	return clear_user((void __user *)(arg + known), _IOC_SIZE(cmd) - known) ? -EFAULT : 0;
}

long vinci_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	long r;

	if (!vinci_file_is_own(file->driver_priv))
		return -EPERM;
	if (!is_offered(_IOC_NR(cmd)))
		return -EINVAL;
	r = drm_ioctl(filp, cmd, arg);
	return r ? r : clear_tail(cmd, arg);
}
