/* SPDX-License-Identifier: MIT */
/* model_cond_test.c - branches of captured models. */
#include "model_util.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define IF ACL_MODEL_RI_COND_TYPE_IF
#define WHILE ACL_MODEL_RI_COND_TYPE_WHILE
#define SWITCH ACL_MODEL_RI_COND_TYPE_SWITCH
#define BRANCHES 3

/* The model that @first is being captured for. */
static aclmdlRI capturing(void)
{
	aclmdlRI model = NULL;

	assert_ok(aclmdlRICaptureGetInfo(first, NULL, &model));
	assert_non_null(model);
	return model;
}

static aclmdlRICondHandle condition(aclmdlRI model, uint32_t start, int flag)
{
	aclmdlRICondHandle cond = NULL;

	assert_ok(aclmdlRICondHandleCreate(model, start, (aclmdlRICondHandleFlag)flag, &cond));
	return cond;
}

static uint64_t *pointer(aclmdlRICondHandle cond)
{
	uint64_t *value = NULL;

	assert_ok(aclmdlRICondHandleGetCondPtr(cond, &value));
	return value;
}

static void add(aclmdlRICondHandle cond, int type, uint32_t size, aclmdlRI *branches, aclrtStream stream)
{
	aclmdlRICondTaskParams params = {
		.handle = cond, .type = (aclmdlRICondTaskType)type, .size = size, .modelRIArray = branches
	};

	assert_ok(aclmdlRIAddCondTask(params, stream, 0));
}

static void begin_branch(aclmdlRI branch)
{
	assert_ok(aclmdlRICaptureToModelRIBegin(second, branch, RELAXED));
}

static void end_branch(void)
{
	assert_ok(aclmdlRICaptureEnd(second, NULL));
}

/* word 0: 1, then the branch's digit (1, 2, ...), then 9 */
static aclmdlRI choice(int type, uint32_t size, uint64_t **value)
{
	aclmdlRI branches[BRANCHES] = { 0 };
	aclmdlRICondHandle cond;

	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	cond = condition(capturing(), 0, 0);
	*value = pointer(cond);
	step(words, 0, 1, first);
	add(cond, type, size, branches, first);
	step(words, 10, 9, first);
	for (uint32_t i = 0; i < size; i++) {
		begin_branch(branches[i]);
		step(words, 10, i + 1, second);
		end_branch();
	}
	return captured(first);
}

static void chosen(aclmdlRI model, uint64_t *value, uint64_t now, uint64_t result)
{
	word_set(value, now);
	run(model, first);
	assert_int_equal(word_get(words), result);
}

/* covers: aclmdlRICondHandleCreate, aclmdlRICondHandleGetCondPtr, aclmdlRIAddCondTask effect */
/* covers: aclmdlRICaptureToModelRIBegin effect */
static void a_condition_chooses_its_branch(void **state)
{
	uint64_t *value;
	aclmdlRI model = choice(IF, 1, &value);

	(void)state;
	chosen(model, value, 0, 19);
	chosen(model, value, 1, 119);
	chosen(model, value, UINT64_C(1) << 32, 119);
	assert_ok(aclmdlRIDestroy(model));
	model = choice(IF, 2, &value);
	chosen(model, value, 5, 119);
	chosen(model, value, 0, 129);
	assert_ok(aclmdlRIDestroy(model));
	model = choice(SWITCH, 3, &value);
	for (uint64_t i = 0; i < 3; i++)
		chosen(model, value, i, 109 + 10 * (i + 1));
	chosen(model, value, 3, 19);
	chosen(model, value, UINT64_MAX, 19);
	assert_ok(aclmdlRIDestroy(model));
}

struct count_args {
	uint64_t *word, *value, most;
};

static void count_kernel(const void *args, const struct vinci_block *block)
{
	const struct count_args *a = args;

	(void)block;
	*a->value = ++*a->word < a->most;
}

static const struct vinci_kernel count_desc = {
	.abi = VINCI_KERNEL_ABI,
	.name = "count",
	.run = count_kernel,
	.args_size = sizeof(struct count_args),
};

static void a_branch_is_run_again_while_the_condition_holds(void **state)
{
	aclmdlRICondHandle cond;
	struct count_args args;
	aclmdlRI branch, model;

	(void)state;
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	cond = condition(capturing(), 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	args = (struct count_args){ words, pointer(cond), 500 };
	step(words, 0, 0, first);
	add(cond, WHILE, 1, &branch, first);
	step(words, 10, 1, first);
	begin_branch(branch);
	assert_int_equal(vinciLaunchKernel(&count_desc, 1, second, &args, sizeof(args)), 0);
	end_branch();
	model = captured(first);
	for (unsigned i = 0; i < 20; i++) {
		assert_ok(aclmdlRIExecuteAsync(model, i % 2 ? first : second));
		if (i % 3)
			assert_ok(aclrtSynchronizeStream(i % 2 ? first : second));
		else
			assert_ok(aclrtSynchronizeStreamWithTimeout(i % 2 ? first : second, LONG_MS));
		assert_int_equal(word_get(words), 5001);
	}
	assert_ok(aclmdlRIDestroy(model));
}

static void branches_have_branches(void **state)
{
	aclmdlRICondHandle outer, inner;
	aclmdlRI branch, leaf, model;

	(void)state;
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	outer = condition(capturing(), 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	step(words, 0, 1, first);
	add(outer, IF, 1, &branch, first);
	begin_branch(branch);
	inner = condition(branch, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	step(words, 10, 2, second);
	add(inner, IF, 1, &leaf, second);
	end_branch();
	begin_branch(leaf);
	step(words, 10, 3, second);
	assert_ok(aclrtValueWrite(pointer(inner), 0, 0, second)); /* for this run alone */
	end_branch();
	step(words, 10, 4, first);
	model = captured(first);
	for (unsigned i = 0; i < 5; i++) {
		run(model, first);
		assert_int_equal(word_get(words), 1234);
	}
	assert_ok(aclmdlRIDestroy(model));
}

static void a_branch_ends_with_its_model(void **state)
{
	aclmdlRICondHandle cond;
	aclmdlRI branch, model;

	(void)state;
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	cond = condition(capturing(), 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	add(cond, WHILE, 1, &branch, first);
	begin_branch(branch);
	assert_ok(aclrtValueWait(&words[1], 1, ACL_STREAM_WAIT_VALUE_EQ, second));
	assert_ok(aclrtValueWrite(pointer(cond), 0, 0, second));
	end_branch();
	model = captured(first);
	for (unsigned i = 0; i < 20; i++) {
		word_set(&words[1], 0);
		assert_ok(aclmdlRIExecuteAsync(model, first));
		assert_ok(aclmdlRIAbort(model));
		assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
		word_signal(&words[1], 1);
		run(model, first);
	}
	assert_ok(aclmdlRIDestroy(model));
	assert_code(aclmdlRIGetId(branch, &(uint32_t){ 0 }), ACL_ERROR_RT_INVALID_HANDLE);
	assert_code(aclmdlRICondHandleGetCondPtr(cond, &(uint64_t *){ NULL }), ACL_ERROR_RT_INVALID_HANDLE);
}

static void wrong(aclmdlRICondHandle cond, int type, uint32_t size, aclrtStream stream, int code)
{
	aclmdlRI branches[BRANCHES] = { 0 };
	aclmdlRICondTaskParams params = {
		.handle = cond, .type = (aclmdlRICondTaskType)type, .size = size, .modelRIArray = branches
	};

	assert_code(aclmdlRIAddCondTask(params, stream, 0), code);
	assert_null(branches[0]);
}

/* covers: aclmdlRICondHandleCreate, aclmdlRICondHandleGetCondPtr, aclmdlRIAddCondTask failure */
/* covers: aclmdlRICaptureToModelRIBegin failure */
static void branches_are_checked(void **state)
{
	aclmdlRI branches[1], model, built;
	aclmdlRICondHandle cond, other;

	(void)state;
	assert_ok(aclmdlRIBuildBegin(&built, 0));
	assert_code(aclmdlRICondHandleCreate(built, 0, 0, &cond), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	model = capturing();
	assert_code(aclmdlRICondHandleCreate(model, 0, (aclmdlRICondHandleFlag)2, &cond), ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRICondHandleCreate(model, 0, 0, NULL), ACL_ERROR_INVALID_PARAM);
	assert_code(aclmdlRICondHandleGetCondPtr(words, &(uint64_t *){ NULL }), ACL_ERROR_RT_INVALID_HANDLE);
	cond = condition(model, 0, 0);
	other = condition(model, 0, 0);
	wrong(cond, 3, 1, first, ACL_ERROR_RT_PARAM_INVALID);
	wrong(cond, IF, 0, first, ACL_ERROR_RT_PARAM_INVALID);
	wrong(cond, IF, 3, first, ACL_ERROR_RT_PARAM_INVALID);
	wrong(cond, WHILE, 2, first, ACL_ERROR_RT_PARAM_INVALID);
	wrong(NULL, IF, 1, first, ACL_ERROR_RT_PARAM_INVALID);
	wrong(words, IF, 1, first, ACL_ERROR_RT_INVALID_HANDLE);
	wrong(cond, IF, 1, second, ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	add(cond, IF, 1, branches, first);
	wrong(cond, IF, 1, first, ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRICaptureToModelRIBegin(second, model, RELAXED), ACL_ERROR_RT_PARAM_INVALID);
	begin_branch(branches[0]);
	wrong(other, IF, 1, second, ACL_ERROR_RT_PARAM_INVALID);
	assert_code(aclmdlRIDestroy(branches[0]), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_code(aclmdlRIExecuteAsync(branches[0], NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	end_branch();
	assert_code(aclmdlRICaptureToModelRIBegin(second, branches[0], RELAXED), ACL_ERROR_RT_MODEL_CAPTURED);
	assert_ptr_equal(captured(first), model);
	assert_code(aclmdlRICondHandleCreate(model, 0, 0, &cond), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclmdlRIDestroy(model));
	/* A model is not whole while a branch of it is being captured. */
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	cond = condition(capturing(), 0, 0);
	add(cond, IF, 1, branches, first);
	begin_branch(branches[0]);
	assert_code(aclmdlRICaptureEnd(first, &model), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING);
	assert_code(aclmdlRICaptureEnd(second, NULL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
	/* Nor does it run a branch that was not captured. */
	assert_ok(aclmdlRICaptureBegin(first, RELAXED));
	cond = condition(capturing(), 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	add(cond, IF, 1, branches, first);
	model = captured(first);
	assert_ok(aclmdlRIExecuteAsync(model, first));
	assert_code(aclrtSynchronizeStream(first), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclmdlRIDestroy(built));
}

/* On a device where nothing else keeps the page of the word. */
static void a_condition_may_have_gone(void **state)
{
	aclrtStream streams[2];
	aclmdlRICondHandle cond;
	aclmdlRI model, branch;

	(void)state;
	assert_ok(aclrtSetDevice(1));
	for (int i = 0; i < 2; i++)
		assert_ok(aclrtCreateStream(&streams[i]));
	assert_ok(aclmdlRICaptureBegin(streams[0], RELAXED));
	assert_ok(aclmdlRICaptureGetInfo(streams[0], NULL, &model));
	cond = condition(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
	add(cond, IF, 1, &branch, streams[0]);
	assert_ok(aclmdlRICaptureToModelRIBegin(streams[1], branch, RELAXED));
	assert_ok(aclmdlRICaptureEnd(streams[1], NULL));
	model = captured(streams[0]);
	run(model, streams[0]);
	assert_ok(aclrtFree(pointer(cond)));
	assert_ok(aclmdlRIExecuteAsync(model, streams[0]));
	assert_code(aclrtSynchronizeStream(streams[0]), ACL_ERROR_RT_MODEL_EXECUTE);
	assert_ok(aclmdlRIDestroy(model));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_chooses_its_branch),
		cmocka_unit_test(a_branch_is_run_again_while_the_condition_holds),
		cmocka_unit_test(branches_have_branches),
		cmocka_unit_test(a_branch_ends_with_its_model),
		cmocka_unit_test(branches_are_checked),
		cmocka_unit_test(a_condition_may_have_gone),
	};

	return cmocka_run_group_tests(tests, model_set_up, model_tear_down);
}
