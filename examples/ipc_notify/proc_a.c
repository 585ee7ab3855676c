/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): creates a notify, lets process B alone import it, and waits for it in a stream. A notify
 * orders work of two processes on their devices; neither host waits.
 */
#include "offer.h"
#include "value.h"

#define DEVICE 2
#define SIZE 4096

int main(int argc, char **argv)
{
	struct offer offer = {0};
	aclrtStreamStatus status;
	struct example_peer b, c;
	int32_t pid, value;
	aclrtNotify notify;
	aclrtStream stream;
	void *memory;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");
	example_meet(&c, argv[1], "C");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE)); /* the notify belongs to this device, and only here it can be waited for */
	CHECK(aclrtCreateStream(&stream));
	example_receive(&b, &pid, sizeof(pid));

	CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	CHECK(aclrtNotifyGetExportKey(notify, offer.notify, EXAMPLE_KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtNotifySetImportPid(notify, &pid, 1)); /* by notify, not by key, and one PID a call */
	example_say("the notify is exported, for pid %d only", pid);
	/* Somewhere for B to write; examples/ipc_memory explains these. */
	CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemset(memory, SIZE, 0, SIZE));
	CHECK(aclrtIpcMemGetExportKey(memory, SIZE, offer.memory, EXAMPLE_KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtIpcMemSetImportPid(offer.memory, &pid, 1));

	/* The call returns at once. The stream waits, and with it whatever is queued behind. */
	CHECK(aclrtWaitAndResetNotify(notify, stream, EXAMPLE_TIMEOUT_MS / 1000));
	CHECK(aclrtStreamQuery(stream, &status));
	if (status != ACL_STREAM_STATUS_NOT_READY)
		example_fail("the stream does not wait for the notify");
	example_say("the stream waits");
	/* The stranger first: it must not be able to end the wait. */
	example_send(&c, &offer, sizeof(offer));
	example_await(&c);
	CHECK(aclrtStreamQuery(stream, &status));
	if (status != ACL_STREAM_STATUS_NOT_READY)
		example_fail("the stranger ended the wait");
	example_send(&b, &offer, sizeof(offer));
	value = value_fetch(memory, stream);
	example_say("the notify came, destination value %d", value);
	if (value != EXAMPLE_VALUE)
		example_fail("the wait ended before the value was written");

	example_await(&b);
	CHECK(aclrtIpcMemClose(offer.memory));
	CHECK(aclrtFree(memory));
	CHECK(aclrtDestroyNotify(notify));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
