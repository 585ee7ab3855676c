/* SPDX-License-Identifier: MIT */
/*
 * Process A (device 2): creates a notify that every process with its key can import, and waits for it in a stream.
 * Two records before a wait are one signal: a notify has one bit.
 */
#include "offer.h"
#include "value.h"

#define DEVICE 2
#define SIZE 4096

int main(int argc, char **argv)
{
	struct offer offer = {0};
	aclrtStreamStatus status;
	struct example_peer b;
	int32_t pid, value;
	aclrtNotify notify;
	aclrtStream stream;
	aclError code;
	void *memory;

	example_begin("A");
	if (argc != 2)
		example_fail("usage: %s <directory of the mailboxes>", argv[0]);
	example_meet(&b, argv[1], "B");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE)); /* the notify belongs to this device, and only here it can be waited for */
	CHECK(aclrtCreateStream(&stream));
	example_receive(&b, &pid, sizeof(pid));

	CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	CHECK(aclrtNotifyGetExportKey(notify, offer.notify, EXAMPLE_KEY,
				      ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	/* One or the other: what has no whitelist does not get one afterwards. */
	REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtNotifySetImportPid(notify, &pid, 1));

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
	example_send(&b, &offer, sizeof(offer));
	value = value_fetch(memory, stream);
	example_say("the notify came, destination value %d", value);
	if (value != EXAMPLE_VALUE)
		example_fail("the wait ended before the value was written");

	example_signal(&b);
	example_await(&b);
	/* B has recorded twice more. The first wait takes both, so the second has nothing to take and times out. */
	CHECK(aclrtWaitAndResetNotify(notify, stream, EXAMPLE_TIMEOUT_MS / 1000));
	CHECK(aclrtSynchronizeStream(stream));
	CHECK(aclrtWaitAndResetNotify(notify, stream, 1));
	code = aclrtSynchronizeStream(stream);
	if (code != ACL_ERROR_RT_TASK_TIMEOUT)
		example_fail("the second wait ended with %d instead of a timeout", code);
	example_say("two records were one signal: the second wait timed out with %d:", code);
	example_explain();

	CHECK(aclrtIpcMemClose(offer.memory));
	CHECK(aclrtFree(memory));
	CHECK(aclrtDestroyNotify(notify));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
