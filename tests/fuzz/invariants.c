/* SPDX-License-Identifier: MIT */
/* What holds between any two requests: sums are the sums of their parts, lists agree from both ends. */
#include "world.h"

static uint32_t length(const struct list_head *head)
{
	const struct list_head *item;
	uint32_t n = 0;

	for (item = head->next; item != head; item = item->next, n++)
		check(item->next->prev == item && n < 1000000);
	return n;
}

static void check_splits(const struct vinci_object *object)
{
	uint64_t taken = 0;
	uint32_t i, j;

	check(object->split_count <= object->split_room);
	for (i = 0; i < object->split_count; i++) {
		const struct vinci_range *a = &object->splits[i];

		check(a->size && a->size <= object->span && a->offset <= object->span - a->size);
		taken += a->size;
		for (j = 0; j < i; j++)
			check(a->offset + a->size <= object->splits[j].offset ||
			      object->splits[j].offset + object->splits[j].size <= a->offset);
	}
	check(object->size + taken == object->span);
}

static void check_object(const struct vinci_object *object)
{
	const struct vinci_device *device = object->device;
	const struct vinci_hold *hold;
	const struct vinci_share *share;
	bool pays = false, created = false;
	uint32_t users = 0;

	list_for_each_entry(hold, &object->holds, by_object) {
		check(hold->object == object && hold->file && hold->file->device == device);
		pays |= hold->file == object->payer;
		created |= !hold->is_imported;
		users++;
	}
	check(users && users == object->users && pays && created == !object->is_orphan);
	list_for_each_entry(share, &object->shares, by_object) {
		check(share->object == object && share->policy == vinci_share_policy(share->kind));
		check(share->creator ? created : !list_empty(&share->openers));
		/* A piece that was split off is never reachable by a name. */
		check(!object->split_count);
	}
	if (object->type == VINCI_OBJECT_NOTIFY)
		check(device->ids[object->owner][object->id] & VINCI_ID_BUSY && object->span == VINCI_NOTIFY_PAGE_SIZE);
	check_splits(object);
}

static void check_share(const struct vinci_share *share)
{
	const struct vinci_hold *hold;
	uint32_t i;

	check(share->allowed_count <= share->allowed_room || !share->allowed_count);
	check(share->allowed_count <= share->policy->slots);
	for (i = 1; i < share->allowed_count; i++)
		check(share->allowed[i - 1].sdid < share->allowed[i].sdid ||
		      (share->allowed[i - 1].sdid == share->allowed[i].sdid &&
		       share->allowed[i - 1].pid < share->allowed[i].pid));
	for (i = 0; i < share->allowed_count; i++)
		check(share->allowed[i].pid > 0);
	for (i = share->policy->name_len; i < VINCI_NAME_MAX; i++)
		check(!share->name[i]);
	list_for_each_entry(hold, &share->openers, by_share)
		check(hold->share == share && hold->object == share->object && hold->is_imported);
}

static void check_file(const struct vinci_file *file)
{
	const struct vinci_share *share;
	const struct vinci_hold *hold;
	uint32_t allowed = 0;

	check(file->hold_count == length(&file->holds) && file->hold_count <= file->device->config.max_handles);
	check(file->share_count == length(&file->shares));
	list_for_each_entry(hold, &file->holds, by_file)
		check(hold->file == file);
	list_for_each_entry(share, &file->shares, by_file) {
		check(share->creator == file);
		allowed += share->allowed_count;
	}
	check(file->allowed_count == allowed && allowed <= VINCI_MAX_ALLOWED);
}

/* A notify id is one file's, or a notify's that has outlived its file. */
static void check_ids(const struct vinci_device *device, uint32_t npu)
{
	uint8_t expected[NOTIFIES] = { 0 };
	const struct vinci_object *object;
	const struct vinci_file *file;
	const struct vinci_ids *run;
	uint32_t i;

	list_for_each_entry(file, &device->files, link)
		list_for_each_entry(run, &file->ids, link)
			for (i = 0; run->device == npu && i < run->count; i++) {
				check(run->first + i < NOTIFIES && !expected[run->first + i]);
				expected[run->first + i] = VINCI_ID_RESERVED;
			}
	list_for_each_entry(object, &device->objects, link)
		if (object->type == VINCI_OBJECT_NOTIFY && object->owner == npu) {
			check(!(expected[object->id] & VINCI_ID_BUSY));
			expected[object->id] = (uint8_t)(VINCI_ID_RESERVED | VINCI_ID_BUSY |
							 (expected[object->id] ? 0 : VINCI_ID_ORPHAN));
		}
	check(!memcmp(expected, device->ids[npu], NOTIFIES));
}

static void check_peers(const struct vinci_device *device)
{
	uint32_t files[VINCI_MAX_DEVICES][VINCI_MAX_DEVICES] = { 0 };
	const struct vinci_peer_ref *ref;
	const struct vinci_file *file;

	list_for_each_entry(file, &device->files, link)
		list_for_each_entry(ref, &file->peers, link) {
			check(ref->count && device->config.peers[ref->device] >> ref->peer & 1);
			files[ref->device][ref->peer]++;
		}
	check(!memcmp(files, device->peer_files, sizeof(files)));
}

void check_device(const struct vinci_device *device)
{
	uint64_t used[VINCI_MAX_DEVICES] = { 0 };
	uint32_t shares = 0, orphans = 0, i;
	const struct vinci_object *object;
	const struct vinci_share *share;
	const struct vinci_file *file;

	list_for_each_entry(object, &device->objects, link) {
		check_object(object);
		orphans += object->is_orphan;
		if (object->type == VINCI_OBJECT_BO && !(object->flags & VINCI_BO_HOST))
			used[object->owner] += object->size;
	}
	for (i = 0; i < VINCI_MAX_DEVICES; i++)
		check(used[i] == device->used[i] && used[i] <= device->config.mem_bytes);
	for (i = 0; i < VINCI_SHARE_BUCKETS; i++)
		list_for_each_entry(share, &device->shares[i], hash) {
			check_share(share);
			shares++;
		}
	check(shares == device->share_count && orphans == device->orphans);
	list_for_each_entry(file, &device->files, link)
		check_file(file);
	for (i = 0; i < device->config.devices; i++)
		check_ids(device, i);
	check_peers(device);
}
