/* SPDX-License-Identifier: MIT */
/*
 * What can be exported: whole pages and nothing else, so that an importer never sees bytes that were not meant for
 * it. The page is that of the allocation, 4 KiB or 2 MiB, and the address has to be a multiple of it; the size is
 * rounded up.
 */
#include "example.h"

#define DEVICE 2
#define KIB 1024UL
#define MIB (1024UL * KIB)

struct trial {
	const char *what;
	size_t allocation; /* bytes asked for */
	aclrtMemMallocPolicy policy;
	size_t offset, size; /* what is exported of it */
	aclError code;
	size_t imported; /* bytes that an importer is told of; it can reach what is left of the last page too */
};

/* "Its" is the allocation of the line above. With HUGE_FIRST, what is larger than 1 MiB gets 2 MiB pages, anything else 4 KiB pages; the other policies insist. */
static const struct trial trials[] = {
	{"all of 8 KiB in 4 KiB pages", 8 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY, 0, 8 * KIB, 0, 8 * KIB},
	{"its second page", 8 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY, 4 * KIB, 4 * KIB, 0, 4 * KIB},
	{"100 bytes of its second page", 8 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY, 4 * KIB, 100, 0, 100},
	{"from its byte 64 on", 8 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY, 64, 4 * KIB, ACL_ERROR_RT_DRV_INTERNAL_ERROR, 0},
	{"beyond its end", 8 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY, 4 * KIB, 64 * KIB, ACL_ERROR_RT_DRV_INTERNAL_ERROR, 0},
	{"all of 1000 bytes, which share a page with others", 1000, ACL_MEM_MALLOC_NORMAL_ONLY, 0, 1000,
	 ACL_ERROR_RT_DRV_INTERNAL_ERROR, 0},
	{"all of 4 MiB in 2 MiB pages", 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY, 0, 4 * MIB, 0, 4 * MIB},
	{"its second page", 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY, 2 * MIB, 2 * MIB, 0, 2 * MIB},
	{"its second 4 KiB", 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY, 4 * KIB, 4 * KIB, ACL_ERROR_RT_DRV_INTERNAL_ERROR, 0},
	{"the second 4 KiB of 2 MiB, HUGE_FIRST", 2 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, 4 * KIB, 4 * KIB,
	 ACL_ERROR_RT_DRV_INTERNAL_ERROR, 0},
	{"the second 4 KiB of 1 MiB, HUGE_FIRST", 1 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, 4 * KIB, 4 * KIB, 0, 4 * KIB},
};

/*
 * Imports what was exported and compares how much of it there is. In the exporting process that works when there
 * is no whitelist; another process would see the same.
 */
static void import(const struct trial *trial, const char *key)
{
	void *imported, *base;
	size_t size;

	CHECK(aclrtIpcMemImportByKey(&imported, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
	CHECK(aclrtMemGetAddressRange(imported, &base, &size));
	if (base != imported || size != trial->imported)
		example_fail("%s: the importer got %zu bytes instead of %zu", trial->what, size, trial->imported);
	CHECK(aclrtIpcMemClose(key)); /* of the import */
	CHECK(aclrtIpcMemClose(key)); /* of the export */
	example_say("%s: exported, the importer is told %zu bytes", trial->what, size);
}

static void attempt(const struct trial *trial)
{
	char key[EXAMPLE_KEY];
	aclError code;
	void *memory;

	/* Not aclrtMalloc, which adds 32 bytes: 8 KiB would fill two pages and begin a third. */
	CHECK(aclrtMallocAlign32(&memory, trial->allocation, trial->policy));
	code = aclrtIpcMemGetExportKey((char *)memory + trial->offset, trial->size, key, sizeof(key),
				       ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
	if (code != trial->code)
		example_fail("%s: %d instead of %d", trial->what, code, trial->code);
	if (code == ACL_SUCCESS) {
		import(trial, key);
	} else {
		example_say("%s: %d", trial->what, code);
		example_explain();
	}
	CHECK(aclrtFree(memory));
}

/* Physical memory comes in granules from the start, so all of it is exportable. */
static void physical_memory(void)
{
	aclrtPhysicalMemProp prop = {
		.handleType = ACL_MEM_HANDLE_TYPE_NONE,
		.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
		.memAttr = ACL_HBM_MEM_NORMAL,
		.location = {.id = DEVICE, .type = ACL_MEM_LOCATION_TYPE_DEVICE},
	};
	aclrtDrvMemHandle physical;
	size_t granularity;

	CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
	example_say("physical memory comes in multiples of %zu KiB", granularity / KIB);
	CHECK(aclrtMallocPhysical(&physical, 2 * granularity, &prop, 0));
	CHECK(aclrtFreePhysical(physical));
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtMallocPhysical(&physical, granularity + 4 * KIB, &prop, 0));
}

static void host_memory(void)
{
	char key[EXAMPLE_KEY];
	void *memory;

	CHECK(aclrtMallocHost(&memory, 4 * MIB));
	example_say("host memory:");
	REFUSED(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		aclrtIpcMemGetExportKey(memory, 4 * MIB, key, sizeof(key), ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
	CHECK(aclrtFreeHost(memory));
}

int main(void)
{
	size_t i;

	example_begin("alignment");
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(DEVICE));
	for (i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		attempt(&trials[i]);
	physical_memory();
	host_memory();
	CHECK(aclrtResetDevice(DEVICE));
	CHECK(aclFinalize());
	return 0;
}
