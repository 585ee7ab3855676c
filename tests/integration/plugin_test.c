/* SPDX-License-Identifier: MIT */
/*
 * plugin_test.c - a program that is not linked with the library: it is loaded and unloaded while in use, as language
 * bindings do, and the program goes on and ends as if nothing had been.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "acl/acl.h"
#include "test_util.h"

#define TIMEOUT_MS 20000

struct api {
	void *library;
	__typeof__(aclInit) *init;
	__typeof__(aclFinalize) *finalize;
	__typeof__(aclrtSetDevice) *set_device;
	__typeof__(aclrtResetDevice) *reset_device;
	__typeof__(aclrtMalloc) *malloc;
	__typeof__(aclrtFree) *free;
	__typeof__(aclrtMemset) *memset;
	__typeof__(aclrtCreateStream) *create_stream;
	__typeof__(aclrtMemsetAsync) *memset_async;
	__typeof__(aclrtSynchronizeStream) *synchronize;
	__typeof__(aclGetRecentErrMsg) *message;
};

static void *symbol(const struct api *api, const char *name)
{
	void *p = dlsym(api->library, name);

	if (!p)
		fail_msg("%s", dlerror());
	return p;
}

static void load(struct api *api)
{
	api->library = dlopen(LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
	if (!api->library)
		fail_msg("%s", dlerror());
	api->init = symbol(api, "aclInit");
	api->finalize = symbol(api, "aclFinalize");
	api->set_device = symbol(api, "aclrtSetDevice");
	api->reset_device = symbol(api, "aclrtResetDevice");
	api->malloc = symbol(api, "aclrtMalloc");
	api->free = symbol(api, "aclrtFree");
	api->memset = symbol(api, "aclrtMemset");
	api->create_stream = symbol(api, "aclrtCreateStream");
	api->memset_async = symbol(api, "aclrtMemsetAsync");
	api->synchronize = symbol(api, "aclrtSynchronizeStream");
	api->message = symbol(api, "aclGetRecentErrMsg");
}

static void *memory;
static aclrtStream stream;

static void start(const struct api *api)
{
	assert_int_equal(api->init(NULL), ACL_SUCCESS);
	assert_int_equal(api->set_device(0), ACL_SUCCESS);
	assert_int_equal(api->malloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
	assert_int_equal(api->create_stream(&stream), ACL_SUCCESS);
}

static void stop(const struct api *api)
{
	assert_int_equal(api->synchronize(stream), ACL_SUCCESS);
	assert_int_equal(api->free(memory), ACL_SUCCESS);
	assert_int_equal(api->reset_device(0), ACL_SUCCESS);
	assert_int_equal(api->finalize(), ACL_SUCCESS);
}

/* Its threads still run its code, and other threads have its destructors to come. */
static void unloaded_while_tasks_run(void **state)
{
	struct api api;

	(void)state;
	for (int i = 0; i < 5; i++) {
		load(&api);
		start(&api);
		for (int k = 0; k < 20; k++)
			assert_int_equal(api.memset_async(memory, 1 << 20, k, 1 << 20, stream), ACL_SUCCESS);
		assert_int_equal(dlclose(api.library), 0);
		load(&api); /* it is the same one, in the state it was left in */
		assert_int_equal(api.set_device(99), ACL_ERROR_RT_INVALID_DEVICEID);
		assert_non_null(strstr(api.message(), "99"));
		stop(&api);
		assert_int_equal(dlclose(api.library), 0);
	}
}

static pthread_barrier_t unloaded;

static void *outlives_the_library(void *arg)
{
	struct api *api = arg;

	if (api->set_device(1) || !api->set_device(77))
		return arg;
	pthread_barrier_wait(&unloaded);
	pthread_barrier_wait(&unloaded);
	return NULL; /* here run the library's thread-specific destructors */
}

static void a_thread_ends_after_it_was_unloaded(void **state)
{
	pthread_t thread;
	struct api api;
	void *result;

	(void)state;
	load(&api);
	assert_int_equal(pthread_barrier_init(&unloaded, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, outlives_the_library, &api), 0);
	pthread_barrier_wait(&unloaded);
	assert_int_equal(dlclose(api.library), 0);
	pthread_barrier_wait(&unloaded);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_null(result);
	pthread_barrier_destroy(&unloaded);
}

/* In a child: the exit of a process is part of the test. */
static int child_exits(void)
{
	struct api api;
	pid_t pid;

	load(&api);
	start(&api);
	(void)api.memset_async(memory, 1 << 20, 1, 1 << 20, stream);
	if (dlclose(api.library))
		return 1;
	pid = fork(); /* with the library's handlers for forks, and then its destructors, in the child as well */
	if (!pid)
		exit(0);
	return t_wait_pid(pid, TIMEOUT_MS);
}

static void exits_after_it_was_unloaded(void **state)
{
	const char *const args[] = { "child", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, NULL));
	assert_int_equal(t_wait(&peer, TIMEOUT_MS), 0);
}

/* By each of its names it is loaded once. */
static void by_other_names(void **state)
{
	static const char *const names[] = { "libacl_rt.so", "libacl_rt_impl.so" };
	char path[1024];
	struct api api;

	(void)state;
	load(&api);
	start(&api);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *other;
		__typeof__(aclInit) *init;

		snprintf(path, sizeof(path), "%s/%s", LIBRARY_DIR, names[i]);
		other = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		assert_non_null(other);
		*(void **)&init = dlsym(other, "aclInit");
		assert_non_null(init);
		assert_int_equal(init(NULL), ACL_ERROR_REPEAT_INITIALIZE);
		assert_int_equal(dlclose(other), 0);
		assert_int_equal(api.memset(memory, 1 << 20, 0, 1 << 20), ACL_SUCCESS);
	}
	stop(&api);
	assert_int_equal(dlclose(api.library), 0);
}

static const char *const functions[] = {
#define ABI_FUNCTION(name, ...) #name,
#include "../../src/acl/functions.def"
#undef ABI_FUNCTION
};

/* In a child: whatever it says to zeros, nothing was there before it. */
static void call_first(const struct api *api, const char *name)
{
	uintptr_t (*function)(uintptr_t, ...);

	*(void **)&function = dlsym(api->library, name);
	if (!function)
		_exit(1);
	(void)function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	_exit(0);
}

/* Bindings look up what they like and call it when they like: before aclInit() too, and with nothing in the arguments. */
static void any_function_can_be_the_first(void **state)
{
	struct api api;

	(void)state;
	load(&api);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			call_first(&api, functions[i]);
		status = t_wait_pid(pid, TIMEOUT_MS);
		if (status)
			fail_msg("%s: status %d", functions[i], status);
	}
	assert_int_equal(dlclose(api.library), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_function_can_be_the_first),
		cmocka_unit_test(unloaded_while_tasks_run),
		cmocka_unit_test(a_thread_ends_after_it_was_unloaded),
		cmocka_unit_test(exits_after_it_was_unloaded),
		cmocka_unit_test(by_other_names),
	};

	if (argc == 2 && !strcmp(argv[1], "child"))
		return child_exits();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
