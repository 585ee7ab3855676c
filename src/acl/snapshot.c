/* SPDX-License-Identifier: MIT */
/* snapshot.c - chapter 21: snapshots of the process. */
#include "rts/snapshot.h"
#include "acl/api.h"

#include <unistd.h>

static aclError step(const char *function, int pid, const void *reserved, int (*act)(void))
{
	int code = rts_process_start(); /* which tells the product */

	if (code)
		return api_result(code);
	if (!api_product_has(function))
		return api_product_refuse(function);
	REQUIRE(pid == getpid(), "%s: pid is %d; it must be the process's own, %d", function, pid, getpid());
	REQUIRE(!reserved, "%s: the second argument is %p; it is reserved and must be NULL", function, reserved);
	return api_result(act());
}

aclError aclrtSnapShotProcessLock(int pid, void *reserve)
{
	return step(__func__, pid, reserve, rts_snapshot_lock);
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args)
{
	return step(__func__, pid, args, rts_snapshot_backup);
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args)
{
	return step(__func__, pid, args, rts_snapshot_restore);
}

aclError aclrtSnapShotProcessUnlock(int pid, void *reserve)
{
	return step(__func__, pid, reserve, rts_snapshot_unlock);
}

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void *args)
{
	REQUIRE_PRODUCT();
	return api_result(rts_snapshot_watch(stage, callback, args));
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback)
{
	REQUIRE_PRODUCT();
	return api_result(rts_snapshot_unwatch(stage, callback));
}
