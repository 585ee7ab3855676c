/* SPDX-License-Identifier: MIT */
/*
 * errno.c - the one table from a device's answer to an RT code. The general column is how CANN's runtime translates its
 * kernel's errno; the exceptions are what an application sees on a card for one kind of share and one operation.
 */
#include "rts/rts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANY_KIND 0xffffffffu

struct row {
	uint32_t kind;
	enum rts_op op;
	int err;
	int code;
};

/* First match counts. */
static const struct row exceptions[] = {
	/* Whitelists: a call with too many pids is a wrong argument; a full list is an internal error. */
	{ ANY_KIND, RTS_OP_ALLOW, E2BIG, ACL_ERROR_RT_PARAM_INVALID },
	{ ANY_KIND, RTS_OP_ALLOW, ENOSPC, ACL_ERROR_RT_DRV_INTERNAL_ERROR },

	/* A key that is closed but still open somewhere. */
	{ VINCI_SHARE_IPC_MEM, RTS_OP_ALLOW, EIDRM, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_SHARE_CLOSE, EIDRM, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_IPC_MEM, RTS_OP_EXPORT, ENOSPC, ACL_ERROR_RT_INVALID_HANDLE },

	/* A shareable handle that nobody knows. */
	{ VINCI_SHARE_VMM, RTS_OP_ALLOW, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_VMM, RTS_OP_IMPORT, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_VMM, RTS_OP_ATTR, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_FABRIC, RTS_OP_ALLOW, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_FABRIC, RTS_OP_IMPORT, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_FABRIC, RTS_OP_ATTR, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },
	{ VINCI_SHARE_EVENT, RTS_OP_IMPORT, ESTALE, ACL_ERROR_RT_INVALID_HANDLE },

	/* The runtime knows by itself that a notify was exported or imported before. */
	{ VINCI_SHARE_NOTIFY, RTS_OP_EXPORT, EEXIST, ACL_ERROR_RT_INTERNAL_ERROR },
	{ VINCI_SHARE_NOTIFY, RTS_OP_EXPORT, EACCES, ACL_ERROR_RT_INTERNAL_ERROR },
	/* Sharing of notifies collapses the rest of its kernel's answers, but for permission and support when it sets.
	 */
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, EPERM, ACL_ERROR_RT_NO_PERMISSION },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ALLOW, EOPNOTSUPP, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ATTR, EPERM, ACL_ERROR_RT_NO_PERMISSION },
	{ VINCI_SHARE_NOTIFY, RTS_OP_ATTR, EOPNOTSUPP, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
	{ VINCI_SHARE_NOTIFY, RTS_OP_IMPORT, 0, ACL_ERROR_RT_DRV_INTERNAL_ERROR },
	{ VINCI_SHARE_NOTIFY, RTS_OP_SHARE_CLOSE, 0, ACL_ERROR_RT_DRV_INTERNAL_ERROR },

	{ ANY_KIND, RTS_OP_NOTIFY_CREATE, ENOSPC, ACL_ERROR_RT_NO_NOTIFY_RESOURCE },

	/* Limits of the machine that a card does not know: memory that there is none of. */
	{ ANY_KIND, RTS_OP_BO_CREATE, EFBIG, ACL_ERROR_RT_MEMORY_ALLOCATION },
	{ ANY_KIND, RTS_OP_BO_CREATE, EMFILE, ACL_ERROR_RT_MEMORY_ALLOCATION },
	{ ANY_KIND, RTS_OP_BO_CREATE, ENFILE, ACL_ERROR_RT_MEMORY_ALLOCATION },
};

static const struct {
	int err;
	int code;
} general[] = {
	{ EPERM, ACL_ERROR_RT_NO_PERMISSION },
	{ EFAULT, ACL_ERROR_RT_INVALID_HANDLE },
	{ ENOMEM, ACL_ERROR_RT_MEMORY_ALLOCATION },
	{ ENODEV, ACL_ERROR_RT_NO_DEVICE },
	{ ENXIO, ACL_ERROR_RT_NO_DEVICE },
	{ ENOSPC, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL },
	{ EOPNOTSUPP, ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
	{ E2BIG, ACL_ERROR_RT_OVER_LIMIT },
	{ ETIMEDOUT, ACL_ERROR_RT_REPORT_TIMEOUT },
};

/* err 0 in a row: whatever the device said. */
static bool matches(const struct row *row, uint32_t kind, enum rts_op op, int err)
{
	return row->op == op && (row->kind == ANY_KIND || row->kind == kind) && (!row->err || row->err == err);
}

int rts_errno_code(uint32_t kind, enum rts_op op, int err)
{
	err = abs(err);
	if (!err)
		return 0;
	if (err == ENOTCONN)
		return ACL_ERROR_RT_LOST_HEARTBEAT;
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (matches(&exceptions[i], kind, op, err))
			return exceptions[i].code;
	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (general[i].err == err)
			return general[i].code;
	return ACL_ERROR_RT_DRV_INTERNAL_ERROR; /* EINVAL, EACCES, EBUSY, EEXIST, ESTALE, EOWNERDEAD and all others */
}

static const struct {
	int err;
	const char *text;
} advice[] = {
	{ ENOTCONN, "the device has gone (vincid ended, or the connection to it was closed); reset every device that is set, "
		    "then set it again" },
	{ EFBIG, "vincid may not make files of this size; raise \"ulimit -f\" for the process that starts it" },
	{ EMFILE, "no more files may be open here or in vincid; raise \"ulimit -n\"" },
	{ ENOSPC, "vincid has no descriptors, host memory or numbers left; raise \"ulimit -n\" for the process that starts it" },
	{ ENFILE, "no more files may be open on this machine (fs.file-max)" },
};

const char *rts_errno_text(int err)
{
	const char *text;

	err = abs(err);
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (advice[i].err == err)
			return advice[i].text;
	text = strerrordesc_np(err); /* not of any locale, nor any thread's buffer */
	return text ? text : "unknown error";
}
