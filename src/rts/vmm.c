/* SPDX-License-Identifier: MIT */
/*
 * vmm.c - mapping physical memory into reserved addresses.
 *
 * Unmapping makes the addresses merely reserved again, but not before the tasks that were submitted earlier have ended,
 * which may still use the pages: until then the mapping is "dead". The user may do anything with the addresses
 * meanwhile. Only who maps something else there has to wait (clients that give their memory back and take new one at the
 * same addresses have synchronised before, so they do not).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rts/memory.h"
#include "rts/share.h"
#include "rts/vmm.h"

#define DEAD_WAIT_S 10

/* A dead mapping has gone. Used with rts_share_lock. */
static pthread_cond_t dead_gone;
static pthread_once_t dead_once = PTHREAD_ONCE_INIT;

/* --- mapping ------------------------------------------------------------------------------ */

struct vmm_mapping *vmm_mapping_at(const void *va)
{
	struct rts_segment seg;

	if (!rts_va_find(va, &seg) || seg.kind != RTS_SEG_VMM || seg.base != (uintptr_t)va)
		return NULL;
	return seg.priv;
}

struct vmm_mapping *vmm_mapping_of_device(uint32_t device)
{
	struct rts_segment seg = { .base = 0 };
	struct vmm_reservation *res;
	struct vmm_mapping *m;
	uintptr_t from = 0;

	while (rts_va_next(from, &seg)) {
		res = seg.priv;
		if (seg.kind == RTS_SEG_RESERVED)
			LIST_FOREACH(m, &res->mappings, link)
				if (!m->phys->host && m->phys->device == device)
					return m;
		from = seg.base + seg.size;
	}
	return NULL;
}

static int check_free(uintptr_t base, size_t size)
{
	struct rts_segment seg;
	uintptr_t at;

	for (at = base; at < base + size; at += RTS_VMM_PAGE)
		if (rts_va_find((void *)at, &seg) && seg.kind == RTS_SEG_VMM)
			return RTS_REFUSE("memory is mapped at %p already (%zu bytes): aclrtUnmapMem first",
					  (void *)seg.base, seg.size);
	return 0;
}

/*
 * What was mapped first decides for good whose memory can be mapped into a reservation. One without UC memory takes
 * everybody's: transfer engines keep their own and all imported memory in it.
 */
static int check_side(const struct vmm_reservation *res, const struct rts_phys *phys)
{
	if (res->no_uc || !res->bound || (res->host == phys->host && (phys->host || res->device == phys->device)))
		return 0;
	if (res->host || phys->host)
		return RTS_REFUSE("the addresses reserved from %p on hold %s memory, and %s memory cannot be mapped beside it",
				  (void *)res->base, res->host ? "host" : "device", phys->host ? "host" : "device");
	return RTS_REFUSE("the addresses reserved from %p on hold memory of device %d, and memory of device %d cannot be mapped beside it",
			  (void *)res->base, rts_device_to_user(res->device), rts_device_to_user(phys->device));
}

/* How much the exporter asked for in pages of 1 GiB is not known to importers: whatever needs as many pages is the whole. */
static bool is_whole(const struct rts_phys *phys, size_t size)
{
	if (phys->imported)
		return rts_round_up(size, rts_page_size(phys->page_kind)) == phys->size;
	return size == phys->asked || size == phys->size;
}

static int map_check(uintptr_t base, size_t size, const struct rts_phys *phys)
{
	struct vmm_reservation *res = vmm_reservation_of(base);
	int r;

	if (base % RTS_VMM_PAGE || size % RTS_VMM_PAGE)
		return RTS_REFUSE("address %p and size %zu must both be multiples of 2 MiB", (void *)base, size);
	if (!res || size > res->size - (base - res->base))
		return RTS_REFUSE("%zu bytes at %p are not inside reserved addresses (aclrtReserveMemAddress)", size,
				  (void *)base);
	if (!is_whole(phys, size))
		return RTS_REFUSE("size is %zu and the memory has %llu bytes; a mapping takes the whole of it", size,
				  (unsigned long long)phys->asked);
	r = check_free(base, size);
	return r ? r : check_side(res, phys);
}

static int mapping_insert(struct vmm_mapping *m)
{
	struct rts_segment seg = {
		.base = m->base,
		.size = m->size,
		.kind = RTS_SEG_VMM,
		.device = m->phys->device,
		.owner = m->phys->owner,
		.page_kind = m->phys->page_kind,
		.host = m->phys->host,
		.handle = m->phys->bo,
		.mmap_offset = m->phys->mmap_offset,
		.priv = m,
	};

	return rts_va_insert(&seg);
}

/* Back to reserved. If even that has no memory the old pages stay reachable until something is mapped over them. */
static void cover(uintptr_t base, size_t size)
{
	if (mmap((void *)base, size, PROT_NONE, VMM_NO_ACCESS | MAP_FIXED, -1, 0) == MAP_FAILED)
		u_log(U_WARN, "pages at %p stay mapped: %s", (void *)base, strerror(errno));
}

int vmm_map_locked(uintptr_t base, size_t size, struct rts_phys *phys)
{
	struct vmm_mapping *m;
	void *at;
	int r = vmm_phys_check(phys);

	if (!r)
		r = map_check(base, size, phys);
	if (r)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	m->reservation = vmm_reservation_of(base);
	m->phys = phys;
	m->base = base;
	m->size = size;
	r = drv_map(rts_drv(), phys->mmap_offset, size, (void *)base, true, &at);
	if (r) {
		r = u_report(rts_errno_code(0, RTS_OP_MAP, r), "%zu bytes could not be mapped at %p (%s)", size,
			     (void *)base, rts_errno_text(r));
		goto err_cover;
	}
	r = mapping_insert(m);
	if (r)
		goto err_cover;
	phys->map_refs++;
	m->reservation->bound = true;
	m->reservation->host = phys->host;
	m->reservation->device = phys->device;
	LIST_INSERT_HEAD(&m->reservation->mappings, m, link);
	return 0;

err_cover:
	cover(base, size);
	free(m);
	return r;
}

/* --- dead mappings ------------------------------------------------------------------------ */

static void dead_init(void)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&dead_gone, &attr);
	(void)pthread_condattr_destroy(&attr);
}

static bool is_dead(uintptr_t base, size_t size)
{
	const struct vmm_reservation *res = vmm_reservation_of(base);
	const struct vmm_mapping *m;

	if (res)
		LIST_FOREACH(m, &res->dead, link)
			if (m->base < base + size && base < m->base + m->size)
				return true;
	return false;
}

/* Lets go of the lock while it waits. */
static int wait_for_dead(uintptr_t base, size_t size)
{
	struct timespec deadline;
	int err = 0;

	(void)pthread_once(&dead_once, dead_init);
	(void)clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += DEAD_WAIT_S;
	while (!err && is_dead(base, size)) {
		u_rank_pop(&rts_share_lock);
		err = pthread_cond_timedwait(&dead_gone, &rts_share_lock.m, &deadline);
		u_rank_push(&rts_share_lock);
	}
	if (!is_dead(base, size))
		return 0;
	return RTS_REFUSE("tasks submitted before the memory at %p was unmapped have not ended for %d s and may still use it",
			  (void *)base, DEAD_WAIT_S);
}

/* No task can use the pages any more. */
static void mapping_bury(void *arg)
{
	struct vmm_mapping *m = arg;
	struct vmm_reservation *res = m->reservation;

	cover(m->base, m->size);
	(void)pthread_once(&dead_once, dead_init);
	u_mutex_lock(&rts_share_lock);
	LIST_REMOVE(m, link);
	if (!--res->dying && res->released)
		vmm_reservation_free(res);
	(void)pthread_cond_broadcast(&dead_gone);
	u_mutex_unlock(&rts_share_lock);
	free(m);
}

void vmm_mapping_end(struct vmm_mapping *m)
{
	struct rts_phys *phys = m->phys;

	(void)rts_va_remove(m->base, RTS_SEG_VMM, NULL);
	LIST_REMOVE(m, link);
	LIST_INSERT_HEAD(&m->reservation->dead, m, link);
	m->reservation->dying++;
	m->phys = NULL;
	phys->map_refs--;
	vmm_phys_settle(phys);
}

void vmm_mapping_defer(struct vmm_mapping *m)
{
	rts_exec_defer(mapping_bury, m);
}

/* --- the calls ---------------------------------------------------------------------------- */

int rts_vmm_map(void *va, size_t size, size_t offset, aclrtDrvMemHandle handle)
{
	struct rts_phys *phys = NULL;
	int r = rts_process_start();

	if (!r && offset)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "offset is %zu; it must be 0", offset);
	if (!r)
		r = vmm_phys_get(handle, &phys);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = wait_for_dead((uintptr_t)va, size);
	if (!r)
		r = vmm_map_locked((uintptr_t)va, size, phys);
	u_mutex_unlock(&rts_share_lock);
	rts_object_put(&phys->obj);
	return r;
}

static int unmap_check(const void *va, const struct vmm_mapping *m)
{
	if (!m)
		return RTS_REFUSE("no mapping starts at %p", va);
	if (m->keys)
		return RTS_REFUSE("the memory mapped at %p is exported by key (%u), which pins it: aclrtIpcMemClose first",
				  va, m->keys);
	return 0;
}

int rts_vmm_unmap(void *va)
{
	struct vmm_mapping *m;
	int r = rts_process_start();

	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	m = vmm_mapping_at(va);
	r = unmap_check(va, m);
	if (!r)
		vmm_mapping_end(m);
	u_mutex_unlock(&rts_share_lock);
	if (!r)
		vmm_mapping_defer(m);
	return r;
}

static int map_again_step(uintptr_t dst, uintptr_t src, size_t size, size_t *done)
{
	const struct vmm_mapping *m = vmm_mapping_at((void *)(src + *done));
	int r;

	if (!m)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "no mapping starts at %p", (void *)(src + *done));
	if (m->size > size - *done)
		return RTS_REFUSE("size is %zu, which ends inside the mapping at %p (%zu bytes); whole mappings are mapped again",
				  size, (void *)m->base, m->size);
	r = vmm_map_locked(dst + *done, m->size, m->phys);
	if (!r)
		*done += m->size;
	return r;
}

/* Takes back what was mapped: nobody can have used it, so nothing is deferred but by what ran before. */
static void map_again_undo(uintptr_t dst, size_t done)
{
	struct vmm_mapping *m;

	while (done) {
		u_mutex_lock(&rts_share_lock);
		m = vmm_mapping_at((void *)dst);
		if (m)
			vmm_mapping_end(m);
		u_mutex_unlock(&rts_share_lock);
		if (!m)
			return;
		dst += m->size;
		done -= m->size;
		vmm_mapping_defer(m);
	}
}

int rts_vmm_map_again(void *dst, size_t size, void *src)
{
	size_t done = 0;
	int r = rts_process_start();

	if (!r && !(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "mapping over a chosen link exists on Atlas A3 devices; this one is an %s",
			     rts_profile()->soc);
	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	r = wait_for_dead((uintptr_t)dst, size);
	while (!r && done < size)
		r = map_again_step((uintptr_t)dst, (uintptr_t)src, size, &done);
	u_mutex_unlock(&rts_share_lock);
	if (r)
		map_again_undo((uintptr_t)dst, done);
	return r;
}

int rts_vmm_retain(void *va, aclrtDrvMemHandle *handle)
{
	struct vmm_mapping *m;
	int r = rts_process_start();

	if (r)
		return r;
	u_mutex_lock(&rts_share_lock);
	m = vmm_mapping_at(va);
	if (m) {
		m->phys->user_refs++;
		*handle = m->phys->obj.handle;
	} else {
		r = RTS_REFUSE("no mapping starts at %p", va);
	}
	u_mutex_unlock(&rts_share_lock);
	return r;
}
