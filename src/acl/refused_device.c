/* SPDX-License-Identifier: MIT */
/*
 * refused_device.c - chapters 2 to 5, 16 and 24: setting up, run-time configuration, devices, contexts, the rest.
 * REASON is what the message and docs/status.md give for the functions below it.
 */
#include "acl/refused.h"

#define REASON "CANN has it on Atlas inference products with open control CPUs, not on those that are a host's endpoints"
REFUSE(aclrtSetGroup, int32_t groupId)
REFUSE(aclrtGetGroupCount, uint32_t *count)
REFUSE_AS(aclrtGroupInfo *, NULL, aclrtCreateGroupInfo, void)
REFUSE(aclrtDestroyGroupInfo, aclrtGroupInfo *groupInfo)
REFUSE(aclrtGetAllGroupInfo, aclrtGroupInfo *groupInfo)
REFUSE(aclrtGetGroupInfoDetail, const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
	void *attrValue, size_t valueLen, size_t *paramRetSize)
