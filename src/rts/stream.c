/* SPDX-License-Identifier: MIT */
/* stream.c - streams as objects: creation, limits, submission, the ways in which they end. */
#include "rts/model_impl.h"
#include "rts/report_thread.h"
#include "rts/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDS_MAX 2048u /* the largest limit of any profile */
#define FLAGS_KNOWN                                                                                                 \
	(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE |                  \
	 ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

#define BACKLOG 8 /* tasks that nobody has run: whoever submits does not wait after each */
#define ENDING_POLL_NS (10 * U_NS_PER_MS)
#define ENDING_ROUNDS_MAX 200 /* 2 s without progress of the streams that go */

static struct {
	struct u_mutex lock; /* the list, the ids */
	struct rts_stream *first;
	uint32_t count;
	uint64_t ids[VINCI_MAX_DEVICES][IDS_MAX / 64];
	uint32_t used[VINCI_MAX_DEVICES];
} registry = { .lock = U_MUTEX_INIT(RANK_STREAM, "streams") };

void streams_lock(void)
{
	u_mutex_lock(&registry.lock);
}

void streams_unlock(void)
{
	u_mutex_unlock(&registry.lock);
}

struct rts_stream *streams_first(void)
{
	return registry.first;
}

uint32_t streams_count(void)
{
	return registry.count;
}

/* --- ids and limits --------------------------------------------------------------------------- */

static uint32_t stream_limit(void)
{
	uint32_t limit = rts_profile()->stream_limit;

	return limit < IDS_MAX ? limit : IDS_MAX;
}

/* The lowest free id; -1 when the device has no more. */
static int32_t id_take_locked(uint32_t device)
{
	if (registry.used[device] >= stream_limit())
		return -1;
	for (uint32_t i = 0; i < IDS_MAX / 64; i++) {
		uint64_t taken = registry.ids[device][i];

		if (!~taken)
			continue;
		registry.ids[device][i] = taken | (taken + 1);
		registry.used[device]++;
		return (int32_t)(i * 64 + (uint32_t)__builtin_ctzll(~taken));
	}
	return -1;
}

static void id_give_locked(uint32_t device, int32_t id)
{
	registry.ids[device][id / 64] &= ~(UINT64_C(1) << (id % 64));
	registry.used[device]--;
}

uint32_t rts_streams_available(uint32_t device)
{
	uint32_t used;

	u_mutex_lock(&registry.lock);
	used = registry.used[device];
	u_mutex_unlock(&registry.lock);
	return stream_limit() - used;
}

static void stream_close(struct rts_stream *st, bool force);

/* --- creating and releasing ------------------------------------------------------------------- */

static void stream_unlink_locked(struct rts_stream *st)
{
	if (st->prev_all)
		st->prev_all->next_all = st->next_all;
	else
		registry.first = st->next_all;
	if (st->next_all)
		st->next_all->prev_all = st->prev_all;
	registry.count--;
}

static int stream_link(struct rts_stream *st)
{
	u_mutex_lock(&registry.lock);
	st->id = id_take_locked(st->device);
	if (st->id >= 0) {
		st->next_all = registry.first;
		if (st->next_all)
			st->next_all->prev_all = st;
		registry.first = st;
		registry.count++;
	}
	u_mutex_unlock(&registry.lock);
	if (st->id < 0)
		return u_report(ACL_ERROR_RT_NO_STREAM_RESOURCE,
				"device %d has no stream left: %s allows %u, the default stream included",
				rts_device_to_user(st->device), rts_profile()->soc, stream_limit());
	return 0;
}

/* A stream whose last reference has gone has no tasks: it was drained or its tasks were dropped by an owner that held one. */
static void stream_free(struct rts_stream *st)
{
	queue_destroy(st);
	u_mutex_destroy(&st->marks_lock);
	free(st);
}

static void stream_released(struct rts_object *obj)
{
	struct rts_stream *st = (struct rts_stream *)obj;

	group_forget(st);
	u_mutex_lock(&registry.lock);
	stream_unlink_locked(st);
	u_mutex_unlock(&registry.lock);
	stream_free(st);
}

static struct rts_stream *stream_alloc(struct rts_context *ctx, uint32_t prio, uint32_t flags)
{
	struct rts_stream *st = aligned_alloc(CACHE_LINE, sizeof(*st));

	if (!st)
		return NULL;
	memset(st, 0, sizeof(*st));
	st->context = ctx;
	st->device = ctx->device;
	atomic_init(&st->priority, prio < RTS_PRIORITY_LEAST ? prio : RTS_PRIORITY_LEAST);
	st->flags = flags & FLAGS_KNOWN;
	if (flags & ACL_STREAM_PERSISTENT)
		atomic_init(&st->state, STREAM_MODEL);
	atomic_init(&st->attend_at, UINT64_MAX);
	atomic_init(&st->worker_only_at, UINT64_MAX);
	u_mutex_init(&st->marks_lock, RANK_EXEC, "stream");
	st->marks_end = &st->marks;
	st->wait.stream = st;
	st->options.sat_mode = rts_sat_mode();
	return st;
}

int rts_stream_create(struct rts_context *ctx, uint32_t prio, uint32_t flags, struct rts_stream **out)
{
	struct rts_stream *st;
	int r = rts_process_check_fork();

	if (r)
		return r;
	if (flags & ACL_STREAM_HUGE)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no huge streams: flag ACL_STREAM_HUGE (0x%x)",
				rts_profile()->soc, ACL_STREAM_HUGE);
	st = stream_alloc(ctx, prio, flags);
	if (!st)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a stream");
	r = stream_link(st);
	if (r)
		goto err_free;
	r = rts_object_publish(&st->obj, RTS_STREAM, stream_released);
	if (r)
		goto err_unlink;
	rts_object_ref(&ctx->obj);
	rts_object_ref(&st->obj);
	stream_join_context(st);
	/* Either the end of the context finds the stream, or the stream finds that the context has ended. */
	if (atomic_load(&ctx->dead)) {
		if (rts_object_unpublish(st->obj.handle, RTS_STREAM))
			stream_close(st, true);
		rts_stream_put(&st);
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "the context was destroyed while a stream was created in it");
	}
	*out = st;
	return 0;

err_unlink:
	u_mutex_lock(&registry.lock);
	id_give_locked(st->device, st->id);
	stream_unlink_locked(st);
	u_mutex_unlock(&registry.lock);
err_free:
	stream_free(st);
	return r;
}

/* --- looking up ------------------------------------------------------------------------------- */

/* The context keeps a reference of its own for as long as it is anybody's current one. */
static int stream_default(struct rts_stream **out)
{
	struct rts_context *ctx;
	struct rts_stream *st;
	int r;

	r = rts_context_current(&ctx);
	if (r)
		return r;
	st = atomic_load_explicit(&ctx->default_stream, memory_order_acquire);
	if (!st)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "the current context has no default stream any more");
	rts_object_ref(&st->obj);
	*out = st;
	return 0;
}

int rts_stream_get_any(aclrtStream handle, struct rts_stream **out)
{
	struct rts_object *obj;

	if (!handle)
		return stream_default(out);
	obj = rts_object_get(handle, RTS_STREAM);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"stream %p is no live stream of this process: destroyed, or never one", (void *)handle);
	*out = (struct rts_stream *)obj;
	return 0;
}

int rts_stream_get(aclrtStream handle, struct rts_stream **out)
{
	struct rts_stream *st = NULL;
	struct rts_context *ctx;
	int r;

	if (!handle)
		return stream_default(out);
	r = rts_stream_get_any(handle, &st);
	if (r)
		return r;
	r = rts_context_current(&ctx);
	if (!r && st->context != ctx)
		r = u_report(ACL_ERROR_RT_STREAM_CONTEXT,
			     "stream %d belongs to another context than this thread's current one (device %d)", st->id,
			     rts_device_to_user(ctx->device));
	if (r)
		rts_stream_put(&st);
	else
		*out = st;
	return r;
}

void rts_stream_put(struct rts_stream **stream)
{
	if (*stream)
		rts_object_put(&(*stream)->obj);
	*stream = NULL;
}

struct rts_context *rts_stream_context(struct rts_stream *st)
{
	return st->context;
}

uint32_t rts_stream_device(const struct rts_stream *st)
{
	return st->device;
}

bool rts_stream_idle(struct rts_stream *st)
{
	if (!stream_pending(st))
		return true;
	/* Who asks again and again waits, in his way: nobody else may be going to run it. */
	if (atomic_load(&st->owner) == OWNER_FREE)
		pool_add(st, true);
	return false;
}

int32_t rts_stream_id(const struct rts_stream *st)
{
	return st->id;
}

struct rts_stream_options *rts_stream_options(struct rts_stream *st)
{
	return &st->options;
}

uint32_t rts_stream_priority(const struct rts_stream *st)
{
	return atomic_load(&st->priority);
}

uint32_t rts_stream_flags(const struct rts_stream *st)
{
	return st->flags;
}

bool rts_stream_captured(const struct rts_stream *st)
{
	return atomic_load(&st->state) & STREAM_CAPTURE;
}

int rts_stream_check_captured(const struct rts_stream *st, const char *what)
{
	if (!rts_stream_captured(st))
		return 0;
	return u_report(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured; until aclmdlRICaptureEnd it cannot be %s", st->id, what);
}

/* --- submitting ------------------------------------------------------------------------------- */

static int stream_refuses(const struct rts_stream *st, unsigned state)
{
	int error = atomic_load(&st->error);

	if (state & STREAM_ABORTED)
		return u_report(atomic_load(&st->abort_code), "stream %d is being aborted and takes no tasks meanwhile",
				st->id);
	if (state & STREAM_CLOSED)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "stream %d has been destroyed", st->id);
	if (state & (STREAM_STOPPED | STREAM_PEER_FAILED))
		return u_report(error ? error : atomic_load(&st->abort_code), /* 0: forgotten just now, with an abort */
				"stream %d stops on failure (aclrtSetStreamFailureMode), and a task of %s has failed",
				st->id, state & STREAM_STOPPED ? "it" : "another stream of its context");
	if (atomic_load(&st->track))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream %d is recorded into a model, and this cannot be", st->id);
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"stream %d was created with ACL_STREAM_PERSISTENT: its tasks belong to a model, and it is bound to none",
			st->id);
}

int rts_stream_position(struct rts_stream *st, uint64_t *position)
{
	unsigned state;
	int r = rts_process_check_fork();

	if (r)
		return r;
	state = atomic_load(&st->state) & STREAM_REFUSES;
	if (state)
		return stream_refuses(st, state);
	*position = atomic_load(&st->submitted);
	return 0;
}

static _Thread_local uint32_t last_task;

uint32_t rts_thread_last_task(void)
{
	return last_task;
}

static uint64_t thread_id(void)
{
	static _Thread_local uint64_t id;

	if (!id)
		id = (uint64_t)gettid();
	return id;
}

int rts_stream_submit(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size)
{
	uint64_t position;

	return rts_stream_submit_at(st, type, payload, size, &position);
}

/* The task is not queued: it is recorded, or refused. A capture may have ended meanwhile. */
static int stream_divert(struct rts_stream *st, unsigned state, const struct rts_task_type *type, const void *payload,
			 size_t size, uint64_t *position)
{
	int r;

	if (state & ~(STREAM_RECORDS | STREAM_UPDATES))
		return stream_refuses(st, state & ~STREAM_UPDATES);
	if (state & STREAM_UPDATES)
		return group_update(st, type, payload, size, position);
	if (model_record(st, type, payload, size, &r)) {
		*position = atomic_load(&st->submitted);
		return r;
	}
	return state & STREAM_MODEL ? stream_refuses(st, state)
				    : rts_stream_submit_at(st, type, payload, size, position);
}

static inline int stream_append(struct rts_stream *st, unsigned refuses, const struct rts_task_type *type,
				const void *payload, size_t size, uint64_t *position)
{
	struct task_slot *slot;
	unsigned state;
	int r;

	r = rts_process_check_fork();
	if (!r)
		r = pool_start();
	if (r)
		return r;
	u_lock_take(&st->lock);
	state = atomic_load_explicit(&st->state, memory_order_relaxed) & refuses;
	slot = state ? NULL : queue_slot(st);
	if (slot) {
		slot->type = type;
		slot->thread = thread_id();
		if (size)
			memcpy(slot->payload, payload, size);
		queue_publish(st);
		*position = atomic_load_explicit(&st->submitted, memory_order_relaxed);
	}
	u_lock_give(&st->lock);
	if (state)
		return stream_divert(st, state, type, payload, size, position);
	if (!slot)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a task");
	if (refuses & STREAM_ABORTED)
		last_task = (uint32_t)*position;
	if (atomic_load(&st->owner) == OWNER_FREE)
		pool_add(st, *position - atomic_load(&st->completed) >= BACKLOG);
	return 0;
}

int rts_stream_submit_at(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
			 uint64_t *position)
{
	return stream_append(st, STREAM_REFUSES, type, payload, size, position);
}

int stream_submit_join(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		       uint64_t *position)
{
	return stream_append(st, STREAM_REFUSES & ~(STREAM_RECORDS | STREAM_UPDATES), type, payload, size, position);
}

int stream_submit_play(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		       uint64_t *position)
{
	return stream_append(st, STREAM_CLOSED, type, payload, size, position);
}

/* --- ending ----------------------------------------------------------------------------------- */

void stream_poke(struct rts_stream *st)
{
	_Atomic uint32_t *word;

	rts_stream_resume(st);
	word = atomic_load(&st->parked_on);
	if (word)
		u_futex_wake(word, INT_MAX, true); /* it may have been unmapped since: then the call fails, and nobody sleeps */
}

void stream_state_change(struct rts_stream *st, unsigned set, unsigned clear)
{
	u_lock_take(&st->lock);
	atomic_fetch_or(&st->state, set);
	atomic_fetch_and(&st->state, ~clear);
	u_lock_give(&st->lock);
}

static void stream_state_set(struct rts_stream *st, unsigned bits)
{
	stream_state_change(st, bits, 0);
}

void stream_drop_tasks(struct rts_stream *st)
{
	if (!stream_try_own(st, false)) {
		stream_poke(st);
		if (!stream_try_own(st, false))
			return;
	}
	stream_run(st, UINT64_MAX);
	stream_release(st);
}

/* The winner of the handle ends the stream. */
static void stream_close(struct rts_stream *st, bool force)
{
	stream_state_set(st, force ? STREAM_CLOSED | STREAM_DROP : STREAM_CLOSED);
	if (force)
		stream_drop_tasks(st);
	else
		stream_wait(st, atomic_load(&st->submitted), U_FOREVER, true);
	stream_wake(st);
	rts_report_stream_gone(st);
	u_mutex_lock(&registry.lock);
	id_give_locked(st->device, st->id);
	u_mutex_unlock(&registry.lock);
	rts_object_put(&st->context->obj);
	rts_object_put(&st->obj);
}

void stream_remove(struct rts_stream *st)
{
	if (rts_object_unpublish(st->obj.handle, RTS_STREAM))
		stream_close(st, true);
}

static int destroy_check(const struct rts_stream *st)
{
	int r = rts_stream_check_captured(st, "destroyed");

	if (r)
		return r;
	if (atomic_load(&st->track))
		return u_report(ACL_ERROR_RT_STREAM_MODEL, "stream %d belongs to a model (aclmdlRIUnbindStream, aclmdlRIDestroy)",
				st->id);
	if (atomic_load(&st->context->default_stream) == st)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"stream %d is the default stream of its context and ends with it", st->id);
	if (rts_stream_running_here(st))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "a task of stream %d destroys its own stream", st->id);
	return 0;
}

int rts_stream_destroy(aclrtStream handle, bool force)
{
	struct rts_stream *st = NULL;
	int r;

	r = rts_process_check_fork();
	if (!r)
		r = rts_stream_get(handle, &st);
	if (r)
		return r;
	r = destroy_check(st);
	if (!r)
		rts_state_stream(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
	if (!r && !rts_object_unpublish(handle, RTS_STREAM))
		r = u_report(ACL_ERROR_RT_INVALID_HANDLE, "stream %d is being destroyed by another thread", st->id);
	if (!r)
		stream_close(st, force);
	rts_stream_put(&st);
	return r;
}

/* --- all streams of a context ----------------------------------------------------------------- */

/* The live stream of @ctx after @prev (NULL: the first), with a reference; drops the one to @prev. */
static struct rts_stream *stream_after(struct rts_stream *prev, const struct rts_context *ctx)
{
	struct rts_stream *st;

	u_mutex_lock(&registry.lock);
	st = prev ? prev->next_all : registry.first;
	while (st && (st->context != ctx || (atomic_load(&st->state) & STREAM_CLOSED) || !stream_ref(st)))
		st = st->next_all;
	u_mutex_unlock(&registry.lock);
	rts_stream_put(&prev);
	return st;
}

/* Its first task waits for something. */
static bool stream_waits(struct rts_stream *st)
{
	return atomic_load(&st->owner) == OWNER_BLOCKED || atomic_load(&st->parked_on);
}

/* Some stream of the process is running: it may yet record what others wait for. */
static bool something_runs(void)
{
	struct rts_stream *st;

	u_mutex_lock(&registry.lock);
	for (st = registry.first; st; st = st->next_all)
		if (stream_pending(st) && !stream_waits(st))
			break;
	u_mutex_unlock(&registry.lock);
	return st;
}

/*
 * Gives the streams of @ctx a moment to end. *completed is the number of tasks that have; true when all have. A stream that a task
 * on this very thread belongs to is left out: it cannot end before the caller does. This thread runs none of them: it would sleep
 * inside a wait that only it can end.
 */
static bool streams_drain(struct rts_context *ctx, uint64_t *completed)
{
	uint64_t deadline = u_deadline(u_now_ns(), ENDING_POLL_NS);
	bool all = true;

	*completed = 0;
	for (struct rts_stream *st = stream_after(NULL, ctx); st; st = stream_after(st, ctx)) {
		if (!rts_stream_running_here(st) && stream_wait(st, atomic_load(&st->submitted), deadline, false))
			all = false;
		*completed += atomic_load(&st->completed);
	}
	return all;
}

static void streams_end_waits(struct rts_context *ctx)
{
	for (struct rts_stream *st = stream_after(NULL, ctx); st; st = stream_after(st, ctx)) {
		stream_state_set(st, STREAM_NO_WAITS);
		stream_poke(st);
	}
}

/* Tasks run to their end as long as anything in this process goes on; then whatever still waits fails. */
static void streams_finish(struct rts_context *ctx)
{
	uint64_t before = UINT64_MAX, now;
	uint32_t idle = 0;

	while (!streams_drain(ctx, &now)) {
		idle = now == before ? idle + 1 : 0;
		if ((idle && !something_runs()) || idle > ENDING_ROUNDS_MAX)
			streams_end_waits(ctx);
		before = now;
	}
}

void rts_streams_shutdown(struct rts_context *ctx, bool force)
{
	void *handle;

	if (rts_process_forked())
		return;
	for (struct rts_stream *st = stream_after(NULL, ctx); st; st = stream_after(st, ctx)) {
		handle = st->obj.handle;
		if (handle)
			rts_state_stream(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
	}
	if (!force)
		streams_finish(ctx);
	rts_models_shutdown(ctx);
	for (struct rts_stream *st = stream_after(NULL, ctx); st; st = stream_after(st, ctx))
		if (rts_object_unpublish(st->obj.handle, RTS_STREAM))
			stream_close(st, force || rts_stream_running_here(st));
}

int rts_streams_synchronize(struct rts_context *ctx, int timeout_ms)
{
	uint64_t deadline = timeout_ms < 0 ? U_FOREVER : u_deadline(u_now_ns(), (uint64_t)timeout_ms * U_NS_PER_MS);
	int first = 0;

	for (struct rts_stream *st = stream_after(NULL, ctx); st; st = stream_after(st, ctx)) {
		uint64_t now = timeout_ms < 0 ? 0 : u_now_ns();
		int left = -1;
		int r;

		if (timeout_ms >= 0)
			left = now < deadline ? (int)((deadline - now + U_NS_PER_MS - 1) / U_NS_PER_MS) : 1;
		r = rts_stream_synchronize(st, left);
		if (!first)
			first = r;
		if (r == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
			rts_stream_put(&st);
			break;
		}
	}
	return first;
}
