/* SPDX-License-Identifier: MIT */
/* process.h - what the parts of rts need to know of the process beyond rts.h. */
#ifndef VINCI_RTS_PROCESS_H
#define VINCI_RTS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Asks the device whether it is still there: if it is not, rts_process_start() knows from now on. */
void rts_process_probe(void);

/* device.c: true when no device is in use, and then none comes into use until rts_device_unlock(). */
bool rts_device_lock_if_unused(void);
void rts_device_unlock(void);
bool rts_device_unused(void);

/* This process's id as the device sees it; -1 (and success) if no device can be opened. 507899 in a forked child. */
int rts_process_bare_tgid(int32_t *pid);

/* All devices of the instance, visible or not. */
uint32_t rts_device_total(void);

/* Why ASCEND_RT_VISIBLE_DEVICES leaves no device: 207004 with a sentence; 0 when it leaves some or is not set. */
int rts_visible_check(void);

/* Of profile.c: names for a message. */
const char *rts_profile_names(void);

#endif
