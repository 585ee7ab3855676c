/* SPDX-License-Identifier: MIT */
/* callback_test.c - callbacks in threads of the application's: subscribing, launching, processing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "acl/acl.h"
#include "test_util.h"

#define LONG_MS 30000
#define NO_BLOCK ACL_CALLBACK_NO_BLOCK
#define BLOCK ACL_CALLBACK_BLOCK

#define assert_ok(call) assert_code(call, ACL_SUCCESS)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

static uint64_t self(void)
{
	return (uint64_t)pthread_self();
}

/* --- a thread that processes until it is told to stop ------------------------------------------- */

struct server {
	pthread_t thread;
	atomic_uint stop;
	atomic_int failed;
};

static void *server_main(void *arg)
{
	struct server *s = arg;
	int code;

	while (!atomic_load(&s->stop)) {
		code = aclrtProcessReport(20);
		if (code && code != ACL_ERROR_RT_REPORT_TIMEOUT && code != ACL_ERROR_RT_THREAD_SUBSCRIBE)
			atomic_store(&s->failed, code);
	}
	return NULL;
}

static uint64_t server_start(struct server *s)
{
	*s = (struct server){ 0 };
	assert_int_equal(pthread_create(&s->thread, NULL, server_main, s), 0);
	return (uint64_t)s->thread;
}

static void server_stop(struct server *s)
{
	atomic_store(&s->stop, 1);
	assert_int_equal(pthread_join(s->thread, NULL), 0);
	assert_int_equal(s->failed, 0);
}

/* --- callbacks ------------------------------------------------------------------------------------ */

struct note {
	atomic_uint *turn;
	unsigned expected;
	atomic_uint *wrong;
	pthread_t thread;
};

static void note_fn(void *arg)
{
	struct note *n = arg;

	if (atomic_fetch_add(n->turn, 1) != n->expected)
		atomic_fetch_add(n->wrong, 1);
	if (!pthread_equal(pthread_self(), n->thread))
		atomic_fetch_add(n->wrong, 1);
}

static void count_fn(void *arg)
{
	atomic_fetch_add((atomic_uint *)arg, 1);
}

/* covers: aclrtSubscribeReport, aclrtLaunchCallback, aclrtProcessReport, aclrtUnSubscribeReport effect */
static void callbacks_run_in_their_thread(void **state)
{
	static struct note notes[500];
	aclrtStream stream = stream_new();
	atomic_uint turn = 0, wrong = 0;
	struct server server;
	uint64_t id = server_start(&server);

	(void)state;
	assert_ok(aclrtSubscribeReport(id, stream));
	for (unsigned i = 0; i < 500; i++) {
		notes[i] = (struct note){ .turn = &turn, .expected = i, .wrong = &wrong, .thread = server.thread };
		assert_ok(aclrtLaunchCallback(note_fn, &notes[i], i % 3 ? BLOCK : NO_BLOCK, stream));
	}
	assert_ok(aclrtLaunchCallback(count_fn, &wrong, BLOCK, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(turn, 500);
	assert_int_equal(wrong, 1);
	assert_ok(aclrtUnSubscribeReport(id, stream));
	server_stop(&server);
	assert_ok(aclrtDestroyStream(stream));
}

/* The thread itself launches, so it can see what a callback holds up before it has run. */
static void only_blocking_callbacks_hold_the_stream_up(void **state)
{
	aclrtStream stream = stream_new();
	atomic_uint count = 0;

	(void)state;
	assert_ok(aclrtSubscribeReport(self(), stream));
	assert_ok(aclrtLaunchCallback(count_fn, &count, NO_BLOCK, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(count, 0);
	assert_ok(aclrtProcessReport(LONG_MS));
	assert_int_equal(count, 1);
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtLaunchCallback(count_fn, &count, NO_BLOCK, stream));
	assert_code(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(aclrtProcessReport(-1));
	assert_ok(aclrtSynchronizeStream(stream));
	if (count == 2)
		assert_ok(aclrtProcessReport(LONG_MS));
	assert_int_equal(count, 3);
	assert_ok(aclrtUnSubscribeReport(self(), stream));
	assert_ok(aclrtDestroyStream(stream));
}

/* One thread for several streams; it stays known until the last of them is unsubscribed. */
static void one_thread_serves_several_streams(void **state)
{
	aclrtStream a = stream_new(), b = stream_new();
	atomic_uint count = 0;

	(void)state;
	assert_ok(aclrtSubscribeReport(self(), a));
	assert_ok(aclrtSubscribeReport(self(), b));
	assert_ok(aclrtLaunchCallback(count_fn, &count, NO_BLOCK, a));
	assert_ok(aclrtLaunchCallback(count_fn, &count, NO_BLOCK, b));
	assert_ok(aclrtSynchronizeStream(a));
	assert_ok(aclrtSynchronizeStream(b));
	assert_ok(aclrtProcessReport(LONG_MS));
	assert_int_equal(count, 2);
	assert_ok(aclrtUnSubscribeReport(self(), a));
	assert_code(aclrtLaunchCallback(count_fn, &count, NO_BLOCK, a), ACL_ERROR_RT_STREAM_NO_CB_REG);
	assert_code(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
	assert_ok(aclrtDestroyStream(b)); /* unsubscribes it */
	assert_code(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
	assert_ok(aclrtDestroyStream(a));
}

/* What has not run when its thread goes fails, and the stream goes on. */
static void lost_callbacks_fail(void **state)
{
	aclrtStream stream = stream_new();
	atomic_uint count = 0;

	(void)state;
	assert_ok(aclrtSubscribeReport(self(), stream));
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtUnSubscribeReport(self(), stream));
	assert_code(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_NO_CB_REG);
	assert_int_equal(count, 0);
	assert_ok(aclrtSubscribeReport(self(), stream));
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtProcessReport(LONG_MS));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(count, 1);
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtDestroyStreamForce(stream)); /* nobody runs it */
	assert_int_equal(count, 1);
}

struct own {
	aclrtStream stream;
	int result;
};

static void wait_for_own_stream(void *arg)
{
	struct own *own = arg;

	own->result = aclrtSynchronizeStream(own->stream);
}

static void a_callback_cannot_wait_for_its_stream(void **state)
{
	struct own own = { .stream = stream_new() };

	(void)state;
	assert_ok(aclrtSubscribeReport(self(), own.stream));
	assert_ok(aclrtLaunchCallback(wait_for_own_stream, &own, BLOCK, own.stream));
	assert_ok(aclrtProcessReport(LONG_MS));
	assert_int_equal(own.result, ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtSynchronizeStream(own.stream));
	assert_ok(aclrtUnSubscribeReport(self(), own.stream));
	assert_ok(aclrtDestroyStream(own.stream));
}

/* covers: aclrtSubscribeReport, aclrtUnSubscribeReport failure */
static void subscribing_checks(void **state)
{
	aclrtStream stream = stream_new(), other = stream_new(), far;
	aclrtContext mine, context;
	atomic_uint count = 0;

	(void)state;
	assert_code(aclrtSubscribeReport(self(), &count), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtUnSubscribeReport(self(), stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
	assert_ok(aclrtSubscribeReport(self(), stream));
	assert_code(aclrtSubscribeReport(self(), stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
	assert_code(aclrtSubscribeReport(self() + 1, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
	assert_code(aclrtUnSubscribeReport(self() + 1, stream), ACL_ERROR_RT_THREAD_SUBSCRIBE);
	assert_code(aclrtLaunchHostFunc(stream, count_fn, &count), ACL_ERROR_RT_STREAM_SUBSCRIBE);
	assert_ok(aclrtLaunchHostFunc(other, count_fn, &count));
	assert_code(aclrtSubscribeReport(self(), other), ACL_ERROR_RT_STREAM_SUBSCRIBE);
	assert_ok(aclrtGetCurrentContext(&mine));
	assert_ok(aclrtCreateContext(&context, 1));
	assert_ok(aclrtCreateStream(&far));
	assert_code(aclrtSubscribeReport(self(), far), ACL_ERROR_RT_THREAD_SUBSCRIBE);
	assert_code(aclrtSubscribeReport(self(), stream), ACL_ERROR_RT_STREAM_CONTEXT);
	assert_code(aclrtUnSubscribeReport(self(), stream), ACL_ERROR_RT_STREAM_CONTEXT);
	assert_ok(aclrtSetCurrentContext(mine));
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtUnSubscribeReport(self(), stream));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
}

/* covers: aclrtLaunchCallback, aclrtProcessReport failure */
static void launching_checks(void **state)
{
	aclrtStream stream = stream_new();
	atomic_uint count = 0;

	(void)state;
	assert_code(aclrtLaunchCallback(count_fn, &count, (aclrtCallbackBlockType)2, stream), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtLaunchCallback(NULL, &count, BLOCK, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtLaunchCallback(count_fn, &count, BLOCK, stream), ACL_ERROR_RT_STREAM_NO_CB_REG);
	assert_code(aclrtLaunchCallback(count_fn, &count, BLOCK, &count), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtProcessReport(-2), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
	assert_ok(aclrtSubscribeReport(self(), stream));
	assert_code(aclrtProcessReport(10), ACL_ERROR_RT_REPORT_TIMEOUT);
	assert_ok(aclrtUnSubscribeReport(self(), stream));
	assert_ok(aclrtDestroyStream(stream));
	assert_int_equal(count, 0);
}

/* A thread that waits for ever for callbacks wakes up when it is unsubscribed. */
static void *wait_for_ever(void *arg)
{
	struct server *s = arg;

	int code;

	atomic_store(&s->stop, 1);
	do
		code = aclrtProcessReport(-1);
	while (!code);
	atomic_store(&s->failed, code);
	return NULL;
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

static void *subscribed_main(void *arg)
{
	struct server *s = arg;

	while (!atomic_load(&s->stop))
		;
	atomic_store(&s->stop, 0);
	return wait_for_ever(s);
}

static void unsubscribing_wakes_the_thread(void **state)
{
	aclrtStream stream = stream_new();
	struct server s = { 0 };
	atomic_uint count = 0;

	(void)state;
	assert_int_equal(pthread_create(&s.thread, NULL, subscribed_main, &s), 0);
	assert_ok(aclrtSubscribeReport((uint64_t)s.thread, stream));
	atomic_store(&s.stop, 1);
	assert_ok(aclrtLaunchCallback(count_fn, &count, BLOCK, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_true(t_until(is_set, &s.stop, LONG_MS));
	assert_ok(aclrtUnSubscribeReport((uint64_t)s.thread, stream));
	assert_int_equal(pthread_join(s.thread, NULL), 0);
	assert_int_equal(s.failed, ACL_ERROR_RT_THREAD_SUBSCRIBE);
	assert_int_equal(count, 1);
	assert_ok(aclrtDestroyStream(stream));
}

static int set_up(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int tear_down(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callbacks_run_in_their_thread),
		cmocka_unit_test(only_blocking_callbacks_hold_the_stream_up),
		cmocka_unit_test(one_thread_serves_several_streams),
		cmocka_unit_test(lost_callbacks_fail),
		cmocka_unit_test(a_callback_cannot_wait_for_its_stream),
		cmocka_unit_test(subscribing_checks),
		cmocka_unit_test(launching_checks),
		cmocka_unit_test(unsubscribing_wakes_the_thread),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
