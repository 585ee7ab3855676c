/* SPDX-License-Identifier: MIT */
/* event_impl.h - what an event is made of, for event*.c. */
#ifndef VINCI_RTS_EVENT_IMPL_H
#define VINCI_RTS_EVENT_IMPL_H

#include "rts/event.h"
#include "rts/exec.h"

struct event_page;
struct model_mark;

#define EVENT_NO_TIME UINT64_MAX
#define EVENT_NO_KIND UINT32_MAX

/* Reached when stream has completed target tasks. No stream: there is nothing to reach. */
struct event_place {
	struct rts_stream *stream; /* a reference */
	uint64_t target;
};

struct rts_event {
	struct rts_object obj;
	uint32_t device;
	uint32_t flags;
	bool ex;
	_Atomic uint32_t record_kind, wait_kind; /* of the first record and wait; later ones must agree */
	_Atomic uint32_t waits; /* that have been submitted and have not ended */

	struct u_lock lock; /* protects the following; the list's streams are resumed without it */
	struct event_place record;
	struct event_place reset; /* of a reset after that record */
	bool was_reset;
	uint64_t serial; /* of the last record that was begun */
	uint64_t recorded; /* serial of `record`; 0: none */
	uint64_t time_ns; /* of the record `serial` */
	struct stream_wait *waiting; /* waits for the next record */
	uint32_t ticket; /* of `record`, in page */

	_Atomic(struct model_mark *) mark; /* its last record in a capture, with a reference; written under models_lock */

	struct event_page *page; /* of an ACL_EVENT_IPC event, for good */

	int32_t id; /* ids.lock; the last one if none is held; -1: none yet */
	bool holds_id; /* ids.lock; so is the list */
	struct rts_event *prev, *next;
};

struct rts_event *event_alloc(uint32_t device, uint32_t flags, bool ex);
int event_publish(struct rts_event *ev, aclrtEvent *handle); /* the caller's reference becomes the handle's */
int event_get(aclrtEvent handle, struct rts_event **out);
void event_put(struct rts_event **ev);
bool place_reached(const struct event_place *place);
/* The host's wait: 507047, 107000 from a task of the same stream. */
int place_wait(const struct event_place *place, int32_t timeout_ms);
/* With a reference of the caller's own to the stream, if there is one. */
struct event_place event_record_place(struct rts_event *ev);
/* 107000 when the first record or wait was of another kind. */
int event_kind_check(_Atomic uint32_t *first, uint32_t kind, const char *what);
/* Nobody can wait for it: 0x2 and 0x8 only note progress and time. */
bool event_without_waits(const struct rts_event *ev);
/* Takes an id for a record unless the event holds one. 207007 */
int event_id_hold(struct rts_event *ev);
void event_id_drop(struct rts_event *ev);
/* Its record is at @target tasks of @st, or has been reached (NULL). */
void event_record_at(struct rts_event *ev, struct rts_stream *st, uint64_t target);
/* A record has been made: waits that had none to wait for start over. */
void event_resume_waiting(struct rts_event *ev);

/* event_ipc.c: the same for events with a page */
int event_ipc_create(struct rts_event *ev);
int event_ipc_record(struct rts_event *ev, struct rts_stream *st);
int event_ipc_wait(struct rts_event *ev, struct rts_stream *st, uint32_t seconds);
bool event_ipc_complete(struct rts_event *ev);
int event_ipc_synchronize(struct rts_event *ev, int32_t timeout_ms);

/* event_model.c: for streams that are recorded. */
int event_model_record(struct rts_event *ev, struct rts_stream *st, uint32_t kind);
int event_model_reset(struct rts_event *ev, struct rts_stream *st);
/* *recorded false: neither the stream nor the event is part of a model that is being recorded. */
int event_model_wait(struct rts_event *ev, struct rts_stream *st, uint32_t seconds, uint32_t kind, bool *recorded);
/* It has been recorded in a capture that is under way. */
bool event_captured(struct rts_event *ev);

#endif
