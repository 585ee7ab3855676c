/* SPDX-License-Identifier: MIT */
/*
 * vmm_access.c - who may use a mapping. The device that the memory was created or imported for can by itself; for others
 * access is granted, for reading and writing or not at all.
 *
 * Ids of devices in an access descriptor are the driver's, not positions in ASCEND_RT_VISIBLE_DEVICES (as on a
 * card, where aclrtPhysicalMemProp takes the latter).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/memory.h"
#include "rts/peer.h"
#include "rts/process.h"
#include "rts/share.h"
#include "rts/vmm.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static int location_check(const aclrtMemLocation *location)
{
	if (location->type == ACL_MEM_LOCATION_TYPE_HOST && !location->id)
		return 0;
	if (location->type == ACL_MEM_LOCATION_TYPE_DEVICE && location->id < rts_device_total())
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"location type %d, id %u; host (0) with id 0 or device (1) with an id below %u is wanted",
			(int)location->type, location->id, rts_device_total());
}

static int desc_check(const aclrtMemAccessDesc *desc)
{
	if (desc->flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"access %d; only reading and writing (%d) can be granted", (int)desc->flags,
				ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
	return location_check(&desc->location);
}

static int descs_check(const aclrtMemAccessDesc *desc, size_t count)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < count; i++) {
		r = desc_check(&desc[i]);
		if (!r && desc[i].location.type == ACL_MEM_LOCATION_TYPE_DEVICE)
			r = rts_share_device_check(desc[i].location.id);
	}
	return r;
}

/* Another device than the memory's needs to have a link. */
static int device_may(const struct vmm_mapping *m, uint32_t device)
{
	bool linked;
	int r;

	if (m->phys->host || device == m->phys->owner)
		return 0;
	r = rts_peer_linked(device, m->phys->owner, &linked);
	if (!r && !linked)
		r = RTS_REFUSE("device %u has no link to device %u, whose memory is mapped at %p", device,
			       m->phys->owner, (void *)m->base);
	return r;
}

static int grant(struct vmm_mapping *m, const aclrtMemAccessDesc *desc)
{
	uint32_t id = desc->location.id;
	int r;

	if (desc->location.type == ACL_MEM_LOCATION_TYPE_HOST) {
		m->host_access = true;
		return 0;
	}
	r = device_may(m, id);
	if (!r)
		m->access |= UINT64_C(1) << id;
	return r;
}

static int set_access_locked(void *va, size_t size, const aclrtMemAccessDesc *desc, size_t count)
{
	struct vmm_mapping *m = vmm_mapping_at(va);
	size_t i;
	int r = 0;

	if (!m || m->size != size)
		return RTS_REFUSE("%zu bytes at %p are not exactly one mapping (aclrtMapMem)", size, va);
	for (i = 0; !r && i < count; i++)
		r = grant(m, &desc[i]);
	return r;
}

int rts_vmm_set_access(void *va, size_t size, const aclrtMemAccessDesc *desc, size_t count)
{
	int r;

	if (!va || !desc || !count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"virPtr is %p, desc %p and count %zu; an address and at least one descriptor are wanted", va,
				(const void *)desc, count);
	r = rts_process_start();
	if (!r)
		r = descs_check(desc, count);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = set_access_locked(va, size, desc, count);
	u_mutex_unlock(&rts_share_lock);
	return r;
}

static bool may_use(const struct vmm_mapping *m, const aclrtMemLocation *location)
{
	if (location->type == ACL_MEM_LOCATION_TYPE_HOST)
		return m->host_access || m->phys->host;
	return m->access >> location->id & 1 || (!m->phys->host && location->id == m->phys->device);
}

int rts_vmm_get_access(void *va, const aclrtMemLocation *location, uint64_t *flags)
{
	const struct vmm_mapping *m;
	bool may = false;
	int r = rts_process_start();

	if (!r)
		r = location_check(location);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	m = vmm_mapping_at(va);
	if (m)
		may = may_use(m, location);
	else
		r = RTS_REFUSE("no mapping starts at %p", va);
	u_mutex_unlock(&rts_share_lock);
	if (!r)
		*flags = may ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
	return r;
}

/* --- another device of this process, ahead of its first access ---------------------------- */

#define WINDOW_PAGES 512u

static void populate(uint8_t *at, size_t size)
{
	size_t i;

	if (!madvise(at, size, MADV_POPULATE_READ))
		return;
	for (i = 0; i < size; i += RTS_PAGE_4K) /* before 5.14 */
		(void)*(volatile uint8_t *)(at + i);
}

/* What is not backed yet stays so: memory that nobody has touched costs nothing. */
static void populate_backed(uintptr_t from, uintptr_t end)
{
	unsigned char backed[WINDOW_PAGES];
	uintptr_t at;
	size_t i, run, pages;

	for (at = from; at < end; at += WINDOW_PAGES * RTS_PAGE_4K) {
		pages = (end - at) / RTS_PAGE_4K < WINDOW_PAGES ? (end - at) / RTS_PAGE_4K : WINDOW_PAGES;
		if (mincore((void *)at, pages * RTS_PAGE_4K, backed))
			return;
		for (i = 0; i < pages; i += run ? run : 1) {
			for (run = 0; i + run < pages && backed[i + run] & 1; run++)
				;
			if (run)
				populate((uint8_t *)(at + i * RTS_PAGE_4K), run * RTS_PAGE_4K);
		}
	}
}

int rts_vmm_p2p_map(void *ptr, size_t size, uint32_t device)
{
	struct rts_segment seg;
	int r = rts_process_start();

	if (r)
		return r;
	if (!rts_va_range(ptr, size, &seg) || seg.host || seg.kind == RTS_SEG_HOST || seg.kind == RTS_SEG_HOST_REGISTERED)
		return RTS_REFUSE("%zu bytes at %p are not inside device memory of this process", size, ptr);
	if (!rts_peer_active(device, seg.owner))
		return RTS_REFUSE("access between devices %d and %d is not enabled: aclrtDeviceEnablePeerAccess in both directions first",
				  rts_device_to_user(device), rts_device_to_user(seg.owner));
	populate_backed((uintptr_t)ptr & ~(uintptr_t)(RTS_PAGE_4K - 1), rts_round_up((uintptr_t)ptr + size, RTS_PAGE_4K));
	return 0;
}
