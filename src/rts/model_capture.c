/* SPDX-License-Identifier: MIT */
/*
 * model_capture.c - captures: which streams are in them, who may do what meanwhile, and whether what they recorded is
 * whole.
 *
 * Rules and their order are those of CANN. A thread that has begun a capture must not wait or act at once (its mode
 * says whether others may); its own exchanged mode can lift that.
 */
#include "rts/memory.h"
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <unistd.h>

#define MODES (ACL_MODEL_RI_CAPTURE_MODE_RELAXED + 1)
/* Streams that the device schedules otherwise. */
#define FLAGS_UNFIT (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

atomic_uint captures;

static _Thread_local struct {
	uint32_t begun[MODES]; /* captures of this thread */
	aclmdlRICaptureMode exchanged;
} thread_mode;

/* --- modes ------------------------------------------------------------------------------------ */

/* The strictest mode in use; MODES: none. */
static unsigned strictest(const uint32_t begun[MODES])
{
	unsigned mode = 0;

	while (mode < MODES && !begun[mode])
		mode++;
	return mode;
}

static unsigned context_mode(struct rts_context *ctx)
{
	uint32_t begun[MODES];

	for (unsigned i = 0; i < MODES; i++)
		begun[i] = atomic_load(&ctx->captures[i]);
	return strictest(begun);
}

static void mode_enter(const struct rts_model *model)
{
	atomic_fetch_add(&captures, 1);
	atomic_fetch_add(&model->context->captures[model->mode], 1);
	thread_mode.begun[model->mode]++;
}

/* Not always by the thread that entered: then its own count stays, as on a card. */
static void mode_leave(const struct rts_model *model)
{
	if (thread_mode.begun[model->mode])
		thread_mode.begun[model->mode]--;
	atomic_fetch_sub(&model->context->captures[model->mode], 1);
	atomic_fetch_sub(&captures, 1);
}

static bool permits(struct rts_context *ctx)
{
	unsigned context = context_mode(ctx), own = strictest(thread_mode.begun);

	if (context == MODES)
		return true;
	switch (thread_mode.exchanged) {
	case ACL_MODEL_RI_CAPTURE_MODE_GLOBAL:
		return context != ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && own != ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
	case ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL:
		return own != ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && own != ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
	default:
		return true;
	}
}

int rts_capture_permits(const char *what, int code)
{
	struct rts_context *ctx;

	if (!atomic_load_explicit(&captures, memory_order_relaxed))
		return 0;
	ctx = rts_context_peek();
	if (!ctx || permits(ctx))
		return 0;
	return u_report(code,
			"%s acts at once, which a capture in this context forbids to this thread; in another mode of "
			"the capture, or of "
			"the thread (aclmdlRICaptureThreadExchangeMode), it is allowed",
			what);
}

static int mode_check(aclmdlRICaptureMode mode)
{
	if ((unsigned)mode < MODES)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"mode is %d; it must be one of ACL_MODEL_RI_CAPTURE_MODE_* (0 to 2)", (int)mode);
}

int rts_capture_exchange_mode(aclmdlRICaptureMode *mode)
{
	aclmdlRICaptureMode before = thread_mode.exchanged;
	struct rts_context *ctx;
	int r = mode_check(*mode);

	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	thread_mode.exchanged = *mode;
	*mode = before;
	return 0;
}

/* --- streams ---------------------------------------------------------------------------------- */

int capture_check_stream(const struct rts_stream *st)
{
	if (!(rts_stream_flags(st) & FLAGS_UNFIT))
		return 0;
	return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
			"stream %d has flags 0x%x; one with any of 0x%x cannot be captured", rts_stream_id(st),
			rts_stream_flags(st), FLAGS_UNFIT);
}

void capture_enter(struct rts_stream *st, struct model_track *track)
{
	rts_object_ref(&st->obj);
	track->source = st;
	track->next = track->model->tracks;
	track->model->tracks = track;
	atomic_store(&track->stream->track, track);
	atomic_store(&track->stream->priority, atomic_load(&st->priority));
	track->stream->options = st->options; /* of cores, and of overflow */
	atomic_store(&st->track, track);
	stream_state_change(st, STREAM_CAPTURE, 0);
}

/* Later calls for events of this capture find none. */
static void marks_close(struct model_track *track)
{
	for (struct model_step *s = track->first; s; s = s->next)
		mark_close(s);
}

void capture_leave(struct rts_model *model)
{
	if (!model->captured || !model->origin)
		return;
	for (struct model_track *t = model->tracks; t; t = t->next) {
		if (t->source) {
			stream_state_change(t->source, 0, STREAM_CAPTURE);
			t->source->group = NULL;
			atomic_store(&t->source->track, NULL);
		}
		rts_stream_put(&t->source);
		marks_close(t);
	}
	mode_leave(model);
}

void capture_invalidate(struct rts_model *model)
{
	enum model_state recording = MODEL_RECORDING;

	atomic_compare_exchange_strong(&model->state, &recording, MODEL_INVALID);
}

/* For beginning and ending. */
static int capture_stream(aclrtStream handle, struct rts_stream **out)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r = rts_process_check_fork();

	if (!r)
		r = rts_stream_get_any(handle, &st);
	if (!r)
		r = capture_check_stream(st);
	if (!r)
		r = rts_stream_own(st);
	if (!r && atomic_load(&st->context->default_stream) == st)
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream %d is a default stream; it cannot be captured",
			     rts_stream_id(st));
	if (r)
		return r;
	*out = st;
	st = NULL;
	return 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* models_lock */
static int begin_check(const struct rts_model *model, const struct rts_stream *st)
{
	if (model->origin || atomic_load(&model->state) != MODEL_RECORDING)
		return u_report(ACL_ERROR_RT_MODEL_CAPTURED, "model %u has been captured already, or is being",
				model->id);
	if (atomic_load(&st->track))
		return u_report(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured already", rts_stream_id(st));
	return group_check_idle(st);
}

static int capture_begin(struct rts_model *model, struct rts_stream *st, aclmdlRICaptureMode mode)
{
	struct model_track *track;
	int r = track_new(model, NULL, &track);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = begin_check(model, st);
	if (!r) {
		model->mode = mode;
		model->origin = track;
		model->thread = (uint64_t)gettid();
		capture_enter(st, track);
		mode_enter(model);
	}
	u_mutex_unlock(&models_lock);
	if (!r)
		return 0;
	stream_remove(track->stream);
	track_free(track);
	return r;
}

int rts_capture_begin(aclrtStream handle, aclmdlRICaptureMode mode)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct rts_model *model;
	int r = mode_check(mode);

	if (!r)
		r = capture_stream(handle, &st);
	if (!r)
		r = rts_stream_check_captured(st, "captured again");
	if (!r)
		r = model_new(st->context, true, &model);
	if (r)
		return r;
	r = capture_begin(model, st, mode);
	if (r)
		model_discard(model);
	return r;
}

int rts_capture_begin_branch(aclrtStream handle, aclmdlRI branch, aclmdlRICaptureMode mode)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r = model_get_any(branch, &model);

	if (!r && !model->branch)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "model %u is no branch (aclmdlRIAddCondTask)", model->id);
	if (!r)
		r = mode_check(mode);
	if (!r)
		r = capture_stream(handle, &st);
	if (!r && model->context != st->context)
		r = u_report(ACL_ERROR_RT_MODEL_CONTEXT, "model %u belongs to another context than stream %d",
			     model->id, rts_stream_id(st));
	if (!r)
		r = rts_stream_check_captured(st, "captured again");
	return r ? r : capture_begin(model, st, mode);
}

/* --- ending ----------------------------------------------------------------------------------- */

/* models_lock. What a stream that joined did last must have been waited for. */
static int joined_check(const struct rts_model *model)
{
	bool alone = true, joined = false;

	for (const struct model_track *t = model->tracks; t; t = t->next) {
		const struct model_mark *mark = t->last ? mark_of(t->last) : NULL;

		if (t == model->origin)
			continue;
		alone = false;
		if (!mark || !mark->waited)
			return u_report(
				ACL_ERROR_RT_STREAM_UNJOINED, "stream %d joined the capture of stream %d, and %s",
				rts_stream_id(t->source), rts_stream_id(model->origin->source),
				mark ? "nobody waits for its last record" : "its last task is not an event's record");
		joined |= mark->waited_by_origin;
	}
	if (alone || joined)
		return 0;
	return u_report(ACL_ERROR_RT_STREAM_UNJOINED,
			"stream %d, on which the capture began, waits for none of the streams that joined it",
			rts_stream_id(model->origin->source));
}

static int end_check(const struct rts_model *model)
{
	int r;

	if (model->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && model->thread != (uint64_t)gettid())
		return u_report(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
				"the capture was begun by thread %llu; only in ACL_MODEL_RI_CAPTURE_MODE_RELAXED "
				"another may end it",
				(unsigned long long)model->thread);
	if (atomic_load(&model->state) == MODEL_INVALID)
		return u_report(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
				"an earlier call that failed has broken the capture");
	r = conds_check(model);
	if (!r)
		r = groups_check(model);
	return r ? r : joined_check(model);
}

/* models_lock. *model: the capture is over, for good or not. */
static int capture_end(struct rts_stream *st, bool wanted, struct rts_model **model)
{
	struct model_track *track = atomic_load(&st->track);
	int r;

	if (!track)
		return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured", rts_stream_id(st));
	if (track != track->model->origin)
		return u_report(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
				"stream %d joined a capture that began on stream %d", rts_stream_id(st),
				rts_stream_id(track->model->origin->source));
	if (!wanted && !track->model->branch)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL; it must be where the model goes");
	*model = track->model;
	r = end_check(*model);
	capture_leave(*model);
	atomic_store(&(*model)->state, r ? MODEL_GONE : MODEL_READY);
	return r;
}

int rts_capture_end(aclrtStream handle, aclmdlRI *out)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct rts_model *model = NULL;
	aclmdlRI result = NULL;
	bool branch;
	int r = capture_stream(handle, &st);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = capture_end(st, out, &model);
	branch = model && model->branch;
	if (!r)
		result = model->obj.handle;
	u_mutex_unlock(&models_lock);
	/* A branch goes with the model that it belongs to. */
	if (r && model && !branch)
		model_discard(model);
	if (out && !branch)
		*out = result;
	return r;
}

int rts_capture_info(aclrtStream handle, aclmdlRICaptureStatus *status, aclmdlRI *out)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	aclmdlRICaptureStatus now = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
	struct model_track *track;
	aclmdlRI model = NULL;
	int r = rts_process_check_fork();

	if (!r)
		r = rts_stream_get_any(handle, &st);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	if (track && track->source == st) {
		model = track->model->obj.handle;
		now = atomic_load(&track->model->state) == MODEL_RECORDING ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
									   : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
	}
	u_mutex_unlock(&models_lock);
	if (status)
		*status = now;
	if (out)
		*out = model;
	return 0;
}
