/* SPDX-License-Identifier: MIT */
#include "util/mutex.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void u_mutex_init(struct u_mutex *mutex, uint32_t rank, const char *name)
{
	pthread_mutex_init(&mutex->m, NULL);
	mutex->rank = rank;
	mutex->name = name;
}

void u_mutex_destroy(struct u_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->m);
}

void u_mutex_after_fork(struct u_mutex *mutex)
{
	pthread_mutex_init(&mutex->m, NULL);
}

/* The checks are always compiled, so that a program with its own NDEBUG links with any build of this file. */
#ifdef NDEBUG
void u_rank_push_checked(const struct u_mutex *mutex);
void u_rank_pop_checked(const struct u_mutex *mutex);
#else
#define u_rank_push_checked u_rank_push
#define u_rank_pop_checked u_rank_pop
#endif

#define U_RANKS_MAX 16 /* mutexes one thread holds at once */

static _Thread_local const struct u_mutex *held[U_RANKS_MAX];
static _Thread_local unsigned held_count;

static void __attribute__((noreturn)) rank_abort(const struct u_mutex *held_one, const struct u_mutex *wanted)
{
	fprintf(stderr, "vinci: lock order: %s (rank %u) wanted while %s (rank %u) is held\n", wanted->name,
		wanted->rank, held_one->name, held_one->rank);
	abort();
}

void u_rank_push_checked(const struct u_mutex *mutex)
{
	if (held_count && held[held_count - 1]->rank >= mutex->rank)
		rank_abort(held[held_count - 1], mutex);
	if (held_count == U_RANKS_MAX)
		rank_abort(held[held_count - 1], mutex);
	held[held_count++] = mutex;
}

/* Mutexes may be released in any order. */
void u_rank_pop_checked(const struct u_mutex *mutex)
{
	unsigned i = held_count;

	while (i && held[i - 1] != mutex)
		i--;
	if (!i)
		rank_abort(mutex, mutex);
	for (; i < held_count; i++)
		held[i - 1] = held[i];
	held_count--;
}
