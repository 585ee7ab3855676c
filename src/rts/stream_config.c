/* SPDX-License-Identifier: MIT */
/*
 * stream_config.c - what a stream is to be like, set bit by bit, for IPV350. Handles are addresses, so those that are
 * alive are listed.
 */
#include "rts/stream.h"
#include "util/mutex.h"

#include <stdlib.h>
#include <string.h>

struct config {
	struct aclrtStreamConfigHandle handle; /* first: its address is the handle */
	struct config *next;
};

static struct {
	struct u_mutex lock; /* the rest, and what the handles hold */
	struct config *first;
} configs = { .lock = U_MUTEX_INIT(U_RANK_LAST, "stream configurations") };

static struct config **find_locked(const aclrtStreamConfigHandle *handle)
{
	struct config **at = &configs.first;

	while (*at && &(*at)->handle != handle)
		at = &(*at)->next;
	return at;
}

static int unknown(const aclrtStreamConfigHandle *handle)
{
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"handle %p is none of aclrtCreateStreamConfigHandle, or has been destroyed",
			(const void *)handle);
}

int rts_stream_config_new(aclrtStreamConfigHandle **handle)
{
	struct config *c;
	int r = rts_process_check_fork();

	if (r)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a stream's configuration");
	u_mutex_lock(&configs.lock);
	c->next = configs.first;
	configs.first = c;
	u_mutex_unlock(&configs.lock);
	*handle = &c->handle;
	return 0;
}

int rts_stream_config_free(aclrtStreamConfigHandle *handle)
{
	struct config **at, *c;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&configs.lock);
	at = find_locked(handle);
	c = *at;
	if (c)
		*at = c->next;
	u_mutex_unlock(&configs.lock);
	if (!c)
		return unknown(handle);
	free(c);
	return 0;
}

/* The flag is reserved; CANN's own program passes four bytes of it. */
static bool size_fits(aclrtStreamConfigAttr attr, size_t size)
{
	switch (attr) {
	case ACL_RT_STREAM_WORK_ADDR_PTR:
		return size == sizeof(void *);
	case ACL_RT_STREAM_WORK_SIZE:
		return size == sizeof(size_t);
	case ACL_RT_STREAM_FLAG:
		return size == sizeof(size_t) || size == sizeof(uint32_t);
	default:
		return size == sizeof(uint32_t);
	}
}

static int value_check(aclrtStreamConfigAttr attr, const void *value, size_t size)
{
	uint32_t priority;

	if ((uint32_t)attr > ACL_RT_STREAM_PRIORITY)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "attr is %d; it must be from 0 to %d", (int)attr,
				ACL_RT_STREAM_PRIORITY);
	if (!size_fits(attr, size))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "valueSize is %zu, which is not the size of attribute %d",
				size, (int)attr);
	if (attr != ACL_RT_STREAM_PRIORITY)
		return 0;
	memcpy(&priority, value, sizeof(priority));
	if (priority > RTS_PRIORITY_LEAST)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the priority is %u; it must be from 0 to %u", priority,
				RTS_PRIORITY_LEAST);
	return 0;
}

static void value_set(aclrtStreamConfigHandle *h, aclrtStreamConfigAttr attr, const void *value, size_t size)
{
	switch (attr) {
	case ACL_RT_STREAM_WORK_ADDR_PTR:
		memcpy(&h->workptr, value, size);
		break;
	case ACL_RT_STREAM_WORK_SIZE:
		memcpy(&h->workSize, value, size);
		break;
	case ACL_RT_STREAM_FLAG:
		h->flag = 0;
		memcpy(&h->flag, value, size); /* both machines are little endian */
		break;
	default:
		memcpy(&h->priority, value, size);
	}
}

int rts_stream_config_set(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *value, size_t size)
{
	struct config *c;
	int r = rts_process_check_fork();

	if (!r)
		r = value_check(attr, value, size);
	if (r)
		return r;
	u_mutex_lock(&configs.lock);
	c = *find_locked(handle);
	if (c)
		value_set(&c->handle, attr, value, size);
	u_mutex_unlock(&configs.lock);
	return c ? 0 : unknown(handle);
}

int rts_stream_config_get(const aclrtStreamConfigHandle *handle, uint32_t *priority, uint32_t *flags)
{
	const struct config *c;
	int r = rts_process_check_fork();

	if (r)
		return r;
	u_mutex_lock(&configs.lock);
	c = *find_locked(handle);
	if (c) {
		*priority = c->handle.priority;
		*flags = (uint32_t)c->handle.flag;
	}
	u_mutex_unlock(&configs.lock);
	return c ? 0 : unknown(handle);
}
