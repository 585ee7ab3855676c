/* SPDX-License-Identifier: MIT */
/*
 * exec.h - the execution engine inside: a stream's queue, who runs it, and who sleeps until what.
 *
 * Three kinds of thread meet at a stream. A *producer* appends a task under stream->lock and publishes it by raising `submitted`. The
 * *owner*, whoever moved `owner` from FREE to OWNED, runs tasks in order and raises `completed`; it is a worker thread, or a
 * thread that waits for the stream (then called a runner). A *waiter* sleeps on `wake`.
 *
 * No wake-up is lost, because every pair of them is a store followed by a load on both sides, all four sequentially consistent, so
 * that at least one side sees the other's store:
 *
 *   producer: submitted = n+1;  reads owner, then queued       owner leaving: owner = FREE;  reads submitted
 *       Either the producer finds the stream free and queues it, or the owner finds the task and goes on.
 *   producer: submitted = n+1;  reads queued                   worker taking it up: queued = NONE;  reads owner, submitted
 *       Either the producer queues the stream again, or the worker sees the task.
 *   waiter: attend_at = min(attend_at, target);  reads completed      owner: completed = n+1;  reads attend_at
 *       Either the waiter does not go to sleep, or the owner wakes it (`wake` is read before, so the futex call fails).
 *   resumer: owner = FREE;  reads runners                      runner leaving: runners -= 1;  reads owner, submitted
 *       Either the runner is there to run the stream, or one of the two queues it for the workers.
 */
#ifndef VINCI_RTS_EXEC_H
#define VINCI_RTS_EXEC_H

#include "rts/lock_order.h"
#include "rts/options.h"
#include "rts/rts.h"
#include "rts/stream.h"
#include "util/lock.h"
#include "util/mutex.h"

#define CACHE_LINE 64
#define CHUNK_BYTES 4096
#define RECORD_NOTES 8 /* a cache line */

/* --- task.c: slots ---------------------------------------------------------------------------- */

struct task_slot {
	const struct rts_task_type *type;
	uint64_t thread; /* kernel's id of who submitted it */
	_Alignas(16) unsigned char payload[RTS_TASK_BYTES];
	uint64_t spare[2];
};

#define CHUNK_SLOTS (CHUNK_BYTES / sizeof(struct task_slot) - 1)

struct task_chunk {
	_Alignas(CACHE_LINE) struct task_chunk *next;
	_Alignas(sizeof(struct task_slot)) struct task_slot slots[CHUNK_SLOTS];
};

/* Both ends of a stream's list of chunks. What one end publishes reaches the other through submitted and completed. */
struct task_end {
	struct task_chunk *chunk;
	uint32_t index; /* of the next slot in it */
};

/* A block of CHUNK_BYTES from the process's cache, or NULL. Also used for the arguments of large kernels. */
void *task_block_get(void);
void task_block_put(void *block);

/* --- the stream ------------------------------------------------------------------------------- */

enum owner_state {
	OWNER_FREE,
	OWNER_OWNED,
	OWNER_RESUMED, /* owned, and rts_stream_resume() came meanwhile */
	OWNER_BLOCKED, /* the first task waits for rts_stream_resume() */
};

enum queued_state { /* where the pool has the stream; written under the pool's lock */
	QUEUED_NONE,
	QUEUED_READY, /* in the list of ready streams */
	QUEUED_TAKEN, /* a worker is about to look at it */
	QUEUED_AGAIN, /* the same, and it was added urgently meanwhile */
	QUEUED_KEPT, /* its launches are run by whoever waits for it; a worker looks at it every now and then */
};

/* Bits of stream->state. */
#define STREAM_CLOSED (1u << 0) /* being destroyed: nothing more is taken */
#define STREAM_DROP (1u << 1) /* tasks are dropped instead of run */
#define STREAM_ABORTED (1u << 2)
#define STREAM_STOPPED (1u << 3) /* a task failed in a stream that stops on failure */
#define STREAM_MODEL (1u << 4) /* its tasks are for a model (ACL_STREAM_PERSISTENT) */
#define STREAM_NO_WAITS (1u << 5) /* a wait that cannot go on at once fails */
#define STREAM_STOPS (1u << 6) /* failure mode: stop */
#define STREAM_CONTEXT_STOPS (1u << 7) /* a stream of its context has that mode: then it stops as well */
/* Another stream of its context has stopped: nothing more is taken, what is queued runs. */
#define STREAM_PEER_FAILED (1u << 8)
#define STREAM_CAPTURE (1u << 16) /* its tasks are recorded until the capture ends */
#define STREAM_UPDATES (1u << 17) /* what is launched on it takes the place of recorded tasks */
#define STREAM_RECORDS (STREAM_MODEL | STREAM_CAPTURE)
/* rts_stream_submit() does not queue the task */
#define STREAM_REFUSES (STREAM_CLOSED | STREAM_ABORTED | STREAM_STOPPED | STREAM_PEER_FAILED | STREAM_RECORDS | STREAM_UPDATES)

/* rts_exec_defer(): the stream's share of it. */
struct exec_mark {
	struct exec_mark *next;
	uint64_t target; /* value of completed that takes it away */
	struct exec_barrier *barrier;
	struct rts_stream *stream; /* a reference of the maker's, while it arms the mark */
};

/* A stream's place among those that wait for something (a notify, an event, another stream). One at a time: its first task. */
struct stream_wait {
	struct rts_stream *stream;
	struct stream_wait *prev, *next; /* protected by the lock of what is waited for */
	uint64_t target; /* value of completed that is waited for, of another stream */
	void *linked; /* what it is linked to; NULL: nothing */
};

/*
 * Grouped by who writes: while a worker runs tasks as fast as another thread launches them, neither touches a line that the other
 * writes for every task, the slots and `submitted` aside.
 */
struct rts_stream {
	struct rts_object obj;

	_Alignas(CACHE_LINE) atomic_uint state; /* STREAM_*; this line is read by everybody and written when something changes */
	atomic_uint owner; /* enum owner_state */
	atomic_uint queued; /* enum queued_state */
	_Atomic uint64_t stop_at; /* value of completed at which the task that is to end has ended; 0: none */
	_Atomic uint32_t aborts; /* that have begun */
	uint32_t aborting; /* and have not ended; stream->lock */
	atomic_int abort_code; /* of the last */
	uint32_t device;
	int32_t id;
	_Atomic uint32_t priority;
	uint32_t flags;
	_Atomic uint32_t tag, cache_op; /* attributes that are kept, and no more */
	struct rts_context *context; /* a reference until the stream is closed, then only compared */

	_Alignas(CACHE_LINE) struct u_lock lock; /* producers: tail, raising submitted, closing */
	struct task_end tail;
	_Atomic uint64_t submitted;

	_Alignas(CACHE_LINE) struct task_end head; /* of the owner */
	_Atomic uint64_t completed; /* raised by the owner */
	bool on_worker; /* of the owner */
	_Atomic uint64_t attend_at; /* value of completed at which somebody wants to be woken; UINT64_MAX: never */
	_Atomic uint64_t worker_only_at; /* value of completed at which the next task is not for runners */

	_Alignas(CACHE_LINE) _Atomic uint32_t wake; /* futex */
	atomic_uint parked; /* threads that sleep on wake or are about to */
	atomic_uint runners; /* threads in an untimed wait that are not the owner */
	atomic_int error; /* first failure since the last synchronisation */
	_Atomic(_Atomic uint32_t *) parked_on; /* shared word that the owner sleeps on */
	_Atomic(struct task_chunk *) spare; /* given back by the owner, taken by producers */
	struct rts_stream *prev_all, *next_all; /* registry.lock */
	struct u_mutex marks_lock; /* marks, watchers, why, joined */
	struct exec_mark *marks, **marks_end;
	struct stream_wait *watchers; /* streams whose first task waits for tasks of this one */
	char why[192]; /* sentence of error */
	struct model_run *joined; /* marks_lock; whose streams the owner runs, inside of its first task */

	struct rts_stream *next; /* pool.lock: ready or kept list */
	uint64_t seen; /* pool.lock: completed when the keeper looked last */

	_Atomic(struct report_thread *) reports; /* runs its callbacks; written under report_thread.c's lock */
	atomic_bool host_calls; /* functions of aclrtLaunchHostFunc have been launched on it, once and for all */
	struct rts_stream_options options;
	struct task_group *group; /* that is recorded, or whose tasks are changed; models_lock */
	_Atomic(struct model_track *) track; /* that its tasks are recorded into, or that it plays; written under models_lock */

	/* Last records of notifies that were submitted, by the notify's serial (notify.h); written by producers. */
	_Alignas(CACHE_LINE) _Atomic uint64_t record_notes[RECORD_NOTES];

	_Alignas(CACHE_LINE) struct stream_wait wait;
	/* Its first task waits for a notify that nobody outside this process can record any more; of the owner. */
	atomic_bool waits_in_vain;
	_Atomic uint64_t poll_serial; /* what a poller was asked for last; the owner raises it to forget */
};

static inline bool stream_pending(struct rts_stream *st)
{
	return atomic_load(&st->submitted) > atomic_load(&st->completed);
}

/* For the owner: the first task is to end without having done its work (aclrtStreamStop). */
static inline bool stream_task_stopped(const struct rts_stream *st)
{
	return atomic_load(&st->stop_at) == atomic_load_explicit(&st->completed, memory_order_relaxed) + 1;
}

/* --- stream.c --------------------------------------------------------------------------------- */

/* rts_stream_submit_at() for a task that is never recorded: one that waits for a model, */
int stream_submit_join(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		       uint64_t *position);
/* and one that plays it, on a stream that records what others submit. */
int stream_submit_play(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		       uint64_t *position);
void stream_state_change(struct rts_stream *st, unsigned set, unsigned clear);
/* Makes a wait of the running or blocked task look at stream->state again. */
void stream_poke(struct rts_stream *st);
/* The tasks are dropped, here or by whoever is running one, after it. STREAM_DROP is set. */
void stream_drop_tasks(struct rts_stream *st);
/* Takes the handle away and drops the tasks. */
void stream_remove(struct rts_stream *st);

/* --- stop.c ----------------------------------------------------------------------------------- */

/*
 * For a wait of the running task: 0, or the code with which it ends because the stream does; @what it waits for is
 * said.
 */
int stream_wait_ended(struct rts_stream *st, const char *what);
/* @st stops on failure, and a task of it has failed with @code: so have the other streams of its context. */
void stream_context_failed(struct rts_stream *st, int code);
/* model_run.c: what the owner of @st runs of a model inside of its task @task (HALT_ANY_TASK: of any) ends with
 * @code. */
void stream_stop_joined(struct rts_stream *st, uint64_t task, int code);
/* A new stream, in the registry already, is as its context is. */
void stream_join_context(struct rts_stream *st);

/* --- task.c: the queue of a stream ------------------------------------------------------------ */

/* The slot to fill next, under stream->lock; NULL: out of memory. queue_publish() makes it visible. */
struct task_slot *queue_slot(struct rts_stream *st);
void queue_publish(struct rts_stream *st);
/* The first task, which must exist; for the owner. */
struct task_slot *queue_first(struct rts_stream *st);
/* Takes the first task out. Its slot must not be used any more. */
void queue_advance(struct rts_stream *st);
void queue_destroy(struct rts_stream *st);

/* --- run.c: owning, running, waiting ---------------------------------------------------------- */

bool stream_try_own(struct rts_stream *st, bool worker);
/* Gives it up; whoever can run what is left is told. */
void stream_release(struct rts_stream *st);

enum run_result {
	RUN_DRAINED, /* nothing left, or @limit reached */
	RUN_BLOCKED, /* ownership has passed to whoever resumes the stream */
	RUN_WORKER_ONLY, /* the first task is not for this thread */
	RUN_SLICE, /* other streams are ready: their turn */
};

/* Runs tasks until completed is @limit; the caller owns the stream. */
enum run_result stream_run(struct rts_stream *st, uint64_t limit);
/* Runs a task that touches memory which may have gone since the task was @when (507899). */
int task_run_memory(struct task_slot *slot, struct rts_stream *st, const char *when);
/* From now on all of those are: a pool's memory goes in the order of one stream, whatever others do with it. */
void tasks_guard_memory(void);
/* fn(arg), which belongs to a task of @st: waiting for the stream is refused meanwhile. */
void stream_call(struct rts_stream *st, void (*fn)(void *arg), void *arg);
/* Until completed is @target or @deadline has come (507046); may run tasks itself if @runner. */
int stream_wait(struct rts_stream *st, uint64_t target, uint64_t deadline, bool runner);
/* The tasks that this thread is inside of; a thread that works for them takes them over, so that it cannot wait for them either. */
struct exec_frame;
const struct exec_frame *stream_frames(void);
void stream_frames_set(const struct exec_frame *frames);
/* Wakes whoever sleeps on the stream. */
void stream_wake(struct rts_stream *st);
/* After completed has reached attend_at. */
void stream_attend(struct rts_stream *st);
/* Asks to be told when completed reaches @target. */
void stream_attend_at(struct rts_stream *st, uint64_t target);

/*
 * For the running task of @st: has @other completed @target tasks? Otherwise @st is resumed when it has, and the task returns
 * RTS_TASK_BLOCKED. The caller holds a reference to @other until stream_unwatch(), which the task calls when it runs again or ends.
 */
bool stream_watch(struct rts_stream *st, struct rts_stream *other, uint64_t target);
void stream_unwatch(struct rts_stream *st, struct rts_stream *other);
/* For the running task of @st: runs @other until it has completed @target tasks, if nobody does and this thread may go so deep. */
void stream_help(struct rts_stream *st, struct rts_stream *other, uint64_t target);

/* The owner's: may the running task sleep on this thread? A runner may, a worker has other streams to run. */
static inline bool stream_may_park(const struct rts_stream *st)
{
	return !st->on_worker;
}

/* --- registry, in stream.c -------------------------------------------------------------------- */

/* All streams of the process that have not been released, linked by next_all under the lock. */
void streams_lock(void);
void streams_unlock(void);
struct rts_stream *streams_first(void);
uint32_t streams_count(void);

/* A reference to a stream found in the registry; false: its last one has gone. */
static inline bool stream_ref(struct rts_stream *st)
{
	unsigned refs = atomic_load_explicit(&st->obj.refs, memory_order_relaxed);

	while (refs)
		if (atomic_compare_exchange_weak(&st->obj.refs, &refs, refs + 1))
			return true;
	return false;
}

/* --- worker.c --------------------------------------------------------------------------------- */

/* Makes sure that there is a worker. 207005 */
int pool_start(void);
/* Workers that may run tasks at once, as long as none is stuck. */
uint32_t pool_limit(void);
/*
 * A worker becomes responsible for the stream. @urgent: at once, also for a kept one, because nobody else is going to run it.
 */
void pool_add(struct rts_stream *st, bool urgent);
/* True when a stream waits for a worker. */
bool pool_has_ready(void);

/* Work that several workers may share while its owner is running it. */
struct pool_job {
	void (*help)(struct pool_job *job);
	struct pool_job *next; /* pool.lock */
	uint32_t wanted; /* helpers that may still join; pool.lock */
	_Atomic uint32_t helpers; /* inside help(); a futex for pool_job_end() */
};

void pool_job_begin(struct pool_job *job, uint32_t helpers);
/* No helper joins any more; returns when the last has left. */
void pool_job_end(struct pool_job *job);

/* A worker thread is going to sleep in a task (a callback that waits for something): another may be needed in its place. */
void pool_worker_blocks(void);
void pool_worker_continues(void);

/* --- defer.c ---------------------------------------------------------------------------------- */

/* A mark that has been reached has been taken out of its stream: tells its barrier. Called with no lock held. */
void exec_mark_reached(struct exec_mark *mark);

#endif
