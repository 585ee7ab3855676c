/* SPDX-License-Identifier: MIT */
/*
 * kmod_fuzz SECONDS [SEED]: nobody, in the group that may open the node, does to the device what it can think of: threads of
 * several processes with random requests, structured ones among them, mappings, dma-bufs, forks and deaths, on files that
 * they share. The kernel must not complain, no request may hang or answer what the contract does not have, nobody may read
 * what is another's (memory that is new must be zero; a victim's pages must stay as they are), and at the end nothing is
 * left.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uapi/vinci_drm.h"

#define NODE "/dev/dri/renderD128"
#define PROCESSES 3
#define THREADS 3
#define FILES 3
#define MIB (1ull << 20)
#define NOBODY 65534
#define RENDER 104 /* the node's group meanwhile */
#define SECRET 0x5ec7e75ec7e75ec7ull

struct fuzzer {
	uint64_t random;
	int fds[FILES]; /* of the process, shared by its threads; one is reopened now and then */
	struct drm_vinci_share_export last; /* a name that exists, perhaps no more */
	uint64_t offset; /* an mmap offset that was one */
	int dmabuf;
	unsigned long requests;
};

static time_t end;

static uint32_t any(struct fuzzer *f, uint32_t below)
{
	f->random = f->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(f->random >> 33) % below;
}

/* Mostly small numbers, which reach further than noise. */
static uint64_t value(struct fuzzer *f)
{
	switch (any(f, 10)) {
	case 0:
		return ~0ull;
	case 1:
		return 1ull << any(f, 64);
	case 2:
		return 4096ull << any(f, 12);
	case 3:
		return MIB;
	case 4:
		return f->offset;
	default:
		return any(f, 12);
	}
}

static void die(const char *what, long a, long b)
{
	printf("kmod_fuzz: %s (%ld, %ld)\n", what, a, b);
	(void)fflush(stdout);
	_exit(1);
}

static void check_errno(unsigned int nr, int r)
{
	static const int known[] = {
		EINVAL, ENOENT, ENODEV, ENOMEM, ENOSPC, EBUSY, EACCES, EPERM, ESTALE, EEXIST, E2BIG, EFAULT, EDQUOT, EIDRM,
		EKEYEXPIRED, ESRCH, EOPNOTSUPP, EBADF, EMFILE,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (r == known[i])
			return;
	die("an errno that the contract does not have", nr, r);
}

static int request(struct fuzzer *f, int fd, unsigned long nr, void *arg)
{
	f->requests++;
	if (!ioctl(fd, nr, arg))
		return 0;
	check_errno(_IOC_NR(nr), errno);
	return -1;
}

/* --- what it does -------------------------------------------------------------------------- */

static void noise(struct fuzzer *f, int fd)
{
	static const uint8_t core[] = { 0x00, 0x01, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x2d, 0x2e, 0xbf, 0xc4 };
	uint64_t arg[80];
	unsigned int nr = any(f, 8) ? DRM_COMMAND_BASE + any(f, DRM_VINCI_LIST + 2) : core[any(f, sizeof(core))];
	unsigned int i;

	/* No request is given a pointer into memory that matters. */
	for (i = 0; i < 80; i++)
		arg[i] = any(f, 3) ? 0 : (value(f) & 0xffffffff) | (any(f, 4) ? 0 : (uint64_t)any(f, 9) << 32);
	for (i = 0; i < 4; i++)
		((uint32_t *)arg)[i] = (uint32_t)value(f);
	if (any(f, 2)) {
		memcpy(arg, &f->last.kind, 4);
		memcpy((char *)arg + 4, &f->last.name_len, 4);
		memcpy((char *)arg + 8, f->last.name, VINCI_NAME_MAX);
	}
	(void)request(f, fd, _IOC(any(f, 4), DRM_IOCTL_BASE, nr, any(f, 3) ? 184 : any(f, 600)), arg);
}

static void create(struct fuzzer *f, int fd)
{
	struct drm_vinci_bo_create bo = { .size = 4096ull << any(f, 9), .device = any(f, 4), .numa_node = -1 };
	struct drm_vinci_share_export name = { .kind = 1 + any(f, 5), .flags = any(f, 2) };
	uint64_t *p;

	if (request(f, fd, DRM_IOCTL_VINCI_BO_CREATE, &bo))
		return;
	f->offset = bo.mmap_offset;
	/* On a file of its own process nobody else maps an object that is not shared yet, except by a guess. */
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bo.mmap_offset);
	if (p != MAP_FAILED) {
		if (p[9] == SECRET)
			die("new memory shows what the victim wrote", (long)bo.handle, 0);
		(void)munmap(p, 4096);
	}
	name.handle = bo.handle;
	name.size = bo.size;
	if (!request(f, fd, DRM_IOCTL_VINCI_SHARE_EXPORT, &name))
		f->last = name;
	if (any(f, 4))
		(void)request(f, fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = bo.handle });
}

static void import(struct fuzzer *f, int fd)
{
	struct drm_vinci_share_import im = {
		.kind = f->last.kind, .name_len = f->last.name_len, .device = any(f, 4)
	};

	memcpy(im.name, f->last.name, sizeof(im.name));
	if (!im.name_len || request(f, fd, DRM_IOCTL_VINCI_SHARE_IMPORT, &im))
		return;
	f->offset = im.mmap_offset;
	if (any(f, 2))
		(void)request(f, fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = im.handle });
}

static void allow(struct fuzzer *f, int fd)
{
	int32_t pids[64];
	struct drm_vinci_share_allow a = { .kind = f->last.kind, .name_len = f->last.name_len, .elem_size = 4 };
	unsigned int i;

	for (i = 0; i < 64; i++)
		pids[i] = (int32_t)any(f, 30000) - (any(f, 50) ? 0 : 40000);
	memcpy(a.name, f->last.name, sizeof(a.name));
	a.pids = (uintptr_t)pids;
	a.count = any(f, 33);
	(void)request(f, fd, DRM_IOCTL_VINCI_SHARE_ALLOW, &a);
}

static void look(struct fuzzer *f, int fd)
{
	uint64_t rows[512];
	struct drm_vinci_list a = {
		.type = 1 + any(f, 5), .elem_size = 8 + any(f, 56), .array = (uintptr_t)rows, .count = any(f, 64)
	};

	(void)request(f, fd, DRM_IOCTL_VINCI_LIST, &a);
}

static void notify(struct fuzzer *f, int fd)
{
	struct drm_vinci_notify_ids ids = { .device = any(f, 4), .count = 1 + any(f, 3) };
	struct drm_vinci_notify_create a = { .device = ids.device };

	if (any(f, 8) || request(f, fd, DRM_IOCTL_VINCI_NOTIFY_IDS, &ids))
		return;
	a.id = ids.first;
	(void)request(f, fd, DRM_IOCTL_VINCI_NOTIFY_CREATE, &a);
}

static void map(struct fuzzer *f, int fd)
{
	uint64_t offset = any(f, 4) ? f->offset + 4096ull * any(f, 4) : value(f) << 12;
	size_t size = 4096ull << any(f, 6);
	volatile uint64_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	size_t i;

	if (p == MAP_FAILED)
		return;
	for (i = 0; i < size / 8; i += 512) {
		if (p[i + 9] == SECRET)
			die("a mapping shows what the victim wrote", (long)offset, (long)i);
		p[i] = i;
	}
	if (!any(f, 4))
		(void)madvise((void *)p, size, MADV_REMOVE);
	(void)munmap((void *)p, size);
}

static void dmabuf(struct fuzzer *f, int fd)
{
	struct drm_prime_handle a = { .handle = any(f, 20), .flags = DRM_CLOEXEC | DRM_RDWR, .fd = f->dmabuf };

	if (any(f, 2)) {
		(void)request(f, fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &a);
		return;
	}
	if (request(f, fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &a))
		return;
	if (f->dmabuf >= 0)
		(void)close(f->dmabuf);
	f->dmabuf = a.fd;
}

/* Another process on the same descriptors, with a moment of its own to die. */
static void forked(struct fuzzer *f, int fd)
{
	pid_t pid = any(f, 20) ? -1 : fork();

	if (!pid) {
		noise(f, fd);
		map(f, fd);
		_exit(0);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
}

static void reopen(struct fuzzer *f)
{
	int *at = &f->fds[any(f, FILES)];
	int fd = any(f, 30) ? -1 : open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)dup2(fd, *at); /* other threads have requests on it */
	(void)close(fd);
}

static void act(struct fuzzer *f)
{
	static void (*const acts[])(struct fuzzer *f, int fd) = {
		noise, noise, noise, create, create, import, import, allow, look, notify, map, map, dmabuf, forked
	};

	acts[any(f, sizeof(acts) / sizeof(acts[0]))](f, f->fds[any(f, FILES)]);
	if (!any(f, 64))
		(void)request(f, f->fds[0], DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = any(f, 64) });
	reopen(f);
}

/* --- processes ----------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct fuzzer *f = arg;

	while (time(NULL) < end)
		act(f);
	return NULL;
}

static int process_main(uint64_t seed)
{
	struct rlimit files = { 128, 128 };
	struct fuzzer f[THREADS];
	pthread_t threads[THREADS];
	unsigned long sum = 0;
	int i, j;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)alarm((unsigned int)(end - time(NULL)) + 60); /* a request that hangs */
	for (i = 0; i < THREADS; i++) {
		f[i] = (struct fuzzer){ .random = seed * 31 + (unsigned int)i, .dmabuf = -1 };
		for (j = 0; j < FILES; j++)
			f[i].fds[j] = i ? f[0].fds[j] : open(NODE, O_RDWR | O_CLOEXEC);
	}
	if (f[0].fds[FILES - 1] < 0)
		die("the node cannot be opened", errno, 0);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_main, &f[i]))
			die("no thread", errno, 0);
	for (i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		sum += f[i].requests;
	}
	printf("kmod_fuzz: %lu requests\n", sum);
	(void)fflush(stdout);
	return 0;
}

/* Memory of root, which no fuzzer is given. */
static uint64_t *make_secret(int fd)
{
	struct drm_vinci_bo_create bo = { .size = MIB, .device = 1, .numa_node = -1 };
	struct drm_vinci_share_export name = { .kind = VINCI_SHARE_IPC_MEM, .size = MIB };
	uint64_t *p = MAP_FAILED;
	size_t i;

	if (!ioctl(fd, DRM_IOCTL_VINCI_BO_CREATE, &bo))
		p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bo.mmap_offset);
	name.handle = bo.handle;
	if (p == MAP_FAILED || ioctl(fd, DRM_IOCTL_VINCI_SHARE_EXPORT, &name))
		die("the victim cannot be set up", errno, 0);
	for (i = 0; i < MIB / 8; i++)
		p[i] = SECRET;
	return p;
}

static void check_secret(const uint64_t *p)
{
	size_t i;

	for (i = 0; i < MIB / 8; i++)
		if (p[i] != SECRET)
			die("the victim's memory was written to", (long)i, 0);
}

static void check_empty(int fd)
{
	struct drm_vinci_list a = { .type = VINCI_LIST_PROCESSES, .elem_size = 24 };
	struct drm_vinci_device_info info = { .device = 0 };

	if (ioctl(fd, DRM_IOCTL_VINCI_LIST, &a) || a.count != 1)
		die("files are left", a.count, 0);
	for (info.device = 0; info.device < 4; info.device++)
		if (ioctl(fd, DRM_IOCTL_VINCI_DEVICE_INFO, &info) || info.mem_used != (info.device == 1 ? MIB : 0))
			die("memory is left", info.device, (long)info.mem_used);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 20;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
	int fd = open(NODE, O_RDWR | O_CLOEXEC), i, status, bad = 0;
	uint64_t *secret;
	pid_t pids[PROCESSES];

	if (fd < 0 || chown(NODE, 0, RENDER) || chmod(NODE, 0660))
		die("the node cannot be opened", errno, 0);
	printf("kmod_fuzz: seed %llu\n", (unsigned long long)seed);
	(void)fflush(stdout); /* the children have a copy of what is not written yet */
	end = time(NULL) + (time_t)seconds;
	secret = make_secret(fd);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		if (setgroups(0, NULL) || setgid(RENDER) || setuid(NOBODY))
			_exit(1);
		_exit(process_main(seed * 100 + (unsigned int)i));
	}
	for (i = 0; i < PROCESSES; i++)
		bad |= waitpid(pids[i], &status, 0) != pids[i] || status;
	check_secret(secret);
	check_empty(fd);
	return bad || chown(NODE, 0, 0) || chmod(NODE, 0600) ? 1 : 0;
}
