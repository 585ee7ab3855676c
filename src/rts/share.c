/* SPDX-License-Identifier: MIT */
#include "rts/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rts/lock_order.h"
#include "rts/process.h"

struct u_mutex rts_share_lock = U_MUTEX_INIT(RANK_IPC, "shares");

/* --- names -------------------------------------------------------------------------------- */

static bool is_printable(const struct drv_name *name)
{
	return name->kind == VINCI_SHARE_IPC_MEM || name->kind == VINCI_SHARE_NOTIFY;
}

/*
 * Binary names in hexadecimal, and of short ones less, so that what is left is as hard to guess. What came from the user may hold
 * anything.
 */
struct rts_hint rts_name_hint(const struct drv_name *name)
{
	static const char digits[] = "0123456789abcdef";
	struct rts_hint hint = { .text = "" };
	uint32_t i;

	for (i = 0; i < RTS_HINT_LEN && i < (is_printable(name) ? name->len : name->len / 2); i++) {
		uint8_t c = name->bytes[is_printable(name) ? i : i / 2];

		if (is_printable(name))
			hint.text[i] = c > 0x20 && c < 0x7f ? (char)c : '?';
		else
			hint.text[i] = digits[i % 2 ? c & 15 : c >> 4];
	}
	return hint;
}

bool rts_name_equal(const struct drv_name *a, const struct drv_name *b)
{
	return a->kind == b->kind && a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

uint32_t rts_name_hash(const struct drv_name *name)
{
	uint32_t h = 2166136261u; /* FNV-1a: names are random, users' inputs need not be */
	uint32_t i;

	for (i = 0; i < name->len; i++)
		h = (h ^ name->bytes[i]) * 16777619u;
	return h;
}

/* --- devices in use ----------------------------------------------------------------------- */

int rts_share_device_check(uint32_t device)
{
	const struct rts_context *ctx = rts_context_peek();

	if ((ctx && ctx->device == device) || rts_device_primary_active(device))
		return 0;
	if (rts_device_to_user(device) < 0)
		return RTS_REFUSE("device %u is not visible to this process (ASCEND_RT_VISIBLE_DEVICES)", device);
	return RTS_REFUSE("device %d is not set in this process: aclrtSetDevice first", rts_device_to_user(device));
}

/* --- sentences ---------------------------------------------------------------------------- */

static const char *set_pid_function(uint32_t kind)
{
	if (kind == VINCI_SHARE_NOTIFY)
		return "aclrtNotifySetImportPid";
	return kind == VINCI_SHARE_IPC_MEM ? "aclrtIpcMemSetImportPid" : "aclrtMemSetPidToShareableHandle";
}

static int own_pid(void)
{
	int32_t pid;

	return rts_process_bare_tgid(&pid) ? -1 : pid;
}

int rts_allow_failed(const struct drv_name *name, const char *what, int err)
{
	int code = rts_errno_code(name->kind, RTS_OP_ALLOW, err);
	struct rts_hint hint = rts_name_hint(name);

	switch (-abs(err)) {
	case -ESTALE:
		return u_report(code, "%s %s... is not known: it was never exported, or it was closed", what, hint.text);
	case -EIDRM:
		return u_report(code, "%s %s... was closed by its exporter and is only held by those who imported it before",
				what, hint.text);
	case -EACCES:
		return u_report(code, "%s %s... was exported by another process: only the exporter can put processes on its whitelist",
				what, hint.text);
	case -EPERM:
		return u_report(code, "%s %s... was exported without pid validation (flag %d), so it has no whitelist", what,
				hint.text, name->kind == VINCI_SHARE_NOTIFY ? 2 : 1);
	case -ENOSPC:
		return u_report(code, "the whitelist of %s %s... is full (at most %d processes)", what, hint.text,
				name->kind == VINCI_SHARE_NOTIFY ? 15 : name->kind == VINCI_SHARE_IPC_MEM ? 32768 : 65535);
	case -EINVAL:
		return u_report(code, "no process was put on the whitelist of %s %s...: pid 0 %s not count", what, hint.text,
				name->kind == VINCI_SHARE_IPC_MEM ? "and the exporter's own do" : "does");
	default:
		return u_report(code, "%s %s...: setting the whitelist failed (%s)", what, hint.text, rts_errno_text(err));
	}
}

int rts_import_failed(const struct drv_name *name, const char *what, uint32_t device, int err)
{
	int code = rts_errno_code(name->kind, RTS_OP_IMPORT, err);
	struct rts_hint hint = rts_name_hint(name);

	switch (-abs(err)) {
	case -ESTALE:
		return u_report(code, "%s %s... is not known: it was never exported, or its exporter closed it or has gone",
				what, hint.text);
	case -EACCES:
		return u_report(code, "pid %d is not on the whitelist of %s %s...; the exporter must call %s with the number that aclrtDeviceGetBareTgid gives in this process",
				own_pid(), what, hint.text, set_pid_function(name->kind));
	case -EKEYEXPIRED:
		return u_report(code, "pid %d on the whitelist of %s %s... means an earlier process: this one started after it was put there; the exporter must call %s while this process runs",
				own_pid(), what, hint.text, set_pid_function(name->kind));
	case -EBUSY:
		return u_report(code, "%s %s... is imported in this process for another device than %d already; a process can use it on one device",
				what, hint.text, rts_device_to_user(device));
	case -EEXIST:
		return u_report(code, "%s %s... was exported by this process from device %d: it can be imported in another process, or for another device",
				what, hint.text, rts_device_to_user(device));
	case -EDQUOT:
		return u_report(code, "too many %ss that nobody knows were tried by this process lately: wait a second", what);
	default:
		return u_report(code, "%s %s...: importing failed (%s)", what, hint.text, rts_errno_text(err));
	}
}
