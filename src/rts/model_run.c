/* SPDX-License-Identifier: MIT */
/*
 * model_run.c - runs of models: plays, joins, and who waits for whom.
 *
 * A run begins when the stream that it was queued on has come to its join and the model's run before is over. It is over when no track
 * plays any more: all head tracks, and those that a step has activated. A step that fails stops the run: waits of its tracks end and no
 * further step begins.
 */
#include "rts/fault.h"
#include "rts/halt.h"
#include "rts/model_impl.h"
#include "rts/module.h"
#include "util/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Payload of a play. */
struct play {
	struct model_run *run; /* a reference */
	struct model_track *track;
	struct model_step *from; /* of the first play: where the track begins */
	struct rts_stream *stream; /* its own, while it waits */
	bool first, last; /* of the track in this run */
	bool started;
	bool linked; /* with the run before */
	bool watching; /* the place at which the run starts */
};

struct join {
	struct model_run *run; /* a reference */
	struct rts_stream *stream;
	bool linked;
};

_Static_assert(sizeof(struct play) <= RTS_TASK_BYTES, "a play fits into its slot");

/* --- runs ------------------------------------------------------------------------------------- */

/* Those before one that was stopped before it began may go with it, and they may be many. */
void run_put(struct model_run *run)
{
	while (run && atomic_fetch_sub(&run->refs, 1) == 1) {
		struct model_run *before = run->before;

		for (uint32_t i = 0; i < run->wait_count; i++)
			rts_stream_put(&run->waits[i].stream);
		rts_stream_put(&run->start.stream);
		model_put(&run->model);
		free(run);
		run = before;
	}
}

static struct model_run *run_ref(struct model_run *run)
{
	atomic_fetch_add(&run->refs, 1);
	return run;
}

/* @st NULL: of a branch, which begins at once. */
static struct model_run *run_new(struct rts_model *model, struct rts_stream *st)
{
	uint32_t waits = model->external_waits; /* does not change once the model is complete, which is checked later */
	struct model_run *run = calloc(1, sizeof(*run) + waits * sizeof(run->waits[0]));

	if (!run)
		return NULL;
	run->wait_count = waits;
	atomic_init(&run->refs, 1);
	rts_object_ref(&model->obj);
	run->model = model;
	if (st)
		rts_object_ref(&st->obj);
	run->start.stream = st;
	return run;
}

/* --- waiting for a run's end ------------------------------------------------------------------ */

/* Joins those who wait for it; false: it is over. */
bool run_wait_for(struct model_run *run, struct rts_stream *st)
{
	struct stream_wait *w = &st->wait;
	bool over;

	u_mutex_lock(&run->model->lock);
	over = atomic_load(&run->over);
	if (!over) {
		*w = (struct stream_wait){ .stream = st, .next = run->waiting, .linked = run };
		if (w->next)
			w->next->prev = w;
		run->waiting = w;
	}
	u_mutex_unlock(&run->model->lock);
	return !over;
}

static void waiting_unlink(struct model_run *run, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		run->waiting = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
}

/* @st waits no more. The run that it waited for is the one that it is linked to, and alive. */
void run_leave(struct rts_model *model, struct rts_stream *st)
{
	u_mutex_lock(&model->lock);
	if (st->wait.linked)
		waiting_unlink(st->wait.linked, &st->wait);
	u_mutex_unlock(&model->lock);
}

static struct rts_stream *waiting_pop(struct model_run *run)
{
	struct rts_stream *st = NULL;

	u_mutex_lock(&run->model->lock);
	if (run->waiting) {
		st = run->waiting->stream;
		waiting_unlink(run, run->waiting);
		rts_object_ref(&st->obj);
	}
	u_mutex_unlock(&run->model->lock);
	return st;
}

/* The caller has a reference. */
static void run_over(struct model_run *run)
{
	struct rts_model *model = run->model;
	struct model_step *retired = NULL;
	struct rts_stream *st;
	bool last;

	u_mutex_lock(&model->lock);
	if (!run->code && !model->captured && !atomic_load(&run->ended)) {
		run->code = ACL_ERROR_RT_MODEL_EXECUTE;
		snprintf(run->why, sizeof(run->why), "no stream of model %u came to its end mark (aclmdlRIEndTask)", model->id);
	}
	atomic_store(&run->over, true);
	last = model->last == run;
	if (last) {
		model->last = NULL;
		retired = model->retired;
		model->retired = NULL;
	}
	u_mutex_unlock(&model->lock);
	steps_free(retired);
	while ((st = waiting_pop(run))) {
		rts_stream_resume(st);
		rts_stream_put(&st);
	}
	if (last)
		run_put(run);
}

/* A track has ended. */
static void run_end_track(struct model_run *run)
{
	if (atomic_fetch_sub(&run->active, 1) == 1)
		run_over(run);
}

/* --- stopping --------------------------------------------------------------------------------- */

/* model->lock */
static void run_mark_stopped(struct model_run *run, int code, const char *why)
{
	if (atomic_load(&run->stop))
		return;
	run->code = code;
	snprintf(run->why, sizeof(run->why), "%.*s", (int)sizeof(run->why) - 1, why);
	atomic_store(&run->stop, true);
}

/*
 * What the run's tracks wait for, they look again; steps fail if it has not come. Either play_start() sees that the run has been stopped,
 * or this sees that it has started. Steps of another run are not disturbed.
 */
static void tracks_poke(struct model_run *run)
{
	bool started = atomic_load(&run->started);
	struct rts_stream *st;

	for (uint32_t i = 0; (st = model_stream(run->model, i)); i++) {
		if (started) {
			stream_state_change(st, STREAM_NO_WAITS, 0);
			if (run->code != ACL_ERROR_RT_MODEL_EXECUTE)
				halt_stream(st, HALT_ANY_TASK, run->code);
			stream_stop_joined(st, HALT_ANY_TASK, run->code);
		}
		stream_poke(st);
		rts_stream_put(&st);
	}
}

/* It is not over before run_end_track(), with which the next one could begin and be taken for it. False: it is. */
static bool run_hold(struct model_run *run)
{
	unsigned active = atomic_load(&run->active);

	while (active)
		if (atomic_compare_exchange_weak(&run->active, &active, active + 1))
			return true;
	return false;
}

void run_stop(struct model_run *run, int code, const char *why)
{
	if (!run_hold(run))
		return;
	u_mutex_lock(&run->model->lock);
	run_mark_stopped(run, code, why);
	u_mutex_unlock(&run->model->lock);
	tracks_poke(run);
	run_end_track(run);
}

void runs_stop(struct rts_model *model, int code, const char *why)
{
	struct model_run *first = NULL; /* that is not over: the one that runs */

	u_mutex_lock(&model->lock);
	for (struct model_run *run = model->last; run && !atomic_load(&run->over); run = run->before)
		first = run;
	if (first && !run_hold(first))
		first = NULL;
	if (first)
		run_ref(first);
	for (struct model_run *run = model->last; run; run = run->before)
		run_mark_stopped(run, code, why);
	u_mutex_unlock(&model->lock);
	if (!first)
		return;
	tracks_poke(first);
	run_end_track(first);
	run_put(first);
}

/* The sentence that a step gave the track's stream becomes the run's. */
static void run_fail(struct model_run *run, struct rts_stream *st, const struct rts_task_type *type, int code)
{
	char text[sizeof(run->why) + 80], why[sizeof(st->why)];

	u_mutex_lock(&st->marks_lock);
	memcpy(why, st->why, sizeof(why));
	st->why[0] = '\0';
	u_mutex_unlock(&st->marks_lock);
	snprintf(text, sizeof(text), "model %u: a %s task failed with %d: %.120s", run->model->id, type->name, code,
		 why);
	run_stop(run, ACL_ERROR_RT_MODEL_EXECUTE, text);
}

/* --- steps ------------------------------------------------------------------------------------ */

struct read_call {
	void *dst;
	const void *src;
	size_t size;
};

static void read_call(void *arg)
{
	struct read_call *call = arg;

	memcpy(call->dst, call->src, call->size);
}

bool step_read(struct rts_stream *st, void *dst, const void *src, size_t size)
{
	struct read_call call = { .dst = dst, .src = src, .size = size };
	struct fault fault;

	if (fault_guard(read_call, &call, &fault))
		return true;
	rts_stream_explain(st, "address %p was memory when the task was recorded, and is so no more", src);
	return false;
}

static int step_load(struct model_track *track, struct rts_stream *st)
{
	const struct rts_task_type *type;
	int r = 0;

	if (track->changes)
		u_mutex_lock(&track->model->lock);
	track->slot = track->at->slot;
	if (track->changes)
		u_mutex_unlock(&track->model->lock);
	type = track->slot.type;
	if (type->again)
		r = type->again(track->slot.payload, st);
	track->loaded = !r;
	return r;
}

static void step_unload(struct model_track *track)
{
	if (track->loaded && track->slot.type->leave)
		track->slot.type->leave(track->slot.payload);
	track->loaded = false;
}

static int step_run(struct model_track *track, struct rts_stream *st)
{
	int r = track->loaded ? 0 : step_load(track, st);

	if (r)
		return r;
	return track->slot.type->memory ? task_run_memory(&track->slot, st, "recorded")
					: track->slot.type->run(track->slot.payload, st);
}

/* True: the play is over, though not always the track. */
static bool track_play(struct play *p, struct rts_stream *st)
{
	struct model_track *track = p->track;
	const struct rts_task_type *type;
	struct model_step *step;
	int r;

	while ((step = track->at) && !atomic_load(&p->run->stop)) {
		type = step->slot.type;
		r = step_run(track, st);
		if (r == RTS_TASK_BLOCKED)
			return false;
		step_unload(track);
		if (r)
			run_fail(p->run, st, type, r);
		/* A step may have moved it. */
		if (track->at == step)
			track->at = step->next;
		if (type == &model_external_record_type)
			break;
	}
	step_unload(track);
	return true;
}

/* --- plays ------------------------------------------------------------------------------------ */

static void play_leave(struct play *p)
{
	if (p->linked)
		run_leave(p->run->model, p->stream);
	if (p->watching)
		stream_unwatch(p->stream, p->run->start.stream);
	p->linked = p->watching = false;
}

/* The run before, with a reference; NULL: it is over. */
static struct model_run *run_before(struct model_run *run)
{
	struct model_run *before, *over = NULL;

	u_mutex_lock(&run->model->lock);
	before = run->before;
	if (before && atomic_load(&before->over)) {
		over = before;
		before = run->before = NULL;
	}
	if (before)
		run_ref(before);
	u_mutex_unlock(&run->model->lock);
	run_put(over);
	return before;
}

/* False: the run cannot begin yet, and the stream will be resumed. */
static bool play_may_start(struct play *p, struct rts_stream *st)
{
	struct model_run *before = run_before(p->run);
	bool waits = before && run_wait_for(before, st);

	run_put(before); /* while it is not over, p->run has a reference */
	p->linked = waits;
	if (waits)
		return false;
	if (place_reached(&p->run->start))
		return true;
	p->watching = !stream_watch(st, p->run->start.stream, p->run->start.target);
	return !p->watching;
}

/* Before any step: the model's conditions get their values. */
static void run_begin(struct model_run *run)
{
	struct rts_model *model = run->model;

	u_mutex_lock(&model->lock);
	if (!atomic_load(&run->started) && !model->branch)
		conds_assign(model);
	atomic_store(&run->started, true);
	u_mutex_unlock(&model->lock);
}

static bool play_start(struct play *p, struct rts_stream *st)
{
	p->stream = st;
	play_leave(p);
	if (atomic_load(&p->run->stop))
		return true;
	if (!play_may_start(p, st))
		return false;
	if (p->run->start.stream && (atomic_load(&p->run->start.stream->state) & STREAM_DROP))
		run_stop(p->run, ACL_ERROR_RT_STREAM_ABORT, "the stream that the model was to run on was destroyed or aborted");
	p->started = true;
	run_begin(p->run);
	p->track->run = p->run;
	p->track->at = p->from ? p->from : p->track->first;
	if ((atomic_load(&st->state) & STREAM_NO_WAITS) && !atomic_load(&st->context->dead) && !atomic_load(&p->run->stop))
		stream_state_change(st, 0, STREAM_NO_WAITS);
	return true;
}

static int play_run(void *payload, struct rts_stream *st)
{
	struct play *p = payload;

	if (p->first && !p->started && !play_start(p, st))
		return RTS_TASK_BLOCKED;
	return track_play(p, st) ? 0 : RTS_TASK_BLOCKED;
}

/* Its end, or its stream's, which is the run's too. */
static void play_drop(void *payload)
{
	struct play *p = payload;
	struct model_run *run = p->run;

	play_leave(p);
	step_unload(p->track);
	if (p->last && (p->track->run != run || p->track->at) && !atomic_load(&run->stop))
		run_stop(run, ACL_ERROR_RT_STREAM_ABORT, "the streams of the model were aborted");
	if (p->last)
		run_end_track(run);
	run_put(p->run);
}

static const struct rts_task_type play_type = { .name = "model", .run = play_run, .drop = play_drop };
static const struct rts_task_type play_worker_type = { .name = "model", .run = play_run, .drop = play_drop, .worker_only = true };

static int play_submit(struct model_run *run, struct model_track *track, const struct play *play, uint64_t *position)
{
	int r;

	run_ref(run);
	r = stream_submit_play(track->stream, track->worker_only ? &play_worker_type : &play_type, play, sizeof(*play), position);
	if (r)
		run_put(run);
	return r;
}

/* One play up to each place that others wait for, and one to the end. */
static int track_submit(struct model_run *run, struct model_track *track, uint64_t *last)
{
	int r = 0;

	atomic_fetch_add(&run->active, 1);
	for (uint32_t i = 0; i < track->plays && !r; i++) {
		struct play play = { .run = run, .track = track, .first = !i, .last = i + 1 == track->plays };

		r = play_submit(run, track, &play, last);
	}
	if (r)
		run_end_track(run);
	return r;
}

int run_activate(struct model_run *run, struct model_track *track, struct model_step *step)
{
	struct play play = { .run = run, .track = track, .from = step, .first = true, .last = true };
	uint64_t position;
	int r;

	atomic_fetch_add(&run->active, 1);
	r = play_submit(run, track, &play, &position);
	if (r)
		run_end_track(run);
	return r;
}

/* --- joins ------------------------------------------------------------------------------------ */

static void join_leave(struct join *j)
{
	if (j->linked)
		run_leave(j->run->model, j->stream);
	j->linked = false;
}

static void joined_set(struct rts_stream *st, struct model_run *run)
{
	u_mutex_lock(&st->marks_lock);
	st->joined = run;
	u_mutex_unlock(&st->marks_lock);
}

void stream_stop_joined(struct rts_stream *st, uint64_t task, int code)
{
	struct model_run *run;

	u_mutex_lock(&st->marks_lock);
	run = task == HALT_ANY_TASK || task == atomic_load(&st->completed) ? st->joined : NULL;
	if (run)
		run_ref(run);
	u_mutex_unlock(&st->marks_lock);
	if (!run)
		return;
	run_stop(run, code, "the stream that the model ran on was stopped or aborted");
	run_put(run);
}

void run_help(struct model_run *run, struct rts_stream *st)
{
	struct rts_stream *other;

	joined_set(st, run);
	for (uint32_t i = 0; !atomic_load(&run->over) && (other = model_stream(run->model, i)); i++) {
		if (stream_pending(other))
			stream_help(st, other, atomic_load(&other->submitted));
		rts_stream_put(&other);
	}
	joined_set(st, NULL);
}

static int join_result(const struct join *j, struct rts_stream *st)
{
	if (j->run->code)
		rts_stream_explain(st, "%s", j->run->why);
	return j->run->code;
}

static int join_run(void *payload, struct rts_stream *st)
{
	struct join *j = payload;
	int r;

	j->stream = st;
	join_leave(j);
	r = atomic_load(&j->run->over) ? 0 : stream_wait_ended(st, "a model");
	if (r)
		run_stop(j->run, r, "the stream that the model ran on was stopped, or the device was reset");
	else if (!atomic_load(&j->run->over))
		run_help(j->run, st);
	j->linked = run_wait_for(j->run, st);
	return j->linked ? RTS_TASK_BLOCKED : join_result(j, st);
}

static void join_drop(void *payload)
{
	struct join *j = payload;

	join_leave(j);
	if (!atomic_load(&j->run->over))
		run_stop(j->run, ACL_ERROR_RT_STREAM_ABORT, "the stream that the model ran on was destroyed or aborted");
	run_put(j->run);
}

static const struct rts_task_type join_type = {
	.name = "model run", .run = join_run, .drop = join_drop, .ends_itself = true,
};

static int join_submit(struct model_run *run, struct rts_stream *st)
{
	struct join join = { .run = run_ref(run) };
	uint64_t position;
	int r = stream_submit_join(st, &join_type, &join, sizeof(join), &position);

	if (r)
		run_put(run);
	else
		run->start.target = position - 1;
	return r;
}

/* --- executing -------------------------------------------------------------------------------- */

/* model->lock */
static int plays_queue(struct model_run *run)
{
	struct rts_model *model = run->model;
	uint64_t last;
	int r = 0;

	run->number = ++model->runs;
	run->before = model->last; /* its reference */
	model->last = run_ref(run);
	for (struct model_track *t = model->tracks; t && !r; t = t->next) {
		if (!t->head)
			continue;
		r = track_submit(run, t, &last);
		if (!r)
			external_record(t, last);
	}
	return r;
}

/*
 * model->lock. The join goes first, so that what other threads queue on the stream meanwhile comes after the run. The count of active
 * tracks holds one of this function's own, so that the run is not over before it has been queued.
 */
static int run_queue(struct model_run *run, struct rts_stream *st)
{
	int r = join_submit(run, st);

	return r ? r : plays_queue(run);
}

static int execute_check(const struct rts_model *model)
{
	if (model->captured && atomic_load(&model->state) < MODEL_READY)
		return u_report(ACL_ERROR_RT_MODEL_CAPTURED, "model %u is still being captured", model->id);
	if (atomic_load(&model->state) != MODEL_READY || (!model->captured && !model->end))
		return u_report(ACL_ERROR_RT_MODEL_EXECUTE, "model %u is not complete: aclmdlRIEndTask and aclmdlRIBuildEnd come first",
				model->id);
	return 0;
}

static int run_launch(struct rts_model *model, struct rts_stream *st)
{
	struct model_run *run = run_new(model, st);
	int r;

	if (!run)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a run of a model");
	atomic_init(&run->active, 1);
	u_mutex_lock(&model->lock);
	r = execute_check(model); /* it may have been destroyed since, or a stream of it cleaned */
	if (!r) {
		external_capture(run);
		r = run_queue(run, st);
	}
	u_mutex_unlock(&model->lock);
	if (r && run->number)
		run_stop(run, r, "the run could not be queued");
	run_end_track(run);
	run_put(run);
	return r;
}

int run_branch(struct rts_model *model, struct rts_stream *st, struct model_run **out)
{
	struct model_run *run = run_new(model, NULL);
	int r = ACL_ERROR_RT_MEMORY_ALLOCATION;

	if (run) {
		atomic_init(&run->active, 1);
		u_mutex_lock(&model->lock);
		r = atomic_load(&model->state) == MODEL_READY ? 0 : ACL_ERROR_RT_MODEL_EXECUTE;
		if (!r) {
			external_capture(run);
			r = plays_queue(run);
		}
		u_mutex_unlock(&model->lock);
		if (r && run->number)
			run_stop(run, r, "the branch could not be queued");
		run_end_track(run);
	}
	if (!r) {
		*out = run;
		return 0;
	}
	run_put(run);
	rts_stream_explain(st, "branch %u has not been captured, or memory is short", model->id);
	return r;
}

static int execute_stream_check(const struct rts_stream *st)
{
	if (atomic_load(&st->state) & STREAM_CAPTURE)
		return u_report(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured; a model cannot run on it", rts_stream_id(st));
	if (st->flags & (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "stream %d has flags 0x%x; a model cannot run on it", rts_stream_id(st),
				rts_stream_flags(st));
	return 0;
}

static int execute(struct rts_model *model, struct rts_stream *st)
{
	int r = model_check_whole(model);

	if (!r)
		r = execute_stream_check(st);
	if (!r) {
		u_mutex_lock(&model->lock);
		r = execute_check(model);
		u_mutex_unlock(&model->lock);
	}
	if (!r)
		r = external_prepare(model);
	return r ? r : run_launch(model, st);
}

int rts_model_execute_async(aclmdlRI handle, aclrtStream stream)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r = model_get(handle, &model);

	if (!r)
		r = rts_stream_get(stream, &st);
	return r ? r : execute(model, st);
}

int rts_model_execute(aclmdlRI handle, int32_t timeout_ms)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r;

	if (timeout_ms == 0 || timeout_ms < -1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "timeout is %d ms; it must be positive, or -1 to wait for ever", timeout_ms);
	r = model_get(handle, &model);
	if (!r && model->captured)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "model %u was captured; such a one is run by aclmdlRIExecuteAsync", model->id);
	if (!r)
		r = rts_stream_get(NULL, &st);
	if (!r)
		r = execute(model, st);
	return r ? r : rts_stream_synchronize(st, timeout_ms);
}

int rts_model_abort(aclmdlRI handle)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	int r = model_get(handle, &model);

	if (!r)
		r = model_check_whole(model);
	if (r)
		return r;
	runs_stop(model, ACL_ERROR_RT_MODEL_ABORT_NORMAL, "the model was aborted (aclmdlRIAbort)");
	return model_runs_here(model) ? 0 : model_wait(model, ACL_ERROR_RT_MODEL_ABORT_NORMAL);
}
