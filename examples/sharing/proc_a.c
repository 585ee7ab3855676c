/* SPDX-License-Identifier: MIT */
/*
 * Process A owns what is shared. On device 2 it allocates IPC memory and physical memory and creates a notify,
 * lets process B use each of them, and waits in its stream for B's notify. Process C learns the same names, but is
 * on no whitelist.
 */
#include "names.h"
#include "value.h"

#define DEVICE 2

/* A piece of physical memory and the addresses at which this process sees it. */
struct mapping {
	aclrtDrvMemHandle physical;
	void *address;
	size_t size;
};

/* Writes the value with a kernel, so that the memory holds something worth sharing. */
static void fill(const char *what, int32_t *where, aclrtStream stream)
{
	CHECK(value_store(where, EXAMPLE_VALUE, stream));
	CHECK(aclrtSynchronizeStream(stream));
	example_say("a kernel on device %d writes %d into the %s", DEVICE, EXAMPLE_VALUE, what);
}

static void *share_memory(char *key, int32_t pid, aclrtStream stream)
{
	size_t size = 4096; /* whole pages: what is smaller shares its page with others and is not exportable */
	void *memory;

	CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_NORMAL_ONLY));
	fill("IPC memory", memory, stream);
	/* Flag 0: a whitelist, empty at first. */
	CHECK(aclrtIpcMemGetExportKey(memory, size, key, EXAMPLE_KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtIpcMemSetImportPid(key, &pid, 1));
	example_say("IPC memory has key %.8s..., importable by pid %d only", key, pid);
	return memory;
}

static struct mapping share_physical(uint64_t *shareable, int32_t pid, aclrtStream stream)
{
	aclrtPhysicalMemProp prop = {
		.handleType = ACL_MEM_HANDLE_TYPE_NONE,
		.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
		.memAttr = ACL_HBM_MEM_HUGE,
		.location = {.id = DEVICE, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
	};
	struct mapping map;

	/* Physical memory comes in whole granules; one is enough here. */
	CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &map.size));
	CHECK(aclrtMallocPhysical(&map.physical, map.size, &prop, 0));
	/* Addresses first, then the memory at these addresses. */
	CHECK(aclrtReserveMemAddress(&map.address, map.size, 0, NULL, 0));
	CHECK(aclrtMapMem(map.address, map.size, 0, map.physical, 0));
	fill("physical memory", map.address, stream);
	CHECK(aclrtMemExportToShareableHandle(map.physical, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT,
					      shareable));
	CHECK(aclrtMemSetPidToShareableHandle(*shareable, &pid, 1));
	example_say("physical memory, %zu KiB, has a shareable handle, importable by pid %d only", map.size / 1024,
		    pid);
	return map;
}

static aclrtNotify share_notify(char *key, int32_t pid)
{
	aclrtNotify notify;

	CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	CHECK(aclrtNotifyGetExportKey(notify, key, EXAMPLE_KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtNotifySetImportPid(notify, &pid, 1));
	example_say("notify has key %.8s..., importable by pid %d only", key, pid);
	return notify;
}

/* Queued, not waited for: it is the stream that stands still from here on. */
static void queue_wait(aclrtNotify notify, aclrtStream stream)
{
	aclrtStreamStatus status;

	CHECK(aclrtWaitAndResetNotify(notify, stream, EXAMPLE_TIMEOUT_MS / 1000));
	CHECK(aclrtStreamQuery(stream, &status));
	if (status != ACL_STREAM_STATUS_NOT_READY)
		example_fail("the stream does not wait for the notify");
	example_say("my stream now waits for the notify");
}

/* What is queued behind the wait runs once B has recorded the notify, so it sees what B wrote before. */
static void take_answer(const struct mapping *map, aclrtStream stream)
{
	int32_t answer = value_fetch(map->address, stream);

	if (answer != SHARING_ANSWER)
		example_fail("the answer is %d instead of %d", answer, SHARING_ANSWER);
	example_say("the notify came; B's answer in the physical memory is %d", answer);
}

/* Importers have closed theirs by now; they would keep what they have imported in any case. */
static void release(const struct names *names, void *memory, struct mapping *map, aclrtNotify notify)
{
	CHECK(aclrtDestroyNotify(notify));
	CHECK(aclrtUnmapMem(map->address));
	CHECK(aclrtReleaseMemAddress(map->address));
	CHECK(aclrtFreePhysical(map->physical));
	CHECK(aclrtIpcMemClose(names->memory));
	CHECK(aclrtFree(memory));
	example_say("everything is released");
}

int main(int argc, char **argv)
{
	struct names names = {0};
	struct example_peer b, c;
	struct mapping map;
	aclrtNotify notify;
	aclrtStream stream;
	void *memory;
	int32_t pid;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");
	example_meet(&c, argv[1], "C");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));

	/* A whitelist names processes that run, not numbers: B is there before it is let in. */
	example_receive(&b, &pid, sizeof(pid));
	example_say("process B has pid %d", pid);
	memory = share_memory(names.memory, pid, stream);
	map = share_physical(&names.physical, pid, stream);
	notify = share_notify(names.notify, pid);

	queue_wait(notify, stream);
	example_say("the three names go to B, and to C, which is on no whitelist");
	example_send(&c, &names, sizeof(names));
	example_send(&b, &names, sizeof(names));

	take_answer(&map, stream);
	example_await(&b);
	example_await(&c);
	release(&names, memory, &map, notify);

	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
