/* SPDX-License-Identifier: MIT */
/*
 * report.c - sentences behind error codes, in CANN's layout:
 *
 *	[PID: 17] 2026-01-31-10:11:12.131.415 Invalid_Argument(EE1003): the first sentence
 *	TraceBack (most recent call last):
 *	        the next sentence
 *
 * and, when all of them are internal errors (507xxx, 500xxx):
 *
 *	EE9999: Internal error!
 *	EE9999[PID: 17] 2026-01-31-10:11:12.131.415 (EE9999):  the first sentence
 *	TraceBack (most recent call last):
 *	       the next sentence
 */
#include "util/report.h"
#include "util/mutex.h"
#include "util/text.h"

#include "acl/acl_rt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECORDS_MAX 8
#define TEXT_MAX 512
#define LINE_EXTRA 128 /* pid, time, title and id around a sentence */

struct record {
	const char *id;
	char time[64]; /* room for any clock */
	char text[TEXT_MAX];
};

struct list {
	unsigned count;
	struct record records[RECORDS_MAX];
};

/* What a thread has, allocated at its first error, freed when it ends. */
struct thread_report {
	struct list list;
	char taken[RECORDS_MAX * (TEXT_MAX + LINE_EXTRA)]; /* what u_report_take() returned last */
};

static _Thread_local struct thread_report *mine;
static pthread_key_t key;
static bool has_key; /* written once, by make_key() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static atomic_bool for_process;
static struct u_mutex process_lock = U_MUTEX_INIT(U_RANK_LAST, "report"); /* process_list */
static struct list process_list;

/* ---- ids and titles: CANN's error code reference --------------------------------------------- */

static const struct {
	const char *id, *title;
} titles[] = {
	{ "EE1001", "Invalid_Argument" },
	{ "EE1002", "Execution_Error_Stream_Synchronize_Timeout" },
	{ "EE1003", "Invalid_Argument" },
	{ "EE1004", "Invalid_Argument_Null_Pointer" },
	{ "EE1006", "Not_Supported" },
	{ "EE1010", "Execution_Error_Invalid_Context" },
	{ "EE1012", "Invalid_Argument" },
	{ "EE1016", "Not_Supported" },
	{ "EE1017", "Invalid_Argument" },
	{ "EE1018", "Invalid_Argument_API_Call_Sequence" },
	{ "EE1019", "Execution_Error" },
	{ "EE1023", "Resource_Error" },
	{ "EE2002", "Config_Error_Invalid_Environment_Variable" },
	{ "EH0001", "Invalid_Argument" },
	{ "EH0002", "Invalid_Argument_Null_Pointer" },
	{ "EH0003", "File_Operation_Error_Invalid_Path" },
	{ "EH0004", "File_Operation_Error" },
	{ "EH0006", "Not_Supported" },
	{ "EH0010", "Resource_Error_Insufficient_Host_Memory" },
	{ "EL0004", "Memory_Allocation_Failure" },
};

static const struct {
	int code;
	const char *id;
} ids[] = {
	{ ACL_ERROR_INVALID_FILE, "EH0003" },
	{ ACL_ERROR_INVALID_FILE_SIZE, "EH0004" },
	{ ACL_ERROR_PARSE_FILE, "EH0004" },
	{ ACL_ERROR_BAD_ALLOC, "EH0010" },
	{ ACL_ERROR_API_NOT_SUPPORT, "EH0006" },
	{ ACL_ERROR_FEATURE_UNSUPPORTED, "EH0006" },
	{ ACL_ERROR_RT_CONTEXT_NULL, "EE1010" },
	{ ACL_ERROR_RT_STREAM_CONTEXT, "EE1010" },
	{ ACL_ERROR_RT_INVALID_HANDLE, "EE1017" },
	{ ACL_ERROR_RT_STREAM_SUBSCRIBE, "EE1018" },
	{ ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE1018" },
	{ ACL_ERROR_RT_STREAM_NO_CB_REG, "EE1018" },
	{ ACL_ERROR_RT_TASK_TIMEOUT, "EE1019" },
	{ ACL_ERROR_RT_DEVICE_TASK_ABORT, "EE1019" },
	{ ACL_ERROR_RT_STREAM_ABORT, "EE1019" },
	{ ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "EE1002" },
	{ ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "EE1002" },
	{ ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006" },
	{ ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004" },
	{ ACL_ERROR_RT_NO_PERMISSION, "EE1016" },
};

static bool is_inner(const char *id)
{
	return !strcmp(id, "EE9999") || !strcmp(id, "EH9999");
}

static const char *title_of(const char *id)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(titles[i].id, id))
			return titles[i].title;
	return "";
}

/* A NULL argument has an id of its own; every sentence about one says "is NULL". */
static const char *id_of(int code, const char *fmt)
{
	bool null = strstr(fmt, "is NULL") != NULL;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i].code == code)
			return ids[i].id;
	if (code >= 100000 && code < 107000)
		return null ? "EH0002" : "EH0001";
	if (code >= 107000 && code < 108000)
		return null ? "EE1004" : "EE1003";
	if (code >= 207000 && code < 208000)
		return "EE1023";
	return code >= 500000 && code < 507000 ? "EH9999" : "EE9999";
}

/* ---- recording ------------------------------------------------------------------------------- */

static void thread_report_free(void *arg)
{
	mine = NULL;
	free(arg);
}

static void make_key(void)
{
	has_key = !pthread_key_create(&key, thread_report_free);
}

/* Where the application has taken all keys, what a thread had stays allocated when it ends: better than to say nothing.
 */
static struct thread_report *thread_report(void)
{
	if (mine)
		return mine;
	pthread_once(&once, make_key);
	mine = calloc(1, sizeof(*mine));
	if (mine && has_key)
		(void)pthread_setspecific(key, mine);
	return mine;
}

/*
 * Local time without libc's conversions: those take a lock that a thread of the parent may have held when this process
 * was forked, and then the child's first error would hang. The distance from UTC is looked up at load and again in each
 * quarter of an hour (it changes at no other times), but never in a child.
 */
#define QUARTER 900

static struct {
	pid_t owner;
	atomic_llong offset, until; /* seconds */
} zone;

static long long zone_offset(time_t now)
{
	struct tm tm;

	if (now >= atomic_load_explicit(&zone.until, memory_order_relaxed) && getpid() == zone.owner &&
	    localtime_r(&now, &tm)) {
		atomic_store_explicit(&zone.offset, tm.tm_gmtoff, memory_order_relaxed);
		atomic_store_explicit(&zone.until, now - now % QUARTER + QUARTER, memory_order_relaxed);
	}
	return atomic_load_explicit(&zone.offset, memory_order_relaxed);
}

static void __attribute__((constructor)) find_zone(void)
{
	zone.owner = getpid();
	(void)zone_offset(time(NULL));
}

/* The proleptic Gregorian date of a day after 1970-01-01, in years that begin in March. */
static void date_of(unsigned long day, unsigned *year, unsigned *month, unsigned *mday)
{
	unsigned long d = day + 719468, era = d / 146097, doe = d % 146097;
	unsigned long yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned long doy = doe - (365 * yoe + yoe / 4 - yoe / 100), m = (5 * doy + 2) / 153;

	*mday = (unsigned)(doy - (153 * m + 2) / 5 + 1);
	*month = (unsigned)(m < 10 ? m + 3 : m - 9);
	*year = (unsigned)(yoe + era * 400 + (*month <= 2));
}

void u_stamp(char *out, size_t size)
{
	unsigned year, month, mday, second, us;
	struct timespec now;
	long long local;

	clock_gettime(CLOCK_REALTIME, &now);
	local = now.tv_sec + zone_offset(now.tv_sec);
	if (local < 0)
		local = 0; /* a clock before 1970 */
	date_of((unsigned long)(local / 86400), &year, &month, &mday);
	second = (unsigned)(local % 86400);
	us = (unsigned)(now.tv_nsec / 1000);
	snprintf(out, size, "%04u-%02u-%02u-%02u:%02u:%02u.%03u.%03u", year, month, mday, second / 3600,
		 second / 60 % 60, second % 60, us / 1000 % 1000, us % 1000);
}

static bool list_has(const struct list *list, const char *text)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!strcmp(list->records[i].text, text))
			return true;
	return false;
}

/* The same sentence is kept once; the oldest makes room. */
static void list_add(struct list *list, const char *id, const char *text)
{
	struct record *r;

	if (list_has(list, text))
		return;
	if (list->count == RECORDS_MAX) {
		memmove(list->records, list->records + 1, (RECORDS_MAX - 1) * sizeof(list->records[0]));
		list->count--;
	}
	r = &list->records[list->count++];
	r->id = id;
	u_stamp(r->time, sizeof(r->time));
	snprintf(r->text, sizeof(r->text), "%s", text);
}

static void report(const char *id, int code, const char *fmt, va_list ap)
{
	struct thread_report *t;
	int saved = errno;
	char text[TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	u_log(U_ERROR, "%d: %s", code, text);
	if (atomic_load_explicit(&for_process, memory_order_relaxed)) {
		u_mutex_lock(&process_lock);
		list_add(&process_list, id, text);
		u_mutex_unlock(&process_lock);
	} else {
		t = thread_report();
		if (t)
			list_add(&t->list, id, text);
	}
	errno = saved;
}

int u_report_code(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(id_of(code, fmt), code, fmt, ap);
	va_end(ap);
	return code ? code : ACL_ERROR_RT_INTERNAL_ERROR;
}

int u_report_as(const char *id, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(id, code, fmt, ap);
	va_end(ap);
	return code;
}

/* Another thread may have been reporting when this process was forked off. */
static void reset_in_child(void)
{
	u_mutex_after_fork(&process_lock);
}

static void watch_forks(void)
{
	if (pthread_atfork(NULL, NULL, reset_in_child))
		u_log(U_WARN, "no memory to watch for forks: a forked child may hang in its first error");
}

void u_report_for_process(bool process)
{
	static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

	pthread_once(&fork_once, watch_forks);
	atomic_store(&for_process, process);
}

/* ---- handing out ----------------------------------------------------------------------------- */

/* The first sentence that is not an internal error leads. */
static unsigned leader(const struct list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!is_inner(list->records[i].id))
			return i;
	return 0;
}

static void compose(const struct list *list, struct u_text *out)
{
	unsigned lead = leader(list), pid = (unsigned)getpid();
	const struct record *r = &list->records[lead];
	bool inner = is_inner(r->id);

	if (inner)
		u_put(out, "%s: Internal error!\n%s", r->id, r->id);
	u_put(out, "[PID: %u] %s %s(%s): %s%s\n", pid, r->time, title_of(r->id), r->id, inner ? " " : "", r->text);
	if (list->count > 1 || inner)
		u_put(out, "TraceBack (most recent call last):\n");
	for (unsigned i = 0; i < list->count; i++)
		if (i != lead)
			u_put(out, "%s%s\n", inner ? "       " : "        ", list->records[i].text);
}

static bool take(struct list *list, struct u_text *out)
{
	if (!list->count)
		return false;
	compose(list, out);
	list->count = 0;
	return true;
}

const char *u_report_take(void)
{
	bool process = atomic_load_explicit(&for_process, memory_order_relaxed);
	struct thread_report *t = process ? thread_report() : mine;
	struct u_text out;
	bool any;

	if (!t)
		return NULL;
	out = (struct u_text){ .text = t->taken, .size = sizeof(t->taken) };
	if (!process)
		return take(&t->list, &out) ? t->taken : NULL;
	u_mutex_lock(&process_lock);
	any = take(&process_list, &out);
	u_mutex_unlock(&process_lock);
	return any ? t->taken : NULL;
}
