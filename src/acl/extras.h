/* SPDX-License-Identifier: MIT */
/*
 * extras.h - names that CANN's libascendcl.so exports although no public header declares them. Old profiling and logging
 * libraries look them up, so they are part of the ABI.
 */
#ifndef VINCI_ACL_EXTRAS_H
#define VINCI_ACL_EXTRAS_H

#include <stdarg.h>

#include "acl/acl_rt.h"

ACL_FUNC_VISIBILITY void aclAppLogWithArgs(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
	const char *fmt, va_list args);
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceWithoutTsdVXX(int32_t deviceId);
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceWithoutTsdVXX(int32_t deviceId);

#endif
