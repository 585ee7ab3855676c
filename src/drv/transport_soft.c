/* SPDX-License-Identifier: MIT */
/*
 * The transport to vincid: one message and one answer a call, memory as sealed memfds.
 *
 * An answer that names an object brings its descriptor along, because the next thing that happens to it is usually
 * mmap(): the descriptor waits in a small cache for that one use. Descriptors do not stay open beyond it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "drivers/soft/wire.h"
#include "drv/drv.h"
#include "drv/file_id.h"
#include "drv/soft.h"
#include "drv/transport.h"

#define CACHED_FDS 64
#define HUGE_ALIGN (2ul << 20)

/* The memory of one object, ready to be mapped. */
struct object_fd {
	int fd; /* owned; -1: none */
	struct file_id file; /* set while it is cached */
	uint32_t handle; /* closing it drops the entry */
	uint32_t page_kind;
	uint64_t base;
	uint64_t size;
	uint64_t used; /* clock of the cache: the smallest is evicted */
};

struct soft {
	struct transport base;
	pid_t owner;
	int sock;
	struct file_id sock_file;
	/* Protects what follows, and the turn on the socket. Held over one exchange with vincid. */
	pthread_mutex_t lock;
	struct wire_ring *ring; /* NULL: there is none */
	bool dead;
	uint32_t seq;
	uint64_t clock;
	struct object_fd cache[CACHED_FDS];
	uint8_t reply[sizeof(struct wire_reply) + WIRE_ARG_MAX];
};

/* A request on its way: what is sent, and what came back beside the argument. */
struct call {
	unsigned long request;
	const void *arg;
	uint32_t flags;
	void *array; /* copied from the caller; owned */
	size_t array_size;
	struct wire_reply reply;
	uint8_t *reply_arg; /* within struct soft, valid under the lock */
	int fd; /* owned; -1: none */
};

static struct soft *to_soft(struct transport *t)
{
	return (struct soft *)t;
}

/* --- descriptor cache (under the lock) ----------------------------------------------------- */

static void cache_drop(struct object_fd *o)
{
	if (o->fd >= 0 && still_is(o->fd, o->file))
		(void)close(o->fd);
	o->fd = -1;
}

static void cache_put(struct soft *s, const struct wire_reply *reply, int fd)
{
	struct object_fd *victim = &s->cache[0];
	struct file_id file;
	size_t i;

	if (file_of(fd, &file)) { /* it can be asked for again */
		(void)close(fd);
		return;
	}
	for (i = 0; i < CACHED_FDS && victim->fd >= 0; i++)
		if (s->cache[i].fd < 0 || s->cache[i].used < victim->used)
			victim = &s->cache[i];
	cache_drop(victim);
	*victim = (struct object_fd){
		.fd = fd,
		.file = file,
		.handle = reply->handle,
		.page_kind = reply->page_kind,
		.base = reply->base,
		.size = reply->size,
		.used = ++s->clock,
	};
}

static bool cache_take(struct soft *s, uint64_t offset, uint64_t len, struct object_fd *out)
{
	size_t i;

	for (i = 0; i < CACHED_FDS; i++) {
		struct object_fd *o = &s->cache[i];

		if (o->fd < 0 || offset < o->base || len > o->size || offset - o->base > o->size - len)
			continue;
		*out = *o;
		o->fd = -1;
		return still_is(out->fd, out->file);
	}
	return false;
}

/* An unused descriptor would keep the memory of a closed object alive. */
static void cache_forget(struct soft *s, uint32_t handle)
{
	size_t i;

	for (i = 0; i < CACHED_FDS; i++)
		if (s->cache[i].fd >= 0 && s->cache[i].handle == handle)
			cache_drop(&s->cache[i]);
}

static void cache_clear(struct soft *s)
{
	size_t i;

	for (i = 0; i < CACHED_FDS; i++)
		cache_drop(&s->cache[i]);
}

/* --- messages ------------------------------------------------------------------------------ */

/* Anything that cannot happen with a healthy vincid ends the connection for good. */
static int give_up(struct soft *s)
{
	s->dead = true;
	if (still_is(s->sock, s->sock_file))
		(void)shutdown(s->sock, SHUT_RDWR);
	return -ENOTCONN;
}

static int send_error(struct soft *s, int error)
{
	switch (error) {
	case EFAULT: /* the argument itself is a bad pointer: nothing was sent */
	case ENOMEM:
	case ENOBUFS:
		return -error;
	case EMSGSIZE:
		return -E2BIG;
	default:
		return give_up(s);
	}
}

static int send_request(struct soft *s, struct call *c)
{
	struct wire_request head = {
		.seq = ++s->seq,
		.flags = c->flags,
		.request = (uint32_t)c->request,
		.array_size = (uint32_t)c->array_size,
	};
	struct iovec iov[3] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)(uintptr_t)c->arg, .iov_len = _IOC_SIZE(c->request) },
		{ .iov_base = c->array, .iov_len = c->array_size },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = c->array_size ? 3 : 2 };
	int64_t until = 0;
	ssize_t n;

	do
		n = sendmsg(s->sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR && soft_may_repeat(&until));
	return n < 0 ? send_error(s, errno) : 0;
}

static int receive_reply(struct soft *s, struct call *c)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = s->reply, .iov_len = sizeof(s->reply) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int64_t until = 0;
	ssize_t n;

	do
		n = recvmsg(s->sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR && soft_may_repeat(&until));
	if (n <= 0)
		return give_up(s);
	c->fd = soft_take_fd(&msg);
	if ((size_t)n < sizeof(c->reply) || (msg.msg_flags & MSG_TRUNC))
		return give_up(s);
	memcpy(&c->reply, s->reply, sizeof(c->reply));
	c->reply_arg = s->reply + sizeof(c->reply);
	if (c->reply.seq != s->seq || c->reply.ret > 0 || c->reply.ret < -4095)
		return give_up(s);
	if (!c->reply.ret && (size_t)n != sizeof(c->reply) + _IOC_SIZE(c->request))
		return give_up(s);
	return c->reply.ret;
}

/* One exchange; the caller holds the lock. */
static int exchange(struct soft *s, struct call *c)
{
	int r;

	c->fd = -1;
	if (s->dead)
		return -ENOTCONN;
	if (!still_is(s->sock, s->sock_file))
		return give_up(s);
	r = send_request(s, c);
	if (r || (c->flags & WIRE_ONE_WAY))
		return r;
	r = receive_reply(s, c);
	if (r && c->fd >= 0) {
		(void)close(c->fd);
		c->fd = -1;
	}
	return r;
}

/* --- arrays -------------------------------------------------------------------------------- */

/*
 * Reads the caller's memory as the kernel would: a bad pointer is an error, not a signal. Where a sandbox refuses the
 * call, a plain copy has to do.
 */
static int copy_user(void *dst, uint64_t src, size_t size)
{
	struct iovec to = { .iov_base = dst, .iov_len = size };
	struct iovec from = { .iov_base = (void *)(uintptr_t)src, .iov_len = size };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n == (ssize_t)size)
		return 0;
	if (n >= 0 || errno == EFAULT || !src)
		return -EFAULT;
	memcpy(dst, (const void *)(uintptr_t)src, size);
	return 0;
}

/*
 * The whitelist is the only input array. If it cannot be read the request goes out without it, and the device
 * finds EFAULT where it belongs in its order of checks.
 */
static int attach_array(struct call *c)
{
	struct drm_vinci_share_allow allow;
	size_t size;

	if (_IOC_NR(c->request) != DRM_COMMAND_BASE + DRM_VINCI_SHARE_ALLOW || _IOC_SIZE(c->request) < sizeof(allow))
		return 0;
	if (copy_user(&allow, (uintptr_t)c->arg, sizeof(allow)))
		return 0;
	if (!allow.count || !allow.elem_size || allow.count > WIRE_ARRAY_MAX / allow.elem_size)
		return 0;
	size = (size_t)allow.count * allow.elem_size;
	c->array = malloc(size);
	if (!c->array)
		return -ENOMEM;
	c->array_size = size;
	if (copy_user(c->array, allow.pids, size))
		c->array_size = 0;
	return 0;
}

/* The kernel copies into the caller's array, and says so when it cannot. */
static int fetch_array(const struct call *c, int fd)
{
	struct drm_vinci_list list;
	size_t done = 0;
	ssize_t n;

	if (_IOC_SIZE(c->request) < sizeof(list))
		return -EPROTO;
	memcpy(&list, c->arg, sizeof(list));
	if (c->reply.size > (uint64_t)list.elem_size * list.count)
		return -EPROTO;
	while (done < c->reply.size) {
		n = pread(fd, (char *)(uintptr_t)list.array + done, c->reply.size - done, (off_t)done);
		if (!n)
			return -EPROTO;
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Takes over the reply's descriptor. */
static int finish_fd(struct soft *s, struct call *c)
{
	int r = 0;

	if (c->fd < 0)
		return 0; /* lost to our descriptor limit, say: mmap asks for it again */
	if ((c->reply.flags & WIRE_REPLY_OBJECT) && c->reply.handle) {
		cache_put(s, &c->reply, c->fd);
		return 0;
	}
	if (c->reply.flags & WIRE_REPLY_ARRAY)
		r = fetch_array(c, c->fd);
	(void)close(c->fd);
	return r;
}

static bool outputs(unsigned long request)
{
	return _IOC_DIR(request) & _IOC_READ;
}

static int soft_ioctl(struct transport *t, unsigned long request, void *arg)
{
	struct soft *s = to_soft(t);
	struct call c = { .request = request, .arg = arg };
	int r = attach_array(&c);

	if (r)
		return r;
	(void)pthread_mutex_lock(&s->lock);
	if (request == DRM_IOCTL_GEM_CLOSE && arg)
		cache_forget(s, ((const struct drm_gem_close *)arg)->handle);
	r = exchange(s, &c);
	if (!r && (c.reply.flags & WIRE_REPLY_ARRAY) && c.fd < 0)
		r = -EMFILE;
	if (!r)
		r = finish_fd(s, &c);
	if (!r && outputs(request))
		memcpy(arg, c.reply_arg, _IOC_SIZE(request));
	(void)pthread_mutex_unlock(&s->lock);
	free(c.array);
	return r;
}

/* False: no room. vincid's count is only taken for a full ring or none. */
static bool ring_put(struct soft *s, uint32_t handle)
{
	uint32_t put, taken;

	if (!s->ring)
		return false;
	put = atomic_load_explicit(&s->ring->put, memory_order_relaxed);
	taken = atomic_load_explicit(&s->ring->taken, memory_order_acquire);
	if (put - taken >= WIRE_RING_SLOTS)
		return false;
	atomic_store_explicit(&s->ring->handles[put % WIRE_RING_SLOTS], handle, memory_order_relaxed);
	atomic_store_explicit(&s->ring->put, put + 1, memory_order_release);
	return true;
}

static int soft_post(struct transport *t, unsigned long request, const void *arg)
{
	struct soft *s = to_soft(t);
	struct call c = { .request = request, .arg = arg, .flags = WIRE_ONE_WAY };
	uint32_t handle;
	int r = 0;

	if (request != DRM_IOCTL_GEM_CLOSE)
		return -EINVAL;
	handle = ((const struct drm_gem_close *)arg)->handle;
	(void)pthread_mutex_lock(&s->lock);
	cache_forget(s, handle);
	if (s->dead || !ring_put(s, handle))
		r = exchange(s, &c);
	(void)pthread_mutex_unlock(&s->lock);
	return r;
}

/* --- mappings ------------------------------------------------------------------------------ */

static int find_object(struct soft *s, uint64_t offset, uint64_t len, struct object_fd *o)
{
	struct wire_mmap arg = { .offset = offset, .size = len };
	struct call c = { .request = WIRE_MMAP, .arg = &arg };
	int r = 0;

	(void)pthread_mutex_lock(&s->lock);
	if (!cache_take(s, offset, len, o)) {
		r = exchange(s, &c);
		*o = (struct object_fd){
			.fd = c.fd, .page_kind = c.reply.page_kind, .base = c.reply.base, .size = c.reply.size
		};
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (!r && o->fd < 0)
		r = -EMFILE;
	return r;
}

/* Without these seals another holder could cut the file short, and every access of ours would be a SIGBUS. */
static int check_object(const struct object_fd *o)
{
	const int need = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int seals = fcntl(o->fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & need) != need || fstat(o->fd, &st))
		return -EPROTO;
	return st.st_size >= 0 && (uint64_t)st.st_size >= o->size ? 0 : -EPROTO;
}

/* Does this machine back shared memory with huge pages for who asks? One look: it is a setting of the boot. */
static bool huge_shared;
static pthread_once_t huge_once = PTHREAD_ONCE_INIT;

static void look_for_huge(void)
{
	char text[128] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		huge_shared = !strstr(text, "[never]") && !strstr(text, "[deny]");
	(void)close(fd);
}

/* Where the last one went: free again, or the kernel places the next beside it, and both are aligned. */
static _Atomic uintptr_t last_aligned;

static void *map_in_reservation(size_t len, int prot, int fd, off_t offset)
{
	char *area = mmap(NULL, len + HUGE_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start, *p;
	size_t head;

	if (area == MAP_FAILED)
		return mmap(NULL, len, prot, MAP_SHARED, fd, offset);
	start = area + (-(uintptr_t)area & (HUGE_ALIGN - 1));
	p = mmap(start, len, prot, MAP_SHARED | MAP_FIXED, fd, offset);
	if (p == MAP_FAILED) {
		(void)munmap(area, len + HUGE_ALIGN);
		return p;
	}
	head = (size_t)(start - area);
	if (head)
		(void)munmap(area, head);
	if (head < HUGE_ALIGN)
		(void)munmap(start + len, HUGE_ALIGN - head);
	return p;
}

/* Huge pages can only be used where virtual address and offset agree modulo their size. */
static void *map_aligned(size_t len, int prot, int fd, off_t offset)
{
	void *hint = (void *)atomic_load_explicit(&last_aligned, memory_order_relaxed);
	char *p = mmap(hint, len, prot, MAP_SHARED, fd, offset);

	if (p != MAP_FAILED && (uintptr_t)p % HUGE_ALIGN) {
		(void)munmap(p, len);
		p = map_in_reservation(len, prot, fd, offset);
	}
	if (p != MAP_FAILED)
		atomic_store_explicit(&last_aligned, (uintptr_t)p, memory_order_relaxed);
	return p;
}

static int map_object(const struct object_fd *o, void *addr, size_t len, int prot, uint64_t offset, void **out)
{
	off_t at = (off_t)(offset - o->base);
	bool huge = o->page_kind != VINCI_PAGE_4K && !(at % (off_t)HUGE_ALIGN);
	void *p;

	if (offset < o->base || len > o->size || (uint64_t)at > o->size - len)
		return -EINVAL;
	if (addr)
		p = mmap(addr, len, prot, MAP_SHARED | MAP_FIXED, o->fd, at);
	else if (huge)
		p = map_aligned(len, prot, o->fd, at);
	else
		p = mmap(NULL, len, prot, MAP_SHARED, o->fd, at);
	if (p == MAP_FAILED)
		return -errno;
	/*
	 * At a given place the old mapping is gone by now, and the caller may still use it: without the advice a forked
	 * child keeps the memory for as long as it lives, which is better than a hole.
	 */
	if (madvise(p, len, MADV_DONTFORK) && !addr) {
		int r = -errno;

		(void)munmap(p, len);
		return r;
	}
	if (huge && huge_shared)
		(void)madvise(p, len, MADV_HUGEPAGE);
	*out = p;
	return 0;
}

static int soft_mmap(struct transport *t, void *addr, size_t len, int prot, uint64_t offset, void **out)
{
	struct object_fd o;
	int r;

	if (!len || len % 4096 || offset % 4096 || (uintptr_t)addr % 4096)
		return -EINVAL;
	r = find_object(to_soft(t), offset, len, &o);
	if (r)
		return r;
	r = check_object(&o);
	if (!r)
		r = map_object(&o, addr, len, prot, offset, out);
	(void)close(o.fd);
	return r;
}

static int soft_munmap(void *addr, size_t len)
{
	return munmap(addr, len) ? -errno : 0;
}

/* --- open and close ------------------------------------------------------------------------ */

/* Takes over the descriptor. Without a ring everything works, a little slower. */
static struct wire_ring *map_ring(int fd)
{
	const struct object_fd o = { .fd = fd, .size = sizeof(struct wire_ring) };
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!check_object(&o))
		p = mmap(NULL, sizeof(struct wire_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (p == MAP_FAILED)
		return NULL;
	if (!madvise(p, sizeof(struct wire_ring), MADV_DONTFORK))
		return p;
	(void)munmap(p, sizeof(struct wire_ring));
	return NULL;
}

static int soft_open(const struct drv_settings *settings, struct transport **out, char *why, size_t why_len)
{
	struct soft *s = calloc(1, sizeof(*s));
	int ring, r;
	size_t i;

	if (!s) {
		(void)snprintf(why, why_len, "out of host memory");
		return -ENOMEM;
	}
	(void)pthread_once(&huge_once, look_for_huge);
	s->sock = soft_connect(settings, &ring, why, why_len);
	if (s->sock < 0) {
		r = s->sock;
		goto err_free;
	}
	r = file_of(s->sock, &s->sock_file);
	if (r) {
		(void)snprintf(why, why_len, "fstat of the connection failed (%s)", strerror(-r));
		goto err_close;
	}
	s->base.ops = &transport_soft;
	s->owner = getpid();
	s->ring = map_ring(ring);
	for (i = 0; i < CACHED_FDS; i++)
		s->cache[i].fd = -1;
	(void)pthread_mutex_init(&s->lock, NULL);
	*out = &s->base;
	return 0;

err_close:
	(void)close(s->sock);
	if (ring >= 0)
		(void)close(ring);
err_free:
	free(s);
	return r;
}

static void soft_close(struct transport *t)
{
	struct soft *s = to_soft(t);
	bool ours = still_is(s->sock, s->sock_file);

	/* A forked child shares the connection: it closes its descriptor only, and the owner hangs up for both. */
	if (s->owner == getpid()) {
		if (ours)
			(void)shutdown(s->sock, SHUT_RDWR);
		(void)pthread_mutex_destroy(&s->lock);
		if (s->ring)
			(void)munmap(s->ring, sizeof(*s->ring));
	}
	if (ours)
		(void)close(s->sock);
	cache_clear(s);
	free(s);
}

const struct transport_ops transport_soft = {
	.name = "soft",
	.open = soft_open,
	.close = soft_close,
	.ioctl = soft_ioctl,
	.post = soft_post,
	.mmap = soft_mmap,
	.munmap = soft_munmap,
};
