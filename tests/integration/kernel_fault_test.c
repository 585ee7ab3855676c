/* SPDX-License-Identifier: MIT */
/*
 * kernel_fault_test.c - kernels that trap, divide by zero or touch what is not there fail their task and nothing else;
 * the application's own handlers see what is theirs.
 */
#include "mem_util.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* aclrtSetExceptionInfoCallback is tested as well. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FAULT ACL_ERROR_RT_VECTOR_CORE_EXCEPTION /* of an Atlas A2 */
#define WAIT_MS 20000

static aclrtBinHandle bin;

static aclrtFuncHandle function(const char *name)
{
	aclrtFuncHandle fn = NULL;

	assert_ok(aclrtBinaryGetFunction(bin, name, &fn));
	return fn;
}

static void begin(void)
{
	assert_ok(aclInit(NULL));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &bin));
}

static int setup(void **state)
{
	(void)state;
	begin();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_ok(aclrtBinaryUnLoad(bin));
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclFinalize());
	return 0;
}

static int64_t *device_new(void)
{
	void *p = NULL;

	assert_ok(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMemset(p, 64, 0, 64));
	return p;
}

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

struct args {
	void *at;
	int64_t value;
};

static void launch(const char *name, uint32_t blocks, aclrtStream stream, void *at, int64_t value)
{
	struct args args = { at, value };

	assert_ok(aclrtLaunchKernelWithHostArgs(function(name), blocks, stream, NULL, &args, sizeof(args), NULL, 0));
}

static bool idle(void *stream)
{
	aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;

	assert_ok(aclrtStreamQuery(stream, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

/* Runs on a worker thread (polling), or on this one. */
static aclError finish(aclrtStream stream, bool worker)
{
	if (worker)
		assert_true(t_until(idle, stream, WAIT_MS));
	return aclrtSynchronizeStream(stream);
}

static void assert_says(const char *word)
{
	const char *text = aclGetRecentErrMsg();

	assert_non_null(text);
	if (!strstr(text, word))
		fail_msg("\"%s\" is not in: %s", word, text);
}

static void *unmapped(void)
{
	void *p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void fails_and_goes_on(const char *name, uint32_t blocks, void *at, int64_t value, const char *word, bool worker)
{
	aclrtStream stream = stream_new(), other = stream_new();
	int64_t *out = device_new(), got = 0;
	struct m_gate gate = { .store_to = NULL };

	m_close(&gate, other);
	(void)aclGetRecentErrMsg();
	launch(name, blocks, stream, at, value);
	launch("count_calls", 1, stream, out, 0);
	assert_int_equal(finish(stream, worker), FAULT);
	assert_says(word);
	assert_ok(aclrtMemcpy(&got, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_true(got > 0); /* the stream goes on after a failure, unless told otherwise */
	assert_ok(aclrtSynchronizeStream(stream));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(other));
	m_gate_end(&gate);
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
	assert_ok(aclrtFree(out));
}

static void traps(void **state)
{
	int64_t *out = device_new(), got = 0;

	(void)state;
	for (int worker = 0; worker < 2; worker++) {
		fails_and_goes_on("fail_trap", 1, out, 0, "trapped", worker);
		assert_ok(aclrtMemcpy(&got, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
		assert_int_equal(got, 1);
	}
	assert_ok(aclrtFree(out));
}

static void unmapped_addresses(void **state)
{
	void *hole = unmapped();

	(void)state;
	for (int worker = 0; worker < 2; worker++) {
		fails_and_goes_on("fail_block", 1, hole, 0, "touched", worker);
		fails_and_goes_on("fail_block", 1, NULL, 0, "touched", worker);
		fails_and_goes_on("fail_block", 7, hole, 5, "block 5 of 7", worker);
	}
	munmap(hole, 4096);
}

#if defined(__x86_64__) /* aarch64's division by zero yields zero */
static void divisions_by_zero(void **state)
{
	int64_t *out = device_new();

	(void)state;
	for (int worker = 0; worker < 2; worker++)
		fails_and_goes_on("fail_division", 1, out, 0, "divided by zero", worker);
	launch("fail_division", 1, NULL, out, 5);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtFree(out));
}
#endif

static void endless_recursion(void **state)
{
	int64_t *out = device_new();

	(void)state;
	for (int worker = 0; worker < 2; worker++)
		fails_and_goes_on("fail_stack", 1, out, 0, "touched", worker);
	assert_ok(aclrtFree(out));
}

static void vector_code(void **state)
{
	(void)state;
	for (int64_t how = 0; how < 4; how++)
		for (int worker = 0; worker < 2; worker++)
			fails_and_goes_on("fail_vector", 1, NULL, how, "trapped", worker);
}

/* On all workers; each at an address of its own, which says to a sanitizer that they do not race. */
static void many_faults_at_once(void **state)
{
	aclrtStream streams[8];
	void *hole = unmapped();

	(void)state;
	for (int i = 0; i < 8; i++)
		streams[i] = stream_new();
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 8; i++)
			launch("fail_block", 16, streams[i], (char *)hole + 64 * i, 5);
		for (int i = 0; i < 8; i++)
			assert_int_equal(aclrtSynchronizeStream(streams[i]), FAULT);
	}
	for (int i = 0; i < 8; i++)
		assert_ok(aclrtDestroyStream(streams[i]));
	munmap(hole, 4096);
}

static void a_stream_that_stops_on_failure(void **state)
{
	aclrtContext before = NULL, context = NULL; /* stops as well */
	int64_t *out = device_new(), got = -1;
	aclrtStream stream;

	(void)state;
	assert_ok(aclrtGetCurrentContext(&before));
	assert_ok(aclrtCreateContext(&context, 0));
	stream = stream_new();
	assert_ok(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
	launch("fail_trap", 1, stream, out + 1, 0);
	/* Accepted or not, depending on whether the trap has come: it does not run. */
	(void)aclrtLaunchKernelWithHostArgs(function("count_calls"), 1, stream, NULL, &out, sizeof(out), NULL, 0);
	assert_int_equal(aclrtSynchronizeStream(stream), FAULT);
	assert_ok(aclrtMemcpy(&got, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(got, 0);
	assert_ok(aclrtDestroyStreamForce(stream));
	assert_ok(aclrtDestroyContext(context));
	assert_ok(aclrtSetCurrentContext(before));
	assert_ok(aclrtFree(out));
}

/* --- callbacks -------------------------------------------------------------------------------- */

struct seen {
	unsigned calls;
	uint32_t task, stream, thread, device, code, args_size;
	aclError args_code, function_code, sync_code;
	void *at;
	aclrtFuncHandle function;
	void *user;
};

static struct seen first, second, of_binary;
static aclrtStream waited_for;

static void look(const aclrtExceptionInfo *info, struct seen *seen)
{
	void *args = NULL;

	seen->calls++;
	seen->task = aclrtGetTaskIdFromExceptionInfo(info);
	seen->stream = aclrtGetStreamIdFromExceptionInfo(info);
	seen->thread = aclrtGetThreadIdFromExceptionInfo(info);
	seen->device = aclrtGetDeviceIdFromExceptionInfo(info);
	seen->code = aclrtGetErrorCodeFromExceptionInfo(info);
	seen->args_code = aclrtGetArgsFromExceptionInfo(info, &args, &seen->args_size);
	seen->function_code = aclrtGetFuncHandleFromExceptionInfo(info, &seen->function);
	if (!seen->args_code)
		seen->at = ((const struct args *)args)->at;
	if (waited_for)
		seen->sync_code = aclrtSynchronizeStream(waited_for);
}

static void on_first(aclrtExceptionInfo *info)
{
	look(info, &first);
}

static void on_second(aclrtExceptionInfo *info)
{
	look(info, &second);
}

static void on_binary(aclrtExceptionInfo *info, void *user)
{
	look(info, &of_binary);
	of_binary.user = user;
}

static void forget(void)
{
	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	memset(&of_binary, 0, sizeof(of_binary));
}

/* covers: aclrtExceptionInfoCallbackRegister, aclrtExceptionInfoCallbackUnregister effect */
/* covers: aclrtSetExceptionInfoCallback effect */
static void callbacks_come_and_go(void **state)
{
	int64_t *out = device_new();

	(void)state;
	for (int worker = 0; worker < 2; worker++) {
		aclrtStream stream = stream_new();

		forget();
		assert_ok(aclrtExceptionInfoCallbackRegister(on_first));
		assert_ok(aclrtExceptionInfoCallbackRegister(on_first)); /* counts once */
		assert_ok(aclrtExceptionInfoCallbackRegister(on_second));
		assert_ok(aclrtSetExceptionInfoCallback(on_second)); /* beside it */
		launch("count_calls", 1, stream, out, 0);
		assert_ok(finish(stream, worker));
		assert_int_equal(first.calls, 0);
		launch("fail_trap", 4, stream, out, 0);
		assert_int_equal(finish(stream, worker), FAULT);
		assert_int_equal(first.calls, 1);
		assert_int_equal(second.calls, 2);

		assert_ok(aclrtExceptionInfoCallbackUnregister(on_first));
		assert_ok(aclrtExceptionInfoCallbackUnregister(on_second));
		launch("fail_trap", 1, stream, out, 0);
		assert_int_equal(finish(stream, worker), FAULT);
		assert_int_equal(first.calls, 1);
		assert_int_equal(second.calls, 3);

		assert_ok(aclrtSetExceptionInfoCallback(NULL));
		launch("fail_trap", 1, stream, out, 0);
		assert_int_equal(finish(stream, worker), FAULT);
		assert_int_equal(second.calls, 3);
		assert_ok(aclrtDestroyStream(stream));
	}
	assert_ok(aclrtFree(out));
}

/* covers: aclrtExceptionInfoCallbackRegister, aclrtExceptionInfoCallbackUnregister failure */
static void callbacks_are_functions(void **state)
{
	(void)state;
	assert_refused(aclrtExceptionInfoCallbackRegister(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtExceptionInfoCallbackUnregister(NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtExceptionInfoCallbackUnregister(on_first)); /* was not registered: nothing happens */
}

/* covers: aclrtGetTaskIdFromExceptionInfo, aclrtGetStreamIdFromExceptionInfo effect */
/* covers: aclrtGetThreadIdFromExceptionInfo, aclrtGetDeviceIdFromExceptionInfo effect */
/* covers: aclrtGetErrorCodeFromExceptionInfo, aclrtGetArgsFromExceptionInfo effect */
/* covers: aclrtGetFuncHandleFromExceptionInfo, aclrtBinarySetExceptionCallback effect */
static void what_callbacks_are_told(void **state)
{
	aclrtStream stream = stream_new();
	int64_t *out = device_new();
	uint32_t task = 0;
	int32_t id = -1;

	(void)state;
	forget();
	assert_ok(aclrtStreamGetId(stream, &id));
	assert_ok(aclrtBinarySetExceptionCallback(bin, on_binary, &id));
	launch("count_calls", 1, stream, out, 0);
	launch("fail_trap", 1, stream, out, 0);
	assert_ok(aclrtGetThreadLastTaskId(&task));
	assert_int_equal(aclrtSynchronizeStream(stream), FAULT);
	assert_int_equal(of_binary.calls, 1);
	assert_ptr_equal(of_binary.user, &id);
	assert_int_equal(of_binary.task, task);
	assert_int_equal(of_binary.stream, id);
	assert_int_equal(of_binary.thread, syscall(SYS_gettid));
	assert_int_equal(of_binary.device, 0);
	assert_int_equal(of_binary.code, FAULT);
	assert_int_equal(of_binary.args_code, 0);
	assert_int_equal(of_binary.args_size, sizeof(struct args));
	assert_ptr_equal(of_binary.at, out);
	assert_int_equal(of_binary.function_code, 0);
	assert_ptr_equal(of_binary.function, function("fail_trap"));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtFree(out));
}

static void trap_run(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	__builtin_trap();
}

/* A kernel that was launched by <<<>>> has no handle. */
static void kernels_without_a_handle(void **state)
{
	static const struct vinci_kernel trap = {
		.abi = VINCI_KERNEL_ABI, .name = "trap", .run = trap_run, .args_size = 16
	};
	struct args args = { &args, 0 };

	(void)state;
	forget();
	assert_ok(aclrtExceptionInfoCallbackRegister(on_first));
	assert_int_equal(vinciLaunchKernel(&trap, 1, NULL, &args, sizeof(args)), 0);
	assert_int_equal(aclrtSynchronizeStream(NULL), FAULT);
	assert_int_equal(first.calls, 1);
	assert_ptr_equal(first.at, &args);
	assert_int_equal(first.function_code, ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtExceptionInfoCallbackUnregister(on_first));
}

/* covers: aclrtGetTaskIdFromExceptionInfo, aclrtGetStreamIdFromExceptionInfo failure */
/* covers: aclrtGetThreadIdFromExceptionInfo, aclrtGetDeviceIdFromExceptionInfo failure */
/* covers: aclrtGetErrorCodeFromExceptionInfo, aclrtGetArgsFromExceptionInfo failure */
/* covers: aclrtGetFuncHandleFromExceptionInfo, aclrtBinarySetExceptionCallback failure */
static void there_is_no_info(void **state)
{
	aclrtFuncHandle fn;
	uint32_t size;
	void *args;

	(void)state;
	assert_refused(aclrtGetTaskIdFromExceptionInfo(NULL), UINT32_MAX);
	assert_refused(aclrtGetStreamIdFromExceptionInfo(NULL), UINT32_MAX);
	assert_refused(aclrtGetThreadIdFromExceptionInfo(NULL), UINT32_MAX);
	assert_refused(aclrtGetDeviceIdFromExceptionInfo(NULL), UINT32_MAX);
	assert_refused(aclrtGetErrorCodeFromExceptionInfo(NULL), UINT32_MAX);
	assert_refused((uint32_t)aclrtGetArgsFromExceptionInfo(NULL, &args, &size), UINT32_MAX);
	assert_refused((uint32_t)aclrtGetFuncHandleFromExceptionInfo(NULL, &fn), UINT32_MAX);
	assert_refused(aclrtBinarySetExceptionCallback(NULL, on_binary, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinarySetExceptionCallback(bin, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinarySetExceptionCallback(&fn, on_binary, NULL), ACL_ERROR_RT_INVALID_HANDLE);
}

/* Its locks may be held for ever: each call says so, and returns. */
static int child_of_a_fork(aclrtFuncHandle fn, aclrtArgsHandle list)
{
	int wrong = 0;
	void *out;

	wrong += aclrtSetExceptionInfoCallback(on_first) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtExceptionInfoCallbackRegister(on_first) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtExceptionInfoCallbackUnregister(on_first) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtBinarySetExceptionCallback(bin, on_binary, NULL) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtBinaryGetFunction(bin, "scale", &out) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtBinaryUnLoad(bin) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &out) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtKernelArgsInit(fn, &out) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	wrong += aclrtKernelArgsFinalize(list) != ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	return wrong;
}

/* covers: aclrtSetExceptionInfoCallback failure */
static void after_a_fork(void **state)
{
	aclrtFuncHandle fn = function("scale");
	aclrtArgsHandle list;
	pid_t pid;

	(void)state;
	assert_ok(aclrtKernelArgsInit(fn, &list));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child_of_a_fork(fn, list));
	assert_int_equal(t_wait_pid(pid, WAIT_MS), 0);
	assert_ok(aclrtKernelArgsFinalize(list));
}

/* Waiting for the failing stream would never end; waiting for another one does. */
static void a_callback_cannot_wait_for_its_own_task(void **state)
{
	aclrtStream stream = stream_new(), other = stream_new();
	int64_t *out = device_new(), *out_other = device_new();

	(void)state;
	assert_ok(aclrtExceptionInfoCallbackRegister(on_first));
	for (int worker = 0; worker < 2; worker++) {
		forget();
		waited_for = stream;
		launch("fail_trap", 1, stream, out, 0);
		assert_int_equal(finish(stream, worker), FAULT);
		assert_int_equal(first.sync_code, ACL_ERROR_RT_PARAM_INVALID);
		waited_for = other;
		launch("count_calls", 1, other, out_other, 0);
		launch("fail_trap", 1, stream, out, 0);
		assert_int_equal(finish(stream, worker), FAULT);
		assert_int_equal(first.calls, 2);
		assert_int_equal(first.sync_code, 0);
	}
	waited_for = NULL;
	assert_ok(aclrtExceptionInfoCallbackUnregister(on_first));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
	assert_ok(aclrtFree(out));
	assert_ok(aclrtFree(out_other));
}

/* --- signals of the application's ------------------------------------------------------------- */

static void run_a_fault(void)
{
	int64_t *out = device_new();

	launch("fail_trap", 1, NULL, out, 0);
	assert_int_equal(aclrtSynchronizeStream(NULL), FAULT);
}

static void blocked_signals(void **state)
{
	sigset_t all, old;

	(void)state;
	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &old), 0);
	run_a_fault();
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, &all), 0);
	assert_true(sigismember(&all, SIGSEGV) && sigismember(&all, SIGILL));
}

/* Of a thread whose first kernel finds the signals blocked. */
static void *with_blocked_signals(void *arg)
{
	assert_ok(aclrtSetDevice(0));
	blocked_signals(arg);
	return NULL;
}

static void a_thread_that_blocks_signals(void **state)
{
	pthread_t thread;
	sigset_t all, old;

	(void)state;
	sigfillset(&all);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &old), 0);
	assert_int_equal(pthread_create(&thread, NULL, with_blocked_signals, NULL), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static sigjmp_buf app_env;
static volatile sig_atomic_t app_sent, app_faults;

static void app_handler(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0) {
		app_sent = sig;
		return;
	}
	app_faults++;
	siglongjmp(app_env, 1);
}

static void touch(volatile int *p)
{
	*p = 1;
}

/* Before the library's first kernel: it has to hand on. */
static int peer_with_handlers(void)
{
	struct sigaction act = { .sa_sigaction = app_handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGILL, &act, NULL);
	begin();
	run_a_fault();
	raise(SIGSEGV);
	t_say("sent %d", app_sent == SIGSEGV);
	if (!sigsetjmp(app_env, 1))
		touch(unmapped());
	t_say("faults %d", (int)app_faults);
	run_a_fault();
	t_say("faults %d", (int)app_faults);
	return 0;
}

/* Without handlers the process dies of its own faults, as it always did. */
static int peer_without_handlers(void)
{
	struct rlimit none = { 0, 0 };
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	setrlimit(RLIMIT_CORE, &none);
	sigaction(SIGSEGV, &dfl, NULL); /* a sanitizer may have one */
	begin();
	run_a_fault();
	t_say("faulted");
	touch(unmapped());
	return 1;
}

static int peer_sent(void)
{
	struct rlimit none = { 0, 0 };
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	setrlimit(RLIMIT_CORE, &none);
	sigaction(SIGILL, &dfl, NULL);
	begin();
	run_a_fault();
	t_say("faulted");
	raise(SIGILL);
	return 1;
}

static void handlers_of_the_application(void **state)
{
	const char *const args[] = { "handlers", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, args, NULL));
	assert_true(t_expect(&peer, "sent 1", WAIT_MS));
	assert_true(t_expect(&peer, "faults 1", WAIT_MS));
	assert_true(t_expect(&peer, "faults 1", WAIT_MS));
	assert_int_equal(t_wait(&peer, WAIT_MS), 0);
}

static void default_actions(void **state)
{
	const char *const faults[] = { "default", NULL }, *const sent[] = { "sent", NULL };
	struct t_peer peer;

	(void)state;
	assert_true(t_spawn(&peer, faults, NULL));
	assert_true(t_expect(&peer, "faulted", WAIT_MS));
	assert_int_equal(t_wait(&peer, WAIT_MS), 128 + SIGSEGV);
	assert_true(t_spawn(&peer, sent, NULL));
	assert_true(t_expect(&peer, "faulted", WAIT_MS));
	assert_int_equal(t_wait(&peer, WAIT_MS), 128 + SIGILL);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps),
		cmocka_unit_test(unmapped_addresses),
#if defined(__x86_64__)
		cmocka_unit_test(divisions_by_zero),
#endif
		cmocka_unit_test(endless_recursion),
		cmocka_unit_test(vector_code),
		cmocka_unit_test(many_faults_at_once),
		cmocka_unit_test(a_stream_that_stops_on_failure),
		cmocka_unit_test(callbacks_come_and_go),
		cmocka_unit_test(callbacks_are_functions),
		cmocka_unit_test(what_callbacks_are_told),
		cmocka_unit_test(kernels_without_a_handle),
		cmocka_unit_test(there_is_no_info),
		cmocka_unit_test(after_a_fork),
		cmocka_unit_test(a_callback_cannot_wait_for_its_own_task),
		cmocka_unit_test(a_thread_that_blocks_signals),
		cmocka_unit_test(handlers_of_the_application),
		cmocka_unit_test(default_actions),
	};

	if (argc > 1 && !strcmp(argv[1], "handlers"))
		return peer_with_handlers();
	if (argc > 1 && !strcmp(argv[1], "default"))
		return peer_without_handlers();
	if (argc > 1 && !strcmp(argv[1], "sent"))
		return peer_sent();
	return cmocka_run_group_tests(tests, setup, teardown);
}
