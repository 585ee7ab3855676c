/* SPDX-License-Identifier: MIT */
/* bench.h - what the benchmarks have in common. */
#ifndef VINCI_BENCH_H
#define VINCI_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

#define ROUNDS_MAX 101

#define CHECK(call)                                                                                              \
	do {                                                                                                     \
		int code_ = (int)(call);                                                                         \
		if (code_) {                                                                                     \
			fprintf(stderr, "%s: %d %s\n", #call, code_, aclGetRecentErrMsg());                      \
			exit(1);                                                                                 \
		}                                                                                                \
	} while (0)

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static inline int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

static inline double median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

static inline void row(const char *name, const char *unit, double scale, double *ours, double *bare, uint32_t n)
{
	double v = median(ours, n) / scale, b = median(bare, n) / scale;

	printf("%-40s %8.3f %-4s  bare %8.3f %-4s  ratio %.2f\n", name, v, unit, b, unit, v / b);
	fflush(stdout);
}

#endif
