/* SPDX-License-Identifier: MIT */
/*
 * managed.h - memory that host and devices use at one address. It is the host's and charged to no device; advice about
 * where its pages should be is kept for each 2 MiB of it, and followed where the machine has more than one node.
 */
#ifndef VINCI_RTS_MANAGED_H
#define VINCI_RTS_MANAGED_H

#include "rts/rts.h"

struct rts_prefetches {
	const void *const *ptrs;
	const size_t *sizes;
	size_t count;
	const aclrtMemManagedLocation *places;
	const size_t *firsts; /* places[k] is for the ranges from firsts[k] on */
	size_t place_count;
};

/* 107000 for size 0, 107002, 207001 */
int rts_managed_alloc(uint64_t size, void **out);
/* For memory.c. False: none starts at @base. */
bool rts_managed_free(uintptr_t base);
/* 107000 for what is no managed memory, and for advice, device or node that there is not; 107002, 507899 */
int rts_managed_advise(const void *ptr, uint64_t size, aclrtMemManagedAdviseType advise, aclrtMemManagedLocation at);
/* @count answers of @sizes[i] bytes at @data[i]; none is written unless all can be given. 107000, 507899 */
int rts_managed_attributes(const aclrtMemManagedRangeAttribute *attributes, size_t count, const void *ptr, size_t size,
			   void *const *data, const size_t *sizes);
/* A task of @stream. 107000, 207001 */
int rts_managed_prefetch(const struct rts_prefetches *what, struct rts_stream *stream);

#endif
