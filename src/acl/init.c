/* SPDX-License-Identifier: MIT */
/*
 * init.c - aclInit and aclFinalize. No other function needs them: what they do is read settings and tell components
 * that registered. This file has the acl layer's only state, but for a flag of dump.c.
 */
#include "acl/api.h"
#include "acl/init_file.h"
#include "rts/lock_order.h"
#include "util/mutex.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

union callback_fn {
	aclInitCallbackFunc init;
	aclFinalizeCallbackFunc finalize;
};

struct callback {
	aclRegisterCallbackType type;
	union callback_fn fn;
	void *user;
};

struct callbacks {
	struct callback *array;
	size_t count, capacity;
};

/*
 * A call that changes the state marks it and works without the lock, because it runs callbacks; others wait for the
 * mark to go. A call from inside a callback finds its own mark.
 */
static struct {
	struct u_mutex lock; /* all of this */
	pthread_cond_t changed;
	bool changing;
	pthread_t changer;
	int cancel; /* the changer's: it is not to be cancelled in a file or a callback */
	atomic_ullong count;	 /* aclInit's references; 0: not initialised */
	bool finalized;		 /* the last thing that happened was a finalisation */
	struct init_file *first; /* of the first aclInit that succeeded: later ones have to agree */
	struct callbacks at_init, at_finalize;
} state = { .lock = U_MUTEX_INIT(RANK_ACL_INIT, "aclInit"), .changed = PTHREAD_COND_INITIALIZER };

bool api_initialized(void)
{
	return atomic_load(&state.count);
}

/* The child of a process that was not initialised may start afresh, whatever other threads were doing. */
static void after_fork(void)
{
	static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;

	u_mutex_after_fork(&state.lock);
	state.changed = fresh;
	state.changing = false;
}

static void __attribute__((constructor)) watch_forks(void)
{
	if (pthread_atfork(NULL, NULL, after_fork))
		u_log(U_WARN, "no memory to watch for forks: aclInit may hang in a forked child");
}

/* False: this thread is inside a callback of the change that is going on. */
static bool begin_change(void)
{
	bool outer;

	u_mutex_lock(&state.lock);
	while (state.changing && !pthread_equal(state.changer, pthread_self()))
		u_mutex_wait(&state.lock, &state.changed);
	outer = !state.changing;
	if (outer)
		state.cancel = u_cancel_off();
	state.changing = true;
	state.changer = pthread_self();
	u_mutex_unlock(&state.lock);
	return outer;
}

static void end_change(void)
{
	int cancel;

	u_mutex_lock(&state.lock);
	cancel = state.cancel;
	state.changing = false;
	pthread_cond_broadcast(&state.changed);
	u_mutex_unlock(&state.lock);
	u_cancel_restore(cancel);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static bool same(const struct callback *a, const struct callback *b)
{
	return a->type == b->type && !memcmp(&a->fn, &b->fn, sizeof(a->fn)) && a->user == b->user;
}

static bool callback_at(const struct callbacks *list, size_t i, struct callback *out)
{
	bool there;

	u_mutex_lock(&state.lock);
	there = i < list->count;
	if (there)
		*out = list->array[i];
	u_mutex_unlock(&state.lock);
	return there;
}

static aclError call(const struct callbacks *list, const struct callback *cb)
{
	static const struct init_file none;
	const struct init_file *file = state.first ? state.first : &none;

	if (list == &state.at_init)
		return cb->fn.init(file->text ? file->text : "", file->len, cb->user);
	return cb->fn.finalize(cb->user);
}

/* A callback may take itself off the list: then the next one has moved to its place. */
static aclError run_callbacks(const struct callbacks *list, aclRegisterCallbackType type)
{
	struct callback cb, after;
	aclError r;
	size_t i = 0;

	while (callback_at(list, i, &cb)) {
		if (cb.type == type) {
			r = call(list, &cb);
			if (r)
				return u_report(r, "a callback of type %d answered %d", (int)type, r);
		}
		if (callback_at(list, i, &after) && same(&cb, &after))
			i++;
	}
	return ACL_SUCCESS;
}

static const struct callback *find_type(const struct callbacks *list, aclRegisterCallbackType type)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->array[i].type == type)
			return &list->array[i];
	return NULL;
}

static aclError add_locked(struct callbacks *list, const struct callback *cb)
{
	struct callback *array;
	size_t capacity;

	if (cb->type != ACL_REG_TYPE_OTHER && find_type(list, cb->type))
		return u_report(ACL_ERROR_INTERNAL_ERROR,
				"a callback of type %d is registered already; only ACL_REG_TYPE_OTHER takes several",
				(int)cb->type);
	if (list->count == list->capacity) {
		capacity = list->capacity ? 2 * list->capacity : 8;
		array = realloc(list->array, capacity * sizeof(*array));
		if (!array)
			return u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left for a callback");
		list->array = array;
		list->capacity = capacity;
	}
	list->array[list->count++] = *cb;
	return ACL_SUCCESS;
}

static aclError add_callback(struct callbacks *list, const struct callback *cb, bool *initialised)
{
	aclError r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&state.lock);
	*initialised = state.count > 0;
	r = add_locked(list, cb);
	u_mutex_unlock(&state.lock);
	return r;
}

static bool remove_locked(struct callbacks *list, const struct callback *cb)
{
	size_t i = 0;

	while (i < list->count &&
	       (list->array[i].type != cb->type || memcmp(&list->array[i].fn, &cb->fn, sizeof(cb->fn))))
		i++;
	if (i == list->count)
		return false;
	list->count--;
	memmove(&list->array[i], &list->array[i + 1], (list->count - i) * sizeof(list->array[0]));
	return true;
}

static aclError remove_callback(struct callbacks *list, const struct callback *cb)
{
	aclError r = rts_process_check_fork();
	bool removed;

	if (r)
		return r;
	u_mutex_lock(&state.lock);
	removed = remove_locked(list, cb);
	u_mutex_unlock(&state.lock);
	if (!removed)
		return u_report(ACL_ERROR_INTERNAL_ERROR, "this function is not registered for type %d", (int)cb->type);
	return ACL_SUCCESS;
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData)
{
	struct callback cb = { .type = type, .fn.init = cbFunc, .user = userData };
	bool initialised;
	aclError r;

	REQUIRE_NOT_NULL(cbFunc);
	r = add_callback(&state.at_init, &cb, &initialised);
	if (!r && initialised)
		(void)call(&state.at_init, &cb); /* CANN: what it answers is not looked at */
	return r;
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
	struct callback cb = { .type = type, .fn.init = cbFunc };

	REQUIRE_NOT_NULL(cbFunc);
	return remove_callback(&state.at_init, &cb);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData)
{
	struct callback cb = { .type = type, .fn.finalize = cbFunc, .user = userData };
	bool initialised;

	REQUIRE_NOT_NULL(cbFunc);
	return add_callback(&state.at_finalize, &cb, &initialised);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc)
{
	struct callback cb = { .type = type, .fn.finalize = cbFunc };

	REQUIRE_NOT_NULL(cbFunc);
	return remove_callback(&state.at_finalize, &cb);
}

/* ---- initialising ---------------------------------------------------------------------------- */

static aclError check_same_as_first(const struct init_file *file, const char *path)
{
	const struct init_file *first = state.first;

	if (!first || (first->len == file->len && !memcmp(first->text, file->text, file->len)))
		return ACL_SUCCESS;
	return u_report(
		ACL_ERROR_INVALID_PARAM,
		"the content of \"%s\" differs from what this process was first initialised with (%s); all calls of "
		"aclInit in a process have to agree",
		path ? path : "", first->path);
}

/* Without a device there is nothing to initialise; wrong settings keep their code, so that they are told apart. */
static aclError start_device(const struct init_file *file)
{
	uint32_t device;
	int code = rts_process_start();

	if (code == ACL_ERROR_RT_NO_DEVICE)
		return ACL_ERROR_INTERNAL_ERROR;
	if (!code && file->default_device >= 0)
		code = rts_device_from_user(file->default_device, &device);
	return api_result(code);
}

static aclError run_all_init_callbacks(const struct init_file *file)
{
	aclError r = run_callbacks(&state.at_init, ACL_REG_TYPE_ACL_MODEL);

	if (!r && file->len)
		r = run_callbacks(&state.at_init, ACL_REG_TYPE_ACL_OP_EXECUTOR);
	if (!r)
		r = run_callbacks(&state.at_init, ACL_REG_TYPE_ACL_DVPP);
	if (!r)
		r = run_callbacks(&state.at_init, ACL_REG_TYPE_OTHER);
	return r;
}

/* On success the first file belongs to the state. */
static aclError init_with(struct init_file *file, const char *path)
{
	struct init_file *before = state.first;
	aclError r = check_same_as_first(file, path);

	if (!r)
		r = start_device(file);
	if (r)
		return r;
	if (!before)
		state.first = file; /* callbacks get its text */
	u_report_for_process(file->errors_of_process);
	r = run_all_init_callbacks(file);
	if (r) {
		state.first = before;
		return r;
	}
	rts_device_set_default(file->default_device);
	return ACL_SUCCESS;
}

static aclError init(const char *path)
{
	struct init_file *file;
	aclError r;

	if (state.count) {
		return u_report(ACL_ERROR_REPEAT_INITIALIZE,
				"aclInit has been called already; this call only counts a reference (now %llu)",
				atomic_fetch_add(&state.count, 1) + 1);
	}
	r = init_file_read(path, &file);
	if (r)
		return r;
	r = init_with(file, path);
	if (file != state.first)
		init_file_free(file);
	if (!r) {
		state.count = 1;
		state.finalized = false;
	}
	return r;
}

aclError aclInit(const char *configPath)
{
	aclError r = rts_process_check_fork();

	if (r)
		return r;
	if (!begin_change())
		return u_report(ACL_ERROR_REPEAT_INITIALIZE,
				"aclInit was called from a callback of aclInit or aclFinalize");
	r = init(configPath);
	end_change();
	return r;
}

/* ---- finalising ------------------------------------------------------------------------------ */

/* Devices stay set and memory stays allocated: aclrtResetDevice is what gives them back. */
static aclError finalize(void)
{
	aclError r = run_callbacks(&state.at_finalize, ACL_REG_TYPE_ACL_OP_COMPILER);

	if (!r)
		r = run_callbacks(&state.at_finalize, ACL_REG_TYPE_ACL_MODEL);
	if (!r)
		r = run_callbacks(&state.at_finalize, ACL_REG_TYPE_ACL_DVPP);
	if (!r)
		r = run_callbacks(&state.at_finalize, ACL_REG_TYPE_OTHER);
	if (r)
		return r;
	rts_device_set_default(-1);
	state.count = 0;
	state.finalized = true;
	return ACL_SUCCESS;
}

static aclError repeated(void)
{
	return u_report(ACL_ERROR_REPEAT_FINALIZE,
			"there is nothing to finalise: aclInit has not been called since the last time");
}

/* CANN: the first call of a process succeeds even without aclInit. */
aclError aclFinalize(void)
{
	aclError r = rts_process_check_fork();

	if (r)
		return r;
	if (!begin_change())
		return repeated();
	r = state.finalized ? repeated() : finalize();
	end_change();
	return r;
}

static aclError drop_reference(uint64_t *left)
{
	aclError r = ACL_SUCCESS;

	if (!state.count)
		return repeated();
	if (state.count == 1)
		r = finalize();
	else
		state.count--;
	if (!r && left)
		*left = state.count;
	return r;
}

aclError aclFinalizeReference(uint64_t *refCount)
{
	aclError r = rts_process_check_fork();

	if (r)
		return r;
	if (!begin_change())
		return repeated();
	r = drop_reference(refCount);
	end_change();
	return r;
}
