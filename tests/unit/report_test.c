/* SPDX-License-Identifier: MIT */
/* report_test.c - the sentences behind codes: layout, ids, bounds, threads. */
#include "acl/acl_rt.h"
#include "util/report.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* "[PID: n] yyyy-mm-dd-hh:mm:ss.mmm.uuu " at the start of a line; what is behind it. */
static const char *after_stamp(const char *line)
{
	int pid, y, mo, d, h, mi, s, ms, us, n = 0;

	assert_int_equal(sscanf(line, "[PID: %d] %4d-%2d-%2d-%2d:%2d:%2d.%3d.%3d%n", &pid, &y, &mo, &d, &h, &mi, &s,
				&ms, &us, &n),
			 9);
	assert_int_equal(pid, getpid());
	assert_true(y >= 2024 && mo >= 1 && mo <= 12 && d >= 1 && d <= 31);
	assert_int_equal(line[n], ' ');
	return line + n + 1;
}

static void one_sentence(void **state)
{
	const char *text;

	(void)state;
	assert_null(u_report_take());
	errno = EBADF;
	assert_int_equal(u_report(ACL_ERROR_RT_PARAM_INVALID, "size is %d; it must be positive", 0), 107000);
	assert_int_equal(errno, EBADF);
	text = u_report_take();
	assert_non_null(text);
	assert_string_equal(after_stamp(text), "Invalid_Argument(EE1003): size is 0; it must be positive\n");
	assert_null(u_report_take());
}

/* time() reads a coarser clock, which lags behind at the turn of a second. */
static time_t now_seconds(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
	return t.tv_sec;
}

/* The stamp is local time. */
static void stamps_are_local(void **state)
{
	char now[64], got[64];
	struct tm tm;
	time_t before, after;

	(void)state;
	do {
		before = now_seconds();
		(void)u_report(ACL_ERROR_INVALID_PARAM, "x");
		snprintf(got, sizeof(got), "%.19s", strchr(u_report_take(), ']') + 2);
		after = now_seconds();
	} while (before != after);
	assert_non_null(localtime_r(&before, &tm));
	assert_true(strftime(now, sizeof(now), "%Y-%m-%d-%H:%M:%S", &tm));
	assert_string_equal(got, now);
}

static void ids_follow_the_code(void **state)
{
	static const struct {
		int code;
		const char *fmt, *head;
	} rows[] = {
		{ ACL_ERROR_INVALID_PARAM, "x", "Invalid_Argument(EH0001): x\n" },
		{ ACL_ERROR_INVALID_PARAM, "argument p is NULL",
		  "Invalid_Argument_Null_Pointer(EH0002): argument p is NULL\n" },
		{ ACL_ERROR_INVALID_FILE, "x", "File_Operation_Error_Invalid_Path(EH0003): x\n" },
		{ ACL_ERROR_RT_PARAM_INVALID, "p is NULL", "Invalid_Argument_Null_Pointer(EE1004): p is NULL\n" },
		{ ACL_ERROR_RT_CONTEXT_NULL, "x", "Execution_Error_Invalid_Context(EE1010): x\n" },
		{ ACL_ERROR_RT_INVALID_HANDLE, "x", "Invalid_Argument(EE1017): x\n" },
		{ ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "x", "Execution_Error_Stream_Synchronize_Timeout(EE1002): x\n" },
		{ ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "x", "Not_Supported(EE1006): x\n" },
		{ ACL_ERROR_RT_MEMORY_ALLOCATION, "x", "Memory_Allocation_Failure(EL0004): x\n" },
		{ ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "x", "Resource_Error(EE1023): x\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
		assert_int_equal(u_report(rows[i].code, rows[i].fmt), rows[i].code);
#pragma GCC diagnostic pop
		assert_string_equal(after_stamp(u_report_take()), rows[i].head);
	}
	(void)u_report_as("EE2002", ACL_ERROR_RT_NO_DEVICE, "variable");
	assert_string_equal(after_stamp(u_report_take()),
			    "Config_Error_Invalid_Environment_Variable(EE2002): variable\n");
	assert_int_equal(u_report(ACL_SUCCESS, "a failure is none"), ACL_ERROR_RT_INTERNAL_ERROR);
	(void)u_report_take();
}

static void internal_errors_have_their_own_layout(void **state)
{
	const char *text;

	(void)state;
	(void)u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "first");
	(void)u_report(ACL_ERROR_RT_LOST_HEARTBEAT, "second");
	text = u_report_take();
	assert_ptr_equal(strstr(text, "EE9999: Internal error!\nEE9999[PID: "), text);
	assert_string_equal(after_stamp(strchr(text, '[')),
			    "(EE9999):  first\nTraceBack (most recent call last):\n       second\n");
}

static void an_argument_error_leads(void **state)
{
	(void)state;
	(void)u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "inner");
	(void)u_report(ACL_ERROR_RT_PARAM_INVALID, "outer");
	(void)u_report(ACL_ERROR_RT_PARAM_INVALID, "outer");
	assert_string_equal(after_stamp(u_report_take()),
			    "Invalid_Argument(EE1003): outer\nTraceBack (most recent call last):\n        inner\n");
}

static void is_bounded_and_drops_the_oldest(void **state)
{
	char longest[2000];
	const char *text;

	(void)state;
	for (int i = 0; i < 1000; i++)
		(void)u_report(ACL_ERROR_INVALID_PARAM, "number %d.", i);
	text = u_report_take();
	assert_non_null(strstr(text, "number 999."));
	assert_null(strstr(text, "number 900."));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (int i = 0; i < 20; i++)
		(void)u_report(ACL_ERROR_INVALID_PARAM, "%d%s", i, longest);
	text = u_report_take();
	assert_true(strlen(text) < 8 * 700);
}

static void *other_thread(void *arg)
{
	(void)arg;
	assert_null(u_report_take());
	(void)u_report(ACL_ERROR_INVALID_PARAM, "of the other thread");
	return NULL;
}

static void run_other_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	pthread_join(thread, NULL);
}

static void threads_have_their_own(void **state)
{
	(void)state;
	(void)u_report(ACL_ERROR_INVALID_PARAM, "mine");
	run_other_thread();
	assert_string_equal(after_stamp(u_report_take()), "Invalid_Argument(EH0001): mine\n");
}

static void or_share_one_list(void **state)
{
	(void)state;
	u_report_for_process(true);
	run_other_thread();
	assert_string_equal(after_stamp(u_report_take()), "Invalid_Argument(EH0001): of the other thread\n");
	assert_null(u_report_take());
	u_report_for_process(false);
}

/* What a child prints on stderr while it reports one error and logs one warning. */
static void printed_with(const char *level, char *out, size_t size)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		if (!u_log_set_level(level))
			_exit(1);
		(void)u_report(ACL_ERROR_INVALID_PARAM, "an error");
		u_log(U_WARN, "a warning");
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	n = read(fds[0], out, size - 1);
	close(fds[0]);
	assert_true(n >= 0);
	out[n] = '\0';
}

static void prints_what_is_asked_for(void **state)
{
	char text[500];

	(void)state;
	printed_with("off", text, sizeof(text));
	assert_string_equal(text, "");
	printed_with("error", text, sizeof(text));
	assert_non_null(strstr(text, "error: 100000: an error\n"));
	assert_null(strstr(text, "a warning"));
	printed_with("debug", text, sizeof(text));
	assert_non_null(strstr(text, "warn: a warning\n"));
	assert_false(u_log_set_level("Debug"));
	assert_false(u_log_set_level(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sentence),
		cmocka_unit_test(stamps_are_local),
		cmocka_unit_test(ids_follow_the_code),
		cmocka_unit_test(internal_errors_have_their_own_layout),
		cmocka_unit_test(an_argument_error_leads),
		cmocka_unit_test(is_bounded_and_drops_the_oldest),
		cmocka_unit_test(threads_have_their_own),
		cmocka_unit_test(or_share_one_list),
		cmocka_unit_test(prints_what_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
