/* SPDX-License-Identifier: MIT */
/* peer_access_test.c - access between devices: directions, counts over processes, links. */
#include "share_peer.h"

#define REFUSED ACL_ERROR_RT_DRV_INTERNAL_ERROR
#define BAD_ARGUMENT ACL_ERROR_INVALID_PARAM
#define BAD_DEVICE ACL_ERROR_RT_INVALID_DEVICEID

static int setup(void **state)
{
	(void)state;
	return aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDeviceForce(0);
}

static int32_t status(int32_t device, int32_t peer)
{
	int32_t active = -1;

	assert_ok(aclrtDevicePeerAccessStatus(device, peer, &active));
	return active;
}

/* covers: aclrtDeviceEnablePeerAccess, aclrtDeviceDisablePeerAccess, aclrtDevicePeerAccessStatus effect */
static void test_both_directions(void **state)
{
	(void)state;
	assert_int_equal(status(0, 1), 0);
	assert_ok(aclrtDeviceEnablePeerAccess(1, 0));
	assert_int_equal(status(0, 1), 0);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtDeviceEnablePeerAccess(0, 0));
	assert_int_equal(status(0, 1), 1);
	assert_int_equal(status(1, 0), 1);
	assert_int_equal(status(0, 2), 0);
	/* Counted: enabled twice, disabled twice. */
	assert_ok(aclrtDeviceEnablePeerAccess(0, 0));
	assert_ok(aclrtDeviceDisablePeerAccess(0));
	assert_int_equal(status(0, 1), 1);
	assert_ok(aclrtDeviceDisablePeerAccess(0));
	assert_int_equal(status(0, 1), 0);
	assert_refused(aclrtDeviceDisablePeerAccess(0), REFUSED);
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtDeviceDisablePeerAccess(1));
	assert_ok(aclrtResetDevice(0));
}

/* Two processes enable one direction each; who dies takes his along. */
static void test_two_processes(void **state)
{
	struct t_peer peer;

	(void)state;
	peer_start(&peer, 3);
	assert_ok(aclrtDeviceEnablePeerAccess(3, 0));
	assert_int_equal(status(0, 3), 0);
	assert_ask(&peer, 0, "p2p 0");
	assert_int_equal(status(0, 3), 1);
	assert_ask(&peer, 1, "p2pstatus 3 0");
	/* A process disables what it enabled itself. */
	assert_ask(&peer, REFUSED, "unp2p 5");
	peer_stop(&peer);
	assert_int_equal(status(0, 3), 0);
	assert_ok(aclrtDeviceDisablePeerAccess(3));
}

/* covers: aclrtDeviceEnablePeerAccess, aclrtDeviceDisablePeerAccess, aclrtDevicePeerAccessStatus failure */
static void test_arguments(void **state)
{
	int32_t out = 5;
	struct t_peer peer;

	(void)state;
	assert_refused(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
	assert_refused(aclrtDeviceEnablePeerAccess(0, 0), BAD_ARGUMENT);
	assert_refused(aclrtDeviceEnablePeerAccess(99, 0), BAD_DEVICE);
	assert_refused(aclrtDeviceEnablePeerAccess(-1, 0), BAD_DEVICE);
	assert_refused(aclrtDeviceDisablePeerAccess(0), BAD_ARGUMENT);
	assert_refused(aclrtDeviceDisablePeerAccess(99), BAD_DEVICE);
	assert_refused(aclrtDeviceDisablePeerAccess(7), REFUSED);
	assert_refused(aclrtDevicePeerAccessStatus(0, 1, NULL), BAD_ARGUMENT);
	assert_refused(aclrtDevicePeerAccessStatus(99, 1, &out), BAD_DEVICE);
	assert_refused(aclrtDevicePeerAccessStatus(0, 99, &out), BAD_DEVICE);
	assert_refused(aclrtDevicePeerAccessStatus(0, -1, &out), BAD_DEVICE);
	assert_int_equal(out, 5);
	peer_start(&peer, -1);
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "p2p 1");
	assert_ask(&peer, ACL_ERROR_RT_CONTEXT_NULL, "unp2p 1");
	peer_stop(&peer);
}

/* covers: aclrtDeviceCanAccessPeer effect */
/* covers: aclrtDeviceCanAccessPeer failure */
static void test_can_access(void **state)
{
	int32_t can = -1;

	(void)state;
	assert_ok(aclrtDeviceCanAccessPeer(&can, 0, 7));
	assert_int_equal(can, 1);
	assert_refused(aclrtDeviceCanAccessPeer(&can, 1, 1), BAD_ARGUMENT);
	assert_refused(aclrtDeviceCanAccessPeer(NULL, 1, 1), BAD_ARGUMENT);
	assert_refused(aclrtDeviceCanAccessPeer(&can, 0, 99), BAD_DEVICE);
	assert_refused(aclrtDeviceCanAccessPeer(&can, 99, 0), BAD_DEVICE);
	assert_refused(aclrtDeviceCanAccessPeer(NULL, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(can, 1);
}

static void test_without_link(void **state)
{
	static const char *const env[] = { "VINCI_INSTANCE=peer-links", "VINCI_PEERS=0-1,2-3", NULL };
	struct t_peer peer;

	(void)state;
	peer_start_env(&peer, 0, env);
	assert_ask(&peer, 1, "canp2p 0 1");
	assert_ask(&peer, 0, "canp2p 0 2");
	assert_ask(&peer, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "p2p 2");
	assert_ask(&peer, 0, "p2p 1");
	peer_stop(&peer);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_both_directions), TEST(test_two_processes), TEST(test_arguments),
		TEST(test_can_access),	    TEST(test_without_link),
	};
	int status_code;

	if (share_peer_main(argc, argv, &status_code))
		return status_code;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
