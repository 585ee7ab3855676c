/* SPDX-License-Identifier: MIT */
/* barrier_test.c - cache operations with barriers, in models, on an Atlas 200I/500 A2. */
#include "acl/acl_mdl.h"
#include "model_util.h"

#include <sched.h>

#define INVALID ACL_RT_CMO_TYPE_INVALID

static atomic_int open_gate, reached;

/* Waits until the test opens the gate. */
static void gate_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	atomic_store(&reached, 1);
	while (!atomic_load(&open_gate))
		sched_yield();
}

static const struct vinci_kernel gate_desc = { .abi = VINCI_KERNEL_ABI, .name = "gate", .run = gate_kernel };

static void gate(aclrtStream stream)
{
	assert_int_equal(vinciLaunchKernel(&gate_desc, 1, stream, NULL, 0), 0);
}

static aclrtBarrierTaskInfo barriers(size_t count, uint32_t a, uint32_t b)
{
	return (aclrtBarrierTaskInfo){ .barrierNum = count, .cmoInfo = { { INVALID, a }, { INVALID, b } } };
}

/* A model of @count streams that begin together. */
static aclmdlRI build(aclrtStream *streams, unsigned count)
{
	aclmdlRI model = NULL;

	assert_ok(aclmdlRIBuildBegin(&model, 0));
	for (unsigned i = 0; i < count; i++) {
		assert_ok(aclrtCreateStreamWithConfig(&streams[i], 0, ACL_STREAM_PERSISTENT));
		assert_ok(aclmdlRIBindStream(model, streams[i], ACL_MODEL_STREAM_FLAG_HEAD));
	}
	return model;
}

static void complete(aclmdlRI model, aclrtStream last)
{
	assert_ok(aclmdlRIEndTask(model, last));
	assert_ok(aclmdlRIBuildEnd(model, NULL));
}

static void remove_all(aclmdlRI model, aclrtStream *streams, unsigned count)
{
	assert_ok(aclmdlRIDestroy(model));
	for (unsigned i = 0; i < count; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
}

/* The product runs models at once alone. */
static void run_once(aclmdlRI model)
{
	assert_ok(aclmdlRIExecute(model, LONG_MS));
}

static void *execute(void *model)
{
	return (void *)(intptr_t)(aclrtSetDevice(0) ? -1 : aclmdlRIExecute(model, LONG_MS));
}

static pthread_t start(aclmdlRI model)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, execute, model), 0);
	return thread;
}

static aclError end(pthread_t thread)
{
	void *code;

	assert_int_equal(pthread_join(thread, &code), 0);
	return (aclError)(intptr_t)code;
}

static bool is_reached(void *arg)
{
	(void)arg;
	return atomic_load(&reached);
}

/* covers: aclrtCmoAsyncWithBarrier, aclrtCmoWaitBarrier effect */
static void a_stream_waits_for_another(void **state)
{
	aclrtBarrierTaskInfo info = barriers(1, 7, 0);
	aclrtStream streams[2];
	aclmdlRI model = build(streams, 2);
	pthread_t thread;

	(void)state;
	gate(streams[0]);
	step(words, 1, 1, streams[0]);
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 7, streams[0]));
	assert_ok(aclrtCmoWaitBarrier(&info, streams[1], 0));
	step(words, 10, 0, streams[1]);
	complete(model, streams[1]);
	for (int round = 0; round < 3; round++) { /* each run waits anew */
		word_set(words, 1);
		atomic_store(&open_gate, 0);
		atomic_store(&reached, 0);
		thread = start(model);
		assert_true(t_until(is_reached, NULL, LONG_MS));
		assert_int_equal(word_get(words), 1);
		atomic_store(&open_gate, 1);
		assert_ok(end(thread));
		assert_int_equal(word_get(words), 20);
	}
	remove_all(model, streams, 2);
}

/* covers: aclrtCmoAsyncWithBarrier, aclrtCmoWaitBarrier effect */
static void it_may_wait_for_several(void **state)
{
	aclrtBarrierTaskInfo info = barriers(2, 1, UINT32_MAX);
	aclrtStream streams[3];
	aclmdlRI model = build(streams, 3);

	(void)state;
	for (int i = 0; i < 2; i++) {
		step(&words[i], 1, 1, streams[i]);
		assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, i ? UINT32_MAX : 1, streams[i]));
		step(&words[2 + i], 1, 1, streams[i]);
		assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, i ? UINT32_MAX : 1, streams[i])); /* once more */
	}
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, ACL_RT_CMO_TYPE_PREFETCH, 0, streams[2]));
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, ACL_RT_CMO_TYPE_WRITEBACK, 0, streams[2]));
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, ACL_RT_CMO_TYPE_FLUSH, 0, streams[2]));
	assert_ok(aclrtCmoWaitBarrier(&info, streams[2], 1));
	for (int i = 0; i < 4; i++)
		step(&words[i], 2, 0, streams[2]);
	complete(model, streams[2]);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++)
			word_set(&words[i], 3);
		run_once(model);
		for (int i = 0; i < 4; i++)
			assert_int_equal(word_get(&words[i]), 8);
	}
	remove_all(model, streams, 3);
}

/* covers: aclrtCmoAsyncWithBarrier effect */
static void its_own_stream_does_not_wait(void **state)
{
	aclrtBarrierTaskInfo info = barriers(1, 9, 0);
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);

	(void)state;
	word_set(words, 1);
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 9, stream));
	assert_ok(aclrtCmoWaitBarrier(&info, stream, 0));
	assert_ok(aclrtCmoWaitBarrier(&info, stream, 0));
	step(words, 3, 0, stream);
	complete(model, stream);
	run_once(model);
	assert_int_equal(word_get(words), 3);
	remove_all(model, &stream, 1);
}

/* What was to be waited for has gone with its stream: the run does not end by itself. */
static void an_operation_that_is_gone_never_comes(void **state)
{
	aclrtBarrierTaskInfo info = barriers(1, 4, 0);
	aclrtStream streams[2];
	aclmdlRI model = build(streams, 2);

	(void)state;
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 4, streams[0]));
	assert_ok(aclrtCmoWaitBarrier(&info, streams[1], 0));
	assert_ok(aclmdlRIUnbindStream(model, streams[0]));
	assert_code(aclrtCmoWaitBarrier(&info, streams[1], 0), ACL_ERROR_RT_STREAM_MODEL);
	complete(model, streams[1]);
	assert_code(aclmdlRIExecute(model, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(aclmdlRIAbort(model));
	assert_int_not_equal(aclrtSynchronizeStream(NULL), ACL_SUCCESS); /* says so once */
	remove_all(model, streams, 2);
}

/* covers: aclrtCmoAsyncWithBarrier, aclrtCmoWaitBarrier failure */
static void arguments_are_checked(void **state)
{
	aclrtBarrierTaskInfo info = barriers(1, 5, 0), wrong;
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);
	char here[8];

	(void)state;
	assert_code(aclrtCmoAsyncWithBarrier(NULL, 8, INVALID, 5, stream), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtCmoAsyncWithBarrier(words, 0, INVALID, 5, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 0, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, ACL_RT_CMO_TYPE_FLUSH, 5, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, 4, 5, stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtCmoAsyncWithBarrier(here, 8, INVALID, 5, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 5, (aclrtStream)here), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 5, NULL), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 5, first), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtCmoWaitBarrier(&info, stream, 0), ACL_ERROR_RT_STREAM_MODEL);
	assert_ok(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 5, stream));
	assert_code(aclrtCmoWaitBarrier(NULL, stream, 0), ACL_ERROR_INVALID_PARAM);
	wrong = barriers(0, 5, 5);
	assert_code(aclrtCmoWaitBarrier(&wrong, stream, 0), ACL_ERROR_INVALID_PARAM);
	wrong = barriers(7, 5, 5);
	assert_code(aclrtCmoWaitBarrier(&wrong, stream, 0), ACL_ERROR_INVALID_PARAM);
	wrong = barriers(2, 5, 0);
	assert_code(aclrtCmoWaitBarrier(&wrong, stream, 0), ACL_ERROR_RT_PARAM_INVALID);
	wrong.cmoInfo[1] = (aclrtBarrierCmoInfo){ ACL_RT_CMO_TYPE_FLUSH, 5 };
	assert_code(aclrtCmoWaitBarrier(&wrong, stream, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCmoWaitBarrier(&info, first, 0), ACL_ERROR_RT_INTERNAL_ERROR);
	complete(model, stream);
	assert_code(aclrtCmoWaitBarrier(&info, stream, 0), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtCmoAsyncWithBarrier(words, 8, INVALID, 5, stream), ACL_ERROR_RT_STREAM_MODEL);
	run_once(model);
	remove_all(model, &stream, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_waits_for_another),
		cmocka_unit_test(it_may_wait_for_several),
		cmocka_unit_test(its_own_stream_does_not_wait),
		cmocka_unit_test(an_operation_that_is_gone_never_comes),
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, model_set_up, model_tear_down);
}
