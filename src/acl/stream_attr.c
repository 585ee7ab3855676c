/* SPDX-License-Identifier: MIT */
/* stream_attr.c - chapter 6: attributes of streams. */
#include "acl/api.h"
#include "rts/options.h"
#include "rts/stream.h"
#include "util/cleanup.h"

static int set(aclrtStream stream, aclrtStreamAttr attr, const aclrtStreamAttrValue *value)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	if (!code && !stream && attr == ACL_STREAM_ATTR_PRIORITY)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL; the default stream's priority cannot be set");
	if (code || attr != ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK)
		return code ? code : rts_stream_set_attr(st, attr, value);
	if (value->overflowSwitch > 1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "overflowSwitch is %u; it must be 0 (off) or 1 (on)",
				value->overflowSwitch);
	return rts_overflow_switch_set(stream, value->overflowSwitch);
}

static int get(aclrtStream stream, aclrtStreamAttr attr, aclrtStreamAttrValue *value)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int code = rts_stream_get(stream, &st);

	if (code)
		return code;
	return attr == ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK ? rts_overflow_switch(stream, &value->overflowSwitch)
							    : rts_stream_get_attr(st, attr, value);
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
	REQUIRE_NOT_NULL(value);
	return api_result(set(stream, stmAttrType, value));
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
	REQUIRE_NOT_NULL(value);
	return api_result(get(stream, stmAttrType, value));
}
