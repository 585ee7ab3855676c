/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * core.h - the objects of a device and all that is decided about them, one code for vincid and vinci.ko.
 *
 *   file    an open file: its process, the shares it made, reserved notify ids, peer references
 *   object  memory or a notify page; lives as long as somebody uses it, and carries its charge
 *   hold    one handle: a file's reference to an object, as its creator or by a name
 *   share   a name for an object; ends with its creator's handle, or stays as a closed one while it has openers
 *
 * What differs is the device's: struct vinci_*_parts and the inline functions of its own header, and the functions at
 * the end of this one. One thread at a time calls in here; the caller sees to that.
 */
#ifndef VINCI_COMMON_CORE_H
#define VINCI_COMMON_CORE_H

#include "common/compat.h"
#include "common/share_policy.h"
#ifdef __KERNEL__
#include "kmod/vinci_parts.h"
#else
#include "soft/parts.h"
#endif

/* What one file can make the device hold. */
#define VINCI_MAX_HANDLES 131072u /* or config.max_handles */
#define VINCI_MAX_SHARES 65536u
#define VINCI_MAX_ALLOWED 1048576u /* whitelist entries of all its shares */

#define VINCI_MAX_HOST_BYTES 0x400000000000ull /* of one object */
#define VINCI_MAX_NOTIFIES 1048576u /* per device */
#define VINCI_SHARE_BUCKETS 4096u
#define VINCI_UID_BUCKETS 256u
#define VINCI_PEER_FILES 32u /* per pair */

struct vinci_config {
	__u32 devices;
	__u32 notify_limit; /* per device */
	__u32 sdid;
	__u32 max_handles; /* of one file */
	__u64 mem_bytes; /* per device */
	char soc[VINCI_SOC_NAME_MAX];
	__u64 peers[VINCI_MAX_DEVICES]; /* peers[d]: devices d reaches */
};

/* As vouched for by the kernel. */
struct vinci_process {
	__s32 pid; /* of the whole process, in the device's pid namespace */
	__u32 uid;
	struct vinci_identity identity; /* tells two processes of one pid apart */
};

/* A budget for failed imports: refills with time. */
struct vinci_rate {
	__u64 full_at; /* CLOCK_MONOTONIC ns at which the budget is whole again */
};

struct vinci_device {
	struct vinci_config config; /* constant */
	__u64 instance; /* constant */
	__u64 used[VINCI_MAX_DEVICES]; /* bytes charged */
	struct list_head files;
	struct list_head objects;
	struct list_head *shares; /* VINCI_SHARE_BUCKETS */
	__u64 serial; /* of shares */
	__u32 share_count; /* closed ones with openers too */
	__u32 orphans; /* objects without their creator's hold */
	__u64 stamp; /* of the last walk: marks what it has counted */
	struct vinci_rate uid_rate[VINCI_UID_BUCKETS];
	__u8 *ids[VINCI_MAX_DEVICES]; /* VINCI_ID_* of each notify id */
	__u32 id_hint[VINCI_MAX_DEVICES];
	__u32 peer_files[VINCI_MAX_DEVICES][VINCI_MAX_DEVICES];
	struct vinci_device_parts own;
};

#define VINCI_ID_RESERVED 1u /* by a file, or by an object that outlived it */
#define VINCI_ID_BUSY 2u /* names a live notify */
#define VINCI_ID_ORPHAN 4u /* the file has gone: free with the notify */

struct vinci_file {
	struct list_head link; /* device->files; empty once the process has gone */
	struct vinci_device *device;
	struct vinci_process process; /* that opened it; constant */
	struct list_head holds;
	__u32 hold_count;
	struct list_head shares; /* made by this file and not closed */
	__u32 share_count;
	__u32 allowed_count;
	struct list_head ids; /* struct vinci_ids */
	struct list_head peers; /* struct vinci_peer_ref */
	struct vinci_rate rate;
	__u64 stamp;
	struct vinci_file_parts own;
};

/* A run of reserved notify ids. */
struct vinci_ids {
	struct list_head link;
	__u32 device;
	__u32 first;
	__u32 count;
};

struct vinci_peer_ref {
	struct list_head link;
	__u32 device;
	__u32 peer;
	__u32 count;
};

struct vinci_range {
	__u64 offset;
	__u64 size;
};

struct vinci_object {
	struct list_head link; /* device->objects; empty once the last user has gone */
	struct list_head holds;
	struct list_head shares; /* closed ones with openers too */
	struct vinci_device *device;
	struct vinci_file *payer; /* whom the listing shows the charge at: a holder, if there is one */
	__s32 creator_pid;
	__u32 creator_uid;
	__u32 type; /* VINCI_OBJECT_* */
	__u64 span; /* bytes of the memory; constant */
	__u64 size; /* bytes without what was split off: what is charged */
	/* users, split_count: see vinci_users_lock() */
	__u32 users; /* holds, and what else the device counts */
	__u32 split_count;
	__u32 split_room;
	struct vinci_range *splits;
	__u32 owner; /* device index */
	__u32 flags;
	__u32 page_kind;
	__u32 id; /* notify id */
	__u32 lost; /* files that went without closing */
	__u64 stamp;
	bool is_orphan;
	struct vinci_object_parts own;
};

struct vinci_hold {
	struct vinci_object *object; /* constant */
	struct list_head by_object;
	struct list_head by_file; /* empty: dropped */
	struct list_head by_share;
	struct vinci_file *file;
	struct vinci_share *share; /* it was imported by */
	bool is_imported; /* by a share or otherwise: only who created an object gives it to others */
	__u32 device; /* imported for */
	__u32 handle;
	struct vinci_hold_parts own;
};

struct vinci_allowed {
	__s32 pid;
	__u32 sdid;
	struct vinci_identity identity; /* of the process that had the pid when it was put here, if one had. Owned */
};

struct vinci_pids {
	struct vinci_allowed *list; /* owned, with the identities in it */
	__u32 count;
};

struct vinci_share {
	struct list_head hash;
	struct list_head by_object;
	struct list_head by_file; /* creator->shares */
	struct list_head openers;
	struct vinci_object *object;
	struct vinci_file *creator; /* NULL once it is closed */
	struct vinci_process process; /* the creator's; its identity is owned */
	const struct vinci_share_policy *policy;
	__u32 kind;
	__u32 flags;
	__u64 serial;
	__u64 size; /* as importers are told */
	__u64 link; /* VINCI_SHARE_ATTR_LINK */
	struct vinci_allowed *allowed; /* sorted by sdid, pid */
	__u32 allowed_count;
	__u32 allowed_room;
	__u8 name[VINCI_NAME_MAX];
};

/* --- device and files: device.c ------------------------------------------------------------ */

bool vinci_config_valid(const struct vinci_config *config);
/* Tables for a valid config; the rest of the device is zero. -ENOMEM */
int vinci_device_init(struct vinci_device *device, const struct vinci_config *config);
void vinci_device_fini(struct vinci_device *device);
bool vinci_same_process(const struct vinci_process *a, const struct vinci_process *b);
void vinci_file_init(struct vinci_file *file, struct vinci_device *device, const struct vinci_process *process);
/* All that hangs off the file goes, as it does when its process dies. */
void vinci_file_clear(struct vinci_file *file);

/* --- objects and holds: object.c ----------------------------------------------------------- */

/* With its last user an object ends: uncharged, unlinked, given to vinci_object_free(). */
void vinci_object_drop_user(struct vinci_object *object);
/* Files, not handles. */
__u32 vinci_object_holders(struct vinci_object *object);
/* A hold becomes a file's, for NPU @device; @share: NULL if it was not made by one. */
void vinci_hold_link(struct vinci_hold *hold, struct vinci_file *file, struct vinci_share *share, __u32 device);
int vinci_hold_create(struct vinci_file *file, struct vinci_object *object, struct vinci_share *share, __u32 device,
		      struct vinci_hold **out);
/* The handle is closed, and with the creator's the object's names end. The hold itself is the device's to free. */
void vinci_hold_close(struct vinci_hold *hold);
/* Not yet held; -ENOSPC */
int vinci_object_create(struct vinci_file *file, __u32 type, __u64 size, __u32 owner, struct vinci_object **out);
void vinci_object_destroy(struct vinci_object *object);

/* --- shares: share.c, whitelist.c ---------------------------------------------------------- */

void vinci_share_withdraw(struct vinci_share *share);
void vinci_share_opener_gone(struct vinci_share *share);
/* The name of that kind that @random makes; @name is zero. */
void vinci_share_name(__u32 kind, __u32 sdid, __u32 device, const __u8 random[VINCI_NAME_MAX], __u8 *name);

/*
 * An ALLOW in three steps, because the caller's memory may take its time: may it (-ESTALE ...); what does it ask for,
 * which needs no lock; put it on the list, if it still may. @pids: holds afterwards what the caller has to free.
 */
int vinci_allow_begin(struct vinci_file *file, const struct drm_vinci_share_allow *a);
int vinci_pids_parse(const struct vinci_file *file, const struct drm_vinci_share_allow *a, const void *array,
		     struct vinci_pids *pids);
int vinci_allow_finish(struct vinci_file *file, const struct drm_vinci_share_allow *a, struct vinci_pids *pids);
void vinci_pids_free(struct vinci_pids *pids);

/* All or none; -ENOSPC: no room. Takes the identities over, and leaves in @pids those of entries that it replaced. */
int vinci_whitelist_add(struct vinci_share *share, struct vinci_pids *pids);
void vinci_whitelist_free(struct vinci_share *share);
/* Is the process's pid on the list? @current_entry: and is the entry about this very process? */
bool vinci_whitelist_find(const struct vinci_share *share, const struct vinci_process *process, bool *current_entry);

/* Failed imports have a budget by file and by user, so that names cannot be searched for. */
bool vinci_guess_exhausted(const struct vinci_file *file, __u64 now);
void vinci_guess_count(struct vinci_file *file, __u64 now);

/* --- notify ids and peers: notify.c, peer.c ------------------------------------------------ */

void vinci_ids_release(struct vinci_file *file);
void vinci_notify_gone(struct vinci_object *object);
void vinci_peer_release(struct vinci_file *file);

/* --- listings: list.c ---------------------------------------------------------------------- */

struct vinci_rows {
	void (*emit)(struct vinci_rows *rows, const void *row);
	__u32 count; /* found so far */
};

size_t vinci_row_size(__u32 type);
/* What the viewer may see of a valid type, through rows->emit. */
void vinci_list_rows(struct vinci_file *viewer, __u32 type, struct vinci_rows *rows);

/* --- requests ------------------------------------------------------------------------------ */

#define VINCI_REQUEST(name) int name(struct vinci_file *file, void *data)
VINCI_REQUEST(vinci_get_param);
VINCI_REQUEST(vinci_device_info);
VINCI_REQUEST(vinci_bo_create);
VINCI_REQUEST(vinci_bo_info);
VINCI_REQUEST(vinci_bo_split);
VINCI_REQUEST(vinci_notify_ids);
VINCI_REQUEST(vinci_notify_create);
VINCI_REQUEST(vinci_notify_status);
VINCI_REQUEST(vinci_share_export);
VINCI_REQUEST(vinci_share_import);
VINCI_REQUEST(vinci_share_close);
VINCI_REQUEST(vinci_share_attr);
VINCI_REQUEST(vinci_peer);

/* --- what the device does ------------------------------------------------------------------ */

/* Zeroed but for its memory of @size bytes, which reads as zero. -ENOSPC, -EFBIG */
int vinci_object_alloc(struct vinci_device *device, __u64 size, struct vinci_object **out);
void vinci_object_free(struct vinci_object *object);
/* NUMA: where the object's memory shall lie (-1: anywhere), and where an NPU is. */
void vinci_object_place(struct vinci_object *object, __s32 node);
__s32 vinci_device_node(const struct vinci_device *device, __u32 npu);
/* A hold, zeroed but for its object, with a handle of the file. -ENOSPC */
int vinci_hold_alloc(struct vinci_file *file, struct vinci_object *object, struct vinci_hold **out);
/* Its file goes, and the handle with it or later. */
void vinci_hold_gone(struct vinci_hold *hold);
/* NULL: no such handle. Valid until it is dropped. */
struct vinci_hold *vinci_hold_find(struct vinci_file *file, __u32 handle);
__u64 vinci_hold_offset(struct vinci_hold *hold);
/* Who has the pid now; none is a success. -ENOSPC: cannot be told. Called without the lock. */
int vinci_identity_find(__s32 pid, struct vinci_identity *out);
/* 0, -EIO */
int vinci_random(void *buffer, size_t size);
__u64 vinci_now(void); /* CLOCK_MONOTONIC ns */

#endif
