/* SPDX-License-Identifier: MIT */
/*
 * The transport to vinci.ko, through libdrm. libdrm is loaded when it is asked for and not before: whoever uses vincid
 * needs its headers to build and nothing of it to run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "drv/drv.h"
#include "drv/transport.h"

#define DRM_DEVICES_MAX 64
#define ACCEL_NODES_MAX 64

struct drm {
	struct transport base;
	int fd;
};

/* --- libdrm -------------------------------------------------------------------------------- */

static struct {
	__typeof__(drmIoctl) *ioctl;
	__typeof__(drmGetDevices2) *get_devices;
	__typeof__(drmFreeDevices) *free_devices;
	__typeof__(drmGetVersion) *get_version;
	__typeof__(drmFreeVersion) *free_version;
} libdrm;

static bool libdrm_loaded;
static pthread_once_t libdrm_once = PTHREAD_ONCE_INIT;

/* Stays loaded: its functions may be running in any thread. */
static void load_libdrm(void)
{
	void *lib = dlopen("libdrm.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return;
	*(void **)&libdrm.ioctl = dlsym(lib, "drmIoctl");
	*(void **)&libdrm.get_devices = dlsym(lib, "drmGetDevices2");
	*(void **)&libdrm.free_devices = dlsym(lib, "drmFreeDevices");
	*(void **)&libdrm.get_version = dlsym(lib, "drmGetVersion");
	*(void **)&libdrm.free_version = dlsym(lib, "drmFreeVersion");
	libdrm_loaded = libdrm.ioctl && libdrm.get_devices && libdrm.free_devices && libdrm.get_version &&
			libdrm.free_version;
}

/* --- the node ------------------------------------------------------------------------------ */

static bool is_vinci(int fd)
{
	drmVersionPtr version = libdrm.get_version(fd);
	bool yes = version && version->name && !strcmp(version->name, "vinci");

	if (version)
		libdrm.free_version(version);
	return yes;
}

/* A descriptor, -ENODEV for a node that is not ours, -errno. Not in the place of a standard file that was closed. */
static int open_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int high;

	if (fd < 0)
		return -errno;
	if (!is_vinci(fd)) {
		(void)close(fd);
		return -ENODEV;
	}
	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		high = -errno;
	(void)close(fd);
	return high;
}

/* Only platform devices are opened: a look at the node would wake up many a graphics card. */
static int open_render(char *path, size_t path_len)
{
	drmDevicePtr devices[DRM_DEVICES_MAX];
	int n = libdrm.get_devices(0, devices, DRM_DEVICES_MAX);
	int i, fd = -ENODEV;

	for (i = 0; i < n && fd < 0; i++) {
		if (devices[i]->bustype != DRM_BUS_PLATFORM || !(devices[i]->available_nodes & (1 << DRM_NODE_RENDER)))
			continue;
		if (strcmp(devices[i]->businfo.platform->fullname, "vinci"))
			continue;
		(void)snprintf(path, path_len, "%s", devices[i]->nodes[DRM_NODE_RENDER]);
		fd = open_node(path);
	}
	if (n > 0)
		libdrm.free_devices(devices, n);
	return fd;
}

/* With accel=1; libdrm's enumeration does not know these nodes, the rest of it does. */
static int open_accel(char *path, size_t path_len)
{
	int i, fd = -ENODEV;

	for (i = 0; i < ACCEL_NODES_MAX && (fd == -ENODEV || fd == -ENOENT); i++) {
		(void)snprintf(path, path_len, "/dev/accel/accel%d", i);
		fd = open_node(path);
	}
	return fd;
}

static int find_node(char *why, size_t why_len)
{
	char path[256] = "";
	int fd;

	(void)pthread_once(&libdrm_once, load_libdrm);
	if (!libdrm_loaded) {
		(void)snprintf(why, why_len, "VINCI_DRIVER=drm needs libdrm.so.2, which is not installed");
		return -ENODEV;
	}
	fd = open_render(path, sizeof(path));
	if (fd == -ENODEV)
		fd = open_accel(path, sizeof(path));
	if (fd == -EACCES || fd == -EPERM)
		(void)snprintf(why, why_len, "user %u may not open %s: add the user to the node's group, which is render",
			       (unsigned int)geteuid(), path);
	else if (fd == -ENODEV || fd == -ENOENT)
		(void)snprintf(why, why_len,
			       "VINCI_DRIVER=drm, but there is no device node of vinci.ko: load the module (modprobe "
			       "vinci), and give a container its node with --device");
	else if (fd < 0)
		(void)snprintf(why, why_len, "%s cannot be opened (%s)", path, strerror(-fd));
	return fd == -ENOENT ? -ENODEV : fd;
}

/* --- settings ------------------------------------------------------------------------------ */

#define OTHER " (modprobe vinci with other parameters, or leave the setting out)"

static int check_peers(int fd, const struct drv_settings *want, uint64_t devices, char *why, size_t why_len)
{
	struct drm_vinci_device_info info = { 0 };

	for (info.device = 0; want->has_peers && info.device < devices; info.device++) {
		if (libdrm.ioctl(fd, DRM_IOCTL_VINCI_DEVICE_INFO, &info))
			return -errno;
		if (info.peer_mask == want->peers[info.device])
			continue;
		(void)snprintf(why, why_len,
			       "device %u of the loaded module reaches the devices 0x%llx, asked for: 0x%llx" OTHER,
			       info.device, (unsigned long long)info.peer_mask,
			       (unsigned long long)want->peers[info.device]);
		return -EINVAL;
	}
	return 0;
}

static int check_info(int fd, const struct drv_settings *want, char *why, size_t why_len)
{
	struct drm_vinci_device_info info = { 0 };

	if (libdrm.ioctl(fd, DRM_IOCTL_VINCI_DEVICE_INFO, &info))
		return -errno;
	if (want->mem_bytes && want->mem_bytes != info.mem_total)
		(void)snprintf(why, why_len,
			       "the devices of the loaded module have %llu bytes of memory, asked for: %llu" OTHER,
			       (unsigned long long)info.mem_total, (unsigned long long)want->mem_bytes);
	else if (want->notify_limit && want->notify_limit != info.notify_limit)
		(void)snprintf(why, why_len, "the devices of the loaded module have %u notifies, asked for: %u" OTHER,
			       info.notify_limit, want->notify_limit);
	else if (want->soc[0] && strncmp(want->soc, (const char *)info.soc, sizeof(info.soc)))
		(void)snprintf(why, why_len, "the loaded module is of %.*s, asked for: %.*s" OTHER,
			       (int)sizeof(info.soc), (const char *)info.soc, (int)sizeof(want->soc), want->soc);
	else
		return 0;
	return -EINVAL;
}

/* The module was loaded with its settings: those that the user asks for must be these. */
static int check_settings(int fd, const struct drv_settings *want, char *why, size_t why_len)
{
	struct drm_vinci_get_param count = { .param = VINCI_PARAM_DEVICE_COUNT };
	struct drm_vinci_get_param version = { .param = VINCI_PARAM_UAPI_VERSION };
	int r;

	if (libdrm.ioctl(fd, DRM_IOCTL_VINCI_GET_PARAM, &version))
		return -errno;
	if (version.value >> 32 != VINCI_UAPI_MAJOR)
		return 0; /* drv_open() says so */
	if (libdrm.ioctl(fd, DRM_IOCTL_VINCI_GET_PARAM, &count))
		return -errno;
	if (want->devices && want->devices != count.value) {
		(void)snprintf(why, why_len, "the loaded module has %llu devices, asked for: %u" OTHER,
			       (unsigned long long)count.value, want->devices);
		return -EINVAL;
	}
	r = check_info(fd, want, why, why_len);
	return r ? r : check_peers(fd, want, count.value, why, why_len);
}

/* --- the transport ------------------------------------------------------------------------- */

static int drm_open(const struct drv_settings *settings, struct transport **out, char *why, size_t why_len)
{
	struct drm *d = calloc(1, sizeof(*d));
	int r;

	if (!d) {
		(void)snprintf(why, why_len, "out of host memory");
		return -ENOMEM;
	}
	d->base.ops = &transport_drm;
	d->fd = find_node(why, why_len);
	if (d->fd < 0) {
		r = d->fd;
		goto err_free;
	}
	(void)snprintf(why, why_len, "the device does not say what it is");
	r = check_settings(d->fd, settings, why, why_len);
	if (r)
		goto err_close;
	*out = &d->base;
	return 0;

err_close:
	(void)close(d->fd);
err_free:
	free(d);
	return r;
}

/* In a forked child this closes a descriptor of its own; the file is its parent's. */
static void drm_close(struct transport *t)
{
	struct drm *d = (struct drm *)t;

	(void)close(d->fd);
	free(d);
}

static int drm_ioctl(struct transport *t, unsigned long request, void *arg)
{
	return libdrm.ioctl(((struct drm *)t)->fd, request, arg) ? -errno : 0;
}

/* The kernel keeps the mapping out of forked children, and says EOVERFLOW to an offset that no object can have. */
static int drm_mmap(struct transport *t, void *addr, size_t len, int prot, uint64_t offset, void **out)
{
	void *p;

	if (!len || len % 4096 || offset % 4096 || offset >> 63 || (uintptr_t)addr % 4096)
		return -EINVAL;
	p = mmap(addr, len, prot, MAP_SHARED | (addr ? MAP_FIXED : 0), ((struct drm *)t)->fd, (off_t)offset);
	if (p == MAP_FAILED)
		return errno == EOVERFLOW ? -EINVAL : -errno;
	*out = p;
	return 0;
}

static int drm_munmap(struct transport *t, void *addr, size_t len)
{
	(void)t;
	return munmap(addr, len) ? -errno : 0;
}

const struct transport_ops transport_drm = {
	.name = "drm",
	.open = drm_open,
	.close = drm_close,
	.ioctl = drm_ioctl,
	.mmap = drm_mmap,
	.munmap = drm_munmap,
};
