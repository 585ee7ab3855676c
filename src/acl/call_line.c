/* SPDX-License-Identifier: MIT */
/* call_line.c - a call in words. No allocation and no lock; the application's memory is only looked at through u_peek(). */
#include "acl/call_line.h"
#include "util/report.h"
#include "util/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define TEXT_SHOWN 128	 /* characters of a string */
#define SECRET_SHOWN 8	 /* of a name by which memory or a notify is shared: docs/ipc-security.md */
#define SECRET_MIN (1ull << 44) /* a smaller number is a size or a flag; handles have 63 random bits */
#define ARGS_BYTES 768
#define RESULT_BYTES 160

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t call_begin(void)
{
	return u_log_wants(U_DEBUG) ? now_ns() : 0;
}

static bool has_secrets(const char *function)
{
	return strstr(function, "Ipc") || strstr(function, "Key") || strstr(function, "Shareable");
}

static void put_char(struct u_text *out, unsigned char c)
{
	if (c == '\n')
		u_put(out, "\\n");
	else if (c < ' ' || c > '~')
		u_put(out, "\\x%02x", c);
	else
		u_put(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
}

static void put_string(struct u_text *out, const char *text, size_t shown)
{
	char copy[TEXT_SHOWN + 1];
	size_t n = u_peek(copy, text, shown + 1);

	if (!n) {
		u_put(out, "%p", (const void *)text);
		return;
	}
	u_put(out, "\"");
	for (size_t i = 0; i < n && i < shown && copy[i]; i++)
		put_char(out, (unsigned char)copy[i]);
	u_put(out, memchr(copy, 0, n) ? "\"" : "\"...");
}

/* Little-endian machines only, like the rest: a narrow value's bytes begin those of a wide one. */
static uint64_t number(struct call_type t, const void *at)
{
	uint64_t n = 0;

	memcpy(&n, at, t.size);
	return n;
}

static int64_t signed_number(struct call_type t, const void *at)
{
	unsigned unused = 64 - 8u * t.size;

	return (int64_t)(number(t, at) << unused) >> unused;
}

static void put_unsigned(struct u_text *out, uint64_t n, bool secret)
{
	bool hide = secret && n >= SECRET_MIN;

	while (hide && n >= 100000000) /* SECRET_SHOWN digits */
		n /= 10;
	u_put(out, hide ? "%llu..." : "%llu", (unsigned long long)n);
}

static void put_float(struct u_text *out, const void *at)
{
	float f;

	memcpy(&f, at, sizeof(f));
	u_put(out, "%g", (double)f);
}

/* Small ones, dim3 and aclrtMemManagedLocation, are made of 32-bit words. */
static void put_struct(struct u_text *out, struct call_type t, const void *at)
{
	uint32_t words[4];

	if (t.size > sizeof(words)) {
		u_put(out, "{%u bytes}", t.size);
		return;
	}
	memcpy(words, at, t.size);
	for (size_t i = 0; i < t.size / sizeof(words[0]); i++)
		u_put(out, "%s%u", i ? ", " : "{", words[i]);
	u_put(out, "}");
}

struct reader {
	bool ok, secret; /* the call succeeded; it names what is shared */
};

static void put_value(struct u_text *out, struct call_type t, const void *at, struct reader r);

/* A pointer: what it leads to where that may be told, else itself. */
static void put_pointer(struct u_text *out, struct call_type t, const void *at, struct reader r)
{
	struct call_type there = { t.kind & (uint8_t)~CALL_TO, t.size };
	const void *address = *(const void *const *)at;
	uint64_t copy;

	if (!address) {
		u_put(out, "NULL");
	} else if (t.kind == CALL_TEXT || (t.kind == CALL_TEXT_OUT && r.ok)) {
		put_string(out, address, r.secret ? SECRET_SHOWN : TEXT_SHOWN);
	} else if (t.kind & CALL_TO && r.ok && u_peek(&copy, address, t.size) == t.size) {
		u_put(out, "&");
		put_value(out, there, &copy, r);
	} else {
		u_put(out, "%p", address);
	}
}

static void put_value(struct u_text *out, struct call_type t, const void *at, struct reader r)
{
	if (t.kind == CALL_SIGNED)
		u_put(out, "%lld", (long long)signed_number(t, at));
	else if (t.kind == CALL_UNSIGNED)
		put_unsigned(out, number(t, at), r.secret);
	else if (t.kind == CALL_FLOAT)
		put_float(out, at);
	else if (t.kind == CALL_STRUCT)
		put_struct(out, t, at);
	else
		put_pointer(out, t, at, r);
}

void call_end(uint64_t begun, const char *name, const struct call_type *types, const void *const *values, size_t count)
{
	uint64_t ns = begun ? now_ns() - begun : 0;
	char args_text[ARGS_BYTES] = "", result_text[RESULT_BYTES] = "";
	struct u_text args = { args_text, sizeof(args_text), 0 }, result = { result_text, sizeof(result_text), 0 };
	struct reader r = { .ok = types[0].kind != CALL_SIGNED || !number(types[0], values[0]),
			    .secret = has_secrets(name) };
	int saved = errno;

	if (!begun)
		return;
	for (size_t i = 1; i < count; i++) {
		u_put(&args, i > 1 ? ", " : "");
		put_value(&args, types[i], values[i], r);
	}
	if (types[0].kind != CALL_NOTHING) {
		u_put(&result, " = ");
		put_value(&result, types[0], values[0], r);
	}
	u_log(U_DEBUG, "%s(%s)%s, %llu.%03u us", name, args_text, result_text, (unsigned long long)(ns / 1000),
	      (unsigned)(ns % 1000));
	errno = saved;
}
