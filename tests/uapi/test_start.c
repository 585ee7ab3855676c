/* SPDX-License-Identifier: MIT */
/* How vincid comes and goes, and what the processes around it notice: as little as possible. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "raw.h"

#define DEADLINE_MS 20000
#define WHY 256

static struct drv *must_open(void)
{
	struct drv *drv;
	char why[WHY] = "";

	if (drv_open(test_settings(), &drv, why, sizeof(why)))
		fail_msg("open: %s", why);
	return drv;
}

static uint64_t instance_of(struct drv *drv)
{
	uint64_t value;

	assert_ok(drv_get_param(drv, VINCI_PARAM_INSTANCE, &value));
	return value;
}

/* In a child a failed assertion must not go on with the parent's tests: it aborts. */
static pid_t fork_test(void)
{
	pid_t pid = fork();

	if (!pid)
		(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
	return pid;
}

/* Runs @body in a child with a status of its own. */
static int in_child(int (*body)(void))
{
	pid_t pid = fork_test();
	int status;

	if (!pid)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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

static unsigned int count_own_fds(void)
{
	unsigned int n = 0;
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
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
	/* another one comes for who asks anew, never for those of the old */
	other = must_open();
	assert_ok(drv_get_param(other, VINCI_PARAM_TGID, &value));
	assert_fails(drv_get_param(drv, VINCI_PARAM_TGID, &value), ENOTCONN);
	*p = 78;
	assert_ok(drv_unmap(drv, p, 4096));
	drv_close(drv);
	drv_close(other);
}

/* --- refusals ------------------------------------------------------------------------------ */

static void assert_refused(const struct drv_settings *s, int error, const char *one, const char *two)
{
	char why[WHY] = "";
	struct drv *drv = NULL;

	assert_fails(drv_open(s, &drv, why, sizeof(why)), error);
	assert_null(drv);
	if (!strstr(why, one) || !strstr(why, two))
		fail_msg("\"%s\" names not both of %s and %s", why, one, two);
}

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

static int as_subreaper(void)
{
	if (syscall(SYS_prctl, 36 /* PR_SET_CHILD_SUBREAPER */, 1, 0, 0, 0))
		return 9;
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
	if (drv_bo_create(drv, &bo) || drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p))
		return 1;
	*(char *)p = 1;
	drv_close(drv);
	return 0;
}

static void closed_standard_files(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_std), 0);
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

/* --- fork, threads, descriptors ------------------------------------------------------------ */

static struct drv *inherited;

static int use_inherited(void)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *own;
	uint64_t value;
	void *p;

	if (drv_get_param(inherited, VINCI_PARAM_TGID, &value) != -EOWNERDEAD ||
	    drv_bo_create(inherited, &bo) != -EOWNERDEAD || drv_close_handle(inherited, 1) != -EOWNERDEAD ||
	    drv_close_handle_async(inherited, 1) != -EOWNERDEAD ||
	    drv_map(inherited, 0, 4096, NULL, true, &p) != -EOWNERDEAD)
		return 1;
	own = must_open();
	if (drv_get_param(own, VINCI_PARAM_TGID, &value) || value != (uint64_t)getpid())
		return 2;
	if (drv_get_param(inherited, VINCI_PARAM_TGID, &value) != -EOWNERDEAD)
		return 3; /* also after an open of its own */
	drv_abandon(inherited);
	if (drv_bo_create(own, &bo))
		return 4;
	drv_close(own);
	return 0;
}

static void forked(void **state)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	uint64_t value;
	pid_t pid;
	int status;

	(void)state;
	inherited = must_open();
	assert_ok(drv_bo_create(inherited, &bo));
	assert_int_equal(in_child(use_inherited), 0);
	/* a clone that runs no atfork handlers */
	pid = (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, 0ul, 0ul, 0ul, 0ul);
	if (!pid)
		_exit(drv_get_param(inherited, VINCI_PARAM_TGID, &value) == -EOWNERDEAD ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* the parent has noticed nothing */
	assert_ok(drv_get_param(inherited, VINCI_PARAM_TGID, &value));
	assert_int_equal(value, getpid());
	assert_ok(drv_close_handle(inherited, bo.handle));
	drv_close(inherited);
}

/* Device mappings are not for children. */
static void mappings_stay_behind(void **state)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *drv = must_open();
	int status, fds[2];
	pid_t pid;
	void *p;

	(void)state;
	assert_ok(drv_bo_create(drv, &bo));
	assert_ok(drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p));
	assert_ok(pipe2(fds, O_CLOEXEC));
	pid = fork_test();
	if (!pid) /* the kernel looks, so that a sanitizer need not */
		_exit(write(fds[1], p, 1) == -1 && errno == EFAULT ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(write(fds[1], p, 1), 1);
	(void)close(fds[0]);
	(void)close(fds[1]);
	drv_close(drv);
}

static void descriptors_do_not_grow(void **state)
{
	unsigned int before = count_own_fds(), open_now, i;
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *drv = must_open();
	uint32_t handles[1000];
	void *p;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_ok(drv_bo_create(drv, &bo));
		handles[i] = bo.handle;
		if (i % 2)
			assert_ok(drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p));
	}
	open_now = count_own_fds();
	assert_in_range(open_now, before + 1, before + 1 + 64);
	for (i = 0; i < 1000; i++)
		assert_ok(i % 3 ? drv_close_handle(drv, handles[i]) : drv_close_handle_async(drv, handles[i]));
	/* what was kept for a first mmap goes with its handle */
	assert_int_equal(count_own_fds(), before + 1);
	drv_close(drv);
	assert_int_equal(count_own_fds(), before);
}

/* More closings than the ring holds, and no request in between. */
static void closing_many_at_once(void **state)
{
	enum { COUNT = 3000 };
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drm_vinci_device_info info;
	struct drv *drv = must_open(), *other = must_open();
	static uint32_t handles[COUNT];
	int i;

	(void)state;
	for (i = 0; i < COUNT; i++) {
		assert_ok(drv_bo_create(drv, &bo));
		handles[i] = bo.handle;
	}
	for (i = 0; i < COUNT; i++)
		assert_ok(drv_close_handle_async(drv, handles[i]));
	assert_ok(drv_device_info(other, 0, &info));
	assert_int_equal(info.mem_used, 0);
	drv_close(drv);
	drv_close(other);
}

static void *work(void *arg)
{
	struct drv *drv = arg;
	int i;

	for (i = 0; i < 50; i++) {
		struct drm_vinci_bo_create bo = { .size = 8192, .device = (uint32_t)i % NPUS, .numa_node = -1 };
		uint64_t *p;

		if (drv_bo_create(drv, &bo) || drv_map(drv, bo.mmap_offset + 4096, 4096, NULL, true, (void **)&p))
			return (void *)1;
		if (*p)
			return (void *)2;
		*p = bo.handle;
		if (drv_close_handle_async(drv, bo.handle) || drv_unmap(drv, p, 4096))
			return (void *)3;
	}
	return NULL;
}

static void sixty_four_threads(void **state)
{
	struct drm_vinci_device_info info;
	struct drv *drv = must_open();
	pthread_t threads[64];
	void *result;
	uint32_t d;
	int i;

	(void)state;
	for (i = 0; i < 64; i++)
		assert_ok(pthread_create(&threads[i], NULL, work, drv));
	for (i = 0; i < 64; i++) {
		assert_ok(pthread_join(threads[i], &result));
		assert_int_equal((intptr_t)result, 0);
	}
	for (d = 0; d < NPUS; d++) {
		assert_ok(drv_device_info(drv, d, &info));
		assert_int_equal(info.mem_used, 0);
	}
	drv_close(drv);
}

/* Out of descriptors for a moment: an error, and nothing lost. */
static int at_the_descriptor_limit(void)
{
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drv *drv = must_open();
	const struct rlimit few = { 256, 256 };
	int fds[256], n = 0;
	void *p;

	assert_ok(setrlimit(RLIMIT_NOFILE, &few));
	while ((fds[n] = dup(0)) >= 0)
		n++;
	if (drv_bo_create(drv, &bo))
		return 1;
	if (drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p) != -EMFILE)
		return 2;
	(void)close(fds[--n]);
	if (drv_map(drv, bo.mmap_offset, 4096, NULL, true, &p))
		return 3;
	*(char *)p = 1;
	drv_close(drv);
	return 0;
}

static void descriptor_limit(void **state)
{
	(void)state;
	assert_int_equal(in_child(at_the_descriptor_limit), 0);
}

/* --- users and paths ----------------------------------------------------------------------- */

static char socket_path[64];

static pid_t serve_path(const char *mode)
{
	char socket_arg[96], mode_arg[32];
	char *argv[] = { (char *)"vincid", socket_arg, mode_arg, (char *)"--devices=4", (char *)"--notifies=64",
			 (char *)"--peers=6,5,3", NULL };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int64_t until = now_ms() + DEADLINE_MS;
	int sock, r = -1;
	pid_t pid;

	(void)snprintf(socket_arg, sizeof(socket_arg), "--socket=%s", socket_path);
	(void)snprintf(mode_arg, sizeof(mode_arg), "--mode=%s", mode);
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", socket_path);
	pid = fork_test();
	if (!pid) {
		(void)execv(test_settings()->server, argv);
		_exit(1);
	}
	while (r && now_ms() < until) {
		sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		r = connect(sock, (struct sockaddr *)&un, sizeof(un));
		(void)close(sock);
		if (r)
			(void)poll(NULL, 0, 5);
	}
	assert_ok(r);
	return pid;
}

static void end_server(pid_t pid)
{
	struct stat st;
	int status;

	assert_ok(kill(pid, SIGTERM));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(stat(socket_path, &st), -1); /* it takes its file along */
}

static int as_nobody(void)
{
	struct drv_settings s = { .socket = socket_path };
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	char why[WHY] = "";
	struct drv *drv;
	int r;

	assert_ok(setgid(65534));
	assert_ok(setuid(65534));
	r = drv_open(&s, &drv, why, sizeof(why));
	if (r)
		return why[0] ? -r : 255;
	r = drv_bo_create(drv, &bo);
	drv_close(drv);
	return -r;
}

static void a_second_user(void **state)
{
	char dir[] = "/tmp/vinci-uapi-XXXXXX";
	struct drv_settings s = { .socket = socket_path };
	char why[WHY] = "";
	struct drv *drv;
	pid_t server;

	(void)state;
	if (geteuid()) {
		print_message("a second user needs root\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	assert_ok(chmod(dir, 0755));
	(void)snprintf(socket_path, sizeof(socket_path), "%s/socket", dir);
	assert_refused(&s, ENOENT, socket_path, "vincid --socket=");
	server = serve_path("0600");
	assert_int_equal(in_child(as_nobody), EACCES);
	assert_ok(drv_open(&s, &drv, why, sizeof(why)));
	drv_close(drv);
	end_server(server);
	server = serve_path("0666");
	assert_int_equal(in_child(as_nobody), 0);
	assert_int_equal(in_child(as_nobody), 0); /* it stays without clients */
	/* killed, it leaves its file; the next takes it over */
	assert_ok(kill(server, SIGKILL));
	assert_int_equal(waitpid(server, NULL, 0), server);
	assert_refused(&s, ECONNREFUSED, socket_path, "vincid --socket=");
	server = serve_path("0600");
	end_server(server);
	assert_ok(rmdir(dir));
}

/* Somebody else took our name: no connection, rather than one to whoever that is. */
static int squat(int channel)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "vinci-0-%s-%d", test_settings()->instance,
			 VINCI_UAPI_MAJOR);
	char byte = 'r';

	if (setgid(65534) || setuid(65534) ||
	    bind(sock, (struct sockaddr *)&un, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
	    listen(sock, 8))
		return 1;
	return write(channel, &byte, 1) == 1 && read(channel, &byte, 1) == 1 ? 0 : 2;
}

static void a_squatter(void **state)
{
	int pair[2], status;
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid()) {
		print_message("a second user needs root\n");
		skip();
	}
	assert_ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = fork_test();
	if (!pid)
		_exit(squat(pair[1]));
	assert_int_equal(read(pair[0], &byte, 1), 1);
	assert_refused(test_settings(), EPERM, "65534", "user 0");
	assert_int_equal(write(pair[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves_with_its_last_client, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(sixteen_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(leaving_and_coming_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(killed, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(other_settings, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(no_server, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(no_child_to_see, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(pipes_end, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(closed_standard_files, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(clean_surroundings, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(soft_file_size_limit, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(hard_file_size_limit, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(forked, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(mappings_stay_behind, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(descriptors_do_not_grow, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(closing_many_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(sixty_four_threads, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(descriptor_limit, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_second_user, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_squatter, test_setup, test_teardown),
	};

	if (harness_init("vincid"))
		return 2;
	return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
