/* SPDX-License-Identifier: MIT */
/* handle_test.c - the table of handles: what is refused, what is never reused, and lookups that race with the end of an
 * object. */
#include "rts/rts.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

struct thing {
	struct rts_object obj;
	atomic_uint *released;
	atomic_uint alive; /* 1 until released */
};

static void thing_release(struct rts_object *obj)
{
	struct thing *thing = (struct thing *)obj;

	assert_int_equal(atomic_exchange(&thing->alive, 0), 1);
	atomic_fetch_add(thing->released, 1);
	free(thing);
}

static struct thing *thing_new(enum rts_type type, atomic_uint *released)
{
	struct thing *thing = calloc(1, sizeof(*thing));

	assert_non_null(thing);
	thing->released = released;
	thing->alive = 1;
	assert_int_equal(rts_object_publish(&thing->obj, type, thing_release), 0);
	return thing;
}

static void lives_until_the_last_reference(void **state)
{
	atomic_uint released = 0;
	struct thing *thing = thing_new(RTS_STREAM, &released);
	void *handle = thing->obj.handle;
	struct rts_object *got;

	(void)state;
	assert_non_null(handle);
	got = rts_object_get(handle, RTS_STREAM);
	assert_ptr_equal(got, thing);
	rts_object_ref(got);
	rts_object_put(got);
	assert_ptr_equal(rts_object_unpublish(handle, RTS_STREAM), thing);
	assert_null(thing->obj.handle);
	assert_null(rts_object_get(handle, RTS_STREAM));
	assert_null(rts_object_unpublish(handle, RTS_STREAM));
	rts_object_put(got);
	assert_int_equal(released, 0);
	rts_object_put(&thing->obj);
	assert_int_equal(released, 1);
}

static void refuses_what_is_no_handle(void **state)
{
	atomic_uint released = 0;
	struct thing *thing = thing_new(RTS_EVENT, &released);
	uintptr_t h = (uintptr_t)thing->obj.handle;
	int local;

	(void)state;
	assert_null(rts_object_get(NULL, RTS_EVENT));
	assert_null(rts_object_get(&local, RTS_EVENT));
	assert_null(rts_object_get(thing, RTS_EVENT));
	assert_null(rts_object_get((void *)~(uintptr_t)0, RTS_EVENT));
	for (enum rts_type t = RTS_CONTEXT; t <= RTS_FUNCTION; t++)
		if (t != RTS_EVENT)
			assert_null(rts_object_get((void *)h, t));
	for (unsigned bit = 0; bit < 64; bit++)
		assert_null(rts_object_get((void *)(h ^ (uintptr_t)1 << bit), RTS_EVENT));
	assert_int_equal(h & 1, 1);
	rts_object_put(rts_object_unpublish((void *)h, RTS_EVENT));
	assert_int_equal(released, 1);
}

/* A slot that is used again gives another handle each time; the old ones stay dead. */
static void never_gives_a_handle_twice(void **state)
{
	enum { N = 5000 };
	static void *seen[N];
	atomic_uint released = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		struct thing *thing = thing_new(RTS_NOTIFY, &released);

		seen[i] = thing->obj.handle;
		rts_object_put(rts_object_unpublish(seen[i], RTS_NOTIFY));
	}
	assert_int_equal(released, N);
	for (int i = 0; i < N; i++) {
		assert_null(rts_object_get(seen[i], RTS_NOTIFY));
		for (int j = i + 1; j < N && j < i + 100; j++)
			assert_ptr_not_equal(seen[i], seen[j]);
	}
}

static void holds_a_million(void **state)
{
	enum { N = 1 << 20 };
	struct rts_object *objects = calloc(N, sizeof(*objects));

	(void)state;
	assert_non_null(objects);
	for (int i = 0; i < N; i++)
		assert_int_equal(rts_object_publish(&objects[i], RTS_LABEL, NULL), 0);
	for (int i = 0; i < N; i += 4099)
		assert_ptr_equal(rts_object_get(objects[i].handle, RTS_LABEL), &objects[i]);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(rts_object_unpublish(objects[i].handle, RTS_LABEL), &objects[i]);
	free(objects);
}

/* More than fit into a slot's word: they are moved to the object and none is lost. */
static void counts_many_lookups(void **state)
{
	enum { N = 5 << 20 };
	atomic_uint released = 0;
	struct thing *thing = thing_new(RTS_PHYS, &released);
	void *handle = thing->obj.handle;

	(void)state;
	for (int i = 0; i < N; i++)
		assert_ptr_equal(rts_object_get(handle, RTS_PHYS), thing);
	for (int i = 0; i < N - 1; i++)
		rts_object_put(&thing->obj);
	rts_object_put(rts_object_unpublish(handle, RTS_PHYS));
	assert_int_equal(released, 0);
	rts_object_put(&thing->obj);
	assert_int_equal(released, 1);
}

/* ---- races ----------------------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS 20000

static _Atomic(void *) current;
static atomic_bool stop;
static atomic_uint race_released;

static void *look_up(void *arg)
{
	atomic_uint *found = arg;

	while (!atomic_load(&stop)) {
		struct thing *thing = (struct thing *)rts_object_get(atomic_load(&current), RTS_STREAM);

		if (!thing)
			continue;
		if (atomic_load(&thing->alive) != 1)
			abort();
		atomic_fetch_add(found, 1);
		rts_object_put(&thing->obj);
	}
	return NULL;
}

static void lookup_races_with_destroy(void **state)
{
	pthread_t threads[THREADS];
	atomic_uint found = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_up, &found), 0);
	for (int i = 0; i < ROUNDS || !atomic_load(&found); i++) {
		struct thing *thing = thing_new(RTS_STREAM, &race_released);
		void *handle = thing->obj.handle;

		atomic_store(&current, handle);
		if (!(i & 15))
			sched_yield();
		rts_object_put(rts_object_unpublish(handle, RTS_STREAM));
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(atomic_load(&race_released) >= ROUNDS);
}

static atomic_uint winners;

static void *destroy_too(void *handle)
{
	struct rts_object *obj = rts_object_unpublish(handle, RTS_STREAM);

	if (obj) {
		atomic_fetch_add(&winners, 1);
		rts_object_put(obj);
	}
	return NULL;
}

static void one_destroyer_wins(void **state)
{
	pthread_t threads[THREADS];
	atomic_uint released = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		void *handle = thing_new(RTS_STREAM, &released)->obj.handle;

		atomic_store(&winners, 0);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, destroy_too, handle), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(winners, 1);
		assert_int_equal(released, round + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives_until_the_last_reference),
		cmocka_unit_test(refuses_what_is_no_handle),
		cmocka_unit_test(never_gives_a_handle_twice),
		cmocka_unit_test(holds_a_million),
		cmocka_unit_test(counts_many_lookups),
		cmocka_unit_test(lookup_races_with_destroy),
		cmocka_unit_test(one_destroyer_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
