/* SPDX-License-Identifier: MIT */
/*
 * futex.h - sleeping on a word, and the clock that its deadlines are on (CLOCK_MONOTONIC, nanoseconds).
 *
 * These are raw system calls: no cancellation points, and errno is kept.
 */
#ifndef VINCI_UTIL_FUTEX_H
#define VINCI_UTIL_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define U_NS_PER_MS UINT64_C(1000000)
#define U_NS_PER_S UINT64_C(1000000000)
#define U_FOREVER UINT64_MAX

static inline uint64_t u_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * U_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* U_FOREVER when the sum does not fit. */
static inline uint64_t u_deadline(uint64_t now, uint64_t ns)
{
	return ns < U_FOREVER - now ? now + ns : U_FOREVER;
}

static inline struct timespec u_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / U_NS_PER_S), .tv_nsec = (long)(ns % U_NS_PER_S) };
}

/*
 * Sleeps while *word is @value, until a wake-up or the absolute @deadline. @shared: the word is in memory that other processes
 * map. False only when the deadline has passed; the caller looks at the word again in any case.
 */
static inline bool u_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t deadline, bool shared)
{
	struct timespec t = u_timespec(deadline);
	int op = FUTEX_WAIT_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG);
	int saved = errno;
	bool in_time = true;

	if (syscall(SYS_futex, word, op, value, deadline == U_FOREVER ? NULL : &t, NULL, FUTEX_BITSET_MATCH_ANY) < 0)
		in_time = errno != ETIMEDOUT;
	errno = saved;
	return in_time;
}

static inline void u_futex_wake(_Atomic uint32_t *word, int count, bool shared)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG), count, NULL, NULL, 0);
	errno = saved;
}

#endif
