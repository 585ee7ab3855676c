/* SPDX-License-Identifier: MIT */
/* Random requests: whatever the arguments, the device answers with an errno of its contract and keeps its accounts. */
#include <unistd.h>

#include "harness.h"
#include "suite.h"

#define ROUNDS 20000

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Mostly small numbers, which reach further than noise. */
static uint64_t value(void)
{
	switch (any(8)) {
	case 0:
		return ~0ull;
	case 1:
		return 1ull << any(64);
	case 2:
		return 4096ull << any(20);
	case 3:
		return 2 * MIB;
	default:
		return any(9);
	}
}

static bool is_known_error(int r)
{
	static const int known[] = {
		0, EINVAL, ENOENT, ENODEV, ENOMEM, ENOSPC, EBUSY, EACCES, EPERM, ESTALE, EEXIST, E2BIG, EFAULT, EDQUOT,
		EIDRM, EKEYEXPIRED, ESRCH, EOPNOTSUPP, EFBIG,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (r == -known[i])
			return true;
	return false;
}

static void fill(uint64_t *arg, const struct name *name, unsigned int nr)
{
	uint8_t *bytes = (uint8_t *)arg;
	unsigned int i;

	for (i = 0; i < 64; i++)
		arg[i] = any(3) ? 0 : (value() & 0xffffffff) | value() << 32;
	for (i = 0; i < 4; i++)
		((uint32_t *)arg)[i] = (uint32_t)value();
	/* A real name gets past the lookup. */
	if (nr >= DRM_VINCI_SHARE_ALLOW && nr <= DRM_VINCI_SHARE_ATTR && any(4))
		memcpy(bytes, name, sizeof(*name));
}

static void random_requests(void **state)
{
	struct node *n = node_self(), *p = node_self();
	struct name name, found;
	struct bo bo, extra;
	uint64_t arg[64];
	unsigned int nr, size, i;
	int r;

	(void)state;
	seed = 20240607;
	assert_ok(bo_create(n, 1, 2 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name));
	for (i = 0; i < ROUNDS; i++) {
		nr = any(DRM_VINCI_LIST + 2);
		fill(arg, &name, nr);
		size = any(4) ? 184 : any(500);
		r = node_ioctl(any(2) ? n : p,
			       _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, DRM_COMMAND_BASE + nr, size), arg);
		if (!is_known_error(r))
			fail_msg("round %u, request %u: %d", i, nr, r);
		if (!r && nr == DRM_VINCI_SHARE_EXPORT && any(2)) {
			memcpy(&found.len, (char *)arg + offsetof(struct drm_vinci_share_export, name_len), 4);
			assert_in_range(found.len, 1, VINCI_NAME_MAX);
		}
		if (!any(50)) {
			struct drm_gem_close close_arg = { .handle = (uint32_t)value() };

			r = node_ioctl(n, DRM_IOCTL_GEM_CLOSE, &close_arg);
			assert_true(!r || r == -EINVAL);
		}
	}
	node_close(n);
	node_close(p);
	n = node_self();
	for (i = 0; i < NPUS; i++)
		assert_int_equal(mem_used(n, i), 0);
	assert_ok(bo_create(n, 1, NPU_MEMORY, VINCI_PAGE_1G, &extra));
}

int run_fuzz_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_requests, test_setup, test_teardown),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
