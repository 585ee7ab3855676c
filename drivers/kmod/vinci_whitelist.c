// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Who may open a share, and how often one may guess. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "vinci_drv.h"

/* Failed imports at once, and a second: of one file, and of all files of a user. */
#define GUESSES_FILE 100u
#define GUESSES_UID 1000u

/* --- the caller's pids --------------------------------------------------------------------- */

static int compare_pids(const void *left, const void *right)
{
	const struct vinci_allowed *a = left, *b = right;

	if (a->sdid != b->sdid)
		return a->sdid < b->sdid ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int copy_pids(const struct drm_vinci_share_allow *a, u32 sdid, struct vinci_allowed *list)
{
	size_t size = (size_t)a->count * a->elem_size;
	u8 *raw = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!raw)
		return -ENOSPC;
	if (copy_from_user(raw, u64_to_user_ptr(a->pids), size)) {
		kvfree(raw);
		return -EFAULT;
	}
	for (i = 0; i < a->count; i++) {
		memcpy(&list[i].pid, raw + (size_t)i * a->elem_size, sizeof(list[i].pid));
		list[i].sdid = sdid;
	}
	kvfree(raw);
	return 0;
}

/* Sorts, drops skipped and repeated pids; the number that remain, or -EINVAL. */
static int clean_pids(struct vinci_allowed *list, u32 count, s32 skipped)
{
	u32 i, n = 0;

	sort(list, count, sizeof(*list), compare_pids, NULL);
	if (list[0].pid < 0)
		return -EINVAL;
	for (i = 0; i < count; i++)
		if (list[i].pid && list[i].pid != skipped && (!n || list[n - 1].pid != list[i].pid))
			list[n++] = list[i];
	return n;
}

/*
 * The processes that have the numbers now: in the initial namespace, whose numbers VINCI_PARAM_TGID
 * tells everybody. About another server's processes nothing is known here, and they never come.
 */
static void find_processes(struct vinci_pids *pids)
{
	u32 i;

	for (i = 0; i < pids->count; i++) {
		rcu_read_lock();
		pids->list[i].process = get_pid(find_pid_ns(pids->list[i].pid, &init_pid_ns));
		rcu_read_unlock();
	}
}

int vinci_pids_read(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids)
{
	const struct vinci_share_policy *policy = vinci_share_policy(a->kind);
	u32 own = file->device->config.sdid;
	u32 sdid = a->flags & VINCI_ALLOW_SDID ? a->sdid : own;
	struct vinci_allowed *list;
	int n;

	list = kvcalloc(a->count, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOSPC;
	n = copy_pids(a, sdid, list);
	if (!n)
		n = clean_pids(list, a->count, policy->skips_creator ? pid_nr(file->pid) : 0);
	if (!n && !policy->may_skip_all)
		n = -EINVAL;
	if (n < 0) {
		kvfree(list);
		return n;
	}
	pids->list = list;
	pids->count = n;
	if (sdid == own)
		find_processes(pids);
	return 0;
}

void vinci_pids_free(struct vinci_pids *pids)
{
	u32 i;

	for (i = 0; i < pids->count; i++)
		put_pid(pids->list[i].process);
	kvfree(pids->list);
}

/* --- entries ------------------------------------------------------------------------------- */

/* Index of the entry, or where it belongs. */
static u32 find_slot(const struct vinci_share *share, const struct vinci_allowed *key, bool *found)
{
	u32 low = 0, high = share->allowed_count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;
		int c = compare_pids(&share->allowed[mid], key);

		if (!c) {
			*found = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*found = false;
	return low;
}

static u32 count_new(const struct vinci_share *share, const struct vinci_pids *pids)
{
	u32 i, n = 0;
	bool found;

	for (i = 0; i < pids->count; i++) {
		find_slot(share, &pids->list[i], &found);
		n += !found;
	}
	return n;
}

static int make_room(struct vinci_share *share, u32 more)
{
	u32 room = share->allowed_room ? share->allowed_room : 8;
	struct vinci_allowed *list;

	if (more > share->policy->slots - share->allowed_count ||
	    more > VINCI_MAX_ALLOWED - share->creator->allowed_count)
		return -ENOSPC;
	while (room < share->allowed_count + more)
		room *= 2;
	if (room == share->allowed_room)
		return 0;
	list = kvmalloc_array(room, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOSPC;
	if (share->allowed_count)
		memcpy(list, share->allowed, share->allowed_count * sizeof(*list));
	kvfree(share->allowed);
	share->allowed = list;
	share->allowed_room = room;
	return 0;
}

/* Merged from the end, so that a long list costs one pass. A repeated pid is about the process that has it now. */
static void merge(struct vinci_share *share, struct vinci_pids *pids, u32 added)
{
	u32 old = share->allowed_count, to = old + added, left = pids->count;
	int c;

	share->allowed_count = to;
	while (left) {
		c = old ? compare_pids(&share->allowed[old - 1], &pids->list[left - 1]) : -1;
		to--;
		if (c > 0) {
			share->allowed[to] = share->allowed[--old];
			continue;
		}
		if (!c)
			put_pid(share->allowed[--old].process);
		share->allowed[to] = pids->list[--left];
		pids->list[left].process = NULL;
	}
}

int vinci_whitelist_add(struct vinci_share *share, struct vinci_pids *pids)
{
	u32 added = count_new(share, pids);
	int r = make_room(share, added);

	if (r)
		return r;
	merge(share, pids, added);
	share->creator->allowed_count += added;
	return 0;
}

void vinci_whitelist_free(struct vinci_share *share)
{
	u32 i;

	for (i = 0; i < share->allowed_count; i++)
		put_pid(share->allowed[i].process);
	kvfree(share->allowed);
}

bool vinci_whitelist_find(const struct vinci_share *share, struct pid *process, bool *current_entry)
{
	const struct vinci_allowed key = {
		.sdid = share->object->device->config.sdid, .pid = pid_nr(process)
	};
	bool found;
	u32 at = find_slot(share, &key, &found);

	*current_entry = found && share->allowed[at].process == process;
	return found;
}

/* --- guessing ------------------------------------------------------------------------------ */

/* A guess pushes the moment at which the budget is whole away by its share of a second. */
static bool is_exhausted(const struct vinci_rate *rate, u32 budget, u64 now)
{
	return rate->full_at > now && rate->full_at - now > NSEC_PER_SEC - NSEC_PER_SEC / budget;
}

static void count_guess(struct vinci_rate *rate, u32 budget, u64 now)
{
	rate->full_at = max(rate->full_at, now) + NSEC_PER_SEC / budget;
}

static struct vinci_rate *uid_rate(struct vinci_file *file)
{
	return &file->device->uid_rate[file->uid % VINCI_UID_BUCKETS];
}

bool vinci_guess_exhausted(struct vinci_file *file)
{
	u64 now = ktime_get_ns();

	return is_exhausted(&file->rate, GUESSES_FILE, now) || is_exhausted(uid_rate(file), GUESSES_UID, now);
}

void vinci_guess_count(struct vinci_file *file)
{
	u64 now = ktime_get_ns();

	count_guess(&file->rate, GUESSES_FILE, now);
	count_guess(uid_rate(file), GUESSES_UID, now);
}
