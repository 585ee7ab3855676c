/* SPDX-License-Identifier: MIT */
/*
 * mbuf.h - shared buffers: device memory that several buffers may refer to, each with a length and 96 bytes of the
 * user's own, and chains of them. Codes and limits of CANN's buffer driver: 107000 for what is no live buffer, or not
 * the head of its chain where that is wanted.
 */
#ifndef VINCI_RTS_MBUF_H
#define VINCI_RTS_MBUF_H

#include "rts/rts.h"

#define RTS_BUF_USER_BYTES 96
#define RTS_BUF_CHAIN_MAX 128u
#define RTS_BUF_BYTES_MAX ((size_t)4 << 30)

/* 107000 for a size, 107002, 207001 */
int rts_buf_alloc(size_t size, aclrtMbuf *handle);
/* The whole chain that it is the head of; memory goes with the last buffer that refers to it. */
int rts_buf_free(aclrtMbuf handle);
int rts_buf_data(aclrtMbuf handle, void **data, size_t *size);
int rts_buf_set_len(aclrtMbuf handle, size_t len);
int rts_buf_len(aclrtMbuf handle, size_t *len);
/* @offset + @size is at most RTS_BUF_USER_BYTES. */
int rts_buf_set_user(aclrtMbuf handle, const void *from, size_t size, size_t offset);
int rts_buf_user(aclrtMbuf handle, void *to, size_t size, size_t offset);
/* New buffers for it and all behind it, of the same memory. */
int rts_buf_copy_ref(aclrtMbuf handle, aclrtMbuf *copy);
/* A buffer or a chain behind a chain. 207012 for more than RTS_BUF_CHAIN_MAX, 507899 for a buffer behind itself */
int rts_buf_append(aclrtMbuf head, aclrtMbuf handle);
/* 507899 when the chain is shorter */
int rts_buf_at(aclrtMbuf head, uint32_t index, aclrtMbuf *handle);
int rts_buf_count(aclrtMbuf head, uint32_t *count);

/* For memory.c: the device's memory is about to go. */
void rts_buf_device_gone(uint32_t device);

#endif
