/* SPDX-License-Identifier: MIT */
/*
 * report_thread.c - callbacks in threads of the application's: a thread is subscribed to streams, and runs what they have come to when
 * it asks (aclrtProcessReport).
 *
 * A thread is known by its pthread_self() as long as it is subscribed to a stream. A callback belongs to the thread that its stream
 * had when it was launched; if that thread is not subscribed any more when its turn comes, its task fails.
 */
#include "rts/exec.h"
#include "rts/report_thread.h"

#include <stdlib.h>

#define THREADS_MAX 1024

enum call_state {
	CALL_NEW, /* the stream has not come to it */
	CALL_QUEUED,
	CALL_RUNNING, /* or about to */
	CALL_DONE,
	CALL_LOST, /* its thread is not subscribed any more */
};

struct report_call {
	aclrtCallback fn;
	void *arg;
	bool blocks;
	/* the rest: reports.lock */
	struct report_thread *thread; /* a reference */
	struct rts_stream *stream; /* a reference while it is queued or runs */
	enum call_state state;
	uint32_t refs; /* of the task, of the queue */
	struct report_call *next;
};

struct report_thread {
	uint64_t id;
	uint32_t device;
	_Atomic uint32_t news; /* futex: counts what happens to the queue */
	/* the rest: reports.lock */
	uint32_t refs; /* of its streams, calls, and of itself while it processes */
	uint32_t streams;
	struct report_call *first, **last;
	struct report_thread *next;
};

static struct {
	struct u_mutex lock;
	struct report_thread *threads; /* that are subscribed to a stream */
	uint32_t count;
} reports = { .lock = U_MUTEX_INIT(RANK_REPORT, "callback threads") };

/* Payload. */
struct call_task {
	struct report_call *call;
};

/* --- threads, reports.lock ---------------------------------------------------------------------- */

static struct report_thread *thread_find(uint64_t id)
{
	struct report_thread *t;

	for (t = reports.threads; t && t->id != id; t = t->next)
		;
	return t;
}

static void thread_put(struct report_thread *t)
{
	if (!--t->refs)
		free(t);
}

static struct report_thread *thread_new(uint64_t id, uint32_t device)
{
	struct report_thread *t = reports.count < THREADS_MAX ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->id = id;
	t->device = device;
	t->last = &t->first;
	t->next = reports.threads;
	reports.threads = t;
	reports.count++;
	return t;
}

static void thread_notice(struct report_thread *t)
{
	atomic_fetch_add(&t->news, 1);
	u_futex_wake(&t->news, 1, false);
}

static void thread_unlink(struct report_thread *t)
{
	struct report_thread **at;

	for (at = &reports.threads; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	reports.count--;
}

/* Takes the first call out of the queue, which holds a reference to it. */
static struct report_call *queue_pop(struct report_thread *t)
{
	struct report_call *call = t->first;

	if (call) {
		t->first = call->next;
		if (!t->first)
			t->last = &t->first;
	}
	return call;
}

static void queue_push(struct report_thread *t, struct report_call *call)
{
	call->next = NULL;
	call->refs++;
	*t->last = call;
	t->last = &call->next;
	thread_notice(t);
}

static void call_put(struct report_call *call)
{
	if (--call->refs)
		return;
	thread_put(call->thread);
	free(call);
}

/* --- calls -------------------------------------------------------------------------------------- */

/* The call is over. Its stream may go on. */
static void call_end(struct report_call *call, enum call_state state)
{
	struct rts_stream *st;

	u_mutex_lock(&reports.lock);
	call->state = state;
	st = call->stream;
	call->stream = NULL;
	call_put(call);
	u_mutex_unlock(&reports.lock);
	rts_stream_resume(st);
	rts_stream_put(&st);
}

/* The thread has lost its last stream: what it has not run it never will. */
static void calls_lose(struct report_thread *t)
{
	struct report_call *call;

	for (;;) {
		u_mutex_lock(&reports.lock);
		call = queue_pop(t);
		u_mutex_unlock(&reports.lock);
		if (!call)
			return;
		call_end(call, CALL_LOST);
	}
}

static enum call_state call_start_locked(struct report_call *call, struct rts_stream *st)
{
	if (call->state != CALL_NEW)
		return call->state;
	if (!call->thread->streams)
		return CALL_LOST;
	rts_object_ref(&st->obj);
	call->stream = st;
	call->state = CALL_QUEUED;
	queue_push(call->thread, call);
	return CALL_QUEUED;
}

static int call_run(void *payload, struct rts_stream *st)
{
	struct report_call *call = ((struct call_task *)payload)->call;
	enum call_state state;
	int r;

	u_mutex_lock(&reports.lock);
	state = call_start_locked(call, st);
	u_mutex_unlock(&reports.lock);
	if (state == CALL_LOST) {
		rts_stream_explain(st, "the thread that was to run a callback of stream %d is not subscribed any more", st->id);
		return ACL_ERROR_RT_STREAM_NO_CB_REG;
	}
	if (state == CALL_DONE || !call->blocks)
		return 0;
	r = stream_wait_ended(st, "a callback");
	return r ? r : RTS_TASK_BLOCKED;
}

/* What has been queued is run in any case, unless the stream was waiting for it and does so no more. */
static void call_drop(void *payload)
{
	struct report_call *call = ((struct call_task *)payload)->call;

	u_mutex_lock(&reports.lock);
	if (call->blocks && call->state == CALL_QUEUED)
		call->state = CALL_LOST;
	call_put(call);
	u_mutex_unlock(&reports.lock);
}

/* A call is made once: each run of a model makes one more. */
static int call_again(void *payload, struct rts_stream *st)
{
	struct call_task *task = payload;
	struct report_call *call = calloc(1, sizeof(*call));

	if (!call) {
		rts_stream_explain(st, "out of host memory for a callback");
		return ACL_ERROR_RT_MEMORY_ALLOCATION;
	}
	*call = (struct report_call){ .fn = task->call->fn, .arg = task->call->arg, .blocks = task->call->blocks, .refs = 1 };
	u_mutex_lock(&reports.lock);
	call->thread = task->call->thread;
	call->thread->refs++;
	u_mutex_unlock(&reports.lock);
	task->call = call;
	return 0;
}

static const struct rts_task_type call_type = {
	.name = "callback", .run = call_run, .drop = call_drop, .again = call_again, .leave = call_drop,
};

int rts_report_launch(struct rts_stream *st, aclrtCallback fn, void *arg, bool blocks)
{
	struct call_task task = { .call = calloc(1, sizeof(*task.call)) };
	struct report_thread *t;
	int r;

	if (!task.call)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a callback");
	*task.call = (struct report_call){ .fn = fn, .arg = arg, .blocks = blocks, .refs = 1 };
	u_mutex_lock(&reports.lock);
	t = st->reports;
	task.call->thread = t;
	if (t)
		t->refs++;
	u_mutex_unlock(&reports.lock);
	if (!t) {
		free(task.call);
		return u_report(ACL_ERROR_RT_STREAM_NO_CB_REG,
				"no thread is subscribed to stream %d (aclrtSubscribeReport), so nobody would run its callbacks", st->id);
	}
	r = rts_stream_submit(st, &call_type, &task, sizeof(task));
	if (r)
		call_drop(&task);
	return r;
}

/* --- subscribing -------------------------------------------------------------------------------- */

/* reports.lock; *t NULL: out of threads or memory. */
static int subscribe_locked(uint64_t id, struct rts_stream *st, struct report_thread **t)
{
	if (st->reports || atomic_load(&st->host_calls))
		return ACL_ERROR_RT_STREAM_SUBSCRIBE;
	*t = thread_find(id);
	if (*t && (*t)->device != st->device)
		return ACL_ERROR_RT_THREAD_SUBSCRIBE;
	if (!*t)
		*t = thread_new(id, st->device);
	if (!*t)
		return ACL_ERROR_RT_INTERNAL_ERROR;
	st->reports = *t;
	(*t)->streams++;
	(*t)->refs++;
	return 0;
}

int rts_report_subscribe(uint64_t id, struct rts_stream *st)
{
	struct report_thread *t;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&reports.lock);
	r = subscribe_locked(id, st, &t);
	u_mutex_unlock(&reports.lock);
	switch (r) {
	case ACL_ERROR_RT_STREAM_SUBSCRIBE:
		return u_report(r, "stream %d has a subscribed thread already, or runs functions of aclrtLaunchHostFunc", st->id);
	case ACL_ERROR_RT_THREAD_SUBSCRIBE:
		return u_report(r, "thread 0x%llx serves streams of another device than %d", (unsigned long long)id,
				rts_device_to_user(st->device));
	case ACL_ERROR_RT_INTERNAL_ERROR:
		return u_report(r, "no more than %d threads can be subscribed, or there is no host memory for one", THREADS_MAX);
	}
	return r;
}

/* Takes the stream away from its thread; the thread if it was its last one, for calls_lose(). */
static struct report_thread *thread_leave(struct rts_stream *st)
{
	struct report_thread *t = st->reports;

	st->reports = NULL;
	if (--t->streams) {
		thread_put(t);
		return NULL;
	}
	thread_unlink(t);
	thread_notice(t);
	return t;
}

static void thread_end(struct report_thread *t)
{
	if (!t)
		return;
	calls_lose(t);
	u_mutex_lock(&reports.lock);
	thread_put(t);
	u_mutex_unlock(&reports.lock);
}

int rts_report_unsubscribe(uint64_t id, struct rts_stream *st)
{
	struct report_thread *t = NULL;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&reports.lock);
	if (!st->reports)
		r = ACL_ERROR_RT_STREAM_SUBSCRIBE;
	else if (st->reports->id != id)
		r = ACL_ERROR_RT_THREAD_SUBSCRIBE;
	else
		t = thread_leave(st);
	u_mutex_unlock(&reports.lock);
	thread_end(t);
	return r ? u_report(r, "thread 0x%llx is not subscribed to stream %d", (unsigned long long)id, st->id) : 0;
}

void rts_report_stream_gone(struct rts_stream *st)
{
	struct report_thread *t = NULL;

	if (!st->reports || rts_process_forked())
		return;
	u_mutex_lock(&reports.lock);
	if (st->reports)
		t = thread_leave(st);
	u_mutex_unlock(&reports.lock);
	thread_end(t);
}

/* --- processing --------------------------------------------------------------------------------- */

/* True: it is this thread's to run. One whose stream does not wait any more is not run. */
static bool call_take(struct report_call *call)
{
	bool mine;

	u_mutex_lock(&reports.lock);
	mine = call->state == CALL_QUEUED;
	if (mine)
		call->state = CALL_RUNNING;
	u_mutex_unlock(&reports.lock);
	return mine;
}

/* How many there were. */
static uint32_t calls_run(struct report_thread *t)
{
	struct report_call *call;
	uint32_t count = 0;

	for (;;) {
		u_mutex_lock(&reports.lock);
		call = queue_pop(t);
		u_mutex_unlock(&reports.lock);
		if (!call)
			return count;
		if (!call_take(call)) {
			call_end(call, CALL_LOST);
			continue;
		}
		if (call->blocks)
			stream_call(call->stream, call->fn, call->arg);
		else
			call->fn(call->arg);
		call_end(call, CALL_DONE);
		count++;
	}
}

static bool thread_subscribed(struct report_thread *t)
{
	bool subscribed;

	u_mutex_lock(&reports.lock);
	subscribed = t->streams;
	u_mutex_unlock(&reports.lock);
	return subscribed;
}

static int process(struct report_thread *t, int32_t timeout_ms)
{
	uint64_t deadline = timeout_ms < 0 ? U_FOREVER : u_deadline(u_now_ns(), (uint64_t)timeout_ms * U_NS_PER_MS);
	bool in_time = true;

	while (in_time) {
		uint32_t news = atomic_load(&t->news);

		if (calls_run(t))
			return 0;
		if (!thread_subscribed(t))
			return u_report(ACL_ERROR_RT_THREAD_SUBSCRIBE, "the thread was unsubscribed while it waited for callbacks");
		in_time = u_futex_wait(&t->news, news, deadline, false);
	}
	return calls_run(t) ? 0 : u_report(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback came in %d ms", timeout_ms);
}

int rts_report_process(uint64_t id, int32_t timeout_ms)
{
	struct report_thread *t;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&reports.lock);
	t = thread_find(id);
	if (t)
		t->refs++;
	u_mutex_unlock(&reports.lock);
	if (!t)
		return u_report(ACL_ERROR_RT_THREAD_SUBSCRIBE,
				"thread 0x%llx is subscribed to no stream; aclrtSubscribeReport comes first, with this thread's pthread_self()",
				(unsigned long long)id);
	r = process(t, timeout_ms);
	u_mutex_lock(&reports.lock);
	thread_put(t);
	u_mutex_unlock(&reports.lock);
	return r;
}
