/* SPDX-License-Identifier: MIT */
/* va_test.c - the index of mapped ranges, against a model, with many segments, with readers beside a writer, without
 * memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "rts/memory.h"
#include "test_util.h"

#define SLOWNESS (T_TSAN ? 10 : 1)

#define PAGE ((uintptr_t)4096)
#define AT(n) ((uintptr_t)(n)*PAGE)

static int calloc_fails_after = -1; /* -1: never */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	if (calloc_fails_after == 0)
		return NULL;
	if (calloc_fails_after > 0)
		calloc_fails_after--;
	return __real_calloc(n, size);
}

/* Every field follows from the base, so that a torn copy shows. */
static struct rts_segment make(uintptr_t base, size_t size, enum rts_segment_kind kind)
{
	return (struct rts_segment){ .base = base,
				     .size = size,
				     .kind = kind,
				     .device = (uint32_t)(base >> 12),
				     .owner = (uint32_t)(base >> 12),
				     .handle = (uint32_t)(base >> 12) ^ 0x5555,
				     .mmap_offset = ~(uint64_t)base,
				     .priv = (void *)(base + 1) };
}

static bool intact(const struct rts_segment *seg)
{
	return seg->owner == (uint32_t)(seg->base >> 12) && seg->handle == (seg->owner ^ 0x5555) &&
	       seg->mmap_offset == ~(uint64_t)seg->base && (uintptr_t)seg->priv == seg->base + 1;
}

static void insert(uintptr_t base, size_t size, enum rts_segment_kind kind)
{
	struct rts_segment seg = make(base, size, kind);

	assert_int_equal(rts_va_insert(&seg), 0);
}

static void take(uintptr_t base, enum rts_segment_kind kind)
{
	struct rts_segment seg;

	assert_true(rts_va_remove(base, kind, &seg));
	assert_true(seg.base == base && intact(&seg));
}

static bool found(uintptr_t ptr, uintptr_t base)
{
	struct rts_segment seg;

	return rts_va_find((void *)ptr, &seg) && seg.base == base && intact(&seg);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

#define SLOTS 4096

/* Segments of one to eight pages in SLOTS places of eight pages each. */
static void test_model(void **state)
{
	static uint8_t pages[SLOTS]; /* 0: free */
	uint64_t seed = 20260101;

	(void)state;
	for (int i = 0; i < 60000 / SLOWNESS; i++) {
		size_t n = next_random(&seed) % SLOTS, at = next_random(&seed) % 8;
		uintptr_t base = AT(1000 + n * 8);

		if (pages[n] && next_random(&seed) % 2) {
			take(base, RTS_SEG_DEVICE);
			pages[n] = 0;
		} else if (!pages[n]) {
			pages[n] = (uint8_t)(1 + next_random(&seed) % 8);
			insert(base, pages[n] * PAGE, RTS_SEG_DEVICE);
		}
		assert_int_equal(found(base + at * PAGE + 5, base), at < pages[n]);
		assert_false(rts_va_remove(base + PAGE / 2, RTS_SEG_DEVICE, NULL));
		assert_false(rts_va_remove(base, RTS_SEG_HOST, NULL));
	}
	for (size_t n = 0; n < SLOTS; n++)
		if (pages[n])
			take(AT(1000 + n * 8), RTS_SEG_DEVICE);
}

#define MANY (100000 / SLOWNESS)

static void test_many(void **state)
{
	struct rts_segment seg = { 0 };
	size_t seen = 0;

	(void)state;
	/* mmap hands addresses out from the top down. */
	for (size_t i = MANY; i-- > 0;)
		insert(AT(5000 + 2 * i), PAGE, RTS_SEG_DEVICE);
	for (size_t i = 0; i < MANY; i++) {
		assert_true(found(AT(5000 + 2 * i) + PAGE - 1, AT(5000 + 2 * i)));
		assert_false(rts_va_find((void *)AT(5001 + 2 * i), &seg));
	}
	for (uintptr_t from = 0; rts_va_next(from, &seg); from = seg.base + 1)
		assert_true(seg.base == AT(5000 + 2 * seen++));
	assert_int_equal(seen, MANY);
	for (size_t i = 0; i < MANY; i++)
		take(AT(5000 + 2 * (i * 7919 % MANY)), RTS_SEG_DEVICE);
	assert_false(rts_va_next(0, &seg));
}

static bool range(uintptr_t ptr, size_t len, uintptr_t base)
{
	struct rts_segment seg;

	return rts_va_range((void *)ptr, len, &seg) && seg.base == base;
}

static void test_innermost(void **state)
{
	struct rts_segment seg;

	(void)state;
	insert(AT(100), 10 * PAGE, RTS_SEG_RESERVED);
	insert(AT(102), 2 * PAGE, RTS_SEG_VMM);
	insert(AT(104), 1 * PAGE, RTS_SEG_VMM);
	insert(AT(106), 1 * PAGE, RTS_SEG_VMM);
	insert(AT(110), 5 * PAGE, RTS_SEG_RESERVED);
	insert(AT(109), 1 * PAGE, RTS_SEG_VMM);
	insert(AT(110), 1 * PAGE, RTS_SEG_VMM);

	assert_true(found(AT(103), AT(102)));
	assert_true(found(AT(105), AT(100)));
	assert_true(rts_va_find_outer((void *)AT(103), &seg) && seg.kind == RTS_SEG_RESERVED);
	/* Neighbours in one reservation are one range; a hole and another reservation end it. */
	assert_true(range(AT(102) + 7, 3 * PAGE - 7, AT(102)));
	assert_false(range(AT(102), 3 * PAGE + 1, AT(102)));
	assert_true(range(AT(109), PAGE, AT(109)));
	assert_false(range(AT(109), PAGE + 1, AT(109)));
	assert_false(range(AT(105), 1, AT(100)));
	assert_false(range(AT(102), SIZE_MAX, AT(102)));

	take(AT(104), RTS_SEG_VMM);
	assert_false(range(AT(102), 3 * PAGE, AT(102)));
	take(AT(102), RTS_SEG_VMM);
	take(AT(106), RTS_SEG_VMM);
	take(AT(109), RTS_SEG_VMM);
	take(AT(110), RTS_SEG_VMM);
	take(AT(100), RTS_SEG_RESERVED);
	take(AT(110), RTS_SEG_RESERVED);
}

static void test_registration_inside(void **state)
{
	struct rts_segment seg;

	(void)state;
	insert(AT(200), 8 * PAGE, RTS_SEG_HOST);
	insert(AT(202), 2 * PAGE, RTS_SEG_HOST_REGISTERED);
	assert_true(found(AT(203), AT(202)));
	assert_true(rts_va_range((void *)AT(203), 3 * PAGE, &seg) && seg.kind == RTS_SEG_HOST);
	assert_true(rts_va_registered(AT(203), 1, &seg) && seg.base == AT(202));
	assert_true(rts_va_registered(AT(200), 3 * PAGE, &seg));
	assert_false(rts_va_registered(AT(204), PAGE, &seg));
	assert_true(rts_va_touches(AT(199), 2 * PAGE));
	assert_false(rts_va_touches(AT(208), PAGE));
	take(AT(202), RTS_SEG_HOST_REGISTERED);
	take(AT(200), RTS_SEG_HOST);
}

static void test_overlap(void **state)
{
	struct rts_segment seg;

	(void)state;
	insert(AT(300), 2 * PAGE - 100, RTS_SEG_DEVICE);
	for (uintptr_t base = AT(299); base <= AT(301); base += PAGE) {
		seg = make(base, PAGE + 1, RTS_SEG_DEVICE);
		assert_int_equal(rts_va_insert(&seg), ACL_ERROR_RT_INTERNAL_ERROR);
		assert_non_null(u_report_take());
	}
	/* The rest of the last page belongs to the segment and is in nothing. */
	assert_true(found(AT(302) - 101, AT(300)));
	assert_false(rts_va_find((void *)(AT(302) - 100), &seg));
	assert_true(rts_va_gone((void *)(AT(302) - 100)));
	assert_false(rts_va_gone((void *)AT(302)));
	take(AT(300), RTS_SEG_DEVICE);
	seg = make(AT(300), PAGE, RTS_SEG_DEVICE);
	assert_int_equal(rts_va_insert_extent(&seg, 3 * PAGE), 0);
	assert_true(rts_va_gone((void *)AT(302)));
	take(AT(300), RTS_SEG_DEVICE);
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static bool mapped(const void *at)
{
	return !msync((void *)at, PAGE, MS_ASYNC);
}

static bool bury(void *at)
{
	struct rts_segment seg;

	return rts_va_bury((uintptr_t)at, RTS_SEG_DEVICE, &seg) && seg.base == (uintptr_t)at && intact(&seg);
}

static void test_freed(void **state)
{
	char *at = map(2 * PAGE);
	struct rts_segment seg;

	(void)state;
	insert((uintptr_t)at, 2 * PAGE, RTS_SEG_DEVICE);
	assert_true(bury(at));
	assert_false(bury(at));
	assert_false(rts_va_find(at, &seg));
	assert_true(rts_va_gone(at + PAGE));
	at[PAGE] = 1; /* tasks may still use it */
	rts_va_drop((uintptr_t)at, 2 * PAGE);
	assert_true(rts_va_gone(at + PAGE));
	assert_true(mapped(at));
	rts_va_drain();
	assert_false(rts_va_gone(at));
	assert_false(mapped(at));
}

#define FREED_MANY 1500

/* What was freed first is forgotten first, and its addresses are given back. */
static void test_freed_many(void **state)
{
	static char *at[FREED_MANY];
	size_t kept = 0;

	(void)state;
	for (size_t i = 0; i < FREED_MANY; i++) {
		at[i] = map(PAGE);
		insert((uintptr_t)at[i], PAGE, RTS_SEG_DEVICE);
	}
	for (size_t i = 0; i < FREED_MANY; i++) {
		assert_true(bury(at[i]));
		rts_va_drop((uintptr_t)at[i], PAGE);
	}
	for (size_t i = 0; i < FREED_MANY; i++) {
		bool gone = rts_va_gone(at[i]);

		assert_int_equal(gone, mapped(at[i]));
		assert_true(gone >= (kept > 0)); /* a tail of the list */
		kept += gone;
	}
	assert_in_range(kept, 100, 1400);
	rts_va_drain();
	for (size_t i = 0; i < FREED_MANY; i++)
		assert_false(rts_va_gone(at[i]) || mapped(at[i]));
}

/* ---- readers beside a writer ---- */

#define STABLE 500
#define READERS 3

static atomic_bool writer_done;

static void *read_on(void *arg)
{
	uint64_t seed = (uintptr_t)arg;
	uintptr_t wrong = 0;

	while (!atomic_load(&writer_done)) {
		size_t n = next_random(&seed) % STABLE;
		struct rts_segment seg;

		if (!found(AT(10000 + 4 * n) + 1, AT(10000 + 4 * n)))
			wrong++;
		/* These come and go, and are intact whenever they are there. */
		if (rts_va_find((void *)AT(10002 + 4 * n), &seg) && (seg.base != AT(10002 + 4 * n) || !intact(&seg)))
			wrong++;
	}
	return (void *)wrong;
}

static void test_readers(void **state)
{
	static bool there[STABLE];
	pthread_t readers[READERS];
	uint64_t seed = 7;

	(void)state;
	atomic_store(&writer_done, false);
	for (size_t n = 0; n < STABLE; n++)
		insert(AT(10000 + 4 * n), PAGE, RTS_SEG_DEVICE);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, (void *)(i + 1)), 0);
	for (int i = 0; i < 30000 / SLOWNESS; i++) {
		size_t n = next_random(&seed) % STABLE;

		if (there[n])
			take(AT(10002 + 4 * n), RTS_SEG_DEVICE);
		else
			insert(AT(10002 + 4 * n), PAGE, RTS_SEG_DEVICE);
		there[n] = !there[n];
	}
	atomic_store(&writer_done, true);
	for (size_t i = 0; i < READERS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(readers[i], &wrong), 0);
		assert_null(wrong);
	}
	for (size_t n = 0; n < STABLE; n++) {
		take(AT(10000 + 4 * n), RTS_SEG_DEVICE);
		if (there[n])
			take(AT(10002 + 4 * n), RTS_SEG_DEVICE);
	}
}

/* ---- no memory ---- */

static void test_no_memory(void **state)
{
	size_t failed = 0, done = 0;

	(void)state;
	/* The thread's list of sentences is allocated with its first one. */
	(void)u_report(ACL_ERROR_RT_INTERNAL_ERROR, "first sentence");
	assert_non_null(u_report_take());
	/* Enough for chunks and the top array to be exhausted several times. */
	while (done < 20000) {
		struct rts_segment seg = make(AT(100000 + 2 * done), PAGE, RTS_SEG_DEVICE);
		int r;

		calloc_fails_after = 0;
		r = rts_va_insert(&seg);
		calloc_fails_after = -1;
		if (!r) {
			done++;
			continue;
		}
		assert_int_equal(r, ACL_ERROR_RT_MEMORY_ALLOCATION);
		assert_non_null(u_report_take());
		assert_false(rts_va_find((void *)seg.base, &seg));
		failed++;
		insert(AT(100000 + 2 * done++), PAGE, RTS_SEG_DEVICE);
	}
	assert_true(failed > 0);
	for (size_t i = 0; i < done; i++)
		assert_true(found(AT(100000 + 2 * i), AT(100000 + 2 * i)));
	/* Without memory a freed range is forgotten, not kept as found. */
	for (size_t i = 0; i < done; i++) {
		calloc_fails_after = 0;
		assert_true(rts_va_bury(AT(100000 + 2 * i), RTS_SEG_DEVICE, NULL));
		calloc_fails_after = -1;
		assert_false(found(AT(100000 + 2 * i), AT(100000 + 2 * i)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory), /* first, while no chunks are spare */
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_innermost),
		cmocka_unit_test(test_registration_inside),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_freed_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
