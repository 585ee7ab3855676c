/* SPDX-License-Identifier: MIT */
/*
 * Two streams and two events. What one stream writes the other reads after it has waited for the event; without it, streams
 * run as they like. A gate, a host function that waits, holds the first stream up, so that the order shows.
 */
#include "example.h"
#include "value.h"

#include <semaphore.h>

static sem_t gate;

static void wait_at_gate(void *arg)
{
	(void)arg;
	sem_wait(&gate);
}

static bool recorded(aclrtEvent event)
{
	aclrtEventRecordedStatus status;

	CHECK(aclrtQueryEventStatus(event, &status));
	return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

static bool idle(aclrtStream stream)
{
	aclrtStreamStatus status;

	CHECK(aclrtStreamQuery(stream, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

static int32_t *value_new(void)
{
	void *p;

	CHECK(aclrtMalloc(&p, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemset(p, sizeof(int32_t), 0, sizeof(int32_t)));
	return p;
}

int main(void)
{
	int32_t *written, *read;
	aclrtStream writer, reader;
	aclrtEvent begun, ended;
	float ms;

	example_begin("order");
	sem_init(&gate, 0, 0);
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&writer));
	CHECK(aclrtCreateStream(&reader));
	CHECK(aclrtCreateEventExWithFlag(&begun, ACL_EVENT_TIME_LINE));
	CHECK(aclrtCreateEventExWithFlag(&ended, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
	written = value_new();
	read = value_new();

	CHECK(aclrtRecordEvent(begun, writer));
	CHECK(aclrtLaunchHostFunc(writer, wait_at_gate, NULL));
	CHECK(value_store(written, EXAMPLE_VALUE, writer));
	CHECK(aclrtRecordEvent(ended, writer));
	CHECK(aclrtStreamWaitEvent(reader, ended));
	CHECK(value_copy(read, written, reader));
	example_say("all is queued: the event is %s, the reader %s", recorded(ended) ? "reached" : "not reached",
		    idle(reader) ? "through" : "waits");

	sem_post(&gate);
	CHECK(aclrtSynchronizeStream(reader));
	example_say("the gate is open: the event is %s, the reader read %d", recorded(ended) ? "reached" : "not reached",
		    value_fetch(read, reader));
	CHECK(aclrtEventElapsedTime(&ms, begun, ended));
	example_say("from event to event the writer took %s", ms > 0 ? "some time" : "no time at all");

	CHECK(aclrtFree(written));
	CHECK(aclrtFree(read));
	CHECK(aclrtDestroyEvent(begun));
	CHECK(aclrtDestroyEvent(ended));
	CHECK(aclrtDestroyStream(writer));
	CHECK(aclrtDestroyStream(reader));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	sem_destroy(&gate);
	return 0;
}
