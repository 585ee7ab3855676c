/* SPDX-License-Identifier: MIT */
/*
 * vinci-smi as a user runs it, beside processes that hold and share things. It talks to the device and not to the
 * runtime, and so do these peers: what they hold is exactly what they asked for.
 */
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "drv/drv.h"
#include "test_util.h"
#include "util/json.h"

#define DEADLINE_MS 20000
#define MIB (UINT64_C(1) << 20)
#define OUTPUT_MAX 65536

/* Of this run: several build trees may be tested at once. */
static char instance[32];

/* ---- peers ---------------------------------------------------------------------------------- */

static struct drv *peer_open(void)
{
	struct drv_settings settings = { .instance = getenv("VINCI_INSTANCE"), .socket = getenv("VINCI_SOCKET") };
	char why[256] = "";
	struct drv *drv = NULL;

	if (!drv_open(&settings, &drv, why, sizeof(why)))
		return drv;
	t_say("cannot open: %s", why);
	exit(1);
}

static void peer_must(int r, const char *what)
{
	if (!r)
		return;
	t_say("%s: %s", what, strerror(-r));
	exit(1);
}

static struct drv_name peer_share(struct drv *drv, uint32_t device, uint64_t size, uint32_t kind, uint32_t flags)
{
	struct drm_vinci_bo_create bo = { .size = size, .device = device, .page_kind = VINCI_PAGE_2M, .numa_node = -1 };
	struct drv_name name;

	peer_must(drv_bo_create(drv, &bo), "bo_create");
	peer_must(drv_share_export(drv, bo.handle, kind, flags, size, &name), "export");
	return name;
}

static struct drv_name peer_notify(struct drv *drv, uint32_t device, uint32_t *id)
{
	uint32_t count = 1, handle;
	uint64_t offset;
	struct drv_name name;

	peer_must(drv_notify_ids(drv, device, &count, id), "notify_ids");
	peer_must(drv_notify_create(drv, device, *id, &handle, &offset), "notify_create");
	peer_must(drv_share_export(drv, handle, VINCI_SHARE_NOTIFY, 0, 0, &name), "export notify");
	return name;
}

/* Stays until its stdin ends, so that what it holds can be looked at. */
static int peer_stay(struct drv *drv)
{
	char line[T_LINE_MAX];

	while (t_hear(line, sizeof(line), DEADLINE_MS))
		;
	drv_close(drv);
	return 0;
}

/* 4 MiB of NPU 1 as IPC memory for the pid it is told, 6 MiB of NPU 2 for anybody, a notify of NPU 2. */
static int peer_owner(void)
{
	struct drv *drv = peer_open();
	struct drv_name memory = peer_share(drv, 1, 4 * MIB, VINCI_SHARE_IPC_MEM, 0);
	char line[T_LINE_MAX];
	uint32_t id;
	int32_t pid;

	(void)peer_share(drv, 2, 6 * MIB, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED);
	(void)peer_notify(drv, 2, &id);
	t_say("%.64s %u", (const char *)memory.bytes, id);
	if (!t_hear(line, sizeof(line), DEADLINE_MS))
		return 1;
	pid = atoi(line);
	peer_must(drv_share_allow(drv, &memory, NULL, &pid, 1), "allow");
	t_say("allowed");
	return peer_stay(drv);
}

static int peer_opener(void)
{
	struct drv *drv = peer_open();
	struct drm_vinci_share_import import = { 0 };
	struct drv_name name = { .kind = VINCI_SHARE_IPC_MEM, .len = 64 };
	char line[T_LINE_MAX];

	t_say("ready");
	if (!t_hear(line, sizeof(line), DEADLINE_MS))
		return 1;
	memcpy(name.bytes, line, 64);
	peer_must(drv_share_import(drv, &name, 1, &import), "import");
	t_say("imported");
	return peer_stay(drv);
}

/* Memory of a process that is called what no terminal and no JSON reader should see. */
static int peer_nasty(void)
{
	struct drv *drv = peer_open();

	prctl(PR_SET_NAME, "a\"b\\c\033[31m\nd");
	(void)peer_share(drv, 0, 2 * MIB, VINCI_SHARE_IPC_MEM, 0);
	t_say("named");
	return peer_stay(drv);
}

/* As another user, where root started it. */
static int peer_user(const char *user)
{
	uid_t uid = (uid_t)atoi(user);
	struct drv *drv;

	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) {
		t_say("cannot become user %s", user);
		return 1;
	}
	/* Changing users made it undumpable, and its /proc files root's. */
	prctl(PR_SET_DUMPABLE, 1);
	drv = peer_open();
	(void)peer_share(drv, 3, 2 * MIB, VINCI_SHARE_IPC_MEM, 0);
	t_say("shared");
	return peer_stay(drv);
}

static int peer_main(char **argv)
{
	prctl(PR_SET_NAME, argv[1]);
	if (!strcmp(argv[1], "owner"))
		return peer_owner();
	if (!strcmp(argv[1], "opener"))
		return peer_opener();
	if (!strcmp(argv[1], "nasty"))
		return peer_nasty();
	return peer_user(argv[1]);
}

static void start(struct t_peer *peer, const char *role, const char *first_line)
{
	const char *const args[] = { role, NULL };

	assert_true(t_spawn(peer, args, NULL));
	if (first_line)
		assert_true(t_expect(peer, first_line, DEADLINE_MS));
}

/* ---- vinci-smi ------------------------------------------------------------------------------ */

static char output[OUTPUT_MAX];

/* Opened before the user changes: the build tree may be closed to others. */
static void __attribute__((noreturn)) exec_smi(const char *const args[], uid_t uid, int out)
{
	char *argv[8] = { (char *)"vinci-smi" };
	int program = open(SMI_PATH, O_RDONLY | O_CLOEXEC);
	int n;

	for (n = 0; args[n]; n++)
		argv[n + 1] = (char *)args[n];
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		_exit(126);
	fexecve(program, argv, environ);
	_exit(127);
}

/* Exit status; all it printed is in @output. */
static int smi_as(uid_t uid, const char *const args[])
{
	size_t len = 0;
	ssize_t n;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		exec_smi(args, uid, fds[1]);
	close(fds[1]);
	while ((n = read(fds[0], output + len, sizeof(output) - 1 - len)) > 0)
		len += (size_t)n;
	output[len] = 0;
	close(fds[0]);
	return t_wait_pid(pid, DEADLINE_MS);
}

#define SMI(...) smi_as(0, (const char *const[]){ __VA_ARGS__, NULL })

static void assert_shown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool shown(const char *fmt, va_list ap)
{
	char wanted[512];

	vsnprintf(wanted, sizeof(wanted), fmt, ap);
	if (strstr(output, wanted))
		return true;
	print_message("not \"%s\" in:\n%s", wanted, output);
	return false;
}

static void assert_shown(const char *fmt, ...)
{
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = shown(fmt, ap);
	va_end(ap);
	assert_true(found);
}

/* The line that starts with @start and a space, its runs of spaces as one. */
static const char *line_of(const char *start)
{
	static char line[512];
	const char *p = output;
	size_t len = strlen(start), n = 0;

	while (p && (strncmp(p, start, len) || p[len] != ' ')) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	for (; p && *p && *p != '\n' && n < sizeof(line) - 1; p++)
		if (*p != ' ' || (n && line[n - 1] != ' '))
			line[n++] = *p;
	while (n && line[n - 1] == ' ')
		n--;
	line[n] = 0;
	return line;
}

static const char *line_of_number(long number)
{
	char start[24];

	snprintf(start, sizeof(start), "%ld", number);
	return line_of(start);
}

static void assert_json(void)
{
	size_t where = 0;

	if (u_json_check(output, strlen(output), &where))
		return;
	print_message("not JSON at byte %zu:\n%s", where, output);
	fail();
}

static bool not_running(void *arg)
{
	(void)arg;
	return !SMI("devices") && !strncmp(output, "no vincid is running for instance ", 34);
}

/* ---- an owner and an opener ----------------------------------------------------------------- */

struct pair {
	struct t_peer owner, opener;
	char key[65];
	unsigned id;
};

static int pair_start(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	char line[T_LINE_MAX];

	assert_non_null(p);
	start(&p->owner, "owner", NULL);
	assert_true(t_read_line(&p->owner, line, sizeof(line), DEADLINE_MS));
	assert_int_equal(sscanf(line, "%64s %u", p->key, &p->id), 2);
	start(&p->opener, "opener", "ready");
	assert_true(t_write_line(&p->owner, "%d", p->opener.pid));
	assert_true(t_expect(&p->owner, "allowed", DEADLINE_MS));
	assert_true(t_write_line(&p->opener, "%s", p->key));
	assert_true(t_expect(&p->opener, "imported", DEADLINE_MS));
	*state = p;
	return 0;
}

static int pair_stop(void **state)
{
	struct pair *p = *state;

	t_kill(&p->owner);
	t_kill(&p->opener);
	free(p);
	return t_until(not_running, NULL, DEADLINE_MS) ? 0 : -1;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void it_starts_nothing(void **state)
{
	(void)state;
	assert_int_equal(SMI("devices"), 0);
	assert_shown("no vincid is running for instance %s\n", instance);
	assert_int_equal(SMI("--json"), 0);
	assert_json();
	assert_shown("\"running\": false");
	assert_int_equal(SMI("instances"), 0);
	assert_null(strstr(output, instance));
	assert_int_equal(SMI("--instance", "some-other", "shares"), 0);
	assert_string_equal(output, "no vincid is running for instance some-other\n");
}

static void wrong_arguments(void **state)
{
	(void)state;
	assert_int_equal(SMI("streams"), 2);
	assert_shown("there is no table streams");
	assert_int_equal(SMI("shares", "notifies"), 2);
	assert_int_equal(SMI("--json", "instances"), 2);
	assert_int_equal(SMI("--what"), 2);
	assert_int_equal(SMI("--instance", "a b"), 1);
	assert_shown("Value \"a b\" for environment variable VINCI_INSTANCE is invalid");
	assert_int_equal(SMI("--help"), 0);
	assert_shown("usage: vinci-smi");
}

static void the_output_cannot_be_written(void **state)
{
	const char *const args[] = { "--help", NULL };
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	pid_t pid;

	(void)state;
	assert_true(full >= 0);
	pid = fork();
	if (!pid)
		exec_smi(args, 0, full);
	close(full);
	assert_int_equal(t_wait_pid(pid, DEADLINE_MS), 1);
}

static void devices_and_processes(void **state)
{
	struct pair *p = *state;
	char wanted[128];

	assert_int_equal(SMI("devices"), 0);
	assert_shown("instance %s, interface %d.%d, 8 devices", instance, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR);
	assert_non_null(strstr(line_of("1"), " 4.0 MiB / 64.0 GiB 1 1 0"));
	assert_non_null(strstr(line_of("2"), " 6.0 MiB / 64.0 GiB 1 2 1"));
	assert_non_null(strstr(line_of("3"), " 0 B / 64.0 GiB 0 0 0"));
	assert_int_equal(SMI("processes"), 0);
	snprintf(wanted, sizeof(wanted), "%d owner %u 1 1 4.0 MiB", p->owner.pid, getuid());
	assert_string_equal(line_of_number(p->owner.pid), wanted);
	snprintf(wanted, sizeof(wanted), "%d opener %u - 0 0 B", p->opener.pid, getuid());
	assert_string_equal(line_of_number(p->opener.pid), wanted);
	assert_null(strstr(output, "vinci-smi"));
}

static void shares(void **state)
{
	struct pair *p = *state;
	char wanted[160];

	assert_int_equal(SMI("shares"), 0);
	snprintf(wanted, sizeof(wanted), "1 ipc-memory %.7s~ 1 4.0 MiB %d owner", p->key, p->owner.pid);
	assert_string_equal(line_of("1"), wanted);
	assert_shown("whitelist: %d (opener)\n", p->opener.pid);
	assert_shown("opened by: %d (opener)\n", p->opener.pid);
	snprintf(wanted, sizeof(wanted), "2 physical - 2 6.0 MiB %d owner", p->owner.pid);
	assert_string_equal(line_of("2"), wanted);
	assert_shown("whitelist: switched off");
	assert_shown("whitelist: nobody\n        opened by: nobody"); /* the notify */
	assert_null(strstr(output, p->key));
}

static void notifies(void **state)
{
	struct pair *p = *state;
	char wanted[128];

	assert_int_equal(SMI("notifies"), 0);
	snprintf(wanted, sizeof(wanted), "2 %u %d owner 1", p->id, p->owner.pid);
	assert_string_equal(line_of("2"), wanted);
}

static void everything_as_json(void **state)
{
	struct pair *p = *state;

	assert_int_equal(SMI("-j"), 0);
	assert_json();
	assert_shown("\"running\": true");
	assert_shown("{\"process\": {\"pid\": %d, \"name\": \"owner\"}, \"uid\": %u, \"device\": 1, \"objects\": 1, "
		     "\"bytes\": 4194304}",
		     p->owner.pid, getuid());
	assert_shown("\"kind\": \"ipc-memory\", \"key_start\": \"%.7s\", \"device\": 1, \"size\": 4194304, "
		     "\"owner\": {\"pid\": %d, \"name\": \"owner\"}, \"validated\": true, "
		     "\"whitelist\": [{\"pid\": %d, \"name\": \"opener\"}], "
		     "\"openers\": [{\"pid\": %d, \"name\": \"opener\"}]}",
		     p->key, p->owner.pid, p->opener.pid, p->opener.pid);
	assert_shown("\"validated\": false, \"whitelist\": [], \"openers\": []}");
	assert_shown("{\"device\": 2, \"id\": %u, \"owner\": {\"pid\": %d, \"name\": \"owner\"}, \"holders\": 1}",
		     p->id, p->owner.pid);
	assert_null(strstr(output, p->key));
}

/* What is asked for is an instance, not a size: other settings than it runs with are no hindrance. */
static void other_settings_do_not_matter(void **state)
{
	(void)state;
	setenv("VINCI_DEVICES", "3", 1);
	assert_int_equal(SMI("devices"), 0);
	unsetenv("VINCI_DEVICES");
	assert_shown("8 devices");
}

static void instances(void **state)
{
	char wanted[64];

	(void)state;
	assert_int_equal(SMI("instances"), 0);
	snprintf(wanted, sizeof(wanted), "%s %u %d", instance, getuid(), VINCI_UAPI_MAJOR);
	assert_string_equal(line_of(instance), wanted);
}

/* Its shares die with the owner; the memory stays charged for the opener that keeps it. */
static void after_the_owner_was_killed(void **state)
{
	struct pair *p = *state;
	char wanted[128];

	t_kill(&p->owner);
	assert_int_equal(SMI("shares"), 0);
	assert_shown("(nothing is shared)");
	assert_int_equal(SMI("devices"), 0);
	assert_non_null(strstr(line_of("2"), " 0 B / 64.0 GiB 0 0 0"));
	snprintf(wanted, sizeof(wanted), "%d opener %u 1 1 4.0 MiB", p->opener.pid, getuid());
	assert_string_equal(line_of_number(p->opener.pid), wanted);
}

static void names_are_cleaned(void **state)
{
	struct t_peer peer;

	(void)state;
	start(&peer, "nasty", "named");
	assert_int_equal(SMI("processes"), 0);
	assert_shown(" a\"b\\c?[31m");
	assert_null(strchr(output, '\033'));
	assert_int_equal(SMI("--json"), 0);
	assert_json();
	assert_shown("\"name\": \"a\\\"b\\\\c?[31m");
	assert_null(strchr(output, '\033'));
	t_kill(&peer);
	assert_true(t_until(not_running, NULL, DEADLINE_MS));
}

/* ---- several users at one socket ------------------------------------------------------------ */

struct socket_server {
	char dir[64], path[96];
	pid_t pid;
};

static void __attribute__((noreturn)) exec_server(const char *path)
{
	char option[128];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(option, sizeof(option), "--socket=%s", path);
	execl(SERVER_PATH, "vincid", option, "--mode=0666", (char *)NULL);
	_exit(127);
}

static bool answers(void *arg)
{
	(void)arg;
	return !SMI("devices") && !strncmp(output, "instance ", 9);
}

static void server_start(struct socket_server *s)
{
	strcpy(s->dir, "/tmp/vinci-smi-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_int_equal(chmod(s->dir, 0755), 0);
	snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
	setenv("VINCI_SOCKET", s->path, 1);
	assert_int_equal(SMI("devices"), 0);
	assert_shown("no vincid is running at VINCI_SOCKET=%s\n", s->path);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid)
		exec_server(s->path);
	assert_true(t_until(answers, NULL, DEADLINE_MS));
}

static void server_stop(struct socket_server *s)
{
	assert_int_equal(kill(s->pid, SIGTERM), 0);
	assert_int_equal(t_wait_pid(s->pid, DEADLINE_MS), 0);
	unsetenv("VINCI_SOCKET");
	assert_int_equal(rmdir(s->dir), 0);
}

static void users_see_their_own(void **state)
{
	struct t_peer one, two;
	struct socket_server s;
	char stranger[24];

	(void)state;
	if (getuid()) {
		print_message("only root can become other users\n");
		skip();
	}
	server_start(&s);
	start(&one, "65533", "shared");
	start(&two, "65534", "shared");
	assert_int_equal(smi_as(65534, (const char *const[]){ "processes", NULL }), 0);
	assert_string_equal(line_of_number(one.pid), "");
	assert_non_null(strstr(line_of_number(two.pid), " 65534 3 1 2.0 MiB"));
	assert_int_equal(smi_as(65534, (const char *const[]){ "shares", NULL }), 0);
	assert_shown(" %d ", two.pid);
	snprintf(stranger, sizeof(stranger), " %d ", one.pid);
	assert_null(strstr(output, stranger));
	assert_int_equal(SMI("processes"), 0);
	assert_non_null(strstr(line_of_number(one.pid), " 65533 3 1 2.0 MiB"));
	assert_non_null(strstr(line_of_number(two.pid), " 65534 3 1 2.0 MiB"));
	t_kill(&one);
	t_kill(&two);
	server_stop(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_starts_nothing),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(the_output_cannot_be_written),
		cmocka_unit_test_setup_teardown(devices_and_processes, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(shares, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(notifies, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(everything_as_json, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(other_settings_do_not_matter, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(instances, pair_start, pair_stop),
		cmocka_unit_test_setup_teardown(after_the_owner_was_killed, pair_start, pair_stop),
		cmocka_unit_test(names_are_cleaned),
		cmocka_unit_test(users_see_their_own),
	};

	if (argc > 1)
		return peer_main(argv);
	snprintf(instance, sizeof(instance), "smi-test-%d", getpid());
	setenv("VINCI_INSTANCE", instance, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
