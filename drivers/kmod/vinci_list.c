// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The read-only listings behind vinci-smi. A caller sees what belongs to its own uid; root sees all.
 *
 * Rows are collected under the lock into memory of ours and copied out after: the caller's memory may take its time.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "vinci_drv.h"

struct listing {
	struct vinci_file *file;
	size_t row_size;
	u8 *rows; /* owned */
	u32 room;
	u32 count; /* found so far */
};

static bool visible(const struct listing *l, u32 uid)
{
	return !l->file->uid || l->file->uid == uid;
}

static void emit(struct listing *l, const void *row)
{
	u32 at = l->count++;

	if (at < l->room)
		memcpy(l->rows + at * l->row_size, row, l->row_size);
}

/* What one file pays for on one NPU: false if nothing. */
static bool sum_file(struct vinci_file *file, u32 device, struct vinci_list_process *p)
{
	u64 stamp = ++file->device->stamp;
	struct vinci_hold *hold;

	p->device = device;
	p->objects = 0;
	p->bytes = 0;
	list_for_each_entry(hold, &file->holds, by_file) {
		struct vinci_object *object = hold->object;

		if (object->payer != file || object->type != VINCI_OBJECT_BO || object->owner != device ||
		    (object->flags & VINCI_BO_HOST) || object->stamp == stamp)
			continue;
		object->stamp = stamp; /* it may have several handles */
		p->objects++;
		p->bytes += object->size;
	}
	return p->objects;
}

static void list_file(struct listing *l, struct vinci_file *file)
{
	struct vinci_list_process p = { .pid = pid_nr(file->pid), .uid = file->uid };
	bool any = false;
	u32 d;

	for (d = 0; d < file->device->config.devices; d++) {
		if (!sum_file(file, d, &p))
			continue;
		any = true;
		emit(l, &p);
	}
	p.device = ~0u;
	if (!any)
		emit(l, &p);
}

static void list_processes(struct listing *l)
{
	struct vinci_file *file;

	list_for_each_entry(file, &l->file->device->files, link)
		if (visible(l, file->uid))
			list_file(l, file);
}

static u32 count_openers(const struct vinci_share *share)
{
	struct vinci_hold *hold;
	u32 n = 0;

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
		.pid = pid_nr(share->process),
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
	u32 i;

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
		m.pid = pid_nr(hold->file->pid);
		emit(l, &m);
	}
}

/* Shares that can still be imported, oldest first within a file. */
static void list_shares(struct listing *l, void (*each)(struct listing *l, const struct vinci_share *share))
{
	struct vinci_file *file;
	struct vinci_share *share;

	list_for_each_entry(file, &l->file->device->files, link) {
		if (!visible(l, file->uid))
			continue;
		list_for_each_entry(share, &file->shares, by_file)
			each(l, share);
	}
}

static void list_notifies(struct listing *l)
{
	struct vinci_object *object;

	list_for_each_entry(object, &l->file->device->objects, link) {
		struct vinci_list_notify n = {
			.pid = object->creator_pid, .device = object->owner, .id = object->id
		};

		if (object->type != VINCI_OBJECT_NOTIFY || !visible(l, object->creator_uid))
			continue;
		n.holders = vinci_object_holders(object);
		emit(l, &n);
	}
}

static size_t row_size(u32 type)
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

static void walk(struct listing *l, u32 type)
{
	l->count = 0;
	mutex_lock(&l->file->device->lock);
	if (type == VINCI_LIST_PROCESSES)
		list_processes(l);
	else if (type == VINCI_LIST_SHARES)
		list_shares(l, list_share);
	else if (type == VINCI_LIST_ALLOWED)
		list_shares(l, list_allowed);
	else if (type == VINCI_LIST_OPENERS)
		list_shares(l, list_openers);
	else
		list_notifies(l);
	mutex_unlock(&l->file->device->lock);
}

/* Until as many rows were collected as exist and the caller has room for: others go on meanwhile. */
static int collect(struct listing *l, const struct drm_vinci_list *a)
{
	u64 room;

	l->row_size = row_size(a->type);
	for (walk(l, a->type); l->count > l->room && a->count > l->room; walk(l, a->type)) {
		room = min_t(u64, a->count, (u64)l->count + l->count / 8 + 16);
		if (fatal_signal_pending(current))
			return -EINTR;
		kvfree(l->rows);
		l->rows = NULL;
		l->room = 0;
		if (room * l->row_size > INT_MAX)
			return -ENOSPC;
		l->rows = kvmalloc(room * l->row_size, GFP_KERNEL_ACCOUNT);
		if (!l->rows)
			return -ENOSPC;
		l->room = room;
	}
	return 0;
}

/* The caller's element may be smaller than ours, or larger: then the rest is zero. */
static int copy_out(const struct listing *l, const struct drm_vinci_list *a)
{
	size_t size = min_t(size_t, l->row_size, a->elem_size);
	u32 i, n = min3(l->count, l->room, a->count);

	for (i = 0; i < n; i++) {
		u8 __user *to = u64_to_user_ptr(a->array + (u64)i * a->elem_size);

		if (copy_to_user(to, l->rows + i * l->row_size, size) || clear_user(to + size, a->elem_size - size))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

VINCI_HANDLER(vinci_list)
{
	struct drm_vinci_list *a = data;
	struct listing l = { .file = drm_file->driver_priv };
	int r = vinci_check_list(a);

	if (r)
		return r;
	r = collect(&l, a);
	if (!r)
		r = copy_out(&l, a);
	if (!r)
		a->count = l.count;
	kvfree(l.rows);
	return r;
}
