/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* compat.h - what the shared sources need from their surroundings, kernel or user space. */
#ifndef VINCI_COMMON_COMPAT_H
#define VINCI_COMMON_COMPAT_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#endif

#include "uapi/vinci_drm.h"

typedef int (*vinci_compare)(const void *left, const void *right);

#ifdef __KERNEL__
/* Zeroed, NULL on failure. */
static inline void *vinci_alloc(size_t count, size_t size)
{
	return kvcalloc(count, size, GFP_KERNEL_ACCOUNT);
}

static inline void vinci_free(void *memory)
{
	kvfree(memory);
}

static inline void vinci_sort(void *array, size_t count, size_t size, vinci_compare compare)
{
	sort(array, count, size, compare, NULL);
}
#else
static inline void *vinci_alloc(size_t count, size_t size)
{
	return calloc(count, size);
}

static inline void vinci_free(void *memory)
{
	free(memory);
}

static inline void vinci_sort(void *array, size_t count, size_t size, vinci_compare compare)
{
	qsort(array, count, size, compare);
}
#endif

#endif
