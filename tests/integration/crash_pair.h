/* SPDX-License-Identifier: MIT */
/*
 * crash_pair.h - the two processes of the main job: each shares with the other what the other needs, and one of them
 * may die at any instruction. The other must notice, get its codes in time, and give everything back.
 */
#ifndef VINCI_CRASH_PAIR_H
#define VINCI_CRASH_PAIR_H

#include <stdbool.h>

#define PAIR_DONE 0  /* the whole exchange took place */
#define PAIR_ALONE 7 /* the peer has gone; everything was given back */
/* Anything else: it says on stderr what went wrong. */

/* Who dies at --step. */
#define PAIR_KILL_SELF 'p'
#define PAIR_KILL_DEVICE 'd'
#define PAIR_KILL_BOTH 'x' /* the device, then itself */

/*
 * Runs the side that @argv asks for ("pair", "a" or "b", socket, "traced" or step, whom to kill, vincid's pid) and
 * returns true with *status; false: this process is no side of a pair.
 */
bool pair_main(int argc, char **argv, int *status);

#endif
