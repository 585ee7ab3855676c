/* SPDX-License-Identifier: MIT */
/* vmm.c - chapter 11.4: physical memory, reserved addresses and mappings. Sharing is in vmm_share.c. */
#include "acl/api.h"
#include "rts/vmm.h"

#define ON_HOST 1u
#define ON_DEVICE 2u
#define P2P_1G 4u /* pages of 1 GiB with access between devices: not on every product */

/*
 * What can be asked for, where, in which pages; and which name the same memory has when its properties are read back.
 * "Normal" memory of a device comes in pages of 2 MiB, too.
 */
static const struct attr {
	aclrtMemAttr attr;
	uint32_t where;
	uint32_t host_pages, device_pages;
	aclrtMemAttr host_name, device_name;
} attrs[] = {
	{ ACL_HBM_MEM_HUGE, ON_HOST | ON_DEVICE, VINCI_PAGE_2M, VINCI_PAGE_2M, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE },
	{ ACL_HBM_MEM_NORMAL, ON_HOST | ON_DEVICE, VINCI_PAGE_4K, VINCI_PAGE_2M, ACL_HBM_MEM_NORMAL,
	  ACL_HBM_MEM_NORMAL },
	{ ACL_HBM_MEM_HUGE1G, ON_DEVICE, VINCI_PAGE_1G, VINCI_PAGE_1G, ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G },
	{ ACL_DDR_MEM_HUGE, ON_HOST, VINCI_PAGE_2M, 0, ACL_MEM_HUGE, 0 },
	{ ACL_DDR_MEM_NORMAL, ON_HOST, VINCI_PAGE_4K, 0, ACL_MEM_NORMAL, 0 },
	{ ACL_DDR_MEM_P2P_HUGE, ON_HOST, VINCI_PAGE_2M, 0, ACL_MEM_P2P_HUGE, 0 },
	{ ACL_DDR_MEM_P2P_NORMAL, ON_HOST, VINCI_PAGE_4K, 0, ACL_DDR_MEM_P2P_NORMAL, 0 },
	{ ACL_MEM_NORMAL, ON_HOST | ON_DEVICE, VINCI_PAGE_4K, VINCI_PAGE_2M, ACL_MEM_NORMAL, ACL_HBM_MEM_NORMAL },
	{ ACL_MEM_HUGE, ON_HOST | ON_DEVICE, VINCI_PAGE_2M, VINCI_PAGE_2M, ACL_MEM_HUGE, ACL_HBM_MEM_HUGE },
	{ ACL_MEM_HUGE1G, ON_DEVICE, VINCI_PAGE_1G, VINCI_PAGE_1G, ACL_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G },
	{ ACL_MEM_P2P_NORMAL, ON_HOST | ON_DEVICE, VINCI_PAGE_4K, VINCI_PAGE_2M, ACL_DDR_MEM_P2P_NORMAL,
	  ACL_MEM_P2P_NORMAL },
	{ ACL_MEM_P2P_HUGE, ON_HOST | ON_DEVICE, VINCI_PAGE_2M, VINCI_PAGE_2M, ACL_MEM_P2P_HUGE, ACL_MEM_P2P_HUGE },
	{ ACL_MEM_P2P_HUGE1G, ON_DEVICE | P2P_1G, VINCI_PAGE_1G, VINCI_PAGE_1G, ACL_MEM_P2P_HUGE1G,
	  ACL_MEM_P2P_HUGE1G },
};

static bool is_ddr(aclrtMemAttr attr)
{
	return attr == ACL_DDR_MEM_HUGE || attr == ACL_DDR_MEM_NORMAL || attr == ACL_DDR_MEM_P2P_HUGE ||
	       attr == ACL_DDR_MEM_P2P_NORMAL;
}

/* acl's own checks of a property: 100000. */
static int attr_find(const aclrtPhysicalMemProp *prop, const struct attr **out)
{
	size_t i;

	REQUIRE(prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE || !is_ddr(prop->memAttr),
		"memory attribute %d is host memory, and the location is a device", (int)prop->memAttr);
	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (attrs[i].attr == prop->memAttr) {
			*out = &attrs[i];
			return 0;
		}
	}
	return u_report(ACL_ERROR_INVALID_PARAM, "memory attribute %d is not one that physical memory can have",
			(int)prop->memAttr);
}

/* The location as the runtime sees it. A device's id is a position among the visible ones. */
static int location_resolve(const aclrtMemLocation *location, struct rts_phys_request *q)
{
	struct rts_context *ctx;

	q->host = location->type != ACL_MEM_LOCATION_TYPE_DEVICE;
	q->device = 0;
	q->numa_node = -1;
	switch (location->type) {
	case ACL_MEM_LOCATION_TYPE_DEVICE:
		return rts_device_from_user((int32_t)location->id, &q->device);
	case ACL_MEM_LOCATION_TYPE_HOST:
		if (location->id)
			return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "location id is %u; for host memory it must be 0",
					location->id);
		return 0;
	case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
		q->numa_node = (int32_t)location->id < 0 ? -1 : (int32_t)location->id;
		return rts_context_current(&ctx);
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "location type %d does not exist", (int)location->type);
	}
}

static int attr_apply(const struct attr *attr, struct rts_phys_request *q)
{
	if (!(attr->where & (q->host ? ON_HOST : ON_DEVICE)))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"memory attribute %d (pages of 1 GiB) exists on devices only", (int)attr->attr);
	if (attr->where & P2P_1G && !(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"memory attribute %d (pages of 1 GiB for other devices) exists on Atlas A3 devices; this one is an %s",
				(int)attr->attr, rts_profile()->soc);
	q->page_kind = q->host ? attr->host_pages : attr->device_pages;
	q->prop.memAttr = q->host ? attr->host_name : attr->device_name;
	return 0;
}

static int request_resolve(const aclrtPhysicalMemProp *prop, struct rts_phys_request *q)
{
	const struct attr *attr = NULL;
	int r = attr_find(prop, &attr);

	if (r)
		return r;
	q->prop = *prop;
	r = rts_process_start();
	if (!r)
		r = location_resolve(&prop->location, q);
	return r ? r : attr_apply(attr, q);
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags)
{
	struct rts_phys_request q = { .size = size };
	int r;

	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(prop);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	REQUIRE(!flags, "%s: flags is 0x%llx; it is reserved and must be 0", __func__, (unsigned long long)flags);
	REQUIRE(prop->handleType == ACL_MEM_HANDLE_TYPE_NONE, "%s: handleType is %d; %d is wanted", __func__,
		(int)prop->handleType, ACL_MEM_HANDLE_TYPE_NONE);
	REQUIRE(prop->allocationType == ACL_MEM_ALLOCATION_TYPE_PINNED, "%s: allocationType is %d; %d is wanted",
		__func__, (int)prop->allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED);
	REQUIRE(prop->location.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED &&
			prop->location.type != ACL_MEM_LOCATION_TYPE_MANAGED,
		"%s: location type is %d; a device, the host or a NUMA node is wanted", __func__,
		(int)prop->location.type);
	r = request_resolve(prop, &q);
	if (!r)
		r = rts_phys_create(&q, handle);
	return api_result(r);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_phys_free(handle));
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop)
{
	REQUIRE_NOT_NULL(handle);
	REQUIRE_NOT_NULL(prop);
	return api_result(rts_phys_prop(handle, prop));
}

/* Of both kinds, minimum and recommended; sizes and addresses of "normal" pages go by 2 MiB as well. */
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
					  size_t *granularity)
{
	struct rts_phys_request q = { 0 };
	int r;

	REQUIRE_NOT_NULL(prop);
	REQUIRE_NOT_NULL(granularity);
	r = request_resolve(prop, &q);
	if (!r && option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "granularity option %d; %d (minimum) or %d (recommended) is wanted",
			     (int)option, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED);
	if (!r)
		*granularity = q.page_kind == VINCI_PAGE_1G ? (size_t)1 << 30 : RTS_VMM_PAGE;
	return api_result(r);
}

static aclError reserve(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags, bool no_uc,
			const char *function)
{
	REQUIRE(virPtr, "%s: argument virPtr is NULL", function);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", function);
	REQUIRE(flags <= 1, "%s: flags is 0x%llx; 0 is wanted (or 1, which means the same)", function,
		(unsigned long long)flags);
	return api_result(rts_vmm_reserve(size, alignment, expectPtr, no_uc, virPtr));
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags)
{
	return reserve(virPtr, size, alignment, expectPtr, flags, false, __func__);
}

aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment, void *expectPtr,
					  uint64_t flags)
{
	REQUIRE_PRODUCT();
	return reserve(virPtr, size, alignment, expectPtr, flags, true, __func__);
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
	REQUIRE_NOT_NULL(virPtr);
	return api_result(rts_vmm_release(virPtr));
}

static int map_check(const void *virPtr, size_t size, const void *handle, uint64_t flags, const char *function)
{
	REQUIRE(virPtr && handle, "%s: argument %s is NULL", function, virPtr ? "handle" : "virPtr");
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", function);
	REQUIRE(!flags, "%s: flags is 0x%llx; it is reserved and must be 0", function, (unsigned long long)flags);
	return 0;
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
	int r = map_check(virPtr, size, handle, flags, __func__);

	return r ? r : api_result(rts_vmm_map(virPtr, size, offset, handle));
}

/* No driver of these products has it: the real runtime finds no such entry and says so. */
aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
	int r = map_check(virPtr, size, handle, flags, __func__);

	(void)offset;
	if (r)
		return r;
	return api_result(u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				   "%s: the driver of this product cannot map without access; use aclrtMapMem", __func__));
}

aclError aclrtUnmapMem(void *virPtr)
{
	REQUIRE_NOT_NULL(virPtr);
	return api_result(rts_vmm_unmap(virPtr));
}

aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle)
{
	REQUIRE_NOT_NULL(virPtr);
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_vmm_retain(virPtr, handle));
}

/* NULL is the runtime's to find here. */
aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
	return api_result(rts_vmm_set_access(virPtr, size, desc, count));
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag)
{
	REQUIRE_NOT_NULL(virPtr);
	REQUIRE_NOT_NULL(location);
	REQUIRE_NOT_NULL(flag);
	return api_result(rts_vmm_get_access(virPtr, location, flag));
}

aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(virPtrDst);
	REQUIRE_NOT_NULL(virPtrSrc);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	REQUIRE(linkIdx <= ACL_RT_MEM_LINK_IDX_1, "%s: linkIdx is %u; 0 (SIO) or 1 (HCCS) is wanted", __func__, linkIdx);
	return api_result(rts_vmm_map_again(virPtrDst, size, virPtrSrc));
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink)
{
	REQUIRE_NOT_NULL(handle);
	return api_result(rts_phys_advise_link(handle, adviceLink));
}

aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId, uint64_t flags)
{
	uint32_t device;
	int r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	REQUIRE(!flags, "%s: flags is 0x%llx; it is reserved and must be 0", __func__, (unsigned long long)flags);
	r = rts_process_start();
	if (!r)
		r = rts_device_from_user(dstDevId, &device);
	if (!r)
		r = rts_vmm_p2p_map(devPtr, size, device);
	return api_result(r);
}
