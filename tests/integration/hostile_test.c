/* SPDX-License-Identifier: MIT */
/*
 * hostile_test.c - peers that mean harm with what they legitimately hold, and peers that try what they do not hold.
 *
 * A scribbler writes into the page of a shared notify as fast as it can, wakes and steals wake-ups. It can end or delay
 * what is waited for there, and nothing else: every call comes back in its time, nothing crashes, and nobody burns a
 * core because of it. The machine has few cores and the scribbler wants them all, so times here are bounds and not
 * measures.
 */
#include <inttypes.h>

#include "scenario.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define ANSWER_MS 30000
#define LONG_MS 30000
#define EXPORT_OPEN ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION
#define BYTES ((size_t)2 << 20)

#define assert_ok(call)                                                                                                \
	do {                                                                                                           \
		int code_ = (call);                                                                                    \
		if (code_) {                                                                                           \
			const char *text_ = aclGetRecentErrMsg();                                                      \
			fail_msg("%s: %d %s", #call, code_, text_ ? text_ : "");                                       \
		}                                                                                                      \
	} while (0)

/* --- the peer: this program again, one call a line -------------------------------------------- */

static struct {
	aclrtNotify notify;
	aclrtNotify others[2];
	aclrtDrvMemHandle handle;
	aclrtStream stream;
	void *memory;
	pthread_t threads[2];
	atomic_bool stop;
	const char *mode;
	_Atomic uint32_t *word;
} self;

#define NOTIFY_PAGE "/memfd:vinci (deleted)"
#define RING_PAGE "/memfd:vinci-ring (deleted)"

/* The one page of this name that is mapped here. */
static _Atomic uint32_t *find_page(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	_Atomic uint32_t *word = NULL;
	unsigned long from, to;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from == 4096 && strstr(line, name))
			word = (_Atomic uint32_t *)from;
	if (maps)
		fclose(maps);
	return word;
}

/* Never VINCI_NOTIFY_SET: whoever waits is not let go, and finds another value each time he looks. */
static uint32_t never_set(uint32_t random)
{
	uint32_t value = random % 7 * 3;

	return value == 1 ? 2 : value;
}

static void *scribble(void *arg)
{
	bool erases = !strcmp(self.mode, "erase");
	uint32_t random = (uint32_t)(uintptr_t)arg * 2654435761u + 1;

	for (unsigned i = 0; !atomic_load_explicit(&self.stop, memory_order_relaxed); i++) {
		random = random * 1664525u + 1013904223u;
		atomic_store_explicit(&self.word[i % 8 ? 0 : i / 8 % 1024],
				      erases ? never_set(random >> 8) : random >> 12 & (random & 1024 ? 3 : UINT32_MAX),
				      memory_order_relaxed);
		if (i % 64 == 0)
			syscall(SYS_futex, self.word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		if (i % 4096 == 0 && self.memory)
			memset(self.memory, (int)random, BYTES / 16);
	}
	return NULL;
}

/* Takes wake-ups that were meant for others. */
static void *steal(void *arg)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	while (!atomic_load(&self.stop))
		syscall(SYS_futex, self.word, FUTEX_WAIT, atomic_load(self.word), &moment, NULL, 0);
	return arg;
}

static int scribble_start(const char *mode)
{
	self.word = find_page(!strcmp(mode, "ring") ? RING_PAGE : NOTIFY_PAGE);
	if (!self.word)
		return -1;
	self.mode = !strcmp(mode, "erase") ? "erase" : "anything";
	atomic_store(&self.stop, false);
	return pthread_create(&self.threads[0], NULL, scribble, &self) ||
	       pthread_create(&self.threads[1], NULL, steal, NULL);
}

static int scribble_stop(void)
{
	atomic_store(&self.stop, true);
	return pthread_join(self.threads[0], NULL) || pthread_join(self.threads[1], NULL);
}

/* What the device takes handles to close out of: always full of rubbish, in its own counting. The words are those of
 * the wire. */
static int flood(unsigned rounds)
{
	_Atomic uint32_t *ring = find_page(RING_PAGE);

	if (!ring)
		return -1;
	while (rounds--) {
		for (unsigned i = 0; i < 992; i++)
			atomic_store_explicit(&ring[32 + i], rounds * 31 + i, memory_order_relaxed);
		atomic_store(&ring[0], atomic_load(&ring[16]) + 992);
	}
	return 0;
}

/* Records others[0] and waits for others[1], round after round. */
static int echo(unsigned rounds)
{
	int r = 0;

	while (rounds-- && !r) {
		r = aclrtRecordNotify(self.others[0], self.stream);
		if (!r)
			r = aclrtWaitAndResetNotify(self.others[1], self.stream, 20);
		if (!r)
			r = rounds % 2 ? aclrtSynchronizeStream(self.stream)
				       : aclrtSynchronizeStreamWithTimeout(self.stream, LONG_MS);
	}
	return r;
}

static int record(void)
{
	int r = aclrtRecordNotify(self.notify, self.stream);

	return r ? r : aclrtSynchronizeStream(self.stream);
}

static int obey(const char *line)
{
	char key[1024] = "";
	uint64_t number;
	int32_t pid;
	unsigned n;

	if (!strcmp(line, "pid"))
		return aclrtDeviceGetBareTgid(&pid) ? -1 : pid;
	if (sscanf(line, "notify %1023s", key) == 1)
		return aclrtNotifyImportByKey(&self.notify, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS);
	if (sscanf(line, "other %u %1023s", &n, key) == 2)
		return aclrtNotifyImportByKey(&self.others[n % 2], key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS);
	if (sscanf(line, "memory %1023s", key) == 1)
		return aclrtIpcMemImportByKey(&self.memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS);
	if (sscanf(line, "close %1023s", key) == 1)
		return aclrtIpcMemClose(key);
	if (sscanf(line, "allow %1023s", key) == 1)
		return aclrtDeviceGetBareTgid(&pid) ? -1 : aclrtIpcMemSetImportPid(key, &pid, 1);
	if (sscanf(line, "physical %" SCNu64, &number) == 1)
		return aclrtMemImportFromShareableHandle(number, 0, &self.handle);
	if (sscanf(line, "vallow %" SCNu64, &number) == 1)
		return aclrtDeviceGetBareTgid(&pid) ? -1 : aclrtMemSetPidToShareableHandle(number, &pid, 1);
	if (!strcmp(line, "record"))
		return record();
	if (!strncmp(line, "scribble ", 9))
		return scribble_start(line + 9);
	if (!strcmp(line, "stop"))
		return scribble_stop();
	if (sscanf(line, "echo %u", &n) == 1)
		return echo(n);
	if (sscanf(line, "flood %u", &n) == 1)
		return flood(n);
	return -1;
}

/* Until its stdin ends; then it exits with everything still open. */
static int peer_main(void)
{
	char line[T_LINE_MAX];

	if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&self.stream))
		return 1;
	t_say("ready");
	while (t_hear(line, sizeof(line), 10 * ANSWER_MS)) {
		int r = obey(line);
		const char *text = aclGetRecentErrMsg();

		t_say("%d%s", r, r > 0 && !text ? " without a word" : "");
	}
	return 0;
}

static void peer_start(struct t_peer *peer)
{
	static const char *const args[] = { "peer", NULL };

	assert_true(t_spawn(peer, args, NULL));
	assert_true(t_expect(peer, "ready", ANSWER_MS));
}

static int __attribute__((format(printf, 2, 3))) ask(struct t_peer *peer, const char *format, ...)
{
	char line[T_LINE_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	assert_true(t_write_line(peer, "%s", line));
	assert_true(t_read_line(peer, line, sizeof(line), ANSWER_MS));
	if (strstr(line, "without"))
		assert_int_equal(strncmp(line, "100", 3) && !atoi(line), 0);
	return atoi(line);
}

/* --- under a scribbler ------------------------------------------------------------------------ */

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

static aclrtNotify notify_exported(char key[65])
{
	aclrtNotify notify = NULL;

	assert_ok(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	assert_ok(aclrtNotifyGetExportKey(notify, key, 65, EXPORT_OPEN));
	return notify;
}

struct attack {
	struct t_peer hostile, honest;
	aclrtNotify notify;
	void *memory;
	char key[65], memory_key[65];
};

static void attack_begin(struct attack *a, const char *mode)
{
	a->notify = notify_exported(a->key);
	assert_ok(aclrtMalloc(&a->memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtIpcMemGetExportKey(a->memory, BYTES, a->memory_key, 65,
					  ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
	peer_start(&a->hostile);
	peer_start(&a->honest);
	assert_int_equal(ask(&a->hostile, "memory %s", a->memory_key), 0);
	assert_int_equal(ask(&a->hostile, "notify %s", a->key), 0);
	assert_int_equal(ask(&a->honest, "notify %s", a->key), 0);
	assert_int_equal(ask(&a->hostile, "scribble %s", mode), 0);
}

static void attack_end(struct attack *a)
{
	assert_int_equal(ask(&a->hostile, "stop"), 0);
	assert_int_equal(t_wait(&a->hostile, ANSWER_MS), 0);
	assert_int_equal(t_wait(&a->honest, ANSWER_MS), 0);
	assert_ok(aclrtDestroyNotify(a->notify));
	assert_ok(aclrtFree(a->memory));
}

static void assert_ended(int code)
{
	assert_true(code == ACL_SUCCESS || code == ACL_ERROR_RT_TASK_TIMEOUT);
}

/* One of each way to wait; the record may be erased at once, or be the scribbler's. */
static void waits_end_in_time(const char *mode)
{
	aclrtStream runner = stream_new(), polled = stream_new();
	struct attack a;
	uint64_t begin;

	attack_begin(&a, mode);
	for (unsigned i = 0; i < 2; i++) {
		begin = t_now_ms();
		assert_ok(aclrtWaitAndResetNotify(a.notify, polled, 1));
		assert_ok(aclrtWaitAndResetNotify(a.notify, runner, 1));
		assert_ended(aclrtSynchronizeStream(runner));
		assert_ended(aclrtSynchronizeStreamWithTimeout(polled, LONG_MS));
		assert_true(t_now_ms() - begin < 8000);
		assert_int_equal(ask(&a.honest, "record"), 0);
		assert_ok(aclrtNotifyBatchReset(&a.notify, 1));
	}
	attack_end(&a);
	assert_ok(aclrtDestroyStream(runner));
	assert_ok(aclrtDestroyStream(polled));
}

static void timed_waits_end(void **state)
{
	(void)state;
	waits_end_in_time("erase");
	waits_end_in_time("anything");
}

/* A wait that the scribbler never lets go is ended by its owner, in each way there is. */
static void endless_waits_can_be_ended(void **state)
{
	aclrtStream aborted = stream_new(), destroyed = stream_new();
	struct attack a;
	uint64_t begin;

	(void)state;
	attack_begin(&a, "erase");
	for (unsigned i = 0; i < 5; i++) {
		begin = t_now_ms();
		assert_ok(aclrtWaitAndResetNotify(a.notify, aborted, 0));
		assert_ok(aclrtWaitAndResetNotify(a.notify, destroyed, 0));
		assert_int_equal(aclrtSynchronizeStreamWithTimeout(aborted, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		assert_ok(aclrtStreamAbort(aborted));
		assert_ok(aclrtDestroyStreamForce(destroyed));
		assert_ok(aclrtDestroyStream(aborted));
		assert_true(t_now_ms() - begin < 8000);
		aborted = stream_new();
		destroyed = stream_new();
	}
	/* Destroyed while it is waited for. */
	assert_ok(aclrtWaitAndResetNotify(a.notify, destroyed, 1));
	assert_ok(aclrtDestroyNotify(a.notify));
	assert_ended(aclrtSynchronizeStreamWithTimeout(destroyed, LONG_MS));
	a.notify = notify_exported(a.key);
	attack_end(&a);
	assert_ok(aclrtDestroyStream(aborted));
	assert_ok(aclrtDestroyStream(destroyed));
}

/* When it stops, or is killed, the next record of an honest peer arrives, although the page is full of nonsense. */
static void records_arrive_when_it_stops(void **state)
{
	aclrtStream runner = stream_new(), polled = stream_new();
	struct attack a;

	(void)state;
	attack_begin(&a, "erase");
	assert_ok(aclrtWaitAndResetNotify(a.notify, polled, 0));
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(polled, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	t_kill(&a.hostile);
	assert_int_equal(ask(&a.honest, "record"), 0);
	assert_ok(aclrtSynchronizeStreamWithTimeout(polled, LONG_MS));
	assert_ok(aclrtWaitAndResetNotify(a.notify, runner, 20));
	assert_int_equal(ask(&a.honest, "record"), 0);
	assert_ok(aclrtSynchronizeStream(runner));
	peer_start(&a.hostile);
	assert_int_equal(ask(&a.hostile, "notify %s", a.key), 0);
	assert_int_equal(ask(&a.hostile, "scribble anything"), 0);
	attack_end(&a);
	assert_ok(aclrtDestroyStream(runner));
	assert_ok(aclrtDestroyStream(polled));
}

/* What the scribbler does not hold goes on beside it, watched by the same threads. */
static void others_are_not_disturbed(void **state)
{
	aclrtStream stream = stream_new(), attacked = stream_new();
	aclrtNotify from, to;
	char from_key[65], to_key[65], line[64];
	struct attack a;

	(void)state;
	attack_begin(&a, "erase");
	from = notify_exported(from_key);
	to = notify_exported(to_key);
	assert_int_equal(ask(&a.honest, "other 0 %s", from_key), 0);
	assert_int_equal(ask(&a.honest, "other 1 %s", to_key), 0);
	assert_ok(aclrtWaitAndResetNotify(a.notify, attacked, 0));
	assert_true(t_write_line(&a.honest, "echo 300"));
	for (unsigned i = 0; i < 300; i++) {
		assert_ok(aclrtWaitAndResetNotify(from, stream, 20));
		assert_ok(aclrtRecordNotify(to, stream));
		assert_ok(i % 3 ? aclrtSynchronizeStreamWithTimeout(stream, LONG_MS) : aclrtSynchronizeStream(stream));
	}
	/* The echo's last wait is for the device that its stream is on: both are device 0. */
	assert_true(t_read_line(&a.honest, line, sizeof(line), ANSWER_MS));
	assert_int_equal(atoi(line), 0);
	assert_ok(aclrtStreamAbort(attacked));
	attack_end(&a);
	assert_ok(aclrtDestroyNotify(from));
	assert_ok(aclrtDestroyNotify(to));
	assert_ok(aclrtDestroyStream(attacked));
	assert_ok(aclrtDestroyStream(stream));
}

static uint64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Who waits for a word that changes all the time does not look at it all the time. */
static void waiting_costs_little(void **state)
{
	aclrtStream runner = stream_new(), polled = stream_new();
	uint64_t cpu, begin;
	struct attack a;

	(void)state;
	attack_begin(&a, "erase");
	assert_ok(aclrtWaitAndResetNotify(a.notify, polled, 0));
	cpu = cpu_ms();
	begin = t_now_ms();
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(polled, 1000), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	cpu = cpu_ms() - cpu;
	if (cpu * 5 > t_now_ms() - begin)
		fail_msg("a polled wait took %u ms of a processor", (unsigned)cpu);
	assert_ok(aclrtStreamAbort(polled));
	assert_ok(aclrtWaitAndResetNotify(a.notify, runner, 1));
	cpu = cpu_ms();
	begin = t_now_ms();
	assert_ended(aclrtSynchronizeStream(runner));
	cpu = cpu_ms() - cpu;
	if (cpu * 5 > t_now_ms() - begin)
		fail_msg("a parked wait took %u ms of a processor", (unsigned)cpu);
	attack_end(&a);
	assert_ok(aclrtDestroyStream(runner));
	assert_ok(aclrtDestroyStream(polled));
}

/* Shares and gives back, which asks the device for each of it. */
static void work_with_device(struct t_peer *honest)
{
	void *memory = NULL;
	char key[65];

	for (unsigned i = 0; i < 50; i++) {
		assert_ok(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
		assert_ok(aclrtIpcMemGetExportKey(memory, BYTES, key, 65,
						  ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
		assert_int_equal(ask(honest, "memory %s", key), 0);
		assert_int_equal(ask(honest, "close %s", key), 0);
		assert_ok(aclrtFree(memory));
	}
}

/* The page between a client and the device. Its nonsense is its own loss. */
static void the_device_is_not_disturbed(void **state)
{
	struct t_peer flooder, scribbler, honest;
	int code;

	(void)state;
	peer_start(&flooder);
	peer_start(&scribbler);
	peer_start(&honest);
	assert_true(t_write_line(&flooder, "flood 30000"));
	assert_int_equal(ask(&scribbler, "scribble ring"), 0);
	work_with_device(&honest);
	assert_int_equal(ask(&scribbler, "stop"), 0);
	assert_true(t_expect(&flooder, "0", ANSWER_MS));
	code = ask(&scribbler, "physical 1");
	assert_true(code == ACL_ERROR_RT_LOST_HEARTBEAT || code == ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(ask(&flooder, "physical 1"), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(t_wait(&flooder, ANSWER_MS), 0);
	assert_int_equal(t_wait(&scribbler, ANSWER_MS), 0);
	assert_int_equal(t_wait(&honest, ANSWER_MS), 0);
}

/* --- in a process that leaves under attack ---------------------------------------------------- */

/* Tells its key, and when its waits are under way. */
static aclrtStream attacked_process(bool parks)
{
	aclrtNotify notify = NULL;
	aclrtStream stream = NULL;
	char key[65], line[64];

	CHECK_CODE(aclInit(NULL), 0);
	CHECK_CODE(aclrtSetDevice(1), 0);
	CHECK_CODE(aclrtCreateStream(&stream), 0);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), 0);
	CHECK_CODE(aclrtNotifyGetExportKey(notify, key, 65, EXPORT_OPEN), 0);
	CHECK(t_say("%s", key));
	CHECK(t_hear(line, sizeof(line), ANSWER_MS));
	CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 0), 0);
	if (parks)
		CHECK_CODE(aclrtWaitAndResetNotify(notify, NULL, 0), 0);
	CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 30), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	return stream;
}

static void resets_by_force(void)
{
	attacked_process(true);
	CHECK_CODE(aclrtResetDeviceForce(1), 0);
	CHECK_CODE(aclrtSetDevice(1), 0);
	CHECK_CODE(aclrtResetDevice(1), 0);
	CHECK_CODE(aclFinalize(), 0);
}

static void resets(void)
{
	attacked_process(true);
	CHECK_CODE(aclrtResetDevice(1), 0);
	CHECK_CODE(aclFinalize(), 0);
}

static void just_finalizes(void)
{
	attacked_process(false);
	CHECK_CODE(aclFinalize(), 0);
}

static void just_exits(void)
{
	attacked_process(true);
}

static const struct scenario scenarios[] = {
	{ "resets_by_force", resets_by_force },
	{ "resets", resets },
	{ "just_finalizes", just_finalizes },
	{ "just_exits", just_exits },
};

static void leaving_works(void **state)
{
	struct t_peer hostile, victim;
	char key[T_LINE_MAX];
	int code;

	(void)state;
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const char *const args[] = { "scenario", scenarios[i].name, NULL };

		assert_true(t_spawn(&victim, args, NULL));
		assert_true(t_read_line(&victim, key, sizeof(key), ANSWER_MS));
		peer_start(&hostile);
		assert_int_equal(ask(&hostile, "notify %s", key), 0);
		assert_int_equal(ask(&hostile, "scribble erase"), 0);
		assert_true(t_write_line(&victim, "go"));
		code = t_wait(&victim, ANSWER_MS);
		if (code)
			fail_msg("%s ended with %d", scenarios[i].name, code);
		assert_int_equal(ask(&hostile, "stop"), 0);
		assert_int_equal(t_wait(&hostile, ANSWER_MS), 0);
	}
}

/* --- keys that are not one's own -------------------------------------------------------------- */

#define NO ACL_ERROR_RT_DRV_INTERNAL_ERROR

struct loot {
	void *memory;
	aclrtDrvMemHandle handle;
	aclrtNotify notify;
	char memory_key[65], notify_key[65];
	uint64_t number;
};

static void loot_make(struct loot *l, int32_t friend)
{
	const aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
					    .location = { .type = ACL_MEM_LOCATION_TYPE_DEVICE } };

	assert_ok(aclrtMalloc(&l->memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtIpcMemGetExportKey(l->memory, BYTES, l->memory_key, 65, 0));
	assert_ok(aclrtIpcMemSetImportPid(l->memory_key, &friend, 1));
	assert_ok(aclrtMallocPhysical(&l->handle, BYTES, &prop, 0));
	assert_ok(aclrtMemExportToShareableHandle(l->handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &l->number));
	assert_ok(aclrtMemSetPidToShareableHandle(l->number, &friend, 1));
	assert_ok(aclrtCreateNotify(&l->notify, ACL_NOTIFY_DEFAULT));
	assert_ok(aclrtNotifyGetExportKey(l->notify, l->notify_key, 65, 0));
	assert_ok(aclrtNotifySetImportPid(l->notify, &friend, 1));
}

static void assert_all_refused(struct t_peer *peer, const struct loot *l, int number_code)
{
	assert_int_equal(ask(peer, "memory %s", l->memory_key), NO);
	assert_int_equal(ask(peer, "notify %s", l->notify_key), NO);
	assert_int_equal(ask(peer, "physical %" PRIu64, l->number), number_code);
}

/* A key that was seen is of no use to who is not on its list; nor can he put himself there or close it. */
static void foreign_keys_are_refused(void **state)
{
	struct t_peer friend, thief;
	struct loot l;

	(void)state;
	peer_start(&friend);
	peer_start(&thief);
	loot_make(&l, ask(&friend, "pid"));
	assert_all_refused(&thief, &l, NO);
	assert_int_equal(ask(&thief, "allow %s", l.memory_key), NO);
	assert_int_equal(ask(&thief, "vallow %" PRIu64, l.number), NO);
	assert_int_equal(ask(&thief, "close %s", l.memory_key), NO);
	assert_int_equal(ask(&friend, "memory %s", l.memory_key), 0);
	assert_int_equal(ask(&friend, "notify %s", l.notify_key), 0);
	assert_int_equal(ask(&friend, "physical %" PRIu64, l.number), 0);
	assert_all_refused(&thief, &l, NO); /* that somebody holds it changes nothing */
	/* One kind's name for another kind. */
	assert_int_equal(ask(&friend, "notify %s", l.memory_key), NO);
	assert_int_equal(ask(&friend, "memory %s", l.notify_key), NO);
	assert_int_equal(ask(&friend, "allow %s", l.notify_key), NO);
	assert_int_equal(ask(&friend, "close %s", l.notify_key), NO);
	assert_int_equal(ask(&friend, "physical %" PRIu64, l.number ^ 1), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(ask(&friend, "physical 0"), ACL_ERROR_RT_INVALID_HANDLE);
	/* Again after its end. */
	assert_int_equal(ask(&friend, "close %s", l.memory_key), 0);
	assert_int_equal(ask(&friend, "close %s", l.memory_key), NO);
	assert_int_equal(ask(&friend, "memory %s", l.memory_key), 0);
	assert_ok(aclrtIpcMemClose(l.memory_key));
	assert_ok(aclrtFree(l.memory));
	assert_ok(aclrtFreePhysical(l.handle));
	assert_ok(aclrtDestroyNotify(l.notify));
	assert_int_equal(ask(&friend, "close %s", l.memory_key), 0);
	assert_int_equal(ask(&friend, "memory %s", l.memory_key), NO);
	assert_all_refused(&thief, &l, ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(t_wait(&friend, ANSWER_MS), 0);
	assert_int_equal(t_wait(&thief, ANSWER_MS), 0);
}

/* Every length, cut from a living key and of rubbish; the budget for guesses answers like a wrong guess. */
static void rubbish_is_refused(void **state)
{
	char memory[128], notify[128], rubbish[128];
	struct t_peer friend;
	struct loot l;

	(void)state;
	peer_start(&friend);
	loot_make(&l, ask(&friend, "pid"));
	for (int n = 1; n <= 80; n++) {
		int code = n > 64 ? ACL_ERROR_RT_PARAM_INVALID : NO;

		memset(rubbish, "f~Z0\x7f"[n % 5], sizeof(rubbish));
		snprintf(memory, sizeof(memory), "%.*s", n < 64 ? n : 63, l.memory_key);
		snprintf(notify, sizeof(notify), "%.*s", n < 40 ? n : 39, l.notify_key);
		assert_int_equal(ask(&friend, "memory %.*s", n, rubbish), code);
		assert_int_equal(ask(&friend, "notify %.*s", n, rubbish), code);
		assert_int_equal(ask(&friend, "close %.*s", n, rubbish), code);
		assert_int_equal(ask(&friend, "allow %.*s", n, rubbish), code);
		assert_int_equal(ask(&friend, "memory %s", memory), NO);
		assert_int_equal(ask(&friend, "notify %s", notify), NO);
		assert_int_equal(ask(&friend, "notify %s%s", l.notify_key, n % 2 ? "0" : "x"), NO);
	}
	/* More than a whole key is not that key. */
	assert_int_equal(ask(&friend, "memory %s0", l.memory_key), ACL_ERROR_RT_PARAM_INVALID);
	assert_int_equal(t_wait(&friend, ANSWER_MS), 0);
	assert_ok(aclrtIpcMemClose(l.memory_key));
	assert_ok(aclrtFree(l.memory));
	assert_ok(aclrtFreePhysical(l.handle));
	assert_ok(aclrtDestroyNotify(l.notify));
}

/* --- running ---------------------------------------------------------------------------------- */

static int start(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int stop(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timed_waits_end),
		cmocka_unit_test(endless_waits_can_be_ended),
		cmocka_unit_test(records_arrive_when_it_stops),
		cmocka_unit_test(others_are_not_disturbed),
		cmocka_unit_test(waiting_costs_little),
		cmocka_unit_test(the_device_is_not_disturbed),
		cmocka_unit_test(leaving_works),
		cmocka_unit_test(foreign_keys_are_refused),
		cmocka_unit_test(rubbish_is_refused),
	};
	char instance[32];

	if (argc == 2 && !strcmp(argv[1], "peer"))
		return peer_main();
	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	snprintf(instance, sizeof(instance), "hostile-%d", getpid());
	setenv("VINCI_INSTANCE", instance, 1);
	return cmocka_run_group_tests(tests, start, stop);
}
