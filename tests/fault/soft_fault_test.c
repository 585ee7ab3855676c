/* SPDX-License-Identifier: MIT */
/*
 * soft_fault_test.c - call N of libc fails inside the software device, called in process, for N = 1, 2, ...: every
 * request answers with an error of the contract or does its work, a failing one changes nothing, and nothing is left
 * behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault.h"
#include "soft/device.h"
#include "test_util.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define NPU 1u
#define PIDS 40 /* makes whitelists grow */
#define RUN_MS 60000

/* One of two files: the exporter's, and that of a process that imports. */
static struct vinci_device *device;
static struct vinci_file *own, *other;
static struct vinci_process own_process, other_process;
static int failures;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	const char *hit = fault_hit();
	va_list ap;

	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, " (failed: %s)\n", hit ? hit : "nothing");
	_exit(1);
}

static int user_read(struct soft_user *user, void *dst, uint64_t src, size_t size)
{
	(void)user;
	memcpy(dst, (const void *)(uintptr_t)src, size);
	return 0;
}

static int user_write(struct soft_user *user, uint64_t dst, const void *src, size_t size)
{
	(void)user;
	memcpy((void *)(uintptr_t)dst, src, size);
	return 0;
}

/* What a lack of anything may answer; EIO: no random numbers. ENOMEM is the memory of an NPU, except where nothing has
 * that. */
static bool is_sane(const char *what, int r)
{
	return r == -ENOSPC || r == -EFBIG || r == -EIO || (r == -ENOMEM && !strcmp(what, "PEER"));
}

static bool done(const char *what, int r)
{
	if (!r)
		return true;
	failures++;
	if (!fault_hit())
		die("%s: %d by itself", what, r);
	if (!is_sane(what, r))
		die("%s: %d", what, r);
	return false;
}

/* True when it succeeded; a failing request leaves its argument alone. */
static bool ask(struct vinci_file *file, const char *what, unsigned long request, void *arg)
{
	struct soft_user user = { user_read, user_write };
	struct soft_memory memory = { .fd = -1 };
	uint8_t before[1024];
	int r;

	memcpy(before, arg, _IOC_SIZE(request));
	r = soft_ioctl(file, request, arg, &user, &memory);
	if (r && memcmp(before, arg, _IOC_SIZE(request)))
		die("%s: %d, but its argument was written", what, r);
	return done(what, r);
}

#define ASK(file, request, arg) ask(file, #request, DRM_IOCTL_VINCI_##request, arg)

static uint64_t used(void)
{
	struct drm_vinci_device_info info = { .device = NPU };

	return ASK(own, DEVICE_INFO, &info) ? info.mem_used : UINT64_MAX;
}

/* ---- requests -------------------------------------------------------------------------------- */

static uint32_t create(uint64_t size, uint32_t kind)
{
	struct drm_vinci_bo_create a = { .size = size, .device = NPU, .page_kind = kind, .numa_node = -1 };
	uint64_t before = used();

	if (ASK(own, BO_CREATE, &a)) {
		if (used() != before + size)
			die("a new object of %llu bytes changes the charge from %llu to %llu", (unsigned long long)size,
			    (unsigned long long)before, (unsigned long long)used());
		return a.handle;
	}
	if (used() != before)
		die("a failing creation is charged");
	return 0;
}

static void split(uint32_t handle)
{
	struct drm_vinci_bo_split a = { .handle = handle, .offset = 4 * KIB, .size = 4 * KIB };
	uint64_t before = used();

	(void)ASK(own, BO_SPLIT, &a);
	if (used() != before)
		die("splitting changes the charge");
}

static bool export_as(uint32_t handle, uint32_t kind, struct drm_vinci_share_export *a)
{
	*a = (struct drm_vinci_share_export){ .handle = handle, .kind = kind };
	if (kind != VINCI_SHARE_NOTIFY)
		a->size = 2 * MIB;
	return ASK(own, SHARE_EXPORT, a);
}

static bool allow(const struct drm_vinci_share_export *e, const int32_t *pids, uint32_t count)
{
	struct drm_vinci_share_allow a = { .kind = e->kind,
					   .name_len = e->name_len,
					   .pids = (uintptr_t)pids,
					   .count = count,
					   .elem_size = sizeof(*pids) };

	memcpy(a.name, e->name, sizeof(a.name));
	return ASK(own, SHARE_ALLOW, &a);
}

static bool import(const struct drm_vinci_share_export *e)
{
	struct drm_vinci_share_import a = { .kind = e->kind, .name_len = e->name_len, .device = NPU };

	memcpy(a.name, e->name, sizeof(a.name));
	return ASK(other, SHARE_IMPORT, &a);
}

/* Who was put on the list can import: a list that silently lost somebody is worse than an error. */
static void share(uint32_t handle, uint32_t kind, uint32_t many)
{
	struct drm_vinci_share_export e;
	struct drm_vinci_share_close c;
	int32_t pids[PIDS];

	if (!handle || !export_as(handle, kind, &e))
		return;
	for (uint32_t i = 0; i < many; i++)
		pids[i] = 100000 + (int32_t)i;
	for (uint32_t at = 0; at < many; at += 20)
		(void)allow(&e, pids + at, 20);
	if (allow(&e, &other_process.pid, 1)) {
		(void)import(&e);
		(void)import(&e);
	}
	c = (struct drm_vinci_share_close){ .kind = kind, .name_len = e.name_len };
	memcpy(c.name, e.name, sizeof(c.name));
	(void)ASK(own, SHARE_CLOSE, &c);
}

static uint32_t notify(void)
{
	struct drm_vinci_notify_ids ids = { .device = NPU, .count = 16 };
	struct drm_vinci_notify_create a = { .device = NPU };

	if (!ASK(own, NOTIFY_IDS, &ids))
		return 0;
	a.id = ids.first;
	return ASK(own, NOTIFY_CREATE, &a) ? a.handle : 0;
}

static void peer(void)
{
	struct drm_vinci_peer a = { .device = NPU, .peer = NPU + 1, .op = VINCI_PEER_ENABLE };

	if (!ASK(own, PEER, &a))
		return;
	a = (struct drm_vinci_peer){ .device = NPU, .peer = NPU + 1, .op = VINCI_PEER_DISABLE };
	(void)ASK(own, PEER, &a);
}

static void list_all(void)
{
	static uint64_t array[4096];
	static const uint32_t sizes[] = {
		[VINCI_LIST_PROCESSES] = sizeof(struct vinci_list_process),
		[VINCI_LIST_SHARES] = sizeof(struct vinci_list_share),
		[VINCI_LIST_ALLOWED] = sizeof(struct vinci_list_member),
		[VINCI_LIST_OPENERS] = sizeof(struct vinci_list_member),
		[VINCI_LIST_NOTIFIES] = sizeof(struct vinci_list_notify),
	};

	for (uint32_t type = VINCI_LIST_PROCESSES; type <= VINCI_LIST_NOTIFIES; type++) {
		struct drm_vinci_list a = { .type = type, .elem_size = sizes[type], .array = (uintptr_t)array };

		a.count = sizeof(array) / sizes[type];
		(void)ASK(own, LIST, &a);
	}
}

/* ---- one life of a device -------------------------------------------------------------------- */

static void requests(void)
{
	uint32_t huge = create(2 * MIB, VINCI_PAGE_2M);
	uint32_t pages = create(16 * KIB, VINCI_PAGE_4K);

	if (pages)
		split(pages);
	share(huge, VINCI_SHARE_IPC_MEM, PIDS);
	share(create(2 * MIB, VINCI_PAGE_2M), VINCI_SHARE_VMM, PIDS);
	share(notify(), VINCI_SHARE_NOTIFY, 0);
	for (int i = 0; i < 20; i++) /* handles grow */
		(void)create(4 * KIB, VINCI_PAGE_4K);
	peer();
	list_all();
}

/* Opening is no request: it may say ENOMEM. */
static bool open_file(const struct vinci_process *process, struct vinci_file **file)
{
	int r = soft_file_open(device, process, file);

	return done("soft_file_open", r == -ENOMEM ? -ENOSPC : r);
}

static void live(void)
{
	struct vinci_config config;
	int r;

	failures = 0;
	soft_config_default(&config);
	r = soft_device_create(&config, &device);
	if (!done("soft_device_create", r == -ENOMEM ? -ENOSPC : r))
		return;
	if (open_file(&own_process, &own)) {
		if (open_file(&other_process, &other)) {
			requests();
			soft_file_release(other);
		}
		soft_file_release(own);
	}
	/* Everybody has gone: so have all charges. */
	if (open_file(&own_process, &own)) {
		uint64_t left = used();

		if (left && left != UINT64_MAX)
			die("%llu bytes stay charged", (unsigned long long)left);
		soft_file_release(own);
	}
	soft_device_destroy(device);
}

static void __attribute__((noreturn)) sweep_child(const struct fault *wanted)
{
	struct fault fault = *wanted;
	int met = 0, failed = 0, misses = 0;
	unsigned fds;
	long blocks;

	own_process = (struct vinci_process){ .pid = getpid(), .uid = geteuid() };
	other_process = (struct vinci_process){ .pid = getppid(), .uid = geteuid() };
	if (soft_process_start(own_process.pid, &own_process.identity.start) ||
	    soft_process_start(other_process.pid, &other_process.identity.start))
		die("a process's start is unknown");
	live();
	fds = t_count_fds();
	blocks = fault_live_blocks();
	for (fault.at = 1; misses < 3; fault.at++) {
		fault_arm(&fault);
		live();
		(void)fault_disarm();
		met += fault_hit() != NULL;
		misses += !fault_hit();
		failed += failures > 0;
		if (fault.way == FAULT_INTERRUPT && failures)
			die("call %d: a signal makes requests fail", fault.at);
		if (fault_live_blocks() != blocks || t_count_fds() != fds)
			die("call %d: %ld blocks and %d descriptors leak", fault.at, fault_live_blocks() - blocks,
			    (int)(t_count_fds() - fds));
	}
	fault_arm(&(struct fault){ 0 });
	live();
	(void)printf("groups %#x, way %d: %d faults met, %d runs failed\n", fault.groups, fault.way, met, failed);
	(void)fflush(stdout);
	_exit(met < 3 ? 2 : 0);
}

static void sweep(unsigned groups, enum fault_way way)
{
	struct fault fault = { .groups = groups, .way = way };
	pid_t pid = fork();
	int r;

	assert_true(pid >= 0);
	if (!pid) {
		(void)signal(SIGSEGV, SIG_DFL);
		sweep_child(&fault);
	}
	r = t_wait_pid(pid, RUN_MS);
	if (r)
		fail_msg("groups %#x, way %d: ended with %d", groups, way, r);
}

static void test_heap(void **state)
{
	(void)state;
	sweep(FAULT_HEAP, FAULT_ONCE);
	sweep(FAULT_HEAP, FAULT_FROM);
}

static void test_memory(void **state)
{
	(void)state;
	sweep(FAULT_MAP, FAULT_ONCE);
	sweep(FAULT_MAP, FAULT_ONCE_OTHER);
	sweep(FAULT_MAP, FAULT_FROM);
}

static void test_descriptors(void **state)
{
	(void)state;
	sweep(FAULT_OPEN, FAULT_ONCE);
	sweep(FAULT_OPEN, FAULT_ONCE_OTHER);
	sweep(FAULT_OPEN, FAULT_FROM);
}

static void test_closing(void **state)
{
	(void)state;
	sweep(FAULT_CLOSE, FAULT_ONCE);
	sweep(FAULT_CLOSE, FAULT_ONCE_OTHER);
}

static void test_signals(void **state)
{
	(void)state;
	sweep(FAULT_ALL, FAULT_INTERRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap),	cmocka_unit_test(test_memory),	cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_closing), cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
