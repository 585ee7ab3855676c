/* SPDX-License-Identifier: MIT */
/*
 * device.h - the software device as a library: open, ioctl, mmap and release of a device file, in process.
 *
 * Not thread-safe: one thread at a time calls into a device and its files. vincid has one thread, other users take a
 * lock around it.
 */
#ifndef VINCI_SOFT_DEVICE_H
#define VINCI_SOFT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/core.h"

/* How a request's arrays are reached. 0 or -EFAULT; -ENOSPC from write: more than can be passed on. */
struct soft_user {
	int (*read)(struct soft_user *user, void *dst, uint64_t src, size_t size);
	int (*write)(struct soft_user *user, uint64_t dst, const void *src, size_t size);
};

/* The memory behind an mmap offset. The descriptor belongs to the object: valid until the next call. */
struct soft_memory {
	int fd; /* -1: none */
	uint32_t page_kind;
	uint32_t handle; /* 0 from soft_mmap() */
	uint64_t base; /* mmap offset of the first byte */
	uint64_t size;
};

void soft_config_default(struct vinci_config *config);

/* -ESRCH: no such process; -ENOSPC: no descriptors left to look for it */
int soft_process_start(int32_t pid, uint64_t *start);
/* The same for a process known by a pidfd of its own. */
int soft_process_start_fd(int pidfd, int32_t pid, uint64_t *start);

int soft_device_create(const struct vinci_config *config, struct vinci_device **out);
/* All files must have been released. */
void soft_device_destroy(struct vinci_device *device);
const struct vinci_config *soft_device_config(const struct vinci_device *device);

/* Is there memory that is held through shares only, its creator's handle being gone? */
bool soft_device_has_orphans(const struct vinci_device *device);

int soft_file_open(struct vinci_device *device, const struct vinci_process *process, struct vinci_file **out);
/* What the kernel does at the last close, and when the process dies. */
void soft_file_release(struct vinci_file *file);

/*
 * @arg: _IOC_SIZE(request) bytes, already copied in; changed only on success. @memory gets the object that the
 * request made or found, if it did.
 */
int soft_ioctl(struct vinci_file *file, unsigned long request, void *arg, struct soft_user *user,
	       struct soft_memory *memory);
int soft_mmap(struct vinci_file *file, uint64_t offset, uint64_t size, struct soft_memory *memory);

#endif
