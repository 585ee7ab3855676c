/* SPDX-License-Identifier: MIT */
/*
 * refused_base.c - acl_base_rt.h and the names that CANN's library exports beyond its headers.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: only CANN's profiler uses it, on the 910 product line. */
REFUSE(aclrtSetDeviceWithoutTsdVXX, int32_t deviceId)
REFUSE(aclrtResetDeviceWithoutTsdVXX, int32_t deviceId)
