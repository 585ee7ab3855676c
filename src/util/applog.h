/* SPDX-License-Identifier: MIT */
/*
 * applog.h - the application's own log, where and as CANN's variables say (ASCEND_GLOBAL_LOG_LEVEL,
 * ASCEND_MODULE_LOG_LEVEL, ASCEND_LOG_PRINT_TO_STDOUT, ASCEND_PROCESS_LOG_PATH and so on; docs/settings.md).
 */
#ifndef VINCI_UTIL_APPLOG_H
#define VINCI_UTIL_APPLOG_H

#include <stdbool.h>
#include <stddef.h>

#define U_APPLOG_BYTES 1024 /* of a line's text */

/* @level: 0 debug, 1 info, 2 warning, 3 error. */
bool u_applog_wants(unsigned level);
/* Writes one line, without its newline in @text. Keeps errno; what cannot be written is lost. */
void u_applog(unsigned level, const char *text);

/* The level that @text asks for module APP: "APP=1:RUNTIME=0". -1: none. For tests. */
int u_applog_module_level(const char *text);

#endif
