/* SPDX-License-Identifier: MIT */
/*
 * event_ipc.c - events between processes: records and waits by tickets of the event's pages (event_page.h).
 *
 * A wait whose recorder has died fails with 507057, as one for a notify does: it would last for ever. A thread that waits for the
 * stream sleeps on the pages; a worker has other streams, so its wait is looked at again every now and then.
 */
#include "rts/event_impl.h"
#include "rts/event_page.h"
#include "rts/notify.h"

#define LOOK_PAUSES 64 /* about 1 us */
#define NAP_MIN_NS (50 * UINT64_C(1000))
#define NAP_MAX_NS (2 * U_NS_PER_MS)
#define SLEEP_NS (100 * U_NS_PER_MS) /* nobody is trusted to wake us */
#define LIFE_NS (200 * U_NS_PER_MS) /* between looks whether the recorder is alive */

struct ipc_task {
	struct rts_event *ev; /* a reference */
	struct rts_stream *stream; /* of a wait, once it has run */
	uint64_t timeout_ns, deadline; /* 0: none */
	uint64_t nap_ns;
	uint64_t life; /* when to ask about the recorder */
	uint32_t ticket;
	bool polled;
};

/* --- recording -------------------------------------------------------------------------------- */

static int record_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	(void)st;
	return 0;
}

/* Also for a record that was abandoned: nobody shall wait for it. */
static void record_drop(void *payload)
{
	struct ipc_task *t = payload;

	event_page_complete(t->ev->page, t->ticket);
	event_put(&t->ev);
}

static const struct rts_task_type record_type = { .name = "event record", .run = record_run, .drop = record_drop };

/* What this process recorded last is a place in a stream as well, which its own threads can wait for. */
static void record_note(struct rts_event *ev, struct rts_stream *st, uint64_t target, uint32_t ticket)
{
	struct event_place old;

	rts_object_ref(&st->obj);
	u_lock_take(&ev->lock);
	old = ev->record;
	ev->record = (struct event_place){ .stream = st, .target = target };
	ev->ticket = ticket;
	u_lock_give(&ev->lock);
	rts_stream_put(&old.stream);
}

int event_ipc_record(struct rts_event *ev, struct rts_stream *st)
{
	struct ipc_task t = { .ev = ev };
	uint64_t target;
	int r = rts_stream_position(st, &target);

	if (!r)
		r = event_page_record(ev->page, &t.ticket);
	if (r)
		return r;
	rts_object_ref(&ev->obj);
	r = rts_stream_submit_at(st, &record_type, &t, sizeof(t), &target);
	if (r)
		record_drop(&t);
	else
		record_note(ev, st, target, t.ticket);
	return r;
}

/* --- waiting on a stream ---------------------------------------------------------------------- */

static int wait_check_ipc(struct ipc_task *t, struct rts_stream *st)
{
	uint64_t now = u_now_ns();
	int r = stream_wait_ended(st, "an event of another process");

	if (r)
		return r;
	if (t->deadline && now >= t->deadline) {
		rts_stream_explain(st, "stream %d waited %llu s for an event, and its record was not reached", st->id,
				   (unsigned long long)(t->timeout_ns / U_NS_PER_S));
		return ACL_ERROR_RT_TASK_TIMEOUT;
	}
	if (now < t->life)
		return 0;
	t->life = now + LIFE_NS;
	if (!event_page_lost(t->ev->page, t->ticket))
		return 0;
	rts_stream_explain(st, "stream %d waits for an event, and the process that recorded it has ended", st->id);
	return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
}

static bool wait_look(const struct ipc_task *t)
{
	for (unsigned i = 0; i < LOOK_PAUSES && u_cores() > 1; i++) {
		if (event_page_done(t->ev->page, t->ticket))
			return true;
		u_relax();
	}
	return event_page_done(t->ev->page, t->ticket);
}

static uint64_t earlier(uint64_t until, uint64_t deadline)
{
	return deadline && deadline < until ? deadline : until;
}

/*
 * Sleeps on the pages. Who ends the stream sets its state, then looks at parked_on and wakes the word; if he does so just before the
 * system call, the sleep is short anyway.
 */
static int wait_here(struct ipc_task *t, struct rts_stream *st)
{
	int r = 0;

	pool_worker_blocks();
	while (!r && !(atomic_load(&st->state) & STREAM_DROP) && !event_page_done(t->ev->page, t->ticket)) {
		r = wait_check_ipc(t, st);
		atomic_store(&st->parked_on, event_page_word(t->ev->page));
		if (!r && !(atomic_load(&st->state) & (STREAM_DROP | STREAM_NO_WAITS)) && !stream_task_stopped(st))
			event_page_sleep(t->ev->page, t->ticket, earlier(u_now_ns() + SLEEP_NS, t->deadline));
		atomic_store(&st->parked_on, NULL);
	}
	pool_worker_continues();
	return r;
}

static int wait_later(struct ipc_task *t, struct rts_stream *st)
{
	int r = wait_check_ipc(t, st);

	if (!r)
		r = poll_add(st, NULL, NULL, earlier(u_now_ns() + t->nap_ns, t->deadline));
	if (r)
		return r;
	t->polled = true;
	t->nap_ns = t->nap_ns < NAP_MAX_NS / 2 ? t->nap_ns * 2 : NAP_MAX_NS;
	return RTS_TASK_BLOCKED;
}

static int wait_run(void *payload, struct rts_stream *st)
{
	struct ipc_task *t = payload;

	if (!t->stream) {
		t->life = u_now_ns() + LIFE_NS;
		t->nap_ns = NAP_MIN_NS;
		if (t->timeout_ns)
			t->deadline = u_deadline(u_now_ns(), t->timeout_ns);
	}
	t->stream = st;
	if (t->polled)
		poll_forget(st);
	t->polled = false;
	if (wait_look(t))
		return 0;
	return stream_may_park(st) ? wait_here(t, st) : wait_later(t, st);
}

static void wait_drop(void *payload)
{
	struct ipc_task *t = payload;

	if (t->polled)
		poll_forget(t->stream);
	event_put(&t->ev);
}

static const struct rts_task_type wait_type = { .name = "event wait", .run = wait_run, .drop = wait_drop };

int event_ipc_wait(struct rts_event *ev, struct rts_stream *st, uint32_t seconds)
{
	struct ipc_task t = { .ev = ev, .timeout_ns = seconds * U_NS_PER_S, .ticket = event_page_current(ev->page) };
	uint64_t position;
	int r = rts_stream_position(st, &position);

	if (r || event_page_done(ev->page, t.ticket))
		return r;
	rts_object_ref(&ev->obj);
	r = rts_stream_submit(st, &wait_type, &t, sizeof(t));
	if (r)
		event_put(&t.ev);
	return r;
}

/* --- the host --------------------------------------------------------------------------------- */

bool event_ipc_complete(struct rts_event *ev)
{
	return event_page_done(ev->page, event_page_current(ev->page));
}

static int sync_others(struct rts_event *ev, uint32_t ticket, int32_t timeout_ms)
{
	uint64_t now = u_now_ns(), life = now + LIFE_NS;
	uint64_t deadline = timeout_ms > 0 ? u_deadline(now, (uint64_t)timeout_ms * U_NS_PER_MS) : 0;
	int r = 0;

	pool_worker_blocks();
	for (; !r && !event_page_done(ev->page, ticket); now = u_now_ns()) {
		if (deadline && now >= deadline)
			r = u_report(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event's record was not reached after %d ms", timeout_ms);
		else if (now >= life && event_page_lost(ev->page, ticket))
			r = u_report(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "the process that recorded the event has ended");
		else
			event_page_sleep(ev->page, ticket, earlier(now + SLEEP_NS, deadline));
		if (now >= life)
			life = now + LIFE_NS;
	}
	pool_worker_continues();
	return r;
}

int event_ipc_synchronize(struct rts_event *ev, int32_t timeout_ms)
{
	uint32_t ticket = event_page_current(ev->page);
	struct event_place place = { 0 };
	int r;

	if (event_page_done(ev->page, ticket))
		return 0;
	u_lock_take(&ev->lock);
	if (ev->ticket == ticket && ev->record.stream) {
		place = ev->record;
		rts_object_ref(&place.stream->obj);
	}
	u_lock_give(&ev->lock);
	if (!place.stream)
		return sync_others(ev, ticket, timeout_ms);
	r = place_wait(&place, timeout_ms);
	rts_stream_put(&place.stream);
	return r;
}

/* --- creating and naming ---------------------------------------------------------------------- */

int event_ipc_create(struct rts_event *ev)
{
	if (!(rts_profile()->features & RTS_FEATURE_IPC_EVENT))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no events between processes (ACL_EVENT_IPC)",
				rts_profile()->soc);
	return event_page_create(ev->device, &ev->page);
}

int rts_event_name(aclrtEvent handle, aclrtIpcEventHandle *name)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);

	if (r)
		return r;
	if (!ev->page)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID,
			     "the event was created with flag 0x%x; only one of aclrtCreateEventExWithFlag with ACL_EVENT_IPC has a handle",
			     ev->flags);
	else
		r = event_page_name(ev->page, name);
	event_put(&ev);
	return r;
}

/* Both devices get access to each other, as by the import of memory. */
static int open_peers(struct rts_event *ev)
{
	uint32_t creator = event_page_device(ev->page);

	if (creator >= VINCI_MAX_DEVICES)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "the event's pages name a device that there is not");
	return creator == ev->device ? 0 : rts_peer_enable_both(ev->device, creator);
}

int rts_event_open(struct rts_context *ctx, const aclrtIpcEventHandle *name, aclrtEvent *handle)
{
	struct rts_event *ev;
	int r = rts_process_check_fork();

	if (r)
		return r;
	ev = event_alloc(ctx->device, ACL_EVENT_IPC, true);
	if (!ev)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for an event");
	r = event_page_open(name, ctx->device, &ev->page);
	if (!r)
		r = open_peers(ev);
	if (!r)
		r = event_publish(ev, handle);
	if (r)
		rts_object_put(&ev->obj);
	return r;
}
