/* SPDX-License-Identifier: MIT */
/* How vincid comes and goes, and what the processes around it notice: as little as possible. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "harness.h"
#include "raw.h"

static uint64_t instance_of(struct drv *drv)
{
	uint64_t value;

	assert_ok(drv_get_param(drv, VINCI_PARAM_INSTANCE, &value));
	return value;
}

static bool gone_within(pid_t pid, int64_t ms)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0u);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool gone;

	if (fd < 0)
		return true;
	gone = poll(&p, 1, (int)ms) == 1;
	(void)close(fd);
	return gone;
}

static pid_t server_pid(void)
{
	int sock = raw_connect();
	pid_t pid = raw_server_pid(sock);

	(void)close(sock);
	return pid;
}

static void read_proc(pid_t pid, const char *what, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, size - 1);
	assert_true(n >= 0);
	text[n] = 0;
	(void)close(fd);
}

/* --- coming and going ---------------------------------------------------------------------- */

static void leaves_with_its_last_client(void **state)
{
	struct drv *drv = must_open(), *second = must_open();
	uint64_t first = instance_of(drv);
	pid_t server = server_pid();

	(void)state;
	assert_int_equal(first, instance_of(second));
	drv_close(drv);
	assert_int_equal(instance_of(second), first);
	drv_close(second);
	assert_true(gone_within(server, DEADLINE_MS));
	drv = must_open();
	assert_int_not_equal(instance_of(drv), first);
	drv_close(drv);
}

/* All of them find the same one, whoever started it. */
static void sixteen_at_once(void **state)
{
	enum { COUNT = 16 };
	uint64_t seen[COUNT];
	int go[2], results[2], done[2], i, status;
	char byte = 0;

	(void)state;
	assert_ok(pipe2(go, O_CLOEXEC) | pipe2(results, O_CLOEXEC) | pipe2(done, O_CLOEXEC));
	for (i = 0; i < COUNT; i++) {
		struct drv *drv;
		uint64_t id;

		if (fork_test())
			continue;
		(void)close(go[1]);
		(void)close(done[1]);
		(void)!read(go[0], &byte, 1); /* ends for all at once */
		drv = must_open();
		id = instance_of(drv);
		(void)!write(results[1], &id, sizeof(id));
		(void)!read(done[0], &byte, 1);
		drv_close(drv);
		_exit(0);
	}
	(void)close(go[1]);
	for (i = 0; i < COUNT; i++)
		assert_int_equal(read(results[0], &seen[i], sizeof(seen[i])), sizeof(seen[i]));
	for (i = 1; i < COUNT; i++)
		assert_int_equal(seen[i], seen[0]);
	(void)close(done[1]);
	for (i = 0; i < COUNT; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	(void)close(go[0]);
	(void)close(results[0]);
	(void)close(results[1]);
	(void)close(done[0]);
}

static int come_and_go(void)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	int i;

	for (i = 0; i < 60; i++) {
		struct drv *drv = must_open();

		assert_ok(drv_bo_create(drv, &bo));
		drv_close(drv);
	}
	return 0;
}

/* Clients that meet vincid on its way out find or start another. */
static void leaving_and_coming_at_once(void **state)
{
	enum { COUNT = 4 };
	int i, status;

	(void)state;
	for (i = 0; i < COUNT; i++)
		if (!fork_test())
			_exit(come_and_go());
	for (i = 0; i < COUNT; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void write_script(const char *path, const char *fifo)
{
	char text[512];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	int n = snprintf(text, sizeof(text), "#!/bin/sh\nread line < %s\nexec %s \"$@\"\n", fifo,
			 test_settings()->server);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, (size_t)n), n);
	(void)close(fd);
}

/* Between listening and running vincid can be met already: that hello waits, and its sender is known all the same. */
static void met_before_it_runs(void **state)
{
	char dir[] = P_tmpdir "/vinci-uapi-XXXXXX", script[64], fifo[64];
	struct drv_settings slow = *test_settings();
	int64_t until = now_ms() + DEADLINE_MS;
	struct wire_welcome welcome;
	struct drv *drv;
	char why[WHY];
	int sock, fd, status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(script, sizeof(script), "%s/vincid", dir);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_ok(mkfifo(fifo, 0600));
	write_script(script, fifo);
	slow.server = script;
	pid = fork_test();
	if (!pid)
		_exit(drv_open(&slow, &drv, why, sizeof(why)) ? 1 : 0);
	/* the script has opened the fifo: somebody listens by now */
	while ((fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && now_ms() < until)
		(void)poll(NULL, 0, 1);
	assert_true(fd >= 0);
	sock = raw_connect();
	{
		struct wire_hello hello = {
			.magic = WIRE_HELLO_MAGIC, .major = VINCI_UAPI_MAJOR, .settings_size = sizeof(hello.settings)
		};
		int ring;

		assert_ok(raw_send(sock, &hello, sizeof(hello)));
		assert_int_equal(write(fd, "go\n", 3), 3);
		assert_int_equal(raw_receive(sock, &welcome, sizeof(welcome), &ring), sizeof(welcome));
		(void)close(ring);
	}
	if (welcome.status)
		fail_msg("%d: %s", welcome.status, welcome.why);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(sock);
	(void)close(fd);
	assert_ok(unlink(script) | unlink(fifo) | rmdir(dir));
}

static void killed(void **state)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *drv = must_open(), *other;
	pid_t server = server_pid();
	uint64_t *p, value;
	void *q;

	(void)state;
	assert_ok(drv_bo_create(drv, &bo));
	assert_ok(drv_map(drv, bo.mmap_offset, 4096, NULL, true, (void **)&p));
	*p = 77;
	assert_ok(kill(server, SIGKILL));
	assert_true(gone_within(server, DEADLINE_MS));
	assert_fails(drv_get_param(drv, VINCI_PARAM_TGID, &value), ENOTCONN);
	assert_fails(drv_bo_create(drv, &bo), ENOTCONN);
	assert_fails(drv_close_handle_async(drv, bo.handle), ENOTCONN);
	assert_fails(drv_map(drv, bo.mmap_offset, 4096, NULL, true, &q), ENOTCONN);
	assert_int_equal(*p, 77);
	assert_true(drv_lost(drv));
	/* another one comes for who asks anew, never for those of the old */
	other = must_open();
	assert_ok(drv_get_param(other, VINCI_PARAM_TGID, &value));
	assert_fails(drv_get_param(drv, VINCI_PARAM_TGID, &value), ENOTCONN);
	*p = 78;
	assert_ok(drv_unmap(drv, p, 4096));
	drv_close(drv);
	drv_close(other);
}

struct retired {
	struct drv *drv;
	atomic_uint calls;
	atomic_bool other_answer;
};

static void *call_until_retired(void *arg)
{
	struct retired *t = arg;
	uint64_t value;
	int r;

	do {
		r = drv_get_param(t->drv, VINCI_PARAM_TGID, &value);
		atomic_fetch_add(&t->calls, 1);
	} while (!r);
	atomic_store(&t->other_answer, r != -ENOTCONN);
	return NULL;
}

/* Given up while others are inside: they end, the connection goes with the last, and the address stays good. */
static void retired_in_use(void **state)
{
	enum { THREADS = 4, ROUNDS = 20 };
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *keeper = must_open();
	unsigned int fds = count_fds(getpid()), i, round;
	pthread_t threads[THREADS];
	struct retired t;
	uint64_t value;
	void *p;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		t = (struct retired){ .drv = must_open() };
		assert_ok(drv_bo_create(t.drv, &bo));
		assert_ok(drv_map(t.drv, bo.mmap_offset, 4096, NULL, true, &p));
		for (i = 0; i < THREADS; i++)
			assert_ok(pthread_create(&threads[i], NULL, call_until_retired, &t));
		while (atomic_load(&t.calls) < 50)
			(void)sched_yield();
		assert_false(drv_lost(t.drv));
		drv_retire(t.drv);
		assert_true(drv_lost(t.drv));
		for (i = 0; i < THREADS; i++)
			assert_ok(pthread_join(threads[i], NULL));
		assert_false(atomic_load(&t.other_answer));
		assert_int_equal(count_fds(getpid()), fds);
		assert_fails(drv_get_param(t.drv, VINCI_PARAM_TGID, &value), ENOTCONN);
		assert_fails(drv_close_handle_async(t.drv, bo.handle), ENOTCONN);
		assert_fails(drv_map(t.drv, bo.mmap_offset, 4096, NULL, true, &p), ENOTCONN);
		*(char *)p = 1;
		assert_ok(drv_unmap(t.drv, p, 4096));
		drv_close(t.drv);
	}
	assert_ok(drv_get_param(keeper, VINCI_PARAM_TGID, &value));
	drv_close(keeper);
}

/* --- refusals ------------------------------------------------------------------------------ */

static void other_settings(void **state)
{
	struct drv *drv = must_open(), *second;
	struct drv_settings s = *test_settings();
	char why[WHY];

	(void)state;
	s.devices = 5;
	assert_refused(&s, EINVAL, "4 NPUs", "5");
	s = *test_settings(), s.mem_bytes = 12345;
	assert_refused(&s, EINVAL, "68719476736", "12345");
	s = *test_settings(), s.notify_limit = 99;
	assert_refused(&s, EINVAL, "64", "99");
	s = *test_settings(), (void)snprintf(s.soc, sizeof(s.soc), "Ascend310P3");
	assert_refused(&s, EINVAL, "Ascend910B1", "Ascend310P3");
	s = *test_settings(), s.peers[0] = 2;
	assert_refused(&s, EINVAL, "0x6", "0x2");
	/* who sets nothing takes what there is */
	s = (struct drv_settings){ .instance = test_settings()->instance };
	assert_ok(drv_open(&s, &second, why, sizeof(why)));
	drv_close(second);
	drv_close(drv);
}

static void no_server(void **state)
{
	struct drv_settings s = *test_settings();
	char long_name[200];

	(void)state;
	s.server = "/nonexistent/vincid";
	assert_refused(&s, ENOENT, "/nonexistent/vincid", "No such file");
	s.server = "/bin/false"; /* ends without a word */
	assert_refused(&s, EPIPE, "/bin/false", "before it was ready");
	s.server = "/etc/passwd";
	assert_refused(&s, ENOENT, "/etc/passwd", "ermission denied");
	memset(long_name, 'x', sizeof(long_name));
	long_name[199] = 0;
	s = *test_settings(), s.instance = long_name;
	assert_refused(&s, ENAMETOOLONG, "VINCI_INSTANCE", "199");
}

/* --- what the application notices ---------------------------------------------------------- */

static volatile sig_atomic_t sigchld;

static void on_sigchld(int sig)
{
	(void)sig;
	sigchld++;
}

static int open_and_wait(void)
{
	struct drv *drv;
	pid_t server;

	(void)signal(SIGCHLD, on_sigchld);
	drv = must_open();
	server = server_pid();
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		return 1;
	drv_close(drv);
	if (!gone_within(server, DEADLINE_MS))
		return 2;
	return sigchld ? 3 : 0;
}

static pid_t parent_of(pid_t pid)
{
	char text[1024], *p;

	read_proc(pid, "stat", text, sizeof(text));
	p = strrchr(text, ')');
	assert_non_null(p);
	return (pid_t)strtol(p + 4, NULL, 10);
}

/* Orphans come to us: a quiet process stays between us and vincid, holds none of our descriptors and goes with it. */
static int as_subreaper(void)
{
	struct drv *drv;
	pid_t middle, server;

	if (syscall(SYS_prctl, 36 /* PR_SET_CHILD_SUBREAPER */, 1, 0, 0, 0))
		return 9;
	drv = must_open();
	server = server_pid();
	middle = parent_of(server);
	if (middle == getpid() || parent_of(middle) != getpid())
		return 10;
	if (count_fds(middle) != 2) /* "." and ".." */
		return 11;
	if (kill(server, SIGKILL) || !gone_within(middle, DEADLINE_MS))
		return 12;
	drv_close(drv);
	/* starting the next takes its remains along */
	drv = must_open();
	if (!waitpid(middle, NULL, (int)__WALL | WNOHANG) || errno != ECHILD)
		return 13;
	drv_close(drv);
	return open_and_wait();
}

static int ignoring_sigchld(void)
{
	(void)signal(SIGCHLD, SIG_IGN);
	return come_and_go();
}

static void no_child_to_see(void **state)
{
	(void)state;
	assert_int_equal(in_child(open_and_wait), 0);
	assert_int_equal(in_child(as_subreaper), 0);
	assert_int_equal(in_child(ignoring_sigchld), 0);
}

/* app | tee log: the pipe ends with the application although vincid, which it started, lives on. */
static void pipes_end(void **state)
{
	struct pollfd p;
	int out[2], ready[2], status;
	struct drv *keeper;
	char bytes[64];
	pid_t pid;

	(void)state;
	assert_ok(pipe(out));
	assert_ok(pipe(ready));
	pid = fork_test();
	if (!pid) {
		(void)dup2(out[1], 1);
		(void)dup2(out[1], 2);
		(void)dup2(out[1], 77); /* any other it may have */
		(void)close(out[0]);
		(void)must_open();
		(void)!write(1, "x", 1);
		(void)!read(ready[0], bytes, 1);
		_exit(0);
	}
	(void)close(out[1]);
	assert_int_equal(read(out[0], bytes, 1), 1);
	keeper = must_open();
	(void)!write(ready[1], "x", 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	p = (struct pollfd){ .fd = out[0], .events = POLLIN };
	assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
	assert_int_equal(read(out[0], bytes, sizeof(bytes)), 0);
	(void)instance_of(keeper);
	drv_close(keeper);
	(void)close(out[0]);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static int without_std(void)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *drv;
	void *p;

	(void)close(0);
	(void)close(1);
	(void)close(2);
	drv = must_open();
	if (drv_bo_create(drv, &bo))
		return 1;
	/* what is printed reaches nothing of ours */
	if (write(0, "x", 1) != -1 || write(1, "x", 1) != -1 || write(2, "x", 1) != -1)
		return 2;
	if (drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p) || *(char *)p)
		return 3;
	*(char *)p = 1;
	drv_close(drv);
	return 0;
}

static void closed_standard_files(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_std), 0);
}

static void read_link(pid_t pid, const char *what, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, text, size - 1);
	assert_true(n > 0);
	text[n] = 0;
}

/* Started from a process in a strange state, vincid has none of it. */
static int from_a_strange_place(void)
{
	char text[8192], *line;
	struct drv *drv;
	cpu_set_t set;
	sigset_t all;
	pid_t server;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	assert_ok(sched_setaffinity(0, sizeof(set), &set));
	sigfillset(&all);
	assert_ok(sigprocmask(SIG_BLOCK, &all, NULL));
	(void)signal(SIGUSR1, SIG_IGN);
	assert_ok(chdir("/tmp"));
	assert_ok(setenv("LD_PRELOAD_NOT", "1", 1));
	drv = must_open();
	server = server_pid();
	read_link(server, "cwd", text, sizeof(text));
	assert_string_equal(text, "/");
	read_link(server, "fd/0", text, sizeof(text));
	assert_string_equal(text, "/dev/null");
	read_link(server, "fd/2", text, sizeof(text));
	assert_string_equal(text, "/dev/null");
	read_proc(server, "environ", text, sizeof(text));
	assert_string_equal(text, "");
	read_proc(server, "status", text, sizeof(text));
	line = strstr(text, "SigBlk:");
	assert_non_null(line);
	assert_int_equal(strtoull(line + 7, NULL, 16) & ~(1ull << (SIGTERM - 1) | 1ull << (SIGINT - 1)), 0);
	line = strstr(text, "SigIgn:");
	assert_non_null(line);
	assert_int_equal(strtoull(line + 7, NULL, 16) & 1ull << (SIGUSR1 - 1), 0);
	line = strstr(text, "Cpus_allowed:");
	assert_non_null(line);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		assert_true(strtoull(line + 13, NULL, 16) > 1);
	drv_close(drv);
	return 0;
}

static void clean_surroundings(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("reading /proc of a process that is not dumpable needs root\n");
		skip();
	}
	assert_int_equal(in_child(from_a_strange_place), 0);
}

/* vincid lifts what it may: a soft limit always, a hard one with the privilege to. */
static int with_small_files(rlim_t hard)
{
	const struct rlimit small = { 4096, hard }, lifted = { 4096, RLIM_INFINITY };
	struct drm_vinci_bo_create bo = { .size = GIB, .numa_node = -1 };
	struct drv *drv;
	int want = 0;

	assert_ok(setrlimit(RLIMIT_FSIZE, &small));
	if (hard != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &lifted))
		want = -EFBIG;
	assert_ok(setrlimit(RLIMIT_FSIZE, &small));
	drv = must_open();
	assert_int_equal(drv_bo_create(drv, &bo), want);
	bo.size = 4096;
	assert_ok(drv_bo_create(drv, &bo));
	drv_close(drv);
	return 0;
}

static int with_a_soft_limit(void)
{
	return with_small_files(RLIM_INFINITY);
}

static int with_a_hard_limit(void)
{
	return with_small_files(4096);
}

static void soft_file_size_limit(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_soft_limit), 0);
}

/* A test of its own, so that it does not meet the vincid of another limit. */
static void hard_file_size_limit(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_a_hard_limit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves_with_its_last_client, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(sixteen_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(leaving_and_coming_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(met_before_it_runs, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(killed, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(retired_in_use, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(other_settings, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(no_server, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(no_child_to_see, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(pipes_end, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(closed_standard_files, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(clean_surroundings, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(soft_file_size_limit, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(hard_file_size_limit, test_setup, test_teardown),
	};

	if (harness_init("vincid"))
		return 2;
	return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
