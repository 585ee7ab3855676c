// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* The device's tables, what goes with an open file, and the queries. */
#include "common/checks.h"
#include "common/core.h"

bool vinci_config_valid(const struct vinci_config *config)
{
	return config->devices && config->devices <= VINCI_MAX_DEVICES && config->notify_limit &&
	       config->notify_limit <= VINCI_MAX_NOTIFIES && config->max_handles &&
	       config->max_handles <= VINCI_MAX_HANDLES && config->mem_bytes &&
	       config->mem_bytes <= VINCI_MAX_HOST_BYTES && config->soc[0] &&
	       memchr(config->soc, 0, sizeof(config->soc));
}

void vinci_device_fini(struct vinci_device *device)
{
	__u32 d;

	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		vinci_free(device->ids[d]);
	vinci_free(device->shares);
}

int vinci_device_init(struct vinci_device *device, const struct vinci_config *config)
{
	__u32 i;

	device->config = *config;
	INIT_LIST_HEAD(&device->files);
	INIT_LIST_HEAD(&device->objects);
	device->shares = vinci_alloc(VINCI_SHARE_BUCKETS, sizeof(*device->shares));
	if (!device->shares)
		return -ENOMEM;
	for (i = 0; i < VINCI_SHARE_BUCKETS; i++)
		INIT_LIST_HEAD(&device->shares[i]);
	for (i = 0; i < config->devices; i++) {
		device->ids[i] = vinci_alloc(config->notify_limit, 1);
		if (!device->ids[i]) {
			vinci_device_fini(device);
			return -ENOMEM;
		}
	}
	return 0;
}

/* A process may have several files. */
bool vinci_same_process(const struct vinci_process *a, const struct vinci_process *b)
{
	return a->pid == b->pid && vinci_same_identity(&a->identity, &b->identity);
}

void vinci_file_init(struct vinci_file *file, struct vinci_device *device, const struct vinci_process *process)
{
	file->device = device;
	file->process = *process;
	INIT_LIST_HEAD(&file->holds);
	INIT_LIST_HEAD(&file->shares);
	INIT_LIST_HEAD(&file->ids);
	INIT_LIST_HEAD(&file->peers);
	list_add_tail(&file->link, &device->files);
}

/* A notify's other holders learn that somebody who could have recorded it has gone: once for each file. */
static void count_lost(struct vinci_file *file)
{
	__u64 stamp = ++file->device->stamp;
	struct vinci_hold *hold;

	list_for_each_entry(hold, &file->holds, by_file) {
		struct vinci_object *object = hold->object;

		if (object->type != VINCI_OBJECT_NOTIFY || object->stamp == stamp)
			continue;
		object->stamp = stamp;
		object->lost++;
	}
}

void vinci_file_clear(struct vinci_file *file)
{
	struct vinci_share *share, *next_share;
	struct vinci_hold *hold, *next_hold;

	list_for_each_entry_safe(share, next_share, &file->shares, by_file)
		vinci_share_withdraw(share);
	count_lost(file);
	list_for_each_entry_safe(hold, next_hold, &file->holds, by_file) {
		vinci_hold_close(hold);
		vinci_hold_gone(hold);
	}
	vinci_ids_release(file);
	vinci_peer_release(file);
	list_del_init(&file->link);
}

/* --- queries ------------------------------------------------------------------------------- */

VINCI_REQUEST(vinci_get_param)
{
	struct drm_vinci_get_param *a = data;
	int r = vinci_check_get_param(a);

	if (r)
		return r;
	switch (a->param) {
	case VINCI_PARAM_UAPI_VERSION:
		a->value = (__u64)VINCI_UAPI_MAJOR << 32 | VINCI_UAPI_MINOR;
		return 0;
	case VINCI_PARAM_DEVICE_COUNT:
		a->value = file->device->config.devices;
		return 0;
	case VINCI_PARAM_TGID:
		a->value = (__u32)file->process.pid;
		return 0;
	default:
		a->value = file->device->instance;
		return 0;
	}
}

VINCI_REQUEST(vinci_device_info)
{
	struct drm_vinci_device_info *a = data;
	const struct vinci_config *config = &file->device->config;
	__u64 all = ~0ull >> (64 - config->devices);
	int r = vinci_check_device_info(a, config->devices);

	if (r)
		return r;
	a->numa_node = vinci_device_node(file->device, a->device);
	a->mem_total = config->mem_bytes;
	a->mem_used = file->device->used[a->device];
	a->peer_mask = config->peers[a->device] & all & ~(1ull << a->device);
	a->notify_limit = config->notify_limit;
	a->sdid = config->sdid;
	memcpy(a->soc, config->soc, sizeof(a->soc));
	return 0;
}
