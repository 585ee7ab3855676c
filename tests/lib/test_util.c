/* SPDX-License-Identifier: MIT */
#include "test_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static void __attribute__((constructor)) choose_cases(void)
{
	cmocka_set_test_filter(getenv("VINCI_TEST_CASE"));
	cmocka_set_skip_filter(getenv("VINCI_TEST_SKIP"));
}

uint64_t t_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int left_ms(uint64_t deadline)
{
	uint64_t now = t_now_ms();

	return now >= deadline ? 0 : (int)(deadline - now);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- starting ------------------------------------------------------------------------------- */

static void __attribute__((noreturn))
run_child(int in, int out, const char *const args[], const char *const env[], pid_t parent)
{
	char *argv[T_PEER_ARGS_MAX + 2] = { (char *)"peer" };
	int n;

	/* A peer never outlives its test. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(126);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	for (n = 0; args[n] && n < T_PEER_ARGS_MAX; n++)
		argv[n + 1] = (char *)args[n];
	for (n = 0; env && env[n]; n++)
		putenv((char *)env[n]);
	execv("/proc/self/exe", argv);
	_exit(127);
}

bool t_spawn(struct t_peer *peer, const char *const args[], const char *const env[])
{
	pid_t parent = getpid();
	int in[2], out[2];
	pid_t pid;

	memset(peer, 0, sizeof(*peer));
	peer->to = peer->from = -1;
	if (pipe2(in, O_CLOEXEC))
		return false;
	if (pipe2(out, O_CLOEXEC))
		goto err_in;
	pid = fork();
	if (pid < 0)
		goto err_out;
	if (!pid)
		run_child(in[0], out[1], args, env, parent);
	close(in[0]);
	close(out[1]);
	peer->pid = pid;
	peer->to = in[1];
	peer->from = out[0];
	return true;

err_out:
	close(out[0]);
	close(out[1]);
err_in:
	close(in[0]);
	close(in[1]);
	return false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool take_line(char *buf, size_t *len, char *line, size_t size)
{
	char *end = memchr(buf, '\n', *len);
	size_t n;

	if (!end)
		return false;
	n = (size_t)(end - buf);
	if (n < size) {
		memcpy(line, buf, n);
		line[n] = '\0';
	}
	*len -= n + 1;
	memmove(buf, end + 1, *len);
	return n < size;
}

static bool read_line(int fd, char *buf, size_t *len, size_t room, char *line, size_t size, int timeout_ms)
{
	uint64_t deadline = t_now_ms() + (uint64_t)timeout_ms;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (!memchr(buf, '\n', *len)) {
		ssize_t n;

		if (*len == room)
			return false;
		n = poll(&p, 1, left_ms(deadline));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		n = read(fd, buf + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		*len += (size_t)n;
	}
	return take_line(buf, len, line, size);
}

static bool write_all(int fd, const char *text, size_t len)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	bool ok = true;

	/* A peer that has gone is a false, not a signal. */
	sigaction(SIGPIPE, &ignore, &old);
	while (ok && len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		ok = n > 0;
		if (ok) {
			text += n;
			len -= (size_t)n;
		}
	}
	sigaction(SIGPIPE, &old, NULL);
	return ok;
}

static bool write_line(int fd, const char *fmt, va_list ap)
{
	char line[T_LINE_MAX + 1];
	int n = vsnprintf(line, T_LINE_MAX, fmt, ap);

	if (n < 0 || n >= T_LINE_MAX)
		return false;
	line[n] = '\n';
	return write_all(fd, line, (size_t)n + 1);
}

bool t_read_line(struct t_peer *peer, char *line, size_t size, int timeout_ms)
{
	return read_line(peer->from, peer->buf, &peer->len, sizeof(peer->buf), line, size, timeout_ms);
}

bool t_expect(struct t_peer *peer, const char *wanted, int timeout_ms)
{
	char line[T_LINE_MAX];

	if (!t_read_line(peer, line, sizeof(line), timeout_ms)) {
		fprintf(stderr, "peer %d: nothing in %d ms instead of \"%s\"\n", peer->pid, timeout_ms, wanted);
		return false;
	}
	if (strcmp(line, wanted))
		fprintf(stderr, "peer %d: \"%s\" instead of \"%s\"\n", peer->pid, line, wanted);
	return !strcmp(line, wanted);
}

bool t_write_line(struct t_peer *peer, const char *fmt, ...)
{
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = write_line(peer->to, fmt, ap);
	va_end(ap);
	return ok;
}

bool t_say(const char *fmt, ...)
{
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = write_line(STDOUT_FILENO, fmt, ap);
	va_end(ap);
	return ok;
}

bool t_hear(char *line, size_t size, int timeout_ms)
{
	static char buf[4 * T_LINE_MAX];
	static size_t len;

	return read_line(STDIN_FILENO, buf, &len, sizeof(buf), line, size, timeout_ms);
}

/* ---- ending --------------------------------------------------------------------------------- */

int t_wait_pid(pid_t pid, int timeout_ms)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	uint64_t deadline = t_now_ms() + (uint64_t)timeout_ms;
	int status, r;

	if (p.fd < 0)
		return -1;
	do
		r = poll(&p, 1, left_ms(deadline));
	while (r < 0 && errno == EINTR);
	close(p.fd);
	if (r <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (r <= 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int t_wait(struct t_peer *peer, int timeout_ms)
{
	int r;

	if (!peer->pid)
		return -1;
	close_fd(&peer->to);
	r = t_wait_pid(peer->pid, timeout_ms);
	close_fd(&peer->from);
	peer->pid = 0;
	return r;
}

void t_kill(struct t_peer *peer)
{
	if (!peer->pid)
		return;
	kill(peer->pid, SIGKILL);
	(void)t_wait(peer, 10000);
}

/* ---- counts --------------------------------------------------------------------------------- */

unsigned t_count_dir(const char *path)
{
	unsigned n = 0;
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

unsigned t_count_fds(void)
{
	return t_count_dir("/proc/self/fd") - 1; /* without the one that reads the directory */
}

unsigned t_count_threads(void)
{
	return t_count_dir("/proc/self/task");
}

unsigned t_count_shm(void)
{
	return t_count_dir("/dev/shm");
}

static unsigned count_maps(bool reserved)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4096 + 128];
	unsigned n = 0;

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		n += reserved || !strstr(line, " ---p 00000000 00:00 0");
	fclose(f);
	return n;
}

unsigned t_count_maps(void)
{
	return count_maps(true);
}

unsigned t_count_backed_maps(void)
{
	return count_maps(false);
}

unsigned long t_rss_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

bool t_until(bool (*done)(void *arg), void *arg, int timeout_ms)
{
	uint64_t deadline = t_now_ms() + (uint64_t)timeout_ms;
	struct timespec pause = { .tv_nsec = 50000 };

	while (!done(arg)) {
		if (!left_ms(deadline))
			return false;
		ppoll(NULL, 0, &pause, NULL);
		if (pause.tv_nsec < 10000000)
			pause.tv_nsec *= 2;
	}
	return true;
}

/* ThreadSanitizer lets each process sleep for a second at its end; tests with hundreds of processes do not wait for that. */
#if T_TSAN
const char *__tsan_default_options(void);

__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}
#endif
