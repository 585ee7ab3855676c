/* SPDX-License-Identifier: MIT */
/* cnt_notify.c - counting notifies. The counter and the streams that wait for it are under the notify's lock. */
#include "rts/cnt_notify.h"
#include "rts/exec.h"
#include "rts/notify.h"

#include <stdlib.h>

#define IDS_MAX 65536u

struct cnt_notify {
	struct rts_object obj;
	uint32_t device, id;
	struct u_lock lock; /* protects the rest; streams are resumed without it */
	uint32_t value;
	uint64_t changes;
	struct stream_wait *waiting; /* target: changes when it joined */
};

struct cnt_task {
	struct cnt_notify *n; /* a reference */
	struct rts_stream *stream; /* of a wait, once it has run */
	uint64_t timeout_ns, deadline; /* 0: none */
	uint32_t mode, value;
	bool clears, linked, polled;
};

static struct {
	struct u_mutex lock;
	uint64_t taken[VINCI_MAX_DEVICES][IDS_MAX / 64];
	uint32_t used[VINCI_MAX_DEVICES];
} ids = { .lock = U_MUTEX_INIT(RANK_CNT_NOTIFY, "counting notify ids") };

/* --- ids ------------------------------------------------------------------------------------------ */

static bool id_take(uint32_t device, uint32_t *id)
{
	bool found = false;

	u_mutex_lock(&ids.lock);
	for (uint32_t i = 0; i < IDS_MAX / 64 && !found && ids.used[device] < rts_profile()->notify_limit; i++) {
		uint64_t taken = ids.taken[device][i];

		if (!~taken)
			continue;
		*id = i * 64 + (uint32_t)__builtin_ctzll(~taken);
		ids.taken[device][i] = taken | (taken + 1);
		ids.used[device]++;
		found = true;
	}
	u_mutex_unlock(&ids.lock);
	return found;
}

static void id_give(uint32_t device, uint32_t id)
{
	u_mutex_lock(&ids.lock);
	ids.taken[device][id / 64] &= ~(UINT64_C(1) << (id % 64));
	ids.used[device]--;
	u_mutex_unlock(&ids.lock);
}

/* --- objects -------------------------------------------------------------------------------------- */

static void cnt_released(struct rts_object *obj)
{
	struct cnt_notify *n = (struct cnt_notify *)obj;

	if (!rts_process_forked())
		id_give(n->device, n->id);
	free(n);
}

static int cnt_get(aclrtCntNotify handle, struct cnt_notify **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_CNT_NOTIFY);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"counting notify %p is no live one of this process: destroyed, or never one", handle);
	*out = (struct cnt_notify *)obj;
	return 0;
}

int rts_cnt_notify_create(struct rts_context *ctx, uint64_t flag, aclrtCntNotify *handle)
{
	struct cnt_notify *n;
	int r;

	if (flag)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%llx; it must be 0", (unsigned long long)flag);
	n = calloc(1, sizeof(*n));
	if (!n)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a counting notify");
	n->device = ctx->device;
	if (!id_take(n->device, &n->id)) {
		free(n);
		return u_report(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "device %d has no counting notify left: %s allows %u",
				rts_device_to_user(ctx->device), rts_profile()->soc, rts_profile()->notify_limit);
	}
	r = rts_object_publish(&n->obj, RTS_CNT_NOTIFY, cnt_released);
	if (r)
		cnt_released(&n->obj);
	else
		*handle = n->obj.handle;
	return r;
}

int rts_cnt_notify_destroy(aclrtCntNotify handle)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_unpublish(handle, RTS_CNT_NOTIFY);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"counting notify %p is no live one of this process: destroyed, or never one", handle);
	rts_object_put(obj);
	return 0;
}

int rts_cnt_notify_id(aclrtCntNotify handle, uint32_t *id)
{
	struct cnt_notify *n = NULL;
	int r = cnt_get(handle, &n);

	if (r)
		return r;
	*id = n->id;
	rts_object_put(&n->obj);
	return 0;
}

/* --- recording ------------------------------------------------------------------------------------ */

static void waiting_unlink(struct cnt_notify *n, struct stream_wait *w)
{
	if (w->prev)
		w->prev->next = w->next;
	else
		n->waiting = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->linked = NULL;
}

/* All of them look again: what one waits for may be what another clears. */
static void waiting_resume(struct cnt_notify *n)
{
	uint64_t change = 0;
	struct rts_stream *st;

	do {
		struct stream_wait *w;

		st = NULL;
		u_lock_take(&n->lock);
		if (!change)
			change = ++n->changes;
		for (w = n->waiting; w && w->target >= change; w = w->next)
			; /* it has looked since */
		if (w) {
			st = w->stream;
			waiting_unlink(n, w);
			rts_object_ref(&st->obj);
		}
		u_lock_give(&n->lock);
		if (st) {
			rts_stream_resume(st);
			rts_object_put(&st->obj);
		}
	} while (st);
}

static uint32_t value_after(const struct cnt_task *t, uint32_t value)
{
	switch (t->mode) {
	case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
		return value + t->value;
	case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
		return value | t->value;
	case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
		return value & t->value;
	default:
		return t->value;
	}
}

static int record_run(void *payload, struct rts_stream *st)
{
	struct cnt_task *t = payload;

	(void)st;
	u_lock_take(&t->n->lock);
	t->n->value = value_after(t, t->n->value);
	u_lock_give(&t->n->lock);
	waiting_resume(t->n);
	return 0;
}

static void record_drop(void *payload)
{
	rts_object_put(&((struct cnt_task *)payload)->n->obj);
}

static const struct rts_task_type record_type = { .name = "counting notify record", .run = record_run, .drop = record_drop };

static int cnt_submit(aclrtCntNotify handle, struct rts_stream *st, const struct rts_task_type *type, struct cnt_task *t)
{
	int r = cnt_get(handle, &t->n);

	if (r)
		return r;
	r = rts_stream_submit(st, type, t, sizeof(*t));
	if (r)
		rts_object_put(&t->n->obj);
	return r;
}

int rts_cnt_notify_record(aclrtCntNotify handle, struct rts_stream *st, const aclrtCntNotifyRecordInfo *info)
{
	struct cnt_task t = { .mode = info->mode, .value = info->value };

	if (t.mode > ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE || t.mode == 3)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "info->mode is %u; it must be 0, 1, 2 or 4", t.mode);
	return cnt_submit(handle, st, &record_type, &t);
}

int rts_cnt_notify_reset(aclrtCntNotify handle, struct rts_stream *st)
{
	struct cnt_task t = { .mode = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE };

	return cnt_submit(handle, st, &record_type, &t);
}

/* --- waiting -------------------------------------------------------------------------------------- */

static bool value_passes(const struct cnt_task *t, uint32_t value)
{
	switch (t->mode) {
	case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
		return value < t->value;
	case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
		return value == t->value;
	case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
		return value > t->value;
	case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
		return value >= t->value;
	default:
		return (value & t->value) == t->value;
	}
}

static void wait_leave(struct cnt_task *t)
{
	if (t->linked) {
		u_lock_take(&t->n->lock);
		if (t->stream->wait.linked)
			waiting_unlink(t->n, &t->stream->wait);
		u_lock_give(&t->n->lock);
	}
	if (t->polled)
		poll_forget(t->stream);
	t->linked = t->polled = false;
}

/* Takes what is waited for (*cleared: others have to look again), or joins the list. */
static bool wait_take(struct cnt_task *t, struct rts_stream *st, bool join, bool *cleared)
{
	struct stream_wait *w = &st->wait;
	struct cnt_notify *n = t->n;
	bool passes;

	u_lock_take(&n->lock);
	passes = value_passes(t, n->value);
	*cleared = passes && t->clears;
	if (*cleared)
		n->value = 0;
	if (!passes && join) {
		*w = (struct stream_wait){ .stream = st, .next = n->waiting, .target = n->changes, .linked = n };
		if (w->next)
			w->next->prev = w;
		n->waiting = w;
		t->linked = true;
	}
	u_lock_give(&n->lock);
	return passes;
}

static int wait_block(struct cnt_task *t, struct rts_stream *st)
{
	if (t->deadline) {
		int r = poll_add(st, NULL, NULL, t->deadline);

		if (r)
			return r;
		t->polled = true;
	}
	return RTS_TASK_BLOCKED;
}

static int wait_failed(struct cnt_task *t, struct rts_stream *st)
{
	int r = stream_wait_ended(st, "a counting notify");

	if (r)
		return r;
	rts_stream_explain(st, "stream %d waited %llu s for counting notify %u in vain", st->id,
			   (unsigned long long)(t->timeout_ns / U_NS_PER_S), t->n->id);
	return ACL_ERROR_RT_TASK_TIMEOUT;
}

static int wait_run(void *payload, struct rts_stream *st)
{
	struct cnt_task *t = payload;
	bool over, cleared;

	t->stream = st;
	wait_leave(t);
	if (t->timeout_ns && !t->deadline)
		t->deadline = u_deadline(u_now_ns(), t->timeout_ns);
	over = (atomic_load(&st->state) & STREAM_NO_WAITS) || stream_task_stopped(st) ||
	       (t->deadline && u_now_ns() >= t->deadline);
	if (wait_take(t, st, !over, &cleared)) {
		if (cleared)
			waiting_resume(t->n);
		return 0;
	}
	return over ? wait_failed(t, st) : wait_block(t, st);
}

static void wait_end(void *payload)
{
	wait_leave(payload);
}

static void wait_drop(void *payload)
{
	struct cnt_task *t = payload;

	wait_leave(t);
	rts_object_put(&t->n->obj);
}

static const struct rts_task_type wait_type = {
	.name = "counting notify wait", .run = wait_run, .drop = wait_drop, .leave = wait_end,
};

int rts_cnt_notify_wait(aclrtCntNotify handle, struct rts_stream *st, const aclrtCntNotifyWaitInfo *info)
{
	struct cnt_task t = { .mode = info->mode,
			      .value = info->value,
			      .clears = info->isClear,
			      .timeout_ns = info->timeout == UINT32_MAX ? 0 : info->timeout * U_NS_PER_S };

	if (t.mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "info->mode is %u; it must be from 0 to 4", t.mode);
	return cnt_submit(handle, st, &wait_type, &t);
}
