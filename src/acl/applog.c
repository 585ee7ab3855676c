/* SPDX-License-Identifier: MIT */
/* applog.c - chapter 24: lines for the application's log. */
#include "util/applog.h"
#include "acl/api.h"
#include "acl/acl_base_rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CUT "...[truncated]"

void aclAppLogWithArgs(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt,
		       va_list args)
{
	char text[U_APPLOG_BYTES], message[U_APPLOG_BYTES];
	int n, m;

	if (!func || !file || !fmt || !u_applog_wants((unsigned)logLevel))
		return;
	m = vsnprintf(message, sizeof(message), fmt, args);
	if (m < 0)
		return;
	n = snprintf(text, sizeof(text), "%ld %s:%s:%u: \"%s\"", (long)syscall(SYS_gettid), func, file, line, message);
	if (n >= (int)sizeof(text) || m >= (int)sizeof(message))
		memcpy(text + sizeof(text) - sizeof(CUT), CUT, sizeof(CUT));
	u_applog((unsigned)logLevel, text);
}
