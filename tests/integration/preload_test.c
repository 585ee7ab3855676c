/* SPDX-License-Identifier: MIT */
/*
 * preload_test.c - a library that was preloaded stands in front of aclrtMalloc and aclrtFree: it sees each call of the
 * program and none that the library makes for itself. That no name at all is called from inside is
 * tests/abi/symbols_check.py's.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "acl/acl.h"
#include "test_util.h"

#define TIMEOUT_MS 20000
#define SIZE	   (2u << 20)

#define TRY(call) do { if (call) { fprintf(stderr, "%s: %s\n", #call, aclGetRecentErrMsg()); return false; } } while (0)

/* What makes the library allocate: tasks' memory, shared objects, copies of pageable memory, and what a reset cleans up. */
static bool use_everything(void)
{
	char key[65], pageable[4096] = "";
	aclrtNotify notify;
	aclrtStream stream;
	aclrtEvent event;
	void *a, *b, *host;

	TRY(aclInit(NULL));
	TRY(aclrtSetDevice(0));
	TRY(aclrtMalloc(&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
	TRY(aclrtMalloc(&b, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
	TRY(aclrtMallocHost(&host, SIZE));
	TRY(aclrtCreateStream(&stream));
	TRY(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
	TRY(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	TRY(aclrtMemcpyAsync(a, SIZE, pageable, sizeof(pageable), ACL_MEMCPY_HOST_TO_DEVICE, stream));
	TRY(aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	TRY(aclrtMemcpyAsync(host, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
	TRY(aclrtRecordEvent(event, stream));
	TRY(aclrtRecordNotify(notify, stream));
	TRY(aclrtSynchronizeStream(stream));
	TRY(aclrtIpcMemGetExportKey(a, SIZE, key, sizeof(key), ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	TRY(aclrtIpcMemClose(key));
	TRY(aclrtFree(a));
	TRY(aclrtResetDeviceForce(0)); /* b is still there */
	TRY(aclFinalize());
	return true;
}

static int child_counts(void)
{
	unsigned *mallocs = dlsym(RTLD_DEFAULT, "shim_mallocs"), *frees = dlsym(RTLD_DEFAULT, "shim_frees");

	if (!mallocs || !frees || !use_everything())
		return 1;
	return t_say("%u %u", *mallocs, *frees) ? 0 : 1;
}

static void only_the_program_is_seen(void **state)
{
	/* The sanitizer's runtime wants to be first, which is of no weight for what is asked here. */
	const char *const env[] = { "LD_PRELOAD=" SHIM_PATH, "ASAN_OPTIONS=verify_asan_link_order=0", NULL };
	const char *const args[] = { "child", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, env));
	assert_true(t_expect(&peer, "2 1", TIMEOUT_MS));
	assert_int_equal(t_wait(&peer, TIMEOUT_MS), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_the_program_is_seen) };

	if (argc == 2 && !strcmp(argv[1], "child"))
		return child_counts();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
