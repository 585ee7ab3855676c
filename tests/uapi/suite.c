/* SPDX-License-Identifier: MIT */
/* uapi_suite DEVICE: the rules of uapi/vinci_drm.h, one test after the other, against one device. */
#include <stdio.h>

#include "harness.h"
#include "suite.h"

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2 || harness_init(argv[1])) {
		(void)fprintf(stderr, "usage: uapi_suite inproc|vincid|drm\n");
		return 2;
	}
	failed += run_query_tests();
	failed += run_bo_tests();
	failed += run_notify_tests();
	failed += run_share_tests();
	failed += run_import_tests();
	failed += run_peer_tests();
	failed += run_list_tests();
	failed += run_fuzz_tests();
	return failed ? 1 : 0;
}
