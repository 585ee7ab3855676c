/* SPDX-License-Identifier: MIT */
/* api.c - the common end of every public function: the thread's last error, and the answer of what is not there yet. */
#include "acl/api.h"

static _Thread_local int last_error;

/* Only failures of the runtime count as a thread's last error; what the acl layer itself rejects does not, as in CANN. */
static bool is_runtime_code(int code)
{
	int class = code % 100000 / 1000;

	return class == 7;
}

aclError api_result(int code)
{
	if (code && is_runtime_code(code))
		last_error = code;
	return code;
}

int api_last_error(bool clear)
{
	int code = last_error;

	if (clear)
		last_error = 0;
	return code;
}

aclError api_refuse(const char *function)
{
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is not supported by vinci yet (docs/status.md lists what is)",
			function);
}
