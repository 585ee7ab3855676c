/* SPDX-License-Identifier: MIT */
/* callback.c - functions of the application's as tasks. They may call the API, so they never run on a thread that is inside of it. */
#include "rts/exec.h"

struct host_call {
	aclrtHostFunc fn;
	void *arg;
};

static int host_call_run(void *payload, struct rts_stream *st)
{
	const struct host_call *call = payload;

	(void)st;
	call->fn(call->arg);
	return 0;
}

static const struct rts_task_type host_call_type = { .name = "host function", .run = host_call_run, .worker_only = true };

int rts_launch_host_func(struct rts_stream *st, aclrtHostFunc fn, void *arg)
{
	const struct host_call call = { .fn = fn, .arg = arg };

	if (!fn)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL; it must be the function to call");
	if (st->reports)
		return u_report(ACL_ERROR_RT_STREAM_SUBSCRIBE,
				"stream %d has a subscribed thread (aclrtSubscribeReport), which runs its callbacks: use aclrtLaunchCallback",
				st->id);
	if (!atomic_load_explicit(&st->host_calls, memory_order_relaxed))
		atomic_store(&st->host_calls, true);
	return rts_stream_submit(st, &host_call_type, &call, sizeof(call));
}

static int mark_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	(void)st;
	return 0;
}

static const struct rts_task_type mark_type = { .name = "mark", .run = mark_run };

int rts_stream_mark(struct rts_stream *st)
{
	return rts_stream_submit(st, &mark_type, NULL, 0);
}
