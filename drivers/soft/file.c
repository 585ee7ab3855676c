/* SPDX-License-Identifier: MIT */
/* The device, its open files, and their handles. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "soft/internal.h"

/* --- device -------------------------------------------------------------------------------- */

void soft_config_default(struct soft_config *config)
{
	uint32_t d;

	memset(config, 0, sizeof(*config));
	config->devices = 8;
	config->max_handles = SOFT_MAX_HANDLES;
	config->notify_limit = 8192;
	config->mem_bytes = 64ull << 30;
	(void)snprintf(config->soc, sizeof(config->soc), "Ascend910B1");
	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		config->peers[d] = ~(1ull << d);
}

static bool config_ok(const struct soft_config *config)
{
	return config->devices && config->devices <= VINCI_MAX_DEVICES && config->notify_limit &&
	       config->notify_limit <= 1u << 20 && config->max_handles &&
	       config->max_handles <= SOFT_MAX_HANDLES && config->mem_bytes && config->mem_bytes <= 1ull << 46 &&
	       memchr(config->soc, 0, sizeof(config->soc));
}

static int alloc_ids(struct soft_device *device)
{
	uint32_t d;

	for (d = 0; d < device->config.devices; d++) {
		device->ids[d] = calloc(device->config.notify_limit, 1);
		if (!device->ids[d])
			return -ENOMEM;
	}
	return 0;
}

static void free_device(struct soft_device *device)
{
	uint32_t d;

	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		free(device->ids[d]);
	free(device);
}

int soft_device_create(const struct soft_config *config, struct soft_device **out)
{
	struct soft_device *device;
	uint32_t i;
	int r;

	if (!config_ok(config))
		return -EINVAL;
	device = calloc(1, sizeof(*device));
	if (!device)
		return -ENOMEM;
	device->config = *config;
	links_init(&device->files);
	links_init(&device->objects);
	for (i = 0; i < SOFT_SHARE_BUCKETS; i++)
		links_init(&device->shares[i]);
	r = alloc_ids(device);
	if (!r)
		r = soft_random(&device->instance, sizeof(device->instance));
	if (r) {
		free_device(device);
		return r;
	}
	soft_numa_init(device);
	*out = device;
	return 0;
}

void soft_device_destroy(struct soft_device *device)
{
	free_device(device);
}

const struct soft_config *soft_device_config(const struct soft_device *device)
{
	return &device->config;
}

bool soft_device_has_orphans(const struct soft_device *device)
{
	return device->orphans > 0;
}

/* --- files --------------------------------------------------------------------------------- */

/* A process may have several files; an unknown start time matches nothing. */
bool soft_same_process(const struct soft_process *a, const struct soft_process *b)
{
	return a->pid == b->pid && a->start && a->start == b->start;
}

int soft_file_open(struct soft_device *device, const struct soft_process *process, struct soft_file **out)
{
	struct soft_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->device = device;
	file->process = *process;
	links_init(&file->shares);
	links_init(&file->ids);
	links_init(&file->peers);
	links_add(&device->files, &file->link);
	*out = file;
	return 0;
}

/* A notify's other holders learn that somebody who could have recorded it has gone: once for each file. */
static void count_lost(struct soft_file *file)
{
	uint64_t stamp = ++file->device->stamp;
	struct soft_object *object;
	uint32_t i;

	for (i = 1; i < file->handle_room; i++) {
		object = file->handles[i] ? file->handles[i]->object : NULL;
		if (!object || object->type != VINCI_OBJECT_NOTIFY || object->stamp == stamp)
			continue;
		object->stamp = stamp;
		object->lost++;
	}
}

static void close_handles(struct soft_file *file)
{
	uint32_t i;

	for (i = 1; i < file->handle_room; i++)
		if (file->handles[i])
			soft_handle_close(file->handles[i]);
}

void soft_file_release(struct soft_file *file)
{
	struct soft_share *share, *tmp;

	links_for_each_safe(share, tmp, &file->shares, struct soft_share, by_file)
		soft_share_withdraw(share);
	count_lost(file);
	close_handles(file);
	soft_ids_release(file);
	soft_peer_release(file);
	links_del(&file->link);
	free(file->handles);
	free(file);
}

/* --- handles ------------------------------------------------------------------------------- */

static int grow_handles(struct soft_file *file)
{
	uint32_t room = file->handle_room ? file->handle_room * 2 : 16;
	struct soft_hold **table;

	table = realloc(file->handles, room * sizeof(struct soft_hold *));
	if (!table)
		return -ENOSPC;
	memset(table + file->handle_room, 0, (room - file->handle_room) * sizeof(struct soft_hold *));
	file->handles = table;
	file->handle_room = room;
	return 0;
}

/* Handles go round, so that one just closed is not at once another object's. */
int soft_handle_add(struct soft_file *file, struct soft_hold *hold)
{
	uint32_t i, handle = 0;

	if (file->handle_count >= file->device->config.max_handles)
		return -ENOSPC;
	if (file->handle_count + 1 >= file->handle_room) {
		int r = grow_handles(file);

		if (r)
			return r;
	}
	for (i = 0; i < file->handle_room; i++) {
		handle = (file->handle_hint + i) % file->handle_room;
		if (handle && !file->handles[handle])
			break;
	}
	file->handles[handle] = hold;
	file->handle_count++;
	file->handle_hint = handle + 1;
	hold->handle = handle;
	return 0;
}

struct soft_hold *soft_handle_find(struct soft_file *file, uint32_t handle)
{
	return handle < file->handle_room ? file->handles[handle] : NULL;
}

void soft_handle_close(struct soft_hold *hold)
{
	struct soft_file *file = hold->file;
	struct soft_share *share, *tmp;

	/* The names of an object go with the handle that made them. */
	if (!hold->share) {
		links_for_each_safe(share, tmp, &hold->object->shares, struct soft_share, by_object)
			soft_share_withdraw(share);
	}
	file->handles[hold->handle] = NULL;
	file->handle_count--;
	soft_hold_drop(hold);
}

SOFT_HANDLER(soft_gem_close)
{
	struct drm_gem_close *a = data;
	struct soft_hold *hold = soft_handle_find(file, a->handle);

	(void)call;
	if (!hold)
		return -EINVAL;
	soft_handle_close(hold);
	return 0;
}

/* --- queries ------------------------------------------------------------------------------- */

SOFT_HANDLER(soft_get_param)
{
	struct drm_vinci_get_param *a = data;
	int r = vinci_check_get_param(a);

	(void)call;
	if (r)
		return r;
	switch (a->param) {
	case VINCI_PARAM_UAPI_VERSION:
		a->value = (uint64_t)VINCI_UAPI_MAJOR << 32 | VINCI_UAPI_MINOR;
		return 0;
	case VINCI_PARAM_DEVICE_COUNT:
		a->value = file->device->config.devices;
		return 0;
	case VINCI_PARAM_TGID:
		a->value = (uint32_t)file->process.pid;
		return 0;
	default:
		a->value = file->device->instance;
		return 0;
	}
}

SOFT_HANDLER(soft_device_info)
{
	struct drm_vinci_device_info *a = data;
	const struct soft_config *config = &file->device->config;
	uint64_t all = config->devices == 64 ? ~0ull : (1ull << config->devices) - 1;
	int r = vinci_check_device_info(a, config->devices);

	(void)call;
	if (r)
		return r;
	a->numa_node = file->device->node[a->device];
	a->mem_total = config->mem_bytes;
	a->mem_used = file->device->used[a->device];
	a->peer_mask = config->peers[a->device] & all & ~(1ull << a->device);
	a->notify_limit = config->notify_limit;
	a->sdid = config->sdid;
	memcpy(a->soc, config->soc, sizeof(a->soc));
	return 0;
}
