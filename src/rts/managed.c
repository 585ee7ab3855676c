/* SPDX-License-Identifier: MIT */
/*
 * managed.c - memory that host and devices use at one address: allocation, advice, prefetching.
 *
 * On a card its pages move to whoever touches them. Here all of the machine's memory can be touched from everywhere, so
 * that what advice and prefetches can do is to have pages there before they are needed, on the node of the device that
 * needs them.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rts/lock_order.h"
#include "rts/managed.h"
#include "rts/memory.h"
#include "util/mutex.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define PAGE_BYTES ((size_t)2 << 20)
#define PROCESS_BYTES ((size_t)3 << 40) /* most that a process can have, as on the products */
#define NODES 1024
#define NO_NODE (-1)
#define ID_HOST (-1) /* in answers */
#define ID_NONE (-2)

enum { PREFERRED, PREFETCHED, PLACES };

/* What is known about 2 MiB of it. */
struct managed_page {
	aclrtMemManagedLocation place[PLACES]; /* id 0 for the host; INVALID: none */
	uint64_t devices; /* ACCESSED_BY: bit d is the user's device d */
	bool host; /* the same */
	bool read_mostly;
};

struct managed {
	uintptr_t base;
	size_t size;
	struct managed_page pages[];
};

/* Some pages of an allocation. */
struct range {
	struct managed *m;
	size_t first, count;
};

static struct {
	struct u_mutex lock; /* bytes, all pages' advice, and leaving the index */
	size_t bytes;
} managed = { .lock = U_MUTEX_INIT(RANK_MEMORY, "managed") };

/* ---- allocation ---- */

static bool count_in(size_t size)
{
	bool fits;

	u_mutex_lock(&managed.lock);
	fits = size <= PROCESS_BYTES - managed.bytes;
	if (fits)
		managed.bytes += size;
	u_mutex_unlock(&managed.lock);
	return fits;
}

static void count_out(size_t size)
{
	u_mutex_lock(&managed.lock);
	managed.bytes -= size;
	u_mutex_unlock(&managed.lock);
}

/* A page behind it stays unreadable. */
static int map_pages(struct managed *m)
{
	if (rts_reserve(m->size + RTS_PAGE_4K, PAGE_BYTES, &m->base))
		return -ENOMEM;
	if (mprotect((void *)m->base, m->size, PROT_READ | PROT_WRITE)) {
		(void)munmap((void *)m->base, m->size + RTS_PAGE_4K);
		return -ENOMEM;
	}
	(void)madvise((void *)m->base, m->size, MADV_HUGEPAGE);
	(void)madvise((void *)m->base, m->size, MADV_DONTFORK);
	return 0;
}

static int alloc_pages(uint32_t device, size_t size, void **out)
{
	struct managed *m = calloc(1, sizeof(*m) + size / PAGE_BYTES * sizeof(m->pages[0]));
	struct rts_segment seg;
	int r;

	if (!m)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe an allocation");
	m->size = size;
	r = map_pages(m);
	if (r) {
		free(m);
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no %zu bytes of memory for this process",
				size);
	}
	seg = (struct rts_segment){ .base = m->base,
				    .size = size,
				    .kind = RTS_SEG_MANAGED,
				    .device = device,
				    .owner = device,
				    .page_kind = VINCI_PAGE_2M,
				    .priv = m };
	r = rts_va_insert_extent(&seg, size + RTS_PAGE_4K);
	if (r) {
		(void)munmap((void *)m->base, size + RTS_PAGE_4K);
		free(m);
		return r;
	}
	*out = (void *)m->base;
	return 0;
}

int rts_managed_alloc(uint64_t size, void **out)
{
	struct rts_context *ctx;
	int r;

	if (!size)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is 0; it must be a positive number of bytes");
	r = rts_context_current(&ctx);
	if (r)
		return r;
	if (size > PROCESS_BYTES || !count_in(rts_round_up(size, PAGE_BYTES)))
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
				"%llu bytes are more than is left of the 3 TiB that a process can have managed",
				(unsigned long long)size);
	size = rts_round_up(size, PAGE_BYTES);
	r = alloc_pages(ctx->device, size, out);
	if (r)
		count_out(size);
	return r;
}

static void managed_drop(void *arg)
{
	struct managed *m = arg;

	rts_va_drop(m->base, m->size + RTS_PAGE_4K);
	free(m);
}

bool rts_managed_free(uintptr_t base)
{
	struct rts_segment seg;
	struct managed *m;
	bool found;

	u_mutex_lock(&managed.lock);
	found = rts_va_bury(base, RTS_SEG_MANAGED, &seg);
	m = seg.priv;
	if (found)
		managed.bytes -= m->size;
	u_mutex_unlock(&managed.lock);
	if (found)
		rts_exec_defer(managed_drop, m);
	return found;
}

/* ---- ranges and places ---- */

/* The lock is held. All pages that [ptr, ptr + size) touches. */
static int find_range(const void *ptr, size_t size, struct range *range)
{
	struct rts_segment seg;
	size_t offset;

	if (!rts_va_find_outer(ptr, &seg) || seg.kind != RTS_SEG_MANAGED)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%p is not in managed memory; aclrtMemAllocManaged allocates it", ptr);
	offset = (uintptr_t)ptr - seg.base;
	if (size > seg.size - offset)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "%zu bytes from %p on run over the end of 0x%lx+0x%zx",
				size, ptr, (unsigned long)seg.base, seg.size);
	range->m = seg.priv;
	range->first = offset / PAGE_BYTES;
	range->count = (offset + size - 1) / PAGE_BYTES + 1 - range->first;
	return 0;
}

static bool node_exists(int32_t node)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
	return node == 0 || (node > 0 && node < NODES && !access(path, F_OK));
}

/* CANN's runtime looks after devices, its driver after nodes: @code is for what the driver finds. */
static int resolve_place(aclrtMemManagedLocation at, int code, aclrtMemManagedLocation *out)
{
	unsigned cpu, node = 0;

	switch (at.type) {
	case ACL_MEM_LOCATIONTYPE_DEVICE:
		if (at.id < 0 || (uint32_t)at.id >= rts_device_count())
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"the location's id is %d; there are devices 0 to %u", at.id,
					rts_device_count() - 1);
		break;
	case ACL_MEM_LOCATIONTYPE_HOST:
		at.id = 0;
		break;
	case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT:
		(void)getcpu(&cpu, &node);
		at = (aclrtMemManagedLocation){ .type = ACL_MEM_LOCATIONTYPE_HOST_NUMA, .id = (int)node };
		break;
	case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
		if (!node_exists(at.id))
			return u_report(code, "the location's id is %d, and this machine has no such node", at.id);
		break;
	default:
		return u_report(code, "the location's type is %d; it must be one of ACL_MEM_LOCATIONTYPE_* (1 to 4)",
				(int)at.type);
	}
	*out = at;
	return 0;
}

static int node_of(const aclrtMemManagedLocation *at)
{
	struct drm_vinci_device_info info;
	uint32_t device;

	if (at->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA)
		return at->id;
	if (at->type != ACL_MEM_LOCATIONTYPE_DEVICE || rts_device_from_user(at->id, &device) ||
	    drv_device_info(rts_drv(), device, &info))
		return NO_NODE;
	return info.numa_node;
}

/*
 * Has the pages there, on @node if it is one. All of it is a hint: a kernel that refuses is obeyed, and more than the
 * machine has free is left to come when it is touched.
 */
static void bring(uintptr_t base, size_t size, int node)
{
	unsigned long mask[NODES / (8 * sizeof(unsigned long))] = { 0 };
	const size_t bits = 8 * sizeof(mask[0]);
	bool named = node >= 0 && node < NODES;

	if (named)
		mask[(size_t)node / bits] |= 1ul << (size_t)node % bits;
	(void)syscall(SYS_mbind, base, size, named ? MPOL_PREFERRED : MPOL_DEFAULT, named ? mask : NULL,
		      named ? NODES + 1 : 0, MPOL_MF_MOVE);
	if (size / (size_t)sysconf(_SC_PAGESIZE) <= (size_t)sysconf(_SC_AVPHYS_PAGES))
		(void)madvise((void *)base, size, MADV_POPULATE_WRITE);
}

/* ---- advice ---- */

static bool accessed_by(const struct managed_page *page, const aclrtMemManagedLocation *at)
{
	return at->type == ACL_MEM_LOCATIONTYPE_DEVICE ? page->devices >> at->id & 1 :
							  at->type != ACL_MEM_LOCATIONTYPE_INVALID && page->host;
}

static void set_accessed_by(struct managed_page *page, const aclrtMemManagedLocation *at, bool on)
{
	uint64_t bit = at->type == ACL_MEM_LOCATIONTYPE_DEVICE ? UINT64_C(1) << at->id : 0;

	page->devices = on ? page->devices | bit : page->devices & ~bit;
	if (at->type == ACL_MEM_LOCATIONTYPE_HOST)
		page->host = on;
}

static void advise_page(struct managed_page *page, aclrtMemManagedAdviseType advise, const aclrtMemManagedLocation *at)
{
	switch (advise) {
	case ACL_MEM_ADVISE_SET_READ_MOSTLY:
	case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
		page->read_mostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY;
		break;
	case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
		page->place[PREFERRED] = *at;
		break;
	case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		page->place[PREFERRED] = (aclrtMemManagedLocation){ .type = ACL_MEM_LOCATIONTYPE_INVALID };
		break;
	default:
		set_accessed_by(page, at, advise == ACL_MEM_ADVISE_SET_ACCESSED_BY);
	}
}

/* What advice needs a location, and which. */
static int check_advice(aclrtMemManagedAdviseType advise, aclrtMemManagedLocation *at)
{
	switch (advise) {
	case ACL_MEM_ADVISE_SET_READ_MOSTLY:
	case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		return 0;
	case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
		if (at->type == ACL_MEM_LOCATIONTYPE_INVALID)
			at->type = ACL_MEM_LOCATIONTYPE_HOST;
		break;
	case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
		break;
	case ACL_MEM_ADVISE_SET_ACCESSED_BY:
	case ACL_MEM_ADVISE_UNSET_ACCESSED_BY:
		if (at->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA || at->type == ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT)
			return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
					"memory is accessed by the host or a device, not by a node of the host");
		break;
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "advise is %d; aclrtMemManagedAdviseType has 0 to %d",
				(int)advise, ACL_MEM_ADVISE_UNSET_ACCESSED_BY);
	}
	return resolve_place(*at, ACL_ERROR_RT_DRV_INTERNAL_ERROR, at);
}

/* The lock is held. True: the preferred place is among those that access the pages, which are to be there at once. */
static bool advise_range(const struct range *range, aclrtMemManagedAdviseType advise, const aclrtMemManagedLocation *at)
{
	bool fetch = advise == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || advise == ACL_MEM_ADVISE_SET_ACCESSED_BY;

	for (size_t i = range->first; i < range->first + range->count; i++) {
		struct managed_page *page = &range->m->pages[i];

		advise_page(page, advise, at);
		fetch = fetch && accessed_by(page, &page->place[PREFERRED]);
	}
	return fetch;
}

int rts_managed_advise(const void *ptr, uint64_t size, aclrtMemManagedAdviseType advise, aclrtMemManagedLocation at)
{
	aclrtMemManagedLocation preferred = { 0 };
	struct range range;
	struct rts_context *ctx;
	uintptr_t base = 0;
	int r = rts_context_current(&ctx);

	if (!r)
		r = check_advice(advise, &at);
	if (r)
		return r;
	u_mutex_lock(&managed.lock);
	r = find_range(ptr, size, &range);
	if (!r && advise_range(&range, advise, &at)) {
		base = range.m->base + range.first * PAGE_BYTES;
		preferred = range.m->pages[range.first].place[PREFERRED];
	}
	u_mutex_unlock(&managed.lock);
	if (base)
		bring(base, range.count * PAGE_BYTES, node_of(&preferred));
	return r;
}

/* ---- questions ---- */

static int check_question(aclrtMemManagedRangeAttribute attribute, const void *data, size_t size)
{
	if (attribute < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
	    attribute > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"attribute is %d; aclrtMemManagedRangeAttribute has 1 to %d", (int)attribute,
				ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
	if (!data)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "there is no memory for the answer to attribute %d (NULL)",
				(int)attribute);
	if (attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? size && size % sizeof(int32_t) == 0 :
							       size == sizeof(int32_t))
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "the answer to attribute %d takes %s4 bytes, not %zu",
			(int)attribute, attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? "a multiple of " : "", size);
}

/* INVALID when not all pages have the same. */
static aclrtMemManagedLocation common_place(const struct range *range, int which)
{
	const struct managed_page *pages = &range->m->pages[range->first];
	aclrtMemManagedLocation at = pages[0].place[which];

	for (size_t i = 1; i < range->count; i++)
		if (pages[i].place[which].type != at.type || pages[i].place[which].id != at.id)
			at.type = ACL_MEM_LOCATIONTYPE_INVALID;
	return at;
}

static int32_t place_id(const aclrtMemManagedLocation *at, int32_t host)
{
	switch (at->type) {
	case ACL_MEM_LOCATIONTYPE_DEVICE:
	case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
		return at->id;
	case ACL_MEM_LOCATIONTYPE_HOST:
		return host;
	default:
		return ID_NONE;
	}
}

static int32_t all_read_mostly(const struct range *range)
{
	for (size_t i = range->first; i < range->first + range->count; i++)
		if (!range->m->pages[i].read_mostly)
			return 0;
	return 1;
}

/* Who accesses all pages; the rest of the answer is ID_NONE. */
static void list_accessors(const struct range *range, int32_t *ids, size_t count)
{
	uint64_t devices = UINT64_MAX;
	bool host = true;
	size_t n = 0;

	for (size_t i = range->first; i < range->first + range->count; i++) {
		devices &= range->m->pages[i].devices;
		host = host && range->m->pages[i].host;
	}
	for (int32_t d = 0; d < 64 && n < count; d++)
		if (devices >> d & 1)
			ids[n++] = d;
	if (host && n < count)
		ids[n++] = ID_HOST;
	while (n < count)
		ids[n++] = ID_NONE;
}

static void answer(const struct range *range, aclrtMemManagedRangeAttribute attribute, int32_t *data, size_t size)
{
	int which = attribute >= ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION ? PREFETCHED : PREFERRED;
	aclrtMemManagedLocation at = common_place(range, which);

	switch (attribute) {
	case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*data = all_read_mostly(range);
		break;
	case ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		list_accessors(range, data, size / sizeof(*data));
		break;
	case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
	case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*data = place_id(&at, ID_HOST);
		break;
	case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
	case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*data = (int32_t)at.type;
		break;
	default:
		*data = place_id(&at, ID_NONE);
	}
}

int rts_managed_attributes(const aclrtMemManagedRangeAttribute *attributes, size_t count, const void *ptr, size_t size,
			   void *const *data, const size_t *sizes)
{
	struct range range;
	int r = rts_process_check_fork();

	if (!r && !count)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID,
			     "numAttributes is 0; at least one attribute is to be asked for");
	for (size_t i = 0; !r && i < count; i++)
		r = check_question(attributes[i], data[i], sizes[i]);
	if (r)
		return r;
	u_mutex_lock(&managed.lock);
	r = find_range(ptr, size, &range);
	for (size_t i = 0; !r && i < count; i++)
		answer(&range, attributes[i], data[i], sizes[i]);
	u_mutex_unlock(&managed.lock);
	return r;
}

/* ---- prefetching ---- */

struct fetch {
	size_t count;
	struct {
		uintptr_t base;
		size_t size;
		int node;
	} ranges[];
};

static int fetch_run(void *payload, struct rts_stream *stream)
{
	const struct fetch *f = *(struct fetch **)payload;

	(void)stream;
	for (size_t i = 0; i < f->count; i++)
		bring(f->ranges[i].base, f->ranges[i].size, f->ranges[i].node);
	return 0;
}

static void fetch_drop(void *payload)
{
	free(*(struct fetch **)payload);
}

static const struct rts_task_type fetch_type = { .name = "prefetch", .run = fetch_run, .drop = fetch_drop };

/* The ranges of place @k. The lock is held. With @note it is noted, and nothing fails that did not fail without. */
static int fetch_to(const struct rts_prefetches *what, size_t k, const aclrtMemManagedLocation *at, struct fetch *f,
		    bool note)
{
	size_t end = k + 1 < what->place_count ? what->firsts[k + 1] : what->count;
	struct range range;
	int r;

	for (size_t i = what->firsts[k]; i < end; i++) {
		r = find_range(what->ptrs[i], what->sizes[i], &range);
		if (r)
			return r;
		f->ranges[i].base = range.m->base + range.first * PAGE_BYTES;
		f->ranges[i].size = range.count * PAGE_BYTES;
		for (size_t p = range.first; note && p < range.first + range.count; p++)
			range.m->pages[p].place[PREFETCHED] = *at;
	}
	return 0;
}

static int fetch_plan(const struct rts_prefetches *what, const aclrtMemManagedLocation *places, struct fetch *f)
{
	int r = 0;

	u_mutex_lock(&managed.lock);
	for (size_t k = 0; !r && k < what->place_count; k++)
		r = fetch_to(what, k, &places[k], f, false);
	for (size_t k = 0; !r && k < what->place_count; k++)
		r = fetch_to(what, k, &places[k], f, true);
	u_mutex_unlock(&managed.lock);
	return r;
}

static int check_prefetches(const struct rts_prefetches *what)
{
	for (size_t i = 0; i < what->count; i++)
		if (!what->ptrs[i] || !what->sizes[i])
			return u_report(ACL_ERROR_RT_PARAM_INVALID, "range %zu has %s", i,
					what->ptrs[i] ? "size 0" : "address NULL");
	for (size_t k = 0; k < what->place_count; k++)
		if (what->firsts[k] >= what->count ||
		    (k ? what->firsts[k] <= what->firsts[k - 1] : what->firsts[k] != 0))
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"prefetchLocIdxs[%zu] is %zu; the first is 0, each is larger than the one "
					"before, and all are below count, %zu",
					k, what->firsts[k], what->count);
	return 0;
}

static int resolve_places(const struct rts_prefetches *what, aclrtMemManagedLocation *places, struct fetch *f)
{
	for (size_t k = 0; k < what->place_count; k++) {
		size_t end = k + 1 < what->place_count ? what->firsts[k + 1] : what->count;
		int r = resolve_place(what->places[k], ACL_ERROR_RT_PARAM_INVALID, &places[k]);
		int node = r ? NO_NODE : node_of(&places[k]);

		if (r)
			return r;
		for (size_t i = what->firsts[k]; i < end; i++)
			f->ranges[i].node = node;
	}
	return 0;
}

int rts_managed_prefetch(const struct rts_prefetches *what, struct rts_stream *stream)
{
	aclrtMemManagedLocation *places;
	struct fetch *f;
	int r = check_prefetches(what);

	if (r)
		return r;
	f = calloc(1, sizeof(*f) + what->count * sizeof(f->ranges[0]));
	places = calloc(what->place_count, sizeof(*places));
	if (!f || !places)
		r = u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a prefetch");
	if (!r)
		r = resolve_places(what, places, f);
	if (!r)
		r = fetch_plan(what, places, f);
	if (!r) {
		f->count = what->count;
		r = rts_stream_submit(stream, &fetch_type, &f, sizeof(f));
	}
	if (r)
		free(f);
	free(places);
	return r;
}
