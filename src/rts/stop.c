/* SPDX-License-Identifier: MIT */
/*
 * stop.c - streams that do not run to their end: stopped, aborted, or failed where failure stops a context.
 *
 * To stop ends the task that runs; those behind it are run. To abort ends it and drops the others; until it has ended
 * the stream takes no tasks, and whoever waits for it meanwhile is told. A kernel is ended as halt.h tells, a wait by
 * looking at the stream again; what else there is ends by itself.
 */
#include "rts/exec.h"
#include "rts/halt.h"
#include "rts/state.h"

#include <stdio.h>
#include <stdlib.h>

#define STREAM_FAILED (STREAM_STOPPED | STREAM_PEER_FAILED)
/* After a round a kernel that could not be left is asked again: soon at first, for it may often be in libc. */
#define ROUND_NS (U_NS_PER_MS / 10)
#define SOON 100u /* rounds */
#define ABORT_MS_MAX (36u * 60 * 1000)

/* --- stopping --------------------------------------------------------------------------------- */

int stream_wait_ended(struct rts_stream *st, const char *what)
{
	const char *waited = what ? " while it waited for " : "";

	if (stream_task_stopped(st)) {
		rts_stream_explain(st, "a task of stream %d was stopped (aclrtStreamStop)%s%s", st->id, waited,
				   what ? what : "");
		return ACL_ERROR_RT_TASK_ABORT_STOP;
	}
	if (!(atomic_load(&st->state) & STREAM_NO_WAITS))
		return 0;
	rts_stream_explain(st, "the device was reset; stream %d ended%s%s", st->id, waited, what ? what : "");
	return ACL_ERROR_RT_STREAM_ABORT;
}

static uint64_t round_end(unsigned *rounds)
{
	return u_deadline(u_now_ns(), (*rounds)++ < SOON ? ROUND_NS : 10 * ROUND_NS);
}

static int end_check(const struct rts_stream *st, const char *how)
{
	int r = rts_process_check_fork();

	if (!r && rts_stream_running_here(st))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "a task of stream %d %s its own stream", st->id, how);
	return r;
}

/* The same for one stream alone. */
static int end_one_check(const struct rts_stream *st, const char *how)
{
	if ((atomic_load(&st->state) & STREAM_MODEL) && atomic_load(&st->track))
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"stream %d belongs to a model, which is ended as a whole (aclmdlRIAbort)", st->id);
	return end_check(st, how);
}

int rts_stream_stop(struct rts_stream *st)
{
	uint64_t target = atomic_load(&st->completed) + 1;
	int r = end_one_check(st, "stops");
	unsigned rounds = 0;

	if (r || !stream_pending(st))
		return r;
	while (atomic_load(&st->completed) < target) {
		atomic_store(&st->stop_at, target); /* another thread may have stopped an earlier task meanwhile */
		stream_poke(st);
		halt_stream(st, target - 1, ACL_ERROR_RT_TASK_ABORT_STOP);
		stream_stop_joined(st, target - 1, ACL_ERROR_RT_TASK_ABORT_STOP);
		(void)stream_wait(st, target, round_end(&rounds), false);
	}
	halt_settle();
	return 0;
}

/* --- aborting --------------------------------------------------------------------------------- */

static void abort_begin(struct rts_stream *st, int code)
{
	u_lock_take(&st->lock);
	st->aborting++;
	atomic_store(&st->abort_code, code);
	atomic_fetch_add(&st->aborts, 1);
	atomic_fetch_or(&st->state, STREAM_ABORTED | STREAM_DROP);
	u_lock_give(&st->lock);
}

/* Nothing more is taken, so it comes to an end. @deadline: 0: at once. */
static bool abort_wait(struct rts_stream *st, uint64_t deadline)
{
	stream_drop_tasks(st);
	halt_stream(st, HALT_ANY_TASK, atomic_load(&st->abort_code));
	stream_stop_joined(st, HALT_ANY_TASK, atomic_load(&st->abort_code));
	return !stream_wait(st, atomic_load(&st->submitted), deadline, false);
}

/* The last one that aborts it takes the bits of @clear away. */
static void abort_end(struct rts_stream *st, unsigned clear)
{
	u_lock_take(&st->lock);
	if (atomic_load(&st->state) & STREAM_CLOSED)
		clear &= ~STREAM_DROP;
	if (!--st->aborting)
		atomic_fetch_and(&st->state, ~clear);
	u_lock_give(&st->lock);
	stream_wake(st);
}

/* It has no tasks: what failed is forgotten, unless the stream stopped for it. */
static void error_forget(struct rts_stream *st)
{
	u_mutex_lock(&st->marks_lock);
	st->why[0] = '\0';
	atomic_store(&st->error, 0);
	u_mutex_unlock(&st->marks_lock);
}

int rts_stream_abort(struct rts_stream *st)
{
	int r = end_one_check(st, "aborts");
	unsigned rounds = 0;

	if (r)
		return r;
	abort_begin(st, ACL_ERROR_RT_STREAM_ABORT);
	while (!abort_wait(st, round_end(&rounds)))
		;
	if (!(atomic_load(&st->state) & STREAM_FAILED))
		error_forget(st);
	abort_end(st, STREAM_ABORTED | STREAM_DROP);
	halt_settle();
	return 0;
}

/* --- a whole device --------------------------------------------------------------------------- */

/* The streams of a device, with references. */
struct stream_set {
	struct rts_stream **list;
	size_t count;
};

static void set_put(struct stream_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		rts_stream_put(&set->list[i]);
	free(set->list);
}

static int set_get(uint32_t device, struct stream_set *set)
{
	streams_lock();
	set->count = 0;
	set->list = malloc((streams_count() + 1) * sizeof(set->list[0]));
	for (struct rts_stream *st = streams_first(); set->list && st; st = st->next_all)
		if (st->device == device && !(atomic_load(&st->state) & STREAM_CLOSED) && stream_ref(st))
			set->list[set->count++] = st;
	streams_unlock();
	if (!set->list)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a list of streams");
	return 0;
}

static int set_check(const struct stream_set *set)
{
	int r = 0;

	for (size_t i = 0; i < set->count && !r; i++)
		r = end_check(set->list[i], "aborts the device of");
	return r;
}

/* All of them are asked in each round before any is waited for. */
static int set_abort(const struct stream_set *set, uint64_t deadline)
{
	size_t left = set->count;
	unsigned rounds = 0;

	while (left) {
		uint64_t now = u_now_ns(), round = round_end(&rounds);

		left = 0;
		for (size_t i = 0; i < set->count; i++)
			left += !abort_wait(set->list[i], 0);
		if (left && now >= deadline)
			return u_report(ACL_ERROR_RT_WAIT_TIMEOUT,
					"%zu streams still run a task; the next aclrtDeviceTaskAbort goes on", left);
		for (size_t i = 0; i < set->count; i++)
			(void)stream_wait(set->list[i], atomic_load(&set->list[i]->submitted), round, false);
	}
	return 0;
}

static uint32_t ms_left(uint64_t deadline)
{
	uint64_t now = u_now_ns();

	if (deadline == U_FOREVER)
		return 0;
	return now < deadline ? (uint32_t)((deadline - now + U_NS_PER_MS - 1) / U_NS_PER_MS) : 1;
}

/* Without success the streams go on dropping and refusing. */
static void set_end(const struct stream_set *set, bool success)
{
	for (size_t i = 0; i < set->count; i++) {
		if (success)
			error_forget(set->list[i]);
		abort_end(set->list[i], success ? STREAM_ABORTED | STREAM_DROP | STREAM_FAILED : 0);
	}
}

int rts_device_abort(uint32_t device, uint32_t timeout_ms)
{
	uint64_t deadline = timeout_ms ? u_deadline(u_now_ns(), timeout_ms * U_NS_PER_MS) : U_FOREVER;
	struct stream_set set;
	int r = rts_process_check_fork();

	if (r)
		return r;
	if (timeout_ms > ABORT_MS_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "timeout is %u ms; 36 minutes (%u ms) are the most",
				timeout_ms, ABORT_MS_MAX);
	r = set_get(device, &set);
	if (r)
		return r;
	r = set_check(&set);
	if (r)
		goto err_put;
	for (size_t i = 0; i < set.count; i++)
		abort_begin(set.list[i], ACL_ERROR_RT_DEVICE_TASK_ABORT);
	r = rts_state_abort(device, ACL_RT_DEVICE_TASK_ABORT_PRE, ms_left(deadline));
	if (!r)
		r = set_abort(&set, deadline);
	if (!r)
		r = rts_state_abort(device, ACL_RT_DEVICE_TASK_ABORT_POST, ms_left(deadline));
	set_end(&set, !r);
	halt_settle();
err_put:
	set_put(&set);
	return r;
}

/* --- stopping on failure ---------------------------------------------------------------------- */

static void peer_failed(struct rts_stream *st, int id, int code)
{
	int none = 0;

	u_mutex_lock(&st->marks_lock);
	if (atomic_compare_exchange_strong(&st->error, &none, code))
		snprintf(st->why, sizeof(st->why), "a task of stream %d failed, and its context stops on failure", id);
	atomic_fetch_or(&st->state, STREAM_PEER_FAILED);
	u_mutex_unlock(&st->marks_lock);
}

/* Streams of a context that has gone are closed, so that one at the same address is never taken for it. */
void stream_context_failed(struct rts_stream *st, int code)
{
	if (atomic_load(&st->state) & STREAM_CLOSED)
		return;
	streams_lock();
	for (struct rts_stream *other = streams_first(); other; other = other->next_all)
		if (other != st && other->context == st->context && !(atomic_load(&other->state) & STREAM_CLOSED))
			peer_failed(other, st->id, code);
	streams_unlock();
}

void stream_join_context(struct rts_stream *st)
{
	const struct rts_stream *failed = NULL;
	unsigned state;

	if (!atomic_load(&st->context->stops))
		return;
	atomic_fetch_or(&st->state, STREAM_CONTEXT_STOPS);
	streams_lock();
	for (struct rts_stream *other = streams_first(); other && !failed; other = other->next_all) {
		state = atomic_load(&other->state);
		if (other->context == st->context && state & STREAM_FAILED && !(state & STREAM_CLOSED))
			failed = other;
	}
	if (failed)
		peer_failed(st, failed->id, atomic_load(&failed->error));
	streams_unlock();
}

static void context_stops(const struct rts_stream *st)
{
	atomic_store(&st->context->stops, true);
	streams_lock();
	for (struct rts_stream *other = streams_first(); other; other = other->next_all)
		if (other->context == st->context)
			atomic_fetch_or(&other->state, STREAM_CONTEXT_STOPS);
	streams_unlock();
}

int rts_stream_set_failure_mode(struct rts_stream *st, uint64_t mode)
{
	bool stop = mode & ACL_STOP_ON_FAILURE;

	if (!stop && atomic_load(&st->state) & STREAM_STOPS)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"stream %d stops on failure; that cannot be taken back", st->id);
	if (!stop)
		return 0;
	stream_state_change(st, STREAM_STOPS, 0);
	context_stops(st);
	return 0;
}
