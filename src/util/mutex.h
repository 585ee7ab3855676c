/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - a mutex with a rank. A thread takes mutexes in rising rank only; builds without NDEBUG abort with both
 * names when one does not, so that a deadlock shows in the first test that could meet it and not in the one that does.
 *
 * The ranks are in rts/lock_order.h. struct u_mutex says with a comment what it protects, where it is defined.
 */
#ifndef VINCI_UTIL_MUTEX_H
#define VINCI_UTIL_MUTEX_H

#include "util/cancel.h"

#include <pthread.h>
#include <stdint.h>

/* For util's own leaf locks: above every rank of the layers that use it. */
#define U_RANK_LAST 1000

struct u_mutex {
	pthread_mutex_t m;
	uint32_t rank;
	const char *name;
};

#define U_MUTEX_INIT(rank_, name_)                                                                                     \
	{                                                                                                              \
		.m = PTHREAD_MUTEX_INITIALIZER, .rank = (rank_), .name = (name_)                                       \
	}

void u_mutex_init(struct u_mutex *mutex, uint32_t rank, const char *name);
void u_mutex_destroy(struct u_mutex *mutex);

/* In a forked child, before anything else: another thread of the parent may have held it for ever. */
void u_mutex_after_fork(struct u_mutex *mutex);

#ifdef NDEBUG
static inline void u_rank_push(const struct u_mutex *mutex)
{
	(void)mutex;
}

static inline void u_rank_pop(const struct u_mutex *mutex)
{
	(void)mutex;
}
#else
void u_rank_push(const struct u_mutex *mutex);
void u_rank_pop(const struct u_mutex *mutex);
#endif

static inline void u_mutex_lock(struct u_mutex *mutex)
{
	u_rank_push(mutex);
	pthread_mutex_lock(&mutex->m);
}

static inline void u_mutex_unlock(struct u_mutex *mutex)
{
	pthread_mutex_unlock(&mutex->m);
	u_rank_pop(mutex);
}

/* The condition is one that pthread_cond_signal() or _broadcast() wakes; @mutex is held before and after. */
static inline void u_mutex_wait(struct u_mutex *mutex, pthread_cond_t *cond)
{
	int cancel = u_cancel_off();

	u_rank_pop(mutex);
	pthread_cond_wait(cond, &mutex->m);
	u_rank_push(mutex);
	u_cancel_restore(cancel);
}

#endif
