/* SPDX-License-Identifier: MIT */
/*
 * A channel through shared device memory: a ring of slots, one batch each. The writer's kernels fill a slot in
 * place, the reader's kernels use it in place; nothing is copied.
 *
 *   writer's stream:  wait free[i] -> fill slot i -> record full[i]
 *   reader's stream:  wait full[i] -> check slot i -> record free[i]
 *
 * A shared notify can be waited for only on the device that created it, so each side creates those it waits for,
 * and the other imports and records them. A notify holds one bit; every slot has its own pair, and none is
 * recorded again before it was waited for.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdbool.h>

#include "example.h"

#define CHANNEL_SLOTS 8
#define CHANNEL_WORDS 5000 /* 32-bit words of a batch */
/* Slots begin at multiples of 64 bytes, so that two of them never share a cache line. */
#define CHANNEL_ALIGN 64
#define CHANNEL_STRIDE ((CHANNEL_WORDS * sizeof(uint32_t) + CHANNEL_ALIGN - 1) / CHANNEL_ALIGN * CHANNEL_ALIGN)

#define CHANNEL_LOST 3 /* exit status: the other side has gone or is silent */
#define CHANNEL_LOOK 64 /* batches between two looks at the stream's state */

/* What the writer tells the reader ... */
struct offer {
	char memory[EXAMPLE_KEY];
	char free[CHANNEL_SLOTS][EXAMPLE_KEY]; /* notifies that the reader records */
	int32_t pid; /* of the writer, for the reader's whitelists */
	uint32_t batches; /* 0: until the other side has gone */
};

/* ... and what it hears. */
struct answer {
	char full[CHANNEL_SLOTS][EXAMPLE_KEY]; /* notifies that the writer records */
};

/* The slot of the @n-th batch. */
static inline uint32_t *channel_slot(void *slots, uint32_t n)
{
	return (uint32_t *)((char *)slots + n % CHANNEL_SLOTS * CHANNEL_STRIDE);
}

static inline void channel_create_notify(aclrtNotify *notify, char *key, int32_t pid)
{
	CHECK(aclrtCreateNotify(notify, ACL_NOTIFY_DEFAULT));
	CHECK(aclrtNotifyGetExportKey(*notify, key, EXAMPLE_KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtNotifySetImportPid(*notify, &pid, 1));
}

/*
 * Lets the stream catch up. False when it does not within the timeout, or ends with an error because the device
 * knows that the other process has gone.
 */
static inline bool channel_catch_up(aclrtStream stream, int32_t timeout_ms)
{
	aclError code = aclrtSynchronizeStreamWithTimeout(stream, timeout_ms);

	if (code == ACL_SUCCESS)
		return true;
	example_say("the other side has gone: %d", code);
	example_explain();
	return false;
}

#endif
