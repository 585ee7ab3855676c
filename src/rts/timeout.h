/* SPDX-License-Identifier: MIT */
/*
 * timeout.h - how long a kernel may run. A card counts in intervals of its clock, up to a number of them that fits its
 * register.
 *
 * Limits are on what a program has set, for all its launches or for one. What a card does without (68 to 1091 s) is
 * told and not enforced: kernels take longer on a CPU.
 */
#ifndef VINCI_RTS_TIMEOUT_H
#define VINCI_RTS_TIMEOUT_H

#include <stdint.h>

/* us; after rts_process_start() */
uint64_t rts_op_interval(void);
/* What holds, or would without a limit of the program's. */
uint64_t rts_op_timeout(void);
/* For kernels that start from now on; 0: the most there is. 207005 */
int rts_op_timeout_set(uint64_t us);
/* For a launch that has a timeout of its own: makes sure that it is looked after. 207005 */
int rts_op_timeout_watch(void);
/* ns; U_FOREVER: none. @us is the launch's own timeout, 0: none, UINT64_MAX: it may run for ever. */
uint64_t rts_op_limit(uint64_t us);

#endif
