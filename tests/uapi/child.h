/* SPDX-License-Identifier: MIT */
/* child.h - what the tests of vincid's clients as processes share. */
#ifndef VINCI_TESTS_UAPI_CHILD_H
#define VINCI_TESTS_UAPI_CHILD_H

#include <sys/types.h>

#include "drv/drv.h"

#define DEADLINE_MS 20000
#define WHY 256

/* The test's instance, or the test fails with the reason. */
struct drv *must_open(void);
/* The reason must name both. */
void assert_refused(const struct drv_settings *settings, int error, const char *one, const char *two);
/* In a child a failed assertion must not go on with the parent's tests: it aborts. */
pid_t fork_test(void);
/* Runs @body in a child: its result, or 128 + the signal that ended it. */
int in_child(int (*body)(void));
unsigned int count_fds(pid_t pid);

#endif
