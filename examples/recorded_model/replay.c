/* SPDX-License-Identifier: MIT */
/*
 * Records once what two streams do, and runs it for one input after the other. Behind the first kernel the streams work side by side
 * on the same value; an event makes the second one part of the record, another brings its result back. In each run the kernels
 * find what the input holds by then.
 */
#include "example.h"
#include "value.h"

#define RUNS 5
#define LAUNCHES 3

static int32_t *value_new(void)
{
	void *p;

	CHECK(aclrtMalloc(&p, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
	return p;
}

static aclrtEvent event_new(void)
{
	aclrtEvent event;

	CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
	return event;
}

/* input -> middle; middle -> left on one stream, -> right on the other */
static aclmdlRI record(const int32_t *input, int32_t *middle, int32_t *left, int32_t *right, aclrtStream main_stream,
		       aclrtStream side_stream)
{
	aclrtEvent fork = event_new(), join = event_new();
	aclmdlRI model;

	CHECK(aclmdlRICaptureBegin(main_stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
	CHECK(value_copy(middle, input, main_stream));
	CHECK(aclrtRecordEvent(fork, main_stream));
	CHECK(aclrtStreamWaitEvent(side_stream, fork));
	CHECK(value_copy(right, middle, side_stream));
	CHECK(aclrtRecordEvent(join, side_stream));
	CHECK(value_copy(left, middle, main_stream));
	CHECK(aclrtStreamWaitEvent(main_stream, join));
	REFUSED(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeStream(main_stream));
	CHECK(aclmdlRICaptureEnd(main_stream, &model));
	CHECK(aclrtDestroyEvent(fork));
	CHECK(aclrtDestroyEvent(join));
	return model;
}

int main(void)
{
	int32_t *input, *middle, *left, *right, sum = 0;
	aclrtStream main_stream, side_stream;
	aclmdlRI model;

	example_begin("replay");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&main_stream));
	CHECK(aclrtCreateStream(&side_stream));
	input = value_new();
	middle = value_new();
	left = value_new();
	right = value_new();
	CHECK(value_store(left, EXAMPLE_VALUE, main_stream));
	CHECK(aclrtSynchronizeStream(main_stream));
	model = record(input, middle, left, right, main_stream, side_stream);
	CHECK(aclrtDestroyStream(side_stream));
	example_say("recorded: nothing has run, the result is still %d", value_fetch(left, main_stream));
	for (int32_t i = 1; i <= RUNS; i++) {
		CHECK(value_store(input, 10 * i, main_stream));
		CHECK(aclmdlRIExecuteAsync(model, main_stream));
		sum += value_fetch(left, main_stream) + value_fetch(right, main_stream);
	}
	example_say("%d runs of %d launches each: the results' sum is %d", RUNS, LAUNCHES, sum);

	CHECK(aclmdlRIDestroy(model));
	CHECK(aclrtFree(input));
	CHECK(aclrtFree(middle));
	CHECK(aclrtFree(left));
	CHECK(aclrtFree(right));
	CHECK(aclrtDestroyStream(main_stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
