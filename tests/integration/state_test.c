/* SPDX-License-Identifier: MIT */
/* state_test.c - who is told that devices and streams begin and end; allocators that are kept for a stream. */
#include "mem_util.h"

#include "acl/acl_rt_allocator.h"

#include <stdbool.h>

/* What the callbacks saw, one line each: "d0:1 " is device 0 in state 1, "s1 " a stream in state 1. */
static char seen[256];

static void note(const char *text)
{
	size_t used = strlen(seen);

	snprintf(seen + used, sizeof(seen) - used, "%s ", text);
}

static void on_device(int32_t device, aclrtDeviceState state, void *args)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%d:%d", (const char *)args, device, (int)state);
	note(text);
}

static aclrtStream last_stream;

static void on_stream(aclrtStream stream, aclrtStreamState state, void *args)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%d", (const char *)args, (int)state);
	note(text);
	last_stream = stream;
}

/* Calls the API and takes itself away, from inside. */
static void on_stream_once(aclrtStream stream, aclrtStreamState state, void *args)
{
	int32_t id = -1;

	(void)args;
	(void)state;
	assert_ok(aclrtStreamGetId(stream, &id));
	assert_true(id >= 0);
	assert_ok(aclrtRegStreamStateCallback("once", NULL, NULL));
	note("once");
}

static void assert_seen(const char *wanted)
{
	assert_string_equal(seen, wanted);
	seen[0] = 0;
}

/* covers: aclrtRegDeviceStateCallback effect */
static void told_of_devices(void **state)
{
	char a[] = "a", b[] = "b";

	(void)state;
	seen[0] = 0;
	assert_ok(aclrtRegDeviceStateCallback("first", on_device, a));
	assert_ok(aclrtRegDeviceStateCallback("second", on_device, b));
	assert_ok(aclrtSetDevice(2));
	assert_seen("a2:0 b2:0 a2:1 b2:1 ");
	assert_ok(aclrtSetDevice(2)); /* in use already */
	assert_seen("a2:1 b2:1 ");
	assert_ok(aclrtRegDeviceStateCallback("first", NULL, NULL));
	assert_ok(aclrtResetDevice(2)); /* one user less */
	assert_seen("");
	assert_ok(aclrtResetDevice(2));
	assert_seen("b2:2 b2:3 ");
	assert_ok(aclrtRegDeviceStateCallback("second", NULL, NULL));
	assert_ok(aclrtRegDeviceStateCallback("second", NULL, NULL)); /* nothing to forget */
}

/* covers: aclrtRegStreamStateCallback effect */
static void told_of_streams(void **state)
{
	aclrtStream stream;
	aclrtContext context;
	char s[] = "s";

	(void)state;
	seen[0] = 0;
	assert_ok(aclrtRegStreamStateCallback("s", on_stream, s));
	assert_ok(aclrtSetDevice(0));
	assert_seen("s1 "); /* the default stream */
	assert_ok(aclrtCreateStream(&stream));
	assert_seen("s1 ");
	assert_ptr_equal(last_stream, stream);
	assert_ok(aclrtDestroyStream(stream));
	assert_seen("s2 ");
	assert_ptr_equal(last_stream, stream);
	assert_ok(aclrtCreateContext(&context, 0));
	assert_seen("s1 ");
	assert_ok(aclrtDestroyContext(context));
	assert_seen("s2 ");
	assert_ok(aclrtRegStreamStateCallback("once", on_stream_once, NULL));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&stream));
	assert_seen("s1 once ");
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclrtResetDevice(0)); /* ends both streams */
	assert_seen("s2 s2 ");
	assert_ok(aclrtRegStreamStateCallback("s", NULL, NULL));
}

/* covers: aclrtRegDeviceStateCallback, aclrtRegStreamStateCallback failure */
static void callbacks_refused(void **state)
{
	char a[] = "a";

	(void)state;
	assert_refused(aclrtRegDeviceStateCallback(NULL, on_device, a), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtRegStreamStateCallback(NULL, on_stream, a), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtRegDeviceStateCallback("twice", on_device, a));
	assert_refused(aclrtRegDeviceStateCallback("twice", on_device, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtRegStreamStateCallback("twice", on_stream, a)); /* another kind, another name */
	assert_refused(aclrtRegStreamStateCallback("twice", on_stream, a), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtRegDeviceStateCallback("twice", NULL, NULL));
	assert_ok(aclrtRegStreamStateCallback("twice", NULL, NULL));
}

/* ---- allocators ---- */

static int object;

static void *take(aclrtAllocator allocator, size_t size)
{
	return allocator == &object ? malloc(size) : NULL;
}

static void *take_at(aclrtAllocator allocator, size_t size, aclrtAllocatorAddr at)
{
	(void)at;
	return take(allocator, size);
}

static void give(aclrtAllocator allocator, aclrtAllocatorBlock block)
{
	(void)allocator;
	free(block);
}

static void *address(aclrtAllocatorBlock block)
{
	return block;
}

static aclrtAllocatorDesc complete_description(void)
{
	aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();

	assert_non_null(desc);
	assert_ok(aclrtAllocatorSetObjToDesc(desc, &object));
	assert_ok(aclrtAllocatorSetAllocFuncToDesc(desc, take));
	assert_ok(aclrtAllocatorSetFreeFuncToDesc(desc, give));
	assert_ok(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, take_at));
	assert_ok(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address));
	return desc;
}

/* covers: aclrtAllocatorCreateDesc, aclrtAllocatorDestroyDesc, aclrtAllocatorRegister effect */
/* covers: aclrtAllocatorGetByStream, aclrtAllocatorUnregister effect */
/* covers: aclrtAllocatorSetObjToDesc, aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorSetFreeFuncToDesc effect */
/* covers: aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorSetGetAddrFromBlockFuncToDesc effect */
static void allocator_of_a_stream(void **state)
{
	aclrtAllocatorGetAddrFromBlockFunc got_address = NULL;
	aclrtAllocatorAllocAdviseFunc got_take_at = NULL;
	aclrtAllocatorDesc desc, got_desc = NULL;
	aclrtAllocatorAllocFunc got_take = NULL;
	aclrtAllocatorFreeFunc got_give = NULL;
	aclrtAllocator got_object = NULL;
	aclrtStream stream, other;

	(void)state;
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtCreateStream(&other));
	desc = complete_description();
	assert_ok(aclrtAllocatorRegister(stream, desc));
	assert_ok(aclrtAllocatorDestroyDesc(desc)); /* the stream keeps a copy */
	assert_ok(aclrtAllocatorGetByStream(stream, &got_desc, &got_object, &got_take, &got_give, &got_take_at,
					    &got_address));
	assert_ptr_equal(got_desc, desc);
	assert_ptr_equal(got_object, &object);
	assert_true(got_take == take && got_give == give && got_take_at == take_at && got_address == address);
	assert_ok(aclrtAllocatorGetByStream(stream, &got_desc, NULL, NULL, NULL, NULL, NULL));
	assert_refused(aclrtAllocatorGetByStream(other, &got_desc, NULL, NULL, NULL, NULL, NULL),
		       ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtAllocatorUnregister(stream));
	assert_ok(aclrtAllocatorUnregister(stream));
	assert_refused(aclrtAllocatorGetByStream(stream, &got_desc, NULL, NULL, NULL, NULL, NULL),
		       ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
	assert_ok(aclrtResetDevice(0));
}

/* covers: aclrtAllocatorDestroyDesc, aclrtAllocatorRegister, aclrtAllocatorGetByStream failure */
/* covers: aclrtAllocatorUnregister failure */
/* covers: aclrtAllocatorSetObjToDesc, aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorSetFreeFuncToDesc failure */
/* covers: aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorSetGetAddrFromBlockFuncToDesc failure */
static void allocators_refused(void **state)
{
	aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), full = complete_description();
	aclrtStream stale;

	(void)state;
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtCreateStream(&stale));
	assert_refused(aclrtAllocatorDestroyDesc(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorSetObjToDesc(desc, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorSetAllocFuncToDesc(NULL, take), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorSetFreeFuncToDesc(desc, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorRegister(NULL, full), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorRegister(stale, desc), ACL_ERROR_INVALID_PARAM); /* not complete */
	assert_ok(aclrtDestroyStream(stale));
	assert_refused(aclrtAllocatorRegister(stale, full), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtAllocatorUnregister(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtAllocatorGetByStream(stale, NULL, NULL, NULL, NULL, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtAllocatorDestroyDesc(desc));
	assert_ok(aclrtAllocatorDestroyDesc(full));
	assert_ok(aclrtResetDevice(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_of_devices),   cmocka_unit_test(told_of_streams),
		cmocka_unit_test(callbacks_refused), cmocka_unit_test(allocator_of_a_stream),
		cmocka_unit_test(allocators_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
