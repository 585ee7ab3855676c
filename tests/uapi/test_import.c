/* SPDX-License-Identifier: MIT */
/* The importer's side: who gets in, what is reached then, and what stays when others go. */
#include <poll.h>
#include <unistd.h>

#include "harness.h"
#include "suite.h"

static struct name new_share(struct node *n, uint32_t kind, uint32_t flags, struct bo *bo)
{
	struct name name;

	assert_ok(bo_create(n, 1, 2 * MIB, VINCI_PAGE_2M, bo));
	assert_ok(share_export(n, bo->handle, kind, flags, bo->size, &name));
	return name;
}

static void only_the_listed(void **state)
{
	static const uint32_t kinds[] = { VINCI_SHARE_IPC_MEM, VINCI_SHARE_VMM, VINCI_SHARE_FABRIC };
	struct node *n = node_self(), *listed = node_peer(), *other = node_peer();
	struct drm_vinci_share_import im;
	struct name name;
	uint64_t value;
	struct bo bo;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		name = new_share(n, kinds[i], 0, &bo);
		assert_fails(share_import(listed, &name, 0, &im), EACCES);
		assert_ok(share_allow_pid(n, &name, node_pid(listed)));
		assert_fails(share_import(other, &name, 0, &im), EACCES);
		assert_fails(node_peek(other, bo.offset, &value), EACCES);
		assert_ok(share_import(listed, &name, 0, &im));
		assert_int_equal(im.object, VINCI_OBJECT_BO);
		assert_int_equal(im.size, bo.size);
		assert_int_equal(im.owner_device, 1);
		assert_int_equal(im.bo_flags, 0);
		assert_int_equal(im.id, 0);
		assert_ok(node_poke(n, bo.offset + 8, 123 + i));
		assert_ok(node_peek(listed, im.mmap_offset + 8, &value));
		assert_int_equal(value, 123 + i);
		/* exactly the object: nothing before it and nothing behind */
		assert_fails(node_peek(listed, im.mmap_offset + bo.size, &value), EINVAL);
		if (!i) /* later ones may lie beside one that it holds */
			assert_fails(node_peek(listed, im.mmap_offset - 4096, &value), EINVAL);
	}
}

static void unvalidated(void **state)
{
	static const uint32_t kinds[] = {
		VINCI_SHARE_IPC_MEM, VINCI_SHARE_VMM, VINCI_SHARE_FABRIC, VINCI_SHARE_EVENT
	};
	struct node *n = node_self(), *p = node_peer();
	struct name name;
	struct bo bo;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		name = new_share(n, kinds[i], VINCI_SHARE_UNVALIDATED, &bo);
		assert_ok(share_import(p, &name, 0, NULL));
	}
}

static void refusals(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import a = { 0 };
	struct name name, bad;
	struct bo bo;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, &bo);
	bad = name;
	bad.bytes[63] ^= 1;
	assert_fails(share_import(p, &bad, 1, NULL), ESTALE);
	bad = name, bad.kind = VINCI_SHARE_EVENT; /* the right bytes, another kind */
	assert_fails(share_import(p, &bad, 1, NULL), ESTALE);
	bad = name, bad.kind = 0;
	assert_fails(share_import(p, &bad, 1, NULL), EINVAL);
	bad = name, bad.len = 1;
	assert_fails(share_import(p, &bad, 1, NULL), EINVAL);
	assert_fails(share_import(p, &name, NPUS, NULL), ENODEV);
	a.kind = name.kind;
	a.name_len = name.len;
	memcpy(a.name, name.bytes, sizeof(a.name));
	a.flags = 1;
	assert_fails(node_ioctl(p, DRM_IOCTL_VINCI_SHARE_IMPORT, &a), EINVAL);
	assert_int_equal(a.handle | a.mmap_offset, 0);
	a.flags = 0;
	assert_ok(node_ioctl(p, DRM_IOCTL_VINCI_SHARE_IMPORT, &a));
}

static void the_creator(void **state)
{
	struct node *n = node_self(), *second = node_self();
	struct name name;
	struct bo bo, notify;
	uint32_t id;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, 0, &bo);
	assert_fails(share_import(n, &name, 1, NULL), EACCES);
	assert_fails(share_import(second, &name, 1, NULL), EACCES);
	name = new_share(n, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_ok(share_import(n, &name, 1, NULL));
	name = new_share(n, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_fails(share_import(n, &name, 1, NULL), EEXIST);
	assert_fails(share_import(second, &name, 1, NULL), EEXIST);
	assert_ok(share_import(n, &name, 2, NULL));
	name = new_share(n, VINCI_SHARE_VMM, 0, &bo);
	assert_fails(share_import(n, &name, 1, NULL), EEXIST);
	assert_fails(share_import(n, &name, 2, NULL), EACCES);
	assert_ok(share_allow_pid(n, &name, getpid()));
	assert_ok(share_import(n, &name, 2, NULL));
	name = new_share(n, VINCI_SHARE_EVENT, VINCI_SHARE_UNVALIDATED, &bo);
	assert_fails(share_import(n, &name, 2, NULL), EACCES);
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(share_export(n, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &name));
	assert_ok(share_import(n, &name, 1, NULL));
}

/* Host memory has no NPU of its own: its creator may have it again for any. */
static void the_creator_of_host_memory(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_bo_create a = {
		.size = 2 * MIB, .flags = VINCI_BO_HOST, .page_kind = VINCI_PAGE_2M, .numa_node = -1
	};
	struct drm_vinci_share_import im;
	struct name name;

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_BO_CREATE, &a));
	assert_ok(share_export(n, a.handle, VINCI_SHARE_FABRIC, VINCI_SHARE_UNVALIDATED, a.size, &name));
	assert_ok(share_import(n, &name, 0, &im));
	assert_int_equal(im.bo_flags, VINCI_BO_HOST);
}

static void importing_again(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im, again;
	struct drm_vinci_bo_info info;
	struct name name;
	struct bo bo;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_ok(share_import(p, &name, 0, &im));
	assert_ok(share_import(p, &name, 0, &again));
	assert_int_equal(im.handle, again.handle);
	assert_int_equal(im.mmap_offset, again.mmap_offset);
	assert_fails(share_import(p, &name, 1, NULL), EBUSY);
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.holders, 2);
	assert_ok(handle_close(p, im.handle));
	assert_fails(handle_close(p, im.handle), EINVAL);
	assert_ok(share_import(p, &name, 1, &im)); /* free again */
	name = new_share(n, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_ok(share_import(p, &name, 0, &im));
	assert_ok(share_import(p, &name, 2, &again));
	assert_int_not_equal(im.handle, again.handle);
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.holders, 2);
	assert_ok(share_import(p, &name, 0, &again));
	assert_int_equal(im.handle, again.handle);
}

/* --- identity ------------------------------------------------------------------------------ */

/* An entry is about a process, not about a number. */
static void a_recycled_pid(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct name name;
	struct bo bo;
	pid_t pid = node_pid(p);

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, 0, &bo);
	assert_ok(share_allow_pid(n, &name, pid));
	assert_ok(share_import(p, &name, 1, NULL));
	node_kill(p);
	p = node_peer_pid(pid);
	if (!p) {
		print_message("a process with a chosen pid needs root\n");
		skip();
	}
	assert_int_equal(node_pid(p), pid);
	assert_fails(share_import(p, &name, 1, NULL), EKEYEXPIRED);
	assert_ok(share_allow_pid(n, &name, pid));
	assert_ok(share_import(p, &name, 1, NULL));
}

/* Listed before it exists, a process is not the one that was meant. */
static void a_future_pid(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	pid_t pid = node_pid(p);
	struct name name;
	struct bo bo;

	(void)state;
	node_close(p);
	name = new_share(n, VINCI_SHARE_VMM, 0, &bo);
	assert_ok(share_allow_pid(n, &name, pid));
	p = node_peer_pid(pid);
	if (!p) {
		print_message("a process with a chosen pid needs root\n");
		skip();
	}
	assert_fails(share_import(p, &name, 1, NULL), EKEYEXPIRED);
}

/* Another server's process is somebody else, whatever its number. */
static void other_servers(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	const int32_t pid = node_pid(p);
	struct drm_vinci_share_allow a = {
		.flags = VINCI_ALLOW_SDID, .sdid = 99, .pids = (uintptr_t)&pid, .count = 1, .elem_size = 4
	};
	struct drm_vinci_device_info info = { 0 };
	struct name name;
	struct bo bo;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, 0, &bo);
	a.kind = name.kind;
	a.name_len = name.len;
	memcpy(a.name, name.bytes, sizeof(a.name));
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a));
	assert_fails(share_import(p, &name, 1, NULL), EACCES);
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &info));
	a.sdid = info.sdid;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, &a));
	assert_ok(share_import(p, &name, 1, NULL));
}

static void make_guess(struct name *name, unsigned int number)
{
	memset(name, 0, sizeof(*name));
	name->kind = VINCI_SHARE_VMM;
	name->len = 8;
	memcpy(name->bytes, &number, sizeof(number));
}

/* Guesses until there are no more; the number of guesses. */
static unsigned int spend_guesses(struct node *p, unsigned int from)
{
	struct name bad;
	unsigned int i;
	int r = 0;

	for (i = 1; i < 1000 && r != -EDQUOT; i++) {
		make_guess(&bad, from + i);
		r = share_import(p, &bad, 1, NULL);
		assert_true(r == -ESTALE || r == -EDQUOT);
	}
	return i;
}

/* Names cannot be searched for, and a hit is not told from a miss while the budget is spent. */
static void guessing(void **state)
{
	struct node *n = node_self(), *p = node_peer(), *other = node_peer();
	struct drm_vinci_share_import im;
	struct name good;
	unsigned int i;
	int64_t until;
	struct bo bo;
	int r;

	(void)state;
	good = new_share(n, VINCI_SHARE_VMM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_in_range(spend_guesses(p, 0), 100, 999);
	r = share_import(p, &good, 1, &im);
	for (i = 1; !r && i < 50; i++) { /* a slow machine earns a guess every 10 ms, and had one again */
		assert_ok(handle_close(p, im.handle));
		(void)spend_guesses(p, 1000 * i);
		r = share_import(p, &good, 1, &im);
	}
	assert_fails(r, EDQUOT);
	/* others are not held up by it */
	assert_ok(share_import(other, &good, 1, NULL));
	for (until = now_ms() + 10000; r == -EDQUOT && now_ms() < until; (void)poll(NULL, 0, 20))
		r = share_import(p, &good, 1, NULL);
	assert_ok(r);
}

/* --- lifetimes ----------------------------------------------------------------------------- */

static void creator_dies(void **state)
{
	struct node *n = node_self(), *creator = node_peer(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct drm_vinci_bo_info info;
	struct name name;
	uint64_t value;
	struct bo bo;

	(void)state;
	name = new_share(creator, VINCI_SHARE_IPC_MEM, 0, &bo);
	assert_ok(share_allow_pid(creator, &name, node_pid(p)));
	assert_ok(share_allow_pid(creator, &name, node_pid(n)));
	assert_ok(node_poke(creator, bo.offset, 55));
	assert_ok(share_import(p, &name, 1, &im));
	node_kill(creator);
	assert_fails(share_import(n, &name, 1, NULL), ESTALE);
	assert_int_equal(mem_used(n, 1), 2 * MIB);
	assert_ok(bo_info(p, im.handle, &info));
	assert_int_equal(info.holders, 1);
	assert_int_equal(info.shares, 0);
	assert_ok(node_peek(p, im.mmap_offset, &value));
	assert_int_equal(value, 55);
	node_kill(p);
	assert_int_equal(mem_used(n, 1), 0);
}

static void importer_dies(void **state)
{
	struct node *n = node_self(), *p = node_peer(), *q = node_peer();
	struct drm_vinci_bo_info info;
	struct name name;
	struct bo bo;

	(void)state;
	name = new_share(n, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_ok(share_import(p, &name, 1, NULL));
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.holders, 2);
	node_kill(p);
	assert_ok(bo_info(n, bo.handle, &info));
	assert_int_equal(info.holders, 1);
	assert_ok(share_import(q, &name, 1, NULL));
	assert_ok(share_close(n, &name));
	node_kill(q);
	assert_fails(share_close(n, &name), ESTALE);
}

/* The file behind a mapping is the importer's for as long as it maps it, whatever becomes of the others. */
static void mapping_outlives_everything(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct name name;
	uint64_t *word;
	struct bo bo;

	(void)state;
	name = new_share(p, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, &bo);
	assert_ok(share_import(n, &name, 1, &im));
	assert_ok(node_map(n, im.mmap_offset, 2 * MIB, (void **)&word));
	assert_ok(node_poke(p, bo.offset, 99));
	node_kill(p);
	assert_ok(node_post_close(n, im.handle));
	assert_int_equal(mem_used(n, 1), 0);
	assert_int_equal(word[0], 99);
}

static void a_thousand_imports(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct name name;
	uint64_t value;
	struct bo bo;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_ok(bo_create(n, 1, 4096, VINCI_PAGE_4K, &bo));
		assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, 4096, &name));
		assert_ok(share_import(p, &name, 1, &im));
		if (i % 10)
			continue;
		assert_ok(node_poke(n, bo.offset, (uint64_t)i));
		assert_ok(node_peek(p, im.mmap_offset, &value));
		assert_int_equal(value, i);
	}
	assert_int_equal(mem_used(n, 1), 4096000);
	node_kill(p);
	assert_int_equal(mem_used(n, 1), 4096000);
	node_close(n);
	n = node_self();
	assert_int_equal(mem_used(n, 1), 0);
}

int run_import_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_listed, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(unvalidated, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(the_creator, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(the_creator_of_host_memory, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(importing_again, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_recycled_pid, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_future_pid, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(other_servers, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(guessing, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(creator_dies, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(importer_dies, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(mapping_outlives_everything, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(a_thousand_imports, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
