/* SPDX-License-Identifier: MIT */
/* model_test.c - captures of streams, and runs of what they recorded. */
#include "model_util.h"

#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* aclmdlRIDebugPrint */

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define THREAD ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static void begin(aclrtStream stream)
{
	assert_ok(aclmdlRICaptureBegin(stream, RELAXED));
}

static aclrtEvent event_new(void)
{
	aclrtEvent event = NULL;

	assert_ok(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
	return event;
}

/* Captures for threads that only fail. */
static void discard(aclrtStream stream)
{
	assert_ok(aclmdlRIDestroy(captured(stream)));
}

/* --- what is recorded --------------------------------------------------------------------------- */

/* covers: aclmdlRICaptureBegin, aclmdlRICaptureEnd, aclmdlRIExecuteAsync, aclmdlRIDestroy effect */
static void tasks_run_when_the_model_does(void **state)
{
	aclmdlRI model;

	(void)state;
	word_set(words, 1);
	begin(first);
	step(words, 10, 2, first);
	step(words, 10, 3, first);
	assert_ok(aclrtMemcpyAsync(&words[1], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
	assert_ok(aclrtMemsetAsync(&words[2], 8, 0x11, 8, first));
	model = captured(first);
	assert_ok(aclrtSynchronizeStream(first));
	assert_int_equal(word_get(words), 1);
	run(model, first);
	assert_int_equal(word_get(words), 123);
	assert_int_equal(word_get(&words[1]), 123);
	assert_true(word_get(&words[2]) == 0x1111111111111111u);
	run(model, second);
	assert_int_equal(word_get(&words[1]), 12323);
	for (unsigned i = 0; i < 3; i++)
		assert_ok(aclmdlRIExecuteAsync(model, NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_true(word_get(&words[1]) == 12323232323u);
	assert_ok(aclmdlRIDestroy(model));
	step(words, 0, 7, first);
	assert_ok(aclrtSynchronizeStream(first));
	assert_int_equal(word_get(words), 7);
}

struct wide_args {
	uint64_t *word;
	uint64_t values[100];
};

static void wide_kernel(const void *args, const struct vinci_block *block)
{
	const struct wide_args *a = args;

	for (unsigned i = block->index; i < 100; i += block->count)
		__atomic_fetch_add(a->word, a->values[i], __ATOMIC_RELAXED);
}

static void arguments_are_the_models_own(void **state)
{
	static const struct vinci_kernel desc = {
		.abi = VINCI_KERNEL_ABI,
		.name = "wide",
		.run = wide_kernel,
		.args_size = sizeof(struct wide_args),
	};
	struct wide_args *args = malloc(sizeof(*args));
	aclmdlRI model;

	(void)state;
	args->word = words;
	for (unsigned i = 0; i < 100; i++)
		args->values[i] = i;
	word_set(words, 0);
	begin(first);
	assert_int_equal(vinciLaunchKernel(&desc, 7, first, args, sizeof(*args)), 0);
	model = captured(first);
	memset(args, 0xff, sizeof(*args));
	free(args);
	run(model, first);
	run(model, first);
	assert_int_equal(word_get(words), 2 * 4950);
	assert_ok(aclmdlRIDestroy(model));
}

static void every_kind_of_copy_is_recorded(void **state)
{
	uint64_t *pinned;
	aclmdlRI model;

	(void)state;
	assert_ok(aclrtMallocHost((void **)&pinned, 64));
	begin(first);
	assert_ok(aclrtMemcpyAsync(words, 16, pinned, 16, ACL_MEMCPY_HOST_TO_DEVICE, first));
	assert_ok(aclrtMemcpy2dAsync(&words[8], 16, words, 8, 8, 2, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
	assert_ok(aclrtValueWrite(&words[9], 5, 0, first));
	assert_ok(aclrtMemcpyAsync(&pinned[4], 24, &words[8], 24, ACL_MEMCPY_DEVICE_TO_HOST, first));
	model = captured(first);
	for (uint64_t i = 0; i < 5; i++) {
		pinned[0] = 100 + i;
		pinned[1] = 200 + i;
		run(model, second);
		assert_int_equal(pinned[4], 100 + i);
		assert_int_equal(pinned[5], 5);
		assert_int_equal(pinned[6], 200 + i);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtFreeHost(pinned));
}

static void *report_main(void *stop)
{
	while (!atomic_load((atomic_uint *)stop))
		aclrtProcessReport(20);
	return NULL;
}

static void count_call(void *count)
{
	atomic_fetch_add((atomic_uint *)count, 1);
}

static void functions_of_the_host_are_called_in_each_run(void **state)
{
	atomic_uint calls = 0, reports = 0, stop = 0;
	pthread_t thread;
	aclmdlRI model;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, report_main, &stop), 0);
	assert_ok(aclrtSubscribeReport(thread, second));
	begin(first);
	assert_ok(aclrtLaunchHostFunc(first, count_call, &calls));
	model = captured(first);
	for (unsigned i = 1; i <= 5; i++) {
		run(model, first);
		assert_int_equal(atomic_load(&calls), i);
	}
	assert_ok(aclmdlRIDestroy(model));
	begin(second);
	assert_ok(aclrtLaunchCallback(count_call, &reports, ACL_CALLBACK_BLOCK, second));
	model = captured(second);
	for (unsigned i = 1; i <= 5; i++) {
		run(model, second);
		assert_int_equal(atomic_load(&reports), i);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtUnSubscribeReport(thread, second));
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
}

static void waits_of_a_model_wait_in_each_run(void **state)
{
	aclrtNotify notify;
	aclmdlRI model;

	(void)state;
	assert_ok(aclrtCreateNotify(&notify, 0));
	word_set(words, 0);
	word_set(&words[1], 0);
	begin(first);
	assert_ok(aclrtWaitAndResetNotify(notify, first, 0));
	step(words, 1, 1, first);
	assert_ok(aclrtValueWait(&words[1], 1, ACL_STREAM_WAIT_VALUE_EQ, first));
	assert_ok(aclrtValueWrite(&words[1], 0, 0, first));
	step(words, 1, 1, first);
	model = captured(first);
	for (uint64_t i = 0; i < 20; i++) {
		assert_ok(aclmdlRIExecuteAsync(model, first));
		if (i == 0)
			assert_code(aclrtSynchronizeStreamWithTimeout(first, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_int_equal(word_get(words), 2 * i);
		assert_ok(aclrtRecordNotify(notify, second));
		assert_ok(aclrtValueWrite(&words[1], 1, 0, second));
		assert_ok(aclrtSynchronizeStream(first));
		assert_int_equal(word_get(words), 2 * i + 2);
	}
	/* What a step holds stays alive with the model. */
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclmdlRIExecuteAsync(model, first));
	assert_ok(aclmdlRIAbort(model));
	assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
	assert_ok(aclmdlRIDestroy(model));
}

/* --- events ------------------------------------------------------------------------------------- */

static void events_make_streams_join(void **state)
{
	aclrtEvent fork = event_new(), join = event_new(), again = event_new();
	aclmdlRICaptureStatus status;
	aclmdlRI model, other;
	aclrtStream third;

	(void)state;
	assert_ok(aclrtCreateStream(&third));
	for (unsigned i = 0; i < 4; i++)
		word_set(&words[i], 0);
	begin(first);
	step(words, 1, 1, first);
	assert_ok(aclrtRecordEvent(fork, first));
	assert_ok(aclrtStreamWaitEvent(second, fork));
	assert_ok(aclmdlRICaptureGetInfo(second, &status, &model));
	assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
	assert_ok(aclmdlRICaptureGetInfo(first, NULL, &other));
	assert_ptr_equal(model, other);
	assert_ok(aclrtMemcpyAsync(&words[1], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
	step(&words[1], 10, 0, second);
	assert_ok(aclrtRecordEvent(again, second));
	assert_ok(aclrtStreamWaitEvent(third, again));
	assert_ok(aclrtMemcpyAsync(&words[2], 8, &words[1], 8, ACL_MEMCPY_DEVICE_TO_DEVICE, third));
	step(&words[2], 10, 0, third);
	assert_ok(aclrtRecordEvent(again, third)); /* an event may be recorded again */
	assert_ok(aclrtStreamWaitEvent(second, again));
	assert_ok(aclrtRecordEvent(join, second));
	assert_ok(aclrtStreamWaitEvent(first, join));
	assert_ok(aclrtMemcpyAsync(&words[3], 8, &words[2], 8, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
	model = captured(first);
	assert_ok(aclmdlRICaptureGetInfo(second, &status, NULL));
	assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
	assert_ok(aclrtDestroyEvent(fork));
	assert_ok(aclrtDestroyEvent(join));
	for (uint64_t i = 1; i <= 200; i++) {
		assert_ok(aclmdlRIExecuteAsync(model, i % 2 ? first : third));
		if (i % 3)
			assert_ok(aclrtSynchronizeStream(i % 2 ? first : third));
		else
			assert_ok(aclrtSynchronizeStreamWithTimeout(i % 2 ? first : third, LONG_MS));
		assert_int_equal(word_get(&words[3]), 100 * i);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtDestroyEvent(again));
	assert_ok(aclrtDestroyStream(third));
}

/* covers: aclrtRecordEventWithFlag, aclrtStreamWaitEventWithFlag effect */
static void external_events_join_a_model_and_the_rest(void **state)
{
	aclrtEvent in = event_new(), out = event_new();
	aclmdlRI model;

	(void)state;
	word_set(words, 1);
	word_set(&words[1], 0);
	word_set(&words[2], 0);
	begin(first);
	assert_ok(aclrtStreamWaitEventWithFlag(first, in, 0, ACL_EVENT_WAIT_EXTERNAL));
	step(words, 10, 1, first);
	assert_ok(aclrtRecordEventWithFlag(out, first, ACL_EVENT_RECORD_EXTERNAL));
	assert_ok(aclrtValueWait(&words[1], 1, ACL_STREAM_WAIT_VALUE_EQ, first));
	assert_ok(aclrtValueWrite(&words[1], 0, 0, first));
	step(words, 10, 2, first);
	model = captured(first);
	for (uint64_t i = 0, want = 1; i < 20; i++) {
		/* Behind the record, and before what the model does after it. */
		assert_ok(aclrtValueWait(&words[2], i + 1, ACL_STREAM_WAIT_VALUE_GEQ, second));
		assert_ok(aclrtRecordEvent(in, second));
		assert_ok(aclmdlRIExecuteAsync(model, first));
		assert_ok(aclrtStreamWaitEvent(second, out));
		assert_ok(aclrtMemcpyAsync(&words[3], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
		if (i == 0)
			assert_code(aclrtSynchronizeEventWithTimeout(out, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
		assert_int_equal(word_get(words), want);
		word_signal(&words[2], i + 1);
		assert_ok(aclrtSynchronizeStream(second));
		assert_true(word_get(&words[3]) == want * 10 + 1);
		assert_ok(aclrtValueWrite(&words[1], 1, 0, second));
		assert_ok(aclrtSynchronizeStream(first));
		want = (want * 10 + 1) * 10 + 2;
		assert_true(word_get(words) == want);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtDestroyEvent(in));
	assert_ok(aclrtDestroyEvent(out));
}

/* covers: aclrtRecordEventWithFlag, aclrtStreamWaitEventWithFlag failure */
static void external_events_come_once(void **state)
{
	aclrtEvent event = event_new(), other = event_new();

	(void)state;
	assert_code(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL),
		    ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	assert_code(aclrtStreamWaitEventWithFlag(first, event, 0, ACL_EVENT_WAIT_EXTERNAL),
		    ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	begin(first);
	assert_ok(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL));
	assert_code(aclrtRecordEventWithFlag(event, first, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtStreamWaitEventWithFlag(first, event, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtStreamWaitEventWithFlag(first, other, 0, ACL_EVENT_WAIT_EXTERNAL));
	assert_code(aclrtStreamWaitEventWithFlag(first, other, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
	discard(first);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(other));
}

/* Each of these is refused, and the capture goes on. */
static void captured_events_are_not_asked(void **state)
{
	aclrtEvent event = event_new(), timed, old, outside = event_new();
	aclrtEventRecordedStatus recorded;
	float ms;

	(void)state;
	assert_ok(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_TIME_LINE));
	assert_ok(aclrtCreateEventWithFlag(&old, ACL_EVENT_SYNC));
	assert_ok(aclrtRecordEvent(outside, second));
	begin(first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_code(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
	assert_code(aclrtQueryEventStatus(event, &recorded), ACL_ERROR_RT_EVENT_CAPTURED);
	assert_code(aclrtEventElapsedTime(&ms, event, event), ACL_ERROR_RT_EVENT_CAPTURED);
	assert_code(aclrtRecordEvent(old, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtStreamWaitEvent(first, old), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtResetEvent(old, first), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtStreamWaitEvent(first, outside), ACL_ERROR_RT_CAPTURE_DEPENDENCY);
	assert_code(aclrtStreamWaitEvent(NULL, event), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
	assert_ok(aclrtRecordEvent(timed, first)); /* nobody waits for it: nothing to record */
	assert_code(aclmdlRICaptureEnd(first, &(aclmdlRI){ 0 }), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	assert_ok(aclrtQueryEventStatus(outside, &recorded));
	assert_ok(aclrtSynchronizeEvent(event));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(timed));
	assert_ok(aclrtDestroyEvent(old));
	assert_ok(aclrtDestroyEvent(outside));
}

/* --- rules of captures -------------------------------------------------------------------------- */

/* covers: aclmdlRICaptureBegin, aclmdlRICaptureEnd failure */
static void captures_begin_and_end_by_rules(void **state)
{
	aclrtEvent event = event_new(), last = event_new();
	aclrtStream persistent, dead;
	aclmdlRI model = (aclmdlRI)1;

	(void)state;
	assert_ok(aclrtCreateStream(&dead));
	assert_ok(aclrtDestroyStream(dead));
	assert_ok(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
	assert_code(aclmdlRICaptureBegin(NULL, RELAXED), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRICaptureBegin(dead, RELAXED), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRICaptureBegin(first, (aclmdlRICaptureMode)3), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRICaptureBegin(persistent, RELAXED), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclmdlRICaptureEnd(first, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	begin(first);
	assert_code(aclmdlRICaptureBegin(first, RELAXED), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclmdlRICaptureEnd(first, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEvent(second, event));
	assert_code(aclmdlRICaptureEnd(second, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
	assert_code(aclmdlRICaptureEnd(first, &model), ACL_ERROR_RT_STREAM_UNJOINED);
	assert_null(model);
	/* Of a record that nobody waits for, too. */
	begin(first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEvent(second, event));
	assert_ok(aclrtRecordEvent(last, second));
	assert_code(aclmdlRICaptureEnd(first, &model), ACL_ERROR_RT_STREAM_UNJOINED);
	step(words, 0, 9, second);
	assert_ok(aclrtSynchronizeStream(second));
	assert_int_equal(word_get(words), 9);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(last));
	assert_ok(aclrtDestroyStream(persistent));
}

static void two_captures_do_not_mix(void **state)
{
	aclmdlRICaptureStatus status;
	aclrtEvent event = event_new();
	aclmdlRI model;

	(void)state;
	begin(first);
	begin(second);
	assert_ok(aclrtRecordEvent(event, first));
	assert_code(aclrtStreamWaitEvent(second, event), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
	assert_ok(aclmdlRICaptureGetInfo(first, &status, NULL));
	assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
	assert_code(aclmdlRICaptureEnd(first, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	assert_code(aclmdlRICaptureEnd(second, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	assert_ok(aclrtDestroyEvent(event));
}

/* covers: aclmdlRICaptureGetInfo failure */
static void captured_streams_do_not_wait(void **state)
{
	aclrtStreamAttrValue tag = { .userCustomTag = 1 };
	aclrtStreamStatus status;
	char pageable[8];
	aclmdlRI model;

	(void)state;
	begin(first);
	assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtSynchronizeStreamWithTimeout(first, 10), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtStreamQuery(first, &status), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtSetStreamOverflowSwitch(first, 1), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtResetOverflowStatus(first), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtGetOverflowStatus(words, 64, first), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtSetStreamAttribute(first, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &tag),
		    ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtDestroyStream(first), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_code(aclrtMemcpyAsync(pageable, 8, words, 8, ACL_MEMCPY_DEVICE_TO_HOST, first),
		    ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRICaptureGetInfo(first, NULL, &model));
	assert_code(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CAPTURED);
	assert_code(aclmdlRIExecuteAsync(model, second), ACL_ERROR_RT_MODEL_CAPTURED);
	assert_code(aclmdlRICaptureGetInfo(first, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(captured(first), model);
	begin(first);
	assert_code(aclmdlRIExecuteAsync(model, first), ACL_ERROR_RT_STREAM_CAPTURED);
	discard(first);
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclmdlRIExecuteAsync(model, first), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRIExecuteAsync(NULL, first), ACL_ERROR_INVALID_PARAM);
}

struct elsewhere {
	aclmdlRICaptureMode exchange; /* -1: as it is */
	int code;		      /* of a copy */
	int end;		      /* of ending the capture */
	bool ends;
	aclrtContext context;
};

static void *elsewhere_main(void *arg)
{
	struct elsewhere *e = arg;
	uint64_t value = 0;

	aclrtSetCurrentContext(e->context);
	if ((int)e->exchange >= 0)
		aclmdlRICaptureThreadExchangeMode(&e->exchange);
	e->code = aclrtMemcpy(words, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE);
	if (e->ends) {
		aclmdlRI model = NULL;

		e->end = aclmdlRICaptureEnd(first, &model);
		if (model)
			aclmdlRIDestroy(model);
	}
	return NULL;
}

static struct elsewhere elsewhere(int exchange, bool ends)
{
	struct elsewhere e = { .exchange = (aclmdlRICaptureMode)exchange, .ends = ends };
	pthread_t thread;

	assert_ok(aclrtGetCurrentContext(&e.context));
	assert_int_equal(pthread_create(&thread, NULL, elsewhere_main, &e), 0);
	pthread_join(thread, NULL);
	return e;
}

static int here(aclmdlRICaptureMode exchange)
{
	uint64_t value = 0;
	int code;

	assert_ok(aclmdlRICaptureThreadExchangeMode(&exchange));
	code = aclrtMemcpy(words, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE);
	assert_ok(aclmdlRICaptureThreadExchangeMode(&exchange));
	return code;
}

/* covers: aclmdlRICaptureThreadExchangeMode effect */
static void modes_say_who_may_act_at_once(void **state)
{
	const int no = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
	/* code of a copy by [mode of the capture][exchanged mode of the thread]: in this thread, in another */
	static const bool own[3][3] = { { false, false, true }, { false, false, true }, { true, true, true } };
	static const bool others[3][3] = { { false, true, true }, { true, true, true }, { true, true, true } };

	(void)state;
	for (int mode = 0; mode < 3; mode++) {
		assert_ok(aclmdlRICaptureBegin(first, (aclmdlRICaptureMode)mode));
		for (int exchange = 0; exchange < 3; exchange++) {
			assert_code(here((aclmdlRICaptureMode)exchange), own[mode][exchange] ? 0 : no);
			assert_code(elsewhere(exchange, false).code, others[mode][exchange] ? 0 : no);
		}
		assert_code(elsewhere(-1, false).code, others[mode][0] ? 0 : no);
		discard(first);
		assert_code(here(GLOBAL), 0);
	}
}

/* covers: aclmdlRICaptureThreadExchangeMode failure */
static void modes_hold_for_all_that_acts_at_once(void **state)
{
	const int no = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
	aclmdlRICaptureMode wrong = (aclmdlRICaptureMode)3;
	char pageable[16];

	(void)state;
	assert_code(aclmdlRICaptureThreadExchangeMode(&wrong), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRICaptureBegin(first, GLOBAL));
	assert_code(aclrtMemset(words, 8, 0, 8), no);
	assert_code(aclrtMemcpy2d(words, 8, pageable, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE), no);
	assert_code(aclrtMemcpyAsync(pageable, 8, words, 8, ACL_MEMCPY_DEVICE_TO_HOST, second),
		    ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC);
	assert_ok(aclrtMemcpyAsync(&words[1], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
	assert_ok(aclrtSynchronizeStream(second));
	discard(first);
	/* The end belongs to the thread of the beginning, unless the mode is relaxed. */
	assert_ok(aclmdlRICaptureBegin(first, THREAD));
	assert_int_equal(elsewhere(-1, true).end, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
	assert_code(aclmdlRICaptureEnd(first, &(aclmdlRI){ 0 }), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	begin(first);
	assert_int_equal(elsewhere(-1, true).end, ACL_SUCCESS);
}

/* --- groups of tasks ---------------------------------------------------------------------------- */

/* A model of three kernels of which the last two are in a group. */
static aclmdlRI grouped(aclrtTaskGrp *group)
{
	begin(first);
	step(words, 0, 1, first);
	assert_ok(aclmdlRICaptureTaskGrpBegin(first));
	step(words, 10, 2, first);
	step(words, 10, 3, first);
	assert_ok(aclmdlRICaptureTaskGrpEnd(first, group));
	return captured(first);
}

/* covers: aclmdlRICaptureTaskGrpBegin, aclmdlRICaptureTaskGrpEnd effect */
/* covers: aclmdlRICaptureTaskUpdateBegin, aclmdlRICaptureTaskUpdateEnd effect */
static void grouped_tasks_can_be_changed(void **state)
{
	aclrtTaskGrp group = NULL;
	aclmdlRI model = grouped(&group);

	(void)state;
	assert_non_null(group);
	run(model, first);
	assert_int_equal(word_get(words), 123);
	for (uint64_t i = 0; i < 100; i++) {
		/* The change comes when the stream does. */
		word_set(&words[1], 0);
		assert_ok(aclrtValueWait(&words[1], 1, ACL_STREAM_WAIT_VALUE_EQ, second));
		assert_ok(aclmdlRICaptureTaskUpdateBegin(second, group));
		step(words, 1000, i, second);
		step(words, 1, 5, second);
		assert_ok(aclmdlRICaptureTaskUpdateEnd(second));
		if (i == 0) {
			run(model, first);
			assert_int_equal(word_get(words), 123);
		}
		assert_ok(aclrtValueWrite(&words[1], 1, 0, first));
		assert_ok(aclrtSynchronizeStream(second));
		if (i % 2) {
			run(model, first);
			assert_int_equal(word_get(words), 1000 + i + 5);
		}
	}
	assert_ok(aclmdlRIDestroy(model));
}

/* covers: aclmdlRICaptureTaskGrpBegin, aclmdlRICaptureTaskGrpEnd failure */
/* covers: aclmdlRICaptureTaskUpdateBegin, aclmdlRICaptureTaskUpdateEnd failure */
static void groups_are_checked(void **state)
{
	aclrtEvent event = event_new();
	aclrtTaskGrp group, other;
	aclmdlRI model = grouped(&group);

	(void)state;
	assert_code(aclmdlRICaptureTaskGrpBegin(first), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	assert_code(aclmdlRICaptureTaskGrpEnd(first, &other), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	assert_code(aclmdlRICaptureTaskUpdateEnd(second), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_code(aclmdlRICaptureTaskUpdateBegin(second, words), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclmdlRICaptureTaskUpdateBegin(second, group));
	assert_code(aclmdlRICaptureTaskUpdateBegin(second, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_code(aclmdlRICaptureTaskUpdateBegin(first, group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_code(aclrtMemsetAsync(words, 8, 0, 8, second), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
	step(words, 1, 1, second);
	assert_code(aclmdlRICaptureTaskUpdateEnd(second), ACL_ERROR_RT_INTERNAL_ERROR);
	begin(first);
	assert_code(aclmdlRICaptureTaskUpdateBegin(first, group), ACL_ERROR_RT_STREAM_CAPTURED);
	assert_ok(aclmdlRICaptureTaskGrpBegin(first));
	assert_code(aclmdlRICaptureTaskGrpBegin(first), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_code(aclmdlRICaptureEnd(first, &(aclmdlRI){ 0 }), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	/* Other tasks, and those of other streams, break the group and with it the capture. */
	begin(first);
	assert_ok(aclmdlRICaptureTaskGrpBegin(first));
	assert_code(aclrtMemsetAsync(words, 8, 0, 8, first), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
	assert_code(aclmdlRICaptureTaskGrpEnd(first, &other), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
	assert_null(other);
	assert_code(aclmdlRICaptureEnd(first, &(aclmdlRI){ 0 }), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	begin(first);
	assert_ok(aclrtRecordEvent(event, first));
	assert_ok(aclrtStreamWaitEvent(second, event));
	assert_ok(aclmdlRICaptureTaskGrpBegin(first));
	assert_int_not_equal(
		vinciLaunchKernel(&step_desc, 1, second, &(struct step_args){ words, 1, 1 }, sizeof(struct step_args)),
		0);
	assert_code(aclmdlRICaptureTaskGrpEnd(first, &other), ACL_ERROR_STREAM_TASK_GROUP_INTR);
	assert_code(aclmdlRICaptureEnd(first, &(aclmdlRI){ 0 }), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclmdlRICaptureTaskUpdateBegin(second, group), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtDestroyEvent(event));
}

/* --- models as objects -------------------------------------------------------------------------- */

static void note_end(void *count)
{
	++*(unsigned *)count;
}

/* covers: aclmdlRICaptureGetInfo, aclmdlRISetName, aclmdlRIGetName, aclmdlRIGetId, aclmdlRIGetStreams effect */
/* covers: aclmdlRIDestroyRegisterCallback, aclmdlRIDestroyUnregisterCallback effect */
static void models_have_names_and_streams(void **state)
{
	aclmdlRICaptureStatus status;
	aclrtStream streams[3] = { 0 };
	uint32_t id = 77, other = 77, count = 0;
	unsigned ended = 0, never = 0;
	char name[600], longer[600];
	aclmdlRI model, second_model;

	(void)state;
	assert_ok(aclmdlRICaptureGetInfo(first, &status, &model));
	assert_int_equal(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
	assert_null(model);
	begin(first);
	model = captured(first);
	begin(first);
	second_model = captured(first);
	assert_ok(aclmdlRIGetId(model, &id));
	assert_ok(aclmdlRIGetId(second_model, &other));
	assert_int_not_equal(id, other);
	assert_ok(aclmdlRIGetName(model, sizeof(name), name));
	assert_string_equal(name, "");
	assert_ok(aclmdlRISetName(model, "first"));
	assert_ok(aclmdlRISetName(model, "decode"));
	assert_ok(aclmdlRIGetName(model, 7, name));
	assert_string_equal(name, "decode");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_ok(aclmdlRISetName(model, longer));
	assert_ok(aclmdlRIGetName(model, sizeof(name), name));
	assert_int_equal(strlen(name), 511);
	assert_ok(aclmdlRIGetStreams(model, NULL, &count));
	assert_int_equal(count, 1);
	count = 3;
	assert_ok(aclmdlRIGetStreams(model, streams, &count));
	assert_int_equal(count, 1);
	assert_non_null(streams[0]);
	assert_null(streams[1]);
	assert_code(aclrtDestroyStream(streams[0]), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtStreamAbort(streams[0]), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_ok(aclmdlRIDestroyRegisterCallback(model, note_end, &ended));
	assert_ok(aclmdlRIDestroyRegisterCallback(second_model, note_end, &never));
	assert_ok(aclmdlRIDestroyUnregisterCallback(second_model, note_end));
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclmdlRIDestroy(second_model));
	assert_int_equal(ended, 1);
	assert_int_equal(never, 0);
	assert_code(aclrtDestroyStream(streams[0]), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclmdlRISetName, aclmdlRIGetName, aclmdlRIGetId, aclmdlRIGetStreams, aclmdlRIDestroy failure */
/* covers: aclmdlRIDestroyRegisterCallback, aclmdlRIDestroyUnregisterCallback failure */
static void models_are_checked(void **state)
{
	aclrtContext context, own;
	aclrtStream streams[1];
	uint32_t count = 0, id;
	char name[8];
	aclmdlRI model;

	(void)state;
	begin(first);
	model = captured(first);
	assert_code(aclmdlRIDestroy(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRIDestroy((aclmdlRI)words), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRIDestroy(first), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRISetName(model, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRIGetName(model, 0, name), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRISetName(model, "12345678"));
	assert_code(aclmdlRIGetName(model, 8, name), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclmdlRIGetId(model, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRIGetId(words, &id), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRIGetStreams(model, streams, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIGetStreams(model, streams, &count), ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY);
	assert_code(aclmdlRIDestroyRegisterCallback(model, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIDestroyUnregisterCallback(model, note_end), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRIDestroyRegisterCallback(model, note_end, &count));
	assert_code(aclmdlRIDestroyRegisterCallback(model, note_end, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtGetCurrentContext(&own));
	assert_ok(aclrtCreateContext(&context, 0));
	assert_code(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CONTEXT);
	assert_code(aclmdlRIExecuteAsync(model, NULL), ACL_ERROR_RT_MODEL_CONTEXT);
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtSetCurrentContext(own));
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclmdlRIDebugJsonPrint, aclmdlRIDebugPrint effect */
/* covers: aclmdlRIDebugJsonPrint, aclmdlRIDebugPrint failure */
static void models_can_be_looked_at(void **state)
{
	char path[] = "/tmp/model_test_XXXXXX", text[4096] = "";
	int fd = mkstemp(path);
	aclmdlRI model;

	(void)state;
	begin(first);
	step(words, 1, 1, first);
	assert_ok(aclrtMemsetAsync(words, 8, 0, 8, first));
	model = captured(first);
	assert_ok(aclmdlRIDebugPrint(model));
	assert_ok(aclmdlRIDebugJsonPrint(model, path, ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY));
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_int_equal(text[0], '[');
	assert_non_null(strstr(text, "\"Task Type\":\"kernel\""));
	assert_non_null(strstr(text, "\"Task Type\":\"memory set\""));
	assert_non_null(strstr(text, "\"Task Id\":1"));
	assert_code(aclmdlRIDebugJsonPrint(model, "/proc/nowhere/file", 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIDebugJsonPrint(model, NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclmdlRIDebugPrint(model), ACL_ERROR_RT_INVALID_HANDLE);
	close(fd);
	unlink(path);
}

/* covers: aclrtCacheLastTaskOpInfo, aclrtCacheLastTaskExtendInfo effect */
static void tasks_are_described(void **state)
{
	static const char note[] = "{\"op\":\"Add\"}";
	char path[] = "/tmp/model_test_XXXXXX", text[4096] = "";
	aclrtStreamAttrValue on = { .cacheOpInfoSwitch = 1 }, off = { .cacheOpInfoSwitch = 0 };
	int fd = mkstemp(path);
	aclmdlRI model;

	(void)state;
	begin(first);
	assert_ok(aclrtSetStreamAttribute(first, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
	step(words, 1, 1, first);
	assert_ok(aclrtCacheLastTaskOpInfo(note, sizeof(note)));
	assert_ok(aclrtCacheLastTaskExtendInfo("old", 3));
	assert_ok(aclrtCacheLastTaskExtendInfo(note, sizeof(note) - 1));
	assert_ok(aclrtSetStreamAttribute(first, ACL_STREAM_ATTR_CACHE_OP_INFO, &off));
	assert_ok(aclrtMemsetAsync(words, 8, 0, 8, first));
	model = captured(first);
	assert_ok(aclmdlRIDebugJsonPrint(model, path, 0));
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "\"Task Type\":\"kernel\",\"ExtendInfo\":\"{\\\"op\\\":\\\"Add\\\"}\"}}"));
	assert_non_null(strstr(text, "\"Task Type\":\"memory set\"}}"));
	assert_ok(aclmdlRIDestroy(model));
	close(fd);
	unlink(path);
}

/* covers: aclrtCacheLastTaskOpInfo, aclrtCacheLastTaskExtendInfo failure */
static void descriptions_refused(void **state)
{
	static char large[64 * 1024 + 1];
	aclmdlRI model;

	(void)state;
	assert_code(aclrtCacheLastTaskOpInfo(NULL, 1), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCacheLastTaskOpInfo(large, 0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCacheLastTaskOpInfo(large, sizeof(large)), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCacheLastTaskExtendInfo(NULL, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCacheLastTaskExtendInfo(large, 0), ACL_ERROR_RT_PARAM_INVALID);
	begin(first);
	step(words, 1, 1, first);
	assert_code(aclrtCacheLastTaskOpInfo(large, 1), ACL_ERROR_RT_INTERNAL_ERROR); /* not switched on */
	assert_ok(aclrtCacheLastTaskExtendInfo(large, sizeof(large)));		      /* cut */
	model = captured(first);
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclrtCacheLastTaskExtendInfo(large, 1), ACL_ERROR_RT_INTERNAL_ERROR); /* gone */
}

/* --- runs --------------------------------------------------------------------------------------- */

static void trap_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	__builtin_trap();
}

/* covers: aclmdlRIExecuteAsync failure */
static void a_failing_task_ends_the_run(void **state)
{
	static const struct vinci_kernel desc = { .abi = VINCI_KERNEL_ABI, .name = "trap", .run = trap_kernel };
	aclrtEvent fork = event_new(), join = event_new();
	aclmdlRI model;

	(void)state;
	word_set(words, 0);
	begin(first);
	assert_ok(aclrtRecordEvent(fork, first));
	assert_ok(aclrtStreamWaitEvent(second, fork));
	step(words, 1, 1, first);
	assert_int_equal(vinciLaunchKernel(&desc, 1, first, NULL, 0), 0);
	step(words, 1, 100, first);
	assert_ok(aclrtValueWait(&words[1], 1, ACL_STREAM_WAIT_VALUE_EQ, second)); /* nobody ends it but the failure */
	step(words, 1, 100, second);
	assert_ok(aclrtRecordEvent(join, second));
	assert_ok(aclrtStreamWaitEvent(first, join));
	model = captured(first);
	word_set(&words[1], 0);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_ok(aclmdlRIExecuteAsync(model, first));
		assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_EXECUTE);
		assert_non_null(strstr(aclGetRecentErrMsg(), "trap"));
		assert_int_equal(word_get(words), i);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtDestroyEvent(fork));
	assert_ok(aclrtDestroyEvent(join));
}

static void memory_may_have_gone(void **state)
{
	uint64_t *gone;
	aclmdlRI model;
	int code = 0;

	(void)state;
	assert_ok(aclrtMalloc((void **)&gone, 1 << 21, ACL_MEM_MALLOC_HUGE_FIRST));
	begin(first);
	assert_ok(aclrtMemcpyAsync(words, 8, gone, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
	assert_ok(aclrtValueWait(gone, 1, ACL_STREAM_WAIT_VALUE_EQ, first));
	model = captured(first);
	word_set(gone, 1);
	run(model, first);
	assert_int_equal(word_get(words), 1);
	assert_ok(aclrtFree(gone));
	/* It goes when the task that is just ending has ended. */
	for (uint64_t end = t_now_ms() + LONG_MS; !code && t_now_ms() < end;) {
		assert_ok(aclmdlRIExecuteAsync(model, first));
		code = aclrtSynchronizeStream(first);
	}
	assert_int_equal(code, ACL_ERROR_RT_MODEL_EXECUTE);
	assert_non_null(strstr(aclGetRecentErrMsg(), "was memory when the task was recorded"));
	assert_ok(aclmdlRIDestroy(model));
}

/* covers: aclmdlRIAbort effect */
/* covers: aclmdlRIAbort failure */
static void a_run_can_be_ended(void **state)
{
	aclmdlRI model;

	(void)state;
	begin(first);
	assert_ok(aclrtValueWait(words, 1, ACL_STREAM_WAIT_VALUE_EQ, first));
	step(&words[1], 1, 1, first);
	model = captured(first);
	assert_code(aclmdlRIAbort(NULL), ACL_ERROR_RT_INVALID_HANDLE);
	for (unsigned i = 0; i < 50; i++) {
		word_set(words, 0);
		word_set(&words[1], 0);
		assert_ok(aclmdlRIExecuteAsync(model, first));
		assert_ok(aclmdlRIExecuteAsync(model, second));
		assert_ok(aclmdlRIAbort(model));
		assert_code(aclrtSynchronizeStream(second), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
		assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
		assert_int_equal(word_get(&words[1]), 0);
		word_set(words, 1);
		run(model, second);
		assert_int_equal(word_get(&words[1]), 1);
	}
	assert_ok(aclmdlRIAbort(model));
	assert_ok(aclmdlRIDestroy(model));
}

static void a_stream_that_goes_takes_its_runs_along(void **state)
{
	aclrtStream stream;
	aclmdlRI model;

	(void)state;
	begin(first);
	step(&words[1], 1, 1, first);
	assert_ok(aclrtValueWait(words, 1, ACL_STREAM_WAIT_VALUE_EQ, first));
	model = captured(first);
	for (unsigned i = 0; i < 20; i++) {
		word_set(words, 0);
		assert_ok(aclrtCreateStream(&stream));
		assert_ok(aclmdlRIExecuteAsync(model, stream));
		assert_ok(aclmdlRIExecuteAsync(model, stream));
		assert_ok(aclrtDestroyStreamForce(stream));
		word_signal(words, 1);
		run(model, first); /* behind those that end */
		word_set(&words[1], 0);
		run(model, first);
		assert_int_equal(word_get(&words[1]), 1);
	}
	assert_ok(aclmdlRIDestroy(model));
}

struct runner {
	aclmdlRI model;
	aclrtContext context;
	unsigned runs;
	int code;
};

static void *runner_main(void *arg)
{
	struct runner *r = arg;
	aclrtStream stream;

	r->code = aclrtSetCurrentContext(r->context);
	if (!r->code)
		r->code = aclrtCreateStream(&stream);
	for (unsigned i = 0; i < r->runs && !r->code; i++) {
		r->code = aclmdlRIExecuteAsync(r->model, stream);
		if (!r->code && i % 5 == 0)
			r->code = i % 2 ? aclrtSynchronizeStream(stream)
					: aclrtSynchronizeStreamWithTimeout(stream, LONG_MS);
	}
	if (!r->code)
		r->code = aclrtSynchronizeStream(stream);
	return NULL;
}

static void runs_of_a_model_follow_each_other(void **state)
{
	aclrtEvent fork = event_new(), join = event_new();
	struct runner runners[8];
	pthread_t threads[8];
	aclmdlRI model;

	(void)state;
	word_set(words, 0);
	word_set(&words[1], 0);
	begin(first);
	step(words, 1, 1, first);
	assert_ok(aclrtRecordEvent(fork, first));
	assert_ok(aclrtStreamWaitEvent(second, fork));
	step(&words[1], 1, 1, second);
	assert_ok(aclrtRecordEvent(join, second));
	step(words, 1, 1, first);
	assert_ok(aclrtStreamWaitEvent(first, join));
	step(words, 1, 1, first);
	model = captured(first);
	for (unsigned i = 0; i < 8; i++) {
		runners[i] = (struct runner){ .model = model, .runs = 200 };
		assert_ok(aclrtGetCurrentContext(&runners[i].context));
		assert_int_equal(pthread_create(&threads[i], NULL, runner_main, &runners[i]), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(runners[i].code, 0);
	}
	assert_int_equal(word_get(words), 3 * 8 * 200);
	assert_int_equal(word_get(&words[1]), 8 * 200);
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtDestroyEvent(fork));
	assert_ok(aclrtDestroyEvent(join));
}

struct inside {
	aclmdlRI model;
	aclrtContext context;
	int code;
};

static void destroy_from_inside(void *arg)
{
	struct inside *in = arg;

	in->code = aclrtSetCurrentContext(in->context);
	if (!in->code)
		in->code = aclmdlRIDestroy(in->model);
}

static void a_model_does_not_go_while_it_runs(void **state)
{
	struct inside in;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&in.context));
	begin(first);
	assert_ok(aclrtLaunchHostFunc(first, destroy_from_inside, &in));
	step(words, 0, 3, first);
	in.model = captured(first);
	assert_ok(aclmdlRIExecuteAsync(in.model, first));
	assert_ok(aclmdlRIDestroy(in.model));
	assert_int_equal(in.code, ACL_ERROR_RT_MODEL_RUNNING);
	assert_ok(aclrtSynchronizeStream(first));
	assert_int_equal(word_get(words), 3);
}

static void contexts_take_their_models_along(void **state)
{
	unsigned ended = 0;
	aclrtContext context, own;
	aclrtStream stream;
	aclmdlRI model;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&own));
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(aclrtCreateContext(&context, 0));
		assert_ok(aclrtCreateStream(&stream));
		begin(stream);
		step(words, 0, 5, stream);
		if (i) {
			model = captured(stream);
			assert_ok(aclmdlRIDestroyRegisterCallback(model, note_end, &ended));
		} else {
			assert_ok(aclmdlRICaptureGetInfo(stream, NULL, &model));
		}
		if (i == 2)
			assert_ok(aclmdlRIExecuteAsync(model, stream));
		assert_ok(aclrtDestroyContext(context));
		assert_ok(aclrtSetCurrentContext(own));
		assert_code(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
	}
	assert_int_equal(ended, 2);
	assert_int_equal(word_get(words), 5);
	assert_int_equal(here(GLOBAL), 0); /* the capture that was cut off holds nobody back */
}

static void a_child_has_no_models(void **state)
{
	aclmdlRI model;
	pid_t child;

	(void)state;
	begin(first);
	model = captured(first);
	child = fork();
	if (!child) {
		aclmdlRI other;
		bool wrong = aclmdlRIExecuteAsync(model, first) != ACL_ERROR_RT_DRV_INTERNAL_ERROR ||
			     aclmdlRIDestroy(model) != ACL_ERROR_RT_DRV_INTERNAL_ERROR ||
			     aclmdlRICaptureBegin(first, RELAXED) != ACL_ERROR_RT_DRV_INTERNAL_ERROR ||
			     aclmdlRIBuildBegin(&other, 0) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;

		_exit(wrong);
	}
	assert_int_equal(t_wait_pid(child, LONG_MS), 0);
	run(model, first);
	assert_ok(aclmdlRIDestroy(model));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_run_when_the_model_does),
		cmocka_unit_test(arguments_are_the_models_own),
		cmocka_unit_test(every_kind_of_copy_is_recorded),
		cmocka_unit_test(functions_of_the_host_are_called_in_each_run),
		cmocka_unit_test(waits_of_a_model_wait_in_each_run),
		cmocka_unit_test(events_make_streams_join),
		cmocka_unit_test(external_events_join_a_model_and_the_rest),
		cmocka_unit_test(external_events_come_once),
		cmocka_unit_test(captured_events_are_not_asked),
		cmocka_unit_test(captures_begin_and_end_by_rules),
		cmocka_unit_test(two_captures_do_not_mix),
		cmocka_unit_test(captured_streams_do_not_wait),
		cmocka_unit_test(modes_say_who_may_act_at_once),
		cmocka_unit_test(modes_hold_for_all_that_acts_at_once),
		cmocka_unit_test(grouped_tasks_can_be_changed),
		cmocka_unit_test(groups_are_checked),
		cmocka_unit_test(models_have_names_and_streams),
		cmocka_unit_test(models_are_checked),
		cmocka_unit_test(models_can_be_looked_at),
		cmocka_unit_test(tasks_are_described),
		cmocka_unit_test(descriptions_refused),
		cmocka_unit_test(a_failing_task_ends_the_run),
		cmocka_unit_test(memory_may_have_gone),
		cmocka_unit_test(a_run_can_be_ended),
		cmocka_unit_test(a_stream_that_goes_takes_its_runs_along),
		cmocka_unit_test(runs_of_a_model_follow_each_other),
		cmocka_unit_test(a_model_does_not_go_while_it_runs),
		cmocka_unit_test(contexts_take_their_models_along),
		cmocka_unit_test(a_child_has_no_models),
	};

	return cmocka_run_group_tests(tests, model_set_up, model_tear_down);
}
