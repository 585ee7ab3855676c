/* SPDX-License-Identifier: MIT */
/*
 * rts.h - the runtime's objects and what its parts offer each other and the acl layer.
 *
 * Codes: functions return 0 or an ACL_ERROR_RT_* code (107xxx, 207xxx, 507xxx) after u_report() of one sentence.
 * Ownership: x_get() gives a reference that x_put() drops; "borrowed" needs no put. Outputs are untouched on failure.
 * Unless a comment says otherwise every function may be called from any thread.
 */
#ifndef VINCI_RTS_RTS_H
#define VINCI_RTS_RTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_rt.h"
#include "drv/drv.h"
#include "util/report.h"

#define RTS_NO_HANDLE 0u

/* ------------------------------------------------------------------------------------------------
 * handle.c - public handles. A handle is an index with a generation and a type, never a pointer, so that NULL, stale,
 * foreign and wrongly typed ones are told apart from live ones without touching freed memory.
 */
enum rts_type {
	RTS_CONTEXT = 1, RTS_STREAM, RTS_EVENT, RTS_NOTIFY, RTS_PHYS, RTS_LABEL, RTS_BINARY, RTS_FUNCTION, RTS_ARGS, RTS_CNT_NOTIFY,
	RTS_POOL, RTS_BUF, RTS_MODEL, RTS_LABEL_LIST, RTS_MODEL_PART
};

/* First member of every object with a handle. */
struct rts_object {
	atomic_uint refs;
	enum rts_type type;
	_Atomic(void *) handle; /* NULL once destroyed */
	void (*release)(struct rts_object *obj); /* last reference gone; frees the object */
};

/* Sets refs to 1 (the table's reference) and gives the object a handle. 207005 when the table is full. */
int rts_object_publish(struct rts_object *obj, enum rts_type type, void (*release)(struct rts_object *));
/* Looks up and takes a reference in one atomic step; NULL if it is not a live handle of @type. Reports nothing. */
struct rts_object *rts_object_get(const void *handle, enum rts_type type);
/* Takes the handle out of the table; the caller that wins gets the table's reference, everybody else NULL. */
struct rts_object *rts_object_unpublish(const void *handle, enum rts_type type);
void rts_object_ref(struct rts_object *obj);
void rts_object_put(struct rts_object *obj);

/* ------------------------------------------------------------------------------------------------
 * process.c - the process: device connection, fork, exit.
 */

/*
 * Opens the device connection on first use (thread-safe, cheap afterwards). In a child of a process that had opened it: 507899
 * with a sentence (exec first). Device gone: 507010 until the last device is reset; then a new connection replaces it.
 * Bad settings: 507033; cannot be opened: 207004.
 */
int rts_process_start(void);
/*
 * Only after rts_process_start() succeeded in this thread or an earlier call; never NULL from then on. Stays valid for
 * ever: when another connection has taken its place, its calls return -ENOTCONN.
 */
struct drv *rts_drv(void);
const struct rts_profile *rts_profile(void);
uint32_t rts_device_count(void); /* visible to the user */

/*
 * True in a child of a process that had opened its device. Its locks may be held by threads that do not exist here: whoever could be
 * called without rts_process_start() or a current context (which look for themselves) asks this before it takes a lock, and answers
 * what rts_process_start() says, or returns.
 */
bool rts_process_forked(void);
/* The same as a check: 507899 with the sentence, or 0. */
int rts_process_check_fork(void);
/* Changes when a new connection replaces one whose device died: handles of an older epoch mean nothing to the device. */
uint64_t rts_process_epoch(void);
/*
 * The connection that a handle was got through, by the epoch noted then. To look at the epoch and then call rts_drv()
 * is not the same: the connection may be replaced in between, and the number name another object at the new device.
 */
struct drv *rts_drv_at(uint64_t epoch);

/* Kinds of objects and operations for rts_errno_code(). */
enum rts_op {
	RTS_OP_BO_CREATE,
	RTS_OP_BO_SPLIT,
	RTS_OP_MAP,
	RTS_OP_NOTIFY_CREATE,
	RTS_OP_EXPORT,
	RTS_OP_ALLOW,
	RTS_OP_IMPORT,
	RTS_OP_SHARE_CLOSE,
	RTS_OP_ATTR,
	RTS_OP_PEER,
	RTS_OP_QUERY,
};
/*
 * The one table from a device's -errno to an RT code, keyed by kind of share (0 where none is involved), operation and errno; printed in
 * docs/uapi.md. Reports nothing: the caller knows the sentence.
 */
int rts_errno_code(uint32_t kind, enum rts_op op, int err);
/* What the device's -errno means, and where the user can help it, how: the end of a sentence. Never NULL. */
const char *rts_errno_text(int err);

/* User-visible device ids are indices into ASCEND_RT_VISIBLE_DEVICES; everything inside rts and below uses device indices. 107001. */
int rts_device_from_user(int32_t user, uint32_t *device);
int32_t rts_device_to_user(uint32_t device); /* -1: not visible */

/* ------------------------------------------------------------------------------------------------
 * profile.c - what a SoC is and may do; one table. The running profile is the one whose name the device gives.
 */
enum rts_feature { /* bits of rts_profile.features */
	RTS_FEATURE_IPC_ATTR = 1 << 0, /* aclrtIpcMemSetAttr */
	RTS_FEATURE_SUPER_POD = 1 << 1, /* sdid, *InterServer, FABRIC handles */
	RTS_FEATURE_PEER_COPY_FREE = 1 << 2, /* cross-device copies need no peer access (A3) */
	RTS_FEATURE_IPC_EVENT = 1 << 3,
	RTS_FEATURE_NO_DEFAULT_CONTEXT = 1 << 4, /* aclrtSetDevice makes none current (IPV350) */
};

/* Lines of products, in CANN's words; bits, so that a set of them fits a word. */
enum rts_product {
	RTS_PRODUCT_A2 = 1 << 0, /* Atlas A2 training and inference */
	RTS_PRODUCT_A3 = 1 << 1, /* Atlas A3 training and inference */
	RTS_PRODUCT_950 = 1 << 2, /* Ascend 950PR, 950DT */
	RTS_PRODUCT_310B = 1 << 3, /* Atlas 200I/500 A2 inference */
	RTS_PRODUCT_310P = 1 << 4, /* Atlas inference */
	RTS_PRODUCT_910 = 1 << 5, /* Atlas training */
	RTS_PRODUCT_IPV350 = 1 << 6,
};

struct rts_profile {
	const char *soc;
	uint32_t product; /* one of RTS_PRODUCT_* */
	uint32_t arch; /* whose instructions it runs: platform_config's NpuArch */
	uint64_t mem_bytes;
	uint64_t l2_bytes;
	uint32_t cube_cores, vector_cores; /* most worker threads: cube_cores */
	uint32_t aicpu_cores;
	uint32_t stream_limit, event_limit, notify_limit;
	uint32_t features;
};

const struct rts_profile *rts_profile_find(const char *soc); /* NULL: unknown */
/* True on the one product that has few of the functions, for calls.c; while a call's line may be wanted. */
bool rts_profile_lacks(void);
uint32_t rts_soc_arch(const char *soc); /* 0: unknown */

/* ------------------------------------------------------------------------------------------------
 * device.c, context.c
 */
struct rts_stream;

struct rts_context {
	struct rts_object obj;
	uint32_t device;
	bool primary;
	atomic_bool dead; /* device reset or context destroyed; threads that still point at it see 107002 */
	_Atomic(struct rts_stream *) default_stream; /* created with the context */
	struct rts_stream_list *streams; /* stream.c's: all streams of the context */
	_Atomic int64_t options[3]; /* options.c's: 1 more than the value; 0: not set */
	atomic_bool stops; /* stop.c's: one of its streams stops on failure */
	atomic_uint captures[ACL_MODEL_RI_CAPTURE_MODE_RELAXED + 1]; /* model_capture.c's, by mode */
};

/* The calling thread's live context, borrowed until the thread changes it. 107002 when there is none (tries the default device first). */
int rts_context_current(struct rts_context **ctx);
/* As above without a report: NULL if there is none. */
struct rts_context *rts_context_peek(void);

/*
 * rts_process_start() for those who are about to use a device: notices by asking that the device died while none was in use.
 * 507033 also when the device cannot be opened.
 */
int rts_device_start(void);
int rts_device_set(uint32_t device);
int rts_device_get(uint32_t *device); /* 107002, which the caller does not record as last error */
int rts_device_reset(uint32_t device, bool force); /* 507007 when not set */
int rts_device_synchronize(int32_t timeout_ms); /* -1: none; 107000, 507046 */
int rts_context_create(uint32_t device, struct rts_context **ctx); /* becomes current */
int rts_context_destroy(void *handle);
int rts_context_set_current(void *handle);
bool rts_device_primary_active(uint32_t device);
/* Of aclInit's file: set by itself in threads without a context; -1: none (as at the start). */
void rts_device_set_default(int32_t user);

/* ------------------------------------------------------------------------------------------------
 * stream.c, task.c, worker.c - ordered queues of tasks, run by worker threads and by waiting threads.
 */
#define RTS_TASK_BYTES 96 /* payload that a task carries by value */

/* Not an error code: the task cannot go on yet and has arranged for rts_stream_resume(); it will be run again from its start. */
#define RTS_TASK_BLOCKED (-1)

/*
 * A task's work. Runs with no lock held, on a worker or on a thread that waits for the stream. @payload is the task's copy.
 * Returns 0, an RT code (the task failed: kept by the stream for its next synchronisation) or RTS_TASK_BLOCKED.
 */
typedef int (*rts_task_run)(void *payload, struct rts_stream *stream);

struct rts_task_type {
	const char *name; /* for messages */
	rts_task_run run;
	/* Frees what the payload owns; called exactly once, after the task ended or when it is abandoned. May be NULL. */
	void (*drop)(void *payload);
	bool worker_only; /* never on a waiting thread (callbacks) */
	/*
	 * Of a task that was recorded into a model, each run of the model runs a copy of the payload, which owns nothing. again(), if there
	 * is one, gives the copy what it needs of its own, or fails; leave() ends what again() and run() began. Either may be NULL.
	 */
	int (*again)(void *payload, struct rts_stream *stream);
	void (*leave)(void *payload);
	bool ends_itself; /* run() is called although the task is to be stopped: it has more to end than itself */
	bool kernel; /* may be in a group of tasks that are changed later */
	bool memory; /* run() only touches the user's memory: it may be left where that is gone */
};

/* NULL: the current context's default stream (107002). A stream of another context: 107003; a stale handle: 107017. */
int rts_stream_get(aclrtStream handle, struct rts_stream **stream);
/* The same without the context check. */
int rts_stream_get_any(aclrtStream handle, struct rts_stream **stream);
void rts_stream_put(struct rts_stream **stream);
struct rts_context *rts_stream_context(struct rts_stream *stream); /* borrowed */
uint32_t rts_stream_device(const struct rts_stream *stream);

/*
 * Appends a task; @size <= RTS_TASK_BYTES bytes of @payload are copied. A worker is responsible for it on return. On failure the payload
 * is not dropped. 107023 after an abort; the stream's error when it stops on failure.
 */
int rts_stream_submit(struct rts_stream *stream, const struct rts_task_type *type, const void *payload, size_t size);
/* The same; *position is the number of tasks that the stream will have completed when this one has ended. */
int rts_stream_submit_at(struct rts_stream *stream, const struct rts_task_type *type, const void *payload, size_t size,
			 uint64_t *position);
/* Where the stream stands: the number of tasks submitted so far. Fails where rts_stream_submit() would. */
int rts_stream_position(struct rts_stream *stream, uint64_t *position);
/* A task that is about to fail says why; the sentence is reported with its code. The first one since the last synchronisation counts. */
void rts_stream_explain(struct rts_stream *stream, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A blocked task may go on. The caller holds a reference. From any thread, also before the task's run function has returned RTS_TASK_BLOCKED. */
void rts_stream_resume(struct rts_stream *stream);
/* Waits until all that was submitted before has ended; returns and clears the first task error. 507046 on timeout (ms, -1: none). */
int rts_stream_synchronize(struct rts_stream *stream, int32_t timeout_ms);

/*
 * Calls fn(arg) once every task of this process submitted before this call has ended: at once, on this thread, if none is pending.
 * Used for unmapping. Without host memory to remember it the call is left out: what was to be unmapped stays mapped.
 */
void rts_exec_defer(void (*fn)(void *arg), void *arg);
/* Waits until every task of this process submitted before this call has ended. 507046 on timeout. */
int rts_exec_quiesce(int32_t timeout_ms);

/* ------------------------------------------------------------------------------------------------
 * va.c - what is mapped where. One ordered index over every range that vinci handed out in this process.
 */
enum rts_segment_kind {
	RTS_SEG_DEVICE, /* aclrtMalloc: owns whole pages and its own BO */
	RTS_SEG_SMALL, /* aclrtMalloc below a page: shares pages, never exportable */
	RTS_SEG_HOST, /* aclrtMallocHost */
	RTS_SEG_HOST_REGISTERED,
	RTS_SEG_IPC, /* imported by key */
	RTS_SEG_RESERVED, /* aclrtReserveMemAddress: contains RTS_SEG_VMM segments */
	RTS_SEG_VMM, /* aclrtMapMem */
	RTS_SEG_POOL, /* aclrtMemPoolMallocAsync */
	RTS_SEG_MANAGED, /* aclrtMemAllocManaged */
	RTS_SEG_VARIABLES, /* of a binary, or of the program's kernels; inside nothing else */
};

struct rts_segment {
	uintptr_t base;
	size_t size; /* bytes the user may touch */
	enum rts_segment_kind kind;
	uint32_t device; /* who owns the backing; for IPC: the importing device; host kinds: 0 */
	uint32_t owner; /* device of the physical memory (differs from device for cross-device imports) */
	uint32_t page_kind; /* VINCI_PAGE_* */
	bool host; /* backing is host memory */
	uint32_t handle; /* BO */
	uint64_t mmap_offset;
	void *priv; /* of the part that inserted it (vmm.c, ipc.c, memory.c) */
};

/* Copies out the innermost segment that contains @ptr; false if there is none. Lock-free or a short read lock: fit for hot paths. */
bool rts_va_find(const void *ptr, struct rts_segment *seg);
/* True when [ptr, ptr + len) lies in one allocation (adjacent VMM mappings of one reservation count as one); *seg as above. */
bool rts_va_range(const void *ptr, size_t len, struct rts_segment *seg);
int rts_va_insert(const struct rts_segment *seg); /* 207001; an overlap is a bug, except VMM inside RESERVED */
bool rts_va_remove(uintptr_t base, enum rts_segment_kind kind, struct rts_segment *seg);

/*
 * As rts_va_remove(), but the range stays known as gone, so that a later use is an error (507899) and neither a crash nor taken
 * for pageable host memory. Follow it with rts_va_drop() once no task can use the pages (rts_exec_defer).
 */
bool rts_va_bury(uintptr_t base, enum rts_segment_kind kind, struct rts_segment *seg);
/* Instead of drv_unmap() for a buried range of @size mapped bytes: gives the pages back and keeps the addresses unused for a while. */
void rts_va_drop(uintptr_t base, size_t size);
/* True when @ptr was in a segment that has been freed, or in the unused rest of a segment's last page. */
bool rts_va_gone(const void *ptr);
/* The first segment with base >= @from that is not inside another one (no VMM, no registration). For walking at teardown. */
bool rts_va_next(uintptr_t from, struct rts_segment *seg);

/* ------------------------------------------------------------------------------------------------
 * memory.c, and what the sharing parts do for it.
 */

/* The last user of @device in this process has closed it: its allocations go. Called by device.c. */
void rts_memory_device_gone(uint32_t device);
/*
 * ipc.c's: aclrtFree has taken the allocation at @base out of the index and is about to close its BO. Its keys die here, and BOs
 * split off it are closed here (their mappings go with the allocation's). An export that is under way holds ipc.c's lock from
 * finding the allocation until its key is recorded, so that it is either seen here or finds nothing.
 */
void rts_ipc_memory_freed(uintptr_t base);
/*
 * The last user of @device in this process has closed it: imports for it and keys of its memory go (ipc.c), physical memory and
 * mappings too (vmm.c). Called by device.c without a lock; reserved addresses stay.
 */
void rts_ipc_device_gone(uint32_t device);
void rts_vmm_device_gone(uint32_t device);

/* ------------------------------------------------------------------------------------------------
 * peer.c
 */
/* Takes a reference on both directions between two devices (IPC/VMM/notify imports); nothing if they are the same. */
int rts_peer_enable_both(uint32_t a, uint32_t b);
bool rts_peer_active(uint32_t device, uint32_t peer);

#endif
