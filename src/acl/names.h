/* SPDX-License-Identifier: MIT */
/*
 * names.h - gives what src/acl defines under the public names symbols of its own; the public symbols are calls.c's. In C, and
 * in __func__, the names stay what they are.
 */
#ifndef VINCI_ACL_NAMES_H
#define VINCI_ACL_NAMES_H

#include "acl/acl_rt_memory_soma.h"
#include "acl/extras.h"
#include "vinci/kernel.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define ABI_FUNCTION(name, ...) extern __typeof__(name) name __asm__("vinci_" #name);
#define ABI_VARIADIC(name, ...) /* calls.c does all of it */
#include "acl/functions.def"
ABI_FUNCTION(aclAppLogWithArgs)
ABI_FUNCTION(aclrtSetDeviceWithoutTsdVXX)
ABI_FUNCTION(aclrtResetDeviceWithoutTsdVXX)
ABI_FUNCTION(vinciLaunchKernel)
#undef ABI_FUNCTION
#undef ABI_VARIADIC
#pragma GCC diagnostic pop

#endif
