/* SPDX-License-Identifier: MIT */
/* The creator's side of shares: export, allow, close, attributes. */
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "suite.h"

static struct bo new_bo(struct node *n)
{
	struct bo bo;

	assert_ok(bo_create(n, 1, 2 * MIB, VINCI_PAGE_2M, &bo));
	return bo;
}

static struct name new_share(struct node *n, uint32_t kind, uint32_t flags)
{
	struct bo bo = new_bo(n);
	struct name name;

	assert_ok(share_export(n, bo.handle, kind, flags, bo.size, &name));
	return name;
}

static bool is_hex(const struct name *name)
{
	uint32_t i;

	for (i = 0; i < name->len; i++)
		if (!memchr("0123456789abcdef", name->bytes[i], 16))
			return false;
	return true;
}

static void assert_padded(const struct name *name)
{
	uint32_t i;

	for (i = name->len; i < VINCI_NAME_MAX; i++)
		assert_int_equal(name->bytes[i], 0);
}

static void name_forms(void **state)
{
	struct node *n = node_self();
	struct name name;
	struct bo notify;
	uint32_t id;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	assert_int_equal(name.len, 64);
	assert_true(is_hex(&name));
	assert_padded(&name);
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &name));
	assert_int_equal(name.len, 40);
	assert_true(is_hex(&name));
	name = new_share(n, VINCI_SHARE_VMM, 0);
	assert_int_equal(name.len, 8);
	assert_int_equal(name.bytes[7] & 0x80, 0);
	assert_padded(&name);
	name = new_share(n, VINCI_SHARE_FABRIC, 0);
	assert_int_equal(name.len, 128);
	name = new_share(n, VINCI_SHARE_EVENT, VINCI_SHARE_UNVALIDATED);
	assert_int_equal(name.len, 64);
	assert_padded(&name);
}

/* Two names agree in about one digit of sixteen; what counts up or names a process would in many. */
static void names_are_random(void **state)
{
	enum { COUNT = 64 };
	struct node *n = node_self();
	struct name names[COUNT];
	uint32_t i, j, k, same;

	(void)state;
	for (i = 0; i < COUNT; i++)
		names[i] = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	for (i = 0; i < COUNT; i++)
		for (j = 0; j < i; j++) {
			for (k = same = 0; k < 64; k++)
				same += names[i].bytes[k] == names[j].bytes[k];
			assert_in_range(same, 0, 24);
		}
}

static void export_refusals(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct bo bo = new_bo(n), notify;
	struct name name = { 0 };
	uint32_t id;

	(void)state;
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_fails(share_export(n, 0, VINCI_SHARE_IPC_MEM, 0, bo.size, &name), ENOENT);
	assert_fails(share_export(p, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name), ENOENT);
	assert_fails(share_export(n, bo.handle, 0, 0, bo.size, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, 6, 0, bo.size, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, ~0u, 0, bo.size, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_NOTIFY, 0, 0, &name), EINVAL);
	assert_fails(share_export(n, notify.handle, VINCI_SHARE_IPC_MEM, 0, 4096, &name), EINVAL);
	assert_fails(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 4096, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 2, bo.size, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_EVENT, 0, bo.size, &name), EINVAL);
	assert_int_equal(name.len, 0);
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, bo.size, &name));
	assert_ok(share_import(p, &name, 1, &im));
	assert_fails(share_export(p, im.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name), EACCES);
}

/* As many pages as the object has, whatever the bytes. */
static void export_sizes(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct name name;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(n, 1, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 0, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 2 * MIB, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, 4 * MIB + 1, &name), EINVAL);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, ~0ull, &name), EINVAL);
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, 2 * MIB + 1, &name));
	assert_ok(share_import(p, &name, 1, &im));
	assert_int_equal(im.size, 2 * MIB + 1);
	assert_int_equal(im.page_kind, VINCI_PAGE_2M);
}

static void export_again(void **state)
{
	struct node *n = node_self();
	struct bo bo = new_bo(n), notify;
	struct drm_vinci_bo_info info;
	struct name first, second;
	uint32_t id;

	(void)state;
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &first));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &second));
	assert_memory_not_equal(first.bytes, second.bytes, 64);
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_VMM, 0, bo.size, &first));
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_VMM, 0, bo.size, &first), EEXIST);
	assert_fails(share_export(n, bo.handle, VINCI_SHARE_FABRIC, 0, bo.size, &first), EEXIST);
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.shares, 3);
	assert_ok(share_close(n, &second));
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.shares, 2);
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &first));
	assert_fails(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &first), EEXIST);
}

/* --- allow --------------------------------------------------------------------------------- */

static void allow_refusals(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name name = new_share(n, VINCI_SHARE_IPC_MEM, 0), open, bad;
	int32_t pids[32];
	int i;

	(void)state;
	for (i = 0; i < 32; i++)
		pids[i] = 100000 + i;
	bad = name;
	bad.bytes[0] ^= 1;
	assert_fails(share_allow(n, &bad, pids, 1), ESTALE);
	bad = name, bad.len = 63, bad.bytes[63] = 0;
	assert_fails(share_allow(n, &bad, pids, 1), ESTALE);
	bad = name, bad.len = 63; /* a byte beyond the length */
	assert_fails(share_allow(n, &bad, pids, 1), EINVAL);
	bad = name, bad.len = 0;
	assert_fails(share_allow(n, &bad, pids, 1), EINVAL);
	bad = name, bad.len = VINCI_NAME_MAX + 1;
	assert_fails(share_allow(n, &bad, pids, 1), EINVAL);
	bad = name, bad.kind = 77;
	assert_fails(share_allow(n, &bad, pids, 1), EINVAL);
	assert_fails(share_allow(p, &name, pids, 1), EACCES);
	assert_fails(share_allow(n, &name, pids, 0), EINVAL);
	assert_fails(share_allow(n, &name, pids, 32), E2BIG);
	assert_ok(share_allow(n, &name, pids, 31));
	open = new_share(n, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED);
	assert_fails(share_allow(n, &open, pids, 1), EPERM);
	open = new_share(n, VINCI_SHARE_EVENT, VINCI_SHARE_UNVALIDATED);
	assert_fails(share_allow(n, &open, pids, 1), EPERM);
}

static struct drm_vinci_share_allow allow_arg(const struct name *name, const void *pids, uint32_t count, uint32_t size)
{
	struct drm_vinci_share_allow a = {
		.kind = name->kind, .name_len = name->len, .pids = (uintptr_t)pids, .count = count, .elem_size = size
	};

	memcpy(a.name, name->bytes, sizeof(a.name));
	return a;
}

/* Elements may grow: the first four bytes are the pid. */
static void allow_elements(void **state)
{
	struct node *n = node_self(), *p = node_peer(), *q = node_peer();
	struct name name = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	struct { int32_t pid, more; } wide[2] = { { node_pid(p), -5 }, { node_pid(q), -5 } };
	struct drm_vinci_share_allow a = allow_arg(&name, wide, 2, sizeof(wide[0]));

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a));
	assert_ok(share_import(p, &name, 1, NULL));
	assert_ok(share_import(q, &name, 1, NULL));
	a = allow_arg(&name, wide, 1, 3);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EINVAL);
	a = allow_arg(&name, wide, 1, 0);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EINVAL);
	a = allow_arg(&name, wide, 1, 65);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EINVAL);
	a = allow_arg(&name, wide, 1, 4);
	a.flags = 2;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EINVAL);
	a = allow_arg(&name, wide, 1, 4);
	a.sdid = 1; /* without the flag it is padding */
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EINVAL);
}

static void allow_bad_array(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name name = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int32_t *last = (int32_t *)(pages + 4096 - sizeof(int32_t));
	struct drm_vinci_share_allow a = allow_arg(&name, NULL, 1, 4);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_ok(mprotect(pages + 4096, 4096, PROT_NONE));
	*last = node_pid(p);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EFAULT);
	a = allow_arg(&name, last, 2, 4); /* half of it readable: nothing is taken */
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), EFAULT);
	assert_fails(share_import(p, &name, 1, NULL), EACCES);
	a = allow_arg(&name, last, 1000, 4); /* the count is judged first */
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a), E2BIG);
	a = allow_arg(&name, last, 1, 4);
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a));
	assert_ok(share_import(p, &name, 1, NULL));
	(void)munmap(pages, 8192);
}

static void allow_skips(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name mem = new_share(n, VINCI_SHARE_IPC_MEM, 0), vmm = new_share(n, VINCI_SHARE_VMM, 0), note;
	const int32_t nobody[2] = { 0, getpid() }, mixed[3] = { 0, node_pid(p), getpid() };
	const int32_t negative[2] = { node_pid(p), -1 };
	struct bo notify;
	uint32_t id;

	(void)state;
	assert_fails(share_allow(n, &mem, nobody, 2), EINVAL);
	assert_fails(share_allow(n, &mem, negative, 2), EINVAL);
	assert_fails(share_import(p, &mem, 1, NULL), EACCES);
	assert_ok(share_allow(n, &mem, mixed, 3));
	assert_ok(share_import(p, &mem, 1, NULL));
	assert_fails(share_allow(n, &vmm, nobody, 1), EINVAL);
	assert_ok(share_allow(n, &vmm, nobody, 2)); /* the own pid counts here */
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &note));
	assert_ok(share_allow_pid(n, &note, 0));
	assert_ok(share_allow_pid(n, &note, getpid()));
	assert_fails(share_allow(n, &note, mixed, 2), E2BIG);
}

static void allow_fills_up(void **state)
{
	struct node *n = node_self();
	struct name mem = new_share(n, VINCI_SHARE_IPC_MEM, 0), note;
	struct bo notify;
	int32_t pids[31];
	uint32_t id;
	int i, j;

	(void)state;
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &note));
	for (i = 0; i < 15; i++)
		assert_ok(share_allow_pid(n, &note, 5000000 + i));
	assert_fails(share_allow_pid(n, &note, 5000015), ENOSPC);
	assert_ok(share_allow_pid(n, &note, 5000007)); /* there already */
	for (i = 0; i < 32768; i += 31) {
		for (j = 0; j < 31; j++)
			pids[j] = 5000000 + (i + j) % 32768; /* the last call comes round to the first pids */
		assert_ok(share_allow(n, &mem, pids, 31));
	}
	pids[0] = 5000000 + 32768;
	assert_fails(share_allow(n, &mem, pids, 2), ENOSPC);
	assert_ok(share_allow(n, &mem, pids + 1, 1));
}

static void allow_largest_call(void **state)
{
	enum { COUNT = 65535 };
	struct node *n = node_self(), *p = node_peer();
	struct name vmm = new_share(n, VINCI_SHARE_VMM, 0);
	int32_t *pids = malloc((COUNT + 1) * sizeof(*pids));
	int i;

	(void)state;
	assert_non_null(pids);
	for (i = 0; i <= COUNT; i++)
		pids[i] = 5000000 + i;
	pids[777] = node_pid(p);
	assert_fails(share_allow(n, &vmm, pids, COUNT + 1), E2BIG);
	assert_fails(share_import(p, &vmm, 1, NULL), EACCES);
	assert_ok(share_allow(n, &vmm, pids, COUNT));
	assert_ok(share_import(p, &vmm, 1, NULL));
	assert_fails(share_allow(n, &vmm, pids + COUNT, 1), ENOSPC);
	free(pids);
}

/* --- close and attributes ------------------------------------------------------------------ */

static void close_rules(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name name = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	struct drm_vinci_share_import im;

	(void)state;
	assert_ok(share_allow_pid(n, &name, node_pid(p)));
	assert_fails(share_close(p, &name), EACCES);
	assert_ok(share_import(p, &name, 1, &im));
	assert_fails(share_close(p, &name), EACCES);
	assert_ok(share_close(n, &name));
	assert_fails(share_close(n, &name), EIDRM);
	assert_fails(share_allow_pid(n, &name, node_pid(p)), EIDRM);
	assert_fails(share_attr(n, &name, VINCI_SHARE_ATTR_LINK, 1), ESTALE);
	assert_fails(share_close(p, &name), EACCES);
	assert_fails(share_import(p, &name, 1, &im), ESTALE);
	assert_ok(handle_close(p, im.handle));
	assert_fails(share_close(n, &name), ESTALE);
	assert_fails(share_allow_pid(n, &name, node_pid(p)), ESTALE);
}

/* Who frees the memory withdraws its names; who already has it keeps it. */
static void free_withdraws(void **state)
{
	struct node *n = node_self(), *p = node_peer(), *q = node_peer();
	struct drm_vinci_share_import im;
	struct bo bo = new_bo(n);
	struct name name;
	uint64_t value;

	(void)state;
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, bo.size, &name));
	assert_ok(node_poke(n, bo.offset, 123));
	assert_ok(share_import(p, &name, 1, &im));
	assert_ok(handle_close(n, bo.handle));
	assert_fails(share_import(q, &name, 1, NULL), ESTALE);
	assert_ok(node_peek(p, im.mmap_offset, &value));
	assert_int_equal(value, 123);
	assert_int_equal(mem_used(n, 1), 2 * MIB);
	assert_fails(share_close(n, &name), EIDRM);
	assert_ok(handle_close(p, im.handle));
	assert_int_equal(mem_used(n, 1), 0);
	assert_fails(share_close(n, &name), ESTALE);
}

static void attributes(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name name = new_share(n, VINCI_SHARE_IPC_MEM, 0), listed = new_share(n, VINCI_SHARE_IPC_MEM, 0);
	struct name vmm = new_share(n, VINCI_SHARE_VMM, 0), bad = name;
	struct drm_vinci_share_attr a = { .kind = name.kind, .name_len = name.len, .attr = 1, .value = 1, .pad = 1 };

	(void)state;
	memcpy(a.name, name.bytes, sizeof(a.name));
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ATTR, &a), EINVAL);
	assert_fails(share_attr(n, &name, 0, 1), EINVAL);
	assert_fails(share_attr(n, &name, 3, 1), EINVAL);
	assert_fails(share_attr(n, &name, VINCI_SHARE_ATTR_LINK, 4), EINVAL);
	assert_fails(share_attr(n, &name, VINCI_SHARE_ATTR_UNVALIDATED, 0), EINVAL);
	assert_fails(share_attr(n, &vmm, VINCI_SHARE_ATTR_LINK, 1), EINVAL);
	bad.bytes[5] ^= 3;
	assert_fails(share_attr(n, &bad, VINCI_SHARE_ATTR_LINK, 3), ESTALE);
	assert_fails(share_attr(p, &name, VINCI_SHARE_ATTR_LINK, 3), EPERM);
	assert_ok(share_attr(n, &name, VINCI_SHARE_ATTR_LINK, 3));
	assert_fails(share_import(p, &name, 1, NULL), EACCES);
	assert_ok(share_attr(n, &name, VINCI_SHARE_ATTR_UNVALIDATED, 1));
	assert_ok(share_import(p, &name, 1, NULL));
	assert_fails(share_allow_pid(n, &name, node_pid(p)), EPERM);
	assert_ok(share_allow_pid(n, &listed, node_pid(p)));
	assert_fails(share_attr(n, &listed, VINCI_SHARE_ATTR_UNVALIDATED, 1), EPERM);
}

int run_share_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(name_forms, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(names_are_random, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(export_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(export_sizes, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(export_again, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_elements, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_bad_array, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_skips, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_fills_up, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(allow_largest_call, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(close_rules, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(free_withdraws, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(attributes, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
