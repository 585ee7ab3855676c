/* SPDX-License-Identifier: MIT */
/*
 * model.h - tasks that are recorded once and run again and again.
 *
 * A model is made in one of two ways. Captured: from rts_capture_begin() to rts_capture_end() what is queued on a
 * stream, and on streams that join it by events, is recorded instead of run. Built: streams with ACL_STREAM_PERSISTENT
 * are bound to a model and record what is queued on them until rts_model_build_end(); labels and switches steer them
 * while the model runs.
 *
 * Every handle is checked: 107017 for one that is not alive, 107004 for a model of another context than the current
 * one.
 */
#ifndef VINCI_RTS_MODEL_H
#define VINCI_RTS_MODEL_H

#include "rts/stream.h"

#define RTS_MODEL_NAME_MAX 512 /* bytes, with the NUL */

/* ---- model_capture.c ---- */

/*
 * 107027: captured already; 107005: bound to a model; 207000: a default stream; 107003, 107000; 507000 for a kind of
 * stream that cannot be captured.
 */
int rts_capture_begin(aclrtStream stream, aclmdlRICaptureMode mode);
/* The same into a branch that rts_cond_add() gave. 107000; 107026: it has been captured already */
int rts_capture_begin_branch(aclrtStream stream, aclmdlRI model, aclmdlRICaptureMode mode);
/*
 * 107029: not captured; 107036: the capture began on another stream (and goes on). Other failures end the capture and
 * its model: 107038 (another thread), 507903 (invalid), 107025 (a stream has not been joined), 107045 (a branch is
 * being captured). Of a branch *model is not written.
 */
int rts_capture_end(aclrtStream stream, aclmdlRI *model);
int rts_capture_info(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *model);
/* This thread's own mode; *mode becomes the one before. 107000 */
int rts_capture_exchange_mode(aclmdlRICaptureMode *mode);
/*
 * For calls that act at once (synchronous copies and sets): @code with a sentence if a capture in the current context
 * forbids them to this thread.
 */
int rts_capture_permits(const char *what, int code);

/* ---- model_group.c: recorded kernels that others take the place of ---- */

/* 107029: not captured; 107033: a group is open on the stream already */
int rts_group_begin(aclrtStream stream);
/* 107033: none is open; what went wrong in between: 107034, 507009, 507903 */
int rts_group_end(aclrtStream stream, aclrtTaskGrp *group);
/* The next kernels on @stream take the places of the group's. 107027, 107005; 107033: the stream or the group is at it
 * already */
int rts_update_begin(aclrtStream stream, aclrtTaskGrp group);
/* 107033; 507000: not as many as the group has */
int rts_update_end(aclrtStream stream);

/* ---- model_cond.c ---- */

/* 107000: the model is not being captured; 207000 for one that is built */
int rts_cond_create(aclmdlRI model, uint64_t start, uint32_t flag, aclmdlRICondHandle *cond);
int rts_cond_pointer(aclmdlRICondHandle cond, uint64_t **ptr);
/* 107000, 107029 */
int rts_cond_add(const aclmdlRICondTaskParams *params, aclrtStream stream);

/* ---- model.c ---- */

int rts_model_build_begin(aclmdlRI *model);
/* 107005: bound already; 107000 for a captured model, flag or kind of stream */
int rts_model_bind(aclmdlRI model, aclrtStream stream, uint32_t flag);
/* Marks the place at which a run of the model ends. 507000: the stream is not the model's, or there is such a place
 * already. */
int rts_model_end_task(aclmdlRI model, aclrtStream stream);
int rts_model_build_end(aclmdlRI model);
/* Drops what the stream has recorded. 107005: not bound to this model; 107037 while it runs */
int rts_model_unbind(aclmdlRI model, aclrtStream stream);
/* Drops what the bound stream has recorded; it records anew. 507000 */
int rts_stream_clean(aclrtStream stream);
/* Waits for its runs, 10 s at most (107037). 107026 while it is captured. */
int rts_model_destroy(aclmdlRI model);
int rts_model_set_name(aclmdlRI model, const char *name);
/* 107000: size is 0; 507000: it does not fit */
int rts_model_get_name(aclmdlRI model, char *name, uint32_t size);
int rts_model_get_id(aclmdlRI model, uint32_t *id);
/* @streams NULL: their number. 107039: more than *count; the first *count are given. */
int rts_model_get_streams(aclmdlRI model, aclrtStream *streams, uint32_t *count);
/* Called when the model is destroyed. 107000: registered already, or not */
int rts_model_on_destroy(aclmdlRI model, aclrtCallback fn, void *arg);
int rts_model_off_destroy(aclmdlRI model, aclrtCallback fn);
/* For a context that goes, before its streams do. */
void rts_models_shutdown(struct rts_context *ctx);

/* ---- model_run.c ---- */

/* Queues a run on @stream. 507011: not complete; 107026: still captured; 107027, 107000 for the stream. */
int rts_model_execute_async(aclmdlRI model, aclrtStream stream);
/* 107000 for a captured model or timeout (ms; -1: none), 507046 */
int rts_model_execute(aclmdlRI model, int32_t timeout_ms);
/* Ends the runs of the model that are queued or under way; who waits for them gets 507023. */
int rts_model_abort(aclmdlRI model);

/* ---- model_print.c ---- */

/* To the log. */
int rts_model_print(aclmdlRI model);
/* Trace events in JSON. 107000: the file cannot be written */
int rts_model_print_json(aclmdlRI model, const char *path);

/* ---- model_info.c ---- */

enum rts_task_info {
	RTS_TASK_OPERATOR, /* for a profiler */
	RTS_TASK_EXTENDED, /* which rts_model_print_json() shows */
};

/*
 * Notes @text, copied, at the task that this thread has recorded last. 507000: there is none, or it is in no captured
 * model, or the stream does not keep what operators say (ACL_STREAM_ATTR_CACHE_OP_INFO).
 */
int rts_task_note(enum rts_task_info kind, const void *text, size_t size);

/* ---- label.c ---- */

/* 507000: 65,535 exist */
int rts_label_create(aclrtLabel *label);
int rts_label_destroy(aclrtLabel label);
/* 507000: set already, or in no list */
int rts_label_set(aclrtLabel label, aclrtStream stream);
/* 507000: one is in a list already */
int rts_label_list_create(aclrtLabel *labels, size_t count, aclrtLabelList *list);
int rts_label_list_destroy(aclrtLabelList list);
int rts_label_switch(void *ptr, uint32_t count, aclrtLabelList list, aclrtStream stream);

struct rts_compare {
	const void *left, *right; /* device memory */
	aclrtCondition condition;
	aclrtCompareDataType type;
};

int rts_stream_switch(const struct rts_compare *compare, aclrtStream target, aclrtStream stream);
int rts_stream_activate(aclrtStream target, aclrtStream stream);

#endif
