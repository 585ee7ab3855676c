/* SPDX-License-Identifier: MIT */
/* event_page.c - pages of events between processes; the protocol is in event_page.h. */
#include "rts/event_page.h"
#include "rts/lock_order.h"
#include "rts/share.h"
#include "util/futex.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x76656e74u
#define VERSION 1u
#define MEMBERS 128u
#define SLOTS 4096u
#define PAGES_BYTES (64 * 1024)
#define NAME_LEN ACL_IPC_EVENT_HANDLE_SIZE
#define TICKET_MASK 0x7fffffffu
#define ROOM_NS (10 * U_NS_PER_S)
#define DONE 1u /* bit of a slot's word; the rest is the ticket */

enum member_state { MEMBER_FREE, MEMBER_TAKEN, MEMBER_READY };

struct member {
	_Atomic uint32_t state;
	uint32_t reserved;
	uint8_t name[NAME_LEN]; /* of the process's empty page */
};

struct slot {
	_Atomic uint32_t word;
	_Atomic uint32_t member; /* of who records */
};

/* What is shared. Processes of different builds may meet here: a change of it is a new VERSION. */
struct pages {
	uint32_t magic, version;
	uint32_t device; /* of the creator */
	uint32_t reserved;
	_Alignas(64) _Atomic uint32_t next; /* ticket taken last */
	_Atomic uint32_t current;
	_Alignas(64) _Atomic uint32_t completed; /* futex: counts completed records */
	_Atomic uint32_t sleepers; /* not 0: somebody may sleep on it */
	struct member members[MEMBERS];
	struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct pages) <= PAGES_BYTES, "an event's pages hold it all");

struct event_page {
	struct pages *pages;
	struct event_page *next; /* pages_lock; so is the rest */
	uint32_t refs;
	uint32_t handle;
	uint64_t epoch; /* of the connection that handle belongs to */
	struct drv_name name; /* len 0: not exported yet */
	_Atomic int32_t member; /* this process's; -1: none yet. Written under pages_lock */
	_Atomic uint32_t own[SLOTS]; /* not shared: the tickets of this process that have not been completed, each in its slot's place */
};

static struct u_mutex pages_lock = U_MUTEX_INIT(RANK_EVENT_PAGE, "event pages");
static struct event_page *all;

/* This process's empty page; pages_lock. */
static struct {
	struct drv_name name; /* len 0: none yet */
	uint64_t epoch;
} self;

/* --- pages ------------------------------------------------------------------------------------ */

static int pages_failed(enum rts_op op, const char *what, int err)
{
	return u_report(rts_errno_code(VINCI_SHARE_EVENT, op, err), "an event between processes cannot be %s: %s", what,
			rts_errno_text(err));
}

static int host_pages(size_t size, struct drm_vinci_bo_create *bo)
{
	*bo = (struct drm_vinci_bo_create){ .size = size, .flags = VINCI_BO_HOST, .page_kind = VINCI_PAGE_4K, .numa_node = -1 };
	return drv_bo_create(rts_drv(), bo);
}

/* pages_lock */
static int page_map(uint32_t handle, uint64_t mmap_offset, struct event_page **out)
{
	struct event_page *page = calloc(1, sizeof(*page));
	void *map;
	int r;

	if (!page)
		return -ENOMEM;
	r = drv_map(rts_drv(), mmap_offset, PAGES_BYTES, NULL, true, &map);
	if (r) {
		free(page);
		return r;
	}
	page->pages = map;
	page->refs = 1;
	page->handle = handle;
	page->epoch = rts_process_epoch();
	atomic_init(&page->member, -1);
	page->next = all;
	all = page;
	*out = page;
	return 0;
}

/* pages_lock: an open meanwhile would be given the handle that is about to go. */
static void page_close(struct event_page *page)
{
	struct event_page **at;

	for (at = &all; *at != page; at = &(*at)->next)
		;
	*at = page->next;
	(void)drv_unmap(rts_drv(), page->pages, PAGES_BYTES);
	(void)drv_close_handle(rts_drv_at(page->epoch), page->handle);
	free(page);
}

void event_page_put(struct event_page *page)
{
	if (rts_process_forked())
		return;
	u_mutex_lock(&pages_lock);
	if (!--page->refs)
		page_close(page);
	u_mutex_unlock(&pages_lock);
}

int event_page_create(uint32_t device, struct event_page **out)
{
	struct drm_vinci_bo_create bo;
	struct event_page *page;
	int r;

	r = host_pages(PAGES_BYTES, &bo);
	if (r)
		return pages_failed(RTS_OP_BO_CREATE, "created", r);
	u_mutex_lock(&pages_lock);
	r = page_map(bo.handle, bo.mmap_offset, &page);
	u_mutex_unlock(&pages_lock);
	if (r) {
		(void)drv_close_handle(rts_drv(), bo.handle);
		return pages_failed(RTS_OP_MAP, "mapped", r);
	}
	page->pages->magic = MAGIC;
	page->pages->version = VERSION;
	page->pages->device = device;
	*out = page;
	return 0;
}

static int page_export(struct event_page *page)
{
	struct drv_name name;
	int r;

	if (page->name.len)
		return 0;
	r = drv_share_export(rts_drv(), page->handle, VINCI_SHARE_EVENT, VINCI_SHARE_UNVALIDATED, PAGES_BYTES, &name);
	if (!r && name.len != NAME_LEN)
		r = -EPROTO;
	if (!r)
		page->name = name;
	return r;
}

int event_page_name(struct event_page *page, aclrtIpcEventHandle *handle)
{
	int r;

	u_mutex_lock(&pages_lock);
	r = page_export(page);
	if (!r)
		memcpy(handle->reserved, page->name.bytes, NAME_LEN);
	u_mutex_unlock(&pages_lock);
	return r ? pages_failed(RTS_OP_EXPORT, "exported", r) : 0;
}

/* Not even the size is what a caller's bytes say. */
static int imported_check(const struct drm_vinci_share_import *import)
{
	return import->object == VINCI_OBJECT_BO && import->size == PAGES_BYTES ? 0 : -EPROTO;
}

/* pages_lock. The device gives one handle to a process, however often it opens. */
static int page_open(const struct drv_name *name, uint32_t device, struct event_page **out)
{
	struct drm_vinci_share_import import;
	struct event_page *page;
	int r = drv_share_import(rts_drv(), name, device, &import);

	if (r)
		return rts_import_failed(name, "event handle", device, r);
	for (page = all; page; page = page->next)
		if (page->handle == import.handle && page->epoch == rts_process_epoch())
			break;
	if (page) {
		page->refs++;
		*out = page;
		return 0;
	}
	r = imported_check(&import);
	if (!r)
		r = page_map(import.handle, import.mmap_offset, &page);
	if (r) {
		(void)drv_close_handle(rts_drv(), import.handle);
		return pages_failed(RTS_OP_MAP, "mapped", r);
	}
	page->name = *name;
	*out = page;
	return 0;
}

int event_page_open(const aclrtIpcEventHandle *handle, uint32_t device, struct event_page **out)
{
	struct drv_name name = { .kind = VINCI_SHARE_EVENT, .len = NAME_LEN };
	struct event_page *page = NULL;
	int r;

	memcpy(name.bytes, handle->reserved, NAME_LEN);
	u_mutex_lock(&pages_lock);
	r = page_open(&name, device, &page);
	u_mutex_unlock(&pages_lock);
	if (r)
		return r;
	if (page->pages->magic != MAGIC || page->pages->version != VERSION) {
		event_page_put(page);
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"the handle is no event's, or its exporter has another version of this library");
	}
	*out = page;
	return 0;
}

uint32_t event_page_device(struct event_page *page)
{
	uint32_t device = page->pages->device;

	return device < VINCI_MAX_DEVICES ? device : VINCI_MAX_DEVICES;
}

/* --- members ---------------------------------------------------------------------------------- */

/* pages_lock. Makes this process known to the device by a name that goes with it. */
static int self_export(void)
{
	struct drm_vinci_bo_create bo;
	struct drv_name name;
	int r;

	if (self.name.len && self.epoch == rts_process_epoch())
		return 0;
	r = host_pages(4096, &bo);
	if (r)
		return r;
	r = drv_share_export(rts_drv(), bo.handle, VINCI_SHARE_EVENT, VINCI_SHARE_UNVALIDATED, 4096, &name);
	if (!r && name.len != NAME_LEN)
		r = -EPROTO;
	if (r) {
		(void)drv_close_handle(rts_drv(), bo.handle);
		return r;
	}
	self.name = name;
	self.epoch = rts_process_epoch();
	return 0;
}

static int32_t member_take(struct pages *pages)
{
	for (uint32_t i = 0; i < MEMBERS; i++) {
		struct member *m = &pages->members[i];
		uint32_t state = MEMBER_FREE;

		if (atomic_load(&m->state) == MEMBER_READY && !memcmp(m->name, self.name.bytes, NAME_LEN))
			return (int32_t)i;
		if (atomic_compare_exchange_strong(&m->state, &state, MEMBER_TAKEN)) {
			memcpy(m->name, self.name.bytes, NAME_LEN);
			atomic_store(&m->state, MEMBER_READY);
			return (int32_t)i;
		}
	}
	return -1;
}

/* Once; after that the member is read without the lock by whoever has come here before. */
static int page_join(struct event_page *page, uint32_t *member)
{
	int r = 0;

	u_mutex_lock(&pages_lock);
	if (atomic_load(&page->member) < 0) {
		r = self_export();
		if (!r)
			atomic_store(&page->member, member_take(page->pages));
	}
	*member = (uint32_t)atomic_load(&page->member);
	u_mutex_unlock(&pages_lock);
	if (r)
		return pages_failed(RTS_OP_EXPORT, "recorded", r);
	if (*member >= MEMBERS)
		return u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%u processes have recorded the event already; no more can",
				MEMBERS);
	return 0;
}

/* pages_lock. Whether a name still exists is found out by importing it. */
static bool name_lost(const struct drv_name *name)
{
	struct drm_vinci_share_import import;
	int r = drv_share_import(rts_drv(), name, 0, &import);

	if (!r)
		(void)drv_close_handle_async(rts_drv(), import.handle);
	return r == -ESTALE;
}

bool event_page_lost(struct event_page *page, uint32_t ticket)
{
	uint32_t i = atomic_load(&page->pages->slots[ticket % SLOTS].member);
	struct drv_name name = { .kind = VINCI_SHARE_EVENT, .len = NAME_LEN };
	bool lost = false;

	u_mutex_lock(&pages_lock);
	if (i >= MEMBERS) {
		lost = true; /* nobody records as such a member */
	} else if ((int32_t)i != atomic_load(&page->member) && page->epoch == rts_process_epoch()) {
		memcpy(name.bytes, page->pages->members[i].name, NAME_LEN);
		lost = name_lost(&name);
	}
	u_mutex_unlock(&pages_lock);
	return lost && !event_page_done(page, ticket);
}

/* --- tickets ---------------------------------------------------------------------------------- */

uint32_t event_page_current(struct event_page *page)
{
	return atomic_load(&page->pages->current) & TICKET_MASK;
}

/* What a slot says of this process's own records is not taken from it. */
bool event_page_done(struct event_page *page, uint32_t ticket)
{
	struct slot *slot = &page->pages->slots[ticket % SLOTS];

	if (!ticket || atomic_load(&slot->word) != ticket << 1)
		return true;
	return (int32_t)atomic_load(&slot->member) == atomic_load(&page->member) &&
	       atomic_load(&page->own[ticket % SLOTS]) != ticket;
}

static bool slot_take(struct event_page *page, uint32_t ticket, uint32_t member)
{
	struct slot *slot = &page->pages->slots[ticket % SLOTS];
	uint32_t word = atomic_load(&slot->word);

	if (!ticket || (word && !(word & DONE)) || !atomic_compare_exchange_strong(&slot->word, &word, ticket << 1))
		return false;
	atomic_store(&slot->member, member);
	return true;
}

static bool record_try(struct event_page *page, uint32_t member, uint32_t *ticket)
{
	struct pages *pages = page->pages;

	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t t = (atomic_fetch_add(&pages->next, 1) + 1) & TICKET_MASK;

		if (slot_take(page, t, member)) {
			atomic_store(&page->own[t % SLOTS], t);
			atomic_store(&pages->current, t);
			*ticket = t;
			return true;
		}
	}
	return false;
}

/* With all slots pending it waits for one, as CANN does, but not for ever: their recorders may wait for the caller. */
int event_page_record(struct event_page *page, uint32_t *ticket)
{
	uint64_t deadline = u_deadline(u_now_ns(), ROOM_NS);
	struct pages *pages = page->pages;
	uint32_t member, seen;
	int r = page_join(page, &member);

	if (r)
		return r;
	do {
		if (record_try(page, member, ticket))
			return 0;
		seen = atomic_load(&pages->completed);
		atomic_store(&pages->sleepers, 1);
		if (record_try(page, member, ticket))
			return 0;
		u_futex_wait(&pages->completed, seen, deadline, true);
	} while (u_now_ns() < deadline);
	return u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%u records of the event are under way, and none has ended for %u s",
			SLOTS, (unsigned)(ROOM_NS / U_NS_PER_S));
}

void event_page_complete(struct event_page *page, uint32_t ticket)
{
	struct pages *pages = page->pages;
	uint32_t word = ticket << 1, own = ticket;

	atomic_compare_exchange_strong(&page->own[ticket % SLOTS], &own, 0);
	atomic_compare_exchange_strong(&pages->slots[ticket % SLOTS].word, &word, word | DONE);
	atomic_fetch_add(&pages->completed, 1);
	if (atomic_exchange(&pages->sleepers, 0))
		u_futex_wake(&pages->completed, INT_MAX, true);
}

void event_page_sleep(struct event_page *page, uint32_t ticket, uint64_t until)
{
	struct pages *pages = page->pages;
	uint32_t seen = atomic_load(&pages->completed);

	atomic_store(&pages->sleepers, 1);
	if (!event_page_done(page, ticket))
		u_futex_wait(&pages->completed, seen, until, true);
}

_Atomic uint32_t *event_page_word(struct event_page *page)
{
	return &page->pages->completed;
}
