/* SPDX-License-Identifier: MIT */
/*
 * scale_test.c - much of everything: 64 threads, 2,000 notifies, 1,000 streams and 1,000 imports at once, a hundred
 * lives of one process, a crowd whose device dies. Nothing hangs, nothing grows.
 */
#include "job.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define THREADS 64
#define NOTIFIES 2000
#define STREAMS 1000
#define IMPORTS 1000
#define SHARED_NOTIFIES 200
#define FEW_FILES 128
/* Sanitizers are slow, and see in a few rounds what others need many for. */
#define LIVES (T_SANITIZED ? 15 : 100)
#define ROUNDS (T_SANITIZED ? 3 : 8)
#define THREAD_ROUNDS (T_SANITIZED ? 1 : 5)

/* ---- one life after the other ------------------------------------------------------------------ */

struct counts {
	unsigned fds, maps, threads, shm;
	unsigned long rss;
};

static struct counts count(void)
{
	return (struct counts){ t_count_fds(), t_count_backed_maps(), t_count_threads(), t_count_shm(), t_rss_kib() };
}

/*
 * Descriptors come back one by one. Pools of threads, allocators' arenas and caches find their size by and by, the later
 * the busier the machine: they may still grow a little, but not by something for each round or each object.
 */
static void no_growth(const struct counts *before)
{
	struct counts now = count();

	if (now.fds != before->fds || now.threads > before->threads + 4 || now.shm != before->shm)
		fprintf(stderr, "descriptors %u -> %u, threads %u -> %u, /dev/shm %u -> %u\n", before->fds, now.fds,
			before->threads, now.threads, before->shm, now.shm);
	CHECK(now.fds == before->fds);
	CHECK(now.threads <= before->threads + 4);
	CHECK(now.shm == before->shm);
	if (T_SANITIZED) /* a sanitizer keeps what was freed for a while, and maps as it likes */
		return;
	if (now.maps > before->maps + 32 || now.rss > before->rss + 8192)
		fprintf(stderr, "mappings %u -> %u, resident %lu -> %lu KiB\n", before->maps, now.maps, before->rss,
			now.rss);
	CHECK(now.maps <= before->maps + 32);
	CHECK(now.rss <= before->rss + 8192);
}

static void *job_in_thread(void *arg)
{
	CHECK_CODE(aclrtSetDevice((int32_t)(intptr_t)arg), ACL_SUCCESS);
	job_with_device_set();
	(void)aclrtSetDevice(99); /* a sentence that nobody reads */
	CHECK_CODE(aclrtResetDevice((int32_t)(intptr_t)arg), ACL_SUCCESS);
	return NULL;
}

static void one_life(void)
{
	pthread_t threads[4];

	for (intptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, job_in_thread, (void *)i));
	job();
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	(void)aclGetRecentErrMsg();
}

static void a_hundred_lives(void)
{
	struct counts before;

	own_instance();
	for (int i = 0; i < 10; i++)
		one_life();
	before = count();
	for (int i = 0; i < LIVES; i++)
		one_life();
	no_growth(&before);
}

/* ---- all at once ------------------------------------------------------------------------------- */

static aclrtStream streams[STREAMS];
static aclrtNotify notifies[NOTIFIES];
static char keys[IMPORTS][65];
static char notify_keys[SHARED_NOTIFIES][65];
static void *memory[IMPORTS];

/* Shares as much as the other is going to import: mapped, and gone at once if that one says so. */
static void many_exports(void)
{
	char line[T_LINE_MAX];
	aclrtNotify notify;
	void *block;

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	for (int i = 0; i < IMPORTS; i++) {
		CHECK_CODE(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
		CHECK_CODE(aclrtMemset(block, 4096, i % 251, 4096), ACL_SUCCESS);
		CHECK_CODE(aclrtIpcMemGetExportKey(block, 4096, line, 65, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION),
			   ACL_SUCCESS);
		CHECK(t_say("%s", line));
	}
	for (int i = 0; i < SHARED_NOTIFIES; i++) {
		CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
		CHECK_CODE(aclrtNotifyGetExportKey(notify, line, 65, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION),
			   ACL_SUCCESS);
		CHECK(t_say("%s", line));
	}
	(void)t_hear(line, sizeof(line), 3 * JOB_MS); /* until the other has done */
}

static void read_keys(struct t_peer *peer)
{
	for (int i = 0; i < IMPORTS; i++)
		CHECK(t_read_line(peer, keys[i], sizeof(keys[i]), JOB_MS));
	for (int i = 0; i < SHARED_NOTIFIES; i++)
		CHECK(t_read_line(peer, notify_keys[i], sizeof(notify_keys[i]), JOB_MS));
}

static void make_all(void)
{
	for (int i = 0; i < STREAMS; i++)
		CHECK_CODE(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
	for (int i = 0; i < NOTIFIES - SHARED_NOTIFIES; i++)
		CHECK_CODE(aclrtCreateNotify(&notifies[i], 0), ACL_SUCCESS);
	for (int i = 0; i < SHARED_NOTIFIES; i++)
		CHECK_CODE(aclrtNotifyImportByKey(&notifies[NOTIFIES - SHARED_NOTIFIES + i], notify_keys[i], 0),
			   ACL_SUCCESS);
	for (int i = 0; i < IMPORTS; i++)
		CHECK_CODE(aclrtIpcMemImportByKey(&memory[i], keys[i], 0), ACL_SUCCESS);
}

/* Every stream waits for two notifies that another stream records after the next has done its part: a long chain. */
static void use_all(void)
{
	unsigned char *bytes; /* pinned, or each copy would wait for its stream */

	CHECK_CODE(aclrtMallocHost((void **)&bytes, IMPORTS), ACL_SUCCESS);
	for (int i = STREAMS - 1; i >= 0; i--) {
		if (i)
			CHECK_CODE(aclrtWaitAndResetNotify(notifies[i], streams[i], 30), ACL_SUCCESS);
		CHECK_CODE(aclrtMemcpyAsync(&bytes[i], 1, memory[i], 1, ACL_MEMCPY_DEVICE_TO_HOST, streams[i]),
			   ACL_SUCCESS);
		if (i + 1 < STREAMS)
			CHECK_CODE(aclrtRecordNotify(notifies[i + 1], streams[i]), ACL_SUCCESS);
	}
	for (int i = 0; i < NOTIFIES - STREAMS; i++)
		CHECK_CODE(aclrtRecordNotify(notifies[STREAMS + i], streams[i % STREAMS]), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeDeviceWithTimeout(60000), ACL_SUCCESS);
	for (int i = 0; i < IMPORTS; i++)
		CHECK(bytes[i] == i % 251);
	CHECK_CODE(aclrtFreeHost(bytes), ACL_SUCCESS);
}

static void unmake_all(void)
{
	for (int i = 0; i < IMPORTS; i++)
		CHECK_CODE(aclrtIpcMemClose(keys[i]), ACL_SUCCESS);
	for (int i = 0; i < NOTIFIES; i++)
		CHECK_CODE(aclrtDestroyNotify(notifies[i]), ACL_SUCCESS);
	for (int i = 0; i < STREAMS; i++)
		CHECK_CODE(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
}

static void start_exporter(struct t_peer *peer)
{
	const char *const args[] = { "scenario", "many_exports", NULL };
	const struct rlimit few = { FEW_FILES, FEW_FILES };

	CHECK(t_spawn(peer, args, NULL));
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS); /* with vincid, before the limit */
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	read_keys(peer);
}

/* With few descriptors: none of it holds one. */
static void everything_at_once(void)
{
	struct counts before;
	struct t_peer peer;
	size_t left, left_then, total;

	own_instance();
	start_exporter(&peer);
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
	for (int i = 0; i < ROUNDS; i++) {
		if (i == ROUNDS / 2) /* pools and caches have found their size */
			before = count();
		make_all();
		use_all();
		CHECK(t_count_fds() < FEW_FILES - 16);
		unmake_all();
	}
	no_growth(&before);
	CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left_then, &total), ACL_SUCCESS);
	CHECK(left == left_then);
	CHECK(!t_wait(&peer, JOB_MS));
}

/* The process ends with all of that open, tasks that wait for nobody included; the device forgets it at once. */
static void leaves_everything_open(void)
{
	struct t_peer peer;

	own_instance();
	start_exporter(&peer);
	make_all();
	use_all();
	for (int i = 0; i < STREAMS; i++)
		CHECK_CODE(aclrtWaitAndResetNotify(notifies[i], streams[i], 0), ACL_SUCCESS);
	printf("open %d\n", job_server());
	fflush(stdout);
	exit(0);
}

static void ends_with_everything_open(void)
{
	const char *const args[] = { "scenario", "leaves_everything_open", NULL };
	struct t_peer peer;
	char line[T_LINE_MAX];
	int server;

	CHECK(t_spawn(&peer, args, NULL));
	CHECK(t_read_line(&peer, line, sizeof(line), 3 * JOB_MS) && sscanf(line, "open %d", &server) == 1);
	CHECK(!t_wait(&peer, JOB_MS));
	CHECK(job_gone(server));
}

static atomic_uint thread_rounds;

static void *works_alone(void *arg)
{
	int32_t device = (int32_t)((intptr_t)arg % 8);

	for (int i = 0; i < THREAD_ROUNDS; i++) {
		CHECK_CODE(aclrtSetDevice(device), ACL_SUCCESS);
		job_with_device_set();
		CHECK_CODE(aclrtSynchronizeDevice(), ACL_SUCCESS);
		CHECK_CODE(aclrtResetDevice(device), ACL_SUCCESS);
		atomic_fetch_add(&thread_rounds, 1);
	}
	return NULL;
}

static void many_threads(void)
{
	pthread_t threads[THREADS];
	size_t left, total;

	own_instance();
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, works_alone, (void *)i));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(atomic_load(&thread_rounds) == THREADS * THREAD_ROUNDS);
	for (int32_t d = 0; d < 8; d++) {
		CHECK_CODE(aclrtSetDevice(d), ACL_SUCCESS);
		CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), ACL_SUCCESS);
		CHECK(left == total);
	}
}

/* ---- a crowd whose device dies ----------------------------------------------------------------- */

#define CROWD 12
#define DEATHS 4

/* Comes back as often as it loses its device, whose number it says each time. */
static void member(void)
{
	char line[T_LINE_MAX];
	void *block;

	for (int i = 0; i <= DEATHS; i++) {
		CHECK_CODE(aclrtSetDevice(i % 8), ACL_SUCCESS);
		job_with_device_set();
		CHECK(t_say("%d", job_server()));
		CHECK(t_hear(line, sizeof(line), JOB_MS));
		if (i == DEATHS)
			break;
		CHECK_CODE(aclrtMalloc(&block, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_LOST_HEARTBEAT);
		CHECK_CODE(aclrtResetDevice(i % 8), ACL_SUCCESS);
	}
}

/* All of them start another one at the same time, and meet at it. */
static void crowd(void)
{
	const char *const args[] = { "scenario", "member", NULL };
	struct t_peer peers[CROWD];
	int server = 0, last = 0;

	own_instance();
	for (int p = 0; p < CROWD; p++)
		CHECK(t_spawn(&peers[p], args, NULL));
	for (int i = 0; i <= DEATHS; i++) {
		for (int p = 0; p < CROWD; p++) {
			char line[T_LINE_MAX];

			CHECK(t_read_line(&peers[p], line, sizeof(line), JOB_MS));
			CHECK(!p || atoi(line) == server);
			server = atoi(line);
		}
		CHECK(server > 1 && server != last);
		last = server;
		if (i < DEATHS)
			CHECK(!kill(server, SIGKILL) && job_gone(server));
		for (int p = 0; p < CROWD; p++)
			CHECK(t_write_line(&peers[p], "gone"));
	}
	for (int p = 0; p < CROWD; p++)
		CHECK(!t_wait(&peers[p], JOB_MS));
	CHECK(job_gone(server));
}

static void lives(void **state)
{
	(void)state;
	run_scenario("a_hundred_lives");
}

static void numbers(void **state)
{
	(void)state;
	run_scenario("everything_at_once");
	run_scenario("ends_with_everything_open");
	run_scenario("many_threads");
}

static void crowds(void **state)
{
	(void)state;
	run_scenario("crowd");
}

#define S(name) { #name, name }

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		S(a_hundred_lives),	   S(many_exports),		 S(everything_at_once),
		S(leaves_everything_open), S(ends_with_everything_open), S(many_threads),
		S(member),		   S(crowd),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives),
		cmocka_unit_test(numbers),
		cmocka_unit_test(crowds),
	};

	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
