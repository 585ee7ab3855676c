// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Shares: making and withdrawing names, and opening an object by one. Who may: vinci_whitelist.c and share_policy.c. */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "vinci_drv.h"

/* --- names --------------------------------------------------------------------------------- */

static u32 hash_name(u32 kind, const u8 *name, u32 len)
{
	return jhash(name, len, kind);
}

static struct vinci_share *find_share(struct vinci_device *device, u32 kind, const u8 *name, u32 len)
{
	struct vinci_share *share;

	if (len != vinci_share_policy(kind)->name_len)
		return NULL;
	hash_for_each_possible(device->shares, share, hash, hash_name(kind, name, len))
		if (share->kind == kind && !memcmp(share->name, name, len))
			return share;
	return NULL;
}

static void print_hex(u8 *name, const u8 *random, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		name[i] = "0123456789abcdef"[random[i / 2] >> (i % 2 ? 0 : 4) & 15];
}

/* 63 random bits, never 0 */
static void make_vmm_name(u8 *name, const u8 *random)
{
	memcpy(name, random, 8);
	name[7] &= 0x7f;
	if (!name[0])
		name[0] = 1;
}

static void make_fabric_name(u8 *name, const u8 *random, u32 sdid, u32 device)
{
	const u32 header[4] = { VINCI_SHARE_FABRIC, sdid, device, 0 };

	memcpy(name, header, sizeof(header));
	memcpy(name + sizeof(header), random, VINCI_NAME_MAX - sizeof(header));
}

static int make_name(struct vinci_share *share)
{
	struct vinci_device *device = share->object->device;
	u8 random[VINCI_NAME_MAX];

	get_random_bytes(random, sizeof(random));
	if (share->policy->printable)
		print_hex(share->name, random, share->policy->name_len);
	else if (share->kind == VINCI_SHARE_VMM)
		make_vmm_name(share->name, random);
	else if (share->kind == VINCI_SHARE_FABRIC)
		make_fabric_name(share->name, random, device->config.sdid, share->object->owner);
	else
		memcpy(share->name, random, share->policy->name_len);
	/* A collision of 63 bits is rare, not impossible. */
	return find_share(device, share->kind, share->name, share->policy->name_len) ? -EIO : 0;
}

/* --- lifetime ------------------------------------------------------------------------------ */

static void free_share(struct vinci_share *share)
{
	hash_del(&share->hash);
	list_del(&share->by_object);
	vinci_whitelist_free(share);
	put_pid(share->process);
	atomic_dec(&share->object->device->live);
	kfree(share);
}

/* No new imports. While somebody holds the object through it, a closed share still answers its creator with EIDRM. */
void vinci_share_withdraw(struct vinci_share *share)
{
	if (!share->closed) {
		share->creator->share_count--;
		share->creator->allowed_count -= share->allowed_count;
		share->creator = NULL;
		share->closed = true;
		list_del_init(&share->by_file);
	}
	if (list_empty(&share->openers))
		free_share(share);
}

void vinci_share_opener_gone(struct vinci_share *share)
{
	if (share->closed && list_empty(&share->openers))
		free_share(share);
}

static bool exported_already(const struct vinci_object *object, const struct vinci_share_policy *policy)
{
	struct vinci_share *share;

	list_for_each_entry(share, &object->shares, by_object)
		if (policy->once && !share->closed && share->policy->once == policy->once)
			return true;
	return false;
}

static int new_share(struct vinci_file *file, struct vinci_hold *hold, const struct drm_vinci_share_export *a,
		     struct vinci_share **out)
{
	struct vinci_device *device = file->device;
	struct vinci_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
	int r;

	if (!share)
		return -ENOSPC;
	share->object = hold->object;
	share->creator = file;
	share->policy = vinci_share_policy(a->kind);
	share->kind = a->kind;
	share->flags = a->flags;
	share->size = a->size;
	r = make_name(share);
	if (r) {
		kfree(share);
		return r;
	}
	share->process = get_pid(file->pid);
	share->serial = ++device->serial;
	INIT_LIST_HEAD(&share->openers);
	hash_add(device->shares, &share->hash, hash_name(share->kind, share->name, share->policy->name_len));
	list_add_tail(&share->by_object, &hold->object->shares);
	list_add_tail(&share->by_file, &file->shares);
	file->share_count++;
	atomic_inc(&device->live);
	*out = share;
	return 0;
}

/* --- requests of the creator --------------------------------------------------------------- */

static int export(struct vinci_file *file, struct vinci_hold *hold, struct drm_vinci_share_export *a)
{
	struct vinci_object *object = hold->object;
	struct vinci_share *share;
	int r;

	if (vinci_hold_is_imported(hold))
		return -EACCES;
	r = vinci_check_export(a, object->type, object->page_kind, object->size);
	if (r)
		return r;
	if (object->split_count)
		return -EINVAL; /* its memory has more pages than it still owns */
	if (exported_already(object, vinci_share_policy(a->kind)))
		return -EEXIST;
	if (file->share_count >= VINCI_MAX_SHARES)
		return -ENOSPC;
	r = new_share(file, hold, a, &share);
	if (r)
		return r;
	a->name_len = share->policy->name_len;
	memcpy(a->name, share->name, sizeof(a->name));
	return 0;
}

VINCI_HANDLER(vinci_share_export)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_share_export *a = data;
	struct vinci_hold *hold;
	int r = -ENOENT;

	mutex_lock(&device->lock);
	hold = vinci_hold_find(file, a->handle);
	if (hold)
		r = export(file, hold, a);
	mutex_unlock(&device->lock);
	if (hold)
		drm_gem_object_put(&hold->base);
	return r;
}

/* For its creator: ESTALE unknown, @not_creator, EIDRM closed. */
static int find_own(struct vinci_file *file, u32 kind, const u8 *name, u32 len, int not_creator,
		    struct vinci_share **out)
{
	struct vinci_share *share = find_share(file->device, kind, name, len);

	if (!share)
		return -ESTALE;
	if (share->process != file->pid)
		return not_creator;
	if (share->closed)
		return -EIDRM;
	if (share->creator != file)
		return not_creator;
	*out = share;
	return 0;
}

static int find_listed(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_share **out)
{
	int r = find_own(file, a->kind, a->name, a->name_len, -EACCES, out);

	if (r)
		return r;
	return (*out)->flags & VINCI_SHARE_UNVALIDATED ? -EPERM : 0;
}

/* Twice: the caller's memory is read in between, without the lock. */
static int allow(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids)
{
	struct vinci_share *share;
	int r;

	mutex_lock(&file->device->lock);
	r = find_listed(file, a, &share);
	if (!r && pids)
		r = vinci_whitelist_add(share, pids);
	mutex_unlock(&file->device->lock);
	return r;
}

VINCI_HANDLER(vinci_share_allow)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct drm_vinci_share_allow *a = data;
	struct vinci_pids pids;
	int r = vinci_check_allow(a);

	if (!r)
		r = allow(file, a, NULL);
	if (r)
		return r;
	if (!a->count)
		return -EINVAL;
	if (a->count > vinci_share_policy(a->kind)->pids_per_call)
		return -E2BIG;
	r = vinci_pids_read(file, a, &pids);
	if (r)
		return r;
	r = allow(file, a, &pids);
	vinci_pids_free(&pids);
	return r;
}

VINCI_HANDLER(vinci_share_close)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_share_close *a = data;
	struct vinci_share *share;
	int r = vinci_check_share_close(a);

	if (r)
		return r;
	mutex_lock(&device->lock);
	r = find_own(file, a->kind, a->name, a->name_len, -EACCES, &share);
	if (!r)
		vinci_share_withdraw(share);
	mutex_unlock(&device->lock);
	return r;
}

static int set_attr(struct vinci_share *share, const struct drm_vinci_share_attr *a)
{
	if (a->attr == VINCI_SHARE_ATTR_LINK) {
		share->link = a->value;
		return 0;
	}
	if (share->allowed_count)
		return -EPERM;
	share->flags |= VINCI_SHARE_UNVALIDATED;
	return 0;
}

VINCI_HANDLER(vinci_share_attr)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_share_attr *a = data;
	struct vinci_share *share;
	int r = vinci_check_attr(a);

	if (r)
		return r;
	mutex_lock(&device->lock);
	r = find_own(file, a->kind, a->name, a->name_len, -EPERM, &share);
	if (!r)
		r = set_attr(share, a);
	mutex_unlock(&device->lock);
	return r == -EIDRM ? -ESTALE : r;
}

/* --- import -------------------------------------------------------------------------------- */

/* What this file already holds through the share. 0 with *out NULL: nothing, or nothing for this NPU. */
static int find_held(struct vinci_file *file, struct vinci_share *share, u32 device, struct vinci_hold **out)
{
	struct vinci_hold *hold;

	*out = NULL;
	list_for_each_entry(hold, &share->openers, by_share) {
		if (hold->file != file)
			continue;
		if (hold->device == device || share->policy->again == VINCI_AGAIN_SAME) {
			*out = hold;
			return 0;
		}
		if (share->policy->again == VINCI_AGAIN_ONE_DEVICE)
			return -EBUSY;
	}
	return 0;
}

static int open_share(struct vinci_file *file, struct vinci_share *share, u32 device, struct vinci_hold **out)
{
	struct vinci_object *object = share->object;
	bool own_device = object->owner == device && !(object->flags & VINCI_BO_HOST);
	bool listed, current_entry;
	int r = find_held(file, share, device, out);

	if (r || *out)
		return r;
	listed = vinci_whitelist_find(share, file->pid, &current_entry);
	r = vinci_share_admit(share->policy, share->flags & VINCI_SHARE_UNVALIDATED, share->process == file->pid,
			      own_device, listed, current_entry);
	return r ? r : vinci_hold_create(file, object, share, device, out);
}

static int import(struct vinci_file *file, struct drm_vinci_share_import *a)
{
	struct vinci_share *share;
	struct vinci_hold *hold;
	int r;

	/* Before the lookup, or guessing could go on and would only be told its hits. */
	if (vinci_guess_exhausted(file))
		return -EDQUOT;
	share = find_share(file->device, a->kind, a->name, a->name_len);
	if (!share || share->closed) {
		vinci_guess_count(file);
		return -ESTALE;
	}
	r = open_share(file, share, a->device, &hold);
	if (r)
		return r;
	a->handle = hold->handle;
	a->object = share->object->type;
	a->size = share->object->type == VINCI_OBJECT_NOTIFY ? VINCI_NOTIFY_PAGE_SIZE : share->size;
	a->mmap_offset = vinci_hold_offset(hold);
	a->owner_device = share->object->owner;
	a->bo_flags = share->object->flags;
	a->page_kind = share->object->page_kind;
	a->id = share->object->id;
	return 0;
}

VINCI_HANDLER(vinci_share_import)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_share_import *a = data;
	int r = vinci_check_import(a, device->config.devices);

	if (r)
		return r;
	mutex_lock(&device->lock);
	r = import(file, a);
	mutex_unlock(&device->lock);
	return r;
}
