/* SPDX-License-Identifier: MIT */
/*
 * event_model.c - events in models.
 *
 * A record in a capture makes a mark, and a wait for the event in the same capture waits for the mark, in each run
 * anew; so the event only carries the mark from one call to the other. By it a stream joins a capture. The external
 * kinds are about the event itself: a run's record and wait are those of the moment at which the run is queued. Events
 * of the old kind are recorded, waited for and reset when the model comes to it.
 */
#include "rts/model_impl.h"
#include "rts/notify.h"
#include "util/cleanup.h"

#include <stdlib.h>

/* Payload of a wait for a mark, or for what an external wait waits for. */
struct mark_wait {
	struct model_mark *mark;       /* a reference; NULL: external */
	struct rts_event *ev;	       /* a reference of an external wait */
	uint32_t index;		       /* in the run's waits */
	struct rts_stream *stream;     /* its own, once it has run */
	uint64_t timeout_ns, deadline; /* 0: none */
	bool linked;		       /* with the mark */
	bool watching;		       /* the external place */
	bool polled;
};

/* Payload of what happens to an event when the model comes to it. */
struct event_step {
	struct rts_event *ev; /* a reference */
};

static const struct rts_task_type mark_type;

/* --- marks ------------------------------------------------------------------------------------ */

void mark_put(struct model_mark **mark)
{
	struct model_mark *m = *mark;

	*mark = NULL;
	if (m && atomic_fetch_sub(&m->refs, 1) == 1)
		free(m);
}

static struct model_mark *mark_ref(struct model_mark *mark)
{
	atomic_fetch_add(&mark->refs, 1);
	return mark;
}

static void mark_unlink(struct model_mark *m, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		m->waiting = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
}

static struct rts_stream *mark_pop(struct model_mark *m)
{
	struct rts_stream *st = NULL;

	u_lock_take(&m->lock);
	if (m->waiting) {
		st = m->waiting->stream;
		mark_unlink(m, m->waiting);
		rts_object_ref(&st->obj);
	}
	u_lock_give(&m->lock);
	return st;
}

/* models_lock. Of a capture that is under way; NULL: none. */
static struct model_mark *mark_open(struct rts_event *ev)
{
	struct model_mark *mark = atomic_load(&ev->mark);

	return mark && mark->track ? mark : NULL;
}

struct model_mark *mark_of(const struct model_step *step)
{
	return step->slot.type == &mark_type ? ((const struct mark_wait *)step->slot.payload)->mark : NULL;
}

void mark_close(struct model_step *step)
{
	struct model_mark *mark = mark_of(step);

	if (mark)
		mark->track = NULL;
}

bool event_captured(struct rts_event *ev)
{
	bool captured;

	if (!atomic_load(&ev->mark))
		return false;
	u_mutex_lock(&models_lock);
	captured = mark_open(ev);
	u_mutex_unlock(&models_lock);
	return captured;
}

/* --- steps of captured events ----------------------------------------------------------------- */

static int mark_run(void *payload, struct rts_stream *st)
{
	struct model_mark *m = ((struct mark_wait *)payload)->mark;
	struct rts_stream *waiter;

	atomic_store(&m->reached, run_of(st)->number);
	while ((waiter = mark_pop(m))) {
		rts_stream_resume(waiter);
		rts_stream_put(&waiter);
	}
	return 0;
}

static void mark_wait_leave(void *payload)
{
	struct mark_wait *t = payload;

	if (t->linked) {
		u_lock_take(&t->mark->lock);
		if (t->stream->wait.linked)
			mark_unlink(t->mark, &t->stream->wait);
		u_lock_give(&t->mark->lock);
	}
	if (t->watching)
		stream_unwatch(t->stream, run_of(t->stream)->waits[t->index].stream);
	if (t->polled)
		poll_forget(t->stream);
	t->linked = t->watching = t->polled = false;
}

static void mark_wait_drop(void *payload)
{
	struct mark_wait *t = payload;

	mark_put(&t->mark);
	event_put(&t->ev);
}

/* Links the stream, then looks; mark_run() stores, then looks at the list. */
static bool mark_look(struct mark_wait *t, struct rts_stream *st)
{
	struct model_mark *m = t->mark;
	struct stream_wait *w = &st->wait;
	uint64_t number = run_of(st)->number;

	if (atomic_load(&m->reached) == number)
		return true;
	u_lock_take(&m->lock);
	*w = (struct stream_wait){ .stream = st, .next = m->waiting, .linked = m };
	if (w->next)
		w->next->prev = w;
	m->waiting = w;
	u_lock_give(&m->lock);
	t->linked = true;
	return atomic_load(&m->reached) == number;
}

static bool place_look(struct mark_wait *t, struct rts_stream *st)
{
	const struct event_place *p = &run_of(st)->waits[t->index];

	if (!place_reached(p) && !t->deadline)
		stream_help(st, p->stream, p->target);
	if (place_reached(p))
		return true;
	t->watching = !stream_watch(st, p->stream, p->target);
	return !t->watching;
}

static int mark_wait_failed(struct mark_wait *t, struct rts_stream *st)
{
	int r = stream_wait_ended(st, "an event");

	if (r)
		return r;
	if (!t->deadline || u_now_ns() < t->deadline)
		return 0;
	rts_stream_explain(st, "it waited %llu s for an event, and its record was not reached",
			   (unsigned long long)(t->timeout_ns / U_NS_PER_S));
	return ACL_ERROR_RT_TASK_TIMEOUT;
}

static int mark_wait_run(void *payload, struct rts_stream *st)
{
	struct mark_wait *t = payload;
	int r;

	t->stream = st;
	mark_wait_leave(t);
	if (t->timeout_ns && !t->deadline)
		t->deadline = u_deadline(u_now_ns(), t->timeout_ns);
	if (t->mark ? mark_look(t, st) : place_look(t, st))
		return 0;
	r = mark_wait_failed(t, st);
	if (!r && t->deadline) {
		r = poll_add(st, NULL, NULL, t->deadline);
		t->polled = !r;
	}
	return r ? r : RTS_TASK_BLOCKED;
}

static int nothing_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	(void)st;
	return 0;
}

static const struct rts_task_type mark_type = { .name = "event record", .run = mark_run, .drop = mark_wait_drop };
static const struct rts_task_type mark_wait_type = {
	.name = "event wait",
	.run = mark_wait_run,
	.drop = mark_wait_drop,
	.leave = mark_wait_leave,
};
const struct rts_task_type model_external_record_type = {
	.name = "external event record",
	.run = nothing_run,
	.drop = mark_wait_drop,
};

/* --- steps of events of the old kind ---------------------------------------------------------- */

static int record_now(void *payload, struct rts_stream *st)
{
	(void)st;
	event_record_at(((struct event_step *)payload)->ev, NULL, 0);
	return 0;
}

static int reset_now(void *payload, struct rts_stream *st)
{
	struct rts_event *ev = ((struct event_step *)payload)->ev;
	struct event_place old;

	(void)st;
	u_lock_take(&ev->lock);
	old = ev->reset;
	ev->reset = (struct event_place){ 0 };
	ev->was_reset = true;
	u_lock_give(&ev->lock);
	rts_stream_put(&old.stream);
	return 0;
}

static void event_step_drop(void *payload)
{
	event_put(&((struct event_step *)payload)->ev);
}

static const struct rts_task_type record_now_type = { .name = "event record",
						      .run = record_now,
						      .drop = event_step_drop };
static const struct rts_task_type reset_now_type = { .name = "event reset", .run = reset_now, .drop = event_step_drop };

/* --- recording -------------------------------------------------------------------------------- */

/* The device could not wait for or record it there. */
static int old_event_check(const struct rts_event *ev, const struct rts_stream *st, const char *what)
{
	bool bound = atomic_load(&st->state) & STREAM_MODEL;

	if (bound ? !ev->ex && ev->flags != RTS_EVENT_ALL : ev->flags == ACL_EVENT_EXTERNAL && !ev->ex)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"an event created with flag 0x%x%s cannot be %s on stream %d, which %s", ev->flags,
			ev->ex ? " by aclrtCreateEventExWithFlag" : "", what, rts_stream_id(st),
			bound ? "is bound to a model" : "is being captured");
}

/* models_lock. The event comes at most once in a model as an external one. */
static bool external_used(const struct rts_model *model, const struct rts_event *ev)
{
	for (const struct model_track *t = model->tracks; t; t = t->next)
		for (const struct model_step *s = t->first; s; s = s->next)
			if ((s->slot.type == &model_external_record_type || s->slot.type == &mark_wait_type) &&
			    ((const struct mark_wait *)s->slot.payload)->ev == ev)
				return true;
	return false;
}

static int append_external(struct model_track *track, struct rts_event *ev, const struct rts_task_type *type,
			   uint32_t seconds)
{
	struct mark_wait t = { .ev = ev, .index = track->model->external_waits, .timeout_ns = seconds * U_NS_PER_S };
	int r;

	if (external_used(track->model, ev))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the event has been recorded or waited for as an external one in this capture; "
				"once in each is the most");
	rts_object_ref(&ev->obj);
	r = track_append(track, type, &t, sizeof(t));
	if (r)
		rts_object_put(&ev->obj);
	else
		track->model->external_waits += type == &mark_wait_type;
	return r;
}

static int append_event(struct model_track *track, struct rts_event *ev, const struct rts_task_type *type)
{
	const struct event_step t = { .ev = ev };
	int r;

	rts_object_ref(&ev->obj);
	r = track_append(track, type, &t, sizeof(t));
	if (r)
		rts_object_put(&ev->obj);
	return r;
}

/* Both captures are spoilt. */
static int conflict(struct model_mark *mark, struct model_track *track, const char *what)
{
	capture_invalidate(mark->track->model);
	capture_invalidate(track->model);
	return u_report(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
			"the event was recorded or waited for in model %u, and is %s in model %u",
			mark->track->model->id, what, track->model->id);
}

int mark_append(struct model_track *track, struct model_mark **out)
{
	struct model_mark *mark = calloc(1, sizeof(*mark));
	int r;

	if (!mark)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a recorded event");
	atomic_init(&mark->refs, 1);
	r = track_append(track, &mark_type, &(struct mark_wait){ .mark = mark }, sizeof(struct mark_wait));
	if (r) {
		free(mark);
		return r;
	}
	*out = mark;
	return 0;
}

int mark_wait_append(struct model_track *track, struct model_mark *mark, uint32_t seconds)
{
	struct mark_wait t = { .mark = mark_ref(mark), .timeout_ns = seconds * U_NS_PER_S };
	int r = track_append(track, &mark_wait_type, &t, sizeof(t));

	if (r)
		mark_put(&t.mark);
	return r;
}

static int append_mark(struct model_track *track, struct rts_event *ev)
{
	struct model_mark *old = mark_open(ev), *mark;
	int r;

	if (old && old->track->model != track->model)
		return conflict(old, track, "recorded");
	r = mark_append(track, &mark);
	if (r)
		return r;
	mark->track = track;
	mark->step = track->last;
	old = atomic_exchange(&ev->mark, mark_ref(mark));
	mark_put(&old);
	return 0;
}

static int append_record(struct model_track *track, struct rts_event *ev, struct rts_stream *st, uint32_t kind)
{
	int r;

	if (kind == ACL_EVENT_RECORD_EXTERNAL)
		return append_external(track, ev, &model_external_record_type, 0);
	if ((atomic_load(&st->state) & STREAM_CAPTURE) && ev->ex && ev->flags != ACL_EVENT_IPC)
		return event_without_waits(ev) ? 0 : append_mark(track, ev);
	r = old_event_check(ev, st, "recorded");
	return r ? r : append_event(track, ev, &record_now_type);
}

/* The capture's end comes between looking and locking seldom: then it is as if it had come before the call. */
static int not_recorded(const struct rts_stream *st)
{
	return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "the capture of stream %d has just ended", rts_stream_id(st));
}

int event_model_record(struct rts_event *ev, struct rts_stream *st, uint32_t kind)
{
	struct model_track *track;
	int r = event_without_waits(ev) ? 0 : event_id_hold(ev);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	r = track ? append_record(track, ev, st, kind) : not_recorded(st);
	u_mutex_unlock(&models_lock);
	return r;
}

int event_model_reset(struct rts_event *ev, struct rts_stream *st)
{
	struct model_track *track;
	int r = old_event_check(ev, st, "reset");

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	r = track ? append_event(track, ev, &reset_now_type) : not_recorded(st);
	u_mutex_unlock(&models_lock);
	return r;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* The stream that @st records into in the capture of @mark, which it joins if it is in none. */
static int capture_track(struct model_mark *mark, struct rts_stream *st, struct model_track **out)
{
	struct rts_model *model = mark->track->model;
	struct model_track *track = atomic_load(&st->track);
	int r = capture_check_stream(st);

	if (!r && atomic_load(&st->context->default_stream) == st)
		r = u_report(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
			     "stream %d is a default stream; it cannot wait for an event of a capture",
			     rts_stream_id(st));
	if (!r && !track)
		r = group_check_idle(st);
	if (!r && !track && atomic_load(&model->state) != MODEL_RECORDING)
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the capture of model %u is not valid any more", model->id);
	if (!r && track && track->model != model)
		r = conflict(mark, track, "waited for");
	if (!r && !track) {
		r = track_new(model, NULL, &track);
		if (!r)
			capture_enter(st, track);
	}
	if (!r)
		*out = track;
	return r;
}

static int append_mark_wait(struct model_mark *mark, struct rts_stream *st, uint32_t seconds)
{
	struct model_track *track = NULL;
	int r = capture_track(mark, st, &track);

	if (!r)
		r = mark_wait_append(track, mark, seconds);
	if (r) {
		capture_invalidate(mark->track->model);
		return r;
	}
	mark->waited = true;
	mark->waited_by_origin |= track == track->model->origin && mark->track != track;
	return 0;
}

static bool event_recorded(struct rts_event *ev)
{
	bool recorded;

	u_lock_take(&ev->lock);
	recorded = ev->recorded;
	u_lock_give(&ev->lock);
	return recorded;
}

/* A wait of a stream that is recorded for an event that no capture has recorded. */
static int append_wait(struct model_track *track, struct rts_event *ev, struct rts_stream *st, uint32_t seconds)
{
	int r;

	if ((atomic_load(&st->state) & STREAM_CAPTURE) && ev->ex && ev->flags != ACL_EVENT_IPC) {
		if (!event_recorded(ev))
			return 0;
		return u_report(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
				"the event was recorded outside of the capture of stream %d; "
				"ACL_EVENT_WAIT_EXTERNAL waits for such a one",
				rts_stream_id(st));
	}
	r = old_event_check(ev, st, "waited for");
	return r ? r : event_wait_append(track, ev, seconds);
}

int event_model_wait(struct rts_event *ev, struct rts_stream *st, uint32_t seconds, uint32_t kind, bool *recorded)
{
	struct model_track *track;
	struct model_mark *mark;
	int r = 0;

	u_mutex_lock(&models_lock);
	track = atomic_load(&st->track);
	mark = mark_open(ev);
	*recorded = track || mark;
	if (kind == ACL_EVENT_WAIT_EXTERNAL)
		r = track ? append_external(track, ev, &mark_wait_type, seconds) : 0;
	else if (mark)
		r = append_mark_wait(mark, st, seconds);
	else if (track)
		r = append_wait(track, ev, st, seconds);
	u_mutex_unlock(&models_lock);
	return r;
}

/* --- external ones, when a run is queued ------------------------------------------------------ */

int external_prepare(struct rts_model *model)
{
	int r = 0;

	if (!model->captured)
		return 0; /* built ones have none, and their tracks may be unbound just now */
	for (struct model_track *t = model->tracks; t; t = t->next) {
		if (t->plays == 1)
			continue;
		for (struct model_step *s = t->first; s && !r; s = s->next)
			if (s->slot.type == &model_external_record_type)
				r = event_id_hold(((struct mark_wait *)s->slot.payload)->ev);
	}
	return r;
}

void external_record(struct model_track *track, uint64_t last)
{
	uint64_t position = last - (track->plays - 1);

	if (track->plays == 1)
		return;
	for (struct model_step *s = track->first; s; s = s->next)
		if (s->slot.type == &model_external_record_type)
			event_record_at(((struct mark_wait *)s->slot.payload)->ev, track->stream, position++);
}

void external_capture(struct model_run *run)
{
	if (!run->wait_count)
		return;
	for (struct model_track *t = run->model->tracks; t; t = t->next)
		for (struct model_step *s = t->first; s; s = s->next) {
			const struct mark_wait *w = (const struct mark_wait *)s->slot.payload;

			if (s->slot.type == &mark_wait_type && !w->mark)
				run->waits[w->index] = event_record_place(w->ev);
		}
}
