/* SPDX-License-Identifier: MIT */
/* value.h - tasks that write a 64-bit word of device memory, or wait for its value. */
#ifndef VINCI_RTS_VALUE_H
#define VINCI_RTS_VALUE_H

#include "rts/stream.h"

/* 107000: not 8-byte aligned device memory, or a wrong flag; 507899: not allocated. */
int rts_value_write(struct rts_stream *stream, void *addr, uint64_t value, uint32_t flag);
/* @flag: ACL_STREAM_WAIT_VALUE_* */
int rts_value_wait(struct rts_stream *stream, void *addr, uint64_t value, uint32_t flag);

#endif
