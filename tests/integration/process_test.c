/* SPDX-License-Identifier: MIT */
/*
 * process_test.c - forks, the death of the device, and exits. Every scenario is a process of its own with a device
 * instance of its own, so that killing the device hurts nobody else.
 */
#include "scenario.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define FORKED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define GONE ACL_ERROR_RT_LOST_HEARTBEAT

static void own_instance(void)
{
	char name[64];

	snprintf(name, sizeof(name), "test-process-%d", getpid());
	setenv("VINCI_INSTANCE", name, 1);
}

/* ---- forks ----------------------------------------------------------------------------------- */

static void *some_memory, *some_host, *some_range;
static aclrtStream some_stream;
static aclrtContext some_context;
static aclrtNotify some_notify;
static aclrtDrvMemHandle some_handle;
static char some_key[65];

static void host_function(void *arg)
{
	(void)arg;
}

static void refused_memory_calls(void)
{
	aclrtPtrAttributes attributes;
	char local[64] = { 0 };
	void *ptr;

	CHECK_CODE(aclrtFreeHost(some_host), FORKED);
	CHECK_CODE(aclrtHostRegister(local, 4096, ACL_HOST_REGISTER_MAPPED, &ptr), FORKED);
	CHECK_CODE(aclrtPointerGetAttributes(some_memory, &attributes), FORKED);
	CHECK_CODE(aclrtMemcpy(some_memory, 64, local, 64, ACL_MEMCPY_HOST_TO_DEVICE), FORKED);
	CHECK_CODE(aclrtMemcpyAsync(some_memory, 64, local, 64, ACL_MEMCPY_HOST_TO_DEVICE, some_stream), FORKED);
	CHECK_CODE(aclrtMemset(some_memory, 64, 0, 64), FORKED);
	CHECK_CODE(aclrtMemsetAsync(some_memory, 64, 0, 64, some_stream), FORKED);
	CHECK_CODE(aclrtLaunchHostFunc(some_stream, host_function, NULL), FORKED);
	CHECK_CODE(aclrtDestroyStreamForce(some_stream), FORKED);
	CHECK_CODE(aclrtSynchronizeStreamWithTimeout(some_stream, 5), FORKED);
}

static void refused_sharing_calls(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { .type = ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtDrvMemHandle handle;
	int32_t number = 1;
	uint64_t shareable;
	aclrtNotify notify;
	uint32_t id;
	char key[65];
	void *ptr;

	CHECK_CODE(aclrtIpcMemGetExportKey(some_memory, 4 << 20, key, sizeof(key), 0), FORKED);
	CHECK_CODE(aclrtIpcMemSetImportPid(some_key, &number, 1), FORKED);
	CHECK_CODE(aclrtIpcMemImportByKey(&ptr, some_key, 0), FORKED);
	CHECK_CODE(aclrtIpcMemClose(some_key), FORKED);
	CHECK_CODE(aclrtMallocPhysical(&handle, 2 << 20, &prop, 0), FORKED);
	CHECK_CODE(aclrtReserveMemAddress(&ptr, 2 << 20, 0, NULL, 0), FORKED);
	CHECK_CODE(aclrtMapMem(some_range, 2 << 20, 0, some_handle, 0), FORKED);
	CHECK_CODE(aclrtUnmapMem(some_range), FORKED);
	CHECK_CODE(aclrtReleaseMemAddress(some_range), FORKED);
	CHECK_CODE(aclrtMemExportToShareableHandle(some_handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable), FORKED);
	CHECK_CODE(aclrtMemImportFromShareableHandle(1, 0, &handle), FORKED);
	CHECK_CODE(aclrtFreePhysical(some_handle), FORKED);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), FORKED);
	CHECK_CODE(aclrtRecordNotify(some_notify, some_stream), FORKED);
	CHECK_CODE(aclrtWaitAndResetNotify(some_notify, some_stream, 1), FORKED);
	CHECK_CODE(aclrtGetNotifyId(some_notify, &id), FORKED);
	CHECK_CODE(aclrtNotifyGetExportKey(some_notify, key, sizeof(key), 0), FORKED);
	CHECK_CODE(aclrtNotifyImportByKey(&notify, some_key, 0), FORKED);
	CHECK_CODE(aclrtDestroyNotify(some_notify), FORKED);
	CHECK_CODE(aclrtDeviceCanAccessPeer(&number, 0, 1), FORKED);
	CHECK_CODE(aclrtDeviceEnablePeerAccess(1, 0), FORKED);
}

/* What a child of an initialised process may call: anything, and everything says the same. */
static void all_calls_are_refused(void)
{
	aclrtContext context;
	aclrtStream stream;
	uint32_t count;
	int32_t number;
	size_t a, b;
	void *ptr;

	CHECK_SAYS(aclInit(NULL), FORKED, "before the fork");
	CHECK_CODE(aclFinalize(), FORKED);
	CHECK_CODE(aclFinalizeReference(NULL), FORKED);
	CHECK_CODE(aclrtSetDevice(0), FORKED);
	CHECK_CODE(aclrtResetDevice(0), FORKED);
	CHECK_CODE(aclrtResetDeviceForce(0), FORKED);
	CHECK_CODE(aclrtGetDevice(&number), FORKED);
	CHECK_CODE(aclrtGetDeviceCount(&count), FORKED);
	CHECK_CODE(aclrtDeviceGetBareTgid(&number), FORKED);
	CHECK(!aclrtGetSocName());
	CHECK_CODE(aclrtCreateContext(&context, 0), FORKED);
	CHECK_CODE(aclrtGetCurrentContext(&context), FORKED);
	CHECK_CODE(aclrtSetCurrentContext(some_context), FORKED);
	CHECK_CODE(aclrtDestroyContext(some_context), FORKED);
	CHECK_CODE(aclrtCtxGetCurrentDefaultStream(&stream), FORKED);
	CHECK_CODE(aclrtSynchronizeDevice(), FORKED);
	CHECK_CODE(aclrtSynchronizeDeviceWithTimeout(1), FORKED);
	CHECK_CODE(aclrtCreateStream(&stream), FORKED);
	CHECK_CODE(aclrtSynchronizeStream(some_stream), FORKED);
	CHECK_CODE(aclrtSynchronizeStream(NULL), FORKED);
	CHECK_CODE(aclrtDestroyStream(some_stream), FORKED);
	CHECK_CODE(aclrtMalloc(&ptr, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), FORKED);
	CHECK_CODE(aclrtMallocHost(&ptr, 1 << 20), FORKED);
	CHECK_CODE(aclrtFree(some_memory), FORKED);
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &a, &b), FORKED);
	CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), FORKED);
	refused_memory_calls();
	refused_sharing_calls();
}

static void *does_nothing(void *arg)
{
	(void)arg;
	return NULL;
}

/* The child runs threads that end: their destructors meet what the parent left in thread-local storage. */
static void child_of_initialised(void)
{
	pthread_t thread;

	all_calls_are_refused();
	CHECK(!pthread_create(&thread, NULL, does_nothing, NULL));
	CHECK(!pthread_join(thread, NULL));
	exit(0); /* with all destructors */
}

static void wait_for_child(pid_t pid)
{
	int status;

	CHECK(pid > 0);
	status = t_wait_pid(pid, 20000);
	if (status)
		fprintf(stderr, "child ended with %d\n", status);
	CHECK(!status);
}

static void make_things(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { .type = ACL_MEM_LOCATION_TYPE_DEVICE } };

	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateContext(&some_context, 1), ACL_SUCCESS);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc(&some_memory, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateStream(&some_stream), ACL_SUCCESS);
	CHECK_CODE(aclrtMallocHost(&some_host, 1 << 20), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemGetExportKey(some_memory, 4 << 20, some_key, sizeof(some_key), 0), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&some_notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMallocPhysical(&some_handle, 2 << 20, &prop, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtReserveMemAddress(&some_range, 2 << 20, 0, NULL, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMapMem(some_range, 2 << 20, 0, some_handle, 0), ACL_SUCCESS);
}

static void things_still_work(void)
{
	CHECK_CODE(aclrtMemset(some_memory, 4 << 20, 7, 4 << 20), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(some_stream), ACL_SUCCESS);
	CHECK_CODE(aclrtRecordNotify(some_notify, some_stream), ACL_SUCCESS);
	CHECK_CODE(aclrtWaitAndResetNotify(some_notify, some_stream, 5), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(some_stream), ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyNotify(some_notify), ACL_SUCCESS);
	CHECK_CODE(aclrtUnmapMem(some_range), ACL_SUCCESS);
	CHECK_CODE(aclrtReleaseMemAddress(some_range), ACL_SUCCESS);
	CHECK_CODE(aclrtFreePhysical(some_handle), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemClose(some_key), ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyStream(some_stream), ACL_SUCCESS);
	CHECK_CODE(aclrtFreeHost(some_host), ACL_SUCCESS);
	CHECK_CODE(aclrtFree(some_memory), ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyContext(some_context), ACL_SUCCESS);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
}

static void fork_after_init(void)
{
	pid_t pid;

	own_instance();
	make_things();
	pid = fork();
	if (!pid)
		child_of_initialised();
	wait_for_child(pid);
	things_still_work();
}

/* Without libc's help: no atfork handler runs. */
static void raw_clone_after_init(void)
{
	pid_t pid;

	own_instance();
	make_things();
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid) {
		all_calls_are_refused();
		_exit(0);
	}
	wait_for_child(pid);
	things_still_work();
}

static atomic_bool stop_hammering;

/* Keeps taking every lock there is. */
static void *hammer(void *arg)
{
	aclrtContext context;
	aclrtStream stream;
	void *ptr;

	(void)arg;
	while (!atomic_load(&stop_hammering)) {
		CHECK_CODE(aclrtCreateContext(&context, 2), ACL_SUCCESS);
		CHECK_CODE(aclrtCreateStream(&stream), ACL_SUCCESS);
		CHECK_CODE(aclrtMalloc(&ptr, 8192, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
		CHECK_CODE(aclrtMemsetAsync(ptr, 8192, 1, 8192, stream), ACL_SUCCESS);
		CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
		CHECK_CODE(aclrtFree(ptr), ACL_SUCCESS);
		CHECK_CODE(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
		CHECK_CODE(aclrtDestroyStream(stream), ACL_SUCCESS);
		CHECK_CODE(aclrtDestroyContext(context), ACL_SUCCESS);
	}
	return NULL;
}

static void fork_under_load(void)
{
	pthread_t threads[3];

	own_instance();
	make_things();
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, hammer, NULL));
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (!pid) {
			all_calls_are_refused();
			_exit(0);
		}
		wait_for_child(pid);
	}
	atomic_store(&stop_hammering, true);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(threads[i], NULL));
	things_still_work();
}

static void fork_before_init(void)
{
	pid_t pid;

	own_instance();
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			make_things();
			things_still_work();
			exit(0);
		}
		wait_for_child(pid);
	}
	/* Two generations, and the parent afterwards. */
	pid = fork();
	if (!pid) {
		pid = fork();
		if (!pid) {
			make_things();
			things_still_work();
			exit(0);
		}
		wait_for_child(pid);
		make_things();
		things_still_work();
		exit(0);
	}
	wait_for_child(pid);
	make_things();
	things_still_work();
}

/* An initialisation that failed is none. */
static void fork_after_failed_init(void)
{
	pid_t pid;

	own_instance();
	setenv("VINCI_DEVICES", "0", 1);
	CHECK_CODE(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
	unsetenv("VINCI_DEVICES");
	pid = fork();
	if (!pid) {
		make_things();
		things_still_work();
		exit(0);
	}
	wait_for_child(pid);
}

static void a_fresh_process(void)
{
	make_things();
	things_still_work();
}

static void fork_and_exec(void)
{
	const char *const args[] = { "scenario", "a_fresh_process", NULL };
	struct t_peer peer;

	own_instance();
	make_things();
	CHECK(t_spawn(&peer, args, NULL));
	CHECK(!t_wait(&peer, 20000));
	things_still_work();
}

static void forks(void **state)
{
	(void)state;
	run_scenario("fork_after_init");
	run_scenario("raw_clone_after_init");
	run_scenario("fork_under_load");
	run_scenario("fork_before_init");
	run_scenario("fork_after_failed_init");
	run_scenario("fork_and_exec");
}

/* ---- the device's death ---------------------------------------------------------------------- */

static pid_t server_pid(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	int fd, n;

	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "vinci-%u-%s-1", geteuid(),
		     getenv("VINCI_INSTANCE"));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK(!connect(fd, (struct sockaddr *)&address,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)));
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	close(fd);
	CHECK(cred.pid > 1 && cred.pid != getpid());
	return cred.pid;
}

/* Returns when it is gone. */
static void kill_device(void)
{
	pid_t pid = server_pid();
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	CHECK(p.fd >= 0);
	CHECK(!kill(pid, SIGKILL));
	CHECK(poll(&p, 1, 10000) == 1);
	close(p.fd);
}

static aclrtDrvMemHandle old_handle;
static aclrtNotify old_notify;
static void *old_range, *old_host;
static char old_key[65];

/* Numbers of the old device's objects may name others at the new one: none of them may be used. */
static void old_objects_are_dead(void)
{
	aclrtDrvMemHandle handle;
	uint64_t shareable;

	make_things();
	CHECK(aclrtFreePhysical(old_handle) != ACL_SUCCESS);
	CHECK(aclrtMemExportToShareableHandle(old_handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable) != ACL_SUCCESS);
	CHECK(aclrtMemRetainAllocationHandle(old_range, &handle) != ACL_SUCCESS);
	CHECK(aclrtUnmapMem(old_range) != ACL_SUCCESS);
	CHECK_CODE(aclrtRecordNotify(old_notify, NULL),
		   ACL_SUCCESS); /* its word is this process's own, shared by nobody */
	CHECK_CODE(aclrtDestroyNotify(old_notify), ACL_SUCCESS);
	CHECK(aclrtIpcMemClose(old_key) != ACL_SUCCESS);
	CHECK_CODE(aclrtFreeHost(old_host), ACL_SUCCESS); /* the host's own */
	things_still_work();
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
}

/* What needs the device says so until every device is reset; then it is set anew. */
static void death(void)
{
	aclrtErrorInfo error = { .errorType = ACL_RT_NO_ERROR };
	aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_NORMAL;
	aclrtMemUceInfo bad_memory;
	size_t left, total;
	uint32_t count;
	int32_t pid;
	void *ptr;

	own_instance();
	make_things();
	kill_device();
	CHECK_CODE(aclrtMemset(some_memory, 4 << 20, 9, 4 << 20), ACL_SUCCESS); /* mappings stay */
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), GONE);
	CHECK_CODE(aclrtMalloc(&ptr, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), GONE);
	CHECK_CODE(aclrtQueryDeviceStatus(0, &status), ACL_SUCCESS);
	CHECK(status == ACL_RT_DEVICE_STATUS_ABNORMAL);
	CHECK_CODE(aclrtGetErrorVerbose(0, &error), ACL_SUCCESS);
	CHECK(error.errorType == ACL_RT_ERROR_OTHERS && !error.hasDetail);
	CHECK_CODE(aclrtGetMemUceInfo(0, &bad_memory, 1, &left), GONE);
	CHECK_SAYS(aclrtSetDevice(3), GONE, "reset every device");
	CHECK_CODE(aclrtGetDeviceCount(&count), GONE);
	CHECK_CODE(aclrtDeviceGetBareTgid(&pid), GONE);
	(void)aclGetRecentErrMsg();
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	CHECK(!aclGetRecentErrMsg()); /* it succeeded, and left no sentence to say otherwise */
	CHECK_CODE(aclrtSetDevice(0), GONE); /* some_context still uses device 1 */
	CHECK_CODE(aclrtDestroyContext(some_context), ACL_SUCCESS);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtQueryDeviceStatus(0, &status), ACL_SUCCESS);
	CHECK(status == ACL_RT_DEVICE_STATUS_NORMAL);
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
	CHECK(left == total);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK_CODE(aclrtFree(some_memory), ACL_ERROR_RT_PARAM_INVALID); /* it was the old device's */
	old_handle = some_handle;
	old_range = some_range;
	old_notify = some_notify;
	old_host = some_host;
	memcpy(old_key, some_key, sizeof(old_key));
	CHECK_CODE(aclrtDestroyStream(some_stream), ACL_ERROR_RT_INVALID_HANDLE);
	old_objects_are_dead();
	CHECK_CODE(aclrtMalloc(&ptr, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
	CHECK_CODE(aclrtFree(ptr), ACL_SUCCESS);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
}

/* Nothing was in use: the next aclrtSetDevice just starts another one. */
static void death_while_idle(void)
{
	uint32_t count = 0;

	own_instance();
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	kill_device();
	CHECK_CODE(aclrtSetDevice(2), ACL_SUCCESS);
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	CHECK(count == 8);
	CHECK_CODE(aclrtResetDevice(2), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
}

static void deaths_leave_no_descriptors(void)
{
	unsigned fds = 0;

	own_instance();
	for (int i = 0; i < 12; i++) {
		CHECK_CODE(aclrtSetDevice(i % 8), ACL_SUCCESS);
		kill_device();
		CHECK_CODE(aclrtResetDevice(i % 8), ACL_SUCCESS);
		if (i == 3)
			fds = t_count_fds();
	}
	CHECK(t_count_fds() <= fds);
}

static atomic_uint unanswered;

/* Has no context, so that nothing keeps the connection from being replaced under it. */
static void *asks_without_a_device(void *arg)
{
	int32_t pid;
	int code;

	(void)arg;
	while (!atomic_load(&stop_hammering)) {
		code = aclrtDeviceGetBareTgid(&pid);
		CHECK(code == GONE || (code == ACL_SUCCESS && pid == getpid()));
		atomic_fetch_add(&unanswered, code == GONE);
	}
	return NULL;
}

/* Who meets the old connection's end when the new one is there already must not take that for the new one's. */
static void deaths_under_others(void)
{
	pthread_t threads[4];
	void *ptr;

	own_instance();
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, asks_without_a_device, NULL));
	for (int i = 0; i < 40; i++) {
		unsigned before = atomic_load(&unanswered);

		kill_device();
		while (atomic_load(&unanswered) == before)
			sched_yield();
		CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
		CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
		CHECK_CODE(aclrtMalloc(&ptr, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
		CHECK_CODE(aclrtFree(ptr), ACL_SUCCESS);
	}
	atomic_store(&stop_hammering, true);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
}

static void deaths(void **state)
{
	(void)state;
	run_scenario("death");
	run_scenario("death_while_idle");
	run_scenario("deaths_leave_no_descriptors");
	run_scenario("deaths_under_others");
}

/* ---- exits ----------------------------------------------------------------------------------- */

/* After main() the library still answers. */
static void at_the_very_end(void)
{
	void *ptr;
	int code = aclrtFree(some_memory);

	CHECK(code == ACL_SUCCESS || code == ACL_ERROR_RT_PARAM_INVALID);
	(void)aclrtDestroyStream(some_stream);
	(void)aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST);
	(void)aclrtResetDevice(0);
	(void)aclFinalize();
}

static void exit_with_everything_open(void)
{
	own_instance();
	CHECK(!atexit(at_the_very_end));
	make_things();
	for (int i = 0; i < 100; i++)
		CHECK_CODE(aclrtMemsetAsync(some_memory, 4 << 20, i, 4 << 20, some_stream), ACL_SUCCESS);
}

static void *run_on(void *arg)
{
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	while (arg)
		CHECK_CODE(aclrtSynchronizeDevice(), ACL_SUCCESS);
	return NULL;
}

static void exit_while_others_run(void)
{
	pthread_t threads[4];

	own_instance();
	make_things();
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, run_on, &threads));
}

/* A descriptor limit, closed standard streams: nothing the library needs. */
static void closed_streams(void)
{
	own_instance();
	close(0);
	close(1);
	make_things();
	things_still_work();
	CHECK(write(1, "x", 1) < 0 && errno == EBADF); /* nobody took their places for good */
}

static void no_descriptors_left(void)
{
	struct rlimit limit;

	own_instance();
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 3;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	CHECK_CODE(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
	limit.rlim_cur = 64;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	make_things();
	things_still_work();
}

static void baseline(void)
{
	unsigned fds, maps, shm = t_count_shm();

	own_instance();
	make_things();
	things_still_work();
	fds = t_count_fds();
	maps = t_count_backed_maps();
	for (int i = 0; i < 20; i++) {
		make_things();
		things_still_work();
	}
	CHECK(t_count_fds() == fds);
	CHECK(T_SANITIZED || t_count_backed_maps() <= maps + 4); /* a sanitizer's runtime maps as it likes */
	CHECK(t_count_shm() == shm);
}

static void exits(void **state)
{
	(void)state;
	run_scenario("exit_with_everything_open");
	run_scenario("exit_while_others_run");
	run_scenario("closed_streams");
	run_scenario("no_descriptors_left");
	run_scenario("baseline");
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "fork_after_init", fork_after_init },
		{ "raw_clone_after_init", raw_clone_after_init },
		{ "fork_under_load", fork_under_load },
		{ "fork_before_init", fork_before_init },
		{ "fork_after_failed_init", fork_after_failed_init },
		{ "fork_and_exec", fork_and_exec },
		{ "a_fresh_process", a_fresh_process },
		{ "death", death },
		{ "death_while_idle", death_while_idle },
		{ "deaths_leave_no_descriptors", deaths_leave_no_descriptors },
		{ "deaths_under_others", deaths_under_others },
		{ "exit_with_everything_open", exit_with_everything_open },
		{ "exit_while_others_run", exit_while_others_run },
		{ "closed_streams", closed_streams },
		{ "no_descriptors_left", no_descriptors_left },
		{ "baseline", baseline },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forks),
		cmocka_unit_test(deaths),
		cmocka_unit_test(exits),
	};

	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
