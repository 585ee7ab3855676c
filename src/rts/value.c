/* SPDX-License-Identifier: MIT */
/*
 * value.c - tasks that write a 64-bit word of device memory, or wait until it passes a test.
 *
 * Anybody may write the word: a task of this kind, a kernel, a copy, another process that shares the memory. The first kind tells
 * the waits of this process; for the others a wait looks again every now and then.
 */
#include "rts/value.h"
#include "rts/exec.h"
#include "rts/memory.h"
#include "rts/notify.h"

#define LOOK_PAUSES 64 /* about 1 us */
#define NAP_MIN_NS (50 * UINT64_C(1000))
#define NAP_MAX_NS U_NS_PER_MS

struct value_task {
	_Atomic uint64_t *word; /* mapped until the task has ended, also when it is freed before */
	uint64_t value;
	uint32_t test;
	bool linked, polled; /* of a wait that has run */
	uint64_t nap_ns;
	struct rts_stream *stream; /* the same */
};

static struct {
	struct u_mutex lock; /* the list */
	struct stream_wait *first; /* target: the word's address */
	_Atomic uint32_t count;
} waits = { .lock = U_MUTEX_INIT(RANK_VALUE, "waits for values") };

/* --- the list of waiting streams ----------------------------------------------------------------- */

static void wait_unlink(struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		waits.first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
	atomic_fetch_sub(&waits.count, 1);
}

static void wait_link(struct rts_stream *st, const _Atomic uint64_t *word)
{
	struct stream_wait *w = &st->wait;

	u_mutex_lock(&waits.lock);
	*w = (struct stream_wait){ .stream = st, .next = waits.first, .target = (uintptr_t)word, .linked = &waits };
	if (w->next)
		w->next->prev = w;
	waits.first = w;
	atomic_fetch_add(&waits.count, 1);
	u_mutex_unlock(&waits.lock);
}

/* A stream that waits for the word, with a reference: it has a pending task while it is in the list, so it is alive. */
static struct rts_stream *wait_pop(const _Atomic uint64_t *word)
{
	struct rts_stream *st = NULL;
	struct stream_wait *w;

	u_mutex_lock(&waits.lock);
	for (w = waits.first; w && w->target != (uintptr_t)word; w = w->next)
		;
	if (w) {
		st = w->stream;
		wait_unlink(w);
		rts_object_ref(&st->obj);
	}
	u_mutex_unlock(&waits.lock);
	return st;
}

/* --- writing ------------------------------------------------------------------------------------- */

/*
 * Stores the value, then reads the number of waits; a wait raises the number, then reads the value. All are sequentially consistent,
 * so either the wait sees the value or the write sees the wait.
 */
static int write_run(void *payload, struct rts_stream *st)
{
	struct value_task *t = payload;
	struct rts_stream *waiter;

	(void)st;
	atomic_store(t->word, t->value);
	if (!atomic_load(&waits.count))
		return 0;
	while ((waiter = wait_pop(t->word))) {
		rts_stream_resume(waiter);
		rts_stream_put(&waiter);
	}
	return 0;
}

static const struct rts_task_type write_type = { .name = "value write", .run = write_run, .memory = true };

/* --- waiting ------------------------------------------------------------------------------------- */

static bool value_passes(const struct value_task *t)
{
	uint64_t now = atomic_load(t->word);

	switch (t->test) {
	case ACL_STREAM_WAIT_VALUE_GEQ:
		return (int64_t)(now - t->value) >= 0;
	case ACL_STREAM_WAIT_VALUE_EQ:
		return now == t->value;
	case ACL_STREAM_WAIT_VALUE_AND:
		return now & t->value;
	default:
		return ~(now | t->value);
	}
}

static bool value_look(const struct value_task *t)
{
	for (unsigned i = 0; i < LOOK_PAUSES && u_cores() > 1; i++) {
		if (value_passes(t))
			return true;
		u_relax();
	}
	return value_passes(t);
}

static void wait_leave(struct value_task *t)
{
	if (t->linked) {
		u_mutex_lock(&waits.lock);
		if (t->stream->wait.linked)
			wait_unlink(&t->stream->wait);
		u_mutex_unlock(&waits.lock);
	}
	if (t->polled)
		poll_forget(t->stream);
	t->linked = t->polled = false;
}

static int wait_block(struct value_task *t, struct rts_stream *st)
{
	int r = poll_add(st, NULL, NULL, u_now_ns() + t->nap_ns);

	if (r)
		return r;
	t->polled = true;
	t->nap_ns = t->nap_ns < NAP_MAX_NS / 2 ? t->nap_ns * 2 : NAP_MAX_NS;
	return RTS_TASK_BLOCKED;
}

static int wait_run(void *payload, struct rts_stream *st)
{
	struct value_task *t = payload;
	int r;

	t->stream = st;
	wait_leave(t);
	if (value_look(t))
		return 0;
	r = stream_wait_ended(st, "a value");
	if (r)
		return r;
	wait_link(st, t->word);
	t->linked = true;
	return value_passes(t) ? 0 : wait_block(t, st);
}

static void wait_drop(void *payload)
{
	wait_leave(payload);
}

static const struct rts_task_type wait_type = {
	.name = "value wait", .run = wait_run, .drop = wait_drop, .leave = wait_drop, .memory = true,
};

/* --- submitting ---------------------------------------------------------------------------------- */

static int addr_check(const void *addr, const char *what)
{
	struct rts_place place;
	int r = rts_place(addr, sizeof(uint64_t), what, &place);

	if (r)
		return r;
	if (place.type != ACL_MEM_LOCATION_TYPE_DEVICE)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: devAddr is %p, which is not device memory", what, addr);
	if ((uintptr_t)addr % sizeof(uint64_t))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: devAddr is %p; it must be a multiple of 8", what, addr);
	return 0;
}

int rts_value_write(struct rts_stream *st, void *addr, uint64_t value, uint32_t flag)
{
	const struct value_task t = { .word = addr, .value = value };
	int r;

	if (flag)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%x; it must be 0", flag);
	r = addr_check(addr, "aclrtValueWrite");
	return r ? r : rts_stream_submit(st, &write_type, &t, sizeof(t));
}

int rts_value_wait(struct rts_stream *st, void *addr, uint64_t value, uint32_t flag)
{
	const struct value_task t = { .word = addr, .value = value, .test = flag, .nap_ns = NAP_MIN_NS };
	int r;

	if (flag > ACL_STREAM_WAIT_VALUE_NOR)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%x; it must be one of ACL_STREAM_WAIT_VALUE_* (0 to 3)", flag);
	r = addr_check(addr, "aclrtValueWait");
	return r ? r : rts_stream_submit(st, &wait_type, &t, sizeof(t));
}
