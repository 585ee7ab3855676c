/* SPDX-License-Identifier: MIT */
/* args.h - an argument list inside, for args.c and launch.c. */
#ifndef VINCI_RTS_ARGS_H
#define VINCI_RTS_ARGS_H

#include "rts/module.h"
#include "util/mutex.h"

struct args_param {
	uint32_t offset; /* of its slots */
	uint32_t size;
	uint32_t data; /* of a place holder: where its buffer begins; 0: it has none */
	bool holder;
};

struct args_list {
	uint64_t mark;	     /* of a list in the caller's memory; 0 for the thread's own */
	struct u_mutex lock; /* protects the rest: two threads may use one list */
	unsigned char *buffer;
	uint32_t capacity;
	uint32_t used;	 /* bytes of the buffer */
	uint32_t slots;	 /* bytes of parameters, once finalized; buffers of place holders follow */
	uint32_t serial; /* tells parameters of this filling from those of earlier ones */
	uint32_t count;
	bool finalized, updating, placed;
	struct args_param params[RTS_ARGS_PARAMS_MAX];
};

/* The list that the handle means, locked. 107017 */
int args_lock(void *handle, struct args_list **list);
void args_unlock(struct args_list *list);

#endif
