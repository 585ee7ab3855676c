/* SPDX-License-Identifier: MIT */
/*
 * crash_test.c - the main job between two processes, one of which is killed: at its k-th stop at a system call (entered
 * or left, in any of its threads), or between two of its steps. Then the survivor ends by itself, and the device, its
 * server and the machine are as before; this process, which holds the device open and does nothing else, looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash_pair.h"
#include "drv/drv.h"
#include "test_util.h"

#define TRACED_ROUNDS (T_SANITIZED ? 24 : 1200)
#define STEP_ROUNDS (T_SANITIZED ? 16 : 84)
#define DEVICE_ROUNDS (T_SANITIZED ? 6 : 42)
#define START_ROUNDS (T_SANITIZED ? 8 : 1200)
#define FULL_EVERY 8 /* rounds, then a pair that nobody kills */
#define SURVIVOR_MS (T_SANITIZED ? 60000 : 20000)
#define ROUND_S 90 /* a round that takes longer hangs */
#define NEVER UINT32_MAX

static struct drv *quiet;
static pid_t server; /* 0: the device is the kernel's */
static char server_text[16];
static unsigned server_fds, shm_names;

/* --- what must be as it was ------------------------------------------------------------------- */

static bool is_kernels(void)
{
	const char *driver = getenv("VINCI_DRIVER");

	return driver && !strcmp(driver, "drm");
}

static struct drv *device_open(void)
{
	struct drv_settings settings = { .driver = is_kernels() ? DRV_DRM : DRV_SOFT,
					 .instance = getenv("VINCI_INSTANCE"),
					 .server = SERVER_PATH };
	char why[256] = "";
	struct drv *drv = NULL;

	if (drv_open(&settings, &drv, why, sizeof(why)))
		fail_msg("%s", why);
	return drv;
}

static pid_t server_pid(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), n;
	struct ucred cred = { .pid = 0 };
	socklen_t len = sizeof(cred);

	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "vinci-%u-%s-1", geteuid(),
		     getenv("VINCI_INSTANCE"));
	assert_int_equal(connect(fd, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
			 0);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), 0);
	close(fd);
	assert_true(cred.pid > 1 && cred.pid != getpid());
	return cred.pid;
}

/* A request after another client's end is answered after the server has seen that end. */
static void settle(struct drv *drv)
{
	uint64_t devices;

	assert_int_equal(drv_get_param(drv, VINCI_PARAM_DEVICE_COUNT, &devices), 0);
}

/* The server is not for its user to look into. FDSize, which it cannot hide, at least shows a leak that goes on. */
static unsigned count_server_fds(void)
{
	char path[64], line[256];
	unsigned n = 0;
	FILE *f;

	if (!server)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", server);
	if (!access(path, R_OK))
		return t_count_dir(path);
	snprintf(path, sizeof(path), "/proc/%d/status", server);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "FDSize: %u", &n);
	if (f)
		fclose(f);
	assert_true(n > 0);
	return n;
}

static uint32_t count_list(uint32_t type, uint32_t size)
{
	uint32_t count = 0;

	assert_int_equal(drv_list(quiet, type, NULL, size, &count), 0);
	return count;
}

static bool no_children(void *arg)
{
	(void)arg;
	return waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

static void assert_baseline(void)
{
	struct drm_vinci_device_info info;
	uint64_t devices = 0;

	assert_int_equal(drv_get_param(quiet, VINCI_PARAM_DEVICE_COUNT, &devices), 0);
	for (uint32_t d = 0; d < devices; d++) {
		assert_int_equal(drv_device_info(quiet, d, &info), 0);
		assert_int_equal(info.mem_used, 0);
	}
	assert_int_equal(count_list(VINCI_LIST_PROCESSES, sizeof(struct vinci_list_process)), 1);
	assert_int_equal(count_list(VINCI_LIST_SHARES, sizeof(struct vinci_list_share)), 0);
	assert_int_equal(count_list(VINCI_LIST_NOTIFIES, sizeof(struct vinci_list_notify)), 0);
	assert_int_equal(count_server_fds(), server_fds);
	assert_int_equal(t_count_shm(), shm_names);
	assert_true(no_children(NULL));
}

static void adopt_orphans(bool on)
{
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0), 0);
}

static void device_start(void)
{
	/* The server is nobody's child; everything else that is left behind will be ours. */
	adopt_orphans(false);
	quiet = device_open();
	adopt_orphans(true);
	server = is_kernels() ? 0 : server_pid();
	settle(quiet);
	snprintf(server_text, sizeof(server_text), "%d", server);
	server_fds = count_server_fds();
	shm_names = t_count_shm();
}

/* --- a pair ----------------------------------------------------------------------------------- */

struct plan {
	char victim;   /* 'a' or 'b' */
	uint32_t stop; /* traced: at this stop; 0: not traced */
	unsigned step; /* otherwise: before this step */
	char kills;
};

static void spawn_side(struct t_peer *peer, char name, int ends[2], const struct plan *plan)
{
	const char side[2] = { name, 0 }, kills[2] = { plan->kills, 0 };
	bool victim = name == plan->victim;
	int end = ends[name == 'b'];
	char sock[16], how[16];
	const char *const args[] = { "pair", side, sock, how, kills, server_text, NULL };
	/* LeakSanitizer cannot look into a process that is traced already. */
	const char *const env[] = { victim && plan->stop && T_ASAN ? "ASAN_OPTIONS=detect_leaks=0" : NULL, NULL };

	snprintf(sock, sizeof(sock), "%d", end);
	snprintf(how, sizeof(how), "%u", victim ? plan->step : 0);
	if (victim && plan->stop)
		snprintf(how, sizeof(how), "traced");
	assert_int_equal(fcntl(end, F_SETFD, 0), 0);
	assert_true(t_spawn(peer, args, env));
	close(end);
}

/* --- the tracer ------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) on_alarm(int sig)
{
	static const char text[] = "a round hangs\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort(); /* which ends the peers too */
}

static pid_t wait_stop(pid_t who, int *status)
{
	pid_t pid;

	do
		pid = waitpid(who, status, __WALL);
	while (pid < 0 && errno == EINTR);
	return pid;
}

/* The victim has asked to be traced and stopped itself. False: tracing is not allowed here. */
static bool trace_begin(pid_t victim)
{
	int status;

	assert_int_equal(wait_stop(victim, &status), victim);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		return false;
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	return !ptrace(PTRACE_SETOPTIONS, victim, NULL,
		       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
}

static void trace_on(pid_t thread, int signal)
{
	/* It may be dying: then its end is the next thing to hear. */
	if (ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal))
		assert_int_equal(errno, ESRCH);
}

/* Which signal goes on to the thread: stops of the tracing itself are none. */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 || sig == SIGSTOP || (sig & 0x7f) == SIGTRAP ? 0 : sig;
}

/* A new thread is traced; a process is not, because a device that the victim starts is no part of it. */
static void let_go(pid_t victim, pid_t thread)
{
	unsigned long child = 0;
	char path[64];
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, thread, NULL, &child))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%lu", victim, child);
	if (!access(path, F_OK))
		return;
	assert_int_equal(wait_stop((pid_t)child, &status), child);
	if (WIFSTOPPED(status))
		assert_int_equal(ptrace(PTRACE_DETACH, (pid_t)child, NULL, NULL), 0);
}

/* Lets it run, and kills it at its stop number @limit. Its stops when it ended by itself, else @limit; *status is its
 * end. */
static uint32_t trace_run(pid_t victim, uint32_t limit, int *status)
{
	uint32_t stops = 0;
	int s;

	trace_on(victim, 0);
	for (;;) {
		pid_t thread = wait_stop(-victim, &s);

		assert_true(thread > 0);
		if (!WIFSTOPPED(s)) {
			if (thread != victim)
				continue;
			*status = s;
			return stops;
		}
		if (WSTOPSIG(s) == (SIGTRAP | 0x80) && stops < limit && ++stops == limit) {
			kill(victim, SIGKILL);
			continue;
		}
		if (s >> 16 == PTRACE_EVENT_CLONE)
			let_go(victim, thread);
		trace_on(thread, signal_of(s));
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

static bool may_trace = true;

static int end_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void assert_end(const struct plan *plan, char side, int code, bool dies)
{
	if (code == PAIR_DONE || code == PAIR_ALONE || (dies && code == 128 + SIGKILL))
		return;
	fail_msg("side %c ended with %d; victim %c, stop %u, step %u", side, code, plan->victim, plan->stop,
		 plan->step);
}

static int victim_end(struct t_peer *peer, const struct plan *plan, uint32_t *stops)
{
	int status = 0;

	if (!plan->stop)
		return t_wait(peer, SURVIVOR_MS);
	may_trace = trace_begin(peer->pid);
	if (!may_trace)
		return t_wait(peer, 0), 128 + SIGKILL;
	*stops = trace_run(peer->pid, plan->stop, &status);
	close(peer->to);
	close(peer->from);
	peer->pid = 0;
	return end_code(status);
}

/* Returns how many stops the traced victim made. */
static uint32_t round_run(const struct plan *plan)
{
	struct t_peer a, b, *victim = plan->victim == 'a' ? &a : &b, *survivor = plan->victim == 'a' ? &b : &a;
	int ends[2], code, other;
	uint32_t stops = 0;

	alarm(ROUND_S);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	spawn_side(&a, 'a', ends, plan);
	spawn_side(&b, 'b', ends, plan);
	code = victim_end(victim, plan, &stops);
	other = t_wait(survivor, SURVIVOR_MS);
	alarm(0);
	assert_end(plan, plan->victim, code, plan->kills != PAIR_KILL_DEVICE);
	assert_end(plan, plan->victim == 'a' ? 'b' : 'a', other, false);
	if (code == PAIR_DONE && plan->kills == PAIR_KILL_SELF)
		assert_int_equal(other, PAIR_DONE);
	return stops;
}

static void whole_pair(void)
{
	const struct plan plan = { .victim = 'a', .kills = PAIR_KILL_SELF };
	struct t_peer a, b;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	spawn_side(&a, 'a', ends, &plan);
	spawn_side(&b, 'b', ends, &plan);
	assert_int_equal(t_wait(&a, SURVIVOR_MS), PAIR_DONE);
	assert_int_equal(t_wait(&b, SURVIVOR_MS), PAIR_DONE);
	assert_baseline();
}

static uint32_t count_stops(char victim)
{
	const struct plan plan = { .victim = victim, .stop = NEVER, .kills = PAIR_KILL_SELF };
	uint32_t stops = round_run(&plan);

	assert_baseline();
	return stops;
}

/* As many as there are, or as an emulated machine has time for. */
static uint32_t at_most(uint32_t rounds)
{
	const char *limit = getenv("VINCI_CRASH_ROUNDS");

	return limit && (uint32_t)atoi(limit) < rounds ? (uint32_t)atoi(limit) : rounds;
}

static uint32_t random_below(uint32_t limit)
{
	static uint64_t state;

	if (!state)
		state = t_now_ms() * 2654435761u + (uint64_t)getpid();
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % limit);
}

/* All of them; where everything is slow some, evenly and beginning anywhere, so that several runs get to all. */
static void kill_at_stops(char victim)
{
	uint32_t all = count_stops(victim), rounds = at_most(TRACED_ROUNDS) / 2, stride, at, n = 0;

	if (!may_trace)
		return;
	assert_true(all > 100); /* or it was not the exchange that was traced */
	stride = all > rounds ? all / rounds : 1;
	for (at = 1 + random_below(stride); at <= all; at += stride) {
		const struct plan plan = { .victim = victim, .stop = at, .kills = PAIR_KILL_SELF };

		round_run(&plan);
		assert_baseline();
		if (++n % FULL_EVERY == 0)
			whole_pair();
	}
	print_message("side %c: %u stops, killed at %u of them\n", victim, all, n);
}

static void killed_at_system_calls(void **state)
{
	(void)state;
	kill_at_stops('a');
	kill_at_stops('b');
	if (!may_trace)
		print_message("tracing is not allowed here: killed between steps only\n");
}

/* Steps of a side, its giving back and leaving included; later ones are never reached. */
#define STEPS 42

/* Without a tracer, which slows the victim down: the two are as fast as ever. */
static void killed_between_steps(void **state)
{
	unsigned rounds = at_most(may_trace || T_SANITIZED ? STEP_ROUNDS : 200);

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		const struct plan plan = { .victim = i % 2 ? 'b' : 'a',
					   .step = 1 + (i / 2) * STEPS / (rounds / 2),
					   .kills = PAIR_KILL_SELF };

		round_run(&plan);
		assert_baseline();
		if (i % FULL_EVERY == 0)
			whole_pair();
	}
}

/* A new server for a new pair. */
static void device_restart(void)
{
	drv_close(quiet);
	quiet = NULL;
	/* Who came when it was dead has started another, which leaves with him. */
	assert_true(t_until(no_children, NULL, SURVIVOR_MS));
	device_start();
	assert_baseline();
	whole_pair();
}

static void kill_device_between_steps(char kills)
{
	for (unsigned i = 0; i < DEVICE_ROUNDS; i++) {
		const struct plan plan = { .victim = i % 2 ? 'b' : 'a',
					   .step = 1 + (i / 2) * STEPS / (DEVICE_ROUNDS / 2),
					   .kills = kills };

		round_run(&plan);
		device_restart();
	}
}

/* The server itself dies under them: both sides' calls return, and both leave. */
static void the_device_is_killed(void **state)
{
	(void)state;
	kill_device_between_steps(PAIR_KILL_DEVICE);
}

/* And there is nobody who could tell the survivor that its peer died, too. */
static void the_device_and_a_side_are_killed(void **state)
{
	(void)state;
	kill_device_between_steps(PAIR_KILL_BOTH);
}

/*
 * Without a peer: it comes, finds that it is alone, gives back what it has and leaves. The victim's @at is a stop, or a
 * step where nothing may be traced.
 */
static int lonely_side(char name, uint32_t at, uint32_t *stops)
{
	const struct plan plan = {
		.victim = 'a', .stop = may_trace ? at : 0, .step = may_trace ? 0 : at, .kills = PAIR_KILL_SELF
	};
	const struct plan unharmed = { .victim = 'a', .kills = PAIR_KILL_SELF };
	struct t_peer peer;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	close(ends[name == 'a']);
	spawn_side(&peer, name, ends, name == 'a' ? &plan : &unharmed);
	return victim_end(&peer, name == 'a' ? &plan : &unharmed, stops);
}

static bool server_gone(void *arg)
{
	struct pollfd p = { .fd = *(int *)arg, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void device_stop(void)
{
	int pidfd = server ? (int)syscall(SYS_pidfd_open, server, 0) : -1;

	assert_true(!server || pidfd >= 0);
	drv_close(quiet);
	quiet = NULL;
	if (!server)
		return;
	assert_true(t_until(server_gone, &pidfd, SURVIVOR_MS));
	close(pidfd);
}

/*
 * Whoever comes first starts the device. He may die doing so, at each of his system calls: the next one finds a device
 * or starts it, and when he has left too nothing is left.
 */
static void killed_while_starting_the_device(void **state)
{
	uint32_t stops = STEPS, ignored;
	int code;

	(void)state;
	device_stop();
	assert_int_equal(lonely_side('a', NEVER, &stops), PAIR_ALONE);
	assert_true(t_until(no_children, NULL, SURVIVOR_MS));
	for (uint32_t at = 1; at <= stops; at += 1 + stops / at_most(START_ROUNDS)) {
		alarm(ROUND_S);
		code = lonely_side('a', at, &ignored);
		assert_true(code == PAIR_ALONE || code == 128 + SIGKILL);
		assert_int_equal(lonely_side('b', 0, &ignored), PAIR_ALONE);
		assert_true(t_until(no_children, NULL, SURVIVOR_MS));
		alarm(0);
	}
	device_start();
	assert_baseline();
}

static int start(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm };

	(void)state;
	device_start();
	return sigaction(SIGALRM, &action, NULL);
}

static int stop(void **state)
{
	(void)state;
	drv_close(quiet);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_at_system_calls),	    cmocka_unit_test(killed_between_steps),
		cmocka_unit_test(killed_while_starting_the_device), cmocka_unit_test(the_device_is_killed),
		cmocka_unit_test(the_device_and_a_side_are_killed),
	};
	char instance[32];
	int status;

	if (pair_main(argc, argv, &status))
		return status;
	snprintf(instance, sizeof(instance), "crash-%d", getpid());
	setenv("VINCI_INSTANCE", instance, 1);
	return cmocka_run_group_tests(tests, start, stop);
}
