/* SPDX-License-Identifier: MIT */
/*
 * kmod_test.c - what only the kernel device has to prove: who may use a file, what goes with a process, namespaces, users,
 * the rest of DRM's interface, and mappings. Runs as root in the guest; what both devices have in common is in
 * tests/uapi.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "uapi/vinci_drm.h"

#define NODE "/dev/dri/renderD128"
#define PRIMARY "/dev/dri/card0"
#define MIB (1ull << 20)
#define WAIT_MS 30000
#define USER 1000

/* --- requests ------------------------------------------------------------------------------ */

static int open_node(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int bo_create(int fd, uint64_t size, struct drm_vinci_bo_create *a)
{
	*a = (struct drm_vinci_bo_create){ .size = size, .device = 1, .numa_node = -1 };
	return call(fd, DRM_IOCTL_VINCI_BO_CREATE, a);
}

static int share_export(int fd, uint32_t handle, uint32_t flags, uint64_t size, struct drm_vinci_share_export *a)
{
	*a = (struct drm_vinci_share_export){
		.handle = handle, .kind = VINCI_SHARE_IPC_MEM, .flags = flags, .size = size
	};
	return call(fd, DRM_IOCTL_VINCI_SHARE_EXPORT, a);
}

static int share_allow(int fd, const struct drm_vinci_share_export *name, int32_t pid)
{
	struct drm_vinci_share_allow a = {
		.kind = name->kind, .name_len = name->name_len, .pids = (uintptr_t)&pid, .count = 1, .elem_size = 4
	};

	memcpy(a.name, name->name, sizeof(a.name));
	return call(fd, DRM_IOCTL_VINCI_SHARE_ALLOW, &a);
}

static int share_import(int fd, const struct drm_vinci_share_export *name, struct drm_vinci_share_import *a)
{
	*a = (struct drm_vinci_share_import){ .kind = name->kind, .name_len = name->name_len, .device = 1 };
	memcpy(a->name, name->name, sizeof(a->name));
	return call(fd, DRM_IOCTL_VINCI_SHARE_IMPORT, a);
}

static uint64_t param(int fd, uint32_t which)
{
	struct drm_vinci_get_param a = { .param = which };

	assert_int_equal(call(fd, DRM_IOCTL_VINCI_GET_PARAM, &a), 0);
	return a.value;
}

static uint64_t mem_used(int fd)
{
	struct drm_vinci_device_info a = { .device = 1 };

	assert_int_equal(call(fd, DRM_IOCTL_VINCI_DEVICE_INFO, &a), 0);
	return a.mem_used;
}

static int list(int fd, uint32_t type, void *rows, uint32_t size, uint32_t *count)
{
	struct drm_vinci_list a = { .type = type, .elem_size = size, .array = (uintptr_t)rows, .count = *count };
	int r = call(fd, DRM_IOCTL_VINCI_LIST, &a);

	*count = a.count;
	return r;
}

static void *map(int fd, size_t size, int flags, uint64_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
}

/* --- processes ----------------------------------------------------------------------------- */

static pid_t fork_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)alarm(60);
	}
	return pid;
}

static int exit_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void put(int pipe, const void *data, size_t size)
{
	if (write(pipe, data, size) != (ssize_t)size)
		_exit(99);
}

static bool get(int pipe, void *data, size_t size)
{
	struct pollfd p = { .fd = pipe, .events = POLLIN };

	return poll(&p, 1, WAIT_MS) == 1 && read(pipe, data, size) == (ssize_t)size;
}

static void *map_once(int fd, uint64_t offset)
{
	return map(fd, 4096, MAP_SHARED, offset);
}

/* A forked child has the descriptor and nothing else: no request, no mapping. */
static void another_process_on_the_descriptor(void **state)
{
	struct drm_vinci_get_param tgid = { .param = VINCI_PARAM_TGID };
	struct drm_gem_close close_arg;
	struct drm_vinci_bo_create bo;
	int fd = open_node(), child;
	uint64_t *p;

	(void)state;
	assert_int_equal(bo_create(fd, 8192, &bo), 0);
	p = map_once(fd, bo.mmap_offset);
	assert_ptr_not_equal(p, MAP_FAILED);
	close_arg = (struct drm_gem_close){ .handle = bo.handle };
	child = fork_child();
	if (!child) {
		unsigned char in_core;

		if (call(fd, DRM_IOCTL_VINCI_GET_PARAM, &tgid) != -EPERM)
			_exit(1);
		if (call(fd, DRM_IOCTL_GEM_CLOSE, &close_arg) != -EPERM)
			_exit(2);
		if (map_once(fd, bo.mmap_offset) != MAP_FAILED || errno != EPERM)
			_exit(3);
		if (!mincore(p, 4096, &in_core) || errno != ENOMEM) /* the mapping stayed with the parent */
			_exit(4);
		_exit(0);
	}
	assert_int_equal(exit_status(child), 0);
	assert_int_equal(call(fd, DRM_IOCTL_GEM_CLOSE, &close_arg), 0);
	assert_int_equal(mem_used(fd), 0);
	close(fd);
}

/* Opens, shares, forks a child that keeps the descriptor, and waits to be killed. */
static void owner_main(int to, int hold)
{
	struct drm_vinci_share_export name;
	struct drm_vinci_bo_create bo;
	int fd = open(NODE, O_RDWR);
	char byte;

	if (fd < 0 || bo_create(fd, MIB, &bo) || share_export(fd, bo.handle, VINCI_SHARE_UNVALIDATED, MIB, &name))
		_exit(1);
	if (!fork()) {
		(void)alarm(60);
		(void)!read(hold, &byte, 1); /* until the test closes its end */
		_exit(0);
	}
	put(to, &name, sizeof(name));
	for (;;)
		(void)pause();
}

/* Keys, charge and lists go with the process, although its child still has the file open. */
static void a_process_dies_and_its_child_keeps_the_descriptor(void **state)
{
	struct drm_vinci_share_export name;
	struct drm_vinci_share_import im;
	struct vinci_list_process rows[8];
	int to[2], hold[2], fd = open_node();
	uint32_t count = 8;
	pid_t owner;

	(void)state;
	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
	owner = fork_child();
	if (!owner) {
		close(hold[1]);
		owner_main(to[1], hold[0]);
	}
	assert_true(get(to[0], &name, sizeof(name)));
	assert_int_equal(mem_used(fd), MIB);
	assert_int_equal(share_import(fd, &name, &im), 0);
	assert_int_equal(call(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = im.handle }), 0);
	assert_int_equal(kill(owner, SIGKILL), 0);
	assert_int_equal(exit_status(owner), 128 + SIGKILL);
	assert_int_equal(share_import(fd, &name, &im), -ESTALE);
	assert_int_equal(mem_used(fd), 0);
	assert_int_equal(list(fd, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].pid, getpid());
	close(hold[0]);
	close(hold[1]);
	close(to[0]);
	close(to[1]);
	close(fd);
}

/* --- namespaces and users ------------------------------------------------------------------ */

struct in_namespace {
	int32_t bare; /* VINCI_PARAM_TGID */
	int32_t inner; /* getpid() */
};

/* As an exporter: its list takes the numbers of the initial namespace as well. */
static void export_from_namespace(int fd, int to, int32_t importer)
{
	struct drm_vinci_share_export name;
	struct drm_vinci_bo_create bo;

	if (bo_create(fd, MIB, &bo) || share_export(fd, bo.handle, 0, MIB, &name) || share_allow(fd, &name, importer))
		_exit(97);
	put(to, &name, sizeof(name));
}

static void in_namespace_main(int from, int to, int32_t importer)
{
	struct drm_vinci_share_export name;
	struct drm_vinci_share_import im;
	int fd = open(NODE, O_RDWR | O_CLOEXEC), r;
	struct in_namespace me;

	(void)alarm(60);
	me = (struct in_namespace){ (int32_t)param(fd, VINCI_PARAM_TGID), getpid() };
	put(to, &me, sizeof(me));
	export_from_namespace(fd, to, importer);
	while (get(from, &name, sizeof(name))) {
		r = share_import(fd, &name, &im);
		put(to, &r, sizeof(r));
	}
	_exit(0);
}

/* The first process of a new pid namespace; its number here is the return value of the fork below. */
static pid_t start_in_namespace(const int *down, int to, int *outer_pipe)
{
	int32_t importer = getpid();
	pid_t outer = fork_child(), inner;

	if (outer)
		return outer;
	close(down[1]); /* its end is ours */
	if (unshare(CLONE_NEWPID))
		_exit(1);
	inner = fork();
	if (!inner)
		in_namespace_main(down[0], to, importer);
	put(outer_pipe[1], &inner, sizeof(inner));
	_exit(exit_status(inner));
}

static void whitelists_take_the_bare_number(void **state)
{
	int down[2], up[2], outer_pipe[2], fd = open_node(), r;
	struct drm_vinci_share_export name;
	struct drm_vinci_share_import im;
	struct drm_vinci_bo_create bo;
	struct in_namespace it;
	pid_t outer, inner;

	(void)state;
	assert_int_equal(pipe2(down, O_CLOEXEC) | pipe2(up, O_CLOEXEC) | pipe2(outer_pipe, O_CLOEXEC), 0);
	outer = start_in_namespace(down, up[1], outer_pipe);
	close(down[0]);
	assert_true(get(outer_pipe[0], &inner, sizeof(inner)));
	assert_true(get(up[0], &it, sizeof(it)));
	assert_int_equal(it.inner, 1);
	assert_int_equal(it.bare, inner);
	assert_true(get(up[0], &name, sizeof(name)));
	assert_int_equal(share_import(fd, &name, &im), 0);
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	assert_int_equal(share_export(fd, bo.handle, 0, MIB, &name), 0);
	assert_int_equal(share_allow(fd, &name, it.inner), 0);
	put(down[1], &name, sizeof(name));
	assert_true(get(up[0], &r, sizeof(r)));
	assert_int_equal(r, -EACCES);
	assert_int_equal(share_allow(fd, &name, it.bare), 0);
	put(down[1], &name, sizeof(name));
	assert_true(get(up[0], &r, sizeof(r)));
	assert_int_equal(r, 0);
	close(down[1]);
	assert_int_equal(exit_status(outer), 0);
	close(up[0]);
	close(up[1]);
	close(outer_pipe[0]);
	close(outer_pipe[1]);
	close(fd);
}

static void become_user(gid_t gid)
{
	if (setgid(gid) || setuid(USER))
		_exit(98);
}

/* The udev rule's mode: the group may, others may not; and a user's listing has what is the user's. */
static void users(void **state)
{
	struct drm_vinci_bo_create bo;
	int fd = open_node();
	struct stat st;
	pid_t child;

	(void)state;
	assert_int_equal(stat(NODE, &st), 0);
	assert_int_equal(chmod(NODE, 0660) | chown(NODE, 0, 44), 0);
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	child = fork_child();
	if (!child) {
		become_user(USER);
		_exit(open(NODE, O_RDWR) < 0 && errno == EACCES ? 0 : 1);
	}
	assert_int_equal(exit_status(child), 0);
	child = fork_child();
	if (!child) {
		struct vinci_list_process rows[8];
		uint32_t count = 8;
		int own;

		become_user(44);
		own = open(NODE, O_RDWR);
		if (own < 0 || bo_create(own, MIB, &bo))
			_exit(1);
		if (list(own, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count) || count != 1 || rows[0].uid != USER)
			_exit(2);
		_exit(mem_used(own) == 2 * MIB ? 0 : 3);
	}
	assert_int_equal(exit_status(child), 0);
	assert_int_equal(chmod(NODE, st.st_mode & 07777) | chown(NODE, st.st_uid, st.st_gid), 0);
	close(fd);
}

/* --- the rest of DRM ----------------------------------------------------------------------- */

static void the_primary_node_is_closed(void **state)
{
	(void)state;
	assert_int_equal(open(PRIMARY, O_RDWR), -1);
	assert_int_equal(errno, EPERM);
}

static void no_other_requests(void **state)
{
	int fd = open_node();
	uint64_t arg[64];
	unsigned int nr;

	(void)state;
	for (nr = 0; nr < 256; nr++) {
		bool ours = nr >= DRM_COMMAND_BASE && nr <= DRM_COMMAND_BASE + DRM_VINCI_LIST;

		if (ours || nr == _IOC_NR(DRM_IOCTL_VERSION) || nr == _IOC_NR(DRM_IOCTL_GEM_CLOSE) ||
		    nr == _IOC_NR(DRM_IOCTL_GET_CAP) || nr == _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD) ||
		    nr == _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE))
			continue;
		memset(arg, 0, sizeof(arg));
		assert_int_equal(call(fd, DRM_IOWR(nr, arg), arg), -EINVAL);
	}
	close(fd);
}

/* --- dma-buf ------------------------------------------------------------------------------- */

static int to_dmabuf(int fd, uint32_t handle, int *out)
{
	struct drm_prime_handle a = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int r = call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &a);

	if (!r)
		*out = a.fd;
	return r;
}

static int from_dmabuf(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle a = { .fd = dmabuf };
	int r = call(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &a);

	if (!r)
		*handle = a.handle;
	return r;
}

static int close_handle(int fd, uint32_t handle)
{
	return call(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = handle });
}

/* Another process, with the descriptor alone. */
static int import_dmabuf(int dmabuf)
{
	struct drm_vinci_share_export name;
	struct drm_vinci_bo_info info = { 0 };
	struct drm_vinci_bo_split split;
	int fd = open(NODE, O_RDWR | O_CLOEXEC), again;
	uint32_t handle, same;
	uint64_t *p;

	if (from_dmabuf(fd, dmabuf, &handle) || from_dmabuf(fd, dmabuf, &same) || same != handle)
		return 1;
	info.handle = handle;
	if (call(fd, DRM_IOCTL_VINCI_BO_INFO, &info) || info.holders != 2 || info.size != MIB)
		return 2;
	p = map(fd, MIB, MAP_SHARED, info.mmap_offset);
	if (p == MAP_FAILED || p[5] != 55)
		return 3;
	p[6] = 66;
	/* What was given may be used, not given on. */
	if (share_export(fd, handle, 0, MIB, &name) != -EACCES || to_dmabuf(fd, handle, &again) != -EACCES)
		return 4;
	split = (struct drm_vinci_bo_split){ .handle = handle, .size = 4096 };
	if (call(fd, DRM_IOCTL_VINCI_BO_SPLIT, &split) != -EACCES)
		return 5;
	return close_handle(fd, handle) ? 6 : 0;
}

static void a_dmabuf_is_a_holder(void **state)
{
	struct drm_vinci_bo_split split = { .size = 4096 };
	int fd = open_node(), dmabuf = -1;
	struct drm_vinci_bo_create bo;
	uint32_t handle;
	uint64_t *p;
	pid_t child;

	(void)state;
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	assert_int_equal(to_dmabuf(fd, bo.handle, &dmabuf), 0);
	p = map(dmabuf, MIB, MAP_SHARED, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_ptr_equal(map(dmabuf, MIB, MAP_SHARED, 4096), MAP_FAILED);
	assert_ptr_equal(map(dmabuf, 4096, MAP_PRIVATE, 0), MAP_FAILED);
	p[5] = 55;
	split.handle = bo.handle;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_BO_SPLIT, &split), -EBUSY);
	child = fork_child();
	if (!child)
		_exit(import_dmabuf(dmabuf));
	assert_int_equal(exit_status(child), 0);
	assert_int_equal(p[6], 66);
	assert_int_equal(from_dmabuf(fd, dmabuf, &handle), 0);
	assert_int_equal(handle, bo.handle);
	/* The descriptor alone keeps memory and charge, and the object can come back from it. */
	assert_int_equal(close_handle(fd, bo.handle), 0);
	assert_int_equal(mem_used(fd), MIB);
	assert_int_equal(from_dmabuf(fd, dmabuf, &handle), 0);
	close(dmabuf);
	assert_int_equal(mem_used(fd), MIB);
	assert_int_equal(close_handle(fd, handle), 0);
	assert_int_equal(mem_used(fd), 0);
	assert_int_equal(p[6], 66);
	munmap(p, MIB);
	close(fd);
}

static void what_has_no_dmabuf(void **state)
{
	struct drm_vinci_notify_ids ids = { .device = 1, .count = 1 };
	struct drm_vinci_notify_create notify = { .device = 1 };
	struct drm_vinci_bo_split split = { .size = 4096 };
	struct drm_vinci_share_export name;
	struct drm_vinci_share_import im;
	int fd = open_node(), other = open_node(), dmabuf = -1;
	struct drm_vinci_bo_create bo;
	uint32_t handle;

	(void)state;
	assert_int_equal(to_dmabuf(fd, 1, &dmabuf), -ENOENT);
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_NOTIFY_IDS, &ids), 0);
	notify.id = ids.first;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_NOTIFY_CREATE, &notify), 0);
	assert_int_equal(to_dmabuf(fd, notify.handle, &dmabuf), -EINVAL);
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	assert_int_equal(share_export(fd, bo.handle, VINCI_SHARE_UNVALIDATED, MIB, &name), 0);
	assert_int_equal(share_import(other, &name, &im), 0);
	assert_int_equal(to_dmabuf(other, im.handle, &dmabuf), -EACCES);
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	split.handle = bo.handle;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_BO_SPLIT, &split), 0);
	assert_int_equal(to_dmabuf(fd, bo.handle, &dmabuf), -EINVAL);
	/* what is no dma-buf at all */
	assert_int_equal(from_dmabuf(fd, other, &handle), -EINVAL);
	assert_int_equal(from_dmabuf(fd, -1, &handle), -EBADF);
	close(other);
	close(fd);
}

/* --- mappings ------------------------------------------------------------------------------ */

static void mapping_rules(void **state)
{
	struct drm_vinci_bo_create bo;
	int fd = open_node();
	uint64_t *p, *q;

	(void)state;
	assert_int_equal(bo_create(fd, 8 * MIB, &bo), 0);
	assert_ptr_equal(map(fd, 4096, MAP_PRIVATE, bo.mmap_offset), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	p = map(fd, 8 * MIB, MAP_SHARED, bo.mmap_offset);
	assert_ptr_not_equal(p, MAP_FAILED);
	p[MIB / 8 + 7] = 99;
	q = map(fd, 4096, MAP_SHARED, bo.mmap_offset + MIB);
	assert_ptr_not_equal(q, MAP_FAILED);
	assert_int_equal(q[7], 99); /* the page that was asked for */
	/* What a split gives back: the old pages go. */
	assert_int_equal(madvise(p + MIB / 8, MIB, MADV_REMOVE), 0);
	assert_int_equal(q[7], 0);
	/* A part is replaced in place, as inside a reservation. */
	p[0] = 1;
	assert_ptr_equal(mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			      (off_t)(bo.mmap_offset + 2 * MIB)), p);
	assert_int_equal(p[0], 0);
	munmap(p, 8 * MIB);
	munmap(q, 4096);
	close(fd);
}

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static int wait_for_word(const struct drm_vinci_share_export *name)
{
	const struct timespec deadline = { .tv_sec = 20 };
	int fd = open(NODE, O_RDWR | O_CLOEXEC);
	struct drm_vinci_share_import im;
	uint32_t *word;

	if (share_import(fd, name, &im))
		return 1;
	word = map_once(fd, im.mmap_offset);
	if ((void *)word == MAP_FAILED)
		return 2;
	__atomic_store_n(&word[1], 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		if (futex(word, FUTEX_WAIT, 0, &deadline) && errno == ETIMEDOUT)
			return 3;
	return 0;
}

/* One futex for two processes, each with a mapping of its own. */
static void a_shared_futex(void **state)
{
	struct drm_vinci_notify_ids ids = { .device = 1, .count = 1 };
	struct drm_vinci_notify_create notify = { .device = 1 };
	struct drm_vinci_share_export name = {
		.kind = VINCI_SHARE_NOTIFY, .flags = VINCI_SHARE_UNVALIDATED
	};
	int fd = open_node();
	uint32_t *word;
	pid_t child;

	(void)state;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_NOTIFY_IDS, &ids), 0);
	notify.id = ids.first;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_NOTIFY_CREATE, &notify), 0);
	name.handle = notify.handle;
	assert_int_equal(call(fd, DRM_IOCTL_VINCI_SHARE_EXPORT, &name), 0);
	word = map_once(fd, notify.mmap_offset);
	assert_ptr_not_equal(word, MAP_FAILED);
	child = fork_child();
	if (!child)
		_exit(wait_for_word(&name));
	while (!__atomic_load_n(&word[1], __ATOMIC_SEQ_CST))
		sched_yield();
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
	(void)futex(word, FUTEX_WAKE, 1, NULL);
	assert_int_equal(exit_status(child), 0);
	munmap(word, 4096);
	close(fd);
}

/* --- a caller whose memory takes its time --------------------------------------------------- */

struct slow_list {
	int fd;
	void *rows;
	int result;
};

static void *list_slowly(void *arg)
{
	struct slow_list *s = arg;
	uint32_t count = 1;

	s->result = list(s->fd, VINCI_LIST_PROCESSES, s->rows, sizeof(struct vinci_list_process), &count);
	return NULL;
}

/* The device stands still for nobody: a listing that waits for a page of its caller holds up no other request. */
static void a_page_fault_holds_up_nobody(void **state)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero;
	int fd = open_node(), other = open_node(), uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct slow_list slow = { .fd = fd, .result = 1 };
	struct drm_vinci_bo_create bo;
	struct uffd_msg message;
	pthread_t thread;

	(void)state;
	assert_true(uffd >= 0);
	slow.rows = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(slow.rows, MAP_FAILED);
	reg.range.start = (uintptr_t)slow.rows;
	reg.range.len = 4096;
	assert_int_equal(ioctl(uffd, UFFDIO_API, &api) | ioctl(uffd, UFFDIO_REGISTER, &reg), 0);
	assert_int_equal(pthread_create(&thread, NULL, list_slowly, &slow), 0);
	assert_true(get(uffd, &message, sizeof(message))); /* it waits now */
	assert_int_equal(bo_create(other, MIB, &bo), 0);
	assert_int_equal(mem_used(other), MIB);
	zero = (struct uffdio_zeropage){ .range = reg.range };
	assert_int_equal(ioctl(uffd, UFFDIO_ZEROPAGE, &zero), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(slow.result, 0);
	munmap(slow.rows, 4096);
	close(uffd);
	close(other);
	close(fd);
}

/* --- kill -9 ------------------------------------------------------------------------------- */

#define ROUNDS 200

/* One step of a busy client; @name is another's share. */
static void step(int fd, unsigned int i, const struct drm_vinci_share_export *name)
{
	struct drm_vinci_notify_ids ids = { .device = 1, .count = 3 };
	struct drm_vinci_peer peer = { .device = 0, .peer = 1, .op = VINCI_PEER_ENABLE };
	struct drm_vinci_share_export mine;
	struct drm_vinci_share_import im;
	struct drm_vinci_bo_create bo;
	uint64_t *p;

	if (share_import(fd, name, &im) || bo_create(fd, MIB, &bo))
		_exit(1);
	p = map(fd, MIB, MAP_SHARED, i % 2 ? bo.mmap_offset : im.mmap_offset);
	if (p == MAP_FAILED)
		_exit(2);
	p[i % 1000] = i;
	if (share_export(fd, bo.handle, 0, MIB, &mine) || share_allow(fd, &mine, getppid()))
		_exit(3);
	if (call(fd, DRM_IOCTL_VINCI_PEER, &peer))
		_exit(4);
	if (!call(fd, DRM_IOCTL_VINCI_NOTIFY_IDS, &ids)) {
		struct drm_vinci_notify_create notify = { .device = 1, .id = ids.first };

		(void)call(fd, DRM_IOCTL_VINCI_NOTIFY_CREATE, &notify);
	}
	munmap(p, MIB);
	if (i % 3) {
		(void)call(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = bo.handle });
		(void)call(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = im.handle });
	}
}

static void victim_main(int to, const struct drm_vinci_share_export *name)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);
	unsigned int i;

	for (i = 0;; i++) {
		step(fd, i, name);
		if (!i)
			put(to, "x", 1);
	}
}

/* Killed anywhere: nothing of it is left by the time its death is known. */
static void killed_at_any_moment(void **state)
{
	struct drm_vinci_share_export name;
	struct vinci_list_process rows[4];
	struct drm_vinci_bo_info info;
	struct drm_vinci_bo_create bo;
	int fd = open_node(), round;

	(void)state;
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	assert_int_equal(share_export(fd, bo.handle, VINCI_SHARE_UNVALIDATED, MIB, &name), 0);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t count = 4, n;
		pid_t child;
		int to[2];
		char byte;

		assert_int_equal(pipe2(to, O_CLOEXEC), 0);
		child = fork_child();
		if (!child)
			victim_main(to[1], &name);
		assert_true(get(to[0], &byte, 1));
		for (n = 0; n < (unsigned int)round * 37 % 1000; n++)
			(void)mem_used(fd); /* some time, and a contended lock */
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(exit_status(child), 128 + SIGKILL);
		assert_int_equal(mem_used(fd), MIB);
		assert_int_equal(list(fd, VINCI_LIST_PROCESSES, rows, sizeof(rows[0]), &count), 0);
		assert_int_equal(count, 1);
		info = (struct drm_vinci_bo_info){ .handle = bo.handle };
		assert_int_equal(call(fd, DRM_IOCTL_VINCI_BO_INFO, &info), 0);
		assert_int_equal(info.holders, 1);
		count = 0;
		assert_int_equal(list(fd, VINCI_LIST_NOTIFIES, NULL, 8, &count), 0);
		assert_int_equal(count, 0);
		close(to[0]);
		close(to[1]);
	}
	close(fd);
}

/* --- the module ---------------------------------------------------------------------------- */

static int remove_module(void)
{
	return syscall(SYS_delete_module, "vinci", O_NONBLOCK) ? -errno : 0;
}

/* So no client ever finds its device gone. A dma-buf is a client too. */
static void the_module_stays_while_it_is_used(void **state)
{
	struct drm_vinci_bo_create bo;
	int fd = open_node(), dmabuf = -1;

	(void)state;
	assert_int_equal(remove_module(), -EWOULDBLOCK);
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	assert_int_equal(to_dmabuf(fd, bo.handle, &dmabuf), 0);
	close(fd);
	assert_int_equal(remove_module(), -EWOULDBLOCK);
	close(dmabuf);
}

/* Leaves no module. */
static void a_mapping_outlives_the_module(void **state)
{
	struct drm_vinci_bo_create bo;
	int fd = open_node();
	uint64_t *p;

	(void)state;
	assert_int_equal(bo_create(fd, MIB, &bo), 0);
	p = map(fd, MIB, MAP_SHARED, bo.mmap_offset);
	assert_ptr_not_equal(p, MAP_FAILED);
	p[7] = 77;
	close(fd);
	assert_int_equal(remove_module(), 0);
	assert_int_equal(p[7], 77);
	p[MIB / 8 - 1] = 88; /* a page that was not there yet */
	assert_int_equal(p[MIB / 8 - 1], 88);
	munmap(p, MIB);
}

/* With an argument: what ends without the module. */
int main(int argc, char **argv)
{
	const struct CMUnitTest last[] = { cmocka_unit_test(a_mapping_outlives_the_module) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_on_the_descriptor),
		cmocka_unit_test(a_process_dies_and_its_child_keeps_the_descriptor),
		cmocka_unit_test(whitelists_take_the_bare_number),
		cmocka_unit_test(users),
		cmocka_unit_test(the_primary_node_is_closed),
		cmocka_unit_test(no_other_requests),
		cmocka_unit_test(a_dmabuf_is_a_holder),
		cmocka_unit_test(what_has_no_dmabuf),
		cmocka_unit_test(mapping_rules),
		cmocka_unit_test(a_shared_futex),
		cmocka_unit_test(a_page_fault_holds_up_nobody),
		cmocka_unit_test(killed_at_any_moment),
		cmocka_unit_test(the_module_stays_while_it_is_used),
	};

	(void)argv;
	if (argc > 1)
		return cmocka_run_group_tests(last, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
