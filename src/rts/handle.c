/* SPDX-License-Identifier: MIT */
/*
 * handle.c - one table of all public handles.
 *
 * A handle is {0, 1, generation:33, slot:24, type:4, 1}: odd and, on x86-64, not canonical, so it is no object's
 * address and dereferencing one faults; NULL and pointers of the application fail the checks.
 *
 * A slot's word is {generation:33, type:4, lookups:27}, type 0 when free. A lookup adds 1 to the word by
 * compare-exchange: it succeeds only while the generation is the one asked for, and has thereby taken a reference. The
 * lookups counted in the word are moved to the object's own count when it is unpublished (or when they get many); until
 * then the object's count carries BIAS, so that puts alone never bring it to zero. One atomic operation to get, one to
 * put, and no memory of a dead object is ever read.
 *
 * A generation is used once: a slot whose generations are used up is retired.
 */
#include "rts/lock_order.h"
#include "rts/rts.h"
#include "util/mutex.h"

#include <stdlib.h>

#define SLOT_BITS 24
#define TYPE_BITS 4
#define GEN_BITS 33
#define LOOKUP_BITS 27

#define GEN_LAST ((UINT64_C(1) << GEN_BITS) - 1)
#define LOOKUP_MASK ((UINT64_C(1) << LOOKUP_BITS) - 1)
#define LOOKUP_FOLD (UINT64_C(1) << 20) /* far from the field's end, whatever the number of threads */
#define HANDLE_MARK (UINT64_C(1) << 62)
#define BIAS (1u << 30)

#define CHUNK_SLOTS 1024u
#define CHUNKS 2048u /* 2 Mi handles */

struct slot {
	_Atomic uint64_t word;
	_Atomic(struct rts_object *) obj;
	uint32_t next; /* free list, index + 1; protected by table.lock */
};

static struct {
	struct u_mutex lock; /* free list and growth; the words are lock-free */
	_Atomic(struct slot *) chunks[CHUNKS];
	uint32_t used;		       /* slots ever taken */
	uint32_t free_head, free_tail; /* first in, first out; index + 1 */
} table = { .lock = U_MUTEX_INIT(RANK_HANDLE, "handles") };

static uint64_t word_make(uint64_t gen, uint32_t type)
{
	return gen << (TYPE_BITS + LOOKUP_BITS) | (uint64_t)type << LOOKUP_BITS;
}

static uint64_t word_gen(uint64_t word)
{
	return word >> (TYPE_BITS + LOOKUP_BITS);
}

static void *handle_make(uint32_t index, uint64_t gen, uint32_t type)
{
	uint64_t h = HANDLE_MARK | gen << (SLOT_BITS + TYPE_BITS + 1) | (uint64_t)index << (TYPE_BITS + 1) |
		     (uint64_t)type << 1 | 1;

	return (void *)(uintptr_t)h;
}

static struct slot *slot_at(uint32_t index)
{
	struct slot *chunk = NULL;

	if (index / CHUNK_SLOTS < CHUNKS)
		chunk = atomic_load_explicit(&table.chunks[index / CHUNK_SLOTS], memory_order_acquire);
	return chunk ? &chunk[index % CHUNK_SLOTS] : NULL;
}

/* The slot that a handle of @type names, and what its word has to be, lookups aside; NULL: it never was a handle of
 * that type. */
static struct slot *handle_slot(const void *handle, uint32_t type, uint64_t *word)
{
	uint64_t h = (uint64_t)(uintptr_t)handle;

	if (h >> 62 != 1 || !(h & 1) || (h >> 1 & ((1u << TYPE_BITS) - 1)) != type)
		return NULL;
	*word = word_make(h >> (SLOT_BITS + TYPE_BITS + 1) & GEN_LAST, type);
	return slot_at((uint32_t)(h >> (TYPE_BITS + 1)) & ((1u << SLOT_BITS) - 1));
}

static struct slot *grow_locked(uint32_t *index)
{
	uint32_t chunk = table.used / CHUNK_SLOTS;
	struct slot *slots;

	if (chunk == CHUNKS)
		return NULL;
	slots = atomic_load_explicit(&table.chunks[chunk], memory_order_relaxed);
	if (!slots) {
		slots = calloc(CHUNK_SLOTS, sizeof(*slots));
		if (!slots)
			return NULL;
		atomic_store_explicit(&table.chunks[chunk], slots, memory_order_release);
	}
	*index = table.used++;
	return &slots[*index % CHUNK_SLOTS];
}

static struct slot *slot_take(uint32_t *index)
{
	struct slot *slot;

	u_mutex_lock(&table.lock);
	if (table.free_head) {
		*index = table.free_head - 1;
		slot = slot_at(*index);
		table.free_head = slot->next;
	} else {
		slot = grow_locked(index);
	}
	u_mutex_unlock(&table.lock);
	return slot;
}

static void slot_give(uint32_t index, struct slot *slot)
{
	if (word_gen(atomic_load_explicit(&slot->word, memory_order_relaxed)) == GEN_LAST)
		return; /* retired */
	u_mutex_lock(&table.lock);
	slot->next = 0;
	if (table.free_head)
		slot_at(table.free_tail - 1)->next = index + 1;
	else
		table.free_head = index + 1;
	table.free_tail = index + 1;
	u_mutex_unlock(&table.lock);
}

int rts_object_publish(struct rts_object *obj, enum rts_type type, void (*release)(struct rts_object *))
{
	struct slot *slot;
	uint32_t index;
	uint64_t gen;

	slot = slot_take(&index);
	if (!slot)
		return u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
				"no handle is left: at most %u objects can be alive at once", CHUNKS * CHUNK_SLOTS);
	gen = word_gen(atomic_load_explicit(&slot->word, memory_order_relaxed));
	obj->type = type;
	obj->release = release;
	obj->handle = handle_make(index, gen, type);
	atomic_store_explicit(&obj->refs, BIAS + 1, memory_order_relaxed);
	atomic_store_explicit(&slot->obj, obj, memory_order_relaxed);
	atomic_store_explicit(&slot->word, word_make(gen, type), memory_order_release);
	return 0;
}

static bool same_object(uint64_t word, uint64_t other)
{
	return !((word ^ other) & ~LOOKUP_MASK);
}

/*
 * Many lookups: move a part of them to the object, which the caller holds, before they run over into the type. The
 * object gets them first; whoever finds that the word has changed meanwhile takes his back, and a later lookup tries
 * again.
 */
static void fold(struct slot *slot, struct rts_object *obj, uint64_t wanted)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

	if (!same_object(word, wanted) || (word & LOOKUP_MASK) < LOOKUP_FOLD)
		return;
	atomic_fetch_add_explicit(&obj->refs, (unsigned)LOOKUP_FOLD, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&slot->word, &word, word - LOOKUP_FOLD, memory_order_acq_rel,
						     memory_order_relaxed))
		atomic_fetch_sub_explicit(&obj->refs, (unsigned)LOOKUP_FOLD, memory_order_relaxed);
}

struct rts_object *rts_object_get(const void *handle, enum rts_type type)
{
	struct rts_object *obj;
	struct slot *slot;
	uint64_t wanted, word;

	slot = handle_slot(handle, type, &wanted);
	if (!slot)
		return NULL;
	word = atomic_load_explicit(&slot->word, memory_order_acquire);
	do {
		if (!same_object(word, wanted))
			return NULL;
		obj = atomic_load_explicit(&slot->obj, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, word + 1, memory_order_acq_rel,
							memory_order_acquire));
	if ((word & LOOKUP_MASK) >= 2 * LOOKUP_FOLD)
		fold(slot, obj, wanted);
	return obj;
}

struct rts_object *rts_object_unpublish(const void *handle, enum rts_type type)
{
	struct rts_object *obj;
	struct slot *slot;
	uint64_t wanted, word;

	slot = handle_slot(handle, type, &wanted);
	if (!slot)
		return NULL;
	word = atomic_load_explicit(&slot->word, memory_order_acquire);
	do {
		if (!same_object(word, wanted))
			return NULL;
		obj = atomic_load_explicit(&slot->obj, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&slot->word, &word, word_make(word_gen(word) + 1, 0),
							memory_order_acq_rel, memory_order_acquire));
	obj->handle = NULL;
	atomic_fetch_add_explicit(&obj->refs, (unsigned)(word & LOOKUP_MASK) - BIAS, memory_order_acq_rel);
	slot_give((uint32_t)((uint64_t)(uintptr_t)handle >> (TYPE_BITS + 1)) & ((1u << SLOT_BITS) - 1), slot);
	return obj;
}

void rts_object_ref(struct rts_object *obj)
{
	atomic_fetch_add_explicit(&obj->refs, 1, memory_order_relaxed);
}

void rts_object_put(struct rts_object *obj)
{
	if (obj && atomic_fetch_sub_explicit(&obj->refs, 1, memory_order_acq_rel) == 1)
		obj->release(obj);
}
