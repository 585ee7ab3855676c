/* SPDX-License-Identifier: MIT */
/* allocator_test.c - a description of an allocator without memory for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"

static bool fails;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return fails ? NULL : __real_calloc(count, size);
}

/* covers: aclrtAllocatorCreateDesc failure */
static void no_memory(void **state)
{
	aclrtAllocatorDesc desc;

	(void)state;
	(void)aclGetRecentErrMsg();
	(void)aclrtAllocatorDestroyDesc(NULL); /* the thread has its room for sentences from here on */
	(void)aclGetRecentErrMsg();
	fails = true;
	desc = aclrtAllocatorCreateDesc();
	fails = false;
	assert_null(desc);
	assert_non_null(aclGetRecentErrMsg());
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
