/* SPDX-License-Identifier: MIT */
/* model_build.c - models that a program puts together of streams. */
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include "acl/acl_mdl.h"

/* models_lock. */
static void track_link(struct model_track *track)
{
	track->next = track->model->tracks;
	track->model->tracks = track;
	atomic_store(&track->stream->track, track);
}

static void track_unlink(struct model_track *track)
{
	struct model_track **at;

	for (at = &track->model->tracks; *at != track; at = &(*at)->next)
		;
	*at = track->next;
	track->model = NULL; /* a label in it leads nowhere from now on */
	atomic_store(&track->stream->track, NULL);
}

/* Takes out what the track has recorded; the caller frees it without the lock. */
static struct model_step *track_clear(struct model_track *track)
{
	struct model_step *steps = track->first;

	track->first = track->last = NULL;
	track->count = 0;
	track->plays = 1;
	track->worker_only = false;
	if (track->model->end == track)
		track->model->end = NULL;
	return steps;
}

int rts_model_build_begin(aclmdlRI *handle)
{
	struct rts_context *ctx;
	struct rts_model *model;
	int r = rts_process_check_fork();

	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = model_new(ctx, false, &model);
	if (!r)
		*handle = model->obj.handle;
	return r;
}

/* A model of the current context that is being built or was, and a stream of it. */
static int built_get(aclmdlRI handle, aclrtStream stream, struct rts_model **model, struct rts_stream **st)
{
	int r = model_get(handle, model);

	if (!r && (*model)->captured)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "model %u was captured; its streams are its own",
			     (*model)->id);
	return r ? r : rts_stream_get(stream, st);
}

static int bind_check(const struct rts_stream *st)
{
	unsigned state = atomic_load(&st->state);

	if (state & STREAM_CAPTURE)
		return u_report(ACL_ERROR_RT_STREAM_CAPTURED,
				"stream %d is being captured; it cannot be bound to a model", st->id);
	if (state & STREAM_STOPS)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"stream %d stops on failure; it cannot be bound to a model", st->id);
	if (!(st->flags & ACL_STREAM_PERSISTENT))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"stream %d has flags 0x%x; one that is bound to a model needs ACL_STREAM_PERSISTENT",
				st->id, st->flags);
	return 0;
}

static int stream_bind(struct rts_model *model, struct rts_stream *st, bool head)
{
	struct model_track *track;
	bool bound;
	int r = bind_check(st);

	if (r)
		return r;
	rts_object_ref(&st->obj);
	r = track_new(model, st, &track);
	if (r) {
		rts_object_put(&st->obj);
		return r;
	}
	track->head = head;
	u_mutex_lock(&models_lock);
	bound = atomic_load(&st->track);
	if (!bound && atomic_load(&model->state) == MODEL_RECORDING)
		track_link(track);
	else
		r = ACL_ERROR_RT_STREAM_MODEL;
	u_mutex_unlock(&models_lock);
	if (!r)
		return 0;
	track_free(track);
	return u_report(
		r, bound ? "stream %d is bound to a model already" : "stream %d cannot be bound: the model is complete",
		rts_stream_id(st));
}

int rts_model_bind(aclmdlRI handle, aclrtStream stream, uint32_t flag)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r;

	if (flag != ACL_MODEL_STREAM_FLAG_HEAD && flag != ACL_MODEL_STREAM_FLAG_DEFAULT)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"flag is 0x%x; it must be ACL_MODEL_STREAM_FLAG_HEAD (0) or "
				"ACL_MODEL_STREAM_FLAG_DEFAULT (0x%x)",
				flag, ACL_MODEL_STREAM_FLAG_DEFAULT);
	r = built_get(handle, stream, &model, &st);
	return r ? r : stream_bind(model, st, flag == ACL_MODEL_STREAM_FLAG_HEAD);
}

static int end_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	atomic_store(&run_of(st)->ended, true);
	return 0;
}

static const struct rts_task_type end_type = { .name = "model end", .run = end_run };

/* models_lock; NULL if the stream is not bound to the model, or that is going with its tracks. */
static struct model_track *track_of(struct rts_model *model, struct rts_stream *st)
{
	struct model_track *track = atomic_load(&st->track);

	return track && track->model == model && atomic_load(&model->state) != MODEL_GONE ? track : NULL;
}

int rts_model_end_task(aclmdlRI handle, aclrtStream stream)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct model_track *track;
	int r = built_get(handle, stream, &model, &st);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	track = track_of(model, st);
	if (!track)
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is not bound to model %u", rts_stream_id(st),
			     model->id);
	else if (model->end || atomic_load(&model->state) != MODEL_RECORDING)
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the end of model %u has been marked already", model->id);
	else
		r = track_append(track, &end_type, NULL, 0);
	if (!r)
		model->end = track;
	u_mutex_unlock(&models_lock);
	return r;
}

int rts_model_build_end(aclmdlRI handle)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	enum model_state recording = MODEL_RECORDING;
	int r = model_get(handle, &model);

	if (!r && model->captured)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID,
			     "model %u was captured; aclmdlRICaptureEnd completes such a one", model->id);
	if (!r)
		atomic_compare_exchange_strong(&model->state, &recording, MODEL_READY);
	return r;
}

int rts_model_unbind(aclmdlRI handle, aclrtStream stream)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct model_track *track;
	struct model_step *steps = NULL;
	int r = built_get(handle, stream, &model, &st);

	if (!r)
		r = model_lock_idle(model);
	if (r)
		return r;
	track = track_of(model, st);
	if (track) {
		steps = track_clear(track);
		track_unlink(track);
	}
	model_unlock(model);
	if (!track)
		return u_report(ACL_ERROR_RT_STREAM_MODEL, "stream %d is not bound to model %u", rts_stream_id(st),
				model->id);
	steps_free(steps);
	track_free(track);
	return 0;
}

static int clean_check(const struct rts_stream *st)
{
	if (st->flags & ACL_STREAM_PERSISTENT)
		return 0;
	return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
			"stream %d has flags 0x%x; only one with ACL_STREAM_PERSISTENT keeps tasks", st->id, st->flags);
}

int rts_stream_clean(aclrtStream stream)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct model_track *track;
	struct model_step *steps = NULL;
	int r = rts_stream_get(stream, &st);

	if (!r)
		r = clean_check(st);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	if (track && !track->model->captured && atomic_load(&track->model->state) == MODEL_READY) {
		model = track->model;
		rts_object_ref(&model->obj);
	}
	u_mutex_unlock(&models_lock);
	if (!model)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is not bound to a model that is complete",
				rts_stream_id(st));
	r = model_lock_idle(model);
	if (r)
		return r;
	track = track_of(model, st);
	if (track) {
		steps = track_clear(track);
		atomic_store(&model->state, MODEL_RECORDING);
	}
	model_unlock(model);
	if (!track)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d has just been taken from its model",
				rts_stream_id(st));
	steps_free(steps);
	return 0;
}
