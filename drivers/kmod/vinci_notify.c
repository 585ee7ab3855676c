// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Notify ids, and the pages of notifies that can be exported. The device never touches a page's contents. */
#include <linux/slab.h>

#include "vinci_drv.h"

/* A run of reserved notify ids. */
struct vinci_ids {
	struct list_head link;
	u32 device;
	u32 first;
	u32 count;
};

/* The first run of free ids from @from on, at most *count long; false: none. */
static bool find_run(const u8 *ids, u32 limit, u32 from, u32 *first, u32 *count)
{
	u32 i, n;

	for (i = from; i < limit && ids[i]; i++)
		;
	for (n = 0; i + n < limit && n < *count && !ids[i + n]; n++)
		;
	if (!n)
		return false;
	*first = i;
	*count = n;
	return true;
}

static int reserve(struct vinci_file *file, struct vinci_ids *run)
{
	struct vinci_device *device = file->device;
	u32 limit = device->config.notify_limit;
	u8 *ids = device->ids[run->device];

	/* Ids go round: one that has just been given back is not at once somebody else's. */
	if (!find_run(ids, limit, device->id_hint[run->device], &run->first, &run->count) &&
	    !find_run(ids, limit, 0, &run->first, &run->count))
		return -ENOSPC;
	list_add_tail(&run->link, &file->ids);
	memset(ids + run->first, VINCI_ID_RESERVED, run->count);
	device->id_hint[run->device] = (run->first + run->count) % limit;
	return 0;
}

VINCI_HANDLER(vinci_notify_ids)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_notify_ids *a = data;
	struct vinci_ids *run;
	int r = vinci_check_notify_ids(a, device->config.devices);

	if (r)
		return r;
	run = kzalloc(sizeof(*run), GFP_KERNEL_ACCOUNT);
	if (!run)
		return -ENOSPC;
	run->device = a->device;
	run->count = a->count;
	mutex_lock(&device->lock);
	r = reserve(file, run);
	if (!r) {
		a->first = run->first;
		a->count = run->count;
	}
	mutex_unlock(&device->lock);
	if (r)
		kfree(run);
	return r;
}

void vinci_ids_release(struct vinci_file *file)
{
	struct vinci_ids *run, *next;
	u8 *ids;
	u32 i;

	list_for_each_entry_safe(run, next, &file->ids, link) {
		ids = file->device->ids[run->device];
		for (i = run->first; i < run->first + run->count; i++)
			ids[i] = ids[i] & VINCI_ID_BUSY ? ids[i] | VINCI_ID_ORPHAN : 0;
		list_del(&run->link);
		kfree(run);
	}
}

void vinci_notify_gone(struct vinci_object *object)
{
	u8 *id = &object->device->ids[object->owner][object->id];

	*id = *id & VINCI_ID_ORPHAN ? 0 : VINCI_ID_RESERVED;
}

static bool has_id(struct vinci_file *file, u32 device, u32 id)
{
	struct vinci_ids *run;

	list_for_each_entry(run, &file->ids, link)
		if (run->device == device && id >= run->first && id - run->first < run->count)
			return true;
	return false;
}

static int create(struct vinci_file *file, struct drm_vinci_notify_create *a)
{
	struct vinci_device *device = file->device;
	struct vinci_object *object;
	struct vinci_hold *hold;
	int r;

	if (!has_id(file, a->device, a->id))
		return -EINVAL;
	if (device->ids[a->device][a->id] & VINCI_ID_BUSY)
		return -EBUSY;
	object = vinci_object_create(device, VINCI_OBJECT_NOTIFY, VINCI_NOTIFY_PAGE_SIZE);
	if (IS_ERR(object))
		return PTR_ERR(object);
	object->creator_pid = pid_nr(file->pid);
	object->creator_uid = file->uid;
	object->owner = a->device;
	object->id = a->id;
	device->ids[a->device][a->id] |= VINCI_ID_BUSY;
	r = vinci_hold_create(file, object, NULL, a->device, &hold);
	if (r) {
		vinci_object_destroy(object);
		return r;
	}
	a->handle = hold->handle;
	a->mmap_offset = vinci_hold_offset(hold);
	return 0;
}

VINCI_HANDLER(vinci_notify_create)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_notify_create *a = data;
	int r = vinci_check_notify_create(a, device->config.devices, device->config.notify_limit);

	if (r)
		return r;
	mutex_lock(&device->lock);
	r = create(file, a);
	mutex_unlock(&device->lock);
	return r;
}

VINCI_HANDLER(vinci_notify_status)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_notify_status *a = data;
	struct vinci_hold *hold;
	int r = vinci_check_notify_status(a);

	if (r)
		return r;
	mutex_lock(&device->lock);
	hold = vinci_hold_find(file, a->handle);
	if (!hold) {
		r = -ENOENT;
	} else if (hold->object->type != VINCI_OBJECT_NOTIFY) {
		r = -EINVAL;
	} else {
		a->holders = vinci_object_holders(hold->object);
		a->lost = hold->object->lost;
	}
	mutex_unlock(&device->lock);
	if (hold)
		drm_gem_object_put(&hold->base);
	return r;
}
