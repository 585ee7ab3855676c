/* SPDX-License-Identifier: MIT */
/*
 * device.c - which devices this process uses. A device is set by reference count over all threads; its primary context
 * lives from the first aclrtSetDevice to the last reset. Its users are the primary context and every context made
 * beside it: when the last one has ended, what the process holds of the device's memory goes.
 */
#include "rts/context.h"
#include "rts/lock_order.h"
#include "rts/options.h"
#include "rts/process.h"
#include "rts/state.h"
#include "rts/stream.h"
#include "util/mutex.h"

#include <stdlib.h>

struct device {
	unsigned set_count;
	unsigned users;
	bool going;		     /* its memory is being released: wait for @gone */
	struct rts_context *primary; /* a reference of the handle table's */
};

static struct u_mutex lock = U_MUTEX_INIT(RANK_DEVICE, "devices"); /* all below */
static pthread_cond_t gone = PTHREAD_COND_INITIALIZER;
static struct device devices[VINCI_MAX_DEVICES];
static unsigned all_users;
static atomic_int default_user = -1;

/* ---- users ----------------------------------------------------------------------------------- */

bool rts_device_unused(void)
{
	bool unused;

	u_mutex_lock(&lock);
	unused = !all_users;
	u_mutex_unlock(&lock);
	return unused;
}

bool rts_device_lock_if_unused(void)
{
	u_mutex_lock(&lock);
	if (!all_users)
		return true;
	u_mutex_unlock(&lock);
	return false;
}

void rts_device_unlock(void)
{
	u_mutex_unlock(&lock);
}

static void wait_while_going(struct device *d)
{
	while (d->going)
		u_mutex_wait(&lock, &gone);
}

static void use_locked(struct device *d)
{
	d->users++;
	all_users++;
}

/*
 * After the last user's end no task of the process uses the device: every context on it has ended its streams. A user
 * stays counted in all_users until the memory is gone, so that no new connection takes the place of the one that the
 * memory belongs to.
 */
static void unuse_locked(uint32_t device)
{
	struct device *d = &devices[device];

	if (!--d->users) {
		d->going = true;
		u_mutex_unlock(&lock);
		rts_ipc_device_gone(device);
		rts_vmm_device_gone(device);
		rts_options_device_gone(device);
		rts_memory_device_gone(device);
		u_mutex_lock(&lock);
		d->going = false;
		pthread_cond_broadcast(&gone);
	}
	all_users--;
}

void rts_device_use(uint32_t device)
{
	u_mutex_lock(&lock);
	wait_while_going(&devices[device]);
	use_locked(&devices[device]);
	u_mutex_unlock(&lock);
}

void rts_device_unuse(uint32_t device)
{
	u_mutex_lock(&lock);
	unuse_locked(device);
	u_mutex_unlock(&lock);
}

/* ---- set and reset --------------------------------------------------------------------------- */

int rts_device_start(void)
{
	int code;

	if (!rts_process_forked() && rts_device_unused())
		rts_process_probe();
	code = rts_process_start();
	return code == ACL_ERROR_RT_NO_DEVICE ? ACL_ERROR_RT_DEV_SETUP_ERROR : code;
}

/* *made: the primary context is new. */
static int set_locked(uint32_t device, struct rts_context **primary, bool *made)
{
	struct device *d = &devices[device];
	int code;

	wait_while_going(d);
	if (!d->primary) {
		use_locked(d);
		code = rts_context_new(device, true, &d->primary);
		if (code) {
			unuse_locked(device);
			return code;
		}
		*made = true;
	}
	d->set_count++;
	*primary = d->primary;
	rts_object_ref(&d->primary->obj);
	return 0;
}

int rts_device_set(uint32_t device)
{
	struct rts_context *primary;
	bool made = false;
	int code;

	if (!rts_device_primary_active(device))
		rts_state_device(device, ACL_RT_DEVICE_STATE_SET_PRE);
	u_mutex_lock(&lock);
	code = set_locked(device, &primary, &made);
	u_mutex_unlock(&lock);
	if (code)
		return code;
	if (!(rts_profile()->features & RTS_FEATURE_NO_DEFAULT_CONTEXT))
		rts_context_bind(primary);
	if (made)
		rts_state_default_stream(primary, ACL_RT_STREAM_STATE_CREATE_POST);
	rts_state_device(device, ACL_RT_DEVICE_STATE_SET_POST);
	rts_object_put(&primary->obj);
	return 0;
}

/* The primary context if this was the last count; NULL if others remain. */
static int release_locked(struct device *d, bool force, struct rts_context **primary)
{
	if (!d->set_count)
		return ACL_ERROR_RT_CONTEXT_RELEASE_ERROR;
	d->set_count = force ? 0 : d->set_count - 1;
	*primary = d->set_count ? NULL : d->primary;
	if (*primary)
		d->primary = NULL;
	return 0;
}

int rts_device_reset(uint32_t device, bool force)
{
	struct rts_context *primary;
	int code;

	u_mutex_lock(&lock);
	code = release_locked(&devices[device], force, &primary);
	u_mutex_unlock(&lock);
	if (code)
		return u_report(
			code,
			"device %d is not set in this process; aclrtSetDevice comes first, and each of its calls "
			"allows one aclrtResetDevice",
			rts_device_to_user(device));
	if (!primary)
		return 0;
	rts_state_device(device, ACL_RT_DEVICE_STATE_RESET_PRE);
	rts_context_end(primary, force);
	rts_device_unuse(device);
	rts_state_device(device, ACL_RT_DEVICE_STATE_RESET_POST);
	return 0;
}

bool rts_device_primary_active(uint32_t device)
{
	bool active;

	u_mutex_lock(&lock);
	active = devices[device].primary != NULL;
	u_mutex_unlock(&lock);
	return active;
}

/* ---- the thread's device --------------------------------------------------------------------- */

void rts_device_set_default(int32_t user)
{
	atomic_store(&default_user, user);
}

int rts_device_set_implicit(void)
{
	int32_t user = atomic_load_explicit(&default_user, memory_order_relaxed);
	uint32_t device;
	int code;

	if (user < 0)
		return ACL_ERROR_RT_CONTEXT_NULL;
	code = rts_device_start();
	if (!code)
		code = rts_device_from_user(user, &device);
	return code ? code : rts_device_set(device);
}

int rts_device_get(uint32_t *device)
{
	struct rts_context *ctx;
	int code = rts_context_current(&ctx);

	if (!code)
		*device = ctx->device;
	return code;
}

int rts_device_synchronize(int32_t timeout_ms)
{
	struct rts_context *ctx;
	int code;

	if (timeout_ms < -1 || !timeout_ms)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"Value %d for timeout is invalid. Expected value: -1 (none) or more than 0 ms",
				timeout_ms);
	code = rts_context_current(&ctx);
	return code ? code : rts_streams_synchronize(ctx, timeout_ms);
}
