// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Peer access: references by file and direction; in force once both directions have some. */
#include <linux/slab.h>

#include "vinci_drv.h"

struct vinci_peer_ref {
	struct list_head link;
	u32 device;
	u32 peer;
	u32 count;
};

static struct vinci_peer_ref *find_ref(struct vinci_file *file, u32 device, u32 peer)
{
	struct vinci_peer_ref *ref;

	list_for_each_entry(ref, &file->peers, link)
		if (ref->device == device && ref->peer == peer)
			return ref;
	return NULL;
}

static void drop_ref(struct vinci_file *file, struct vinci_peer_ref *ref)
{
	file->device->peer_files[ref->device][ref->peer]--;
	list_del(&ref->link);
	kfree(ref);
}

void vinci_peer_release(struct vinci_file *file)
{
	struct vinci_peer_ref *ref, *next;

	list_for_each_entry_safe(ref, next, &file->peers, link)
		drop_ref(file, ref);
}

static int enable(struct vinci_file *file, u32 device, u32 peer)
{
	struct vinci_peer_ref *ref = find_ref(file, device, peer);
	u32 *files = &file->device->peer_files[device][peer];

	if (ref) {
		if (ref->count == U32_MAX)
			return -ENOMEM;
		ref->count++;
		return 0;
	}
	if (*files >= VINCI_PEER_FILES)
		return -ENOMEM;
	ref = kzalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);
	if (!ref)
		return -ENOMEM;
	ref->device = device;
	ref->peer = peer;
	ref->count = 1;
	list_add_tail(&ref->link, &file->peers);
	(*files)++;
	return 0;
}

static int disable(struct vinci_file *file, u32 device, u32 peer)
{
	struct vinci_peer_ref *ref = find_ref(file, device, peer);

	if (!ref)
		return -ESRCH;
	if (!--ref->count)
		drop_ref(file, ref);
	return 0;
}

VINCI_HANDLER(vinci_peer)
{
	struct vinci_file *file = drm_file->driver_priv;
	struct vinci_device *device = to_vinci(drm);
	struct drm_vinci_peer *a = data;
	int r = vinci_check_peer(a, device->config.devices);

	if (r)
		return r;
	if (!(device->config.peers[a->device] & BIT_ULL(a->peer)))
		return -EOPNOTSUPP;
	mutex_lock(&device->lock);
	if (a->op == VINCI_PEER_ENABLE)
		r = enable(file, a->device, a->peer);
	else if (a->op == VINCI_PEER_DISABLE)
		r = disable(file, a->device, a->peer);
	if (!r)
		a->active = device->peer_files[a->device][a->peer] && device->peer_files[a->peer][a->device];
	mutex_unlock(&device->lock);
	return r;
}
