/* SPDX-License-Identifier: MIT */
/* model_util.h - what the tests of recorded models share: one device, some memory, kernels that add and wait. */
#ifndef VINCI_TESTS_MODEL_UTIL_H
#define VINCI_TESTS_MODEL_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define LONG_MS 30000
#define WORDS 64

#define assert_ok(call) check_code(call, ACL_SUCCESS, #call, __LINE__)
#define assert_code(call, wanted) check_code(call, wanted, #call, __LINE__)

static inline void check_code(int code, int wanted, const char *call, int line)
{
	const char *text = code == wanted ? NULL : aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("line %d: %s: %d instead of %d: %s", line, call, code, wanted, text ? text : "");
}

static uint64_t *words; /* device memory */
static aclrtStream first, second;

static inline void word_set(uint64_t *word, uint64_t value)
{
	assert_ok(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
}

static inline uint64_t word_get(const uint64_t *word)
{
	uint64_t value = 0;

	assert_ok(aclrtMemcpy(&value, 8, word, 8, ACL_MEMCPY_DEVICE_TO_HOST));
	return value;
}

/* For a word that a stream waits for just now. */
static inline void word_signal(uint64_t *word, uint64_t value)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	assert_ok(aclrtValueWrite(word, value, 0, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtDestroyStream(stream));
}

/* word = word * factor + term: shows the order too */
struct step_args {
	uint64_t *word;
	uint64_t factor, term;
};

static inline void step_kernel(const void *args, const struct vinci_block *block)
{
	const struct step_args *a = args;

	(void)block;
	*a->word = *a->word * a->factor + a->term;
}

static const struct vinci_kernel step_desc = {
	.abi = VINCI_KERNEL_ABI,
	.name = "step",
	.run = step_kernel,
	.args_size = sizeof(struct step_args),
};

static inline void step(uint64_t *word, uint64_t factor, uint64_t term, aclrtStream stream)
{
	struct step_args args = { word, factor, term };

	assert_int_equal(vinciLaunchKernel(&step_desc, 1, stream, &args, sizeof(args)), 0);
	memset(&args, 0xff, sizeof(args));
}

static inline aclmdlRI captured(aclrtStream stream)
{
	aclmdlRI model = NULL;

	assert_ok(aclmdlRICaptureEnd(stream, &model));
	assert_non_null(model);
	return model;
}

static inline void run(aclmdlRI model, aclrtStream stream)
{
	assert_ok(aclmdlRIExecuteAsync(model, stream));
	assert_ok(aclrtSynchronizeStream(stream));
}

static inline int model_set_up(void **state)
{
	(void)state;
	if (aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc((void **)&words, WORDS * 8, ACL_MEM_MALLOC_HUGE_FIRST) ||
	    aclrtCreateStream(&first) || aclrtCreateStream(&second))
		return -1;
	return 0;
}

static inline int model_tear_down(void **state)
{
	(void)state;
	return aclrtDestroyStream(first) || aclrtDestroyStream(second) || aclrtFree(words) || aclrtResetDevice(0) ||
	       aclFinalize();
}

#endif
