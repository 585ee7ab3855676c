/* SPDX-License-Identifier: MIT */
/* event_test.c - events through the public API: what they order, what the host sees of them, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The deprecated query is tested as well. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include "acl/acl.h"
#include "test_util.h"

#define LONG_MS 30000
#define EVENT_LIMIT 65536 /* of an Ascend910B1 */
#define SYNC ACL_EVENT_SYNC
#define TIME ACL_EVENT_TIME_LINE

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

static aclrtEvent event_new(uint32_t flag)
{
	aclrtEvent event = NULL;

	assert_ok(aclrtCreateEventExWithFlag(&event, flag));
	assert_non_null(event);
	return event;
}

static aclrtEvent event_old(uint32_t flag)
{
	aclrtEvent event = NULL;

	assert_ok(flag ? aclrtCreateEventWithFlag(&event, flag) : aclrtCreateEvent(&event));
	assert_non_null(event);
	return event;
}

static aclrtEvent dead_event(void)
{
	aclrtEvent event = event_new(SYNC);

	assert_ok(aclrtDestroyEvent(event));
	return event;
}

/* --- host functions that hold a stream up -------------------------------------------------- */

struct gate {
	atomic_uint started, open, ran;
};

static void gate_fn(void *arg)
{
	struct gate *gate = arg;

	atomic_store(&gate->started, 1);
	while (!atomic_load(&gate->open))
		;
	atomic_fetch_add(&gate->ran, 1);
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

/* The stream stands at the gate. */
static void close_gate(struct gate *gate, aclrtStream stream)
{
	*gate = (struct gate){ 0 };
	assert_ok(aclrtLaunchHostFunc(stream, gate_fn, gate));
	assert_true(t_until(is_set, &gate->started, LONG_MS));
}

static void open_gate(struct gate *gate)
{
	atomic_store(&gate->open, 1);
}

static void count_fn(void *arg)
{
	atomic_fetch_add((atomic_uint *)arg, 1);
}

static void count_on(aclrtStream stream, atomic_uint *count)
{
	assert_ok(aclrtLaunchHostFunc(stream, count_fn, count));
}

static bool stream_is_idle(void *arg)
{
	aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;

	assert_ok(aclrtStreamQuery(arg, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

static bool recorded(aclrtEvent event)
{
	aclrtEventRecordedStatus status = (aclrtEventRecordedStatus)7;

	assert_ok(aclrtQueryEventStatus(event, &status));
	assert_in_range(status, 0, 1);
	return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

static bool event_is_recorded(void *arg)
{
	return recorded(arg);
}

/* --- order --------------------------------------------------------------------------------- */

/* covers: aclrtCreateEventExWithFlag, aclrtRecordEvent, aclrtStreamWaitEvent, aclrtQueryEventStatus, aclrtDestroyEvent effect */
static void a_stream_waits_for_another(void **state)
{
	aclrtStream first = stream_new(), second = stream_new();
	aclrtEvent event = event_new(SYNC);
	atomic_uint count = 0;
	struct gate gate;

	(void)state;
	close_gate(&gate, first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEvent(second, event));
	count_on(second, &count);
	assert_false(recorded(event));
	assert_code(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_int_equal(count, 0);
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(second));
	assert_int_equal(count, 1);
	assert_true(recorded(event));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

/* Every kind of event that can be waited for; also one that was recorded and is complete. */
static void all_creators_order(void **state)
{
	aclrtEvent events[] = { event_old(0), event_old(SYNC), event_old(SYNC | TIME), event_old(0xf), event_old(ACL_EVENT_EXTERNAL),
				event_new(SYNC), event_new(0xf), event_new(SYNC | TIME) };
	aclrtStream first = stream_new(), second = stream_new();
	struct gate gate;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		atomic_uint count = 0;

		for (int round = 0; round < 3; round++) {
			close_gate(&gate, first);
			assert_ok(aclrtRecordEvent(events[i], first));
			assert_ok(aclrtStreamWaitEvent(second, events[i]));
			count_on(second, &count);
			assert_false(stream_is_idle(second));
			assert_int_equal(count, round);
			open_gate(&gate);
			assert_ok(aclrtSynchronizeStream(second));
			assert_int_equal(count, round + 1);
			assert_ok(aclrtStreamWaitEvent(second, events[i]));
			assert_ok(aclrtSynchronizeStream(second));
		}
		assert_ok(aclrtDestroyEvent(events[i]));
	}
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

/* A wait means the record at its call, not a later one on a stream that stands still, nor an earlier one. */
static void a_wait_means_the_record_it_found(void **state)
{
	aclrtStream slow = stream_new(), fast = stream_new(), waiter = stream_new();
	aclrtEvent event = event_new(SYNC);
	atomic_uint count = 0;
	struct gate gate, other;

	(void)state;
	close_gate(&gate, slow);
	close_gate(&other, fast);
	assert_ok(aclrtRecordEvent(event, fast));
	assert_ok(aclrtStreamWaitEvent(waiter, event));
	count_on(waiter, &count);
	assert_ok(aclrtRecordEvent(event, slow));
	open_gate(&other);
	assert_ok(aclrtSynchronizeStream(waiter));
	assert_int_equal(count, 1);

	assert_ok(aclrtStreamWaitEvent(waiter, event)); /* for slow's */
	count_on(waiter, &count);
	assert_ok(aclrtRecordEvent(event, fast));
	assert_ok(aclrtSynchronizeEvent(event));
	assert_code(aclrtSynchronizeStreamWithTimeout(waiter, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_int_equal(count, 1);
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(waiter));
	assert_int_equal(count, 2);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(slow));
	assert_ok(aclrtDestroyStream(fast));
	assert_ok(aclrtDestroyStream(waiter));
}

/* A new event that was never recorded holds nobody up; an old one with SYNC is waited for until its first record. */
static void waits_without_a_record(void **state)
{
	aclrtEvent fresh = event_new(SYNC), old = event_old(SYNC), all = event_old(0);
	aclrtStream first = stream_new(), second = stream_new();
	atomic_uint count = 0;

	(void)state;
	assert_ok(aclrtStreamWaitEvent(second, fresh));
	assert_ok(aclrtSynchronizeStream(second));
	assert_code(aclrtStreamWaitEvent(second, all), ACL_ERROR_RT_PARAM_INVALID);

	assert_ok(aclrtStreamWaitEvent(second, old));
	count_on(second, &count);
	assert_code(aclrtSynchronizeStreamWithTimeout(second, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_int_equal(count, 0);
	assert_ok(aclrtRecordEvent(old, first));
	assert_ok(aclrtSynchronizeStream(second));
	assert_int_equal(count, 1);
	assert_ok(aclrtDestroyEvent(fresh));
	assert_ok(aclrtDestroyEvent(old));
	assert_ok(aclrtDestroyEvent(all));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

/* covers: aclrtResetEvent effect */
static void a_reset_event_waits_for_its_next_record(void **state)
{
	aclrtStream first = stream_new(), second = stream_new();
	aclrtEvent event = event_old(SYNC);
	atomic_uint count = 0;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(aclrtRecordEvent(event, first));
		assert_ok(aclrtStreamWaitEvent(second, event));
		assert_ok(aclrtResetEvent(event, second));
		assert_ok(aclrtSynchronizeStream(second));
		assert_false(recorded(event));
		assert_ok(aclrtStreamWaitEvent(second, event));
		count_on(second, &count);
		assert_code(aclrtSynchronizeStreamWithTimeout(second, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_int_equal(count, i);
		assert_ok(aclrtRecordEvent(event, first));
		assert_ok(aclrtSynchronizeStream(second));
		assert_int_equal(count, i + 1);
	}
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

#define LINKS 3000

struct chain_step {
	atomic_uint *turn;
	unsigned expected;
	atomic_uint *wrong;
};

static void chain_fn(void *arg)
{
	struct chain_step *s = arg;

	if (atomic_fetch_add(s->turn, 1) != s->expected)
		atomic_fetch_add(s->wrong, 1);
}

/* Streams that take turns, each link a record and a wait; host functions, which no waiting thread runs, and none. */
static void chains_keep_their_order(void **state)
{
	static struct chain_step steps[LINKS];
	aclrtStream streams[3] = { stream_new(), stream_new(), stream_new() };
	atomic_uint turn = 0, wrong = 0;
	aclrtEvent events[4];
	struct gate gate;

	(void)state;
	for (int i = 0; i < 4; i++)
		events[i] = event_new(i % 2 ? SYNC : SYNC | TIME);
	close_gate(&gate, streams[0]);
	for (unsigned i = 0; i < LINKS; i++) {
		aclrtStream from = streams[i % 3], to = streams[(i + 1) % 3];

		if (i % 5 == 0) {
			steps[i] = (struct chain_step){ .turn = &turn, .expected = i / 5, .wrong = &wrong };
			assert_ok(aclrtLaunchHostFunc(from, chain_fn, &steps[i]));
		}
		assert_ok(aclrtRecordEvent(events[i % 4], from));
		assert_ok(aclrtStreamWaitEvent(to, events[i % 4]));
	}
	open_gate(&gate);
	assert_ok(aclrtSynchronizeDevice());
	assert_int_equal(turn, LINKS / 5);
	assert_int_equal(wrong, 0);
	for (int i = 0; i < 4; i++)
		assert_ok(aclrtDestroyEvent(events[i]));
	for (int i = 0; i < 3; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
}

/* Nobody waits for the first stream, whose launches would otherwise be left to whoever does. */
static void a_wait_moves_a_stream_nobody_waits_for(void **state)
{
	aclrtStream first = stream_new(), second = stream_new();
	aclrtEvent event = event_new(SYNC);
	atomic_uint count = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		count_on(first, &count);
		assert_ok(aclrtRecordEvent(event, first));
		assert_ok(aclrtStreamWaitEvent(second, event));
		count_on(second, &count);
		if (i % 2)
			assert_ok(aclrtSynchronizeStreamWithTimeout(second, LONG_MS));
		else
			assert_true(t_until(stream_is_idle, second, LONG_MS));
		assert_int_equal(count, 2 * (i + 1));
	}
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

/* --- what ends a wait ----------------------------------------------------------------------- */

/* covers: aclrtStreamWaitEventWithTimeout, aclrtStreamWaitEventWithFlag, aclrtSetOpWaitTimeout effect */
static void waits_end_at_their_limit(void **state)
{
	aclrtStream first = stream_new(), second = stream_new(), third = stream_new(), fourth = stream_new();
	aclrtEvent event = event_new(SYNC);
	struct gate gate;
	uint64_t start = t_now_ms();

	(void)state;
	close_gate(&gate, first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEventWithTimeout(second, event, 1));
	assert_ok(aclrtStreamWaitEventWithFlag(third, event, 1, ACL_EVENT_WAIT_DEFAULT));
	assert_ok(aclrtSetOpWaitTimeout(1));
	assert_ok(aclrtStreamWaitEvent(fourth, event));
	assert_ok(aclrtSetOpWaitTimeout(0));
	assert_code(aclrtSynchronizeStream(second), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_code(aclrtSynchronizeStream(third), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_code(aclrtSynchronizeStream(fourth), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_in_range(t_now_ms() - start, 1000, LONG_MS);
	assert_ok(aclrtStreamWaitEventWithTimeout(second, event, 100)); /* in time */
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(second));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
	assert_ok(aclrtDestroyStream(third));
	assert_ok(aclrtDestroyStream(fourth));
}

static void aborts_and_destruction_release_waits(void **state)
{
	aclrtStream first = stream_new(), second = stream_new(), third = stream_new();
	aclrtEvent event = event_new(SYNC), old = event_old(SYNC);
	struct gate gate;

	(void)state;
	close_gate(&gate, first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEvent(second, event));
	assert_ok(aclrtStreamWaitEvent(third, old)); /* nobody records it */
	assert_ok(aclrtDestroyStreamForce(second));
	assert_ok(aclrtStreamAbort(third));
	assert_ok(aclrtSynchronizeStream(third));
	assert_ok(aclrtDestroyStream(third));

	third = stream_new();
	assert_ok(aclrtStreamWaitEvent(third, event));
	assert_ok(aclrtDestroyEvent(event)); /* the wait goes on */
	assert_ok(aclrtDestroyEvent(old));
	assert_code(aclrtSynchronizeStreamWithTimeout(third, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(third));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(third));
}

/* The recorded stream has gone, and so have its tasks. */
static void a_record_outlives_its_stream(void **state)
{
	aclrtStream first = stream_new(), second = stream_new();
	aclrtEvent event = event_new(SYNC | TIME);
	uint64_t time;

	(void)state;
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtDestroyStream(first));
	assert_true(recorded(event));
	assert_ok(aclrtStreamWaitEvent(second, event));
	assert_ok(aclrtSynchronizeStream(second));
	assert_ok(aclrtSynchronizeEvent(event));
	assert_ok(aclrtEventGetTimestamp(event, &time));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(second));
}

/* --- what the host sees --------------------------------------------------------------------- */

/* covers: aclrtSynchronizeEvent, aclrtSynchronizeEventWithTimeout effect */
static void the_host_waits_for_a_record(void **state)
{
	aclrtStream stream = stream_new();
	aclrtEvent event = event_new(SYNC), other = event_old(0);
	atomic_uint count = 0;
	struct gate gate, behind;

	(void)state;
	assert_ok(aclrtSynchronizeEvent(event)); /* never recorded */
	close_gate(&gate, stream);
	count_on(stream, &count);
	assert_ok(aclrtRecordEvent(event, stream));
	assert_ok(aclrtRecordEvent(other, stream));
	assert_code(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
	behind = (struct gate){ 0 };
	assert_ok(aclrtLaunchHostFunc(stream, gate_fn, &behind)); /* later tasks do not matter */
	open_gate(&gate);
	assert_ok(aclrtSynchronizeEventWithTimeout(event, LONG_MS));
	assert_int_equal(count, 1);
	assert_ok(aclrtSynchronizeEvent(other));
	open_gate(&behind);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(other));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtCreateEvent, aclrtCreateEventWithFlag, aclrtQueryEvent, aclrtQueryEventWaitStatus effect */
static void old_queries(void **state)
{
	aclrtStream first = stream_new(), second = stream_new();
	aclrtEvent event = event_old(0), sync = event_old(SYNC);
	aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
	aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
	struct gate gate;

	(void)state;
	assert_ok(aclrtQueryEvent(event, &status));
	assert_int_equal(status, ACL_EVENT_STATUS_COMPLETE);
	assert_false(recorded(event));
	assert_ok(aclrtQueryEventWaitStatus(sync, &waits));
	assert_int_equal(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
	close_gate(&gate, first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtRecordEvent(sync, first));
	assert_ok(aclrtStreamWaitEvent(second, sync));
	assert_ok(aclrtQueryEvent(event, &status));
	assert_int_equal(status, ACL_EVENT_STATUS_NOT_READY);
	assert_ok(aclrtQueryEventWaitStatus(sync, &waits));
	assert_int_equal(waits, ACL_EVENT_WAIT_STATUS_NOT_READY);
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(second));
	assert_true(t_until(event_is_recorded, event, LONG_MS));
	assert_ok(aclrtQueryEvent(event, &status));
	assert_int_equal(status, ACL_EVENT_STATUS_COMPLETE);
	assert_ok(aclrtQueryEventWaitStatus(sync, &waits));
	assert_int_equal(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(sync));
	assert_ok(aclrtDestroyStream(first));
	assert_ok(aclrtDestroyStream(second));
}

static void timer_fn(void *arg)
{
	uint64_t start = t_now_ms();

	while (t_now_ms() - start < *(unsigned *)arg)
		;
}

/* covers: aclrtEventElapsedTime, aclrtEventGetTimestamp effect */
static void time_between_events(void **state)
{
	aclrtEvent start = event_old(0), end = event_new(TIME);
	aclrtStream stream = stream_new();
	uint64_t from = 0, to = 0;
	unsigned ms = 20;
	float gone = 0, back = 0;

	(void)state;
	assert_ok(aclrtRecordEvent(start, stream));
	assert_ok(aclrtLaunchHostFunc(stream, timer_fn, &ms));
	assert_ok(aclrtRecordEvent(end, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtEventElapsedTime(&gone, start, end));
	assert_true(gone >= 18 && gone < LONG_MS);
	assert_ok(aclrtEventElapsedTime(&back, end, start));
	assert_true(back == -gone);
	assert_ok(aclrtEventGetTimestamp(start, &from));
	assert_ok(aclrtEventGetTimestamp(end, &to));
	assert_in_range(to - from, 18000, LONG_MS * 1000);
	assert_in_range(to / 1000, t_now_ms() - LONG_MS, t_now_ms());
	assert_ok(aclrtDestroyEvent(start));
	assert_ok(aclrtDestroyEvent(end));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtEventElapsedTime, aclrtEventGetTimestamp failure */
static void events_without_time(void **state)
{
	aclrtEvent never = event_old(0), sync = event_new(SYNC), late = event_new(TIME), external = event_old(ACL_EVENT_EXTERNAL);
	aclrtStream stream = stream_new();
	uint64_t time = 77;
	float ms = 77;
	struct gate gate;

	(void)state;
	assert_ok(aclrtRecordEvent(sync, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	close_gate(&gate, stream);
	assert_ok(aclrtRecordEvent(late, stream));
	assert_code(aclrtEventGetTimestamp(never, &time), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtEventGetTimestamp(sync, &time), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
	assert_code(aclrtEventGetTimestamp(late, &time), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
	assert_code(aclrtEventGetTimestamp(external, &time), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtEventGetTimestamp(NULL, &time), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtEventGetTimestamp(late, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtEventElapsedTime(&ms, never, sync), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtEventElapsedTime(&ms, sync, late), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
	assert_code(aclrtEventElapsedTime(&ms, external, late), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtEventElapsedTime(NULL, late, late), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtEventElapsedTime(&ms, NULL, late), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtEventElapsedTime(&ms, late, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtEventElapsedTime(&ms, late, dead_event()), ACL_ERROR_RT_INVALID_HANDLE);
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtEventGetTimestamp(late, &time));
	assert_true(ms == 77);
	assert_ok(aclrtDestroyEvent(never));
	assert_ok(aclrtDestroyEvent(sync));
	assert_ok(aclrtDestroyEvent(late));
	assert_ok(aclrtDestroyEvent(external));
	assert_ok(aclrtDestroyStream(stream));
}

/* --- ids ------------------------------------------------------------------------------------ */

static uint32_t available(void)
{
	uint32_t count = 0;

	assert_ok(aclrtGetEventAvailNum(&count));
	return count;
}

/* covers: aclrtGetEventId, aclrtGetEventAvailNum effect */
static void ids_of_events(void **state)
{
	aclrtEvent old = event_old(SYNC), other = event_old(SYNC), fresh = event_new(SYNC);
	aclrtStream stream = stream_new();
	uint32_t left = available(), a, b;
	struct gate gate;

	(void)state;
	assert_ok(aclrtGetEventId(old, &a));
	assert_ok(aclrtGetEventId(other, &b));
	assert_int_not_equal(a, b);
	close_gate(&gate, stream);
	assert_ok(aclrtRecordEvent(fresh, stream));
	assert_ok(aclrtGetEventId(fresh, &b));
	assert_int_not_equal(a, b);
	assert_in_range(b, 0, EVENT_LIMIT - 1);
	assert_int_equal(available(), left - 1); /* while it is recorded */
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(available(), left);
	assert_ok(aclrtGetEventId(fresh, &a));
	assert_int_equal(a, b);
	assert_ok(aclrtDestroyEvent(old));
	assert_ok(aclrtDestroyEvent(other));
	assert_ok(aclrtDestroyEvent(fresh));
	assert_int_equal(available(), left + 2);
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtGetEventId, aclrtGetEventAvailNum, aclrtCreateEventWithFlag failure */
static void ids_run_out(void **state)
{
	uint32_t left = available(), id = 77;
	aclrtEvent *events = calloc(left, sizeof(*events)), fresh = event_new(SYNC), more;
	aclrtStream stream = stream_new();

	(void)state;
	assert_non_null(events);
	assert_code(aclrtGetEventId(fresh, &id), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtGetEventId(NULL, &id), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtGetEventId(fresh, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtGetEventAvailNum(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(id, 77);
	for (uint32_t i = 0; i < left; i++)
		events[i] = event_old(SYNC);
	assert_code(aclrtCreateEventWithFlag(&more, SYNC), ACL_ERROR_RT_NO_EVENT_RESOURCE);
	assert_code(aclrtRecordEvent(fresh, stream), ACL_ERROR_RT_NO_EVENT_RESOURCE);
	assert_ok(aclrtDestroyEvent(events[0]));
	assert_ok(aclrtRecordEvent(fresh, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	events[0] = event_old(SYNC); /* takes over what fresh needs no more */
	for (uint32_t i = 0; i < left; i++)
		assert_ok(aclrtDestroyEvent(events[i]));
	assert_ok(aclrtDestroyEvent(fresh));
	assert_int_equal(available(), left);
	assert_ok(aclrtDestroyStream(stream));
	free(events);
}

/* --- failures ------------------------------------------------------------------------------- */

/* covers: aclrtCreateEvent, aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag, aclrtDestroyEvent failure */
static void creators_check(void **state)
{
	static const uint32_t bad_old[] = { 0, 0x40, 0x11, 0x21, 0x30, 0x80, 0xffffffff };
	static const uint32_t bad_new[] = { 0, 0x10, 0x20, 0x41, 0x80, 0xffffffff };
	aclrtEvent event = (aclrtEvent)&event, dead = dead_event();

	(void)state;
	assert_code(aclrtCreateEvent(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCreateEventWithFlag(NULL, SYNC), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCreateEventExWithFlag(NULL, SYNC), ACL_ERROR_INVALID_PARAM);
	for (size_t i = 0; i < sizeof(bad_old) / sizeof(bad_old[0]); i++)
		assert_code(aclrtCreateEventWithFlag(&event, bad_old[i]), ACL_ERROR_RT_PARAM_INVALID);
	for (size_t i = 0; i < sizeof(bad_new) / sizeof(bad_new[0]); i++)
		assert_code(aclrtCreateEventExWithFlag(&event, bad_new[i]), ACL_ERROR_RT_PARAM_INVALID);
	assert_ptr_equal(event, &event);
	assert_code(aclrtDestroyEvent(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtDestroyEvent(dead), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtDestroyEvent(&event), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclrtRecordEvent, aclrtRecordEventWithFlag failure */
static void records_check(void **state)
{
	aclrtEvent event = event_new(SYNC), old = event_old(SYNC), device = event_old(ACL_EVENT_DEVICE_USE_ONLY);
	aclrtStream stream = stream_new(), foreign;
	aclrtContext context, mine;

	(void)state;
	assert_code(aclrtRecordEvent(NULL, stream), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtRecordEvent(dead_event(), stream), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtRecordEvent(stream, stream), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtRecordEvent(event, event), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtRecordEvent(device, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtRecordEventWithFlag(event, stream, 2), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtRecordEventWithFlag(NULL, stream, 0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtRecordEventWithFlag(old, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	assert_code(aclrtRecordEvent(event, stream), ACL_ERROR_RT_PARAM_INVALID); /* the kinds do not mix */
	assert_ok(aclrtGetCurrentContext(&mine));
	assert_ok(aclrtCreateContext(&context, 0));
	assert_ok(aclrtCreateStream(&foreign));
	assert_ok(aclrtSetCurrentContext(mine));
	assert_code(aclrtRecordEvent(old, foreign), ACL_ERROR_RT_STREAM_CONTEXT);
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(old));
	assert_ok(aclrtDestroyEvent(device));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtRecordEventWithFlag effect */
static void a_record_with_the_default_flag(void **state)
{
	aclrtStream stream = stream_new();
	aclrtEvent event = event_new(SYNC);
	struct gate gate;

	(void)state;
	close_gate(&gate, NULL);
	assert_ok(aclrtRecordEventWithFlag(event, NULL, ACL_EVENT_RECORD_DEFAULT));
	assert_false(recorded(event));
	assert_ok(aclrtStreamWaitEvent(stream, event));
	assert_false(stream_is_idle(stream));
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_true(recorded(event));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtStreamWaitEvent, aclrtStreamWaitEventWithFlag, aclrtStreamWaitEventWithTimeout failure */
static void waits_check(void **state)
{
	aclrtEvent event = event_new(SYNC), line = event_new(TIME), marks = event_old(2), device = event_old(ACL_EVENT_DEVICE_USE_ONLY);
	aclrtStream stream = stream_new();

	(void)state;
	assert_code(aclrtStreamWaitEvent(stream, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtStreamWaitEvent(stream, dead_event()), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtStreamWaitEvent(event, event), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtStreamWaitEvent(stream, line), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtStreamWaitEvent(stream, marks), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtStreamWaitEvent(stream, device), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtStreamWaitEventWithTimeout(stream, event, -1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtStreamWaitEventWithTimeout(stream, NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtStreamWaitEventWithFlag(stream, event, 0, 2), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtStreamWaitEventWithFlag(stream, event, 1, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtStreamWaitEventWithFlag(stream, NULL, 0, 0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	assert_code(aclrtStreamWaitEvent(stream, event), ACL_ERROR_RT_PARAM_INVALID); /* the kinds do not mix */
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(line));
	assert_ok(aclrtDestroyEvent(marks));
	assert_ok(aclrtDestroyEvent(device));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtQueryEvent, aclrtQueryEventStatus, aclrtQueryEventWaitStatus, aclrtResetEvent failure */
static void queries_check(void **state)
{
	aclrtEvent event = event_new(SYNC), external = event_old(ACL_EVENT_EXTERNAL), line = event_old(TIME), dead = dead_event();
	aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
	aclrtEventRecordedStatus recorded_status = (aclrtEventRecordedStatus)7;
	aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;

	(void)state;
	assert_code(aclrtQueryEvent(event, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEvent(external, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEvent(dead, &status), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtQueryEvent(NULL, &status), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtQueryEvent(line, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtQueryEventStatus(external, &recorded_status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEventStatus(dead, &recorded_status), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtQueryEventStatus(NULL, &recorded_status), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtQueryEventStatus(event, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtQueryEventWaitStatus(event, &waits), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEventWaitStatus(dead, &waits), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtQueryEventWaitStatus(NULL, &waits), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtQueryEventWaitStatus(line, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtResetEvent(event, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtResetEvent(line, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtResetEvent(dead, NULL), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtResetEvent(NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(status, ACL_EVENT_STATUS_RESERVED);
	assert_int_equal(recorded_status, 7);
	assert_int_equal(waits, ACL_EVENT_WAIT_STATUS_RESERVED);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(external));
	assert_ok(aclrtDestroyEvent(line));
}

struct own_stream {
	aclrtEvent event;
	int result;
};

static void wait_for_own_stream(void *arg)
{
	struct own_stream *own = arg;

	own->result = aclrtSynchronizeEvent(own->event);
}

/* covers: aclrtSynchronizeEvent, aclrtSynchronizeEventWithTimeout failure */
static void synchronising_checks(void **state)
{
	aclrtEvent event = event_new(SYNC), external = event_old(ACL_EVENT_EXTERNAL);
	struct own_stream own = { .event = event };
	aclrtStream stream = stream_new();
	struct gate gate;

	(void)state;
	assert_code(aclrtSynchronizeEvent(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtSynchronizeEvent(dead_event()), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtSynchronizeEvent(external), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtSynchronizeEventWithTimeout(event, -2), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtSynchronizeEventWithTimeout(NULL, 1), ACL_ERROR_INVALID_PARAM);
	close_gate(&gate, stream);
	assert_ok(aclrtLaunchHostFunc(stream, wait_for_own_stream, &own));
	assert_ok(aclrtRecordEvent(event, stream));
	open_gate(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(own.result, ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(external));
	assert_ok(aclrtDestroyStream(stream));
}

static void *no_context_main(void *arg)
{
	aclrtEvent event;

	(void)arg;
	assert_int_equal(aclrtCreateEventWithFlag(&event, 0x40), ACL_ERROR_RT_PARAM_INVALID); /* flags come first */
	assert_int_equal(aclrtCreateEvent(&event), ACL_ERROR_RT_CONTEXT_NULL);
	assert_int_equal(aclrtSetOpWaitTimeout(1), ACL_ERROR_RT_CONTEXT_NULL);
	return NULL;
}

/* covers: aclrtSetOpWaitTimeout failure */
static void a_thread_without_a_context(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, no_context_main, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- threads -------------------------------------------------------------------------------- */

struct hammer {
	aclrtContext context;
	aclrtEvent event;
	aclrtStream stream;
	int failed;
};

static void *hammer_main(void *arg)
{
	struct hammer *h = arg;

	h->failed = aclrtSetCurrentContext(h->context);
	for (int i = 0; i < 400 && !h->failed; i++) {
		h->failed = aclrtRecordEvent(h->event, h->stream);
		if (!h->failed)
			h->failed = aclrtStreamWaitEvent(h->stream, h->event);
		if (!h->failed && i % 16 == 0)
			h->failed = aclrtSynchronizeEvent(h->event);
	}
	return NULL;
}

/* Threads that record one event on streams of their own and wait for each other's records: nothing hangs, nothing is lost. */
static void threads_share_an_event(void **state)
{
	struct hammer hammers[4];
	pthread_t threads[4];
	aclrtEvent event = event_new(SYNC | TIME);

	(void)state;
	for (int i = 0; i < 4; i++) {
		hammers[i] = (struct hammer){ .event = event, .stream = stream_new() };
		assert_ok(aclrtGetCurrentContext(&hammers[i].context));
		assert_int_equal(pthread_create(&threads[i], NULL, hammer_main, &hammers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(hammers[i].failed, 0);
	}
	for (int i = 0; i < 4; i++)
		assert_ok(aclrtSynchronizeStreamWithTimeout(hammers[i].stream, LONG_MS));
	assert_true(recorded(event));
	for (int i = 0; i < 4; i++)
		assert_ok(aclrtDestroyStream(hammers[i].stream));
	assert_ok(aclrtDestroyEvent(event));
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

static int forget_errors(void **state)
{
	(void)state;
	(void)aclGetRecentErrMsg();
	return 0;
}

#define test(fn) cmocka_unit_test_setup(fn, forget_errors)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_stream_waits_for_another),
		test(all_creators_order),
		test(a_wait_means_the_record_it_found),
		test(waits_without_a_record),
		test(a_reset_event_waits_for_its_next_record),
		test(chains_keep_their_order),
		test(a_wait_moves_a_stream_nobody_waits_for),
		test(waits_end_at_their_limit),
		test(aborts_and_destruction_release_waits),
		test(a_record_outlives_its_stream),
		test(the_host_waits_for_a_record),
		test(old_queries),
		test(time_between_events),
		test(events_without_time),
		test(ids_of_events),
		test(ids_run_out),
		test(creators_check),
		test(records_check),
		test(a_record_with_the_default_flag),
		test(waits_check),
		test(queries_check),
		test(synchronising_checks),
		test(a_thread_without_a_context),
		test(threads_share_an_event),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
