/* SPDX-License-Identifier: MIT */
#ifndef EXAMPLE_TRAP_H
#define EXAMPLE_TRAP_H

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Queues a kernel that fails if the value on the device is @unwanted. */
aclError trap_if(const int32_t *value, int32_t unwanted, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
