/* SPDX-License-Identifier: MIT */
/*
 * small.c - allocations below a page. They share slabs, BOs of 64 KiB in 4K pages, in units of 512 bytes (the alignment
 * that CANN's runtime asks its driver for), and are never exportable, because an importer would get its neighbours as
 * well.
 *
 * A slab is charged to its device while one of its blocks is allocated. So a small allocation that is the only one of its
 * device costs the device's two answers each time (about 0.1 ms): an empty slab that were kept would be memory that
 * aclrtGetMemInfo, and every other process, misses.
 */
#include <stdlib.h>

#include "rts/lock_order.h"
#include "rts/memory.h"
#include "util/mutex.h"

#define UNIT ((size_t)512)
#define SLAB_BYTES ((size_t)64 << 10)
#define SLAB_UNITS (SLAB_BYTES / UNIT)
#define MAP_WORDS (SLAB_UNITS / 64)

/* A block's units carry the same word: its bytes, its first unit, and that it is allocated. 0: free. */
#define WORD_LIVE (1u << 31)
#define WORD(first, bytes) (WORD_LIVE | (uint32_t)(first) << 16 | (uint32_t)(bytes))
#define WORD_FIRST(word) ((word) >> 16 & 0x7fff)
#define WORD_BYTES(word) ((word)&0xffff)

struct slab;

/* What rts_exec_defer() carries for a freed block: its place in the slab's array says which units. */
struct block {
	struct slab *slab;
	uint32_t first, units;
};

struct slab {
	_Atomic uint32_t word[SLAB_UNITS]; /* written under the lock, read without */
	struct rts_span span;
	/* the lock protects the rest */
	uint64_t used[MAP_WORDS]; /* units that are allocated, or freed while tasks may still use them */
	uint32_t live;		  /* allocated blocks */
	uint32_t pending;	  /* freed blocks that tasks may still use, and one for a slab that is to be dropped */
	bool retired;		  /* out of the list and the index, charge returned */
	struct slab *prev, *next; /* of the device's list */
	struct block blocks[SLAB_UNITS];
};

static struct {
	struct u_mutex lock; /* lists and slabs */
	struct slab *list[VINCI_MAX_DEVICES];
	/* Structures are kept: rts_small_resolve() may look at one that has just gone. */
	struct slab *spare;
} small = { .lock = U_MUTEX_INIT(RANK_MEMORY, "small") };

static bool unit_used(const struct slab *slab, size_t unit)
{
	return slab->used[unit / 64] >> unit % 64 & 1;
}

static void mark_units(struct slab *slab, size_t first, size_t units, bool used)
{
	for (size_t i = first; i < first + units; i++) {
		if (used)
			slab->used[i / 64] |= UINT64_C(1) << i % 64;
		else
			slab->used[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

/* First fit; SLAB_UNITS when there is no room. */
static size_t find_units(const struct slab *slab, size_t units)
{
	size_t run = 0;

	for (size_t i = 0; i < SLAB_UNITS; i++) {
		if (i % 64 == 0 && slab->used[i / 64] == UINT64_MAX) {
			run = 0;
			i += 63;
			continue;
		}
		run = unit_used(slab, i) ? 0 : run + 1;
		if (run == units)
			return i + 1 - units;
	}
	return SLAB_UNITS;
}

static void set_words(struct slab *slab, size_t first, size_t units, uint32_t word)
{
	for (size_t i = first; i < first + units; i++)
		atomic_store_explicit(&slab->word[i], word, memory_order_release);
}

static void list_add(struct slab *slab)
{
	struct slab **head = &small.list[slab->span.device];

	slab->prev = NULL;
	slab->next = *head;
	if (*head)
		(*head)->prev = slab;
	*head = slab;
}

static void list_del(struct slab *slab)
{
	if (slab->prev)
		slab->prev->next = slab->next;
	else
		small.list[slab->span.device] = slab->next;
	if (slab->next)
		slab->next->prev = slab->prev;
}

static void *take_units(struct slab *slab, size_t first, size_t units, size_t size)
{
	mark_units(slab, first, units, true);
	slab->blocks[first] = (struct block){ slab, (uint32_t)first, (uint32_t)units };
	slab->live++;
	set_words(slab, first, units, WORD(first, size));
	return (void *)(slab->span.base + first * UNIT);
}

/* The lock is held. A slab in which something was found moves to the front. */
static void *take_from_list(uint32_t device, size_t units, size_t size)
{
	for (struct slab *slab = small.list[device]; slab; slab = slab->next) {
		size_t first = find_units(slab, units);

		if (first == SLAB_UNITS)
			continue;
		if (slab->prev) {
			list_del(slab);
			list_add(slab);
		}
		return take_units(slab, first, units, size);
	}
	return NULL;
}

static struct slab *take_spare(void)
{
	struct slab *slab;

	u_mutex_lock(&small.lock);
	slab = small.spare;
	if (slab)
		small.spare = slab->next;
	u_mutex_unlock(&small.lock);
	return slab ? slab : calloc(1, sizeof(*slab));
}

static void give_spare(struct slab *slab)
{
	u_mutex_lock(&small.lock);
	slab->next = small.spare;
	small.spare = slab;
	u_mutex_unlock(&small.lock);
}

static int slab_map(struct slab *slab, uint32_t device, size_t asked)
{
	struct rts_segment seg = { .size = SLAB_BYTES,
				   .kind = RTS_SEG_SMALL,
				   .device = device,
				   .owner = device,
				   .page_kind = VINCI_PAGE_4K,
				   .priv = slab };
	int r = rts_span_create(&slab->span, device, SLAB_BYTES, VINCI_PAGE_4K);

	if (r)
		return rts_span_report(device, SLAB_BYTES, asked, VINCI_PAGE_4K, r);
	seg.base = slab->span.base;
	seg.handle = slab->span.handle;
	r = rts_va_insert_extent(&seg, slab->span.extent);
	if (r) {
		(void)rts_span_close(&slab->span);
		rts_va_drop(slab->span.base, slab->span.extent);
	}
	return r;
}

static int slab_create(uint32_t device, size_t asked, struct slab **out)
{
	struct slab *slab = take_spare();
	int r;

	if (!slab)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION,
				"no host memory left to describe a slab of device memory");
	for (size_t i = 0; i < MAP_WORDS; i++)
		slab->used[i] = 0;
	slab->live = 0;
	slab->pending = 0;
	slab->retired = false;
	r = slab_map(slab, device, asked);
	if (r) {
		give_spare(slab);
		return r;
	}
	*out = slab;
	return 0;
}

int rts_small_alloc(uint32_t device, size_t size, void **out)
{
	size_t units = rts_round_up(size, UNIT) / UNIT;
	struct slab *slab = NULL;
	void *ptr;
	int r;

	u_mutex_lock(&small.lock);
	ptr = take_from_list(device, units, size);
	u_mutex_unlock(&small.lock);
	if (!ptr) {
		r = slab_create(device, size, &slab);
		if (r)
			return r;
		u_mutex_lock(&small.lock);
		list_add(slab);
		ptr = take_units(slab, 0, units, size);
		u_mutex_unlock(&small.lock);
	}
	*out = ptr;
	return 0;
}

bool rts_small_resolve(const void *priv, uintptr_t ptr, struct rts_segment *seg)
{
	const struct slab *slab = priv;
	uintptr_t base = seg->base;
	uint32_t word =
		atomic_load_explicit((_Atomic uint32_t *)&slab->word[(ptr - base) / UNIT], memory_order_acquire);

	seg->base = base + WORD_FIRST(word) * UNIT;
	seg->size = WORD_BYTES(word);
	return word & WORD_LIVE && ptr - seg->base < seg->size;
}

/* The last task that could use a retired slab has ended. */
static void slab_drop(struct slab *slab)
{
	rts_va_drop(slab->span.base, slab->span.extent);
	give_spare(slab);
}

/* Drops one of the slab's pending references. */
static void slab_unpend(struct slab *slab)
{
	bool last;

	u_mutex_lock(&small.lock);
	last = !--slab->pending && slab->retired;
	u_mutex_unlock(&small.lock);
	if (last)
		slab_drop(slab);
}

static void block_reuse(void *arg)
{
	struct block *block = arg;
	struct slab *slab = block->slab;

	u_mutex_lock(&small.lock);
	mark_units(slab, block->first, block->units, false);
	u_mutex_unlock(&small.lock);
	slab_unpend(slab);
}

static void slab_unpend_deferred(void *arg)
{
	slab_unpend(arg);
}

/* The caller has set retired and holds a pending reference for it. 0 or the device's -errno. */
static int slab_retire(struct slab *slab)
{
	int r;

	(void)rts_va_bury(slab->span.base, RTS_SEG_SMALL, NULL);
	r = rts_span_close(&slab->span);
	rts_exec_defer(slab_unpend_deferred, slab);
	return r;
}

/* The lock is held. Takes the slab out of circulation. */
static void slab_unlink(struct slab *slab)
{
	slab->retired = true;
	slab->pending++;
	list_del(slab);
}

int rts_small_free(void *priv, uintptr_t ptr)
{
	struct slab *slab = priv;
	struct block *block = NULL;
	bool retire = false;
	uint32_t word;
	size_t unit;
	int r = 0;

	u_mutex_lock(&small.lock);
	unit = (ptr - slab->span.base) / UNIT;
	word = unit < SLAB_UNITS && !slab->retired ? atomic_load_explicit(&slab->word[unit], memory_order_relaxed) : 0;
	if (word & WORD_LIVE && ptr == slab->span.base + WORD_FIRST(word) * UNIT) {
		block = &slab->blocks[WORD_FIRST(word)];
		set_words(slab, block->first, block->units, 0);
		slab->pending++;
		retire = !--slab->live;
		if (retire)
			slab_unlink(slab);
	}
	u_mutex_unlock(&small.lock);
	if (!block)
		return u_report(
			ACL_ERROR_RT_PARAM_INVALID,
			"0x%lx is not the start of an allocation; only what aclrtMalloc returned can be freed, once",
			(unsigned long)ptr);
	if (retire)
		r = slab_retire(slab);
	rts_exec_defer(block_reuse, block);
	return rts_span_close_report(ptr, r);
}

void rts_small_device_gone(uint32_t device)
{
	for (;;) {
		struct slab *slab;

		u_mutex_lock(&small.lock);
		slab = small.list[device];
		if (slab) {
			set_words(slab, 0, SLAB_UNITS, 0);
			slab->live = 0;
			slab_unlink(slab);
		}
		u_mutex_unlock(&small.lock);
		if (!slab)
			return;
		(void)slab_retire(slab);
	}
}
