/* SPDX-License-Identifier: MIT */
/* stream_test.c - streams, kernel launches and host functions through the public API. */
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
#define STREAM_LIMIT 1984 /* of an Ascend910B1 */

static void assert_says(int code, int wanted, const char *word)
{
	const char *text = aclGetRecentErrMsg();

	assert_int_equal(code, wanted);
	assert_non_null(text);
	if (!strstr(text, word))
		fail_msg("\"%s\" is not in: %s", word, text);
}

static int forget_errors(void **state)
{
	(void)state;
	(void)aclGetRecentErrMsg();
	return 0;
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_int_equal(aclrtCreateStream(&stream), ACL_SUCCESS);
	assert_non_null(stream);
	return stream;
}

static aclrtStream dead_stream(void)
{
	aclrtStream stream = stream_new();

	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	return stream;
}

/* --- kernels ------------------------------------------------------------------------------ */

struct gate {
	atomic_uint started, open, ran;
};

static void gate_kernel(const void *args, const struct vinci_block *block)
{
	struct gate *gate = *(struct gate *const *)args;

	(void)block;
	atomic_store(&gate->started, 1);
	while (!atomic_load(&gate->open))
		;
	atomic_fetch_add(&gate->ran, 1);
}

static const struct vinci_kernel gate_desc = { .abi = VINCI_KERNEL_ABI, .name = "gate", .run = gate_kernel, .args_size = 8 };

static uint32_t launch_gate(struct gate *gate, aclrtStream stream)
{
	return vinciLaunchKernel(&gate_desc, 1, stream, &gate, sizeof(gate));
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

static void count_kernel(const void *args, const struct vinci_block *block)
{
	atomic_uint *counts = *(atomic_uint *const *)args;

	atomic_fetch_add(&counts[block->index], block->count);
}

static const struct vinci_kernel count_desc = { .abi = VINCI_KERNEL_ABI, .name = "count", .run = count_kernel, .args_size = 8 };

/* covers: vinciLaunchKernel effect */
static void every_block_runs_once(void **state)
{
	static atomic_uint counts[1000];
	atomic_uint *args = counts;
	aclrtStream stream = stream_new();
	static const uint32_t dims[] = { 1, 2, 3, 40, 1000, 1000, 1000 };

	(void)state;
	for (size_t d = 0; d < sizeof(dims) / sizeof(dims[0]); d++) {
		memset(counts, 0, sizeof(counts));
		assert_int_equal(vinciLaunchKernel(&count_desc, dims[d], stream, &args, sizeof(args)), 0);
		assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(counts[i], i < dims[d] ? dims[d] : 0);
	}
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

/* Two blocks that wait for each other. */
static void meet_kernel(const void *args, const struct vinci_block *block)
{
	struct gate *gate = *(struct gate *const *)args;

	atomic_fetch_add(&gate->started, 1);
	while (atomic_load(&gate->started) < block->count)
		;
	atomic_fetch_add(&gate->ran, 1);
}

static void blocks_run_in_parallel(void **state)
{
	static const struct vinci_kernel desc = { .abi = VINCI_KERNEL_ABI, .name = "meet", .run = meet_kernel, .args_size = 8 };
	struct gate gate = { 0 }, *args = &gate;
	aclrtStream stream = stream_new();

	(void)state;
	assert_int_equal(vinciLaunchKernel(&desc, 2, stream, &args, sizeof(args)), 0);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(gate.ran, 2);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

struct sum_args {
	uint64_t *sum;
	uint64_t values[(VINCI_KERNEL_ARGS_MAX - 8) / 8];
};

static void sum_kernel(const void *args, const struct vinci_block *block)
{
	const struct sum_args *a = args;

	(void)block;
	for (size_t i = 0; i < sizeof(a->values) / 8; i++)
		*a->sum += a->values[i];
}

static void few_kernel(const void *args, const struct vinci_block *block)
{
	const struct sum_args *a = args;

	(void)block;
	for (size_t i = 0; i < 400; i++)
		*a->sum += a->values[i];
}

/* Arguments are copied at the launch, whatever their size. */
static void arguments_are_copied(void **state)
{
	static const struct vinci_kernel sum = {
		.abi = VINCI_KERNEL_ABI, .name = "sum", .run = sum_kernel, .args_size = sizeof(struct sum_args)
	};
	static const struct vinci_kernel few = { .abi = VINCI_KERNEL_ABI, .name = "few", .run = few_kernel, .args_size = 3208 };
	static struct sum_args args;
	aclrtStream stream = stream_new();
	uint64_t total = 0;

	(void)state;
	_Static_assert(sizeof(args) == VINCI_KERNEL_ARGS_MAX, "the largest arguments");
	for (unsigned round = 0; round < 100; round++) {
		args.sum = &total;
		for (size_t i = 0; i < sizeof(args.values) / 8; i++)
			args.values[i] = 1;
		assert_int_equal(vinciLaunchKernel(round % 2 ? &sum : &few, 1, stream, &args, round % 2 ? sizeof(args) : 3208), 0);
		memset(&args, 0xff, sizeof(args));
	}
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(total, 50 * 400 + 50 * (VINCI_KERNEL_ARGS_MAX - 8) / 8);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

/* covers: vinciLaunchKernel failure */
static void bad_launches_are_refused(void **state)
{
	static struct sum_args args;
	struct vinci_kernel desc = count_desc;
	aclrtStream dead = dead_stream();

	(void)state;
	assert_says((int)vinciLaunchKernel(NULL, 1, NULL, NULL, 0), ACL_ERROR_RT_PARAM_INVALID, "descriptor");
	assert_says((int)vinciLaunchKernel(&desc, 0, NULL, &args, 8), ACL_ERROR_RT_PARAM_INVALID, "blocks is 0");
	assert_says((int)vinciLaunchKernel(&desc, 1, NULL, &args, 7), ACL_ERROR_RT_PARAM_INVALID, "it takes 8");
	assert_says((int)vinciLaunchKernel(&desc, 1, NULL, NULL, 8), ACL_ERROR_RT_PARAM_INVALID, "arguments");
	assert_says((int)vinciLaunchKernel(&desc, 1, NULL, &args, VINCI_KERNEL_ARGS_MAX + 1), ACL_ERROR_RT_PARAM_INVALID, "8192");
	assert_says((int)vinciLaunchKernel(&desc, 1, dead, &args, 8), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	desc.abi = VINCI_KERNEL_ABI + 1;
	assert_says((int)vinciLaunchKernel(&desc, 1, NULL, &args, 8), ACL_ERROR_RT_PARAM_INVALID, "ABI");
	desc.abi = VINCI_KERNEL_ABI;
	desc.flags = 1u << 31;
	assert_says((int)vinciLaunchKernel(&desc, 1, NULL, &args, 8), ACL_ERROR_RT_PARAM_INVALID, "descriptor");
}

static void a_printing_kernel_has_ended_at_return(void **state)
{
	struct vinci_kernel desc = count_desc;
	static atomic_uint counts[1];
	atomic_uint *args = counts;

	(void)state;
	desc.flags = VINCI_KERNEL_PRINTS;
	assert_int_equal(vinciLaunchKernel(&desc, 1, NULL, &args, sizeof(args)), 0);
	assert_int_equal(counts[0], 1);
}

/* --- life --------------------------------------------------------------------------------- */

/* covers: aclrtCreateStream, aclrtCreateStreamWithConfig, aclrtDestroyStream effect */
/* covers: aclrtStreamGetId, aclrtStreamGetPriority, aclrtStreamGetFlags effect */
static void properties(void **state)
{
	aclrtStream stream = stream_new(), second = NULL;
	uint32_t value = 99;
	int32_t id = -1, other = -1, of_default = -1;

	(void)state;
	assert_int_equal(aclrtStreamGetPriority(stream, &value), ACL_SUCCESS);
	assert_int_equal(value, 0);
	assert_int_equal(aclrtStreamGetFlags(stream, &value), ACL_SUCCESS);
	assert_int_equal(value, 0);
	assert_int_equal(aclrtCreateStreamWithConfig(&second, 100, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | 0x10000),
			 ACL_SUCCESS);
	assert_int_equal(aclrtStreamGetPriority(second, &value), ACL_SUCCESS);
	assert_int_equal(value, 7);
	assert_int_equal(aclrtStreamGetFlags(second, &value), ACL_SUCCESS);
	assert_int_equal(value, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
	assert_int_equal(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
	assert_int_equal(aclrtStreamGetId(second, &other), ACL_SUCCESS);
	assert_int_equal(aclrtStreamGetId(NULL, &of_default), ACL_SUCCESS);
	assert_int_not_equal(id, other);
	assert_int_not_equal(id, of_default);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyStream(second), ACL_SUCCESS);
}

/* covers: aclrtCreateStream, aclrtCreateStreamWithConfig, aclrtDestroyStream, aclrtDestroyStreamForce failure */
/* covers: aclrtStreamGetId, aclrtStreamGetPriority, aclrtStreamGetFlags, aclrtStreamQuery failure */
static void wrong_arguments(void **state)
{
	aclrtStream dead = dead_stream(), stream = (aclrtStream)0x1234;
	aclrtStreamStatus status;
	uint32_t value = 42;
	int32_t id = 42;

	(void)state;
	assert_says(aclrtCreateStream(NULL), ACL_ERROR_INVALID_PARAM, "stream");
	assert_says(aclrtCreateStreamWithConfig(NULL, 0, 0), ACL_ERROR_INVALID_PARAM, "stream");
	assert_says(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_HUGE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "HUGE");
	assert_ptr_equal(stream, (aclrtStream)0x1234);
	assert_says(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM, "stream");
	assert_says(aclrtDestroyStream(dead), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtDestroyStreamForce(NULL), ACL_ERROR_INVALID_PARAM, "stream");
	assert_says(aclrtDestroyStreamForce(dead), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtStreamGetId(dead, &id), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtStreamGetId(NULL, NULL), ACL_ERROR_INVALID_PARAM, "streamId");
	assert_says(aclrtStreamGetPriority(dead, &value), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtStreamGetPriority(NULL, NULL), ACL_ERROR_INVALID_PARAM, "priority");
	assert_says(aclrtStreamGetFlags(dead, &value), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtStreamGetFlags(NULL, NULL), ACL_ERROR_INVALID_PARAM, "flags");
	assert_says(aclrtStreamQuery(dead, &status), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtStreamQuery(NULL, NULL), ACL_ERROR_INVALID_PARAM, "status");
	assert_int_equal(value, 42);
	assert_int_equal(id, 42);
}

static void the_default_stream_belongs_to_its_context(void **state)
{
	aclrtStream stream = NULL;

	(void)state;
	assert_int_equal(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
	assert_says(aclrtDestroyStream(stream), ACL_ERROR_RT_PARAM_INVALID, "default");
	assert_says(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_PARAM_INVALID, "default");
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

/* covers: aclrtGetStreamAvailableNum effect */
static void as_many_streams_as_the_device_has(void **state)
{
	static aclrtStream streams[STREAM_LIMIT];
	uint32_t available = 0, n = 0;
	aclrtStream one_more = NULL;

	(void)state;
	assert_int_equal(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
	assert_int_equal(available, STREAM_LIMIT - 1); /* the default stream */
	for (n = 0; n < available; n++)
		streams[n] = stream_new();
	assert_int_equal(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
	assert_int_equal(available, 0);
	assert_says(aclrtCreateStream(&one_more), ACL_ERROR_RT_NO_STREAM_RESOURCE, "1984");
	assert_null(one_more);
	assert_int_equal(aclrtSetDevice(1), ACL_SUCCESS); /* another device has its own */
	one_more = stream_new();
	assert_int_equal(aclrtDestroyStream(one_more), ACL_SUCCESS);
	assert_int_equal(aclrtResetDevice(1), ACL_SUCCESS);
	assert_int_equal(aclrtSetDevice(0), ACL_SUCCESS);
	assert_int_equal(aclrtResetDevice(0), ACL_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
}

static void *without_device(void *arg)
{
	uint32_t available = 42;
	aclrtStream stream;

	(void)arg;
	assert_says(aclrtGetStreamAvailableNum(&available), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
	assert_says(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
	assert_says(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
	return NULL;
}

/* covers: aclrtGetStreamAvailableNum failure */
static void a_thread_without_device(void **state)
{
	pthread_t thread;

	(void)state;
	assert_says(aclrtGetStreamAvailableNum(NULL), ACL_ERROR_INVALID_PARAM, "streamCount");
	assert_int_equal(pthread_create(&thread, NULL, without_device, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* covers: aclrtDeviceGetStreamPriorityRange effect */
/* covers: aclrtDeviceGetStreamPriorityRange failure */
static void priority_range(void **state)
{
	int32_t least = -1, greatest = -1;

	(void)state;
	assert_int_equal(aclrtDeviceGetStreamPriorityRange(&least, &greatest), ACL_SUCCESS);
	assert_int_equal(least, 7);
	assert_int_equal(greatest, 0);
	assert_int_equal(aclrtDeviceGetStreamPriorityRange(NULL, NULL), ACL_SUCCESS);
}

static void streams_of_another_context(void **state)
{
	aclrtContext first = NULL, second = NULL;
	struct gate gate = { .open = 1 };
	aclrtStreamStatus status;
	aclrtStream stream = stream_new();

	(void)state;
	assert_int_equal(aclrtGetCurrentContext(&first), ACL_SUCCESS);
	assert_int_equal(aclrtCreateContext(&second, 0), ACL_SUCCESS);
	assert_says((int)launch_gate(&gate, stream), ACL_ERROR_RT_STREAM_CONTEXT, "context");
	assert_says(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "context");
	assert_says(aclrtStreamAbort(stream), ACL_ERROR_RT_STREAM_CONTEXT, "context");
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyContext(second), ACL_SUCCESS);
	assert_int_equal(aclrtSetCurrentContext(first), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

static void streams_end_with_their_context(void **state)
{
	aclrtContext first = NULL, second = NULL;
	struct gate gate = { .open = 1 };
	aclrtStream stream;

	(void)state;
	assert_int_equal(aclrtGetCurrentContext(&first), ACL_SUCCESS);
	assert_int_equal(aclrtCreateContext(&second, 0), ACL_SUCCESS);
	stream = stream_new();
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(launch_gate(&gate, i % 2 ? stream : NULL), 0);
	assert_int_equal(aclrtDestroyContext(second), ACL_SUCCESS);
	assert_int_equal(gate.ran, 1000);
	assert_int_equal(aclrtSetCurrentContext(first), ACL_SUCCESS);
	assert_says(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "stream");
}

/* --- synchronising ------------------------------------------------------------------------ */

/* covers: aclrtSynchronizeStream, aclrtSynchronizeStreamWithTimeout, aclrtStreamQuery effect */
static void launches_are_asynchronous(void **state)
{
	aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
	aclrtStream stream = stream_new();
	struct gate gate = { 0 };

	(void)state;
	assert_int_equal(launch_gate(&gate, stream), 0);
	assert_true(t_until(is_set, &gate.started, LONG_MS));
	assert_int_equal(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
	assert_int_equal(status, ACL_STREAM_STATUS_NOT_READY);
	assert_says(aclrtSynchronizeStreamWithTimeout(stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "10 ms");
	assert_int_equal(gate.ran, 0);
	atomic_store(&gate.open, 1);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(gate.ran, 1);
	assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS), ACL_SUCCESS);
	assert_int_equal(gate.ran, 2);
	assert_int_equal(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
	assert_int_equal(status, ACL_STREAM_STATUS_COMPLETE);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

/* covers: aclrtSynchronizeStream, aclrtSynchronizeStreamWithTimeout failure */
static void synchronising_wrongly(void **state)
{
	aclrtStream dead = dead_stream(), stream = NULL;

	(void)state;
	assert_says(aclrtSynchronizeStream(dead), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtSynchronizeStreamWithTimeout(dead, 10), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtSynchronizeStreamWithTimeout(NULL, 0), ACL_ERROR_RT_PARAM_INVALID, "timeout is 0");
	assert_says(aclrtSynchronizeStreamWithTimeout(NULL, -2), ACL_ERROR_RT_PARAM_INVALID, "timeout is -2");
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(NULL, -1), ACL_SUCCESS);
	assert_int_equal(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_says((int)vinciLaunchKernel(&count_desc, 1, stream, &dead, 8), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "PERSISTENT");
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

static void destroying_waits_for_the_tasks(void **state)
{
	struct gate gate = { .open = 1 };
	aclrtStream stream = stream_new();

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	assert_int_equal(gate.ran, 2000);
}

/* covers: aclrtDestroyStreamForce effect */
static void destroying_by_force_does_not_wait(void **state)
{
	static struct gate gate, second;
	aclrtStream stream = stream_new();

	(void)state;
	assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(launch_gate(&second, stream), 0);
	assert_true(t_until(is_set, &gate.started, LONG_MS));
	assert_int_equal(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
	assert_says(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	atomic_store(&gate.open, 1);
	assert_true(t_until(is_set, &gate.ran, LONG_MS));
	assert_int_equal(second.started, 0);
}

/* covers: aclrtStreamAbort effect */
static void aborting_drops_what_is_queued(void **state)
{
	aclrtStream stream = stream_new();
	struct gate gate = { .open = 1 };
	aclrtNotify notify = NULL;

	(void)state;
	assert_int_equal(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	assert_int_equal(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
	assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(aclrtStreamAbort(stream), ACL_SUCCESS);
	assert_int_equal(gate.ran, 0);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(launch_gate(&gate, stream), 0); /* it is as new */
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(gate.ran, 1);
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

/* Failure stops a context for good: one of the test's own. The current one before. */
static aclrtContext context_begin(void)
{
	aclrtContext before = NULL, own;

	assert_int_equal(aclrtGetCurrentContext(&before), ACL_SUCCESS);
	assert_int_equal(aclrtCreateContext(&own, 0), ACL_SUCCESS);
	return before;
}

static void context_end(aclrtContext before)
{
	aclrtContext own = NULL;

	assert_int_equal(aclrtGetCurrentContext(&own), ACL_SUCCESS);
	assert_int_equal(aclrtDestroyContext(own), ACL_SUCCESS);
	assert_int_equal(aclrtSetCurrentContext(before), ACL_SUCCESS);
}

/* covers: aclrtStreamAbort, aclrtSetStreamFailureMode, aclrtLaunchHostFunc failure */
static void wrong_handles(void **state)
{
	aclrtContext before = context_begin();
	aclrtStream dead = dead_stream(), stream = stream_new();

	(void)state;
	assert_says(aclrtStreamAbort(dead), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtSetStreamFailureMode(dead, 1), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_int_equal(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
	assert_says(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "taken back");
	assert_says(aclrtLaunchHostFunc(stream, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID, "fn");
	assert_says(aclrtLaunchHostFunc(dead, NULL, NULL), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	context_end(before);
}

/* A wait of a second that fails, with work behind it. */
static int fail_a_task(aclrtStream stream, struct gate *gate)
{
	aclrtNotify notify = NULL;
	int r;

	assert_int_equal(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	assert_int_equal(aclrtWaitAndResetNotify(notify, stream, 1), ACL_SUCCESS);
	assert_int_equal(launch_gate(gate, stream), 0);
	r = aclrtSynchronizeStream(stream);
	assert_int_equal(aclrtDestroyNotify(notify), ACL_SUCCESS);
	return r;
}

/* covers: aclrtSetStreamFailureMode effect */
static void going_on_or_stopping_after_a_failure(void **state)
{
	aclrtContext before = context_begin();
	aclrtStream goes_on = stream_new(), stops = stream_new();
	struct gate gate = { .open = 1 };

	(void)state;
	assert_int_equal(fail_a_task(goes_on, &gate), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_int_equal(gate.ran, 1);
	assert_int_equal(aclrtSynchronizeStream(goes_on), ACL_SUCCESS);
	assert_int_equal(aclrtSetStreamFailureMode(stops, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
	assert_int_equal(fail_a_task(stops, &gate), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_int_equal(gate.ran, 1);
	assert_says((int)launch_gate(&gate, stops), ACL_ERROR_RT_TASK_TIMEOUT, "stops on failure");
	context_end(before);
}

struct host_call {
	struct gate *gate;
	uint32_t seen;
	pthread_t thread;
};

static void host_function(void *arg)
{
	struct host_call *call = arg;

	call->seen = atomic_load(&call->gate->ran);
	call->thread = pthread_self();
}

/* covers: aclrtLaunchHostFunc effect */
static void host_functions_run_in_order(void **state)
{
	struct gate gate = { .open = 1 };
	struct host_call call = { .gate = &gate };
	aclrtStream stream = stream_new();

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(aclrtLaunchHostFunc(stream, host_function, &call), ACL_SUCCESS);
	assert_int_equal(launch_gate(&gate, stream), 0);
	assert_int_equal(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	assert_int_equal(call.seen, 10);
	assert_int_equal(gate.ran, 11);
	assert_false(pthread_equal(call.thread, pthread_self()));
	assert_int_equal(aclrtDestroyStream(stream), ACL_SUCCESS);
}

/* A thousand idle streams cost no threads and little memory. */
static void a_thousand_streams(void **state)
{
	static aclrtStream streams[1000];
	struct gate gate = { .open = 1 };
	unsigned threads = t_count_threads();
	unsigned long before;

	(void)state;
	before = t_rss_kib();
	for (unsigned i = 0; i < 1000; i++)
		streams[i] = stream_new();
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(launch_gate(&gate, streams[i]), 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(aclrtSynchronizeStreamWithTimeout(streams[i], LONG_MS), ACL_SUCCESS);
	assert_int_equal(gate.ran, 1000);
	if (!T_SANITIZED)
		assert_true(t_rss_kib() - before <= 32 * 1000);
	assert_true(t_count_threads() <= threads + 32);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
}

static int setup(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

#define TEST(name) cmocka_unit_test_setup(name, forget_errors)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(as_many_streams_as_the_device_has),
		TEST(every_block_runs_once),
		TEST(blocks_run_in_parallel),
		TEST(arguments_are_copied),
		TEST(bad_launches_are_refused),
		TEST(a_printing_kernel_has_ended_at_return),
		TEST(properties),
		TEST(wrong_arguments),
		TEST(the_default_stream_belongs_to_its_context),
		TEST(a_thread_without_device),
		TEST(priority_range),
		TEST(streams_of_another_context),
		TEST(streams_end_with_their_context),
		TEST(launches_are_asynchronous),
		TEST(synchronising_wrongly),
		TEST(destroying_waits_for_the_tasks),
		TEST(destroying_by_force_does_not_wait),
		TEST(aborting_drops_what_is_queued),
		TEST(wrong_handles),
		TEST(going_on_or_stopping_after_a_failure),
		TEST(host_functions_run_in_order),
		TEST(a_thousand_streams),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
