/* SPDX-License-Identifier: MIT */
/*
 * ipc_import.c - device memory shared by key: the importer's side.
 *
 * Imports of one key in one process are one mapping with a count. Closing the last needs nothing of the exporter,
 * who may have closed the key, freed the memory or died.
 */
#include "rts/ipc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/memory.h"
#include "rts/share.h"

#define BUCKETS 256u

struct ipc_import {
	LIST_ENTRY(ipc_import) link;
	struct drv_name name;
	void *va;
	size_t mapped;
	uint32_t bo;
	uint32_t device;
	uint32_t count;
};

/* Under rts_share_lock. */
static LIST_HEAD(import_list, ipc_import) imports[BUCKETS];

static struct ipc_import *import_find(const struct drv_name *name)
{
	struct ipc_import *im;

	LIST_FOREACH(im, &imports[rts_name_hash(name) % BUCKETS], link)
		if (rts_name_equal(&im->name, name))
			return im;
	return NULL;
}

/* --- import ------------------------------------------------------------------------------- */

static int import_check(const struct drm_vinci_share_import *in)
{
	if (in->object == VINCI_OBJECT_BO && in->size && in->page_kind <= VINCI_PAGE_1G &&
	    in->owner_device < VINCI_MAX_DEVICES && in->size <= SIZE_MAX / 2)
		return 0;
	return RTS_REFUSE("the device describes the imported memory in a way that cannot be (%llu bytes, object %u)",
		      (unsigned long long)in->size, in->object);
}

/* Across devices the memory can be used only when both directions are enabled; flag 1 asks for that to be done here. */
static int import_link(uint32_t device, uint32_t owner, uint64_t flags)
{
	if (flags & ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)
		return rts_peer_enable_both(device, owner);
	if (rts_peer_active(device, owner))
		return 0;
	return RTS_REFUSE("the memory is device %d's and the current device is %d: import with flag 1 (peer access), or call aclrtDeviceEnablePeerAccess in both directions first",
		      rts_device_to_user(owner), rts_device_to_user(device));
}

static int import_map(struct ipc_import *im, const struct drm_vinci_share_import *in)
{
	struct rts_segment seg = {
		.size = in->size,
		.kind = RTS_SEG_IPC,
		.device = im->device,
		.owner = in->owner_device,
		.page_kind = in->page_kind,
		.handle = in->handle,
		.mmap_offset = in->mmap_offset,
		.priv = im,
	};
	int r;

	im->mapped = rts_round_up(in->size, rts_page_size(in->page_kind));
	r = drv_map(rts_drv(), in->mmap_offset, im->mapped, NULL, true, &im->va);
	if (r == -ENOMEM) { /* addresses of freed memory are the first to go */
		rts_va_drain();
		r = drv_map(rts_drv(), in->mmap_offset, im->mapped, NULL, true, &im->va);
	}
	if (r)
		return u_report(rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_MAP, r),
				"%zu imported bytes could not be mapped (%s)", im->mapped, rts_errno_text(r));
	seg.base = (uintptr_t)im->va;
	r = rts_va_insert(&seg);
	if (r)
		(void)drv_unmap(rts_drv(), im->va, im->mapped);
	return r;
}

static int import_refused(const struct drv_name *name, uint32_t device, int err)
{
	if (err == -EACCES && ipc_export_find(name))
		return RTS_REFUSE("key %s... was exported by this very process, which can import it only when it was exported with flag 1 (no pid validation)",
			      rts_name_hint(name).text);
	return rts_import_failed(name, "key", device, err);
}

static int import_new(const struct drv_name *name, uint32_t device, uint64_t flags, struct ipc_import **out)
{
	struct drm_vinci_share_import in;
	struct ipc_import *im;
	int r;

	r = drv_share_import(rts_drv(), name, device, &in);
	if (r)
		return import_refused(name, device, r);
	im = calloc(1, sizeof(*im));
	r = im ? import_check(&in) : u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	if (!r)
		r = import_link(device, in.owner_device, flags);
	if (r)
		goto err_close;
	im->name = *name;
	im->device = device;
	im->bo = in.handle;
	im->count = 1;
	r = import_map(im, &in);
	if (r)
		goto err_close;
	LIST_INSERT_HEAD(&imports[rts_name_hash(name) % BUCKETS], im, link);
	*out = im;
	return 0;

err_close:
	free(im);
	(void)drv_close_handle_async(rts_drv(), in.handle);
	return r;
}

static int import_locked(const struct drv_name *name, uint32_t device, uint64_t flags, struct ipc_import **out)
{
	struct ipc_import *im = import_find(name);

	if (!im)
		return import_new(name, device, flags, out);
	if (im->device != device)
		return rts_import_failed(name, "key", device, -EBUSY);
	im->count++;
	*out = im;
	return 0;
}

int rts_ipc_import(const char *key, uint64_t flags, void **out)
{
	struct ipc_import *im = NULL;
	struct drv_name name;
	uint32_t device;
	void *va = NULL;
	int r;

	if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is 0x%llx; 0 or 1 is wanted",
				(unsigned long long)flags);
	r = ipc_enter(key, &name, &device);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = import_locked(&name, device, flags, &im);
	if (!r)
		va = im->va;
	u_mutex_unlock(&rts_share_lock);
	if (!r)
		*out = va;
	return r;
}

/* --- close -------------------------------------------------------------------------------- */

/* Tasks that use the memory have ended. */
static void import_unmap(void *arg)
{
	struct ipc_import *im = arg;

	rts_va_drop((uintptr_t)im->va, im->mapped);
	free(im);
}

/* The rest of it, import_unmap(), is to be deferred without the lock. */
static void import_end(struct ipc_import *im)
{
	LIST_REMOVE(im, link);
	(void)rts_va_bury((uintptr_t)im->va, RTS_SEG_IPC, NULL);
	(void)drv_close_handle_async(rts_drv(), im->bo);
}

int rts_ipc_close(const char *key)
{
	struct ipc_import *im, *last = NULL;
	struct drv_name name;
	int r = ipc_enter(key, &name, NULL);

	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	im = import_find(&name);
	if (!im)
		r = ipc_key_close(&name);
	else if (!--im->count)
		last = im;
	if (last)
		import_end(last);
	u_mutex_unlock(&rts_share_lock);
	if (last)
		rts_exec_defer(import_unmap, last);
	return r;
}

/* --- the device is closed by this process ------------------------------------------------- */

static void imports_collect(uint32_t device, struct import_list *gone)
{
	struct ipc_import *im, *next;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		for (im = LIST_FIRST(&imports[i]); im; im = next) {
			next = LIST_NEXT(im, link);
			if (im->device != device)
				continue;
			import_end(im);
			LIST_INSERT_HEAD(gone, im, link);
		}
}

void rts_ipc_device_gone(uint32_t device)
{
	struct import_list gone = LIST_HEAD_INITIALIZER(gone);
	struct ipc_import *im;

	u_mutex_lock(&rts_share_lock);
	imports_collect(device, &gone);
	ipc_allocs_end(device);
	u_mutex_unlock(&rts_share_lock);
	while ((im = LIST_FIRST(&gone))) {
		LIST_REMOVE(im, link);
		rts_exec_defer(import_unmap, im);
	}
}
