/* SPDX-License-Identifier: MIT */
/* Notify ids, their pages, and who is left of those who hold one. */
#include "harness.h"
#include "suite.h"

static int ids(struct node *n, uint32_t device, uint32_t want, uint32_t *first, uint32_t *got)
{
	struct drm_vinci_notify_ids a = { .device = device, .count = want };
	int r = node_ioctl(n, DRM_IOCTL_VINCI_NOTIFY_IDS, &a);

	if (!r) {
		*first = a.first;
		*got = a.count;
	}
	return r;
}

static int status(struct node *n, uint32_t handle, uint32_t *holders, uint32_t *lost)
{
	struct drm_vinci_notify_status a = { .handle = handle };
	int r = node_ioctl(n, DRM_IOCTL_VINCI_NOTIFY_STATUS, &a);

	*holders = a.holders;
	*lost = a.lost;
	return r;
}

static int export_to(struct node *n, struct bo *notify, struct node *to, struct name *name)
{
	int r = share_export(n, notify->handle, VINCI_SHARE_NOTIFY, 0, 0, name);

	return r || !to ? r : share_allow_pid(n, name, node_pid(to));
}

/* Every id once, whoever asks; then none; then those of a file that went. */
static void ids_are_unique(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	uint8_t seen[NOTIFIES] = { 0 };
	uint32_t total = 0, first = 0, got = 0, i;

	(void)state;
	while (!ids(total % 2 ? n : p, 1, 7, &first, &got)) {
		assert_in_range(got, 1, 7);
		assert_true(first + got <= NOTIFIES);
		for (i = first; i < first + got; i++)
			assert_int_equal(seen[i]++, 0);
		total += got;
	}
	assert_int_equal(total, NOTIFIES);
	assert_fails(ids(n, 1, 1, &first, &got), ENOSPC);
	assert_ok(ids(n, 2, 64, &first, &got)); /* ids are by NPU */
	assert_int_equal(got, 64);
	node_kill(p);
	assert_ok(ids(n, 1, 7, &first, &got));
}

static void id_refusals(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_notify_ids a = { .count = 1, .pad = 1 };
	uint32_t first = 0, got = 0;

	(void)state;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_NOTIFY_IDS, &a), EINVAL);
	assert_fails(ids(n, 0, 0, &first, &got), EINVAL);
	assert_fails(ids(n, 0, 65, &first, &got), EINVAL);
	assert_fails(ids(n, NPUS, 1, &first, &got), ENODEV);
}

static int create(struct node *n, uint32_t device, uint32_t id, uint32_t flags, struct drm_vinci_notify_create *a)
{
	struct drm_vinci_notify_create new = { .device = device, .id = id, .flags = flags };
	int r = node_ioctl(n, DRM_IOCTL_VINCI_NOTIFY_CREATE, &new);

	if (!r)
		*a = new;
	return r;
}

static void create_rules(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_notify_create a = { 0 };
	struct drm_vinci_bo_info info;
	uint32_t first = 0, got = 0;

	(void)state;
	assert_ok(ids(n, 1, 2, &first, &got));
	assert_fails(create(n, 1, first, 1, &a), EINVAL);
	assert_fails(create(n, NPUS, first, 0, &a), ENODEV);
	assert_fails(create(n, 2, first, 0, &a), EINVAL); /* reserved on another NPU */
	assert_fails(create(p, 1, first, 0, &a), EINVAL); /* by another file */
	assert_fails(create(n, 1, NOTIFIES, 0, &a), EINVAL);
	assert_fails(create(n, 1, ~0u, 0, &a), EINVAL);
	assert_ok(create(n, 1, first, 0, &a));
	assert_ok(bo_info(n, a.handle, &info));
	assert_int_equal(info.object, VINCI_OBJECT_NOTIFY);
	assert_int_equal(info.id, first);
	assert_int_equal(info.device, 1);
	assert_int_equal(mem_used(n, 1), 0);
	assert_fails(create(n, 1, first, 0, &a), EBUSY);
	assert_ok(handle_close(n, a.handle));
	assert_ok(create(n, 1, first, 0, &a));
}

static void page(void **state)
{
	struct node *n = node_self();
	struct vinci_notify_page *page;
	struct bo notify;
	uint32_t id, i;

	(void)state;
	assert_ok(notify_create(n, 0, &notify, &id));
	assert_ok(node_map(n, notify.offset, VINCI_NOTIFY_PAGE_SIZE, (void **)&page));
	assert_int_equal(page->word, VINCI_NOTIFY_CLEAR);
	for (i = 0; i < 1023; i++)
		assert_int_equal(page->reserved[i], 0);
	assert_fails(node_map(n, notify.offset + 4096, 4096, (void **)&page), EINVAL);
}

static void shared_word(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	struct bo notify;
	struct name name;
	uint64_t value;
	uint32_t id;

	(void)state;
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(export_to(n, &notify, p, &name));
	assert_ok(share_import(p, &name, 0, &im));
	assert_int_equal(im.object, VINCI_OBJECT_NOTIFY);
	assert_int_equal(im.id, id);
	assert_int_equal(im.owner_device, 1);
	assert_ok(node_poke(p, im.mmap_offset, VINCI_NOTIFY_SET));
	assert_ok(node_peek(n, notify.offset, &value));
	assert_int_equal(value, VINCI_NOTIFY_SET);
}

/* Who closes its handle has finished; who goes without is lost. */
static void holders_and_lost(void **state)
{
	struct node *n = node_self(), *orderly = node_peer(), *killed = node_peer(), *sloppy = node_peer();
	struct drm_vinci_share_import im;
	uint32_t id, holders, lost;
	struct bo notify;
	struct name name;

	(void)state;
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_ok(export_to(n, &notify, orderly, &name));
	assert_ok(share_allow_pid(n, &name, node_pid(killed)));
	assert_ok(share_allow_pid(n, &name, node_pid(sloppy)));
	assert_ok(share_import(killed, &name, 1, NULL));
	assert_ok(share_import(sloppy, &name, 1, NULL));
	assert_ok(share_import(orderly, &name, 1, &im));
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 4);
	assert_int_equal(lost, 0);
	assert_ok(node_post_close(orderly, im.handle));
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 3);
	assert_int_equal(lost, 0);
	node_kill(killed);
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 2);
	assert_int_equal(lost, 1);
	node_close(sloppy);
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_int_equal(lost, 2);
	/* closed and gone at once, with no request in between */
	assert_ok(share_import(orderly, &name, 1, &im));
	assert_ok(node_post_close(orderly, im.handle));
	node_kill(orderly);
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_int_equal(lost, 2);
}

static void creator_is_lost_too(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	uint32_t id, holders, lost;
	struct bo notify;
	struct name name;

	(void)state;
	assert_ok(notify_create(p, 1, &notify, &id));
	assert_ok(share_export(p, notify.handle, VINCI_SHARE_NOTIFY, 0, 0, &name));
	assert_ok(share_allow_pid(p, &name, node_pid(n)));
	assert_ok(share_import(n, &name, 1, &im));
	node_kill(p);
	assert_ok(status(n, im.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_int_equal(lost, 1);
	assert_fails(share_import(n, &name, 2, NULL), ESTALE);
}

/* One file with two handles counts once. */
static void own_import_counts_once(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_share_import im, again;
	uint32_t id, holders, lost;
	struct bo notify;
	struct name name;

	(void)state;
	assert_ok(notify_create(n, 1, &notify, &id));
	assert_ok(export_to(n, &notify, NULL, &name));
	assert_ok(share_import(n, &name, 1, &im));
	assert_ok(share_import(n, &name, 2, &again));
	assert_int_equal(im.handle, again.handle);
	assert_int_not_equal(im.handle, notify.handle);
	assert_ok(status(n, im.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_ok(handle_close(n, im.handle));
	assert_ok(status(n, notify.handle, &holders, &lost));
	assert_int_equal(holders, 1);
	assert_int_equal(lost, 0);
}

/* The id of a notify that somebody still holds does not go to another. */
static void id_outlives_its_file(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	struct drm_vinci_share_import im;
	uint32_t id, first, got, i, seen = 0;
	struct bo notify;
	struct name name;

	(void)state;
	assert_ok(notify_create(p, 1, &notify, &id));
	assert_ok(share_export(p, notify.handle, VINCI_SHARE_NOTIFY, VINCI_SHARE_UNVALIDATED, 0, &name));
	assert_ok(share_import(n, &name, 1, &im));
	node_kill(p);
	while (!ids(n, 1, 64, &first, &got)) {
		for (i = first; i < first + got; i++)
			assert_int_not_equal(i, id);
		seen += got;
	}
	assert_int_equal(seen, NOTIFIES - 1);
	assert_ok(handle_close(n, im.handle));
	assert_ok(ids(n, 1, 1, &first, &got));
	assert_int_equal(first, id);
}

static void status_refusals(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_notify_status a;
	uint32_t id, holders, lost;
	struct bo bo, notify;

	(void)state;
	assert_fails(status(n, 0, &holders, &lost), ENOENT);
	assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo));
	assert_fails(status(n, bo.handle, &holders, &lost), EINVAL);
	assert_ok(notify_create(n, 0, &notify, &id));
	a = (struct drm_vinci_notify_status){ .handle = notify.handle, .pad = 1 };
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_NOTIFY_STATUS, &a), EINVAL);
}

int run_notify_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_are_unique, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(id_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(create_rules, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(page, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(shared_word, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(holders_and_lost, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(creator_is_lost_too, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(own_import_counts_once, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(id_outlives_its_file, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(status_refusals, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
