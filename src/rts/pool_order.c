/* SPDX-License-Identifier: MIT */
/*
 * pool_order.c - which stream runs after what of another: noted for pools, or made.
 *
 * Notes are kept in a table that a newer pair of streams may push an older one out of: then memory is not reused where
 * it could have been, and nothing worse. Streams go by their handles, which are never given out twice.
 */
#include "rts/pool_impl.h"

#define NOTES 1024u

/* How many pools there are: without any nothing is noted. */
atomic_uint pools_alive;

struct note {
	const void *stream, *other;
	uint64_t target;
	uint32_t aborts; /* of stream: an abort drops waits */
};

static struct {
	struct u_lock lock;
	struct note at[NOTES];
} notes;

static struct note *note_of(const void *stream, const void *other)
{
	uint64_t mixed = ((uintptr_t)stream ^ (uint64_t)(uintptr_t)other << 1) * UINT64_C(0x9e3779b97f4a7c15);

	return &notes.at[mixed >> 54];
}

void rts_pool_ordered(const struct rts_stream *st, const void *other, uint64_t target)
{
	uint32_t aborts = atomic_load(&st->aborts);
	const void *id;
	struct note *note;

	if (!other || !atomic_load_explicit(&pools_alive, memory_order_relaxed))
		return;
	id = rts_stream_identity(st);
	note = note_of(id, other);
	u_lock_take(&notes.lock);
	if (note->stream != id || note->other != other || note->aborts != aborts || note->target < target)
		*note = (struct note){ id, other, target, aborts };
	u_lock_give(&notes.lock);
}

bool pool_is_ordered(struct rts_stream *st, const struct event_place *place)
{
	const void *id = rts_stream_identity(st);
	const void *other = rts_stream_identity(place->stream);
	const struct note *note = note_of(id, other);
	bool ordered;

	u_lock_take(&notes.lock);
	ordered = other && note->stream == id && note->other == other && note->target >= place->target &&
		  note->aborts == atomic_load(&st->aborts);
	u_lock_give(&notes.lock);
	return ordered;
}

/* ---- a stream that waits for a place of another ---- */

struct order_task {
	struct event_place place; /* with a reference */
	struct rts_stream *stream; /* its own while it watches the other */
};

static void order_leave(struct order_task *t)
{
	if (t->stream)
		stream_unwatch(t->stream, t->place.stream);
	t->stream = NULL;
}

static int order_run(void *payload, struct rts_stream *st)
{
	struct order_task *t = payload;

	order_leave(t);
	if (place_reached(&t->place))
		return 0;
	if (atomic_load(&st->state) & STREAM_NO_WAITS) {
		rts_stream_explain(st, "the device was reset while stream %d waited for memory of a pool", st->id);
		return ACL_ERROR_RT_STREAM_ABORT;
	}
	if (stream_watch(st, t->place.stream, t->place.target))
		return 0;
	t->stream = st;
	return RTS_TASK_BLOCKED;
}

static void order_drop(void *payload)
{
	struct order_task *t = payload;

	order_leave(t);
	rts_stream_put(&t->place.stream);
}

static const struct rts_task_type order_type = { .name = "wait for memory", .run = order_run, .drop = order_drop };

int pool_order(struct rts_stream *st, const struct event_place *place)
{
	struct order_task t = { .place = *place };
	int r;

	if (place_reached(place))
		return 0;
	rts_object_ref(&place->stream->obj);
	r = rts_stream_submit(st, &order_type, &t, sizeof(t));
	if (r)
		order_drop(&t);
	return r;
}
