/* SPDX-License-Identifier: MIT */
/* One value in device memory, written and read by kernels. */
#ifndef EXAMPLE_VALUE_H
#define EXAMPLE_VALUE_H

#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queue kernels (value.cpp). Launching is all they do: errors of the kernel show when the stream is synchronised. */
aclError value_store(int32_t *where, int32_t value, aclrtStream stream);
aclError value_copy(int32_t *to, const int32_t *from, aclrtStream stream);

/*
 * The value at @where in device memory, once everything queued in the stream has run. A kernel fetches it: memory of
 * another device can be read by kernels, but cannot be copied to the host directly.
 */
int32_t value_fetch(const int32_t *where, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
