// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* The read-only listings behind vinci-smi. A caller sees what belongs to its own uid; root sees all. */
#include "common/checks.h"
#include "common/core.h"

struct listing {
	struct vinci_file *viewer;
	struct vinci_rows *rows;
};

static bool visible(const struct listing *l, __u32 uid)
{
	return !l->viewer->process.uid || l->viewer->process.uid == uid;
}

static void emit(struct listing *l, const void *row)
{
	l->rows->emit(l->rows, row);
	l->rows->count++;
}

/* What one file pays for, by NPU. */
static void sum_file(struct vinci_file *file, __u64 *bytes, __u32 *objects)
{
	__u64 stamp = ++file->device->stamp;
	struct vinci_hold *hold;

	list_for_each_entry(hold, &file->holds, by_file) {
		struct vinci_object *object = hold->object;

		if (object->payer != file || object->type != VINCI_OBJECT_BO || (object->flags & VINCI_BO_HOST) ||
		    object->stamp == stamp)
			continue;
		object->stamp = stamp; /* it may have several handles */
		bytes[object->owner] += object->size;
		objects[object->owner]++;
	}
}

static void list_file(struct listing *l, struct vinci_file *file)
{
	__u64 bytes[VINCI_MAX_DEVICES] = { 0 };
	__u32 objects[VINCI_MAX_DEVICES] = { 0 };
	struct vinci_list_process p = { .pid = file->process.pid, .uid = file->process.uid, .device = ~0u };
	bool any = false;
	__u32 d;

	sum_file(file, bytes, objects);
	for (d = 0; d < file->device->config.devices; d++) {
		if (!objects[d])
			continue;
		any = true;
		p.device = d;
		p.objects = objects[d];
		p.bytes = bytes[d];
		emit(l, &p);
	}
	if (!any)
		emit(l, &p);
}

static void list_processes(struct listing *l)
{
	struct vinci_file *file;

	list_for_each_entry(file, &l->viewer->device->files, link)
		if (visible(l, file->process.uid))
			list_file(l, file);
}

static __u32 count_openers(const struct vinci_share *share)
{
	struct vinci_hold *hold;
	__u32 n = 0;

	list_for_each_entry(hold, &share->openers, by_share)
		n++;
	return n;
}

static void list_share(struct listing *l, const struct vinci_share *share)
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
	emit(l, &s);
}

static void list_allowed(struct listing *l, const struct vinci_share *share)
{
	struct vinci_list_member m = { .serial = share->serial };
	__u32 i;

	for (i = 0; i < share->allowed_count; i++) {
		m.pid = share->allowed[i].pid;
		emit(l, &m);
	}
}

static void list_openers(struct listing *l, const struct vinci_share *share)
{
	struct vinci_list_member m = { .serial = share->serial };
	struct vinci_hold *hold;

	list_for_each_entry(hold, &share->openers, by_share) {
		m.pid = hold->file->process.pid;
		emit(l, &m);
	}
}

/* Shares that can still be imported, oldest first within a file. */
static void list_shares(struct listing *l, void (*each)(struct listing *l, const struct vinci_share *share))
{
	struct vinci_file *file;
	struct vinci_share *share;

	list_for_each_entry(file, &l->viewer->device->files, link) {
		if (!visible(l, file->process.uid))
			continue;
		list_for_each_entry(share, &file->shares, by_file)
			each(l, share);
	}
}

static void list_notifies(struct listing *l)
{
	struct vinci_object *object;

	list_for_each_entry(object, &l->viewer->device->objects, link) {
		struct vinci_list_notify n = {
			.pid = object->creator_pid, .device = object->owner, .id = object->id
		};

		if (object->type != VINCI_OBJECT_NOTIFY || !visible(l, object->creator_uid))
			continue;
		n.holders = vinci_object_holders(object);
		emit(l, &n);
	}
}

size_t vinci_row_size(__u32 type)
{
	switch (type) {
	case VINCI_LIST_PROCESSES:
		return sizeof(struct vinci_list_process);
	case VINCI_LIST_SHARES:
		return sizeof(struct vinci_list_share);
	case VINCI_LIST_NOTIFIES:
		return sizeof(struct vinci_list_notify);
	default:
		return sizeof(struct vinci_list_member);
	}
}

void vinci_list_rows(struct vinci_file *viewer, __u32 type, struct vinci_rows *rows)
{
	struct listing l = { viewer, rows };

	if (type == VINCI_LIST_PROCESSES)
		list_processes(&l);
	else if (type == VINCI_LIST_SHARES)
		list_shares(&l, list_share);
	else if (type == VINCI_LIST_ALLOWED)
		list_shares(&l, list_allowed);
	else if (type == VINCI_LIST_OPENERS)
		list_shares(&l, list_openers);
	else
		list_notifies(&l);
}
