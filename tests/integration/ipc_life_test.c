/* SPDX-License-Identifier: MIT */
/* ipc_life_test.c - device memory shared by key: counts, devices, who ends first, and many threads at once. */
#include <pthread.h>

#include "few_addresses.h"
#include "ipc_util.h"

/* --- counts and devices ------------------------------------------------------------------- */

static void test_import_is_counted(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	void *one = NULL, *two = NULL, *other = NULL;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "malloc 4194304");
	assert_ask(&peer, 0, "put 0 9");
	assert_ask(&peer, 0, "export 0 4194304 1");
	peer_key(&peer, key);
	assert_ok(aclrtIpcMemImportByKey(&one, key, 0));
	assert_ok(aclrtIpcMemImportByKey(&two, key, 0));
	assert_ptr_equal(one, two);
	/* Not for another device at the same time. */
	assert_ok(aclrtSetDevice(1));
	assert_refused(aclrtIpcMemImportByKey(&other, key, PEER), REFUSED);
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtIpcMemClose(key));
	assert_int_equal(atomic_load(word(one, 0)), 9);
	assert_refused(aclrtFree(one), BAD_PARAM);
	assert_ok(aclrtIpcMemClose(key));
	/* One too many: the key is the peer's. */
	assert_refused(aclrtIpcMemClose(key), REFUSED);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtIpcMemImportByKey(&other, key, PEER));
	assert_int_equal(atomic_load(word(other, 0)), 9);
	assert_ok(aclrtIpcMemClose(key));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclrtResetDevice(0));
	peer_stop(&peer);
}

/* Across devices an import needs the link enabled in both directions. */
static void test_import_needs_peer_access(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	void *ptr = device_alloc(4 * MIB);

	(void)state;
	export(ptr, 4 * MIB, key, OPEN);
	atomic_store(word(ptr, 0), 3);
	peer_start(&peer, 2);
	assert_ask(&peer, REFUSED, "import %s 0", key);
	assert_ask(&peer, 0, "p2p 0");
	assert_ask(&peer, REFUSED, "import %s 0", key);
	assert_ok(aclrtDeviceEnablePeerAccess(2, 0));
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ask(&peer, 3, "get 0");
	assert_ok(aclrtDeviceDisablePeerAccess(2));
	assert_ask(&peer, 0, "close %s", key);
	assert_ask(&peer, REFUSED, "import %s 0", key);
	assert_ask(&peer, 0, "import %s 1", key);
	assert_ask(&peer, 3, "get 0");
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

static void test_without_link(void **state)
{
	static const char *const env[] = { "VINCI_INSTANCE=ipc-links", "VINCI_PEERS=0-1,2-3", NULL };
	struct t_peer owner, peer;
	char key[KEY_LEN];

	(void)state;
	peer_start_env(&owner, 0, env);
	peer_start_env(&peer, 2, env);
	assert_ask(&owner, 0, "malloc 4194304");
	assert_ask(&owner, 0, "export 0 4194304 1");
	peer_key(&owner, key);
	assert_ask(&peer, REFUSED, "import %s 1", key);
	assert_ask(&peer, 0, "set 1");
	assert_ask(&peer, 0, "import %s 1", key);
	peer_stop(&owner);
	peer_stop(&peer);
}

static void test_thousand_imports(void **state)
{
	enum { COUNT = 1000 };
	static char keys[COUNT][KEY_LEN];
	static void *ptrs[COUNT];
	struct t_peer peer;
	unsigned fds = t_count_fds();
	unsigned i;

	(void)state;
	peer_start(&peer, 0);
	for (i = 0; i < COUNT; i++) {
		assert_ask(&peer, 0, "malloc 65536");
		assert_ask(&peer, 0, "put 0 %u", i);
		assert_ask(&peer, 0, "export 0 65536 1");
		peer_key(&peer, keys[i]);
		assert_ok(aclrtIpcMemImportByKey(&ptrs[i], keys[i], 0));
	}
	assert_true(t_count_fds() < fds + 128);
	for (i = 0; i < COUNT; i++)
		assert_int_equal(atomic_load(word(ptrs[i], 0)), i);
	for (i = 0; i < COUNT; i++)
		assert_ok(aclrtIpcMemClose(keys[i]));
	peer_stop(&peer);
}

/* --- orders of ending --------------------------------------------------------------------- */

struct trio {
	struct t_peer owner, peer;
	char key[KEY_LEN];
};

static void share_between_peers(struct trio *t)
{
	peer_start(&t->owner, 0);
	peer_start(&t->peer, 0);
	assert_ask(&t->owner, 0, "malloc 4194304");
	assert_ask(&t->owner, 0, "put 0 42");
	assert_ask(&t->owner, 0, "export 0 4194304 0");
	peer_key(&t->owner, t->key);
	assert_ask(&t->owner, 0, "allow %s %d", t->key, (int)peer_ask(&t->peer, "pid"));
	assert_ask(&t->peer, 0, "import %s 0", t->key);
}

/* The importer keeps its memory, and nobody else gets in. */
static void assert_importer_lives_on(struct trio *t)
{
	assert_ask(&t->peer, 42, "get 0");
	assert_ask(&t->peer, 0, "put 0 43");
	assert_ask(&t->peer, 43, "get 0");
	assert_ask(&t->peer, 0, "close %s", t->key);
	assert_ask(&t->peer, REFUSED, "import %s 0", t->key);
	peer_stop(&t->peer);
}

static void test_exporter_closes_first(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	assert_ask(&t.owner, 0, "close %s", t.key);
	/* Twice: while somebody holds it, and when nobody does. */
	assert_ask(&t.owner, BAD_HANDLE, "close %s", t.key);
	assert_importer_lives_on(&t);
	assert_ask(&t.owner, REFUSED, "close %s", t.key);
	assert_ask(&t.owner, 43, "get 0");
	peer_stop(&t.owner);
}

static void test_exporter_frees_first(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	assert_ask(&t.owner, 0, "free");
	assert_importer_lives_on(&t);
	peer_stop(&t.owner);
}

static void test_exporter_resets_first(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	assert_ask(&t.owner, 0, "reset");
	assert_importer_lives_on(&t);
	peer_stop(&t.owner);
}

static void test_exporter_exits_first(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	peer_stop(&t.owner);
	assert_importer_lives_on(&t);
}

static bool key_is_dead(void *arg)
{
	void *ptr = NULL;

	return aclrtIpcMemImportByKey(&ptr, arg, 0) == REFUSED;
}

static void test_exporter_is_killed(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	t_kill(&t.owner);
	assert_true(t_until(key_is_dead, t.key, 10000));
	assert_importer_lives_on(&t);
}

/* Charged as long as somebody holds it. */
static void test_importer_is_killed(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	t_kill(&t.peer);
	assert_ask(&t.owner, 42, "get 0");
	assert_ask(&t.owner, 0, "close %s", t.key);
	assert_ask(&t.owner, 0, "free");
	peer_stop(&t.owner);
}

static void test_importer_resets_first(void **state)
{
	struct trio t;

	(void)state;
	share_between_peers(&t);
	assert_ask(&t.peer, 0, "reset");
	assert_ask(&t.peer, 0, "set 0");
	assert_ask(&t.peer, REFUSED, "close %s", t.key);
	assert_ask(&t.peer, 0, "import %s 0", t.key);
	assert_ask(&t.peer, 42, "get 0");
	peer_stop(&t.peer);
	peer_stop(&t.owner);
}

/* The importer's memory is charged while the importer holds it, and not a moment longer. */
static void test_charge_moves_with_holders(void **state)
{
	struct trio t;
	size_t left = m_free();

	(void)state;
	share_between_peers(&t);
	assert_ask(&t.owner, 0, "free");
	assert_int_equal(m_free(), left - 6 * MIB); /* the padding takes a page */
	assert_ask(&t.peer, 0, "close %s", t.key);
	assert_int_equal(m_free(), left);
	peer_stop(&t.peer);
	peer_stop(&t.owner);
}

/* A kernel that uses the import when it is closed keeps it until it has ended. */
static void test_close_under_a_kernel(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	aclrtStream stream = NULL;
	struct m_gate gate = { .value = 88 };
	void *ptr = NULL;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "malloc 4194304");
	assert_ask(&peer, 0, "export 0 4194304 1");
	peer_key(&peer, key);
	assert_ok(aclrtIpcMemImportByKey(&ptr, key, 0));
	gate.store_to = ptr;
	assert_ok(aclrtCreateStream(&stream));
	m_close(&gate, stream);
	assert_ok(aclrtIpcMemClose(key));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ask(&peer, 88, "get 0");
	assert_ok(aclrtDestroyStream(stream));
	m_gate_end(&gate);
	peer_stop(&peer);
}

/* Imported and closed again while it is used: each import is its own. */
static void test_again_after_close(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	void *ptr = NULL;
	unsigned i, maps = 0;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "malloc 4194304");
	assert_ask(&peer, 0, "export 0 4194304 1");
	peer_key(&peer, key);
	for (i = 0; i < 300; i++) {
		assert_ok(aclrtIpcMemImportByKey(&ptr, key, 0));
		atomic_fetch_add(word(ptr, 0), 1);
		assert_ok(aclrtIpcMemClose(key));
		if (i == 200)
			maps = t_count_maps();
	}
	if (!FEW_ADDRESSES) /* the sanitizer maps a shadow of everything for itself */
		assert_true(t_count_maps() <= maps + 100);
	assert_ask(&peer, 300, "get 0");
	peer_stop(&peer);
}

/* --- many threads ------------------------------------------------------------------------- */

static void *import_and_close(void *arg)
{
	intptr_t bad = aclrtSetDevice(0);
	void *ptr = NULL;
	unsigned i;

	for (i = 0; i < 200 && !bad; i++) {
		bad = aclrtIpcMemImportByKey(&ptr, arg, 0);
		if (!bad)
			atomic_fetch_add(word(ptr, 0), 1);
		bad = bad ? bad : aclrtIpcMemClose(arg);
	}
	bad = bad ? bad : aclrtResetDevice(0);
	return (void *)bad;
}

/* Memory of its own, whole and in parts, imported and given up in changing order. */
static void *export_and_free(void *arg)
{
	intptr_t bad = aclrtSetDevice(0);
	uint8_t *ptr = NULL;
	void *again = NULL;
	char key[KEY_LEN];
	unsigned i;

	(void)arg;
	for (i = 0; i < 50 && !bad; i++) {
		bad = aclrtMalloc((void **)&ptr, 6 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
		bad = bad ? bad : aclrtIpcMemGetExportKey(ptr + i % 3 * 2 * MIB, 2 * MIB, key, KEY_LEN, OPEN);
		bad = bad ? bad : aclrtIpcMemImportByKey(&again, key, 0);
		if (!bad && i % 2)
			bad = aclrtIpcMemClose(key);
		bad = bad ? bad : aclrtFree(ptr);
		if (!bad && !(i % 2))
			bad = aclrtIpcMemClose(key);
	}
	bad = bad ? bad : aclrtResetDevice(0);
	return (void *)bad;
}

static void test_threads(void **state)
{
	enum { THREADS = 12 };
	pthread_t threads[THREADS];
	struct t_peer peer;
	char key[KEY_LEN];
	void *bad = NULL;
	unsigned i;

	(void)state;
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "malloc 4194304");
	assert_ask(&peer, 0, "export 0 4194304 1");
	peer_key(&peer, key);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i % 3 ? import_and_close : export_and_free, key), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	assert_ask(&peer, THREADS * 2 / 3 * 200, "get 0");
	assert_refused(aclrtIpcMemClose(key), REFUSED);
	peer_stop(&peer);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_import_is_counted),
		TEST(test_import_needs_peer_access),
		TEST(test_without_link),
		TEST(test_thousand_imports),
		TEST(test_exporter_closes_first),
		TEST(test_exporter_frees_first),
		TEST(test_exporter_resets_first),
		TEST(test_exporter_exits_first),
		TEST(test_exporter_is_killed),
		TEST(test_importer_is_killed),
		TEST(test_importer_resets_first),
		TEST(test_charge_moves_with_holders),
		TEST(test_close_under_a_kernel),
		TEST(test_again_after_close),
		TEST(test_threads),
	};
	int status;

	if (share_peer_main(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
