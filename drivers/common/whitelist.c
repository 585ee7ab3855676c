// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* Who may open a share, and how often one may guess. */
#include "common/checks.h"
#include "common/core.h"

/* Failed imports at once, and a second: of one file, and of all files of a user. */
#define GUESSES_FILE 100u
#define GUESSES_UID 1000u
#define NS_PER_S 1000000000u

/* --- the caller's pids --------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct vinci_allowed *a = left, *b = right;

	if (a->sdid != b->sdid)
		return a->sdid < b->sdid ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Sorts, drops skipped and repeated pids; the number that remain, or -EINVAL. */
static int clean(struct vinci_allowed *list, __u32 count, __s32 skipped)
{
	__u32 i, n = 0;

	vinci_sort(list, count, sizeof(*list), compare);
	if (list[0].pid < 0)
		return -EINVAL;
	for (i = 0; i < count; i++)
		if (list[i].pid && list[i].pid != skipped && (!n || list[n - 1].pid != list[i].pid))
			list[n++] = list[i];
	return (int)n;
}

/*
 * An entry of this server is about the process that has the pid now; about another server's processes nothing is known
 * here, and they never come.
 */
static int find_identities(struct vinci_pids *pids)
{
	__u32 i;
	int r = 0;

	for (i = 0; !r && i < pids->count; i++)
		r = vinci_identity_find(pids->list[i].pid, &pids->list[i].identity);
	return r;
}

int vinci_pids_parse(const struct vinci_file *file, const struct drm_vinci_share_allow *a, const void *array,
		     struct vinci_pids *pids)
{
	const struct vinci_share_policy *policy = vinci_share_policy(a->kind);
	__u32 own = file->device->config.sdid, sdid = a->flags & VINCI_ALLOW_SDID ? a->sdid : own, i;
	int n;

	pids->count = 0;
	pids->list = vinci_alloc(a->count, sizeof(*pids->list));
	if (!pids->list)
		return -ENOSPC;
	for (i = 0; i < a->count; i++) {
		memcpy(&pids->list[i].pid, (const __u8 *)array + (size_t)i * a->elem_size, sizeof(__s32));
		pids->list[i].sdid = sdid;
	}
	n = clean(pids->list, a->count, policy->skips_creator ? file->process.pid : 0);
	if (n < 0 || (!n && !policy->may_skip_all))
		return -EINVAL;
	pids->count = (__u32)n;
	return sdid == own ? find_identities(pids) : 0;
}

static void free_list(struct vinci_allowed *list, __u32 count)
{
	while (count)
		vinci_identity_put(&list[--count].identity);
	vinci_free(list);
}

void vinci_pids_free(struct vinci_pids *pids)
{
	free_list(pids->list, pids->count);
}

/* --- entries ------------------------------------------------------------------------------- */

/* Index of the entry, or where it belongs. */
static __u32 find_slot(const struct vinci_share *share, const struct vinci_allowed *key, bool *found)
{
	__u32 low = 0, high = share->allowed_count;

	*found = false;
	while (low < high) {
		__u32 mid = low + (high - low) / 2;
		int c = compare(&share->allowed[mid], key);

		if (!c) {
			*found = true;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static __u32 count_new(const struct vinci_share *share, const struct vinci_pids *pids)
{
	__u32 i, n = 0;
	bool found;

	for (i = 0; i < pids->count; i++) {
		(void)find_slot(share, &pids->list[i], &found);
		n += !found;
	}
	return n;
}

static int make_room(struct vinci_share *share, __u32 more)
{
	__u32 room = share->allowed_room ? share->allowed_room : 8;
	struct vinci_allowed *list;

	if (more > share->policy->slots - share->allowed_count ||
	    more > VINCI_MAX_ALLOWED - share->creator->allowed_count)
		return -ENOSPC;
	while (room < share->allowed_count + more)
		room *= 2;
	if (room == share->allowed_room)
		return 0;
	list = vinci_alloc(room, sizeof(*list));
	if (!list)
		return -ENOSPC;
	if (share->allowed_count)
		memcpy(list, share->allowed, share->allowed_count * sizeof(*list));
	vinci_free(share->allowed);
	share->allowed = list;
	share->allowed_room = room;
	return 0;
}

static void swap_identities(struct vinci_allowed *a, struct vinci_allowed *b)
{
	struct vinci_identity old = a->identity;

	a->identity = b->identity;
	b->identity = old;
}

/* Merged from the end, so that a long list costs one pass. A repeated pid is about the process that has it now. */
static void merge(struct vinci_share *share, struct vinci_pids *pids, __u32 added)
{
	__u32 old = share->allowed_count, to = old + added, left = pids->count;
	int c;

	share->allowed_count = to;
	while (left) {
		c = old ? compare(&share->allowed[old - 1], &pids->list[left - 1]) : -1;
		to--;
		if (c >= 0) {
			share->allowed[to] = share->allowed[--old];
		} else {
			share->allowed[to] = pids->list[left - 1];
			memset(&share->allowed[to].identity, 0, sizeof(struct vinci_identity));
		}
		if (c <= 0)
			swap_identities(&share->allowed[to], &pids->list[--left]);
	}
}

int vinci_whitelist_add(struct vinci_share *share, struct vinci_pids *pids)
{
	__u32 added = count_new(share, pids);
	int r = make_room(share, added);

	if (r)
		return r;
	merge(share, pids, added);
	share->creator->allowed_count += added;
	return 0;
}

void vinci_whitelist_free(struct vinci_share *share)
{
	free_list(share->allowed, share->allowed_count);
}

bool vinci_whitelist_find(const struct vinci_share *share, const struct vinci_process *process, bool *current_entry)
{
	const struct vinci_allowed key = { .sdid = share->object->device->config.sdid, .pid = process->pid };
	bool found;
	__u32 at = find_slot(share, &key, &found);

	*current_entry = found && vinci_same_identity(&share->allowed[at].identity, &process->identity);
	return found;
}

/* --- guessing ------------------------------------------------------------------------------ */

/* A guess pushes the moment at which the budget is whole away by its share of a second. */
static bool is_exhausted(const struct vinci_rate *rate, __u32 budget, __u64 now)
{
	return rate->full_at > now && rate->full_at - now > NS_PER_S - NS_PER_S / budget;
}

static void count_guess(struct vinci_rate *rate, __u32 budget, __u64 now)
{
	rate->full_at = (rate->full_at > now ? rate->full_at : now) + NS_PER_S / budget;
}

static struct vinci_rate *uid_rate(const struct vinci_file *file)
{
	return &file->device->uid_rate[file->process.uid % VINCI_UID_BUCKETS];
}

bool vinci_guess_exhausted(const struct vinci_file *file, __u64 now)
{
	return is_exhausted(&file->rate, GUESSES_FILE, now) || is_exhausted(uid_rate(file), GUESSES_UID, now);
}

void vinci_guess_count(struct vinci_file *file, __u64 now)
{
	count_guess(&file->rate, GUESSES_FILE, now);
	count_guess(uid_rate(file), GUESSES_UID, now);
}
