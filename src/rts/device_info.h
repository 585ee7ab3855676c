/* SPDX-License-Identifier: MIT */
/* device_info.h - what a device can tell about itself. */
#ifndef VINCI_RTS_DEVICE_INFO_H
#define VINCI_RTS_DEVICE_INFO_H

#include "rts/rts.h"

/* Asks the device. */
bool rts_device_alive(uint32_t device);
/* 207000 for an attribute that has no meaning for this SoC or for a device of a CPU; 107000 for an unknown one. */
int rts_device_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value);

#endif
