/* SPDX-License-Identifier: MIT */
/*
 * transport.h - how requests reach a device: five calls shaped like system calls (and one that need not wait), so that
 * every device runs identical requests. Nothing here knows what a request means.
 *
 * All functions return 0 or -errno and may be called from any thread at once, with cancellation disabled: a thread that
 * is cancelled inside would take locks and descriptors with it.
 */
#ifndef VINCI_DRV_TRANSPORT_H
#define VINCI_DRV_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

struct drv_settings;

struct transport {
	const struct transport_ops *ops;
};

struct transport_ops {
	const char *name;
	/*
	 * Opens the device. On failure @why (size @why_len) holds one sentence for the user, NUL-terminated.
	 */
	int (*open)(const struct drv_settings *settings, struct transport **out, char *why, size_t why_len);
	/* Closes and frees; mappings stay until they are unmapped. In a forked child the parent's connection is left
	 * alone. */
	void (*close)(struct transport *t);
	/* Like ioctl(2) with EINTR handled inside. -ENOTCONN: the device has gone and will not come back. */
	int (*ioctl)(struct transport *t, unsigned long request, void *arg);
	/*
	 * Optional (NULL: use ioctl). Like ioctl for a request without outputs, but may return before the device has
	 * run it, and then its errors are lost. Any request that is sent after the return, by any process, finds it
	 * done.
	 */
	int (*post)(struct transport *t, unsigned long request, const void *arg);
	/*
	 * Maps @len bytes at @offset (an object's mmap_offset plus a page-aligned distance), shared.
	 * @addr: NULL to choose, else the exact place, whose mapping is replaced (MAP_FIXED).
	 */
	int (*mmap)(struct transport *t, void *addr, size_t len, int prot, uint64_t offset, void **out);
	/* Needs no transport: mappings outlive it. */
	int (*munmap)(void *addr, size_t len);
};

extern const struct transport_ops transport_soft;
extern const struct transport_ops transport_drm;

#endif
