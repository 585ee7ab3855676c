/* SPDX-License-Identifier: MIT */
/*
 * bench_share - sharing between processes, starting, and what it all keeps resident, each beside the same without any
 * library in the same run.
 *
 *   C1  a word at the end of shared device memory, then a notify; the other process's stream waits, reads the word and
 *       notifies back                             bare: the word in a memfd, two more that both sides spin on;
 *                                                 a pipe, a socket: all bytes written and read, one byte back
 *       Where the scheduler puts the two, and again with each on a core of its own: spinning that yields can stay on one.
 *   O1  import 2 MiB by key, touch, close         bare: a request to a process that passes a memfd, mmap, touch, munmap
 *       With the two processes on one core, and on two: a wake-up across cores costs more than all the rest.
 *   S1  a process that initialises, runs a kernel and exits, vincid running or not           bare: an empty program
 *   M1  resident sizes                                                                       bare: an empty program
 *
 * Prints medians over several rounds. It has an instance of vincid of its own.
 * usage: bench_share [rounds]
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "uapi/vinci_drm.h"
#include "vinci/kernel.h"

#define KEY 65
#define MIB ((size_t)1 << 20)
#define SIZES 4
#define LOOPS 10000
#define IMPORTS 300
#define IMPORT_SIZE (2 * MIB)
#define STARTS 5
#define STREAMS 1000
#define LEAVE_MS 10000

static const struct {
	size_t bytes;
	const char *name;
	uint32_t loops; /* of whole copies; 0: none */
} sizes[SIZES] = {
	{ 4096, "4 KiB", 2000 },
	{ MIB, "1 MiB", 40 },
	{ 64 * MIB, "64 MiB", 2 },
	{ 1024 * MIB, "1 GiB", 0 },
};

static char instance[32], cold_instance[40], self_path[PATH_MAX], empty_path[PATH_MAX];
static aclrtStream stream;

/* Benchmarks end at the first thing that fails. */
static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void say(int fd, const void *data, size_t len)
{
	must(send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len, "send");
}

static void hear(int fd, void *data, size_t len)
{
	must(recv(fd, data, len, 0) == (ssize_t)len, "recv");
}

static void reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid, "waitpid");
	errno = ECHILD;
	must(WIFEXITED(status) && !WEXITSTATUS(status), "a process of the benchmark failed");
}

/* Messages over a socket that is the program's stdin and stdout; fd NULL: it keeps the caller's. */
static pid_t start(const char *path, const char *role, const char *arg, int *fd)
{
	extern char **environ;
	char *argv[] = { (char *)path, (char *)role, (char *)arg, NULL };
	posix_spawn_file_actions_t actions;
	int pair[2] = { -1, -1 };
	pid_t pid;

	must(!posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
	if (fd) {
		must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "socketpair");
		must(!posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO) &&
			     !posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO),
		     "posix_spawn_file_actions_adddup2");
	}
	errno = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	must(!errno, path);
	posix_spawn_file_actions_destroy(&actions);
	if (fd) {
		close(pair[1]);
		*fd = pair[0];
	}
	return pid;
}

/*
 * A thread (0: the calling one) goes to the which-th of the processors that the caller may use, or with -1 back to all.
 * The library's own threads stay free.
 */
static void place(pid_t thread, int which)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (!CPU_COUNT(&all))
		must(!sched_getaffinity(0, sizeof(all), &all), "sched_getaffinity");
	CPU_ZERO(&one);
	for (int cpu = 0; which >= 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && !which--)
			CPU_SET(cpu, &one);
	must(!sched_setaffinity(thread, sizeof(one), CPU_COUNT(&one) ? &one : &all), "sched_setaffinity");
}

/* The pid of an instance's vincid, or 0. Asking makes no client of it. */
static pid_t server_of(const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct ucred ucred = { .pid = 0 };
	socklen_t len = sizeof(ucred);
	int n;

	must(sock >= 0, "socket");
	n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "vinci-%u-%s-%d", (unsigned int)geteuid(), name,
		     VINCI_UAPI_MAJOR);
	if (!connect(sock, (void *)&un, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)))
		must(!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &ucred, &len), "SO_PEERCRED");
	close(sock);
	return ucred.pid;
}

/* --- C1, bare ------------------------------------------------------------------------------ */

struct page {
	_Alignas(64) _Atomic uint32_t ping;
	_Alignas(64) _Atomic uint32_t pong;
};

static struct page *page;

static void *shared_memory(size_t size)
{
	int fd = memfd_create("bench_share", MFD_CLOEXEC);
	void *p;

	must(fd >= 0 && !ftruncate(fd, (off_t)size), "memfd");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(p != MAP_FAILED, "mmap");
	close(fd);
	if (size > MIB)
		(void)madvise(p, size, MADV_HUGEPAGE); /* where the machine allows it, as for device memory */
	memset(p, 0, size);
	return p;
}

static _Atomic uint64_t *last_word(void *memory, size_t size)
{
	return (_Atomic uint64_t *)(void *)((char *)memory + size - sizeof(uint64_t));
}

static pid_t fork_or_exit(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	return pid;
}

static void bare_peer(_Atomic uint64_t *word, bool placed)
{
	bool good = true;

	place(0, placed ? 1 : -1);
	for (uint32_t i = 0; i < LOOPS; i++) {
		while (atomic_load_explicit(&page->ping, memory_order_acquire) == i)
			relax();
		good &= atomic_load_explicit(word, memory_order_relaxed) == i + 1;
		atomic_store_explicit(&page->pong, i + 1, memory_order_release);
	}
	_exit(!good);
}

/* ns a round trip. */
static double bare_round(_Atomic uint64_t *word, bool placed)
{
	double begin = 0, end;
	pid_t pid;

	memset(page, 0, sizeof(*page));
	pid = fork_or_exit();
	if (!pid)
		bare_peer(word, placed);
	for (uint32_t i = 0; i < LOOPS; i++) {
		if (i == LOOPS / 10)
			begin = now_ns();
		atomic_store_explicit(word, i + 1, memory_order_relaxed);
		atomic_store_explicit(&page->ping, i + 1, memory_order_release);
		while (atomic_load_explicit(&page->pong, memory_order_acquire) == i)
			relax();
	}
	end = now_ns();
	reap(pid);
	return (end - begin) / (LOOPS - LOOPS / 10);
}

/* --- C1, whole copies ---------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

static bool read_all(int fd, char *data, size_t size)
{
	while (size) {
		ssize_t n = read(fd, data, size);

		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

static void copy_peer(int from, int to, size_t size, uint32_t loops)
{
	char *data = malloc(size), c = 0;
	bool good = data;

	if (good)
		memset(data, 1, size);
	for (uint32_t i = 0; good && i <= loops; i++)
		good = read_all(from, data, size) && *last_word(data, size) == i && write_all(to, &c, 1);
	_exit(!good);
}

static void open_ways(bool is_socket, int there[2], int back[2])
{
	must(is_socket ? !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, there) : !pipe(there), "a way there");
	must(!pipe(back), "a way back");
}

/* ns from before the writing to the byte that comes back. */
static double copy_round(bool is_socket, size_t size, uint32_t loops)
{
	char *data = malloc(size), c;
	int there[2], back[2];
	double begin = 0, end;
	pid_t pid;

	must(data, "malloc");
	memset(data, 1, size);
	open_ways(is_socket, there, back);
	pid = fork_or_exit();
	if (!pid)
		copy_peer(there[0], back[1], size, loops);
	close(there[0]); /* a peer that fails is an end of file, not a wait without end */
	close(back[1]);
	for (uint32_t i = 0; i <= loops; i++) {
		if (i == 1)
			begin = now_ns();
		*last_word(data, size) = i;
		must(write_all(there[1], data, size) && read_all(back[0], &c, 1), "copying");
	}
	end = now_ns();
	close(there[1]);
	close(back[0]);
	reap(pid);
	free(data);
	return (end - begin) / loops;
}

/* --- C1 ------------------------------------------------------------------------------------ */

struct word_args {
	_Atomic uint64_t *word;
	uint64_t value;
};

static _Atomic uint64_t seen;

static void put_word(const void *args, const struct vinci_block *block)
{
	const struct word_args *a = args;

	(void)block;
	atomic_store_explicit(a->word, a->value, memory_order_relaxed);
}

static void get_word(const void *args, const struct vinci_block *block)
{
	const struct word_args *a = args;

	(void)block;
	atomic_store_explicit(&seen, atomic_load_explicit(a->word, memory_order_relaxed), memory_order_relaxed);
}

static const struct vinci_kernel put = {
	.abi = VINCI_KERNEL_ABI, .name = "put", .run = put_word, .args_size = sizeof(struct word_args)
};
static const struct vinci_kernel get = {
	.abi = VINCI_KERNEL_ABI, .name = "get", .run = get_word, .args_size = sizeof(struct word_args)
};

struct offer {
	char key[KEY];
	uint64_t size;
	uint32_t loops;
	bool placed;
};

static void *device_memory(size_t size, char key[KEY])
{
	void *p;

	CHECK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
	CHECK(aclrtMemset(p, size, 0, size));
	CHECK(aclrtIpcMemGetExportKey(p, size, key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	return p;
}

static aclrtNotify new_notify(char key[KEY])
{
	aclrtNotify notify;

	CHECK(aclrtCreateNotify(&notify, 0));
	CHECK(aclrtNotifyGetExportKey(notify, key, KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	return notify;
}

static void consume(const struct offer *offer, aclrtNotify from, aclrtNotify to)
{
	struct word_args args;
	void *memory;

	CHECK(aclrtIpcMemImportByKey(&memory, offer->key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	args.word = last_word(memory, offer->size);
	place(0, offer->placed ? 1 : -1);
	say(STDOUT_FILENO, "", 1);
	for (uint32_t i = 0; i < offer->loops; i++) {
		CHECK(aclrtWaitAndResetNotify(from, stream, 0));
		CHECK(vinciLaunchKernel(&get, 1, stream, &args, sizeof(args)));
		CHECK(aclrtRecordNotify(to, stream));
		CHECK(aclrtSynchronizeStream(stream));
		errno = EBADMSG;
		must(seen == i + 1, "the word that was read");
	}
	CHECK(aclrtIpcMemClose(offer->key));
	say(STDOUT_FILENO, "", 1);
}

/* Device 1's side. It serves one offer after another, until one without a size. */
static int peer_main(const char *key)
{
	char own[2][KEY];
	aclrtNotify from, to;
	struct offer offer;
	void *memory;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(1));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtNotifyImportByKey(&to, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	from = new_notify(own[0]);
	memory = device_memory(IMPORT_SIZE, own[1]);
	say(STDOUT_FILENO, own, sizeof(own));
	for (hear(STDIN_FILENO, &offer, sizeof(offer)); offer.size; hear(STDIN_FILENO, &offer, sizeof(offer)))
		consume(&offer, from, to);
	CHECK(aclrtIpcMemClose(own[1]));
	CHECK(aclrtFree(memory));
	CHECK(aclrtDestroyNotify(to));
	CHECK(aclrtDestroyNotify(from));
	return 0;
}

struct peer {
	pid_t pid;
	int fd;
	aclrtNotify to, from;
	char memory_key[KEY];
};

static void peer_start(struct peer *peer)
{
	char key[KEY], keys[2][KEY];

	peer->from = new_notify(key);
	peer->pid = start(self_path, "peer", key, &peer->fd);
	hear(peer->fd, keys, sizeof(keys));
	CHECK(aclrtNotifyImportByKey(&peer->to, keys[0], ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	memcpy(peer->memory_key, keys[1], KEY);
}

static void peer_end(struct peer *peer)
{
	struct offer none = { .size = 0 };

	say(peer->fd, &none, sizeof(none));
	reap(peer->pid);
	close(peer->fd);
	CHECK(aclrtDestroyNotify(peer->to));
	CHECK(aclrtDestroyNotify(peer->from));
}

/* value: the last one sent before, brought up to date. */
static double share_round(const struct peer *peer, _Atomic uint64_t *word, uint64_t *value)
{
	struct word_args args = { .word = word };
	double begin = 0;

	for (uint32_t i = 0; i < LOOPS; i++) {
		if (i == LOOPS / 10)
			begin = now_ns();
		args.value = ++*value;
		CHECK(vinciLaunchKernel(&put, 1, stream, &args, sizeof(args)));
		CHECK(aclrtRecordNotify(peer->to, stream));
		CHECK(aclrtWaitAndResetNotify(peer->from, stream, 0));
		CHECK(aclrtSynchronizeStream(stream));
	}
	return (now_ns() - begin) / (LOOPS - LOOPS / 10);
}

static void copy_row(const char *what, double ours, double *copies, uint32_t n)
{
	double copy = median(copies, n);

	printf("   %-37s %8.3f us    shared memory is %.1f %% below\n", what, copy / 1e3, 100 * (1 - ours / copy));
}

/* Rounds of the bare loop and of ours by turns, while the peer serves the offer. */
static void transfer_rounds(const struct peer *peer, const struct offer *offer, void *plain, void *memory,
			    double *bare, double *ours)
{
	uint32_t rounds = offer->loops / LOOPS;
	uint64_t value = 0;
	char c;

	say(peer->fd, offer, sizeof(*offer));
	hear(peer->fd, &c, 1);
	place(0, offer->placed ? 0 : -1);
	for (uint32_t r = 0; r < rounds; r++) {
		bare[r] = bare_round(last_word(plain, offer->size), offer->placed);
		ours[r] = share_round(peer, last_word(memory, offer->size), &value);
	}
	place(0, -1);
	hear(peer->fd, &c, 1);
}

static void copy_rows(int s, double ours, uint32_t rounds)
{
	static double copies[2][ROUNDS_MAX];

	for (uint32_t r = 0; r < rounds; r++)
		for (int i = 0; i < 2; i++)
			copies[i][r] = copy_round(i, sizes[s].bytes, sizes[s].loops);
	copy_row("pipe", ours, copies[0], rounds);
	copy_row("UNIX socket", ours, copies[1], rounds);
}

static void transfer_row(const struct peer *peer, int s, uint32_t rounds)
{
	static double ours[2][ROUNDS_MAX], bare[2][ROUNDS_MAX];
	struct offer offer = { .size = sizes[s].bytes, .loops = rounds * LOOPS };
	void *plain = shared_memory(sizes[s].bytes), *memory = device_memory(sizes[s].bytes, offer.key);
	char name[48];

	for (int i = 0; i < 2; i++) {
		offer.placed = i;
		transfer_rounds(peer, &offer, plain, memory, bare[i], ours[i]);
	}
	CHECK(aclrtIpcMemClose(offer.key));
	CHECK(aclrtFree(memory));
	munmap(plain, offer.size);
	snprintf(name, sizeof(name), "C1 transfer and answer, %s", sizes[s].name);
	row(name, "us", 1e3, ours[0], bare[0], rounds);
	row("   each on a core of its own", "us", 1e3, ours[1], bare[1], rounds);
	if (sizes[s].loops)
		copy_rows(s, median(ours[0], rounds), rounds);
}

/* --- O1 ------------------------------------------------------------------------------------ */

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int pass_fd(int sock, int fd)
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int take_fd(int sock)
{
	union control control = { .room = { 0 } };
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd;

	must(recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1 && msg.msg_controllen >= CMSG_LEN(sizeof(fd)), "recvmsg");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

static void broker_main(int sock, int core)
{
	int fd = memfd_create("bench_broker", MFD_CLOEXEC), r = fd < 0 || ftruncate(fd, IMPORT_SIZE);
	char c;

	place(0, core);
	while (!r && recv(sock, &c, 1, 0) == 1)
		r = pass_fd(sock, fd);
	_exit(r);
}

static void bare_import(int sock)
{
	char *p;
	int fd;

	say(sock, "", 1);
	fd = take_fd(sock);
	p = mmap(NULL, IMPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(p != MAP_FAILED, "mmap");
	*(volatile char *)p = 1;
	munmap(p, IMPORT_SIZE);
	close(fd);
}

static double bare_import_round(int core)
{
	double begin = 0, end;
	int pair[2];
	pid_t pid;

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "socketpair");
	pid = fork_or_exit();
	if (!pid) {
		close(pair[0]);
		broker_main(pair[1], core);
	}
	close(pair[1]);
	for (uint32_t i = 0; i < IMPORTS; i++) {
		if (i == IMPORTS / 10)
			begin = now_ns();
		bare_import(pair[0]);
	}
	end = now_ns();
	close(pair[0]);
	reap(pid);
	return (end - begin) / (IMPORTS - IMPORTS / 10);
}

static double import_round(const char *key)
{
	double begin = 0;
	void *p;

	for (uint32_t i = 0; i < IMPORTS; i++) {
		if (i == IMPORTS / 10)
			begin = now_ns();
		CHECK(aclrtIpcMemImportByKey(&p, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
		*(volatile char *)p = 1;
		CHECK(aclrtIpcMemClose(key));
	}
	return (now_ns() - begin) / (IMPORTS - IMPORTS / 10);
}

/* core: of the process that is asked; the one that asks is on core 0. */
static void import_row(const char *name, const char *key, int core, uint32_t rounds)
{
	static double ours[ROUNDS_MAX], bare[ROUNDS_MAX];
	pid_t server = server_of(instance);

	errno = ESRCH;
	must(server, "vincid");
	place(0, 0);
	place(server, core);
	for (uint32_t r = 0; r < rounds; r++) {
		bare[r] = bare_import_round(core);
		ours[r] = import_round(key);
	}
	place(0, -1);
	place(server, -1);
	row(name, "us", 1e3, ours, bare, rounds);
}

/* --- S1 ------------------------------------------------------------------------------------ */

static int start_main(void)
{
	_Atomic uint64_t word = 0;
	struct word_args args = { &word, 1 };

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(vinciLaunchKernel(&put, 1, NULL, &args, sizeof(args)));
	CHECK(aclrtSynchronizeStream(NULL));
	return word != 1;
}

static double start_once(const char *path, const char *role)
{
	double begin = now_ns();

	reap(start(path, role, NULL, NULL));
	return now_ns() - begin;
}

/* So that the next one starts another, and on a machine that does nothing else. */
static void wait_gone(const char *name)
{
	pid_t pid = server_of(name);
	struct pollfd pollfd = { .events = POLLIN };

	if (!pid)
		return;
	pollfd.fd = (int)syscall(SYS_pidfd_open, pid, 0u);
	if (pollfd.fd < 0)
		return;
	errno = ETIME;
	must(poll(&pollfd, 1, LEAVE_MS) == 1, "vincid stays");
	close(pollfd.fd);
}

static double cold_once(void)
{
	double ns;

	must(!setenv("VINCI_INSTANCE", cold_instance, 1), "setenv");
	ns = start_once(self_path, "start");
	must(!setenv("VINCI_INSTANCE", instance, 1), "setenv");
	wait_gone(cold_instance);
	return ns;
}

static void above_row(const char *name, const char *unit, double scale, double *ours, double *bare, uint32_t n)
{
	row(name, unit, scale, ours, bare, n);
	printf("   %-37s %8.3f %s\n", "above it", (median(ours, n) - median(bare, n)) / scale, unit);
}

static void start_rows(uint32_t rounds)
{
	static double warm[ROUNDS_MAX], cold[ROUNDS_MAX], bare[ROUNDS_MAX];

	for (uint32_t r = 0; r < rounds; r++) {
		warm[r] = cold[r] = bare[r] = 0;
		for (int i = 0; i < STARTS; i++) {
			bare[r] += start_once(empty_path, NULL) / STARTS;
			warm[r] += start_once(self_path, "start") / STARTS;
			cold[r] += cold_once() / STARTS;
		}
	}
	above_row("S1 start, vincid runs", "ms", 1e6, warm, bare, rounds);
	above_row("S1 start, vincid to be started", "ms", 1e6, cold, bare, rounds);
}

/* --- M1 ------------------------------------------------------------------------------------ */

static double resident_kib(pid_t pid)
{
	char path[64], line[256];
	double kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	must(f, path);
	while (kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtod(line + 6, NULL);
	fclose(f);
	must(kib > 0, "VmRSS");
	return kib;
}

static void stay(void)
{
	char c;

	say(STDOUT_FILENO, "", 1);
	hear(STDIN_FILENO, &c, 1);
}

/* Streams that have worked once and idle since. */
static int resident_main(void)
{
	_Atomic uint64_t word = 0;
	struct word_args args = { &word, 1 };

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	stay();
	for (int i = 0; i < STREAMS; i++) {
		CHECK(aclrtCreateStream(&stream));
		CHECK(vinciLaunchKernel(&put, 1, stream, &args, sizeof(args)));
		CHECK(aclrtSynchronizeStream(stream));
	}
	stay();
	return word != 1;
}

/* What a program keeps resident each time it says that it stays. */
static void resident_round(const char *path, double *first, double *second)
{
	double *kib[] = { first, second };
	char c;
	int fd;
	pid_t pid = start(path, "resident", NULL, &fd);

	for (int i = 0; i < 2 && kib[i]; i++) {
		hear(fd, &c, 1);
		*kib[i] = resident_kib(pid);
		say(fd, "", 1);
	}
	reap(pid);
	close(fd);
}

static void resident_rows(uint32_t rounds)
{
	static double ours[ROUNDS_MAX], bare[ROUNDS_MAX], streams[ROUNDS_MAX], server[ROUNDS_MAX];

	for (uint32_t r = 0; r < rounds; r++) {
		resident_round(empty_path, &bare[r], NULL);
		resident_round(self_path, &ours[r], &streams[r]);
		streams[r] = (streams[r] - ours[r]) / STREAMS;
		server[r] = resident_kib(server_of(instance));
	}
	above_row("M1 resident after SetDevice", "MiB", 1024, ours, bare, rounds);
	printf("%-40s %8.3f KiB\n", "M1 resident per idle stream", median(streams, rounds));
	printf("%-40s %8.3f MiB\n", "M1 resident, vincid", median(server, rounds) / 1024);
}

/* ------------------------------------------------------------------------------------------- */

static void find_programs(void)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	char *slash;

	must(n > 0, "/proc/self/exe");
	self_path[n] = '\0';
	slash = strrchr(self_path, '/');
	n = snprintf(empty_path, sizeof(empty_path), "%.*s/bench_empty", (int)(slash - self_path), self_path);
	must(n < (ssize_t)sizeof(empty_path), "path");
}

static void run(uint32_t rounds)
{
	struct peer peer;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	peer_start(&peer);
	for (int s = 0; s < SIZES; s++)
		transfer_row(&peer, s, rounds);
	import_row("O1 import 2 MiB, touch, close: one core", peer.memory_key, 0, rounds);
	import_row("   two cores", peer.memory_key, 1, rounds);
	peer_end(&peer);
	start_rows(rounds);
	resident_rows(rounds);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 9;

	if (argc == 3 && !strcmp(argv[1], "peer"))
		return peer_main(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "start"))
		return start_main();
	if (argc == 2 && !strcmp(argv[1], "resident"))
		return resident_main();
	if (argc > 2 || rounds < 1 || rounds >= ROUNDS_MAX) {
		fprintf(stderr, "usage: %s [rounds, 1 to %d]\n", argv[0], ROUNDS_MAX - 1);
		return 2;
	}
	find_programs();
	snprintf(instance, sizeof(instance), "bench-share-%d", (int)getpid());
	snprintf(cold_instance, sizeof(cold_instance), "%s-cold", instance);
	must(!setenv("VINCI_INSTANCE", instance, 1), "setenv");
	page = shared_memory(sizeof(*page));
	run((uint32_t)rounds);
	return 0;
}
