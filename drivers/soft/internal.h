/* SPDX-License-Identifier: MIT */
/*
 * internal.h - the objects of the software device.
 *
 *   file    an open file: handles, the shares it made, reserved notify ids, peer references
 *   object  memory or a notify page; lives as long as somebody holds it, and carries its charge
 *   hold    one handle: a file's reference to an object, as its creator or through a share
 *   share   a name for an object; dies with its creator's handle, or stays as a closed one while it has openers
 */
#ifndef VINCI_SOFT_INTERNAL_H
#define VINCI_SOFT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/share_policy.h"
#include "soft/device.h"
#include "soft/links.h"

/* What one file can make the device hold. */
#define SOFT_MAX_HANDLES 131072u /* or config.max_handles */
#define SOFT_MAX_SHARES 65536u
#define SOFT_MAX_ALLOWED (1u << 20) /* whitelist entries of all its shares */

#define SOFT_SHARE_BUCKETS 4096u
#define SOFT_UID_BUCKETS 256u
#define SOFT_PEER_FILES 32u /* per pair */

/* A budget for failed imports: refills with time. */
struct soft_rate {
	uint64_t full_at; /* CLOCK_MONOTONIC ns at which the budget is whole again */
};

struct soft_device {
	struct soft_config config;
	uint64_t instance;
	uint64_t used[VINCI_MAX_DEVICES]; /* bytes charged */
	int32_t node[VINCI_MAX_DEVICES]; /* NUMA, -1: unknown */
	struct links files;
	struct links objects;
	void *offsets; /* tsearch tree of objects by mmap offset */
	uint64_t next_offset;
	uint64_t serial; /* of shares */
	uint32_t orphans; /* objects without their creator's hold */
	uint64_t stamp; /* see soft_object_holders() */
	struct links shares[SOFT_SHARE_BUCKETS];
	struct soft_rate uid_rate[SOFT_UID_BUCKETS];
	uint8_t *ids[VINCI_MAX_DEVICES]; /* SOFT_ID_* of each notify id */
	uint32_t id_hint[VINCI_MAX_DEVICES];
	uint32_t peer_files[VINCI_MAX_DEVICES][VINCI_MAX_DEVICES];
};

#define SOFT_ID_RESERVED 1u /* by a file, or by an object that outlived it */
#define SOFT_ID_BUSY 2u /* names a live notify */
#define SOFT_ID_ORPHAN 4u /* the file has gone: free with the notify */

struct soft_file {
	struct links link; /* device->files */
	struct soft_device *device;
	struct soft_process process;
	struct soft_hold **handles; /* by handle */
	uint32_t handle_room;
	uint32_t handle_count;
	uint32_t handle_hint;
	struct links shares; /* made by this file and not closed */
	uint32_t share_count;
	uint32_t allowed_count;
	struct links ids; /* struct soft_ids */
	struct links peers; /* struct soft_peer_ref */
	struct soft_rate rate;
	uint64_t stamp;
};

/* A run of reserved notify ids. */
struct soft_ids {
	struct links link;
	uint32_t device;
	uint32_t first;
	uint32_t count;
};

struct soft_peer_ref {
	struct links link;
	uint32_t device;
	uint32_t peer;
	uint32_t count;
};

struct soft_range {
	uint64_t offset;
	uint64_t size;
};

struct soft_object {
	struct links link; /* device->objects */
	struct links holds;
	struct links shares; /* closed ones with openers too */
	struct soft_device *device;
	struct soft_file *payer; /* whom the listing shows the charge at; always a holder */
	struct soft_process creator;
	uint32_t type; /* VINCI_OBJECT_* */
	int fd; /* sealed memfd; owned */
	uint64_t offset; /* mmap offset of the first byte */
	uint64_t span; /* bytes of the file */
	uint64_t size; /* bytes without what was split off: what is charged */
	struct soft_range *splits;
	uint32_t split_count;
	uint32_t owner; /* device index */
	uint32_t flags;
	uint32_t page_kind;
	uint32_t id; /* notify id */
	uint32_t lost; /* holders that went without closing */
	uint64_t stamp; /* of the last file release that counted it */
	bool is_orphan;
};

struct soft_hold {
	struct links by_object;
	struct links by_share;
	struct soft_file *file;
	struct soft_object *object;
	struct soft_share *share; /* NULL: the creator's own */
	uint32_t device; /* imported for */
	uint32_t handle;
};

struct soft_allowed {
	int32_t pid;
	uint32_t sdid;
	uint64_t start; /* of the process that had the pid when it was put here; 0: nobody had */
};

struct soft_share {
	struct links hash;
	struct links by_object;
	struct links by_file; /* creator->shares */
	struct links openers;
	struct soft_object *object;
	struct soft_file *creator; /* NULL once it has gone or closed its handle */
	struct soft_process process; /* the creator's */
	const struct vinci_share_policy *policy;
	uint32_t kind;
	uint32_t flags;
	bool closed;
	uint64_t serial;
	uint64_t size; /* as importers are told */
	uint64_t link; /* VINCI_SHARE_ATTR_LINK */
	struct soft_allowed *allowed; /* sorted by sdid, pid */
	uint32_t allowed_count;
	uint32_t allowed_room;
	uint8_t name[VINCI_NAME_MAX];
};

/* One request being served. */
struct soft_call {
	struct soft_user *user;
	struct soft_memory *memory;
};

/* file.c */
int soft_handle_add(struct soft_file *file, struct soft_hold *hold);
struct soft_hold *soft_handle_find(struct soft_file *file, uint32_t handle);
void soft_handle_close(struct soft_hold *hold);
bool soft_same_process(const struct soft_process *a, const struct soft_process *b);

/* bo.c */
struct soft_object *soft_object_create(struct soft_device *device, uint32_t type, uint64_t size, int *error);
void soft_object_destroy(struct soft_object *object);
int soft_hold_create(struct soft_file *file, struct soft_object *object, struct soft_share *share, uint32_t device,
		     struct soft_hold **out);
void soft_hold_drop(struct soft_hold *hold);
uint32_t soft_object_holders(struct soft_object *object);
uint32_t soft_object_shares(const struct soft_object *object);
void soft_memory_set(struct soft_memory *memory, const struct soft_object *object, uint32_t handle);

/* notify.c */
void soft_notify_gone(struct soft_object *object);
void soft_ids_release(struct soft_file *file);

/* share.c */
int soft_random(void *buffer, size_t size);
void soft_share_withdraw(struct soft_share *share);
void soft_share_opener_gone(struct soft_share *share);

/* peer.c */
void soft_peer_release(struct soft_file *file);

/* numa.c: node of an NPU, and placing an object's memory on a node (-1: anywhere) */
void soft_numa_init(struct soft_device *device);
void soft_numa_place(int fd, uint64_t size, int32_t node);

/* The handlers of dispatch.c's table. */
#define SOFT_HANDLER(name) int name(struct soft_file *file, void *data, struct soft_call *call)
SOFT_HANDLER(soft_gem_close);
SOFT_HANDLER(soft_get_param);
SOFT_HANDLER(soft_device_info);
SOFT_HANDLER(soft_bo_create);
SOFT_HANDLER(soft_bo_info);
SOFT_HANDLER(soft_bo_split);
SOFT_HANDLER(soft_notify_ids);
SOFT_HANDLER(soft_notify_create);
SOFT_HANDLER(soft_notify_status);
SOFT_HANDLER(soft_share_export);
SOFT_HANDLER(soft_share_allow);
SOFT_HANDLER(soft_share_import);
SOFT_HANDLER(soft_share_close);
SOFT_HANDLER(soft_share_attr);
SOFT_HANDLER(soft_peer);
SOFT_HANDLER(soft_list);

#endif
