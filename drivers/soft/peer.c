/* SPDX-License-Identifier: MIT */
/* Peer access: references by file and direction; in force once both directions have some. */
#include <errno.h>
#include <stdlib.h>

#include "soft/internal.h"

static struct soft_peer_ref *find_ref(struct soft_file *file, uint32_t device, uint32_t peer)
{
	struct soft_peer_ref *ref;

	links_for_each(ref, &file->peers, struct soft_peer_ref, link)
		if (ref->device == device && ref->peer == peer)
			return ref;
	return NULL;
}

static void drop_ref(struct soft_file *file, struct soft_peer_ref *ref)
{
	file->device->peer_files[ref->device][ref->peer]--;
	links_del(&ref->link);
	free(ref);
}

void soft_peer_release(struct soft_file *file)
{
	struct soft_peer_ref *ref, *tmp;

	links_for_each_safe(ref, tmp, &file->peers, struct soft_peer_ref, link)
		drop_ref(file, ref);
}

static int enable(struct soft_file *file, uint32_t device, uint32_t peer)
{
	struct soft_peer_ref *ref = find_ref(file, device, peer);
	uint32_t *files = &file->device->peer_files[device][peer];

	if (ref) {
		if (ref->count == UINT32_MAX)
			return -ENOMEM;
		ref->count++;
		return 0;
	}
	if (*files >= SOFT_PEER_FILES)
		return -ENOMEM;
	ref = malloc(sizeof(*ref));
	if (!ref)
		return -ENOMEM;
	*ref = (struct soft_peer_ref){ .device = device, .peer = peer, .count = 1 };
	links_add(&file->peers, &ref->link);
	(*files)++;
	return 0;
}

static int disable(struct soft_file *file, uint32_t device, uint32_t peer)
{
	struct soft_peer_ref *ref = find_ref(file, device, peer);

	if (!ref)
		return -ESRCH;
	if (!--ref->count)
		drop_ref(file, ref);
	return 0;
}

SOFT_HANDLER(soft_peer)
{
	struct drm_vinci_peer *a = data;
	struct soft_device *device = file->device;
	int r = vinci_check_peer(a, device->config.devices);

	(void)call;
	if (r)
		return r;
	if (!(device->config.peers[a->device] >> a->peer & 1))
		return -EOPNOTSUPP;
	if (a->op == VINCI_PEER_ENABLE)
		r = enable(file, a->device, a->peer);
	else if (a->op == VINCI_PEER_DISABLE)
		r = disable(file, a->device, a->peer);
	if (r)
		return r;
	a->active = device->peer_files[a->device][a->peer] && device->peer_files[a->peer][a->device];
	return 0;
}
