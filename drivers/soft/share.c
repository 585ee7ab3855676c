/* SPDX-License-Identifier: MIT */
/* Shares: making and withdrawing names, and opening an object by one. Who may is decided in whitelist.c and
 * share_policy.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "soft/internal.h"
#include "soft/whitelist.h"

/* --- names --------------------------------------------------------------------------------- */

static uint32_t hash_name(uint32_t kind, const uint8_t *name, uint32_t len)
{
	uint32_t h = 2166136261u ^ kind, i;

	for (i = 0; i < len; i++)
		h = (h ^ name[i]) * 16777619u;
	return h % SOFT_SHARE_BUCKETS;
}

static struct soft_share *find_share(struct soft_device *device, uint32_t kind, const uint8_t *name, uint32_t len)
{
	struct links *bucket = &device->shares[hash_name(kind, name, len)];
	struct soft_share *share;

	if (len != vinci_share_policy(kind)->name_len)
		return NULL;
	links_for_each(share, bucket, struct soft_share, hash)
		if (share->kind == kind && !memcmp(share->name, name, len))
			return share;
	return NULL;
}

int soft_random(void *buffer, size_t size)
{
	ssize_t n;

	do
		n = getrandom(buffer, size, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -EIO;
}

static void print_hex(uint8_t *name, const uint8_t *random, uint32_t len)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t i;

	for (i = 0; i < len; i++)
		name[i] = (uint8_t)digits[random[i / 2] >> (i % 2 ? 0 : 4) & 15];
}

/* 63 random bits, never 0 */
static void make_vmm_name(uint8_t *name, const uint8_t *random)
{
	memcpy(name, random, 8);
	name[7] &= 0x7f;
	if (!name[0])
		name[0] = 1;
}

static void make_fabric_name(uint8_t *name, const uint8_t *random, uint32_t sdid, uint32_t device)
{
	const uint32_t header[4] = { VINCI_SHARE_FABRIC, sdid, device, 0 };

	memcpy(name, header, sizeof(header));
	memcpy(name + sizeof(header), random, VINCI_NAME_MAX - sizeof(header));
}

static int make_name(struct soft_share *share)
{
	struct soft_device *device = share->object->device;
	uint8_t random[VINCI_NAME_MAX];
	int r = soft_random(random, sizeof(random));

	if (r)
		return r;
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

static void free_share(struct soft_share *share)
{
	links_del(&share->hash);
	links_del(&share->by_object);
	links_del(&share->by_file);
	free(share->allowed);
	free(share);
}

/* No new imports. While somebody holds the object through it, a closed share still answers its creator with EIDRM. */
void soft_share_withdraw(struct soft_share *share)
{
	if (!share->closed) {
		share->creator->share_count--;
		share->creator->allowed_count -= share->allowed_count;
		share->closed = true;
		links_del(&share->by_file);
	}
	if (links_empty(&share->openers))
		free_share(share);
}

void soft_share_opener_gone(struct soft_share *share)
{
	if (share->closed && links_empty(&share->openers))
		free_share(share);
}

static bool exported_already(const struct soft_object *object, const struct vinci_share_policy *policy)
{
	struct soft_share *share;

	links_for_each(share, &object->shares, struct soft_share, by_object)
		if (policy->once && !share->closed && share->policy->once == policy->once)
			return true;
	return false;
}

static int new_share(struct soft_hold *hold, const struct drm_vinci_share_export *a, struct soft_share **out)
{
	struct soft_file *file = hold->file;
	struct soft_share *share = calloc(1, sizeof(*share));
	int r;

	if (!share)
		return -ENOSPC;
	share->object = hold->object;
	share->creator = file;
	share->process = file->process;
	share->policy = vinci_share_policy(a->kind);
	share->kind = a->kind;
	share->flags = a->flags;
	share->size = a->size;
	r = make_name(share);
	if (r) {
		free(share);
		return r;
	}
	share->serial = ++file->device->serial;
	links_init(&share->openers);
	links_add(&file->device->shares[hash_name(share->kind, share->name, share->policy->name_len)], &share->hash);
	links_add(&hold->object->shares, &share->by_object);
	links_add(&file->shares, &share->by_file);
	file->share_count++;
	*out = share;
	return 0;
}

/* --- requests of the creator --------------------------------------------------------------- */

SOFT_HANDLER(soft_share_export)
{
	struct drm_vinci_share_export *a = data;
	struct soft_hold *hold = soft_handle_find(file, a->handle);
	struct soft_share *share;
	int r;

	(void)call;
	if (!hold)
		return -ENOENT;
	if (hold->share)
		return -EACCES;
	r = vinci_check_export(a, hold->object->type, hold->object->page_kind, hold->object->size);
	if (r)
		return r;
	if (hold->object->split_count)
		return -EINVAL; /* its file has more pages than it still owns */
	if (exported_already(hold->object, vinci_share_policy(a->kind)))
		return -EEXIST;
	if (file->share_count >= SOFT_MAX_SHARES)
		return -ENOSPC;
	r = new_share(hold, a, &share);
	if (r)
		return r;
	a->name_len = share->policy->name_len;
	memcpy(a->name, share->name, sizeof(a->name));
	return 0;
}

/* For its creator: ESTALE unknown, @not_creator, EIDRM closed. */
static int find_own(struct soft_file *file, uint32_t kind, const uint8_t *name, uint32_t len, int not_creator,
		    struct soft_share **out)
{
	struct soft_share *share = find_share(file->device, kind, name, len);

	if (!share)
		return -ESTALE;
	if (!soft_same_process(&share->process, &file->process))
		return not_creator;
	if (share->closed)
		return -EIDRM;
	if (share->creator != file)
		return not_creator;
	*out = share;
	return 0;
}

static int copy_pids(const struct drm_vinci_share_allow *a, struct soft_user *user, int32_t *pids)
{
	uint8_t *raw;
	uint32_t i;
	int r;

	raw = malloc((size_t)a->count * a->elem_size);
	if (!raw)
		return -ENOSPC;
	r = user->read(user, raw, a->pids, (size_t)a->count * a->elem_size);
	for (i = 0; !r && i < a->count; i++)
		memcpy(&pids[i], raw + (size_t)i * a->elem_size, sizeof(pids[i]));
	free(raw);
	return r;
}

static int allow_pids(struct soft_share *share, const struct drm_vinci_share_allow *a, struct soft_user *user)
{
	uint32_t sdid = a->flags & VINCI_ALLOW_SDID ? a->sdid : share->object->device->config.sdid;
	int32_t *pids;
	int r;

	if (!a->count)
		return -EINVAL;
	if (a->count > share->policy->pids_per_call)
		return -E2BIG;
	pids = malloc(a->count * sizeof(*pids));
	if (!pids)
		return -ENOSPC;
	r = copy_pids(a, user, pids);
	if (!r)
		r = soft_whitelist_add(share, sdid, pids, a->count);
	free(pids);
	return r;
}

SOFT_HANDLER(soft_share_allow)
{
	struct drm_vinci_share_allow *a = data;
	struct soft_share *share;
	int r = vinci_check_allow(a);

	if (!r)
		r = find_own(file, a->kind, a->name, a->name_len, -EACCES, &share);
	if (r)
		return r;
	if (share->flags & VINCI_SHARE_UNVALIDATED)
		return -EPERM;
	return allow_pids(share, a, call->user);
}

SOFT_HANDLER(soft_share_close)
{
	struct drm_vinci_share_close *a = data;
	struct soft_share *share;
	int r = vinci_check_share_close(a);

	(void)call;
	if (!r)
		r = find_own(file, a->kind, a->name, a->name_len, -EACCES, &share);
	if (!r)
		soft_share_withdraw(share);
	return r;
}

SOFT_HANDLER(soft_share_attr)
{
	struct drm_vinci_share_attr *a = data;
	struct soft_share *share;
	int r = vinci_check_attr(a);

	(void)call;
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
static int find_held(struct soft_file *file, struct soft_share *share, uint32_t device, struct soft_hold **out)
{
	struct soft_hold *hold;

	*out = NULL;
	links_for_each(hold, &share->openers, struct soft_hold, by_share) {
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

static int open_share(struct soft_file *file, struct soft_share *share, uint32_t device, struct soft_hold **out)
{
	struct soft_object *object = share->object;
	bool own_device = object->owner == device && !(object->flags & VINCI_BO_HOST);
	bool listed, current;
	int r = find_held(file, share, device, out);

	if (r || *out)
		return r;
	listed = soft_whitelist_find(share, &file->process, &current);
	r = vinci_share_admit(share->policy, share->flags & VINCI_SHARE_UNVALIDATED,
			      soft_same_process(&share->process, &file->process), own_device, listed, current);
	return r ? r : soft_hold_create(file, object, share, device, out);
}

SOFT_HANDLER(soft_share_import)
{
	struct drm_vinci_share_import *a = data;
	struct soft_share *share;
	struct soft_hold *hold;
	int r = vinci_check_import(a, file->device->config.devices);

	if (r)
		return r;
	/* Before the lookup, or guessing could go on and would only be told its hits. */
	if (soft_guess_exhausted(file))
		return -EDQUOT;
	share = find_share(file->device, a->kind, a->name, a->name_len);
	if (!share || share->closed) {
		soft_guess_count(file);
		return -ESTALE;
	}
	r = open_share(file, share, a->device, &hold);
	if (r)
		return r;
	a->handle = hold->handle;
	a->object = share->object->type;
	a->size = share->object->type == VINCI_OBJECT_NOTIFY ? VINCI_NOTIFY_PAGE_SIZE : share->size;
	a->mmap_offset = share->object->offset;
	a->owner_device = share->object->owner;
	a->bo_flags = share->object->flags;
	a->page_kind = share->object->page_kind;
	a->id = share->object->id;
	soft_memory_set(call->memory, share->object, hold->handle);
	return 0;
}
