/* SPDX-License-Identifier: MIT */
/* ipc_test.c - device memory shared by key: whitelists, arguments, alignment, and parts of an allocation. */
#include "ipc_util.h"

/* --- the main job ------------------------------------------------------------------------- */

/* covers: aclrtIpcMemGetExportKey, aclrtIpcMemSetImportPid, aclrtIpcMemImportByKey, aclrtIpcMemClose effect */
static void test_whitelisted_peer_shares(void **state)
{
	struct t_peer peer, third;
	char key[KEY_LEN], text[T_LINE_MAX];
	void *ptr = device_alloc(MIB);

	(void)state;
	atomic_store(word(ptr, 0), 123);
	export(ptr, MIB, key, 0);
	peer_start(&peer, 0);
	peer_start(&third, 0);
	allow(key, &peer);
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ask(&peer, 123, "get 0");
	assert_ask(&peer, 0, "put 8 456");
	assert_int_equal(atomic_load(word(ptr, 8)), 456);
	/* The third is not on the list, and the message says what to do without giving the key away. */
	assert_ask(&third, REFUSED, "import %s 0", key);
	peer_message(&third, text, sizeof(text));
	assert_non_null(strstr(text, "whitelist"));
	assert_non_null(strstr(text, "aclrtIpcMemSetImportPid"));
	assert_null(strstr(text, key));
	/* Added later it may. */
	allow(key, &third);
	assert_ask(&third, 0, "import %s 0", key);
	assert_ask(&third, 456, "get 8");
	assert_ask(&peer, 0, "close %s", key);
	assert_ask(&third, 0, "close %s", key);
	assert_ok(aclrtIpcMemClose(key));
	assert_ok(aclrtFree(ptr));
	/* What the sample does last, unchecked: a pointer that is gone. */
	assert_ask(&peer, BAD_PARAM, "free");
	peer_stop(&peer);
	peer_stop(&third);
}

/* A default key lets nobody in before a pid is on its list, its exporter included. */
static void test_nobody_by_default(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB), *again = NULL;

	(void)state;
	export(ptr, MIB, key, 0);
	peer_start(&peer, 0);
	assert_ask(&peer, REFUSED, "import %s 0", key);
	assert_refused(aclrtIpcMemImportByKey(&again, key, 0), REFUSED);
	assert_null(again);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

/* covers: aclrtIpcMemGetExportKey, aclrtIpcMemImportByKey effect */
static void test_without_whitelist(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB), *again = NULL;
	int32_t pid;

	(void)state;
	export(ptr, MIB, key, OPEN);
	peer_start(&peer, 0);
	pid = (int32_t)peer_ask(&peer, "pid");
	assert_refused(aclrtIpcMemSetImportPid(key, &pid, 1), NO_PERMISSION);
	assert_ask(&peer, 0, "import %s 0", key);
	atomic_store(word(ptr, 64), 7);
	assert_ask(&peer, 7, "get 64");
	/* The exporter gets a second address for it. */
	assert_ok(aclrtIpcMemImportByKey(&again, key, PEER));
	assert_ptr_not_equal(again, ptr);
	assert_int_equal(atomic_load(word(again, 64)), 7);
	/* Its first close is of the import, its second of the key. */
	assert_ok(aclrtIpcMemClose(key));
	assert_refused(aclrtMemset(again, 1, 0, 1), REFUSED);
	assert_ask(&peer, 7, "get 64");
	assert_ok(aclrtIpcMemClose(key));
	assert_ask(&peer, 0, "close %s", key);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

static void test_number_of_nobody(void **state)
{
	struct t_peer early, late;
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB);
	int32_t nobody = 0x3fffff; /* no process: what gets the number later does not match */

	(void)state;
	export(ptr, MIB, key, 0);
	assert_ok(aclrtIpcMemSetImportPid(key, &nobody, 1));
	peer_start(&early, 0);
	allow(key, &early);
	peer_start(&late, 0);
	assert_ask(&late, REFUSED, "import %s 0", key);
	assert_ask(&early, 0, "import %s 0", key);
	peer_stop(&early);
	peer_stop(&late);
	assert_ok(aclrtFree(ptr));
}

/* --- arguments ---------------------------------------------------------------------------- */

/* covers: aclrtIpcMemGetExportKey failure */
static void test_export_arguments(void **state)
{
	char key[256] = "untouched";
	void *ptr = device_alloc(MIB);

	(void)state;
	assert_refused(aclrtIpcMemGetExportKey(NULL, MIB, key, KEY_LEN, 0), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, NULL, KEY_LEN, 0), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemGetExportKey(ptr, 0, key, KEY_LEN, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, key, 0, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, key, KEY_LEN - 1, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, key, ((size_t)1 << 32) + 64, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, key, KEY_LEN, 2), BAD_PARAM);
	assert_string_equal(key, "untouched");
	/* A longer buffer is welcome; 65 bytes of it are written. */
	memset(key, 'x', sizeof(key));
	assert_ok(aclrtIpcMemGetExportKey(ptr, MIB, key, sizeof(key), 0));
	assert_int_equal(strlen(key), KEY_LEN - 1);
	assert_int_equal(key[KEY_LEN], 'x');
	assert_ok(aclrtFree(ptr));
}

/* covers: aclrtIpcMemSetImportPid failure */
static void test_allow_arguments(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];
	int32_t pids[40], none = 0, own = 0;
	void *ptr = device_alloc(MIB);
	unsigned i;

	(void)state;
	export(ptr, MIB, key, 0);
	peer_start(&peer, 0);
	for (i = 0; i < 40; i++)
		pids[i] = (int32_t)peer_ask(&peer, "pid");
	assert_refused(aclrtIpcMemSetImportPid(NULL, pids, 1), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemSetImportPid(key, NULL, 1), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemSetImportPid(key, pids, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemSetImportPid(key, pids, 32), BAD_PARAM);
	assert_refused(aclrtIpcMemSetImportPid("", pids, 1), BAD_PARAM);
	assert_refused(aclrtIpcMemSetImportPid("no such key", pids, 1), REFUSED);
	/* Pid 0 and the own one are skipped; when nothing remains the call fails. */
	assert_ok(aclrtDeviceGetBareTgid(&own));
	assert_refused(aclrtIpcMemSetImportPid(key, &none, 1), REFUSED);
	assert_refused(aclrtIpcMemSetImportPid(key, &own, 1), REFUSED);
	pids[0] = 0;
	pids[1] = own;
	assert_ok(aclrtIpcMemSetImportPid(key, pids, 31));
	/* Only the exporter. */
	assert_ask(&peer, REFUSED, "allow %s %d", key, pids[2]);
	assert_ask(&peer, 0, "import %s 0", key);
	/* Closed, but still held by the peer. */
	assert_ok(aclrtIpcMemClose(key));
	assert_refused(aclrtIpcMemSetImportPid(key, pids, 3), BAD_HANDLE);
	peer_stop(&peer);
	assert_ok(aclrtFree(ptr));
}

/* A list has an end; who is on it already is no new entry. */
static void test_full_whitelist(void **state)
{
	enum { SLOTS = 32768, CALL = 31 };
	int32_t pids[CALL], one = 1000000, extra = 3000000;
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB);
	unsigned i, n;

	(void)state;
	export(ptr, MIB, key, 0);
	for (i = 0; i < SLOTS; i += n) {
		for (n = 0; n < CALL && i + n < SLOTS; n++)
			pids[n] = one + (int32_t)(i + n);
		assert_ok(aclrtIpcMemSetImportPid(key, pids, n));
	}
	assert_refused(aclrtIpcMemSetImportPid(key, &extra, 1), REFUSED);
	assert_ok(aclrtIpcMemSetImportPid(key, &one, 1));
	assert_ok(aclrtFree(ptr));
}

/* covers: aclrtIpcMemImportByKey failure */
static void test_import_arguments(void **state)
{
	char key[KEY_LEN + 10];
	void *ptr = device_alloc(MIB), *out = &key;

	(void)state;
	export(ptr, MIB, key, OPEN);
	assert_refused(aclrtIpcMemImportByKey(NULL, key, 0), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemImportByKey(&out, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemImportByKey(&out, key, 2), BAD_PARAM);
	assert_refused(aclrtIpcMemImportByKey(&out, "", 0), BAD_PARAM);
	memset(key + 64, 'a', 10);
	key[64 + 9] = '\0';
	assert_refused(aclrtIpcMemImportByKey(&out, key, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemImportByKey(&out, "0123456789abcdef", 0), REFUSED);
	key[64] = '\0';
	key[0] = key[0] == '0' ? '1' : '0';
	assert_refused(aclrtIpcMemImportByKey(&out, key, 0), REFUSED);
	assert_ptr_equal(out, &key);
	assert_ok(aclrtFree(ptr));
}

/* Names of other things are no keys, whoever made them. */
static void test_names_of_other_things(void **state)
{
	char key[KEY_LEN] = "", number_text[KEY_LEN];
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE, .location = { 0, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtDrvMemHandle handle = NULL;
	aclrtNotify notify = NULL;
	uint64_t number = 0;
	void *out = NULL;

	(void)state;
	assert_ok(aclrtCreateNotify(&notify, 0));
	assert_ok(aclrtNotifyGetExportKey(notify, key, KEY_LEN, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	assert_refused(aclrtIpcMemImportByKey(&out, key, 0), REFUSED);
	assert_refused(aclrtIpcMemClose(key), REFUSED);
	assert_ok(aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
	assert_ok(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
	snprintf(number_text, sizeof(number_text), "%064" PRIx64, number);
	assert_refused(aclrtIpcMemImportByKey(&out, number_text, 0), REFUSED);
	memcpy(key, &number, sizeof(number));
	key[sizeof(number)] = '\0';
	assert_int_not_equal(aclrtIpcMemImportByKey(&out, key, 0), 0);
	assert_null(out);
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtDestroyNotify(notify));
}

/* covers: aclrtIpcMemClose failure */
static void test_close_arguments(void **state)
{
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB);

	(void)state;
	export(ptr, MIB, key, OPEN);
	assert_refused(aclrtIpcMemClose(NULL), BAD_ARGUMENT);
	assert_refused(aclrtIpcMemClose(""), BAD_PARAM);
	assert_refused(aclrtIpcMemClose("no such key"), REFUSED);
	assert_ok(aclrtIpcMemClose(key));
	assert_refused(aclrtIpcMemClose(key), REFUSED);
	assert_ok(aclrtFree(ptr));
}

/* Of each function: without a device. */
static void test_without_context(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN];

	(void)state;
	memset(key, 'a', 64);
	key[64] = '\0';
	peer_start(&peer, -1);
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "import %s 0", key);
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "close %s", key);
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "allow %s 1", key);
	assert_ask(&peer, 0, "set 0");
	assert_ask(&peer, 0, "malloc 1048576");
	assert_ask(&peer, 0, "reset");
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "export 0 4096 0");
	peer_stop(&peer);
}

/* covers: aclrtIpcMemSetAttr, aclrtIpcMemImportPidInterServer failure */
static void test_other_products_only(void **state)
{
	char key[KEY_LEN];
	void *ptr = device_alloc(MIB);
	int32_t pid = 1;
	aclrtServerPid server = { .sdid = 0, .pid = &pid, .num = 1 };
	aclrtServerPid empty = { .sdid = 0, .pid = NULL, .num = 1 };

	(void)state;
	export(ptr, MIB, key, 0);
	assert_refused(aclrtIpcMemSetAttr(NULL, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemSetAttr(key, 1, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 4), BAD_PARAM);
	assert_refused(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtIpcMemImportPidInterServer(NULL, &server, 1), BAD_PARAM);
	assert_refused(aclrtIpcMemImportPidInterServer(key, NULL, 1), BAD_PARAM);
	assert_refused(aclrtIpcMemImportPidInterServer(key, &server, 0), BAD_PARAM);
	assert_refused(aclrtIpcMemImportPidInterServer(key, &empty, 1), BAD_PARAM);
	assert_refused(aclrtIpcMemImportPidInterServer(key, &server, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclrtFree(ptr));
}

/* --- what can be exported ----------------------------------------------------------------- */

/* Starts of pages only, or an importer would see what lies beside. */
static void test_alignment(void **state)
{
	char key[KEY_LEN];
	void *small = device_alloc(512), *pages, *huge, *gigantic;

	(void)state;
	assert_ok(aclrtMalloc(&pages, 64 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY));
	assert_ok(aclrtMalloc(&huge, 8 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
	assert_ok(aclrtMalloc(&gigantic, 2 * GIB, ACL_MEM_MALLOC_HUGE1G_ONLY));
	assert_refused(aclrtIpcMemGetExportKey(small, 512, key, KEY_LEN, 0), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)pages + 512, 512, key, KEY_LEN, 0), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)huge + 4096, 4096, key, KEY_LEN, 0), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)gigantic + 2 * MIB, 4096, key, KEY_LEN, 0), REFUSED);
	export((uint8_t *)gigantic + GIB, 4096, key, 0);
	export((uint8_t *)pages + 4096, 4096, key, 0);
	export((uint8_t *)huge + 2 * MIB, 4096, key, 0);
	/* The range has to lie inside. */
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)pages + 8192, 64 * KIB, key, KEY_LEN, 0), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey(huge, SIZE_MAX, key, KEY_LEN, 0), REFUSED);
	assert_ok(aclrtFree(small));
	assert_ok(aclrtFree(pages));
	assert_ok(aclrtFree(huge));
	assert_ok(aclrtFree(gigantic));
}

/* An address of a small block that happens to start a page is no exception. */
static void test_small_blocks_never(void **state)
{
	char key[KEY_LEN];
	void *blocks[64];
	unsigned i, aligned = 0;

	(void)state;
	for (i = 0; i < 64; i++) {
		blocks[i] = device_alloc(480);
		aligned += !((uintptr_t)blocks[i] % 4096);
		assert_refused(aclrtIpcMemGetExportKey(blocks[i], 480, key, KEY_LEN, 0), REFUSED);
	}
	assert_true(aligned > 0);
	for (i = 0; i < 64; i++)
		assert_ok(aclrtFree(blocks[i]));
}

static void test_other_memory(void **state)
{
	char key[KEY_LEN], own[KEY_LEN];
	void *host = NULL, *ptr = device_alloc(MIB), *imported = NULL, *plain = malloc(4096);

	(void)state;
	assert_ok(aclrtMallocHost(&host, 8192));
	assert_refused(aclrtIpcMemGetExportKey(host, 8192, key, KEY_LEN, 0), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey(plain, 4096, key, KEY_LEN, 0), REFUSED);
	export(ptr, MIB, own, OPEN);
	assert_ok(aclrtIpcMemImportByKey(&imported, own, 0));
	assert_refused(aclrtIpcMemGetExportKey(imported, MIB, key, KEY_LEN, 0), REFUSED);
	assert_ok(aclrtIpcMemClose(own));
	assert_ok(aclrtFree(ptr));
	assert_refused(aclrtIpcMemGetExportKey(ptr, MIB, key, KEY_LEN, 0), REFUSED);
	assert_ok(aclrtFreeHost(host));
	free(plain);
}

/* One key is as good as another, and goes alone. */
static void test_exported_several_times(void **state)
{
	struct t_peer peer;
	char one[KEY_LEN], two[KEY_LEN];
	void *ptr = device_alloc(4 * MIB);

	(void)state;
	export(ptr, 4 * MIB, one, OPEN);
	export(ptr, 4 * MIB, two, OPEN);
	assert_string_not_equal(one, two);
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "import %s 0", one);
	assert_ask(&peer, 0, "put 0 11");
	assert_ok(aclrtIpcMemClose(one));
	assert_ask(&peer, 0, "import %s 0", two);
	assert_ask(&peer, 11, "get 0");
	assert_ask(&peer, REFUSED, "export 0 4194304 0");
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

/* --- parts of an allocation --------------------------------------------------------------- */

/* What is not exported cannot be reached: the import ends with it. */
static void test_part(void **state)
{
	struct t_peer peer;
	char key[KEY_LEN], again[KEY_LEN];
	void *ptr = device_alloc(16 * MIB), *base = NULL;
	size_t size = 0, left;
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++)
		atomic_store(word(ptr, i * 2 * MIB + 8), 100 + i);
	left = m_free();
	export((uint8_t *)ptr + 4 * MIB, 4 * MIB, key, OPEN);
	assert_int_equal(m_free(), left);
	/* Nothing has changed for the exporter: contents, address, size. */
	for (i = 0; i < 8; i++)
		assert_int_equal(atomic_load(word(ptr, i * 2 * MIB + 8)), 100 + i);
	assert_ok(aclrtMemGetAddressRange((uint8_t *)ptr + 5 * MIB, &base, &size));
	assert_ptr_equal(base, ptr);
	assert_int_equal(size, 16 * MIB + 32);
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ask(&peer, 4 * MIB, "range");
	assert_ask(&peer, 4 * MIB, "reach");
	assert_ask(&peer, 102, "get 8");
	assert_ask(&peer, 103, "get %zu", 2 * MIB + 8);
	assert_ask(&peer, 0, "put 8 202");
	assert_int_equal(atomic_load(word(ptr, 4 * MIB + 8)), 202);
	/* The same part once more; not one that cuts through it. */
	export((uint8_t *)ptr + 4 * MIB, 4 * MIB, again, OPEN);
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)ptr + 6 * MIB, 4 * MIB, again, KEY_LEN, OPEN), REFUSED);
	assert_refused(aclrtIpcMemGetExportKey((uint8_t *)ptr + 4 * MIB, 2 * MIB, again, KEY_LEN, OPEN), REFUSED);
	export((uint8_t *)ptr + 8 * MIB, 2 * MIB, again, OPEN);
	assert_int_equal(m_free(), left);
	assert_ask(&peer, 0, "close %s", key);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

/* Parts that nobody shares any more are no obstacle: the range that holds them is one object again. */
static void test_parts_are_joined(void **state)
{
	struct t_peer peer;
	char one[KEY_LEN], two[KEY_LEN], inner[KEY_LEN], all[KEY_LEN];
	uint8_t *ptr = device_alloc(16 * MIB);
	size_t left = m_free();
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++)
		atomic_store(word(ptr, i * 2 * MIB + 8), 100 + i);
	export(ptr + 4 * MIB, 4 * MIB, one, OPEN);
	export(ptr + 10 * MIB, 2 * MIB, two, OPEN);
	assert_ok(aclrtIpcMemClose(one));
	export(ptr + 6 * MIB, 2 * MIB, inner, OPEN);
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "import %s 0", two);
	assert_ok(aclrtIpcMemClose(two));
	/* One key is left, and one importer of a key that is closed. */
	assert_refused(aclrtIpcMemGetExportKey(ptr, 16 * MIB, all, KEY_LEN, OPEN), REFUSED);
	assert_ok(aclrtIpcMemClose(inner));
	assert_refused(aclrtIpcMemGetExportKey(ptr, 16 * MIB, all, KEY_LEN, OPEN), REFUSED);
	export(ptr + 2 * MIB, 8 * MIB, one, OPEN);
	assert_int_equal(m_free(), left);
	assert_ok(aclrtIpcMemClose(one));
	assert_ask(&peer, 0, "put 8 205");
	assert_ask(&peer, 0, "close %s", two);
	export(ptr, 16 * MIB, all, OPEN);
	assert_int_equal(m_free(), left);
	assert_ask(&peer, 0, "import %s 0", all);
	for (i = 0; i < 8; i++) {
		assert_int_equal(atomic_load(word(ptr, i * 2 * MIB + 8)), i == 5 ? 205 : 100 + i);
		assert_ask(&peer, i == 5 ? 205 : 100 + i, "get %zu", i * 2 * MIB + 8);
	}
	assert_ask(&peer, 0, "put 0 1");
	assert_int_equal(atomic_load(word(ptr, 0)), 1);
	assert_ask(&peer, 0, "close %s", all);
	assert_ok(aclrtIpcMemClose(all));
	/* And in parts again. */
	export(ptr + 14 * MIB, 2 * MIB, two, OPEN);
	assert_ask(&peer, 0, "import %s 0", two);
	assert_ask(&peer, 107, "get 8");
	assert_int_equal(m_free(), left);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

/* A part of what another process maps stays where it is. */
static void test_part_of_what_is_shared(void **state)
{
	struct t_peer peer;
	char whole[KEY_LEN], part[KEY_LEN];
	void *ptr = device_alloc(8 * MIB);

	(void)state;
	export(ptr, 8 * MIB, whole, OPEN);
	assert_refused(aclrtIpcMemGetExportKey(ptr, 2 * MIB, part, KEY_LEN, OPEN), REFUSED);
	peer_start(&peer, 0);
	assert_ask(&peer, 0, "import %s 0", whole);
	assert_ok(aclrtIpcMemClose(whole));
	assert_refused(aclrtIpcMemGetExportKey(ptr, 2 * MIB, part, KEY_LEN, OPEN), REFUSED);
	assert_ask(&peer, 0, "close %s", whole);
	export(ptr, 2 * MIB, part, OPEN);
	peer_stop(&peer);
	assert_ok(aclrtFree(ptr));
}

/* Untouched memory stays unbacked when a part of it moves. */
static void test_part_stays_lazy(void **state)
{
	char key[KEY_LEN];
	void *ptr = device_alloc(2 * GIB);
	unsigned long before;

	(void)state;
	atomic_store(word(ptr, GIB), 5);
	before = t_rss_kib();
	export((uint8_t *)ptr + 512 * MIB, GIB, key, OPEN);
	assert_int_equal(atomic_load(word(ptr, GIB)), 5);
	assert_true(t_rss_kib() < before + 64 * 1024);
	assert_ok(aclrtFree(ptr));
}

/* A running kernel that writes the part is waited for. */
static void test_part_waits_for_tasks(void **state)
{
	char key[KEY_LEN];
	struct t_peer peer;
	aclrtStream stream = NULL;
	void *ptr = device_alloc(8 * MIB);
	struct m_gate gate = { .store_to = (atomic_int *)ptr, .value = 77 };

	(void)state;
	peer_start(&peer, 0);
	assert_ok(aclrtCreateStream(&stream));
	m_close(&gate, stream);
	m_open(&gate);
	export(ptr, 2 * MIB, key, OPEN);
	assert_int_equal(*(atomic_int *)ptr, 77);
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ask(&peer, 77, "get 0");
	assert_ok(aclrtSynchronizeStream(stream));
	assert_ok(aclrtDestroyStream(stream));
	m_gate_end(&gate);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_whitelisted_peer_shares),
		TEST(test_nobody_by_default),
		TEST(test_without_whitelist),
		TEST(test_number_of_nobody),
		TEST(test_export_arguments),
		TEST(test_allow_arguments),
		TEST(test_full_whitelist),
		TEST(test_import_arguments),
		TEST(test_names_of_other_things),
		TEST(test_close_arguments),
		TEST(test_without_context),
		TEST(test_other_products_only),
		TEST(test_alignment),
		TEST(test_small_blocks_never),
		TEST(test_other_memory),
		TEST(test_exported_several_times),
		TEST(test_part),
		TEST(test_parts_are_joined),
		TEST(test_part_of_what_is_shared),
		TEST(test_part_stays_lazy),
		TEST(test_part_waits_for_tasks),
	};
	int status;

	if (share_peer_main(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
