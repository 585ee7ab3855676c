/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the worker threads ("AI cores") of the process, and the streams they are responsible for.
 *
 * Workers are made when there is work, never more than the profile has cores or the machine can run, and sleep when there is none.
 * A stream is in one of two lists:
 *
 *   ready: a worker that looks for work takes it at once. As long as the list is not empty, a worker is looking (`looking`), or
 *          on its way because it was woken, or all workers run tasks and look when they are done. A worker that finds work wakes
 *          the next one if there is more. Sleeping, waking and the list change under one lock, so nothing is overlooked.
 *   kept:  its last launches were run by the thread that waited for them. Waking a worker for each launch of such a loop would cost
 *          more than the tasks do, so one sleeping worker, the keeper, gets up every now and then instead (after 50 us at first,
 *          4 ms at most: each time it disturbs the loop for longer than a launch takes) and has run what nobody did. Whoever
 *          knows that nobody else will run the stream soon (an urgent pool_add) moves it to ready.
 *
 * When all workers are busy for long while a stream is ready, their tasks may be waiting for each other: the reserve, a thread that
 * watches for that, becomes one more worker.
 */
#include "rts/exec.h"
#include "rts/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS_MAX 256
#define STACK_BYTES (1024 * 1024) /* kernels run on it; below the size at which a stack could get a huge page at first touch */

#define LOOK_TURNS 24 /* turns of about 1 us that an idle worker looks for work before it sleeps */
#define LOOK_PAUSES 48
#define GRACE_PAUSES 64 /* about 1 us */
#define LINGER_TASKS 16 /* a stream that was fed so many at a time is worth waiting for */
#define LINGER_PAUSES 192 /* about 3 us: the next tasks come as a batch, and the producer keeps its cache lines meanwhile */
#define NAP_MIN_NS (50 * UINT64_C(1000))
#define NAP_MAX_NS (4 * U_NS_PER_MS)
#define STALL_NS (10 * U_NS_PER_MS)

struct worker {
	_Atomic uint32_t woken; /* futex */
	struct worker *next; /* sleeping list, or a list of workers to wake */
	uint32_t blocks; /* nested pool_worker_blocks() */
	bool reserve;
};

struct stream_list {
	struct rts_stream *head, *tail;
};

static struct {
	struct u_lock lock; /* protects all of it; what is atomic is read without it too */
	struct stream_list ready, kept;
	struct pool_job *jobs; /* that want more helpers */
	struct worker *sleeping; /* last in, first out: the warmest */
	struct worker *keeper; /* the sleeping worker that has a timeout */
	struct worker *reserve;
	uint64_t nap_ns;
	uint64_t takes; /* streams and jobs taken up so far */
	uint32_t blocked; /* workers that sleep inside a task */
	uint32_t limit; /* workers that may be running tasks at once */
	_Atomic uint32_t looking; /* workers that look for work or are on their way to do so */
	_Atomic uint32_t workers;
	atomic_bool has_work; /* ready or jobs */
} pool;

static _Thread_local struct worker *self;

static void list_append(struct stream_list *list, struct rts_stream *st)
{
	st->next = NULL;
	if (list->head)
		list->tail->next = st;
	else
		list->head = st;
	list->tail = st;
}

static struct rts_stream *list_pop(struct stream_list *list)
{
	struct rts_stream *st = list->head;

	if (st)
		list->head = st->next;
	return st;
}

static void list_remove(struct stream_list *list, struct rts_stream *st)
{
	struct rts_stream **at, *last = NULL;

	for (at = &list->head; *at != st; at = &(*at)->next)
		last = *at;
	*at = st->next;
	if (list->tail == st)
		list->tail = last;
}

static void ready_append(struct rts_stream *st)
{
	atomic_store(&st->queued, QUEUED_READY);
	list_append(&pool.ready, st);
	atomic_store(&pool.has_work, true);
}

static void work_update(void)
{
	atomic_store(&pool.has_work, pool.ready.head || pool.jobs);
}

bool pool_has_ready(void)
{
	return atomic_load_explicit(&pool.has_work, memory_order_relaxed);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *worker_main(void *arg);

/* Signals belong to the application's threads. */
static int thread_start(struct worker *w)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	char name[16];
	int r;

	r = pthread_attr_init(&attr);
	if (r)
		return r;
	sigfillset(&all);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attr, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!r) {
		snprintf(name, sizeof(name), "vinci-core-%u", atomic_load(&pool.workers) % 1000);
		pthread_setname_np(thread, name);
	}
	return r;
}

/* The caller has counted it in pool.workers and, unless it is the reserve, in pool.looking. */
static bool worker_spawn(bool reserve)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w) {
		w->reserve = reserve;
		if (!thread_start(w))
			return true;
		free(w);
	}
	u_lock_take(&pool.lock);
	atomic_fetch_sub(&pool.workers, 1);
	if (reserve)
		pool.reserve = NULL;
	else
		atomic_fetch_sub(&pool.looking, 1);
	u_lock_give(&pool.lock);
	return false;
}

uint32_t pool_limit(void)
{
	uint32_t cores = u_cores() > 2 ? u_cores() : 2;

	return cores < rts_profile()->cube_cores ? cores : rts_profile()->cube_cores;
}

int pool_start(void)
{
	bool spawn = false;

	if (atomic_load_explicit(&pool.workers, memory_order_acquire))
		return 0;
	u_lock_take(&pool.lock);
	if (!atomic_load(&pool.workers)) {
		pool.limit = pool_limit();
		atomic_store(&pool.looking, 1);
		atomic_store(&pool.workers, 1);
		spawn = true;
	}
	u_lock_give(&pool.lock);
	if (spawn && !worker_spawn(false))
		return u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
				"cannot start a worker thread: the process has no threads or memory left");
	return 0;
}

/* --- waking ----------------------------------------------------------------------------------- */

/* Decided under the lock, done after it. */
struct wake {
	struct worker *workers;
	struct worker *reserve; /* woken under the lock: only the call is left */
	uint32_t spawn;
	bool spawn_reserve;
};

static void wake_sleeper(struct wake *wake)
{
	struct worker *w = pool.sleeping;

	pool.sleeping = w->next;
	if (pool.keeper == w)
		pool.keeper = NULL;
	atomic_fetch_add(&pool.looking, 1);
	w->next = wake->workers;
	wake->workers = w;
}

static bool may_spawn(void)
{
	uint32_t n = atomic_load(&pool.workers) - (pool.reserve != NULL);

	return n < WORKERS_MAX && n - pool.blocked < pool.limit;
}

static void call_reserve(struct wake *wake)
{
	struct worker *w = pool.reserve;

	if (w) {
		/* By the first who sees it sleep. Later it may sleep elsewhere, and be woken by others. */
		if (!atomic_exchange(&w->woken, 1))
			wake->reserve = w;
	} else if (pool.limit < rts_profile()->cube_cores && atomic_load(&pool.workers) < WORKERS_MAX) {
		atomic_fetch_add(&pool.workers, 1);
		pool.reserve = (struct worker *)-1; /* on its way */
		wake->spawn_reserve = true;
	}
}

/* There is work: somebody has to look. */
static void wake_one(struct wake *wake)
{
	if (atomic_load(&pool.looking))
		return;
	if (pool.sleeping) {
		wake_sleeper(wake);
	} else if (may_spawn()) {
		atomic_fetch_add(&pool.workers, 1);
		atomic_fetch_add(&pool.looking, 1);
		wake->spawn++;
	} else if (pool.reserve != (struct worker *)-1) {
		call_reserve(wake);
	}
}

static void wake_go(const struct wake *wake)
{
	struct worker *next;

	for (struct worker *w = wake->workers; w; w = next) {
		next = w->next;
		atomic_store(&w->woken, 1);
		u_futex_wake(&w->woken, 1, false);
	}
	if (wake->reserve)
		u_futex_wake(&wake->reserve->woken, 1, false);
	for (uint32_t i = 0; i < wake->spawn; i++)
		worker_spawn(false);
	if (wake->spawn_reserve)
		worker_spawn(true);
}

void pool_add(struct rts_stream *st, bool urgent)
{
	unsigned queued = atomic_load(&st->queued);
	struct wake wake = { 0 };

	if (queued == QUEUED_READY || queued == QUEUED_AGAIN || (queued != QUEUED_NONE && !urgent))
		return;
	u_lock_take(&pool.lock);
	queued = atomic_load(&st->queued);
	if (queued == QUEUED_NONE) {
		rts_object_ref(&st->obj);
		ready_append(st);
		wake_one(&wake);
	} else if (queued == QUEUED_TAKEN && urgent) {
		atomic_store(&st->queued, QUEUED_AGAIN);
	} else if (queued == QUEUED_KEPT && urgent) {
		list_remove(&pool.kept, st);
		ready_append(st);
		wake_one(&wake);
	}
	u_lock_give(&pool.lock);
	wake_go(&wake);
}

void pool_worker_blocks(void)
{
	struct wake wake = { 0 };

	if (!self || self->blocks++)
		return;
	u_lock_take(&pool.lock);
	pool.blocked++;
	if (atomic_load(&pool.has_work))
		wake_one(&wake);
	u_lock_give(&pool.lock);
	wake_go(&wake);
}

void pool_worker_continues(void)
{
	if (!self || --self->blocks)
		return;
	u_lock_take(&pool.lock);
	pool.blocked--;
	u_lock_give(&pool.lock);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void job_unlink(struct pool_job *job)
{
	struct pool_job **at;

	for (at = &pool.jobs; *at; at = &(*at)->next) {
		if (*at == job) {
			*at = job->next;
			break;
		}
	}
	work_update();
}

void pool_job_begin(struct pool_job *job, uint32_t helpers)
{
	struct wake wake = { 0 };

	u_lock_take(&pool.lock);
	job->wanted = helpers;
	job->next = pool.jobs;
	pool.jobs = job;
	work_update();
	while (helpers && pool.sleeping) {
		wake_sleeper(&wake);
		helpers--;
	}
	if (helpers && may_spawn()) {
		atomic_fetch_add(&pool.workers, 1);
		atomic_fetch_add(&pool.looking, 1);
		wake.spawn++;
	}
	u_lock_give(&pool.lock);
	wake_go(&wake);
}

void pool_job_end(struct pool_job *job)
{
	struct u_spin spin = { 0 };
	uint32_t n;

	u_lock_take(&pool.lock);
	if (job->wanted)
		job_unlink(job);
	u_lock_give(&pool.lock);
	while ((n = atomic_load(&job->helpers)) != 0)
		if (!u_spin_once(&spin))
			u_futex_wait(&job->helpers, n, U_FOREVER, false);
}

/* Not looking any more: the caller has work. Whoever comes next looks for the rest. */
static void look_end(struct wake *wake)
{
	pool.takes++;
	atomic_fetch_sub(&pool.looking, 1);
	work_update();
	if (atomic_load(&pool.has_work) || (pool.kept.head && !pool.keeper))
		wake_one(wake);
}

static bool job_help(void)
{
	struct wake wake = { 0 };
	struct pool_job *job;

	u_lock_take(&pool.lock);
	job = pool.jobs;
	if (job) {
		atomic_fetch_add(&job->helpers, 1);
		if (--job->wanted == 0)
			job_unlink(job);
		look_end(&wake);
	}
	u_lock_give(&pool.lock);
	if (!job)
		return false;
	wake_go(&wake);
	job->help(job);
	if (atomic_fetch_sub(&job->helpers, 1) == 1)
		u_futex_wake(&job->helpers, 1, false); /* an address only: the job may be gone */
	return true;
}

/* --- kept streams ----------------------------------------------------------------------------- */

/* A waiting thread runs what was launched, or will in a moment. */
static bool runner_has_it(struct rts_stream *st)
{
	uint64_t done = atomic_load(&st->completed);

	for (unsigned i = 0; i < GRACE_PAUSES; i++) {
		unsigned owner = atomic_load(&st->owner);

		if (owner == OWNER_BLOCKED || atomic_load(&st->worker_only_at) == done)
			return false;
		if (owner != OWNER_FREE || atomic_load(&st->completed) != done || !stream_pending(st))
			return true;
		u_relax();
	}
	return false;
}

static void stream_keep(struct rts_stream *st)
{
	u_lock_take(&pool.lock);
	if (atomic_load(&st->queued) == QUEUED_AGAIN) {
		ready_append(st);
	} else {
		if (!pool.kept.head)
			pool.nap_ns = NAP_MIN_NS;
		st->seen = atomic_load(&st->completed);
		list_append(&pool.kept, st);
		atomic_store(&st->queued, QUEUED_KEPT);
	}
	u_lock_give(&pool.lock);
}

/* True: it stays kept. A stream that leaves goes to ready, or to *dropped for keep_end(), with the list's reference. */
static bool keep_on(struct rts_stream *st, struct stream_list *dropped)
{
	uint64_t done = atomic_load(&st->completed);
	unsigned owner = atomic_load(&st->owner);

	if (done != st->seen || owner == OWNER_OWNED || owner == OWNER_RESUMED) {
		st->seen = done;
		return true;
	}
	if (stream_pending(st) && owner == OWNER_FREE) {
		ready_append(st);
	} else {
		atomic_store(&st->queued, QUEUED_TAKEN); /* nobody else links it meanwhile */
		list_append(dropped, st);
	}
	return false;
}

/* What came while it was in a list of the keeper's own is for the keeper to see. */
static void keep_end(struct rts_stream *st)
{
	bool again;

	u_lock_take(&pool.lock);
	again = atomic_load(&st->queued) == QUEUED_AGAIN;
	atomic_store(&st->queued, QUEUED_NONE);
	again |= stream_pending(st) && atomic_load(&st->owner) == OWNER_FREE;
	if (again)
		ready_append(st);
	u_lock_give(&pool.lock);
	if (!again)
		rts_stream_put(&st);
}

static void keeper_round(void)
{
	struct stream_list kept, dropped = { 0 };
	struct rts_stream *st;
	bool all = true;

	u_lock_take(&pool.lock);
	kept = pool.kept;
	pool.kept = (struct stream_list){ 0 };
	while ((st = list_pop(&kept))) {
		if (keep_on(st, &dropped))
			list_append(&pool.kept, st);
		else
			all = false;
	}
	pool.nap_ns = all && pool.nap_ns < NAP_MAX_NS / 2 ? pool.nap_ns * 2 : all ? NAP_MAX_NS : NAP_MIN_NS;
	u_lock_give(&pool.lock);
	while ((st = list_pop(&dropped)))
		keep_end(st);
}

/* --- looking for work ------------------------------------------------------------------------- */

static void sleeping_remove(struct worker *w)
{
	struct worker **at;

	for (at = &pool.sleeping; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	if (pool.keeper == w)
		pool.keeper = NULL;
	atomic_fetch_add(&pool.looking, 1);
}

/* Returns when there may be work; the worker counts as looking again. */
static void worker_sleep(struct worker *w)
{
	uint64_t deadline = U_FOREVER;
	bool timed_out = false;

	u_lock_take(&pool.lock);
	if (atomic_load(&pool.has_work)) {
		u_lock_give(&pool.lock);
		return;
	}
	atomic_store(&w->woken, 0);
	w->next = pool.sleeping;
	pool.sleeping = w;
	atomic_fetch_sub(&pool.looking, 1);
	if (pool.kept.head && !pool.keeper) {
		pool.keeper = w;
		deadline = u_deadline(u_now_ns(), pool.nap_ns);
	}
	u_lock_give(&pool.lock);

	while (!atomic_load(&w->woken) && !timed_out)
		timed_out = !u_futex_wait(&w->woken, 0, deadline, false);
	if (!timed_out)
		return;
	u_lock_take(&pool.lock);
	timed_out = false;
	for (struct worker *s = pool.sleeping; s; s = s->next)
		timed_out |= s == w;
	if (timed_out)
		sleeping_remove(w);
	u_lock_give(&pool.lock);
	if (timed_out) {
		keeper_round();
		return;
	}
	while (!atomic_load(&w->woken)) /* it has been chosen, the call is on its way */
		u_futex_wait(&w->woken, 0, U_FOREVER, false);
}

static struct rts_stream *ready_take(void)
{
	struct wake wake = { 0 };
	struct rts_stream *st;

	u_lock_take(&pool.lock);
	st = list_pop(&pool.ready);
	if (st) {
		atomic_store(&st->queued, QUEUED_TAKEN);
		look_end(&wake);
	}
	u_lock_give(&pool.lock);
	wake_go(&wake);
	return st;
}

static void look_again(void)
{
	u_lock_take(&pool.lock);
	atomic_fetch_add(&pool.looking, 1);
	u_lock_give(&pool.lock);
}

/* The next stream to run. *fresh: it was launched while this worker had nothing to do. */
static struct rts_stream *worker_look(struct worker *w, bool *fresh)
{
	struct rts_stream *st;
	unsigned turn = 0;

	*fresh = false;
	for (;;) {
		if (atomic_load_explicit(&pool.has_work, memory_order_acquire)) {
			st = ready_take();
			if (st)
				return st;
			if (job_help()) {
				look_again();
				turn = 0;
			}
		}
		*fresh = true;
		if (turn++ < LOOK_TURNS && u_cores() > 1 && atomic_load(&pool.looking) == 1) {
			for (unsigned i = 0; i < LOOK_PAUSES; i++)
				u_relax();
		} else {
			worker_sleep(w);
			turn = LOOK_TURNS; /* whoever woke it has work; a keeper goes back to sleep */
		}
	}
}

/* --- running ---------------------------------------------------------------------------------- */

/* The owner has run everything. True: more was submitted within a moment. Not when somebody waits, who can run it himself. */
static bool linger(struct rts_stream *st, uint64_t done)
{
	for (unsigned i = 0; i < LINGER_PAUSES && !atomic_load_explicit(&st->runners, memory_order_relaxed); i++)
		u_relax();
	return atomic_load(&st->submitted) != done;
}

static enum run_result worker_run_owned(struct rts_stream *st)
{
	enum run_result r;
	uint64_t before, done;

	do {
		before = atomic_load_explicit(&st->completed, memory_order_relaxed);
		r = stream_run(st, UINT64_MAX);
		if (r != RUN_DRAINED)
			return r;
		done = atomic_load_explicit(&st->completed, memory_order_relaxed);
	} while (done - before >= LINGER_TASKS && u_cores() > 1 && linger(st, done));
	return r;
}

static void worker_run(struct rts_stream *st)
{
	enum run_result r;

	do {
		if (!stream_try_own(st, true))
			return; /* the owner looks after the rest */
		r = worker_run_owned(st);
		if (r == RUN_BLOCKED)
			return; /* and whoever resumes it after that one */
		if (r == RUN_SLICE) {
			stream_release(st);
			return;
		}
		atomic_store(&st->owner, OWNER_FREE);
	} while (stream_pending(st));
}

static void worker_take(struct rts_stream *st, bool fresh)
{
	if (fresh && runner_has_it(st)) {
		stream_keep(st);
		return;
	}
	u_lock_take(&pool.lock);
	atomic_store(&st->queued, QUEUED_NONE);
	u_lock_give(&pool.lock);
	worker_run(st);
	rts_stream_put(&st);
}

/* --- the reserve ------------------------------------------------------------------------------ */

static bool stalled(uint64_t *takes)
{
	bool same;

	u_lock_take(&pool.lock);
	same = pool.takes == *takes && pool.ready.head && !atomic_load(&pool.looking);
	*takes = pool.takes;
	u_lock_give(&pool.lock);
	return same;
}

/* True: go on looking. */
static bool reserve_watching(struct worker *w)
{
	bool on;

	u_lock_take(&pool.lock);
	on = pool.ready.head;
	if (!on)
		atomic_store(&w->woken, 0);
	u_lock_give(&pool.lock);
	return on;
}

/* Returns as an ordinary worker that looks for work. */
static void reserve_main(struct worker *w)
{
	uint64_t takes = 0;
	_Atomic uint32_t never = 0;

	u_lock_take(&pool.lock);
	pool.reserve = w;
	atomic_store(&w->woken, 1);
	u_lock_give(&pool.lock);
	do {
		while (!reserve_watching(w))
			u_futex_wait(&w->woken, 0, U_FOREVER, false);
		u_futex_wait(&never, 0, u_deadline(u_now_ns(), STALL_NS), false);
	} while (!stalled(&takes));

	u_lock_take(&pool.lock);
	w->reserve = false;
	pool.reserve = NULL;
	pool.limit++;
	atomic_fetch_add(&pool.looking, 1);
	u_lock_give(&pool.lock);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	bool fresh;

	self = w;
	fault_thread_start();
	if (w->reserve)
		reserve_main(w);
	for (;;) {
		struct rts_stream *st = worker_look(w, &fresh);

		worker_take(st, fresh);
		look_again();
	}
	return NULL;
}
