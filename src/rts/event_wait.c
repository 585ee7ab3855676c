/* SPDX-License-Identifier: MIT */
/*
 * event_wait.c - streams that wait for events.
 *
 * What a wait waits for is a place in another stream. If nobody runs that stream, the waiting one's thread does so itself, up to the
 * place: two streams that wait for each other in turns are then run by one thread, without a word to another core.
 */
#include "rts/model_impl.h"
#include "rts/notify.h"
#include "rts/pool.h"

#define DEPTH_MAX 4 /* streams run inside of each other's waits; more would need a larger stack */
#define LOOK_PAUSES 64 /* about 1 us */

struct wait_task {
	struct rts_event *ev; /* a reference */
	struct event_place place; /* with a reference; none: of the record after `after` */
	uint64_t after; /* serial */
	struct rts_stream *stream; /* its own, once it has run */
	uint64_t timeout_ns; /* 0: none */
	uint64_t deadline; /* 0: not started yet */
	bool needs_record; /* place is not known yet */
	bool watching; /* the place's stream */
	bool listed; /* with the event */
	bool polled;
};

_Static_assert(sizeof(struct wait_task) <= RTS_TASK_BYTES, "a wait fits into its slot");

static _Atomic uint32_t wait_limit; /* seconds */

static _Thread_local unsigned depth;

void rts_event_set_wait_limit(uint32_t seconds)
{
	atomic_store(&wait_limit, seconds);
}

uint32_t rts_event_wait_limit(void)
{
	return atomic_load(&wait_limit);
}

/* --- waits that have no record yet ------------------------------------------------------------ */

static void waiting_unlink(struct rts_event *ev, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		ev->waiting = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
}

static struct rts_stream *waiting_pop(struct rts_event *ev)
{
	struct rts_stream *st = NULL;

	u_lock_take(&ev->lock);
	if (ev->waiting) {
		st = ev->waiting->stream;
		waiting_unlink(ev, ev->waiting);
		rts_object_ref(&st->obj);
	}
	u_lock_give(&ev->lock);
	return st;
}

void event_resume_waiting(struct rts_event *ev)
{
	struct rts_stream *st;

	while ((st = waiting_pop(ev))) {
		rts_stream_resume(st);
		rts_stream_put(&st);
	}
}

/* Takes over the record's place, or joins those that wait for one. True: there is a place. */
static bool wait_find_place(struct wait_task *t, struct rts_stream *st)
{
	struct rts_event *ev = t->ev;
	struct stream_wait *w = &st->wait;

	u_lock_take(&ev->lock);
	if (ev->recorded > t->after) {
		t->place = ev->record;
		if (t->place.stream)
			rts_object_ref(&t->place.stream->obj);
		t->needs_record = false;
	} else {
		*w = (struct stream_wait){ .stream = st, .next = ev->waiting, .linked = ev };
		if (w->next)
			w->next->prev = w;
		ev->waiting = w;
		t->listed = true;
	}
	u_lock_give(&ev->lock);
	return !t->needs_record;
}

/* --- the task --------------------------------------------------------------------------------- */

/* This run is a new one: nobody looks after it any more. */
static void wait_leave(struct wait_task *t)
{
	if (t->watching)
		stream_unwatch(t->stream, t->place.stream);
	if (t->listed) {
		u_lock_take(&t->ev->lock);
		if (t->stream->wait.linked)
			waiting_unlink(t->ev, &t->stream->wait);
		u_lock_give(&t->ev->lock);
	}
	if (t->polled)
		poll_forget(t->stream);
	t->watching = t->listed = t->polled = false;
}

static int wait_may_go_on(struct wait_task *t, struct rts_stream *st)
{
	int r = stream_wait_ended(st, "an event");

	if (r)
		return r;
	if (t->deadline && u_now_ns() >= t->deadline) {
		rts_stream_explain(st, "stream %d waited %llu s for an event, and its record was not reached", st->id,
				   (unsigned long long)(t->timeout_ns / U_NS_PER_S));
		return ACL_ERROR_RT_TASK_TIMEOUT;
	}
	return 0;
}

/* Somebody else is running the stream: he may come to the place in a moment. */
static bool place_look(const struct event_place *p)
{
	for (unsigned i = 0; i < LOOK_PAUSES && u_cores() > 1; i++) {
		if (place_reached(p))
			return true;
		if (atomic_load(&p->stream->owner) == OWNER_BLOCKED)
			return false;
		u_relax();
	}
	return place_reached(p);
}

void stream_help(struct rts_stream *st, struct rts_stream *other, uint64_t target)
{
	if (depth >= DEPTH_MAX || !stream_try_own(other, st->on_worker))
		return;
	depth++;
	if (stream_run(other, target) != RUN_BLOCKED)
		stream_release(other);
	depth--;
}

/* Tasks that run long must not make a wait miss its deadline, so a wait that has one runs none. */
static bool place_run(const struct wait_task *t, struct rts_stream *st)
{
	if (!t->deadline)
		stream_help(st, t->place.stream, t->place.target);
	return place_look(&t->place);
}

/* The stream is resumed at the place, at a record or at the deadline, whichever is first. */
static int wait_block(struct wait_task *t, struct rts_stream *st)
{
	int r;

	if (t->deadline) {
		r = poll_add(st, NULL, NULL, t->deadline);
		if (r)
			return r;
		t->polled = true;
	}
	return RTS_TASK_BLOCKED;
}

static int wait_run(void *payload, struct rts_stream *st)
{
	struct wait_task *t = payload;
	int r;

	t->stream = st;
	wait_leave(t);
	if (t->timeout_ns && !t->deadline)
		t->deadline = u_deadline(u_now_ns(), t->timeout_ns);
	if (!t->needs_record && place_reached(&t->place))
		return 0;
	r = wait_may_go_on(t, st);
	if (r)
		return r;
	if (t->needs_record && !wait_find_place(t, st))
		return wait_block(t, st);
	if (t->place.stream == st || place_reached(&t->place) || place_run(t, st))
		return 0;
	t->watching = !stream_watch(st, t->place.stream, t->place.target);
	return t->watching ? wait_block(t, st) : 0;
}

static void wait_drop(void *payload)
{
	struct wait_task *t = payload;

	wait_leave(t);
	atomic_fetch_sub(&t->ev->waits, 1);
	rts_stream_put(&t->place.stream);
	event_put(&t->ev);
}

static const struct rts_task_type wait_type = { .name = "event wait", .run = wait_run, .drop = wait_drop };

/* --- submitting ------------------------------------------------------------------------------- */

/* What there is to wait for now; false: nothing. 107000 for an event that has no record and whose hardware cannot wait for one. */
static int wait_capture(struct rts_event *ev, struct rts_stream *st, struct wait_task *t, bool *needed)
{
	bool recorded;

	u_lock_take(&ev->lock);
	recorded = ev->recorded && !ev->was_reset;
	t->after = ev->recorded;
	*needed = recorded ? ev->record.stream != st && !place_reached(&ev->record) : !ev->ex;
	if (recorded && *needed) {
		t->place = ev->record;
		rts_object_ref(&t->place.stream->obj);
	} else if (recorded && ev->record.stream) {
		rts_pool_ordered(st, rts_stream_identity(ev->record.stream), ev->record.target);
	}
	u_lock_give(&ev->lock);
	t->needs_record = !recorded;
	if (!recorded && *needed && ev->flags == RTS_EVENT_ALL)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the event has not been recorded, and one of aclrtCreateEvent is recorded before it is waited for");
	return 0;
}

static int event_wait(struct rts_event *ev, struct rts_stream *st, uint32_t seconds)
{
	struct wait_task t = { .ev = ev, .timeout_ns = seconds * U_NS_PER_S };
	const void *other;
	uint64_t position;
	bool needed;
	int r = rts_stream_position(st, &position); /* a stream that takes no tasks says so even when there is nothing to wait for */

	if (!r)
		r = wait_capture(ev, st, &t, &needed);
	if (r || !needed)
		return r;
	rts_object_ref(&ev->obj);
	atomic_fetch_add(&ev->waits, 1);
	other = rts_stream_identity(t.place.stream);
	r = rts_stream_submit(st, &wait_type, &t, sizeof(t));
	if (r)
		wait_drop(&t);
	else
		rts_pool_ordered(st, other, t.place.target);
	return r;
}

/* A copy of a recorded wait begins: it waits for what there is to wait for now. */
static int wait_again(void *payload, struct rts_stream *st)
{
	struct wait_task *t = payload;
	bool needed;
	int r;

	rts_object_ref(&t->ev->obj);
	atomic_fetch_add(&t->ev->waits, 1);
	r = wait_capture(t->ev, st, t, &needed);
	if (r)
		wait_drop(t);
	t->needs_record &= needed;
	return r;
}

static void wait_forget(void *payload)
{
	event_put(&((struct wait_task *)payload)->ev);
}

static const struct rts_task_type recorded_wait_type = {
	.name = "event wait", .run = wait_run, .drop = wait_forget, .again = wait_again, .leave = wait_drop,
};

int event_wait_append(struct model_track *track, struct rts_event *ev, uint32_t seconds)
{
	const struct wait_task t = { .ev = ev, .timeout_ns = seconds * U_NS_PER_S };
	int r;

	rts_object_ref(&ev->obj);
	r = track_append(track, &recorded_wait_type, &t, sizeof(t));
	if (r)
		rts_object_put(&ev->obj);
	return r;
}

static int external_wait_check(const struct rts_event *ev, struct rts_stream *st)
{
	if (!ev->ex || ev->flags != ACL_EVENT_SYNC)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"ACL_EVENT_WAIT_EXTERNAL is for events of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone");
	return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
			"stream %d is not being captured; ACL_EVENT_WAIT_EXTERNAL is for streams that are", rts_stream_id(st));
}

static int event_wait_check(struct rts_event *ev, struct rts_stream *st, uint32_t kind)
{
	int r;

	if (ev->flags == ACL_EVENT_DEVICE_USE_ONLY)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the event is for the device alone (ACL_EVENT_DEVICE_USE_ONLY); no stream can wait for it");
	if (event_without_waits(ev))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"the event's flag is 0x%x; streams wait for events with ACL_EVENT_SYNC", ev->flags);
	if (kind == ACL_EVENT_WAIT_EXTERNAL && (!ev->ex || ev->flags != ACL_EVENT_SYNC))
		return external_wait_check(ev, st);
	r = event_kind_check(&ev->wait_kind, kind, "wait");
	if (r || kind != ACL_EVENT_WAIT_EXTERNAL || (atomic_load(&st->state) & STREAM_CAPTURE))
		return r;
	return external_wait_check(ev, st);
}

int rts_event_wait(aclrtEvent handle, struct rts_stream *st, uint32_t seconds, uint32_t kind)
{
	struct rts_event *ev = NULL;
	bool recorded = false;
	int r = event_get(handle, &ev);

	if (!r)
		r = event_wait_check(ev, st, kind);
	if (!r && (atomic_load(&ev->mark) || (atomic_load(&st->state) & STREAM_RECORDS)))
		r = event_model_wait(ev, st, seconds, kind, &recorded);
	if (!r && !recorded)
		r = ev->page ? event_ipc_wait(ev, st, seconds) : event_wait(ev, st, seconds);
	event_put(&ev);
	return r;
}
