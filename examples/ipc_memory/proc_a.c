/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): writes 123 into device memory and exports it by key to process B alone.
 * Order: allocate, export, whitelist, pass the key on, wait until the importer has closed, close, free.
 */
#include "example.h"
#include "value.h"

#define DEVICE 2
#define SIZE 4096 /* whole pages: smaller allocations share a page with others and are not exportable */

int main(int argc, char **argv)
{
	struct example_peer b, c;
	char key[EXAMPLE_KEY];
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
	CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(value_store(memory, EXAMPLE_VALUE, stream));
	example_say("source value %d", value_fetch(memory, stream));

	/* Flag 0: a whitelist, and nobody on it yet, not even this process. */
	CHECK(aclrtIpcMemGetExportKey(memory, SIZE, key, sizeof(key), ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	example_receive(&b, &pid, sizeof(pid));
	CHECK(aclrtIpcMemSetImportPid(key, &pid, 1));
	example_say("exported, for pid %d only", pid);
	example_send(&b, key, sizeof(key));
	example_send(&c, key, sizeof(key)); /* knowing the key is not enough */

	example_await(&b);
	example_await(&c);
	CHECK(aclrtIpcMemClose(key));
	CHECK(aclrtFree(memory));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
