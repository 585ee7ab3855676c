/* SPDX-License-Identifier: MIT */
/* consumer.c - a program of somebody else: asks what it runs on, writes a value to device memory and reads it back. */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"

static int failed(const char *what, aclError code)
{
	const char *text = aclGetRecentErrMsg();

	fprintf(stderr, "%s: %d\n%s\n", what, code, text ? text : "");
	return 1;
}

int main(void)
{
	uint32_t in = 123, out = 0;
	char version[ACL_PKG_VERSION_MAX_SIZE];
	void *mem = NULL;
	aclError r;

	r = aclInit(NULL);
	if (r)
		return failed("aclInit", r);
	r = aclsysGetVersionStr((char *)"runtime", version);
	if (r)
		return failed("aclsysGetVersionStr", r);
	r = aclrtSetDevice(0);
	if (r)
		return failed("aclrtSetDevice", r);
	r = aclrtMalloc(&mem, sizeof(in), ACL_MEM_MALLOC_HUGE_FIRST);
	if (r)
		return failed("aclrtMalloc", r);
	r = aclrtMemcpy(mem, sizeof(in), &in, sizeof(in), ACL_MEMCPY_HOST_TO_DEVICE);
	if (!r)
		r = aclrtMemcpy(&out, sizeof(out), mem, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST);
	if (r)
		return failed("aclrtMemcpy", r);
	r = aclrtFree(mem);
	if (!r)
		r = aclrtResetDevice(0);
	if (!r)
		r = aclFinalize();
	if (r)
		return failed("clean-up", r);
	printf("%u\n", out);
	return out != in;
}
