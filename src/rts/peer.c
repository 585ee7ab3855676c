/* SPDX-License-Identifier: MIT */
/*
 * peer.c - access of one device to another's memory. The device counts references per process and direction and makes a pair
 * active once both directions have been enabled by somebody.
 *
 * Copies ask whether a pair is active, so what this process enabled itself in both directions is known here
 * without a request.
 */
#include "rts/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/lock_order.h"
#include "rts/share.h"
#include "util/mutex.h"

/* Makes request and count one step. */
static struct u_mutex peer_lock = U_MUTEX_INIT(RANK_PEER, "peer access");
/* References of this process, by direction, on the connection of refs_epoch; changed under peer_lock. */
static atomic_uint refs[VINCI_MAX_DEVICES][VINCI_MAX_DEVICES];
static atomic_ullong refs_epoch;

static int peer_failed(uint32_t device, uint32_t peer, int err)
{
	int code = rts_errno_code(0, RTS_OP_PEER, err);
	int a = rts_device_to_user(device), b = rts_device_to_user(peer);

	switch (-abs(err)) {
	case -EOPNOTSUPP:
		return u_report(code, "devices %d and %d have no link: aclrtDeviceCanAccessPeer tells which have", a, b);
	case -ESRCH:
		return u_report(code, "access from device %d to device %d was not enabled by this process, so it cannot be disabled",
				a, b);
	case -ENOMEM:
		return u_report(code, "devices %d and %d: access is enabled by as many processes as it can be (32)", a, b);
	default:
		return u_report(code, "access from device %d to device %d: the device refused (%s)", a, b,
				rts_errno_text(err));
	}
}

/* A device that has died forgot the references. */
static void forget_old_locked(void)
{
	uint64_t epoch = rts_process_epoch();
	uint32_t a, b;

	if (atomic_load(&refs_epoch) == epoch)
		return;
	for (a = 0; a < VINCI_MAX_DEVICES; a++)
		for (b = 0; b < VINCI_MAX_DEVICES; b++)
			atomic_store(&refs[a][b], 0);
	atomic_store(&refs_epoch, epoch);
}

static bool own_refs(uint32_t device, uint32_t peer)
{
	return atomic_load_explicit(&refs_epoch, memory_order_acquire) == rts_process_epoch() &&
	       atomic_load_explicit(&refs[device][peer], memory_order_relaxed) &&
	       atomic_load_explicit(&refs[peer][device], memory_order_relaxed);
}

/*
 * Returns -errno. The device is told of this process's first reference and of its last: an import between devices takes one more
 * each time, and what lies between makes no difference to anybody else.
 */
static int peer_change(uint32_t device, uint32_t peer, bool enable)
{
	unsigned int held;
	int err = 0;

	u_mutex_lock(&peer_lock);
	forget_old_locked();
	held = atomic_load(&refs[device][peer]);
	if (enable ? !held : held <= 1)
		err = drv_peer(rts_drv(), device, peer, enable ? VINCI_PEER_ENABLE : VINCI_PEER_DISABLE, NULL);
	if (!err && enable)
		atomic_fetch_add(&refs[device][peer], 1);
	else if (!err)
		atomic_fetch_sub(&refs[device][peer], 1);
	u_mutex_unlock(&peer_lock);
	return err;
}

int rts_peer_enable(uint32_t device, uint32_t peer)
{
	int r = rts_process_start();

	if (r)
		return r;
	r = peer_change(device, peer, true);
	return r ? peer_failed(device, peer, r) : 0;
}

int rts_peer_disable(uint32_t device, uint32_t peer)
{
	int r = rts_process_start();

	if (r)
		return r;
	r = peer_change(device, peer, false);
	return r ? peer_failed(device, peer, r) : 0;
}

/* Without a link it is the import that fails: 507899, whatever enabling it alone would say. */
int rts_peer_enable_both(uint32_t a, uint32_t b)
{
	int err;

	if (a == b)
		return 0;
	err = peer_change(a, b, true);
	if (!err) {
		err = peer_change(b, a, true);
		if (err)
			(void)peer_change(a, b, false);
	}
	if (err == -EOPNOTSUPP)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"devices %d and %d have no link, so neither can use the other's memory",
				rts_device_to_user(a), rts_device_to_user(b));
	return err ? peer_failed(a, b, err) : 0;
}

int rts_peer_linked(uint32_t device, uint32_t peer, bool *linked)
{
	struct drm_vinci_device_info info;
	int r;

	r = drv_device_info(rts_drv(), device, &info);
	if (r)
		return u_report(rts_errno_code(0, RTS_OP_QUERY, r), "device %d does not tell its links (%s)",
				rts_device_to_user(device), rts_errno_text(r));
	*linked = info.peer_mask >> peer & 1;
	return 0;
}

int rts_peer_status(uint32_t device, uint32_t peer, bool *active)
{
	int r = rts_process_start();

	if (r)
		return r;
	r = drv_peer(rts_drv(), device, peer, VINCI_PEER_QUERY, active);
	return r ? peer_failed(device, peer, r) : 0;
}

bool rts_peer_active(uint32_t device, uint32_t peer)
{
	bool active = false;

	if (device == peer)
		return true;
	if (device >= VINCI_MAX_DEVICES || peer >= VINCI_MAX_DEVICES)
		return false;
	if (own_refs(device, peer))
		return true;
	return !drv_peer(rts_drv(), device, peer, VINCI_PEER_QUERY, &active) && active;
}
