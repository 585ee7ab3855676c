/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a lock of four bytes for critical sections of some nanoseconds, and the pieces of busy waiting.
 *
 * Taking and giving it are one atomic exchange each. A thread that does not get it spins briefly and then sleeps, so that a
 * preempted holder costs nobody a time slice. It ranks below every u_mutex: nothing else is taken while it is held.
 */
#ifndef VINCI_UTIL_LOCK_H
#define VINCI_UTIL_LOCK_H

#include "util/futex.h"

/* Tells the core that this is a busy-wait; 17 ns on the x86-64 servers this was tuned on. */
static inline void u_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

/* 0: free, 1: held, 2: held and somebody may sleep on it */
struct u_lock {
	_Atomic uint32_t word;
};

void u_lock_slow(struct u_lock *lock);

static inline void u_lock_take(struct u_lock *lock)
{
	uint32_t free = 0;

	if (!atomic_compare_exchange_strong_explicit(&lock->word, &free, 1, memory_order_acquire, memory_order_relaxed))
		u_lock_slow(lock);
}

static inline void u_lock_give(struct u_lock *lock)
{
	if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
		u_futex_wake(&lock->word, 1, false);
}

/*
 * A busy wait that gives up in time. u_spin_once() pauses and returns true until the budget is used up: about 2 us of pauses, then
 * some turns of sched_yield(), which hand the core to whoever needs it: for as long as going to sleep and being woken would cost if
 * nobody does. (Giving up sooner, two threads that answer each other at once would both be asleep from the first delay on.)
 * When a yield takes long, others do need it: there are few more turns, and the next spins of this thread begin with yielding. On a
 * single core they always do.
 */
struct u_spin {
	uint32_t turns; /* set it to 0 to begin anew */
	uint64_t yielded_ns;
};

bool u_spin_once(struct u_spin *spin);

/* Cores that this process may run on, counted at the first call. */
unsigned u_cores(void);

#endif
