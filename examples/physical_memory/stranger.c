/* SPDX-License-Identifier: MIT */
/* Process C has the shareable handle, but A did not put it on the whitelist. */
#include "example.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	aclrtDrvMemHandle physical;
	struct example_peer a;
	uint64_t shareable;

	example_begin("C");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	example_receive(&a, &shareable, sizeof(shareable));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtMemImportFromShareableHandle(shareable, DEVICE, &physical));
	example_signal(&a);
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
