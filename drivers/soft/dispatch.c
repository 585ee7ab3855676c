/* SPDX-License-Identifier: MIT */
/*
 * Requests, the way the kernel's drm_ioctl() takes them: a table by number; the caller's structure may be shorter or
 * longer than ours, what it lacks reads as zero and what it has too much is not touched.
 */
#include <errno.h>
#include <string.h>

#include "soft/internal.h"

#define ARG_MAX_OWN 256u /* largest structure of the table */

struct soft_request {
	unsigned long request;
	SOFT_HANDLER((*run));
};

#define REQUEST(name, handler) \
	[DRM_VINCI_##name] = { DRM_IOCTL_VINCI_##name, handler }

static const struct soft_request requests[] = {
	REQUEST(GET_PARAM, soft_get_param),
	REQUEST(DEVICE_INFO, soft_device_info),
	REQUEST(BO_CREATE, soft_bo_create),
	REQUEST(BO_INFO, soft_bo_info),
	REQUEST(BO_SPLIT, soft_bo_split),
	REQUEST(NOTIFY_IDS, soft_notify_ids),
	REQUEST(NOTIFY_CREATE, soft_notify_create),
	REQUEST(NOTIFY_STATUS, soft_notify_status),
	REQUEST(SHARE_EXPORT, soft_share_export),
	REQUEST(SHARE_ALLOW, soft_share_allow),
	REQUEST(SHARE_IMPORT, soft_share_import),
	REQUEST(SHARE_CLOSE, soft_share_close),
	REQUEST(SHARE_ATTR, soft_share_attr),
	REQUEST(PEER, soft_peer),
	REQUEST(LIST, soft_list),
};

static const struct soft_request gem_close = { DRM_IOCTL_GEM_CLOSE, soft_gem_close };

_Static_assert(sizeof(struct drm_vinci_share_import) <= ARG_MAX_OWN, "argument buffer");
_Static_assert(sizeof(struct drm_vinci_share_allow) <= ARG_MAX_OWN, "argument buffer");
_Static_assert(sizeof(struct drm_vinci_share_export) <= ARG_MAX_OWN, "argument buffer");

static const struct soft_request *find_request(unsigned long request)
{
	unsigned int nr = _IOC_NR(request);

	if (nr == _IOC_NR(DRM_IOCTL_GEM_CLOSE))
		return &gem_close;
	if (nr < DRM_COMMAND_BASE || nr - DRM_COMMAND_BASE >= sizeof(requests) / sizeof(requests[0]))
		return NULL;
	return &requests[nr - DRM_COMMAND_BASE];
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int soft_ioctl(struct soft_file *file, unsigned long request, void *arg, struct soft_user *user,
	       struct soft_memory *memory)
{
	const struct soft_request *known = find_request(request);
	struct soft_call call = { .user = user, .memory = memory };
	uint64_t data[ARG_MAX_OWN / sizeof(uint64_t)] = { 0 };
	size_t size = _IOC_SIZE(request);
	int r;

	memory->fd = -1;
	if (!known)
		return -EINVAL;
	if (_IOC_DIR(request) & _IOC_DIR(known->request) & _IOC_WRITE)
		memcpy(data, arg, smaller(size, _IOC_SIZE(known->request)));
	r = known->run(file, data, &call);
	if (!r && (_IOC_DIR(request) & _IOC_DIR(known->request) & _IOC_READ)) {
		memcpy(arg, data, smaller(size, _IOC_SIZE(known->request)));
		if (size > _IOC_SIZE(known->request))
			memset((char *)arg + _IOC_SIZE(known->request), 0, size - _IOC_SIZE(known->request));
	}
	return r;
}
