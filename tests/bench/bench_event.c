/* SPDX-License-Identifier: MIT */
/*
 * bench_event - events: a record on one stream and a wait for it on another, again and again, beside what two threads reach that
 * hand a word to each other in the same run.
 *
 *   L4a  links between streams that stand at a gate, from its opening to the end of the last       bare: a word handed over
 *   L4b  the same with a kernel between the links
 *   L4c  links submitted to idle streams, submission included
 *   O5   create and destroy
 *
 * usage: bench_event [rounds]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"
#include "vinci/kernel.h"

#define ROUNDS_MAX 101
#define LINKS 20000
#define EVENTS 1000

#define CHECK(call)                                                                                              \
	do {                                                                                                     \
		int code_ = (int)(call);                                                                         \
		if (code_) {                                                                                     \
			fprintf(stderr, "%s: %d %s\n", #call, code_, aclGetRecentErrMsg());                      \
			exit(1);                                                                                 \
		}                                                                                                \
	} while (0)

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- the bare loop ------------------------------------------------------------------------- */

static struct {
	_Alignas(64) _Atomic uint32_t word;
} ball;

static void *ball_main(void *arg)
{
	for (uint32_t i = 1; i < 2 * LINKS; i += 2) {
		while (atomic_load_explicit(&ball.word, memory_order_acquire) != i)
			;
		atomic_store_explicit(&ball.word, i + 1, memory_order_release);
	}
	return arg;
}

/* A hand-over is one link. */
static double bare_link(void)
{
	pthread_t thread;
	double start;

	atomic_store(&ball.word, 0);
	if (pthread_create(&thread, NULL, ball_main, NULL))
		exit(1);
	start = now_ns();
	for (uint32_t i = 0; i < 2 * LINKS; i += 2) {
		while (atomic_load_explicit(&ball.word, memory_order_acquire) != i)
			;
		atomic_store_explicit(&ball.word, i + 1, memory_order_release);
	}
	pthread_join(thread, NULL);
	return (now_ns() - start) / (2 * LINKS);
}

/* --- events -------------------------------------------------------------------------------- */

static atomic_uint gate;

static void gate_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	while (!atomic_load(&gate))
		;
}

static void empty_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
}

static const struct vinci_kernel gate_desc = { .abi = VINCI_KERNEL_ABI, .name = "gate", .run = gate_kernel };
static const struct vinci_kernel empty_desc = { .abi = VINCI_KERNEL_ABI, .name = "empty", .run = empty_kernel };

static aclrtStream streams[2];
static aclrtEvent events[2];

static void submit_links(int kernels)
{
	for (unsigned i = 0; i < LINKS; i++) {
		if (kernels)
			CHECK(vinciLaunchKernel(&empty_desc, 1, streams[i % 2], NULL, 0));
		CHECK(aclrtRecordEvent(events[i % 2], streams[i % 2]));
		CHECK(aclrtStreamWaitEvent(streams[(i + 1) % 2], events[i % 2]));
	}
}

static double gated_link(int kernels)
{
	double start;

	atomic_store(&gate, 0);
	CHECK(vinciLaunchKernel(&gate_desc, 1, streams[0], NULL, 0));
	submit_links(kernels);
	start = now_ns();
	atomic_store(&gate, 1);
	CHECK(aclrtSynchronizeStream(streams[0]));
	CHECK(aclrtSynchronizeStream(streams[1]));
	return (now_ns() - start) / LINKS;
}

static double link_from_the_start(int kernels)
{
	double start = now_ns();

	submit_links(kernels);
	CHECK(aclrtSynchronizeStream(streams[0]));
	CHECK(aclrtSynchronizeStream(streams[1]));
	return (now_ns() - start) / LINKS;
}

static double create_destroy(int flag)
{
	double start = now_ns();

	for (int i = 0; i < EVENTS; i++) {
		aclrtEvent event;

		CHECK(flag ? aclrtCreateEventExWithFlag(&event, (uint32_t)flag) : aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
		CHECK(aclrtDestroyEvent(event));
	}
	return (now_ns() - start) / EVENTS;
}

static double bare(int unused)
{
	(void)unused;
	return bare_link();
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void row(const char *name, double (*measure)(int), int arg, int rounds)
{
	double ns[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		ns[i] = measure(arg);
	qsort(ns, (size_t)rounds, sizeof(ns[0]), compare);
	printf("%-48s %8.3f us (best %.3f, worst %.3f)\n", name, ns[rounds / 2] / 1e3, ns[0] / 1e3, ns[rounds - 1] / 1e3);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 11;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	for (int i = 0; i < 2; i++) {
		CHECK(aclrtCreateStream(&streams[i]));
		CHECK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
	}
	row("bare: a word handed over", bare, 0, rounds);
	row("L4a link, gated", gated_link, 0, rounds);
	row("L4b link, gated, a kernel between", gated_link, 1, rounds);
	row("L4c link, from submission", link_from_the_start, 0, rounds);
	row("L4d link with a kernel, from submission", link_from_the_start, 1, rounds);
	row("O5 create + destroy, old", create_destroy, 0, rounds);
	row("O5 create + destroy, Ex", create_destroy, ACL_EVENT_SYNC, rounds);
	CHECK(aclrtResetDevice(0));
	return aclFinalize();
}
