/* SPDX-License-Identifier: MIT */
/* ipc_util.h - what the tests of memory shared by key have in common. */
#ifndef VINCI_IPC_UTIL_H
#define VINCI_IPC_UTIL_H

#include "share_peer.h"

#define KEY_LEN 65

#define NO_PERMISSION ACL_ERROR_RT_NO_PERMISSION
#define REFUSED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define BAD_PARAM ACL_ERROR_RT_PARAM_INVALID
#define BAD_HANDLE ACL_ERROR_RT_INVALID_HANDLE
#define BAD_ARGUMENT ACL_ERROR_INVALID_PARAM

#define OPEN ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION
#define PEER ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS

static size_t used_before;

static inline int setup(void **state)
{
	(void)state;
	if (aclrtSetDevice(0))
		return -1;
	used_before = m_free();
	return 0;
}

/* Whatever a test did, the device's memory is back where it was. */
static inline bool memory_is_back(void *arg)
{
	(void)arg;
	return m_free() == used_before;
}

static inline int teardown(void **state)
{
	bool back = t_until(memory_is_back, NULL, 10000);

	(void)state;
	if (!back)
		print_error("%zu bytes of device memory were not given back\n", used_before - m_free());
	return aclrtResetDeviceForce(0) || !back ? -1 : 0;
}

static inline void *device_alloc(size_t size)
{
	void *ptr = NULL;

	assert_ok(aclrtMalloc(&ptr, size, ACL_MEM_MALLOC_HUGE_FIRST));
	return ptr;
}

static inline void export(void *ptr, size_t size, char key[KEY_LEN], uint64_t flags)
{
	memset(key, 'x', KEY_LEN);
	assert_ok(aclrtIpcMemGetExportKey(ptr, size, key, KEY_LEN, flags));
	assert_int_equal(strnlen(key, KEY_LEN), KEY_LEN - 1);
}

static inline void allow(const char *key, struct t_peer *peer)
{
	int32_t pid = (int32_t)peer_ask(peer, "pid");

	assert_ok(aclrtIpcMemSetImportPid(key, &pid, 1));
}

static inline _Atomic uint64_t *word(void *ptr, size_t offset)
{
	return (_Atomic uint64_t *)(void *)((uint8_t *)ptr + offset);
}

#endif
