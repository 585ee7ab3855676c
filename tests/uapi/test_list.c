/* SPDX-License-Identifier: MIT */
/* Listings: complete, of any element size, and without secrets. */
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "suite.h"

static int list(struct node *n, uint32_t type, void *array, uint32_t elem_size, uint32_t *count)
{
	struct drm_vinci_list a = {
		.type = type, .elem_size = elem_size, .array = (uintptr_t)array, .count = *count
	};
	int r = node_ioctl(n, DRM_IOCTL_VINCI_LIST, &a);

	*count = a.count;
	return r;
}

static struct vinci_list_process *find(struct vinci_list_process *p, uint32_t count, pid_t pid, uint32_t device)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (p[i].pid == pid && p[i].device == device)
			return &p[i];
	return NULL;
}

static void processes(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct vinci_list_process rows[8];
	uint32_t count = 8;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(p, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(bo_create(p, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(bo_create(p, 2, 2 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(list(n, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, 3);
	assert_int_equal(find(rows, 3, node_pid(p), 1)->bytes, 8192);
	assert_int_equal(find(rows, 3, node_pid(p), 1)->objects, 2);
	assert_int_equal(find(rows, 3, node_pid(p), 2)->bytes, 2 * MIB);
	assert_int_equal(find(rows, 3, node_pid(p), 2)->uid, geteuid());
	assert_int_equal(find(rows, 3, getpid(), ~0u)->bytes, 0);
}

/* The charge of an object whose creator has gone is shown at who still holds it: once. */
static void charge_moves(void **state)
{
	struct node *n = node_self(), *creator = node_peer(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct vinci_list_process rows[8];
	uint32_t count = 8;
	struct name name;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(creator, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(share_export(creator, bo.handle, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED, 4096, &name));
	assert_ok(share_import(p, &name, 1, &im));
	assert_ok(share_import(p, &name, 2, &im));
	assert_ok(list(n, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count));
	assert_int_equal(find(rows, count, node_pid(creator), 1)->bytes, 4096);
	assert_null(find(rows, count, node_pid(p), 1));
	node_kill(creator);
	count = 8;
	assert_ok(list(n, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, 2);
	assert_int_equal(find(rows, count, node_pid(p), 1)->bytes, 4096);
	assert_int_equal(find(rows, count, node_pid(p), 1)->objects, 1);
}

static void shares(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct vinci_list_share rows[4] = { 0 };
	struct vinci_list_member members[4] = { 0 };
	uint32_t count = 4;
	struct name mem, vmm;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(n, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 4000, &mem));
	assert_ok(share_allow_pid(n, &mem, node_pid(p)));
	assert_ok(share_allow_pid(n, &mem, 5000001));
	assert_ok(share_import(p, &mem, 2, NULL));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED, 4096, &vmm));
	assert_ok(list(n, VINCI_LIST_SHARES, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].kind, VINCI_SHARE_IPC_MEM);
	assert_int_equal(rows[0].pid, getpid());
	assert_int_equal(rows[0].device, 1);
	assert_int_equal(rows[0].size, 4000);
	assert_int_equal(rows[0].allowed, 2);
	assert_int_equal(rows[0].openers, 1);
	assert_int_equal(rows[0].flags, 0);
	assert_memory_equal(rows[0].hint, mem.bytes, 7);
	assert_int_equal(rows[0].hint[7], 0);
	assert_int_equal(rows[1].kind, VINCI_SHARE_VMM);
	assert_int_equal(rows[1].flags, VINCI_SHARE_UNVALIDATED);
	assert_int_equal(rows[1].openers, 0);
	assert_int_equal(rows[1].hint[0], 0);
	count = 4;
	assert_ok(list(n, VINCI_LIST_ALLOWED, members, sizeof(members[0]), &count));
	assert_int_equal(count, 2);
	assert_int_equal(members[0].serial, rows[0].serial);
	assert_int_equal(members[1].pid, 5000001);
	count = 4;
	assert_ok(list(n, VINCI_LIST_OPENERS, members, sizeof(members[0]), &count));
	assert_int_equal(count, 1);
	assert_int_equal(members[0].pid, node_pid(p));
	assert_ok(share_close(n, &vmm));
	count = 4;
	assert_ok(list(n, VINCI_LIST_SHARES, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, 1);
}

static void notifies(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct vinci_list_notify rows[4] = { 0 };
	uint32_t count = 4, id;
	struct bo notify;
	struct name name;

	(void)state;
	assert_ok(notify_create(p, 2, &notify, &id));
	assert_ok(share_export(p, notify.handle, VINCI_SHARE_NOTIFY, VINCI_SHARE_UNVALIDATED, 0, &name));
	assert_ok(share_import(n, &name, 1, NULL));
	assert_ok(list(n, VINCI_LIST_NOTIFIES, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].pid, node_pid(p));
	assert_int_equal(rows[0].device, 2);
	assert_int_equal(rows[0].id, id);
	assert_int_equal(rows[0].holders, 2);
}

static void element_sizes(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct { struct vinci_list_notify row; uint64_t more; } wide[3];
	struct { int32_t pid; uint32_t device; } narrow[3];
	uint32_t count, id, ids[3], i;
	struct bo notify;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_ok(notify_create(p, 1, &notify, &ids[i]));
	memset(wide, 0xff, sizeof(wide));
	count = 3;
	assert_ok(list(n, VINCI_LIST_NOTIFIES, wide, sizeof(wide[0]), &count));
	for (i = 0; i < 3; i++) {
		assert_int_equal(wide[i].row.id, ids[i]);
		assert_int_equal(wide[i].more, 0);
	}
	memset(narrow, 0xff, sizeof(narrow));
	count = 2; /* room for two: those are written, and three exist */
	assert_ok(list(n, VINCI_LIST_NOTIFIES, narrow, sizeof(narrow[0]), &count));
	assert_int_equal(count, 3);
	assert_int_equal(narrow[1].pid, node_pid(p));
	assert_int_equal(narrow[1].device, 1);
	assert_int_equal(narrow[2].pid, -1);
	count = 0;
	assert_ok(list(n, VINCI_LIST_NOTIFIES, NULL, sizeof(narrow[0]), &count));
	assert_int_equal(count, 3);
	assert_ok(notify_create(p, 1, &notify, &id));
}

static void refusals(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_list a = { .type = VINCI_LIST_SHARES, .elem_size = 8, .pad = 1 };
	char *hole = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t count = 1;
	uint64_t row[8];

	(void)state;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_LIST, &a), EINVAL);
	assert_fails(list(n, 0, row, 8, &count), EINVAL);
	assert_fails(list(n, 6, row, 8, &count), EINVAL);
	assert_fails(list(n, VINCI_LIST_PROCESSES, row, 7, &count), EINVAL);
	assert_fails(list(n, VINCI_LIST_PROCESSES, row, 4097, &count), EINVAL);
	assert_fails(list(n, VINCI_LIST_PROCESSES, NULL, 8, &count), EFAULT);
	assert_fails(list(n, VINCI_LIST_PROCESSES, hole, 8, &count), EFAULT);
	assert_int_equal(count, 1);
	assert_ok(list(n, VINCI_LIST_PROCESSES, row, 8, &count));
	(void)munmap(hole, 4096);
}

/* More rows than a message holds. */
static void a_long_list(void **state)
{
	enum { PIDS = 20000 };
	struct node *n = node_self();
	int32_t *pids = malloc(PIDS * sizeof(*pids));
	struct vinci_list_member *rows = calloc(PIDS, sizeof(*rows));
	uint32_t count = PIDS, i;
	struct name name;
	struct bo bo;

	(void)state;
	assert_non_null(pids);
	assert_non_null(rows);
	for (i = 0; i < PIDS; i++)
		pids[i] = (int32_t)(6000000 + i);
	assert_ok(bo_create(n, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_VMM, 0, 4096, &name));
	assert_ok(share_allow(n, &name, pids, PIDS));
	assert_ok(list(n, VINCI_LIST_ALLOWED, rows, sizeof(rows[0]), &count));
	assert_int_equal(count, PIDS);
	for (i = 0; i < PIDS; i++)
		assert_int_equal(rows[i].pid, pids[i]);
	free(pids);
	free(rows);
}

int run_list_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(charge_moves, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(shares, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(notifies, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(element_sizes, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_long_list, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
