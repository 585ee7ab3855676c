/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - a program's life with the library, every call of which may fail: initialisation, a device, memory,
 * copies, streams, notifies, sharing by key and by handle, and the way back.
 */
#ifndef VINCI_TESTS_FAULT_SCENARIO_H
#define VINCI_TESTS_FAULT_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

#define SCENARIO_DEVICE 1
#define SCENARIO_VALUE 123u /* in the memory that the partner shares */

/* What another process has shared with everybody. */
struct partner {
	char memory_key[65];
	char notify_key[65];
	uint64_t shareable;
	int32_t pid;
};

/*
 * Runs all of it, as far as failures allow, and gives everything back. Returns the number of calls that failed. Ends
 * the process with a message on stderr when a call breaks a rule: a code that is no failure of resources or of the
 * device, no sentence, an output that was written by a failing call, a success with a wrong result, a failure although
 * no call of libc was failed.
 */
int scenario_run(const struct partner *partner);
/* The rest of what a scenario left behind because giving it back failed as well. No fault may be armed. */
void scenario_clean(void);

/* Ends the process: @fmt, the fault that was in effect. */
void scenario_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
