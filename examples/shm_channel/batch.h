/* SPDX-License-Identifier: MIT */
/* The work on a batch: each word has a value that depends on the batch's number and on its own place. */
#ifndef BATCH_H
#define BATCH_H

#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BATCH_BLOCKS 4 /* of a kernel; they run in parallel */

/*
 * Queue kernels. @wrong: one counter for each block, which grows by the number of words that are not as they
 * should be.
 */
aclError batch_fill(uint32_t *words, uint32_t count, uint32_t number, aclrtStream stream);
aclError batch_check(const uint32_t *words, uint32_t count, uint32_t number, uint64_t *wrong, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
