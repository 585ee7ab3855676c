/* SPDX-License-Identifier: MIT */
/*
 * vmm_phys.c - handles of physical memory.
 *
 * A handle is counted: 1 for its creation or each import and retain, which aclrtFreePhysical drops, and 1 for each mapping. The memory
 * goes with the last count, so freeing what is mapped succeeds and takes effect when it is unmapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/memory.h"
#include "rts/share.h"
#include "rts/usage.h"
#include "rts/vmm.h"

/* All that are alive, created and imported; under rts_share_lock. */
static LIST_HEAD(, rts_phys) all = LIST_HEAD_INITIALIZER(all);

static void phys_release(struct rts_object *obj)
{
	free(obj);
}

int vmm_phys_get(aclrtDrvMemHandle handle, struct rts_phys **phys)
{
	struct rts_object *obj = rts_object_get(handle, RTS_PHYS);

	if (!obj)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%p is not a handle of physical memory, or its memory was freed", handle);
	*phys = (struct rts_phys *)obj;
	return 0;
}

int vmm_phys_check(const struct rts_phys *phys)
{
	if (!phys->user_refs && !phys->map_refs)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the memory was freed meanwhile");
	if (phys->epoch != rts_process_epoch())
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the memory went with the device that has died");
	return 0;
}

int vmm_phys_publish(struct rts_phys *phys)
{
	int r = rts_object_publish(&phys->obj, RTS_PHYS, phys_release);

	if (r)
		return r;
	phys->epoch = rts_process_epoch();
	phys->user_refs = 1;
	LIST_INSERT_HEAD(&all, phys, link);
	return 0;
}

/*
 * Created: the charge is gone on return, and so is the name that it was exported under. The device has forgotten what an older
 * connection held, which does not ask it.
 */
static void let_memory_go(struct rts_phys *phys)
{
	struct drv *drv = rts_drv_at(phys->epoch);

	if (phys->imported) {
		(void)drv_close_handle_async(drv, phys->bo);
		return;
	}
	(void)drv_close_handle(drv, phys->bo);
	if (!phys->host)
		rts_usage_sub(phys->device, RTS_COMPONENT_APP, phys->size);
}

void vmm_phys_settle(struct rts_phys *phys)
{
	if (phys->user_refs || phys->map_refs)
		return;
	LIST_REMOVE(phys, link);
	let_memory_go(phys);
	rts_object_put(rts_object_unpublish(phys->obj.handle, RTS_PHYS));
}

struct rts_phys *vmm_phys_imported(const struct drv_name *name, uint32_t device)
{
	struct rts_phys *phys;

	LIST_FOREACH(phys, &all, link)
		if (phys->imported && phys->device == device && rts_name_equal(&phys->name, name))
			return phys;
	return NULL;
}

/* --- creating ----------------------------------------------------------------------------- */

static int create_failed(const struct rts_phys_request *q, uint64_t size, int err)
{
	if (!q->host)
		return rts_span_report(q->device, size, q->size, q->page_kind, err);
	return u_report(err == -EINVAL ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : rts_errno_code(0, RTS_OP_BO_CREATE, err),
			"%llu bytes of host memory%s: %s", (unsigned long long)size,
			q->numa_node < 0 ? "" : " on a NUMA node", rts_errno_text(err));
}

/* Pages of 1 GiB: sizes are rounded up silently. Others have to fit. */
static int size_check(const struct rts_phys_request *q, uint64_t *size)
{
	size_t page = rts_page_size(q->page_kind);

	if (q->page_kind != VINCI_PAGE_1G && q->size % RTS_VMM_PAGE)
		return RTS_REFUSE("size is %zu; it must be a multiple of the granularity, 2 MiB (aclrtMemGetAllocationGranularity)",
				  q->size);
	if (q->size > SIZE_MAX / 2)
		return create_failed(q, q->size, -ENOMEM);
	*size = q->page_kind == VINCI_PAGE_1G ? rts_round_up(q->size, page) : q->size;
	return 0;
}

static int create_memory(struct rts_phys *phys, const struct rts_phys_request *q)
{
	struct drm_vinci_bo_create bo = {
		.size = phys->size,
		.device = q->device,
		.flags = q->host ? VINCI_BO_HOST : 0,
		.page_kind = q->page_kind,
		.numa_node = q->host ? q->numa_node : -1,
	};
	int r = drv_bo_create(rts_drv(), &bo);

	if (r)
		return create_failed(q, phys->size, r);
	phys->bo = bo.handle;
	phys->mmap_offset = bo.mmap_offset;
	return 0;
}

static int create(const struct rts_phys_request *q, struct rts_phys *phys, aclrtDrvMemHandle *handle)
{
	int r = create_memory(phys, q);

	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = vmm_phys_publish(phys);
	if (r) {
		(void)drv_close_handle(rts_drv(), phys->bo);
	} else {
		*handle = phys->obj.handle; /* a reset in another thread may end it as soon as the lock is free */
		if (!q->host)
			rts_usage_add(q->device, RTS_COMPONENT_APP, phys->size);
	}
	u_mutex_unlock(&rts_share_lock);
	return r;
}

int rts_phys_create(const struct rts_phys_request *q, aclrtDrvMemHandle *handle)
{
	struct rts_phys *phys;
	uint64_t size = 0;
	int r = rts_process_start();

	if (!r && !q->host)
		r = rts_share_device_check(q->device);
	if (!r)
		r = size_check(q, &size);
	if (r)
		return r;
	phys = calloc(1, sizeof(*phys));
	if (!phys)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	phys->size = size;
	phys->asked = rts_round_up(q->size, RTS_VMM_PAGE);
	phys->page_kind = q->page_kind;
	phys->device = phys->owner = q->device;
	phys->host = q->host;
	phys->prop = q->prop;
	r = create(q, phys, handle);
	if (r)
		free(phys);
	return r;
}

/* --- freeing, asking ---------------------------------------------------------------------- */

static int free_locked(struct rts_phys *phys)
{
	if (!phys->user_refs)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the handle was freed as often as it was created, imported and retained; %u mapping%s it now: aclrtUnmapMem",
				phys->map_refs, phys->map_refs == 1 ? " holds" : "s hold");
	phys->user_refs--;
	vmm_phys_settle(phys);
	return 0;
}

int rts_phys_free(aclrtDrvMemHandle handle)
{
	struct rts_phys *phys = NULL;
	int r = rts_process_start();

	if (!r)
		r = vmm_phys_get(handle, &phys);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = free_locked(phys);
	u_mutex_unlock(&rts_share_lock);
	rts_object_put(&phys->obj);
	return r;
}

int rts_phys_prop(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop)
{
	struct rts_phys *phys = NULL;
	int r = rts_process_start();

	if (!r)
		r = vmm_phys_get(handle, &phys);
	if (r)
		return r;
	*prop = phys->prop;
	rts_object_put(&phys->obj);
	return 0;
}

/* --- links -------------------------------------------------------------------------------- */

/* A3 has two between the dies of a chip, which reach the same memory; no other product has a choice. */
static int link_check(aclrtMemLinkType link)
{
	if ((uint32_t)link > ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "adviceLink is %d; aclrtMemLinkType has 0 to %d", (int)link,
				ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH);
	if (rts_profile()->features & RTS_FEATURE_IPC_ATTR && link <= ACL_RT_MEM_ACCESS_LINK_HCCS)
		return 0;
	return u_report(ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED, "%s has no link of type %d to choose", rts_profile()->soc,
			(int)link);
}

int rts_phys_advise_link(aclrtDrvMemHandle handle, aclrtMemLinkType link)
{
	struct rts_phys *phys;
	int r = rts_process_start();

	if (!r)
		r = vmm_phys_get(handle, &phys);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = vmm_phys_check(phys);
	u_mutex_unlock(&rts_share_lock);
	if (!r)
		r = link_check(link);
	if (!r && phys->prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the memory is the host's, to which there is one link");
	rts_object_put(&phys->obj);
	return r;
}

/* --- the device is closed by this process ------------------------------------------------- */

/* Mappings have gone before (vmm.c). */
static void phys_device_gone(uint32_t device)
{
	struct rts_phys *phys, *next;

	for (phys = LIST_FIRST(&all); phys; phys = next) {
		next = LIST_NEXT(phys, link);
		if (phys->host || phys->device != device)
			continue;
		phys->user_refs = 0;
		vmm_phys_settle(phys);
	}
}

void rts_vmm_device_gone(uint32_t device)
{
	struct vmm_mapping *m;

	u_mutex_lock(&rts_share_lock);
	while ((m = vmm_mapping_of_device(device))) {
		vmm_mapping_end(m);
		u_mutex_unlock(&rts_share_lock);
		vmm_mapping_defer(m);
		u_mutex_lock(&rts_share_lock);
	}
	phys_device_gone(device);
	u_mutex_unlock(&rts_share_lock);
}
