/* SPDX-License-Identifier: MIT */
/*
 * Errors: a code and a sentence for what is refused at once; for a kernel that fails, a code when its stream is waited for, and a
 * callback with the details. The process and the other streams go on.
 */
#include "example.h"
#include "trap.h"
#include "value.h"

#include <stdio.h>

static void on_exception(aclrtExceptionInfo *info)
{
	example_say("exception: device %u, code %u", aclrtGetDeviceIdFromExceptionInfo(info),
		    aclrtGetErrorCodeFromExceptionInfo(info));
	example_say("exception: a stream, a task, a thread: %s",
		    aclrtGetStreamIdFromExceptionInfo(info) != UINT32_MAX &&
				    aclrtGetTaskIdFromExceptionInfo(info) != UINT32_MAX &&
				    aclrtGetThreadIdFromExceptionInfo(info) ?
			    "all known" :
			    "something is missing");
}

/* The argument is looked at first: no task, no stream, nothing happens. */
static void refused_at_once(void)
{
	void *p = NULL;
	aclError last;

	REFUSED(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST));
	REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&p));
	last = aclrtGetLastError(ACL_RT_THREAD_LEVEL);
	example_say("the thread's last error is %d, and taking it clears it: %d", last,
		    aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
	example_say("a sentence is handed out once: %s", aclGetRecentErrMsg() ? "again" : "nothing is left");
}

static void kernel_fails(int32_t *value)
{
	aclrtStream failing, other;
	aclError code;

	CHECK(aclrtCreateStream(&failing));
	CHECK(aclrtCreateStream(&other));
	CHECK(value_store(value, EXAMPLE_VALUE, other));
	CHECK(aclrtSynchronizeStream(other));
	CHECK(trap_if(value, EXAMPLE_VALUE, failing));
	code = aclrtSynchronizeStream(failing);
	example_say("the launch worked, waiting for it tells %d:", code);
	example_explain();
	CHECK(value_store(value, 1, other));
	example_say("the other stream goes on: %d", value_fetch(value, other));
	CHECK(aclrtDestroyStream(failing));
	CHECK(aclrtDestroyStream(other));
}

int main(void)
{
	void *value;

	example_begin("errors");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtMalloc(&value, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtExceptionInfoCallbackRegister(on_exception));
	refused_at_once();
	kernel_fails(value);
	CHECK(aclrtExceptionInfoCallbackUnregister(on_exception));
	CHECK(aclrtFree(value));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
