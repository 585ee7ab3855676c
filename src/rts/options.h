/* SPDX-License-Identifier: MIT */
/* options.h - what a program sets for a process, context, device, stream or thread and asks for again. */
#ifndef VINCI_RTS_OPTIONS_H
#define VINCI_RTS_OPTIONS_H

#include "rts/rts.h"

/* 107000 for a value that the option does not have. A context that has none of its own: 107021. */
int rts_option_set(aclSysParamOpt opt, int64_t value, bool of_context);
int rts_option_get(aclSysParamOpt opt, int64_t *value, bool of_context);

/* Cores: the stream's limit, if the thread uses one, then the device's, then the profile's. 107000; 507033: not in use. */
int rts_cores_set(uint32_t device, aclrtDevResLimitType type, uint32_t value);
int rts_cores_get(uint32_t device, aclrtDevResLimitType type, uint32_t *value);
int rts_cores_reset(uint32_t device);
int rts_stream_cores_set(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);
int rts_stream_cores_get(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value);
int rts_stream_cores_reset(aclrtStream stream);
/* The thread works under the limits of @stream; @use false: of none. */
int rts_thread_cores_from(aclrtStream stream, bool use);
int rts_thread_cores(aclrtDevResLimitType type, uint32_t *value);

/* Of streams created from now on. */
int rts_sat_mode_set(aclrtFloatOverflowMode mode);
aclrtFloatOverflowMode rts_sat_mode(void);

/* Whether overflows of tasks queued from now on are noted. */
int rts_overflow_switch_set(aclrtStream stream, uint32_t on);
int rts_overflow_switch(aclrtStream stream, uint32_t *on);
#define RTS_OVERFLOW_BYTES 64 /* of the status that a program gets */
/* Device memory of the current device whose first word counts overflows; freed with the device's memory. */
int rts_overflow_address(void **address);
int rts_overflow_get(void *out, size_t size, aclrtStream stream);
int rts_overflow_reset(aclrtStream stream);
/* For a task that computes on @stream: where to count overflows; NULL: they are not noted. *saturate: clamp. */
_Atomic uint32_t *rts_overflow_counter(struct rts_stream *stream, bool *saturate);

/* Where cube and vector cores of the current device synchronise: memory that a kernel may be told of. 107002 */
int rts_sync_address(void **address);

/* Of the process, @limit one of the enumeration's. 207000: not of this SoC; 107000 */
int rts_device_limit_set(aclrtDeviceLimit limit, uint32_t value);
int rts_device_limit(aclrtDeviceLimit limit, uint32_t *value);

/* The process's last user of @device has gone. */
void rts_options_device_gone(uint32_t device);

/* What a stream carries of all this; zeros at its creation but for sat_mode. */
struct rts_stream_options {
	_Atomic uint32_t cores[2]; /* 1 more than the limit; 0: none */
	_Atomic uint32_t overflow_switch;
	uint32_t sat_mode;
};
struct rts_stream_options *rts_stream_options(struct rts_stream *stream);

#endif
