/* SPDX-License-Identifier: MIT */
/* json_test.c - what is JSON, and values in it. */
#include "util/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* From a block of exactly its size, so that a sanitizer sees a read beyond the end. */
static bool check(const char *text, size_t len, size_t *where)
{
	char *copy = malloc(len ? len : 1);
	bool ok;

	assert_non_null(copy);
	memcpy(copy, text, len);
	ok = u_json_check(copy, len, where);
	free(copy);
	return ok;
}

static void accepts(void **state)
{
	static const char *const good[] = {
		"{}",
		"[]",
		"0",
		"-0.5e+10",
		"1E5",
		"\"\"",
		"true",
		"null",
		" {\"a\" : [1, 2 , {\"b\":false}], \"c\":\"d\"}\n",
		"\"\\u00e4\\n\\\"\\\\\\/\"",
		"\"\xc3\xa4\"",
		"[[[[]]]]",
		"{\"a\":1,\"a\":2}",
		"\t[\r\n]",
	};
	size_t where;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!check(good[i], strlen(good[i]), &where))
			fail_msg("%s: wrong at %zu", good[i], where);
}

static void rejects(void **state)
{
	static const char *const bad[] = {
		"",	 " ",	  "{",	       "[1,]",	   "{\"a\":1,}", "{a:1}",  "{'a':1}", "01",	     "+1",
		"1.",	 ".5",	  "1e",	       "-",	   "\"",	 "\"\n\"", "\"\\x\"", "\"\\u12g4\"", "tru",
		"truex", "[1 2]", "{\"a\" 1}", "{\"a\":}", "[]]",	 "{}{}",   "nul\0l",  "NaN",	     "// x\n{}",
	};
	size_t where;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (check(bad[i], strlen(bad[i]), &where))
			fail_msg("%s passed", bad[i]);
		assert_true(where <= strlen(bad[i]));
	}
}

/* Every prefix of a good text is a bad one, and none is read beyond its end. */
static void prefixes(void **state)
{
	static const char text[] = "{\"a\":[1.5e3,\"x\\u1234\",true,{\"b\":null}],\"c\":false}";
	size_t where;

	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++)
		assert_false(check(text, n, &where));
	assert_true(check(text, sizeof(text) - 1, &where));
}

static void nesting_is_bounded(void **state)
{
	char text[2 * U_JSON_DEPTH_MAX + 3];
	size_t where;

	(void)state;
	memset(text, '[', U_JSON_DEPTH_MAX + 1);
	memset(text + U_JSON_DEPTH_MAX + 1, ']', U_JSON_DEPTH_MAX + 1);
	assert_false(check(text, 2 * U_JSON_DEPTH_MAX + 2, &where));
	assert_true(check(text + 1, 2 * U_JSON_DEPTH_MAX, &where));
}

static void check_value(const char *text, const char *const path[], enum u_json_type type, const char *wanted)
{
	struct u_json_value v;

	assert_true(u_json_find(text, strlen(text), path, &v));
	assert_int_equal(v.type, type);
	assert_int_equal(v.len, strlen(wanted));
	assert_memory_equal(v.text, wanted, v.len);
}

static void finds(void **state)
{
	static const char text[] =
		" { \"x\" : {\"y\": \"1\", \"z\": [1,2]}, \"n\": -7, \"e\": {}, \"n\": 8 , \"a,}\": true}";
	struct u_json_value v;

	(void)state;
	check_value(text, (const char *const[]){ "x", "y", NULL }, U_JSON_STRING, "1");
	check_value(text, (const char *const[]){ "x", "z", NULL }, U_JSON_ARRAY, "[1,2]");
	check_value(text, (const char *const[]){ "n", NULL }, U_JSON_NUMBER, "8");
	check_value(text, (const char *const[]){ "a,}", NULL }, U_JSON_WORD, "true");
	check_value(text, (const char *const[]){ "e", NULL }, U_JSON_OBJECT, "{}");
	assert_false(u_json_find(text, strlen(text), (const char *const[]){ "y", NULL }, &v));
	assert_false(u_json_find(text, strlen(text), (const char *const[]){ "e", "y", NULL }, &v));
	assert_false(u_json_find(text, strlen(text), (const char *const[]){ "n", "y", NULL }, &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts),  cmocka_unit_test(rejects),
		cmocka_unit_test(prefixes), cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
