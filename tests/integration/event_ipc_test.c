/* SPDX-License-Identifier: MIT */
/*
 * event_ipc_test.c - events between processes. The other process is this program again, which does what it is told, one call a
 * line, and answers with the call's code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "test_util.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define LONG_MS 30000
#define NOT_YET (-1)

#define assert_ok(call) assert_code(call, ACL_SUCCESS)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

/* --- host functions that hold a stream up -------------------------------------------------- */

static atomic_uint gate_started, gate_open;

static void gate_fn(void *arg)
{
	(void)arg;
	atomic_store(&gate_started, 1);
	while (!atomic_load(&gate_open))
		;
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

static int gate_close(aclrtStream stream)
{
	int code;

	atomic_store(&gate_started, 0);
	atomic_store(&gate_open, 0);
	code = aclrtLaunchHostFunc(stream, gate_fn, NULL);
	return code || t_until(is_set, &gate_started, LONG_MS) ? code : NOT_YET;
}

static int status_of(aclrtEvent event)
{
	aclrtEventRecordedStatus status;
	int code = aclrtQueryEventStatus(event, &status);

	return code ? code : (int)status;
}

/* --- the other process ---------------------------------------------------------------------- */

static aclrtEvent peer_event;
static aclrtStream peer_stream;

static void handle_text(const aclrtIpcEventHandle *handle, char *text)
{
	for (size_t i = 0; i < sizeof(handle->reserved); i++)
		sprintf(text + 2 * i, "%02x", (unsigned char)handle->reserved[i]);
}

static void handle_parse(const char *text, aclrtIpcEventHandle *handle)
{
	for (size_t i = 0; i < sizeof(handle->reserved); i++) {
		unsigned byte = 0;

		sscanf(text + 2 * i, "%2x", &byte);
		handle->reserved[i] = (char)byte;
	}
}

static int peer_open(const char *text)
{
	aclrtIpcEventHandle handle;

	handle_parse(text, &handle);
	return aclrtIpcOpenEventHandle(handle, &peer_event);
}

#define PAGES_BYTES (64 * 1024ul) /* of an event */

static void scribble_on(volatile uint32_t *words, unsigned *seed)
{
	for (size_t i = 0; i < PAGES_BYTES / sizeof(*words); i++) {
		*seed = *seed * 1103515245u + 12345u;
		words[i] = *seed & 0x10000 ? *seed : words[i] ^ (*seed >> 16 & 3);
	}
}

/* Writes whatever it likes into every event's pages that this process maps. The number of such pages, or NOT_YET. */
static int peer_scribble(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	unsigned long from, to;
	unsigned seed = 7;
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || strcmp(rights, "rw-s") || to - from != PAGES_BYTES)
			continue;
		found++;
		for (unsigned round = 0; round < 20; round++)
			scribble_on((volatile uint32_t *)from, &seed);
	}
	if (maps)
		fclose(maps);
	return found ? found : NOT_YET;
}

static int peer_act(const char *line)
{
	if (!strcmp(line, "scribble"))
		return peer_scribble();
	if (!strncmp(line, "open ", 5))
		return peer_open(line + 5);
	if (!strcmp(line, "record"))
		return aclrtRecordEvent(peer_event, peer_stream);
	if (!strcmp(line, "wait"))
		return aclrtStreamWaitEvent(peer_stream, peer_event);
	if (!strcmp(line, "sync"))
		return aclrtSynchronizeStream(peer_stream);
	if (!strcmp(line, "sync event"))
		return aclrtSynchronizeEvent(peer_event);
	if (!strcmp(line, "sync 20"))
		return aclrtSynchronizeStreamWithTimeout(peer_stream, 20);
	if (!strcmp(line, "status"))
		return status_of(peer_event);
	if (!strcmp(line, "hold"))
		return gate_close(peer_stream);
	if (!strcmp(line, "let go"))
		return atomic_store(&gate_open, 1), 0;
	if (!strcmp(line, "destroy"))
		return aclrtDestroyEvent(peer_event);
	return NOT_YET;
}

static int peer_main(int device)
{
	char line[T_LINE_MAX];
	int code = aclInit(NULL);

	if (!code)
		code = aclrtSetDevice(device);
	if (!code)
		code = aclrtCreateStream(&peer_stream);
	t_say("%d", code);
	while (t_hear(line, sizeof(line), LONG_MS))
		t_say("%d", peer_act(line));
	return 0;
}

static int peer_answer(struct t_peer *peer)
{
	char line[T_LINE_MAX];

	assert_true(t_read_line(peer, line, sizeof(line), LONG_MS));
	return atoi(line);
}

static void peer_start(struct t_peer *peer, const char *device)
{
	const char *const args[] = { "peer", device, NULL };

	assert_true(t_spawn(peer, args, NULL));
	assert_int_equal(peer_answer(peer), ACL_SUCCESS);
}

static int peer_does(struct t_peer *peer, const char *what)
{
	assert_true(t_write_line(peer, "%s", what));
	return peer_answer(peer);
}

static int peer_opens(struct t_peer *peer, aclrtEvent event)
{
	char line[T_LINE_MAX] = "open ";
	aclrtIpcEventHandle handle;

	assert_ok(aclrtIpcGetEventHandle(event, &handle));
	handle_text(&handle, line + 5);
	return peer_does(peer, line);
}

static aclrtEvent event_new(void)
{
	aclrtEvent event = NULL;

	assert_ok(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
	return event;
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

/* --- tests ----------------------------------------------------------------------------------- */

/* covers: aclrtIpcGetEventHandle, aclrtIpcOpenEventHandle effect */
static void the_other_waits_for_our_record(void **state)
{
	aclrtStream stream = stream_new();
	aclrtEvent event = event_new();
	struct t_peer peer;

	(void)state;
	peer_start(&peer, "1");
	assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
	assert_int_equal(status_of(event), ACL_EVENT_RECORDED_STATUS_COMPLETE); /* never recorded */
	assert_int_equal(peer_does(&peer, "wait"), ACL_SUCCESS);
	assert_int_equal(peer_does(&peer, "sync"), ACL_SUCCESS);
	for (unsigned i = 0; i < 5; i++) {
		assert_ok(gate_close(stream));
		assert_ok(aclrtRecordEvent(event, stream));
		assert_int_equal(peer_does(&peer, "status"), ACL_EVENT_RECORDED_STATUS_NOT_READY);
		assert_int_equal(peer_does(&peer, "wait"), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "sync 20"), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_true(t_write_line(&peer, i % 2 ? "sync" : "sync event"));
		atomic_store(&gate_open, 1);
		assert_int_equal(peer_answer(&peer), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "sync"), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "status"), ACL_EVENT_RECORDED_STATUS_COMPLETE);
		assert_ok(aclrtSynchronizeStream(stream));
	}
	assert_int_equal(peer_does(&peer, "destroy"), ACL_SUCCESS);
	assert_int_equal(t_wait(&peer, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(stream));
}

static void we_wait_for_the_other_s_record(void **state)
{
	aclrtStream stream = stream_new();
	aclrtEvent event = event_new();
	struct t_peer peer;

	(void)state;
	peer_start(&peer, "0");
	assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(peer_does(&peer, "hold"), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "record"), ACL_SUCCESS);
		assert_int_equal(status_of(event), ACL_EVENT_RECORDED_STATUS_NOT_READY);
		assert_ok(aclrtStreamWaitEvent(stream, event));
		assert_code(aclrtSynchronizeEventWithTimeout(event, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
		assert_code(aclrtSynchronizeStreamWithTimeout(stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_int_equal(peer_does(&peer, "let go"), 0);
		assert_ok(aclrtSynchronizeStream(stream));
		assert_ok(aclrtSynchronizeEvent(event));
		assert_int_equal(status_of(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
	}
	assert_int_equal(t_wait(&peer, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(stream));
}

/* More records than there are slots, some of them pending for long, and a wait for each. */
static void slots_are_used_again(void **state)
{
	aclrtStream held = stream_new(), stream = stream_new();
	aclrtEvent event = event_new();

	(void)state;
	assert_ok(gate_close(held));
	for (unsigned i = 0; i < 100; i++)
		assert_ok(aclrtRecordEvent(event, held));
	for (unsigned i = 0; i < 10000; i++) {
		assert_ok(aclrtRecordEvent(event, stream));
		assert_ok(aclrtStreamWaitEvent(stream, event));
	}
	assert_ok(aclrtSynchronizeEvent(event));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(status_of(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
	assert_ok(aclrtRecordEvent(event, held));
	assert_ok(aclrtStreamWaitEvent(stream, event));
	assert_code(aclrtSynchronizeStreamWithTimeout(stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	atomic_store(&gate_open, 1);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(held));
	assert_ok(aclrtDestroyStream(stream));
}

/* A recorder that is killed before its record: every kind of wait ends, and the event can be used again at once. */
static void a_dead_recorder_holds_nobody_up(void **state)
{
	aclrtStream runner = stream_new(), polled = stream_new();
	aclrtEvent event = event_new();
	struct t_peer peer, next;

	(void)state;
	peer_start(&peer, "1");
	peer_start(&next, "2"); /* another that holds the event and lives */
	assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
	assert_int_equal(peer_opens(&next, event), ACL_SUCCESS);
	assert_int_equal(peer_does(&peer, "hold"), ACL_SUCCESS);
	assert_int_equal(peer_does(&peer, "record"), ACL_SUCCESS);
	assert_ok(aclrtStreamWaitEvent(runner, event));
	assert_ok(aclrtStreamWaitEvent(polled, event));
	assert_int_equal(peer_does(&next, "wait"), ACL_SUCCESS);
	t_kill(&peer);
	assert_code(aclrtSynchronizeStream(runner), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
	assert_code(aclrtSynchronizeStreamWithTimeout(polled, LONG_MS), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
	assert_code(aclrtSynchronizeEvent(event), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
	assert_int_equal(peer_does(&next, "sync"), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
	assert_int_equal(peer_does(&next, "record"), ACL_SUCCESS);
	assert_ok(aclrtStreamWaitEvent(runner, event));
	assert_ok(aclrtSynchronizeStream(runner));
	assert_int_equal(status_of(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
	assert_int_equal(t_wait(&next, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(runner));
	assert_ok(aclrtDestroyStream(polled));
}

/* Whatever another process writes into the pages, and whenever: calls return, waits end, and a new event works. */
static void a_hostile_sharer_hangs_nobody(void **state)
{
	aclrtStream stream = stream_new();
	aclrtEvent event = event_new(), fresh;
	struct t_peer peer;
	int code;

	(void)state;
	peer_start(&peer, "0");
	assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
	/* A record that finds all slots scribbled full may last 10 s, every wait its whole second. */
	for (unsigned i = 0; i < 3; i++) {
		assert_true(t_write_line(&peer, "scribble"));
		code = 0;
		for (unsigned k = 0; k < 4 && !code; k++) {
			code = aclrtRecordEvent(event, stream);
			assert_true(!code || code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
			assert_ok(aclrtStreamWaitEventWithTimeout(stream, event, 1));
			(void)status_of(event);
		}
		assert_int_equal(peer_answer(&peer), 1);
		code = aclrtSynchronizeStreamWithTimeout(stream, LONG_MS);
		assert_true(!code || code == ACL_ERROR_RT_TASK_TIMEOUT || code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
		code = aclrtSynchronizeEventWithTimeout(event, 100);
		assert_true(!code || code == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT || code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
	}
	assert_int_equal(t_wait(&peer, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	fresh = event_new();
	assert_ok(aclrtRecordEvent(fresh, stream));
	assert_ok(aclrtSynchronizeEvent(fresh));
	assert_ok(aclrtDestroyEvent(fresh));
	assert_ok(aclrtDestroyStream(stream));
}

/* An abandoned record and an aborted wait. */
static void aborts_end_records_and_waits(void **state)
{
	aclrtStream stream = stream_new(), waiter = stream_new();
	aclrtEvent event = event_new();
	struct t_peer peer;

	(void)state;
	peer_start(&peer, "0");
	assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
	assert_int_equal(peer_does(&peer, "hold"), ACL_SUCCESS);
	assert_int_equal(peer_does(&peer, "record"), ACL_SUCCESS);
	assert_ok(aclrtStreamWaitEvent(waiter, event));
	assert_ok(aclrtStreamAbort(waiter));
	assert_int_equal(peer_does(&peer, "let go"), 0);
	assert_int_equal(peer_does(&peer, "sync"), ACL_SUCCESS);

	assert_ok(gate_close(stream));
	assert_ok(aclrtRecordEvent(event, stream));
	assert_int_equal(peer_does(&peer, "wait"), ACL_SUCCESS);
	assert_ok(aclrtDestroyStreamForce(stream));
	atomic_store(&gate_open, 1);
	assert_int_equal(peer_does(&peer, "sync"), ACL_SUCCESS);
	assert_int_equal(t_wait(&peer, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyStream(waiter));
}

/* covers: aclrtIpcGetEventHandle, aclrtIpcOpenEventHandle failure */
static void handles_check(void **state)
{
	aclrtEvent event = event_new(), plain = NULL, other = (aclrtEvent)&plain, late = event_new();
	aclrtIpcEventHandle handle, again;
	char line[T_LINE_MAX] = "open ";
	struct t_peer peer;

	(void)state;
	assert_ok(aclrtCreateEventExWithFlag(&plain, ACL_EVENT_SYNC));
	assert_code(aclrtIpcGetEventHandle(plain, &handle), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtIpcGetEventHandle(NULL, &handle), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtIpcGetEventHandle(event, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtIpcGetEventHandle(event, &handle));
	assert_ok(aclrtIpcGetEventHandle(event, &again));
	assert_memory_equal(&handle, &again, sizeof(handle));
	assert_code(aclrtIpcOpenEventHandle(handle, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtIpcOpenEventHandle(handle, &other), ACL_ERROR_RT_DRV_INTERNAL_ERROR); /* its creator */
	memset(&again, 7, sizeof(again));
	assert_code(aclrtIpcOpenEventHandle(again, &other), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ptr_equal(other, &plain);

	assert_ok(aclrtIpcGetEventHandle(late, &again));
	assert_ok(aclrtDestroyEvent(late));
	handle_text(&again, line + 5);
	peer_start(&peer, "0");
	assert_int_equal(peer_does(&peer, line), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(t_wait(&peer, LONG_MS), 0);
	assert_ok(aclrtDestroyEvent(event));
	assert_code(aclrtIpcGetEventHandle(event, &handle), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtDestroyEvent(plain));
}

static void what_such_an_event_cannot_do(void **state)
{
	aclrtEvent event = event_new();
	aclrtEventStatus status;
	aclrtEventWaitStatus waits;
	uint64_t time;
	uint32_t id;
	float ms;

	(void)state;
	assert_code(aclrtResetEvent(event, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEvent(event, &status), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtQueryEventWaitStatus(event, &waits), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtEventGetTimestamp(event, &time), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtGetEventId(event, &id), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclrtDestroyEvent(event));
}

static void nothing_is_left_behind(void **state)
{
	unsigned fds, maps;
	aclrtEvent event = event_new();
	struct t_peer peer;

	(void)state;
	assert_ok(aclrtRecordEvent(event, NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtDestroyEvent(event));
	fds = t_count_fds();
	maps = t_count_backed_maps();
	for (unsigned i = 0; i < 50; i++) {
		event = event_new();
		peer_start(&peer, "1");
		assert_int_equal(peer_opens(&peer, event), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "hold"), ACL_SUCCESS);
		assert_int_equal(peer_does(&peer, "record"), ACL_SUCCESS);
		if (i % 2)
			t_kill(&peer);
		else
			assert_int_equal(peer_does(&peer, "let go"), 0);
		assert_ok(aclrtDestroyEvent(event));
		if (i % 2 == 0)
			assert_int_equal(t_wait(&peer, LONG_MS), 0);
	}
	assert_true(t_count_fds() <= fds);
	assert_true(t_count_backed_maps() <= maps);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_waits_for_our_record),
		cmocka_unit_test(we_wait_for_the_other_s_record),
		cmocka_unit_test(slots_are_used_again),
		cmocka_unit_test(a_dead_recorder_holds_nobody_up),
		cmocka_unit_test(a_hostile_sharer_hangs_nobody),
		cmocka_unit_test(aborts_end_records_and_waits),
		cmocka_unit_test(handles_check),
		cmocka_unit_test(what_such_an_event_cannot_do),
		cmocka_unit_test(nothing_is_left_behind),
	};

	if (argc == 3 && !strcmp(argv[1], "peer"))
		return peer_main(atoi(argv[2]));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
