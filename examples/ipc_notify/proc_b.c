/* SPDX-License-Identifier: MIT */
/* Process B (device 3): writes 123 into A's memory and records A's notify. */
#include "offer.h"
#include "value.h"

#define DEVICE 3

int main(int argc, char **argv)
{
	struct example_peer a;
	struct offer offer;
	aclrtNotify notify;
	aclrtStream stream;
	void *memory;
	int32_t pid;

	example_begin("B");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&a, argv[1], "A");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(&a, &pid, sizeof(pid));
	example_receive(&a, &offer, sizeof(offer));
	CHECK(aclrtNotifyImportByKey(&notify, offer.notify, ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
	CHECK(aclrtIpcMemImportByKey(&memory, offer.memory, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));

	/* In this order in one stream: the value is there when the notify is recorded. */
	CHECK(value_store(memory, EXAMPLE_VALUE, stream));
	CHECK(aclrtRecordNotify(notify, stream));
	CHECK(aclrtSynchronizeStream(stream));
	example_say("source value %d written, notify recorded", EXAMPLE_VALUE);

	/* Every process destroys its own hold on the notify. */
	CHECK(aclrtDestroyNotify(notify));
	CHECK(aclrtIpcMemClose(offer.memory));
	example_signal(&a);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
