/* SPDX-License-Identifier: MIT */
/* The device's part: memory, handles, processes and time that are numbers. Any allocation can fail. */
#include "world.h"

struct world world;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool fails(void)
{
	if (!world.fail_at || --world.fail_at)
		return false;
	world.failed = true;
	return true;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *world_alloc(size_t size)
{
	void *memory = __real_calloc(1, size);

	check(memory);
	return memory;
}

int vinci_object_alloc(struct vinci_device *device, __u64 size, struct vinci_object **out)
{
	struct vinci_object *object = vinci_alloc(1, sizeof(*object));

	(void)device;
	if (!object)
		return -ENOSPC;
	check(size && size % 4096 == 0);
	world.memory++;
	*out = object;
	return 0;
}

void vinci_object_free(struct vinci_object *object)
{
	check(list_empty(&object->holds) && list_empty(&object->shares));
	world.memory--;
	free(object);
}

void vinci_object_place(struct vinci_object *object, __s32 node)
{
	check(object->users == 1 && node >= -1);
}

__s32 vinci_device_node(const struct vinci_device *device, __u32 npu)
{
	check(npu < device->config.devices);
	return -1;
}

/* Handle 0 is invalid, and the table is as long as the limit allows. */
int vinci_hold_alloc(struct vinci_file *file, struct vinci_object *object, struct vinci_hold **out)
{
	struct vinci_hold *hold = vinci_alloc(1, sizeof(*hold));
	uint32_t handle;

	if (!hold)
		return -ENOSPC;
	for (handle = 1; handle <= MAX_HANDLES && file->own.handles[handle]; handle++)
		;
	check(handle <= MAX_HANDLES);
	hold->object = object;
	hold->handle = handle;
	file->own.handles[handle] = hold;
	world.holds++;
	*out = hold;
	return 0;
}

void vinci_hold_gone(struct vinci_hold *hold)
{
	check(!hold->file && list_empty(&hold->by_file) && list_empty(&hold->by_share));
	world.holds--;
	free(hold);
}

struct vinci_hold *vinci_hold_find(struct vinci_file *file, __u32 handle)
{
	return handle <= MAX_HANDLES ? file->own.handles[handle] : NULL;
}

__u64 vinci_hold_offset(struct vinci_hold *hold)
{
	return (__u64)hold->handle << 40;
}

int vinci_identity_find(__s32 pid, struct vinci_identity *out)
{
	if (fails())
		return -ENOSPC;
	out->start = pid >= FIRST_PID && pid < FIRST_PID + (int)PIDS ? world.starts[pid - FIRST_PID] : 0;
	return 0;
}

int vinci_random(void *buffer, size_t size)
{
	uint8_t *bytes = buffer;
	size_t i;

	if (fails())
		return -EIO;
	for (i = 0; i < size; i++) {
		world.random = world.random * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(world.random >> 56);
	}
	return 0;
}

__u64 vinci_now(void)
{
	return world.now;
}
