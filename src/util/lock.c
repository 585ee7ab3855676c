/* SPDX-License-Identifier: MIT */
/* lock.c - the slow halves of lock.h. */
#include "util/lock.h"

#include <sched.h>

#define LOCK_SPINS 64

#define SPIN_PAUSES 128 /* 2 us */
#define SPIN_YIELDS 12 /* at least */
#define SPIN_YIELD_NS (40 * UINT64_C(1000)) /* of yielding while nobody else needs the core: about what sleeping and waking costs */
#define CROWDED_YIELD_NS 4000 /* a yield that nobody takes up costs 0.3 us */
#define CROWDED_SPINS 64 /* spins for which that is remembered */

void u_lock_slow(struct u_lock *lock)
{
	uint32_t free;

	for (unsigned i = 0; i < LOCK_SPINS && u_cores() > 1; i++) {
		u_relax();
		free = 0;
		if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong_explicit(&lock->word, &free, 1, memory_order_acquire,
							    memory_order_relaxed))
			return;
	}
	while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
		u_futex_wait(&lock->word, 2, U_FOREVER, false);
}

unsigned u_cores(void)
{
	static _Atomic unsigned cores;
	unsigned n = atomic_load_explicit(&cores, memory_order_relaxed);
	cpu_set_t set;

	if (n)
		return n;
	/* More cores than the set can hold, or no permission to ask: certainly not a small machine. */
	n = sched_getaffinity(0, sizeof(set), &set) ? 64 : (unsigned)CPU_COUNT(&set);
	atomic_store_explicit(&cores, n, memory_order_relaxed);
	return n;
}

/* Spins of this thread for which pausing is left out; a hint, kept per thread so that nothing is shared. */
static _Thread_local uint32_t crowded;

/* True: the core is ours for longer. */
static bool spin_yield(struct u_spin *spin)
{
	uint64_t before = u_now_ns(), after;

	sched_yield();
	after = u_now_ns();
	spin->yielded_ns += after - before;
	if (after - before > CROWDED_YIELD_NS) {
		crowded = CROWDED_SPINS;
		return false;
	}
	return spin->yielded_ns < SPIN_YIELD_NS;
}

bool u_spin_once(struct u_spin *spin)
{
	uint32_t turn = spin->turns++;

	if (turn == 0 && (crowded || u_cores() == 1)) {
		crowded -= crowded > 0;
		spin->turns = SPIN_PAUSES;
		turn = SPIN_PAUSES;
	}
	if (turn == 0 || turn == SPIN_PAUSES)
		spin->yielded_ns = 0;
	if (turn < SPIN_PAUSES) {
		u_relax();
		return true;
	}
	return spin_yield(spin) || turn < SPIN_PAUSES + SPIN_YIELDS;
}
