/* SPDX-License-Identifier: MIT */
/*
 * ipc.c - device memory shared by key: the exporter's side.
 *
 * A key dies with its exporter: by close, free, reset or exit. Who imported the memory keeps it until he closes.
 */
#include "rts/ipc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/memory.h"
#include "rts/share.h"
#include "rts/vmm.h"

#define BUCKETS 256u
#define QUIESCE_MS 10000
#define PADDING 64u /* aclrtMalloc makes an allocation larger by less than this */

/* Under rts_share_lock. */
static LIST_HEAD(, ipc_export) exports[BUCKETS];
static LIST_HEAD(alloc_list, ipc_alloc) allocs[BUCKETS];
/* Allocations in the lists and exports under way: lets aclrtFree of what was never exported pass without the lock. */
static atomic_uint alloc_count;

/* --- keys --------------------------------------------------------------------------------- */

static int key_parse(const char *key, struct drv_name *name)
{
	size_t len = strnlen(key, RTS_IPC_KEY_LEN + 1);

	if (!len || len > RTS_IPC_KEY_LEN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the key is %s characters long; keys are %d characters and a NUL, as aclrtIpcMemGetExportKey wrote them",
				len ? "more than 64" : "0", RTS_IPC_KEY_LEN);
	memset(name, 0, sizeof(*name));
	name->kind = VINCI_SHARE_IPC_MEM;
	name->len = (uint32_t)len;
	memcpy(name->bytes, key, len);
	return 0;
}

int ipc_enter(const char *key, struct drv_name *name, uint32_t *device)
{
	struct rts_context *ctx;
	int r = rts_process_start();

	if (!r)
		r = rts_context_current(&ctx);
	if (!r && key)
		r = key_parse(key, name);
	if (!r && device)
		*device = ctx->device;
	return r;
}

struct ipc_export *ipc_export_find(const struct drv_name *name)
{
	struct ipc_export *e;

	LIST_FOREACH(e, &exports[rts_name_hash(name) % BUCKETS], by_key)
		if (rts_name_equal(&e->name, name))
			return e;
	return NULL;
}

/* --- allocations with keys ---------------------------------------------------------------- */

static struct alloc_list *alloc_bucket(uintptr_t base)
{
	return &allocs[(base >> 12 ^ base >> 21) % BUCKETS];
}

static struct ipc_alloc *alloc_find(uintptr_t base)
{
	struct ipc_alloc *a;

	LIST_FOREACH(a, alloc_bucket(base), link)
		if (a->base == base)
			return a;
	return NULL;
}

static struct ipc_alloc *alloc_get(const struct rts_segment *seg)
{
	struct ipc_alloc *a = alloc_find(seg->base);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->base = seg->base;
	a->device = seg->owner;
	LIST_INIT(&a->exports);
	LIST_INIT(&a->pieces);
	LIST_INSERT_HEAD(alloc_bucket(a->base), a, link);
	atomic_fetch_add(&alloc_count, 1);
	return a;
}

static void alloc_settle(struct ipc_alloc *a)
{
	if (!LIST_EMPTY(&a->exports) || !LIST_EMPTY(&a->pieces))
		return;
	LIST_REMOVE(a, link);
	atomic_fetch_sub(&alloc_count, 1);
	free(a);
}

static void export_drop(struct ipc_export *e)
{
	struct vmm_mapping *m = vmm_mapping_at((void *)e->alloc->base);

	if (m)
		m->keys--;
	LIST_REMOVE(e, by_key);
	LIST_REMOVE(e, by_alloc);
	free(e);
}

/* The device forgets the keys, who imported keeps the memory. */
static void alloc_end(struct ipc_alloc *a)
{
	struct ipc_export *e;

	while ((e = LIST_FIRST(&a->exports))) {
		(void)drv_share_close(rts_drv(), &e->name);
		export_drop(e);
	}
	ipc_pieces_close(a);
	alloc_settle(a);
}

void rts_ipc_memory_freed(uintptr_t base)
{
	struct ipc_alloc *a;

	atomic_thread_fence(memory_order_seq_cst); /* pairs with rts_ipc_export()'s */
	if (!atomic_load(&alloc_count))
		return;
	u_mutex_lock(&rts_share_lock);
	a = alloc_find(base);
	if (a)
		alloc_end(a);
	u_mutex_unlock(&rts_share_lock);
}

/* --- export ------------------------------------------------------------------------------- */

static int mapping_check(const struct rts_segment *seg)
{
	const struct vmm_mapping *m = vmm_mapping_at((void *)seg->base);

	if (!m)
		return RTS_REFUSE("address %p was unmapped meanwhile", (void *)seg->base);
	if (m->phys->imported)
		return RTS_REFUSE("the memory mapped at %p was imported from another process, and only its exporter can share it",
			      (void *)seg->base);
	if (m->phys->name.len)
		return RTS_REFUSE("the memory mapped at %p is exported as a shareable handle already, so it cannot be exported by key",
			      (void *)seg->base);
	return 0;
}

static int kind_check(const void *ptr, const struct rts_segment *seg)
{
	switch (seg->kind) {
	case RTS_SEG_DEVICE:
		return 0;
	case RTS_SEG_VMM:
		if (seg->host)
			break;
		return mapping_check(seg);
	case RTS_SEG_SMALL:
		return RTS_REFUSE("address %p lies in memory of less than a page, which shares its page with other allocations: allocate whole pages (4096 bytes or more) to export memory",
			      ptr);
	case RTS_SEG_IPC:
		return RTS_REFUSE("address %p was imported from another process, and only its exporter can share it", ptr);
	case RTS_SEG_RESERVED:
		return RTS_REFUSE("address %p is reserved, but no memory is mapped there (aclrtMapMem)", ptr);
	default:
		break;
	}
	return RTS_REFUSE("address %p is host memory; only device memory can be exported", ptr);
}

/* Padding may take a page of its own. Whoever exports all that he asked for exports that page too: nothing is to be split off. */
static void place_set(struct ipc_place *place, uint64_t into, size_t size)
{
	size_t page = rts_page_size(place->seg.page_kind);
	bool all = !into && place->seg.size - size < PADDING;

	place->offset = into;
	place->size = rts_round_up(all ? place->seg.size : size, page);
	place->told = place->size == rts_round_up(size, page) ? size : place->seg.size;
}

/*
 * Whole pages, so that an importer sees no neighbour's data: the address must be the start of a page of its allocation, the last page
 * counts as a whole.
 */
static int place_find(const void *ptr, size_t size, struct ipc_place *place)
{
	struct rts_segment *seg = &place->seg;
	uint64_t bytes, into;
	int r;

	if (!rts_va_find(ptr, seg))
		return RTS_REFUSE("address %p is not device memory of this process", ptr);
	r = kind_check(ptr, seg);
	if (r)
		return r;
	bytes = rts_page_size(seg->page_kind);
	into = (uintptr_t)ptr - seg->base;
	if (into % bytes)
		return RTS_REFUSE("address %p lies %llu bytes into a page of its allocation, whose pages are of %llu KiB: the start of a page is needed, or the importer would see other data; allocate whole pages for what is exported",
			      ptr, (unsigned long long)(into % bytes), (unsigned long long)(bytes >> 10));
	if (size > seg->size - into)
		return RTS_REFUSE("the range of %zu bytes at %p ends outside its allocation, which has %llu bytes from there on",
			      size, ptr, (unsigned long long)(seg->size - into));
	place_set(place, into, size);
	return 0;
}

static int export_failed(int err)
{
	int code = rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_EXPORT, err);

	if (err == -ENOSPC)
		return u_report(code, "the device has no more keys to give");
	return u_report(code, "the device did not give a key (%s)", rts_errno_text(err));
}

/* The device's answer is a whole key, or the export is taken back. */
static int export_name(uint32_t bo, uint64_t size, uint64_t flags, struct drv_name *name)
{
	uint32_t share_flags = flags & ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION ? VINCI_SHARE_UNVALIDATED : 0;
	int r = drv_share_export(rts_drv(), bo, VINCI_SHARE_IPC_MEM, share_flags, size, name);

	if (r)
		return export_failed(r);
	if (name->len == RTS_IPC_KEY_LEN && strnlen((char *)name->bytes, name->len) == name->len)
		return 0;
	(void)drv_share_close(rts_drv(), name);
	return export_failed(-EPROTO);
}

static int export_locked(const struct ipc_place *place, uint64_t flags, char *key)
{
	struct ipc_alloc *a = alloc_get(&place->seg);
	struct ipc_export *e = calloc(1, sizeof(*e));
	struct vmm_mapping *m;
	uint32_t bo;
	int r = 0;

	if (!a || !e)
		r = u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
	if (!r)
		r = ipc_place_object(place, a, &bo);
	if (!r)
		r = export_name(bo, place->told, flags, &e->name);
	if (r)
		goto err_alloc;
	e->alloc = a;
	m = vmm_mapping_at((void *)a->base);
	if (m)
		m->keys++;
	LIST_INSERT_HEAD(&a->exports, e, by_alloc);
	LIST_INSERT_HEAD(&exports[rts_name_hash(&e->name) % BUCKETS], e, by_key);
	memcpy(key, e->name.bytes, RTS_IPC_KEY_LEN);
	key[RTS_IPC_KEY_LEN] = '\0';
	return 0;

err_alloc:
	free(e);
	if (a)
		alloc_settle(a);
	return r;
}

static bool needs_split(const struct ipc_place *place)
{
	uint32_t bo;

	return place->seg.kind == RTS_SEG_DEVICE && !ipc_place_whole(place, alloc_find(place->seg.base), &bo);
}

static int export_check(size_t size, size_t len, uint64_t flags)
{
	if (!size)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is 0; it must be a positive number of bytes");
	if ((uint32_t)len <= RTS_IPC_KEY_LEN) /* the interface below the runtime takes 32 bits of it */
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "len is %zu; the key needs a buffer of %d bytes", len,
				RTS_IPC_KEY_LEN + 1);
	if (flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is 0x%llx; 0 or 1 is wanted",
				(unsigned long long)flags);
	return 0;
}

/* Not under the lock: tasks may need it. */
static int wait_for_tasks(void)
{
	int r = rts_exec_quiesce(QUIESCE_MS);

	return r ? RTS_REFUSE("a part of an allocation is exported once the running tasks have ended, and they have not for %d s",
			  QUIESCE_MS / 1000) :
		   0;
}

int rts_ipc_export(void *ptr, size_t size, char *key, size_t len, uint64_t flags)
{
	struct ipc_place place;
	int r = export_check(size, len, flags);

	if (!r)
		r = ipc_enter(NULL, NULL, NULL);
	if (r)
		return r;
	/* Counted before the allocation is looked for: aclrtFree either sees that or took it out of the index before. */
	atomic_fetch_add(&alloc_count, 1);
	atomic_thread_fence(memory_order_seq_cst);
	u_mutex_lock(&rts_share_lock);
	r = place_find(ptr, size, &place);
	if (!r && needs_split(&place)) {
		u_mutex_unlock(&rts_share_lock);
		r = wait_for_tasks();
		u_mutex_lock(&rts_share_lock);
		if (!r)
			r = place_find(ptr, size, &place);
	}
	if (!r)
		r = export_locked(&place, flags, key);
	u_mutex_unlock(&rts_share_lock);
	atomic_fetch_sub(&alloc_count, 1);
	return r;
}

/* --- whitelist, attributes ---------------------------------------------------------------- */

static int count_check(size_t count)
{
	if (count && count <= RTS_IPC_PIDS_MAX)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%zu process ids in one call; 1 to %d are wanted: call again for more",
			count, RTS_IPC_PIDS_MAX);
}

int rts_ipc_allow(const char *key, const int32_t *pids, size_t count)
{
	struct drv_name name;
	int r = count_check(count);

	if (!r)
		r = ipc_enter(key, &name, NULL);
	if (r)
		return r;
	r = drv_share_allow(rts_drv(), &name, NULL, pids, (uint32_t)count);
	return r ? rts_allow_failed(&name, "key", r) : 0;
}

static int feature_check(uint32_t feature, const char *what)
{
	if (rts_profile()->features & feature)
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s exists on Atlas A3 devices; this one is an %s", what,
			rts_profile()->soc);
}

static int servers_check(const aclrtServerPid *servers, size_t count)
{
	size_t i;
	int r = 0;

	if (!count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "num is 0; it must be the number of elements of serverPids");
	for (i = 0; !r && i < count; i++) {
		if (!servers[i].pid)
			return u_report(ACL_ERROR_RT_PARAM_INVALID, "serverPids[%zu].pid is NULL", i);
		r = count_check(servers[i].num);
	}
	return r;
}

int rts_ipc_allow_servers(const char *key, const aclrtServerPid *servers, size_t count)
{
	struct drv_name name;
	size_t i;
	int r = servers_check(servers, count);

	if (!r)
		r = ipc_enter(key, &name, NULL);
	if (!r)
		r = feature_check(RTS_FEATURE_SUPER_POD, "sharing between servers");
	for (i = 0; !r && i < count; i++) {
		r = drv_share_allow(rts_drv(), &name, &servers[i].sdid, servers[i].pid, (uint32_t)servers[i].num);
		if (r)
			r = rts_allow_failed(&name, "key", r);
	}
	return r;
}

int rts_ipc_set_attr(const char *key, uint32_t type, uint64_t attr)
{
	struct drv_name name;
	int r;

	if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "attribute type %u; only %d (access link) exists", type,
				ACL_RT_IPC_MEM_ATTR_ACCESS_LINK);
	if (attr > 3)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "link %llu; 0 to 3 are wanted", (unsigned long long)attr);
	r = ipc_enter(key, &name, NULL);
	if (!r)
		r = feature_check(RTS_FEATURE_IPC_ATTR, "the choice of a link");
	if (r)
		return r;
	r = drv_share_attr(rts_drv(), &name, VINCI_SHARE_ATTR_LINK, attr);
	if (!r)
		return 0;
	return u_report(rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_ATTR, r), "key %s...: %s",
			rts_name_hint(&name).text,
			r == -EPERM  ? "only its exporter can choose the link" :
			r == -ESTALE ? "not known: it was never exported, or it was closed" :
				       rts_errno_text(r));
}

/* --- the end of keys ---------------------------------------------------------------------- */

int ipc_key_close(const struct drv_name *name)
{
	struct ipc_export *e = ipc_export_find(name);
	int r = drv_share_close(rts_drv(), name);
	int code = r ? rts_errno_code(VINCI_SHARE_IPC_MEM, RTS_OP_SHARE_CLOSE, r) : 0;
	struct rts_hint hint = rts_name_hint(name);

	if (!r && e) {
		struct ipc_alloc *a = e->alloc;

		export_drop(e);
		alloc_settle(a);
	}
	if (!r)
		return 0;
	if (r == -ESTALE)
		return u_report(code, "key %s... is not known: it was never exported, or it is closed already", hint.text);
	if (r == -EIDRM)
		return u_report(code, "key %s... is closed already, and processes that imported it still hold it", hint.text);
	if (r == -EACCES)
		return u_report(code, "key %s... is not imported in this process (any more), and only its exporter can close the key itself",
				hint.text);
	return u_report(code, "key %s...: closing failed (%s)", hint.text, rts_errno_text(r));
}

void ipc_allocs_end(uint32_t device)
{
	struct ipc_alloc *a, *next;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		for (a = LIST_FIRST(&allocs[i]); a; a = next) {
			next = LIST_NEXT(a, link);
			if (a->device == device)
				alloc_end(a);
		}
}
