/* SPDX-License-Identifier: MIT */
/* context.h - between device.c and context.c. */
#ifndef VINCI_RTS_CONTEXT_H
#define VINCI_RTS_CONTEXT_H

#include "rts/rts.h"

/* With its default stream; the reference returned is the handle table's. 207001, 207005, 207008. */
int rts_context_new(uint32_t device, bool primary, struct rts_context **ctx);
/*
 * Takes the context from its users: they get 107002 from now on. Ends its streams (waits for their work, or abandons it
 * with @force) and drops the table's reference. Holds no lock. False: somebody else has ended it.
 */
bool rts_context_end(struct rts_context *ctx, bool force);
/* Makes @ctx the calling thread's, taking a reference; NULL: none. */
void rts_context_bind(struct rts_context *ctx);

/* Counts a context of its own as a user of @device, and takes it back; the last user's end takes the device's memory.
 */
void rts_device_use(uint32_t device);
void rts_device_unuse(uint32_t device);
/* Sets the default device of aclInit's file, if there is one, for this thread. 107002 without. */
int rts_device_set_implicit(void);

#endif
