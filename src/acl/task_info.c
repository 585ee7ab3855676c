/* SPDX-License-Identifier: MIT */
/* task_info.c - chapter 24: what a program says about the tasks of a recorded model. */
#include "acl/api.h"
#include "rts/model.h"

#define OPERATOR_BYTES (64u * 1024)
#define EXTENDED_BYTES 4096u

aclError aclrtCacheLastTaskOpInfo(const void *infoPtr, size_t infoSize)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(infoPtr);
	REQUIRE(infoSize, "%s: infoSize is 0; it must be from 1 to %u", __func__, OPERATOR_BYTES);
	if (infoSize > OPERATOR_BYTES)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID, "infoSize is %zu; it must be from 1 to %u",
					   infoSize, OPERATOR_BYTES));
	return api_result(rts_task_note(RTS_TASK_OPERATOR, infoPtr, infoSize));
}

/* What is longer is cut. */
aclError aclrtCacheLastTaskExtendInfo(const char *extendInfoPtr, size_t infoSize)
{
	REQUIRE_PRODUCT();
	if (!extendInfoPtr || !infoSize)
		return api_result(u_report(ACL_ERROR_RT_PARAM_INVALID,
					   "%s: extendInfoPtr is %p and infoSize %zu; neither may be 0", __func__,
					   (const void *)extendInfoPtr, infoSize));
	return api_result(
		rts_task_note(RTS_TASK_EXTENDED, extendInfoPtr, infoSize < EXTENDED_BYTES ? infoSize : EXTENDED_BYTES));
}
