// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* Notify ids, and the pages of notifies that can be exported. The device never touches a page's contents. */
#include "common/checks.h"
#include "common/core.h"

/* The first run of free ids from @from on, at most *count long; false: none. */
static bool find_run(const __u8 *ids, __u32 limit, __u32 from, __u32 *first, __u32 *count)
{
	__u32 i, n;

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

VINCI_REQUEST(vinci_notify_ids)
{
	struct drm_vinci_notify_ids *a = data;
	struct vinci_device *device = file->device;
	__u32 limit = device->config.notify_limit, first, count = a->count;
	struct vinci_ids *run;
	int r = vinci_check_notify_ids(a, device->config.devices);
	__u8 *ids;

	if (r)
		return r;
	ids = device->ids[a->device];
	/* Ids go round: one that has just been given back is not at once somebody else's. */
	if (!find_run(ids, limit, device->id_hint[a->device], &first, &count) &&
	    !find_run(ids, limit, 0, &first, &count))
		return -ENOSPC;
	run = vinci_alloc(1, sizeof(*run));
	if (!run)
		return -ENOSPC;
	run->device = a->device;
	run->first = first;
	run->count = count;
	list_add_tail(&run->link, &file->ids);
	memset(ids + first, VINCI_ID_RESERVED, count);
	device->id_hint[a->device] = (first + count) % limit;
	a->first = first;
	a->count = count;
	return 0;
}

void vinci_ids_release(struct vinci_file *file)
{
	struct vinci_ids *run, *next;
	__u8 *ids;
	__u32 i;

	list_for_each_entry_safe(run, next, &file->ids, link) {
		ids = file->device->ids[run->device];
		for (i = run->first; i < run->first + run->count; i++)
			ids[i] = (__u8)(ids[i] & VINCI_ID_BUSY ? ids[i] | VINCI_ID_ORPHAN : 0);
		list_del_init(&run->link);
		vinci_free(run);
	}
}

void vinci_notify_gone(struct vinci_object *object)
{
	__u8 *id = &object->device->ids[object->owner][object->id];

	*id = (__u8)(*id & VINCI_ID_ORPHAN ? 0 : VINCI_ID_RESERVED);
}

static bool has_id(struct vinci_file *file, __u32 device, __u32 id)
{
	struct vinci_ids *run;

	list_for_each_entry(run, &file->ids, link)
		if (run->device == device && id >= run->first && id - run->first < run->count)
			return true;
	return false;
}

VINCI_REQUEST(vinci_notify_create)
{
	struct drm_vinci_notify_create *a = data;
	struct vinci_device *device = file->device;
	struct vinci_object *object;
	struct vinci_hold *hold;
	int r = vinci_check_notify_create(a, device->config.devices, device->config.notify_limit);

	if (r)
		return r;
	if (!has_id(file, a->device, a->id))
		return -EINVAL;
	if (device->ids[a->device][a->id] & VINCI_ID_BUSY)
		return -EBUSY;
	r = vinci_object_create(file, VINCI_OBJECT_NOTIFY, VINCI_NOTIFY_PAGE_SIZE, a->device, &object);
	if (r)
		return r;
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

VINCI_REQUEST(vinci_notify_status)
{
	struct drm_vinci_notify_status *a = data;
	struct vinci_hold *hold;
	int r = vinci_check_notify_status(a);

	if (r)
		return r;
	hold = vinci_hold_find(file, a->handle);
	if (!hold)
		return -ENOENT;
	if (hold->object->type != VINCI_OBJECT_NOTIFY)
		return -EINVAL;
	a->holders = vinci_object_holders(hold->object);
	a->lost = hold->object->lost;
	return 0;
}
