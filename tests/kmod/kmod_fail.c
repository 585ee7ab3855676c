/* SPDX-License-Identifier: MIT */
/*
 * kmod_fail.c - every allocation, copy from or to user memory, and futex look-up of each request fails once: the kernel's
 * fault injection makes the n-th one of this thread fail, for n = 1, 2, ... until a request meets none. A request that
 * fails has changed nothing, says so with an error of the contract, and succeeds when it is made again.
 *
 * As root, on a kernel with CONFIG_FAULT_INJECTION whose filters guest.sh has switched off.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/vinci_drm.h"

#define NODE "/dev/dri/renderD128"
#define MIB (1ull << 20)
#define PIDS 24
#define POINTS_MAX 4000 /* places where one request can fail */

/* What requests find: made anew for each of them, without faults. */
struct scene {
	int own, other; /* files */
	struct drm_vinci_bo_create bo, shared, exported, whole; /* of own; exported: as dma-buf */
	struct drm_vinci_share_export name; /* of shared */
	struct drm_vinci_share_export listed; /* of bo, with a whitelist */
	struct drm_vinci_notify_ids ids;
	struct drm_vinci_notify_create notify;
	uint32_t *word; /* of notify */
	int dmabuf;
	int made; /* a descriptor that a request returned; -1 */
	int next; /* the number of the next descriptor */
};

/* What must be as it was when a request has failed. */
struct view {
	uint64_t used;
	uint32_t rows[5]; /* of each list */
	uint32_t holders, shares;
};

static int watcher, fail_nth;

static void die(const char *what, const char *name, long n, long r)
{
	printf("kmod_fail: %s: %s (fault %ld, %ld)\n", name, what, n, r);
	(void)fflush(stdout);
	_exit(1);
}

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static void must(const char *what, int r)
{
	if (r)
		die("cannot be set up", what, 0, r);
}

/* --- the scene ----------------------------------------------------------------------------- */

static int create(int fd, struct drm_vinci_bo_create *bo)
{
	*bo = (struct drm_vinci_bo_create){ .size = MIB, .device = 1, .numa_node = -1 };
	return call(fd, DRM_IOCTL_VINCI_BO_CREATE, bo);
}

static int export(struct scene *s, uint32_t handle, uint32_t flags, struct drm_vinci_share_export *name)
{
	*name = (struct drm_vinci_share_export){
		.handle = handle, .kind = VINCI_SHARE_IPC_MEM, .flags = flags, .size = MIB
	};
	return call(s->own, DRM_IOCTL_VINCI_SHARE_EXPORT, name);
}

static int import(struct scene *s)
{
	struct drm_vinci_share_import a = { .kind = s->name.kind, .name_len = s->name.name_len, .device = 1 };

	memcpy(a.name, s->name.name, sizeof(a.name));
	return call(s->other, DRM_IOCTL_VINCI_SHARE_IMPORT, &a);
}

static int allow(struct scene *s, int32_t first)
{
	int32_t pids[PIDS];
	struct drm_vinci_share_allow a = {
		.kind = s->listed.kind, .name_len = s->listed.name_len, .pids = (uintptr_t)pids, .count = PIDS, .elem_size = 4
	};
	int i;

	for (i = 0; i < PIDS; i++)
		pids[i] = first + i;
	memcpy(a.name, s->listed.name, sizeof(a.name));
	return call(s->own, DRM_IOCTL_VINCI_SHARE_ALLOW, &a);
}

static int notify(struct scene *s, uint32_t id, struct drm_vinci_notify_create *a)
{
	*a = (struct drm_vinci_notify_create){ .device = 1, .id = id };
	return call(s->own, DRM_IOCTL_VINCI_NOTIFY_CREATE, a);
}

static int peer(struct scene *s, uint32_t op)
{
	struct drm_vinci_peer a = { .device = op == VINCI_PEER_ENABLE ? 2 : 0, .peer = 1, .op = op };

	return call(s->own, DRM_IOCTL_VINCI_PEER, &a);
}

static int to_dmabuf(struct scene *s, uint32_t handle, int *out)
{
	struct drm_prime_handle a = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int r = call(s->own, DRM_IOCTL_PRIME_HANDLE_TO_FD, &a);

	if (!r)
		*out = a.fd;
	return r;
}

static int map(int fd, uint64_t offset, size_t size, void **out)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

static void scene_open(struct scene *s)
{
	struct drm_vinci_peer ref = { .device = 0, .peer = 1, .op = VINCI_PEER_ENABLE };

	*s = (struct scene){ .ids = { .device = 1, .count = 2 }, .made = -1 };
	s->own = open(NODE, O_RDWR | O_CLOEXEC);
	s->other = open(NODE, O_RDWR | O_CLOEXEC);
	must("files", s->own < 0 || s->other < 0);
	must("memory", create(s->own, &s->bo) || create(s->own, &s->shared) || create(s->own, &s->exported) ||
			       create(s->own, &s->whole));
	must("names", export(s, s->shared.handle, VINCI_SHARE_UNVALIDATED, &s->name) ||
			      export(s, s->bo.handle, 0, &s->listed) || allow(s, 100));
	must("notify", call(s->own, DRM_IOCTL_VINCI_NOTIFY_IDS, &s->ids) || notify(s, s->ids.first, &s->notify));
	must("peer", call(s->own, DRM_IOCTL_VINCI_PEER, &ref));
	must("dma-buf", to_dmabuf(s, s->exported.handle, &s->dmabuf));
	must("mapping", map(s->own, s->notify.mmap_offset, 4096, (void **)&s->word));
	s->next = dup(watcher);
	must("descriptors", s->next < 0 || close(s->next));
}

static void scene_close(struct scene *s)
{
	(void)munmap(s->word, 4096);
	(void)close(s->dmabuf);
	if (s->made >= 0)
		(void)close(s->made);
	if (s->own >= 0)
		(void)close(s->own);
	(void)close(s->other);
}

static struct view look(const struct scene *s)
{
	struct drm_vinci_device_info info = { .device = 1 };
	struct drm_vinci_bo_info shared = { .handle = s ? s->shared.handle : 0 };
	struct view v = { 0 };
	uint32_t i;

	must("look", call(watcher, DRM_IOCTL_VINCI_DEVICE_INFO, &info));
	must("look", s && s->own >= 0 ? call(s->own, DRM_IOCTL_VINCI_BO_INFO, &shared) : 0);
	v.used = info.mem_used;
	v.holders = shared.holders;
	v.shares = shared.shares;
	for (i = 0; i < 5; i++) {
		struct drm_vinci_list a = { .type = i + 1, .elem_size = 8 };

		must("look", call(watcher, DRM_IOCTL_VINCI_LIST, &a));
		v.rows[i] = a.count;
	}
	return v;
}

/* --- the requests -------------------------------------------------------------------------- */

static int do_get_param(struct scene *s)
{
	return call(s->own, DRM_IOCTL_VINCI_GET_PARAM, &(struct drm_vinci_get_param){ .param = VINCI_PARAM_TGID });
}

static int do_device_info(struct scene *s)
{
	return call(s->own, DRM_IOCTL_VINCI_DEVICE_INFO, &(struct drm_vinci_device_info){ .device = 1 });
}

static int do_bo_create(struct scene *s)
{
	struct drm_vinci_bo_create bo;

	return create(s->own, &bo);
}

static int do_bo_info(struct scene *s)
{
	return call(s->own, DRM_IOCTL_VINCI_BO_INFO, &(struct drm_vinci_bo_info){ .handle = s->bo.handle });
}

static int do_bo_split(struct scene *s)
{
	struct drm_vinci_bo_split a = { .handle = s->whole.handle, .offset = 4096, .size = 8192 };

	return call(s->own, DRM_IOCTL_VINCI_BO_SPLIT, &a);
}

static int do_notify_ids(struct scene *s)
{
	return call(s->own, DRM_IOCTL_VINCI_NOTIFY_IDS, &(struct drm_vinci_notify_ids){ .device = 1, .count = 1 });
}

static int do_notify_create(struct scene *s)
{
	struct drm_vinci_notify_create a;

	return notify(s, s->ids.first + 1, &a);
}

static int do_notify_status(struct scene *s)
{
	return call(s->own, DRM_IOCTL_VINCI_NOTIFY_STATUS, &(struct drm_vinci_notify_status){ .handle = s->notify.handle });
}

static int do_share_export(struct scene *s)
{
	struct drm_vinci_share_export a = {
		.handle = s->notify.handle, .kind = VINCI_SHARE_NOTIFY, .flags = VINCI_SHARE_UNVALIDATED
	};

	return call(s->own, DRM_IOCTL_VINCI_SHARE_EXPORT, &a);
}

static int do_share_allow(struct scene *s)
{
	return allow(s, 100 + PIDS / 2); /* half of them are on the list */
}

static int do_share_import(struct scene *s)
{
	return import(s);
}

static int do_share_close(struct scene *s)
{
	struct drm_vinci_share_close a = { .kind = s->name.kind, .name_len = s->name.name_len };

	memcpy(a.name, s->name.name, sizeof(a.name));
	return call(s->own, DRM_IOCTL_VINCI_SHARE_CLOSE, &a);
}

static int do_share_attr(struct scene *s)
{
	struct drm_vinci_share_attr a = {
		.kind = s->name.kind, .name_len = s->name.name_len, .attr = VINCI_SHARE_ATTR_LINK, .value = 2
	};

	memcpy(a.name, s->name.name, sizeof(a.name));
	return call(s->own, DRM_IOCTL_VINCI_SHARE_ATTR, &a);
}

static int do_peer_enable(struct scene *s)
{
	return peer(s, VINCI_PEER_ENABLE);
}

static int do_peer_disable(struct scene *s)
{
	return peer(s, VINCI_PEER_DISABLE);
}

static int list(struct scene *s, uint32_t type)
{
	uint64_t rows[64 * 6];
	struct drm_vinci_list a = { .type = type, .elem_size = 48, .array = (uintptr_t)rows, .count = 64 };

	return call(s->own, DRM_IOCTL_VINCI_LIST, &a);
}

static int do_list_processes(struct scene *s)
{
	return list(s, VINCI_LIST_PROCESSES);
}

static int do_list_shares(struct scene *s)
{
	return list(s, VINCI_LIST_SHARES);
}

static int do_list_allowed(struct scene *s)
{
	return list(s, VINCI_LIST_ALLOWED);
}

static int do_list_openers(struct scene *s)
{
	return list(s, VINCI_LIST_OPENERS);
}

static int do_list_notifies(struct scene *s)
{
	return list(s, VINCI_LIST_NOTIFIES);
}

static int do_gem_close(struct scene *s)
{
	return call(s->own, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = s->bo.handle });
}

static int do_prime_export(struct scene *s)
{
	return to_dmabuf(s, s->bo.handle, &s->made);
}

static int do_prime_import(struct scene *s)
{
	return call(s->other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &(struct drm_prime_handle){ .fd = s->dmabuf });
}

/* With a look at two of its pages. */
static int map_and_touch(int fd, uint64_t offset)
{
	void *p = NULL;
	int r = map(fd, offset, MIB, &p);

	if (r)
		return r;
	*(volatile int *)p = 1;
	((volatile char *)p)[MIB - 1] = 1;
	(void)munmap(p, MIB);
	return 0;
}

static int do_mmap(struct scene *s)
{
	return map_and_touch(s->own, s->bo.mmap_offset);
}

static int do_mmap_dmabuf(struct scene *s)
{
	return map_and_touch(s->dmabuf, 0);
}

static int do_futex(struct scene *s)
{
	if (syscall(SYS_futex, s->word, FUTEX_WAIT, 7, NULL, NULL, 0) && errno != EAGAIN)
		return -errno;
	return syscall(SYS_futex, s->word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0 ? -errno : 0;
}

static int do_open(struct scene *s)
{
	s->made = open(NODE, O_RDWR | O_CLOEXEC);
	return s->made < 0 ? -errno : 0;
}

/* Whatever fails, the descriptor has gone. */
static int do_close(struct scene *s)
{
	int r = close(s->own) ? -errno : 0;

	s->own = -1;
	return r;
}

/* --- n = 1, 2, ... ------------------------------------------------------------------------- */

static void inject(long n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%ld", n);

	if (pwrite(fail_nth, text, (size_t)len, 0) != len)
		die("cannot be written", "fail-nth", n, errno);
}

/* Ends it. Did the n-th place come? To ask is to copy out, which may be that place. */
static bool injected(void)
{
	char text[16] = "";
	bool met = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && !atol(text);

	while (pwrite(fail_nth, "0", 1, 0) != 1)
		if (errno != EFAULT)
			die("cannot be written", "fail-nth", 0, errno);
	return met;
}

/* What copies in or out fails with EFAULT, perhaps when the work is done. */
static void check_failed(const char *name, int (*request)(struct scene *s), struct scene *s, long n, int r,
			 const struct view *before)
{
	struct view now;

	if (r == -EFAULT) {
		(void)close(s->next); /* a descriptor may have been made whose number could not be told */
		return;
	}
	if (r != -ENOMEM && r != -ENOSPC)
		die("an errno that the contract does not have", name, n, r);
	now = look(s);
	if (memcmp(&now, before, sizeof(now)))
		die("failed, and changed something", name, n, r);
	r = request(s);
	if (r)
		die("fails again, without a fault", name, n, r);
}

static bool try_fault(const char *name, int (*request)(struct scene *s), long n)
{
	struct view before, nothing = look(NULL), after;
	struct scene s;
	bool met;
	int r;

	scene_open(&s);
	before = look(&s);
	inject(n);
	r = request(&s);
	met = injected();
	if (r && !met)
		die("fails without a fault", name, n, r);
	if (r)
		check_failed(name, request, &s, n, r, &before);
	scene_close(&s);
	after = look(NULL);
	if (memcmp(&after, &nothing, sizeof(after)))
		die("leaves something", name, n, r);
	return met;
}

#define R(name) { #name, do_##name }

int main(void)
{
	static const struct {
		const char *name;
		int (*request)(struct scene *s);
	} requests[] = {
		R(get_param), R(device_info), R(bo_create), R(bo_info), R(bo_split), R(notify_ids), R(notify_create),
		R(notify_status), R(share_export), R(share_allow), R(share_import), R(share_close), R(share_attr),
		R(peer_enable), R(peer_disable), R(list_processes), R(list_shares), R(list_allowed), R(list_openers),
		R(list_notifies), R(gem_close), R(prime_export), R(prime_import), R(mmap), R(mmap_dmabuf), R(futex), R(open),
		R(close),
	};
	size_t i;
	long n;

	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	watcher = open(NODE, O_RDWR | O_CLOEXEC);
	must("fail-nth and the node", fail_nth < 0 || watcher < 0);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (n = 1; try_fault(requests[i].name, requests[i].request, n); n++)
			if (n == POINTS_MAX)
				die("there is no end", requests[i].name, n, 0);
		printf("kmod_fail: %s: %ld\n", requests[i].name, n - 1);
		if (n == 1 && requests[i].request != do_close)
			die("met no fault", requests[i].name, n, 0);
	}
	return 0;
}
