/* SPDX-License-Identifier: MIT */
/*
 * engine.h - what a card's copy engine does beside plain copies: batches, copies whose addresses are read when they
 * run, cache maintenance, reduction, random numbers.
 */
#ifndef VINCI_RTS_ENGINE_H
#define VINCI_RTS_ENGINE_H

#include "rts/rts.h"

/* ---- batch.c ---- */

struct rts_batch {
	void *const *dsts;
	const size_t *dst_maxs;
	void *const *srcs;
	const size_t *sizes;
	size_t count;
	const aclrtMemcpyBatchAttr *attrs;
	const size_t *attr_starts; /* attrs[k] is for the copies from attr_starts[k] on */
	size_t attr_count;
};

/* *bad: number of the copy at fault, or SIZE_MAX. Nothing is copied unless all places are right. */
int rts_copy_batch(const struct rts_batch *batch, size_t *bad);
int rts_copy_batch_async(const struct rts_batch *batch, aclrtStream stream, size_t *bad);

/* ---- indirect.c ---- */

/* Bytes of a copy's description, as on the products; it begins at a multiple of 64. */
#define RTS_COPY_DESC_BYTES 32
#define RTS_COPY_DESC_ALIGN 64
#define RTS_CACHE_DESC_BYTES 32

struct rts_offset_copy {
	void *const *dst; /* device memory that holds the address, read when the copy runs */
	const void *const *src;
	size_t dst_max, dst_offset, src_offset, count; /* bytes */
};

int rts_copy_by_offset(const struct rts_offset_copy *copy, aclrtMemcpyKind kind, aclrtStream stream);
int rts_copy_desc_set(void *desc, aclrtMemcpyKind kind, void *src, void *dst, size_t count);
int rts_copy_by_desc(const void *desc, aclrtMemcpyKind kind, aclrtStream stream);
int rts_cache_op(const void *ptr, size_t size, aclrtCmoType op, aclrtStream stream);
int rts_cache_desc_set(void *desc, void *ptr, size_t size);
int rts_cache_op_by_desc(const void *desc, aclrtCmoType op, aclrtStream stream);
/* Both for streams that are bound to a model (507000). @barrier: of INVALID alone, which has to have one (107000) */
int rts_cache_op_barrier(const void *ptr, size_t size, aclrtCmoType op, uint32_t barrier, aclrtStream stream);
/* For the operations of the stream's model with these barriers. 107005: a barrier has none */
int rts_cache_wait(const aclrtBarrierCmoInfo *infos, size_t count, aclrtStream stream);
/* For a running task: is [ptr, ptr + len) memory of the stream's device? */
bool rts_task_reaches(struct rts_stream *stream, const void *ptr, size_t len);

/* ---- reduce.c, random.c ---- */

int rts_reduce(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream stream);
int rts_random(const aclrtRandomNumTaskInfo *info, aclrtStream stream);

/* ---- half.c: the two 16-bit floats by IEEE's rules, infinity and NaN included ---- */

float rts_half_to_float(uint16_t half);
uint16_t rts_half_from_float(float value); /* to nearest, ties to even */
float rts_bfloat_to_float(uint16_t bfloat);
uint16_t rts_bfloat_from_float(float value);

#endif
