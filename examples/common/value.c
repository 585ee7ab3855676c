/* SPDX-License-Identifier: MIT */
#include "value.h"

#include "example.h"

int32_t value_fetch(const int32_t *where, aclrtStream stream)
{
	void *local;
	int32_t value;

	CHECK(aclrtMalloc(&local, sizeof(value), ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(value_copy(local, where, stream));
	CHECK(aclrtSynchronizeStreamWithTimeout(stream, EXAMPLE_TIMEOUT_MS));
	CHECK(aclrtMemcpy(&value, sizeof(value), local, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
	CHECK(aclrtFree(local));
	return value;
}
