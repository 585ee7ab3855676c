/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * vinci_drm.h - the one contract between user space and a vinci device.
 *
 * Two devices serve it: vincid (user space, drivers/soft) and vinci.ko (drivers/kmod).
 *
 * One open file sees every NPU of the machine; an NPU is named by its device index
 * (0 .. VINCI_PARAM_DEVICE_COUNT - 1). All state hangs off the open file and goes with it.
 *
 * Rules for every call:
 *  - fields are fixed width, structures are multiples of 8 bytes;
 *  - padding, reserved fields and unknown flags must be zero, else EINVAL;
 *  - handle 0 is invalid; handles are per open file; an unknown one is ENOENT (EINVAL from DRM_IOCTL_GEM_CLOSE);
 *  - outputs are untouched when the call fails;
 *  - arrays carry the size of one element, so that elements can grow: a device reads or writes
 *    the smaller of its own size and the caller's, and zero-fills the rest (pids: 4 to 64 bytes, lists: 8 to 4096);
 *  - a device index beyond the last is ENODEV, a device out of its own resources (descriptors, slots) ENOSPC;
 *  - EAGAIN is never returned (libdrm retries it for ever); EFAULT is only a bad pointer.
 */
#ifndef _UAPI_VINCI_DRM_H_
#define _UAPI_VINCI_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Any two minors of one major work together. */
#define VINCI_UAPI_MAJOR 1
#define VINCI_UAPI_MINOR 0

#define VINCI_MAX_DEVICES 64
#define VINCI_NAME_MAX 128 /* bytes that hold any share name */
#define VINCI_SOC_NAME_MAX 32

#define DRM_VINCI_GET_PARAM 0x00
#define DRM_VINCI_DEVICE_INFO 0x01
#define DRM_VINCI_BO_CREATE 0x02
#define DRM_VINCI_BO_INFO 0x03
#define DRM_VINCI_BO_SPLIT 0x04
#define DRM_VINCI_NOTIFY_IDS 0x05
#define DRM_VINCI_NOTIFY_CREATE 0x06
#define DRM_VINCI_NOTIFY_STATUS 0x07
#define DRM_VINCI_SHARE_EXPORT 0x08
#define DRM_VINCI_SHARE_ALLOW 0x09
#define DRM_VINCI_SHARE_IMPORT 0x0a
#define DRM_VINCI_SHARE_CLOSE 0x0b
#define DRM_VINCI_SHARE_ATTR 0x0c
#define DRM_VINCI_PEER 0x0d
#define DRM_VINCI_LIST 0x0e

/* --- queries ---------------------------------------------------------------------------- */

#define VINCI_PARAM_UAPI_VERSION 0 /* major << 32 | minor */
#define VINCI_PARAM_DEVICE_COUNT 1
#define VINCI_PARAM_TGID 2 /* the caller's process id as this device sees it: what whitelists take */
#define VINCI_PARAM_INSTANCE 3 /* random, fixed for the life of the device: tells a restart */

/**
 * struct drm_vinci_get_param - read one scalar
 * @param: in, VINCI_PARAM_*; unknown: EINVAL
 * @pad: must be zero
 * @value: out
 */
struct drm_vinci_get_param {
	__u32 param;
	__u32 pad;
	__u64 value;
};

/**
 * struct drm_vinci_device_info - identity, limits and memory accounting of one NPU
 * @device: in, device index; ENODEV beyond the last
 * @numa_node: out, host NUMA node its memory is placed on, -1 if unknown
 * @mem_total: out, bytes
 * @mem_used: out, bytes charged by all processes together (nominal sizes)
 * @peer_mask: out, bit d set: this NPU can reach NPU d's memory once peer access is enabled
 * @notify_limit: out, notify ids of this NPU
 * @sdid: out, number of this server within its super node
 * @soc: out, NUL-terminated SoC name, "Ascend910B1" for example
 */
struct drm_vinci_device_info {
	__u32 device;
	__s32 numa_node;
	__u64 mem_total;
	__u64 mem_used;
	__u64 peer_mask;
	__u32 notify_limit;
	__u32 sdid;
	__u8 soc[VINCI_SOC_NAME_MAX];
};

/* --- memory objects --------------------------------------------------------------------- */

#define VINCI_PAGE_4K 0
#define VINCI_PAGE_2M 1
#define VINCI_PAGE_1G 2

/* The memory belongs to the host, not to an NPU: not charged, @device must be 0. */
#define VINCI_BO_HOST (1u << 0)

/**
 * struct drm_vinci_bo_create - allocate a memory object (BO)
 * @size: in, bytes, a multiple of the page kind's size; backed on first touch, reads as zero
 * @device: in, owning NPU
 * @flags: in, VINCI_BO_*
 * @page_kind: in, VINCI_PAGE_*: nominal, sets the rules for alignment
 * @numa_node: in, host node for VINCI_BO_HOST, -1 for no preference (always -1 for device memory)
 * @handle: out, closed with DRM_IOCTL_GEM_CLOSE
 * @pad: must be zero
 * @mmap_offset: out, pass it to mmap(); any page-aligned sub-range may be mapped, many times
 *
 * ENOMEM: the NPU has less than @size left. EFBIG: the device process may not make files of that size (ulimit -f).
 */
struct drm_vinci_bo_create {
	__u64 size;
	__u32 device;
	__u32 flags;
	__u32 page_kind;
	__s32 numa_node;
	__u32 handle;
	__u32 pad;
	__u64 mmap_offset;
};

#define VINCI_OBJECT_BO 1
#define VINCI_OBJECT_NOTIFY 2

/**
 * struct drm_vinci_bo_info - describe an object by handle
 * @handle: in
 * @object: out, VINCI_OBJECT_*
 * @size: out, bytes still backed by this object (a split takes its piece out)
 * @mmap_offset: out
 * @device: out, owning NPU
 * @flags: out, VINCI_BO_*
 * @page_kind: out, VINCI_PAGE_*
 * @holders: out, open files that hold the object now, the caller's included
 * @shares: out, shares alive on the object
 * @id: out, notify id; 0 for a BO
 */
struct drm_vinci_bo_info {
	__u32 handle;
	__u32 object;
	__u64 size;
	__u64 mmap_offset;
	__u32 device;
	__u32 flags;
	__u32 page_kind;
	__u32 holders;
	__u32 shares;
	__u32 id;
};

/**
 * struct drm_vinci_bo_split - move a range of a BO into a BO of its own
 * @handle: in, the BO, created by this file (an imported one: EACCES); its file must be the only holder (EBUSY) and it
 *          must have no share (EBUSY)
 * @pad: must be zero
 * @offset: in, bytes, a multiple of the page kind's size
 * @size: in, bytes, a multiple of the page kind's size; range must not overlap an earlier split (EINVAL)
 * @new_handle: out
 * @pad2: must be zero
 * @mmap_offset: out, of the new BO
 *
 * The charge moves with the range. The new BO reads as zero: the caller, who alone maps the old one, copies the
 * contents, drops the old pages (MADV_REMOVE) and maps the new BO in their place. What the old BO still holds in
 * that range is never shared again: a BO of which something was split off cannot be exported (EINVAL), only split
 * further.
 */
struct drm_vinci_bo_split {
	__u32 handle;
	__u32 pad;
	__u64 offset;
	__u64 size;
	__u32 new_handle;
	__u32 pad2;
	__u64 mmap_offset;
};

/* --- notifies --------------------------------------------------------------------------- */

/*
 * A notify that several processes use is one word at the start of a page of its own; the rest of the page is zero.
 *
 *   record: old = exchange(word, SET), release; if old is not CLEAR or SET, FUTEX_WAKE(word, 1) (shared futex)
 *   wait:   compare-exchange(word, SET -> CLEAR), acquire: taken;
 *           else compare-exchange(word, any other value -> WAITED) and FUTEX_WAIT(word, WAITED) for a bounded time,
 *           then look again. Whoever takes the signal while others may wait leaves WAITED instead of CLEAR.
 *   reset:  exchange(word, CLEAR)
 *
 * The word is one bit of state: two records before a wait are one signal. Every holder can write the page, so every
 * value is legal: anything but SET means "not signalled", and a waiter trusts no wake-up (bounded sleeps). The device
 * never writes the page after creation; whether a peer is still there is asked with DRM_VINCI_NOTIFY_STATUS.
 */
#define VINCI_NOTIFY_CLEAR 0
#define VINCI_NOTIFY_SET 1
#define VINCI_NOTIFY_WAITED 2
#define VINCI_NOTIFY_PAGE_SIZE 4096

struct vinci_notify_page {
	__u32 word;
	__u32 reserved[1023];
};

/**
 * struct drm_vinci_notify_ids - reserve notify ids of an NPU for this file
 * @device: in
 * @count: in, how many are wanted (1 .. 64); out, how many were granted (at least 1)
 * @first: out, the granted ids are @first .. @first + @count - 1
 * @pad: must be zero
 *
 * Ids return to the NPU when the file closes. ENOSPC: none left.
 */
struct drm_vinci_notify_ids {
	__u32 device;
	__u32 count;
	__u32 first;
	__u32 pad;
};

/**
 * struct drm_vinci_notify_create - create a notify that can be exported
 * @device: in, owning NPU
 * @id: in, one of the file's reserved ids, not in use by another notify (EINVAL, EBUSY)
 * @flags: in, must be zero
 * @handle: out, closed with DRM_IOCTL_GEM_CLOSE
 * @mmap_offset: out, of its VINCI_NOTIFY_PAGE_SIZE bytes
 */
struct drm_vinci_notify_create {
	__u32 device;
	__u32 id;
	__u32 flags;
	__u32 handle;
	__u64 mmap_offset;
};

/**
 * struct drm_vinci_notify_status - is anybody left who could record a shared notify?
 * @handle: in
 * @holders: out, open files that hold it, the caller's included
 * @lost: out, how many files that held it have gone (died or exited) without closing their handle first
 * @pad: must be zero
 */
struct drm_vinci_notify_status {
	__u32 handle;
	__u32 holders;
	__u32 lost;
	__u32 pad;
};

/* --- shares ----------------------------------------------------------------------------- */

/*
 * A share makes one whole object reachable by name. Names are made by the device and unguessable:
 *
 *   kind     bytes  form
 *   IPC_MEM   64    printable (0-9 a-f)
 *   NOTIFY    40    printable (0-9 a-f)
 *   VMM        8    little-endian __u64, 63 random bits, never 0
 *   FABRIC   128    16 bytes of header (kind, sdid, device), random bytes
 *   EVENT     64    random bytes
 *
 * Policies of the kinds (drivers/common/share_policy.c):
 *
 *   kind     creator may import   pids per ALLOW   whitelist slots   shares of one object
 *   IPC_MEM  only unvalidated     31               32768             many
 *   NOTIFY   yes                  1                15                1
 *   VMM      see below            65535            65535             1 (with FABRIC together)
 *   FABRIC   see below            65535            65535             1
 *   EVENT    no                   0 (unvalidated)  -                 1
 *
 * The creator is the process; ALLOW, CLOSE and ATTR also need the file that exported. A share ends with CLOSE, with the
 * handle it was exported from, or with the file.
 *
 * VMM, FABRIC: the creator may import for another NPU than the object's when validation is off or its own pid is on
 * the list; for the object's NPU it is EEXIST. Host memory has no NPU of its own in this sense.
 */
#define VINCI_SHARE_IPC_MEM 1
#define VINCI_SHARE_NOTIFY 2
#define VINCI_SHARE_VMM 3
#define VINCI_SHARE_FABRIC 4
#define VINCI_SHARE_EVENT 5

/* No whitelist: whoever knows the name may import. */
#define VINCI_SHARE_UNVALIDATED (1u << 0)

/**
 * struct drm_vinci_share_export - give an object a name
 * @handle: in, an object this file created (an imported one: EACCES); BO kinds for BOs, NOTIFY for notifies (EINVAL)
 * @kind: in, VINCI_SHARE_*
 * @flags: in, VINCI_SHARE_UNVALIDATED
 * @name_len: out, bytes of @name
 * @size: in, bytes that importers are told; needs the same number of pages (of the BO's page kind) as the object
 *        (EINVAL: split first); zero for notifies, whose importers are told VINCI_NOTIFY_PAGE_SIZE
 * @name: out, zero-padded
 *
 * EEXIST: this kind is exported once only and the object has a share. ENOSPC: no more shares. EINVAL: EVENT without
 * VINCI_SHARE_UNVALIDATED.
 */
struct drm_vinci_share_export {
	__u32 handle;
	__u32 kind;
	__u32 flags;
	__u32 name_len;
	__u64 size;
	__u8 name[VINCI_NAME_MAX];
};

/* @sdid names the importers' server; without it they are on this server. */
#define VINCI_ALLOW_SDID (1u << 0)

/**
 * struct drm_vinci_share_allow - put processes on a share's whitelist
 * @kind: in
 * @name_len: in
 * @name: in
 * @flags: in, VINCI_ALLOW_*
 * @sdid: in, with VINCI_ALLOW_SDID
 * @pids: in, pointer to an array of @count __s32 process ids as the device sees them (VINCI_PARAM_TGID)
 * @count: in
 * @elem_size: in, bytes of one element, at least 4
 *
 * An entry is the process that has the pid now: another that gets the number later does not match. Pid 0, and (IPC_MEM,
 * NOTIFY) the creator's own, are skipped; a repeated pid refreshes its entry. ESTALE: unknown share. EACCES: not the
 * creator. EPERM: the share is unvalidated. E2BIG: more than the kind's pids per call. ENOSPC: whitelist full (nothing
 * was added). EINVAL: no pids, a negative one, or every pid was skipped (IPC_MEM, VMM, FABRIC; for NOTIFY that is
 * success). EIDRM: the share is closed but still open somewhere.
 */
struct drm_vinci_share_allow {
	__u32 kind;
	__u32 name_len;
	__u8 name[VINCI_NAME_MAX];
	__u32 flags;
	__u32 sdid;
	__u64 pids;
	__u32 count;
	__u32 elem_size;
};

/**
 * struct drm_vinci_share_import - open a share
 * @kind: in
 * @name_len: in
 * @name: in
 * @device: in, the NPU that will use it
 * @flags: in, must be zero
 * @handle: out; a share that this file already holds gives the same handle again (count in user space)
 * @object: out, VINCI_OBJECT_*
 * @size: out, bytes as exported
 * @mmap_offset: out
 * @owner_device: out
 * @bo_flags: out, VINCI_BO_*
 * @page_kind: out
 * @id: out, notify id
 *
 * ESTALE: unknown or closed share. EACCES: not on the whitelist. EKEYEXPIRED: on the list, but this process started
 * after it was put there. EBUSY: (IPC_MEM) this file holds it for another NPU. EEXIST: (VMM, FABRIC) the creator, for
 * the object's own NPU. EDQUOT: too many imports of unknown names by this process or user lately (100 a second, 1000);
 * wait.
 *
 * What a file already holds: IPC_MEM the same handle for the same NPU; NOTIFY, EVENT the same handle for any NPU; VMM,
 * FABRIC one handle for each NPU. The whitelist is not asked again.
 */
struct drm_vinci_share_import {
	__u32 kind;
	__u32 name_len;
	__u8 name[VINCI_NAME_MAX];
	__u32 device;
	__u32 flags;
	__u32 handle;
	__u32 object;
	__u64 size;
	__u64 mmap_offset;
	__u32 owner_device;
	__u32 bo_flags;
	__u32 page_kind;
	__u32 id;
};

/**
 * struct drm_vinci_share_close - the creator withdraws a share
 * @kind: in
 * @name_len: in
 * @name: in
 *
 * New imports fail from now on; who holds the object keeps it.
 * ESTALE: unknown. EACCES: not the creator. EIDRM: closed before, but still open somewhere.
 */
struct drm_vinci_share_close {
	__u32 kind;
	__u32 name_len;
	__u8 name[VINCI_NAME_MAX];
};

#define VINCI_SHARE_ATTR_UNVALIDATED 1 /* value 1; EPERM once pids are on the list */
#define VINCI_SHARE_ATTR_LINK 2 /* value 0..3: SIO, HCCS, UB one port, UB many ports */

/**
 * struct drm_vinci_share_attr - the creator sets an attribute
 * @kind: in
 * @name_len: in
 * @name: in
 * @attr: in, VINCI_SHARE_ATTR_*
 * @pad: must be zero
 * @value: in
 *
 * ESTALE: unknown. EPERM: not the creator, or not allowed any more. EINVAL: unknown attribute or value.
 */
struct drm_vinci_share_attr {
	__u32 kind;
	__u32 name_len;
	__u8 name[VINCI_NAME_MAX];
	__u32 attr;
	__u32 pad;
	__u64 value;
};

/* --- peer access ------------------------------------------------------------------------ */

#define VINCI_PEER_ENABLE 1
#define VINCI_PEER_DISABLE 2
#define VINCI_PEER_QUERY 3

/**
 * struct drm_vinci_peer - access of @device to @peer's memory
 * @device: in
 * @peer: in, another NPU (the same: EINVAL)
 * @op: in, VINCI_PEER_*
 * @active: out, 1 when both directions have been enabled by somebody, else 0
 *
 * Counted per file and direction. EOPNOTSUPP: no link. ESRCH: disable without enable. ENOMEM: more than 32 files on the
 * pair in this direction, or the device has no memory for one more (here not ENOSPC).
 */
struct drm_vinci_peer {
	__u32 device;
	__u32 peer;
	__u32 op;
	__u32 active;
};

/* --- listing, for tools ----------------------------------------------------------------- */

#define VINCI_LIST_PROCESSES 1 /* struct vinci_list_process, one for each open file and NPU it has memory on */
#define VINCI_LIST_SHARES 2 /* struct vinci_list_share */
#define VINCI_LIST_ALLOWED 3 /* struct vinci_list_member: whitelists */
#define VINCI_LIST_OPENERS 4 /* struct vinci_list_member: who holds a share's object */
#define VINCI_LIST_NOTIFIES 5 /* struct vinci_list_notify */

/**
 * struct drm_vinci_list - read-only listing
 * @type: in, VINCI_LIST_*
 * @elem_size: in, bytes of one element of the caller's array
 * @array: in, pointer; may be NULL with @count 0
 * @count: in, elements there is room for; out, elements that exist (the first of them were written)
 * @pad: must be zero
 *
 * Lists what belongs to the caller's uid; root sees all. Names of shares are secrets and are not listed. ENOSPC: more
 * bytes than the device can pass on (vincid: 64 MiB); ask for fewer or smaller elements.
 */
struct drm_vinci_list {
	__u32 type;
	__u32 elem_size;
	__u64 array;
	__u32 count;
	__u32 pad;
};

struct vinci_list_process {
	__s32 pid;
	__u32 uid;
	__u32 device; /* ~0: a file without device memory */
	__u32 objects;
	__u64 bytes; /* charged to it on @device */
};

struct vinci_list_share {
	__u64 serial; /* names it in the member lists */
	__u32 kind;
	__u32 flags; /* VINCI_SHARE_UNVALIDATED */
	__s32 pid; /* creator */
	__u32 device;
	__u64 size;
	__u32 allowed; /* entries on the whitelist */
	__u32 openers; /* files that hold the object through this share */
	__u8 hint[8]; /* first characters of a printable name, NUL-terminated; empty for the others */
};

struct vinci_list_member {
	__u64 serial;
	__s32 pid;
	__u32 pad;
};

struct vinci_list_notify {
	__s32 pid; /* creator */
	__u32 device;
	__u32 id;
	__u32 holders;
};

/* --- numbers ---------------------------------------------------------------------------- */

#define DRM_IOCTL_VINCI_GET_PARAM DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_GET_PARAM, struct drm_vinci_get_param)
#define DRM_IOCTL_VINCI_DEVICE_INFO DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_DEVICE_INFO, struct drm_vinci_device_info)
#define DRM_IOCTL_VINCI_BO_CREATE DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_BO_CREATE, struct drm_vinci_bo_create)
#define DRM_IOCTL_VINCI_BO_INFO DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_BO_INFO, struct drm_vinci_bo_info)
#define DRM_IOCTL_VINCI_BO_SPLIT DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_BO_SPLIT, struct drm_vinci_bo_split)
#define DRM_IOCTL_VINCI_NOTIFY_IDS DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_NOTIFY_IDS, struct drm_vinci_notify_ids)
#define DRM_IOCTL_VINCI_NOTIFY_CREATE                                                                                  \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_NOTIFY_CREATE, struct drm_vinci_notify_create)
#define DRM_IOCTL_VINCI_NOTIFY_STATUS                                                                                  \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_NOTIFY_STATUS, struct drm_vinci_notify_status)
#define DRM_IOCTL_VINCI_SHARE_EXPORT DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_SHARE_EXPORT, struct drm_vinci_share_export)
#define DRM_IOCTL_VINCI_SHARE_ALLOW DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_SHARE_ALLOW, struct drm_vinci_share_allow)
#define DRM_IOCTL_VINCI_SHARE_IMPORT DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_SHARE_IMPORT, struct drm_vinci_share_import)
#define DRM_IOCTL_VINCI_SHARE_CLOSE DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_SHARE_CLOSE, struct drm_vinci_share_close)
#define DRM_IOCTL_VINCI_SHARE_ATTR DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_SHARE_ATTR, struct drm_vinci_share_attr)
#define DRM_IOCTL_VINCI_PEER DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_PEER, struct drm_vinci_peer)
#define DRM_IOCTL_VINCI_LIST DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_LIST, struct drm_vinci_list)

#ifdef __cplusplus
#define VINCI_UAPI_SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#else
#define VINCI_UAPI_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#endif
VINCI_UAPI_SIZE(drm_vinci_get_param, 16);
VINCI_UAPI_SIZE(drm_vinci_device_info, 72);
VINCI_UAPI_SIZE(drm_vinci_bo_create, 40);
VINCI_UAPI_SIZE(drm_vinci_bo_info, 48);
VINCI_UAPI_SIZE(drm_vinci_bo_split, 40);
VINCI_UAPI_SIZE(vinci_notify_page, VINCI_NOTIFY_PAGE_SIZE);
VINCI_UAPI_SIZE(drm_vinci_notify_ids, 16);
VINCI_UAPI_SIZE(drm_vinci_notify_create, 24);
VINCI_UAPI_SIZE(drm_vinci_notify_status, 16);
VINCI_UAPI_SIZE(drm_vinci_share_export, 152);
VINCI_UAPI_SIZE(drm_vinci_share_allow, 160);
VINCI_UAPI_SIZE(drm_vinci_share_import, 184);
VINCI_UAPI_SIZE(drm_vinci_share_close, 136);
VINCI_UAPI_SIZE(drm_vinci_share_attr, 152);
VINCI_UAPI_SIZE(drm_vinci_peer, 16);
VINCI_UAPI_SIZE(drm_vinci_list, 24);
VINCI_UAPI_SIZE(vinci_list_process, 24);
VINCI_UAPI_SIZE(vinci_list_share, 48);
VINCI_UAPI_SIZE(vinci_list_member, 16);
VINCI_UAPI_SIZE(vinci_list_notify, 16);
#undef VINCI_UAPI_SIZE

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_VINCI_DRM_H_ */
