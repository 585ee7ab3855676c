/* SPDX-License-Identifier: MIT */
/*
 * model_impl.h - what a model is made of, for model*.c, event_model.c and label.c.
 *
 * A model has tracks. Each is a list of steps, recorded tasks with payloads of their own, and a stream that nobody else
 * queues on: a stream of the model's own for each captured one, or the bound one. A run queues a *play* on the streams
 * of the head tracks and a *join* on the stream that it was asked for on. A play runs the track's steps one after the
 * other, each on a copy of its payload; the join waits for the run's end and runs plays itself meanwhile, where it may.
 * Runs of one model follow each other, on whatever streams.
 *
 * What is recorded (tracks, steps, marks until the capture ends, rts_stream.track) is protected by models_lock and does
 * not change while the model runs. model->lock protects runs.
 */
#ifndef VINCI_RTS_MODEL_IMPL_H
#define VINCI_RTS_MODEL_IMPL_H

#include "rts/event_impl.h"
#include "rts/model.h"

enum model_state {
	MODEL_RECORDING,
	MODEL_INVALID, /* captured, and an earlier call broke it */
	MODEL_READY,
	MODEL_GONE, /* the capture failed, or it was destroyed */
};

/* A program's words on a task; free() frees them. */
struct model_info {
	char *text;
	size_t size;
};

struct model_step {
	struct model_step *next;
	uint64_t serial;	   /* from 1 */
	struct model_info info[2]; /* model_info.c's */
	struct task_slot slot;	   /* what it owns goes with the step */
};

struct model_track {
	struct model_track *next;
	struct rts_model *model;
	struct rts_stream *stream; /* a reference */
	struct rts_stream *source; /* that is being captured; a reference */
	bool head;		   /* begins with the run */
	struct model_step *first, *last;
	uint32_t count; /* steps */
	uint32_t plays; /* that a run queues: one more than there are places that others wait for */
	bool worker_only;
	bool changes; /* some of its steps are in groups */
	/* The rest belongs to the owner of stream. */
	struct model_run *run; /* borrowed from the play */
	struct model_step *at; /* that runs or is next */
	bool loaded;	       /* into slot */
	struct task_slot slot; /* the copy that runs */
};

/* What belongs to a model and has a handle. */
struct model_part {
	struct rts_object obj;
	enum { PART_GROUP, PART_CONDITION } kind;
};

struct model_callback {
	struct model_callback *next;
	aclrtCallback fn;
	void *arg;
};

struct rts_model {
	struct rts_object obj;
	struct rts_context *context; /* a reference */
	uint32_t id;
	bool captured;
	bool branch; /* of another model's condition; it runs with that alone */
	/* models_lock */
	struct rts_model *prev_all, *next_all;
	_Atomic(enum model_state) state;
	struct model_track *tracks, *origin; /* newest first */
	aclmdlRICaptureMode mode;
	uint64_t thread;	 /* that began the capture */
	struct model_track *end; /* where the run's end was marked */
	uint32_t external_waits;
	struct model_callback *callbacks;
	struct task_group *groups; /* newest first */
	struct model_cond *conds;  /* references */
	char name[RTS_MODEL_NAME_MAX];

	struct u_mutex lock;
	struct model_run *last;	    /* a reference */
	struct model_step *retired; /* what updates have taken out of steps, for when no run uses it */
	uint64_t runs;
};

/* Lives until the last play, join and later run have let it go. */
struct model_run {
	atomic_uint refs;
	struct rts_model *model;  /* a reference */
	uint64_t number;	  /* 0: not queued yet */
	struct event_place start; /* of the join, with a reference */
	struct model_run *before; /* model->lock: a reference until it is over */
	atomic_uint active;	  /* tracks that have not ended */
	atomic_bool started;
	atomic_bool stop;  /* steps that have not begun are left out */
	atomic_bool ended; /* came to the end mark */
	atomic_bool over;
	int code; /* model->lock; why it stopped */
	char why[192];
	struct stream_wait *waiting; /* model->lock */
	uint32_t wait_count;
	struct event_place waits[]; /* what external waits wait for, with references */
};

/* The place of a record in a captured model, or behind a cache operation with a barrier in a built one. */
struct model_mark {
	atomic_uint refs;	       /* of steps, of the event */
	uint32_t barrier;	       /* models_lock: its id; 0: of an event */
	struct model_track *track;     /* models_lock: NULL when the capture has ended, or there is none */
	const struct model_step *step; /* the same */
	bool waited, waited_by_origin; /* models_lock */
	_Atomic uint64_t reached;      /* number of the run that has come to it last */
	struct u_lock lock;
	struct stream_wait *waiting;
};

extern struct u_mutex models_lock;

/* Captures of this process: nobody needs to look further while it is 0. */
extern atomic_uint captures;

/* --- model.c ---------------------------------------------------------------------------------- */

int model_get_any(aclmdlRI handle, struct rts_model **out);
/* Of the current context. */
int model_get(aclmdlRI handle, struct rts_model **out);
/* 207000 for a branch */
int model_check_whole(const struct rts_model *model);
void model_put(struct rts_model **model);
/* With one reference, the handle's, and no track. */
int model_new(struct rts_context *ctx, bool captured, struct rts_model **out);
/* Takes over @stream's reference; NULL: makes one. Not in the list yet. */
int track_new(struct rts_model *model, struct rts_stream *stream, struct model_track **out);
void track_free(struct model_track *track);
/* Takes the handle away and ends the model. */
void model_discard(struct rts_model *model);
/* The stream of one of its tracks, with a reference: another thread may unbind it just now. NULL: there are no more. */
struct rts_stream *model_stream(struct rts_model *model, uint32_t index);
bool model_runs_here(struct rts_model *model);
/* All runs are over. 107037 after 10 s, or if a task of the model asks. @halt: code that kernels are ended with; 0:
 * they are not. */
int model_wait(struct rts_model *model, int halt);
/* Takes models_lock and model->lock while no run is queued or under way: none begins before model_unlock(). */
int model_lock_idle(struct rts_model *model);
void model_unlock(struct rts_model *model);
void steps_free(struct model_step *step);
/* models_lock. The payload's owner is the step from now on. 207001, and what group_check() finds. */
int track_append(struct model_track *track, const struct rts_task_type *type, const void *payload, size_t size);
/*
 * rts_stream_submit() for a stream that is captured or bound: records the task. False: it is neither (any more).
 */
bool model_record(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size, int *code);

/* models_lock. The newest model, linked by next_all. */
struct rts_model *models_first(void);
/* Of the task that this thread has recorded last; 0: none. */
uint64_t model_last_serial(void);

/* --- model_capture.c -------------------------------------------------------------------------- */

/* models_lock. Nothing can make the model whole any more; rts_capture_end() says so. */
void capture_invalidate(struct rts_model *model);
/* 507000 for a kind of stream that cannot be captured. */
int capture_check_stream(const struct rts_stream *st);
/* models_lock. @st records into @track from now on. */
void capture_enter(struct rts_stream *st, struct model_track *track);
/* models_lock. No stream records into @model any more. */
void capture_leave(struct rts_model *model);

/* --- model_run.c ------------------------------------------------------------------------------ */

/* Ends a run, or all, before their time; the first code of each counts. */
void run_stop(struct model_run *run, int code, const char *why);
void runs_stop(struct rts_model *model, int code, const char *why);
void run_put(struct model_run *run);
/* As a join: joins those who wait for it (false: it is over), leaves them, and runs what nobody else does. */
bool run_wait_for(struct model_run *run, struct rts_stream *st);
void run_leave(struct rts_model *model, struct rts_stream *st);
void run_help(struct model_run *run, struct rts_stream *st);
/* Starts a run of a branch for the running step of @st. 507011: it has not been captured */
int run_branch(struct rts_model *model, struct rts_stream *st, struct model_run **out);
/* Another track begins at @step (NULL: its first) behind what it is doing. */
int run_activate(struct model_run *run, struct model_track *track, struct model_step *step);
/* For a running step: reads device memory that may be gone. */
bool step_read(struct rts_stream *st, void *dst, const void *src, size_t size);

/* The run that a step of @st belongs to. */
static inline struct model_run *run_of(const struct rts_stream *st)
{
	return atomic_load_explicit(&st->track, memory_order_relaxed)->run;
}

/* --- model_cond.c ----------------------------------------------------------------------------- */

/* models_lock. 107045 */
int conds_check(const struct rts_model *model);
/* A run begins. */
void conds_assign(const struct rts_model *model);
/* As groups_close() and groups_free(). */
void conds_close(struct rts_model *model);
void conds_free(struct rts_model *model);

/* --- model_group.c ---------------------------------------------------------------------------- */

/* models_lock. Whether a task of @type may be recorded into @track while groups are open; otherwise the capture is
 * broken. */
int group_check(struct model_track *track, const struct rts_task_type *type);
/* models_lock. It has been: it belongs to the track's open group. */
void group_note(struct model_track *track, struct model_step *step);
/* models_lock. 107033: the stream, which is to be captured, changes tasks just now. */
int group_check_idle(const struct rts_stream *st);
/* rts_stream_submit_at() for a stream with STREAM_UPDATES. */
int group_update(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		 uint64_t *position);
/* models_lock. 107033: one is open */
int groups_check(const struct rts_model *model);
/* The stream is going in the middle of an update. */
void group_forget(struct rts_stream *st);
/* The model is going: its groups' handles too; and they themselves. */
void groups_close(struct rts_model *model);
void groups_free(struct rts_model *model);

/* --- event_model.c ---------------------------------------------------------------------------- */

/* Steps that end a play: others wait for the place by way of an event. */
extern const struct rts_task_type model_external_record_type;
/* Before a run is queued: ids for its external records. */
int external_prepare(struct rts_model *model);
/* model->lock. The plays of @track have been queued, the last as task @last of its stream: its external records are
 * made. */
void external_record(struct model_track *track, uint64_t last);
/* model->lock. What the run's external waits wait for. */
void external_capture(struct model_run *run);
void mark_put(struct model_mark **mark);
/* models_lock. The step's mark if it is one's, or NULL. */
struct model_mark *mark_of(const struct model_step *step);
/* models_lock. Steps for a new mark, which they own, and for a wait for one. 207001 */
int mark_append(struct model_track *track, struct model_mark **out);
int mark_wait_append(struct model_track *track, struct model_mark *mark, uint32_t seconds);
/* models_lock. The step's capture is over. */
void mark_close(struct model_step *step);
/* event_wait.c: a wait that begins when the model comes to it. models_lock. */
int event_wait_append(struct model_track *track, struct rts_event *ev, uint32_t seconds);

#endif
