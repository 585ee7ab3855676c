/* SPDX-License-Identifier: MIT */
/*
 * event.h - events: a place in a stream that others can wait for.
 *
 * A record notes how many tasks its stream has been given; the event is complete when the stream has completed as many. So a record is
 * no task, unless it has to note the time, and a wait is one only while the place has not been reached. A wait means the record
 * that the event has when it is submitted, whatever is recorded later.
 *
 * Events of aclrtCreateEvent and aclrtCreateEventWithFlag ("old mode") can be reset, and a wait that finds no record waits for the next.
 */
#ifndef VINCI_RTS_EVENT_H
#define VINCI_RTS_EVENT_H

#include "rts/stream.h"

/* What aclrtCreateEvent creates: everything but ACL_EVENT_SYNC; its hardware could do without. */
#define RTS_EVENT_ALL 0xeu

/* @ex: of aclrtCreateEventExWithFlag. 107000 for flags, 207000, 207007 */
int rts_event_create(uint32_t flags, bool ex, aclrtEvent *handle);
/* Tasks in flight hold references. 107017 */
int rts_event_destroy(aclrtEvent handle);
/* @kind: ACL_EVENT_RECORD_* */
int rts_event_record(aclrtEvent handle, struct rts_stream *stream, uint32_t kind);
/* @kind: ACL_EVENT_WAIT_*; @seconds 0: for ever */
int rts_event_wait(aclrtEvent handle, struct rts_stream *stream, uint32_t seconds, uint32_t kind);
/* The limit of waits that name none, in seconds; 0: none. */
void rts_event_set_wait_limit(uint32_t seconds);
uint32_t rts_event_wait_limit(void);
int rts_event_reset(aclrtEvent handle, struct rts_stream *stream);
int rts_event_query(aclrtEvent handle, bool *complete);
int rts_event_query_status(aclrtEvent handle, bool *complete);
int rts_event_query_waits(aclrtEvent handle, bool *complete);
/* 507047 on timeout (ms, -1: none) */
int rts_event_synchronize(aclrtEvent handle, int32_t timeout_ms);
int rts_event_elapsed(aclrtEvent start, aclrtEvent end, float *ms);
int rts_event_timestamp(aclrtEvent handle, uint64_t *us);
/* Events of ACL_EVENT_IPC: the name by which other processes open them, and opening. */
int rts_event_name(aclrtEvent handle, aclrtIpcEventHandle *name);
int rts_event_open(struct rts_context *ctx, const aclrtIpcEventHandle *name, aclrtEvent *handle);
int rts_event_id(aclrtEvent handle, uint32_t *id);
/* How many more events with an id this process can have on @device. */
uint32_t rts_events_available(uint32_t device);

#endif
