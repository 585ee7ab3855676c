/* SPDX-License-Identifier: MIT */
/* run.c - who runs a stream's tasks, and how threads wait for them. The protocols are explained in exec.h. */
#include "rts/exec.h"
#include "rts/fault.h"
#include "rts/pool.h"
#include "util/cancel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SLICE_TASKS 64 /* a worker looks for other ready streams this often */

/* The streams whose tasks this thread is inside of, innermost first: a callback may wait for another stream and run its tasks. */
struct exec_frame {
	const struct rts_stream *stream;
	const struct exec_frame *outer;
};

static _Thread_local const struct exec_frame *frames;

const struct exec_frame *stream_frames(void)
{
	return frames;
}

void stream_frames_set(const struct exec_frame *of)
{
	frames = of;
}

bool rts_stream_running_here(const struct rts_stream *st)
{
	for (const struct exec_frame *f = frames; f; f = f->outer)
		if (f->stream == st)
			return true;
	return false;
}

/* --- owning ----------------------------------------------------------------------------------- */

static bool owner_change(struct rts_stream *st, unsigned from, unsigned to)
{
	return atomic_compare_exchange_strong(&st->owner, &from, to);
}

bool stream_try_own(struct rts_stream *st, bool worker)
{
	if (!owner_change(st, OWNER_FREE, OWNER_OWNED))
		return false;
	st->on_worker = worker;
	return true;
}

void stream_release(struct rts_stream *st)
{
	atomic_store(&st->owner, OWNER_FREE);
	if (stream_pending(st))
		pool_add(st, true);
}

/* The first task returned RTS_TASK_BLOCKED. False: it has been resumed since and is to run again. */
static bool stream_block(struct rts_stream *st)
{
	if (owner_change(st, OWNER_OWNED, OWNER_BLOCKED))
		return true;
	atomic_store(&st->owner, OWNER_OWNED);
	return false;
}

void rts_stream_resume(struct rts_stream *st)
{
	for (;;) {
		if (owner_change(st, OWNER_BLOCKED, OWNER_FREE)) {
			if (atomic_load(&st->runners))
				stream_wake(st);
			else
				pool_add(st, true);
			return;
		}
		if (owner_change(st, OWNER_OWNED, OWNER_RESUMED))
			return;
		/* Moving on from BLOCKED to OWNED or back between the two: look again. Otherwise nothing is blocked. */
		unsigned o = atomic_load(&st->owner);

		if (o == OWNER_FREE || o == OWNER_RESUMED)
			return;
	}
}

/* --- errors ----------------------------------------------------------------------------------- */

void rts_stream_explain(struct rts_stream *st, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	u_mutex_lock(&st->marks_lock);
	if (!st->why[0])
		vsnprintf(st->why, sizeof(st->why), fmt, args);
	u_mutex_unlock(&st->marks_lock);
	va_end(args);
}

/* One step with stream_take_error(): a stream that has stopped has an error to answer with. */
static void stream_fail(struct rts_stream *st, const struct rts_task_type *type, int code)
{
	bool stops = atomic_load(&st->state) & (STREAM_STOPS | STREAM_CONTEXT_STOPS);
	int none = 0;

	u_mutex_lock(&st->marks_lock);
	if (!st->why[0])
		snprintf(st->why, sizeof(st->why), "a %s task of stream %d failed", type->name, st->id);
	atomic_compare_exchange_strong(&st->error, &none, code);
	if (stops)
		atomic_fetch_or(&st->state, STREAM_STOPPED);
	u_mutex_unlock(&st->marks_lock);
	if (stops)
		stream_context_failed(st, code);
}

/* --- running ---------------------------------------------------------------------------------- */

struct memory_call {
	struct task_slot *slot;
	struct rts_stream *stream;
	int code;
};

static void memory_call(void *arg)
{
	struct memory_call *call = arg;

	call->code = call->slot->type->run(call->slot->payload, call->stream);
}

int task_run_memory(struct task_slot *slot, struct rts_stream *st, const char *when)
{
	struct memory_call call = { .slot = slot, .stream = st };
	struct fault fault;

	if (fault_guard(memory_call, &call, &fault))
		return call.code;
	rts_stream_explain(st, "address %p was memory when the task was %s, and is so no more", fault.address, when);
	return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
}

static atomic_bool memory_goes;

void tasks_guard_memory(void)
{
	fault_start();
	atomic_store(&memory_goes, true);
}

static int slot_run(struct task_slot *slot, struct rts_stream *st)
{
	if (slot->type->memory && atomic_load_explicit(&memory_goes, memory_order_relaxed))
		return task_run_memory(slot, st, "queued");
	return slot->type->run(slot->payload, st);
}

/* False: it is blocked, and the stream is no longer ours. */
static bool task_run(struct rts_stream *st, struct task_slot *slot)
{
	const struct rts_task_type *type = slot->type;
	int r = 0;

	while (!(atomic_load_explicit(&st->state, memory_order_relaxed) & (STREAM_DROP | STREAM_STOPPED))) {
		r = stream_task_stopped(st) && !type->ends_itself ? stream_wait_ended(st, NULL) : slot_run(slot, st);
		if (r != RTS_TASK_BLOCKED)
			break;
		if (stream_block(st))
			return false;
		r = 0;
	}
	if (r)
		stream_fail(st, type, r);
	if (type->drop)
		type->drop(slot->payload);
	return true;
}

static bool task_not_for_runner(struct rts_stream *st, const struct task_slot *slot, uint64_t done)
{
	if (!slot->type->worker_only || st->on_worker || (atomic_load(&st->state) & STREAM_DROP))
		return false;
	atomic_store(&st->worker_only_at, done);
	return true;
}

static enum run_result stream_run_tasks(struct rts_stream *st, uint64_t limit)
{
	uint64_t done = atomic_load_explicit(&st->completed, memory_order_relaxed);
	uint64_t known = done; /* submitted, as read last: producers write its line all the time */
	uint32_t slice = 0;

	while (done < limit) {
		struct task_slot *slot;

		if (done == known) {
			known = atomic_load_explicit(&st->submitted, memory_order_acquire);
			if (done == known)
				return RUN_DRAINED;
		}
		slot = queue_first(st);
		if (task_not_for_runner(st, slot, done))
			return RUN_WORKER_ONLY;
		if (!task_run(st, slot))
			return RUN_BLOCKED;
		queue_advance(st);
		atomic_store(&st->completed, ++done);
		if (done >= atomic_load(&st->attend_at))
			stream_attend(st);
		if (st->on_worker && ++slice % SLICE_TASKS == 0 && pool_has_ready())
			return RUN_SLICE;
	}
	return RUN_DRAINED;
}

enum run_result stream_run(struct rts_stream *st, uint64_t limit)
{
	struct exec_frame frame = { .stream = st, .outer = frames };
	int cancel = u_cancel_off(); /* of an application's thread that waits: a task is not its own */
	enum run_result r;

	frames = &frame;
	r = stream_run_tasks(st, limit);
	frames = frame.outer;
	u_cancel_restore(cancel);
	return r;
}

void stream_call(struct rts_stream *st, void (*fn)(void *arg), void *arg)
{
	struct exec_frame frame = { .stream = st, .outer = frames };

	frames = &frame;
	fn(arg);
	frames = frame.outer;
}

/* --- telling waiters -------------------------------------------------------------------------- */

void stream_wake(struct rts_stream *st)
{
	atomic_fetch_add(&st->wake, 1);
	if (atomic_load(&st->parked))
		u_futex_wake(&st->wake, INT_MAX, false);
}

void stream_attend_at(struct rts_stream *st, uint64_t target)
{
	uint64_t at = atomic_load(&st->attend_at);

	/* Written even if nothing changes: the store is this side's half of the protocol. */
	while (!atomic_compare_exchange_weak(&st->attend_at, &at, target < at ? target : at))
		;
}

/* Takes out the marks that completed has reached; *next is the target of the first that is left. */
static struct exec_mark *marks_reached(struct rts_stream *st, uint64_t *next)
{
	struct exec_mark *reached, **end;
	uint64_t done;

	u_mutex_lock(&st->marks_lock);
	done = atomic_load(&st->completed);
	reached = st->marks;
	for (end = &reached; *end && (*end)->target <= done; end = &(*end)->next)
		;
	st->marks = *end;
	*end = NULL;
	if (!st->marks)
		st->marks_end = &st->marks;
	*next = st->marks ? st->marks->target : UINT64_MAX;
	u_mutex_unlock(&st->marks_lock);
	return reached;
}

static void watcher_unlink(struct rts_stream *st, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		st->watchers = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
}

/*
 * Takes out a watcher that completed has reached, with a reference: it has a pending task while it is in the list, so it is alive.
 * NULL: *next may become the least target of those left.
 */
static struct rts_stream *watcher_reached(struct rts_stream *st, uint64_t *next)
{
	struct rts_stream *found = NULL;
	struct stream_wait *w;
	uint64_t done;

	u_mutex_lock(&st->marks_lock);
	done = atomic_load(&st->completed);
	for (w = st->watchers; w && w->target > done; w = w->next)
		if (w->target < *next)
			*next = w->target;
	if (w) {
		found = w->stream;
		watcher_unlink(st, w);
		rts_object_ref(&found->obj);
	}
	u_mutex_unlock(&st->marks_lock);
	return found;
}

static void watchers_resume(struct rts_stream *st, uint64_t *next)
{
	struct rts_stream *waiter;

	while ((waiter = watcher_reached(st, next))) {
		rts_stream_resume(waiter);
		rts_stream_put(&waiter);
	}
}

bool stream_watch(struct rts_stream *st, struct rts_stream *other, uint64_t target)
{
	struct stream_wait *w = &st->wait;

	u_mutex_lock(&other->marks_lock);
	*w = (struct stream_wait){ .stream = st, .next = other->watchers, .target = target, .linked = other };
	if (w->next)
		w->next->prev = w;
	other->watchers = w;
	u_mutex_unlock(&other->marks_lock);
	stream_attend_at(other, target);
	if (atomic_load(&other->completed) < target) {
		if (atomic_load(&other->owner) == OWNER_FREE)
			pool_add(other, true);
		return false;
	}
	stream_unwatch(st, other);
	return true;
}

void stream_unwatch(struct rts_stream *st, struct rts_stream *other)
{
	u_mutex_lock(&other->marks_lock);
	if (st->wait.linked)
		watcher_unlink(other, &st->wait);
	u_mutex_unlock(&other->marks_lock);
}

void stream_attend(struct rts_stream *st)
{
	struct exec_mark *mark, *rest;
	uint64_t next;

	do {
		atomic_store(&st->attend_at, UINT64_MAX);
		mark = marks_reached(st, &next);
		watchers_resume(st, &next);
		if (next != UINT64_MAX)
			stream_attend_at(st, next);
		for (; mark; mark = rest) {
			rest = mark->next;
			exec_mark_reached(mark);
		}
		stream_wake(st);
	} while (atomic_load(&st->completed) >= next);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Is there something that a runner may run? */
static bool stream_runnable(struct rts_stream *st)
{
	return atomic_load(&st->owner) == OWNER_FREE && stream_pending(st) &&
	       atomic_load(&st->worker_only_at) != atomic_load(&st->completed);
}

/* Runs tasks as the owner, then gives the stream up. */
static void runner_run(struct rts_stream *st, uint64_t target)
{
	if (stream_run(st, target) != RUN_BLOCKED)
		stream_release(st);
}

/*
 * A worker met a wait that it could not finish. This thread can do better than be told by somebody who is told: it runs the wait
 * again from its start and sleeps on the very word that will change.
 */
static bool runner_take_blocked(struct rts_stream *st)
{
	if (!owner_change(st, OWNER_BLOCKED, OWNER_OWNED))
		return false;
	st->on_worker = false;
	return true;
}

static bool stream_park(struct rts_stream *st, uint64_t target, uint64_t deadline, bool runner)
{
	uint32_t seq = atomic_load(&st->wake);
	bool in_time = true;

	atomic_fetch_add(&st->parked, 1);
	stream_attend_at(st, target);
	if (atomic_load(&st->completed) < target && !(runner && stream_runnable(st))) {
		pool_worker_blocks();
		in_time = u_futex_wait(&st->wake, seq, deadline, false);
		pool_worker_continues();
	}
	atomic_fetch_sub(&st->parked, 1);
	return in_time;
}

static int stream_wait_slow(struct rts_stream *st, uint64_t target, uint64_t deadline, bool runner)
{
	struct u_spin spin = { 0 };
	bool in_time = true;

	while (atomic_load(&st->completed) < target) {
		if (!in_time)
			return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
		if (runner && stream_runnable(st) && stream_try_own(st, false)) {
			runner_run(st, target);
			spin.turns = 0;
		} else if (!u_spin_once(&spin)) {
			in_time = stream_park(st, target, deadline, runner);
			spin.turns = 0;
		}
	}
	return 0;
}

int stream_wait(struct rts_stream *st, uint64_t target, uint64_t deadline, bool runner)
{
	int r;

	if (atomic_load(&st->completed) >= target)
		return 0;
	if (!runner) {
		/* Somebody else has to run it, and soon. */
		if (atomic_load(&st->owner) == OWNER_FREE)
			pool_add(st, true);
		return stream_wait_slow(st, target, deadline, false);
	}
	if (atomic_load_explicit(&st->worker_only_at, memory_order_relaxed) !=
	    atomic_load_explicit(&st->completed, memory_order_relaxed) &&
	    (stream_try_own(st, false) || runner_take_blocked(st))) {
		runner_run(st, target);
		if (atomic_load(&st->completed) >= target)
			return 0;
	}
	atomic_fetch_add(&st->runners, 1);
	r = stream_wait_slow(st, target, deadline, true);
	atomic_fetch_sub(&st->runners, 1);
	if (atomic_load(&st->owner) == OWNER_FREE && stream_pending(st))
		pool_add(st, true);
	return r;
}

/* The first error since the last time, with its sentence; a stream that stopped keeps it. */
static int stream_take_error(struct rts_stream *st)
{
	char why[sizeof(st->why)];
	int r = atomic_load(&st->error);

	if (!r)
		return 0;
	u_mutex_lock(&st->marks_lock);
	memcpy(why, st->why, sizeof(why));
	if (!(atomic_load(&st->state) & (STREAM_STOPPED | STREAM_PEER_FAILED))) {
		st->why[0] = '\0';
		r = atomic_exchange(&st->error, 0);
	}
	u_mutex_unlock(&st->marks_lock);
	return r ? u_report(r, "%s", why) : 0;
}

/* What a stream answers whose tasks were dropped; 0 if they were not. @aborts: how many there had been before. */
static int stream_gone(const struct rts_stream *st, uint32_t aborts)
{
	unsigned state = atomic_load(&st->state);

	if (state & STREAM_ABORTED || atomic_load(&st->aborts) != aborts)
		return u_report(atomic_load(&st->abort_code), "stream %d was aborted while it was waited for", st->id);
	if (state & STREAM_DROP)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "stream %d was destroyed by force while it was waited for",
				st->id);
	return 0;
}

static int sync_check(const struct rts_stream *st, int32_t timeout_ms)
{
	int r = rts_process_check_fork();

	if (r)
		return r;
	if (timeout_ms == 0 || timeout_ms < -1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"timeout is %d ms; it must be positive, or -1 to wait for ever", timeout_ms);
	if (rts_stream_running_here(st))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"a task of stream %d waits for its own stream; that would never end", st->id);
	return rts_stream_check_captured(st, "waited for");
}

int rts_stream_synchronize(struct rts_stream *st, int32_t timeout_ms)
{
	uint32_t aborts = atomic_load(&st->aborts);
	uint64_t deadline = U_FOREVER;
	int r;

	r = sync_check(st, timeout_ms);
	if (r)
		return r;
	if (st->flags & (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY))
		return 0;
	if (timeout_ms > 0)
		deadline = u_deadline(u_now_ns(), (uint64_t)timeout_ms * U_NS_PER_MS);
	r = stream_wait(st, atomic_load(&st->submitted), deadline, timeout_ms < 0);
	if (r)
		return u_report(r, "stream %d still has unfinished tasks after %d ms", st->id, timeout_ms);
	rts_pool_settle();
	r = stream_gone(st, aborts);
	return r ? r : stream_take_error(st);
}
