/* SPDX-License-Identifier: MIT */
/*
 * share.h - what memory shared by key (ipc*.c) and by physical handle (vmm*.c) have in common.
 *
 * One lock protects all of it: what is mapped can be exported both ways. The lock is held over requests to the device,
 * which takes them one at a time anyway, and never over a wait for tasks.
 */
#ifndef VINCI_RTS_SHARE_H
#define VINCI_RTS_SHARE_H

#include "rts/rts.h"
#include "util/mutex.h"

extern struct u_mutex rts_share_lock;

/* As many characters of a name as a message may show: whoever knows the whole of it may be able to import. */
#define RTS_HINT_LEN 8
struct rts_hint {
	char text[RTS_HINT_LEN + 1];
};
struct rts_hint rts_name_hint(const struct drv_name *name);
bool rts_name_equal(const struct drv_name *a, const struct drv_name *b);
uint32_t rts_name_hash(const struct drv_name *name);

/* The device's answers to putting processes on a whitelist and to importing, as code and sentence. @what: "key", "handle". */
int rts_allow_failed(const struct drv_name *name, const char *what, int err);
int rts_import_failed(const struct drv_name *name, const char *what, uint32_t device, int err);

/* 507899 unless this process has set @device: its memory can be neither created nor used before. */
int rts_share_device_check(uint32_t device);

/* Most refusals of sharing are 507899: the driver's answer, not an argument check's. */
#define RTS_REFUSE(...) u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, __VA_ARGS__)

#endif
