/* SPDX-License-Identifier: MIT */
/*
 * notify_test.c - notifies within a process and between processes. The other process is this program again, which does what it
 * is told, one call a line, and answers with the call's code.
 */
#include "scenario.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

#define ANSWER_MS 30000
#define LONG_MS 30000
#define NOTIFY_LIMIT 8192 /* of an Ascend910B1 */
#define EXPORT_OPEN ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION
#define IMPORT_PEER ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS

static void assert_says(int code, int wanted, const char *word)
{
	const char *text = aclGetRecentErrMsg();

	if (code != wanted)
		fail_msg("%d instead of %d: %s", code, wanted, text ? text : "");
	assert_non_null(text);
	if (!strstr(text, word))
		fail_msg("\"%s\" is not in: %s", word, text);
}

#define assert_ok(call) assert_int_equal(call, ACL_SUCCESS)

static aclrtStream stream_new(void)
{
	aclrtStream stream = NULL;

	assert_ok(aclrtCreateStream(&stream));
	return stream;
}

static aclrtNotify notify_new(void)
{
	aclrtNotify notify = NULL;

	assert_ok(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
	return notify;
}

static aclrtNotify notify_exported(char key[65])
{
	aclrtNotify notify = notify_new();

	assert_ok(aclrtNotifyGetExportKey(notify, key, 65, EXPORT_OPEN));
	return notify;
}

static void record(aclrtNotify notify)
{
	aclrtStream stream = stream_new();

	assert_ok(aclrtRecordNotify(notify, stream));
	assert_ok(aclrtDestroyStream(stream));
}

static bool ready(aclrtStream stream)
{
	aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;

	assert_ok(aclrtStreamQuery(stream, &status));
	return status == ACL_STREAM_STATUS_COMPLETE;
}

/* The stream's wait is not ended by what was done so far: 20 ms are for what must not happen. */
static void assert_waits(aclrtStream stream)
{
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_false(ready(stream));
}

/* --- the other process -------------------------------------------------------------------- */

static struct {
	aclrtNotify notify, own;
	aclrtStream stream;
	char key[65];
} self;

/* The page of the imported notify: the one object of a page that this process maps; "vinci-list" is its connection's. */
static _Atomic uint32_t *shared_word(void)
{
	unsigned long from, to;
	char line[512], perms[8];
	_Atomic uint32_t *word = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) == 3 && to - from == 4096 &&
		    !strcmp(perms, "rw-s") && strstr(line, "memfd:vinci "))
			word = (_Atomic uint32_t *)from;
	if (maps)
		fclose(maps);
	return word;
}

static int scribble(unsigned seed)
{
	_Atomic uint32_t *word = shared_word();

	if (!word)
		return -1;
	for (unsigned i = 0; i < 300000; i++) {
		seed = seed * 1103515245u + 12345u;
		atomic_store(&word[i % 16 ? 0 : i % 1024], seed & 0x10000 ? seed >> 20 : seed >> 17 & 3);
	}
	memset((void *)word, 0x5a, 4096);
	return 0;
}

static int pingpong(unsigned rounds)
{
	int r = 0;

	while (rounds-- && !r) {
		r = aclrtWaitAndResetNotify(self.own, self.stream, 20);
		if (!r)
			r = aclrtRecordNotify(self.notify, self.stream);
		if (!r)
			r = rounds % 3 ? aclrtSynchronizeStream(self.stream)
				       : aclrtSynchronizeStreamWithTimeout(self.stream, LONG_MS);
	}
	return r;
}

static int obey(const char *line)
{
	char key[128] = "";
	unsigned n = 0;
	int32_t pid;

	if (!strcmp(line, "pid"))
		return aclrtDeviceGetBareTgid(&pid) ? -1 : pid;
	if (sscanf(line, "import %u %127s", &n, key) == 2)
		return aclrtNotifyImportByKey(&self.notify, key, n);
	if (sscanf(line, "allow %u", &n) == 1)
		return aclrtNotifySetImportPid(self.notify, (int32_t *)&n, 1);
	if (!strcmp(line, "export"))
		return aclrtCreateNotify(&self.own, 0) || aclrtNotifyGetExportKey(self.own, self.key, 65, EXPORT_OPEN);
	if (!strcmp(line, "key"))
		return t_say("%s", self.key) ? 0 : -1;
	if (!strcmp(line, "record"))
		return aclrtRecordNotify(self.notify, self.stream);
	if (!strcmp(line, "wait"))
		return aclrtWaitAndResetNotify(self.notify, self.stream, 0);
	if (!strcmp(line, "sync"))
		return aclrtSynchronizeStream(self.stream);
	if (!strcmp(line, "destroy"))
		return aclrtDestroyNotify(self.notify);
	if (sscanf(line, "scribble %u", &n) == 1)
		return scribble(n);
	if (sscanf(line, "pingpong %u", &n) == 1)
		return pingpong(n);
	return -1;
}

/* Until its stdin ends; then it exits with everything still open. */
static int peer_main(const char *device)
{
	char line[T_LINE_MAX];

	if (aclInit(NULL) || aclrtSetDevice(atoi(device)) || aclrtCreateStream(&self.stream))
		return 1;
	t_say("ready");
	while (t_hear(line, sizeof(line), 10 * ANSWER_MS))
		t_say("%d", obey(line));
	return 0;
}

static void peer_start(struct t_peer *peer, const char *device)
{
	const char *const args[] = { "peer", device, NULL };

	assert_true(t_spawn(peer, args, NULL));
	assert_true(t_expect(peer, "ready", ANSWER_MS));
}

static int peer_ask(struct t_peer *peer, const char *command)
{
	char line[T_LINE_MAX];

	assert_true(t_write_line(peer, "%s", command));
	assert_true(t_read_line(peer, line, sizeof(line), ANSWER_MS));
	return atoi(line);
}

static int peer_import(struct t_peer *peer, unsigned flags, const char *key)
{
	char command[256];

	snprintf(command, sizeof(command), "import %u %s", flags, key);
	return peer_ask(peer, command);
}

static void peer_key(struct t_peer *peer, char key[65])
{
	char line[T_LINE_MAX];

	assert_true(t_write_line(peer, "key"));
	assert_true(t_read_line(peer, line, sizeof(line), ANSWER_MS));
	assert_int_equal(strlen(line), 40);
	strcpy(key, line);
	assert_true(t_read_line(peer, line, sizeof(line), ANSWER_MS));
}

static void peer_stop(struct t_peer *peer)
{
	assert_int_equal(t_wait(peer, ANSWER_MS), 0);
}

/* --- one process -------------------------------------------------------------------------- */

/* covers: aclrtCreateNotify, aclrtDestroyNotify, aclrtGetNotifyId effect */
static void ids_are_distinct(void **state)
{
	aclrtNotify a = notify_new(), b = NULL;
	uint32_t id_a = NOTIFY_LIMIT, id_b = NOTIFY_LIMIT;

	(void)state;
	assert_ok(aclrtCreateNotify(&b, ACL_NOTIFY_DEVICE_USE_ONLY));
	assert_ok(aclrtGetNotifyId(a, &id_a));
	assert_ok(aclrtGetNotifyId(b, &id_b));
	assert_int_not_equal(id_a, id_b);
	assert_true(id_a < NOTIFY_LIMIT && id_b < NOTIFY_LIMIT);
	assert_ok(aclrtDestroyNotify(a));
	assert_ok(aclrtDestroyNotify(b));
	assert_int_equal(aclrtGetNotifyId(a, &id_a), ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclrtCreateNotify, aclrtDestroyNotify, aclrtGetNotifyId failure */
/* covers: aclrtRecordNotify, aclrtWaitAndResetNotify, aclrtNotifyBatchReset failure */
static void wrong_arguments(void **state)
{
	aclrtNotify dead = notify_new(), alive = notify_new(), notify = (aclrtNotify)0x1234;
	aclrtNotify both[2] = { dead, alive };
	aclrtStream dead_stream = stream_new(), stream = stream_new();
	uint32_t id = 42;

	(void)state;
	assert_ok(aclrtDestroyNotify(dead));
	assert_ok(aclrtDestroyStream(dead_stream));
	assert_says(aclrtCreateNotify(NULL, 0), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtCreateNotify(&notify, 2), ACL_ERROR_RT_PARAM_INVALID, "flag is 0x2");
	assert_ptr_equal(notify, (aclrtNotify)0x1234);
	assert_says(aclrtDestroyNotify(NULL), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtDestroyNotify(dead), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtDestroyNotify(notify), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtGetNotifyId(NULL, &id), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtGetNotifyId(alive, NULL), ACL_ERROR_INVALID_PARAM, "notifyId");
	assert_says(aclrtGetNotifyId(dead, &id), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtRecordNotify(NULL, NULL), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtRecordNotify(dead, NULL), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtRecordNotify(alive, dead_stream), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtWaitAndResetNotify(NULL, NULL, 0), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtWaitAndResetNotify(dead, NULL, 0), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtWaitAndResetNotify(alive, dead_stream, 0), ACL_ERROR_RT_INVALID_HANDLE, "stream");
	assert_says(aclrtNotifyBatchReset(NULL, 1), ACL_ERROR_INVALID_PARAM, "notifies");
	assert_says(aclrtNotifyBatchReset(&alive, 0), ACL_ERROR_RT_PARAM_INVALID, "num is 0");
	record(alive);
	assert_says(aclrtNotifyBatchReset(both, 2), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_ok(aclrtWaitAndResetNotify(alive, stream, 0)); /* the one after the error was left alone */
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_int_equal(id, 42);
	assert_ok(aclrtDestroyNotify(alive));
	assert_ok(aclrtDestroyStream(stream));
}

/* Not cmocka's: another thread. */
#define WANT(call, code)                                                                                                    \
	do {                                                                                                                \
		if ((call) != (code))                                                                                       \
			return #call;                                                                                       \
	} while (0)

static const char *calls_without_context(aclrtNotify notify)
{
	aclrtNotify other = NULL;
	char key[65];

	WANT(aclrtCreateNotify(&other, 2), ACL_ERROR_RT_PARAM_INVALID); /* flags come first */
	WANT(aclrtCreateNotify(&other, 0), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtNotifyGetExportKey(notify, key, 65, 1), ACL_ERROR_RT_PARAM_INVALID);
	WANT(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtNotifyImportByKey(&other, "key", 4), ACL_ERROR_RT_PARAM_INVALID);
	WANT(aclrtNotifyImportByKey(&other, "key", 0), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtRecordNotify(notify, NULL), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtWaitAndResetNotify(notify, NULL, 0), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtNotifyBatchReset(&notify, 1), ACL_ERROR_RT_CONTEXT_NULL);
	WANT(aclrtDestroyNotify(notify), ACL_ERROR_RT_CONTEXT_NULL);
	return NULL;
}

static void *without_context(void *arg)
{
	return (void *)calls_without_context(arg);
}

static void a_thread_without_context(void **state)
{
	aclrtNotify notify = notify_new();
	void *wrong = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, without_context, notify), 0);
	assert_int_equal(pthread_join(thread, &wrong), 0);
	if (wrong)
		fail_msg("%s", (const char *)wrong);
	assert_ok(aclrtDestroyNotify(notify));
}

static void another_context_s_stream(void **state)
{
	aclrtContext first = NULL, second = NULL;
	aclrtNotify notify = notify_new();
	aclrtStream stream = stream_new();

	(void)state;
	assert_ok(aclrtGetCurrentContext(&first));
	assert_ok(aclrtCreateContext(&second, 0));
	assert_says(aclrtRecordNotify(notify, stream), ACL_ERROR_RT_STREAM_CONTEXT, "context");
	assert_says(aclrtWaitAndResetNotify(notify, stream, 0), ACL_ERROR_RT_STREAM_CONTEXT, "context");
	assert_ok(aclrtDestroyContext(second));
	assert_ok(aclrtSetCurrentContext(first));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtRecordNotify, aclrtWaitAndResetNotify effect */
static void a_wait_blocks_until_the_record_and_clears_it(void **state)
{
	aclrtNotify notify = notify_new();
	aclrtStream waits = stream_new();

	(void)state;
	assert_ok(aclrtWaitAndResetNotify(notify, waits, 0));
	assert_waits(waits);
	record(notify);
	assert_ok(aclrtSynchronizeStreamWithTimeout(waits, LONG_MS));
	assert_ok(aclrtWaitAndResetNotify(notify, waits, UINT32_MAX));
	assert_waits(waits);
	record(notify);
	assert_ok(aclrtSynchronizeStream(waits));
	record(notify); /* the other order */
	assert_ok(aclrtWaitAndResetNotify(notify, waits, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(waits, LONG_MS));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyStream(waits));
}

static void two_records_are_one(void **state)
{
	aclrtNotify notify = notify_new();
	aclrtStream stream = stream_new();

	(void)state;
	record(notify);
	record(notify);
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_waits(stream);
	record(notify);
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtNotifyBatchReset effect */
static void resetting_forgets_records(void **state)
{
	aclrtNotify notifies[3] = { notify_new(), notify_new(), notify_new() };
	aclrtStream stream = stream_new();
	char key[65];

	(void)state;
	assert_ok(aclrtNotifyGetExportKey(notifies[2], key, sizeof(key), EXPORT_OPEN));
	for (unsigned i = 0; i < 3; i++)
		record(notifies[i]);
	assert_ok(aclrtNotifyBatchReset(notifies, 3));
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(aclrtWaitAndResetNotify(notifies[i], stream, 0));
		assert_waits(stream);
		record(notifies[i]);
		assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
		assert_ok(aclrtDestroyNotify(notifies[i]));
	}
	assert_ok(aclrtDestroyStream(stream));
}

/* The time is over on the device: the call succeeded, the synchronisation tells. */
static void a_wait_that_times_out(void **state)
{
	char key[65];
	aclrtNotify local = notify_new(), shared = notify_exported(key);
	aclrtStream a = stream_new(), b = stream_new(), c = stream_new(), d = stream_new();

	(void)state;
	assert_ok(aclrtWaitAndResetNotify(local, a, 1));
	assert_ok(aclrtWaitAndResetNotify(shared, b, 1));
	assert_ok(aclrtWaitAndResetNotify(local, c, 1));
	assert_ok(aclrtWaitAndResetNotify(shared, d, 1));
	assert_says(aclrtSynchronizeStreamWithTimeout(a, LONG_MS), ACL_ERROR_RT_TASK_TIMEOUT, "nobody recorded");
	assert_says(aclrtSynchronizeStreamWithTimeout(b, LONG_MS), ACL_ERROR_RT_TASK_TIMEOUT, "nobody recorded");
	assert_says(aclrtSynchronizeStream(c), ACL_ERROR_RT_TASK_TIMEOUT, "nobody recorded");
	assert_says(aclrtSynchronizeStream(d), ACL_ERROR_RT_TASK_TIMEOUT, "nobody recorded");
	assert_ok(aclrtSynchronizeStream(a));
	assert_ok(aclrtWaitAndResetNotify(shared, b, 1));
	assert_says(aclrtSynchronizeStream(b), ACL_ERROR_RT_TASK_TIMEOUT, "1 s");
	assert_ok(aclrtDestroyNotify(local));
	assert_ok(aclrtDestroyNotify(shared));
	assert_ok(aclrtDestroyStream(a));
	assert_ok(aclrtDestroyStream(b));
	assert_ok(aclrtDestroyStream(c));
	assert_ok(aclrtDestroyStream(d));
}

/* A signal that a dying waiter was chosen for goes to the next one. */
static void several_streams_wait_for_one_notify(void **state)
{
	aclrtNotify notify = notify_new();
	aclrtStream streams[20];
	unsigned done = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		streams[i] = stream_new();
		assert_ok(aclrtWaitAndResetNotify(notify, streams[i], 0));
	}
	for (unsigned i = 0; i < 20; i += 2)
		assert_ok(aclrtDestroyStreamForce(streams[i]));
	for (unsigned i = 0; i < 10; i++) {
		uint64_t end = t_now_ms() + LONG_MS;

		record(notify);
		for (done = 0; done != i + 1 && t_now_ms() < end;) {
			done = 0;
			for (unsigned s = 1; s < 20; s += 2)
				done += ready(streams[s]);
		}
		assert_int_equal(done, i + 1);
	}
	for (unsigned s = 1; s < 20; s += 2)
		assert_ok(aclrtDestroyStream(streams[s]));
	assert_ok(aclrtDestroyNotify(notify));
}

static void destroyed_while_in_use(void **state)
{
	aclrtNotify notify = notify_new();
	aclrtStream waits = stream_new(), records = stream_new();

	(void)state;
	assert_ok(aclrtWaitAndResetNotify(notify, waits, 0));
	assert_ok(aclrtRecordNotify(notify, records));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtSynchronizeStreamWithTimeout(waits, LONG_MS));
	assert_ok(aclrtDestroyStream(waits));
	assert_ok(aclrtDestroyStream(records));
}

static void as_many_as_the_device_has(void **state)
{
	static aclrtNotify notifies[NOTIFY_LIMIT];
	aclrtNotify one_more = NULL;
	unsigned n;

	(void)state;
	for (n = 0; n < NOTIFY_LIMIT; n++)
		notifies[n] = notify_new();
	assert_says(aclrtCreateNotify(&one_more, 0), ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "8192");
	assert_null(one_more);
	for (n = 0; n < NOTIFY_LIMIT; n++)
		assert_ok(aclrtDestroyNotify(notifies[n]));
	one_more = notify_new();
	assert_ok(aclrtDestroyNotify(one_more));
}

/* Streams that pass one signal on, more than there are workers. */
static void a_chain_of_streams(void **state)
{
	aclrtStream streams[200];
	aclrtNotify links[200];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		streams[i] = stream_new();
		links[i] = notify_new();
	}
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 199; i > 0; i--) {
			assert_ok(aclrtWaitAndResetNotify(links[i - 1], streams[i], 0));
			assert_ok(aclrtRecordNotify(links[i], streams[i]));
		}
		assert_ok(aclrtRecordNotify(links[0], streams[0]));
		assert_ok(aclrtWaitAndResetNotify(links[199], streams[0], 0));
		assert_ok(aclrtSynchronizeStreamWithTimeout(streams[0], LONG_MS));
	}
	for (unsigned i = 0; i < 200; i++) {
		assert_ok(aclrtDestroyStream(streams[i]));
		assert_ok(aclrtDestroyNotify(links[i]));
	}
}

/* --- export and import -------------------------------------------------------------------- */

/* covers: aclrtNotifyGetExportKey, aclrtNotifyImportByKey effect */
static void sharing_within_a_process(void **state)
{
	aclrtNotify notify = notify_new(), imported = NULL, again = NULL;
	aclrtStream stream = stream_new();
	uint32_t id = 1, id_imported = 2;
	char key[80];

	(void)state;
	memset(key, 'x', sizeof(key));
	assert_ok(aclrtNotifyGetExportKey(notify, key, 65, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
	assert_int_equal(strspn(key, "0123456789abcdef"), 40);
	assert_int_equal(strlen(key), 40);
	assert_int_equal(key[65], 'x');
	assert_ok(aclrtNotifyImportByKey(&imported, key, ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT)); /* the creator is trusted */
	assert_ok(aclrtNotifyImportByKey(&again, key, IMPORT_PEER));
	assert_ok(aclrtGetNotifyId(notify, &id));
	assert_ok(aclrtGetNotifyId(imported, &id_imported));
	assert_int_equal(id, id_imported);
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_waits(stream);
	record(imported);
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtWaitAndResetNotify(imported, stream, 0));
	assert_waits(stream);
	record(again);
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtDestroyNotify(imported));
	assert_ok(aclrtDestroyNotify(again));
	assert_ok(aclrtDestroyStream(stream));
}

/* covers: aclrtNotifyGetExportKey, aclrtNotifyImportByKey, aclrtNotifySetImportPid failure */
static void sharing_wrongly(void **state)
{
	aclrtNotify notify = notify_new(), dead = notify_new(), imported = NULL;
	char key[65], other[65];
	int32_t pid = 1, pids[2] = { 1, 1 };

	(void)state;
	assert_ok(aclrtDestroyNotify(dead));
	assert_says(aclrtNotifyGetExportKey(NULL, key, 65, 0), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtNotifyGetExportKey(notify, NULL, 65, 0), ACL_ERROR_INVALID_PARAM, "key");
	assert_says(aclrtNotifyGetExportKey(notify, key, 64, 0), ACL_ERROR_RT_PARAM_INVALID, "len is 64");
	assert_says(aclrtNotifyGetExportKey(notify, key, 0, 0), ACL_ERROR_RT_PARAM_INVALID, "len is 0");
	assert_says(aclrtNotifyGetExportKey(notify, key, 65, 1), ACL_ERROR_RT_PARAM_INVALID, "flags is 0x1");
	assert_says(aclrtNotifyGetExportKey(dead, key, 65, 0), ACL_ERROR_RT_INVALID_HANDLE, "notify");
	assert_says(aclrtNotifySetImportPid(notify, &pid, 1), ACL_ERROR_RT_PARAM_INVALID, "no key yet");
	assert_ok(aclrtNotifyGetExportKey(notify, key, 65, 0));
	assert_says(aclrtNotifyGetExportKey(notify, other, 65, 0), ACL_ERROR_RT_INTERNAL_ERROR, "exported once");
	assert_says(aclrtNotifySetImportPid(NULL, &pid, 1), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtNotifySetImportPid(notify, NULL, 1), ACL_ERROR_INVALID_PARAM, "pid");
	assert_says(aclrtNotifySetImportPid(notify, pids, 2), ACL_ERROR_RT_PARAM_INVALID, "num is 2");
	assert_says(aclrtNotifySetImportPid(notify, pids, 0), ACL_ERROR_RT_PARAM_INVALID, "num is 0");
	assert_says(aclrtNotifySetImportPid(dead, &pid, 1), ACL_ERROR_RT_INVALID_HANDLE, "notify");

	assert_says(aclrtNotifyImportByKey(NULL, key, 0), ACL_ERROR_INVALID_PARAM, "notify");
	assert_says(aclrtNotifyImportByKey(&imported, NULL, 0), ACL_ERROR_INVALID_PARAM, "key");
	assert_says(aclrtNotifyImportByKey(&imported, key, 4), ACL_ERROR_RT_PARAM_INVALID, "flags is 0x4");
	assert_says(aclrtNotifyImportByKey(&imported, "", 0), ACL_ERROR_RT_PARAM_INVALID, "empty");
	assert_says(aclrtNotifyImportByKey(&imported, "nobody knows this one", 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "key");
	assert_null(imported);
	assert_ok(aclrtNotifyImportByKey(&imported, key, 3));
	assert_says(aclrtNotifyGetExportKey(imported, other, 65, 0), ACL_ERROR_RT_INTERNAL_ERROR, "imported");
	assert_says(aclrtNotifySetImportPid(imported, &pid, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "exporter");
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyNotify(imported));
	assert_says(aclrtNotifyImportByKey(&imported, key, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "key");
}

/* Only the device counts, not the process. */
static void a_shared_notify_is_waited_for_on_its_own_device(void **state)
{
	aclrtNotify local = notify_new(), imported = NULL, notify;
	aclrtStream stream;
	char key[65];

	(void)state;
	notify = notify_exported(key);
	assert_ok(aclrtSetDevice(1));
	assert_ok(aclrtNotifyImportByKey(&imported, key, IMPORT_PEER));
	stream = stream_new();
	assert_says(aclrtWaitAndResetNotify(imported, stream, 0), ACL_ERROR_RT_PARAM_INVALID, "device 0");
	assert_says(aclrtWaitAndResetNotify(notify, stream, 0), ACL_ERROR_RT_PARAM_INVALID, "device 0");
	assert_ok(aclrtRecordNotify(imported, stream));
	assert_ok(aclrtRecordNotify(local, stream));
	assert_ok(aclrtWaitAndResetNotify(local, stream, 0)); /* private ones have no such rule */
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtDestroyNotify(imported));
	assert_ok(aclrtResetDevice(1));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0));
	stream = stream_new();
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyNotify(notify));
	assert_ok(aclrtDestroyNotify(local));
}

/* What was recorded, and who waits, moves along. */
static void exporting_in_mid_use(void **state)
{
	aclrtNotify set = notify_new(), waited = notify_new();
	aclrtStream stream = stream_new(), other = stream_new();
	char key[65];

	(void)state;
	record(set);
	assert_ok(aclrtNotifyGetExportKey(set, key, 65, 0));
	assert_ok(aclrtWaitAndResetNotify(set, stream, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));

	assert_ok(aclrtWaitAndResetNotify(waited, stream, 0));
	assert_ok(aclrtWaitAndResetNotify(waited, other, 0));
	assert_waits(stream);
	assert_waits(other);
	assert_ok(aclrtNotifyGetExportKey(waited, key, 65, 0));
	assert_waits(stream);
	record(waited);
	record(waited);
	while (!ready(stream) && !ready(other))
		record(waited);
	record(waited);
	assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
	record(waited);
	assert_ok(aclrtSynchronizeStreamWithTimeout(other, LONG_MS));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyStream(other));
	assert_ok(aclrtDestroyNotify(set));
	assert_ok(aclrtDestroyNotify(waited));
}

/* covers: aclrtNotifySetImportPid effect */
static void the_whitelist_bites(void **state)
{
	aclrtNotify notify = notify_new(), open_one;
	struct t_peer listed, other;
	char key[65], open_key[65];
	int32_t pid, own = 0;

	(void)state;
	peer_start(&listed, "1");
	peer_start(&other, "1");
	assert_ok(aclrtNotifyGetExportKey(notify, key, 65, 0));
	assert_int_equal(peer_import(&listed, 2, key), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	pid = peer_ask(&listed, "pid");
	assert_ok(aclrtNotifySetImportPid(notify, &pid, 1));
	assert_ok(aclrtNotifySetImportPid(notify, &pid, 1));
	assert_ok(aclrtDeviceGetBareTgid(&own));
	assert_ok(aclrtNotifySetImportPid(notify, &own, 1)); /* counts for nothing, and is no error */
	assert_int_equal(peer_import(&listed, 2, key), ACL_SUCCESS);
	assert_int_equal(peer_import(&other, 2, key), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
	assert_int_equal(peer_ask(&listed, "allow 1"), ACL_ERROR_RT_DRV_INTERNAL_ERROR);

	open_one = notify_exported(open_key);
	assert_says(aclrtNotifySetImportPid(open_one, &pid, 1), ACL_ERROR_RT_NO_PERMISSION, "key");
	assert_int_equal(peer_import(&other, 0, open_key), ACL_SUCCESS);
	assert_ok(aclrtDestroyNotify(open_one));
	assert_ok(aclrtDestroyNotify(notify));
	peer_stop(&listed);
	peer_stop(&other);
}

/* --- two processes ------------------------------------------------------------------------ */

static void signals_go_back_and_forth(void **state)
{
	aclrtStream stream = stream_new();
	aclrtNotify to = NULL, from;
	struct t_peer peer;
	char key[65];

	(void)state;
	peer_start(&peer, "1");
	from = notify_exported(key);
	assert_int_equal(peer_import(&peer, 2, key), ACL_SUCCESS);
	assert_int_equal(peer_ask(&peer, "export"), 0);
	peer_key(&peer, key);
	assert_ok(aclrtNotifyImportByKey(&to, key, IMPORT_PEER));
	assert_true(t_write_line(&peer, "pingpong 2000"));
	for (unsigned i = 0; i < 2000; i++) {
		assert_ok(aclrtRecordNotify(to, stream));
		assert_ok(aclrtWaitAndResetNotify(from, stream, 20));
		if (i % 2)
			assert_ok(aclrtSynchronizeStreamWithTimeout(stream, LONG_MS));
		else
			assert_ok(aclrtSynchronizeStream(stream));
	}
	assert_true(t_expect(&peer, "0", ANSWER_MS));
	peer_stop(&peer);
	assert_ok(aclrtDestroyNotify(to));
	assert_ok(aclrtDestroyNotify(from));
	assert_ok(aclrtDestroyStream(stream));
}

static void *kill_peer(void *arg)
{
	t_kill(arg);
	return NULL;
}

/* Whoever waits when the peer dies is told, in whichever way he waits; what the peer recorded before still counts. */
static void the_peer_is_killed(void **state)
{
	static const int how[] = { -1, LONG_MS };
	struct t_peer peer;
	pthread_t thread;
	char key[65];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		aclrtNotify notify = notify_exported(key);
		aclrtStream stream = stream_new();

		peer_start(&peer, "1");
		assert_int_equal(peer_import(&peer, 2, key), ACL_SUCCESS);
		assert_int_equal(peer_ask(&peer, "record"), ACL_SUCCESS);
		assert_int_equal(peer_ask(&peer, "sync"), ACL_SUCCESS);
		assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
		assert_ok(aclrtSynchronizeStreamWithTimeout(stream, how[i]));
		assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
		if (i)
			assert_waits(stream);
		assert_int_equal(pthread_create(&thread, NULL, kill_peer, &peer), 0);
		assert_says(aclrtSynchronizeStreamWithTimeout(stream, how[i]), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "has ended");
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(aclrtDestroyStream(stream));
		assert_ok(aclrtDestroyNotify(notify));
	}
}

static aclrtNotify notify_of_the_dead(void)
{
	struct t_peer peer;
	aclrtNotify notify;
	char key[65];

	peer_start(&peer, "1");
	notify = notify_exported(key);
	assert_int_equal(peer_import(&peer, 2, key), ACL_SUCCESS);
	t_kill(&peer);
	return notify;
}

/* Nobody else is left, but this process is going to record it: late, and in whichever way it is waited for. */
static void a_record_of_ours_is_waited_for(void **state)
{
	static const int how[] = { -1, LONG_MS };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		aclrtNotify notify = notify_of_the_dead(), gate = notify_new();
		aclrtStream waits = stream_new(), records = stream_new();

		assert_ok(aclrtWaitAndResetNotify(gate, records, 0));
		assert_ok(aclrtRecordNotify(notify, records));
		assert_ok(aclrtWaitAndResetNotify(notify, waits, 0));
		/* Long enough to look several times whether anybody is left. */
		assert_int_equal(aclrtSynchronizeStreamWithTimeout(waits, 1000), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
		record(gate);
		assert_ok(aclrtSynchronizeStreamWithTimeout(waits, how[i]));
		/* It is recorded now, and nobody will do so again. */
		assert_ok(aclrtWaitAndResetNotify(notify, waits, 0));
		assert_says(aclrtSynchronizeStreamWithTimeout(waits, how[i]), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "has ended");
		assert_ok(aclrtDestroyStream(waits));
		assert_ok(aclrtDestroyStream(records));
		assert_ok(aclrtDestroyNotify(notify));
		assert_ok(aclrtDestroyNotify(gate));
	}
}

/* A notify used as a lock, by a process that died with it: records behind waits for the same notify help nobody. */
static void records_behind_the_wait_are_not_waited_for(void **state)
{
	aclrtNotify lock = notify_of_the_dead();
	aclrtStream streams[3];
	unsigned lost = 0;
	int code;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		streams[i] = stream_new();
		assert_ok(aclrtWaitAndResetNotify(lock, streams[i], 0));
		assert_ok(aclrtRecordNotify(lock, streams[i]));
	}
	for (unsigned i = 0; i < 3; i++) {
		code = aclrtSynchronizeStreamWithTimeout(streams[i], LONG_MS);
		assert_true(code == ACL_SUCCESS || code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
		lost += code != ACL_SUCCESS;
		assert_ok(aclrtDestroyStream(streams[i]));
	}
	assert_true(lost);
	assert_ok(aclrtDestroyNotify(lock));
}

/* A peer that left properly, or that holds it and says nothing, is no reason to give up. */
static void a_silent_peer_is_waited_for_until_someone_ends_it(void **state)
{
	aclrtStream stream = stream_new();
	struct t_peer peer;
	aclrtNotify notify;
	char key[65];

	(void)state;
	peer_start(&peer, "1");
	notify = notify_exported(key);
	assert_int_equal(peer_import(&peer, 2, key), ACL_SUCCESS);
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, 400), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_int_equal(peer_ask(&peer, "destroy"), ACL_SUCCESS);
	assert_int_equal(aclrtSynchronizeStreamWithTimeout(stream, 400), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_ok(aclrtDestroyStreamForce(stream));
	peer_stop(&peer);
	stream = stream_new();
	assert_ok(aclrtWaitAndResetNotify(notify, stream, 0));
	assert_ok(aclrtStreamAbort(stream));
	assert_ok(aclrtDestroyStream(stream));
	assert_ok(aclrtDestroyNotify(notify));
}

/* Every value at every time: a wait ends or goes on, nothing else. */
static void the_peer_scribbles(void **state)
{
	aclrtStream runner = stream_new(), polled = stream_new();
	aclrtNotify notify, second;
	struct t_peer peer;
	char key[65];
	int r;

	(void)state;
	peer_start(&peer, "1");
	notify = notify_exported(key);
	assert_int_equal(peer_import(&peer, 2, key), ACL_SUCCESS);
	assert_true(t_write_line(&peer, "scribble 7"));
	for (unsigned i = 0; i < 20; i++) {
		assert_ok(aclrtWaitAndResetNotify(notify, polled, 1));
		assert_ok(aclrtRecordNotify(notify, runner));
		assert_ok(aclrtWaitAndResetNotify(notify, runner, 1));
		assert_ok(aclrtRecordNotify(notify, runner));
		r = aclrtSynchronizeStream(runner);
		assert_true(r == ACL_SUCCESS || r == ACL_ERROR_RT_TASK_TIMEOUT);
		r = aclrtSynchronizeStreamWithTimeout(polled, LONG_MS);
		assert_true(r == ACL_SUCCESS || r == ACL_ERROR_RT_TASK_TIMEOUT);
	}
	assert_true(t_expect(&peer, "0", ANSWER_MS));
	peer_stop(&peer);
	/* The page is full of nonsense now; the protocol goes on from there. */
	assert_ok(aclrtNotifyBatchReset(&notify, 1));
	record(notify);
	assert_ok(aclrtWaitAndResetNotify(notify, runner, 0));
	assert_ok(aclrtSynchronizeStreamWithTimeout(runner, LONG_MS));
	assert_ok(aclrtDestroyNotify(notify));
	second = notify_exported(key);
	assert_ok(aclrtWaitAndResetNotify(second, runner, 1));
	assert_int_equal(aclrtSynchronizeStream(runner), ACL_ERROR_RT_TASK_TIMEOUT);
	assert_ok(aclrtDestroyNotify(second));
	assert_ok(aclrtDestroyStream(runner));
	assert_ok(aclrtDestroyStream(polled));
}

static bool few_maps(void *limit)
{
	return t_count_maps() <= *(unsigned *)limit;
}

/* Two thousand at once, on two devices because of the number of streams. */
static void two_thousand_waits(void **state)
{
	static aclrtStream streams[2000];
	static aclrtNotify notifies[2000];
	unsigned fds = t_count_fds(), maps = t_count_maps() + 200;
	aclrtStream records;
	char key[65];

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		assert_ok(aclrtSetDevice(i < 1000 ? 0 : 1));
		streams[i] = stream_new();
		notifies[i] = notify_exported(key);
		assert_ok(aclrtWaitAndResetNotify(notifies[i], streams[i], 0));
	}
	records = stream_new();
	for (unsigned i = 0; i < 2000; i++)
		assert_ok(aclrtRecordNotify(notifies[(i * 7 + 3) % 2000], records));
	for (unsigned i = 0; i < 2000; i++)
		assert_ok(aclrtSynchronizeStreamWithTimeout(streams[i], LONG_MS));
	assert_ok(aclrtSynchronizeStream(records));
	assert_ok(aclrtDestroyStream(records));
	for (unsigned i = 2000; i-- > 0;) {
		assert_ok(aclrtSetDevice(i < 1000 ? 0 : 1));
		assert_ok(aclrtDestroyNotify(notifies[i]));
		assert_ok(aclrtDestroyStream(streams[i]));
	}
	for (unsigned i = 0; i < 2000; i++) {
		assert_ok(aclrtResetDevice(1));
		assert_ok(aclrtResetDevice(0));
	}
	assert_true(t_count_fds() <= fds);
	/* A poller lets a word go when it looks next. A sanitizer maps its shadow in pieces. */
	assert_true(T_SANITIZED || t_until(few_maps, &maps, LONG_MS));
}

/* --- super nodes -------------------------------------------------------------------------- */

static void own_instance(const char *name)
{
	char instance[64];

	snprintf(instance, sizeof(instance), "test-notify-%s-%d", name, getpid());
	setenv("VINCI_INSTANCE", instance, 1);
}

static void on_a_super_node(void)
{
	int32_t pid = 0, pids[2] = { 1, 2 };
	aclrtServerPid server = { .pid = &pid, .num = 1 }, no_pid = { .num = 1 }, two = { .pid = pids, .num = 2 };
	aclrtNotify notify = NULL;
	char key[65];

	own_instance("a3");
	setenv("VINCI_SOC", "Ascend910_9391", 1);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, &server, 1), ACL_ERROR_RT_PARAM_INVALID, "no key yet");
	CHECK_CODE(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtNotifySetImportPidInterServer(notify, &server, 1), ACL_SUCCESS);
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(NULL, &server, 1), ACL_ERROR_RT_PARAM_INVALID, "notify");
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, NULL, 1), ACL_ERROR_RT_PARAM_INVALID, "serverPids");
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, &server, 0), ACL_ERROR_RT_PARAM_INVALID, "num is 0");
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, &no_pid, 1), ACL_ERROR_RT_PARAM_INVALID, "exactly 1");
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, &two, 1), ACL_ERROR_RT_PARAM_INVALID, "exactly 1");
}

static void on_a_plain_server(void)
{
	int32_t pid = 1;
	aclrtServerPid server = { .pid = &pid, .num = 1 };
	aclrtNotify notify = NULL;
	char key[65];

	own_instance("a2");
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_SUCCESS);
	CHECK_SAYS(aclrtNotifySetImportPidInterServer(notify, &server, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "Ascend910B1");
}

/* Everything open, streams waiting, in a handler that runs after main: nothing hangs. */
static aclrtNotify open_notify;
static aclrtStream open_stream;

static void at_exit(void)
{
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	(void)aclrtDestroyNotify(open_notify);
	CHECK_CODE(aclrtDestroyNotify(open_notify), ACL_ERROR_RT_INVALID_HANDLE);
}

static void leaving_while_waiting(void)
{
	char key[65];

	own_instance("exit");
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	for (unsigned i = 0; i < 20; i++) {
		CHECK_CODE(aclrtCreateStream(&open_stream), ACL_SUCCESS);
		CHECK_CODE(aclrtCreateNotify(&open_notify, 0), ACL_SUCCESS);
		if (i % 2)
			CHECK_CODE(aclrtNotifyGetExportKey(open_notify, key, 65, 0), ACL_SUCCESS);
		CHECK_CODE(aclrtWaitAndResetNotify(open_notify, open_stream, 0), ACL_SUCCESS);
	}
	CHECK_CODE(aclrtSynchronizeStreamWithTimeout(open_stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	atexit(at_exit);
}

static void in_a_forked_child(void)
{
	aclrtNotify notify = NULL, imported;
	aclrtStream stream = NULL;
	char key[65];
	pid_t pid;

	own_instance("fork");
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateStream(&stream), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtNotifyGetExportKey(notify, key, 65, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
	pid = fork();
	if (!pid) {
		CHECK_CODE(aclrtRecordNotify(notify, stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
		CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
		CHECK_CODE(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
		CHECK_CODE(aclrtDestroyNotify(notify), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
		CHECK_CODE(aclrtNotifyImportByKey(&imported, key, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
		_exit(0);
	}
	CHECK(t_wait_pid(pid, ANSWER_MS) == 0);
	CHECK_CODE(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
}

static const struct scenario scenarios[] = {
	{ "super_node", on_a_super_node },
	{ "plain_server", on_a_plain_server },
	{ "exit", leaving_while_waiting },
	{ "fork", in_a_forked_child },
};

/* covers: aclrtNotifySetImportPidInterServer effect */
static void super_nodes_have_lists_across_servers(void **state)
{
	(void)state;
	run_scenario("super_node");
}

/* covers: aclrtNotifySetImportPidInterServer failure */
static void plain_servers_have_none(void **state)
{
	(void)state;
	run_scenario("plain_server");
}

static void exit_does_not_hang(void **state)
{
	(void)state;
	run_scenario("exit");
}

static void a_forked_child_gets_errors(void **state)
{
	(void)state;
	run_scenario("fork");
}

/* --- all of it ---------------------------------------------------------------------------- */

static int forget_errors(void **state)
{
	(void)state;
	(void)aclGetRecentErrMsg();
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

#define TEST(name) cmocka_unit_test_setup(name, forget_errors)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ids_are_distinct),
		TEST(wrong_arguments),
		TEST(a_thread_without_context),
		TEST(another_context_s_stream),
		TEST(a_wait_blocks_until_the_record_and_clears_it),
		TEST(two_records_are_one),
		TEST(resetting_forgets_records),
		TEST(a_wait_that_times_out),
		TEST(several_streams_wait_for_one_notify),
		TEST(destroyed_while_in_use),
		TEST(a_chain_of_streams),
		TEST(sharing_within_a_process),
		TEST(sharing_wrongly),
		TEST(a_shared_notify_is_waited_for_on_its_own_device),
		TEST(exporting_in_mid_use),
		TEST(the_whitelist_bites),
		TEST(signals_go_back_and_forth),
		TEST(the_peer_is_killed),
		TEST(a_record_of_ours_is_waited_for),
		TEST(records_behind_the_wait_are_not_waited_for),
		TEST(a_silent_peer_is_waited_for_until_someone_ends_it),
		TEST(the_peer_scribbles),
		TEST(two_thousand_waits),
		TEST(super_nodes_have_lists_across_servers),
		TEST(plain_servers_have_none),
		TEST(exit_does_not_hang),
		TEST(a_forked_child_gets_errors),
		TEST(as_many_as_the_device_has), /* last: this process keeps the ids */
	};

	if (argc == 3 && !strcmp(argv[1], "peer"))
		return peer_main(argv[2]);
	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	return cmocka_run_group_tests(tests, setup, teardown);
}
