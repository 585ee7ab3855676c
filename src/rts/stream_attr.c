/* SPDX-License-Identifier: MIT */
/*
 * stream_attr.c - attributes of streams.
 *
 * The tag groups streams for a card's overflow check, and operator information is for its profiler: both are kept for whoever asks.
 * The overflow switch is options.c's.
 */
#include "rts/exec.h"

#define PRIORITY_FIXED (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

static int cache_op_set(struct rts_stream *st, uint32_t value)
{
	if (value > 1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "cacheOpInfoSwitch is %u; it must be 0 (off) or 1 (on)", value);
	atomic_store(&st->cache_op, value);
	return 0;
}

static int priority_set(struct rts_stream *st, uint32_t value)
{
	if (st->flags & PRIORITY_FIXED)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"stream %d was created with flags 0x%x; its tasks are not scheduled by priority", st->id, st->flags);
	if ((int32_t)value < 0)
		value = RTS_PRIORITY_GREATEST;
	atomic_store(&st->priority, value < RTS_PRIORITY_LEAST ? value : RTS_PRIORITY_LEAST);
	return 0;
}

static int tag_set(struct rts_stream *st, uint32_t tag)
{
	int r = rts_stream_check_captured(st, "tagged");

	if (!r)
		atomic_store(&st->tag, tag);
	return r;
}

static int attr_unknown(aclrtStreamAttr attr)
{
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "stmAttrType is %d; it must be one of ACL_STREAM_ATTR_* (1 to 5)", (int)attr);
}

int rts_stream_set_attr(struct rts_stream *st, aclrtStreamAttr attr, const aclrtStreamAttrValue *value)
{
	switch (attr) {
	case ACL_STREAM_ATTR_FAILURE_MODE:
		return rts_stream_set_failure_mode(st, value->failureMode);
	case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
		return tag_set(st, value->userCustomTag);
	case ACL_STREAM_ATTR_CACHE_OP_INFO:
		return cache_op_set(st, value->cacheOpInfoSwitch);
	case ACL_STREAM_ATTR_PRIORITY:
		return priority_set(st, value->streamPriority);
	default:
		return attr_unknown(attr);
	}
}

int rts_stream_get_attr(struct rts_stream *st, aclrtStreamAttr attr, aclrtStreamAttrValue *value)
{
	switch (attr) {
	case ACL_STREAM_ATTR_FAILURE_MODE:
		value->failureMode = atomic_load(&st->state) & STREAM_STOPS ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
		return 0;
	case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
		value->userCustomTag = atomic_load(&st->tag);
		return 0;
	case ACL_STREAM_ATTR_CACHE_OP_INFO:
		value->cacheOpInfoSwitch = atomic_load(&st->cache_op);
		return 0;
	case ACL_STREAM_ATTR_PRIORITY:
		value->streamPriority = atomic_load(&st->priority);
		return 0;
	default:
		return attr_unknown(attr);
	}
}
