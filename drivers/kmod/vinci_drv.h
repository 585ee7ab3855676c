/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vinci_drv.h - the objects of the kernel device. They are those of drivers/soft, with the kernel's means:
 *
 *   file    struct drm_file's private part: the process, the shares it made, ids and peer references
 *   object  memory or a notify page: a shmem file of its own
 *   hold    one handle, and so one GEM object: a file's reference to an object, as its creator or by
 *           a share. Several holds of one object, also in one file, are several GEM objects: that is
 *           how closing a handle is known to be the end of this hold and no other.
 *   share   a name for an object
 *
 * Locks: vinci_device.lock protects all of it. Under it DRM's object_name_lock is taken, never the other
 * way round, and no user memory is touched: a page fault may take as long as its user wants. mmap runs
 * without it.
 */
#ifndef VINCI_KMOD_DRV_H
#define VINCI_KMOD_DRV_H

#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/types.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "common/checks.h"
#include "common/share_policy.h"

/* What one file can make the device hold. */
#define VINCI_MAX_HANDLES 131072u
#define VINCI_MAX_SHARES 65536u
#define VINCI_MAX_ALLOWED 1048576u /* whitelist entries of all its shares */

#define VINCI_SHARE_BITS 12
#define VINCI_UID_BUCKETS 256u
#define VINCI_PEER_FILES 32u /* per pair */

struct vinci_config {
	u32 devices;
	u32 notify_limit; /* per device */
	u32 sdid;
	u64 mem_bytes; /* per device */
	char soc[VINCI_SOC_NAME_MAX];
	u64 peers[VINCI_MAX_DEVICES]; /* peers[d]: devices d reaches */
};

/* A budget for failed imports: refills with time. */
struct vinci_rate {
	u64 full_at; /* CLOCK_MONOTONIC ns at which the budget is whole again */
};

struct vinci_device {
	struct drm_device drm;
	struct vinci_config config; /* constant */
	u64 instance; /* constant */
	struct mutex lock; /* everything below, and every object, hold, file and share */
	u64 used[VINCI_MAX_DEVICES]; /* bytes charged */
	struct list_head files;
	struct list_head objects;
	u64 serial; /* of shares */
	u64 stamp; /* see vinci_object_holders() */
	DECLARE_HASHTABLE(shares, VINCI_SHARE_BITS);
	struct vinci_rate uid_rate[VINCI_UID_BUCKETS];
	u8 *ids[VINCI_MAX_DEVICES]; /* VINCI_ID_* of each notify id */
	u32 id_hint[VINCI_MAX_DEVICES];
	u32 peer_files[VINCI_MAX_DEVICES][VINCI_MAX_DEVICES];
	atomic_t live; /* objects, holds, shares and files that have not been freed: zero at unload */
};

#define VINCI_ID_RESERVED 1u /* by a file, or by an object that outlived it */
#define VINCI_ID_BUSY 2u /* names a live notify */
#define VINCI_ID_ORPHAN 4u /* the file has gone: free with the notify */

struct vinci_file {
	struct list_head link; /* device->files; empty once the process has gone */
	struct vinci_device *device;
	struct drm_file *drm;
	struct pid *pid; /* of the process that opened it; owned */
	u32 uid; /* as the initial user namespace numbers it */
	bool dead; /* written under the lock: the process has gone, somebody else keeps the descriptor */
	struct list_head holds;
	u32 hold_count;
	struct list_head shares; /* made by this file and not closed */
	u32 share_count;
	u32 allowed_count;
	struct list_head ids; /* struct vinci_ids */
	struct list_head peers; /* struct vinci_peer_ref */
	struct vinci_rate rate;
	u64 stamp;
};

struct vinci_range {
	u64 offset;
	u64 size;
};

struct vinci_object {
	struct kref ref; /* each hold and dma-buf has one: the memory may be looked at until they are freed */
	struct list_head link; /* device->objects; empty once the last user has gone */
	struct list_head holds;
	struct list_head shares; /* closed ones with openers too */
	struct vinci_device *device;
	struct vinci_file *payer; /* whom the listing shows the charge at; always a holder */
	s32 creator_pid;
	u32 creator_uid;
	u32 type; /* VINCI_OBJECT_* */
	struct file *memory; /* owned; constant */
	u64 span; /* bytes of the memory; constant */
	u64 size; /* bytes without what was split off: what is charged */
	/* users and split_count, for a dma-buf in the making: it cannot take the device's lock */
	spinlock_t users_lock;
	u32 users; /* holds that are in the lists, and dma-bufs */
	struct vinci_range *splits;
	u32 split_count;
	u32 split_room;
	u32 owner; /* device index */
	u32 flags;
	u32 page_kind;
	u32 id; /* notify id */
	u32 lost; /* holders that went without closing */
	u64 stamp; /* of the last walk that counted it */
};

struct vinci_hold {
	struct drm_gem_object base;
	struct vinci_object *object; /* owned reference; constant */
	struct list_head by_object;
	struct list_head by_file; /* empty: dropped, the GEM object is only still referenced */
	struct list_head by_share;
	struct vinci_file *file;
	struct vinci_share *share; /* NULL: the creator's own, or by dma-buf */
	bool by_dmabuf; /* constant */
	u32 device; /* imported for */
	u32 handle;
};

struct vinci_allowed {
	struct pid *process; /* that had the pid when it was put here; NULL: nobody had. Owned */
	s32 pid;
	u32 sdid;
};

struct vinci_share {
	struct hlist_node hash;
	struct list_head by_object;
	struct list_head by_file; /* creator->shares */
	struct list_head openers;
	struct vinci_object *object;
	struct vinci_file *creator; /* valid until it is closed */
	struct pid *process; /* the creator's; owned */
	const struct vinci_share_policy *policy;
	u32 kind;
	u32 flags;
	bool closed;
	u64 serial;
	u64 size; /* as importers are told */
	u64 link; /* VINCI_SHARE_ATTR_LINK */
	struct vinci_allowed *allowed; /* sorted by sdid, pid */
	u32 allowed_count;
	u32 allowed_room;
	u8 name[VINCI_NAME_MAX];
};

static inline struct vinci_device *to_vinci(struct drm_device *drm)
{
	return container_of(drm, struct vinci_device, drm);
}

static inline struct vinci_hold *to_hold(struct drm_gem_object *gem)
{
	return container_of(gem, struct vinci_hold, base);
}

/* Only who created an object gives it to others. */
static inline bool vinci_hold_is_imported(const struct vinci_hold *hold)
{
	return hold->share || hold->by_dmabuf;
}

/* vinci_file.c */
int vinci_open(struct drm_device *drm, struct drm_file *file);
void vinci_postclose(struct drm_device *drm, struct drm_file *file);
/* The process has gone, or its last descriptor: all that hangs off the file goes. */
void vinci_file_release(struct vinci_file *file);
/* Only the process that opened a file may use it. */
bool vinci_file_is_own(struct vinci_file *file);

/* vinci_gem.c; all but vinci_mmap and vinci_hold_find under the lock */
struct vinci_object *vinci_object_create(struct vinci_device *device, u32 type, u64 size);
void vinci_object_destroy(struct vinci_object *object);
int vinci_hold_create(struct vinci_file *file, struct vinci_object *object, struct vinci_share *share,
		      u32 device, struct vinci_hold **out);
void vinci_hold_drop(struct vinci_hold *hold);
u32 vinci_object_holders(struct vinci_object *object);
u64 vinci_hold_offset(struct vinci_hold *hold);
/* The last user's going ends the object and its charge. */
void vinci_object_drop_user(struct vinci_object *object);
/* With a reference: drm_gem_object_put(). NULL: no such handle. Under the lock too, so that it has not been dropped. */
struct vinci_hold *vinci_hold_find(struct vinci_file *file, u32 handle);
int vinci_mmap(struct file *filp, struct vm_area_struct *vma);
/* These three without the lock. */
struct vinci_hold *vinci_hold_alloc(struct vinci_object *object);
int vinci_object_map(struct vinci_object *object, struct vm_area_struct *vma, unsigned long page);
void vinci_object_put(struct vinci_object *object);

/* vinci_prime.c */
int vinci_prime_handle_to_fd(struct drm_device *drm, struct drm_file *drm_file, u32 handle, u32 flags, int *fd);
struct dma_buf *vinci_prime_export(struct drm_gem_object *gem, int flags);
struct drm_gem_object *vinci_prime_import(struct drm_device *drm, struct dma_buf *dmabuf);

/* vinci_notify.c; under the lock */
void vinci_notify_gone(struct vinci_object *object);
void vinci_ids_release(struct vinci_file *file);

/* vinci_share.c; under the lock */
void vinci_share_withdraw(struct vinci_share *share);
void vinci_share_opener_gone(struct vinci_share *share);

/* vinci_whitelist.c */
struct vinci_pids {
	struct vinci_allowed *list; /* owned, with the references in it */
	u32 count;
};

/*
 * Reads the caller's array; without the lock. -EFAULT, -EINVAL: a negative pid, or nobody left of those that are not
 * skipped; 0 with count 0 where that is a success.
 */
int vinci_pids_read(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids);
void vinci_pids_free(struct vinci_pids *pids);
/* Under the lock; all or none. Takes the references over. -ENOSPC: no room. */
int vinci_whitelist_add(struct vinci_share *share, struct vinci_pids *pids);
void vinci_whitelist_free(struct vinci_share *share);
/* Is the process's pid on the list? @current_entry: and is the entry about this very process? */
bool vinci_whitelist_find(const struct vinci_share *share, struct pid *process, bool *current_entry);
/* Failed imports have a budget by file and by user, so that names cannot be searched for. */
bool vinci_guess_exhausted(struct vinci_file *file);
void vinci_guess_count(struct vinci_file *file);

/* vinci_peer.c; under the lock */
void vinci_peer_release(struct vinci_file *file);

/* The handlers of the request table. */
#define VINCI_HANDLER(name) int name(struct drm_device *drm, void *data, struct drm_file *drm_file)
VINCI_HANDLER(vinci_get_param);
VINCI_HANDLER(vinci_device_info);
VINCI_HANDLER(vinci_bo_create);
VINCI_HANDLER(vinci_bo_info);
VINCI_HANDLER(vinci_bo_split);
VINCI_HANDLER(vinci_notify_ids);
VINCI_HANDLER(vinci_notify_create);
VINCI_HANDLER(vinci_notify_status);
VINCI_HANDLER(vinci_share_export);
VINCI_HANDLER(vinci_share_allow);
VINCI_HANDLER(vinci_share_import);
VINCI_HANDLER(vinci_share_close);
VINCI_HANDLER(vinci_share_attr);
VINCI_HANDLER(vinci_peer);
VINCI_HANDLER(vinci_list);

#endif
