/* SPDX-License-Identifier: MIT */
/*
 * Process B (device 3): imports by key, and makes access between the devices a step of its own, as an alternative
 * to the flag.
 */
#include "example.h"
#include "value.h"

#define DEVICE 3
#define OWNER 2

int main(int argc, char **argv)
{
	struct example_peer a;
	char key[EXAMPLE_KEY];
	aclrtStream stream;
	void *memory, *again;
	int32_t pid, value;

	example_begin("B");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	/*
	 * Peer access takes effect once both directions are enabled; each is enabled on the device that wants to
	 * reach.
	 */
	CHECK(aclrtSetDevice(OWNER));
	CHECK(aclrtDeviceEnablePeerAccess(DEVICE, 0));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtDeviceEnablePeerAccess(OWNER, 0));
	CHECK(aclrtCreateStream(&stream));

	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(&a, &pid, sizeof(pid));
	example_receive(&a, key, sizeof(key));
	CHECK(aclrtIpcMemImportByKey(&memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
	/* A second import in the same process gives the same address and is counted. */
	CHECK(aclrtIpcMemImportByKey(&again, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
	if (again != memory)
		example_fail("a second import gave another address");
	value = value_fetch(memory, stream);
	example_say("destination value %d", value);
	if (value != EXAMPLE_VALUE)
		example_fail("the imported memory does not hold %d", EXAMPLE_VALUE);

	CHECK(aclrtIpcMemClose(key));
	CHECK(aclrtIpcMemClose(key));
	example_signal(&a);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclrtResetDevice(OWNER));
	CHECK(aclFinalize());
	return 0;
}
