/* SPDX-License-Identifier: MIT */
/*
 * share.h - what memory shared by key (ipc*.c) and by physical handle (vmm*.c) have in common.
 *
 * One lock protects all of it: a physical handle can be exported both ways, and an object that was imported both ways has one
 * handle at the device. The lock is held over requests to the device, which takes them one at a time anyway, and never
 * over a wait for tasks.
 */
#ifndef VINCI_RTS_SHARE_H
#define VINCI_RTS_SHARE_H

#include "rts/rts.h"
#include "util/mutex.h"

extern struct u_mutex rts_share_lock;

/*
 * BO handles that a part of this file holds more than once: the device gives the same handle for everything that is the same
 * object. Each import takes a hold; the last one to let go closes. Under rts_share_lock.
 */
int rts_hold(uint32_t bo);
/* Closes the BO when this was the last hold. @charged: the caller wants the charge to be gone on return. */
void rts_let_go(uint32_t bo, bool charged);

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
