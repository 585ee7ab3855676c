/* SPDX-License-Identifier: MIT */
/*
 * va.c - what is mapped where: one ordered index over every range that vinci handed out in this process.
 *
 * Three layers, looked at in this order: what lies inside something else (mappings of a reservation, registrations),
 * everything else, and what was freed not long ago. A layer is a sorted array of sorted chunks. Readers take no lock: a
 * sequence count tells them that a writer was there, and then they look again. Chunks are never given back to the
 * system, so that a reader that comes late reads something old and not something unmapped. Every word that readers see
 * is an atomic: writers store with release and readers load with acquire, which orders them against the sequence count
 * without fences.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rts/lock_order.h"
#include "rts/memory.h"
#include "util/mutex.h"

#define CHUNK_ENTRIES 128
#define SEG_WORDS (sizeof(struct rts_segment) / sizeof(uint64_t))

_Static_assert(sizeof(struct rts_segment) % sizeof(uint64_t) == 0, "a segment is copied in words");

/* Freed ranges that are kept: enough to catch a use after free, bounded in mappings and address space. */
#define GRAVES 1024
#define GRAVES_BYTES ((size_t)256 << 30)

/* Looking again this often beats waiting for the writer; then the writer may have been interrupted. */
#define READ_TRIES 64

struct chunk {
	_Atomic uint64_t count;
	_Atomic uint64_t base[CHUNK_ENTRIES];
	_Atomic uint64_t extent[CHUNK_ENTRIES]; /* bytes that belong to the segment, >= its size */
	_Atomic uint64_t seg[CHUNK_ENTRIES][SEG_WORDS];
	struct chunk *next_free;
};

struct top {
	struct top *older; /* readers may still be in it */
	size_t capacity;
	_Atomic uint64_t count;
	struct {
		_Atomic uint64_t base; /* of the chunk's first entry */
		_Atomic(struct chunk *) chunk;
	} slot[];
};

struct layer {
	_Atomic(struct top *) top;
};

enum { INNER, OUTER, FREED, LAYERS };

struct grave {
	uintptr_t base;
	size_t size;
};

static struct {
	struct u_mutex lock;  /* writers: everything below */
	_Atomic uint64_t seq; /* odd while a writer changes something */
	struct layer layers[LAYERS];
	struct chunk *free_chunks;
	struct grave *graves; /* a ring, allocated when first needed */
	size_t first_grave, grave_count, grave_bytes;
} va = { .lock = U_MUTEX_INIT(RANK_VA, "va") };

struct entry {
	uint64_t base, extent;
	struct rts_segment seg;
};

/* Where an entry is, or would be: entry @pos of the chunk in slot @slot. */
struct place {
	struct top *top;
	size_t slot, pos;
	struct chunk *chunk;
};

static inline uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit((_Atomic uint64_t *)word, memory_order_acquire);
}

static inline void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static inline void write_begin(void)
{
	atomic_store_explicit(&va.seq, atomic_load_explicit(&va.seq, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline void write_end(void)
{
	store(&va.seq, atomic_load_explicit(&va.seq, memory_order_relaxed) + 1);
}

/* ---- reading; also correct while a writer is at work, except for the result ---- */

/* Number of slots whose base is <= @key. */
static size_t count_slots(const struct top *top, uint64_t key)
{
	size_t low = 0, high = load(&top->count);

	if (high > top->capacity)
		high = top->capacity;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (load(&top->slot[mid].base) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Number of entries whose base is <= @key. */
static size_t count_entries(const struct chunk *chunk, uint64_t key)
{
	size_t low = 0, high = load(&chunk->count);

	if (high > CHUNK_ENTRIES)
		high = CHUNK_ENTRIES;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (load(&chunk->base[mid]) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void read_entry(const struct chunk *chunk, size_t pos, struct entry *out)
{
	uint64_t words[SEG_WORDS] = { 0 };

	for (size_t i = 0; i < SEG_WORDS; i++)
		words[i] = load(&chunk->seg[pos][i]);
	memcpy(&out->seg, words, sizeof(words));
	out->base = load(&chunk->base[pos]);
	out->extent = load(&chunk->extent[pos]);
}

/* The last entry with base <= @key. */
static bool find_below(const struct layer *layer, uint64_t key, struct entry *out)
{
	struct top *top = atomic_load_explicit((_Atomic(struct top *) *)&layer->top, memory_order_acquire);
	struct chunk *chunk;
	size_t n;

	if (!top)
		return false;
	n = count_slots(top, key);
	if (!n)
		return false;
	chunk = atomic_load_explicit(&top->slot[n - 1].chunk, memory_order_acquire);
	n = chunk ? count_entries(chunk, key) : 0;
	if (!n)
		return false;
	read_entry(chunk, n - 1, out);
	return true;
}

/* The entry whose extent contains @key. */
static bool find_in(enum rts_va_state *state, int layer, uint64_t key, struct entry *out)
{
	if (!find_below(&va.layers[layer], key, out) || key - out->base >= out->extent)
		return false;
	*state = key - out->base < out->seg.size ? RTS_VA_FOUND : RTS_VA_GONE;
	return true;
}

static enum rts_va_state look_once(uint64_t key, bool outer_only, struct entry *out)
{
	enum rts_va_state state = RTS_VA_UNKNOWN;

	if (!outer_only && find_in(&state, INNER, key, out) && state == RTS_VA_FOUND)
		return state;
	if (find_in(&state, OUTER, key, out))
		return state;
	return find_in(&state, FREED, key, out) ? RTS_VA_GONE : RTS_VA_UNKNOWN;
}

static bool unchanged(uint64_t seq)
{
	return atomic_load_explicit(&va.seq, memory_order_relaxed) == seq;
}

/* A slab is one entry and knows its blocks. */
static enum rts_va_state resolve(enum rts_va_state state, uint64_t key, struct entry *out)
{
	if (state == RTS_VA_FOUND && out->seg.kind == RTS_SEG_SMALL &&
	    !rts_small_resolve(out->seg.priv, key, &out->seg))
		return RTS_VA_GONE;
	return state;
}

static enum rts_va_state look(uint64_t key, bool outer_only, struct entry *out)
{
	enum rts_va_state state;

	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t seq = load(&va.seq);

		if (seq & 1)
			continue;
		state = look_once(key, outer_only, out);
		/* Before the slab is looked into: only now is its address known to be one. */
		if (!unchanged(seq))
			continue;
		state = resolve(state, key, out);
		if (unchanged(seq))
			return state;
	}
	u_mutex_lock(&va.lock);
	state = resolve(look_once(key, outer_only, out), key, out);
	u_mutex_unlock(&va.lock);
	return state;
}

enum rts_va_state rts_va_look(const void *ptr, struct rts_segment *seg)
{
	struct entry entry;
	enum rts_va_state state = look((uintptr_t)ptr, false, &entry);

	if (state == RTS_VA_FOUND)
		*seg = entry.seg;
	return state;
}

bool rts_va_find(const void *ptr, struct rts_segment *seg)
{
	return rts_va_look(ptr, seg) == RTS_VA_FOUND;
}

bool rts_va_gone(const void *ptr)
{
	struct rts_segment seg;

	return rts_va_look(ptr, &seg) == RTS_VA_GONE;
}

bool rts_va_find_outer(const void *ptr, struct rts_segment *seg)
{
	struct entry entry;

	if (look((uintptr_t)ptr, true, &entry) != RTS_VA_FOUND)
		return false;
	*seg = entry.seg;
	return true;
}

/* Mappings of one reservation that follow each other without a hole are one range. */
static bool mappings_cover(uintptr_t at, uintptr_t end)
{
	struct rts_segment reservation, seg;

	if (!rts_va_find_outer((void *)at, &reservation) || reservation.kind != RTS_SEG_RESERVED ||
	    end - reservation.base > reservation.size)
		return false;
	while (at < end) {
		if (!rts_va_find((void *)at, &seg) || seg.kind != RTS_SEG_VMM)
			return false;
		at = seg.base + seg.size;
	}
	return true;
}

bool rts_va_range(const void *ptr, size_t len, struct rts_segment *seg)
{
	uintptr_t at = (uintptr_t)ptr;
	struct rts_segment outer;

	if (!rts_va_find(ptr, seg))
		return false;
	if (len <= seg->size - (at - seg->base))
		return seg->kind != RTS_SEG_RESERVED;
	if (at + len < at)
		return false;
	if (seg->kind == RTS_SEG_VMM)
		return mappings_cover(at, at + len);
	if (seg->kind != RTS_SEG_HOST_REGISTERED || !rts_va_find_outer(ptr, &outer) ||
	    len > outer.size - (at - outer.base))
		return false;
	*seg = outer;
	return true;
}

/* ---- writing; the lock is held ---- */

static struct top *top_of(struct layer *layer)
{
	return atomic_load_explicit(&layer->top, memory_order_relaxed);
}

static struct chunk *slot_chunk(struct top *top, size_t slot)
{
	return atomic_load_explicit(&top->slot[slot].chunk, memory_order_relaxed);
}

static void set_slot(struct top *top, size_t slot, struct chunk *chunk, uint64_t base)
{
	store(&top->slot[slot].base, base);
	atomic_store_explicit(&top->slot[slot].chunk, chunk, memory_order_release);
}

static void copy_slot(struct top *to, size_t to_slot, struct top *from, size_t from_slot)
{
	set_slot(to, to_slot, slot_chunk(from, from_slot), load(&from->slot[from_slot].base));
}

static void copy_entry(struct chunk *to, size_t to_pos, struct chunk *from, size_t from_pos)
{
	store(&to->base[to_pos], load(&from->base[from_pos]));
	store(&to->extent[to_pos], load(&from->extent[from_pos]));
	for (size_t i = 0; i < SEG_WORDS; i++)
		store(&to->seg[to_pos][i], load(&from->seg[from_pos][i]));
}

static void write_entry(struct chunk *chunk, size_t pos, const struct entry *entry)
{
	uint64_t words[SEG_WORDS];

	memcpy(words, &entry->seg, sizeof(words));
	store(&chunk->base[pos], entry->base);
	store(&chunk->extent[pos], entry->extent);
	for (size_t i = 0; i < SEG_WORDS; i++)
		store(&chunk->seg[pos][i], words[i]);
}

/* Makes sure that one entry can be inserted, with a split if need be. Changes nothing that readers see. */
static int reserve_chunk(void)
{
	struct chunk *chunk;

	if (va.free_chunks)
		return 0;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	va.free_chunks = chunk;
	return 0;
}

static int reserve_slot(struct layer *layer)
{
	struct top *old = top_of(layer), *top;
	size_t capacity = old ? old->capacity * 2 : 8;

	if (old && load(&old->count) < old->capacity)
		return 0;
	top = calloc(1, sizeof(*top) + capacity * sizeof(top->slot[0]));
	if (!top)
		return -ENOMEM;
	top->capacity = capacity;
	top->older = old;
	for (size_t i = 0; old && i < old->capacity; i++)
		copy_slot(top, i, old, i);
	store(&top->count, old ? load(&old->count) : 0);
	atomic_store_explicit(&layer->top, top, memory_order_release);
	return 0;
}

static struct chunk *take_chunk(void)
{
	struct chunk *chunk = va.free_chunks;

	va.free_chunks = chunk->next_free;
	store(&chunk->count, 0);
	return chunk;
}

static void insert_slot(struct top *top, size_t slot, struct chunk *chunk, uint64_t base)
{
	size_t count = load(&top->count);

	for (size_t i = count; i > slot; i--)
		copy_slot(top, i, top, i - 1);
	set_slot(top, slot, chunk, base);
	store(&top->count, count + 1);
}

/* Where an entry with @base belongs: behind all with a smaller or equal base. */
static struct place place_for(struct layer *layer, uint64_t base)
{
	struct place place = { .top = top_of(layer) };
	size_t n;

	if (!place.top || !load(&place.top->count))
		return place;
	n = count_slots(place.top, base);
	place.slot = n ? n - 1 : 0;
	place.chunk = slot_chunk(place.top, place.slot);
	place.pos = count_entries(place.chunk, base);
	return place;
}

/* The first entry behind @place. */
static bool entry_at(const struct place *place, struct entry *out)
{
	struct chunk *chunk = place->chunk;

	if (!chunk)
		return false;
	if (place->pos < load(&chunk->count)) {
		read_entry(chunk, place->pos, out);
		return true;
	}
	if (place->slot + 1 >= load(&place->top->count))
		return false;
	read_entry(slot_chunk(place->top, place->slot + 1), 0, out);
	return true;
}

/* True when an entry of the layer touches [base, base + size); *out is the first. */
static bool touches(struct layer *layer, uint64_t base, uint64_t size, struct entry *out)
{
	struct place place = place_for(layer, base);

	if (place.pos) {
		read_entry(place.chunk, place.pos - 1, out);
		if (base - out->base < out->extent)
			return true;
	}
	return entry_at(&place, out) && out->base - base < size;
}

static void split(struct place *place)
{
	struct chunk *chunk = place->chunk, *upper = take_chunk();
	size_t half = CHUNK_ENTRIES / 2;

	for (size_t i = half; i < CHUNK_ENTRIES; i++)
		copy_entry(upper, i - half, chunk, i);
	store(&upper->count, CHUNK_ENTRIES - half);
	insert_slot(place->top, place->slot + 1, upper, load(&upper->base[0]));
	store(&chunk->count, half);
	if (place->pos > half) {
		place->slot++;
		place->pos -= half;
		place->chunk = upper;
	}
}

/* Room has been reserved and nothing touches the entry. */
static void insert_entry(struct layer *layer, const struct entry *entry)
{
	struct place place = place_for(layer, entry->base);
	size_t count;

	write_begin();
	if (!place.chunk) {
		place.top = top_of(layer);
		place.chunk = take_chunk();
		insert_slot(place.top, 0, place.chunk, entry->base);
	} else if (load(&place.chunk->count) == CHUNK_ENTRIES) {
		split(&place);
	}
	count = load(&place.chunk->count);
	for (size_t i = count; i > place.pos; i--)
		copy_entry(place.chunk, i, place.chunk, i - 1);
	write_entry(place.chunk, place.pos, entry);
	store(&place.chunk->count, count + 1);
	if (!place.pos)
		store(&place.top->slot[place.slot].base, entry->base);
	write_end();
}

static void remove_slot(struct place *place)
{
	size_t count = load(&place->top->count);

	for (size_t i = place->slot; i + 1 < count; i++)
		copy_slot(place->top, i, place->top, i + 1);
	store(&place->top->count, count - 1);
	place->chunk->next_free = va.free_chunks;
	va.free_chunks = place->chunk;
}

static void remove_at(struct place *place)
{
	struct chunk *chunk = place->chunk;
	size_t count = load(&chunk->count);

	write_begin();
	for (size_t i = place->pos; i + 1 < count; i++)
		copy_entry(chunk, i, chunk, i + 1);
	store(&chunk->count, count - 1);
	if (count == 1)
		remove_slot(place);
	else if (!place->pos)
		store(&place->top->slot[place->slot].base, load(&chunk->base[0]));
	write_end();
}

/* Takes out the entry that starts at @base; with @kind >= 0 only if it is of that kind. */
static bool remove_entry(struct layer *layer, uint64_t base, int kind, struct entry *out)
{
	struct place place = place_for(layer, base);

	if (!place.pos)
		return false;
	place.pos--;
	read_entry(place.chunk, place.pos, out);
	if (out->base != base || (kind >= 0 && (int)out->seg.kind != kind))
		return false;
	remove_at(&place);
	return true;
}

static int layer_of(enum rts_segment_kind kind)
{
	return kind == RTS_SEG_VMM || kind == RTS_SEG_HOST_REGISTERED || kind == RTS_SEG_VARIABLES ? INNER : OUTER;
}

/* ---- the interface for writers ---- */

int rts_va_insert_extent(const struct rts_segment *seg, size_t extent)
{
	struct layer *layer = &va.layers[layer_of(seg->kind)];
	struct entry entry = { .base = seg->base, .extent = extent, .seg = *seg }, other;
	int r = 0;

	u_mutex_lock(&va.lock);
	if (reserve_chunk() || reserve_slot(layer))
		r = u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left for the index of mapped ranges");
	else if (touches(layer, entry.base, extent, &other))
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the range 0x%llx+0x%zx is in use already: 0x%llx+0x%llx",
			     (unsigned long long)entry.base, extent, (unsigned long long)other.base,
			     (unsigned long long)other.extent);
	else
		insert_entry(layer, &entry);
	u_mutex_unlock(&va.lock);
	return r;
}

int rts_va_insert(const struct rts_segment *seg)
{
	size_t page = rts_page_size(seg->page_kind);

	if (layer_of(seg->kind) == INNER || seg->kind == RTS_SEG_RESERVED || seg->size > SIZE_MAX - page)
		return rts_va_insert_extent(seg, seg->size);
	return rts_va_insert_extent(seg, rts_round_up(seg->size, page));
}

bool rts_va_remove(uintptr_t base, enum rts_segment_kind kind, struct rts_segment *seg)
{
	struct entry entry;
	bool found;

	u_mutex_lock(&va.lock);
	found = remove_entry(&va.layers[layer_of(kind)], base, kind, &entry);
	u_mutex_unlock(&va.lock);
	if (found && seg)
		*seg = entry.seg;
	return found;
}

bool rts_va_registered(uintptr_t base, size_t size, struct rts_segment *seg)
{
	struct entry entry;
	bool found;

	u_mutex_lock(&va.lock);
	found = touches(&va.layers[INNER], base, size, &entry) && entry.seg.kind == RTS_SEG_HOST_REGISTERED;
	u_mutex_unlock(&va.lock);
	if (found)
		*seg = entry.seg;
	return found;
}

bool rts_va_touches(uintptr_t base, size_t size)
{
	struct entry entry;
	bool found;

	u_mutex_lock(&va.lock);
	found = touches(&va.layers[OUTER], base, size, &entry) || touches(&va.layers[FREED], base, size, &entry);
	u_mutex_unlock(&va.lock);
	return found;
}

bool rts_va_next(uintptr_t from, struct rts_segment *seg)
{
	struct entry entry;
	bool found;

	u_mutex_lock(&va.lock);
	found = touches(&va.layers[OUTER], from, UINT64_MAX - from, &entry);
	while (found && entry.base < from) {
		from = entry.base + entry.extent;
		found = touches(&va.layers[OUTER], from, UINT64_MAX - from, &entry);
	}
	u_mutex_unlock(&va.lock);
	if (found)
		*seg = entry.seg;
	return found;
}

/* ---- freed ranges ---- */

bool rts_va_bury(uintptr_t base, enum rts_segment_kind kind, struct rts_segment *seg)
{
	struct entry entry, other;
	bool found;

	u_mutex_lock(&va.lock);
	found = remove_entry(&va.layers[layer_of(kind)], base, kind, &entry);
	/* Without host memory for the mark the range is merely forgotten. */
	if (found && !reserve_chunk() && !reserve_slot(&va.layers[FREED]) &&
	    !touches(&va.layers[FREED], entry.base, entry.extent, &other))
		insert_entry(&va.layers[FREED], &entry);
	u_mutex_unlock(&va.lock);
	if (found && seg)
		*seg = entry.seg;
	return found;
}

/* The lock is held. Forgets the oldest freed range; the caller unmaps it. */
static struct grave exhume(void)
{
	struct grave grave = va.graves[va.first_grave];
	struct entry entry;

	va.first_grave = (va.first_grave + 1) % GRAVES;
	va.grave_count--;
	va.grave_bytes -= grave.size;
	(void)remove_entry(&va.layers[FREED], grave.base, -1, &entry);
	return grave;
}

/* The lock is held. False: no memory, or a range that would push out everything else. */
static bool dig(uintptr_t base, size_t size)
{
	if (size > GRAVES_BYTES / 2)
		return false;
	if (!va.graves)
		va.graves = calloc(GRAVES, sizeof(*va.graves));
	if (!va.graves)
		return false;
	va.graves[(va.first_grave + va.grave_count) % GRAVES] = (struct grave){ base, size };
	va.grave_count++;
	va.grave_bytes += size;
	return true;
}

/* Forgets one freed range while there are more than @keep or more than @bytes. */
static bool forget_one(size_t keep, size_t bytes)
{
	struct grave grave = { 0 };

	u_mutex_lock(&va.lock);
	if (va.grave_count > keep || (va.grave_count && va.grave_bytes > bytes))
		grave = exhume();
	u_mutex_unlock(&va.lock);
	if (grave.size)
		(void)munmap((void *)grave.base, grave.size);
	return grave.size != 0;
}

void rts_va_drop(uintptr_t base, size_t size)
{
	void *cover =
		mmap((void *)base, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	struct entry entry;
	bool kept = false;

	while (forget_one(GRAVES - 1, GRAVES_BYTES))
		continue;
	u_mutex_lock(&va.lock);
	if (cover != MAP_FAILED)
		kept = va.grave_count < GRAVES && dig(base, size);
	if (!kept)
		(void)remove_entry(&va.layers[FREED], base, -1, &entry);
	u_mutex_unlock(&va.lock);
	if (!kept)
		(void)munmap((void *)base, size);
}

void rts_va_drain(void)
{
	while (forget_one(0, 0))
		continue;
}
