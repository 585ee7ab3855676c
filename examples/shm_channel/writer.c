/* SPDX-License-Identifier: MIT */
/* The writer, on device 2: owns the memory and the notifies that say that a slot is free. */
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "channel.h"

#define DEVICE 2

struct writer {
	struct offer offer;
	void *slots;
	aclrtNotify free[CHANNEL_SLOTS], full[CHANNEL_SLOTS];
	aclrtStream stream;
	int32_t timeout_ms; /* how long the other side may be silent */
};

static void export_slots(struct writer *w, int32_t reader, bool huge)
{
	size_t size = CHANNEL_SLOTS * CHANNEL_STRIDE;
	int i;

	/* Huge pages or small ones, but whole ones in any case: the allocation is larger than a page. */
	CHECK(aclrtMalloc(&w->slots, size, huge ? ACL_MEM_MALLOC_HUGE_ONLY : ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtIpcMemGetExportKey(w->slots, size, w->offer.memory, EXAMPLE_KEY,
				      ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtIpcMemSetImportPid(w->offer.memory, &reader, 1));
	for (i = 0; i < CHANNEL_SLOTS; i++)
		channel_create_notify(&w->free[i], w->offer.free[i], reader);
}

static void meet_reader(struct writer *w, const struct example_peer *reader, bool huge)
{
	struct answer answer;
	int32_t pid;
	int i;

	example_receive(reader, &pid, sizeof(pid));
	export_slots(w, pid, huge);
	CHECK(aclrtDeviceGetBareTgid(&w->offer.pid));
	example_send(reader, &w->offer, sizeof(w->offer));

	example_receive(reader, &answer, sizeof(answer));
	for (i = 0; i < CHANNEL_SLOTS; i++)
		CHECK(aclrtNotifyImportByKey(&w->full[i], answer.full[i], ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
}

/* All of this is queued; the host runs ahead and looks at the result now and then. */
static bool write_batches(struct writer *w)
{
	uint32_t n, slot;

	for (n = 0; n < w->offer.batches || w->offer.batches == 0; n++) {
		slot = n % CHANNEL_SLOTS;
		if (n >= CHANNEL_SLOTS) /* in the first round all are free */
			CHECK(aclrtWaitAndResetNotify(w->free[slot], w->stream, 0));
		CHECK(batch_fill(channel_slot(w->slots, n), CHANNEL_WORDS, n, w->stream));
		CHECK(aclrtRecordNotify(w->full[slot], w->stream));
		if ((n + 1) % CHANNEL_LOOK == 0 && !channel_catch_up(w->stream, w->timeout_ms))
			return false;
		if (n + 1 == CHANNEL_LOOK)
			example_say("batches flow");
	}
	return channel_catch_up(w->stream, w->timeout_ms);
}

static void release(struct writer *w)
{
	int i;

	/* First, and by force: it may hold waits that nobody will ever end. Finished, it makes no difference. */
	CHECK(aclrtDestroyStreamForce(w->stream));
	for (i = 0; i < CHANNEL_SLOTS; i++) {
		CHECK(aclrtDestroyNotify(w->full[i]));
		CHECK(aclrtDestroyNotify(w->free[i]));
	}
	CHECK(aclrtIpcMemClose(w->offer.memory));
	CHECK(aclrtFree(w->slots));
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
}

int main(int argc, char **argv)
{
	struct example_peer reader;
	struct writer w = {0};
	bool complete;

	example_begin("writer");
	if (argc != 5 || (strcmp(argv[4], "huge") != 0 && strcmp(argv[4], "small") != 0))
		example_fail("usage: %s <directory of the mailboxes> <batches, 0: endless> <timeout, s> huge|small",
			     argv[0]);
	w.offer.batches = (uint32_t)strtoul(argv[2], NULL, 10);
	w.timeout_ms = 1000 * (int32_t)strtol(argv[3], NULL, 10);
	example_meet(&reader, argv[1], "reader");

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	CHECK(aclrtCreateStream(&w.stream));
	meet_reader(&w, &reader, strcmp(argv[4], "huge") == 0);

	complete = write_batches(&w);
	if (complete) {
		example_say("%u batches of %u words written", w.offer.batches, CHANNEL_WORDS);
		example_await(&reader);
	}
	release(&w);
	return complete ? 0 : CHANNEL_LOST;
}
