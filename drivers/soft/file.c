/* SPDX-License-Identifier: MIT */
/* The device, its open files, and their handles. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "soft/internal.h"

/* --- device -------------------------------------------------------------------------------- */

void soft_config_default(struct vinci_config *config)
{
	uint32_t d;

	memset(config, 0, sizeof(*config));
	config->devices = 8;
	config->max_handles = VINCI_MAX_HANDLES;
	config->notify_limit = 8192;
	config->mem_bytes = 64ull << 30;
	(void)snprintf(config->soc, sizeof(config->soc), "Ascend910B1");
	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		config->peers[d] = ~(1ull << d);
}

int soft_device_create(const struct vinci_config *config, struct vinci_device **out)
{
	struct vinci_device *device;
	int r;

	if (!vinci_config_valid(config))
		return -EINVAL;
	device = calloc(1, sizeof(*device));
	if (!device)
		return -ENOMEM;
	r = vinci_device_init(device, config);
	if (r)
		goto err_free;
	r = vinci_random(&device->instance, sizeof(device->instance));
	if (r)
		goto err_fini;
	soft_numa_init(device);
	*out = device;
	return 0;

err_fini:
	vinci_device_fini(device);
err_free:
	free(device);
	return r;
}

void soft_device_destroy(struct vinci_device *device)
{
	vinci_device_fini(device);
	free(device);
}

const struct vinci_config *soft_device_config(const struct vinci_device *device)
{
	return &device->config;
}

bool soft_device_has_orphans(const struct vinci_device *device)
{
	return device->orphans > 0;
}

int vinci_random(void *buffer, size_t size)
{
	ssize_t n;

	do
		n = getrandom(buffer, size, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size ? 0 : -EIO;
}

__u64 vinci_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- files --------------------------------------------------------------------------------- */

int soft_file_open(struct vinci_device *device, const struct vinci_process *process, struct vinci_file **out)
{
	struct vinci_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	vinci_file_init(file, device, process);
	*out = file;
	return 0;
}

void soft_file_release(struct vinci_file *file)
{
	vinci_file_clear(file);
	free(file->own.handles);
	free(file);
}

/* --- handles ------------------------------------------------------------------------------- */

static int grow_handles(struct vinci_file *file)
{
	uint32_t room = file->own.handle_room ? file->own.handle_room * 2 : 16;
	struct vinci_hold **table;

	table = realloc(file->own.handles, room * sizeof(struct vinci_hold *));
	if (!table)
		return -ENOSPC;
	memset(table + file->own.handle_room, 0, (room - file->own.handle_room) * sizeof(struct vinci_hold *));
	file->own.handles = table;
	file->own.handle_room = room;
	return 0;
}

/* Handles go round, so that one just closed is not at once another object's. The table has room for one. */
static uint32_t free_handle(const struct vinci_file *file)
{
	uint32_t i, handle;

	for (i = 0;; i++) {
		handle = (file->own.handle_hint + i) % file->own.handle_room;
		if (handle && !file->own.handles[handle])
			return handle;
	}
}

int vinci_hold_alloc(struct vinci_file *file, struct vinci_object *object, struct vinci_hold **out)
{
	struct vinci_hold *hold;

	if (file->hold_count + 1 >= file->own.handle_room && grow_handles(file))
		return -ENOSPC;
	hold = calloc(1, sizeof(*hold));
	if (!hold)
		return -ENOSPC;
	hold->object = object;
	hold->handle = free_handle(file);
	file->own.handles[hold->handle] = hold;
	file->own.handle_hint = hold->handle + 1;
	*out = hold;
	return 0;
}

struct vinci_hold *vinci_hold_find(struct vinci_file *file, __u32 handle)
{
	return handle < file->own.handle_room ? file->own.handles[handle] : NULL;
}

void vinci_hold_gone(struct vinci_hold *hold)
{
	free(hold);
}
