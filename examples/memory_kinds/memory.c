/* SPDX-License-Identifier: MIT */
/* Ways to copy and kinds of host memory: rows with a pitch, several copies in one call, host memory that kernels reach. */
#include "example.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define WIDTH 12 /* bytes of a row */
#define HEIGHT 3
#define PITCH 64 /* from row to row on the device */

static void *device_new(size_t size)
{
	void *p;

	CHECK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_NORMAL_ONLY));
	CHECK(aclrtMemset(p, size, '.', size));
	return p;
}

/* To rows that lie apart on the device and back; what is between the rows stays as it was. */
static void rows(void)
{
	static const char picture[HEIGHT][WIDTH + 1] = { "Atlas, Titan", "bears up the", "whole heaven" };
	char back[HEIGHT][WIDTH + 1] = { { 0 } }, between = 0;
	char *device = device_new((size_t)PITCH * HEIGHT);

	CHECK(aclrtMemcpy2d(device, PITCH, picture, WIDTH + 1, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE));
	CHECK(aclrtMemcpy2d(back, WIDTH + 1, device, PITCH, WIDTH, HEIGHT, ACL_MEMCPY_DEVICE_TO_HOST));
	CHECK(aclrtMemcpy(&between, 1, device + WIDTH, 1, ACL_MEMCPY_DEVICE_TO_HOST));
	example_say("rows: \"%s %s %s\", '%c' between them", back[0], back[1], back[2], between);
	example_say("a row does not fit into its pitch:");
	REFUSED(ACL_ERROR_INVALID_PARAM,
		aclrtMemcpy2d(device, WIDTH - 1, picture, WIDTH, WIDTH, HEIGHT, ACL_MEMCPY_HOST_TO_DEVICE));
	CHECK(aclrtFree(device));
}

/* One attribute for all copies: where both ends are. Batches want pinned host memory. */
static void batch(void)
{
	aclrtMemcpyBatchAttr to_device = { .dstLoc = { 0, ACL_MEM_LOCATION_TYPE_DEVICE },
					   .srcLoc = { 0, ACL_MEM_LOCATION_TYPE_HOST } };
	char *device = device_new(16), back[17] = "", *host;
	void *to[3], *from[3];
	size_t sizes[3] = { 5, 3, 4 }, first = 0, failed;

	CHECK(aclrtMallocHost((void **)&host, PAGE));
	strcpy(host, "threecopiesonce");
	for (size_t i = 0, at = 0; i < 3; at += sizes[i++]) {
		from[i] = host + at;
		to[i] = device + at + i;
	}
	CHECK(aclrtMemcpyBatch(to, sizes, from, sizes, 3, &to_device, &first, 1, &failed));
	CHECK(aclrtMemcpy(back, 16, device, 16, ACL_MEMCPY_DEVICE_TO_HOST));
	example_say("batch: \"%s\"", back);
	CHECK(aclrtFreeHost(host));
	CHECK(aclrtFree(device));
}

/* The program's own memory gets an address for kernels. */
static void registered(void)
{
	int32_t *host = aligned_alloc(PAGE, PAGE);
	aclrtStream stream;
	void *device;

	if (!host)
		example_fail("no memory");
	memset(host, 0, PAGE);
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtHostRegister(host, PAGE, ACL_HOST_REGISTER_MAPPED, &device));
	CHECK(value_store(device, EXAMPLE_VALUE, stream));
	CHECK(aclrtSynchronizeStream(stream));
	example_say("host memory: a kernel wrote %d", *host);
	CHECK(aclrtHostUnregister(host));
	CHECK(aclrtDestroyStream(stream));
	free(host);
}

int main(void)
{
	example_begin("memory");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	rows();
	batch();
	registered();
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
