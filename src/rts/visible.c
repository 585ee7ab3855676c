/* SPDX-License-Identifier: MIT */
#include "rts/visible.h"

#include <stdbool.h>
#include <string.h>

/* One token of digits below @total; moves *text to its end. */
static bool parse_token(const char **text, const char *end, uint32_t total, uint32_t *device)
{
	const char *p = *text;
	uint32_t n = 0;

	for (; p < end && *p != ','; p++) {
		if (*p < '0' || *p > '9')
			return false;
		n = n * 10 + (uint32_t)(*p - '0');
		if (n >= total)
			return false;
	}
	if (p == *text)
		return false;
	*text = p;
	*device = n;
	return true;
}

static void fail(struct visible *out, enum visible_fault fault)
{
	out->count = 0;
	out->fault = fault;
}

void visible_parse(const char *text, uint32_t total, struct visible *out)
{
	const char *end;
	uint32_t device;

	memset(out, 0, sizeof(*out));
	if (!text) {
		for (; out->count < total; out->count++)
			out->device[out->count] = out->count;
		return;
	}
	end = text + strnlen(text, VISIBLE_TEXT_MAX);
	while (out->count < total && parse_token(&text, end, total, &device)) {
		uint32_t last = out->count ? out->device[out->count - 1] : 0;

		if (out->count && device <= last) {
			fail(out, device < last ? VISIBLE_ORDER : VISIBLE_DUPLICATE);
			return;
		}
		out->device[out->count++] = device;
		if (text == end)
			break;
		text++; /* the comma */
	}
	if (!out->count)
		fail(out, VISIBLE_NONE);
}
