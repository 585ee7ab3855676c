// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* Shares: making and withdrawing names, and opening an object by one. Who may: whitelist.c and share_policy.c. */
#include "common/checks.h"
#include "common/core.h"

/* --- names --------------------------------------------------------------------------------- */

/* Names are the device's own random bytes: nobody can aim at a bucket. */
static struct list_head *bucket(struct vinci_device *device, __u32 kind, const __u8 *name, __u32 len)
{
	__u32 h = 2166136261u ^ kind, i;

	for (i = 0; i < len; i++)
		h = (h ^ name[i]) * 16777619u;
	return &device->shares[h % VINCI_SHARE_BUCKETS];
}

static struct vinci_share *find_share(struct vinci_device *device, __u32 kind, const __u8 *name, __u32 len)
{
	struct vinci_share *share;

	if (len != vinci_share_policy(kind)->name_len)
		return NULL;
	list_for_each_entry(share, bucket(device, kind, name, len), hash)
		if (share->kind == kind && !memcmp(share->name, name, len))
			return share;
	return NULL;
}

void vinci_share_name(__u32 kind, __u32 sdid, __u32 device, const __u8 random[VINCI_NAME_MAX], __u8 *name)
{
	const struct vinci_share_policy *policy = vinci_share_policy(kind);
	const __u32 header[4] = { kind, sdid, device, 0 };
	__u32 i;

	if (policy->printable) {
		for (i = 0; i < policy->name_len; i++)
			name[i] = (__u8)"0123456789abcdef"[random[i / 2] >> (i % 2 ? 0 : 4) & 15];
		return;
	}
	memcpy(name, random, policy->name_len);
	if (kind == VINCI_SHARE_FABRIC)
		memcpy(name, header, sizeof(header));
	if (kind == VINCI_SHARE_VMM) { /* 63 random bits, never 0 */
		name[7] &= 0x7f;
		if (!name[0])
			name[0] = 1;
	}
}

static int make_name(struct vinci_share *share)
{
	struct vinci_device *device = share->object->device;
	__u8 random[VINCI_NAME_MAX];
	int r = vinci_random(random, sizeof(random));

	if (r)
		return r;
	vinci_share_name(share->kind, device->config.sdid, share->object->owner, random, share->name);
	/* A collision of 63 bits is rare, not impossible. */
	return find_share(device, share->kind, share->name, share->policy->name_len) ? -EIO : 0;
}

/* --- lifetime ------------------------------------------------------------------------------ */

static void free_share(struct vinci_share *share)
{
	share->object->device->share_count--;
	list_del_init(&share->hash);
	list_del_init(&share->by_object);
	vinci_whitelist_free(share);
	vinci_identity_put(&share->process.identity);
	vinci_free(share);
}

/* No new imports. While somebody holds the object through it, a closed share still answers its creator with EIDRM. */
void vinci_share_withdraw(struct vinci_share *share)
{
	if (share->creator) {
		share->creator->share_count--;
		share->creator->allowed_count -= share->allowed_count;
		share->creator = NULL;
		list_del_init(&share->by_file);
	}
	if (list_empty(&share->openers))
		free_share(share);
}

void vinci_share_opener_gone(struct vinci_share *share)
{
	if (!share->creator && list_empty(&share->openers))
		free_share(share);
}

static bool exported_already(const struct vinci_object *object, const struct vinci_share_policy *policy)
{
	struct vinci_share *share;

	if (!policy->once)
		return false; /* there may be many */
	list_for_each_entry(share, &object->shares, by_object)
		if (share->creator && share->policy->once == policy->once)
			return true;
	return false;
}

static int new_share(struct vinci_hold *hold, const struct drm_vinci_share_export *a, struct vinci_share **out)
{
	struct vinci_file *file = hold->file;
	struct vinci_share *share = vinci_alloc(1, sizeof(*share));
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
		vinci_free(share);
		return r;
	}
	share->process = file->process;
	vinci_identity_get(&share->process.identity);
	share->serial = ++file->device->serial;
	INIT_LIST_HEAD(&share->openers);
	list_add_tail(&share->hash, bucket(file->device, share->kind, share->name, share->policy->name_len));
	list_add_tail(&share->by_object, &hold->object->shares);
	list_add_tail(&share->by_file, &file->shares);
	file->share_count++;
	file->device->share_count++;
	*out = share;
	return 0;
}

/* --- requests of the creator --------------------------------------------------------------- */

VINCI_REQUEST(vinci_share_export)
{
	struct drm_vinci_share_export *a = data;
	struct vinci_hold *hold = vinci_hold_find(file, a->handle);
	struct vinci_share *share;
	int r;

	if (!hold)
		return -ENOENT;
	if (hold->is_imported)
		return -EACCES;
	r = vinci_check_export(a, hold->object->type, hold->object->page_kind, hold->object->size);
	if (r)
		return r;
	if (hold->object->split_count)
		return -EINVAL; /* its memory has more pages than it still owns */
	if (exported_already(hold->object, vinci_share_policy(a->kind)))
		return -EEXIST;
	if (file->share_count >= VINCI_MAX_SHARES)
		return -ENOSPC;
	r = new_share(hold, a, &share);
	if (r)
		return r;
	a->name_len = share->policy->name_len;
	memcpy(a->name, share->name, sizeof(a->name));
	return 0;
}

/* For its creator: ESTALE unknown, @not_creator, EIDRM closed. */
static int find_own(struct vinci_file *file, __u32 kind, const __u8 *name, __u32 len, int not_creator,
		    struct vinci_share **out)
{
	struct vinci_share *share = find_share(file->device, kind, name, len);

	if (!share)
		return -ESTALE;
	if (!vinci_same_process(&share->process, &file->process))
		return not_creator;
	if (!share->creator)
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

int vinci_allow_begin(struct vinci_file *file, const struct drm_vinci_share_allow *a)
{
	struct vinci_share *share;
	int r = vinci_check_allow(a);

	if (!r)
		r = find_listed(file, a, &share);
	if (r)
		return r;
	if (!a->count)
		return -EINVAL;
	return a->count > share->policy->pids_per_call ? -E2BIG : 0;
}

int vinci_allow_finish(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids)
{
	struct vinci_share *share;
	int r = find_listed(file, a, &share);

	return r ? r : vinci_whitelist_add(share, pids);
}

VINCI_REQUEST(vinci_share_close)
{
	struct drm_vinci_share_close *a = data;
	struct vinci_share *share;
	int r = vinci_check_share_close(a);

	if (!r)
		r = find_own(file, a->kind, a->name, a->name_len, -EACCES, &share);
	if (!r)
		vinci_share_withdraw(share);
	return r;
}

VINCI_REQUEST(vinci_share_attr)
{
	struct drm_vinci_share_attr *a = data;
	struct vinci_share *share;
	int r = vinci_check_attr(a);

	if (!r)
		r = find_own(file, a->kind, a->name, a->name_len, -EPERM, &share);
	if (r)
		return r == -EIDRM ? -ESTALE : r;
	if (a->attr == VINCI_SHARE_ATTR_LINK) {
		share->link = a->value;
		return 0;
	}
	if (share->allowed_count)
		return -EPERM;
	share->flags |= VINCI_SHARE_UNVALIDATED;
	return 0;
}

/* --- import -------------------------------------------------------------------------------- */

/* What this file already holds through the share. 0 with *out NULL: nothing, or nothing for this NPU. */
static int find_held(struct vinci_file *file, struct vinci_share *share, __u32 device, struct vinci_hold **out)
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

static int open_share(struct vinci_file *file, struct vinci_share *share, __u32 device, struct vinci_hold **out)
{
	struct vinci_object *object = share->object;
	bool own_device = object->owner == device && !(object->flags & VINCI_BO_HOST);
	bool listed, current_entry;
	int r = find_held(file, share, device, out);

	if (r || *out)
		return r;
	listed = vinci_whitelist_find(share, &file->process, &current_entry);
	r = vinci_share_admit(share->policy, share->flags & VINCI_SHARE_UNVALIDATED,
			      vinci_same_process(&share->process, &file->process), own_device, listed, current_entry);
	return r ? r : vinci_hold_create(file, object, share, device, out);
}

VINCI_REQUEST(vinci_share_import)
{
	struct drm_vinci_share_import *a = data;
	struct vinci_share *share;
	struct vinci_hold *hold;
	__u64 now = vinci_now();
	int r = vinci_check_import(a, file->device->config.devices);

	if (r)
		return r;
	/* Before the lookup, or guessing could go on and would only be told its hits. */
	if (vinci_guess_exhausted(file, now))
		return -EDQUOT;
	share = find_share(file->device, a->kind, a->name, a->name_len);
	if (!share || !share->creator) {
		vinci_guess_count(file, now);
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
