/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"
#include "soft/device.h"
#include "transport_inproc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vinci_device *device;
static unsigned int open_files;
static struct vinci_process identity;

struct inproc {
	struct transport base;
	struct vinci_file *file;
};

void inproc_identity(pid_t pid, uint64_t start)
{
	identity = (struct vinci_process){ .pid = pid, .uid = geteuid(), .identity = { start } };
}

static int inproc_open(const struct drv_settings *settings, struct transport **out, char *why, size_t why_len)
{
	struct inproc *t = calloc(1, sizeof(*t));
	struct vinci_config config;
	int r = 0;

	(void)why;
	(void)why_len;
	if (!t)
		return -ENOMEM;
	soft_config_default(&config);
	config.devices = settings->devices;
	config.mem_bytes = settings->mem_bytes;
	config.notify_limit = settings->notify_limit;
	memcpy(config.peers, settings->peers, sizeof(config.peers));
	t->base.ops = &transport_inproc;
	pthread_mutex_lock(&lock);
	if (!device)
		r = soft_device_create(&config, &device);
	if (!r)
		r = soft_file_open(device, &identity, &t->file);
	open_files += !r;
	pthread_mutex_unlock(&lock);
	if (r)
		free(t);
	else
		*out = &t->base;
	return r;
}

/* The last one takes the device along, as vincid would leave. */
static void inproc_close(struct transport *base)
{
	struct inproc *t = (struct inproc *)base;

	pthread_mutex_lock(&lock);
	soft_file_release(t->file);
	if (!--open_files) {
		soft_device_destroy(device);
		device = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(t);
}

static int user_copy(void *own, uint64_t user, size_t size, bool write)
{
	struct iovec mine = { own, size };
	struct iovec theirs = { (void *)(uintptr_t)user, size };
	ssize_t n = write ? process_vm_writev(getpid(), &mine, 1, &theirs, 1, 0) :
			    process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0);

	return n == (ssize_t)size ? 0 : -EFAULT;
}

static int user_read(struct soft_user *user, void *dst, uint64_t src, size_t size)
{
	(void)user;
	return user_copy(dst, src, size, false);
}

static int user_write(struct soft_user *user, uint64_t dst, const void *src, size_t size)
{
	(void)user;
	return user_copy((void *)(uintptr_t)src, dst, size, true);
}

static int inproc_ioctl(struct transport *base, unsigned long request, void *arg)
{
	struct inproc *t = (struct inproc *)base;
	struct soft_user user = { user_read, user_write };
	struct soft_memory memory;
	uint64_t data[16384 / sizeof(uint64_t)];
	int r = user_copy(data, (uintptr_t)arg, _IOC_SIZE(request), false);

	if (r)
		return r;
	pthread_mutex_lock(&lock);
	r = soft_ioctl(t->file, request, data, &user, &memory);
	pthread_mutex_unlock(&lock);
	if (!r && (_IOC_DIR(request) & _IOC_READ))
		r = user_copy(data, (uintptr_t)arg, _IOC_SIZE(request), true);
	return r;
}

static int inproc_mmap(struct transport *base, void *addr, size_t len, int prot, uint64_t offset, void **out)
{
	struct inproc *t = (struct inproc *)base;
	struct soft_memory memory;
	void *p;
	int r;

	pthread_mutex_lock(&lock);
	r = soft_mmap(t->file, offset, len, &memory);
	if (!r) {
		p = mmap(addr, len, prot, MAP_SHARED | (addr ? MAP_FIXED : 0), memory.fd,
			 (off_t)(offset - memory.base));
		r = p == MAP_FAILED ? -errno : 0;
	}
	pthread_mutex_unlock(&lock);
	if (!r)
		*out = p;
	return r;
}

static int inproc_munmap(void *addr, size_t len)
{
	return munmap(addr, len) ? -errno : 0;
}

const struct transport_ops transport_inproc = {
	.name = "inproc",
	.open = inproc_open,
	.close = inproc_close,
	.ioctl = inproc_ioctl,
	.mmap = inproc_mmap,
	.munmap = inproc_munmap,
};
