/* SPDX-License-Identifier: MIT */
/* Process C has the notify's key, but A did not put it on the whitelist: it cannot record in A's name. */
#include "offer.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	struct example_peer a;
	struct offer offer;
	aclrtNotify notify;

	example_begin("C");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	example_receive(&a, &offer, sizeof(offer));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		aclrtNotifyImportByKey(&notify, offer.notify, ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
	example_signal(&a);
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
