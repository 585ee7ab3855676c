/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - a process that is held while its devices' memory is kept on the host and put back.
 *
 * Running, locked, backed up: in this order, and a restored one is locked. From being locked to being unlocked, calls
 * that change something wait, but for those of tasks: functions of the host and callbacks.
 */
#ifndef VINCI_RTS_SNAPSHOT_H
#define VINCI_RTS_SNAPSHOT_H

#include "rts/rts.h"

/* 507906 to 507909: a step out of order; 507912: a callback failed; 107002: no stream; 207001; a failed task's code. */
int rts_snapshot_lock(void);
int rts_snapshot_backup(void);
int rts_snapshot_restore(void);
int rts_snapshot_unlock(void);

/* 107000; 507913: registered already */
int rts_snapshot_watch(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn, void *arg);
/* 107000: not registered */
int rts_snapshot_unwatch(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn);

/* For every call once a process has been locked: returns when the call named @function may go on. */
void rts_snapshot_hold(const char *function);

#endif
