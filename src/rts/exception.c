/* SPDX-License-Identifier: MIT */
/*
 * exception.c - who wants to hear of failed kernels. Callbacks run on a thread of their own while the failing task
 * waits for them: the thread that ran the kernel may be an application's, inside a call of the library.
 */
#include "rts/exec.h"
#include "rts/lock_order.h"
#include "rts/module.h"
#include "util/mutex.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct u_mutex lock; /* protects the rest */
	aclrtExceptionInfoCallback *registered;
	size_t count, room;
	aclrtExceptionInfoCallback set; /* aclrtSetExceptionInfoCallback's */
} listeners = { .lock = U_MUTEX_INIT(RANK_EXCEPTION, "exception callbacks") };

/* --- registration ----------------------------------------------------------------------------- */

static bool grow_locked(void)
{
	size_t room = listeners.room ? listeners.room * 2 : 8;
	aclrtExceptionInfoCallback *more = realloc(listeners.registered, room * sizeof(*more));

	if (!more)
		return false;
	listeners.registered = more;
	listeners.room = room;
	return true;
}

static size_t find_locked(aclrtExceptionInfoCallback callback)
{
	size_t i = 0;

	while (i < listeners.count && listeners.registered[i] != callback)
		i++;
	return i;
}

int rts_exception_register(aclrtExceptionInfoCallback callback)
{
	bool room = true;
	int r = rts_process_check_fork();

	if (r)
		return r;
	fault_start();
	u_mutex_lock(&listeners.lock);
	if (find_locked(callback) == listeners.count) {
		room = listeners.count < listeners.room || grow_locked();
		if (room)
			listeners.registered[listeners.count++] = callback;
	}
	u_mutex_unlock(&listeners.lock);
	if (!room)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a callback");
	return 0;
}

int rts_exception_unregister(aclrtExceptionInfoCallback callback)
{
	size_t i;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&listeners.lock);
	i = find_locked(callback);
	if (i < listeners.count) {
		listeners.count--;
		memmove(&listeners.registered[i], &listeners.registered[i + 1],
			(listeners.count - i) * sizeof(listeners.registered[0]));
	}
	u_mutex_unlock(&listeners.lock);
	return 0;
}

int rts_exception_set(aclrtExceptionInfoCallback callback)
{
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&listeners.lock);
	listeners.set = callback;
	u_mutex_unlock(&listeners.lock);
	return 0;
}

/* --- telling ---------------------------------------------------------------------------------- */

struct notice {
	struct rtExceptionInfo info;
	const struct exec_frame *frames;       /* of the thread that waits for the callbacks */
	aclrtExceptionInfoCallback *callbacks; /* a copy: they may register others */
	size_t count;
	aclrtOpExceptionCallback of_binary;
	void *user_data;
};

static void notice_fill(struct notice *n)
{
	u_mutex_lock(&listeners.lock);
	n->callbacks = malloc((listeners.count + 1) * sizeof(n->callbacks[0]));
	if (n->callbacks) {
		if (listeners.count)
			memcpy(n->callbacks, listeners.registered, listeners.count * sizeof(n->callbacks[0]));
		n->count = listeners.count;
		if (listeners.set)
			n->callbacks[n->count++] = listeners.set;
	}
	u_mutex_unlock(&listeners.lock);
	if (n->info.function)
		n->of_binary = rts_binary_callback(n->info.function->binary, &n->user_data);
}

static void notice_deliver(struct notice *n)
{
	for (size_t i = 0; i < n->count; i++)
		n->callbacks[i](&n->info);
	if (n->of_binary)
		n->of_binary(&n->info, n->user_data);
}

static void *notice_main(void *arg)
{
	struct notice *n = arg;

	stream_frames_set(n->frames);
	notice_deliver(n);
	return NULL;
}

static bool thread_start(pthread_t *thread, struct notice *n)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread, NULL, notice_main, n);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !r;
}

/* Without a thread for them they run on this one, which is better than not at all. */
static void notice_send(struct notice *n)
{
	pthread_t thread;

	notice_fill(n);
	if (n->count || n->of_binary) {
		n->frames = stream_frames();
		pool_worker_blocks();
		if (thread_start(&thread, n))
			pthread_join(thread, NULL);
		else
			notice_deliver(n);
		pool_worker_continues();
	}
	free(n->callbacks);
}

/* Kernels run on the vector cores where those are separate, as kernels of that kind do on a card. */
static bool on_vector_cores(void)
{
	return rts_profile()->vector_cores == 2 * rts_profile()->cube_cores;
}

int rts_fault_code(const struct rts_function *fn)
{
	if (fn && fn->cpu_name)
		return ACL_ERROR_RT_AICPU_EXCEPTION;
	return on_vector_cores() ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

int rts_timeout_code(void)
{
	return on_vector_cores() ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
}

static void explain(struct rts_stream *st, const struct kernel_run *run)
{
	const char *name = run->kernel->name ? run->kernel->name : "?";

	if (run->fault.signal)
		rts_stream_explain(st, "kernel %s, block %u of %u on stream %d: %s (signal %d, address %p)", name,
				   run->block, run->blocks, rts_stream_id(st), fault_name(&run->fault),
				   run->fault.signal, run->fault.address);
	else
		rts_stream_explain(st, "kernel %s, block %u of %u on stream %d was ended: %s", name, run->block,
				   run->blocks, rts_stream_id(st),
				   run->fault.code == rts_timeout_code() ? "it ran longer than an operator may"
									 : "the stream was stopped");
}

int exception_raise(void *payload, struct rts_stream *st, const struct kernel_run *run, struct rts_function *fn,
		    uint32_t args_size)
{
	const struct task_slot *slot =
		(const struct task_slot *)((const char *)payload - offsetof(struct task_slot, payload));
	struct notice n = {
		.info = {
			.task = (uint32_t)(atomic_load(&st->completed) + 1),
			.stream = (uint32_t)rts_stream_id(st),
			.thread = (uint32_t)slot->thread,
			.device = (uint32_t)rts_device_to_user(rts_stream_device(st)),
			.code = run->fault.signal ? rts_fault_code(fn) : run->fault.code,
			.function = fn,
			.args = run->args,
			.args_size = args_size,
		},
	};

	explain(st, run);
	if (run->fault.signal || n.info.code == rts_timeout_code())
		notice_send(&n);
	return n.info.code;
}
