/* SPDX-License-Identifier: MIT */
/* Peer access: counted by file and direction, in force when both directions are. */
#include "harness.h"
#include "suite.h"

#define PAIR_FILES 32

static void refusals(void **state)
{
	struct node *n = node_self();

	(void)state;
	assert_fails(peer_op(n, 1, 1, VINCI_PEER_ENABLE, NULL), EINVAL);
	assert_fails(peer_op(n, 0, 1, 0, NULL), EINVAL);
	assert_fails(peer_op(n, 0, 1, 4, NULL), EINVAL);
	assert_fails(peer_op(n, 0, NPUS, VINCI_PEER_ENABLE, NULL), ENODEV);
	assert_fails(peer_op(n, NPUS, 0, VINCI_PEER_QUERY, NULL), ENODEV);
	assert_fails(peer_op(n, 0, 3, VINCI_PEER_ENABLE, NULL), EOPNOTSUPP);
	assert_fails(peer_op(n, 3, 0, VINCI_PEER_QUERY, NULL), EOPNOTSUPP);
	assert_fails(peer_op(n, 0, 1, VINCI_PEER_DISABLE, NULL), ESRCH);
}

static void both_directions(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	uint32_t active = 7;

	(void)state;
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_QUERY, &active));
	assert_int_equal(active, 0);
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_ENABLE, &active));
	assert_int_equal(active, 0);
	assert_ok(peer_op(p, 1, 0, VINCI_PEER_ENABLE, &active)); /* by whomever */
	assert_int_equal(active, 1);
	assert_ok(peer_op(n, 1, 0, VINCI_PEER_QUERY, &active));
	assert_int_equal(active, 1);
	assert_ok(peer_op(n, 0, 2, VINCI_PEER_QUERY, &active));
	assert_int_equal(active, 0);
	assert_fails(peer_op(n, 1, 0, VINCI_PEER_DISABLE, &active), ESRCH); /* not its own */
	node_kill(p);
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_QUERY, &active));
	assert_int_equal(active, 0);
}

static void counted(void **state)
{
	struct node *n = node_self();
	uint32_t active;

	(void)state;
	assert_ok(peer_op(n, 1, 0, VINCI_PEER_ENABLE, NULL));
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_ENABLE, NULL));
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_ENABLE, NULL));
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_DISABLE, &active));
	assert_int_equal(active, 1);
	assert_ok(peer_op(n, 0, 1, VINCI_PEER_DISABLE, &active));
	assert_int_equal(active, 0);
	assert_fails(peer_op(n, 0, 1, VINCI_PEER_DISABLE, &active), ESRCH);
}

static void pair_is_bounded(void **state)
{
	struct node *files[PAIR_FILES], *late = node_self();
	int i;

	(void)state;
	for (i = 0; i < PAIR_FILES; i++) {
		files[i] = node_self();
		assert_ok(peer_op(files[i], 0, 1, VINCI_PEER_ENABLE, NULL));
	}
	assert_fails(peer_op(late, 0, 1, VINCI_PEER_ENABLE, NULL), ENOMEM);
	assert_ok(peer_op(files[3], 0, 1, VINCI_PEER_ENABLE, NULL));
	assert_ok(peer_op(late, 0, 2, VINCI_PEER_ENABLE, NULL));
	node_close(files[0]);
	assert_ok(peer_op(late, 0, 1, VINCI_PEER_ENABLE, NULL));
}

int run_peer_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(both_directions, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(counted, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(pair_is_bounded, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
