/* SPDX-License-Identifier: MIT */
/* Process B (device 3): imports A's physical memory, lets A release its own hold, and only then reads. */
#include "example.h"
#include "value.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	aclrtMemAccessDesc access = {
		.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
		.location = {.id = DEVICE, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
	};
	aclrtDrvMemHandle physical;
	aclrtPhysicalMemProp prop;
	struct example_peer a;
	int32_t pid, value;
	uint64_t shareable;
	aclrtStream stream;
	void *address;
	size_t size;

	example_begin("B");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(&a, &pid, sizeof(pid));
	example_receive(&a, &shareable, sizeof(shareable));

	/* A handle of this process for the same memory, which it maps where it likes. */
	CHECK(aclrtMemImportFromShareableHandle(shareable, DEVICE, &physical));
	CHECK(aclrtMemGetAllocationPropertiesFromHandle(physical, &prop));
	CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
	CHECK(aclrtReserveMemAddress(&address, size, 0, NULL, 0));
	CHECK(aclrtMapMem(address, size, 0, physical, 0));
	/* The memory is device 2's; this device is let in by name. */
	CHECK(aclrtMemSetAccess(address, size, &access, 1));

	example_signal(&a);
	example_await(&a);
	example_say("A has released the memory; it is still here");
	value = value_fetch(address, stream);
	example_say("destination value %d", value);
	if (value != EXAMPLE_VALUE)
		example_fail("the imported memory does not hold %d", EXAMPLE_VALUE);

	CHECK(aclrtUnmapMem(address));
	CHECK(aclrtReleaseMemAddress(address));
	CHECK(aclrtFreePhysical(physical));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
