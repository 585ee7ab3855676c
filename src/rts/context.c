/* SPDX-License-Identifier: MIT */
/*
 * context.c - contexts, and the one that is current in a thread. The thread holds a reference, so that what it points
 * at stays readable after another thread has destroyed the context or reset the device; it is then dead and every use
 * answers 107002.
 */
#include "rts/context.h"
#include "rts/state.h"
#include "rts/stream.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static _Thread_local struct rts_context *current;
static pthread_key_t current_key; /* drops the reference when a thread ends */
static pthread_once_t current_once = PTHREAD_ONCE_INIT;
static bool current_key_made;

static bool is_dead(const struct rts_context *ctx)
{
	return atomic_load_explicit(&ctx->dead, memory_order_acquire);
}

/* ---- the thread's context -------------------------------------------------------------------- */

/*
 * The application's destructors may still want the thread's context, in whatever order: ours waits for the last
 * but one round. The last is the sanitizers': after it they do not know the thread any more.
 */
static void drop_at_exit(void *ctx)
{
	static _Thread_local unsigned rounds;

	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && !pthread_setspecific(current_key, ctx))
		return;
	current = NULL;
	if (!rts_process_forked())
		rts_object_put(&((struct rts_context *)ctx)->obj);
}

static void make_key(void)
{
	current_key_made = !pthread_key_create(&current_key, drop_at_exit);
}

/* Without a key the thread's last reference is never dropped: a leak of one context, no more. */
void rts_context_bind(struct rts_context *ctx)
{
	struct rts_context *old = current;

	if (ctx == old)
		return;
	if (ctx)
		rts_object_ref(&ctx->obj);
	current = ctx;
	pthread_once(&current_once, make_key);
	if (current_key_made && pthread_setspecific(current_key, ctx))
		u_log(U_WARN, "no memory for the thread's context to be released at its end");
	if (old)
		rts_object_put(&old->obj);
}

static int no_context(void)
{
	if (current)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL,
				"the thread's context is gone: its device %d was reset or the context destroyed; call "
				"aclrtSetDevice or aclrtSetCurrentContext",
				rts_device_to_user(current->device));
	return u_report(ACL_ERROR_RT_CONTEXT_NULL,
			"no context is current in this thread; call aclrtSetDevice or aclrtSetCurrentContext first");
}

static int current_slowly(struct rts_context **ctx)
{
	int code = rts_process_check_fork();

	if (code)
		return code;
	if (!current)
		code = rts_device_set_implicit();
	if (code || !current || is_dead(current))
		return no_context();
	*ctx = current;
	return 0;
}

int rts_context_current(struct rts_context **ctx)
{
	struct rts_context *c = current;

	if (!c || is_dead(c) || rts_process_forked())
		return current_slowly(ctx);
	*ctx = c;
	return 0;
}

struct rts_context *rts_context_peek(void)
{
	struct rts_context *c = current;

	return c && !is_dead(c) && !rts_process_forked() ? c : NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void context_release(struct rts_object *obj)
{
	struct rts_context *ctx = (struct rts_context *)obj;
	struct rts_stream *stream = atomic_load_explicit(&ctx->default_stream, memory_order_acquire);

	rts_stream_put(&stream);
	free(ctx);
}

int rts_context_new(uint32_t device, bool primary, struct rts_context **out)
{
	struct rts_context *ctx = calloc(1, sizeof(*ctx));
	struct rts_stream *stream;
	int code;

	if (!ctx)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory is left for a context");
	ctx->device = device;
	ctx->primary = primary;
	code = rts_object_publish(&ctx->obj, RTS_CONTEXT, context_release);
	if (code)
		goto err_free;
	code = rts_stream_create(ctx, 0, 0, &stream);
	if (code)
		goto err_unpublish;
	atomic_store_explicit(&ctx->default_stream, stream, memory_order_release);
	*out = ctx;
	return 0;

err_unpublish:
	rts_object_put(rts_object_unpublish(ctx->obj.handle, RTS_CONTEXT));
	return code;
err_free:
	free(ctx);
	return code;
}

bool rts_context_end(struct rts_context *ctx, bool force)
{
	struct rts_object *obj = rts_object_unpublish(ctx->obj.handle, RTS_CONTEXT);

	if (!obj)
		return false;
	atomic_store_explicit(&ctx->dead, true, memory_order_release);
	rts_streams_shutdown(ctx, force);
	rts_object_put(obj);
	return true;
}

int rts_context_create(uint32_t device, struct rts_context **out)
{
	struct rts_context *ctx;
	int code;

	rts_device_use(device);
	code = rts_context_new(device, false, &ctx);
	if (code) {
		rts_device_unuse(device);
		return code;
	}
	rts_context_bind(ctx);
	rts_state_default_stream(ctx, ACL_RT_STREAM_STATE_CREATE_POST);
	*out = ctx;
	return 0;
}

static int destroy(struct rts_context *ctx)
{
	uint32_t device = ctx->device;

	if (ctx->primary)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL,
				"the context is the default one of device %d, which aclrtResetDevice destroys, not "
				"aclrtDestroyContext",
				rts_device_to_user(device));
	if (!rts_context_end(ctx, false))
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "the context has been destroyed already");
	if (current == ctx)
		rts_context_bind(NULL);
	rts_device_unuse(device);
	return 0;
}

int rts_context_destroy(void *handle)
{
	struct rts_object *obj;
	int code;

	code = rts_process_check_fork();
	if (code)
		return code;
	obj = rts_object_get(handle, RTS_CONTEXT);
	if (!obj)
		return u_report(
			ACL_ERROR_RT_CONTEXT_NULL,
			"Value %p for context is invalid. Expected value: a context that aclrtCreateContext made and "
			"nobody has destroyed",
			handle);
	code = destroy((struct rts_context *)obj);
	rts_object_put(obj);
	return code;
}

int rts_context_set_current(void *handle)
{
	struct rts_object *obj;
	int code;

	code = rts_process_check_fork();
	if (code)
		return code;
	obj = rts_object_get(handle, RTS_CONTEXT);
	if (!obj)
		return u_report(
			ACL_ERROR_RT_PARAM_INVALID,
			"Value %p for context is invalid. Expected value: a context that is alive (neither destroyed "
			"nor of a device that was reset)",
			handle);
	rts_context_bind((struct rts_context *)obj);
	rts_object_put(obj);
	return 0;
}
