/* SPDX-License-Identifier: MIT */
/*
 * Starting vincid from inside somebody else's process. The rules:
 *  - the application never learns of it: no SIGCHLD, nothing for its wait(), none of its descriptors kept open;
 *  - the child binds and listens itself, so that no fork of another thread can inherit the listening socket and
 *    keep the name alive after vincid has gone; EADDRINUSE from bind() settles races between starters;
 *  - it says over a pipe how it went, since a pipe's EOF could be held back by such a fork as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/soft/launch.h"
#include "drv/drv.h"
#include "drv/soft.h"

#define PEERS_TEXT_MAX (VINCI_MAX_DEVICES * 17 + 16)

struct launch {
	char path[PATH_MAX];
	char devices[40];
	char memory[48];
	char notifies[40];
	char soc[VINCI_SOC_NAME_MAX + 16];
	char peers[PEERS_TEXT_MAX];
	char *argv[10];
	const struct soft_address *address;
	int report; /* write end of the pipe */
	sigset_t mask; /* of the launching thread, before signals were blocked */
};

/* --- finding the program ------------------------------------------------------------------ */

/* The file this code was loaded from; absolute also after a later chdir(). */
static char library_file[PATH_MAX];

static const char *own_file(char *exe, size_t size)
{
	struct link_map *map = NULL;
	Dl_info info;
	ssize_t n;

	if (dladdr1((void *)(uintptr_t)soft_launch, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
		return map->l_name;
	/* Linked into the program itself. */
	n = readlink("/proc/self/exe", exe, size - 1);
	if (n <= 0)
		return (const char *)(uintptr_t)getauxval(AT_EXECFN);
	exe[n] = 0;
	return exe;
}

__attribute__((constructor)) static void find_library(void)
{
	char exe[PATH_MAX], cwd[PATH_MAX] = "";
	const char *file = own_file(exe, sizeof(exe));
	int n = -1;

	if (file && file[0] == '/')
		n = snprintf(library_file, sizeof(library_file), "%s", file);
	else if (file && getcwd(cwd, sizeof(cwd)))
		n = snprintf(library_file, sizeof(library_file), "%s/%s", cwd, file);
	if (n < 0 || (size_t)n >= sizeof(library_file))
		library_file[0] = 0;
}

/* The installed tree, then places relative to where the build leaves things; never PATH. */
static bool find_beside(const char *file, struct launch *l)
{
	static const char *const places[] = {
		"../bin/vincid", "vincid", "bin/vincid", "../drivers/soft/vincid", "../../drivers/soft/vincid",
		"drivers/soft/vincid",
	};
	int dir = (int)(strrchr(file, '/') - file);
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if ((size_t)snprintf(l->path, sizeof(l->path), "%.*s/%s", dir, file, places[i]) < sizeof(l->path) &&
		    !faccessat(AT_FDCWD, l->path, X_OK, AT_EACCESS))
			return true;
	return false;
}

static int find_server(const struct drv_settings *settings, struct launch *l, char *why, size_t why_len)
{
	char real[PATH_MAX];

	if (settings->server) {
		if ((size_t)snprintf(l->path, sizeof(l->path), "%s", settings->server) < sizeof(l->path) &&
		    !faccessat(AT_FDCWD, l->path, X_OK, AT_EACCESS))
			return 0;
		(void)snprintf(why, why_len, "%s cannot be executed (%s)", settings->server, strerror(errno));
		return -ENOENT;
	}
	/* As it was named, and, when that is a link, where it is. */
	if (library_file[0] && (find_beside(library_file, l) || (realpath(library_file, real) && find_beside(real, l))))
		return 0;
	(void)snprintf(why, why_len, "vincid was not found beside %s, nor in ../bin from there", library_file);
	return -ENOENT;
}

/* --- its arguments ------------------------------------------------------------------------ */

static void add_peers(const struct drv_settings *settings, struct launch *l)
{
	size_t used = (size_t)snprintf(l->peers, sizeof(l->peers), "--peers=");
	unsigned int d;

	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		used += (size_t)snprintf(l->peers + used, sizeof(l->peers) - used, "%s%llx", d ? "," : "",
					 (unsigned long long)settings->peers[d]);
}

static void make_argv(const struct drv_settings *settings, struct launch *l)
{
	int n = 0;

	l->argv[n++] = l->path;
	l->argv[n++] = (char *)"--inherited";
	if (settings->devices) {
		(void)snprintf(l->devices, sizeof(l->devices), "--devices=%u", settings->devices);
		l->argv[n++] = l->devices;
	}
	if (settings->mem_bytes) {
		(void)snprintf(l->memory, sizeof(l->memory), "--memory=%llu", (unsigned long long)settings->mem_bytes);
		l->argv[n++] = l->memory;
	}
	if (settings->notify_limit) {
		(void)snprintf(l->notifies, sizeof(l->notifies), "--notifies=%u", settings->notify_limit);
		l->argv[n++] = l->notifies;
	}
	if (settings->soc[0]) {
		(void)snprintf(l->soc, sizeof(l->soc), "--soc=%.*s", VINCI_SOC_NAME_MAX, settings->soc);
		l->argv[n++] = l->soc;
	}
	if (settings->has_peers) {
		add_peers(settings, l);
		l->argv[n++] = l->peers;
	}
	l->argv[n] = NULL;
}

/* --- in the child: async-signal-safe calls only -------------------------------------------- */

/* Raw, as these children are: a tool's _exit() may take locks that another thread of the parent held. */
static _Noreturn void child_leave(int status)
{
	for (;;)
		(void)syscall(SYS_exit_group, status);
}

static void child_fail(const struct launch *l, int stage)
{
	struct launch_report report = { .stage = stage, .error = errno };

	if (write(l->report, &report, sizeof(report)) < 0)
		child_leave(2); /* the launcher has gone: nobody to tell */
	child_leave(1);
}

static void child_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &dfl, NULL); /* KILL, STOP and libc's own refuse */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(unsigned int first)
{
	long limit, fd;

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, ~0u, 0u))
		return;
#endif
	limit = sysconf(_SC_OPEN_MAX);
	for (fd = first; fd < limit; fd++)
		(void)close((int)fd);
}

static int listen_at(const struct launch *l)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int on = 1;

	/* Before anybody can connect: a hello that is sent until vincid runs needs its sender's credentials as well. */
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		child_fail(l, LAUNCH_SOCKET);
	if (bind(sock, (const struct sockaddr *)&l->address->un, l->address->len))
		child_fail(l, LAUNCH_BIND);
	if (listen(sock, LAUNCH_BACKLOG))
		child_fail(l, LAUNCH_SOCKET);
	return sock;
}

/* 0-2 on /dev/null (where there is none, on something as silent), the socket and the pipe on their agreed numbers. */
static void child_descriptors(struct launch *l)
{
	int sock = fcntl(listen_at(l), F_DUPFD, 16);
	int report = fcntl(l->report, F_DUPFD, 16);
	int null = open("/dev/null", O_RDWR);
	int fd;

	if (null < 0)
		null = memfd_create("vincid-null", 0);
	if (sock < 0 || report < 0 || null < 0)
		child_fail(l, LAUNCH_SOCKET);
	l->report = report;
	null = null < 16 ? fcntl(null, F_DUPFD, 16) : null;
	for (fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			child_fail(l, LAUNCH_SOCKET);
	if (dup2(sock, LAUNCH_FD_LISTEN) < 0 || dup2(report, LAUNCH_FD_REPORT) < 0)
		child_fail(l, LAUNCH_SOCKET);
	l->report = LAUNCH_FD_REPORT;
	close_from(LAUNCH_FD_REPORT + 1);
}

static void child_exec(struct launch *l)
{
	static char *const no_environment[] = { NULL };
	cpu_set_t all;

	child_signals();
	child_descriptors(l);
	memset(&all, 0xff, sizeof(all));
	(void)sched_setaffinity(0, sizeof(all), &all);
	(void)setsid();
	if (chdir("/"))
		child_fail(l, LAUNCH_SOCKET);
	(void)execve(l->path, l->argv, no_environment);
	child_fail(l, LAUNCH_EXEC);
}

/* Exit signal 0: no SIGCHLD, and only a wait with __WCLONE sees the child. Raw: no atfork handlers of the application.
 */
static pid_t quiet_fork(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
}

/* Orphans go to init, or to a subreaper: when that is the application itself, vincid must not become one. */
static bool orphans_come_to_us(void)
{
	int subreaper = 0;

	(void)prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	return subreaper || getpid() == 1;
}

/*
 * Between the application and vincid: an exec makes any process one that reports its end by SIGCHLD, a middle one that
 * never execs stays quiet. Usually it goes at once; where orphans would come to the application, it waits for
 * vincid's end, holding nothing of the application's but its memory as it was.
 */
static void middle_process(struct launch *l, bool stay)
{
	pid_t server = quiet_fork();

	if (server < 0)
		child_fail(l, LAUNCH_FORK);
	if (!server)
		child_exec(l);
	if (!stay)
		child_leave(0);
	(void)setsid();
	(void)!chdir("/"); /* to keep the directory busy is better than to leave vincid to the application */
	close_from(0);
	while (waitpid(server, NULL, (int)__WALL) < 0 && errno == EINTR)
		;
	child_leave(0);
}

/* --- in the launching process --------------------------------------------------------------- */

static pid_t spawn(struct launch *l, bool stay)
{
	pid_t pid = quiet_fork();

	if (!pid)
		middle_process(l, stay);
	return pid;
}

/* The application may have taken it by a wait with __WALL: ECHILD is fine. */
static void reap(pid_t pid, int flags)
{
	while (waitpid(pid, NULL, (int)__WCLONE | flags) < 0 && errno == EINTR)
		;
}

/* The middle process that stayed when a vincid was started before; 0: none. It has ended if that vincid has. */
static _Atomic pid_t last_middle;

static void keep_middle(pid_t pid)
{
	pid_t last = atomic_exchange(&last_middle, pid);

	if (last)
		reap(last, WNOHANG);
}

static int wait_report(int fd, struct launch_report *report)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t until = 0;
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, SOFT_ANSWER_MS);
	while (r < 0 && errno == EINTR && soft_may_repeat(&until));
	if (r <= 0)
		return r ? -errno : -ETIMEDOUT;
	do
		n = read(fd, report, sizeof(*report));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*report) ? 0 : -EPIPE;
}

static int explain(const struct launch *l, int r, const struct launch_report *report, char *why, size_t why_len)
{
	static const char *const doing[] = {
		[LAUNCH_READY] = "start", [LAUNCH_FORK] = "be forked", [LAUNCH_SOCKET] = "set up its socket",
		[LAUNCH_BIND] = "bind its address", [LAUNCH_EXEC] = "be executed", [LAUNCH_SETUP] = "set itself up",
	};

	if (r == -EAGAIN || report->stage == LAUNCH_FORK) {
		(void)snprintf(why, why_len,
			       "no process can be started for vincid: ulimit -u, or the container's limit of pids");
		return -EAGAIN;
	}
	if (r) {
		(void)snprintf(why, why_len, "%s ended before it was ready (%s)", l->path, strerror(-r));
		return r;
	}
	if (report->stage == LAUNCH_READY || (report->stage == LAUNCH_BIND && report->error == EADDRINUSE))
		return 0;
	if (report->stage < 0 || report->stage > LAUNCH_SETUP || report->error <= 0)
		return -EPROTO;
	(void)snprintf(why, why_len, "%s could not %s (%s)", l->path, doing[report->stage], strerror(report->error));
	return -report->error;
}

static int open_report(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fds[0] = soft_raise_fd(fds[0]);
	fds[1] = soft_raise_fd(fds[1]);
	if (fds[0] >= 0 && fds[1] >= 0)
		return 0;
	if (fds[0] >= 0)
		(void)close(fds[0]);
	if (fds[1] >= 0)
		(void)close(fds[1]);
	return -EMFILE;
}

static int run(struct launch *l, char *why, size_t why_len)
{
	struct launch_report report = { 0 };
	bool stay = orphans_come_to_us();
	sigset_t all;
	int fds[2], r;
	pid_t pid;

	r = open_report(fds);
	if (r) {
		(void)snprintf(why, why_len, "no descriptors left to start vincid (%s)", strerror(-r));
		return r;
	}
	l->report = fds[1];
	/* No handler of the application may run in the child. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &l->mask);
	pid = spawn(l, stay);
	r = pid < 0 ? -errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
	(void)close(fds[1]);
	if (!r && !stay)
		reap(pid, 0);
	if (!r)
		r = wait_report(fds[0], &report);
	if (!r && stay && report.stage != LAUNCH_READY)
		reap(pid, 0);
	else if (stay && pid > 0)
		keep_middle(pid);
	(void)close(fds[0]);
	return explain(l, r, &report, why, why_len);
}

int soft_launch(const struct drv_settings *settings, const struct soft_address *address, char *why, size_t why_len)
{
	struct launch *l = calloc(1, sizeof(*l));
	int r;

	if (!l) {
		(void)snprintf(why, why_len, "out of host memory");
		return -ENOMEM;
	}
	l->address = address;
	r = find_server(settings, l, why, why_len);
	if (!r) {
		make_argv(settings, l);
		r = run(l, why, why_len);
	}
	free(l);
	return r;
}
