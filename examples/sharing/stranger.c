/* SPDX-License-Identifier: MIT */
/*
 * Process C has got hold of all names, say because a key was logged somewhere. It is on no whitelist, so each
 * import is refused; the library says why.
 */
#include "names.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	aclrtDrvMemHandle physical;
	struct example_peer a;
	struct names names;
	aclrtNotify notify;
	void *memory;

	example_begin("C");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	example_receive(&a, &names, sizeof(names));

	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		aclrtIpcMemImportByKey(&memory, names.memory, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtMemImportFromShareableHandle(names.physical, DEVICE, &physical));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		aclrtNotifyImportByKey(&notify, names.notify, ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
	example_signal(&a);

	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
