// SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT
#include "common/share_policy.h"

#define ONCE_VMM 1
#define ONCE_NOTIFY 2
#define ONCE_EVENT 3

static const struct vinci_share_policy policies[] = {
	[VINCI_SHARE_IPC_MEM] = {
		.name_len = 64,
		.printable = true,
		.object = VINCI_OBJECT_BO,
		.pids_per_call = 31,
		.slots = 32768,
		.creator = VINCI_CREATOR_UNVALIDATED,
		.again = VINCI_AGAIN_ONE_DEVICE,
		.skips_creator = true,
	},
	[VINCI_SHARE_NOTIFY] = {
		.name_len = 40,
		.printable = true,
		.object = VINCI_OBJECT_NOTIFY,
		.pids_per_call = 1,
		.slots = 15,
		.once = ONCE_NOTIFY,
		.creator = VINCI_CREATOR_ALWAYS,
		.again = VINCI_AGAIN_SAME,
		.skips_creator = true,
		.may_skip_all = true,
	},
	[VINCI_SHARE_VMM] = {
		.name_len = 8,
		.object = VINCI_OBJECT_BO,
		.pids_per_call = 65535,
		.slots = 65535,
		.once = ONCE_VMM,
		.creator = VINCI_CREATOR_OTHER_DEVICE,
		.again = VINCI_AGAIN_PER_DEVICE,
	},
	[VINCI_SHARE_FABRIC] = {
		.name_len = 128,
		.object = VINCI_OBJECT_BO,
		.pids_per_call = 65535,
		.slots = 65535,
		.once = ONCE_VMM,
		.creator = VINCI_CREATOR_OTHER_DEVICE,
		.again = VINCI_AGAIN_PER_DEVICE,
	},
	[VINCI_SHARE_EVENT] = {
		.name_len = 64,
		.object = VINCI_OBJECT_BO,
		.once = ONCE_EVENT,
		.creator = VINCI_CREATOR_NEVER,
		.again = VINCI_AGAIN_SAME,
	},
};

const struct vinci_share_policy *vinci_share_policy(__u32 kind)
{
	if (kind > VINCI_SHARE_EVENT || !policies[kind].name_len)
		return NULL;
	return &policies[kind];
}

int vinci_share_admit(const struct vinci_share_policy *policy, bool unvalidated, bool is_creator, bool own_device,
		      bool listed, bool current_entry)
{
	if (is_creator) {
		if (policy->creator == VINCI_CREATOR_ALWAYS)
			return 0;
		if (policy->creator == VINCI_CREATOR_OTHER_DEVICE && own_device)
			return -EEXIST;
		if (policy->creator == VINCI_CREATOR_NEVER)
			return -EACCES;
	}
	if (unvalidated)
		return 0;
	if (!listed)
		return -EACCES;
	return current_entry ? 0 : -EKEYEXPIRED;
}
