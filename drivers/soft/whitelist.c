/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/internal.h"
#include "soft/whitelist.h"

/* Failed imports at once, and a second: of one process, and of all processes of a user. */
#define GUESSES_FILE 100u
#define GUESSES_UID 1000u
#define NS_PER_S 1000000000ull

/* --- entries ------------------------------------------------------------------------------- */

static int compare(const struct soft_allowed *entry, uint32_t sdid, int32_t pid)
{
	if (entry->sdid != sdid)
		return entry->sdid < sdid ? -1 : 1;
	return entry->pid < pid ? -1 : entry->pid > pid;
}

/* Index of the entry, or where it belongs. */
static uint32_t find_slot(const struct soft_share *share, uint32_t sdid, int32_t pid, bool *found)
{
	uint32_t low = 0, high = share->allowed_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int c = compare(&share->allowed[mid], sdid, pid);

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

static bool is_skipped(const struct soft_share *share, int32_t pid)
{
	return !pid || (share->policy->skips_creator && pid == share->process.pid);
}

static int compare_pids(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts, drops skipped and repeated pids; the number that remain, or -EINVAL. */
static int64_t clean_pids(const struct soft_share *share, int32_t *pids, uint32_t count)
{
	uint32_t i, n = 0;

	qsort(pids, count, sizeof(*pids), compare_pids);
	if (pids[0] < 0)
		return -EINVAL;
	for (i = 0; i < count; i++)
		if (!is_skipped(share, pids[i]) && (!n || pids[n - 1] != pids[i]))
			pids[n++] = pids[i];
	return n;
}

static uint32_t count_new(const struct soft_share *share, uint32_t sdid, const int32_t *pids, uint32_t count)
{
	uint32_t i, n = 0;
	bool found;

	for (i = 0; i < count; i++) {
		(void)find_slot(share, sdid, pids[i], &found);
		n += !found;
	}
	return n;
}

static int make_room(struct soft_share *share, uint32_t more)
{
	uint32_t room = share->allowed_room ? share->allowed_room : 8;
	struct soft_allowed *list;

	if (more > share->policy->slots - share->allowed_count ||
	    more > SOFT_MAX_ALLOWED - share->creator->allowed_count)
		return -ENOSPC;
	while (room < share->allowed_count + more)
		room *= 2;
	if (room == share->allowed_room)
		return 0;
	list = realloc(share->allowed, room * sizeof(*list));
	if (!list)
		return -ENOSPC;
	share->allowed = list;
	share->allowed_room = room;
	return 0;
}

/*
 * An entry of this server is about the process that has the pid now; about another server's processes nothing is known here, and
 * they never come.
 */
static int find_starts(const struct soft_share *share, uint32_t sdid, const int32_t *pids, uint64_t *starts, uint32_t count)
{
	bool local = sdid == share->object->device->config.sdid;
	uint32_t i;
	int r;

	for (i = 0; i < count; i++) {
		r = local ? soft_process_start(pids[i], &starts[i]) : -ESRCH;
		if (r == -ESRCH)
			starts[i] = 0;
		else if (r)
			return r;
	}
	return 0;
}

/* Merged from the end, so that a long list costs one pass. */
static void merge(struct soft_share *share, uint32_t sdid, const int32_t *pids, const uint64_t *starts, uint32_t count,
		  uint32_t added)
{
	uint32_t old = share->allowed_count, to = old + added;
	int c;

	share->allowed_count = to;
	while (count) {
		struct soft_allowed *entry;

		c = old ? compare(&share->allowed[old - 1], sdid, pids[count - 1]) : -1;
		entry = &share->allowed[--to];
		if (c > 0) {
			*entry = share->allowed[--old];
			continue;
		}
		if (!c)
			old--;
		count--;
		*entry = (struct soft_allowed){ .pid = pids[count], .sdid = sdid, .start = starts[count] };
	}
}

int soft_whitelist_add(struct soft_share *share, uint32_t sdid, const int32_t *pids, uint32_t count)
{
	int32_t *sorted = malloc(count * sizeof(*sorted));
	uint64_t *starts = malloc(count * sizeof(*starts));
	uint32_t added;
	int64_t n;
	int r = -ENOSPC;

	if (!sorted || !starts)
		goto out_free;
	memcpy(sorted, pids, count * sizeof(*sorted));
	n = clean_pids(share, sorted, count);
	if (n <= 0) {
		r = n < 0 || !share->policy->may_skip_all ? -EINVAL : 0;
		goto out_free;
	}
	added = count_new(share, sdid, sorted, (uint32_t)n);
	r = find_starts(share, sdid, sorted, starts, (uint32_t)n);
	if (!r)
		r = make_room(share, added);
	if (r)
		goto out_free;
	merge(share, sdid, sorted, starts, (uint32_t)n, added);
	share->creator->allowed_count += added;
out_free:
	free(starts);
	free(sorted);
	return r;
}

bool soft_whitelist_find(const struct soft_share *share, const struct soft_process *process, bool *current)
{
	bool found;
	uint32_t at = find_slot(share, share->object->device->config.sdid, process->pid, &found);

	*current = found && share->allowed[at].start && share->allowed[at].start == process->start;
	return found;
}

/* --- guessing ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* A guess pushes the moment at which the budget is whole away by its share of a second. */
static bool is_exhausted(const struct soft_rate *rate, uint32_t budget, uint64_t now)
{
	return rate->full_at > now && rate->full_at - now > NS_PER_S - NS_PER_S / budget;
}

static void count_guess(struct soft_rate *rate, uint32_t budget, uint64_t now)
{
	rate->full_at = (rate->full_at > now ? rate->full_at : now) + NS_PER_S / budget;
}

static struct soft_rate *uid_rate(const struct soft_file *file)
{
	return &file->device->uid_rate[file->process.uid % SOFT_UID_BUCKETS];
}

bool soft_guess_exhausted(const struct soft_file *file)
{
	uint64_t now = now_ns();

	return is_exhausted(&file->rate, GUESSES_FILE, now) || is_exhausted(uid_rate(file), GUESSES_UID, now);
}

void soft_guess_count(struct soft_file *file)
{
	uint64_t now = now_ns();

	count_guess(&file->rate, GUESSES_FILE, now);
	count_guess(uid_rate(file), GUESSES_UID, now);
}
