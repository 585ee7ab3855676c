// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Open files: whose they are, what goes with them; and the queries. */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "vinci_compat.h"
#include "vinci_drv.h"

int vinci_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vinci_device *device = to_vinci(drm);
	struct vinci_file *file;

	/* The primary node is there for the sake of enumeration only. */
	if (!drm_is_render_client(drm_file) && !vinci_is_accel_client(drm_file))
		return -EPERM;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->device = device;
	file->drm = drm_file;
	file->pid = get_pid(task_tgid(current));
	file->uid = from_kuid_munged(&init_user_ns, current_euid());
	INIT_LIST_HEAD(&file->holds);
	INIT_LIST_HEAD(&file->shares);
	INIT_LIST_HEAD(&file->ids);
	INIT_LIST_HEAD(&file->peers);
	drm_file->driver_priv = file;
	atomic_inc(&device->live);
	mutex_lock(&device->lock);
	list_add_tail(&file->link, &device->files);
	mutex_unlock(&device->lock);
	return 0;
}

bool vinci_file_is_own(struct vinci_file *file)
{
	return file->pid == task_tgid(current) && !READ_ONCE(file->dead);
}

/* A notify's other holders learn that somebody who could have recorded it has gone: once for each file. */
static void count_lost(struct vinci_file *file)
{
	u64 stamp = ++file->device->stamp;
	struct vinci_hold *hold;

	list_for_each_entry(hold, &file->holds, by_file) {
		struct vinci_object *object = hold->object;

		if (object->type != VINCI_OBJECT_NOTIFY || object->stamp == stamp)
			continue;
		object->stamp = stamp;
		object->lost++;
	}
}

void vinci_file_release(struct vinci_file *file)
{
	struct vinci_device *device = file->device;
	struct vinci_share *share, *next_share;
	struct vinci_hold *hold, *next_hold;

	mutex_lock(&device->lock);
	if (file->dead)
		goto out_unlock;
	WRITE_ONCE(file->dead, true);
	list_for_each_entry_safe(share, next_share, &file->shares, by_file)
		vinci_share_withdraw(share);
	count_lost(file);
	/* The handles themselves stay in DRM's table until the descriptor goes, but lead nowhere. */
	list_for_each_entry_safe(hold, next_hold, &file->holds, by_file)
		vinci_hold_drop(hold);
	vinci_ids_release(file);
	vinci_peer_release(file);
	list_del_init(&file->link);
out_unlock:
	mutex_unlock(&device->lock);
}

void vinci_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vinci_file *file = drm_file->driver_priv;

	vinci_file_release(file);
	put_pid(file->pid);
	kfree(file);
	atomic_dec(&to_vinci(drm)->live);
}

/* --- queries ------------------------------------------------------------------------------- */

VINCI_HANDLER(vinci_get_param)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_get_param *a = data;
	int r = vinci_check_get_param(a);

	if (r)
		return r;
	switch (a->param) {
	case VINCI_PARAM_UAPI_VERSION:
		a->value = (u64)VINCI_UAPI_MAJOR << 32 | VINCI_UAPI_MINOR;
		return 0;
	case VINCI_PARAM_DEVICE_COUNT:
		a->value = device->config.devices;
		return 0;
	case VINCI_PARAM_TGID:
		a->value = pid_nr(file->pid); /* in the initial namespace, whatever the caller's */
		return 0;
	default:
		a->value = device->instance;
		return 0;
	}
}

VINCI_HANDLER(vinci_device_info)
{
	struct vinci_device *device = to_vinci(drm);
	const struct vinci_config *config = &device->config;
	struct drm_vinci_device_info *a = data;
	u64 all = config->devices == 64 ? ~0ull : BIT_ULL(config->devices) - 1;
	int r = vinci_check_device_info(a, config->devices);

	if (r)
		return r;
	mutex_lock(&device->lock);
	a->mem_used = device->used[a->device];
	mutex_unlock(&device->lock);
	a->numa_node = NUMA_NO_NODE; /* its pages lie where they are touched first */
	a->mem_total = config->mem_bytes;
	a->peer_mask = config->peers[a->device] & all & ~BIT_ULL(a->device);
	a->notify_limit = config->notify_limit;
	a->sdid = config->sdid;
	memcpy(a->soc, config->soc, sizeof(a->soc));
	return 0;
}
