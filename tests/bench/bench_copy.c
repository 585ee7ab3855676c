/* SPDX-License-Identifier: MIT */
/*
 * bench_copy.c - copies and sets beside memcpy and memset on the same memory, and what allocating costs. A benchmark,
 * not a test: absolute figures move from run to run, the ratios are what counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"

#define ROUNDS 9
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define FIRST ACL_MEM_MALLOC_HUGE_FIRST

struct work {
	char *dst, *src;
	size_t size;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void check(int r, const char *what)
{
	const char *text;

	if (!r)
		return;
	text = aclGetRecentErrMsg();
	fprintf(stderr, "%s: %d %s\n", what, r, text ? text : "");
	exit(1);
}

static void raw_copy(const struct work *w)
{
	memcpy(w->dst, w->src, w->size);
	__asm__ volatile("" ::: "memory");
}

static void acl_copy(const struct work *w)
{
	check(aclrtMemcpy(w->dst, w->size, w->src, w->size, ACL_MEMCPY_DEFAULT), "aclrtMemcpy");
}

static void raw_set(const struct work *w)
{
	memset(w->dst, 1, w->size);
	__asm__ volatile("" ::: "memory");
}

static void acl_set(const struct work *w)
{
	check(aclrtMemset(w->dst, w->size, 1, w->size), "aclrtMemset");
}

static void acl_malloc(const struct work *w)
{
	void *ptr;

	check(aclrtMalloc(&ptr, w->size, FIRST), "aclrtMalloc");
	check(aclrtFree(ptr), "aclrtFree");
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double once(void (*fn)(const struct work *), const struct work *w, long loops)
{
	double start = now();

	for (long i = 0; i < loops; i++)
		fn(w);
	return (now() - start) / (double)loops;
}

/* Medians of rounds that alternate. */
static void measure(const char *name, void (*raw)(const struct work *), void (*acl)(const struct work *),
		    const struct work *w)
{
	long loops = w->size < MIB ? (long)(16 * MIB / (w->size + 256)) : (long)(256 * MIB / w->size);
	double raws[ROUNDS], acls[ROUNDS];

	loops = loops < 1 ? 1 : loops;
	for (int i = 0; i < ROUNDS; i++) {
		raws[i] = once(raw, w, loops);
		acls[i] = once(acl, w, loops);
	}
	qsort(raws, ROUNDS, sizeof(raws[0]), compare);
	qsort(acls, ROUNDS, sizeof(acls[0]), compare);
	printf("%-4s %10zu B  raw %12.1f ns %7.2f GB/s  vinci %12.1f ns %7.2f GB/s  +%8.1f ns  %.2f of raw\n", name,
	       w->size, raws[ROUNDS / 2], (double)w->size / raws[ROUNDS / 2], acls[ROUNDS / 2],
	       (double)w->size / acls[ROUNDS / 2], acls[ROUNDS / 2] - raws[ROUNDS / 2],
	       raws[ROUNDS / 2] / acls[ROUNDS / 2]);
}

static void measure_malloc(const char *name, size_t size, long loops)
{
	const struct work w = { .size = size };
	double ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		ns[i] = once(acl_malloc, &w, loops);
	qsort(ns, ROUNDS, sizeof(ns[0]), compare);
	printf("malloc+free %10zu B %-34s %10.1f ns\n", size, name, ns[ROUNDS / 2]);
}

static char *device_memory(size_t size)
{
	void *ptr;

	check(aclrtMalloc(&ptr, size, FIRST), "aclrtMalloc");
	check(aclrtMemset(ptr, size, 1, size), "aclrtMemset");
	return ptr;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 64, 4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB };
	size_t max = argc > 1 ? (size_t)strtoull(argv[1], NULL, 0) : 256 * MIB;
	char *host, *a, *b;
	void *small;

	check(aclrtSetDevice(0), "aclrtSetDevice");
	host = malloc(max);
	if (!host)
		return 1;
	memset(host, 2, max);
	a = device_memory(max);
	b = device_memory(max);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= max; i++) {
		measure("H2D", raw_copy, acl_copy, &(struct work){ a, host, sizes[i] });
		measure("D2H", raw_copy, acl_copy, &(struct work){ host, a, sizes[i] });
		measure("D2D", raw_copy, acl_copy, &(struct work){ b, a, sizes[i] });
		measure("set", raw_set, acl_set, &(struct work){ a, NULL, sizes[i] });
	}
	measure_malloc("(alone: a slab comes and goes)", 512, 200);
	check(aclrtMalloc(&small, 512, FIRST), "aclrtMalloc");
	measure_malloc("(beside another)", 512, 20000);
	measure_malloc("(a BO of its own)", 64 * KIB, 200);
	measure_malloc("(a BO of its own, 2M pages)", 2 * MIB, 200);
	check(aclrtFree(small), "aclrtFree");
	check(aclrtFree(a), "aclrtFree");
	check(aclrtFree(b), "aclrtFree");
	free(host);
	return aclrtResetDevice(0);
}
