/* SPDX-License-Identifier: MIT */
/*
 * fault.h - call N of what the code under test asks of libc fails.
 *
 * The calls are wrapped at link time (fault.c; FAULT_WRAPS in CMakeLists.txt). Nothing fails and nothing is counted
 * until a fault is armed. Counting is over all threads: where workers are busy the number of one call varies from run
 * to run, so a sweep covers them by its many runs and a fault is named by the function that it hit.
 */
#ifndef VINCI_TESTS_FAULT_H
#define VINCI_TESTS_FAULT_H

#include <stdbool.h>
#include <sys/types.h>

enum fault_group {
	FAULT_HEAP = 1 << 0,	/* malloc and its kin */
	FAULT_MAP = 1 << 1,	/* mmap, madvise, memfd_create, ftruncate */
	FAULT_MESSAGE = 1 << 2, /* send, recv and their kin */
	FAULT_OPEN = 1 << 3,	/* whatever gives a descriptor, sets it up or asks about it */
	FAULT_THREAD = 1 << 4,	/* threads, keys, fork handlers, processes */
	FAULT_CLOSE = 1 << 5,	/* close and munmap: they do their work, but report a failure */
};
#define FAULT_ALL ((1 << 6) - 1)

enum fault_way {
	FAULT_ONCE,	  /* call N fails, with the error that is most likely */
	FAULT_ONCE_OTHER, /* the same, with another error that the manual page names */
	FAULT_FROM,	  /* call N and all that follow fail */
	FAULT_INTERRUPT,  /* call N is interrupted by a signal, where it can be: nothing is lost */
};

struct fault {
	unsigned groups;
	enum fault_way way;
	int at;		    /* N, from 1; 0 only counts */
	pid_t only, except; /* 0, or the one process whose calls fail, or do not (nor those of who called fault_share()) */
};

/* What is armed, and what was hit, is from now on one state for this process and those that it forks. False: no memory.
 */
bool fault_share(void);

void fault_arm(const struct fault *fault);
/* The number of calls that were counted. */
int fault_disarm(void);
/* The function whose call failed first since it was armed; NULL: none. */
const char *fault_hit(void);
/* Every allocation fails from some moment on: then there is not even the memory for a sentence. */
bool fault_heap_is_gone(void);
/* Blocks of memory that the wrapped functions gave and that have not been freed. */
long fault_live_blocks(void);

#endif
