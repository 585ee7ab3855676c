/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* compat.h - what the shared sources need from their surroundings, kernel or user space. */
#ifndef VINCI_COMMON_COMPAT_H
#define VINCI_COMMON_COMPAT_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#include "uapi/vinci_drm.h"

#endif
