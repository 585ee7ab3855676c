/* SPDX-License-Identifier: MIT */
/* The read-only listings behind vinci-smi. A caller sees what belongs to its own uid; root sees all. */
#include <errno.h>
#include <string.h>

#include "soft/internal.h"

struct listing {
	struct soft_file *file;
	const struct drm_vinci_list *arg;
	struct soft_user *user;
	uint32_t count; /* found so far */
	int error;
};

static bool visible(const struct listing *l, uint32_t uid)
{
	return !l->file->process.uid || l->file->process.uid == uid;
}

/* The caller's element may be smaller than ours, or larger: then the rest is zero. */
static void emit(struct listing *l, const void *element, size_t size)
{
	uint8_t out[VINCI_LIST_SIZE_MAX] = { 0 };
	uint32_t at = l->count++;

	if (l->error || at >= l->arg->count)
		return;
	memcpy(out, element, size < l->arg->elem_size ? size : l->arg->elem_size);
	l->error = l->user->write(l->user, l->arg->array + (uint64_t)at * l->arg->elem_size, out, l->arg->elem_size);
}

/* What one file pays for, by NPU. */
static void sum_file(struct soft_file *file, uint64_t *bytes, uint32_t *objects)
{
	struct soft_object *object;
	uint32_t i;
	uint64_t stamp = ++file->device->stamp;

	for (i = 1; i < file->handle_room; i++) {
		object = file->handles[i] ? file->handles[i]->object : NULL;
		if (!object || object->payer != file || object->type != VINCI_OBJECT_BO ||
		    (object->flags & VINCI_BO_HOST) || object->stamp == stamp)
			continue;
		object->stamp = stamp; /* it may have several handles */
		bytes[object->owner] += object->size;
		objects[object->owner]++;
	}
}

static void list_file(struct listing *l, struct soft_file *file)
{
	uint64_t bytes[VINCI_MAX_DEVICES] = { 0 };
	uint32_t objects[VINCI_MAX_DEVICES] = { 0 };
	struct vinci_list_process p = { .pid = file->process.pid, .uid = file->process.uid, .device = ~0u };
	bool any = false;
	uint32_t d;

	sum_file(file, bytes, objects);
	for (d = 0; d < VINCI_MAX_DEVICES; d++) {
		if (!objects[d])
			continue;
		any = true;
		p.device = d;
		p.objects = objects[d];
		p.bytes = bytes[d];
		emit(l, &p, sizeof(p));
	}
	if (!any)
		emit(l, &p, sizeof(p));
}

static void list_processes(struct listing *l)
{
	struct soft_file *file;

	links_for_each(file, &l->file->device->files, struct soft_file, link)
		if (visible(l, file->process.uid))
			list_file(l, file);
}

static uint32_t count_openers(const struct soft_share *share)
{
	struct soft_hold *hold;
	uint32_t n = 0;

	links_for_each(hold, &share->openers, struct soft_hold, by_share)
		n++;
	return n;
}

static void list_share(struct listing *l, const struct soft_share *share)
{
	struct vinci_list_share s = {
		.serial = share->serial,
		.kind = share->kind,
		.flags = share->flags,
		.pid = share->process.pid,
		.device = share->object->owner,
		.size = share->size,
		.allowed = share->allowed_count,
		.openers = count_openers(share),
	};

	if (share->policy->printable)
		memcpy(s.hint, share->name, sizeof(s.hint) - 1);
	emit(l, &s, sizeof(s));
}

static void list_allowed(struct listing *l, const struct soft_share *share)
{
	struct vinci_list_member m = { .serial = share->serial };
	uint32_t i;

	for (i = 0; i < share->allowed_count; i++) {
		m.pid = share->allowed[i].pid;
		emit(l, &m, sizeof(m));
	}
}

static void list_openers(struct listing *l, const struct soft_share *share)
{
	struct vinci_list_member m = { .serial = share->serial };
	struct soft_hold *hold;

	links_for_each(hold, &share->openers, struct soft_hold, by_share) {
		m.pid = hold->file->process.pid;
		emit(l, &m, sizeof(m));
	}
}

/* Shares that can still be imported, oldest first within a file. */
static void list_shares(struct listing *l, void (*each)(struct listing *l, const struct soft_share *share))
{
	struct soft_file *file;
	struct soft_share *share;

	links_for_each(file, &l->file->device->files, struct soft_file, link) {
		if (!visible(l, file->process.uid))
			continue;
		links_for_each(share, &file->shares, struct soft_share, by_file)
			each(l, share);
	}
}

static void list_notifies(struct listing *l)
{
	struct soft_object *object;

	links_for_each(object, &l->file->device->objects, struct soft_object, link) {
		struct vinci_list_notify n = {
			.pid = object->creator.pid, .device = object->owner, .id = object->id
		};

		if (object->type != VINCI_OBJECT_NOTIFY || !visible(l, object->creator.uid))
			continue;
		n.holders = soft_object_holders(object);
		emit(l, &n, sizeof(n));
	}
}

SOFT_HANDLER(soft_list)
{
	struct drm_vinci_list *a = data;
	struct listing l = { .file = file, .arg = a, .user = call->user };
	int r = vinci_check_list(a);

	if (r)
		return r;
	if (a->type == VINCI_LIST_PROCESSES)
		list_processes(&l);
	else if (a->type == VINCI_LIST_SHARES)
		list_shares(&l, list_share);
	else if (a->type == VINCI_LIST_ALLOWED)
		list_shares(&l, list_allowed);
	else if (a->type == VINCI_LIST_OPENERS)
		list_shares(&l, list_openers);
	else
		list_notifies(&l);
	if (l.error)
		return l.error;
	a->count = l.count;
	return 0;
}
