/* SPDX-License-Identifier: MIT */
/* Scalars, device information, and what holds for the shape of every request. */
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "suite.h"

static int get_param(struct node *n, uint32_t param, uint64_t *value)
{
	struct drm_vinci_get_param a = { .param = param };
	int r = node_ioctl(n, DRM_IOCTL_VINCI_GET_PARAM, &a);

	*value = a.value;
	return r;
}

static void params(void **state)
{
	struct node *n = node_self(), *p = node_peer();
	uint64_t version, count, mine, theirs, instance, again;

	(void)state;
	assert_ok(get_param(n, VINCI_PARAM_UAPI_VERSION, &version));
	assert_int_equal(version, (uint64_t)VINCI_UAPI_MAJOR << 32 | VINCI_UAPI_MINOR);
	assert_ok(get_param(n, VINCI_PARAM_DEVICE_COUNT, &count));
	assert_int_equal(count, NPUS);
	assert_ok(get_param(n, VINCI_PARAM_TGID, &mine));
	assert_int_equal(mine, getpid());
	assert_ok(get_param(p, VINCI_PARAM_TGID, &theirs));
	assert_int_equal(theirs, node_pid(p));
	assert_ok(get_param(n, VINCI_PARAM_INSTANCE, &instance));
	assert_ok(get_param(p, VINCI_PARAM_INSTANCE, &again));
	assert_int_equal(instance, again);
	assert_int_not_equal(instance, 0);
}

static void param_refusals(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_get_param a = { .param = VINCI_PARAM_INSTANCE + 1, .value = 77 };

	(void)state;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_GET_PARAM, &a), EINVAL);
	assert_int_equal(a.value, 77);
	a = (struct drm_vinci_get_param){ .param = VINCI_PARAM_TGID, .pad = 1, .value = 77 };
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_GET_PARAM, &a), EINVAL);
	assert_int_equal(a.value, 77);
}

static void device_info(void **state)
{
	struct node *n = node_self();
	struct drm_vinci_device_info a = { .device = 1 };

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &a));
	assert_int_equal(a.mem_total, NPU_MEMORY);
	assert_int_equal(a.mem_used, 0);
	assert_int_equal(a.peer_mask, 0x5);
	assert_int_equal(a.notify_limit, NOTIFIES);
	assert_memory_equal(a.soc, "Ascend", 6);
	assert_non_null(memchr(a.soc, 0, sizeof(a.soc)));
	a = (struct drm_vinci_device_info){ .device = 3 };
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &a));
	assert_int_equal(a.peer_mask, 0);
	a = (struct drm_vinci_device_info){ .device = NPUS };
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &a), ENODEV);
	a.device = ~0u;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &a), ENODEV);
}

static void unknown_requests(void **state)
{
	struct node *n = node_self();
	uint64_t arg[32] = { 0 };

	(void)state;
	assert_fails(node_ioctl(n, DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_LIST + 1, arg), arg), EINVAL);
	assert_fails(node_ioctl(n, DRM_IOWR(DRM_COMMAND_BASE + 0x5f, arg), arg), EINVAL);
	assert_fails(node_ioctl(n, DRM_IOWR(0x3f, arg), arg), EINVAL);
	assert_fails(node_ioctl(n, DRM_IOWR(0xff, arg), arg), EINVAL);
}

/* A caller built against an older header sends less: what it lacks is zero, and it gets back what it has room for. */
static void shorter_argument(void **state)
{
	struct node *n = node_self();
	struct { uint32_t param, pad; } small = { .param = VINCI_PARAM_DEVICE_COUNT };
	struct { struct drm_vinci_device_info info; uint64_t guard; } info = { .guard = 42 };
	struct node *b = node_self();
	struct bo bo;
	struct { uint32_t handle, object; uint64_t size; } short_info;

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_GET_PARAM, small), &small));
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_DEVICE_INFO, &info.info));
	assert_int_equal(info.guard, 42);
	assert_ok(bo_create(b, 0, 4096, VINCI_PAGE_4K, &bo));
	short_info.handle = bo.handle;
	assert_ok(node_ioctl(b, DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_BO_INFO, short_info), &short_info));
	assert_int_equal(short_info.object, VINCI_OBJECT_BO);
	assert_int_equal(short_info.size, 4096);
}

/* A newer one sends more: what this device does not know comes back as zero. */
static void longer_argument(void **state)
{
	struct node *n = node_self();
	struct { struct drm_vinci_get_param a; uint64_t more[4]; } big = {
		.a = { .param = VINCI_PARAM_DEVICE_COUNT }, .more = { 1, 2, 3, 4 }
	};

	(void)state;
	assert_ok(node_ioctl(n, DRM_IOWR(DRM_COMMAND_BASE + DRM_VINCI_GET_PARAM, big), &big));
	assert_int_equal(big.a.value, NPUS);
	assert_int_equal(big.more[0] | big.more[3], 0);
}

static void bad_pointers(void **state)
{
	struct node *n = node_self();
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t count;

	(void)state;
	assert_ptr_not_equal(hole, MAP_FAILED);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_GET_PARAM, NULL), EFAULT);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_BO_CREATE, hole), EFAULT);
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_SHARE_ALLOW, hole), EFAULT);
	/* and the file goes on working */
	assert_ok(get_param(n, VINCI_PARAM_DEVICE_COUNT, &count));
	assert_int_equal(count, NPUS);
	(void)munmap(hole, 4096);
}

int run_query_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(params, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(param_refusals, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(device_info, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(unknown_requests, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(shorter_argument, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(longer_argument, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(bad_pointers, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
