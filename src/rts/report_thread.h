/* SPDX-License-Identifier: MIT */
/* report_thread.h - callbacks that a thread of the application's runs. */
#ifndef VINCI_RTS_REPORT_THREAD_H
#define VINCI_RTS_REPORT_THREAD_H

#include "rts/stream.h"

/* @id: the thread's pthread_self(). 107011, 107012, 507000 */
int rts_report_subscribe(uint64_t id, struct rts_stream *stream);
int rts_report_unsubscribe(uint64_t id, struct rts_stream *stream);
/* 107015. @blocks: later tasks of the stream wait until the callback has returned. */
int rts_report_launch(struct rts_stream *stream, aclrtCallback fn, void *arg, bool blocks);
/* Runs what has come, in the calling thread. 107012; 507012 when nothing comes in @timeout_ms (-1: none). */
int rts_report_process(uint64_t id, int32_t timeout_ms);
/* The stream has been destroyed, its tasks have ended. */
void rts_report_stream_gone(struct rts_stream *stream);

#endif
