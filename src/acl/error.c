/* SPDX-License-Identifier: MIT */
/* error.c - what went wrong: the thread's last code, and the sentences behind codes. */
#include "acl/api.h"

static aclError last_error(aclrtLastErrLevel level, bool clear)
{
	REQUIRE(level == ACL_RT_THREAD_LEVEL,
		"Value %d for level is invalid. Expected value: ACL_RT_THREAD_LEVEL (0), the only one there is",
		(int)level);
	return api_last_error(clear);
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
	return last_error(level, false);
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
	return last_error(level, true);
}

const char *aclGetRecentErrMsg(void)
{
	return u_report_take();
}
