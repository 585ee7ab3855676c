/* SPDX-License-Identifier: MIT */
/* cnt_notify.h - counting notifies: 32-bit counters that streams change and wait for. */
#ifndef VINCI_RTS_CNT_NOTIFY_H
#define VINCI_RTS_CNT_NOTIFY_H

#include "rts/stream.h"

/* 107000: flag is not 0; 207009 */
int rts_cnt_notify_create(struct rts_context *ctx, uint64_t flag, aclrtCntNotify *handle);
/* Tasks in flight hold references. 107017 */
int rts_cnt_notify_destroy(aclrtCntNotify handle);
int rts_cnt_notify_record(aclrtCntNotify handle, struct rts_stream *stream, const aclrtCntNotifyRecordInfo *info);
int rts_cnt_notify_wait(aclrtCntNotify handle, struct rts_stream *stream, const aclrtCntNotifyWaitInfo *info);
/* Queued like a record. */
int rts_cnt_notify_reset(aclrtCntNotify handle, struct rts_stream *stream);
int rts_cnt_notify_id(aclrtCntNotify handle, uint32_t *id);

#endif
