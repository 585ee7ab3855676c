/* SPDX-License-Identifier: MIT */
/* sharing_a3_test.c - what Atlas A3 devices have over A2 in sharing: fabric handles, links, servers of a pod. */
#include "few_addresses.h"
#include "share_peer.h"

#define REFUSED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define BAD_PARAM ACL_ERROR_RT_PARAM_INVALID
#define BAD_HANDLE ACL_ERROR_RT_INVALID_HANDLE
#define BAD_ARGUMENT ACL_ERROR_INVALID_PARAM

#define PAGE (2 * MIB)
#define TIB (1024 * GIB)
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
	return aclrtResetDeviceForce(0) || !back ? -1 : 0;
}

static aclrtDrvMemHandle create_on(uint32_t device, aclrtMemLocationType type, size_t size)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_MEM_HUGE, .location = { device, type } };
	aclrtDrvMemHandle handle = NULL;

	assert_ok(aclrtMallocPhysical(&handle, size, &prop, 0));
	return handle;
}

static aclrtDrvMemHandle create(aclrtMemLocationType type, size_t size)
{
	return create_on(0, type, size);
}

static uint8_t *map(aclrtDrvMemHandle handle, size_t size)
{
	void *va = NULL;

	assert_ok(aclrtReserveMemAddress(&va, size, 0, NULL, 1));
	assert_ok(aclrtMapMem(va, size, 0, handle, 0));
	return va;
}

static void unmap(uint8_t *va)
{
	assert_ok(aclrtUnmapMem(va));
	assert_ok(aclrtReleaseMemAddress(va));
}

static void hex(const aclrtMemFabricHandle *fabric, char text[257])
{
	unsigned i;

	for (i = 0; i < sizeof(fabric->data); i++)
		snprintf(text + 2 * i, 3, "%02x", fabric->data[i]);
}

/* --- fabric handles ----------------------------------------------------------------------- */

static void test_fabric_handle(void **state)
{
	aclrtDrvMemHandle handle = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	uint8_t *va = map(handle, PAGE);
	aclrtMemFabricHandle fabric;
	char text[257];
	struct t_peer peer;

	(void)state;
	va[0] = 17;
	assert_ok(aclrtMemExportToShareableHandleV2(handle, 1, FABRIC, &fabric));
	assert_refused(aclrtMemExportToShareableHandleV2(handle, 1, FABRIC, &fabric), REFUSED);
	hex(&fabric, text);
	peer_start(&peer, 3);
	assert_ask(&peer, 0, "fimport %s", text);
	assert_ask(&peer, 0, "vmap %zu", PAGE);
	assert_ask(&peer, 0, "vaccess %zu 3", PAGE);
	assert_ask(&peer, 17, "get 0");
	/* A bit of it changed, and it is nobody's. */
	text[255] = text[255] == '0' ? '1' : '0';
	assert_ask(&peer, BAD_HANDLE, "fimport %s", text);
	unmap(va);
	assert_ok(aclrtFreePhysical(handle));
	assert_ask(&peer, 17, "get 0");
	peer_stop(&peer);
}

static void test_fabric_whitelist(void **state)
{
	aclrtDrvMemHandle handle = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	aclrtMemFabricHandle fabric;
	char text[257];
	struct t_peer peer;
	int32_t pids[2] = { 0 };

	(void)state;
	assert_ok(aclrtMemExportToShareableHandleV2(handle, 0, FABRIC, &fabric));
	hex(&fabric, text);
	peer_start(&peer, 0);
	assert_ask(&peer, REFUSED, "fimport %s", text);
	pids[1] = (int32_t)peer_ask(&peer, "pid");
	assert_ok(aclrtMemSetPidToShareableHandleV2(&fabric, FABRIC, pids, 2));
	assert_ask(&peer, 0, "fimport %s", text);
	peer_stop(&peer);
	assert_ok(aclrtFreePhysical(handle));
}

/* Host memory has no device: its exporter may import it for a second address. */
static void test_own_host_memory(void **state)
{
	aclrtDrvMemHandle handle = create(ACL_MEM_LOCATION_TYPE_HOST, PAGE), again = NULL;
	aclrtMemFabricHandle fabric;
	uint8_t *one = map(handle, PAGE), *two;

	(void)state;
	assert_ok(aclrtMemExportToShareableHandleV2(handle, 1, FABRIC, &fabric));
	assert_ok(aclrtMemImportFromShareableHandleV2(&fabric, FABRIC, 0, &again));
	two = map(again, PAGE);
	one[5] = 6;
	assert_int_equal(two[5], 6);
	/* Either goes first. */
	unmap(one);
	assert_ok(aclrtFreePhysical(handle));
	assert_int_equal(two[5], 6);
	unmap(two);
	assert_ok(aclrtFreePhysical(again));
}

/*
 * What was imported is the importing device's side of it, host memory too: engines queue copies from host to host that
 * way, which are refused between the memories themselves.
 */
static void test_imported_host_memory(void **state)
{
	aclrtDrvMemHandle own[2], imported[2];
	aclrtPtrAttributes attributes;
	aclrtPhysicalMemProp prop;
	aclrtMemFabricHandle fabric;
	uint8_t *host[2], *side[2];
	aclrtStream stream;

	(void)state;
	for (int i = 0; i < 2; i++) {
		own[i] = create(ACL_MEM_LOCATION_TYPE_HOST, PAGE);
		host[i] = map(own[i], PAGE);
		assert_ok(aclrtMemExportToShareableHandleV2(own[i], 1, FABRIC, &fabric));
		assert_ok(aclrtMemImportFromShareableHandleV2(&fabric, FABRIC, 0, &imported[i]));
		side[i] = map(imported[i], PAGE);
	}
	assert_ok(aclrtMemGetAllocationPropertiesFromHandle(imported[0], &prop));
	assert_int_equal(prop.location.type, ACL_MEM_LOCATION_TYPE_HOST);
	assert_ok(aclrtPointerGetAttributes(side[0], &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(attributes.location.id, 0);
	assert_ok(aclrtCreateStream(&stream));
	host[0][PAGE - 1] = 8;
	assert_refused(aclrtMemcpyAsync(host[1], PAGE, host[0], PAGE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
		       ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclrtMemcpyAsync(side[1], PAGE, side[0], PAGE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	assert_ok(aclrtSynchronizeStream(stream));
	assert_int_equal(host[1][PAGE - 1], 8);
	assert_ok(aclrtDestroyStream(stream));
	for (int i = 0; i < 2; i++) {
		unmap(side[i]);
		unmap(host[i]);
		assert_ok(aclrtFreePhysical(imported[i]));
		assert_ok(aclrtFreePhysical(own[i]));
	}
}

/* --- addresses and links ------------------------------------------------------------------ */

/* covers: aclrtReserveMemAddressNoUCMemory effect */
static void test_reserve_no_uc(void **state)
{
	void *va = NULL, *expect = (void *)(40 * TIB);
	aclrtDrvMemHandle handle = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);

	(void)state;
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, GIB, 0, NULL, 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, GIB + PAGE, 0, expect, 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, GIB, 4096, expect, 0), BAD_PARAM);
	assert_refused(aclrtReserveMemAddressNoUCMemory(&va, GIB, 0, expect, 2), BAD_ARGUMENT);
	if (!FEW_ADDRESSES) {
		assert_ok(aclrtReserveMemAddressNoUCMemory(&va, 32 * TIB, 0, expect, 0));
		assert_ptr_equal(va, expect);
		assert_ok(aclrtMapMem((uint8_t *)va + 31 * TIB, PAGE, 0, handle, 0));
		((uint8_t *)va)[31 * TIB] = 1;
		assert_ok(aclrtUnmapMem((uint8_t *)va + 31 * TIB));
		assert_ok(aclrtReleaseMemAddress(va));
	}
	assert_ok(aclrtFreePhysical(handle));
}

/* A plain reservation belongs to whose memory it held first (vmm_test); this one holds everybody's at once. */
static void test_no_uc_holds_all(void **state)
{
	uint8_t *va = (uint8_t *)(40 * TIB);
	aclrtDrvMemHandle handles[3];
	void *got = NULL;

	(void)state;
	if (FEW_ADDRESSES)
		skip();
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtReserveMemAddressNoUCMemory(&got, GIB, 0, va, 0));
	handles[0] = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	handles[1] = create(ACL_MEM_LOCATION_TYPE_HOST, PAGE);
	handles[2] = create_on(1, ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	for (size_t i = 0; i < 3; i++)
		assert_ok(aclrtMapMem(va + i * PAGE, PAGE, 0, handles[i], 0));
	assert_ok(aclrtMemset(va, PAGE, 7, PAGE));
	assert_ok(aclrtMemcpy(va + PAGE, PAGE, va, PAGE, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(va[2 * PAGE - 1], 7);
	for (size_t i = 0; i < 3; i++) {
		assert_ok(aclrtUnmapMem(va + i * PAGE));
		assert_ok(aclrtFreePhysical(handles[i]));
	}
	assert_ok(aclrtReleaseMemAddress(va));
	assert_ok(aclrtResetDevice(1));
}

/* covers: aclrtMemMapSelectedLink effect */
static void test_selected_link(void **state)
{
	aclrtDrvMemHandle one = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	aclrtDrvMemHandle two = create(ACL_MEM_LOCATION_TYPE_DEVICE, 2 * PAGE);
	void *src = NULL, *dst = NULL;

	(void)state;
	assert_ok(aclrtReserveMemAddress(&src, 3 * PAGE, 0, NULL, 0));
	assert_ok(aclrtReserveMemAddress(&dst, 3 * PAGE, 0, NULL, 0));
	assert_ok(aclrtMapMem(src, PAGE, 0, one, 0));
	assert_ok(aclrtMapMem((uint8_t *)src + PAGE, 2 * PAGE, 0, two, 0));
	assert_ok(aclrtMemMapSelectedLink(dst, 3 * PAGE, src, ACL_RT_MEM_LINK_IDX_1));
	((uint8_t *)src)[0] = 1;
	((uint8_t *)src)[3 * PAGE - 1] = 2;
	assert_int_equal(((uint8_t *)dst)[0], 1);
	assert_int_equal(((uint8_t *)dst)[3 * PAGE - 1], 2);
	/* Each mapping holds its memory for itself. */
	assert_ok(aclrtUnmapMem(src));
	assert_ok(aclrtUnmapMem((uint8_t *)src + PAGE));
	assert_ok(aclrtFreePhysical(one));
	assert_ok(aclrtFreePhysical(two));
	assert_int_equal(((uint8_t *)dst)[3 * PAGE - 1], 2);
	assert_ok(aclrtUnmapMem(dst));
	assert_ok(aclrtUnmapMem((uint8_t *)dst + PAGE));
	assert_ok(aclrtReleaseMemAddress(src));
	assert_ok(aclrtReleaseMemAddress(dst));
}

/* covers: aclrtMemMapSelectedLink failure */
static void test_selected_link_arguments(void **state)
{
	aclrtDrvMemHandle one = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE);
	aclrtDrvMemHandle two = create(ACL_MEM_LOCATION_TYPE_DEVICE, 2 * PAGE);
	void *src = NULL, *dst = NULL;

	(void)state;
	assert_ok(aclrtReserveMemAddress(&src, 4 * PAGE, 0, NULL, 0));
	assert_ok(aclrtReserveMemAddress(&dst, 2 * PAGE, 0, NULL, 0));
	assert_ok(aclrtMapMem(src, PAGE, 0, one, 0));
	assert_ok(aclrtMapMem((uint8_t *)src + PAGE, 2 * PAGE, 0, two, 0));
	assert_refused(aclrtMemMapSelectedLink(NULL, PAGE, src, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemMapSelectedLink(dst, PAGE, NULL, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemMapSelectedLink(dst, 0, src, 0), BAD_ARGUMENT);
	assert_refused(aclrtMemMapSelectedLink(dst, PAGE, src, 2), BAD_ARGUMENT);
	assert_refused(aclrtMemMapSelectedLink(dst, PAGE, (uint8_t *)src + 3 * PAGE, 0), BAD_PARAM);
	assert_refused(aclrtMemMapSelectedLink(dst, PAGE, (uint8_t *)src + 2 * PAGE, 0), BAD_PARAM);
	/* Half of a mapping: what lies behind dst + PAGE is not touched. */
	assert_refused(aclrtMemMapSelectedLink(dst, PAGE, (uint8_t *)src + PAGE, 0), REFUSED);
	assert_refused(aclrtUnmapMem(dst), REFUSED);
	/* The second mapping does not fit: the first is taken back. */
	assert_refused(aclrtMemMapSelectedLink(dst, 3 * PAGE, src, 0), REFUSED);
	assert_refused(aclrtUnmapMem(dst), REFUSED);
	assert_ok(aclrtReleaseMemAddress(dst));
	assert_ok(aclrtUnmapMem(src));
	assert_ok(aclrtUnmapMem((uint8_t *)src + PAGE));
	assert_ok(aclrtReleaseMemAddress(src));
	assert_ok(aclrtFreePhysical(one));
	assert_ok(aclrtFreePhysical(two));
}

/* covers: aclrtMemMapSetLink effect */
static void test_advised_link(void **state)
{
	aclrtDrvMemHandle handle = create(ACL_MEM_LOCATION_TYPE_DEVICE, PAGE), host = create(ACL_MEM_LOCATION_TYPE_HOST, PAGE);
	uint8_t *va;

	(void)state;
	assert_ok(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_HCCS));
	va = map(handle, PAGE);
	va[PAGE - 1] = 1; /* either link reaches it */
	assert_ok(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_SIO));
	assert_refused(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH), ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED);
	assert_refused(aclrtMemMapSetLink(host, ACL_RT_MEM_ACCESS_LINK_SIO), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	unmap(va);
	assert_ok(aclrtFreePhysical(handle));
	assert_ok(aclrtFreePhysical(host));
}

/* --- keys --------------------------------------------------------------------------------- */

/* covers: aclrtIpcMemSetAttr effect */
static void test_key_link(void **state)
{
	struct t_peer peer;
	char key[65], unknown[65];
	void *ptr = NULL;

	(void)state;
	assert_ok(aclrtMalloc(&ptr, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtIpcMemGetExportKey(ptr, PAGE, key, sizeof(key), 1));
	assert_ok(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS));
	assert_ok(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO));
	/* Its exporter's to choose, in whatever order to the imports. */
	peer_start(&peer, 0);
	assert_ask(&peer, ACL_ERROR_RT_NO_PERMISSION, "attr %s 1", key);
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ok(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1));
	memset(unknown, 'a', 64);
	unknown[64] = '\0';
	assert_refused(aclrtIpcMemSetAttr(unknown, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1), REFUSED);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
}

/* covers: aclrtIpcMemImportPidInterServer effect */
static void test_servers(void **state)
{
	struct t_peer peer, elsewhere;
	char key[65];
	void *ptr = NULL;
	int32_t pid, other;
	aclrtServerPid servers[2] = { { .num = 1 }, { .num = 1 } };

	(void)state;
	assert_ok(aclrtMalloc(&ptr, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtIpcMemGetExportKey(ptr, PAGE, key, sizeof(key), 0));
	peer_start(&peer, 0);
	peer_start(&elsewhere, 0);
	pid = (int32_t)peer_ask(&peer, "pid");
	other = (int32_t)peer_ask(&elsewhere, "pid");
	/* The first on this server, the number of the second on another. */
	servers[0].pid = &pid;
	servers[1].sdid = 4711;
	servers[1].pid = &other;
	assert_ok(aclrtIpcMemImportPidInterServer(key, servers, 2));
	assert_ask(&peer, 0, "import %s 0", key);
	assert_ask(&elsewhere, REFUSED, "import %s 0", key);
	servers[0].num = 32;
	assert_refused(aclrtIpcMemImportPidInterServer(key, servers, 1), BAD_PARAM);
	assert_ok(aclrtFree(ptr));
	peer_stop(&peer);
	peer_stop(&elsewhere);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_fabric_handle),    TEST(test_fabric_whitelist),	 TEST(test_own_host_memory),
		TEST(test_reserve_no_uc),    TEST(test_no_uc_holds_all),	 TEST(test_selected_link),
		TEST(test_selected_link_arguments), TEST(test_advised_link),	 TEST(test_key_link),
		TEST(test_servers),	     TEST(test_imported_host_memory),
	};
	int status;

	if (share_peer_main(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
