/* SPDX-License-Identifier: MIT */
/*
 * report.h - the sentences behind error codes. A failing check calls u_report() once, with the rule that was violated,
 * the value got and the value wanted; aclGetRecentErrMsg() hands the thread's sentences out in CANN's layout.
 *
 * Thread-local, keeps errno, never allocates on the success path, bounded per thread (oldest are dropped).
 */
#ifndef VINCI_UTIL_REPORT_H
#define VINCI_UTIL_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Records a sentence for @code and returns @code, so that a check reads
 *	return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is 0; it must be a positive number of bytes");
 * The message id (EE1003, EH0001, ...) and title follow from the code (semantics: CANN error_code_ref).
 */
#define u_report(...) u_failure(u_report_code(__VA_ARGS__))
int u_report_code(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Never 0, which the compiler cannot see: it would think that functions go on without having set what they return. */
static inline int u_failure(int code)
{
	if (!code)
		__builtin_unreachable();
	return code;
}

/* The same with the id given, where the code alone does not tell: EE2002 for an environment variable. */
int u_report_as(const char *id, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* true: all threads' sentences go to one list, which any thread takes (err_msg_mode "1" of aclInit's file). */
void u_report_for_process(bool process);

/* Returns the thread's text and clears it; NULL if there is none. Valid until the thread's next call. */
const char *u_report_take(void);

/* Local time as YYYY-MM-DD-hh:mm:ss.mmm.uuu; takes no lock of libc's, so that a forked child may call it. */
#define U_STAMP_BYTES 32
void u_stamp(char *out, size_t size);

/* "off", "error", "warn", "info" or "debug" instead of what VINCI_LOG says; false: none of them, and nothing has
 * changed. */
bool u_log_set_level(const char *text);

/* Prints when VINCI_LOG asks for it ("error", "warn", "info", "debug"; default: nothing); keeps errno. */
enum u_level { U_ERROR, U_WARN, U_INFO, U_DEBUG };
void u_log(enum u_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether u_log() prints. The inline one costs a load, and says yes too often while nobody has asked the other yet. */
bool u_log_wants(enum u_level level);
/* From now on u_log_may_want() always says yes. */
void u_log_watch_calls(void);
extern atomic_int u_log_wanted __attribute__((visibility("hidden")));
static inline bool u_log_may_want(enum u_level level)
{
	return __builtin_expect((int)level <= atomic_load_explicit(&u_log_wanted, memory_order_relaxed), false);
}

#endif
