/* SPDX-License-Identifier: MIT */
/*
 * task.c - the queue of a stream: a list of chunks of task slots. It has no fixed length, so a producer never waits for room
 * (and cannot deadlock with a consumer that waits for it).
 *
 * Chunks come from a cache of the process. A stream that has been used keeps one or two.
 */
#include "rts/exec.h"

#include <stdlib.h>

_Static_assert(sizeof(struct task_slot) == 128, "a slot is two cache lines");
_Static_assert(sizeof(struct task_chunk) == CHUNK_BYTES, "a chunk is a block of the cache");

#define CACHE_BLOCKS 4096 /* 16 MiB: a burst of 10^5 launches does not fault its pages in again */

#define AHEAD 4u /* slots */

struct block {
	struct block *next;
};

static struct {
	struct u_lock lock;
	struct block *free;
	uint32_t count;
} cache;

void *task_block_get(void)
{
	struct block *b;

	u_lock_take(&cache.lock);
	b = cache.free;
	if (b) {
		cache.free = b->next;
		cache.count--;
	}
	u_lock_give(&cache.lock);
	return b ? (void *)b : aligned_alloc(sizeof(struct task_slot), CHUNK_BYTES);
}

void task_block_put(void *block)
{
	struct block *b = block;

	u_lock_take(&cache.lock);
	if (cache.count < CACHE_BLOCKS) {
		b->next = cache.free;
		cache.free = b;
		cache.count++;
		b = NULL;
	}
	u_lock_give(&cache.lock);
	free(b);
}

/*
 * A slot was last read by another core as a rule. Publishing is a full barrier, so without this each launch would wait for its
 * slot to come over; half of its time went there.
 */
static inline void fetch_for_writing(struct task_slot *slot)
{
#if defined(__x86_64__)
	__asm__ __volatile__("prefetchw %0" : "+m"(*(char *)slot));
#else
	__builtin_prefetch(slot, 1);
#endif
}

static struct task_chunk *chunk_get(struct rts_stream *st)
{
	struct task_chunk *c = NULL;

	if (atomic_load_explicit(&st->spare, memory_order_relaxed))
		c = atomic_exchange_explicit(&st->spare, NULL, memory_order_acquire);
	if (!c)
		c = task_block_get();
	if (c)
		c->next = NULL;
	return c;
}

static void chunk_put(struct rts_stream *st, struct task_chunk *c)
{
	c = atomic_exchange_explicit(&st->spare, c, memory_order_acq_rel);
	if (c)
		task_block_put(c);
}

/* The first chunk ever becomes the owner's too; no owner looks before submitted is 1. */
static bool queue_grow(struct rts_stream *st)
{
	struct task_chunk *c = chunk_get(st);

	if (!c)
		return false;
	if (st->tail.chunk)
		st->tail.chunk->next = c;
	else
		st->head.chunk = c;
	st->tail.chunk = c;
	st->tail.index = 0;
	for (unsigned i = 0; i < AHEAD; i++)
		fetch_for_writing(&c->slots[i]);
	return true;
}

struct task_slot *queue_slot(struct rts_stream *st)
{
	struct task_slot *slot;

	if ((!st->tail.chunk || st->tail.index == CHUNK_SLOTS) && !queue_grow(st))
		return NULL;
	slot = &st->tail.chunk->slots[st->tail.index];
	if (st->tail.index + AHEAD < CHUNK_SLOTS)
		fetch_for_writing(slot + AHEAD);
	return slot;
}

void queue_publish(struct rts_stream *st)
{
	uint64_t n = atomic_load_explicit(&st->submitted, memory_order_relaxed);

	st->tail.index++;
	atomic_store(&st->submitted, n + 1);
}

struct task_slot *queue_first(struct rts_stream *st)
{
	struct task_chunk *c = st->head.chunk;

	if (st->head.index == CHUNK_SLOTS) {
		st->head.chunk = c->next;
		st->head.index = 0;
		chunk_put(st, c);
		c = st->head.chunk;
	}
	return &c->slots[st->head.index];
}

void queue_advance(struct rts_stream *st)
{
	st->head.index++;
}

/* All tasks have been taken out: one chunk at most is left, and the spare one. */
void queue_destroy(struct rts_stream *st)
{
	struct task_chunk *c = atomic_exchange_explicit(&st->spare, NULL, memory_order_acquire);

	if (c)
		task_block_put(c);
	for (c = st->head.chunk; c; c = st->head.chunk) {
		st->head.chunk = c->next;
		task_block_put(c);
	}
}
