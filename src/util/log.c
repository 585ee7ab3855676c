/* SPDX-License-Identifier: MIT */
/* log.c - lines on stderr, for those who ask for them with VINCI_LOG. One write a line, errno kept. */
#include "util/cancel.h"
#include "util/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "error", "warn", "info", "debug" };

/* -1: nothing is printed; an index into names otherwise. */
static int level_of(const char *text)
{
	for (int i = 0; text && i < 4; i++)
		if (!strcmp(text, names[i]))
			return i;
	return -1;
}

#define UNREAD 4 /* more than debug: whoever asks by u_log_may_want() comes here and VINCI_LOG is read */

/* Added to the level when every call is to come by: u_log_may_want() always says yes then. */
#define WATCHED 16

atomic_int u_log_wanted = UNREAD;

static void store_level(int level)
{
	int old = atomic_load_explicit(&u_log_wanted, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&u_log_wanted, &old, old > UNREAD ? level + WATCHED : level,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void u_log_watch_calls(void)
{
	(void)u_log_wants(U_ERROR);
	if (atomic_load_explicit(&u_log_wanted, memory_order_relaxed) < UNREAD)
		atomic_fetch_add_explicit(&u_log_wanted, WATCHED, memory_order_relaxed);
}

bool u_log_set_level(const char *text)
{
	int level = level_of(text);

	if (level < 0 && strcmp(text, "off"))
		return false;
	store_level(level);
	return true;
}

static int wanted_level(void)
{
	int level = atomic_load_explicit(&u_log_wanted, memory_order_relaxed);

	if (level == UNREAD) {
		level = level_of(secure_getenv("VINCI_LOG"));
		store_level(level);
	}
	return level > UNREAD ? level - WATCHED : level;
}

bool u_log_wants(enum u_level level)
{
	return (int)level <= wanted_level();
}

void u_log(enum u_level level, const char *fmt, ...)
{
	int saved = errno, cancel, n, m;
	char line[1024];
	va_list ap;

	if (!u_log_wants(level))
		return;
	n = snprintf(line, sizeof(line), "vinci[%d:%d] %s: ", getpid(), gettid(), names[level]);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	n += m < 0 ? 0 : m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	cancel = u_cancel_off(); /* the caller may hold locks */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		n = 0; /* nobody reads stderr: there is nobody to tell */
	u_cancel_restore(cancel);
	errno = saved;
}
