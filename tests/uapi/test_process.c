/* SPDX-License-Identifier: MIT */
/* The library's side of vincid as a part of a process: fork, threads, descriptors; and other users. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
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

#include "child.h"
#include "harness.h"

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
	drv_close(inherited);
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
	unsigned int before = count_fds(getpid()), open_now, i;
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
	open_now = count_fds(getpid());
	assert_in_range(open_now, before + 1, before + 1 + 64);
	for (i = 0; i < 1000; i++)
		assert_ok(i % 3 ? drv_close_handle(drv, handles[i]) : drv_close_handle_async(drv, handles[i]));
	/* what was kept for a first mmap goes with its handle */
	assert_int_equal(count_fds(getpid()), before + 1);
	drv_close(drv);
	assert_int_equal(count_fds(getpid()), before);
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
	char dir[] = P_tmpdir "/vinci-uapi-XXXXXX";
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

/* A path that was mistyped: what is there stays. */
static void a_file_in_the_way(void **state)
{
	char path[] = P_tmpdir "/vinci-uapi-XXXXXX", arg[64], text[8] = "";
	char *argv[] = { (char *)"vincid", arg, NULL };
	int fd = mkstemp(path), status;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "thesis", 6), 6);
	(void)close(fd);
	(void)snprintf(arg, sizeof(arg), "--socket=%s", path);
	pid = fork_test();
	if (!pid) {
		(void)execv(test_settings()->server, argv);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 6);
	(void)close(fd);
	assert_string_equal(text, "thesis");
	assert_ok(unlink(path));
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
		cmocka_unit_test_setup_teardown(forked, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(mappings_stay_behind, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(descriptors_do_not_grow, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(closing_many_at_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(sixty_four_threads, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(descriptor_limit, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_second_user, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_file_in_the_way, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_squatter, test_setup, test_teardown),
	};

	if (harness_init("vincid"))
		return 2;
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
