/* SPDX-License-Identifier: MIT */
/* value.c - chapter 11.9: values in device memory. */
#include "acl/api.h"
#include "rts/value.h"
#include "util/cleanup.h"

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(devAddr);
	code = rts_stream_get(stream, &st);
	if (!code)
		code = rts_value_write(st, devAddr, value, flag);
	return api_result(code);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(devAddr);
	code = rts_stream_get(stream, &st);
	if (!code)
		code = rts_value_wait(st, devAddr, value, flag);
	return api_result(code);
}
