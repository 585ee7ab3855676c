/* SPDX-License-Identifier: MIT */
/* text.h - a text that grows in a buffer of fixed size; what does not fit is cut off. */
#ifndef VINCI_UTIL_TEXT_H
#define VINCI_UTIL_TEXT_H

#include <stddef.h>

struct u_text {
	char *text;
	size_t size, len; /* of the buffer, > 0; of the text without its NUL */
};

void u_put(struct u_text *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Copies up to @size bytes from where an application's pointer leads, as the kernel would: what cannot be read is no signal.
 * Returns the bytes copied, 0 also where a sandbox refuses to look. Changes errno.
 */
size_t u_peek(void *to, const void *from, size_t size);

#endif
