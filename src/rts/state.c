/* SPDX-License-Identifier: MIT */
#include "rts/state.h"
#include "util/mutex.h"

#include <stdlib.h>
#include <string.h>

#define WATCHERS_MAX 64 /* of each kind */

typedef void (*any_function)(void);

struct watcher {
	char *name;
	any_function fn;
	void *args;
};

struct registry {
	struct u_mutex lock; /* the others */
	unsigned count;
	struct watcher list[WATCHERS_MAX]; /* in the order of registration */
};

static struct registry devices = { .lock = U_MUTEX_INIT(U_RANK_LAST, "device watchers") };
static struct registry aborts = { .lock = U_MUTEX_INIT(U_RANK_LAST, "abort watchers") };
static struct registry streams = { .lock = U_MUTEX_INIT(U_RANK_LAST, "stream watchers") };

static struct watcher *find_locked(struct registry *r, const char *name)
{
	for (unsigned i = 0; i < r->count; i++)
		if (!strcmp(r->list[i].name, name))
			return &r->list[i];
	return NULL;
}

static void forget(struct registry *r, const char *name)
{
	struct watcher *w;
	char *old = NULL;

	u_mutex_lock(&r->lock);
	w = find_locked(r, name);
	if (w) {
		old = w->name;
		memmove(w, w + 1, (size_t)(&r->list[r->count] - (w + 1)) * sizeof(*w));
		r->count--;
	}
	u_mutex_unlock(&r->lock);
	free(old);
}

static int add_locked(struct registry *r, char *name, any_function fn, void *args)
{
	if (find_locked(r, name))
		return ACL_ERROR_RT_PARAM_INVALID;
	if (r->count == WATCHERS_MAX)
		return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
	r->list[r->count++] = (struct watcher){ name, fn, args };
	return 0;
}

static int watch(struct registry *r, const char *name, any_function fn, void *args)
{
	int code = rts_process_check_fork();
	char *copy;

	if (code)
		return code;
	if (!fn) {
		forget(r, name);
		return 0;
	}
	copy = strdup(name);
	if (!copy)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory is left for a name");
	u_mutex_lock(&r->lock);
	code = add_locked(r, copy, fn, args);
	u_mutex_unlock(&r->lock);
	if (!code)
		return 0;
	free(copy);
	if (code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL)
		return u_report(code, "there are %d callbacks of this kind already", WATCHERS_MAX);
	return u_report(code, "regName \"%.64s\" is registered already; a callback NULL takes it away", name);
}

int rts_state_watch_devices(const char *name, aclrtDeviceStateCallback fn, void *args)
{
	return watch(&devices, name, (any_function)fn, args);
}

int rts_state_watch_streams(const char *name, aclrtStreamStateCallback fn, void *args)
{
	return watch(&streams, name, (any_function)fn, args);
}

int rts_state_watch_aborts(const char *name, aclrtDeviceTaskAbortCallback fn, void *args)
{
	return watch(&aborts, name, (any_function)fn, args);
}

/* A copy, so that they are called with the lock free: a callback may come and go from a callback. */
static unsigned watchers(struct registry *r, struct watcher *out)
{
	unsigned count;

	u_mutex_lock(&r->lock);
	count = r->count;
	memcpy(out, r->list, count * sizeof(*out));
	u_mutex_unlock(&r->lock);
	return count;
}

void rts_state_device(uint32_t device, aclrtDeviceState state)
{
	struct watcher list[WATCHERS_MAX];
	unsigned count = watchers(&devices, list);

	for (unsigned i = 0; i < count; i++)
		((aclrtDeviceStateCallback)list[i].fn)(rts_device_to_user(device), state, list[i].args);
}

void rts_state_stream(aclrtStream stream, aclrtStreamState state)
{
	struct watcher list[WATCHERS_MAX];
	unsigned count = watchers(&streams, list);

	for (unsigned i = 0; i < count; i++)
		((aclrtStreamStateCallback)list[i].fn)(stream, state, list[i].args);
}

int rts_state_abort(uint32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms)
{
	struct watcher list[WATCHERS_MAX];
	unsigned count = watchers(&aborts, list);
	int32_t user = rts_device_to_user(device);
	int r;

	for (unsigned i = 0; i < count; i++) {
		r = ((aclrtDeviceTaskAbortCallback)list[i].fn)(user, stage, timeout_ms, list[i].args);
		if (r)
			return u_report(
				ACL_ERROR_RT_INTERNAL_ERROR,
				"a callback of aclrtSetDeviceTaskAbortCallback answered %d for device %d, stage %d", r,
				user, (int)stage);
	}
	return 0;
}

void rts_state_default_stream(struct rts_context *ctx, aclrtStreamState state)
{
	struct rts_stream *stream = atomic_load_explicit(&ctx->default_stream, memory_order_acquire);
	void *handle = stream ? ((struct rts_object *)stream)->handle : NULL;

	if (handle)
		rts_state_stream(handle, state);
}
