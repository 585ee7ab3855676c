/* SPDX-License-Identifier: MIT */
/* set.c - filling memory with a byte or a 32-bit word. Host memory can be filled as well; only what is pageable at
 * once. */
#include <string.h>

#include "rts/memory.h"
#include "rts/model.h"
#include "util/cleanup.h"

struct set_task {
	void *ptr;
	uint64_t count; /* bytes, or words */
	uint32_t value;
	uint32_t word; /* 1: words */
};

static void set_now(const struct set_task *task)
{
	uint32_t *words = task->ptr;

	if (!task->word) {
		memset(task->ptr, (int)(task->value & 0xff), task->count);
		return;
	}
	for (uint64_t i = 0; i < task->count; i++)
		words[i] = task->value;
}

static int run_set(void *payload, struct rts_stream *stream)
{
	(void)stream;
	set_now(payload);
	return 0;
}

static const struct rts_task_type set_type = { .name = "memory set", .run = run_set, .memory = true };

static int check(const struct set_task *task, struct rts_place *place)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	return r ? r : rts_place(task->ptr, task->count * (task->word ? 4 : 1), "destination", place);
}

static int set_sync(const struct set_task *task)
{
	struct rts_place place;
	int r = rts_capture_permits("setting memory", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);

	if (!r)
		r = check(task, &place);
	if (!r)
		set_now(task);
	return r;
}

static int set_queued(const struct set_task *task, struct rts_stream *stream)
{
	struct rts_place place;
	int r = check(task, &place);

	if (!r)
		r = rts_stream_own(stream);
	if (r)
		return r;
	if (place.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED)
		return rts_stream_submit(stream, &set_type, task, sizeof(*task));
	r = rts_stream_synchronize(stream, -1);
	if (!r)
		set_now(task);
	return r;
}

int rts_set(void *ptr, size_t max, int value, size_t count)
{
	struct set_task task = { .ptr = ptr, .count = count, .value = (uint32_t)value };
	int r = rts_check_max(max, count);

	return r ? r : set_sync(&task);
}

int rts_set_async(void *ptr, size_t max, int value, size_t count, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct set_task task = { .ptr = ptr, .count = count, .value = (uint32_t)value };
	int r = rts_stream_get_any(handle, &stream);

	if (!r)
		r = rts_check_max(max, count);
	return r ? r : set_queued(&task, stream);
}

int rts_set32(void *ptr, uint32_t value, size_t count)
{
	struct set_task task = { .ptr = ptr, .count = count, .value = value, .word = 1 };

	return set_sync(&task);
}

/* Host memory is filled at once, whatever the stream has to do and be. */
int rts_set32_async(void *ptr, uint32_t value, size_t count, aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *stream = NULL;
	struct set_task task = { .ptr = ptr, .count = count, .value = value, .word = 1 };
	struct rts_place place;
	int r = check(&task, &place);

	if (r)
		return r;
	if (place.type == ACL_MEM_LOCATION_TYPE_HOST) {
		set_now(&task);
		return 0;
	}
	r = rts_stream_get_any(handle, &stream);
	return r ? r : set_queued(&task, stream);
}
