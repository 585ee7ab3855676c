/* SPDX-License-Identifier: MIT */
/*
 * cancel.h - pthread_cancel() must not end a thread inside the library: it would take locks, descriptors and half of a change
 * along. Every part that meets a cancellation point (POSIX's list: reads, writes, closes, waits for conditions) is bracketed.
 */
#ifndef VINCI_UTIL_CANCEL_H
#define VINCI_UTIL_CANCEL_H

#include <pthread.h>

/* The state for u_cancel_restore(). */
static inline int u_cancel_off(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void u_cancel_restore(int state)
{
	(void)pthread_setcancelstate(state, NULL);
}

#endif
