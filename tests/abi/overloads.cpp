// SPDX-License-Identifier: MIT
// overloads.cpp - acl_rt_api.h against the table of CANN's C++ overloads. A missing one does not compile.
#include "acl/acl_rt_api.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define ABI_OVERLOAD(name, ...) (void)static_cast<aclError (*)(__VA_ARGS__)>(&name);

void abi_overloads(void);

void abi_overloads(void)
{
#include "overloads.def"
}
