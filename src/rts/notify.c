/* SPDX-License-Identifier: MIT */
/* notify.c - notifies as objects, their ids, and records and waits within the process. */
#include "rts/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDS_BATCH 16 /* reserved at a time: creating seldom asks the device */

/* Ids that this process holds and does not use; first in, first out, because the device may still know the last user of one. */
static struct id_cache {
	uint32_t *ring;
	uint32_t room, head, count;
	uint32_t held; /* all that were reserved: they fit into the ring */
	uint64_t epoch;
} id_caches[VINCI_MAX_DEVICES];

static struct u_mutex ids_lock = U_MUTEX_INIT(RANK_NOTIFY_IDS, "notify ids");

/* --- ids -------------------------------------------------------------------------------------- */

static bool ids_room(struct id_cache *c, uint32_t count)
{
	uint32_t room = c->held + count;
	uint32_t *ring;

	if (room <= c->room)
		return true;
	ring = malloc(room * sizeof(*ring));
	if (!ring)
		return false;
	for (uint32_t i = 0; i < c->count; i++)
		ring[i] = c->ring[(c->head + i) % c->room];
	free(c->ring);
	c->ring = ring;
	c->room = room;
	c->head = 0;
	return true;
}

static void ids_push(struct id_cache *c, uint32_t id)
{
	c->ring[(c->head + c->count++) % c->room] = id;
}

static int ids_reserve(struct id_cache *c, uint32_t device)
{
	uint32_t count = IDS_BATCH, first;
	int r;

	if (!ids_room(c, IDS_BATCH))
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a notify");
	r = drv_notify_ids(rts_drv(), device, &count, &first);
	if (r == -ENOSPC)
		return u_report(ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
				"device %d has no notify left: %s allows %u, those of all processes together",
				rts_device_to_user(device), rts_profile()->soc, rts_profile()->notify_limit);
	if (!r && (count > IDS_BATCH || !count))
		r = -EPROTO;
	if (r)
		return u_report(rts_errno_code(VINCI_SHARE_NOTIFY, RTS_OP_NOTIFY_CREATE, r),
				"the device did not give an id for a notify: %s", rts_errno_text(r));
	for (uint32_t i = 0; i < count; i++)
		ids_push(c, first + i);
	c->held += count;
	return 0;
}

int notify_id_take(uint32_t device, uint32_t *id)
{
	struct id_cache *c = &id_caches[device];
	int r = 0;

	u_mutex_lock(&ids_lock);
	if (c->epoch != rts_process_epoch()) {
		c->epoch = rts_process_epoch();
		c->held = c->count = 0;
	}
	if (!c->count)
		r = ids_reserve(c, device);
	if (!r) {
		*id = c->ring[c->head];
		c->head = (c->head + 1) % c->room;
		c->count--;
	}
	u_mutex_unlock(&ids_lock);
	return r;
}

void notify_id_give(struct rts_notify *n)
{
	struct id_cache *c = &id_caches[n->device];

	u_mutex_lock(&ids_lock);
	if (n->epoch == c->epoch && n->epoch == rts_process_epoch())
		ids_push(c, atomic_load(&n->id));
	u_mutex_unlock(&ids_lock);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void notify_released(struct rts_object *obj)
{
	struct rts_notify *n = (struct rts_notify *)obj;
	struct shared_word *sw = atomic_load(&n->shared);

	if (sw)
		word_put(sw);
	if (!n->imported && !rts_process_forked())
		notify_id_give(n);
	u_mutex_destroy(&n->lock);
	free(n);
}

struct rts_notify *notify_alloc(uint32_t device)
{
	static _Atomic uint32_t serial;
	struct rts_notify *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->device = device;
	n->epoch = rts_process_epoch();
	n->serial = atomic_fetch_add(&serial, 1) + 1;
	atomic_init(&n->obj.refs, 1);
	n->obj.release = notify_released;
	u_mutex_init(&n->lock, RANK_NOTIFY_LIST, "notify");
	return n;
}

static void notify_free(struct rts_notify *n)
{
	u_mutex_destroy(&n->lock);
	free(n);
}

int notify_publish(struct rts_notify *n, aclrtNotify *handle)
{
	int r = rts_object_publish(&n->obj, RTS_NOTIFY, notify_released);

	if (!r)
		*handle = n->obj.handle;
	return r;
}

int notify_get(aclrtNotify handle, struct rts_notify **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_NOTIFY);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"notify %p is no live notify of this process: destroyed, or never one", (void *)handle);
	*out = (struct rts_notify *)obj;
	return 0;
}

static void notify_put(struct rts_notify *n)
{
	rts_object_put(&n->obj);
}

int rts_notify_create(uint64_t flags, aclrtNotify *handle)
{
	struct rts_context *ctx;
	struct rts_notify *n = NULL;
	uint32_t id;
	int r;

	if (flags > ACL_NOTIFY_DEVICE_USE_ONLY)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"flag is 0x%llx; it must be ACL_NOTIFY_DEFAULT (0) or ACL_NOTIFY_DEVICE_USE_ONLY (1)",
				(unsigned long long)flags);
	r = rts_context_current(&ctx);
	if (!r)
		r = notify_id_take(ctx->device, &id);
	if (r)
		return r;
	n = notify_alloc(ctx->device);
	if (!n)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a notify");
	atomic_store(&n->id, id);
	r = notify_publish(n, handle);
	if (r) {
		notify_id_give(n);
		notify_free(n);
	}
	return r;
}

/* Tasks in flight hold references; what waits goes on waiting. */
int rts_notify_destroy(aclrtNotify handle)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_unpublish(handle, RTS_NOTIFY);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"notify %p is no live notify of this process: destroyed, or never one", (void *)handle);
	rts_object_put(obj);
	return 0;
}

int rts_notify_id(aclrtNotify handle, uint32_t *id)
{
	struct rts_notify *n = NULL;
	int r = notify_get(handle, &n);

	if (r)
		return r;
	*id = atomic_load(&n->id);
	notify_put(n);
	return 0;
}

/* --- the list of waiting streams -------------------------------------------------------------- */

static void list_add(struct rts_notify *n, struct stream_wait *w)
{
	w->linked = n;
	w->next = NULL;
	w->prev = n->last;
	if (n->last)
		n->last->next = w;
	else
		n->first = w;
	n->last = w;
	atomic_fetch_add(&n->waiting, 1);
}

static void list_del(struct rts_notify *n, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		n->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		n->last = w->prev;
	w->linked = NULL;
	atomic_fetch_sub(&n->waiting, 1);
}

/* The first stream of the list looks at the notify again. It has a pending task while it is in the list, so it is alive. */
static bool list_resume_first(struct rts_notify *n)
{
	struct rts_stream *st = NULL;

	u_mutex_lock(&n->lock);
	if (n->first) {
		st = n->first->stream;
		list_del(n, n->first);
		rts_object_ref(&st->obj);
	}
	u_mutex_unlock(&n->lock);
	if (!st)
		return false;
	rts_stream_resume(st);
	rts_stream_put(&st);
	return true;
}

void notify_move(struct rts_notify *n, struct shared_word *sw)
{
	atomic_store(&n->shared, sw);
	if (atomic_exchange(&n->word, NOTIFY_MOVED) == VINCI_NOTIFY_SET)
		word_record(sw);
	while (list_resume_first(n))
		;
}

/* --- recording -------------------------------------------------------------------------------- */

/*
 * Sets the bit, then reads `waiting`; a wait that joins the list raises `waiting`, then reads the bit. All are sequentially
 * consistent, so either the wait sees the bit or the record sees the wait.
 */
static void notify_record(struct rts_notify *n)
{
	uint32_t word = VINCI_NOTIFY_CLEAR;

	if (!atomic_compare_exchange_strong(&n->word, &word, VINCI_NOTIFY_SET) && word == NOTIFY_MOVED)
		word_record(atomic_load(&n->shared));
	else if (atomic_load(&n->waiting))
		list_resume_first(n);
}

static int record_run(void *payload, struct rts_stream *st)
{
	struct notify_task *t = payload;

	(void)st;
	notify_record(t->notify);
	return 0;
}

static void record_drop(void *payload)
{
	struct notify_task *t = payload;

	notify_put(t->notify);
}

static const struct rts_task_type record_type = { .name = "notify record", .run = record_run, .drop = record_drop };

/*
 * A note is the position above the low bits of the serial. A later record takes the place of an earlier one, also of another
 * notify with the same slot: a record that is forgotten so is merely not waited for when everybody else has died.
 */
#define NOTE_SERIAL ((UINT64_C(1) << 24) - 1)

/* The record is the stream's task @position. */
static void notify_note(struct rts_stream *st, uint32_t serial, uint64_t position)
{
	atomic_store_explicit(&st->record_notes[serial % RECORD_NOTES], position << 24 | (serial & NOTE_SERIAL),
			      memory_order_relaxed);
}

static bool stream_will_record(struct rts_stream *st, uint32_t serial)
{
	uint64_t note = atomic_load(&st->record_notes[serial % RECORD_NOTES]);

	if ((note & NOTE_SERIAL) != (serial & NOTE_SERIAL) || note >> 24 <= atomic_load(&st->completed))
		return false;
	return !(atomic_load(&st->state) & (STREAM_DROP | STREAM_STOPPED)) && !atomic_load(&st->waits_in_vain);
}

bool notify_coming(const struct rts_stream *st, uint32_t serial)
{
	struct rts_stream *other;

	streams_lock();
	for (other = streams_first(); other; other = other->next_all)
		if (other != st && stream_will_record(other, serial))
			break;
	streams_unlock();
	return other;
}

int rts_notify_record(aclrtNotify handle, struct rts_stream *st)
{
	struct notify_task t = { 0 };
	uint64_t position;
	uint32_t serial;
	int r = notify_get(handle, &t.notify);

	if (r)
		return r;
	serial = t.notify->serial; /* the task may have ended, and the notify with it, when it has been submitted */
	r = rts_stream_submit_at(st, &record_type, &t, sizeof(t), &position);
	if (r)
		notify_put(t.notify);
	else
		notify_note(st, serial, position);
	return r;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool notify_take(struct rts_notify *n)
{
	uint32_t set = VINCI_NOTIFY_SET;

	return atomic_load(&n->word) == VINCI_NOTIFY_SET &&
	       atomic_compare_exchange_strong(&n->word, &set, VINCI_NOTIFY_CLEAR);
}

int wait_check(struct notify_task *t, struct rts_stream *st)
{
	int r = stream_wait_ended(st, "a notify");

	if (r)
		return r;
	if (t->deadline && u_now_ns() >= t->deadline) {
		rts_stream_explain(st, "stream %d waited %llu s for notify %u of device %d, and nobody recorded it", st->id,
				   (unsigned long long)(t->timeout_ns / U_NS_PER_S), atomic_load(&t->notify->id),
				   rts_device_to_user(t->notify->device));
		return ACL_ERROR_RT_TASK_TIMEOUT;
	}
	return 0;
}

/* This run of the wait is a new one: it is not in the list any more, nor does a poller look after it. */
static void wait_leave(struct notify_task *t)
{
	struct rts_stream *st = t->stream;
	struct rts_notify *n = t->notify;

	if (t->linked) {
		u_mutex_lock(&n->lock);
		if (st->wait.linked)
			list_del(n, &st->wait);
		u_mutex_unlock(&n->lock);
		t->linked = false;
	}
	if (t->polled)
		poll_forget(st);
	t->polled = false;
}

/* Joins the list; false if the bit has been set or has moved meanwhile. */
static bool wait_join(struct notify_task *t, struct rts_stream *st)
{
	struct rts_notify *n = t->notify;
	bool joined;

	u_mutex_lock(&n->lock);
	list_add(n, &st->wait);
	joined = atomic_load(&n->word) == VINCI_NOTIFY_CLEAR;
	if (!joined)
		list_del(n, &st->wait);
	u_mutex_unlock(&n->lock);
	t->linked = joined;
	return joined;
}

static int wait_block(struct notify_task *t, struct rts_stream *st)
{
	if (t->deadline) {
		int r = poll_add(st, t->notify, NULL, t->deadline);

		if (r)
			return r;
		t->polled = true;
	}
	return RTS_TASK_BLOCKED;
}

static int wait_run(void *payload, struct rts_stream *st)
{
	struct notify_task *t = payload;
	struct rts_notify *n = t->notify;
	int r;

	t->stream = st;
	wait_leave(t);
	if (t->timeout_ns && !t->deadline)
		t->deadline = u_deadline(u_now_ns(), t->timeout_ns);
	while (!atomic_load(&n->shared)) {
		if (notify_take(n))
			return 0;
		r = wait_check(t, st);
		if (r)
			return r;
		if (wait_join(t, st))
			return wait_block(t, st);
	}
	return word_wait(t, st, atomic_load(&n->shared));
}

/*
 * The end of a wait, however it came. A record may have chosen this stream to be resumed, and it ended for another reason: then the
 * next one has to look.
 */
static void wait_end(void *payload)
{
	struct notify_task *t = payload;
	struct rts_notify *n = t->notify;

	wait_leave(t);
	if (t->stream)
		atomic_store(&t->stream->waits_in_vain, false);
	if (atomic_load(&n->waiting) && atomic_load(&n->word) == VINCI_NOTIFY_SET)
		list_resume_first(n);
}

static void wait_drop(void *payload)
{
	struct notify_task *t = payload;

	wait_end(t);
	notify_put(t->notify);
}

static const struct rts_task_type wait_type = {
	.name = "notify wait", .run = wait_run, .drop = wait_drop, .leave = wait_end,
};

/* Not a check of the process: an importer that works on the creator's device passes. */
static int wait_device_check(struct rts_notify *n, const struct rts_context *ctx)
{
	if (!atomic_load(&n->shared) || n->device == ctx->device)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"notify %u belongs to device %d and is shared; it can be waited for on that device only, not on device %d",
			atomic_load(&n->id), rts_device_to_user(n->device), rts_device_to_user(ctx->device));
}

int rts_notify_wait(aclrtNotify handle, struct rts_stream *st, struct rts_context *ctx, uint32_t seconds)
{
	struct notify_task t = { .timeout_ns = seconds == UINT32_MAX ? 0 : seconds * U_NS_PER_S };
	int r;

	r = notify_get(handle, &t.notify);
	if (r)
		return r;
	r = wait_device_check(t.notify, ctx);
	if (!r)
		r = rts_stream_submit(st, &wait_type, &t, sizeof(t));
	if (r)
		notify_put(t.notify);
	return r;
}

int rts_notify_reset(aclrtNotify handle)
{
	uint32_t set = VINCI_NOTIFY_SET;
	struct rts_notify *n = NULL;
	int r;

	r = notify_get(handle, &n);
	if (r)
		return r;
	if (!atomic_compare_exchange_strong(&n->word, &set, VINCI_NOTIFY_CLEAR) && set == NOTIFY_MOVED)
		word_reset(atomic_load(&n->shared));
	notify_put(n);
	return 0;
}
