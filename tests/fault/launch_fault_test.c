/* SPDX-License-Identifier: MIT */
/*
 * launch_fault_test.c - call N of libc fails while the library starts vincid, for N = 1, 2, ...: in the program that
 * starts it, and in the child that is to become vincid. Whoever cannot start it says why at once; the next try works;
 * the program keeps nothing of it, neither a descriptor nor a child.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "drv/drv.h"
#include "fault.h"
#include "test_util.h"

#define RUN_MS 20000 /* longer is a hang */
#define ALL (FAULT_ALL & ~FAULT_HEAP)

static struct drv_settings settings = { .server = SERVER_PATH };
static char instance[64];

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	const char *hit = fault_hit();
	va_list ap;

	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, " (failed: %s)\n", hit ? hit : "nothing");
	_exit(1);
}

static bool is_served(void *arg)
{
	struct drv_settings look = settings;
	struct drv *drv = NULL;
	char why[512] = "";

	(void)arg;
	look.no_start = true;
	if (drv_open(&look, &drv, why, sizeof(why)))
		return false;
	drv_close(drv);
	return true;
}

static bool is_free(void *arg)
{
	return !is_served(arg);
}

static void open_and_close(bool may_fail, bool *failed)
{
	struct drv *drv = NULL;
	char why[512] = "";
	uint64_t value;
	int r = drv_open(&settings, &drv, why, sizeof(why));

	*failed = r;
	if (r && !may_fail)
		die("opening fails: %s (%s)", strerror(-r), why);
	if (r && !why[0])
		die("opening fails without a sentence: %s", strerror(-r));
	if (r)
		return;
	r = drv_get_param(drv, VINCI_PARAM_INSTANCE, &value);
	if (r && !may_fail)
		die("the device does not answer: %s", strerror(-r));
	drv_close(drv);
}

/* Ends with 0: the fault was met; 7: there is no such call. */
static void __attribute__((noreturn)) run_child(const struct fault *wanted, bool in_child)
{
	struct fault fault = *wanted;
	unsigned fds = t_count_fds();
	bool failed, hit;

	(void)signal(SIGSEGV, SIG_DFL);
	if (in_child)
		fault.except = getpid();
	else
		fault.only = getpid();
	fault_arm(&fault);
	open_and_close(fault.at, &failed);
	(void)fault_disarm();
	hit = fault_hit();
	if (failed && !hit)
		die("opening fails by itself");
	if (failed && fault.way == FAULT_INTERRUPT)
		die("a signal makes opening fail");
	if (t_count_fds() != fds)
		die("%u descriptors became %u", fds, t_count_fds());
	open_and_close(false, &failed);
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		die("a child is left to wait for");
	_exit(hit ? 0 : 7);
}

static int run(const struct fault *fault, bool in_child)
{
	pid_t pid = fork();
	int r;

	assert_true(pid >= 0);
	if (!pid)
		run_child(fault, in_child);
	r = t_wait_pid(pid, RUN_MS);
	if (r && r != 7)
		fail_msg("call %d of groups %#x in way %d: ended with %d", fault->at, fault->groups, fault->way, r);
	/* The next one starts its own. */
	if (!t_until(is_free, NULL, RUN_MS))
		fail_msg("call %d of groups %#x in way %d: vincid stays", fault->at, fault->groups, fault->way);
	return r;
}

static void sweep(unsigned groups, enum fault_way way, bool in_child, int least)
{
	struct fault fault = { .groups = groups, .way = way };
	int met = 0, misses = 0;

	for (fault.at = 1; misses < 2; fault.at++) {
		if (run(&fault, in_child))
			misses++;
		else
			met++;
	}
	print_message("groups %#x, way %d: %d faults met\n", groups, way, met);
	assert_true(met >= least);
}

static void test_in_the_program(void **state)
{
	(void)state;
	sweep(FAULT_HEAP, FAULT_ONCE, false, 2);
	sweep(ALL, FAULT_ONCE, false, 10);
	sweep(ALL, FAULT_ONCE_OTHER, false, 10);
	sweep(ALL, FAULT_INTERRUPT, false, 5);
}

static void test_in_the_child(void **state)
{
	(void)state;
	sweep(ALL, FAULT_ONCE, true, 8);
	sweep(ALL, FAULT_ONCE_OTHER, true, 8);
}

static int group_setup(void **state)
{
	(void)state;
	(void)snprintf(instance, sizeof(instance), "test-start-vincid-%d", getpid());
	settings.instance = instance;
	return fault_share() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_the_program),
		cmocka_unit_test(test_in_the_child),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
