/* SPDX-License-Identifier: MIT */
/* Worlds from fixed seeds, so that every run of the tests has had some; and the limits that no fuzzer reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world.h"

#define WORLDS 300u
#define WORLD_BYTES 8192u

static void fixed_seeds(void **state)
{
	static uint8_t data[WORLD_BYTES];
	uint64_t x;
	uint32_t seed, i;

	(void)state;
	for (seed = 1; seed <= WORLDS; seed++) {
		x = seed * 0x9e3779b97f4a7c15u;
		for (i = 0; i < WORLD_BYTES; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			data[i] = (uint8_t)(x >> 56);
		}
		world_run(data, seed % 7 ? WORLD_BYTES : seed);
	}
}

/* --- limits -------------------------------------------------------------------------------- */

static uint32_t new_bo(uint64_t size)
{
	struct drm_vinci_bo_create a = { .size = size, .numa_node = -1 };

	assert_int_equal(RUN(0, vinci_bo_create, a), 0);
	return a.handle;
}

static struct drm_vinci_share_export new_share(uint32_t handle, uint32_t kind)
{
	struct drm_vinci_share_export a = { .handle = handle, .kind = kind, .size = 4096 };

	assert_int_equal(RUN(0, vinci_share_export, a), 0);
	return a;
}

/* Pids @first and up. */
static int allow(const struct drm_vinci_share_export *share, int32_t first, uint32_t count)
{
	struct drm_vinci_share_allow a = {
		.kind = share->kind, .name_len = share->name_len, .count = count, .elem_size = sizeof(int32_t)
	};
	int32_t *array = calloc(count, sizeof(*array));
	struct vinci_pids pids = { 0 };
	uint32_t i;
	int r;

	assert_non_null(array);
	for (i = 0; i < count; i++)
		array[i] = first + (int32_t)i;
	memcpy(a.name, share->name, sizeof(a.name));
	r = vinci_allow_begin(world.files[0], &a);
	if (!r)
		r = vinci_pids_parse(world.files[0], &a, array, &pids);
	if (!r)
		r = vinci_allow_finish(world.files[0], &a, &pids);
	vinci_pids_free(&pids);
	free(array);
	return r;
}

static int begin(void **state)
{
	(void)state;
	world_begin(MAX_HANDLES);
	world_open(0, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_end();
	return 0;
}

/* Of a list, and of all lists of a file; a pid that is there already needs no room. */
static void whitelists_are_full(void **state)
{
	struct drm_vinci_share_export share, last;
	uint32_t lists = VINCI_MAX_ALLOWED / 65535, rest = VINCI_MAX_ALLOWED % 65535, i;

	(void)state;
	share = new_share(new_bo(4096), VINCI_SHARE_IPC_MEM);
	for (i = 0; i < 32768 / 31; i++)
		assert_int_equal(allow(&share, 1000 + (int32_t)i * 31, 31), 0);
	assert_int_equal(allow(&share, 500000, 32768 % 31 + 1), -ENOSPC);
	assert_int_equal(allow(&share, 500000, 32768 % 31), 0);
	assert_int_equal(allow(&share, 500000, 32768 % 31), 0);
	world_close(0);
	world_open(0, 0);
	for (i = 0; i < lists; i++) {
		share = new_share(new_bo(4096), VINCI_SHARE_VMM);
		assert_int_equal(allow(&share, 1, 65536), -E2BIG);
		assert_int_equal(allow(&share, 1, 65535), 0);
		assert_int_equal(allow(&share, 65536, 1), -ENOSPC);
	}
	last = new_share(new_bo(4096), VINCI_SHARE_VMM);
	assert_int_equal(allow(&last, 1, rest + 1), -ENOSPC);
	assert_int_equal(allow(&last, 1, rest), 0);
	assert_int_equal(allow(&last, 1, 1), 0);
	assert_int_equal(allow(&share, 65535, 1), 0);
	check_device(&world.device);
}

static void shares_are_full(void **state)
{
	struct drm_vinci_share_export a = { .kind = VINCI_SHARE_IPC_MEM, .size = 4096 };
	uint32_t i;

	(void)state;
	a.handle = new_bo(4096);
	for (i = 0; i < VINCI_MAX_SHARES; i++)
		(void)new_share(a.handle, VINCI_SHARE_IPC_MEM);
	assert_int_equal(RUN(0, vinci_share_export, a), -ENOSPC);
	check_device(&world.device);
}

static void pairs_are_full(void **state)
{
	static struct vinci_file files[VINCI_PEER_FILES + 1];
	struct drm_vinci_peer a = { .device = 0, .peer = 1, .op = VINCI_PEER_ENABLE };
	uint32_t i;

	(void)state;
	memset(files, 0, sizeof(files));
	for (i = 0; i <= VINCI_PEER_FILES; i++) {
		vinci_file_init(&files[i], &world.device, &world.files[0]->process);
		assert_int_equal(vinci_peer(&files[i], &a), i < VINCI_PEER_FILES ? 0 : -ENOMEM);
	}
	assert_int_equal(vinci_peer(&files[0], &a), 0); /* a count, not a file more */
	check_device(&world.device);
	for (i = 0; i <= VINCI_PEER_FILES; i++)
		vinci_file_clear(&files[i]);
}

/* Until nothing is left of it, and never twice. */
static void every_page_is_split_off(void **state)
{
	struct drm_vinci_bo_split a = { .handle = new_bo(16 * 4096), .size = 4096 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 16; i++) {
		a.offset = i * 4096;
		assert_int_equal(RUN(0, vinci_bo_split, a), 0);
		assert_int_equal(RUN(0, vinci_bo_split, a), -EINVAL);
		check_device(&world.device);
	}
	assert_int_equal(world.device.used[0], 16 * 4096);
}

static void ids_are_full(void **state)
{
	struct drm_vinci_notify_ids a;
	uint32_t granted;

	(void)state;
	for (granted = 0; granted < NOTIFIES; granted += a.count) {
		a = (struct drm_vinci_notify_ids){ .count = 10 };
		assert_int_equal(RUN(0, vinci_notify_ids, a), 0);
	}
	a = (struct drm_vinci_notify_ids){ .count = 1 };
	assert_int_equal(RUN(0, vinci_notify_ids, a), -ENOSPC);
}

static int wrong_guess(void)
{
	struct drm_vinci_share_import a = { .kind = VINCI_SHARE_VMM, .name_len = 8, .name = { 1 } };

	return RUN(0, vinci_share_import, a);
}

/* A hundred of one file, a thousand of a user however many files it opens; what was spent comes back with time. */
static void guesses_are_rationed(void **state)
{
	uint32_t opened, i;

	(void)state;
	for (opened = 0; opened < 10; opened++) {
		for (i = 0; i < 100; i++)
			assert_int_equal(wrong_guess(), -ESTALE);
		assert_int_equal(wrong_guess(), -EDQUOT);
		world_close(0);
		world_open(0, 0);
	}
	assert_int_equal(wrong_guess(), -EDQUOT);
	world_close(0);
	world_open(0, 1); /* of another user */
	assert_int_equal(wrong_guess(), -ESTALE);
	world_close(0);
	world_open(0, 0);
	world.now += 1000000;
	assert_int_equal(wrong_guess(), -ESTALE);
	assert_int_equal(wrong_guess(), -EDQUOT);
}

static void a_vmm_name_is_never_zero(void **state)
{
	const uint8_t zero[VINCI_NAME_MAX] = { 0 };
	uint8_t name[VINCI_NAME_MAX] = { 0 };

	(void)state;
	vinci_share_name(VINCI_SHARE_VMM, 0, 0, zero, name);
	assert_memory_not_equal(name, zero, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_seeds),
		cmocka_unit_test_setup_teardown(whitelists_are_full, begin, end),
		cmocka_unit_test_setup_teardown(shares_are_full, begin, end),
		cmocka_unit_test_setup_teardown(pairs_are_full, begin, end),
		cmocka_unit_test_setup_teardown(every_page_is_split_off, begin, end),
		cmocka_unit_test_setup_teardown(ids_are_full, begin, end),
		cmocka_unit_test_setup_teardown(guesses_are_rationed, begin, end),
		cmocka_unit_test(a_vmm_name_is_never_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
