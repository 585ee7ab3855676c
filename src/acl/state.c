/* SPDX-License-Identifier: MIT */
/* state.c - chapters 4, 6 and 13: who wants to be told about devices and streams. */
#include "rts/state.h"
#include "acl/api.h"

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback, void *args)
{
	REQUIRE_NOT_NULL(regName);
	return api_result(rts_state_watch_devices(regName, callback, args));
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args)
{
	REQUIRE_NOT_NULL(regName);
	return api_result(rts_state_watch_streams(regName, callback, args));
}

aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback, void *args)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(regName);
	return api_result(rts_state_watch_aborts(regName, callback, args));
}
