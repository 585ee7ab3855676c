/* SPDX-License-Identifier: MIT */
/*
 * Streams that wait for a number in memory and write one: two of them hand a value to and fro without the host. The word counts
 * turns; each stream waits until it is as high as its turn.
 */
#include "example.h"
#include "value.h"

#define TURNS 6

static bool idle(aclrtStream stream)
{
	aclrtStreamStatus status;

	CHECK(aclrtStreamQuery(stream, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

/* One value for each stream. In each turn one copies the other's value into its own. */
static void queue_turns(aclrtStream streams[2], int32_t *values[2], uint64_t *turn)
{
	for (uint64_t i = 0; i < TURNS; i++) {
		aclrtStream stream = streams[i % 2];

		CHECK(aclrtValueWait(turn, i + 1, ACL_STREAM_WAIT_VALUE_GEQ, stream));
		CHECK(value_copy(values[i % 2], values[(i + 1) % 2], stream));
		CHECK(aclrtValueWrite(turn, i + 2, 0, stream));
	}
}

int main(void)
{
	aclrtStream streams[2], starter;
	int32_t *values[2];
	uint64_t *turn, last;

	example_begin("handshake");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&starter));
	CHECK(aclrtMalloc((void **)&turn, sizeof(*turn), ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemset(turn, sizeof(*turn), 0, sizeof(*turn)));
	for (int i = 0; i < 2; i++) {
		CHECK(aclrtCreateStream(&streams[i]));
		CHECK(aclrtMalloc((void **)&values[i], sizeof(*values[i]), ACL_MEM_MALLOC_NORMAL_ONLY));
		CHECK(value_store(values[i], i ? EXAMPLE_VALUE : 0, starter));
	}
	CHECK(aclrtSynchronizeStream(starter));

	queue_turns(streams, values, turn);
	example_say("%d turns are queued: the first stream %s, the second %s", TURNS,
		    idle(streams[0]) ? "is through" : "waits", idle(streams[1]) ? "is through" : "waits");
	CHECK(aclrtValueWrite(turn, 1, 0, starter));
	for (int i = 0; i < 2; i++)
		CHECK(aclrtSynchronizeStreamWithTimeout(streams[i], EXAMPLE_TIMEOUT_MS));
	CHECK(aclrtMemcpy(&last, sizeof(last), turn, sizeof(last), ACL_MEMCPY_DEVICE_TO_HOST));
	example_say("the word counted to %llu, the first stream's value is %d", (unsigned long long)last,
		    value_fetch(values[0], streams[0]));
	example_say("the word lies on a multiple of eight:");
	REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite((char *)turn + 4, 1, 0, starter));

	for (int i = 0; i < 2; i++) {
		CHECK(aclrtDestroyStream(streams[i]));
		CHECK(aclrtFree(values[i]));
	}
	CHECK(aclrtFree(turn));
	CHECK(aclrtDestroyStream(starter));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
