/* SPDX-License-Identifier: MIT */
/* vincid against clients that are hostile, confused, or of another version. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "harness.h"
#include "raw.h"

static int greeted(void)
{
	struct wire_welcome welcome;
	int sock = raw_connect();

	assert_ok(raw_hello(sock, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR, &welcome, NULL));
	return sock;
}

static int raw_import(int sock, const struct name *name, struct drm_vinci_share_import *im, int *fd)
{
	*im = (struct drm_vinci_share_import){ .kind = name->kind, .name_len = name->len, .device = 2 };
	memcpy(im->name, name->bytes, sizeof(im->name));
	return raw_call(sock, DRM_IOCTL_VINCI_SHARE_IMPORT, im, NULL, 0, fd);
}

/* Works, so vincid lives and serves. */
static void assert_served(struct node *n)
{
	struct bo bo;

	assert_ok(bo_create(n, 0, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(handle_close(n, bo.handle));
}

/* --- isolation ----------------------------------------------------------------------------- */

/* With the name, the offset and the socket, but not on the list. */
static void off_the_list(void **state)
{
	struct node *exporter = node_peer();
	struct drm_vinci_share_import im;
	struct wire_mmap map;
	struct name name;
	int sock = greeted(), fd;
	struct bo bo;

	(void)state;
	assert_ok(bo_create(exporter, 1, 2 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(share_export(exporter, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name));
	assert_fails(raw_import(sock, &name, &im, &fd), EACCES);
	assert_int_equal(fd, -1);
	map = (struct wire_mmap){ bo.offset, 4096 };
	assert_fails(raw_call(sock, WIRE_MMAP, &map, NULL, 0, &fd), EACCES);
	assert_int_equal(fd, -1);
	/* nor may it list itself */
	{
		struct drm_vinci_share_allow a = {
			.kind = name.kind, .name_len = name.len, .count = 1, .elem_size = 4
		};
		int32_t me = getpid();

		memcpy(a.name, name.bytes, sizeof(a.name));
		a.pids = (uintptr_t)&me;
		assert_fails(raw_call(sock, DRM_IOCTL_VINCI_SHARE_ALLOW, &a, &me, sizeof(me), NULL), EACCES);
	}
	assert_fails(raw_import(sock, &name, &im, &fd), EACCES);
	(void)close(sock);
}

/* On the list: exactly the exported pages, in a file that cannot be made to hurt the others. */
static void on_the_list(void **state)
{
	struct node *exporter = node_peer();
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	struct drm_vinci_share_import im;
	struct bo secret, bo;
	struct name name;
	struct stat st;
	uint64_t word;
	int sock = greeted(), fd;

	(void)state;
	assert_ok(bo_create(exporter, 1, 2 * MIB, VINCI_PAGE_2M, &secret));
	assert_ok(bo_create(exporter, 1, 4 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(node_poke(exporter, bo.offset + 4 * MIB - 8, 42));
	assert_ok(share_export(exporter, bo.handle, VINCI_SHARE_IPC_MEM, 0, bo.size, &name));
	assert_ok(share_allow_pid(exporter, &name, getpid()));
	assert_ok(raw_import(sock, &name, &im, &fd));
	assert_true(fd >= 0);
	assert_ok(fstat(fd, &st));
	assert_int_equal(st.st_size, 4 * MIB);
	assert_int_equal(fcntl(fd, F_GET_SEALS) & seals, seals);
	assert_int_equal(ftruncate(fd, 4096), -1);
	assert_int_equal(ftruncate(fd, 8 * MIB), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_int_equal(pread(fd, &word, 8, 4 * MIB - 8), 8);
	assert_int_equal(word, 42);
	assert_int_equal(pread(fd, &word, 8, 4 * MIB), 0);
	{
		struct wire_mmap map = { secret.offset, 4096 };

		assert_fails(raw_call(sock, WIRE_MMAP, &map, NULL, 0, NULL), EACCES);
		map = (struct wire_mmap){ im.mmap_offset, 4 * MIB + 4096 };
		assert_fails(raw_call(sock, WIRE_MMAP, &map, NULL, 0, NULL), EINVAL);
	}
	(void)close(fd);
	(void)close(sock);
}

/* The socket is inherited by a child, the identity is not. */
static void forked_client(void **state)
{
	struct drm_vinci_get_param a = { .param = VINCI_PARAM_TGID };
	struct node *n = node_self();
	int sock = greeted(), status;
	pid_t pid;

	(void)state;
	pid = fork_test();
	if (!pid)
		_exit(raw_call(sock, DRM_IOCTL_VINCI_GET_PARAM, &a, NULL, 0, NULL) == -EPERM ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(raw_call(sock, DRM_IOCTL_VINCI_GET_PARAM, &a, NULL, 0, NULL));
	assert_int_equal(a.value, getpid());
	assert_served(n);
	(void)close(sock);
}

/* A child that holds on to the socket does not keep its dead parent's memory. */
static void orphaned_socket(void **state)
{
	struct drm_vinci_bo_create a = { .size = 4096, .device = 1, .numa_node = -1 };
	struct node *n = node_self();
	int pipes[2], sock, status;
	pid_t pid, child;

	(void)state;
	assert_ok(pipe2(pipes, O_CLOEXEC));
	pid = fork_test();
	if (!pid) {
		sock = greeted();
		if (raw_call(sock, DRM_IOCTL_VINCI_BO_CREATE, &a, NULL, 0, NULL))
			_exit(1);
		child = fork();
		if (!child) {
			(void)pause();
			_exit(0);
		}
		(void)!write(pipes[1], &child, sizeof(child));
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(mem_used(n, 1), 0);
	assert_ok(kill(child, SIGKILL));
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}

/* --- versions ------------------------------------------------------------------------------ */

static void other_versions(void **state)
{
	struct node *n = node_self();
	struct wire_welcome welcome;
	struct {
		struct wire_hello hello;
		uint8_t more[16];
	} newer = { .hello = { .magic = WIRE_HELLO_MAGIC, .major = VINCI_UAPI_MAJOR, .minor = 9 } };
	int sock = raw_connect(), fd;

	(void)state;
	assert_fails(raw_hello(sock, VINCI_UAPI_MAJOR + 6, 3, &welcome, NULL), EPROTO);
	assert_non_null(strstr(welcome.why, "7.3"));
	assert_non_null(strstr(welcome.why, "1.0"));
	assert_int_equal(welcome.major, VINCI_UAPI_MAJOR);
	assert_true(raw_is_dropped(sock));
	(void)close(sock);
	sock = raw_connect();
	assert_ok(raw_hello(sock, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR + 5, &welcome, NULL));
	(void)close(sock);
	/* a newer minor may send settings that are unknown here, as long as they are unset */
	newer.hello.settings_size = sizeof(newer.hello.settings) + sizeof(newer.more);
	sock = raw_connect();
	assert_ok(raw_send(sock, &newer, sizeof(newer)));
	assert_int_equal(raw_receive(sock, &welcome, sizeof(welcome), &fd), sizeof(welcome));
	assert_int_equal(welcome.status, 0);
	(void)close(fd);
	(void)close(sock);
	newer.more[3] = 1;
	sock = raw_connect();
	assert_ok(raw_send(sock, &newer, sizeof(newer)));
	assert_int_equal(raw_receive(sock, &welcome, sizeof(welcome), &fd), sizeof(welcome));
	assert_int_equal(welcome.status, -EINVAL);
	(void)close(sock);
	assert_served(n);
}

/* --- nonsense ------------------------------------------------------------------------------ */

static void before_hello(void **state)
{
	struct node *n = node_self();
	struct wire_request head = { .seq = 1, .request = (uint32_t)DRM_IOCTL_VINCI_LIST };
	struct wire_hello hello = { .magic = 1 };
	int sock;

	(void)state;
	sock = raw_connect();
	assert_ok(raw_send(sock, &head, sizeof(head)));
	assert_true(raw_is_dropped(sock));
	(void)close(sock);
	sock = raw_connect();
	assert_ok(raw_send(sock, &hello, sizeof(hello)));
	assert_true(raw_is_dropped(sock));
	(void)close(sock);
	sock = raw_connect(); /* says nothing and goes */
	(void)close(sock);
	assert_served(n);
}

static void send_request(const struct wire_request *head, size_t arg_size, size_t more)
{
	uint8_t message[4096] = { 0 };
	int sock = greeted();

	memcpy(message, head, sizeof(*head));
	assert_ok(raw_send(sock, message, sizeof(*head) + arg_size + more));
	assert_true(raw_is_dropped(sock));
	(void)close(sock);
}

static void malformed(void **state)
{
	struct node *n = node_self();
	struct wire_request head = { .seq = 1, .request = (uint32_t)DRM_IOCTL_VINCI_PEER };
	size_t size = sizeof(struct drm_vinci_peer);
	int sock = greeted();

	(void)state;
	assert_ok(raw_send(sock, &head, 7));
	assert_true(raw_is_dropped(sock));
	(void)close(sock);
	send_request(&head, size - 1, 0);
	send_request(&head, size, 1);
	head.array_size = 100;
	send_request(&head, size, 99);
	head.array_size = 0xffffffff;
	send_request(&head, size, 0);
	head.array_size = WIRE_ARRAY_MAX + 1;
	send_request(&head, size, 0);
	head.array_size = 0;
	head.flags = 2;
	send_request(&head, size, 0);
	head.flags = WIRE_ONE_WAY; /* only for closing */
	send_request(&head, size, 0);
	assert_served(n);
}

/* An array that is shorter than the count says is a bad pointer, not memory of vincid's. */
static void short_array(void **state)
{
	struct drm_vinci_share_allow a = { .kind = VINCI_SHARE_VMM, .count = 65535, .elem_size = 4, .pids = 4096 };
	struct drm_vinci_bo_create bo = { .size = 4096, .numa_node = -1 };
	struct drm_vinci_share_export e = { .kind = VINCI_SHARE_VMM, .size = 4096 };
	struct node *n = node_self();
	int32_t pids[4] = { 1, 2, 3, 4 };
	int sock = greeted();

	(void)state;
	assert_ok(raw_call(sock, DRM_IOCTL_VINCI_BO_CREATE, &bo, NULL, 0, NULL));
	e.handle = bo.handle;
	assert_ok(raw_call(sock, DRM_IOCTL_VINCI_SHARE_EXPORT, &e, NULL, 0, NULL));
	a.name_len = e.name_len;
	memcpy(a.name, e.name, sizeof(a.name));
	assert_fails(raw_call(sock, DRM_IOCTL_VINCI_SHARE_ALLOW, &a, pids, sizeof(pids), NULL), EFAULT);
	a.elem_size = 64;
	assert_fails(raw_call(sock, DRM_IOCTL_VINCI_SHARE_ALLOW, &a, pids, sizeof(pids), NULL), EFAULT);
	a.elem_size = 4;
	a.count = 4;
	assert_ok(raw_call(sock, DRM_IOCTL_VINCI_SHARE_ALLOW, &a, pids, sizeof(pids), NULL));
	assert_served(n);
	(void)close(sock);
}

static void descriptors_sent(void **state)
{
	struct node *n = node_self();
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * 3)];
	} control = { .space = { 0 } };
	struct { struct wire_request head; struct drm_gem_close arg; } message = {
		.head = { .flags = WIRE_ONE_WAY, .request = (uint32_t)DRM_IOCTL_GEM_CLOSE }
	};
	struct iovec iov = { &message, sizeof(message) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int sock = greeted(), fds[3] = { sock, sock, sock }, i;
	pid_t server = raw_server_pid(sock);
	unsigned int before;

	(void)state;
	assert_served(n);
	before = count_fds(server);
	for (i = 0; i < 20; i++) {
		int one = greeted();

		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
		assert_int_equal(sendmsg(one, &msg, MSG_NOSIGNAL), sizeof(message));
		assert_true(raw_is_dropped(one));
		(void)close(one);
	}
	assert_served(n);
	assert_in_range(count_fds(server), 1, before);
	(void)close(sock);
}

/* --- floods -------------------------------------------------------------------------------- */

/* Asks and never listens: dropped once its answers fill a socket buffer, and nobody waits for it. */
static void deaf_client(void **state)
{
	struct node *n = node_self();
	struct { struct wire_request head; struct drm_vinci_get_param arg; } message = {
		.head = { .request = (uint32_t)DRM_IOCTL_VINCI_GET_PARAM }
	};
	int sock = greeted(), i, r = 0;

	(void)state;
	for (i = 0; i < 1000000 && !r; i++) {
		r = raw_send(sock, &message, sizeof(message));
		if (!(i % 1000))
			assert_served(n);
	}
	assert_true(r == -EPIPE || r == -ECONNRESET);
	assert_served(n);
	(void)close(sock);
}

static void one_way_flood(void **state)
{
	struct node *n = node_self();
	struct { struct wire_request head; struct drm_gem_close arg; } message = {
		.head = { .flags = WIRE_ONE_WAY, .request = (uint32_t)DRM_IOCTL_GEM_CLOSE }, .arg = { .handle = 7 }
	};
	int sock = greeted(), i;
	int64_t start;

	(void)state;
	for (i = 0; i < 50000; i++) {
		assert_ok(raw_send(sock, &message, sizeof(message)));
		if (i % 5000)
			continue;
		start = now_ms();
		assert_served(n);
		assert_in_range(now_ms() - start, 0, 5000);
	}
	(void)close(sock);
}

static struct wire_ring *map_ring(int *sock)
{
	struct wire_welcome welcome;
	void *p;
	int fd;

	*sock = raw_connect();
	assert_ok(raw_hello(*sock, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR, &welcome, &fd));
	assert_int_equal(ftruncate(fd, 0), -1);
	p = mmap(NULL, sizeof(struct wire_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	(void)close(fd);
	return p;
}

/* Handles that are none close nothing; counts that cannot be end the connection. */
static void hostile_ring(void **state)
{
	struct drm_vinci_bo_create a = { .size = 4096, .device = 1, .numa_node = -1 };
	struct node *n = node_self();
	struct wire_ring *ring;
	uint32_t i;
	int sock;

	(void)state;
	ring = map_ring(&sock);
	assert_ok(raw_call(sock, DRM_IOCTL_VINCI_BO_CREATE, &a, NULL, 0, NULL));
	for (i = 0; i < WIRE_RING_SLOTS; i++)
		ring->handles[i] = i == 500 ? a.handle : i * 2654435761u;
	ring->put = WIRE_RING_SLOTS;
	assert_int_equal(mem_used(n, 1), 0);
	assert_int_equal(ring->taken, WIRE_RING_SLOTS);
	ring->taken = 77; /* is the client's business */
	ring->put = WIRE_RING_SLOTS + 1;
	assert_served(n);
	assert_int_equal(ring->taken, WIRE_RING_SLOTS + 1);
	ring->put += WIRE_RING_SLOTS + 1;
	assert_served(n);
	assert_true(raw_is_dropped(sock));
	(void)munmap(ring, sizeof(*ring));
	(void)close(sock);
	ring = map_ring(&sock);
	ring->put = ~0u; /* one less than none */
	assert_served(n);
	assert_true(raw_is_dropped(sock));
	(void)munmap(ring, sizeof(*ring));
	(void)close(sock);
}

static void send_query(int sock)
{
	struct { struct wire_request head; struct drm_vinci_get_param arg; } message = {
		.head = { .request = (uint32_t)DRM_IOCTL_VINCI_GET_PARAM }
	};

	assert_ok(raw_send(sock, &message, sizeof(message)));
}

/* Not our child, so there is nothing to wait for but its state. */
static void stop_server(pid_t server)
{
	int64_t until = now_ms() + DEADLINE_MS;
	char path[32], text[256], *state;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", server);
	assert_ok(kill(server, SIGSTOP));
	do {
		(void)poll(NULL, 0, 1);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = read(fd, text, sizeof(text) - 1);
		(void)close(fd);
		assert_true(n > 0);
		text[n] = 0;
		state = strrchr(text, ')');
	} while (state && state[2] != 'T' && now_ms() < until);
	assert_non_null(state);
	assert_int_equal(state[2], 'T');
}

/* Clients that are found out before their requests' turn, in a round with others: all is sent while vincid is stopped. */
static void rings_spoilt_in_a_round(void **state)
{
	enum { SPOILT = 6 };
	struct node *n = node_self();
	int first = greeted(), last, socks[SPOILT], fd, i;
	struct wire_ring *rings[SPOILT];
	pid_t server = raw_server_pid(first);
	uint8_t reply[256];

	(void)state;
	for (i = 0; i < SPOILT; i++)
		rings[i] = map_ring(&socks[i]);
	last = greeted();
	stop_server(server);
	send_query(first);
	for (i = 0; i < SPOILT; i++) {
		send_query(socks[i]);
		rings[i]->put = ~0u;
	}
	send_query(last);
	assert_ok(kill(server, SIGCONT));
	assert_true(raw_receive(first, reply, sizeof(reply), &fd) > 0);
	assert_true(raw_receive(last, reply, sizeof(reply), &fd) > 0);
	for (i = 0; i < SPOILT; i++) {
		assert_true(raw_is_dropped(socks[i]));
		(void)munmap(rings[i], sizeof(*rings[i]));
		(void)close(socks[i]);
	}
	assert_served(n);
	(void)close(first);
	(void)close(last);
}

/* Elements may be large and many, but one listing is not to fill vincid's memory. */
static void huge_listing(void **state)
{
	enum { PIDS = 20000, ELEMENT = 4096 };
	struct drm_vinci_list list = { .type = VINCI_LIST_ALLOWED, .elem_size = ELEMENT, .count = PIDS };
	struct node *n = node_self();
	int32_t *pids = calloc(PIDS, sizeof(*pids));
	void *array = mmap(NULL, (size_t)PIDS * ELEMENT, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct name name;
	struct bo bo;
	int i;

	(void)state;
	assert_non_null(pids);
	assert_ptr_not_equal(array, MAP_FAILED);
	for (i = 0; i < PIDS; i++)
		pids[i] = (1 << 30) + i;
	assert_ok(bo_create(n, 1, 2 * MIB, VINCI_PAGE_2M, &bo));
	assert_ok(share_export(n, bo.handle, VINCI_SHARE_VMM, 0, bo.size, &name));
	assert_ok(share_allow(n, &name, pids, PIDS));
	list.array = (uintptr_t)array;
	assert_fails(node_ioctl(n, DRM_IOCTL_VINCI_LIST, &list), ENOSPC);
	list.count = 1000;
	assert_ok(node_ioctl(n, DRM_IOCTL_VINCI_LIST, &list));
	assert_int_equal(list.count, PIDS);
	assert_int_equal(((struct vinci_list_member *)((char *)array + 999 * ELEMENT))->pid, (1 << 30) + 999);
	(void)munmap(array, (size_t)PIDS * ELEMENT);
	free(pids);
}

/* Nobody asks anything, and yet the last hold on a dead creator's memory is let go. */
static void quiet_close(void **state)
{
	struct node *creator = node_peer(), *n = node_self();
	struct drm_vinci_share_import im;
	int64_t until = now_ms() + 10000;
	unsigned int with, now;
	struct name name;
	struct bo bo;
	int sock = raw_connect();
	pid_t server = raw_server_pid(sock);

	(void)state;
	assert_ok(bo_create(creator, 1, 4096, VINCI_PAGE_4K, &bo));
	assert_ok(share_export(creator, bo.handle, VINCI_SHARE_IPC_MEM, VINCI_SHARE_UNVALIDATED, 4096, &name));
	assert_ok(share_import(n, &name, 1, &im));
	node_kill(creator);
	assert_int_equal(mem_used(n, 1), 4096);
	with = count_fds(server);
	assert_ok(node_post_close(n, im.handle));
	do {
		(void)poll(NULL, 0, 10);
		now = count_fds(server);
	} while (now >= with && now_ms() < until);
	assert_int_equal(now, with - 1);
	(void)close(sock);
}

/* Sent before somebody asked, done before he is answered: also what needs no answer. */
static void one_way_is_in_order(void **state)
{
	struct { struct wire_request head; struct drm_gem_close arg; } message = {
		.head = { .flags = WIRE_ONE_WAY, .request = (uint32_t)DRM_IOCTL_GEM_CLOSE }
	};
	struct drm_vinci_bo_create a = { .size = 4096, .device = 1, .numa_node = -1 };
	struct node *n = node_self();
	int sock = greeted(), i;

	(void)state;
	for (i = 0; i < 500; i++) {
		assert_ok(raw_call(sock, DRM_IOCTL_VINCI_BO_CREATE, &a, NULL, 0, NULL));
		message.arg.handle = a.handle;
		assert_ok(raw_send(sock, &message, sizeof(message)));
		assert_int_equal(mem_used(n, 1), 0);
		a = (struct drm_vinci_bo_create){ .size = 4096, .device = 1, .numa_node = -1 };
	}
	(void)close(sock);
}

/* Connections that never say hello are bounded too, and end with their process. */
static void silent_connections(void **state)
{
	enum { COUNT = 200 };
	struct node *n = node_self();
	int socks[COUNT], i;

	(void)state;
	for (i = 0; i < COUNT; i++)
		socks[i] = raw_connect();
	assert_served(n);
	for (i = 0; i < COUNT; i++)
		(void)close(socks[i]);
	assert_served(n);
}

/* --- noise --------------------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static size_t make_noise(uint8_t *message, size_t room)
{
	struct wire_request head = { .seq = any(100), .flags = any(20) ? 0 : any(4) };
	unsigned int size = any(4) ? any(200) : any(16384);
	size_t total, i;

	head.request = (uint32_t)_IOC(any(4), 'd', any(3) ? DRM_COMMAND_BASE + any(18) : any(256), size);
	head.array_size = any(3) ? 0 : any(300);
	total = sizeof(head) + size + head.array_size;
	for (i = 0; i < total && i < room; i++)
		message[i] = (uint8_t)(any(3) ? 0 : any(256));
	memcpy(message, &head, sizeof(head));
	if (!any(10))
		message[any(sizeof(head))] ^= (uint8_t)(1 + any(255));
	return any(20) ? total : any((uint32_t)total);
}

static void noise(void **state)
{
	static uint8_t message[40000], reply[40000];
	struct node *n = node_self();
	int sock = greeted(), fd, i;
	pid_t server = raw_server_pid(sock);
	ssize_t got;

	(void)state;
	for (i = 0; i < 10000; i++) {
		size_t size = make_noise(message, sizeof(message));
		bool one_way = size >= 8 && (message[4] & WIRE_ONE_WAY);

		if (raw_send(sock, message, size) || one_way || !size)
			got = 0;
		else
			got = raw_receive(sock, reply, sizeof(reply), &fd);
		assert_true(got >= 0);
		if (got && fd >= 0)
			(void)close(fd);
		if (got)
			continue;
		(void)close(sock);
		sock = greeted();
	}
	assert_int_equal(raw_server_pid(sock), server);
	assert_served(n);
	(void)close(sock);
}

/* Hellos with a few bytes changed: let in or sent away, never a crash. */
static void noisy_hellos(void **state)
{
	struct node *n = node_self();
	struct wire_welcome welcome;
	union {
		struct wire_hello hello;
		uint8_t bytes[sizeof(struct wire_hello) + 64];
	} m;
	int sock, fd, i, j;
	size_t size;
	ssize_t got;

	(void)state;
	for (i = 0; i < 2000; i++) {
		memset(&m, 0, sizeof(m));
		m.hello.magic = WIRE_HELLO_MAGIC;
		m.hello.major = VINCI_UAPI_MAJOR;
		size = any(3) ? sizeof(m.hello) : any(sizeof(m.bytes)) + 1;
		m.hello.settings_size = (uint32_t)(size - offsetof(struct wire_hello, settings));
		for (j = (int)any(4); j > 0; j--)
			m.bytes[any(sizeof(m.bytes))] = (uint8_t)any(256);
		sock = raw_connect();
		assert_ok(raw_send(sock, &m, size));
		got = raw_receive(sock, &welcome, sizeof(welcome), &fd);
		assert_true(!got || got == sizeof(welcome));
		if (got && welcome.status)
			assert_non_null(memchr(welcome.why, 0, sizeof(welcome.why)));
		if (fd >= 0)
			(void)close(fd);
		(void)close(sock);
	}
	assert_served(n);
}

/* --- pid namespaces ------------------------------------------------------------------------ */

/* Runs @body as pid 1 of a namespace of its own; its exit status, or -1 when the system does not let us. */
static int in_pid_namespace(int (*body)(int), int arg)
{
	int status;
	pid_t pid = fork_test(), inner;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(99);
		inner = fork();
		if (!inner)
			_exit(body(arg));
		if (inner < 0 || waitpid(inner, &status, 0) != inner)
			_exit(98);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

/* It is pid 1 to itself, and somebody else to vincid: whitelists take what vincid sees. */
static int ask_tgid(int arg)
{
	struct drm_vinci_get_param a = { .param = VINCI_PARAM_TGID };
	int sock = greeted();

	(void)arg;
	if (raw_call(sock, DRM_IOCTL_VINCI_GET_PARAM, &a, NULL, 0, NULL))
		return 1;
	return getpid() == 1 && a.value > 1 ? 0 : 2;
}

static void inner_namespace(void **state)
{
	struct node *n = node_self();
	int r = in_pid_namespace(ask_tgid, 0);

	(void)state;
	if (r < 0) {
		print_message("a pid namespace needs root\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_served(n);
}

/* Starts vincid inside and lets the outside try. */
static int serve_inside(int channel)
{
	struct node *n = node_self();
	char byte = 'r';

	if (write(channel, &byte, 1) != 1 || read(channel, &byte, 1) != 1)
		return 1;
	assert_served(n);
	return 0;
}

static void foreign_namespace(void **state)
{
	struct wire_welcome welcome;
	int pair[2], sock, status, r;
	char byte;
	pid_t pid;

	(void)state;
	assert_ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = fork_test();
	if (!pid) {
		(void)close(pair[0]);
		r = in_pid_namespace(serve_inside, pair[1]);
		_exit(r < 0 ? 99 : r);
	}
	(void)close(pair[1]);
	if (read(pair[0], &byte, 1) != 1) {
		(void)waitpid(pid, &status, 0);
		print_message("a pid namespace needs root\n");
		skip();
	}
	sock = raw_connect();
	assert_fails(raw_hello(sock, VINCI_UAPI_MAJOR, VINCI_UAPI_MINOR, &welcome, NULL), EPERM);
	assert_non_null(strstr(welcome.why, "namespace"));
	(void)close(sock);
	assert_int_equal(write(pair[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(off_the_list, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(on_the_list, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(forked_client, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(orphaned_socket, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(other_versions, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(before_hello, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(malformed, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(short_array, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(descriptors_sent, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(deaf_client, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(one_way_flood, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(one_way_is_in_order, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(hostile_ring, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(rings_spoilt_in_a_round, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(huge_listing, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(quiet_close, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(silent_connections, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(noise, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(noisy_hellos, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(inner_namespace, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(foreign_namespace, test_setup, test_teardown),
	};

	if (harness_init("vincid"))
		return 2;
	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
