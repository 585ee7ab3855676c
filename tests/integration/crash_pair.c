/* SPDX-License-Identifier: MIT */
/*
 * crash_pair.c - one side of the main job. A (device 2) shares memory by key, physical memory by handle and a notify; B
 * (device 3) uses all of it, shares a notify of its own, and each records the other's.
 *
 * The two talk through a socket, whose end of file tells that the other one has gone. A call may fail only then.
 */
#include "crash_pair.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define BYTES ((size_t)2 << 20)
#define QUESTION 123
#define ANSWER 321
#define ALL_OPEN 0
#define SILENT_MS 20000 /* a living peer answers in this time */
#define LOST_MS 8000	/* a wait for a dead peer ends in this time */

struct message {
	int32_t pid;
	uint64_t physical;
	char memory[65];
	char notify[65];
};

static struct {
	bool is_a;
	bool gone; /* the peer */
	bool device_gone;
	bool joined;  /* the peer holds our notify */
	bool waiting; /* a wait for it is queued */
	int sock;
	int32_t pid;
	struct message theirs;

	aclrtStream stream;
	void *memory; /* A: own, B: imported */
	void *local;  /* B: where values of the other device are fetched to */
	bool has_key, has_physical, is_mapped;
	char key[65];
	aclrtDrvMemHandle physical;
	void *reserved;
	aclrtNotify own, other;
	unsigned fds, maps;
} me;

/* --- dying ------------------------------------------------------------------------------------ */

static struct {
	unsigned at, now; /* 0: never */
	char kills;
	pid_t device;
} death;

/* Before each call and each message. */
static void step(void)
{
	if (++death.now != death.at)
		return;
	if (death.kills != PAIR_KILL_SELF)
		kill(death.device, SIGKILL);
	if (death.kills == PAIR_KILL_DEVICE)
		return;
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* --- failing ---------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) give_up(const char *what, int code)
{
	const char *text = aclGetRecentErrMsg();

	fprintf(stderr, "side %c: %s: %d (the peer is %s) %s\n", me.is_a ? 'a' : 'b', what, code,
		me.gone ? "gone" : "there", text ? text : "");
	_exit(1);
}

/* What it sent before it died may still be there. */
static bool peer_gone(void)
{
	struct pollfd p = { .fd = me.sock, .events = POLLIN };

	if (!me.gone && poll(&p, 1, 0) == 1)
		me.gone = p.revents & (POLLHUP | POLLERR);
	return me.gone;
}

/* The codes with which a call tells that the peer, or what it shared, is no more. */
static bool is_loss(int code)
{
	return code == ACL_ERROR_RT_DRV_INTERNAL_ERROR || code == ACL_ERROR_RT_INVALID_HANDLE ||
	       code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
}

static bool lost(const char *what, int code)
{
	if (code == ACL_ERROR_RT_LOST_HEARTBEAT && death.kills != PAIR_KILL_SELF) {
		me.device_gone = true;
		return true;
	}
	if (!is_loss(code) || !peer_gone())
		give_up(what, code);
	return true;
}

/* A step of the exchange; false ends it. */
#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		int code_;                                                                                             \
		step();                                                                                                \
		code_ = (call);                                                                                        \
		if (code_ && lost(#call, code_))                                                                       \
			return false;                                                                                  \
	} while (0)

/* What works whatever happened to the peer. With the device gone, only that it returns. */
#define MUST(call)                                                                                                     \
	do {                                                                                                           \
		int code_;                                                                                             \
		step();                                                                                                \
		code_ = (call);                                                                                        \
		if (code_ && !me.device_gone)                                                                          \
			code_ == ACL_ERROR_RT_LOST_HEARTBEAT ? (void)lost(#call, code_) : give_up(#call, code_);       \
	} while (0)

/* --- talking ---------------------------------------------------------------------------------- */

static bool tell(const struct message *m)
{
	step();
	if (send(me.sock, m, sizeof(*m), MSG_NOSIGNAL) == sizeof(*m))
		return true;
	if (errno != EPIPE && errno != ECONNRESET)
		give_up("send", errno);
	me.gone = true;
	return false;
}

static bool hear(void)
{
	struct pollfd p = { .fd = me.sock, .events = POLLIN };
	ssize_t n;

	step();
	if (poll(&p, 1, SILENT_MS) != 1)
		give_up("the peer is silent", errno);
	n = recv(me.sock, &me.theirs, sizeof(me.theirs), 0);
	if (n == sizeof(me.theirs))
		return true;
	if (n > 0 || (n < 0 && errno != ECONNRESET))
		give_up("recv", errno);
	me.gone = true;
	return false;
}

static bool meet(void)
{
	struct message m = { .pid = 0 };

	TRY(aclrtDeviceGetBareTgid(&m.pid));
	if (!tell(&m) || !hear())
		return false;
	me.pid = me.theirs.pid;
	return true;
}

/* --- kernels ---------------------------------------------------------------------------------- */

struct args {
	int32_t *to;
	const int32_t *from;
	int64_t value;
};

static void fetch_run(const void *args, const struct vinci_block *block)
{
	const struct args *a = args;

	(void)block;
	*a->to = *a->from;
}

static void store_run(const void *args, const struct vinci_block *block)
{
	const struct args *a = args;

	(void)block;
	*a->to = (int32_t)a->value;
}

static const struct vinci_kernel fetch = {
	.abi = VINCI_KERNEL_ABI, .name = "fetch", .run = fetch_run, .args_size = sizeof(struct args)
};
static const struct vinci_kernel store = {
	.abi = VINCI_KERNEL_ABI, .name = "store", .run = store_run, .args_size = sizeof(struct args)
};

static void launch(const struct vinci_kernel *kernel, void *to, const void *from, int64_t value)
{
	struct args args = { .to = to, .from = from, .value = value };

	MUST((int)vinciLaunchKernel(kernel, 1, me.stream, &args, sizeof(args)));
}

/* --- notifies --------------------------------------------------------------------------------- */

static bool share_notify(char key[65])
{
	TRY(aclrtCreateNotify(&me.own, ACL_NOTIFY_DEFAULT));
	TRY(aclrtNotifyGetExportKey(me.own, key, 65, ALL_OPEN));
	TRY(aclrtNotifySetImportPid(me.own, &me.pid, 1));
	return true;
}

static bool queue_wait(void)
{
	TRY(aclrtWaitAndResetNotify(me.own, me.stream, 0));
	me.waiting = true;
	return true;
}

/* For the record of a peer that holds our notify: it comes, or its death is told in time. */
static bool await_record(void)
{
	uint64_t deadline = 0;
	int code;

	for (;;) {
		step();
		code = aclrtSynchronizeStreamWithTimeout(me.stream, 20);
		if (code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
			break;
		if (deadline && t_now_ms() > deadline)
			give_up("a wait for the dead", code);
		if (!deadline && (peer_gone() || me.device_gone))
			deadline = t_now_ms() + LOST_MS;
	}
	me.waiting = false;
	return !code || !lost("the wait for the peer's record", code);
}

/* --- A ---------------------------------------------------------------------------------------- */

static bool a_memory(struct message *m)
{
	const int32_t question = QUESTION;

	TRY(aclrtMalloc(&me.memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
	TRY(aclrtMemcpy(me.memory, BYTES, &question, sizeof(question), ACL_MEMCPY_HOST_TO_DEVICE));
	TRY(aclrtIpcMemGetExportKey(me.memory, BYTES, m->memory, sizeof(m->memory), ALL_OPEN));
	memcpy(me.key, m->memory, sizeof(me.key));
	me.has_key = true;
	TRY(aclrtIpcMemSetImportPid(m->memory, &me.pid, 1));
	return true;
}

static bool map_physical(void)
{
	TRY(aclrtReserveMemAddress(&me.reserved, BYTES, 0, NULL, 0));
	TRY(aclrtMapMem(me.reserved, BYTES, 0, me.physical, 0));
	me.is_mapped = true;
	return true;
}

static bool a_physical(struct message *m)
{
	const aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
					    .location = { .id = 2, .type = ACL_MEM_LOCATION_TYPE_DEVICE } };
	const int32_t question = QUESTION;

	TRY(aclrtMallocPhysical(&me.physical, BYTES, &prop, 0));
	me.has_physical = true;
	if (!map_physical())
		return false;
	TRY(aclrtMemcpy(me.reserved, BYTES, &question, sizeof(question), ACL_MEMCPY_HOST_TO_DEVICE));
	TRY(aclrtMemExportToShareableHandle(me.physical, ACL_MEM_HANDLE_TYPE_NONE, ALL_OPEN, &m->physical));
	TRY(aclrtMemSetPidToShareableHandle(m->physical, &me.pid, 1));
	return true;
}

static bool a_answer(void)
{
	int32_t answer = 0;

	TRY(aclrtMemcpy(&answer, sizeof(answer), me.reserved, sizeof(answer), ACL_MEMCPY_DEVICE_TO_HOST));
	if (answer != ANSWER)
		give_up("the answer", answer);
	TRY(aclrtRecordNotify(me.other, me.stream));
	TRY(aclrtSynchronizeStream(me.stream));
	return true;
}

static bool a_exchange(void)
{
	struct message m = { .pid = 0 };

	if (!meet() || !a_memory(&m) || !a_physical(&m) || !share_notify(m.notify) || !tell(&m) || !queue_wait() ||
	    !hear())
		return false;
	me.joined = true;
	TRY(aclrtNotifyImportByKey(&me.other, me.theirs.notify, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	return tell(&m) && await_record() && a_answer() && tell(&m) && hear();
}

/* --- B ---------------------------------------------------------------------------------------- */

/* Memory of another device is for kernels: it reads what A wrote, also when A is no more. */
static void b_expect(const void *where, int32_t wanted)
{
	int32_t value = 0;

	launch(&fetch, me.local, where, 0);
	MUST(aclrtSynchronizeStream(me.stream));
	MUST(aclrtMemcpy(&value, sizeof(value), me.local, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
	if (value != wanted && !me.device_gone)
		give_up("the value", value);
}

static bool b_memory(void)
{
	const char *key = me.theirs.memory;

	TRY(aclrtMalloc(&me.local, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
	TRY(aclrtIpcMemImportByKey(&me.memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	memcpy(me.key, key, sizeof(me.key));
	me.has_key = true;
	b_expect(me.memory, QUESTION);
	return true;
}

static bool b_physical(void)
{
	TRY(aclrtMemImportFromShareableHandle(me.theirs.physical, 3, &me.physical));
	me.has_physical = true;
	if (!map_physical())
		return false;
	b_expect(me.reserved, QUESTION);
	return true;
}

static bool b_answer(void)
{
	launch(&store, me.reserved, NULL, ANSWER);
	TRY(aclrtRecordNotify(me.other, me.stream));
	TRY(aclrtSynchronizeStream(me.stream));
	return true;
}

static bool b_exchange(void)
{
	struct message m = { .pid = 0 };

	if (!meet() || !hear() || !b_memory() || !b_physical())
		return false;
	TRY(aclrtNotifyImportByKey(&me.other, me.theirs.notify, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
	if (!share_notify(m.notify) || !tell(&m) || !hear())
		return false;
	me.joined = true;
	return b_answer() && queue_wait() && await_record() && hear() && tell(&m);
}

/* --- giving back ------------------------------------------------------------------------------ */

static unsigned count_device_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		n += strstr(line, "memfd:") != NULL;
	if (maps)
		fclose(maps);
	return n;
}

/* Imported memory is there until it is closed, whatever became of its exporter. */
static void look_at_imports(void)
{
	if (me.is_a || !me.gone)
		return;
	if (me.memory)
		b_expect(me.memory, QUESTION);
	if (me.is_mapped) {
		launch(&store, me.reserved, NULL, QUESTION + 1);
		b_expect(me.reserved, QUESTION + 1);
	}
}

/*
 * A wait that nobody is going to end: the peer died, and perhaps before it held the notify. It fails by itself in the
 * second case only; the owner ends it in one of the ways there are.
 */
static void end_wait(void)
{
	if (!me.waiting)
		return;
	if (me.joined && peer_gone())
		(void)await_record();
	if (getpid() & 1)
		MUST(aclrtStreamAbort(me.stream));
	MUST(aclrtDestroyStreamForce(me.stream));
	MUST(aclrtCreateStream(&me.stream));
}

static void give_back(void)
{
	end_wait();
	look_at_imports();
	if (me.own)
		MUST(aclrtDestroyNotify(me.own));
	if (me.other)
		MUST(aclrtDestroyNotify(me.other));
	if (me.is_mapped)
		MUST(aclrtUnmapMem(me.reserved));
	if (me.reserved)
		MUST(aclrtReleaseMemAddress(me.reserved));
	if (me.has_physical)
		MUST(aclrtFreePhysical(me.physical));
	if (me.has_key)
		MUST(aclrtIpcMemClose(me.key));
	if (me.local)
		MUST(aclrtFree(me.local));
	if (me.is_a && me.memory)
		MUST(aclrtFree(me.memory));
}

/* What a running task may use goes when the task has ended, and that is a moment after it was waited for. */
static bool maps_are_back(void *arg)
{
	(void)arg;
	return count_device_maps() == me.maps;
}

static void check_counts(void)
{
	if (me.device_gone)
		return;
	if (!t_until(maps_are_back, NULL, SILENT_MS))
		give_up("mappings", (int)count_device_maps() - (int)me.maps);
	if (t_count_fds() != me.fds)
		give_up("descriptors", (int)t_count_fds() - (int)me.fds);
}

/* The device may die just then; the next try finds, or starts, another one. */
static void init(void)
{
	int code;

	step();
	code = aclInit(NULL);
	if (code && death.kills != PAIR_KILL_SELF)
		code = aclInit(NULL);
	if (code)
		give_up("aclInit", code);
}

static int run_side(void)
{
	bool whole;

	init();
	MUST(aclrtSetDevice(me.is_a ? 2 : 3));
	MUST(aclrtCreateStream(&me.stream));
	me.fds = t_count_fds();
	me.maps = count_device_maps();
	whole = !me.device_gone && (me.is_a ? a_exchange() : b_exchange());
	give_back();
	check_counts();
	MUST(aclrtDestroyStream(me.stream));
	MUST(aclrtResetDevice(me.is_a ? 2 : 3));
	MUST(aclFinalize());
	return whole ? PAIR_DONE : PAIR_ALONE;
}

static void prepare_death(char **argv)
{
	death.kills = argv[5][0];
	death.device = (pid_t)atoi(argv[6]);
	if (!strcmp(argv[4], "traced")) {
		/* A group of its own, so that its tracer can wait for all of its threads and nobody else. */
		if (setpgid(0, 0) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(3);
		raise(SIGSTOP);
		return;
	}
	death.at = (unsigned)atoi(argv[4]);
}

bool pair_main(int argc, char **argv, int *status)
{
	if (argc != 7 || strcmp(argv[1], "pair"))
		return false;
	me.is_a = argv[2][0] == 'a';
	me.sock = atoi(argv[3]);
	prepare_death(argv);
	*status = run_side();
	return true;
}
