/* SPDX-License-Identifier: MIT */
/*
 * drv.h - one typed call per request of uapi/vinci_drm.h.
 *
 * Every function returns 0 or -errno as documented in the UAPI header, leaves its outputs untouched when it fails,
 * and may be called from any thread at once. A struct drv belongs to the process that opened it: in a child made by
 * fork every call but drv_close() returns -EOWNERDEAD. -ENOTCONN: the device has gone, for good.
 */
#ifndef VINCI_DRV_DRV_H
#define VINCI_DRV_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/vinci_drm.h"

struct drv;

/* VINCI_DRIVER: which device is behind the library. */
enum drv_driver {
	DRV_SOFT, /* vincid */
	DRV_DRM, /* vinci.ko, through libdrm */
};

/*
 * What an instance of the software device is started with. Fields that the user did not set are 0 (or "", or NULL): the
 * device's default, and whatever a running instance has is accepted. A set field that differs from the running
 * instance's is refused: -EINVAL, with both values named in the sentence.
 */
struct drv_settings {
	enum drv_driver driver; /* the kernel device has no instances: instance, socket and server are not for it */
	uint32_t devices;
	uint64_t mem_bytes; /* per device */
	uint32_t notify_limit; /* per device */
	char soc[VINCI_SOC_NAME_MAX];
	bool has_peers;
	uint64_t peers[VINCI_MAX_DEVICES]; /* peers[d]: devices that d can reach; default: all others */
	const char *instance; /* VINCI_INSTANCE; NULL: "default" */
	const char *socket; /* VINCI_SOCKET: a path, NULL: the abstract socket of user and instance */
	const char *server; /* path of vincid, NULL: found beside this library */
	/* For tools that only look: when nobody listens -ECONNREFUSED (a path: or -ENOENT) instead of starting vincid.
	 */
	bool no_start;
};

/* The notify_limit, soc and mem_bytes that fit a SoC are chosen by the caller (rts/profile.c). */
int drv_open(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len);
/* No other thread may be in a call, or begin one. In a forked child the parent's connection is left alone. */
void drv_close(struct drv *drv);
/*
 * For one that other threads may still be using, or hold the address of: every call that begins from now on returns
 * -ENOTCONN (drv_unmap() works), and with the last call that is under way the connection is closed. The few bytes of @drv
 * itself stay for as long as the caller wants; drv_close() frees them. Once, by the process that opened it.
 */
void drv_retire(struct drv *drv);
/* Has any call found the device gone? */
bool drv_lost(const struct drv *drv);

int drv_get_param(struct drv *drv, uint32_t param, uint64_t *value);
int drv_device_info(struct drv *drv, uint32_t device, struct drm_vinci_device_info *info);

/* in: size, device, flags, page_kind, numa_node; out: handle, mmap_offset */
int drv_bo_create(struct drv *drv, struct drm_vinci_bo_create *bo);
int drv_bo_info(struct drv *drv, uint32_t handle, struct drm_vinci_bo_info *info);
int drv_bo_split(struct drv *drv, uint32_t handle, uint64_t offset, uint64_t size, uint32_t *new_handle,
		 uint64_t *mmap_offset);
/* Returns once the device has closed it: the charge has moved. */
int drv_close_handle(struct drv *drv, uint32_t handle);
/* For handles that carry no charge (imports): may return before the device has seen it; later calls of any process do
 * see it. */
int drv_close_handle_async(struct drv *drv, uint32_t handle);

/* @addr NULL: anywhere; else replaces what is mapped there. Mappings outlive the handle. */
int drv_map(struct drv *drv, uint64_t mmap_offset, size_t size, void *addr, bool writable, void **out);
int drv_unmap(struct drv *drv, void *addr, size_t size);

int drv_notify_ids(struct drv *drv, uint32_t device, uint32_t *count, uint32_t *first);
int drv_notify_create(struct drv *drv, uint32_t device, uint32_t id, uint32_t *handle, uint64_t *mmap_offset);
int drv_notify_status(struct drv *drv, uint32_t handle, uint32_t *holders, uint32_t *lost);

/* A share's name with its kind. */
struct drv_name {
	uint32_t kind;
	uint32_t len;
	uint8_t bytes[VINCI_NAME_MAX];
};

int drv_share_export(struct drv *drv, uint32_t handle, uint32_t kind, uint32_t flags, uint64_t size,
		     struct drv_name *name);
/* @sdid NULL: this server */
int drv_share_allow(struct drv *drv, const struct drv_name *name, const uint32_t *sdid, const int32_t *pids,
		    uint32_t count);
/* out: handle .. id of @import */
int drv_share_import(struct drv *drv, const struct drv_name *name, uint32_t device,
		     struct drm_vinci_share_import *import);
int drv_share_close(struct drv *drv, const struct drv_name *name);
int drv_share_attr(struct drv *drv, const struct drv_name *name, uint32_t attr, uint64_t value);

int drv_peer(struct drv *drv, uint32_t device, uint32_t peer, uint32_t op, bool *active);

/* @count: in, capacity; out, how many exist */
int drv_list(struct drv *drv, uint32_t type, void *array, uint32_t elem_size, uint32_t *count);

#endif
