/* SPDX-License-Identifier: MIT */
/*
 * json.h - checks a JSON text (RFC 8259) and finds values in it. For small files: nothing is built, each search scans
 * the text.
 */
#ifndef VINCI_UTIL_JSON_H
#define VINCI_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define U_JSON_DEPTH_MAX 64

enum u_json_type { U_JSON_OBJECT, U_JSON_ARRAY, U_JSON_STRING, U_JSON_NUMBER, U_JSON_WORD /* true, false, null */ };

/* A part of the text, not terminated; of a string without its quotes and with its escapes as they stand. */
struct u_json_value {
	enum u_json_type type;
	const char *text;
	size_t len;
};

/* False with the offset of the first byte that is wrong (or @len: the text ends too early). */
bool u_json_check(const char *text, size_t len, size_t *where);

/*
 * The value at @path (names, NULL at the end) from the outermost object. @text must have passed u_json_check(). The
 * last of equal names counts. False: there is none.
 */
bool u_json_find(const char *text, size_t len, const char *const path[], struct u_json_value *out);

#endif
