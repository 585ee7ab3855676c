/* SPDX-License-Identifier: MIT */
/*
 * The transport to vinci.ko, through libdrm. libdrm is loaded when it is asked for and not before: whoever uses vincid
 * needs its headers to build and nothing of it to run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "drv/drv.h"
#include "drv/file_id.h"
#include "drv/transport.h"

#define DRM_DEVICES_MAX 64
#define ACCEL_NODES_MAX 64

/* Of an open transport: no state of the process, so no lock that a fork could leave taken. */
struct libdrm {
	__typeof__(drmIoctl) *ioctl;
	__typeof__(drmGetDevices2) *get_devices;
	__typeof__(drmFreeDevices) *free_devices;
	__typeof__(drmGetVersion) *get_version;
	__typeof__(drmFreeVersion) *free_version;
};

struct drm {
	struct transport base;
	struct libdrm lib;
	int fd;
	struct file_id file;
};

/* --- libdrm -------------------------------------------------------------------------------- */

/* It stays loaded. */
static int load_libdrm(struct libdrm *lib, char *why, size_t why_len)
{
	void *handle = dlopen("libdrm.so.2", RTLD_NOW | RTLD_LOCAL);
	const char *error;

	if (handle) {
		*(void **)&lib->ioctl = dlsym(handle, "drmIoctl");
		*(void **)&lib->get_devices = dlsym(handle, "drmGetDevices2");
		*(void **)&lib->free_devices = dlsym(handle, "drmFreeDevices");
		*(void **)&lib->get_version = dlsym(handle, "drmGetVersion");
		*(void **)&lib->free_version = dlsym(handle, "drmFreeVersion");
	}
	if (lib->ioctl && lib->get_devices && lib->free_devices && lib->get_version && lib->free_version)
		return 0;
	error = dlerror();
	(void)snprintf(why, why_len, "VINCI_DRIVER=drm needs libdrm.so.2, which cannot be loaded (%s)",
		       error ? error : "unknown reason");
	return -ENODEV;
}

/* --- the node ------------------------------------------------------------------------------ */

static bool is_vinci(const struct libdrm *lib, int fd)
{
	drmVersionPtr version = lib->get_version(fd);
	bool yes = version && version->name && !strcmp(version->name, "vinci");

	if (version)
		lib->free_version(version);
	return yes;
}

/* A descriptor, -ENODEV for a node that is not ours, -errno. Not in the place of a standard file that was closed. */
static int open_node(const struct libdrm *lib, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int high;

	if (fd < 0)
		return -errno;
	if (!is_vinci(lib, fd)) {
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
static int open_render(const struct libdrm *lib, char *path, size_t path_len)
{
	drmDevicePtr devices[DRM_DEVICES_MAX];
	int n = lib->get_devices(0, devices, DRM_DEVICES_MAX);
	int i, fd = -ENODEV;

	for (i = 0; i < n && fd < 0; i++) {
		if (devices[i]->bustype != DRM_BUS_PLATFORM || !(devices[i]->available_nodes & (1 << DRM_NODE_RENDER)))
			continue;
		if (strcmp(devices[i]->businfo.platform->fullname, "vinci"))
			continue;
		(void)snprintf(path, path_len, "%s", devices[i]->nodes[DRM_NODE_RENDER]);
		fd = open_node(lib, path);
	}
	if (n > 0)
		lib->free_devices(devices, n);
	return fd;
}

/* With accel=1; libdrm's enumeration does not know these nodes, the rest of it does. */
static int open_accel(const struct libdrm *lib, char *path, size_t path_len)
{
	int i, fd = -ENODEV;

	for (i = 0; i < ACCEL_NODES_MAX && (fd == -ENODEV || fd == -ENOENT); i++) {
		(void)snprintf(path, path_len, "/dev/accel/accel%d", i);
		fd = open_node(lib, path);
	}
	return fd;
}

static int find_node(struct libdrm *lib, char *why, size_t why_len)
{
	char path[256] = "";
	int fd = load_libdrm(lib, why, why_len);

	if (fd < 0)
		return fd;
	fd = open_render(lib, path, sizeof(path));
	if (fd == -ENODEV)
		fd = open_accel(lib, path, sizeof(path));
	if (fd == -EACCES || fd == -EPERM)
		(void)snprintf(why, why_len,
			       "user %u may not open %s: add the user to the node's group, which is render",
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

static int check_peers(struct drm *d, const struct drv_settings *want, uint64_t devices, char *why, size_t why_len)
{
	struct drm_vinci_device_info info = { 0 };

	for (info.device = 0; want->has_peers && info.device < devices; info.device++) {
		if (d->lib.ioctl(d->fd, DRM_IOCTL_VINCI_DEVICE_INFO, &info))
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

static int check_info(struct drm *d, const struct drv_settings *want, char *why, size_t why_len)
{
	struct drm_vinci_device_info info = { 0 };

	if (d->lib.ioctl(d->fd, DRM_IOCTL_VINCI_DEVICE_INFO, &info))
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
static int check_settings(struct drm *d, const struct drv_settings *want, char *why, size_t why_len)
{
	struct drm_vinci_get_param count = { .param = VINCI_PARAM_DEVICE_COUNT };
	struct drm_vinci_get_param version = { .param = VINCI_PARAM_UAPI_VERSION };
	int r;

	if (d->lib.ioctl(d->fd, DRM_IOCTL_VINCI_GET_PARAM, &version))
		return -errno;
	if (version.value >> 32 != VINCI_UAPI_MAJOR)
		return 0; /* drv_open() says so */
	if (d->lib.ioctl(d->fd, DRM_IOCTL_VINCI_GET_PARAM, &count))
		return -errno;
	if (want->devices && want->devices != count.value) {
		(void)snprintf(why, why_len, "the loaded module has %llu devices, asked for: %u" OTHER,
			       (unsigned long long)count.value, want->devices);
		return -EINVAL;
	}
	r = check_info(d, want, why, why_len);
	return r ? r : check_peers(d, want, count.value, why, why_len);
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
	d->fd = find_node(&d->lib, why, why_len);
	if (d->fd < 0) {
		r = d->fd;
		goto err_free;
	}
	(void)snprintf(why, why_len, "the device does not say what it is");
	r = file_of(d->fd, &d->file);
	if (!r)
		r = check_settings(d, settings, why, why_len);
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

	if (still_is(d->fd, d->file))
		(void)close(d->fd);
	free(d);
}

static int drm_ioctl(struct transport *t, unsigned long request, void *arg)
{
	struct drm *d = (struct drm *)t;

	if (!still_is(d->fd, d->file))
		return -ENOTCONN;
	return d->lib.ioctl(d->fd, request, arg) ? -errno : 0;
}

/* The kernel keeps the mapping out of forked children, and says EOVERFLOW to an offset that no object can have. */
static int drm_mmap(struct transport *t, void *addr, size_t len, int prot, uint64_t offset, void **out)
{
	struct drm *d = (struct drm *)t;
	void *p;

	if (!still_is(d->fd, d->file))
		return -ENOTCONN;
	if (!len || len % 4096 || offset % 4096 || offset >> 63 || (uintptr_t)addr % 4096)
		return -EINVAL;
	p = mmap(addr, len, prot, MAP_SHARED | (addr ? MAP_FIXED : 0), d->fd, (off_t)offset);
	if (p == MAP_FAILED)
		return errno == EOVERFLOW ? -EINVAL : -errno;
	*out = p;
	return 0;
}

static int drm_munmap(void *addr, size_t len)
{
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
