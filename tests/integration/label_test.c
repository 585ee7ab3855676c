/* SPDX-License-Identifier: MIT */
/* label_test.c - models that are built: bound streams, labels, streams that start others. */
#include "acl/acl_mdl.h"
#include "model_util.h"

#define HEAD ACL_MODEL_STREAM_FLAG_HEAD
#define LATER ACL_MODEL_STREAM_FLAG_DEFAULT

static aclrtStream persistent_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
	return stream;
}

/* A model with @count streams, of which the first begins with it. */
static aclmdlRI build(aclrtStream *streams, unsigned count)
{
	aclmdlRI model = NULL;

	assert_ok(aclmdlRIBuildBegin(&model, 0));
	for (unsigned i = 0; i < count; i++) {
		streams[i] = persistent_new();
		assert_ok(aclmdlRIBindStream(model, streams[i], i ? LATER : HEAD));
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
	for (unsigned i = 0; i < count; i++)
		assert_ok(aclmdlRIUnbindStream(model, streams[i]));
	assert_ok(aclmdlRIDestroy(model));
	for (unsigned i = 0; i < count; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
}

/* An index or an operand in device memory. */
static void narrow_set(void *ptr, uint32_t value)
{
	assert_ok(aclrtMemcpy(ptr, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE));
}

/* --- building ----------------------------------------------------------------------------------- */

/* covers: aclmdlRIBuildBegin, aclmdlRIBindStream, aclmdlRIEndTask, aclmdlRIBuildEnd effect */
/* covers: aclmdlRIExecute, aclmdlRIUnbindStream effect */
static void bound_streams_record(void **state)
{
	aclrtStream streams[2];
	aclmdlRI model = build(streams, 1);

	(void)state;
	streams[1] = persistent_new();
	assert_ok(aclmdlRIBindStream(model, streams[1], HEAD));
	word_set(words, 1);
	word_set(&words[1], 0);
	step(words, 10, 2, streams[0]);
	assert_ok(aclrtSynchronizeStream(streams[0]));
	step(&words[1], 1, 1, streams[1]);
	assert_ok(aclrtMemcpyAsync(&words[2], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[0]));
	complete(model, streams[0]);
	assert_int_equal(word_get(words), 1);
	assert_ok(aclmdlRIExecute(model, -1));
	assert_int_equal(word_get(&words[2]), 12);
	assert_ok(aclmdlRIExecute(model, LONG_MS));
	assert_int_equal(word_get(&words[2]), 122);
	run(model, first);
	assert_int_equal(word_get(&words[2]), 1222);
	assert_int_equal(word_get(&words[1]), 3);
	remove_all(model, streams, 2);
}

/* covers: aclmdlRIBuildBegin, aclmdlRIBindStream, aclmdlRIEndTask, aclmdlRIBuildEnd failure */
/* covers: aclmdlRIExecute, aclmdlRIUnbindStream failure */
static void building_goes_by_rules(void **state)
{
	aclrtStream stream = persistent_new(), other = persistent_new();
	aclmdlRI model, captured_one;

	(void)state;
	assert_code(aclmdlRIBuildBegin(NULL, 0), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRIBuildBegin(&model, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRIBuildBegin(&model, 0));
	assert_code(aclmdlRIBindStream(model, first, HEAD), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIBindStream(model, stream, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIBindStream(words, stream, HEAD), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRIUnbindStream(model, stream), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclmdlRIEndTask(model, stream), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_ok(aclmdlRIBindStream(model, stream, HEAD));
	assert_code(aclmdlRIBindStream(model, stream, HEAD), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclmdlRIExecute(model, -1), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_ok(aclmdlRIEndTask(model, stream));
	assert_code(aclmdlRIEndTask(model, stream), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclmdlRIExecuteAsync(model, first), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_code(aclmdlRIBuildEnd(model, &model), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclmdlRIBuildEnd(model, NULL));
	assert_code(aclmdlRIBindStream(model, other, HEAD), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtMemsetAsync(words, 8, 0, 8, stream), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclmdlRIExecuteAsync(model, other), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIExecute(model, 0), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIExecute(model, -2), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRIExecute(model, -1));
	assert_ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
	captured_one = captured(first);
	assert_code(aclmdlRIExecute(captured_one, -1), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIBindStream(captured_one, other, HEAD), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIEndTask(captured_one, other), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIBuildEnd(captured_one, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRIDestroy(captured_one));
	assert_ok(aclmdlRIDestroy(model)); /* which unbinds */
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
}

static void a_run_may_take_too_long(void **state)
{
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);

	(void)state;
	word_set(words, 0);
	assert_ok(aclrtValueWait(words, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
	complete(model, stream);
	assert_code(aclmdlRIExecute(model, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	word_signal(words, 1);
	assert_ok(aclrtSynchronizeStream(NULL));
	remove_all(model, &stream, 1);
}

static void events_of_the_old_kind_happen_in_each_run(void **state)
{
	aclrtEvent event, modern;
	aclrtStream streams[2];
	aclmdlRI model = build(streams, 1);

	(void)state;
	streams[1] = persistent_new();
	assert_ok(aclmdlRIBindStream(model, streams[1], HEAD));
	assert_ok(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
	assert_ok(aclrtCreateEventExWithFlag(&modern, ACL_EVENT_SYNC));
	assert_code(aclrtRecordEvent(modern, streams[0]), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclrtStreamWaitEvent(streams[0], modern), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	word_set(words, 0);
	word_set(&words[1], 0);
	step(words, 1, 1, streams[0]);
	assert_ok(aclrtRecordEvent(event, streams[0]));
	assert_ok(aclrtStreamWaitEvent(streams[1], event));
	assert_ok(aclrtResetEvent(event, streams[1]));
	assert_ok(aclrtMemcpyAsync(&words[1], 8, words, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[1]));
	complete(model, streams[1]);
	for (uint64_t i = 1; i <= 50; i++) {
		run(model, first);
		assert_int_equal(word_get(&words[1]), i);
	}
	remove_all(model, streams, 2);
	assert_ok(aclrtDestroyEvent(event));
	assert_ok(aclrtDestroyEvent(modern));
}

/* covers: aclrtPersistentTaskClean effect */
static void a_stream_can_record_anew(void **state)
{
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);

	(void)state;
	word_set(words, 0);
	step(words, 1, 1, stream);
	complete(model, stream);
	run(model, first);
	assert_ok(aclrtPersistentTaskClean(stream));
	assert_code(aclmdlRIExecuteAsync(model, first), ACL_ERROR_RT_MODEL_EXECUTE);
	step(words, 1, 10, stream);
	complete(model, stream);
	run(model, first);
	assert_int_equal(word_get(words), 11);
	remove_all(model, &stream, 1);
}

/* covers: aclrtPersistentTaskClean failure */
static void only_what_records_is_cleaned(void **state)
{
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);
	aclrtStream loose = persistent_new();

	(void)state;
	assert_code(aclrtPersistentTaskClean(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtPersistentTaskClean(first), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtPersistentTaskClean(loose), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtPersistentTaskClean(stream), ACL_ERROR_RT_INTERNAL_ERROR);
	remove_all(model, &stream, 1);
	assert_ok(aclrtDestroyStream(loose));
}

/* --- labels ------------------------------------------------------------------------------------- */

/* covers: aclrtCreateLabel, aclrtSetLabel, aclrtDestroyLabel effect */
/* covers: aclrtCreateLabelList, aclrtDestroyLabelList, aclrtSwitchLabelByIndex effect */
static void a_switch_goes_to_a_label(void **state)
{
	static const uint64_t wanted[] = { 123, 23, 3, 3 };
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);
	aclrtLabelList list;
	aclrtLabel labels[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_ok(aclrtCreateLabel(&labels[i]));
	assert_ok(aclrtCreateLabelList(labels, 3, &list));
	assert_ok(aclrtSwitchLabelByIndex(&words[1], 3, list, stream));
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(aclrtSetLabel(labels[i], stream));
		step(words, 10, i + 1, stream);
	}
	complete(model, stream);
	assert_ok(aclrtDestroyLabelList(list));
	for (uint32_t i = 0; i < 4; i++) { /* an index beyond the list is its last */
		word_set(words, 0);
		narrow_set(&words[1], i);
		run(model, first);
		assert_int_equal(word_get(words), wanted[i]);
	}
	remove_all(model, &stream, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_ok(aclrtDestroyLabel(labels[i]));
}

static void a_label_may_lie_on_another_stream(void **state)
{
	aclrtStream streams[3];
	aclmdlRI model = build(streams, 3);
	aclrtLabelList list;
	aclrtLabel labels[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_ok(aclrtCreateLabel(&labels[i]));
	assert_ok(aclrtCreateLabelList(labels, 2, &list));
	step(words, 10, 1, streams[0]);
	assert_ok(aclrtSwitchLabelByIndex(&words[1], 2, list, streams[0]));
	step(words, 10, 9, streams[0]); /* left out */
	for (unsigned i = 0; i < 2; i++) {
		step(words, 10, 8, streams[1 + i]); /* left out */
		assert_ok(aclrtSetLabel(labels[i], streams[1 + i]));
		step(words, 10, 2 + i, streams[1 + i]);
	}
	complete(model, streams[2]);
	word_set(words, 0);
	narrow_set(&words[1], 1);
	run(model, first);
	assert_int_equal(word_get(words), 13);
	/* That way does not come to the end. */
	narrow_set(&words[1], 0);
	assert_ok(aclmdlRIExecuteAsync(model, first));
	assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_int_equal(word_get(words), (13 * 10 + 1) * 10 + 2);
	remove_all(model, streams, 3);
	assert_ok(aclrtDestroyLabelList(list));
	for (unsigned i = 0; i < 2; i++)
		assert_ok(aclrtDestroyLabel(labels[i]));
}

/* A kernel counts down, and the switch goes back while there is something left. */
static void count_down(const void *args, const struct vinci_block *block)
{
	uint64_t *word = *(uint64_t *const *)args;

	(void)block;
	word[0]++;
	word[1] = word[0] < 1000 ? 0 : 1;
}

static const struct vinci_kernel count_desc = {
	.abi = VINCI_KERNEL_ABI,
	.name = "count down",
	.run = count_down,
	.args_size = 8,
};

static void labels_make_loops(void **state)
{
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);
	aclrtLabelList list;
	aclrtLabel labels[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_ok(aclrtCreateLabel(&labels[i]));
	assert_ok(aclrtCreateLabelList(labels, 2, &list));
	word_set(words, 0);
	assert_ok(aclrtSetLabel(labels[0], stream));
	assert_int_equal(vinciLaunchKernel(&count_desc, 1, stream, &words, 8), 0);
	assert_ok(aclrtSwitchLabelByIndex(&words[1], 2, list, stream));
	assert_ok(aclrtSetLabel(labels[1], stream));
	complete(model, stream);
	run(model, first);
	assert_int_equal(word_get(words), 1000);
	remove_all(model, &stream, 1);
	assert_ok(aclrtDestroyLabelList(list));
	for (unsigned i = 0; i < 2; i++)
		assert_ok(aclrtDestroyLabel(labels[i]));
}

/* covers: aclrtCreateLabel, aclrtSetLabel, aclrtDestroyLabel failure */
/* covers: aclrtCreateLabelList, aclrtDestroyLabelList, aclrtSwitchLabelByIndex failure */
static void labels_are_checked(void **state)
{
	aclrtLabel label, other, dead;
	aclrtContext context, own;
	aclrtLabelList list;
	aclrtStream stream;
	aclmdlRI model = build(&stream, 1);

	(void)state;
	assert_ok(aclrtCreateLabel(&label));
	assert_ok(aclrtCreateLabel(&other));
	assert_ok(aclrtCreateLabel(&dead));
	assert_ok(aclrtDestroyLabel(dead));
	assert_code(aclrtCreateLabel(NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtDestroyLabel(dead), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtSetLabel(label, first), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtSetLabel(label, stream), ACL_ERROR_RT_INTERNAL_ERROR); /* in no list */
	assert_code(aclrtCreateLabelList(&label, 0, &list), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCreateLabelList(&label, 65536, &list), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtCreateLabelList((aclrtLabel[]){ other, dead }, 2, &list), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclrtCreateLabelList((aclrtLabel[]){ other, other }, 2, &list), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_ok(aclrtCreateLabelList(&label, 1, &list));
	assert_ok(aclrtSetLabel(label, stream));
	assert_code(aclrtSetLabel(label, stream), ACL_ERROR_RT_INTERNAL_ERROR);
	assert_code(aclrtSwitchLabelByIndex(words, 0, list, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtSwitchLabelByIndex(words, 2, list, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtSwitchLabelByIndex(&label, 1, list, stream), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclrtSwitchLabelByIndex(words, 1, list, first), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtSwitchLabelByIndex(words, 1, label, stream), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtGetCurrentContext(&own));
	assert_ok(aclrtCreateContext(&context, 0));
	assert_code(aclrtDestroyLabel(label), ACL_ERROR_RT_LABEL_CONTEXT);
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtSetCurrentContext(own));
	assert_ok(aclrtDestroyLabelList(list));
	assert_code(aclrtDestroyLabelList(list), ACL_ERROR_RT_INVALID_HANDLE);
	complete(model, stream);
	run(model, first);
	remove_all(model, &stream, 1);
	assert_ok(aclrtDestroyLabel(label));
	assert_ok(aclrtDestroyLabel(other));
}

/* --- streams that start others ------------------------------------------------------------------ */

/* covers: aclrtActiveStream effect */
static void a_stream_starts_another(void **state)
{
	aclrtStream streams[3];
	aclmdlRI model = build(streams, 3);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		word_set(&words[i], 0);
	step(words, 1, 1, streams[0]);
	assert_ok(aclrtActiveStream(streams[1], streams[0]));
	step(words, 1, 1, streams[0]); /* beside it */
	step(&words[1], 1, 1, streams[1]);
	step(&words[2], 1, 1, streams[2]); /* never started */
	complete(model, streams[1]);
	for (uint64_t i = 1; i <= 50; i++) {
		run(model, first);
		assert_int_equal(word_get(words), 2 * i);
		assert_int_equal(word_get(&words[1]), i);
	}
	assert_int_equal(word_get(&words[2]), 0);
	remove_all(model, streams, 3);
}

static void switched(int cond, int type, int64_t left, int64_t right, bool taken)
{
	aclrtStream streams[2];
	aclmdlRI model = build(streams, 2);

	word_set(words, 0);
	assert_ok(aclrtSwitchStream(&words[1], (aclrtCondition)cond, &words[2], (aclrtCompareDataType)type, streams[1],
				    NULL, streams[0]));
	step(words, 10, 1, streams[0]);
	assert_ok(aclrtActiveStream(streams[1], streams[0]));
	step(words, 10, 2, streams[1]);
	complete(model, streams[1]);
	word_set(&words[1], (uint64_t)left);
	word_set(&words[2], (uint64_t)right);
	run(model, first);
	assert_int_equal(word_get(words), taken ? 2 : 12);
	remove_all(model, streams, 2);
}

/* covers: aclrtSwitchStream effect */
static void a_comparison_chooses_the_stream(void **state)
{
	/* [condition][left less, equal, greater] */
	static const bool taken[6][3] = {
		{ 0, 1, 0 }, { 1, 0, 1 }, { 0, 0, 1 }, { 0, 1, 1 }, { 1, 0, 0 }, { 1, 1, 0 }
	};

	(void)state;
	for (int cond = 0; cond < 6; cond++)
		for (int order = 0; order < 3; order++) {
			switched(cond, ACL_RT_SWITCH_INT64, -3 + order, -2, taken[cond][order]);
			switched(cond, ACL_RT_SWITCH_INT32, -3 + order, -2, taken[cond][order]);
		}
	/* Of the narrow type the upper half does not count. */
	switched(ACL_RT_EQUAL, ACL_RT_SWITCH_INT32, INT64_C(1) << 32, 0, true);
	switched(ACL_RT_EQUAL, ACL_RT_SWITCH_INT64, INT64_C(1) << 32, 0, false);
}

/* covers: aclrtActiveStream, aclrtSwitchStream failure */
static void only_streams_of_one_model_start_each_other(void **state)
{
	aclrtStream streams[1], others[1];
	aclmdlRI model = build(streams, 1), other = build(others, 1);

	(void)state;
	assert_code(aclrtActiveStream(NULL, streams[0]), ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtActiveStream(first, streams[0]), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtActiveStream(streams[0], first), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtActiveStream(others[0], streams[0]), ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtSwitchStream(words, ACL_RT_EQUAL, words, ACL_RT_SWITCH_INT32, first, NULL, streams[0]),
		    ACL_ERROR_RT_STREAM_MODEL);
	assert_code(aclrtSwitchStream(words, ACL_RT_EQUAL, words, ACL_RT_SWITCH_INT32, streams[0], first, streams[0]),
		    ACL_ERROR_INVALID_PARAM);
	assert_code(aclrtSwitchStream(&model, ACL_RT_EQUAL, words, ACL_RT_SWITCH_INT32, streams[0], NULL, streams[0]),
		    ACL_ERROR_RT_PARAM_INVALID);
	assert_code(
		aclrtSwitchStream(words, (aclrtCondition)6, words, ACL_RT_SWITCH_INT32, streams[0], NULL, streams[0]),
		ACL_ERROR_RT_PARAM_INVALID);
	assert_code(
		aclrtSwitchStream(words, ACL_RT_EQUAL, words, (aclrtCompareDataType)2, streams[0], NULL, streams[0]),
		ACL_ERROR_RT_PARAM_INVALID);
	remove_all(model, streams, 1);
	remove_all(other, others, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_streams_record),
		cmocka_unit_test(building_goes_by_rules),
		cmocka_unit_test(a_run_may_take_too_long),
		cmocka_unit_test(events_of_the_old_kind_happen_in_each_run),
		cmocka_unit_test(a_stream_can_record_anew),
		cmocka_unit_test(only_what_records_is_cleaned),
		cmocka_unit_test(a_switch_goes_to_a_label),
		cmocka_unit_test(a_label_may_lie_on_another_stream),
		cmocka_unit_test(labels_make_loops),
		cmocka_unit_test(labels_are_checked),
		cmocka_unit_test(a_stream_starts_another),
		cmocka_unit_test(a_comparison_chooses_the_stream),
		cmocka_unit_test(only_streams_of_one_model_start_each_other),
	};

	return cmocka_run_group_tests(tests, model_set_up, model_tear_down);
}
