/* SPDX-License-Identifier: MIT */
#include "scenario.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define SYNC_MS 20000 /* longer is a hang */
#define UNSET ((void *)(uintptr_t)0x5a5a5a5a5a5a5a5a)

/* What is held: given back in reverse order, what could not be is tried again by scenario_clean(). */
static struct held {
	bool initialised, device;
	aclrtContext ctx;
	aclrtStream a, b;
	void *big, *pages, *small, *host;
	bool registered;
	aclrtNotify notify, copy, foreign;
	char key[65], part_key[65];
	bool has_key, has_part_key, has_import, has_foreign_memory;
	void *range;
	aclrtDrvMemHandle phys, phys_import;
	bool mapped;
	const struct partner *partner;
} held;

static int failures;
static bool cleaning;

void scenario_die(const char *fmt, ...)
{
	const char *text = aclGetRecentErrMsg();
	const char *hit = fault_hit();
	va_list ap;

	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, " (failed: %s; sentence: %s)\n", hit ? hit : "nothing", text ? text : "none");
	_exit(1);
}

/* ---- one call -------------------------------------------------------------------------------- */

/* What may come of a lack of memory, threads or descriptors, and of a device that does not answer. */
static bool is_sane(int code)
{
	static const int codes[] = {
		ACL_ERROR_BAD_ALLOC,
		ACL_ERROR_INTERNAL_ERROR, /* aclInit without a device */
		ACL_ERROR_RT_MEMORY_ALLOCATION,
		ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
		ACL_ERROR_RT_NO_STREAM_RESOURCE,
		ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
		ACL_ERROR_RT_NO_DEVICE,
		ACL_ERROR_RT_DEV_SETUP_ERROR,
		ACL_ERROR_RT_LOST_HEARTBEAT,
		ACL_ERROR_RT_REPORT_TIMEOUT,
		ACL_ERROR_RT_DRV_INTERNAL_ERROR,
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* After the device was lost, nothing that belonged to it is known any more. */
static bool is_gone(int code)
{
	return code == ACL_ERROR_RT_INVALID_HANDLE || code == ACL_ERROR_RT_PARAM_INVALID ||
	       code == ACL_ERROR_RT_CONTEXT_NULL || code == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR ||
	       code == ACL_ERROR_INVALID_PARAM || code == ACL_ERROR_REPEAT_FINALIZE || code == ACL_ERROR_UNINITIALIZE;
}

/* True when it succeeded. */
static bool done(const char *call, int code)
{
	if (!code)
		return true;
	if (cleaning)
		return false;
	failures++;
	if (!fault_hit())
		scenario_die("%s: %d by itself", call, code);
	if (!is_sane(code))
		scenario_die("%s: %d", call, code);
	if (!aclGetRecentErrMsg() && !fault_heap_is_gone())
		scenario_die("%s: %d without a sentence", call, code);
	return false;
}

#define DO(call) done(#call, call)

/* A call that fails leaves its output alone. */
static bool done_out(const char *call, int code, void **out)
{
	if (!done(call, code)) {
		if (*out != UNSET)
			scenario_die("%s: %d, but its output was written", call, code);
		*out = NULL;
		return false;
	}
	if (*out == UNSET || !*out)
		scenario_die("%s: success without an output", call);
	return true;
}

#define GET(out, call) (*(void **)&(out) = UNSET, done_out(#call, call, (void **)&(out)))

static void must(bool right, const char *what)
{
	if (!right)
		scenario_die("wrong result: %s", what);
}

/* What failed before explains why the rest of a chapter is left out. */
static bool synchronized(aclrtStream st)
{
	int code = aclrtSynchronizeStreamWithTimeout(st, SYNC_MS);

	if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
		scenario_die("a stream hangs");
	return done("aclrtSynchronizeStreamWithTimeout", code);
}

/* ---- chapters -------------------------------------------------------------------------------- */

static bool start(void)
{
	uint32_t count = 0;
	int32_t pid = 0;

	held.initialised = DO(aclInit(NULL));
	if (!held.initialised)
		return false;
	if (DO(aclrtGetDeviceCount(&count)))
		must(count > SCENARIO_DEVICE, "device count");
	if (DO(aclrtDeviceGetBareTgid(&pid)))
		must(pid == getpid() || (pid == -1 && fault_hit()), "bare tgid");
	if (!DO(aclrtSetDevice(SCENARIO_DEVICE)))
		return false;
	held.device = true;
	return GET(held.ctx, aclrtCreateContext(&held.ctx, SCENARIO_DEVICE)) &&
	       GET(held.a, aclrtCreateStream(&held.a)) && GET(held.b, aclrtCreateStream(&held.b));
}

static bool allocate(void)
{
	return GET(held.big, aclrtMalloc(&held.big, 2 * MIB, ACL_MEM_MALLOC_HUGE_FIRST)) &&
	       GET(held.pages, aclrtMalloc(&held.pages, 16 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY)) &&
	       GET(held.small, aclrtMalloc(&held.small, 64, ACL_MEM_MALLOC_NORMAL_ONLY)) &&
	       GET(held.host, aclrtMallocHost(&held.host, 16 * KIB));
}

static void host_function(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void work(void)
{
	static atomic_int runs;
	int before = atomic_load(&runs);
	uint32_t *words = held.host, back = 0;
	bool queued;

	words[0] = SCENARIO_VALUE;
	queued = DO(aclrtMemcpyAsync(held.big, 4 * KIB, held.host, 4 * KIB, ACL_MEMCPY_HOST_TO_DEVICE, held.a)) &&
		 DO(aclrtMemcpyAsync(held.pages, 4, held.big, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, held.a)) &&
		 DO(aclrtMemsetAsync(held.small, 64, 7, 64, held.a)) &&
		 DO(aclrtLaunchHostFunc(held.a, host_function, &runs));
	if (synchronized(held.a) && queued) {
		must(atomic_load(&runs) == before + 1, "a host function has run");
		if (DO(aclrtMemcpy(&back, sizeof(back), held.pages, 4, ACL_MEMCPY_DEVICE_TO_HOST)))
			must(back == SCENARIO_VALUE, "what was copied");
	}
	(void)DO(aclrtMemset(held.pages, 16 * KIB, 0, 16 * KIB));
	/* A wait that has nothing to do with memory: another stream's. */
	(void)DO(aclrtMemcpyAsync(held.host, 64, held.small, 64, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
	(void)synchronized(NULL);
}

/* One record and its wait on another stream. */
static void signal_through(aclrtNotify from, aclrtNotify to)
{
	if (!DO(aclrtRecordNotify(from, held.a)) || !synchronized(held.a))
		return;
	if (DO(aclrtWaitAndResetNotify(to, held.b, SYNC_MS / 1000)))
		(void)synchronized(held.b);
}

/* A wait that comes first: it is met by a worker. */
static void signal_late(aclrtNotify n)
{
	if (!DO(aclrtWaitAndResetNotify(n, held.b, SYNC_MS / 1000)))
		return;
	if (!DO(aclrtRecordNotify(n, held.a)) || !synchronized(held.a)) {
		(void)DO(aclrtStreamAbort(held.b));
		return;
	}
	(void)synchronized(held.b);
}

static void notifies(void)
{
	char key[65] = "unset";
	int32_t pid = held.partner->pid;

	if (!GET(held.notify, aclrtCreateNotify(&held.notify, ACL_NOTIFY_DEFAULT)))
		return;
	signal_through(held.notify, held.notify);
	signal_late(held.notify);
	if (DO(aclrtNotifyGetExportKey(held.notify, key, sizeof(key), 0))) {
		(void)DO(aclrtNotifySetImportPid(held.notify, &pid, 1));
		signal_through(held.notify, held.notify);
		signal_late(held.notify);
	} else {
		must(!strcmp(key, "unset"), "the key of a failing export");
	}
	if (GET(held.foreign, aclrtNotifyImportByKey(&held.foreign, held.partner->notify_key, 0)))
		signal_through(held.foreign, held.foreign);
	if (GET(held.copy, aclrtNotifyImportByKey(&held.copy, held.partner->notify_key, 0)) && held.foreign)
		signal_through(held.copy, held.foreign);
}

static bool export_key(void *at, size_t size, char key[65], uint64_t flags)
{
	memset(key, 'u', 64);
	key[64] = '\0';
	if (DO(aclrtIpcMemGetExportKey(at, size, key, 65, flags))) {
		must(strlen(key) == 64 && strspn(key, "u") != 64, "a key");
		return true;
	}
	must(strspn(key, "u") == 64, "the key of a failing export");
	return false;
}

/* Whatever becomes of an export, the memory is its owner's, with what he wrote. */
static void pages_are_ours(void)
{
	for (size_t at = 0; at < 16 * KIB; at += 4 * KIB) {
		atomic_uint *word = (atomic_uint *)(void *)((char *)held.pages + at);

		must(*word == SCENARIO_VALUE, "memory after an export");
		*word = SCENARIO_VALUE;
	}
}

static void keys(void)
{
	void *va = NULL;
	int32_t pid = held.partner->pid;

	held.has_key = export_key(held.big, 2 * MIB, held.key, 0);
	if (held.has_key)
		(void)DO(aclrtIpcMemSetImportPid(held.key, &pid, 1));
	/* Two pages of four: they become an object of their own. */
	for (size_t at = 0; at < 16 * KIB; at += 4 * KIB)
		*(uint32_t *)(void *)((char *)held.pages + at) = SCENARIO_VALUE;
	held.has_part_key = export_key((char *)held.pages + 4 * KIB, 8 * KIB, held.part_key, 1);
	pages_are_ours();
	if (held.has_part_key) {
		held.has_import = GET(va, aclrtIpcMemImportByKey(&va, held.part_key, 0));
		if (held.has_import)
			must(*(atomic_uint *)va == SCENARIO_VALUE, "imported memory");
	}
	held.has_foreign_memory = GET(va, aclrtIpcMemImportByKey(&va, held.partner->memory_key, 0));
	if (held.has_foreign_memory)
		must(*(atomic_uint *)va == SCENARIO_VALUE, "the partner's memory");
}

static void handles(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { SCENARIO_DEVICE, ACL_MEM_LOCATION_TYPE_DEVICE } };
	aclrtMemAccessDesc access = { .flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
				      .location = { SCENARIO_DEVICE, ACL_MEM_LOCATION_TYPE_DEVICE } };
	int32_t pid = held.partner->pid;
	uint64_t number = 42;

	if (!GET(held.phys, aclrtMallocPhysical(&held.phys, 2 * MIB, &prop, 0)) ||
	    !GET(held.range, aclrtReserveMemAddress(&held.range, 4 * MIB, 0, NULL, 0)))
		return;
	if (DO(aclrtMemExportToShareableHandle(held.phys, ACL_MEM_HANDLE_TYPE_NONE, 0, &number)))
		(void)DO(aclrtMemSetPidToShareableHandle(number, &pid, 1));
	else
		must(number == 42, "the number of a failing export");
	if (GET(held.phys_import,
		aclrtMemImportFromShareableHandle(held.partner->shareable, SCENARIO_DEVICE, &held.phys_import)) &&
	    DO(aclrtMapMem(held.range, 2 * MIB, 0, held.phys_import, 0))) {
		held.mapped = true;
		if (DO(aclrtMemSetAccess(held.range, 2 * MIB, &access, 1)))
			must(*(atomic_uint *)held.range == SCENARIO_VALUE, "the partner's physical memory");
	}
}

static void peers(void)
{
	if (DO(aclrtDeviceEnablePeerAccess(SCENARIO_DEVICE + 1, 0)))
		(void)DO(aclrtDeviceDisablePeerAccess(SCENARIO_DEVICE + 1));
}

/* ---- the way back ---------------------------------------------------------------------------- */

/* Gone is what was given back, and what had gone before; the rest is tried again. */
static bool gone(const char *call, int code)
{
	if (!cleaning)
		return done(call, code);
	if (code && !is_gone(code) && !is_sane(code))
		scenario_die("%s while cleaning up: %d", call, code);
	return true;
}

#define DROP(what, call)                                                                                               \
	do {                                                                                                           \
		if ((what) && gone(#call, call))                                                                       \
			(what) = 0;                                                                                    \
	} while (0)

static void give_back_shares(void)
{
	DROP(held.has_foreign_memory, aclrtIpcMemClose(held.partner->memory_key));
	DROP(held.has_import, aclrtIpcMemClose(held.part_key));
	DROP(held.has_part_key, aclrtIpcMemClose(held.part_key));
	DROP(held.has_key, aclrtIpcMemClose(held.key));
	DROP(held.mapped, aclrtUnmapMem(held.range));
	DROP(held.phys_import, aclrtFreePhysical(held.phys_import));
	DROP(held.range, aclrtReleaseMemAddress(held.range));
	DROP(held.phys, aclrtFreePhysical(held.phys));
	DROP(held.copy, aclrtDestroyNotify(held.copy));
	DROP(held.foreign, aclrtDestroyNotify(held.foreign));
	DROP(held.notify, aclrtDestroyNotify(held.notify));
}

static void give_back(void)
{
	give_back_shares();
	DROP(held.small, aclrtFree(held.small));
	DROP(held.pages, aclrtFree(held.pages));
	DROP(held.big, aclrtFree(held.big));
	DROP(held.host, aclrtFreeHost(held.host));
	DROP(held.b, aclrtDestroyStreamForce(held.b));
	DROP(held.a, aclrtDestroyStream(held.a));
	DROP(held.ctx, aclrtDestroyContext(held.ctx));
	DROP(held.device, aclrtResetDevice(SCENARIO_DEVICE));
	DROP(held.initialised, aclFinalize());
}

int scenario_run(const struct partner *partner)
{
	failures = 0;
	held.partner = partner;
	if (start() && allocate()) {
		work();
		notifies();
		keys();
		handles();
		peers();
	}
	give_back();
	return failures;
}

void scenario_clean(void)
{
	cleaning = true;
	give_back();
	(void)aclrtResetDeviceForce(SCENARIO_DEVICE);
	cleaning = false;
	memset(&held, 0, sizeof(held));
	(void)aclGetRecentErrMsg();
}
