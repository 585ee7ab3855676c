/* SPDX-License-Identifier: MIT */
#include "util/json.h"

#include <string.h>

struct reader {
	const char *p, *end;
	unsigned depth;
};

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool is_digit(const struct reader *r)
{
	return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

static bool digits(struct reader *r)
{
	if (!is_digit(r))
		return false;
	while (is_digit(r))
		r->p++;
	return true;
}

static bool number(struct reader *r)
{
	(void)take(r, '-');
	if (!take(r, '0') && !digits(r))
		return false;
	if (take(r, '.') && !digits(r))
		return false;
	if (take(r, 'e') || take(r, 'E')) {
		if (!take(r, '+'))
			(void)take(r, '-');
		return digits(r);
	}
	return true;
}

static bool hex4(struct reader *r)
{
	for (int i = 0; i < 4; i++, r->p++)
		if (r->p == r->end || !*r->p || !strchr("0123456789abcdefABCDEF", *r->p))
			return false;
	return true;
}

static bool escape(struct reader *r)
{
	if (take(r, 'u'))
		return hex4(r);
	if (r->p == r->end || !*r->p || !strchr("\"\\/bfnrt", *r->p))
		return false;
	r->p++;
	return true;
}

/* Bytes from 0x80 on pass: whether they are UTF-8 is for whoever uses the string. */
static bool string(struct reader *r)
{
	if (!take(r, '"'))
		return false;
	while (r->p < r->end && *r->p != '"') {
		if ((unsigned char)*r->p < 0x20)
			return false;
		if (take(r, '\\')) {
			if (!escape(r))
				return false;
		} else {
			r->p++;
		}
	}
	return take(r, '"');
}

static bool word(struct reader *r, const char *text)
{
	for (; *text; text++)
		if (!take(r, *text))
			return false;
	return true;
}

static bool value(struct reader *r, struct u_json_value *out);

static bool member(struct reader *r, struct u_json_value *name, struct u_json_value *out)
{
	skip_space(r);
	name->text = r->p + 1;
	if (!string(r))
		return false;
	name->len = (size_t)(r->p - 1 - name->text);
	skip_space(r);
	return take(r, ':') && value(r, out);
}

/* @close: the bracket that ends the list. */
static bool list(struct reader *r, char close)
{
	struct u_json_value name, item;

	r->p++;
	skip_space(r);
	if (take(r, close))
		return true;
	do {
		if (!(close == '}' ? member(r, &name, &item) : value(r, &item)))
			return false;
		skip_space(r);
	} while (take(r, ','));
	return take(r, close);
}

static bool nested(struct reader *r, char close)
{
	bool ok;

	if (r->depth == U_JSON_DEPTH_MAX)
		return false;
	r->depth++;
	ok = list(r, close);
	r->depth--;
	return ok;
}

static bool typed_value(struct reader *r, enum u_json_type *type)
{
	switch (r->p < r->end ? *r->p : '\0') {
	case '{':
		*type = U_JSON_OBJECT;
		return nested(r, '}');
	case '[':
		*type = U_JSON_ARRAY;
		return nested(r, ']');
	case '"':
		*type = U_JSON_STRING;
		return string(r);
	case 't':
		*type = U_JSON_WORD;
		return word(r, "true");
	case 'f':
		*type = U_JSON_WORD;
		return word(r, "false");
	case 'n':
		*type = U_JSON_WORD;
		return word(r, "null");
	default:
		*type = U_JSON_NUMBER;
		return number(r);
	}
}

static bool value(struct reader *r, struct u_json_value *out)
{
	skip_space(r);
	out->text = r->p;
	if (!typed_value(r, &out->type))
		return false;
	out->len = (size_t)(r->p - out->text);
	if (out->type == U_JSON_STRING) {
		out->text++;
		out->len -= 2;
	}
	return true;
}

bool u_json_check(const char *text, size_t len, size_t *where)
{
	struct reader r = { .p = text, .end = text + len };
	struct u_json_value out;
	bool ok = value(&r, &out);

	if (ok)
		skip_space(&r);
	*where = (size_t)(r.p - text);
	return ok && r.p == r.end;
}

static bool find_member(const struct u_json_value *object, const char *wanted, struct u_json_value *out)
{
	struct reader r = { .p = object->text, .end = object->text + object->len };
	struct u_json_value name, item;
	bool found = false;

	if (object->type != U_JSON_OBJECT)
		return false;
	do {
		r.p++; /* the bracket, then the commas */
		if (!member(&r, &name, &item))
			break; /* only in an empty object */
		if (name.len == strlen(wanted) && !memcmp(name.text, wanted, name.len)) {
			*out = item;
			found = true;
		}
		skip_space(&r);
	} while (r.p < r.end && *r.p == ',');
	return found;
}

bool u_json_find(const char *text, size_t len, const char *const path[], struct u_json_value *out)
{
	struct reader r = { .p = text, .end = text + len };
	struct u_json_value at;

	if (!value(&r, &at))
		return false;
	for (; *path; path++)
		if (!find_member(&at, *path, &at))
			return false;
	*out = at;
	return true;
}
