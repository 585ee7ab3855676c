/* SPDX-License-Identifier: MIT */
/* What the owner tells others about what it shares. A name alone lets nobody in: the whitelist does. */
#ifndef SHARING_NAMES_H
#define SHARING_NAMES_H

#include "example.h"

struct names {
	char memory[EXAMPLE_KEY];	/* IPC memory */
	char notify[EXAMPLE_KEY];	/* IPC notify */
	uint64_t physical;		/* shareable handle of physical memory */
};

/* What process B leaves in the physical memory as its answer. */
#define SHARING_ANSWER (EXAMPLE_VALUE + 1)

#endif
