/* SPDX-License-Identifier: MIT */
/*
 * Requests, the way the kernel's drm_ioctl() takes them: a table by number; the caller's structure may be shorter or
 * longer than ours, what it lacks reads as zero and what it has too much is not touched.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/checks.h"
#include "soft/internal.h"

#define ARG_MAX_OWN 256u /* largest structure of the table */

/* --- requests with an array of the caller's ------------------------------------------------- */

static int run_allow(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct soft_user *user)
{
	size_t size = (size_t)a->count * a->elem_size;
	struct vinci_pids pids = { 0 };
	int r = vinci_allow_begin(file, a);
	uint8_t *array;

	if (r)
		return r;
	array = malloc(size);
	if (!array)
		return -ENOSPC;
	r = user->read(user, array, a->pids, size);
	if (!r)
		r = vinci_pids_parse(file, a, array, &pids);
	if (!r)
		r = vinci_allow_finish(file, a, &pids);
	vinci_pids_free(&pids);
	free(array);
	return r;
}

struct listing {
	struct vinci_rows rows;
	const struct drm_vinci_list *arg;
	struct soft_user *user;
	int error;
};

/* The caller's element may be smaller than ours, or larger: then the rest is zero. */
static void emit(struct vinci_rows *rows, const void *row)
{
	struct listing *l = (struct listing *)rows;
	size_t size = vinci_row_size(l->arg->type);
	uint8_t out[VINCI_LIST_SIZE_MAX] = { 0 };

	if (l->error || rows->count >= l->arg->count)
		return;
	memcpy(out, row, size < l->arg->elem_size ? size : l->arg->elem_size);
	l->error = l->user->write(l->user, l->arg->array + (uint64_t)rows->count * l->arg->elem_size, out,
				  l->arg->elem_size);
}

static int run_list(struct vinci_file *file, struct drm_vinci_list *a, struct soft_user *user)
{
	struct listing l = { .rows = { .emit = emit }, .arg = a, .user = user };
	int r = vinci_check_list(a);

	if (r)
		return r;
	vinci_list_rows(file, a->type, &l.rows);
	if (!l.error)
		a->count = l.rows.count;
	return l.error;
}

/* --- requests without ----------------------------------------------------------------------- */

static VINCI_REQUEST(gem_close)
{
	const struct drm_gem_close *a = data;
	struct vinci_hold *hold = vinci_hold_find(file, a->handle);

	if (!hold)
		return -EINVAL;
	file->own.handles[a->handle] = NULL;
	vinci_hold_close(hold);
	free(hold);
	return 0;
}

struct request {
	unsigned long request;
	VINCI_REQUEST((*run)); /* NULL: one with an array */
	size_t handle; /* offset of the handle that it makes or finds, whose memory goes along; 0: none */
};

#define REQUEST(name, handler, ...) [DRM_VINCI_##name] = { DRM_IOCTL_VINCI_##name, handler, ##__VA_ARGS__ }

static const struct request requests[] = {
	REQUEST(GET_PARAM, vinci_get_param),
	REQUEST(DEVICE_INFO, vinci_device_info),
	REQUEST(BO_CREATE, vinci_bo_create, offsetof(struct drm_vinci_bo_create, handle)),
	REQUEST(BO_INFO, vinci_bo_info),
	REQUEST(BO_SPLIT, vinci_bo_split, offsetof(struct drm_vinci_bo_split, new_handle)),
	REQUEST(NOTIFY_IDS, vinci_notify_ids),
	REQUEST(NOTIFY_CREATE, vinci_notify_create, offsetof(struct drm_vinci_notify_create, handle)),
	REQUEST(NOTIFY_STATUS, vinci_notify_status),
	REQUEST(SHARE_EXPORT, vinci_share_export),
	REQUEST(SHARE_ALLOW, NULL),
	REQUEST(SHARE_IMPORT, vinci_share_import, offsetof(struct drm_vinci_share_import, handle)),
	REQUEST(SHARE_CLOSE, vinci_share_close),
	REQUEST(SHARE_ATTR, vinci_share_attr),
	REQUEST(PEER, vinci_peer),
	REQUEST(LIST, NULL),
};

static const struct request close_request = { DRM_IOCTL_GEM_CLOSE, gem_close, 0 };

_Static_assert(sizeof(struct drm_vinci_share_import) <= ARG_MAX_OWN, "argument buffer");
_Static_assert(sizeof(struct drm_vinci_share_allow) <= ARG_MAX_OWN, "argument buffer");
_Static_assert(sizeof(struct drm_vinci_share_export) <= ARG_MAX_OWN, "argument buffer");

static const struct request *find_request(unsigned long request)
{
	unsigned int nr = _IOC_NR(request);

	if (nr == _IOC_NR(DRM_IOCTL_GEM_CLOSE))
		return &close_request;
	if (nr < DRM_COMMAND_BASE || nr - DRM_COMMAND_BASE >= sizeof(requests) / sizeof(requests[0]))
		return NULL;
	return &requests[nr - DRM_COMMAND_BASE];
}

static int run(const struct request *known, struct vinci_file *file, void *data, struct soft_user *user,
	       struct soft_memory *memory)
{
	uint32_t handle;
	int r;

	if (known->request == DRM_IOCTL_VINCI_SHARE_ALLOW)
		return run_allow(file, data, user);
	if (known->request == DRM_IOCTL_VINCI_LIST)
		return run_list(file, data, user);
	r = known->run(file, data);
	if (r || !known->handle)
		return r;
	memcpy(&handle, (const char *)data + known->handle, sizeof(handle));
	soft_memory_set(memory, vinci_hold_find(file, handle));
	return 0;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int soft_ioctl(struct vinci_file *file, unsigned long request, void *arg, struct soft_user *user,
	       struct soft_memory *memory)
{
	const struct request *known = find_request(request);
	uint64_t data[ARG_MAX_OWN / sizeof(uint64_t)] = { 0 };
	size_t size = _IOC_SIZE(request);
	int r;

	memory->fd = -1;
	if (!known)
		return -EINVAL;
	if (_IOC_DIR(request) & _IOC_DIR(known->request) & _IOC_WRITE)
		memcpy(data, arg, smaller(size, _IOC_SIZE(known->request)));
	r = run(known, file, data, user, memory);
	if (!r && (_IOC_DIR(request) & _IOC_DIR(known->request) & _IOC_READ)) {
		memcpy(arg, data, smaller(size, _IOC_SIZE(known->request)));
		if (size > _IOC_SIZE(known->request))
			memset((char *)arg + _IOC_SIZE(known->request), 0, size - _IOC_SIZE(known->request));
	}
	return r;
}
