/* SPDX-License-Identifier: MIT */
#ifndef VINCI_TESTS_UAPI_SUITE_H
#define VINCI_TESTS_UAPI_SUITE_H

/* Each runs its group and returns the number of failed tests. */
int run_query_tests(void);
int run_bo_tests(void);
int run_notify_tests(void);
int run_share_tests(void);
int run_import_tests(void);
int run_peer_tests(void);
int run_list_tests(void);
int run_fuzz_tests(void);

#endif
