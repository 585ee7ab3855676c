/* SPDX-License-Identifier: MIT */
/*
 * model_fault_test.c - allocation N fails, for N = 1, 2, ..., while models are recorded, run and destroyed. Whatever
 * fails, the next life of the same kind is whole, and no block is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "fault.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define RUN_MS 30000
#define CACHED 8 /* blocks for tasks and arguments that the library may keep; what leaks in one place LSan finds */
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtStream first, second;
static uint64_t *word; /* device memory */
static int failures;   /* in this life */

static bool ok(int code)
{
	failures += code != 0;
	return !code;
}

struct args {
	uint64_t *word;
	uint64_t wide[30]; /* more than a slot holds */
};

static void add_kernel(const void *args, const struct vinci_block *block)
{
	(void)block;
	++*((const struct args *)args)->word;
}

static const struct vinci_kernel add_desc = {
	.abi = VINCI_KERNEL_ABI,
	.name = "add",
	.run = add_kernel,
	.args_size = sizeof(struct args),
};

static void add(aclrtStream stream)
{
	struct args args = { .word = word };

	ok((int)vinciLaunchKernel(&add_desc, 1, stream, &args, sizeof(args)));
}

static void run_and_destroy(aclmdlRI model)
{
	if (ok(aclmdlRIExecuteAsync(model, first)))
		ok(aclrtSynchronizeStream(first));
	(void)aclrtSynchronizeStream(first);
	ok(aclmdlRIDestroy(model));
}

static void record_group(aclrtTaskGrp *group)
{
	if (!ok(aclmdlRICaptureTaskGrpBegin(first)))
		return;
	add(first);
	ok(aclmdlRICaptureTaskGrpEnd(first, group));
}

static void record_branch(void)
{
	aclmdlRICondTaskParams params = { .type = ACL_MODEL_RI_COND_TYPE_IF, .size = 1 };
	aclmdlRI model = NULL, branch = NULL;

	params.modelRIArray = &branch;
	ok(aclmdlRICaptureGetInfo(first, NULL, &model));
	if (!ok(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &params.handle)) ||
	    !ok(aclmdlRIAddCondTask(params, first, 0)) || !ok(aclmdlRICaptureToModelRIBegin(second, branch, RELAXED)))
		return;
	add(second);
	ok(aclmdlRICaptureEnd(second, NULL));
}

static void change_group(aclrtTaskGrp group)
{
	if (!ok(aclmdlRICaptureTaskUpdateBegin(second, group)))
		return;
	add(second);
	ok(aclmdlRICaptureTaskUpdateEnd(second));
	ok(aclrtSynchronizeStream(second));
}

static void capture(void)
{
	aclrtEvent fork = NULL, join = NULL;
	aclrtTaskGrp group = NULL;
	aclmdlRI model = NULL;

	ok(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
	ok(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
	if (fork && join && ok(aclmdlRICaptureBegin(first, RELAXED))) {
		add(first);
		record_group(&group);
		record_branch();
		ok(aclrtRecordEvent(fork, first));
		ok(aclrtStreamWaitEvent(second, fork));
		add(second);
		ok(aclrtRecordEvent(join, second));
		ok(aclrtStreamWaitEvent(first, join));
		ok(aclmdlRICaptureEnd(first, &model));
	}
	if (model && group)
		change_group(group);
	if (model)
		run_and_destroy(model);
	(void)aclrtSynchronizeStream(second);
	if (fork)
		ok(aclrtDestroyEvent(fork));
	if (join)
		ok(aclrtDestroyEvent(join));
}

static void build_on(aclmdlRI model, aclrtStream stream, aclrtLabel label, aclrtLabelList list)
{
	ok(aclrtSwitchLabelByIndex(word, 1, list, stream));
	ok(aclrtSetLabel(label, stream));
	add(stream);
	ok(aclmdlRIEndTask(model, stream));
	ok(aclmdlRIBuildEnd(model, NULL));
}

static void build(void)
{
	aclrtStream stream = NULL;
	aclrtLabelList list = NULL;
	aclrtLabel label = NULL;
	aclmdlRI model = NULL;

	ok(aclrtCreateLabel(&label));
	if (label)
		ok(aclrtCreateLabelList(&label, 1, &list));
	ok(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
	ok(aclmdlRIBuildBegin(&model, 0));
	if (list && stream && model && ok(aclmdlRIBindStream(model, stream, ACL_MODEL_STREAM_FLAG_HEAD)))
		build_on(model, stream, label, list);
	if (model)
		run_and_destroy(model);
	if (stream)
		ok(aclrtDestroyStream(stream));
	if (list)
		ok(aclrtDestroyLabelList(list));
	if (label)
		ok(aclrtDestroyLabel(label));
}

/* What a failed life kept in its thread is fetched with the sentences. */
static int live(void (*life)(void))
{
	failures = 0;
	life();
	(void)aclGetRecentErrMsg();
	return failures;
}

static long blocks;

static bool blocks_are_back(void *arg)
{
	(void)arg;
	return fault_live_blocks() <= blocks + CACHED;
}

static void sweep(void (*life)(void), enum fault_way way)
{
	bool hit = true;
	int failed = 0;

	/* What is allocated once: for tasks, for threads, for a thread's sentences. */
	for (int n = 1; n <= 8; n++) {
		fault_arm(&(struct fault){ .groups = FAULT_HEAP, .way = way, .at = n });
		(void)live(life);
		(void)fault_disarm();
		(void)live(life);
		assert_int_equal(live(life), 0);
	}
	blocks = fault_live_blocks();
	for (int n = 1; hit; n++) {
		fault_arm(&(struct fault){ .groups = FAULT_HEAP, .way = way, .at = n });
		failed += live(life) != 0;
		(void)fault_disarm();
		hit = fault_hit();
		(void)live(life); /* a failure that was only noticed now */
		assert_int_equal(live(life), 0);
		if (!t_until(blocks_are_back, NULL, RUN_MS))
			fail_msg("fault %d: %ld blocks instead of %ld", n, fault_live_blocks(), blocks);
	}
	assert_true(failed > 5);
}

static void captures_meet_every_fault(void **state)
{
	(void)state;
	sweep(capture, FAULT_ONCE);
	sweep(capture, FAULT_FROM);
}

static void builds_meet_every_fault(void **state)
{
	(void)state;
	sweep(build, FAULT_ONCE);
	sweep(build, FAULT_FROM);
}

static int set_up(void **state)
{
	(void)state;
	if (aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc((void **)&word, 64, ACL_MEM_MALLOC_HUGE_FIRST) ||
	    aclrtCreateStream(&first) || aclrtCreateStream(&second))
		return -1;
	return aclrtMemset(word, 64, 0, 64);
}

static int tear_down(void **state)
{
	(void)state;
	return aclrtDestroyStream(first) || aclrtDestroyStream(second) || aclrtFree(word) || aclrtResetDevice(0) ||
	       aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_meet_every_fault),
		cmocka_unit_test(builds_meet_every_fault),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
