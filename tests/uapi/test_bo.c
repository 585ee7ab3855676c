/* SPDX-License-Identifier: MIT */
/* Memory objects: creation, mapping, splitting, and what they are charged. */
#include <sys/mman.h>

#include "harness.h"
#include "suite.h"

static int create(struct node *n, struct drm_vinci_bo_create a)
{
	struct drm_vinci_bo_create before = a;
	int r = node_ioctl(n, DRM_IOCTL_VINCI_BO_CREATE, &a);

	if (r)
		assert_memory_equal(&a, &before, sizeof(a));
	else
		assert_ok(handle_close(n, a.handle));
	return r;
}

static void create_refusals(void **state)
{
	struct node *n = node_self();
	const struct drm_vinci_bo_create good = { .size = 2 * MIB, .page_kind = VINCI_PAGE_2M, .numa_node = -1 };
	struct drm_vinci_bo_create a;

	(void)state;
	assert_ok(create(n, good));
	a = good, a.size = 0;
	assert_fails(create(n, a), EINVAL);
	a = good, a.size = MIB;
	assert_fails(create(n, a), EINVAL);
	a = good, a.size = 4095, a.page_kind = VINCI_PAGE_4K;
	assert_fails(create(n, a), EINVAL);
	a = good, a.page_kind = VINCI_PAGE_1G;
	assert_fails(create(n, a), EINVAL);
	a = good, a.page_kind = 3;
	assert_fails(create(n, a), EINVAL);
	a = good, a.flags = 2;
	assert_fails(create(n, a), EINVAL);
	a = good, a.pad = 1;
	assert_fails(create(n, a), EINVAL);
	a = good, a.numa_node = 0;
	assert_fails(create(n, a), EINVAL);
	a = good, a.device = NPUS;
	assert_fails(create(n, a), ENODEV);
	a = good, a.flags = VINCI_BO_HOST, a.device = 1;
	assert_fails(create(n, a), EINVAL);
	a = good, a.flags = VINCI_BO_HOST, a.numa_node = -2;
	assert_fails(create(n, a), EINVAL);
	assert_int_equal(mem_used(n, 0), 0);
}

static void charges(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct bo a, b, c;

	(void)state;
	assert_ok(bo_create(n, 1, 4096, VINCI_PAGE_4K, &a));
	assert_ok(bo_create(p, 1, 2 * MIB, VINCI_PAGE_2M, &b));
	assert_int_equal(mem_used(n, 1), 2 * MIB + 4096);
	assert_int_equal(mem_used(p, 1), 2 * MIB + 4096);
	assert_int_equal(mem_used(p, 0), 0);
	assert_ok(handle_close(n, a.handle));
	assert_int_equal(mem_used(n, 1), 2 * MIB);
	node_kill(p);
	assert_int_equal(mem_used(n, 1), 0);
	assert_ok(bo_create(n, 1, GIB, VINCI_PAGE_1G, &c));
	assert_int_equal(mem_used(n, 1), GIB);
}

static void host_memory_is_free(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_bo_create a = {
		.size = 2 * MIB, .flags = VINCI_BO_HOST, .page_kind = VINCI_PAGE_2M, .numa_node = 0
	};
	struct drm_vinci_bo_info info;

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_BO_CREATE, &a));
	assert_int_equal(mem_used(n, 0), 0);
	assert_ok(bo_info(n, a.handle, &info));
	assert_int_equal(info.flags, VINCI_BO_HOST);
	assert_ok(node_poke(n, a.mmap_offset, 5));
}

/* Nominal, so larger than the machine; to the byte, so that the last page fits and no more. */
static void memory_runs_out(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct bo big, rest, none = { 0 };

	(void)state;
	assert_ok(bo_create(n, 2, 48 * GIB, VINCI_PAGE_2M, &big));
	assert_ok(node_poke(n, big.offset + 48 * GIB - 8, 9));
	assert_fails(bo_create(p, 2, 17 * GIB, VINCI_PAGE_2M, &none), ENOMEM);
	assert_ok(bo_create(p, 2, 16 * GIB, VINCI_PAGE_2M, &rest));
	assert_fails(bo_create(n, 2, 4096, VINCI_PAGE_4K, &none), ENOMEM);
	assert_int_equal(none.handle, 0);
	assert_fails(bo_create(n, 2, 1ull << 63, VINCI_PAGE_4K, &none), ENOMEM);
	assert_int_equal(mem_used(n, 2), NPU_MEMORY);
	node_kill(p);
	assert_ok(bo_create(n, 2, 16 * GIB, VINCI_PAGE_2M, &rest));
}

static void info(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_bo_info i;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(n, 3, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(bo_info(n, bo.handle, &i));
	assert_int_equal(i.object, VINCI_OBJECT_BO);
	assert_int_equal(i.size, 4 * MIB);
	assert_int_equal(i.mmap_offset, bo.offset);
	assert_int_equal(i.device, 3);
	assert_int_equal(i.flags, 0);
	assert_int_equal(i.page_kind, VINCI_PAGE_2M);
	assert_int_equal(i.holders, 1);
	assert_int_equal(i.shares, 0);
	assert_int_equal(i.id, 0);
}

static void handles(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_bo_info i;
	struct bo a, b;

	(void)state;
	assert_fails(bo_info(n, 0, &i), ENOENT);
	assert_fails(bo_info(n, 12345, &i), ENOENT);
	assert_fails(bo_info(n, ~0u, &i), ENOENT);
	assert_fails(handle_close(n, 0), EINVAL);
	assert_fails(handle_close(n, ~0u), EINVAL);
	assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &a));
	assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &b));
	assert_int_not_equal(a.handle, 0);
	assert_int_not_equal(a.handle, b.handle);
	/* a handle is its file's */
	assert_fails(bo_info(p, a.handle, &i), ENOENT);
	assert_ok(handle_close(n, a.handle));
	assert_fails(handle_close(n, a.handle), EINVAL);
	assert_fails(bo_info(n, a.handle, &i), ENOENT);
	assert_ok(bo_info(n, b.handle, &i));
}

static void many_handles(void **state)
{
	enum { COUNT = 500 };
	struct node *n = node_self();
	struct bo bo[COUNT];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT; i++)
		assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo[i]));
	for (i = 0; i < COUNT; i += 2)
		assert_ok(handle_close(n, bo[i].handle));
	assert_int_equal(mem_used(n, 0), COUNT / 2 * 4096);
	for (i = 0; i < COUNT; i += 2)
		assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo[i]));
	for (i = 0; i < COUNT; i++) {
		assert_ok(node_poke(n, bo[i].offset, i));
	}
	for (i = 0; i < COUNT; i++) {
		uint64_t v;

		assert_ok(node_peek(n, bo[i].offset, &v));
		assert_int_equal(v, i);
		assert_ok(handle_close(n, bo[i].handle));
	}
	assert_int_equal(mem_used(n, 0), 0);
}

static void mappings(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	uint64_t *whole, *part, value;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(n, 0, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(node_map(n, bo.offset, 4 * MIB, (void **)&whole));
	assert_int_equal(whole[0] | whole[MIB / 4], 0);
	assert_ok(node_map(n, bo.offset + 2 * MIB, 2 * MIB, (void **)&part));
	part[3] = 33;
	assert_int_equal(whole[2 * MIB / 8 + 3], 33);
	assert_ok(munmap(part, 2 * MIB));
	/* of 4 KiB pages in a 2 MiB one, too */
	assert_ok(node_map(n, bo.offset + 12288, 4096, (void **)&part));
	part[0] = 44;
	assert_int_equal(whole[12288 / 8], 44);
	assert_ok(munmap(part, 4096));
	/* outside, unaligned, unknown, somebody else's */
	assert_fails(node_map(n, bo.offset + 2 * MIB, 4 * MIB, (void **)&part), EINVAL);
	assert_fails(node_map(n, bo.offset + 4 * MIB, 4096, (void **)&part), EINVAL);
	assert_fails(node_map(n, bo.offset + 1, 4096, (void **)&part), EINVAL);
	assert_fails(node_map(n, bo.offset, 0, (void **)&part), EINVAL);
	assert_fails(node_map(n, 1ull << 50, 4096, (void **)&part), EINVAL);
	assert_fails(node_map(n, ~4095ull, 4096, (void **)&part), EINVAL);
	assert_fails(node_peek(p, bo.offset, &value), EACCES);
	assert_ok(munmap(whole, 4 * MIB));
}

static void mapping_outlives_handle(void **state)
{
	struct node *n = node_self();
	uint64_t *p, value;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(node_map(n, bo.offset, 4096, (void **)&p));
	*p = 5;
	assert_ok(handle_close(n, bo.handle));
	assert_int_equal(*p, 5);
	*p = 6;
	assert_fails(node_peek(n, bo.offset, &value), EINVAL);
	node_close(n);
	assert_int_equal(*p, 6);
	assert_ok(munmap(p, 4096));
}

/* An offset may be used again one day, but never shows a new object under the mapping of an old one. */
static void new_objects_read_zero(void **state)
{
	struct node *n = node_self();
	uint64_t value;
	struct bo bo;
	unsigned int i;

	(void)state;
	for (i = 0; i < 50; i++) {
		assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo));
		assert_ok(node_peek(n, bo.offset, &value));
		assert_int_equal(value, 0);
		assert_ok(node_poke(n, bo.offset, ~0ull));
		assert_ok(handle_close(n, bo.handle));
	}
}

/* --- split --------------------------------------------------------------------------------- */

static int split(struct node *n, uint32_t handle, uint64_t offset, uint64_t size, struct bo *out)
{
	struct drm_vinci_bo_split a = { .handle = handle, .offset = offset, .size = size };
	int r = node_ioctl(n, DRM_IOCTL_VINCI_BO_SPLIT, &a);

	if (!r)
		*out = (struct bo){ a.new_handle, a.mmap_offset, size };
	return r;
}

static void split_moves_charge(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_bo_info i;
	struct bo bo, piece = { 0 }, all;
	uint64_t value;

	(void)state;
	assert_ok(bo_create(n, 1, 8 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(node_poke(n, bo.offset + 2 * MIB, 7));
	assert_ok(split(n, bo.handle, 2 * MIB, 2 * MIB, &piece));
	assert_int_equal(mem_used(n, 1), 8 * MIB);
	assert_ok(bo_info(n, bo.handle, &i));
	assert_int_equal(i.size, 6 * MIB);
	assert_ok(bo_info(n, piece.handle, &i));
	assert_int_equal(i.size, 2 * MIB);
	assert_int_equal(i.device, 1);
	assert_int_equal(i.page_kind, VINCI_PAGE_2M);
	assert_ok(node_peek(n, piece.offset, &value));
	assert_int_equal(value, 0);
	assert_ok(node_peek(n, bo.offset + 2 * MIB, &value));
	assert_int_equal(value, 7);
	assert_ok(handle_close(n, bo.handle));
	assert_int_equal(mem_used(n, 1), 2 * MIB);
	/* the whole of one */
	assert_ok(split(n, piece.handle, 0, 2 * MIB, &all));
	assert_ok(bo_info(n, piece.handle, &i));
	assert_int_equal(i.size, 0);
	assert_int_equal(mem_used(n, 1), 2 * MIB);
}

static void split_refusals(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_bo_split a;
	struct bo bo, piece = { 0 };
	struct name name;

	(void)state;
	assert_ok(bo_create(n, 1, 8 * MIB, VINCI_PAGE_2M, &bo));
	assert_fails(split(n, 0, 0, 2 * MIB, &piece), ENOENT);
	assert_fails(split(n, bo.handle, 0, 0, &piece), EINVAL);
	assert_fails(split(n, bo.handle, MIB, 2 * MIB, &piece), EINVAL);
	assert_fails(split(n, bo.handle, 0, MIB, &piece), EINVAL);
	assert_fails(split(n, bo.handle, 8 * MIB, 2 * MIB, &piece), EINVAL);
	assert_fails(split(n, bo.handle, 6 * MIB, 4 * MIB, &piece), EINVAL);
	assert_fails(split(n, bo.handle, -(2ull * MIB), 4 * MIB, &piece), EINVAL);
	a = (struct drm_vinci_bo_split){ .handle = bo.handle, .size = 2 * MIB, .pad = 1 };
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_BO_SPLIT, &a), EINVAL);
	a = (struct drm_vinci_bo_split){ .handle = bo.handle, .size = 2 * MIB, .pad2 = 1 };
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_BO_SPLIT, &a), EINVAL);
	assert_ok(split(n, bo.handle, 2 * MIB, 4 * MIB, &piece));
	assert_fails(split(n, bo.handle, 0, 4 * MIB, &piece), EINVAL);
	assert_fails(split(n, bo.handle, 4 * MIB, 2 * MIB, &piece), EINVAL);
	assert_ok(share_export(n, piece.handle, VINCI_SHARE_IPC_MEM, 0, 4 * MIB, &name));
	assert_fails(split(n, piece.handle, 0, 2 * MIB, &bo), EBUSY);
	assert_int_equal(mem_used(n, 1), 8 * MIB);
}

static void split_of_held(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct bo bo, piece = { 0 };
	struct name name;

	(void)state;
	assert_ok(bo_create(n, 1, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, 4 * MIB, &name));
	assert_ok(share_import(p, &name, 1, &im));
	assert_fails(split(p, im.handle, 0, 2 * MIB, &piece), EACCES);
	assert_ok(share_close(n, &name));
	assert_fails(split(n, bo.handle, 0, 2 * MIB, &piece), EBUSY);
	/* what a peer has closed without waiting is closed for everybody */
	assert_ok(node_post_close(p, im.handle));
	assert_ok(split(n, bo.handle, 0, 2 * MIB, &piece));
}

/* The old file still has the pages that went: it is never shared again. */
static void split_parent_is_private(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct bo bo, piece = { 0 };
	struct name name;
	uint64_t value;

	(void)state;
	assert_ok(bo_create(n, 1, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(split(n, bo.handle, 0, 2 * MIB, &piece));
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 4 * MIB, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 2 * MIB, &name), EINVAL);
	assert_ok(share_export(n, piece.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, 2 * MIB, &name));
	assert_ok(share_import(p, &name, 1, &im));
	assert_ok(node_poke(p, im.mmap_offset, 11));
	assert_fails(node_peek(p, im.mmap_offset + 2 * MIB, &value), EINVAL);
	assert_fails(node_peek(p, bo.offset, &value), EACCES);
	assert_ok(node_peek(n, piece.offset, &value));
	assert_int_equal(value, 11);
}

int run_bo_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(create_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(charges, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(host_memory_is_free, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(memory_runs_out, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(info, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(handles, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(many_handles, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(mappings, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(mapping_outlives_handle, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(new_objects_read_zero, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(split_moves_charge, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(split_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(split_of_held, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(split_parent_is_private, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("bo", tests, NULL, NULL);
}
