/* SPDX-License-Identifier: MIT */
/* Process B (device 3): imports A's memory by key, reads it with a kernel and by an asynchronous copy. */
#include "example.h"
#include "value.h"

#define DEVICE 3

/*
 * Memory of another device can be copied within the devices, asynchronously; a copy to the host or a synchronous
 * one is refused.
 */
static int32_t copied_value(const void *imported, aclrtStream stream)
{
	int32_t value;
	void *local;

	CHECK(aclrtMalloc(&local, sizeof(value), ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemcpyAsync(local, sizeof(value), imported, sizeof(value), ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
	CHECK(aclrtSynchronizeStream(stream));
	CHECK(aclrtMemcpy(&value, sizeof(value), local, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
	CHECK(aclrtFree(local));
	return value;
}

int main(int argc, char **argv)
{
	struct example_peer a;
	char key[EXAMPLE_KEY];
	aclrtStream stream;
	void *memory;
	int32_t pid, value;

	example_begin("B");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));
	/* The number by which whitelists know this process; in a container getpid() gives another one. */
	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(&a, &pid, sizeof(pid));
	example_receive(&a, key, sizeof(key));

	/* With this flag the import also enables access between the two devices. */
	CHECK(aclrtIpcMemImportByKey(&memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	value = value_fetch(memory, stream);
	example_say("destination value %d", value);
	if (value != EXAMPLE_VALUE || copied_value(memory, stream) != value)
		example_fail("the imported memory does not hold %d", EXAMPLE_VALUE);

	/* Closing is how imported memory is given back; it is not freed. */
	CHECK(aclrtIpcMemClose(key));
	example_signal(&a);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
