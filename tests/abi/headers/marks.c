/* SPDX-License-Identifier: MIT */
/* marks.c - headers of CANN's other components define the marks of functions once more: that is no other definition. */
#include "acl/acl.h"

#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#define GE_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#define GE_FUNC_VISIBILITY
#endif
