/* SPDX-License-Identifier: MIT */
/*
 * One typed call per request. What is decided here: which process a struct drv belongs to, and how names and arrays
 * are laid out in the request structures. Argument rules are the device's.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drv/drv.h"
#include "drv/transport.h"
#include "util/cancel.h"

struct drv {
	const struct transport_ops *ops;
	struct transport *transport; /* valid for who is counted in @users */
	unsigned int owner; /* the process that opened it */
	atomic_uint users; /* calls inside, and 1 for who opened it; 0: the transport is closed */
	atomic_bool lost; /* no call begins any more */
};

/*
 * The process id, in a page that the kernel wipes in every child, also in one made by a raw clone() that runs no
 * atfork handler. NULL where the kernel cannot do that (before 4.14): getpid() is asked instead.
 */
static _Atomic unsigned int *process_word;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void process_word_create(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, 4096, MADV_WIPEONFORK)) {
		(void)munmap(page, 4096);
		return;
	}
	process_word = page;
}

static unsigned int process_current(void)
{
	unsigned int id;

	if (!process_word)
		return (unsigned int)getpid();
	id = atomic_load_explicit(process_word, memory_order_relaxed);
	if (!id) {
		id = (unsigned int)getpid();
		atomic_store_explicit(process_word, id, memory_order_relaxed);
	}
	return id;
}

/* --- calls -------------------------------------------------------------------------------- */

bool drv_lost(const struct drv *drv)
{
	return atomic_load_explicit(&drv->lost, memory_order_relaxed);
}

static void close_transport(struct drv *drv)
{
	drv->ops->close(drv->transport);
	drv->transport = NULL;
}

/* A child made by fork must not speak on its parent's connection, nor anybody on one that was given up. */
static int call_begin(struct drv *drv, int *cancel)
{
	unsigned int users = atomic_load_explicit(&drv->users, memory_order_relaxed);

	if (process_current() != drv->owner)
		return -EOWNERDEAD;
	do {
		if (!users || drv_lost(drv))
			return -ENOTCONN;
	} while (!atomic_compare_exchange_weak_explicit(&drv->users, &users, users + 1, memory_order_acquire,
							memory_order_relaxed));
	*cancel = u_cancel_off();
	return 0;
}

static int call_end(struct drv *drv, int cancel, int r)
{
	if (r == -ENOTCONN)
		atomic_store_explicit(&drv->lost, true, memory_order_relaxed);
	if (atomic_fetch_sub_explicit(&drv->users, 1, memory_order_acq_rel) == 1)
		close_transport(drv);
	u_cancel_restore(cancel);
	return r;
}

static int drv_ioctl(struct drv *drv, unsigned long request, void *arg)
{
	int cancel;
	int r = call_begin(drv, &cancel);

	return r ? r : call_end(drv, cancel, drv->ops->ioctl(drv->transport, request, arg));
}

static int check_version(struct drv *drv, char *why, size_t why_len)
{
	uint64_t version;
	int r = drv_get_param(drv, VINCI_PARAM_UAPI_VERSION, &version);

	if (r) {
		(void)snprintf(why, why_len, "the device does not answer (%s)", strerror(-r));
		return r;
	}
	if (version >> 32 == VINCI_UAPI_MAJOR)
		return 0;
	(void)snprintf(
		why, why_len,
		"the device speaks version %u.%u of the interface and this library %d.%d: install one release of both",
		(unsigned int)(version >> 32), (unsigned int)version, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR);
	return -EPROTO;
}

static int open_drv(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len)
{
	struct drv *drv;
	int r;

	(void)pthread_once(&process_once, process_word_create);
	drv = calloc(1, sizeof(*drv));
	if (!drv) {
		(void)snprintf(why, why_len, "out of host memory");
		return -ENOMEM;
	}
	drv->ops = settings->driver == DRV_DRM ? &transport_drm : &transport_soft;
	drv->owner = process_current();
	atomic_init(&drv->users, 1);
	r = drv->ops->open(settings, &drv->transport, why, why_len);
	if (r)
		goto err_free;
	r = check_version(drv, why, why_len);
	if (r)
		goto err_close;
	*out = drv;
	return 0;

err_close:
	close_transport(drv);
err_free:
	free(drv);
	return r;
}

int drv_open(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len)
{
	int cancel = u_cancel_off();
	int r = open_drv(settings, out, why, why_len);

	u_cancel_restore(cancel);
	return r;
}

/* In a forked child @users may count calls of the parent's threads, which are not here. */
void drv_close(struct drv *drv)
{
	int cancel = u_cancel_off();

	if (drv && atomic_exchange(&drv->users, 0))
		close_transport(drv);
	free(drv);
	u_cancel_restore(cancel);
}

void drv_retire(struct drv *drv)
{
	atomic_store_explicit(&drv->lost, true, memory_order_relaxed);
	(void)call_end(drv, u_cancel_off(), 0);
}

/* --- queries ------------------------------------------------------------------------------ */

int drv_get_param(struct drv *drv, uint32_t param, uint64_t *value)
{
	struct drm_vinci_get_param arg = { .param = param };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_GET_PARAM, &arg);

	if (!r)
		*value = arg.value;
	return r;
}

int drv_device_info(struct drv *drv, uint32_t device, struct drm_vinci_device_info *info)
{
	struct drm_vinci_device_info arg = { .device = device };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_DEVICE_INFO, &arg);

	if (r)
		return r;
	arg.soc[sizeof(arg.soc) - 1] = 0;
	*info = arg;
	return 0;
}

/* --- memory objects ----------------------------------------------------------------------- */

int drv_bo_create(struct drv *drv, struct drm_vinci_bo_create *bo)
{
	struct drm_vinci_bo_create arg = {
		.size = bo->size,
		.device = bo->device,
		.flags = bo->flags,
		.page_kind = bo->page_kind,
		.numa_node = bo->numa_node,
	};
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_BO_CREATE, &arg);

	if (r)
		return r;
	bo->handle = arg.handle;
	bo->mmap_offset = arg.mmap_offset;
	return 0;
}

int drv_bo_info(struct drv *drv, uint32_t handle, struct drm_vinci_bo_info *info)
{
	struct drm_vinci_bo_info arg = { .handle = handle };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_BO_INFO, &arg);

	if (!r)
		*info = arg;
	return r;
}

int drv_bo_split(struct drv *drv, uint32_t handle, uint64_t offset, uint64_t size, uint32_t *new_handle,
		 uint64_t *mmap_offset)
{
	struct drm_vinci_bo_split arg = { .handle = handle, .offset = offset, .size = size };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_BO_SPLIT, &arg);

	if (r)
		return r;
	*new_handle = arg.new_handle;
	*mmap_offset = arg.mmap_offset;
	return 0;
}

int drv_close_handle(struct drv *drv, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return drv_ioctl(drv, DRM_IOCTL_GEM_CLOSE, &arg);
}

int drv_close_handle_async(struct drv *drv, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };
	int cancel, r;

	if (!drv->ops->post)
		return drv_close_handle(drv, handle);
	r = call_begin(drv, &cancel);
	return r ? r : call_end(drv, cancel, drv->ops->post(drv->transport, DRM_IOCTL_GEM_CLOSE, &arg));
}

int drv_map(struct drv *drv, uint64_t mmap_offset, size_t size, void *addr, bool writable, void **out)
{
	int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	int cancel;
	int r = call_begin(drv, &cancel);

	return r ? r : call_end(drv, cancel, drv->ops->mmap(drv->transport, addr, size, prot, mmap_offset, out));
}

int drv_unmap(struct drv *drv, void *addr, size_t size)
{
	/* The mapping is MADV_DONTFORK: in a child something else may live there by now. */
	if (process_current() != drv->owner)
		return -EOWNERDEAD;
	return drv->ops->munmap(addr, size); /* mappings outlive the connection */
}

/* --- notifies ----------------------------------------------------------------------------- */

int drv_notify_ids(struct drv *drv, uint32_t device, uint32_t *count, uint32_t *first)
{
	struct drm_vinci_notify_ids arg = { .device = device, .count = *count };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_NOTIFY_IDS, &arg);

	if (r)
		return r;
	*count = arg.count;
	*first = arg.first;
	return 0;
}

int drv_notify_create(struct drv *drv, uint32_t device, uint32_t id, uint32_t *handle, uint64_t *mmap_offset)
{
	struct drm_vinci_notify_create arg = { .device = device, .id = id };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_NOTIFY_CREATE, &arg);

	if (r)
		return r;
	*handle = arg.handle;
	*mmap_offset = arg.mmap_offset;
	return 0;
}

int drv_notify_status(struct drv *drv, uint32_t handle, uint32_t *holders, uint32_t *lost)
{
	struct drm_vinci_notify_status arg = { .handle = handle };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_NOTIFY_STATUS, &arg);

	if (r)
		return r;
	*holders = arg.holders;
	*lost = arg.lost;
	return 0;
}

/* --- shares ------------------------------------------------------------------------------- */

/* Bytes past the name's length must be zero: the request structures start out zeroed. */
static int put_name(uint8_t *field, const struct drv_name *name)
{
	if (name->len > VINCI_NAME_MAX)
		return -EINVAL;
	memcpy(field, name->bytes, name->len);
	return 0;
}

int drv_share_export(struct drv *drv, uint32_t handle, uint32_t kind, uint32_t flags, uint64_t size,
		     struct drv_name *name)
{
	struct drm_vinci_share_export arg = { .handle = handle, .kind = kind, .flags = flags, .size = size };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_SHARE_EXPORT, &arg);

	if (r)
		return r;
	if (!arg.name_len || arg.name_len > VINCI_NAME_MAX)
		return -EPROTO;
	name->kind = kind;
	name->len = arg.name_len;
	memcpy(name->bytes, arg.name, sizeof(arg.name));
	return 0;
}

int drv_share_allow(struct drv *drv, const struct drv_name *name, const uint32_t *sdid, const int32_t *pids,
		    uint32_t count)
{
	struct drm_vinci_share_allow arg = {
		.kind = name->kind,
		.name_len = name->len,
		.flags = sdid ? VINCI_ALLOW_SDID : 0,
		.sdid = sdid ? *sdid : 0,
		.pids = (uintptr_t)pids,
		.count = count,
		.elem_size = sizeof(*pids),
	};
	int r = put_name(arg.name, name);

	return r ? r : drv_ioctl(drv, DRM_IOCTL_VINCI_SHARE_ALLOW, &arg);
}

int drv_share_import(struct drv *drv, const struct drv_name *name, uint32_t device,
		     struct drm_vinci_share_import *import)
{
	struct drm_vinci_share_import arg = { .kind = name->kind, .name_len = name->len, .device = device };
	int r = put_name(arg.name, name);

	if (!r)
		r = drv_ioctl(drv, DRM_IOCTL_VINCI_SHARE_IMPORT, &arg);
	if (!r)
		*import = arg;
	return r;
}

int drv_share_close(struct drv *drv, const struct drv_name *name)
{
	struct drm_vinci_share_close arg = { .kind = name->kind, .name_len = name->len };
	int r = put_name(arg.name, name);

	return r ? r : drv_ioctl(drv, DRM_IOCTL_VINCI_SHARE_CLOSE, &arg);
}

int drv_share_attr(struct drv *drv, const struct drv_name *name, uint32_t attr, uint64_t value)
{
	struct drm_vinci_share_attr arg = {
		.kind = name->kind, .name_len = name->len, .attr = attr, .value = value
	};
	int r = put_name(arg.name, name);

	return r ? r : drv_ioctl(drv, DRM_IOCTL_VINCI_SHARE_ATTR, &arg);
}

/* --- peer access and listing -------------------------------------------------------------- */

int drv_peer(struct drv *drv, uint32_t device, uint32_t peer, uint32_t op, bool *active)
{
	struct drm_vinci_peer arg = { .device = device, .peer = peer, .op = op };
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_PEER, &arg);

	if (!r && active)
		*active = arg.active;
	return r;
}

int drv_list(struct drv *drv, uint32_t type, void *array, uint32_t elem_size, uint32_t *count)
{
	struct drm_vinci_list arg = {
		.type = type, .elem_size = elem_size, .array = (uintptr_t)array, .count = *count
	};
	int r = drv_ioctl(drv, DRM_IOCTL_VINCI_LIST, &arg);

	if (!r)
		*count = arg.count;
	return r;
}
