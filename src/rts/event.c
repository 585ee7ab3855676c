/* SPDX-License-Identifier: MIT */
/* event.c - events as objects: creation, records, resets, and what the host asks about them. */
#include "rts/event_page.h"
#include "rts/model_impl.h"
#include "rts/pool.h"

#include <stdlib.h>

#define FLAGS_MIXED (ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | 0x4u | ACL_EVENT_TIME_LINE)
#define NS_PER_US 1000u

/* A record's task, where it has to note the time. */
struct time_task {
	struct rts_event *ev; /* a reference */
	uint64_t serial;
};

/* --- places ----------------------------------------------------------------------------------- */

bool place_reached(const struct event_place *p)
{
	return !p->stream || atomic_load(&p->stream->completed) >= p->target;
}

static void place_ref(const struct event_place *p)
{
	if (p->stream)
		rts_object_ref(&p->stream->obj);
}

struct event_place event_record_place(struct rts_event *ev)
{
	struct event_place place;

	u_lock_take(&ev->lock);
	place = ev->record;
	place_ref(&place);
	u_lock_give(&ev->lock);
	return place;
}

/* What asks for a place again and again waits for it: nobody else may be going to run the stream. */
static bool place_ask(struct event_place *p)
{
	bool reached = place_reached(p);

	if (!reached && atomic_load(&p->stream->owner) == OWNER_FREE)
		pool_add(p->stream, true);
	rts_stream_put(&p->stream);
	return reached;
}

/* --- objects ---------------------------------------------------------------------------------- */

int event_get(aclrtEvent handle, struct rts_event **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_EVENT);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"event %p is no live event of this process: destroyed, or never one", handle);
	*out = (struct rts_event *)obj;
	return 0;
}

void event_put(struct rts_event **ev)
{
	if (*ev)
		rts_object_put(&(*ev)->obj);
	*ev = NULL;
}

static void event_released(struct rts_object *obj)
{
	struct rts_event *ev = (struct rts_event *)obj;
	struct model_mark *mark = atomic_load(&ev->mark);

	mark_put(&mark);
	rts_stream_put(&ev->record.stream);
	rts_stream_put(&ev->reset.stream);
	if (ev->page)
		event_page_put(ev->page);
	if (ev->id >= 0 && !rts_process_forked())
		event_id_drop(ev);
	free(ev);
}

bool event_without_waits(const struct rts_event *ev)
{
	return !(ev->flags & (ACL_EVENT_SYNC | 0x4u | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC));
}

static int flags_check(uint32_t flags, bool ex)
{
	bool mixed = flags && !(flags & ~FLAGS_MIXED);

	if (mixed || (ex ? flags == ACL_EVENT_IPC : flags == ACL_EVENT_DEVICE_USE_ONLY || flags == ACL_EVENT_EXTERNAL))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%x; it must be made of the bits 0x%x, or %s alone", flags,
			FLAGS_MIXED, ex ? "ACL_EVENT_IPC (0x40)" : "ACL_EVENT_DEVICE_USE_ONLY (0x10) or ACL_EVENT_EXTERNAL (0x20)");
}

struct rts_event *event_alloc(uint32_t device, uint32_t flags, bool ex)
{
	struct rts_event *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return NULL;
	ev->device = device;
	ev->flags = flags;
	ev->ex = ex;
	ev->id = -1;
	ev->time_ns = EVENT_NO_TIME;
	atomic_init(&ev->record_kind, EVENT_NO_KIND);
	atomic_init(&ev->wait_kind, EVENT_NO_KIND);
	atomic_init(&ev->obj.refs, 1);
	ev->obj.release = event_released;
	return ev;
}

int event_publish(struct rts_event *ev, aclrtEvent *handle)
{
	int r = rts_object_publish(&ev->obj, RTS_EVENT, event_released);

	if (!r)
		*handle = ev->obj.handle;
	return r;
}

/* Those that streams wait for in hardware have their id from the start. */
static bool id_at_creation(uint32_t flags, bool ex)
{
	return !ex && flags != RTS_EVENT_ALL &&
	       (flags & (ACL_EVENT_SYNC | 0x4u | ACL_EVENT_EXTERNAL | ACL_EVENT_DEVICE_USE_ONLY));
}

int rts_event_create(uint32_t flags, bool ex, aclrtEvent *handle)
{
	struct rts_context *ctx;
	struct rts_event *ev;
	int r;

	r = rts_process_check_fork();
	if (!r)
		r = flags_check(flags, ex);
	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	ev = event_alloc(ctx->device, flags, ex);
	if (!ev)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for an event");
	if (flags == ACL_EVENT_IPC)
		r = event_ipc_create(ev);
	else if (id_at_creation(flags, ex))
		r = event_id_hold(ev);
	if (!r)
		r = event_publish(ev, handle);
	if (r)
		rts_object_put(&ev->obj);
	return r;
}

int rts_event_destroy(aclrtEvent handle)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_unpublish(handle, RTS_EVENT);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"event %p is no live event of this process: destroyed, or never one", handle);
	rts_object_put(obj);
	return 0;
}

/* --- checks ----------------------------------------------------------------------------------- */

int event_kind_check(_Atomic uint32_t *first, uint32_t kind, const char *what)
{
	uint32_t before = EVENT_NO_KIND;

	if (atomic_compare_exchange_strong(first, &before, kind) || before == kind)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is %u, and the event's first %s had %u; they cannot be mixed", kind,
			what, before);
}

static int device_only_check(const struct rts_event *ev, const char *what)
{
	if (ev->flags != ACL_EVENT_DEVICE_USE_ONLY)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "the event is for the device alone (ACL_EVENT_DEVICE_USE_ONLY); the host cannot %s it",
			what);
}

/* 207000 for events with one of @kinds (ACL_EVENT_EXTERNAL, _IPC), and for those of aclrtCreateEventExWithFlag if @old. */
static int support_check(struct rts_event *ev, uint32_t kinds, bool old, const char *what)
{
	if (event_captured(ev))
		return u_report(ACL_ERROR_RT_EVENT_CAPTURED, "the event belongs to a capture that is under way; it cannot be %s", what);
	if (!(ev->flags & kinds) && !(old && ev->ex))
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an event created with flag 0x%x%s cannot be %s", ev->flags,
			ev->ex ? " by aclrtCreateEventExWithFlag" : "", what);
}

/* --- recording -------------------------------------------------------------------------------- */

/* If that is still the event's last record. */
static void event_note_time(struct rts_event *ev, uint64_t serial)
{
	uint64_t now = u_now_ns();

	u_lock_take(&ev->lock);
	if (serial == ev->serial)
		ev->time_ns = now;
	u_lock_give(&ev->lock);
}

static int time_run(void *payload, struct rts_stream *st)
{
	struct time_task *t = payload;

	(void)st;
	event_note_time(t->ev, t->serial);
	return 0;
}

static void time_drop(void *payload)
{
	struct time_task *t = payload;

	event_put(&t->ev);
}

static const struct rts_task_type time_type = { .name = "event record", .run = time_run, .drop = time_drop };

/*
 * A new serial, so that the time of an earlier record is no longer of interest. The place follows: until then the event is what it
 * was, and the task cannot come first, because its time counts only for this serial.
 */
static uint64_t record_begin(struct rts_event *ev, uint64_t *time_before)
{
	uint64_t serial;

	u_lock_take(&ev->lock);
	serial = ++ev->serial;
	*time_before = ev->time_ns;
	ev->time_ns = EVENT_NO_TIME;
	u_lock_give(&ev->lock);
	return serial;
}

static void record_undo(struct rts_event *ev, uint64_t serial, uint64_t time_before)
{
	u_lock_take(&ev->lock);
	if (ev->serial == serial) {
		ev->serial--;
		ev->time_ns = time_before;
	}
	u_lock_give(&ev->lock);
}

/* Of two threads that record at once the later serial wins. */
static void record_end(struct rts_event *ev, uint64_t serial, struct event_place place)
{
	struct event_place old = { 0 }, reset = { 0 };

	place_ref(&place);
	u_lock_take(&ev->lock);
	if (serial == ev->serial) {
		old = ev->record;
		reset = ev->reset;
		ev->record = place;
		ev->recorded = serial;
		ev->reset = (struct event_place){ 0 };
		ev->was_reset = false;
	} else {
		old = place;
	}
	u_lock_give(&ev->lock);
	rts_stream_put(&old.stream);
	rts_stream_put(&reset.stream);
	event_resume_waiting(ev);
}

static int record_submit(struct rts_event *ev, struct rts_stream *st, uint64_t serial, uint64_t *target)
{
	const struct time_task t = { .ev = ev, .serial = serial };
	int r;

	if (!(ev->flags & ACL_EVENT_TIME_LINE))
		return rts_stream_position(st, target);
	rts_object_ref(&ev->obj);
	r = rts_stream_submit_at(st, &time_type, &t, sizeof(t), target);
	if (r)
		rts_object_put(&ev->obj);
	return r;
}

static int event_record(struct rts_event *ev, struct rts_stream *st)
{
	struct event_place place = { .stream = st };
	uint64_t serial, time;
	int r = 0;

	if (ev->page)
		return event_ipc_record(ev, st);
	if (!event_without_waits(ev))
		r = event_id_hold(ev);
	if (r)
		return r;
	serial = record_begin(ev, &time);
	r = record_submit(ev, st, serial, &place.target);
	if (r)
		record_undo(ev, serial, time);
	else
		record_end(ev, serial, place);
	return r;
}

void event_record_at(struct rts_event *ev, struct rts_stream *st, uint64_t target)
{
	const struct event_place place = { .stream = st, .target = target };
	uint64_t before, serial = record_begin(ev, &before);

	if (!st && (ev->flags & ACL_EVENT_TIME_LINE))
		event_note_time(ev, serial);
	record_end(ev, serial, place);
}

static int external_record_check(const struct rts_event *ev)
{
	if (ev->ex && ev->flags == ACL_EVENT_SYNC)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"ACL_EVENT_RECORD_EXTERNAL is for events of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone");
}

static int record_check(struct rts_event *ev, struct rts_stream *st, uint32_t kind)
{
	int r = device_only_check(ev, "record");

	if (!r && kind == ACL_EVENT_RECORD_EXTERNAL)
		r = external_record_check(ev);
	if (!r)
		r = event_kind_check(&ev->record_kind, kind, "record");
	if (!r && kind == ACL_EVENT_RECORD_EXTERNAL && !(atomic_load(&st->state) & STREAM_CAPTURE))
		r = u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
			     "stream %d is not being captured; ACL_EVENT_RECORD_EXTERNAL is for streams that are",
			     rts_stream_id(st));
	return r;
}

int rts_event_record(aclrtEvent handle, struct rts_stream *st, uint32_t kind)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);

	if (!r)
		r = record_check(ev, st, kind);
	if (!r)
		r = atomic_load(&st->state) & STREAM_RECORDS ? event_model_record(ev, st, kind) : event_record(ev, st);
	event_put(&ev);
	return r;
}

/* --- resetting -------------------------------------------------------------------------------- */

/* From the call on there is no record to wait for; until the stream comes to it the host sees the record's state. */
static int event_reset(struct rts_event *ev, struct rts_stream *st)
{
	struct event_place place = { .stream = st }, old;
	int r = rts_stream_position(st, &place.target);

	if (r)
		return r;
	place_ref(&place);
	u_lock_take(&ev->lock);
	old = ev->reset;
	ev->reset = place;
	ev->was_reset = true;
	u_lock_give(&ev->lock);
	rts_stream_put(&old.stream);
	return 0;
}

int rts_event_reset(aclrtEvent handle, struct rts_stream *st)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);

	if (!r)
		r = device_only_check(ev, "reset");
	if (!r)
		r = support_check(ev, ACL_EVENT_IPC, true, "reset");
	if (!r && event_without_waits(ev))
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an event with flag 0x%x is not waited for, so there is nothing to reset",
			     ev->flags);
	if (!r)
		r = atomic_load(&st->state) & STREAM_RECORDS ? event_model_reset(ev, st) : event_reset(ev, st);
	event_put(&ev);
	return r;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Of the record; *recorded: there is one, and it has not been reset. */
static bool event_complete(struct rts_event *ev, bool *recorded)
{
	struct event_place place;

	u_lock_take(&ev->lock);
	*recorded = ev->recorded && !(ev->was_reset && place_reached(&ev->reset));
	place = *recorded ? ev->record : (struct event_place){ 0 };
	place_ref(&place);
	u_lock_give(&ev->lock);
	return place_ask(&place);
}

int rts_event_query(aclrtEvent handle, bool *complete)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);
	bool recorded;

	if (!r)
		r = support_check(ev, ACL_EVENT_EXTERNAL, true, "asked with aclrtQueryEvent");
	if (!r)
		*complete = event_complete(ev, &recorded);
	event_put(&ev);
	return r;
}

int rts_event_query_status(aclrtEvent handle, bool *complete)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);
	bool recorded, done;

	if (!r)
		r = support_check(ev, ACL_EVENT_EXTERNAL, false, "asked by the host");
	if (!r) {
		done = ev->page ? event_ipc_complete(ev) : event_complete(ev, &recorded);
		*complete = done && (ev->ex || recorded);
	}
	event_put(&ev);
	return r;
}

int rts_event_query_waits(aclrtEvent handle, bool *complete)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);

	if (!r)
		r = support_check(ev, ACL_EVENT_EXTERNAL, true, "asked with aclrtQueryEventWaitStatus");
	if (!r)
		*complete = !atomic_load(&ev->waits);
	event_put(&ev);
	return r;
}

/* --- synchronising ---------------------------------------------------------------------------- */

int place_wait(const struct event_place *p, int32_t timeout_ms)
{
	uint64_t deadline = U_FOREVER;
	uint32_t aborts;

	if (place_reached(p))
		return 0;
	aborts = atomic_load(&p->stream->aborts);
	if (rts_stream_running_here(p->stream))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"a task of stream %d waits for an event recorded on its own stream; that would never end",
				rts_stream_id(p->stream));
	if (timeout_ms > 0)
		deadline = u_deadline(u_now_ns(), (uint64_t)timeout_ms * U_NS_PER_MS);
	if (stream_wait(p->stream, p->target, deadline, timeout_ms < 0))
		return u_report(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
				"stream %d has not come to the event's record after %d ms", rts_stream_id(p->stream), timeout_ms);
	if (atomic_load(&p->stream->aborts) != aborts)
		return u_report(atomic_load(&p->stream->abort_code),
				"stream %d was aborted before it came to the event's record", rts_stream_id(p->stream));
	return 0;
}

int rts_event_synchronize(aclrtEvent handle, int32_t timeout_ms)
{
	struct rts_event *ev = NULL;
	struct event_place place;
	int r;

	if (timeout_ms == 0 || timeout_ms < -1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"timeout is %d ms; it must be positive, or -1 to wait for ever", timeout_ms);
	r = event_get(handle, &ev);
	if (!r)
		r = support_check(ev, ACL_EVENT_EXTERNAL, false, "waited for by the host");
	if (!r && ev->page) {
		r = event_ipc_synchronize(ev, timeout_ms);
	} else if (!r) {
		place = event_record_place(ev);
		r = place_wait(&place, timeout_ms);
		rts_stream_put(&place.stream);
		rts_pool_settle();
	}
	event_put(&ev);
	return r;
}

/* --- time ------------------------------------------------------------------------------------- */

static int event_time(struct rts_event *ev, uint64_t *ns)
{
	bool recorded, reached;

	u_lock_take(&ev->lock);
	recorded = ev->recorded;
	reached = place_reached(&ev->record);
	*ns = ev->time_ns;
	u_lock_give(&ev->lock);
	if (!recorded)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the event has not been recorded, so it has no time");
	if (!reached || *ns == EVENT_NO_TIME)
		return u_report(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event has no time: %s",
				ev->flags & ACL_EVENT_TIME_LINE ? "its record has not been reached, or was dropped"
								: "it was created without ACL_EVENT_TIME_LINE");
	return 0;
}

static int elapsed(struct rts_event *start, struct rts_event *end, float *ms)
{
	uint64_t from, to;
	int r = support_check(start, ACL_EVENT_EXTERNAL | ACL_EVENT_IPC, false, "timed");

	if (!r)
		r = support_check(end, ACL_EVENT_EXTERNAL | ACL_EVENT_IPC, false, "timed");
	if (!r)
		r = event_time(start, &from);
	if (!r)
		r = event_time(end, &to);
	if (!r)
		*ms = (float)((double)(int64_t)(to - from) / (double)U_NS_PER_MS);
	return r;
}

int rts_event_elapsed(aclrtEvent start, aclrtEvent end, float *ms)
{
	struct rts_event *first = NULL, *last = NULL;
	int r = event_get(start, &first);

	if (!r)
		r = event_get(end, &last);
	if (!r)
		r = elapsed(first, last, ms);
	event_put(&first);
	event_put(&last);
	return r;
}

int rts_event_timestamp(aclrtEvent handle, uint64_t *us)
{
	struct rts_event *ev = NULL;
	uint64_t ns;
	int r = event_get(handle, &ev);

	if (!r)
		r = support_check(ev, ACL_EVENT_EXTERNAL | ACL_EVENT_IPC, false, "timed");
	if (!r)
		r = event_time(ev, &ns);
	if (!r)
		*us = ns / NS_PER_US;
	event_put(&ev);
	return r;
}
