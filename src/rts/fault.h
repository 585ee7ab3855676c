/* SPDX-License-Identifier: MIT */
/*
 * fault.h - faults of kernels. A kernel that traps, divides by zero or touches memory that is not there fails its task;
 * everybody else's faults go to whoever handled them before the library came.
 */
#ifndef VINCI_RTS_FAULT_H
#define VINCI_RTS_FAULT_H

#include <stdbool.h>

struct fault {
	int signal;    /* 0: ended from outside (halt.h) */
	int code;      /* then: why */
	void *address; /* that was touched; for other signals than SIGSEGV and SIGBUS: of the instruction */
};

struct halt_work;

/*
 * Takes over the signals, and takes them over again from handlers that the application has set since: some system
 * calls. Until the next time such a handler gets the faults of kernels as well.
 */
void fault_start(void);
/* The same if it has never been called; for every launch. */
void fault_start_once(void);

/*
 * Calls fn(arg), which is a kernel's code and holds no lock of the library or of libc. False: it faulted or was ended,
 * and was left there; *fault tells how. Guards nest.
 */
bool fault_guard(void (*fn)(void *arg), void *arg, struct fault *fault);
/* The same for what may be ended from outside. */
bool fault_guard_work(void (*fn)(void *arg), void *arg, const struct halt_work *work, struct fault *fault);

/* For a thread of the library that blocks all signals: not those, and with a stack for them if kernels use up theirs.
 */
void fault_thread_start(void);

const char *fault_name(const struct fault *fault);

#endif
