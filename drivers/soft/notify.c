/* SPDX-License-Identifier: MIT */
/* Notify ids, and the pages of notifies that can be exported. The device never touches a page's contents. */
#include <errno.h>
#include <stdlib.h>

#include "soft/internal.h"

/* The first run of free ids from @from on, at most *count long; false: none. */
static bool find_run(const uint8_t *ids, uint32_t limit, uint32_t from, uint32_t *first, uint32_t *count)
{
	uint32_t i, n;

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

SOFT_HANDLER(soft_notify_ids)
{
	struct drm_vinci_notify_ids *a = data;
	struct soft_device *device = file->device;
	uint32_t limit = device->config.notify_limit;
	uint32_t first, count = a->count, i;
	struct soft_ids *run;
	int r = vinci_check_notify_ids(a, device->config.devices);

	(void)call;
	if (r)
		return r;
	/* Ids go round: one that has just been given back is not at once somebody else's. */
	if (!find_run(device->ids[a->device], limit, device->id_hint[a->device], &first, &count) &&
	    !find_run(device->ids[a->device], limit, 0, &first, &count))
		return -ENOSPC;
	run = malloc(sizeof(*run));
	if (!run)
		return -ENOSPC;
	*run = (struct soft_ids){ .device = a->device, .first = first, .count = count };
	links_add(&file->ids, &run->link);
	for (i = first; i < first + count; i++)
		device->ids[a->device][i] = SOFT_ID_RESERVED;
	device->id_hint[a->device] = (first + count) % limit;
	a->first = first;
	a->count = count;
	return 0;
}

void soft_ids_release(struct soft_file *file)
{
	struct soft_ids *run, *tmp;
	uint8_t *ids;
	uint32_t i;

	links_for_each_safe(run, tmp, &file->ids, struct soft_ids, link) {
		ids = file->device->ids[run->device];
		for (i = run->first; i < run->first + run->count; i++)
			ids[i] = ids[i] & SOFT_ID_BUSY ? SOFT_ID_RESERVED | SOFT_ID_BUSY | SOFT_ID_ORPHAN : 0;
		links_del(&run->link);
		free(run);
	}
}

void soft_notify_gone(struct soft_object *object)
{
	uint8_t *id = &object->device->ids[object->owner][object->id];

	*id = (uint8_t)(*id & SOFT_ID_ORPHAN ? 0 : SOFT_ID_RESERVED);
}

static bool has_id(struct soft_file *file, uint32_t device, uint32_t id)
{
	struct soft_ids *run;

	links_for_each(run, &file->ids, struct soft_ids, link)
		if (run->device == device && id >= run->first && id - run->first < run->count)
			return true;
	return false;
}

SOFT_HANDLER(soft_notify_create)
{
	struct drm_vinci_notify_create *a = data;
	struct soft_device *device = file->device;
	struct soft_object *object;
	struct soft_hold *hold;
	int r = vinci_check_notify_create(a, device->config.devices, device->config.notify_limit);

	if (r)
		return r;
	if (!has_id(file, a->device, a->id))
		return -EINVAL;
	if (device->ids[a->device][a->id] & SOFT_ID_BUSY)
		return -EBUSY;
	object = soft_object_create(device, VINCI_OBJECT_NOTIFY, VINCI_NOTIFY_PAGE_SIZE, &r);
	if (!object)
		return r;
	object->creator = file->process;
	object->owner = a->device;
	object->id = a->id;
	device->ids[a->device][a->id] = SOFT_ID_RESERVED | SOFT_ID_BUSY;
	r = soft_hold_create(file, object, NULL, a->device, &hold);
	if (r) {
		soft_object_destroy(object);
		return r;
	}
	a->handle = hold->handle;
	a->mmap_offset = object->offset;
	soft_memory_set(call->memory, object, hold->handle);
	return 0;
}

SOFT_HANDLER(soft_notify_status)
{
	struct drm_vinci_notify_status *a = data;
	struct soft_hold *hold;
	int r = vinci_check_notify_status(a);

	(void)call;
	if (r)
		return r;
	hold = soft_handle_find(file, a->handle);
	if (!hold)
		return -ENOENT;
	if (hold->object->type != VINCI_OBJECT_NOTIFY)
		return -EINVAL;
	a->holders = soft_object_holders(hold->object);
	a->lost = hold->object->lost;
	return 0;
}
