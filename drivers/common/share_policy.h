/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* share_policy.h - how the kinds of shares differ; one table for every device. */
#ifndef VINCI_COMMON_SHARE_POLICY_H
#define VINCI_COMMON_SHARE_POLICY_H

#include "common/compat.h"

/* May the process that made the share import it? */
enum vinci_creator_rule {
	VINCI_CREATOR_NEVER,
	VINCI_CREATOR_UNVALIDATED, /* only without a whitelist: it can never be on it */
	VINCI_CREATOR_ALWAYS,
	VINCI_CREATOR_OTHER_DEVICE, /* for another NPU than the object's, and by the whitelist's rules */
};

/* A file imports what it already holds by this share: */
enum vinci_again_rule {
	VINCI_AGAIN_SAME, /* the same handle, whatever the NPU */
	VINCI_AGAIN_ONE_DEVICE, /* the same handle; another NPU is refused */
	VINCI_AGAIN_PER_DEVICE, /* one handle for each NPU */
};

struct vinci_share_policy {
	__u32 name_len; /* bytes */
	bool printable; /* hexadecimal digits, else raw bytes */
	__u32 object; /* VINCI_OBJECT_* */
	__u32 pids_per_call;
	__u32 slots; /* whitelist entries; 0: always unvalidated */
	__u32 once; /* shares of one non-zero group exclude each other on one object */
	enum vinci_creator_rule creator;
	enum vinci_again_rule again;
	bool skips_creator; /* the creator's pid is dropped from what ALLOW gets */
	bool may_skip_all; /* an ALLOW that adds nobody is a success */
};

/* NULL: no such kind */
const struct vinci_share_policy *vinci_share_policy(__u32 kind);

/* May this importer have the share? @listed: its pid is on the whitelist, @current_entry: and it is still that process.
 */
int vinci_share_admit(const struct vinci_share_policy *policy, bool unvalidated, bool is_creator, bool own_device,
		      bool listed, bool current_entry);

#endif
