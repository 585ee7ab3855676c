/* SPDX-License-Identifier: MIT */
/* The reader, on device 3: imports the memory and owns the notifies that say that a slot is full. */
#include <stdlib.h>

#include "batch.h"
#include "channel.h"

#define DEVICE 3

struct reader {
	struct offer offer;
	void *slots;
	uint64_t *wrong; /* device memory: words that were not as they should be, for each block */
	aclrtNotify free[CHANNEL_SLOTS], full[CHANNEL_SLOTS];
	aclrtStream stream;
	int32_t timeout_ms; /* how long the other side may be silent */
};

static void import_slots(struct reader *r)
{
	void *base;
	size_t size;
	int i;

	CHECK(aclrtIpcMemImportByKey(&r->slots, r->offer.memory, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	/* Whatever the other side says, what it shares has to be large enough for what is done with it here. */
	CHECK(aclrtMemGetAddressRange(r->slots, &base, &size));
	if (base != r->slots || size < CHANNEL_SLOTS * CHANNEL_STRIDE)
		example_fail("the shared memory has %zu bytes, which is too small", size);
	for (i = 0; i < CHANNEL_SLOTS; i++)
		CHECK(aclrtNotifyImportByKey(&r->free[i], r->offer.free[i], ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
}

static void meet_writer(struct reader *r, const struct example_peer *writer)
{
	struct answer answer;
	int32_t pid;
	int i;

	CHECK(aclrtDeviceGetBareTgid(&pid));
	example_send(writer, &pid, sizeof(pid));
	example_receive(writer, &r->offer, sizeof(r->offer));
	import_slots(r);

	for (i = 0; i < CHANNEL_SLOTS; i++)
		channel_create_notify(&r->full[i], answer.full[i], r->offer.pid);
	example_send(writer, &answer, sizeof(answer));
}

static void allocate_counters(struct reader *r)
{
	size_t size = BATCH_BLOCKS * sizeof(*r->wrong);
	void *memory;

	CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemset(memory, size, 0, size));
	r->wrong = memory;
}

static bool read_batches(struct reader *r)
{
	uint32_t n, slot;

	for (n = 0; n < r->offer.batches || r->offer.batches == 0; n++) {
		slot = n % CHANNEL_SLOTS;
		CHECK(aclrtWaitAndResetNotify(r->full[slot], r->stream, 0));
		CHECK(batch_check(channel_slot(r->slots, n), CHANNEL_WORDS, n, r->wrong, r->stream));
		CHECK(aclrtRecordNotify(r->free[slot], r->stream));
		if ((n + 1) % CHANNEL_LOOK == 0 && !channel_catch_up(r->stream, r->timeout_ms))
			return false;
		if (n + 1 == CHANNEL_LOOK)
			example_say("batches flow");
	}
	return channel_catch_up(r->stream, r->timeout_ms);
}

static void show_result(const struct reader *r)
{
	uint64_t wrong[BATCH_BLOCKS], sum = 0;
	int i;

	CHECK(aclrtMemcpy(wrong, sizeof(wrong), r->wrong, sizeof(wrong), ACL_MEMCPY_DEVICE_TO_HOST));
	for (i = 0; i < BATCH_BLOCKS; i++)
		sum += wrong[i];
	if (sum > 0)
		example_fail("%llu words are wrong", (unsigned long long)sum);
	example_say("%u batches of %u words read, all as they should be", r->offer.batches, CHANNEL_WORDS);
}

static void release(struct reader *r)
{
	int i;

	/* First, and by force: it may hold waits that nobody will ever end. Finished, it makes no difference. */
	CHECK(aclrtDestroyStreamForce(r->stream));
	for (i = 0; i < CHANNEL_SLOTS; i++) {
		CHECK(aclrtDestroyNotify(r->full[i]));
		CHECK(aclrtDestroyNotify(r->free[i]));
	}
	CHECK(aclrtIpcMemClose(r->offer.memory));
	CHECK(aclrtFree(r->wrong));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
}

int main(int argc, char **argv)
{
	struct example_peer writer;
	struct reader r = {0};
	bool complete;

	example_begin("reader");
	if (argc != 3)
		example_fail("usage: %s <directory of the mailboxes> <timeout, s>", argv[0]);
	r.timeout_ms = 1000 * (int32_t)strtol(argv[2], NULL, 10);
	example_meet(&writer, argv[1], "writer");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&r.stream));
	allocate_counters(&r);
	meet_writer(&r, &writer);

	complete = read_batches(&r);
	if (complete)
		show_result(&r);
	release(&r);
	if (complete)
		example_signal(&writer);
	return complete ? 0 : CHANNEL_LOST;
}
