// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Open files: whose they are, and what goes with them. */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "vinci_compat.h"
#include "vinci_drv.h"

int vinci_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vinci_device *device = to_vinci(drm);
	const struct vinci_process process = {
		.pid = task_tgid_nr(current), /* in the initial namespace, whatever the caller's */
		.uid = from_kuid_munged(&init_user_ns, current_euid()),
		.identity = { task_tgid(current) },
	};
	struct vinci_file *file;

	/* The primary node is there for the sake of enumeration only. */
	if (!drm_is_render_client(drm_file) && !vinci_is_accel_client(drm_file))
		return -EPERM;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->own.drm = drm_file;
	drm_file->driver_priv = file;
	atomic_inc(&device->own.live);
	get_pid(process.identity.pid);
	mutex_lock(&device->own.lock);
	vinci_file_init(file, device, &process);
	mutex_unlock(&device->own.lock);
	return 0;
}

bool vinci_file_is_own(struct vinci_file *file)
{
	return file->process.identity.pid == task_tgid(current) && !READ_ONCE(file->own.dead);
}

void vinci_file_release(struct vinci_file *file)
{
	struct vinci_device *device = file->device;

	mutex_lock(&device->own.lock);
	if (!file->own.dead) {
		WRITE_ONCE(file->own.dead, true);
		vinci_file_clear(file);
	}
	mutex_unlock(&device->own.lock);
}

void vinci_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vinci_file *file = drm_file->driver_priv;

	vinci_file_release(file);
	put_pid(file->process.identity.pid);
	kfree(file);
	atomic_dec(&to_vinci(drm)->own.live);
}

/* --- for the common code ------------------------------------------------------------------- */

/* In the initial namespace, whose numbers VINCI_PARAM_TGID tells everybody. */
int vinci_identity_find(__s32 pid, struct vinci_identity *out)
{
	rcu_read_lock();
	out->pid = get_pid(find_pid_ns(pid, &init_pid_ns));
	rcu_read_unlock();
	return 0;
}

int vinci_random(void *buffer, size_t size)
{
	get_random_bytes(buffer, size);
	return 0;
}

__u64 vinci_now(void)
{
	return ktime_get_ns();
}
