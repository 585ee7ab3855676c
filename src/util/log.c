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

#define UNREAD (-2)

static atomic_int wanted = UNREAD;

bool u_log_set_level(const char *text)
{
	int level = level_of(text);

	if (level < 0 && strcmp(text, "off"))
		return false;
	atomic_store_explicit(&wanted, level, memory_order_relaxed);
	return true;
}

static int wanted_level(void)
{
	int level = atomic_load_explicit(&wanted, memory_order_relaxed);

	if (level == UNREAD) {
		level = level_of(secure_getenv("VINCI_LOG"));
		atomic_store_explicit(&wanted, level, memory_order_relaxed);
	}
	return level;
}

void u_log(enum u_level level, const char *fmt, ...)
{
	int saved = errno, cancel, n, m;
	char line[1024];
	va_list ap;

	if ((int)level > wanted_level())
		return;
	n = snprintf(line, sizeof(line), "vinci[%d] %s: ", getpid(), names[level]);
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
