/* SPDX-License-Identifier: MIT */
/*
 * abi_test.c - what of the ABI only shows when the program runs: constants of static storage, and that each of CANN's library
 * names leads to the same code. Layouts and signatures are checked while layout.c, layout.cpp and overloads.cpp compile.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "public_headers.h"

/* CANN's acl_mdl.h belongs to another component; these two values are the ones that runtime programs use. */
_Static_assert(ACL_MODEL_STREAM_FLAG_HEAD == 0, "ACL_MODEL_STREAM_FLAG_HEAD");
_Static_assert(ACL_MODEL_STREAM_FLAG_DEFAULT == 0x7FFFFFFF, "ACL_MODEL_STREAM_FLAG_DEFAULT");

struct value {
	const char *name;
	long long got, want;
};

static const char *const functions[] = {
#define ABI_FUNCTION(name, ...) #name,
#include "../../src/acl/functions.def"
#undef ABI_FUNCTION
	"aclAppLogWithArgs",
	"aclrtSetDeviceWithoutTsdVXX",
	"aclrtResetDeviceWithoutTsdVXX",
	"vinciLaunchKernel",
};

static const char *const libraries[] = {
	VINCI_LIB_DIR "/libascendcl.so",
	VINCI_LIB_DIR "/libacl_rt.so",
	VINCI_LIB_DIR "/libacl_rt_impl.so",
	VINCI_LIB_DIR "/libruntime.so",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void constants_have_their_values(void **state)
{
	const struct value values[] = {
#define ABI_ENUMERATOR(type, name, value)
#define ABI_MACRO(type, name, value)
#define ABI_OBJECT(type, name, value) { #name, name, value },
#include "values_base.def"
#include "values_codes.def"
#include "values_rt.def"
#include "values_tools.def"
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(values); i++)
		if (values[i].got != values[i].want)
			fail_msg("%s is %lld, not %lld", values[i].name, values[i].got, values[i].want);
}

static void *open_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		fail_msg("%s", dlerror());
	return lib;
}

/* dlsym() also searches what the library depends on, so ask where the function lives. */
static void assert_lives_in_vinci(const char *name, void *address)
{
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_sname)
		fail_msg("%s is not an exported symbol", name);
	assert_string_equal(info.dli_sname, name);
}

static void every_function_is_found_through_each_library(void **state)
{
	void *libs[LENGTH(libraries)];

	(void)state;
	for (size_t l = 0; l < LENGTH(libraries); l++)
		libs[l] = open_library(libraries[l]);
	for (size_t i = 0; i < LENGTH(functions); i++) {
		void *first = dlsym(libs[0], functions[i]);

		if (!first)
			fail_msg("%s", dlerror());
		assert_lives_in_vinci(functions[i], first);
		for (size_t l = 1; l < LENGTH(libraries); l++)
			if (dlsym(libs[l], functions[i]) != first)
				fail_msg("%s is another function in %s", functions[i], libraries[l]);
	}
	for (size_t l = 0; l < LENGTH(libraries); l++)
		assert_int_equal(dlclose(libs[l]), 0);
}

static void nothing_leaks_into_the_global_scope(void **state)
{
	void *lib = open_library(libraries[0]);

	(void)state;
	assert_null(dlsym(RTLD_DEFAULT, "aclInit"));
	assert_null(dlsym(lib, "api_refuse"));
	assert_null(dlsym(lib, "u_report"));
	assert_int_equal(dlclose(lib), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_have_their_values),
		cmocka_unit_test(every_function_is_found_through_each_library),
		cmocka_unit_test(nothing_leaks_into_the_global_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
