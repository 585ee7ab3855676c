/* SPDX-License-Identifier: MIT */
/* model.c - models as objects: tracks and steps, waiting, the end. */
#include "rts/fault.h"
#include "rts/halt.h"
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define DESTROY_WAIT_MS 10000

struct u_mutex models_lock = U_MUTEX_INIT(RANK_MODELS, "models");

static struct rts_model *all; /* that have not been closed; models_lock */
static atomic_uint ids;
static uint64_t serials; /* models_lock */
static _Thread_local uint64_t last_serial;

struct rts_model *models_first(void)
{
	return all;
}

uint64_t model_last_serial(void)
{
	return last_serial;
}

/* --- steps and tracks ------------------------------------------------------------------------- */

static void step_free(struct model_step *step)
{
	if (step->slot.type->drop)
		step->slot.type->drop(step->slot.payload);
	free(step->info[0].text);
	free(step->info[1].text);
	free(step);
}

void steps_free(struct model_step *step)
{
	struct model_step *next;

	for (; step; step = next) {
		next = step->next;
		step_free(step);
	}
}

int track_append(struct model_track *track, const struct rts_task_type *type, const void *payload, size_t size)
{
	struct model_step *step;
	int r = group_check(track, type);

	if (r)
		return r;
	step = aligned_alloc(_Alignof(struct task_slot), sizeof(*step));
	if (!step)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a recorded task");
	step->next = NULL;
	step->serial = last_serial = ++serials;
	memset(step->info, 0, sizeof(step->info));
	step->slot.type = type;
	step->slot.thread = (uint64_t)gettid();
	if (size)
		memcpy(step->slot.payload, payload, size);
	if (track->last)
		track->last->next = step;
	else
		track->first = step;
	track->last = step;
	track->count++;
	track->plays += type == &model_external_record_type;
	track->worker_only |= type->worker_only;
	group_note(track, step);
	return 0;
}

int track_new(struct rts_model *model, struct rts_stream *stream, struct model_track **out)
{
	struct model_track *track = calloc(1, sizeof(*track));
	int r = 0;

	if (!track)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a stream of a model");
	if (!stream)
		r = rts_stream_create(model->context, RTS_PRIORITY_GREATEST, ACL_STREAM_PERSISTENT, &stream);
	if (r) {
		free(track);
		return r;
	}
	*track = (struct model_track){ .model = model, .stream = stream, .head = true, .plays = 1 };
	*out = track;
	return 0;
}

void track_free(struct model_track *track)
{
	steps_free(track->first);
	rts_stream_put(&track->source);
	rts_stream_put(&track->stream);
	free(track);
}

bool model_record(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size, int *code)
{
	struct model_track *track;
	int r = 0;

	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	if (track && atomic_load(&track->model->state) >= MODEL_READY)
		r = u_report(ACL_ERROR_RT_STREAM_MODEL,
			     "stream %d belongs to a model that is complete, and takes no more tasks",
			     rts_stream_id(st));
	else if (track)
		r = track_append(track, type, payload, size);
	u_mutex_unlock(&models_lock);
	*code = r;
	return track;
}

/* --- models ----------------------------------------------------------------------------------- */

int model_get_any(aclmdlRI handle, struct rts_model **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_MODEL);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"model %p is no live model of this process: destroyed, or never one", handle);
	*out = (struct rts_model *)obj;
	return 0;
}

int model_get(aclmdlRI handle, struct rts_model **out)
{
	struct rts_model *model = NULL;
	struct rts_context *ctx;
	int r = model_get_any(handle, &model);

	if (!r)
		r = rts_context_current(&ctx);
	if (!r && model->context != ctx)
		r = u_report(ACL_ERROR_RT_MODEL_CONTEXT,
			     "model %u belongs to another context than this thread's current one (device %d)",
			     model->id, rts_device_to_user(ctx->device));
	if (r)
		model_put(&model);
	else
		*out = model;
	return r;
}

int model_check_whole(const struct rts_model *model)
{
	if (!model->branch)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"model %u is a branch of another, with which it runs and goes", model->id);
}

void model_put(struct rts_model **model)
{
	if (*model)
		rts_object_put(&(*model)->obj);
	*model = NULL;
}

static void callbacks_free(struct model_callback *cb)
{
	struct model_callback *next;

	for (; cb; cb = next) {
		next = cb->next;
		free(cb);
	}
}

static void model_released(struct rts_object *obj)
{
	struct rts_model *model = (struct rts_model *)obj;
	struct model_track *next;

	for (struct model_track *t = model->tracks; t; t = next) {
		next = t->next;
		track_free(t);
	}
	callbacks_free(model->callbacks);
	groups_free(model);
	conds_free(model);
	rts_object_put(&model->context->obj);
	u_mutex_destroy(&model->lock);
	free(model);
}

int model_new(struct rts_context *ctx, bool captured, struct rts_model **out)
{
	struct rts_model *model = calloc(1, sizeof(*model));
	int r;

	if (!model)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a model");
	fault_start();
	model->context = ctx;
	model->captured = captured;
	model->id = atomic_fetch_add(&ids, 1);
	u_mutex_init(&model->lock, RANK_MODEL_RUN, "model");
	rts_object_ref(&ctx->obj);
	r = rts_object_publish(&model->obj, RTS_MODEL, model_released);
	if (r) {
		rts_object_put(&ctx->obj);
		u_mutex_destroy(&model->lock);
		free(model);
		return r;
	}
	u_mutex_lock(&models_lock);
	model->next_all = all;
	if (all)
		all->prev_all = model;
	all = model;
	u_mutex_unlock(&models_lock);
	*out = model;
	return 0;
}

/* models_lock. */
static void model_unlink(struct rts_model *model)
{
	if (model->prev_all)
		model->prev_all->next_all = model->next_all;
	else
		all = model->next_all;
	if (model->next_all)
		model->next_all->prev_all = model->prev_all;
}

/*
 * Streams that were bound are free again; the model's own go. Tracks stay until the last run has let the model go. Who
 * asks from inside of a run does not wait for its step, which is the last one.
 */
static void streams_release(struct rts_model *model)
{
	for (struct model_track *t = model->tracks; t; t = t->next) {
		if (!rts_stream_running_here(t->stream))
			stream_wait(t->stream, atomic_load(&t->stream->submitted), U_FOREVER, false);
		u_mutex_lock(&models_lock);
		atomic_store(&t->stream->track, NULL);
		u_mutex_unlock(&models_lock);
		if (model->captured)
			stream_remove(t->stream);
	}
}

/* The winner of the handle ends the model. */
static void model_close(struct rts_model *model)
{
	struct model_callback *callbacks;

	u_mutex_lock(&models_lock);
	if (atomic_load(&model->state) < MODEL_READY)
		capture_leave(model);
	u_mutex_lock(&model->lock);
	atomic_store(&model->state, MODEL_GONE); /* no run is queued from here on */
	u_mutex_unlock(&model->lock);
	model_unlink(model);
	callbacks = model->callbacks;
	model->callbacks = NULL;
	u_mutex_unlock(&models_lock);
	runs_stop(model, ACL_ERROR_RT_STREAM_ABORT, "the model was destroyed while it ran");
	for (struct model_callback *cb = callbacks; cb; cb = cb->next)
		cb->fn(cb->arg);
	callbacks_free(callbacks);
	groups_close(model);
	conds_close(model);
	streams_release(model);
	rts_object_put(&model->obj);
}

void model_discard(struct rts_model *model)
{
	if (rts_object_unpublish(model->obj.handle, RTS_MODEL))
		model_close(model);
}

/* --- waiting for its runs --------------------------------------------------------------------- */

struct rts_stream *model_stream(struct rts_model *model, uint32_t index)
{
	struct rts_stream *st = NULL;
	struct model_track *t;

	u_mutex_lock(&models_lock);
	for (t = model->tracks; t && index; t = t->next)
		index--;
	if (t) {
		st = t->stream;
		rts_object_ref(&st->obj);
	}
	u_mutex_unlock(&models_lock);
	return st;
}

bool model_runs_here(struct rts_model *model)
{
	bool here = false;

	u_mutex_lock(&models_lock);
	for (struct model_track *t = model->tracks; t && !here; t = t->next)
		here = rts_stream_running_here(t->stream);
	u_mutex_unlock(&models_lock);
	return here;
}

static bool tracks_idle(const struct rts_model *model)
{
	for (struct model_track *t = model->tracks; t; t = t->next)
		if (stream_pending(t->stream))
			return false;
	return true;
}

int model_lock_idle(struct rts_model *model)
{
	int r;

	for (;;) {
		r = model_wait(model, 0);
		if (r)
			return r;
		u_mutex_lock(&models_lock);
		u_mutex_lock(&model->lock);
		if (tracks_idle(model))
			return 0;
		u_mutex_unlock(&model->lock);
		u_mutex_unlock(&models_lock);
	}
}

void model_unlock(struct rts_model *model)
{
	u_mutex_unlock(&model->lock);
	u_mutex_unlock(&models_lock);
}

/* Kernels end at once where they can, if @halt is a code. */
static int track_wait(struct rts_stream *st, uint64_t deadline, int halt)
{
	uint64_t target = atomic_load(&st->submitted);
	int r;

	do {
		uint64_t now = u_now_ns(), round = u_deadline(now, U_NS_PER_MS);

		if (halt)
			halt_stream(st, HALT_ANY_TASK, halt);
		r = stream_wait(st, target, halt && round < deadline ? round : deadline, false);
		if (now >= deadline)
			break;
	} while (r);
	return r;
}

int model_wait(struct rts_model *model, int halt)
{
	uint64_t deadline = u_deadline(u_now_ns(), DESTROY_WAIT_MS * U_NS_PER_MS);
	int r = model_runs_here(model) ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : 0;
	struct rts_stream *st;

	for (uint32_t i = 0; !r && (st = model_stream(model, i)); i++) {
		r = track_wait(st, deadline, halt);
		rts_stream_put(&st);
	}
	if (halt)
		halt_settle();
	if (r)
		return u_report(ACL_ERROR_RT_MODEL_RUNNING, "model %u is running", model->id);
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

int rts_model_destroy(aclmdlRI handle)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	int r = model_get(handle, &model);

	if (!r)
		r = model_check_whole(model);
	if (!r && model->captured && atomic_load(&model->state) < MODEL_READY)
		r = u_report(ACL_ERROR_RT_MODEL_CAPTURED, "model %u is still being captured", model->id);
	if (!r)
		r = model_wait(model, 0);
	if (r)
		return r;
	if (!rts_object_unpublish(handle, RTS_MODEL))
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "model %u is being destroyed by another thread",
				model->id);
	model_close(model);
	return 0;
}

/* The handle's reference to a model of @ctx, which the caller closes. */
static struct rts_model *model_take(const struct rts_context *ctx)
{
	struct rts_object *obj = NULL;

	u_mutex_lock(&models_lock);
	for (struct rts_model *m = all; m && !obj; m = m->next_all)
		if (m->context == ctx)
			obj = rts_object_unpublish(m->obj.handle, RTS_MODEL);
	u_mutex_unlock(&models_lock);
	return (struct rts_model *)obj;
}

void rts_models_shutdown(struct rts_context *ctx)
{
	struct rts_model *model;

	while ((model = model_take(ctx)))
		model_close(model);
}
