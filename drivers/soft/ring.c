/* SPDX-License-Identifier: MIT */
/* The page through which a client closes handles without a message. It can put in anything: only its own handles
 * suffer. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/server.h"

int ring_create(struct client *client)
{
	int fd = memfd_create("vinci-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p;

	if (fd < 0)
		return -1;
	if (ftruncate(fd, sizeof(struct wire_ring)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto err_close;
	p = mmap(NULL, sizeof(struct wire_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		goto err_close;
	client->ring = p;
	return fd;

err_close:
	(void)close(fd);
	return -1;
}

void ring_destroy(struct client *client)
{
	if (client->ring)
		(void)munmap(client->ring, sizeof(*client->ring));
	client->ring = NULL;
}

static void close_handle(struct client *client, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };
	struct soft_memory memory;

	/* Nobody is there to hear that it was not one. */
	(void)soft_ioctl(client->file, DRM_IOCTL_GEM_CLOSE, &arg, NULL, &memory);
}

bool ring_empty(struct client *client)
{
	struct wire_ring *ring = client->ring;
	uint32_t put, i;

	if (!ring)
		return true;
	put = atomic_load_explicit(&ring->put, memory_order_acquire);
	if (put == client->ring_taken)
		return true;
	if (put - client->ring_taken > WIRE_RING_SLOTS)
		return false;
	for (i = client->ring_taken; i != put; i++)
		close_handle(client, atomic_load_explicit(&ring->handles[i % WIRE_RING_SLOTS], memory_order_relaxed));
	client->ring_taken = put;
	atomic_store_explicit(&ring->taken, put, memory_order_release);
	return true;
}
