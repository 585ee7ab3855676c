/* SPDX-License-Identifier: MIT */
/*
 * environment_test.c - strange places to run in: pipelines, closed files, no /tmp, /proc or /dev, small limits, other
 * users, containers. Each works, or says in one sentence what to do.
 */
#include "job.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NOBODY 65534

/* ---- shells ------------------------------------------------------------------------------------ */

static char exe[256];

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *fmt, ...)
{
	char command[1024];
	int status;
	va_list ap;

	va_start(ap, fmt);
	CHECK(vsnprintf(command, sizeof(command), fmt, ap) < (int)sizeof(command));
	va_end(ap);
	status = system(command);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void plain_job(void)
{
	job();
	printf("done\n");
}

static void keeps_its_device(void)
{
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	printf("set\n");
	fflush(stdout);
	for (;;)
		pause();
}

/* The reader ends with the program although the device, which the program has started, lives on for another. */
static void pipeline(void)
{
	const char *const args[] = { "scenario", "keeps_its_device", NULL };
	char line[T_LINE_MAX];
	struct t_peer peer;
	FILE *f;

	own_instance();
	CHECK(!shell("test \"$(%s scenario plain_job | tee /dev/null)\" = done", exe));
	/* Started in the background of a pipeline that goes on. */
	snprintf(line, sizeof(line), "%s scenario plain_job 2>&1 | cat", exe);
	f = popen(line, "re");
	CHECK(f && fgets(line, sizeof(line), f) && !strcmp(line, "done\n"));
	CHECK(t_spawn(&peer, args, NULL));
	CHECK(t_expect(&peer, "set", JOB_MS));
	CHECK(!fgets(line, sizeof(line), f) && !pclose(f));
	t_kill(&peer);
}

static void timeouts(void)
{
	own_instance();
	CHECK(!shell("timeout 20 %s scenario plain_job >/dev/null", exe));
	CHECK(shell("timeout 0.3 %s scenario keeps_its_device >/dev/null", exe) == 124);
	CHECK(shell("timeout -s KILL 0.3 %s scenario keeps_its_device >/dev/null", exe) == 137);
}

/* A terminal's ^C reaches the group of the program that started the device, not the device. */
static void interrupted_group(void)
{
	const char *const args[] = { "scenario", "leads_a_group", NULL };
	struct t_peer peer;

	own_instance();
	CHECK(t_spawn(&peer, args, NULL));
	CHECK(t_expect(&peer, "set", JOB_MS));
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK(!kill(-peer.pid, SIGHUP));
	CHECK(!kill(-peer.pid, SIGQUIT));
	CHECK(!kill(-peer.pid, SIGINT));
	CHECK(t_wait(&peer, JOB_MS) > 128);
	job_with_device_set();
}

static void leads_a_group(void)
{
	CHECK(!setpgid(0, 0));
	keeps_its_device();
}

static void shells(void **state)
{
	(void)state;
	run_scenario("pipeline");
	run_scenario("timeouts");
	run_scenario("interrupted_group");
}

/* ---- standard files ---------------------------------------------------------------------------- */

/* What a program writes into its closed files must not reach the device, which would hang up. */
static void writes_into_closed_files(void)
{
	char text[64] = "nobody reads this";

	own_instance();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	for (int fd = 0; fd < 3; fd++) {
		CHECK(write(fd, text, sizeof(text)) == -1 && errno == EBADF);
		CHECK(read(fd, text, sizeof(text)) == -1 && errno == EBADF);
	}
	job_with_device_set();
}

/* A program that makes itself a daemon first closes every descriptor there is, then opens its own. */
static void closes_everything_first(void)
{
	own_instance();
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	job();
	CHECK(open("/dev/null", O_RDWR) == 0 && dup(0) == 1 && dup(0) == 2);
	job();
}

/*
 * One that does so after aclInit took the device's descriptor away: an error, and after a reset all is well. Files that got the numbers
 * since stay the program's own: nothing is written into them, and nobody closes them.
 */
static void closes_everything_after(void)
{
	struct stat st;
	void *memory;
	int mine[64];

	own_instance();
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 64; i++)
		CHECK((mine[i] = memfd_create("mine", MFD_CLOEXEC)) >= 0);
	CHECK_SAYS(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_LOST_HEARTBEAT, "reset");
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	job();
	for (int i = 0; i < 64; i++)
		CHECK(!fstat(mine[i], &st) && st.st_size == 0);
}

static void standard_files(void **state)
{
	static const char *const loud[] = { "VINCI_LOG=debug", NULL };

	(void)state;
	run_scenario("writes_into_closed_files");
	run_scenario_with("writes_into_closed_files", loud);
	run_scenario("closes_everything_first");
	run_scenario("closes_everything_after");
}

/* ---- files, directories, variables ------------------------------------------------------------- */

static void no_variables(void)
{
	char instance[64];

	own_instance();
	snprintf(instance, sizeof(instance), "%s", getenv("VINCI_INSTANCE"));
	CHECK(!clearenv());
	CHECK(!setenv("VINCI_INSTANCE", instance, 1));
	CHECK(!getenv("HOME") && !getenv("PATH") && !getenv("TMPDIR"));
	job_exchange(NULL);
	job();
}

static void odd_variables(void)
{
	own_instance();
	CHECK(!setenv("HOME", "/nonexistent", 1));
	CHECK(!setenv("PATH", "", 1));
	CHECK(!setenv("TMPDIR", "/nonexistent", 1));
	CHECK(!setenv("XDG_RUNTIME_DIR", "/nonexistent", 1));
	CHECK(!setenv("LC_ALL", "xx_XX.UTF-8", 1));
	CHECK(!setenv("TZ", ":/nonexistent", 1));
	CHECK(!setenv("LD_PRELOAD", "/nonexistent.so", 1)); /* vincid would say so on its stderr, if it had it */
	job();
}

static void deleted_directory(void)
{
	char dir[] = "/tmp/vinci-env-XXXXXX";

	own_instance();
	CHECK(mkdtemp(dir));
	CHECK(!chdir(dir) && !rmdir(dir));
	CHECK(!getcwd(dir, sizeof(dir)));
	job_exchange(NULL);
}

static void variables_and_directories(void **state)
{
	(void)state;
	run_scenario("no_variables");
	run_scenario("odd_variables");
	run_scenario("deleted_directory");
}

/* ---- mounts ------------------------------------------------------------------------------------ */

static void own_mounts(void)
{
	own_instance();
	CHECK(!unshare(CLONE_NEWNS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

/* Makes @dir and those above it in a file system that has just been mounted over them. */
static void make_dirs(char *dir, const char *mounted)
{
	for (char *at = dir + strlen(mounted) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		CHECK(!mkdir(dir, 0755) || errno == EEXIST);
	}
	CHECK(!mkdir(dir, 0755) || errno == EEXIST);
}

/* Mounts an empty file system over @dir, through which the build tree can still be seen if it lies there. */
static void mount_over(const char *dir)
{
	char build[sizeof(exe)], old[64];
	int fd;

	snprintf(build, sizeof(build), "%s", exe);
	for (int up = 0; up < 2; up++)
		*strrchr(build, '/') = '\0';
	fd = open(build, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(!mount("none", dir, "tmpfs", 0, "size=4k"));
	if (!strncmp(build, dir, strlen(dir)) && build[strlen(dir)] == '/') {
		make_dirs(build, dir);
		snprintf(old, sizeof(old), "/proc/self/fd/%d", fd);
		CHECK(!mount(old, build, NULL, MS_BIND, NULL));
	}
	close(fd);
}

static void fill(const char *dir)
{
	char path[64], bytes[4096] = "x";
	int fd;

	mount_over(dir);
	snprintf(path, sizeof(path), "%s/full", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	CHECK(errno == ENOSPC);
	close(fd);
}

static void full_tmp(void)
{
	own_mounts();
	fill("/tmp");
	fill("/var/tmp");
	fill("/dev/shm");
	job_exchange(NULL);
	job();
}

static void no_proc(void)
{
	own_mounts();
	while (!umount2("/proc", MNT_DETACH))
		;
	CHECK(access("/proc/self", F_OK));
	job_exchange(NULL);
	job();
}

static void no_dev(void)
{
	own_mounts();
	CHECK(!mount("none", "/dev", "tmpfs", MS_RDONLY, NULL));
	CHECK(access("/dev/null", F_OK));
	job_exchange(NULL);
	job();
}

static void become_nobody(void)
{
	CHECK(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
}

/* Processes of other users cannot be seen, those of one's own can. */
static void hidden_proc(void)
{
	own_mounts();
	CHECK(!mount("proc", "/proc", "proc", 0, "hidepid=2"));
	become_nobody();
	CHECK(access("/proc/1/stat", R_OK));
	job_exchange(NULL);
	job();
}

#define NEEDS_ROOT(why)                                                                                                \
	do {                                                                                                           \
		if (geteuid()) {                                                                                       \
			print_message("needs root: " why "\n");                                                        \
			skip();                                                                                        \
		}                                                                                                      \
	} while (0)

/* In a chroot "/" is no mount, so that what is mounted below cannot be kept from the rest of the machine. */
static bool root_is_mount(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	return !t_wait_pid(pid, 10000);
}

#define NEEDS_ROOT_MOUNT()                                                                                             \
	do {                                                                                                           \
		if (!root_is_mount()) {                                                                                \
			print_message("needs a root directory that is a mount, not a chroot\n");                       \
			skip();                                                                                        \
		}                                                                                                      \
	} while (0)

static void mounts(void **state)
{
	static const char *const no_leaks[] = { "ASAN_OPTIONS=detect_leaks=0", NULL }; /* it looks for them in /proc */

	(void)state;
	NEEDS_ROOT("mounts");
	NEEDS_ROOT_MOUNT();
	run_scenario("full_tmp");
	run_scenario_with("no_proc", no_leaks);
	run_scenario("no_dev");
	run_scenario("hidden_proc");
}

/* ---- limits ------------------------------------------------------------------------------------ */

static void limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit l = { soft, hard };

	CHECK(!setrlimit(resource, &l));
}

/* The limit of the program is not the device's. */
static void small_files(void)
{
	own_instance();
	limit(RLIMIT_FSIZE, 4096, RLIM_INFINITY);
	CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
	job_exchange(NULL);
	job();
}

/* Where the device cannot lift the limit either, the sentence names it. */
static void small_files_for_good(void)
{
	void *memory = NULL;

	own_instance();
	become_nobody();
	limit(RLIMIT_FSIZE, 4096, 4096);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_SAYS(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION, "ulimit -f");
	CHECK(!memory);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
}

/* The thread's last sentence. */
static void says(const char *word)
{
	const char *text = aclGetRecentErrMsg();

	if (text && strstr(text, word))
		return;
	fprintf(stderr, "\"%s\" is not in: %s\n", word, text ? text : "");
	_exit(1);
}

/* A descriptor for each allocation at the device; here the two have hardly any. */
static void few_files_for_good(void)
{
	void *memory[128];
	int n = 0, code;

	own_instance();
	become_nobody();
	limit(RLIMIT_NOFILE, 64, 64);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	job_with_device_set();
	for (code = 0; n < 128; n++) {
		(void)aclGetRecentErrMsg();
		code = aclrtMalloc(&memory[n], JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST);
		if (code)
			break;
	}
	CHECK(n >= 16 && n < 128);
	CHECK(code == ACL_ERROR_RT_MEMORY_ALLOCATION || code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
	says("ulimit -n");
	while (n)
		CHECK_CODE(aclrtFree(memory[--n]), ACL_SUCCESS);
	job_with_device_set();
}

static void small_address_space(void)
{
	struct rlimit old;
	void *memory = NULL;
	size_t left, total;

	own_instance();
	CHECK(!getrlimit(RLIMIT_AS, &old));
	limit(RLIMIT_AS, (rlim_t)1 << 30, old.rlim_max);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_SAYS(aclrtMalloc(&memory, (size_t)4 << 30, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION,
		   "ulimit -v");
	CHECK(!memory);
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
	CHECK(left == total); /* nothing is charged for it */
	job_with_device_set();
	limit(RLIMIT_AS, old.rlim_max, old.rlim_max);
	CHECK_CODE(aclrtMalloc(&memory, (size_t)4 << 30, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
}

/* Not one process or thread more. */
static void no_more_processes(void)
{
	own_instance();
	become_nobody();
	limit(RLIMIT_NPROC, 0, 1000);
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "ulimit -u");
	limit(RLIMIT_NPROC, 1000, 1000);
	job();
}

static void limits(void **state)
{
	(void)state;
	run_scenario("small_files");
	if (!T_SANITIZED)
		run_scenario("small_address_space");
	NEEDS_ROOT("becoming another user");
	run_scenario("small_files_for_good");
	run_scenario("few_files_for_good");
	run_scenario("no_more_processes");
}

/* ---- a vincid at a path ------------------------------------------------------------------------ */

static char directory[] = "/tmp/vinci-env-XXXXXX";
static char socket_path[64];
static pid_t server;

static bool listens(void *arg)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool ok;

	(void)arg;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", socket_path);
	ok = !connect(sock, (struct sockaddr *)&un, sizeof(un));
	close(sock);
	return ok;
}

/* All that this process starts meet there. */
static void serve(const char *mode)
{
	char path[96], mode_arg[32];
	char *argv[] = { (char *)"vincid", path, mode_arg, NULL };

	CHECK(mkdtemp(directory) && !chmod(directory, 0755));
	snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
	snprintf(path, sizeof(path), "--socket=%s", socket_path);
	snprintf(mode_arg, sizeof(mode_arg), "--mode=%s", mode);
	server = fork();
	if (!server) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		execv(SERVER_PATH, argv);
		_exit(1);
	}
	CHECK(server > 0 && t_until(listens, NULL, JOB_MS));
	CHECK(!setenv("VINCI_SOCKET", socket_path, 1));
}

static void end_serving(void)
{
	CHECK(!kill(server, SIGTERM));
	CHECK(!t_wait_pid(server, JOB_MS));
	CHECK(!rmdir(directory)); /* it took its socket along */
}

/* root exports, another user imports; and the other way round. */
static void between_users(void)
{
	serve("0666");
	job_exchange(become_nobody);
	end_serving();
}

static void nobody_may_connect(void)
{
	pid_t pid;

	serve("0600");
	pid = fork();
	if (!pid) {
		become_nobody();
		CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "--mode=0666");
		exit(0);
	}
	job_wait(pid);
	end_serving();
}

/* Without a path each user has a device of his own; a key of one says nothing to the other. */
static void users_are_apart(void)
{
	char key[65];
	void *memory;
	int pair[2];
	pid_t pid;

	own_instance();
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	pid = fork();
	if (!pid) {
		size_t left, total;

		become_nobody();
		CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
		job_receive(pair[1], key, sizeof(key));
		CHECK_SAYS(aclrtIpcMemImportByKey(&memory, key, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "is not known");
		CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
		CHECK(left == total);
		exit(0);
	}
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemGetExportKey(memory, JOB_SIZE, key, sizeof(key), ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION),
		   ACL_SUCCESS);
	job_send(pair[0], key, sizeof(key));
	job_wait(pid);
}

static void users(void **state)
{
	(void)state;
	NEEDS_ROOT("becoming another user");
	run_scenario("between_users");
	run_scenario("nobody_may_connect");
	run_scenario("users_are_apart");
}

/* ---- containers -------------------------------------------------------------------------------- */

/* The caller goes on as pid 1 of a container: its own pids, network, mounts, IPC and host name. */
static void enter_container(void)
{
	pid_t pid;

	CHECK(!unshare(CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	pid = fork();
	if (pid) {
		int status = pid < 0 ? 1 : t_wait_pid(pid, 2 * JOB_MS);

		_exit(status);
	}
	CHECK(getpid() == 1);
	CHECK(!mount("proc", "/proc", "proc", 0, NULL));
}

static void container_with_socket(void)
{
	serve("0600");
	job_exchange(enter_container);
	end_serving();
}

static void containers_together(void)
{
	pid_t pid;

	serve("0600");
	pid = fork();
	if (!pid) {
		enter_container();
		job_exchange(enter_container);
		exit(0);
	}
	job_wait(pid);
	end_serving();
}

/* Alone in a container the program is pid 1, and the parent of all that lose theirs. */
static void container_alone(void)
{
	own_instance();
	enter_container();
	job_exchange(NULL);
	job();
}

/* Another network: another device, and no way to the one outside. */
static void another_network(void)
{
	int pair[2];
	pid_t pid;
	size_t left, total;
	char byte = 0;

	own_instance();
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	pid = fork();
	if (!pid) {
		CHECK(!unshare(CLONE_NEWNET));
		job_receive(pair[1], &byte, 1);
		CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
		CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
		CHECK(left == total);
		exit(0);
	}
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc((void **)&left, JOB_SIZE, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
	job_send(pair[0], &byte, 1);
	job_wait(pid);
}

static void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* A container without privileges: what is root inside is an ordinary user outside. */
static void become_inner_root(void)
{
	become_nobody();
	CHECK(!prctl(PR_SET_DUMPABLE, 1)); /* or /proc/self would belong to root */
	CHECK(!unshare(CLONE_NEWUSER));
	write_map("/proc/self/setgroups", "deny");
	write_map("/proc/self/uid_map", "0 65534 1");
	write_map("/proc/self/gid_map", "0 65534 1");
	CHECK(!geteuid());
}

static void unprivileged_container(void)
{
	own_instance();
	become_inner_root();
	job_exchange(NULL);
	job();
}

/* Its parent will have no right to kill it. */
static void keeps_it_until_told(void)
{
	char line[T_LINE_MAX];

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK(t_say("set"));
	CHECK(!t_hear(line, sizeof(line), JOB_MS)); /* the end of the pipe */
}

/* Its abstract name is the real root's: whose device that is has to be seen, not believed. */
static void beside_the_real_root(void)
{
	const char *const args[] = { "scenario", "keeps_it_until_told", NULL };
	struct t_peer peer;

	own_instance();
	CHECK(t_spawn(&peer, args, NULL));
	CHECK(t_expect(&peer, "set", JOB_MS));
	become_inner_root();
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "VINCI_INSTANCE");
	CHECK(!setenv("VINCI_INSTANCE", "test-job-inner", 1));
	job();
}

static void containers(void **state)
{
	(void)state;
	NEEDS_ROOT("namespaces");
	NEEDS_ROOT_MOUNT();
	run_scenario("container_with_socket");
	run_scenario("containers_together");
	run_scenario("container_alone");
	run_scenario("another_network");
	run_scenario("unprivileged_container");
	run_scenario("beside_the_real_root");
}

#define S(name) { #name, name }

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		S(plain_job),
		S(keeps_its_device),
		S(keeps_it_until_told),
		S(leads_a_group),
		S(pipeline),
		S(timeouts),
		S(interrupted_group),
		S(writes_into_closed_files),
		S(closes_everything_first),
		S(closes_everything_after),
		S(no_variables),
		S(odd_variables),
		S(deleted_directory),
		S(full_tmp),
		S(no_proc),
		S(no_dev),
		S(hidden_proc),
		S(small_files),
		S(small_files_for_good),
		S(few_files_for_good),
		S(small_address_space),
		S(no_more_processes),
		S(between_users),
		S(nobody_may_connect),
		S(users_are_apart),
		S(container_with_socket),
		S(containers_together),
		S(container_alone),
		S(another_network),
		S(unprivileged_container),
		S(beside_the_real_root),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shells),     cmocka_unit_test(standard_files),
		cmocka_unit_test(mounts),     cmocka_unit_test(variables_and_directories),
		cmocka_unit_test(limits),     cmocka_unit_test(users),
		cmocka_unit_test(containers),
	};
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return 1;
	t_be_reachable(argv);
	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
