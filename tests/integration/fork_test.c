/* SPDX-License-Identifier: MIT */
/*
 * fork_test.c - children of every make, every way to end, and the device behind a process that stops, dies or is shared
 * with another instance. What process_test.c does is not done again here.
 */
#include "job.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "vinci/kernel.h"

#define FORKED ACL_ERROR_RT_DRV_INTERNAL_ERROR

static void *memory;
static aclrtStream stream;
static aclrtNotify notify;
static char key[65];

/* Everything stays in use. */
static void start_using(void)
{
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateStream(&stream), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemGetExportKey(memory, JOB_SIZE, key, sizeof(key), 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMemset(memory, JOB_SIZE, 5, JOB_SIZE), ACL_SUCCESS);
}

static void still_in_use(void)
{
	unsigned char byte = 0;

	CHECK_CODE(aclrtMemcpyAsync(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	CHECK(byte == 5);
	CHECK_CODE(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
	CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 10), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	job_with_device_set();
}

/* ---- programs started from one that uses the device -------------------------------------------- */

static void plain_job(void)
{
	job();
}

static const char *own_path(void)
{
	static char path[256];

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	return path;
}

static pid_t start_by_vfork(void)
{
	const char *path = own_path();
	pid_t pid;

	pid = vfork();
	if (!pid) {
		execl(path, path, "scenario", "plain_job", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static pid_t start_by_spawn(void)
{
	char *args[] = { (char *)"fork_test", (char *)"scenario", (char *)"plain_job", NULL };
	pid_t pid = -1;

	CHECK(!posix_spawn(&pid, own_path(), NULL, NULL, args, environ));
	return pid;
}

static pid_t start_by_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl(own_path(), "fork_test", "scenario", "plain_job", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void started_programs(void)
{
	char command[300];
	FILE *f;

	own_instance();
	start_using();
	for (int i = 0; i < 3; i++) {
		job_wait(start_by_vfork());
		job_wait(start_by_spawn());
		job_wait(start_by_fork());
		snprintf(command, sizeof(command), "%s scenario plain_job", own_path());
		CHECK(!system(command));
		f = popen(command, "re");
		CHECK(f && fgetc(f) == EOF && !pclose(f));
		still_in_use();
	}
}

static atomic_bool stop;

static void *keep_busy(void *arg)
{
	(void)arg;
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	while (!atomic_load(&stop))
		job_with_device_set();
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	return NULL;
}

/* All at once, while other threads are inside every call. */
static void started_by_many_threads(void)
{
	pthread_t threads[3];

	own_instance();
	start_using();
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, keep_busy, NULL));
	for (int i = 0; i < 5; i++) {
		pid_t pids[3] = { start_by_vfork(), start_by_spawn(), start_by_fork() };

		for (int k = 0; k < 3; k++)
			job_wait(pids[k]);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(threads[i], NULL));
	still_in_use();
}

static void programs(void **state)
{
	(void)state;
	run_scenario("started_programs");
	run_scenario("started_by_many_threads");
}

/* ---- children that go on in the same program --------------------------------------------------- */

static pid_t first;
static int at_exit_calls;

/* In the child the same handlers run as in the parent: they get errors, and end. */
static void free_all_at_exit(void)
{
	bool child = getpid() != first;

	at_exit_calls++;
	CHECK_CODE(aclrtDestroyNotify(notify), child ? FORKED : ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemClose(key), child ? FORKED : ACL_SUCCESS);
	CHECK_CODE(aclrtFree(memory), child ? FORKED : ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyStream(stream), child ? FORKED : ACL_SUCCESS);
	CHECK_CODE(aclrtResetDevice(0), child ? FORKED : ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), child ? FORKED : ACL_SUCCESS);
}

static void exit_handlers_of_children(void)
{
	pid_t pid;

	own_instance();
	first = getpid();
	start_using();
	CHECK(!atexit(free_all_at_exit));
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			exit(0);
		job_wait(pid);
		still_in_use();
	}
	/* A grandchild of a child that has gone. */
	pid = fork();
	if (!pid) {
		pid = fork();
		if (!pid)
			exit(0);
		job_wait(pid);
		exit(0);
	}
	job_wait(pid);
	still_in_use();
	/* and now those of this process succeed */
}

/* The fault handlers that came with the library are for its tasks: a child's own fault ends the child as ever. */
static void faults_of_children(void)
{
	static volatile int *volatile nowhere;
	const struct rlimit none = { 0, 0 };
	pid_t pid;
	int status;

	own_instance();
	start_using();
	still_in_use();
	pid = fork();
	if (!pid) {
		CHECK(!setrlimit(RLIMIT_CORE, &none));
		*nowhere = 1;
		_exit(0);
	}
	status = t_wait_pid(pid, JOB_MS);
	CHECK(status == 128 + SIGSEGV || (T_SANITIZED && status > 0));
	pid = fork();
	if (!pid) {
		CHECK(!setrlimit(RLIMIT_CORE, &none));
		abort();
	}
	CHECK(t_wait_pid(pid, JOB_MS) == 128 + SIGABRT);
	pid = fork();
	if (!pid)
		pause();
	CHECK(!kill(pid, SIGKILL) && t_wait_pid(pid, JOB_MS) == 128 + SIGKILL);
	still_in_use();
}

static void forks_in_a_callback(void *arg)
{
	pid_t *pid = arg;
	void *other;

	*pid = fork();
	if (*pid)
		return;
	CHECK_CODE(aclrtMalloc(&other, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), FORKED);
	CHECK_CODE(aclrtSynchronizeStream(stream), FORKED);
	if (T_SANITIZED)
		_exit(0); /* to a search for leaks this thread, which became the main one, is none */
	exit(0);
}

static void fork_in_a_callback(void)
{
	pid_t pid = -1;

	own_instance();
	start_using();
	for (int i = 0; i < 10; i++) {
		CHECK_CODE(aclrtLaunchHostFunc(stream, forks_in_a_callback, &pid), ACL_SUCCESS);
		CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
		job_wait(pid);
	}
	still_in_use();
}

/* daemon() is a fork: before the first call all works, after it nothing, and both say so. */
static void daemons(void)
{
	int fds[2];
	char byte = 0;
	void *other;

	own_instance();
	for (int used = 0; used < 2; used++) {
		pid_t pid;

		CHECK(!pipe(fds));
		pid = fork();
		if (!pid) {
			if (used)
				start_using();
			CHECK(!daemon(0, 0)); /* stdin, stdout and stderr are /dev/null now */
			if (used)
				CHECK_CODE(aclrtMalloc(&other, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), FORKED);
			else
				job();
			job_send(fds[1], "k", 1);
			exit(0);
		}
		job_wait(pid);
		job_receive(fds[0], &byte, 1);
		CHECK(byte == 'k');
		close(fds[0]);
		close(fds[1]);
	}
}

static void children(void **state)
{
	(void)state;
	run_scenario("exit_handlers_of_children");
	run_scenario("faults_of_children");
	run_scenario("fork_in_a_callback");
	run_scenario("daemons");
}

/* ---- ends -------------------------------------------------------------------------------------- */

static struct t_peer ending;
static pid_t server;

/* Waits for what it was told to do, with everything open and tasks under way. */
static void *wait_for_more(void *arg)
{
	(void)arg;
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS); /* nobody records it */
	(void)aclrtSynchronizeStream(stream);
	return NULL;
}

static void *exit_here(void *arg)
{
	(void)arg;
	exit(3);
}

static void exits_in_callback(void *arg)
{
	(void)arg;
	exit(3);
}

static void exit_by_word(const char *how)
{
	const struct rlimit none = { 0, 0 };
	aclrtStream other;
	pthread_t thread;

	CHECK(!setrlimit(RLIMIT_CORE, &none));
	if (!strcmp(how, "return"))
		return;
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/false", "false", (char *)NULL);
	if (!strcmp(how, "thread"))
		CHECK(!pthread_create(&thread, NULL, exit_here, NULL));
	if (!strcmp(how, "callback")) {
		CHECK_CODE(aclrtCreateStream(&other), ACL_SUCCESS);
		CHECK_CODE(aclrtLaunchHostFunc(other, exits_in_callback, NULL), ACL_SUCCESS);
	}
	for (;;)
		pause();
}

static void ends(void)
{
	const char *how = getenv("END_BY");
	char line[T_LINE_MAX];
	pthread_t thread;

	start_using();
	CHECK(!pthread_create(&thread, NULL, wait_for_more, NULL));
	for (int i = 0; i < 50; i++)
		CHECK_CODE(aclrtMemsetAsync(memory, JOB_SIZE, i, JOB_SIZE, NULL), ACL_SUCCESS);
	CHECK(t_say("open") && t_hear(line, sizeof(line), JOB_MS));
	exit_by_word(how);
}

/* However the program ends: at once, with its own status, and the device is given back and leaves. */
static void every_end(void)
{
	static const struct {
		const char *how;
		int status;
	} list[] = {
		{ "END_BY=return", 0 },	    { "END_BY=exit", 3 },	  { "END_BY=_exit", 3 },
		{ "END_BY=quick_exit", 3 }, { "END_BY=abort", 128 + SIGABRT }, { "END_BY=kill", 128 + SIGKILL },
		{ "END_BY=exec", 1 },	    { "END_BY=thread", 3 },	  { "END_BY=callback", 3 },
	};
	const char *const args[] = { "scenario", "ends", NULL };

	own_instance();
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const char *const env[] = { list[i].how, NULL };
		int status;

		CHECK(t_spawn(&ending, args, env));
		CHECK(t_expect(&ending, "open", JOB_MS));
		server = job_server();
		CHECK(t_write_line(&ending, "end"));
		status = t_wait(&ending, JOB_MS);
		if (status != list[i].status)
			fprintf(stderr, "%s: %d instead of %d\n", list[i].how, status, list[i].status);
		CHECK(status == list[i].status);
		CHECK(job_gone(server));
	}
}

/* main() leaves, and the last of the program's threads ends the process: the library's own do not keep it. */
static bool main_has_left(void *arg)
{
	char path[64], text[256] = "";
	FILE *f;

	(void)arg;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	f = fopen(path, "re");
	CHECK(f && fgets(text, sizeof(text), f));
	fclose(f);
	return !!strstr(text, ") Z ");
}

static void *last_thread(void *arg)
{
	(void)arg;
	CHECK(t_until(main_has_left, NULL, JOB_MS));
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	job_with_device_set();
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	exit(0);
}

static void main_thread_leaves(void)
{
	pthread_t thread;

	own_instance();
	start_using();
	CHECK(!pthread_create(&thread, NULL, last_thread, NULL));
	pthread_exit(NULL);
}

/* What C++ does with thread_local objects: destroy and reset as the thread ends. */
static pthread_key_t resources;

static void destroy_with_thread(void *arg)
{
	CHECK_CODE(aclrtDestroyStream(arg), ACL_SUCCESS);
	CHECK_CODE(aclrtResetDevice(1), ACL_SUCCESS);
	(void)aclrtSetDevice(17); /* leaves a sentence for nobody */
}

static void *thread_with_resources(void *arg)
{
	aclrtStream own;

	CHECK_CODE(aclrtSetDevice(1), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateStream(&own), ACL_SUCCESS);
	CHECK_CODE(aclrtMemsetAsync((char *)memory + (intptr_t)arg * 4096, 4096, 5, 4096, own), ACL_SUCCESS);
	CHECK(!pthread_setspecific(resources, own));
	return NULL;
}

static void destructors_of_threads(void)
{
	pthread_t threads[8];

	own_instance();
	start_using();
	CHECK(!pthread_key_create(&resources, destroy_with_thread));
	for (int round = 0; round < 5; round++) {
		for (intptr_t i = 0; i < 8; i++)
			CHECK(!pthread_create(&threads[i], NULL, thread_with_resources, (void *)i));
		for (int i = 0; i < 8; i++)
			CHECK(!pthread_join(threads[i], NULL));
	}
	still_in_use();
}

static atomic_bool waiting, opened;

static void wait_until_opened(void *arg)
{
	(void)arg;
	atomic_store(&waiting, true);
	while (!atomic_load(&opened))
		sched_yield();
}

static void *wait_for_stream(void *arg)
{
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(arg), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeDevice(), ACL_SUCCESS);
	return arg;
}

static bool is_waiting(void *arg)
{
	(void)arg;
	return atomic_load(&waiting);
}

/* A thread that is cancelled in a call takes no lock with it. */
static void cancelled_threads(void)
{
	pthread_t threads[4];

	own_instance();
	start_using();
	CHECK_CODE(aclrtLaunchHostFunc(stream, wait_until_opened, NULL), ACL_SUCCESS);
	CHECK(t_until(is_waiting, NULL, JOB_MS));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, i < 2 ? wait_for_stream : keep_busy, stream));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_cancel(threads[i]));
	atomic_store(&opened, true);
	atomic_store(&stop, true);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	still_in_use();
}

static void ways_to_end(void **state)
{
	(void)state;
	run_scenario("every_end");
	run_scenario("main_thread_leaves");
	run_scenario("destructors_of_threads");
	run_scenario("cancelled_threads");
}

/* ---- what the program notices of the library, and vincid of the program ------------------------- */

static volatile sig_atomic_t child_signals, user_signals;

static void count_child_signal(int sig)
{
	(void)sig;
	child_signals = child_signals + 1;
}

static void count_user_signal(int sig)
{
	(void)sig;
	user_signals = user_signals + 1;
}

static void no_child_of_ours(void)
{
	own_instance();
	CHECK(signal(SIGCHLD, count_child_signal) != SIG_ERR);
	for (int i = 0; i < 3; i++) {
		job();
		server = job_server();
		CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
		CHECK(wait(NULL) == -1 && errno == ECHILD);
		CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
		CHECK(!kill(server, SIGKILL) && job_gone(server));
		CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
		CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	}
	CHECK(!child_signals);
}

/* Signals for the process are for the program's threads: with all of those blocking it, it stays pending. */
static void signals_stay_the_programs(void)
{
	sigset_t set, pending;

	own_instance();
	CHECK(signal(SIGUSR1, count_user_signal) != SIG_ERR);
	start_using();
	still_in_use();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	CHECK(!kill(getpid(), SIGUSR1));
	still_in_use();
	CHECK(!sigpending(&pending) && sigismember(&pending, SIGUSR1) && !user_signals);
	CHECK(!pthread_sigmask(SIG_UNBLOCK, &set, NULL));
	CHECK(user_signals == 1);
}

/* A signal every millisecond: no call fails or hangs for it. */
static void signals_interrupt_nothing(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = count_user_signal }; /* without SA_RESTART */

	own_instance();
	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < 20; i++)
		job();
	CHECK(user_signals > 0);
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
}

static bool is_vincids_own(const char *target)
{
	static const char *const known[] = { "/dev/null", "socket:", "anon_inode:", "pidfd:", "/memfd:vinci" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(target, known[i], strlen(known[i])))
			return true;
	return false;
}

/* Nothing of what the program has open, not even what it forgot to close on exec. */
static void no_descriptors_go_along(void)
{
	char path[64], target[300];
	struct dirent *e;
	unsigned seen = 0;
	int fds[2];
	DIR *dir;

	own_instance();
	CHECK(open("/etc/passwd", O_RDONLY) >= 0 && !pipe(fds) && dup2(fds[1], 900) == 900);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	snprintf(path, sizeof(path), "/proc/%d/fd", job_server());
	dir = opendir(path);
	CHECK(dir);
	while ((e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		if (!is_vincids_own(target))
			fprintf(stderr, "vincid has %s\n", target);
		CHECK(is_vincids_own(target));
		seen++;
	}
	CHECK(seen >= 5);
	closedir(dir);
}

static void quiet_neighbours(void **state)
{
	(void)state;
	run_scenario("no_child_of_ours");
	run_scenario("signals_stay_the_programs");
	run_scenario("signals_interrupt_nothing");
	if (geteuid()) {
		print_message("vincid's descriptors are for root to see\n");
		skip();
	}
	run_scenario("no_descriptors_go_along");
}

/* ---- vincid stops ------------------------------------------------------------------------------ */

static atomic_bool done;

static void *allocate(void *arg)
{
	(void)arg;
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	job_with_device_set();
	atomic_store(&done, true);
	return NULL;
}

static bool is_done(void *arg)
{
	(void)arg;
	return atomic_load(&done);
}

/* What needs the device waits for it; launching, copying, recording and waiting do not need it. */
static void stopped(void)
{
	unsigned char byte = 0;
	pthread_t thread;

	own_instance();
	start_using();
	server = job_server();
	CHECK(!kill(server, SIGSTOP));
	CHECK(!pthread_create(&thread, NULL, allocate, NULL));
	for (int i = 0; i < 100; i++) {
		CHECK_CODE(aclrtMemsetAsync(memory, 4096, i, 4096, stream), ACL_SUCCESS);
		CHECK_CODE(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
		CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 10), ACL_SUCCESS);
		CHECK_CODE(aclrtMemcpyAsync(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
		CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
		CHECK(byte == i);
	}
	CHECK(!t_until(is_done, NULL, 200));
	CHECK(!kill(server, SIGCONT));
	CHECK(t_until(is_done, NULL, JOB_MS));
	CHECK(!pthread_join(thread, NULL));
}

static void *allocate_in_vain(void *arg)
{
	void *other;

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	atomic_store(&waiting, true);
	CHECK_CODE(aclrtMalloc(&other, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_LOST_HEARTBEAT);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	return arg;
}

/* It stops and never goes on: who waits is released when it is killed. */
static void stopped_and_killed(void)
{
	pthread_t thread;

	own_instance();
	start_using();
	server = job_server();
	CHECK(!kill(server, SIGSTOP));
	CHECK(!pthread_create(&thread, NULL, allocate_in_vain, NULL));
	CHECK(t_until(is_waiting, NULL, JOB_MS));
	CHECK(!kill(server, SIGKILL) && job_gone(server));
	CHECK(!pthread_join(thread, NULL));
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	job();
}

/* Another instance knows no key of this one, has its own settings, and outlives it. */
static void other_instance(void)
{
	char line[T_LINE_MAX];
	void *imported;
	uint32_t count;

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	CHECK(count == 2);
	CHECK(t_hear(line, sizeof(line), JOB_MS));
	CHECK_SAYS(aclrtIpcMemImportByKey(&imported, line, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "is not known");
	CHECK(t_say("refused"));
	CHECK(t_hear(line, sizeof(line), JOB_MS));
	job_with_device_set();
}

static void two_instances(void)
{
	const char *const args[] = { "scenario", "other_instance", NULL };
	const char *env[] = { NULL, "VINCI_DEVICES=2", NULL };
	struct t_peer peer;
	char name[64];
	uint32_t count;

	own_instance();
	snprintf(name, sizeof(name), "VINCI_INSTANCE=test-job-%d-other", getpid());
	env[0] = name;
	start_using();
	CHECK(t_spawn(&peer, args, env));
	CHECK(t_write_line(&peer, "%s", key) && t_expect(&peer, "refused", JOB_MS));
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS);
	CHECK(count == 8);
	server = job_server();
	CHECK(!kill(server, SIGKILL) && job_gone(server));
	CHECK(t_write_line(&peer, "go on"));
	CHECK(!t_wait(&peer, JOB_MS));
}

static void devices(void **state)
{
	(void)state;
	run_scenario("stopped");
	run_scenario("stopped_and_killed");
	run_scenario("two_instances");
}

#define S(name) { #name, name }

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		S(plain_job),
		S(started_programs),
		S(started_by_many_threads),
		S(exit_handlers_of_children),
		S(faults_of_children),
		S(fork_in_a_callback),
		S(daemons),
		S(ends),
		S(every_end),
		S(main_thread_leaves),
		S(destructors_of_threads),
		S(cancelled_threads),
		S(no_child_of_ours),
		S(signals_stay_the_programs),
		S(signals_interrupt_nothing),
		S(no_descriptors_go_along),
		S(stopped),
		S(stopped_and_killed),
		S(other_instance),
		S(two_instances),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs),	    cmocka_unit_test(children), cmocka_unit_test(ways_to_end),
		cmocka_unit_test(quiet_neighbours), cmocka_unit_test(devices),
	};

	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
