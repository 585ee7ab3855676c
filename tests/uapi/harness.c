/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "soft/device.h"
#include "transport_inproc.h"

#define TEST_SECONDS 120
#define ANSWER_MS 30000
#define ARG_SIZE 512
#define ARRAY_SIZE 8192

enum op { OP_IOCTL, OP_PEEK, OP_POKE, OP_POST_CLOSE, OP_CLOSE };

/* What is asked of a peer's process. */
struct order {
	uint32_t op;
	uint32_t arg_size;
	uint64_t request;
	uint64_t offset;
	uint64_t value;
	uint32_t pointer_at;
	uint32_t array_size;
	uint8_t arg[ARG_SIZE];
	uint8_t array[ARRAY_SIZE];
};

struct answer {
	int32_t r;
	uint32_t pad;
	uint64_t value;
	uint8_t arg[ARG_SIZE];
};

struct node {
	struct node *next;
	struct transport *transport; /* NULL: the peer's process has it */
	pid_t pid;
	bool is_peer;
	int channel; /* to the peer's process, -1 in process */
};

static const struct transport_ops *ops;
static struct drv_settings settings;
static char instance[64];
static unsigned int test_number;
static struct node *nodes;

int harness_init(const char *device)
{
	unsigned int d;

	if (!strcmp(device, "inproc"))
		ops = &transport_inproc;
	else if (!strcmp(device, "vincid"))
		ops = &transport_soft;
	else if (!strcmp(device, "drm"))
		ops = &transport_drm;
	else
		return -EINVAL;
	settings.devices = NPUS;
	settings.mem_bytes = NPU_MEMORY;
	settings.notify_limit = NOTIFIES;
	settings.instance = instance;
	settings.server = getenv("VINCI_TEST_SERVER");
	if (!settings.server && ops == &transport_soft)
		(void)fprintf(stderr, "VINCI_TEST_SERVER should name vincid, as ctest has it\n");
	settings.has_peers = true;
	/* NPU 3 is out of everybody's reach. */
	for (d = 0; d < 3; d++)
		settings.peers[d] = 7ull & ~(1ull << d);
	return 0;
}

bool harness_in_process(void)
{
	return ops == &transport_inproc;
}

const struct drv_settings *test_settings(void)
{
	return &settings;
}

int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int test_setup(void **state)
{
	(void)state;
	(void)snprintf(instance, sizeof(instance), "uapi-%d-%u", getpid(), ++test_number);
	(void)alarm(TEST_SECONDS);
	return 0;
}

int test_teardown(void **state)
{
	(void)state;
	while (nodes)
		node_close(nodes);
	(void)alarm(0);
	return 0;
}

/* --- a peer's process ---------------------------------------------------------------------- */

static int with_mapping(struct transport *t, struct order *o, uint64_t *value)
{
	uint64_t page = o->offset & ~4095ull;
	void *p;
	int r = t->ops->mmap(t, NULL, 4096, PROT_READ | PROT_WRITE, page, &p);
	uint64_t *word;

	if (r)
		return r;
	word = (uint64_t *)((char *)p + (o->offset - page));
	if (o->op == OP_POKE)
		*word = o->value;
	*value = *word;
	return t->ops->munmap(p, 4096);
}

static int post_close(struct transport *t, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return t->ops->post ? t->ops->post(t, DRM_IOCTL_GEM_CLOSE, &arg) : t->ops->ioctl(t, DRM_IOCTL_GEM_CLOSE, &arg);
}

static void obey(struct transport *t, struct order *o, struct answer *a)
{
	uint64_t pointer = (uintptr_t)o->array;

	switch (o->op) {
	case OP_IOCTL:
		if (o->array_size)
			memcpy(o->arg + o->pointer_at, &pointer, sizeof(pointer));
		a->r = t->ops->ioctl(t, o->request, o->arg);
		memcpy(a->arg, o->arg, o->arg_size);
		break;
	case OP_POST_CLOSE:
		a->r = post_close(t, (uint32_t)o->value);
		break;
	default:
		a->r = with_mapping(t, o, &a->value);
	}
}

static void peer_main(int channel)
{
	struct transport *t = NULL;
	struct answer a = { 0 };
	struct order o;
	char why[256];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(TEST_SECONDS);
	a.r = ops->open(&settings, &t, why, sizeof(why));
	if (send(channel, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a) || a.r)
		_exit(1);
	while (recv(channel, &o, sizeof(o), 0) == sizeof(o) && o.op != OP_CLOSE) {
		memset(&a, 0, sizeof(a));
		obey(t, &o, &a);
		if (send(channel, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
	}
	t->ops->close(t);
	_exit(0);
}

static void get_answer(struct node *node, struct answer *a)
{
	struct pollfd p = { .fd = node->channel, .events = POLLIN };

	assert_int_equal(poll(&p, 1, ANSWER_MS), 1);
	assert_int_equal(recv(node->channel, a, sizeof(*a), 0), sizeof(*a));
}

static int ask(struct node *node, struct order *o, struct answer *a)
{
	assert_int_equal(send(node->channel, o, sizeof(*o), MSG_NOSIGNAL), sizeof(*o));
	get_answer(node, a);
	return a->r;
}

/* fork(), or with a pid of our choice. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1
	};

	return pid ? (pid_t)syscall(SYS_clone3, &args, sizeof(args)) : fork();
}

static struct node *new_node(void)
{
	struct node *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	node->channel = -1;
	node->pid = getpid();
	node->next = nodes;
	nodes = node;
	return node;
}

static void drop_node(struct node *node)
{
	struct node **at;

	for (at = &nodes; *at != node; at = &(*at)->next)
		;
	*at = node->next;
	free(node);
}

static void open_here(struct node *node, pid_t pid)
{
	char why[256] = "";
	uint64_t start = 0;

	if (harness_in_process()) {
		assert_ok(soft_process_start(pid, &start));
		inproc_identity(pid, start);
	}
	if (ops->open(&settings, &node->transport, why, sizeof(why)))
		fail_msg("open: %s", why);
}

struct node *node_self(void)
{
	struct node *node = new_node();

	open_here(node, getpid());
	return node;
}

/* In process, the peer's process is there to have an identity and to be killed. */
static void child_main(int channel)
{
	char byte;

	if (!harness_in_process())
		peer_main(channel);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)recv(channel, &byte, 1, 0);
	_exit(0);
}

struct node *node_peer_pid(pid_t want)
{
	struct answer a;
	struct node *node;
	int pair[2];
	pid_t pid;

	assert_ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	pid = fork_as(want);
	if (!pid) {
		(void)close(pair[0]);
		child_main(pair[1]);
	}
	(void)close(pair[1]);
	if (pid < 0) {
		(void)close(pair[0]);
		return NULL;
	}
	node = new_node();
	node->is_peer = true;
	node->pid = pid;
	node->channel = pair[0];
	if (harness_in_process()) {
		open_here(node, pid);
	} else {
		get_answer(node, &a);
		assert_ok(a.r);
	}
	return node;
}

struct node *node_peer(void)
{
	struct node *node = node_peer_pid(0);

	assert_non_null(node);
	return node;
}

pid_t node_pid(const struct node *node)
{
	return node->pid;
}

/* --- requests ------------------------------------------------------------------------------ */

int node_ioctl_array(struct node *node, unsigned long request, void *arg, size_t pointer_at, const void *array,
		     size_t size)
{
	struct order o = { .op = OP_IOCTL, .request = request, .arg_size = _IOC_SIZE(request) };
	uint64_t pointer = (uintptr_t)array;
	struct answer a;
	int r;

	if (node->transport) {
		if (array)
			memcpy((char *)arg + pointer_at, &pointer, sizeof(pointer));
		return node->transport->ops->ioctl(node->transport, request, arg);
	}
	assert_true(o.arg_size <= ARG_SIZE && size <= ARRAY_SIZE);
	o.pointer_at = (uint32_t)pointer_at;
	o.array_size = (uint32_t)size;
	memcpy(o.arg, arg, o.arg_size);
	if (array)
		memcpy(o.array, array, size);
	r = ask(node, &o, &a);
	memcpy(arg, a.arg, o.arg_size);
	return r;
}

int node_ioctl(struct node *node, unsigned long request, void *arg)
{
	return node_ioctl_array(node, request, arg, 0, NULL, 0);
}

int node_post_close(struct node *node, uint32_t handle)
{
	struct order o = { .op = OP_POST_CLOSE, .value = handle };
	struct answer a;

	return node->transport ? post_close(node->transport, handle) : ask(node, &o, &a);
}

int node_map(struct node *node, uint64_t offset, size_t size, void **out)
{
	return node->transport->ops->mmap(node->transport, NULL, size, PROT_READ | PROT_WRITE, offset, out);
}

static int access_word(struct node *node, enum op op, uint64_t offset, uint64_t *value)
{
	struct order o = { .op = op, .offset = offset, .value = *value };
	struct answer a;
	int r;

	if (node->transport)
		return with_mapping(node->transport, &o, value);
	r = ask(node, &o, &a);
	*value = a.value;
	return r;
}

int node_peek(struct node *node, uint64_t offset, uint64_t *value)
{
	*value = 0;
	return access_word(node, OP_PEEK, offset, value);
}

int node_poke(struct node *node, uint64_t offset, uint64_t value)
{
	return access_word(node, OP_POKE, offset, &value);
}

static void wait_gone(struct node *node)
{
	int status;

	assert_int_equal(waitpid(node->pid, &status, 0), node->pid);
}

void node_close(struct node *node)
{
	struct order o = { .op = OP_CLOSE };

	if (node->transport)
		node->transport->ops->close(node->transport);
	if (node->is_peer) {
		(void)!send(node->channel, &o, sizeof(o), MSG_NOSIGNAL);
		(void)close(node->channel);
		wait_gone(node);
	}
	drop_node(node);
}

/* The device learns of it when the process has gone, as from the kernel. */
void node_kill(struct node *node)
{
	assert_true(node->is_peer);
	assert_ok(kill(node->pid, SIGKILL));
	wait_gone(node);
	(void)close(node->channel);
	if (node->transport)
		node->transport->ops->close(node->transport);
	drop_node(node);
}

/* --- short forms --------------------------------------------------------------------------- */

int bo_create(struct node *node, uint32_t device, uint64_t size, uint32_t page_kind, struct bo *out)
{
	struct drm_vinci_bo_create a = { .size = size, .device = device, .page_kind = page_kind, .numa_node = -1 };
	int r = node_ioctl(node, DRM_IOCTL_VINCI_BO_CREATE, &a);

	if (!r)
		*out = (struct bo){ a.handle, a.mmap_offset, size };
	return r;
}

int handle_close(struct node *node, uint32_t handle)
{
	struct drm_gem_close a = { .handle = handle };

	return node_ioctl(node, DRM_IOCTL_GEM_CLOSE, &a);
}

int bo_info(struct node *node, uint32_t handle, struct drm_vinci_bo_info *info)
{
	*info = (struct drm_vinci_bo_info){ .handle = handle };
	return node_ioctl(node, DRM_IOCTL_VINCI_BO_INFO, info);
}

int share_export(struct node *node, uint32_t handle, uint32_t kind, uint32_t flags, uint64_t size, struct name *name)
{
	struct drm_vinci_share_export a = { .handle = handle, .kind = kind, .flags = flags, .size = size };
	int r = node_ioctl(node, DRM_IOCTL_VINCI_SHARE_EXPORT, &a);

	if (r)
		return r;
	name->kind = kind;
	name->len = a.name_len;
	memcpy(name->bytes, a.name, sizeof(name->bytes));
	return 0;
}

int share_allow(struct node *node, const struct name *name, const int32_t *pids, uint32_t count)
{
	struct drm_vinci_share_allow a = {
		.kind = name->kind, .name_len = name->len, .count = count, .elem_size = sizeof(*pids)
	};

	memcpy(a.name, name->bytes, sizeof(a.name));
	return node_ioctl_array(node, DRM_IOCTL_VINCI_SHARE_ALLOW, &a, offsetof(struct drm_vinci_share_allow, pids),
				pids, count * sizeof(*pids));
}

int share_allow_pid(struct node *node, const struct name *name, pid_t pid)
{
	int32_t one = pid;

	return share_allow(node, name, &one, 1);
}

int share_import(struct node *node, const struct name *name, uint32_t device, struct drm_vinci_share_import *out)
{
	struct drm_vinci_share_import a = { .kind = name->kind, .name_len = name->len, .device = device };
	int r;

	memcpy(a.name, name->bytes, sizeof(a.name));
	r = node_ioctl(node, DRM_IOCTL_VINCI_SHARE_IMPORT, &a);
	if (!r && out)
		*out = a;
	return r;
}

int share_close(struct node *node, const struct name *name)
{
	struct drm_vinci_share_close a = { .kind = name->kind, .name_len = name->len };

	memcpy(a.name, name->bytes, sizeof(a.name));
	return node_ioctl(node, DRM_IOCTL_VINCI_SHARE_CLOSE, &a);
}

int share_attr(struct node *node, const struct name *name, uint32_t attr, uint64_t value)
{
	struct drm_vinci_share_attr a = { .kind = name->kind, .name_len = name->len, .attr = attr, .value = value };

	memcpy(a.name, name->bytes, sizeof(a.name));
	return node_ioctl(node, DRM_IOCTL_VINCI_SHARE_ATTR, &a);
}

int notify_create(struct node *node, uint32_t device, struct bo *out, uint32_t *id)
{
	struct drm_vinci_notify_ids ids = { .device = device, .count = 1 };
	struct drm_vinci_notify_create a = { .device = device };
	int r = node_ioctl(node, DRM_IOCTL_VINCI_NOTIFY_IDS, &ids);

	if (r)
		return r;
	a.id = ids.first;
	r = node_ioctl(node, DRM_IOCTL_VINCI_NOTIFY_CREATE, &a);
	if (r)
		return r;
	*out = (struct bo){ a.handle, a.mmap_offset, VINCI_NOTIFY_PAGE_SIZE };
	*id = ids.first;
	return 0;
}

int peer_op(struct node *node, uint32_t device, uint32_t peer, uint32_t op, uint32_t *active)
{
	struct drm_vinci_peer a = { .device = device, .peer = peer, .op = op };
	int r = node_ioctl(node, DRM_IOCTL_VINCI_PEER, &a);

	if (!r && active)
		*active = a.active;
	return r;
}

uint64_t mem_used(struct node *node, uint32_t device)
{
	struct drm_vinci_device_info a = { .device = device };

	assert_ok(node_ioctl(node, DRM_IOCTL_VINCI_DEVICE_INFO, &a));
	return a.mem_used;
}
