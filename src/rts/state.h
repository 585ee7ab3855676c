/* SPDX-License-Identifier: MIT */
/*
 * state.h - functions of the application's that are told when a device or stream begins or ends. They run on the thread
 * that causes it, with no lock held, and may call the API.
 */
#ifndef VINCI_RTS_STATE_H
#define VINCI_RTS_STATE_H

#include "rts/rts.h"

/* @fn NULL: forgets @name, which need not be known. 107000 for a name that is taken, 207005 when there are too many. */
int rts_state_watch_devices(const char *name, aclrtDeviceStateCallback fn, void *args);
int rts_state_watch_streams(const char *name, aclrtStreamStateCallback fn, void *args);
int rts_state_watch_aborts(const char *name, aclrtDeviceTaskAbortCallback fn, void *args);

void rts_state_device(uint32_t device, aclrtDeviceState state);
void rts_state_stream(aclrtStream stream, aclrtStreamState state);
/* 507000 when one of them fails; those behind it are not called then. */
int rts_state_abort(uint32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms);
/* For the default stream of @ctx. */
void rts_state_default_stream(struct rts_context *ctx, aclrtStreamState state);

#endif
