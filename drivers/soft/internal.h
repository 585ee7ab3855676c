/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of the software device share. */
#ifndef VINCI_SOFT_INTERNAL_H
#define VINCI_SOFT_INTERNAL_H

#include "common/core.h"
#include "soft/device.h"

/* memory.c */
void soft_memory_set(struct soft_memory *memory, const struct vinci_hold *hold);

/* numa.c */
void soft_numa_init(struct vinci_device *device);

#endif
