/* SPDX-License-Identifier: MIT */
/*
 * Placing memory on host NUMA nodes. Every refusal (no NUMA, a sandbox) is tolerated without a word: placement is
 * a matter of speed only.
 */
#include <stdint.h>

#include "soft/internal.h"

#ifdef HAVE_NUMA
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>

/* libnuma would print. */
void numa_error(char *where)
{
	(void)where;
}

void numa_warn(int number, char *where, ...)
{
	(void)number;
	(void)where;
}

/* Device d lives on the d-th node that has memory, round and round. */
void soft_numa_init(struct vinci_device *device)
{
	uint32_t nodes[64], count = 0, d;
	int node, last = -1;

	if (numa_available() >= 0)
		last = numa_max_node();
	for (node = 0; node <= last && count < 64; node++)
		if (numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned int)node))
			nodes[count++] = (uint32_t)node;
	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		device->own.node[d] = count ? (int32_t)nodes[d % count] : -1;
}

/* A policy set on a shared mapping stays with the file. */
void vinci_object_place(struct vinci_object *object, __s32 node)
{
	struct bitmask *mask;
	void *p;

	if (node < 0 || numa_available() < 0 || numa_max_node() < 1 || node > numa_max_node())
		return;
	p = mmap(NULL, object->span, PROT_NONE, MAP_SHARED, object->own.fd, 0);
	if (p == MAP_FAILED)
		return;
	mask = numa_allocate_nodemask();
	if (mask) {
		numa_bitmask_setbit(mask, (unsigned int)node);
		(void)mbind(p, object->span, MPOL_PREFERRED, mask->maskp, mask->size, 0);
		numa_free_nodemask(mask);
	}
	(void)munmap(p, object->span);
}

#else

void soft_numa_init(struct vinci_device *device)
{
	uint32_t d;

	for (d = 0; d < VINCI_MAX_DEVICES; d++)
		device->own.node[d] = -1;
}

void vinci_object_place(struct vinci_object *object, __s32 node)
{
	(void)object;
	(void)node;
}

#endif

__s32 vinci_device_node(const struct vinci_device *device, __u32 npu)
{
	return device->own.node[npu];
}
