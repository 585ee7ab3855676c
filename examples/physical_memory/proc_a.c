/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): exports physical memory by shareable handle to process B alone. A handle is exported once;
 * the list of who may import can grow afterwards.
 */
#include "example.h"
#include "value.h"

#define DEVICE 2

int main(int argc, char **argv)
{
	aclrtPhysicalMemProp prop = {
		.handleType = ACL_MEM_HANDLE_TYPE_NONE,
		.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
		.memAttr = ACL_HBM_MEM_NORMAL,
		.location = {.id = DEVICE, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
	};
	aclrtDrvMemHandle physical;
	struct example_peer b, c;
	uint64_t shareable;
	aclrtStream stream;
	void *address;
	size_t size;
	int32_t pid;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");
	example_meet(&c, argv[1], "C");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));

	/* Memory without an address, addresses without memory, and the one put at the other. */
	CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
	CHECK(aclrtMallocPhysical(&physical, size, &prop, 0));
	CHECK(aclrtReserveMemAddress(&address, size, 0, NULL, 0));
	CHECK(aclrtMapMem(address, size, 0, physical, 0));
	CHECK(value_store(address, EXAMPLE_VALUE, stream));
	example_say("source value %d", value_fetch(address, stream));

	CHECK(aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT,
					      &shareable));
	example_receive(&b, &pid, sizeof(pid));
	CHECK(aclrtMemSetPidToShareableHandle(shareable, &pid, 1));
	example_say("exported %zu KiB, for pid %d only", size / 1024, pid);
	example_send(&b, &shareable, sizeof(shareable));
	example_send(&c, &shareable, sizeof(shareable)); /* knowing the handle is not enough */
	example_await(&b);
	example_await(&c);

	CHECK(aclrtUnmapMem(address));
	CHECK(aclrtReleaseMemAddress(address));
	CHECK(aclrtFreePhysical(physical));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
