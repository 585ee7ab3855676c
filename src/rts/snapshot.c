/* SPDX-License-Identifier: MIT */
/* snapshot.c - the steps, who is told of them, and which calls wait. */
#include "rts/snapshot.h"
#include "rts/exec.h"
#include "rts/snapshot_memory.h"
#include "util/futex.h"
#include "util/mutex.h"

#include <string.h>

#define STAGES (ACL_RT_SNAPSHOT_UNLOCK_POST + 1)
#define WATCHERS_MAX 64

enum snapshot_state { RUNNING, LOCKED, BACKED_UP };

struct watcher {
	aclrtSnapShotStage stage;
	aclrtSnapShotCallBack fn;
	void *arg;
};

static struct {
	struct u_mutex lock; /* watchers */
	unsigned count;
	struct watcher list[WATCHERS_MAX]; /* in the order of registration */
	_Atomic uint32_t state; /* enum snapshot_state; a futex */
	atomic_bool busy; /* a step is under way */
} snapshot = { .lock = U_MUTEX_INIT(U_RANK_LAST, "snapshot watchers") };

static _Thread_local bool inside; /* of a callback: its calls do not wait for what comes after it */

/* --- watchers --------------------------------------------------------------------------------- */

static int watch_check(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn)
{
	if ((uint32_t)stage >= STAGES)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "stage is %d; it must be from 0 to %d", (int)stage,
				STAGES - 1);
	if (!fn)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL; it must be the function to call");
	return rts_process_check_fork();
}

static struct watcher *find_locked(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn)
{
	for (unsigned i = 0; i < snapshot.count; i++)
		if (snapshot.list[i].stage == stage && snapshot.list[i].fn == fn)
			return &snapshot.list[i];
	return NULL;
}

int rts_snapshot_watch(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn, void *arg)
{
	bool known, room;
	int r = watch_check(stage, fn);

	if (r)
		return r;
	u_mutex_lock(&snapshot.lock);
	known = find_locked(stage, fn);
	room = snapshot.count < WATCHERS_MAX;
	if (!known && room)
		snapshot.list[snapshot.count++] = (struct watcher){ stage, fn, arg };
	u_mutex_unlock(&snapshot.lock);
	if (known)
		return u_report(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
				"the callback is registered for stage %d already", (int)stage);
	return room ? 0 : u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "there are %d callbacks already", WATCHERS_MAX);
}

int rts_snapshot_unwatch(aclrtSnapShotStage stage, aclrtSnapShotCallBack fn)
{
	struct watcher *w;
	int r = watch_check(stage, fn);

	if (r)
		return r;
	u_mutex_lock(&snapshot.lock);
	w = find_locked(stage, fn);
	if (w) {
		memmove(w, w + 1, (size_t)(&snapshot.list[snapshot.count] - (w + 1)) * sizeof(*w));
		snapshot.count--;
	}
	u_mutex_unlock(&snapshot.lock);
	return w ? 0 : u_report(ACL_ERROR_RT_PARAM_INVALID, "the callback is not registered for stage %d", (int)stage);
}

static int tell_one(const struct watcher *w)
{
	uint32_t answer;

	for (uint32_t user = 0; user < rts_device_count(); user++) {
		uint32_t device;

		if (rts_device_from_user((int32_t)user, &device) || !rts_device_primary_active(device))
			continue;
		inside = true;
		answer = w->fn((int32_t)user, w->arg);
		inside = false;
		if (answer)
			return u_report(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED,
					"a callback for stage %d answered %u for device %u", (int)w->stage, answer,
					user);
	}
	return 0;
}

/* A copy, so that they are called with the lock free. */
static int tell(aclrtSnapShotStage stage)
{
	struct watcher list[WATCHERS_MAX];
	unsigned count;
	int r = 0;

	u_mutex_lock(&snapshot.lock);
	count = snapshot.count;
	memcpy(list, snapshot.list, count * sizeof(list[0]));
	u_mutex_unlock(&snapshot.lock);
	for (unsigned i = 0; i < count && !r; i++)
		if (list[i].stage == stage)
			r = tell_one(&list[i]);
	return r;
}

/* --- who waits -------------------------------------------------------------------------------- */

/* Beginnings of the names of calls that change something. */
static const char *const held[] = {
	"aclmdlRIAbort", "aclmdlRIBind", "aclmdlRIBuild", "aclmdlRICaptureBegin", "aclmdlRICaptureEnd",
	"aclmdlRICaptureTask", "aclmdlRICaptureTo", "aclmdlRIDestroy", "aclmdlRIEndTask", "aclmdlRIExecute",
	"aclmdlRITaskDisable", "aclmdlRITaskSet", "aclmdlRIUnbind", "aclrtActiveStream", "aclrtAllocBuf",
	"aclrtBinaryLoad", "aclrtBinaryUnLoad", "aclrtCmoAsync", "aclrtCntNotifyCreate", "aclrtCntNotifyDestroy",
	"aclrtCntNotifyRecord", "aclrtCntNotifyReset", "aclrtCntNotifyWait", "aclrtCreate", "aclrtDestroy",
	"aclrtDeviceTaskAbort", "aclrtFree", "aclrtHost", "aclrtIpcMem", "aclrtIpcOpen", "aclrtLaunch", "aclrtMalloc",
	"aclrtMapMem", "aclrtMemAlloc", "aclrtMemExport", "aclrtMemImport", "aclrtMemManagedAdvise",
	"aclrtMemManagedPrefetch", "aclrtMemMap", "aclrtMemP2P", "aclrtMemPool", "aclrtMemSet", "aclrtMemcpy",
	"aclrtMemset", "aclrtNotifyBatch", "aclrtNotifyImport", "aclrtProcessReport", "aclrtProfTrace",
	"aclrtRandomNum", "aclrtRecord", "aclrtReduce", "aclrtRegisterCpuFunc", "aclrtReleaseMem", "aclrtReserveMem",
	"aclrtReset", "aclrtSetBufDataLen", "aclrtSetDevice", "aclrtStreamAbort", "aclrtStreamStop",
	"aclrtStreamWait", "aclrtSubscribeReport", "aclrtSwitch", "aclrtTaskUpdate", "aclrtUnSubscribeReport",
	"aclrtUnmapMem", "aclrtValue", "aclrtWaitAndReset", "vinciLaunch"
};

static bool is_held(const char *function)
{
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (!strncmp(function, held[i], strlen(held[i])))
			return true;
	return false;
}

/* Tasks go on: streams have to come to their end before memory is kept. */
void rts_snapshot_hold(const char *function)
{
	uint32_t state = atomic_load(&snapshot.state);

	if (state == RUNNING || inside || stream_frames() || rts_process_forked() || !is_held(function))
		return;
	pool_worker_blocks();
	for (; state != RUNNING; state = atomic_load(&snapshot.state))
		u_futex_wait(&snapshot.state, state, U_FOREVER, false);
	pool_worker_continues();
}

/* --- steps ------------------------------------------------------------------------------------ */

/* One step at a time; @from: a bit for each state that it may begin in. */
static int step_begin(unsigned from, int code, const char *what)
{
	static const char *const names[] = { "running", "locked", "backed up" };
	uint32_t state;
	int r = rts_process_check_fork();

	if (r)
		return r;
	if (atomic_exchange(&snapshot.busy, true))
		return u_report(code, "the process cannot be %s: another step is under way", what);
	state = atomic_load(&snapshot.state);
	if (from & (1u << state))
		return 0;
	atomic_store(&snapshot.busy, false);
	return u_report(code, "the process cannot be %s: it is %s", what, names[state]);
}

static void step_end(enum snapshot_state state)
{
	if (atomic_exchange(&snapshot.state, state) != state)
		u_futex_wake(&snapshot.state, INT_MAX, false);
	atomic_store(&snapshot.busy, false);
}

int rts_snapshot_lock(void)
{
	int r = step_begin(1u << RUNNING, ACL_ERROR_SNAPSHOT_LOCK_FAILED, "locked");

	if (r)
		return r;
	r = tell(ACL_RT_SNAPSHOT_LOCK_PRE);
	u_log_watch_calls(); /* so that they come by rts_snapshot_hold() */
	step_end(r ? RUNNING : LOCKED);
	return r;
}

/* All streams come to their end first. */
static int streams_settle(void)
{
	struct rts_stream *st, *next;
	bool any = false;
	int r = 0;

	streams_lock();
	for (st = streams_first(); st && !stream_ref(st); st = st->next_all)
		;
	streams_unlock();
	for (; st; st = next) {
		any = true;
		if (!r && !(atomic_load(&st->state) & STREAM_CLOSED))
			r = rts_stream_synchronize(st, -1);
		streams_lock();
		for (next = st->next_all; next && !stream_ref(next); next = next->next_all)
			;
		streams_unlock();
		rts_stream_put(&st);
	}
	if (!any)
		return u_report(ACL_ERROR_RT_CONTEXT_NULL, "no device is in use; there is nothing to back up");
	return r;
}

int rts_snapshot_backup(void)
{
	int r = step_begin(1u << LOCKED, ACL_ERROR_SNAPSHOT_BACKUP_FAILED, "backed up");

	if (r)
		return r;
	r = tell(ACL_RT_SNAPSHOT_BACKUP_PRE);
	if (!r)
		r = streams_settle();
	if (!r)
		r = snapshot_memory_save();
	if (!r)
		r = tell(ACL_RT_SNAPSHOT_BACKUP_POST);
	step_end(r ? LOCKED : BACKED_UP);
	return r;
}

int rts_snapshot_restore(void)
{
	int r = step_begin(1u << BACKED_UP, ACL_ERROR_SNAPSHOT_RESTORE_FAILED, "restored");

	if (r)
		return r;
	r = tell(ACL_RT_SNAPSHOT_RESTORE_PRE);
	if (!r)
		snapshot_memory_restore();
	if (!r)
		r = tell(ACL_RT_SNAPSHOT_RESTORE_POST);
	step_end(r ? BACKED_UP : LOCKED);
	return r;
}

int rts_snapshot_unlock(void)
{
	int r = step_begin(1u << LOCKED | 1u << BACKED_UP, ACL_ERROR_SNAPSHOT_UNLOCK_FAILED, "unlocked");

	if (r)
		return r;
	snapshot_memory_forget();
	step_end(RUNNING);
	return tell(ACL_RT_SNAPSHOT_UNLOCK_POST);
}
