// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The module: its parameters, the DRM driver on a platform device of its own, and the file operations. */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "vinci_compat.h"
#include "vinci_drv.h"

/* --- parameters ---------------------------------------------------------------------------- */

static unsigned int devices = 8;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "Number of NPUs, 1 to 64 (8)");

static unsigned long hbm_mib = 65536;
module_param(hbm_mib, ulong, 0444);
MODULE_PARM_DESC(hbm_mib, "Memory of each NPU in MiB, a multiple of 2; backed on first touch (65536)");

static unsigned int notifies = 8192;
module_param(notifies, uint, 0444);
MODULE_PARM_DESC(notifies, "Notify ids of each NPU, at most 1048576 (8192)");

static unsigned int sdid;
module_param(sdid, uint, 0444);
MODULE_PARM_DESC(sdid, "Number of this server within its super node (0)");

static char *soc = "Ascend910B1";
module_param(soc, charp, 0444);
MODULE_PARM_DESC(soc, "SoC name, at most 31 characters (Ascend910B1)");

static unsigned long long peers[VINCI_MAX_DEVICES];
static int peer_count;
module_param_array(peers, ullong, &peer_count, 0444);
MODULE_PARM_DESC(peers, "For each NPU the mask of those it reaches (all)");

static bool accel;
module_param(accel, bool, 0444);
MODULE_PARM_DESC(accel, "Be an accel node instead of a render node, where the kernel has them (N)");

static int read_config(struct vinci_config *config)
{
	unsigned int d;

	config->devices = devices;
	config->notify_limit = notifies;
	config->sdid = sdid;
	config->max_handles = VINCI_MAX_HANDLES;
	config->mem_bytes = (u64)hbm_mib << 20;
	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		config->peers[d] = peer_count ? peers[d] : ~BIT_ULL(d);
	if (strscpy(config->soc, soc, sizeof(config->soc)) < 0 || hbm_mib % 2 || hbm_mib > 1ul << 26 ||
	    (peer_count && peer_count != devices) || !vinci_config_valid(config)) {
		pr_err("vinci: a parameter is out of its range, see modinfo\n");
		return -EINVAL;
	}
	return 0;
}

/* --- file operations ----------------------------------------------------------------------- */

/*
 * Called at every close of a descriptor and with the exit of each process that has one. A process that dies takes
 * its file's contents along, although a child that it forked may keep the descriptor.
 */
static int vinci_flush(struct file *filp, fl_owner_t id)
{
	struct drm_file *file = filp->private_data;

	if ((current->flags & PF_EXITING) && vinci_file_is_own(file->driver_priv))
		vinci_file_release(file->driver_priv);
	return 0;
}

static int vinci_release(struct inode *inode, struct file *filp)
{
	struct drm_file *file = filp->private_data;

	vinci_file_release(file->driver_priv);
	return drm_release(inode, filp);
}

#define VINCI_FOPS \
	.owner = THIS_MODULE, .flush = vinci_flush, .release = vinci_release, .unlocked_ioctl = vinci_ioctl, \
	.compat_ioctl = compat_ptr_ioctl, .mmap = vinci_mmap, .llseek = noop_llseek, VINCI_FOP_FLAGS

#define VINCI_DRIVER \
	.prime_handle_to_fd = vinci_prime_handle_to_fd, .prime_fd_to_handle = drm_gem_prime_fd_to_handle, \
	.gem_prime_import = vinci_prime_import, .open = vinci_open, .postclose = vinci_postclose, \
	.ioctls = vinci_requests, .num_ioctls = VINCI_REQUEST_COUNT, VINCI_DRIVER_DATE .name = "vinci", \
	.desc = "NPUs without hardware", \
	.major = VINCI_UAPI_MAJOR, .minor = VINCI_UAPI_MINOR

static const struct file_operations render_fops = {
	.open = drm_open,
	VINCI_FOPS
};

static const struct drm_driver render_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER,
	.fops = &render_fops,
	VINCI_DRIVER,
};

#ifdef VINCI_HAVE_ACCEL
static const struct file_operations accel_fops = {
	.open = accel_open,
	VINCI_FOPS
};

static const struct drm_driver accel_driver = {
	.driver_features = DRIVER_GEM | DRIVER_COMPUTE_ACCEL,
	.fops = &accel_fops,
	VINCI_DRIVER,
};
#endif

static const struct drm_driver *choose_driver(void)
{
	if (!accel)
		return &render_driver;
#ifdef VINCI_HAVE_ACCEL
	return &accel_driver;
#else
	pr_err("vinci: this kernel has no accel nodes (CONFIG_DRM_ACCEL); load without accel=1\n");
	return NULL;
#endif
}

/* --- the device ---------------------------------------------------------------------------- */

static struct platform_device *platform;
static struct vinci_device *the_device;

static void free_tables(struct drm_device *drm, void *unused)
{
	struct vinci_device *device = to_vinci(drm);
	unsigned int d;

	WARN_ON(atomic_read(&device->own.live));
	WARN_ON(device->share_count);
	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		WARN_ON(device->used[d]);
	vinci_device_fini(device);
	mutex_destroy(&device->own.lock);
}

static int init_tables(struct vinci_device *device, const struct vinci_config *config)
{
	int r = vinci_device_init(device, config);

	if (r)
		return r;
	mutex_init(&device->own.lock);
	get_random_bytes(&device->instance, sizeof(device->instance));
	return drmm_add_action_or_reset(&device->own.drm, free_tables, NULL);
}

/*
 * DRM has 1 TiB of mmap offsets, less than the nominal memory of some machines, and a file that
 * holds an object twice needs twice its size. 2^50 pages stay below the sign of a loff_t.
 */
static void widen_offsets(struct drm_device *drm)
{
	drm_vma_offset_manager_destroy(drm->vma_offset_manager);
	drm_vma_offset_manager_init(drm->vma_offset_manager, DRM_FILE_PAGE_OFFSET_START, 1ul << 50);
}

static int create_device(const struct drm_driver *driver, const struct vinci_config *config)
{
	struct vinci_device *device = devm_drm_dev_alloc(&platform->dev, driver, struct vinci_device, own.drm);
	int r;

	if (IS_ERR(device))
		return PTR_ERR(device);
	r = init_tables(device, config);
	if (r)
		return r;
	widen_offsets(&device->own.drm);
	r = drm_dev_register(&device->own.drm, 0);
	if (!r)
		the_device = device;
	return r;
}

static int __init vinci_init(void)
{
	const struct drm_driver *driver = choose_driver();
	struct vinci_config config;
	int r;

	if (PAGE_SIZE != VINCI_NOTIFY_PAGE_SIZE) {
		pr_err("vinci: needs a kernel with pages of 4096 bytes, this one has %lu\n", PAGE_SIZE);
		return -ENODEV;
	}
	if (!driver)
		return -ENODEV;
	r = read_config(&config);
	if (r)
		return r;
	platform = platform_device_register_simple("vinci", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(platform))
		return PTR_ERR(platform);
	if (!devres_open_group(&platform->dev, NULL, GFP_KERNEL)) {
		r = -ENOMEM;
		goto err_unregister;
	}
	r = create_device(driver, &config);
	if (r)
		goto err_release;
	return 0;

err_release:
	devres_release_group(&platform->dev, NULL);
err_unregister:
	platform_device_unregister(platform);
	return r;
}

static void __exit vinci_exit(void)
{
	drm_dev_unregister(&the_device->own.drm);
	devres_release_group(&platform->dev, NULL);
	platform_device_unregister(platform);
}

module_init(vinci_init);
module_exit(vinci_exit);

MODULE_DESCRIPTION("vinci: NPUs without hardware");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_INFO(import_ns, "DMA_BUF"); /* MODULE_IMPORT_NS() takes a token in some kernels and a string in others */
