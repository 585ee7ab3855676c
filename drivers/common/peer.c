// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
/* Peer access: references by file and direction; in force once both directions have some. */
#include "common/checks.h"
#include "common/core.h"

static struct vinci_peer_ref *find_ref(struct vinci_file *file, __u32 device, __u32 peer)
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
	list_del_init(&ref->link);
	vinci_free(ref);
}

void vinci_peer_release(struct vinci_file *file)
{
	struct vinci_peer_ref *ref, *next;

	list_for_each_entry_safe(ref, next, &file->peers, link)
		drop_ref(file, ref);
}

static int enable(struct vinci_file *file, __u32 device, __u32 peer)
{
	struct vinci_peer_ref *ref = find_ref(file, device, peer);
	__u32 *files = &file->device->peer_files[device][peer];

	if (ref) {
		if (ref->count == ~0u)
			return -ENOMEM;
		ref->count++;
		return 0;
	}
	if (*files >= VINCI_PEER_FILES)
		return -ENOMEM;
	ref = vinci_alloc(1, sizeof(*ref));
	if (!ref)
		return -ENOMEM;
	ref->device = device;
	ref->peer = peer;
	ref->count = 1;
	list_add_tail(&ref->link, &file->peers);
	(*files)++;
	return 0;
}

static int disable(struct vinci_file *file, __u32 device, __u32 peer)
{
	struct vinci_peer_ref *ref = find_ref(file, device, peer);

	if (!ref)
		return -ESRCH;
	if (!--ref->count)
		drop_ref(file, ref);
	return 0;
}

VINCI_REQUEST(vinci_peer)
{
	struct drm_vinci_peer *a = data;
	struct vinci_device *device = file->device;
	int r = vinci_check_peer(a, device->config.devices);

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
