/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): exports device memory without a whitelist. Whoever knows the key can import, so the key is
 * the secret here: 64 characters that nobody can guess.
 */
#include "example.h"
#include "value.h"

#define DEVICE 2
#define SIZE 4096

int main(int argc, char **argv)
{
	struct example_peer b;
	char key[EXAMPLE_KEY];
	aclrtStream stream;
	void *memory;
	int32_t pid;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(value_store(memory, EXAMPLE_VALUE, stream));
	example_say("source value %d", value_fetch(memory, stream));

	CHECK(aclrtIpcMemGetExportKey(memory, SIZE, key, sizeof(key),
				      ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	/* One or the other: what has no whitelist does not get one afterwards. */
	example_receive(&b, &pid, sizeof(pid));
	REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtIpcMemSetImportPid(key, &pid, 1));
	example_send(&b, key, sizeof(key));

	example_await(&b);
	CHECK(aclrtIpcMemClose(key));
	CHECK(aclrtFree(memory));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
