/* SPDX-License-Identifier: MIT */
/*
 * Process B is on the whitelists. On device 3 it imports what process A shares, reads A's value from both kinds of
 * memory, answers through the physical memory and records the notify for which A's stream waits.
 */
#include "names.h"
#include "value.h"

#define DEVICE 3

static void expect_value(const char *what, const int32_t *where, aclrtStream stream)
{
	int32_t value = value_fetch(where, stream);

	if (value != EXAMPLE_VALUE)
		example_fail("the %s holds %d instead of %d", what, value, EXAMPLE_VALUE);
	example_say("a kernel on device %d reads %d from the %s", DEVICE, value, what);
}

static void *import_physical(uint64_t shareable, aclrtDrvMemHandle *physical, size_t *size)
{
	aclrtMemAccessDesc access = {
		.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
		.location = {.id = DEVICE, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
	};
	aclrtPhysicalMemProp prop;
	void *address;

	CHECK(aclrtMemImportFromShareableHandle(shareable, DEVICE, physical));
	CHECK(aclrtMemGetAllocationPropertiesFromHandle(*physical, &prop));
	CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, size));
	CHECK(aclrtReserveMemAddress(&address, *size, 0, NULL, 0));
	CHECK(aclrtMapMem(address, *size, 0, *physical, 0));
	/* The memory is device 2's; mapping does not open it to another device. */
	CHECK(aclrtMemSetAccess(address, *size, &access, 1));
	return address;
}

int main(int argc, char **argv)
{
	aclrtDrvMemHandle physical;
	struct example_peer a;
	void *memory, *mapped;
	struct names names;
	aclrtNotify notify;
	aclrtStream stream;
	size_t size;
	int32_t pid;

	example_begin("B");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));

	/* The number by which whitelists know this process: in a container it is not the one that getpid() gives. */
	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(&a, &pid, sizeof(pid));
	example_receive(&a, &names, sizeof(names));

	/* Device 3 has to reach device 2; the flag enables that along with the import. */
	CHECK(aclrtIpcMemImportByKey(&memory, names.memory, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	expect_value("IPC memory", memory, stream);
	mapped = import_physical(names.physical, &physical, &size);
	expect_value("physical memory", mapped, stream);

	/* First the answer, then the notify: a stream keeps its order. */
	CHECK(aclrtNotifyImportByKey(&notify, names.notify, ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
	CHECK(value_store(mapped, SHARING_ANSWER, stream));
	CHECK(aclrtRecordNotify(notify, stream));
	CHECK(aclrtSynchronizeStream(stream));
	example_say("a kernel writes the answer %d into the physical memory; the notify is recorded", SHARING_ANSWER);

	CHECK(aclrtDestroyNotify(notify));
	CHECK(aclrtUnmapMem(mapped));
	CHECK(aclrtReleaseMemAddress(mapped));
	CHECK(aclrtFreePhysical(physical));
	CHECK(aclrtIpcMemClose(names.memory));
	example_say("everything that was imported is released");
	example_signal(&a);

	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
