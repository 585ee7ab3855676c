/* SPDX-License-Identifier: MIT */
/* model_life_test.c - models whose streams, memory and threads come and go while they run. */
#include "model_util.h"

#include <sched.h>
#include <stdio.h>

#define MANY 100000
#define ROUNDS 100
#define BOUND 4

static atomic_bool open_gate;

static void pass_gate(void *arg)
{
	(void)arg;
	while (!atomic_load(&open_gate))
		sched_yield();
}

/* covers: aclrtDestroyStreamForce, aclmdlRIExecuteAsync effect */
static void many_runs_end_at_once(void **state)
{
	aclrtStream stream;
	aclmdlRI model;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
	step(words, 1, 1, first);
	model = captured(first);
	word_set(words, 0);
	atomic_store(&open_gate, false);
	assert_ok(aclrtLaunchHostFunc(stream, pass_gate, NULL));
	for (int i = 0; i < MANY; i++)
		assert_ok(aclmdlRIExecuteAsync(model, stream));
	assert_ok(aclrtDestroyStreamForce(stream));
	atomic_store(&open_gate, true);
	assert_ok(aclmdlRIDestroy(model));
	assert_int_equal(word_get(words), 0);
}

static struct {
	aclrtContext context;
	aclmdlRI model;
	aclrtStream streams[BOUND];
	pthread_barrier_t start;
} shared;

static void build(void)
{
	assert_ok(aclmdlRIBuildBegin(&shared.model, 0));
	for (int i = 0; i < BOUND; i++) {
		assert_ok(aclrtCreateStreamWithConfig(&shared.streams[i], 0, ACL_STREAM_PERSISTENT));
		assert_ok(aclmdlRIBindStream(shared.model, shared.streams[i], ACL_MODEL_STREAM_FLAG_HEAD));
		step(words + i, 1, 1, shared.streams[i]);
	}
	assert_ok(aclmdlRIEndTask(shared.model, shared.streams[0]));
	assert_ok(aclmdlRIBuildEnd(shared.model, NULL));
}

static void start_together(void)
{
	aclrtSetCurrentContext(shared.context);
	pthread_barrier_wait(&shared.start);
}

static void *unbind(void *stream)
{
	start_together();
	return (void *)(intptr_t)aclmdlRIUnbindStream(shared.model, *(aclrtStream *)stream);
}

static void *clean(void *stream)
{
	start_together();
	return (void *)(intptr_t)aclrtPersistentTaskClean(*(aclrtStream *)stream);
}

static void *execute(void *arg)
{
	(void)arg;
	start_together();
	for (int i = 0; i < 5; i++)
		(void)aclmdlRIExecuteAsync(shared.model, first);
	return NULL;
}

static void check_answer(pthread_t thread)
{
	void *answer;
	int code;

	assert_int_equal(pthread_join(thread, &answer), 0);
	code = (int)(intptr_t)answer;
	if (code && code != ACL_ERROR_RT_STREAM_MODEL && code != ACL_ERROR_RT_INVALID_HANDLE &&
	    code != ACL_ERROR_RT_INTERNAL_ERROR)
		fail_msg("a thread got %d", code);
}

/* Whoever comes first; the others find the stream or the model gone. */
static void a_model_is_taken_apart_by_several_threads(void **state)
{
	pthread_t threads[BOUND], runner;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&shared.context));
	assert_int_equal(pthread_barrier_init(&shared.start, NULL, BOUND + 2), 0);
	for (int i = 0; i < ROUNDS; i++) {
		build();
		for (int k = 0; k < BOUND; k++)
			assert_int_equal(pthread_create(&threads[k], NULL, k < 2 || i % 2 ? unbind : clean,
							&shared.streams[k]), 0);
		assert_int_equal(pthread_create(&runner, NULL, execute, NULL), 0);
		pthread_barrier_wait(&shared.start);
		assert_ok(aclmdlRIDestroy(shared.model));
		for (int k = 0; k < BOUND; k++)
			check_answer(threads[k]);
		check_answer(runner);
		(void)aclrtSynchronizeStream(first); /* a run may have found no end mark any more */
		for (int k = 0; k < BOUND; k++)
			assert_ok(aclrtDestroyStream(shared.streams[k]));
	}
	pthread_barrier_destroy(&shared.start);
}

/* A join may still be looking at the streams when they are idle. */
static void streams_are_unbound_behind_runs(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		build();
		for (int k = 0; k < 3; k++)
			assert_ok(aclmdlRIExecuteAsync(shared.model, first));
		for (int k = 0; k < BOUND; k++)
			assert_ok(aclmdlRIUnbindStream(shared.model, shared.streams[k]));
		assert_ok(aclrtSynchronizeStream(first));
		assert_ok(aclmdlRIDestroy(shared.model));
		for (int k = 0; k < BOUND; k++)
			assert_ok(aclrtDestroyStream(shared.streams[k]));
	}
}

static atomic_bool spins;

/* For ever, most of it in libc, where it cannot be left. A run that is to begin afterwards waits until it has been. */
static void spin_kernel(const void *args, const struct vinci_block *block)
{
	char text[64];

	(void)args;
	(void)block;
	atomic_store(&spins, true);
	while (snprintf(text, sizeof(text), "%p %f", (void *)text, 1e30) > 0)
		atomic_load(&spins);
}

static const struct vinci_kernel spin_desc = { .abi = VINCI_KERNEL_ABI, .name = "spin", .run = spin_kernel };

static void *wait_for_stream(void *stream)
{
	start_together();
	return (void *)(intptr_t)aclrtSynchronizeStream(stream);
}

/* Whoever runs the stream runs the model's own inside of it: a worker, or a thread that waits. */
static void check_ended(aclmdlRI model, aclError (*end)(aclrtStream stream), int code)
{
	pthread_t waiter;
	void *answer;

	for (int i = 0; i < 10; i++) {
		atomic_store(&spins, false);
		assert_ok(aclmdlRIExecuteAsync(model, second));
		if (i % 2) {
			assert_int_equal(pthread_create(&waiter, NULL, wait_for_stream, second), 0);
			pthread_barrier_wait(&shared.start);
		}
		while (!atomic_load(&spins))
			sched_yield();
		assert_ok(end(second));
		if (i % 2) {
			assert_int_equal(pthread_join(waiter, &answer), 0);
			assert_true((intptr_t)answer == code || (intptr_t)answer == 0); /* 0: it came too late */
		}
		(void)aclrtSynchronizeStream(second);
	}
}

/* covers: aclrtStreamStop, aclrtStreamAbort effect */
static void a_run_ends_with_its_stream(void **state)
{
	aclmdlRI model;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&shared.context));
	assert_int_equal(pthread_barrier_init(&shared.start, NULL, 2), 0);
	assert_ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
	assert_int_equal(vinciLaunchKernel(&spin_desc, 1, first, NULL, 0), 0);
	model = captured(first);
	check_ended(model, aclrtStreamStop, ACL_ERROR_RT_TASK_ABORT_STOP);
	check_ended(model, aclrtStreamAbort, ACL_ERROR_RT_STREAM_ABORT);
	assert_ok(aclmdlRIDestroy(model));
	pthread_barrier_destroy(&shared.start);
}

/* covers: aclmdlRICaptureBegin failure */
static void a_stream_that_changes_tasks_is_not_captured(void **state)
{
	aclmdlRI model, other;
	aclrtStream stream;
	aclrtTaskGrp group;
	aclrtEvent event;

	(void)state;
	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
	assert_ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
	assert_ok(aclmdlRICaptureTaskGrpBegin(first));
	step(words, 1, 1, first);
	assert_ok(aclmdlRICaptureTaskGrpEnd(first, &group));
	model = captured(first);

	assert_ok(aclmdlRICaptureTaskUpdateBegin(stream, group));
	assert_code(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
		    ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_ok(aclmdlRICaptureBegin(second, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
	assert_ok(aclrtRecordEvent(event, second));
	assert_code(aclrtStreamWaitEvent(stream, event), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
	assert_code(aclmdlRICaptureEnd(second, &other), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
	step(words, 1, 2, stream);
	assert_ok(aclmdlRICaptureTaskUpdateEnd(stream));
	word_set(words, 0);
	run(model, stream);
	assert_int_equal(word_get(words), 2);
	assert_ok(aclmdlRICaptureTaskUpdateBegin(stream, group));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclmdlRIDestroy(model));
}

/* covers: aclrtCmoAsyncWithDesc failure */
static void descriptions_of_cache_operations_may_have_gone(void **state)
{
	aclmdlRI model;
	void *desc;

	(void)state;
	assert_ok(aclrtMalloc(&desc, 8u << 20, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtCmoSetDesc(desc, words, WORDS * 8));
	assert_ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
	assert_ok(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, first, NULL));
	model = captured(first);
	run(model, second);
	assert_ok(aclrtFree(desc));
	assert_ok(aclmdlRIExecuteAsync(model, second));
	assert_code(aclrtSynchronizeStream(second), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_ok(aclmdlRIDestroy(model));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_runs_end_at_once),
		cmocka_unit_test(a_model_is_taken_apart_by_several_threads),
		cmocka_unit_test(streams_are_unbound_behind_runs),
		cmocka_unit_test(a_run_ends_with_its_stream),
		cmocka_unit_test(a_stream_that_changes_tasks_is_not_captured),
		cmocka_unit_test(descriptions_of_cache_operations_may_have_gone),
	};

	return cmocka_run_group_tests(tests, model_set_up, model_tear_down);
}
