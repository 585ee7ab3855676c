/* SPDX-License-Identifier: MIT */
/* timeout.c - chapter 12: how long operators may run. */
#include "rts/timeout.h"
#include "acl/api.h"

#define US_PER_S 1000000u
#define US_PER_MS 1000u

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
	return api_result(rts_op_timeout_set((uint64_t)timeout * US_PER_S));
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(actualTimeout);
	code = rts_context_current(&ctx);
	if (!code)
		code = rts_op_timeout_set(timeout);
	if (!code)
		*actualTimeout = rts_op_timeout();
	return api_result(code);
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
	struct rts_context *ctx;
	int code;

	REQUIRE_NOT_NULL(interval);
	code = rts_context_current(&ctx);
	if (!code)
		*interval = rts_op_interval();
	return api_result(code);
}

aclError aclrtGetOpExecuteTimeout(uint32_t *timeoutMs)
{
	int code;

	REQUIRE_NOT_NULL(timeoutMs);
	code = rts_process_start();
	if (!code)
		*timeoutMs = (uint32_t)((rts_op_timeout() + US_PER_MS - 1) / US_PER_MS);
	return api_result(code);
}
