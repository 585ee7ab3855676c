/* SPDX-License-Identifier: MIT */
/*
 * halt_test.c - kernels and waits that are ended from outside: streams that are stopped or aborted, devices whose tasks
 * are, operators that run longer than they may, contexts that stop on failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define LONG_MS 30000
#define STOPPED ACL_ERROR_RT_TASK_ABORT_STOP
#define TIMEOUT ACL_ERROR_RT_VECTOR_CORE_TIMEOUT /* of an Atlas A2 */
#define INTERVAL_US 4294967u			 /* likewise */

static void assert_ok(int code)
{
	assert_int_equal(code, ACL_SUCCESS);
}

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

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

/* --- kernels ------------------------------------------------------------------------------ */

struct work {
	atomic_uint started; /* blocks */
	atomic_uint turns;
	atomic_uint print;
};

/* For ever; some of it in libc, under a lock of its. */
static void endless_kernel(const void *args, const struct vinci_block *block)
{
	struct work *w = *(struct work *const *)args;
	char text[64];

	(void)block;
	atomic_fetch_add(&w->started, 1);
	for (;;) {
		atomic_fetch_add_explicit(&w->turns, 1, memory_order_relaxed);
		if (atomic_load_explicit(&w->print, memory_order_relaxed))
			fprintf(stderr, "%s", snprintf(text, sizeof(text), "%p", (void *)w) < 0 ? text : "");
	}
}

static const struct vinci_kernel endless = {
	.abi = VINCI_KERNEL_ABI, .name = "endless", .run = endless_kernel, .args_size = 8
};

static void count_kernel(const void *args, const struct vinci_block *block)
{
	(void)block;
	atomic_fetch_add(*(atomic_uint *const *)args, 1);
}

static const struct vinci_kernel count = {
	.abi = VINCI_KERNEL_ABI, .name = "count", .run = count_kernel, .args_size = 8
};

static void trap_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	__builtin_trap();
}

static const struct vinci_kernel trap = { .abi = VINCI_KERNEL_ABI, .name = "trap", .run = trap_kernel };

static int launch(const struct vinci_kernel *kernel, uint32_t blocks, aclrtStream stream, void *arg)
{
	return (int)vinciLaunchKernel(kernel, blocks, stream, &arg, sizeof(arg));
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

static void start(struct work *w, uint32_t blocks, aclrtStream stream)
{
	assert_ok(launch(&endless, blocks, stream, w));
	assert_true(t_until(is_set, &w->started, LONG_MS));
}

/* It has ended: nobody counts any more. */
static void assert_ended(struct work *w)
{
	unsigned turns = atomic_load(&w->turns);

	for (int i = 0; i < 1000000; i++)
		assert_int_equal(atomic_load(&w->turns), turns);
}

/* --- stopping ----------------------------------------------------------------------------- */

/* covers: aclrtStreamStop effect */
static void stopping_ends_the_running_kernel_alone(void **state)
{
	static struct work w[2];
	aclrtStream stream = stream_new(), other = stream_new();
	atomic_uint ran = 0;

	(void)state;
	start(&w[0], 1, stream);
	start(&w[1], 1, other);
	assert_ok(launch(&count, 1, stream, &ran));
	assert_ok(aclrtStreamStop(stream));
	assert_ended(&w[0]);
	assert_says(aclrtSynchronizeStream(stream), STOPPED, "the stream was stopped");
	assert_int_equal(ran, 1);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtStreamStop(stream)); /* nothing runs */
	assert_ok(launch(&count, 1, stream, &ran));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(ran, 2);
	assert_ok(aclrtStreamStop(other));
	assert_ended(&w[1]);
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
}

/* A task that has not begun is the running one, too: who stops a stream after a launch does not know how far it is. */
static void stopping_at_any_moment(void **state)
{
	static struct work w;
	aclrtStream stream = stream_new();

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_ok(launch(&endless, 1 + i % 5, stream, &w));
		assert_ok(aclrtStreamStop(stream));
		assert_int_equal(aclrtSynchronizeStream(stream), STOPPED);
	}
	assert_ok(aclrtDestroyStream(stream));
}

static void stopping_a_kernel_of_many_blocks(void **state)
{
	static struct work w;
	aclrtStream stream = stream_new();

	(void)state;
	start(&w, 64, stream);
	assert_ok(aclrtStreamStop(stream));
	assert_ended(&w);
	assert_int_equal(aclrtSynchronizeStream(stream), STOPPED);
	assert_ok(aclrtDestroyStream(stream));
}

/* libc's locks are free afterwards, or the next line would never come. */
static void stopping_a_kernel_that_prints(void **state)
{
	static struct work w;
	aclrtStream stream = stream_new();

	(void)state;
	for (int i = 0; i < 10; i++) {
		atomic_store(&w.started, 0);
		atomic_store(&w.print, 1);
		start(&w, 2, stream);
		assert_ok(aclrtStreamStop(stream));
		assert_int_equal(fprintf(stderr, "%s", ""), 0);
		assert_int_equal(aclrtSynchronizeStream(stream), STOPPED);
	}
	assert_ok(aclrtDestroyStream(stream));
}

static void stopping_a_wait(void **state)
{
	aclrtStream stream = stream_new();
	aclrtNotify notify = NULL;
	atomic_uint ran = 0;

	(void)state;
	assert_ok(aclrtCreateNotify(&notify, 0));
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_ok(launch(&count, 1, stream, &ran));
	assert_ok(aclrtStreamStop(stream));
	assert_says(aclrtSynchronizeStream(stream), STOPPED, "aclrtStreamStop");
	assert_int_equal(ran, 1);
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyStream(stream));
}

struct sync_call {
	aclrtContext context;
	aclrtStream stream;
	aclrtEvent event; /* instead of the stream */
	int code;
};

static void *synchronize(void *arg)
{
	struct sync_call *call = arg;

	assert_ok(aclrtSetCurrentContext(call->context));
	call->code = call->event ? aclrtSynchronizeEvent(call->event) : aclrtSynchronizeStream(call->stream);
	return NULL;
}

/* A thread that waits runs the kernel itself. */
static void stopping_what_a_waiting_thread_runs(void **state)
{
	static struct work w;
	struct sync_call call = { .stream = stream_new() };
	pthread_t thread;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&call.context));
	for (int i = 0; i < 20; i++) {
		atomic_store(&w.started, 0);
		assert_ok(launch(&endless, 1, call.stream, &w));
		assert_int_equal(pthread_create(&thread, NULL, synchronize, &call), 0);
		assert_true(t_until(is_set, &w.started, LONG_MS));
		assert_ok(aclrtStreamStop(call.stream));
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(call.code, STOPPED);
	}
	assert_ok(aclrtDestroyStream(call.stream));
}

static struct {
	atomic_uint wanted, inside;
	pid_t pid;
} hold;

#if !T_SANITIZED /* their libraries look before they can be asked for the next function of the name */
typedef int look_function(struct dl_phdr_info *info, size_t size, void *arg);

/* The library looks at the loader's objects while nobody else may look at its threads: as long as a test wants. */
__attribute__((visibility("default"))) int dl_iterate_phdr(look_function *each, void *arg)
{
	int (*next)(look_function *each, void *arg);

	while (atomic_load(&hold.wanted) && getpid() == hold.pid) {
		atomic_store(&hold.inside, 1);
		sched_yield();
	}
	*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return next(each, arg);
}
#endif

static void *stop(void *arg)
{
	struct sync_call *call = arg;

	assert_ok(aclrtSetCurrentContext(call->context));
	call->code = aclrtStreamStop(call->stream);
	return NULL;
}

static void note_thread_kernel(const void *args, const struct vinci_block *block)
{
	(void)block;
	atomic_store(*(atomic_uint *const *)args, (unsigned)gettid());
}

static const struct vinci_kernel note_thread = {
	.abi = VINCI_KERNEL_ABI, .name = "note_thread", .run = note_thread_kernel, .args_size = 8
};

/* This thread has run a kernel. */
static void run_kernel_here(void)
{
	aclrtStream stream = stream_new();
	atomic_uint thread = 0;

	while (thread != (unsigned)gettid()) {
		assert_ok(launch(&note_thread, 1, stream, &thread));
		assert_ok(aclrtSynchronizeStream(stream));
	}
	assert_ok(aclrtDestroyStream(stream));
}

/* A thread that has run kernels is forgotten at its end, but not in a child, where nobody gives the lock back. */
static void a_child_ends_whatever_its_parent_does(void **state)
{
	static struct work w;
	struct sync_call call = { .stream = stream_new() };
	pthread_t stopper;
	pid_t child;

	(void)state;
	if (T_ASAN || T_TSAN)
		skip();
	run_kernel_here();
	start(&w, 1, call.stream);
	hold.pid = getpid();
	atomic_store(&hold.wanted, 1);
	assert_ok(aclrtGetCurrentContext(&call.context));
	assert_int_equal(pthread_create(&stopper, NULL, stop, &call), 0);
	assert_true(t_until(is_set, &hold.inside, LONG_MS));
	child = fork();
	if (!child)
		pthread_exit(NULL);
	assert_int_equal(t_wait_pid(child, LONG_MS), 0);
	atomic_store(&hold.wanted, 0);
	assert_int_equal(pthread_join(stopper, NULL), 0);
	assert_ok(call.code);
	assert_int_equal(aclrtSynchronizeStream(call.stream), STOPPED);
	assert_ok(aclrtDestroyStream(call.stream));
}

struct self_stop {
	aclrtContext context;
	aclrtStream stream;
	int stop, abort;
};

static void stops_itself(void *arg)
{
	struct self_stop *self = arg;

	assert_ok(aclrtSetCurrentContext(self->context));
	self->stop = aclrtStreamStop(self->stream);
	self->abort = aclrtStreamAbort(self->stream);
}

/* covers: aclrtStreamStop failure */
static void what_cannot_be_stopped(void **state)
{
	aclrtStream stream = stream_new();
	struct self_stop self = { .stream = stream };

	(void)state;
	assert_ok(aclrtGetCurrentContext(&self.context));
	assert_says(aclrtStreamStop(NULL), ACL_ERROR_RT_PARAM_INVALID, "default stream");
	assert_ok(aclrtLaunchHostFunc(stream, stops_itself, &self));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(self.stop, ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(self.abort, ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtDestroyStream(stream));
	assert_says(aclrtStreamStop(stream), ACL_ERROR_RT_INVALID_HANDLE, "stream");
}

/* --- aborting ----------------------------------------------------------------------------- */

/* covers: aclrtStreamAbort effect */
static void aborting_ends_a_kernel_and_who_waits_for_it(void **state)
{
	static struct work w;
	struct sync_call call = { .stream = stream_new() };
	pthread_t thread;
	atomic_uint ran = 0;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&call.context));
	start(&w, 1, call.stream);
	assert_ok(launch(&count, 1, call.stream, &ran));
	assert_int_equal(pthread_create(&thread, NULL, synchronize, &call), 0);
	do
		assert_ok(launch(&endless, 1, call.stream, &w)); /* an abort may come before the thread waits */
	while (aclrtStreamAbort(call.stream) || pthread_tryjoin_np(thread, NULL));
	assert_ended(&w);
	assert_true(call.code == ACL_ERROR_RT_STREAM_ABORT || !call.code);
	assert_int_equal(ran, 0);
	assert_ok(aclrtSynchronizeStream(call.stream));
	assert_ok(launch(&count, 1, call.stream, &ran));
	assert_ok(aclrtSynchronizeStream(call.stream));
	assert_int_equal(ran, 1);
	assert_ok(aclrtDestroyStream(call.stream));
}

/* An event's record that was dropped: who waited for it is told. */
static void aborting_ends_who_waits_for_an_event(void **state)
{
	static struct work w;
	struct sync_call call = { .stream = stream_new() };
	pthread_t thread;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&call.context));
	assert_ok(aclrtCreateEvent(&call.event));
	start(&w, 1, call.stream);
	assert_ok(aclrtRecordEvent(call.event, call.stream));
	assert_int_equal(pthread_create(&thread, NULL, synchronize, &call), 0);
	do {
		assert_ok(aclrtStreamAbort(call.stream));
		assert_ok(launch(&endless, 1, call.stream, &w));
		assert_ok(aclrtRecordEvent(call.event, call.stream));
	} while (pthread_tryjoin_np(thread, NULL));
	assert_ok(aclrtStreamAbort(call.stream));
	assert_true(call.code == ACL_ERROR_RT_STREAM_ABORT || !call.code);
	assert_ok(aclrtDestroyEvent(call.event));
	assert_ok(aclrtDestroyStream(call.stream));
}

/* covers: aclrtStreamAbort failure */
static void aborting_wrong_streams(void **state)
{
	aclrtStream dead = stream_new();

	(void)state;
	assert_ok(aclrtDestroyStream(dead));
	assert_says(aclrtStreamAbort(dead), ACL_ERROR_RT_INVALID_HANDLE, "stream");
}

/* --- a device ----------------------------------------------------------------------------- */

struct told {
	unsigned calls;
	int32_t device[4];
	aclrtDeviceTaskAbortStage stage[4];
	uint32_t timeout[4];
	int answer;
	aclrtStream stream;
	int code; /* of a synchronisation meanwhile */
};

static int32_t tell(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *arg)
{
	struct told *t = arg;

	t->device[t->calls % 4] = device;
	t->stage[t->calls % 4] = stage;
	t->timeout[t->calls++ % 4] = timeout;
	if (t->stream && stage == ACL_RT_DEVICE_TASK_ABORT_POST)
		t->code = aclrtSynchronizeStream(t->stream);
	return t->answer;
}

/* covers: aclrtDeviceTaskAbort, aclrtSetDeviceTaskAbortCallback effect */
static void aborting_a_device(void **state)
{
	static struct work w[2];
	aclrtStream streams[2] = { stream_new(), stream_new() };
	struct told told = { .stream = streams[0] };
	aclrtNotify notify = NULL;
	atomic_uint ran = 0;

	(void)state;
	assert_ok(aclrtSetDeviceTaskAbortCallback("tell", tell, &told));
	assert_ok(aclrtCreateNotify(&notify, 0));
	assert_ok(aclrtWaitAndResetNotify(notify, NULL, 0));
	for (int i = 0; i < 2; i++) {
		start(&w[i], 3, streams[i]);
		assert_ok(launch(&count, 1, streams[i], &ran));
	}
	assert_ok(aclrtDeviceTaskAbort(0, LONG_MS));
	for (int i = 0; i < 2; i++) {
		assert_ended(&w[i]);
		assert_ok(launch(&count, 1, streams[i], &ran));
	}
	assert_ok(aclrtSynchronizeDevice());
	assert_int_equal(ran, 2);
	assert_int_equal(told.calls, 2);
	assert_int_equal(told.stage[0], ACL_RT_DEVICE_TASK_ABORT_PRE);
	assert_int_equal(told.stage[1], ACL_RT_DEVICE_TASK_ABORT_POST);
	assert_int_equal(told.code, ACL_ERROR_RT_DEVICE_TASK_ABORT);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(told.device[i], 0);
		assert_in_range(told.timeout[i], 1, LONG_MS);
	}
	assert_ok(aclrtSetDeviceTaskAbortCallback("tell", NULL, NULL));
	assert_ok(aclrtDeviceTaskAbort(0, 0));
	assert_int_equal(told.calls, 2);
	assert_ok(aclrtDestroyNotify(notify));
	for (int i = 0; i < 2; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
}

/* covers: aclrtDeviceTaskAbort, aclrtSetDeviceTaskAbortCallback failure */
static void aborting_a_device_fails(void **state)
{
	aclrtStream stream = stream_new();
	struct told told = { .answer = 7 };
	atomic_uint ran = 0;

	(void)state;
	assert_says(aclrtDeviceTaskAbort(0, 36 * 60 * 1000 + 1), ACL_ERROR_RT_PARAM_INVALID, "36 minutes");
	assert_says(aclrtDeviceTaskAbort(-1, 0), ACL_ERROR_RT_INVALID_DEVICEID, "device");
	assert_says(aclrtSetDeviceTaskAbortCallback(NULL, tell, &told), ACL_ERROR_INVALID_PARAM, "regName");
	assert_ok(aclrtSetDeviceTaskAbortCallback("tell", tell, &told));
	assert_says(aclrtSetDeviceTaskAbortCallback("tell", tell, &told), ACL_ERROR_RT_PARAM_INVALID,
		    "registered already");
	assert_says(aclrtDeviceTaskAbort(0, 0), ACL_ERROR_RT_INTERNAL_ERROR, "answered 7");
	assert_int_equal(told.calls, 1);
	/* until an abort succeeds */
	assert_says(launch(&count, 1, stream, &ran), ACL_ERROR_RT_DEVICE_TASK_ABORT, "aborted");
	told.answer = 0;
	assert_ok(aclrtDeviceTaskAbort(0, 0));
	assert_ok(launch(&count, 1, stream, &ran));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(ran, 1);
	assert_ok(aclrtSetDeviceTaskAbortCallback("tell", NULL, NULL));
	assert_ok(aclrtDestroyStream(stream));
}

struct hold {
	atomic_uint started, open;
};

static void hold_host(void *arg)
{
	struct hold *h = arg;

	atomic_store(&h->started, 1);
	while (!atomic_load(&h->open))
		;
}

/* A function of the program's is not ended; the next call finds it through. */
static void a_device_that_does_not_stop_in_time(void **state)
{
	aclrtStream stream = stream_new();
	struct hold h = { 0 };
	atomic_uint ran = 0;

	(void)state;
	assert_ok(aclrtLaunchHostFunc(stream, hold_host, &h));
	assert_ok(launch(&count, 1, stream, &ran));
	assert_true(t_until(is_set, &h.started, LONG_MS));
	assert_says(aclrtDeviceTaskAbort(0, 20), ACL_ERROR_RT_WAIT_TIMEOUT, "still run");
	assert_int_equal(launch(&count, 1, stream, &ran), ACL_ERROR_RT_DEVICE_TASK_ABORT);
	atomic_store(&h.open, 1);
	assert_ok(aclrtDeviceTaskAbort(0, 0));
	assert_int_equal(ran, 0);
	assert_ok(launch(&count, 1, stream, &ran));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(ran, 1);
	assert_ok(aclrtDestroyStream(stream));
}

/* --- exceptions ---------------------------------------------------------------------------- */

static atomic_uint raised;
static atomic_uint raised_code;

static void on_exception(aclrtExceptionInfo *info)
{
	atomic_store(&raised_code, aclrtGetErrorCodeFromExceptionInfo(info));
	atomic_fetch_add(&raised, 1);
}

/* --- failure stops a context -------------------------------------------------------------- */

/* covers: aclrtSetStreamFailureMode effect */
static void failure_stops_the_whole_context(void **state)
{
	aclrtContext context = NULL, before = NULL;
	aclrtStream stops, other, later, last, outside = stream_new();
	atomic_uint ran = 0;

	(void)state;
	/* puts the library's handler in front of cmocka's */
	assert_ok(aclrtExceptionInfoCallbackRegister(on_exception));
	assert_ok(aclrtGetCurrentContext(&before));
	assert_ok(aclrtCreateContext(&context, 0));
	stops = stream_new();
	other = stream_new();
	assert_ok(aclrtSetStreamFailureMode(stops, ACL_STOP_ON_FAILURE));
	later = stream_new();
	assert_ok(launch(&trap, 1, later, NULL)); /* one that has no mode of its own */
	assert_int_equal(aclrtSynchronizeStream(later), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
	assert_says(launch(&count, 1, later, &ran), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "a task of it has failed");
	assert_says(launch(&count, 1, other, &ran), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
		    "another stream of its context");
	assert_says(aclrtSynchronizeStream(stops), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "stops on failure");
	last = stream_new();
	assert_says(launch(&count, 1, last, &ran), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "another stream of its context");
	assert_ok(aclrtSetCurrentContext(before));
	assert_ok(launch(&count, 1, outside, &ran));
	assert_ok(aclrtSynchronizeStream(outside));
	assert_int_equal(ran, 1);
	assert_ok(aclrtDeviceTaskAbort(0, 0)); /* puts it right */
	assert_ok(aclrtSetCurrentContext(context));
	assert_ok(launch(&count, 1, other, &ran));
	assert_ok(aclrtSynchronizeStream(other));
	assert_int_equal(ran, 2);
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtSetCurrentContext(before));
	assert_ok(aclrtDestroyStream(outside));
	assert_ok(aclrtExceptionInfoCallbackUnregister(on_exception));
	assert_int_equal(atomic_exchange(&raised, 0), 1);
}

/* --- operators that run too long ---------------------------------------------------------- */

/* covers: aclrtSetOpExecuteTimeOut, aclrtSetOpExecuteTimeOutV2 effect */
/* covers: aclrtGetOpTimeOutInterval, aclrtGetOpExecuteTimeout effect */
static void a_kernel_that_runs_too_long(void **state)
{
	static struct work w[2];
	aclrtStream streams[2] = { stream_new(), stream_new() };
	uint64_t interval = 0, actual = 0;
	atomic_uint ran = 0;
	uint32_t ms = 0;

	(void)state;
	assert_ok(aclrtGetOpTimeOutInterval(&interval));
	assert_int_equal(interval, INTERVAL_US);
	assert_ok(aclrtGetOpExecuteTimeout(&ms));
	assert_int_equal(ms, 1090922);
	assert_ok(aclrtSetOpExecuteTimeOutV2(2 * INTERVAL_US, &actual));
	assert_int_equal(actual, 2 * INTERVAL_US);
	assert_ok(aclrtSetOpExecuteTimeOutV2(2 * INTERVAL_US + 2, &actual));
	assert_int_equal(actual, 12884901);
	assert_ok(aclrtSetOpExecuteTimeOutV2(0, &actual));
	assert_int_equal(actual, 1090921693);
	assert_ok(aclrtSetOpExecuteTimeOut(1));
	assert_ok(aclrtGetOpExecuteTimeout(&ms));
	assert_int_equal(ms, 4295);
	assert_ok(aclrtExceptionInfoCallbackRegister(on_exception));
	for (int i = 0; i < 2; i++) {
		start(&w[i], 1 + 4 * (uint32_t)i, streams[i]); /* alone, and on several threads */
		assert_ok(launch(&count, 1, streams[i], &ran));
	}
	for (int i = 0; i < 2; i++) {
		assert_says(aclrtSynchronizeStream(streams[i]), TIMEOUT, "longer than an operator may");
		assert_ended(&w[i]);
	}
	assert_int_equal(ran, 2);
	assert_int_equal(raised, 2);
	assert_int_equal(raised_code, TIMEOUT);
	assert_ok(aclrtExceptionInfoCallbackUnregister(on_exception));
	assert_ok(aclrtSetOpExecuteTimeOut(0));
	for (int i = 0; i < 2; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
}

/* covers: aclrtSetOpExecuteTimeOut, aclrtSetOpExecuteTimeOutV2 failure */
/* covers: aclrtGetOpTimeOutInterval, aclrtGetOpExecuteTimeout failure */
static void wrong_timeouts(void **state)
{
	aclrtContext context = NULL;
	uint64_t us = 0;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&context));
	assert_says(aclrtSetOpExecuteTimeOutV2(1, NULL), ACL_ERROR_INVALID_PARAM, "actualTimeout");
	assert_says(aclrtGetOpTimeOutInterval(NULL), ACL_ERROR_INVALID_PARAM, "interval");
	assert_says(aclrtGetOpExecuteTimeout(NULL), ACL_ERROR_INVALID_PARAM, "timeoutMs");
	assert_ok(aclrtResetDevice(0));
	assert_says(aclrtSetOpExecuteTimeOutV2(1, &us), ACL_ERROR_RT_CONTEXT_NULL, "context");
	assert_says(aclrtGetOpTimeOutInterval(&us), ACL_ERROR_RT_CONTEXT_NULL, "context");
	assert_int_equal(us, 0);
	assert_ok(aclrtSetDevice(0));
}

/* The program's own use of the signal is left alone. */
static atomic_uint own;

static void on_own(int sig)
{
	(void)sig;
	atomic_fetch_add(&own, 1);
}

static void the_programs_handler_sees_its_own_signals_only(void **state)
{
	const int signals[] = { SIGILL, SIGRTMAX - 6 };
	struct sigaction act = { .sa_handler = on_own }, old;
	aclrtStream stream = stream_new();
	static struct work w;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sigaction(signals[i], &act, &old), 0);
		atomic_store(&w.started, 0);
		start(&w, 1, stream);
		assert_ok(aclrtStreamStop(stream));
		assert_int_equal(aclrtSynchronizeStream(stream), STOPPED);
		assert_int_equal(own, i);
		assert_int_equal(raise(signals[i]), 0);
		assert_int_equal(own, i + 1);
		assert_int_equal(sigaction(signals[i], &old, NULL), 0);
	}
	assert_ok(aclrtDestroyStream(stream));
}

static int begin(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int end(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

#define TEST(name) cmocka_unit_test_setup(name, forget_errors)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stopping_ends_the_running_kernel_alone),
		TEST(stopping_at_any_moment),
		TEST(stopping_a_kernel_of_many_blocks),
		TEST(stopping_a_kernel_that_prints),
		TEST(stopping_a_wait),
		TEST(stopping_what_a_waiting_thread_runs),
		TEST(a_child_ends_whatever_its_parent_does),
		TEST(what_cannot_be_stopped),
		TEST(aborting_ends_a_kernel_and_who_waits_for_it),
		TEST(aborting_ends_who_waits_for_an_event),
		TEST(aborting_wrong_streams),
		TEST(aborting_a_device),
		TEST(aborting_a_device_fails),
		TEST(a_device_that_does_not_stop_in_time),
		TEST(failure_stops_the_whole_context),
		TEST(a_kernel_that_runs_too_long),
		TEST(wrong_timeouts),
		TEST(the_programs_handler_sees_its_own_signals_only),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
