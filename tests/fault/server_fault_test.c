/* SPDX-License-Identifier: MIT */
/*
 * server_fault_test.c - call N of libc fails inside vincid, for N = 1, 2, ...: its client's calls return with an error
 * of the contract, the next client is served as if nothing had been, and vincid leaves with its last client, in order
 * and with empty hands.
 *
 * vincid's main() runs in a child of this program, on a socket that it inherits as if the library had started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "drv/drv.h"
#include "fault.h"
#include "soft/launch.h"
#include "test_util.h"

#define RUN_MS 20000 /* longer is a hang */
#define MIB (1ull << 20)
#define NPU 1u

int vincid_main(int argc, char **argv); /* drivers/soft/main.c */

static struct drv_settings settings = { .no_start = true };
static char instance[64];

/* What the children tell. */
static struct told {
	atomic_int fds, failures;
	atomic_long blocks;
} * told;

/* ---- the server ------------------------------------------------------------------------------ */

static int listen_at_instance(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "vinci-%u-%s-%d", (unsigned)geteuid(), instance,
			 VINCI_UAPI_MAJOR);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(sock >= 0);
	assert_int_equal(
		bind(sock, (struct sockaddr *)&un, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)), 0);
	assert_int_equal(listen(sock, LAUNCH_BACKLOG), 0);
	return sock;
}

/* Ends with 0: the fault was met; 7: there is no such call; 1: vincid gave up; 3: it leaks. */
static void __attribute__((noreturn)) server_child(const struct fault *wanted, int sock, int report)
{
	struct fault fault = *wanted;
	static char name[] = "vincid", option[] = "--inherited";
	char *argv[] = { name, option, NULL };
	const char *hit;
	int r;

	sock = fcntl(sock, F_DUPFD, 32);
	report = fcntl(report, F_DUPFD, 32);
	if (dup2(sock, LAUNCH_FD_LISTEN) < 0 || dup2(report, LAUNCH_FD_REPORT) < 0)
		_exit(4);
	for (int fd = LAUNCH_FD_REPORT + 1; fd < 64; fd++)
		(void)close(fd);
	(void)signal(SIGSEGV, SIG_DFL);
	fault.only = getpid();
	fault_arm(&fault);
	r = vincid_main(2, argv);
	(void)fault_disarm();
	hit = fault_hit();
	if (!fault.at) {
		atomic_store(&told->fds, (int)t_count_fds());
		atomic_store(&told->blocks, fault_live_blocks());
	} else if (!r &&
		   ((int)t_count_fds() > atomic_load(&told->fds) || fault_live_blocks() > atomic_load(&told->blocks))) {
		(void)fprintf(stderr, "vincid leaks %d descriptors and %ld blocks after a failing %s\n",
			      (int)t_count_fds() - atomic_load(&told->fds),
			      fault_live_blocks() - atomic_load(&told->blocks), hit);
		_exit(3);
	}
	exit(r ? 1 : hit ? 0 : 7); /* and not _exit(): the leak sanitizer looks */
}

/* ---- a client -------------------------------------------------------------------------------- */

static int failures;

static bool done(const char *what, int r)
{
	static const int sane[] = { ENOSPC, ENOMEM, EMFILE, EIO, EFBIG, ENOTCONN };

	if (!r)
		return true;
	failures++;
	for (size_t i = 0; i < sizeof(sane) / sizeof(sane[0]); i++)
		if (r == -sane[i])
			return false;
	(void)fprintf(stderr, "%s: %s\n", what, strerror(-r));
	_exit(5);
}

#define DO(call) done(#call, call)

static void use_memory(struct drv *drv, struct drv *importer)
{
	struct drm_vinci_bo_create bo = { .size = 2 * MIB, .device = NPU, .page_kind = VINCI_PAGE_2M, .numa_node = -1 };
	struct drm_vinci_share_import import;
	struct drv_name name;
	int32_t pid = getppid();
	void *p;

	if (!DO(drv_bo_create(drv, &bo)))
		return;
	if (DO(drv_map(drv, bo.mmap_offset, bo.size, NULL, true, &p))) {
		*(volatile uint32_t *)p = 123;
		(void)drv_unmap(drv, p, bo.size);
	}
	if (DO(drv_share_export(drv, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, bo.size, &name)) &&
	    DO(drv_share_import(importer, &name, NPU, &import))) {
		if (DO(drv_map(importer, import.mmap_offset, import.size, NULL, true, &p)))
			(void)drv_unmap(importer, p, import.size);
		(void)DO(drv_close_handle_async(importer, import.handle));
	}
	if (DO(drv_share_export(drv, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name)))
		(void)DO(drv_share_allow(drv, &name, NULL, &pid, 1));
	(void)DO(drv_close_handle(drv, bo.handle));
}

static void use_notify(struct drv *drv)
{
	uint32_t count = 4, first, handle, holders, lost;
	uint64_t offset;

	if (!DO(drv_notify_ids(drv, NPU, &count, &first)) || !DO(drv_notify_create(drv, NPU, first, &handle, &offset)))
		return;
	(void)DO(drv_notify_status(drv, handle, &holders, &lost));
	(void)DO(drv_close_handle(drv, handle));
}

static void use_lists(struct drv *drv)
{
	struct vinci_list_process rows[64];
	uint32_t count = 64;

	(void)DO(drv_list(drv, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count));
}

static int open_client(struct drv **drv)
{
	char why[256] = "";
	int r = drv_open(&settings, drv, why, sizeof(why));

	/* Without a vincid, or with one that turned us away because it could not know who we are. */
	if (r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EPERM)
		return -ENOTCONN;
	return r;
}

static void use_all(void)
{
	struct drv *drv = NULL, *importer = NULL;

	if (DO(open_client(&drv))) {
		if (DO(open_client(&importer))) {
			use_memory(drv, importer);
			use_notify(drv);
			use_lists(drv);
		}
		drv_close(importer);
	}
	drv_close(drv);
}

/* The first client may meet the fault. The second may not, if the keeper still holds the door. */
static void __attribute__((noreturn)) client_child(bool faultless)
{
	struct drv *keeper = NULL;
	uint64_t value;
	bool kept;

	(void)signal(SIGSEGV, SIG_DFL);
	kept = DO(open_client(&keeper));
	use_all();
	atomic_store(&told->failures, failures);
	if (faultless && failures)
		_exit(6);
	(void)fault_disarm();
	if (kept && !drv_get_param(keeper, VINCI_PARAM_INSTANCE, &value)) {
		failures = 0;
		use_all();
		if (failures)
			_exit(8);
	}
	drv_close(keeper);
	_exit(0);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Starts vincid; false: it could not set itself up, and said so. */
static bool start_server(const struct fault *fault, pid_t *pid)
{
	struct launch_report report = { .stage = -1 };
	int sock = listen_at_instance(), fds[2];
	struct pollfd p;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (!*pid)
		server_child(fault, sock, fds[1]);
	(void)close(sock);
	(void)close(fds[1]);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	assert_int_equal(poll(&p, 1, RUN_MS), 1);
	if (read(fds[0], &report, sizeof(report)) != sizeof(report))
		report.stage = -1; /* the report itself was failed */
	(void)close(fds[0]);
	return report.stage != LAUNCH_SETUP;
}

static int run(const struct fault *fault)
{
	pid_t server, client;
	bool ready;
	int r;

	ready = start_server(fault, &server);
	if (ready) {
		client = fork();
		assert_true(client >= 0);
		if (!client)
			client_child(!fault->at);
		r = t_wait_pid(client, RUN_MS);
		if (r)
			fail_msg("call %d of groups %#x in way %d: the client ended with %d", fault->at, fault->groups,
				 fault->way, r);
	}
	r = t_wait_pid(server, RUN_MS);
	if (r != 0 && r != 7 && !(r == 1 && !ready))
		fail_msg("call %d of groups %#x in way %d (%s): vincid ended with %d", fault->at, fault->groups,
			 fault->way, fault_hit(), r);
	return r;
}

static void sweep(unsigned groups, enum fault_way way, int least)
{
	struct fault fault = { .groups = groups, .way = way };
	int met = 0, failed = 0, misses = 0;

	assert_int_equal(run(&fault), 7);
	for (fault.at = 1; misses < 2; fault.at++) {
		if (run(&fault) == 7) {
			misses++;
			continue;
		}
		met++;
		failed += atomic_load(&told->failures) > 0;
		if (way == FAULT_INTERRUPT && atomic_load(&told->failures))
			fail_msg("call %d: a signal in %s makes a client's calls fail", fault.at, fault_hit());
	}
	print_message("groups %#x, way %d: %d faults met, %d runs failed\n", groups, way, met, failed);
	assert_true(met >= least);
}

static void test_heap(void **state)
{
	(void)state;
	sweep(FAULT_HEAP, FAULT_ONCE, 20);
}

static void test_memory(void **state)
{
	(void)state;
	sweep(FAULT_MAP, FAULT_ONCE, 5);
}

static void test_descriptors(void **state)
{
	(void)state;
	sweep(FAULT_OPEN, FAULT_ONCE, 20);
	sweep(FAULT_OPEN, FAULT_ONCE_OTHER, 20);
}

static void test_messages(void **state)
{
	(void)state;
	sweep(FAULT_MESSAGE, FAULT_ONCE, 20);
	sweep(FAULT_MESSAGE, FAULT_ONCE_OTHER, 20);
}

static void test_closing(void **state)
{
	(void)state;
	sweep(FAULT_CLOSE, FAULT_ONCE, 5);
}

static void test_signals(void **state)
{
	(void)state;
	sweep(FAULT_ALL, FAULT_INTERRUPT, 20);
}

static int group_setup(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)snprintf(instance, sizeof(instance), "test-server-fault-%d", getpid());
	settings.instance = instance;
	return told == MAP_FAILED || !fault_share() ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap),	 cmocka_unit_test(test_memory),	 cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_messages), cmocka_unit_test(test_closing), cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
