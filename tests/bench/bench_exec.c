/* SPDX-License-Identifier: MIT */
/*
 * bench_exec - launching, synchronising and notifying, each beside what a bare loop without any library reaches in the same run.
 *
 *   L1  launch an empty kernel and synchronise, in a loop          bare: hand a word to a spinning thread and back
 *   L2  the same after 100 us of idleness                          bare: wake a sleeping thread, which hands the word back
 *   L3  10^5 kernels with 32 bytes of arguments, one synchronise   bare: a ring of 64-byte items between two threads
 *   N1  a notify round trip between two processes, both hot        bare: a word on a shared page, both spinning
 *   N2  the same with both sides asleep                            bare: two futexes on a shared page
 *
 * Prints medians over several rounds. The figures of a run belong together: machines, and what else they do, differ.
 * usage: bench_exec [rounds]
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "vinci/kernel.h"

#define IDLE_NS 100000
#define HOT_LOOPS 20000
#define COLD_LOOPS 200
#define BURST 100000
#define RING 4096

static void busy(double ns)
{
	double end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* --- the bare loops, threads -------------------------------------------------------------- */

static struct {
	_Alignas(64) _Atomic uint32_t ping;
	_Alignas(64) _Atomic uint32_t pong;
	atomic_bool sleepy, stop;
} ball;

static void *ball_thread(void *arg)
{
	uint32_t seen = 0;

	while (!atomic_load(&ball.stop)) {
		uint32_t ping = atomic_load_explicit(&ball.ping, memory_order_acquire);

		if (ping != seen)
			atomic_store_explicit(&ball.pong, seen = ping, memory_order_release);
		else if (atomic_load_explicit(&ball.sleepy, memory_order_relaxed))
			futex(&ball.ping, FUTEX_WAIT_PRIVATE, ping);
		else
			relax();
	}
	return arg;
}

static void ball_throw(bool wake)
{
	uint32_t n = atomic_fetch_add(&ball.ping, 1) + 1;

	if (wake)
		futex(&ball.ping, FUTEX_WAKE_PRIVATE, 1);
	while (atomic_load_explicit(&ball.pong, memory_order_acquire) != n)
		relax();
}

static double ball_round(bool sleepy)
{
	uint32_t loops = sleepy ? COLD_LOOPS : HOT_LOOPS;
	double total = 0, start;
	pthread_t thread;

	atomic_store(&ball.stop, false);
	atomic_store(&ball.sleepy, sleepy);
	pthread_create(&thread, NULL, ball_thread, NULL);
	for (uint32_t i = 0; i < 100; i++)
		ball_throw(sleepy);
	for (uint32_t i = 0; i < loops; i++) {
		if (sleepy)
			busy(IDLE_NS);
		start = now_ns();
		ball_throw(sleepy);
		total += now_ns() - start;
	}
	atomic_store(&ball.stop, true);
	atomic_fetch_add(&ball.ping, 1);
	futex(&ball.ping, FUTEX_WAKE_PRIVATE, 1);
	pthread_join(thread, NULL);
	return total / loops;
}

struct item {
	_Alignas(64) uint64_t words[8];
};

static struct {
	struct item items[RING];
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
} ring;

static void *ring_thread(void *arg)
{
	uint64_t tail = 0, sum = 0;

	while (tail < BURST) {
		uint64_t head = atomic_load_explicit(&ring.head, memory_order_acquire);

		for (; tail < head; tail++)
			sum += ring.items[tail % RING].words[0];
		atomic_store_explicit(&ring.tail, tail, memory_order_release);
		relax();
	}
	*(uint64_t *)arg = sum;
	return NULL;
}

static double ring_round(void)
{
	uint64_t sum, seen = 0;
	pthread_t thread;
	double start;

	atomic_store(&ring.head, 0);
	atomic_store(&ring.tail, 0);
	start = now_ns();
	pthread_create(&thread, NULL, ring_thread, &sum);
	for (uint64_t i = 0; i < BURST; i++) {
		while (i - seen == RING)
			seen = atomic_load_explicit(&ring.tail, memory_order_acquire);
		memset(&ring.items[i % RING], (int)i, 40);
		atomic_store_explicit(&ring.head, i + 1, memory_order_release);
	}
	pthread_join(thread, NULL);
	return BURST / (now_ns() - start) * 1e3;
}

/* --- the bare loops, processes ------------------------------------------------------------ */

struct page {
	_Alignas(64) _Atomic uint32_t ping;
	_Alignas(64) _Atomic uint32_t pong;
	_Alignas(64) _Atomic uint64_t sent; /* ns, when the last signal left */
	_Alignas(64) _Atomic uint64_t delay[2]; /* ns, sums of the one-way times seen by each side */
};

static struct page *page;

static void word_wait(_Atomic uint32_t *word, uint32_t old, bool sleepy)
{
	while (atomic_load_explicit(word, memory_order_acquire) == old) {
		if (sleepy)
			futex(word, FUTEX_WAIT, old);
		else
			relax();
	}
}

static void word_signal(_Atomic uint32_t *word, bool sleepy)
{
	if (sleepy) {
		busy(IDLE_NS);
		atomic_store(&page->sent, (uint64_t)now_ns());
	}
	atomic_fetch_add(word, 1);
	if (sleepy)
		futex(word, FUTEX_WAKE, 1);
}

static void delay_add(int side)
{
	page->delay[side] += (uint64_t)now_ns() - atomic_load(&page->sent);
}

static void bare_peer(uint32_t loops, bool sleepy)
{
	for (uint32_t i = 0; i < loops; i++) {
		word_wait(&page->ping, i, sleepy);
		delay_add(1);
		word_signal(&page->pong, sleepy);
	}
	_exit(0);
}

/* ns a round trip; with sleeping sides the sum of both ways, each measured from before the signal to after the wait. */
static double bare_round(bool sleepy)
{
	uint32_t loops = sleepy ? COLD_LOOPS : HOT_LOOPS;
	double start = now_ns();
	pid_t pid;

	memset(page, 0, sizeof(*page));
	pid = fork();
	if (pid < 0)
		exit(1);
	if (!pid)
		bare_peer(loops, sleepy);
	for (uint32_t i = 0; i < loops; i++) {
		if (i == loops / 10) {
			start = now_ns();
			page->delay[0] = page->delay[1] = 0;
		}
		word_signal(&page->ping, sleepy);
		word_wait(&page->pong, i, sleepy);
		delay_add(0);
	}
	loops -= loops / 10;
	start = now_ns() - start;
	waitpid(pid, NULL, 0);
	return (sleepy ? (double)(page->delay[0] + page->delay[1]) : start) / loops;
}

/* --- launching ---------------------------------------------------------------------------- */

static uint64_t kernel_runs;

static void empty_kernel(const void *args, const struct vinci_block *block)
{
	(void)args;
	(void)block;
	kernel_runs++;
}

static const struct vinci_kernel empty = { .abi = VINCI_KERNEL_ABI, .name = "empty", .run = empty_kernel, .args_size = 32 };

static aclrtStream stream;

static double launch_round(bool idle)
{
	uint32_t loops = idle ? COLD_LOOPS : HOT_LOOPS;
	uint64_t args[4] = { 0 };
	double total = 0, start = now_ns();

	for (uint32_t i = 0; i < loops; i++) {
		if (idle) {
			busy(IDLE_NS);
			start = now_ns();
		}
		CHECK(vinciLaunchKernel(&empty, 1, stream, args, sizeof(args)));
		CHECK(aclrtSynchronizeStream(stream));
		if (idle)
			total += now_ns() - start;
	}
	return (idle ? total : now_ns() - start) / loops;
}

static double burst_round(void)
{
	uint64_t args[4] = { 0 };
	double start = now_ns();

	for (uint32_t i = 0; i < BURST; i++)
		CHECK(vinciLaunchKernel(&empty, 1, stream, args, sizeof(args)));
	CHECK(aclrtSynchronizeStream(stream));
	return BURST / (now_ns() - start) * 1e3;
}

/* --- notifying ---------------------------------------------------------------------------- */

static void notify_send(aclrtNotify notify, bool sleepy)
{
	if (sleepy) {
		busy(IDLE_NS);
		atomic_store(&page->sent, (uint64_t)now_ns());
	}
	CHECK(aclrtRecordNotify(notify, stream));
}

/* Device 1's side: answers every record. Its rounds: hot, then with both sides asleep, as often as asked for. */
static int peer_main(const char *key, const char *fd, uint32_t rounds)
{
	aclrtNotify to, from;
	char own[65];

	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
	if (page == MAP_FAILED)
		return 1;
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(1));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtNotifyImportByKey(&to, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	CHECK(aclrtCreateNotify(&from, 0));
	CHECK(aclrtNotifyGetExportKey(from, own, sizeof(own), ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	printf("%s\n", own);
	fflush(stdout);
	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t i = 0; i < HOT_LOOPS; i++) {
			CHECK(aclrtWaitAndResetNotify(from, stream, 0));
			CHECK(aclrtRecordNotify(to, stream));
			CHECK(aclrtSynchronizeStream(stream));
		}
		for (uint32_t i = 0; i < COLD_LOOPS; i++) {
			CHECK(aclrtWaitAndResetNotify(from, stream, 0));
			CHECK(aclrtSynchronizeStream(stream));
			delay_add(1);
			notify_send(to, true);
			CHECK(aclrtSynchronizeStream(stream));
		}
	}
	CHECK(aclrtDestroyNotify(to));
	CHECK(aclrtDestroyNotify(from));
	return 0;
}

static double notify_round(aclrtNotify to, aclrtNotify from, bool sleepy)
{
	uint32_t loops = sleepy ? COLD_LOOPS : HOT_LOOPS;
	double start;

	page->delay[0] = page->delay[1] = 0;
	start = now_ns();
	for (uint32_t i = 0; i < loops; i++) {
		notify_send(to, sleepy);
		CHECK(aclrtWaitAndResetNotify(from, stream, 0));
		CHECK(aclrtSynchronizeStream(stream));
		if (sleepy)
			delay_add(0);
	}
	return (sleepy ? (double)(page->delay[0] + page->delay[1]) : now_ns() - start) / loops;
}

struct peer {
	FILE *out;
	pid_t pid;
	aclrtNotify to, from;
};

static void peer_start(struct peer *peer, int fd, uint32_t rounds)
{
	char key[65], fd_text[16], rounds_text[16];
	int pipe_fds[2];

	CHECK(aclrtCreateNotify(&peer->from, 0));
	CHECK(aclrtNotifyGetExportKey(peer->from, key, sizeof(key), ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	snprintf(rounds_text, sizeof(rounds_text), "%u", rounds);
	if (pipe(pipe_fds))
		exit(1);
	peer->pid = fork();
	if (!peer->pid) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		execl("/proc/self/exe", "bench_exec", "peer", key, fd_text, rounds_text, (char *)NULL);
		_exit(127);
	}
	close(pipe_fds[1]);
	peer->out = fdopen(pipe_fds[0], "r");
	if (!peer->out || !fgets(key, sizeof(key), peer->out))
		exit(1);
	key[strcspn(key, "\n")] = '\0';
	CHECK(aclrtNotifyImportByKey(&peer->to, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
}

/* --- rows --------------------------------------------------------------------------------- */

static void launch_rows(uint32_t rounds)
{
	static double ours[3][ROUNDS_MAX], bare[3][ROUNDS_MAX];

	(void)launch_round(false);
	for (uint32_t r = 0; r < rounds; r++) {
		bare[0][r] = ball_round(false);
		ours[0][r] = launch_round(false);
		bare[1][r] = ball_round(true);
		ours[1][r] = launch_round(true);
		bare[2][r] = ring_round();
		ours[2][r] = burst_round();
	}
	row("L1 launch + synchronise", "us", 1e3, ours[0], bare[0], rounds);
	row("L2 the same after 100 us", "us", 1e3, ours[1], bare[1], rounds);
	row("L3 launches, 32 bytes of arguments", "M/s", 1, ours[2], bare[2], rounds);
}

static void notify_rows(int fd, uint32_t rounds)
{
	static double ours[2][ROUNDS_MAX], bare[2][ROUNDS_MAX];
	struct peer peer;

	for (uint32_t r = 0; r < rounds; r++) {
		bare[0][r] = bare_round(false);
		bare[1][r] = bare_round(true);
	}
	peer_start(&peer, fd, rounds + 1);
	for (uint32_t r = 0; r <= rounds; r++) {
		ours[0][r ? r - 1 : 0] = notify_round(peer.to, peer.from, false);
		ours[1][r ? r - 1 : 0] = notify_round(peer.to, peer.from, true);
	}
	waitpid(peer.pid, NULL, 0);
	row("N1 notify round trip, hot", "us", 1e3, ours[0], bare[0], rounds);
	row("N2 notify round trip, both asleep", "us", 1e3, ours[1], bare[1], rounds);
	CHECK(aclrtDestroyNotify(peer.to));
	CHECK(aclrtDestroyNotify(peer.from));
	fclose(peer.out);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc == 2 ? (uint32_t)atoi(argv[1]) : 9;
	int fd;

	if (argc == 5 && !strcmp(argv[1], "peer"))
		return peer_main(argv[2], argv[3], (uint32_t)atoi(argv[4]));
	if (!rounds || rounds >= ROUNDS_MAX) {
		fprintf(stderr, "usage: %s [rounds, 1 to %d]\n", argv[0], ROUNDS_MAX - 1);
		return 2;
	}
	fd = memfd_create("bench_exec", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return 1;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 1;
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	launch_rows(rounds);
	notify_rows(fd, rounds);
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}
