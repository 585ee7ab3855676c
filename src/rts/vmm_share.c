/* SPDX-License-Identifier: MIT */
/*
 * vmm_share.c - physical memory shared by handle: a number within one server, or a fabric handle across those of a pod.
 *
 * Memory can be exported once. Importing it again for the same device gives the same handle, counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/memory.h"
#include "rts/share.h"
#include "rts/vmm.h"

static int fabric_check(uint32_t kind)
{
	struct rts_context *ctx;
	int r;

	if (kind != VINCI_SHARE_FABRIC)
		return 0;
	r = rts_context_current(&ctx);
	if (r || rts_profile()->features & RTS_FEATURE_SUPER_POD)
		return r;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "fabric handles exist on Atlas A3 devices; this one is an %s",
			rts_profile()->soc);
}

/* --- exporting ---------------------------------------------------------------------------- */

static int export_check(const struct rts_phys *phys)
{
	int r = vmm_phys_check(phys);

	if (r)
		return r;
	if (phys->imported)
		return RTS_REFUSE("the memory was imported from another process, and only its exporter can share it");
	if (phys->name.len)
		return RTS_REFUSE("the memory is exported already (handle %s...), and that is possible once only",
				  rts_name_hint(&phys->name).text);
	return 0;
}

static int export_locked(struct rts_phys *phys, uint32_t kind, uint64_t flags)
{
	bool unvalidated = flags & ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
	int r = export_check(phys);

	if (r)
		return r;
	r = drv_share_export(rts_drv(), phys->bo, kind, unvalidated ? VINCI_SHARE_UNVALIDATED : 0, phys->size,
			     &phys->name);
	if (r)
		return u_report(rts_errno_code(kind, RTS_OP_EXPORT, r), "the device did not export the memory (%s)",
				rts_errno_text(r));
	return 0;
}

int rts_phys_export(aclrtDrvMemHandle handle, uint32_t kind, uint64_t flags, struct drv_name *name)
{
	struct rts_phys *phys = NULL;
	int r;

	if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is 0x%llx; 0 or 1 is wanted",
				(unsigned long long)flags);
	r = rts_process_start();
	if (!r)
		r = fabric_check(kind);
	if (!r)
		r = vmm_phys_get(handle, &phys);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = export_locked(phys, kind, flags);
	if (!r)
		*name = phys->name;
	u_mutex_unlock(&rts_share_lock);
	rts_object_put(&phys->obj);
	return r;
}

int rts_phys_allow(const struct drv_name *name, const int32_t *pids, size_t count)
{
	int r;

	if (count > RTS_VMM_PIDS_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%zu process ids in one call; at most %d are possible", count,
				RTS_VMM_PIDS_MAX);
	r = rts_process_start();
	if (!r)
		r = fabric_check(name->kind);
	if (r)
		return r;
	r = drv_share_allow(rts_drv(), name, NULL, pids, (uint32_t)count);
	return r ? rts_allow_failed(name, "handle", r) : 0;
}

/* --- importing ---------------------------------------------------------------------------- */

/* What is known of memory that another process created; @host: where it is. */
static void describe(struct rts_phys *phys, bool host)
{
	static const aclrtMemAttr device_attr[] = { ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE1G };
	static const aclrtMemAttr host_attr[] = { ACL_MEM_NORMAL, ACL_MEM_HUGE, ACL_MEM_HUGE1G };
	int32_t user = rts_device_to_user(phys->owner);

	phys->prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
	phys->prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
	phys->prop.memAttr = (host ? host_attr : device_attr)[phys->page_kind];
	phys->prop.location.type = host ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
	phys->prop.location.id = host ? 0 : user < 0 ? phys->owner : (uint32_t)user;
}

static int import_check(const struct drm_vinci_share_import *in)
{
	if (in->object == VINCI_OBJECT_BO && in->size && !(in->size % RTS_VMM_PAGE) && in->size <= SIZE_MAX / 2 &&
	    in->page_kind <= VINCI_PAGE_1G && in->owner_device < VINCI_MAX_DEVICES)
		return 0;
	return RTS_REFUSE("the handle is not of physical memory (%llu bytes, object %u)", (unsigned long long)in->size,
			  in->object);
}

/* Numbers within a server bring peer access with them; a fabric needs none. */
static int import_link(const struct drv_name *name, uint32_t current, const struct drm_vinci_share_import *in)
{
	if (name->kind != VINCI_SHARE_VMM || in->bo_flags & VINCI_BO_HOST)
		return 0;
	return rts_peer_enable_both(current, in->owner_device);
}

/*
 * An import is the importing device's side of the memory, wherever that is: so says CANN's driver. To copies, mappings of
 * imported host memory are device memory, and engines queue copies from host to host between them.
 */
static int import_publish(const struct drv_name *name, uint32_t device, const struct drm_vinci_share_import *in,
			  struct rts_phys **out)
{
	struct rts_phys *phys = calloc(1, sizeof(*phys));
	bool host = in->bo_flags & VINCI_BO_HOST;
	int r;

	if (!phys)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	phys->bo = in->handle;
	phys->mmap_offset = in->mmap_offset;
	phys->size = phys->asked = in->size;
	phys->page_kind = in->page_kind;
	phys->device = device;
	phys->owner = host ? device : in->owner_device;
	phys->imported = true;
	phys->name = *name;
	describe(phys, host);
	r = vmm_phys_publish(phys);
	if (r)
		free(phys);
	else
		*out = phys;
	return r;
}

static int import_new(const struct drv_name *name, uint32_t current, uint32_t device, struct rts_phys **out)
{
	struct drm_vinci_share_import in;
	int r = drv_share_import(rts_drv(), name, device, &in);

	if (r)
		return rts_import_failed(name, "handle", device, r);
	r = import_check(&in);
	if (!r)
		r = import_link(name, current, &in);
	if (!r)
		r = import_publish(name, device, &in, out);
	if (r)
		(void)drv_close_handle_async(rts_drv(), in.handle);
	return r;
}

static int import_locked(const struct drv_name *name, uint32_t current, uint32_t device, aclrtDrvMemHandle *handle)
{
	struct rts_phys *phys = vmm_phys_imported(name, device);
	int r = 0;

	if (phys)
		phys->user_refs++;
	else
		r = import_new(name, current, device, &phys);
	if (!r)
		*handle = phys->obj.handle;
	return r;
}

int rts_phys_import(const struct drv_name *name, uint32_t device, aclrtDrvMemHandle *handle)
{
	struct rts_context *ctx;
	int r = rts_process_start();

	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = fabric_check(name->kind);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = import_locked(name, ctx->device, device, handle);
	u_mutex_unlock(&rts_share_lock);
	return r;
}
