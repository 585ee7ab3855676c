/* SPDX-License-Identifier: MIT */
/*
 * defer.c - work that has to wait until the tasks submitted so far have ended: unmapping what they may still touch.
 *
 * A barrier counts the streams that had tasks pending when it was made. Each of those carries a mark with the number of its last
 * task; whoever completes that task takes the mark, and who takes the last one does the work.
 */
#include "rts/exec.h"

#include <stdlib.h>

struct exec_barrier {
	_Atomic uint32_t left; /* marks, and one of the maker's */
	uint32_t used;
	void (*fn)(void *arg);
	void *arg;
	struct exec_mark marks[];
};

static void barrier_drop(struct exec_barrier *b)
{
	if (atomic_fetch_sub(&b->left, 1) != 1)
		return;
	b->fn(b->arg);
	free(b);
}

void exec_mark_reached(struct exec_mark *mark)
{
	barrier_drop(mark->barrier);
}

/* Under the registry's lock. A stream that nobody refers to any more has no tasks. */
static void mark_pending(struct exec_barrier *b, struct rts_stream *st)
{
	struct exec_mark *mark;

	if (!stream_pending(st) || !stream_ref(st))
		return;
	mark = &b->marks[b->used++];
	*mark = (struct exec_mark){ .barrier = b, .stream = st };
	atomic_fetch_add(&b->left, 1);
	u_mutex_lock(&st->marks_lock);
	mark->target = atomic_load(&st->submitted);
	*st->marks_end = mark;
	st->marks_end = &mark->next;
	u_mutex_unlock(&st->marks_lock);
}

/* Tells the streams. Without the registry's lock: what other barriers do must not run under it. */
static void marks_arm(struct exec_barrier *b)
{
	for (uint32_t i = 0; i < b->used; i++) {
		struct rts_stream *st = b->marks[i].stream;
		uint64_t target = b->marks[i].target;

		stream_attend_at(st, target);
		if (atomic_load(&st->completed) >= target)
			stream_attend(st);
		rts_stream_put(&st);
	}
}

/* *@made NULL: nothing was pending. False: out of memory. */
static bool barrier_make(struct exec_barrier **made, void (*fn)(void *arg), void *arg)
{
	struct exec_barrier *b = NULL;
	struct rts_stream *st;
	bool pending = false;

	streams_lock();
	for (st = streams_first(); st && !pending; st = st->next_all)
		pending = stream_pending(st);
	/* Room for all: streams become busy while we look, and none that was busy before may be left out. */
	if (pending)
		b = malloc(sizeof(*b) + streams_count() * sizeof(b->marks[0]));
	if (b) {
		*b = (struct exec_barrier){ .left = 1, .fn = fn, .arg = arg };
		for (st = streams_first(); st; st = st->next_all)
			mark_pending(b, st);
	}
	streams_unlock();
	*made = b;
	return b || !pending;
}

void rts_exec_defer(void (*fn)(void *arg), void *arg)
{
	struct exec_barrier *b;

	if (!barrier_make(&b, fn, arg)) {
		/*
		 * No memory for the barrier. Waiting here could wait for the caller's own stream, so what should be undone
		 * stays: a mapping too many is harmless, one too few is not.
		 */
		u_log(U_WARN, "out of memory: deferred work is left undone");
		return;
	}
	if (!b) {
		fn(arg);
		return;
	}
	marks_arm(b);
	barrier_drop(b);
}

/* --- waiting for all -------------------------------------------------------------------------- */

struct quiesce {
	_Atomic uint32_t done; /* futex */
	_Atomic uint32_t refs; /* the waiter's and the barrier's */
};

static void quiesce_put(struct quiesce *q)
{
	if (atomic_fetch_sub(&q->refs, 1) == 1)
		free(q);
}

static void quiesce_done(void *arg)
{
	struct quiesce *q = arg;

	atomic_store(&q->done, 1);
	u_futex_wake(&q->done, 1, false);
	quiesce_put(q);
}

int rts_exec_quiesce(int32_t timeout_ms)
{
	uint64_t deadline = timeout_ms < 0 ? U_FOREVER : u_deadline(u_now_ns(), (uint64_t)timeout_ms * U_NS_PER_MS);
	struct exec_barrier *b;
	struct quiesce *q;
	bool in_time = true;
	int r = 0;

	q = malloc(sizeof(*q));
	if (!q)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	*q = (struct quiesce){ .refs = 2 };
	if (!barrier_make(&b, quiesce_done, q)) {
		free(q);
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	}
	if (!b) {
		free(q);
		return 0;
	}
	marks_arm(b);
	barrier_drop(b);
	pool_worker_blocks();
	while (!atomic_load(&q->done) && in_time)
		in_time = u_futex_wait(&q->done, 0, deadline, false);
	pool_worker_continues();
	if (!atomic_load(&q->done))
		r = u_report(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
			     "tasks submitted before are still running after %d ms", timeout_ms);
	quiesce_put(q);
	return r;
}
