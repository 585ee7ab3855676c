/* SPDX-License-Identifier: MIT */
/* peer.c - chapter 4: access between devices. */
#include "acl/api.h"
#include "rts/peer.h"
#include "rts/process.h"

#define REQUIRE_OTHER(device, peer)                                                                                 \
	REQUIRE((device) != (peer), "%s: device %d and its peer are the same; two devices are wanted", __func__,    \
		(int)(device))

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
	uint32_t device, peer;
	bool linked;
	int r;

	REQUIRE_PRODUCT();
	REQUIRE_OTHER(deviceId, peerDeviceId);
	r = rts_process_start();
	if (!r)
		r = rts_device_from_user(peerDeviceId, &peer);
	if (!r)
		r = rts_device_from_user(deviceId, &device);
	if (!r && !canAccessPeer)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: argument canAccessPeer is NULL", __func__);
	if (!r)
		r = rts_peer_linked(device, peer, &linked);
	if (!r)
		*canAccessPeer = linked;
	return api_result(r);
}

/* The current device and a peer that differs from it. A device that is not set is no error of acl's own. */
static int pair(int32_t peer_user, const char *function, uint32_t *device, uint32_t *peer)
{
	int r = rts_process_start();

	if (!r)
		r = rts_device_get(device);
	if (!r && rts_device_to_user(*device) == peer_user)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: device %d is the current one; another is wanted", function,
				(int)peer_user);
	if (!r)
		r = rts_device_from_user(peer_user, peer);
	return r;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
	uint32_t device, peer;
	int r;

	REQUIRE_PRODUCT();
	if (flags)
		return u_report(ACL_ERROR_FEATURE_UNSUPPORTED, "%s: flags is %u; it is reserved and must be 0", __func__,
				flags);
	r = pair(peerDeviceId, __func__, &device, &peer);
	if (!r)
		r = rts_peer_enable(device, peer);
	return api_result(r);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
	REQUIRE_PRODUCT();

	uint32_t device, peer;
	int r = pair(peerDeviceId, __func__, &device, &peer);

	if (!r)
		r = rts_peer_disable(device, peer);
	return api_result(r);
}

/* The peer is the driver's number, also when ASCEND_RT_VISIBLE_DEVICES renumbers devices: a quirk of the real call. */
aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
	uint32_t device;
	bool active;
	int r;

	REQUIRE_NOT_NULL(status);
	r = rts_process_start();
	if (!r)
		r = rts_device_from_user(deviceId, &device);
	if (!r && (peerDeviceId < 0 || (uint32_t)peerDeviceId >= rts_device_total()))
		r = u_report(ACL_ERROR_RT_INVALID_DEVICEID, "peer device %d; 0 to %u are wanted", (int)peerDeviceId,
			     rts_device_total() - 1);
	if (!r)
		r = rts_peer_status(device, (uint32_t)peerDeviceId, &active);
	if (!r)
		*status = active;
	return api_result(r);
}
