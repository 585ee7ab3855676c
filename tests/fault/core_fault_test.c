/* SPDX-License-Identifier: MIT */
/*
 * core_fault_test.c - call N of libc fails, for N = 1, 2, ... until there are no more, while a program lives its life
 * with the library (scenario.c): each time in a fresh process, where everything happens for the first time, and again
 * and again in one process, where what leaks adds up.
 *
 * The device is vincid, started and kept by a partner process that shares memory and a notify; only this process's
 * calls fail.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault.h"
#include "rts/memory.h"
#include "scenario.h"
#include "test_util.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

#define RUN_MS 60000 /* longer is a hang */
#define MIB ((size_t)1 << 20)
#define HUGE (2 * MIB)

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static struct partner partner;
static struct t_peer partner_process;

/* What a forked child tells, also when it dies. */
static struct told {
	atomic_int n, calls;
	atomic_int failures; /* runs in which a call failed */
	atomic_int fds;
	char hit[32];
} * told;

/* ---- the partner ----------------------------------------------------------------------------- */

static void *share_memory(char key[65])
{
	void *p = NULL;

	if (aclrtMalloc(&p, HUGE, ACL_MEM_MALLOC_HUGE_ONLY) || aclrtIpcMemGetExportKey(p, HUGE, key, 65, 1))
		_exit(3);
	*(uint32_t *)p = SCENARIO_VALUE;
	return p;
}

static uint64_t share_physical(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { SCENARIO_DEVICE, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtDrvMemHandle handle;
	uint64_t number;
	void *va = NULL;

	if (aclrtMallocPhysical(&handle, HUGE, &prop, 0) || aclrtReserveMemAddress(&va, HUGE, 0, NULL, 0) ||
	    aclrtMapMem(va, HUGE, 0, handle, 0) ||
	    aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE,
					    ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &number))
		_exit(4);
	*(uint32_t *)va = SCENARIO_VALUE;
	return number;
}

/* Says what it shares, then the free memory of the device whenever it is asked. */
static int partner_main(void)
{
	char key[65], line[64];
	aclrtNotify notify;
	size_t left, total;

	if (aclInit(NULL) || aclrtSetDevice(SCENARIO_DEVICE))
		return 2;
	share_memory(key);
	t_say("%s", key);
	if (aclrtCreateNotify(&notify, 0) ||
	    aclrtNotifyGetExportKey(notify, key, sizeof(key), ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION))
		return 5;
	t_say("%s", key);
	t_say("%llu", (unsigned long long)share_physical());
	while (t_hear(line, sizeof(line), 600000)) {
		if (aclrtGetMemInfo(ACL_HBM_MEM, &left, &total))
			return 6;
		t_say("%zu", left);
	}
	return 0;
}

static bool free_bytes(size_t *bytes)
{
	char line[64];

	if (!t_write_line(&partner_process, "free") || !t_read_line(&partner_process, line, sizeof(line), RUN_MS))
		return false;
	*bytes = strtoull(line, NULL, 10);
	return true;
}

static size_t free_at_first;

static bool memory_is_back(void *arg)
{
	size_t now = 0;

	(void)arg;
	return free_bytes(&now) && now == free_at_first;
}

/* A crash is to end the child: cmocka would go on with the test in it. */
static pid_t fork_child(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	pid_t pid = fork();

	for (size_t i = 0; !pid && i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)signal(signals[i], SIG_DFL);
	return pid;
}

/* ---- one fault ------------------------------------------------------------------------------- */

static void check_leaks(void)
{
	if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
		scenario_die("memory leaks");
}

static void run_clean(void)
{
	fault_arm(&(struct fault){ 0 }); /* forgets the last one: now every failure is one by itself */
	if (scenario_run(&partner))
		scenario_die("the run after the fault fails");
	scenario_clean();
}

/* True when a call was failed. Ends the process if a rule is broken. */
static bool run_fault(const struct fault *fault)
{
	const char *hit;
	int failures;

	fault_arm(fault);
	failures = scenario_run(&partner);
	atomic_store(&told->calls, fault_disarm());
	hit = fault_hit();
	(void)snprintf(told->hit, sizeof(told->hit), "%s", hit ? hit : "");
	if (failures)
		atomic_fetch_add(&told->failures, 1);
	if (failures && fault->way == FAULT_INTERRUPT)
		scenario_die("a signal makes %d calls fail", failures);
	scenario_clean();
	run_clean();
	return hit;
}

/* ---- in fresh processes ---------------------------------------------------------------------- */

static void __attribute__((noreturn)) fresh_child(const struct fault *fault)
{
	bool hit = run_fault(fault);
	int fds = (int)t_count_fds();

	/* Descriptors: one connection, and one that died and is kept until the next. */
	if (!fault->at)
		atomic_store(&told->fds, fds);
	else if (fds > atomic_load(&told->fds) + 1)
		scenario_die("%d descriptors instead of %d", fds, atomic_load(&told->fds));
	if (fault->way != FAULT_FROM && (!SLOW || fault->at % 4 == 0))
		check_leaks();
	_exit(hit ? 0 : 7);
}

/* 0: the fault was met; 7: there is no such call. */
static int fresh_run(const struct fault *fault)
{
	pid_t pid;
	int r;

	told->hit[0] = '\0';
	pid = fork_child();
	assert_true(pid >= 0);
	if (!pid)
		fresh_child(fault);
	r = t_wait_pid(pid, RUN_MS);
	if (r && r != 7)
		fail_msg("call %d of groups %#x in way %d (%s): ended with %d", fault->at, fault->groups, fault->way,
			 told->hit, r);
	if (!t_until(memory_is_back, NULL, RUN_MS))
		fail_msg("call %d of groups %#x in way %d (%s): device memory is lost", fault->at, fault->groups,
			 fault->way, told->hit);
	return r;
}

static int fresh_sweep(unsigned groups, enum fault_way way, int step)
{
	struct fault fault = { .groups = groups, .way = way };
	int n = 0, met = 0;

	atomic_store(&told->failures, 0);
	assert_int_equal(fresh_run(&fault), 7);
	for (fault.at = 1; fault.at < 10000; fault.at += step) {
		if (!fresh_run(&fault))
			met++;
		else if (++n == 3) /* workers make the number of calls vary */
			break;
	}
	print_message("groups %#x, way %d: %d faults met, %d runs failed\n", groups, way, met,
		      atomic_load(&told->failures));
	return met;
}

#define FRESH(name, groups, way, least)                                                                                \
	static void name(void **state)                                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		assert_true(fresh_sweep(groups, way, SLOW ? 3 : 1) >= least);                                          \
	}

FRESH(test_fresh_heap, FAULT_HEAP, FAULT_ONCE, SLOW ? 5 : 30)
FRESH(test_fresh_map, FAULT_MAP, FAULT_ONCE, SLOW ? 5 : 30)
FRESH(test_fresh_map_other, FAULT_MAP, FAULT_ONCE_OTHER, SLOW ? 5 : 30)
FRESH(test_fresh_thread, FAULT_THREAD, FAULT_ONCE, 1)
FRESH(test_fresh_thread_other, FAULT_THREAD, FAULT_ONCE_OTHER, 1)
FRESH(test_fresh_open, FAULT_OPEN, FAULT_ONCE, SLOW ? 3 : 15)
FRESH(test_fresh_open_other, FAULT_OPEN, FAULT_ONCE_OTHER, SLOW ? 3 : 15)
FRESH(test_fresh_message, FAULT_MESSAGE, FAULT_ONCE, SLOW ? 10 : 60)
FRESH(test_fresh_message_other, FAULT_MESSAGE, FAULT_ONCE_OTHER, SLOW ? 10 : 60)
FRESH(test_fresh_close, FAULT_CLOSE, FAULT_ONCE, SLOW ? 3 : 15)
FRESH(test_fresh_signals, FAULT_ALL, FAULT_INTERRUPT, SLOW ? 20 : 100)
FRESH(test_fresh_no_heap, FAULT_HEAP, FAULT_FROM, SLOW ? 5 : 30)
FRESH(test_fresh_no_map, FAULT_MAP, FAULT_FROM, SLOW ? 5 : 30)
FRESH(test_fresh_no_threads, FAULT_THREAD, FAULT_FROM, 1)
FRESH(test_fresh_no_device, FAULT_OPEN | FAULT_MESSAGE, FAULT_FROM, SLOW ? 10 : 60)

/* ---- again and again in one process ---------------------------------------------------------- */

struct counts {
	long blocks;
	unsigned fds, maps, threads;
	uint64_t epoch;
};

static struct counts count(void)
{
	rts_va_drain();
	return (struct counts){ fault_live_blocks(), t_count_fds(), t_count_maps(), t_count_threads(),
				rts_process_epoch() };
}

/* A connection that was lost keeps its two records: somebody may be looking at them. */
static bool grew(const struct counts *from, const struct counts *to)
{
	return to->blocks > from->blocks + 2 * (long)(to->epoch - from->epoch) || to->fds > from->fds || to->maps > from->maps;
}

/* A sweep that could not see a leak would be worth nothing. */
static void test_leaks_are_seen(void **state)
{
	struct counts before, after;
	void *volatile p; /* or the compiler leaves the allocation out */

	(void)state;
	before = count();
	p = malloc(100);
	after = count();
	assert_true(grew(&before, &after));
	free(p);
	after = count();
	assert_false(grew(&before, &after));
}

/* Workers and caches come at times; what comes with every fault leaks. */
static bool leaks(const struct fault *fault, bool *hit)
{
	struct counts before, after;

	for (int i = 0, tries = 0; i < 4 && tries < 64; tries++) {
		before = count();
		*hit = run_fault(fault);
		after = count();
		if (!grew(&before, &after))
			return false;
		i += after.threads == before.threads; /* else a worker came, with what it needs */
	}
	(void)fprintf(stderr, "%ld blocks, %u descriptors, %u mappings became %ld, %u, %u\n", before.blocks, before.fds,
		      before.maps, after.blocks, after.fds, after.maps);
	return true;
}

static void __attribute__((noreturn)) steady_child(struct fault fault, int step)
{
	int n = 0;
	bool hit;

	for (int i = 0; i < 10; i++)
		run_clean();
	for (fault.at = 1; n < 3; fault.at += step) {
		atomic_store(&told->n, fault.at);
		if (leaks(&fault, &hit))
			scenario_die("call %d: leaks", fault.at);
		n += !hit;
	}
	check_leaks();
	_exit(0);
}

static void steady_sweep(unsigned groups, enum fault_way way, int step)
{
	struct fault fault = { .groups = groups, .way = way };
	pid_t pid;
	int r;

	atomic_store(&told->failures, 0);
	pid = fork_child();
	assert_true(pid >= 0);
	if (!pid)
		steady_child(fault, step);
	r = t_wait_pid(pid, RUN_MS);
	if (r)
		fail_msg("call %d of groups %#x in way %d (%s): ended with %d", atomic_load(&told->n), groups, way,
			 told->hit, r);
	if (!t_until(memory_is_back, NULL, RUN_MS))
		fail_msg("device memory is lost");
	print_message("groups %#x, way %d: %d calls, %d runs failed\n", groups, way, atomic_load(&told->n),
		      atomic_load(&told->failures));
	assert_true(atomic_load(&told->failures) > 0);
}

static void test_steady_heap(void **state)
{
	(void)state;
	steady_sweep(FAULT_HEAP, FAULT_ONCE, SLOW ? 5 : 1);
}

static void test_steady_map(void **state)
{
	(void)state;
	steady_sweep(FAULT_MAP, FAULT_ONCE, SLOW ? 5 : 1);
}

static void test_steady_message(void **state)
{
	(void)state;
	steady_sweep(FAULT_MESSAGE, FAULT_ONCE_OTHER, SLOW ? 5 : 1);
}

static void test_steady_lost(void **state)
{
	(void)state;
	steady_sweep(FAULT_MESSAGE | FAULT_OPEN, FAULT_ONCE, SLOW ? 5 : 1);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int group_setup(void **state)
{
	static const char *const args[] = { "partner", NULL };
	char line[64];

	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED || !t_spawn(&partner_process, args, NULL) ||
	    !t_read_line(&partner_process, partner.memory_key, sizeof(partner.memory_key), RUN_MS) ||
	    !t_read_line(&partner_process, partner.notify_key, sizeof(partner.notify_key), RUN_MS) ||
	    !t_read_line(&partner_process, line, sizeof(line), RUN_MS))
		return -1;
	partner.shareable = strtoull(line, NULL, 10);
	partner.pid = partner_process.pid;
	return free_bytes(&free_at_first) ? 0 : -1;
}

static int group_teardown(void **state)
{
	(void)state;
	return t_wait(&partner_process, RUN_MS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_heap),	    cmocka_unit_test(test_fresh_map),
		cmocka_unit_test(test_fresh_map_other),	    cmocka_unit_test(test_fresh_thread),
		cmocka_unit_test(test_fresh_thread_other),  cmocka_unit_test(test_fresh_open),
		cmocka_unit_test(test_fresh_open_other),    cmocka_unit_test(test_fresh_message),
		cmocka_unit_test(test_fresh_message_other), cmocka_unit_test(test_fresh_close),
		cmocka_unit_test(test_fresh_signals),	    cmocka_unit_test(test_fresh_no_heap),
		cmocka_unit_test(test_fresh_no_map),	    cmocka_unit_test(test_fresh_no_device),
		cmocka_unit_test(test_fresh_no_threads),    cmocka_unit_test(test_leaks_are_seen),
		cmocka_unit_test(test_steady_heap),	    cmocka_unit_test(test_steady_map),
		cmocka_unit_test(test_steady_message),	    cmocka_unit_test(test_steady_lost),
	};

	if (argc == 2 && !strcmp(argv[1], "partner"))
		return partner_main();
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
