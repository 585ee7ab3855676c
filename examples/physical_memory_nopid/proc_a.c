/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): exports physical memory by shareable handle without a whitelist, and gives its own hold
 * back while process B still uses the memory: it lives until the last process has released it.
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
	struct example_peer b;
	uint64_t shareable;
	aclrtStream stream;
	void *address;
	size_t size;
	int32_t pid;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");

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

	CHECK(aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE,
					      ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &shareable));
	/* One or the other: what has no whitelist does not get one afterwards. */
	example_receive(&b, &pid, sizeof(pid));
	REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtMemSetPidToShareableHandle(shareable, &pid, 1));
	example_send(&b, &shareable, sizeof(shareable));
	example_await(&b);

	CHECK(aclrtUnmapMem(address));
	CHECK(aclrtReleaseMemAddress(address));
	CHECK(aclrtFreePhysical(physical));
	example_say("released");
	example_signal(&b);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
