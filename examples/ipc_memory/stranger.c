/* SPDX-License-Identifier: MIT */
/* Process C has the key, but A did not put it on the whitelist. */
#include "example.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	struct example_peer a;
	char key[EXAMPLE_KEY];
	void *memory;

	example_begin("C");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	example_receive(&a, key, sizeof(key));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		aclrtIpcMemImportByKey(&memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	example_signal(&a);
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
