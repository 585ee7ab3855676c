/* SPDX-License-Identifier: MIT */
/* vmm_share_test.c - physical memory shared by handle between processes: whitelists, counts, devices, and who ends first. */
#include "share_peer.h"

#define REFUSED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define BAD_PARAM ACL_ERROR_RT_PARAM_INVALID
#define BAD_HANDLE ACL_ERROR_RT_INVALID_HANDLE
#define BAD_ARGUMENT ACL_ERROR_INVALID_PARAM
#define NO_PERMISSION ACL_ERROR_RT_NO_PERMISSION

#define PAGE (2 * MIB)
#define OPEN ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION
#define NONE ACL_MEM_HANDLE_TYPE_NONE
#define BY_NUMBER ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT
#define FABRIC ACL_MEM_SHARE_HANDLE_TYPE_FABRIC

static size_t left_before;

static int setup(void **state)
{
	(void)state;
	if (aclrtSetDevice(0))
		return -1;
	left_before = m_free();
	return 0;
}

static bool memory_is_back(void *arg)
{
	(void)arg;
	return m_free() == left_before;
}

static int teardown(void **state)
{
	bool back = t_until(memory_is_back, NULL, 10000);

	(void)state;
	if (!back)
		print_error("%zu bytes of device memory were not given back\n", left_before - m_free());
	return aclrtResetDeviceForce(0) || !back ? -1 : 0;
}

/* A handle, and its memory mapped. */
struct memory {
	aclrtDrvMemHandle handle;
	uint8_t *va;
	size_t size;
};

static void map(struct memory *m)
{
	void *va = NULL;

	assert_ok(aclrtReserveMemAddress(&va, m->size, 0, NULL, 0));
	assert_ok(aclrtMapMem(va, m->size, 0, m->handle, 0));
	m->va = va;
}

static void create(struct memory *m, size_t size)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE, .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };

	m->size = size;
	assert_ok(aclrtMallocPhysical(&m->handle, size, &prop, 0));
	map(m);
}

static void destroy(struct memory *m)
{
	assert_ok(aclrtUnmapMem(m->va));
	assert_ok(aclrtReleaseMemAddress(m->va));
	assert_ok(aclrtFreePhysical(m->handle));
}

static _Atomic uint64_t *word(struct memory *m, size_t offset)
{
	return (_Atomic uint64_t *)(void *)(m->va + offset);
}

static uint64_t export(struct memory *m, uint64_t flags)
{
	uint64_t number = 0;

	assert_ok(aclrtMemExportToShareableHandle(m->handle, NONE, flags, &number));
	assert_int_not_equal(number, 0);
	return number;
}

static void allow(uint64_t number, struct t_peer *peer)
{
	int32_t pid = (int32_t)peer_ask(peer, "pid");

	assert_ok(aclrtMemSetPidToShareableHandle(number, &pid, 1));
}

static int64_t import(struct t_peer *peer, uint64_t number, int device)
{
	return peer_ask(peer, "vimport %" PRIu64 " %d", number, device);
}

/* --- the main job ------------------------------------------------------------------------- */

/* covers: aclrtMemExportToShareableHandle, aclrtMemSetPidToShareableHandle effect */
/* covers: aclrtMemImportFromShareableHandle effect */
static void test_whitelisted_peer_shares(void **state)
{
	struct t_peer peer, third;
	struct memory m;
	uint64_t number;
	char text[T_LINE_MAX];

	(void)state;
	create(&m, PAGE);
	atomic_store(word(&m, 0), 123);
	number = export(&m, 0);
	peer_start(&peer, 0);
	peer_start(&third, 0);
	allow(number, &peer);
	assert_int_equal(import(&peer, number, 0), 0);
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, 0, "vaccess %zu 0", PAGE);
	assert_ask(&peer, 123, "get 0");
	assert_ask(&peer, 0, "put 8 456");
	assert_int_equal(atomic_load(word(&m, 8)), 456);
	assert_int_equal(import(&third, number, 0), REFUSED);
	peer_message(&third, text, sizeof(text));
	assert_non_null(strstr(text, "aclrtMemSetPidToShareableHandle"));
	allow(number, &third);
	assert_int_equal(import(&third, number, 0), 0);
	assert_ask(&peer, 0, "vunmap");
	assert_ask(&peer, 0, "vrelease");
	assert_ask(&peer, 0, "vfree");
	destroy(&m);
	peer_stop(&peer);
	peer_stop(&third);
}

/* Pages of 1 GiB are more than was asked for: the importer maps what the exporter maps. */
static void test_pages_of_1g(void **state)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE1G, .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	struct memory m = { .size = 300 * MIB };
	struct t_peer peer;
	uint64_t number;

	(void)state;
	assert_ok(aclrtMallocPhysical(&m.handle, m.size, &prop, 0));
	map(&m);
	atomic_store(word(&m, m.size - 8), 5);
	number = export(&m, OPEN);
	peer_start(&peer, 0);
	assert_int_equal(import(&peer, number, 0), 0);
	assert_ask(&peer, REFUSED, "vmap %zu", GIB + PAGE);
	assert_ask(&peer, 0, "vrelease");
	assert_ask(&peer, 0, "vmap %zu", m.size);
	assert_ask(&peer, 5, "get %zu", m.size - 8);
	destroy(&m);
	peer_stop(&peer);
}

/* covers: aclrtMemExportToShareableHandleV2, aclrtMemSetPidToShareableHandleV2 effect */
static void test_v2_by_number(void **state)
{
	struct t_peer peer;
	struct memory m;
	uint64_t number = 0;
	int32_t pids[2] = { 0 };

	(void)state;
	create(&m, PAGE);
	atomic_store(word(&m, 0), 9);
	assert_ok(aclrtMemExportToShareableHandleV2(m.handle, 0, BY_NUMBER, &number));
	peer_start(&peer, 0);
	pids[1] = (int32_t)peer_ask(&peer, "pid");
	assert_int_equal(import(&peer, number, 0), REFUSED);
	assert_ok(aclrtMemSetPidToShareableHandleV2(&number, BY_NUMBER, pids, 2));
	assert_int_equal(import(&peer, number, 0), 0);
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, 9, "get 0");
	destroy(&m);
	peer_stop(&peer);
}

/* covers: aclrtMemImportFromShareableHandleV2 effect */
static void test_v2_import(void **state)
{
	struct t_peer peer;
	struct memory m = { .size = PAGE };
	uint64_t number;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "vcreate %zu", PAGE);
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, 0, "put 0 77");
	assert_ask(&peer, 0, "vexport 1");
	number = (uint64_t)peer_ask(&peer, "number");
	assert_ok(aclrtMemImportFromShareableHandleV2(&number, BY_NUMBER, 0, &m.handle));
	map(&m);
	assert_int_equal(atomic_load(word(&m, 0)), 77);
	destroy(&m);
	peer_stop(&peer);
}

/* --- arguments ---------------------------------------------------------------------------- */

/* covers: aclrtMemExportToShareableHandle, aclrtMemExportToShareableHandleV2 failure */
static void test_export_arguments(void **state)
{
	struct memory m;
	uint64_t number = 5, other;
	aclrtMemFabricHandle fabric;
	struct t_peer peer;

	(void)state;
	create(&m, PAGE);
	assert_refused(aclrtMemExportToShareableHandle(NULL, NONE, 0, &number), BAD_ARGUMENT);
	assert_refused(aclrtMemExportToShareableHandle(m.handle, NONE, 0, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemExportToShareableHandle(m.handle, ACL_MEM_HANDLE_TYPE_POSIX, 0, &number), BAD_ARGUMENT);
	assert_refused(aclrtMemExportToShareableHandle(m.handle, NONE, 2, &number), BAD_PARAM);
	assert_refused(aclrtMemExportToShareableHandle(m.va, NONE, 0, &number), BAD_PARAM);
	assert_refused(aclrtMemExportToShareableHandleV2(NULL, 0, BY_NUMBER, &number), BAD_ARGUMENT);
	assert_refused(aclrtMemExportToShareableHandleV2(m.handle, 0, BY_NUMBER, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemExportToShareableHandleV2(m.handle, 0, 3, &number), BAD_PARAM);
	assert_refused(aclrtMemExportToShareableHandleV2(m.handle, 2, BY_NUMBER, &number), BAD_PARAM);
	assert_refused(aclrtMemExportToShareableHandleV2(m.handle, 1, FABRIC, &fabric), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_int_equal(number, 5);
	/* Once only, whichever call; and never what was imported. */
	number = export(&m, OPEN);
	assert_refused(aclrtMemExportToShareableHandle(m.handle, NONE, OPEN, &other), REFUSED);
	assert_refused(aclrtMemExportToShareableHandleV2(m.handle, OPEN, BY_NUMBER, &other), REFUSED);
	peer_start(&peer, 0);
	assert_int_equal(import(&peer, number, 0), 0);
	assert_ask(&peer, REFUSED, "vexport 1");
	destroy(&m);
	peer_stop(&peer);
}

/* covers: aclrtMemSetPidToShareableHandle, aclrtMemSetPidToShareableHandleV2 failure */
static void test_allow_arguments(void **state)
{
	static int32_t many[65536];
	struct memory m, open;
	uint64_t number, unknown = 0x1234567;
	aclrtMemFabricHandle fabric = { { 0 } };
	int32_t pid = 0;
	struct t_peer peer;

	(void)state;
	create(&m, PAGE);
	create(&open, PAGE);
	number = export(&m, 0);
	peer_start(&peer, 0);
	assert_refused(aclrtMemSetPidToShareableHandle(number, NULL, 1), BAD_ARGUMENT);
	assert_refused(aclrtMemSetPidToShareableHandle(number, &pid, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemSetPidToShareableHandle(number, many, 65536), BAD_PARAM);
	assert_refused(aclrtMemSetPidToShareableHandle(number, many, ((size_t)1 << 32) + 1), BAD_PARAM);
	assert_refused(aclrtMemSetPidToShareableHandle(number, &pid, 1), REFUSED); /* pid 0 does not count */
	many[65534] = (int32_t)peer_ask(&peer, "pid");
	assert_ok(aclrtMemSetPidToShareableHandle(number, many, 65535));
	pid = many[65534];
	assert_refused(aclrtMemSetPidToShareableHandle(unknown, &pid, 1), BAD_HANDLE);
	assert_refused(aclrtMemSetPidToShareableHandle(export(&open, OPEN), &pid, 1), NO_PERMISSION);
	assert_refused(aclrtMemSetPidToShareableHandleV2(NULL, BY_NUMBER, &pid, 1), BAD_ARGUMENT);
	assert_refused(aclrtMemSetPidToShareableHandleV2(&number, BY_NUMBER, NULL, 1), BAD_ARGUMENT);
	assert_refused(aclrtMemSetPidToShareableHandleV2(&number, BY_NUMBER, &pid, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemSetPidToShareableHandleV2(&number, 0, &pid, 1), BAD_PARAM);
	assert_refused(aclrtMemSetPidToShareableHandleV2(&unknown, BY_NUMBER, &pid, 1), BAD_HANDLE);
	assert_refused(aclrtMemSetPidToShareableHandleV2(&fabric, FABRIC, &pid, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	/* Another process than the exporter, on the list or not. */
	assert_ask(&peer, REFUSED, "vallow %" PRIu64 " %d", number, pid);
	assert_int_equal(import(&peer, number, 0), 0);
	destroy(&m);
	destroy(&open);
	peer_stop(&peer);
}

/* A list has an end; who is on it already is no new entry. */
static void test_full_whitelist(void **state)
{
	static int32_t pids[65535];
	struct memory m;
	uint64_t number;
	int32_t extra = 3000000;
	unsigned i;

	(void)state;
	create(&m, PAGE);
	number = export(&m, 0);
	for (i = 0; i < 65535; i++)
		pids[i] = 1000000 + (int32_t)i;
	assert_ok(aclrtMemSetPidToShareableHandle(number, pids, 65535));
	assert_refused(aclrtMemSetPidToShareableHandle(number, &extra, 1), REFUSED);
	assert_ok(aclrtMemSetPidToShareableHandle(number, pids, 2));
	destroy(&m);
}

/* covers: aclrtMemImportFromShareableHandle, aclrtMemImportFromShareableHandleV2 failure */
static void test_import_arguments(void **state)
{
	struct memory m;
	aclrtDrvMemHandle out = &m;
	aclrtMemFabricHandle fabric = { { 0 } };
	uint64_t number, zero = 0;
	struct t_peer peer;

	(void)state;
	create(&m, PAGE);
	number = export(&m, OPEN);
	assert_refused(aclrtMemImportFromShareableHandle(number, 0, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemImportFromShareableHandle(number, 99, &out), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtMemImportFromShareableHandle(number, -1, &out), ACL_ERROR_RT_INVALID_DEVICEID);
	assert_refused(aclrtMemImportFromShareableHandle(0, 0, &out), BAD_HANDLE);
	assert_refused(aclrtMemImportFromShareableHandle(number ^ 1, 0, &out), BAD_HANDLE);
	assert_refused(aclrtMemImportFromShareableHandleV2(NULL, BY_NUMBER, 0, &out), BAD_ARGUMENT);
	assert_refused(aclrtMemImportFromShareableHandleV2(&number, BY_NUMBER, 0, NULL), BAD_ARGUMENT);
	assert_refused(aclrtMemImportFromShareableHandleV2(&number, BY_NUMBER, 1, &out), BAD_ARGUMENT);
	assert_refused(aclrtMemImportFromShareableHandleV2(&number, 3, 0, &out), BAD_PARAM);
	assert_refused(aclrtMemImportFromShareableHandleV2(&zero, BY_NUMBER, 0, &out), BAD_HANDLE);
	assert_refused(aclrtMemImportFromShareableHandleV2(&fabric, FABRIC, 0, &out), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ptr_equal(out, &m);
	peer_start(&peer, -1);
	assert_int_equal(import(&peer, number, 0), ACL_ERROR_RT_CONTEXT_NULL);
	peer_stop(&peer);
	destroy(&m);
}

/* --- one process, counts, devices --------------------------------------------------------- */

static void test_own_export(void **state)
{
	aclrtDrvMemHandle out = NULL;
	struct memory m, listed, other = { .size = PAGE };
	uint64_t number;
	int32_t own = 0;

	(void)state;
	create(&m, PAGE);
	create(&listed, PAGE);
	/* For the memory's own device: not in the exporting process. */
	number = export(&m, OPEN);
	assert_refused(aclrtMemImportFromShareableHandle(number, 0, &out), REFUSED);
	/* For another device: yes. */
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMemImportFromShareableHandle(number, 1, &other.handle));
	map(&other);
	atomic_store(word(&m, 0), 31);
	assert_int_equal(atomic_load(word(&other, 0)), 31);
	destroy(&other);
	/* With a whitelist when the own number is on it. */
	number = export(&listed, 0);
	assert_refused(aclrtMemImportFromShareableHandle(number, 1, &out), REFUSED);
	assert_ok(aclrtDeviceGetBareTgid(&own));
	assert_ok(aclrtMemSetPidToShareableHandle(number, &own, 1));
	assert_ok(aclrtMemImportFromShareableHandle(number, 1, &other.handle));
	assert_ok(aclrtFreePhysical(other.handle));
	destroy(&m);
	destroy(&listed);
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
}

static void test_import_is_counted(void **state)
{
	struct memory m = { .size = PAGE };
	aclrtDrvMemHandle again = NULL, for_one = NULL;
	struct t_peer peer;
	uint64_t number;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "vcreate %zu", PAGE);
	assert_ask(&peer, 0, "vexport 1");
	number = (uint64_t)peer_ask(&peer, "number");
	assert_ok(aclrtMemImportFromShareableHandle(number, 0, &m.handle));
	assert_ok(aclrtMemImportFromShareableHandle(number, 0, &again));
	assert_ptr_equal(again, m.handle);
	/* For another device it is another handle. */
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtMemImportFromShareableHandle(number, 1, &for_one));
	assert_ptr_not_equal(for_one, m.handle);
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtFreePhysical(again));
	map(&m);
	atomic_store(word(&m, 0), 1);
	destroy(&m);
	assert_refused(aclrtFreePhysical(again), BAD_PARAM);
	m.handle = for_one;
	map(&m);
	assert_int_equal(atomic_load(word(&m, 0)), 1);
	destroy(&m);
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	peer_stop(&peer);
}

/* Importing across devices enables access between them; without a link it fails, and nothing stays. */
static void test_peer_access(void **state)
{
	static const char *const env[] = { "VINCI_INSTANCE=vmm-links", "VINCI_PEERS=0-1,2-3", NULL };
	struct t_peer owner, peer;
	uint64_t number;

	(void)state;
	peer_start_env(&owner, 0, env);
	peer_start_env(&peer, 2, env);
	assert_ask(&owner, 0, "vcreate %zu", PAGE);
	assert_ask(&owner, 0, "vmap %zu", PAGE);
	assert_ask(&owner, 0, "put 0 4");
	assert_ask(&owner, 0, "vexport 1");
	number = (uint64_t)peer_ask(&owner, "number");
	assert_int_equal(import(&peer, number, 2), REFUSED);
	assert_ask(&peer, 0, "set 1");
	assert_ask(&peer, 0, "p2pstatus 1 0");
	assert_int_equal(import(&peer, number, 1), 0);
	assert_ask(&peer, 1, "p2pstatus 1 0");
	assert_ask(&peer, 0, "vlocation");
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, 4, "get 0");
	peer_stop(&owner);
	peer_stop(&peer);
}

/* Properties take positions in ASCEND_RT_VISIBLE_DEVICES, access descriptors the driver's numbers. */
static void test_visible_devices(void **state)
{
	static const char *const env[] = { "ASCEND_RT_VISIBLE_DEVICES=2,3", NULL };
	struct t_peer peer;

	(void)state;
	peer_start_env(&peer, 0, env);
	assert_ask(&peer, ACL_ERROR_RT_INVALID_DEVICEID, "vcreate %zu 2", PAGE);
	assert_ask(&peer, REFUSED, "vcreate %zu 1", PAGE);
	assert_ask(&peer, 0, "vcreate %zu 0", PAGE);
	assert_ask(&peer, 0, "vlocation");
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, REFUSED, "vaccess %zu 0", PAGE);
	assert_ask(&peer, 0, "vaccess %zu 2", PAGE);
	peer_stop(&peer);
}

/* --- orders of ending --------------------------------------------------------------------- */

struct pair {
	struct t_peer owner, peer;
	uint64_t number;
};

static void share_between_peers(struct pair *p)
{
	peer_start(&p->owner, 0);
	peer_start(&p->peer, 0);
	assert_ask(&p->owner, 0, "vcreate %zu", 2 * PAGE);
	assert_ask(&p->owner, 0, "vmap %zu", 2 * PAGE);
	assert_ask(&p->owner, 0, "put 0 42");
	assert_ask(&p->owner, 0, "vexport 0");
	p->number = (uint64_t)peer_ask(&p->owner, "number");
	assert_ask(&p->owner, 0, "vallow %" PRIu64 " %d", p->number, (int)peer_ask(&p->peer, "pid"));
	assert_int_equal(import(&p->peer, p->number, 0), 0);
}

static void assert_importer_lives_on(struct pair *p)
{
	struct t_peer late;

	assert_ask(&p->peer, 0, "vmap %zu", 2 * PAGE);
	assert_ask(&p->peer, 42, "get 0");
	/* Once more, from what this process holds; somebody new finds nothing. */
	assert_int_equal(import(&p->peer, p->number, 0), 0);
	peer_start(&late, 0);
	assert_int_equal(import(&late, p->number, 0), BAD_HANDLE);
	peer_stop(&late);
	assert_int_equal(m_free(), left_before - 2 * PAGE);
	assert_ask(&p->peer, 0, "vfree");
	assert_ask(&p->peer, 0, "vunmap");
	assert_int_equal(m_free(), left_before - 2 * PAGE);
	assert_ask(&p->peer, 0, "vfree");
	assert_int_equal(m_free(), left_before);
	assert_int_equal(import(&p->peer, p->number, 0), BAD_HANDLE);
	peer_stop(&p->peer);
}

static void test_exporter_frees_first(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	assert_ask(&p.owner, 0, "vunmap");
	assert_ask(&p.owner, 0, "vrelease");
	assert_ask(&p.owner, 0, "vfree");
	assert_importer_lives_on(&p);
	peer_stop(&p.owner);
}

static void test_exporter_resets_first(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	assert_ask(&p.owner, 0, "reset");
	assert_importer_lives_on(&p);
	peer_stop(&p.owner);
}

static void test_exporter_exits_first(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	peer_stop(&p.owner);
	assert_importer_lives_on(&p);
}

static bool number_is_dead(void *arg)
{
	aclrtDrvMemHandle handle = NULL;

	return aclrtMemImportFromShareableHandle(*(uint64_t *)arg, 0, &handle) == BAD_HANDLE;
}

static void test_exporter_is_killed(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	t_kill(&p.owner);
	assert_true(t_until(number_is_dead, &p.number, 10000));
	assert_importer_lives_on(&p);
}

static void test_importer_is_killed(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	assert_ask(&p.peer, 0, "vmap %zu", 2 * PAGE);
	t_kill(&p.peer);
	assert_ask(&p.owner, 42, "get 0");
	assert_ask(&p.owner, 0, "vfree");
	assert_ask(&p.owner, 0, "vunmap");
	peer_stop(&p.owner);
}

static void test_importer_resets_first(void **state)
{
	struct pair p;

	(void)state;
	share_between_peers(&p);
	assert_ask(&p.peer, 0, "vmap %zu", 2 * PAGE);
	assert_ask(&p.peer, 0, "reset");
	assert_ask(&p.peer, BAD_PARAM, "vfree");
	assert_ask(&p.peer, 0, "set 0");
	assert_int_equal(import(&p.peer, p.number, 0), 0);
	assert_ask(&p.peer, 0, "vmap %zu", 2 * PAGE);
	assert_ask(&p.peer, 42, "get 0");
	peer_stop(&p.peer);
	peer_stop(&p.owner);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_whitelisted_peer_shares),
		TEST(test_pages_of_1g),
		TEST(test_v2_by_number),
		TEST(test_v2_import),
		TEST(test_export_arguments),
		TEST(test_allow_arguments),
		TEST(test_full_whitelist),
		TEST(test_import_arguments),
		TEST(test_own_export),
		TEST(test_import_is_counted),
		TEST(test_peer_access),
		TEST(test_visible_devices),
		TEST(test_exporter_frees_first),
		TEST(test_exporter_resets_first),
		TEST(test_exporter_exits_first),
		TEST(test_exporter_is_killed),
		TEST(test_importer_is_killed),
		TEST(test_importer_resets_first),
	};
	int status;

	if (share_peer_main(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
