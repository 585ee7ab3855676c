/* SPDX-License-Identifier: MIT */
/* api_test.c - what every public function ends with: the thread's last error, and the answer of functions that refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "acl/refused.h"

aclError pretended(int number);
uint32_t pretended_number(void);
void *pretended_object(const char *name);

#define REASON "it is but pretended"
REFUSE(pretended, int number)
REFUSE_AS(uint32_t, UINT32_MAX, pretended_number, void)
REFUSE_AS(void *, NULL, pretended_object, const char *name)

static void assert_reported(const char *name)
{
	const char *text = u_report_take();

	assert_non_null(text);
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, REASON));
	assert_null(u_report_take());
}

static void a_refusal_names_its_function_and_says_why(void **state)
{
	(void)state;
	assert_int_equal(pretended(1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_reported("pretended ");
	assert_int_equal(pretended_number(), UINT32_MAX);
	assert_reported("pretended_number ");
	assert_null(pretended_object("x"));
	assert_reported("pretended_object ");
}

static void a_refusal_is_no_last_error(void **state)
{
	(void)state;
	(void)api_last_error(true);
	assert_int_equal(pretended(1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_int_equal(api_last_error(false), 0);
	(void)u_report_take();
}

static void only_the_runtime_s_codes_are_last_errors(void **state)
{
	static const int recorded[] = { 107000, 107002, 207001, 507899 };
	static const int ignored[] = { 0, 100000, 148046, 200006, 300000, 500000 };

	(void)state;
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		assert_int_equal(api_result(recorded[i]), recorded[i]);
		assert_int_equal(api_last_error(true), recorded[i]);
		assert_int_equal(api_last_error(true), 0);
	}
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		assert_int_equal(api_result(ignored[i]), ignored[i]);
		assert_int_equal(api_last_error(false), 0);
	}
}

static void *last_error_of_another_thread(void *out)
{
	*(int *)out = api_last_error(false);
	return NULL;
}

static void the_last_error_is_the_thread_s_own(void **state)
{
	pthread_t thread;
	int other = -1;

	(void)state;
	(void)api_result(ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(pthread_create(&thread, NULL, last_error_of_another_thread, &other), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(other, 0);
	assert_int_equal(api_last_error(true), ACL_ERROR_RT_PARAM_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_names_its_function_and_says_why),
		cmocka_unit_test(a_refusal_is_no_last_error),
		cmocka_unit_test(only_the_runtime_s_codes_are_last_errors),
		cmocka_unit_test(the_last_error_is_the_thread_s_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
