/* SPDX-License-Identifier: MIT */
/*
 * label.c - what steers a model while it runs: labels, and streams that start each other.
 *
 * A label is a place in a bound stream. A switch picks one of a list by a number in device memory and goes on there: on
 * the same stream, or on the label's, and then its own is through. Where a label lies is protected by models_lock.
 */
#include "rts/memory.h"
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <stdlib.h>

#define LABELS_MAX 65535u

struct label {
	struct rts_object obj;
	struct rts_context *context; /* a reference */
	atomic_bool listed;
	struct model_track *track; /* models_lock: NULL: not set */
	struct model_step *step;
};

struct label_list {
	struct rts_object obj;
	size_t count;
	struct label *labels[]; /* references */
};

/* Payloads. */
struct label_step {
	struct label *label; /* a reference */
};

struct label_switch {
	struct label_list *list; /* a reference */
	const uint32_t *index;
	uint32_t count;
};

struct stream_switch {
	struct rts_compare compare; /* left NULL: in any case */
	struct rts_stream *target;  /* a reference */
};

static atomic_uint labels;

/* --- labels ----------------------------------------------------------------------------------- */

static void label_released(struct rts_object *obj)
{
	struct label *label = (struct label *)obj;

	rts_object_put(&label->context->obj);
	atomic_fetch_sub(&labels, 1);
	free(label);
}

static void label_put(struct label **label)
{
	if (*label)
		rts_object_put(&(*label)->obj);
	*label = NULL;
}

static int label_get(aclrtLabel handle, struct label **out)
{
	struct label *label = (struct label *)rts_object_get(handle, RTS_LABEL);

	if (!label)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"label %p is no live label of this process: destroyed, or never one", handle);
	*out = label;
	return 0;
}

/* Of the current context. */
static int label_get_own(aclrtLabel handle, struct label **out)
{
	struct rts_context *ctx;
	int r = rts_process_check_fork();

	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = label_get(handle, out);
	if (!r && (*out)->context != ctx)
		r = u_report(ACL_ERROR_RT_LABEL_CONTEXT,
			     "the label belongs to another context than this thread's current one");
	return r;
}

int rts_label_create(aclrtLabel *handle)
{
	struct rts_context *ctx;
	struct label *label;
	int r = rts_process_check_fork();

	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	label = calloc(1, sizeof(*label));
	if (!label)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a label");
	if (atomic_fetch_add(&labels, 1) >= LABELS_MAX) {
		r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the process has %u labels, which is the most", LABELS_MAX);
		goto err_count;
	}
	rts_object_ref(&ctx->obj);
	label->context = ctx;
	r = rts_object_publish(&label->obj, RTS_LABEL, label_released);
	if (r)
		goto err_context;
	*handle = label->obj.handle;
	return 0;

err_context:
	rts_object_put(&ctx->obj);
err_count:
	atomic_fetch_sub(&labels, 1);
	free(label);
	return r;
}

int rts_label_destroy(aclrtLabel handle)
{
	u_cleanup(label_put) struct label *label = NULL;
	struct rts_object *obj;
	int r = label_get_own(handle, &label);

	if (r)
		return r;
	obj = rts_object_unpublish(handle, RTS_LABEL);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "the label is being destroyed by another thread");
	rts_object_put(obj);
	return 0;
}

/* --- recording -------------------------------------------------------------------------------- */

static int not_bound(const struct rts_stream *st)
{
	return u_report(ACL_ERROR_RT_STREAM_MODEL, "stream %d is not bound to a model (aclmdlRIBindStream)",
			rts_stream_id(st));
}

/* models_lock. The bound stream's track, while its model is being built; NULL, and *code. */
static struct model_track *bound_track(const struct rts_stream *st, int *code)
{
	struct model_track *track = atomic_load(&st->track);

	*code = 0;
	if (!track || track->source)
		*code = not_bound(st);
	else if (atomic_load(&track->model->state) != MODEL_RECORDING)
		*code = u_report(ACL_ERROR_RT_STREAM_MODEL,
				 "stream %d belongs to a model that is complete, and takes no more tasks",
				 rts_stream_id(st));
	return *code ? NULL : track;
}

static int nothing_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	(void)st;
	return 0;
}

/* The model is going, or the stream has been cleaned: the label is free again. */
static void label_step_drop(void *payload)
{
	struct label_step *t = payload;

	u_mutex_lock(&models_lock);
	t->label->track = NULL;
	t->label->step = NULL;
	u_mutex_unlock(&models_lock);
	label_put(&t->label);
}

static const struct rts_task_type label_type = { .name = "label", .run = nothing_run, .drop = label_step_drop };

static int label_set_locked(struct label *label, const struct rts_stream *st)
{
	struct label_step t = { .label = label };
	struct model_track *track;
	int r;

	track = bound_track(st, &r);
	if (r)
		return r;
	if (label->track)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the label has been set already");
	if (!atomic_load(&label->listed))
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"the label is in no list; aclrtCreateLabelList comes before aclrtSetLabel");
	r = track_append(track, &label_type, &t, sizeof(t));
	if (r)
		return r;
	rts_object_ref(&label->obj);
	label->track = track;
	label->step = track->last;
	return 0;
}

int rts_label_set(aclrtLabel handle, aclrtStream stream)
{
	u_cleanup(label_put) struct label *label = NULL;
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r = label_get_own(handle, &label);

	if (!r)
		r = rts_stream_get(stream, &st);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = label_set_locked(label, st);
	u_mutex_unlock(&models_lock);
	return r;
}

/* --- lists ------------------------------------------------------------------------------------ */

static void list_released(struct rts_object *obj)
{
	struct label_list *list = (struct label_list *)obj;

	for (size_t i = 0; i < list->count; i++)
		label_put(&list->labels[i]);
	free(list);
}

/* All or none of them are in a list from now on. */
static int list_fill(struct label_list *list, aclrtLabel *handles, size_t count)
{
	size_t taken = 0;
	int r = 0;

	for (; list->count < count && !r; list->count += !r)
		r = label_get(handles[list->count], &list->labels[list->count]);
	for (; taken < list->count && !r; taken += !r)
		if (atomic_exchange(&list->labels[taken]->listed, true))
			r = u_report(ACL_ERROR_RT_INTERNAL_ERROR, "label %zu is in a list already", taken);
	while (r && taken)
		atomic_store(&list->labels[--taken]->listed, false);
	return r;
}

int rts_label_list_create(aclrtLabel *handles, size_t count, aclrtLabelList *out)
{
	struct rts_context *ctx;
	struct label_list *list;
	int r = rts_process_check_fork();

	if (!r && (!count || count > LABELS_MAX))
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "num is %zu; a list has 1 to %u labels", count, LABELS_MAX);
	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	list = calloc(1, sizeof(*list) + count * sizeof(list->labels[0]));
	if (!list)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for %zu labels", count);
	r = list_fill(list, handles, count);
	if (!r)
		r = rts_object_publish(&list->obj, RTS_LABEL_LIST, list_released);
	if (r)
		list_released(&list->obj);
	else
		*out = list->obj.handle;
	return r;
}

int rts_label_list_destroy(aclrtLabelList handle)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_unpublish(handle, RTS_LABEL_LIST);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "label list %p is no live one: destroyed, or never one",
				handle);
	rts_object_put(obj);
	return 0;
}

/* --- switching to a label --------------------------------------------------------------------- */

static int place_check(const void *ptr, size_t size, const char *what)
{
	struct rts_place place;
	int r = rts_place(ptr, size, what, &place);

	if (!r && place.type != ACL_MEM_LOCATION_TYPE_DEVICE)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is %p, which is not device memory", what, ptr);
	return r;
}

/* The running play goes on at @step of @track. */
static int go_to(struct rts_stream *st, struct model_track *track, struct model_step *step)
{
	struct model_track *own = atomic_load(&st->track);
	struct model_run *run = own->run;

	if (track == own) {
		own->at = step;
		return 0;
	}
	own->at = NULL;
	return run_activate(run, track, step);
}

static int label_switch_run(void *payload, struct rts_stream *st)
{
	struct label_switch *t = payload;
	struct model_track *track;
	struct model_step *step;
	struct label *label;
	uint32_t index;

	if (!step_read(st, &index, t->index, sizeof(index)))
		return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	label = t->list->labels[index < t->count ? index : t->count - 1];
	u_mutex_lock(&models_lock);
	track = label->track;
	step = label->step;
	if (track && track->model != atomic_load(&st->track)->model)
		track = NULL;
	u_mutex_unlock(&models_lock);
	if (track)
		return go_to(st, track, step);
	rts_stream_explain(st, "label %u of the list has not been set in this model", index);
	return ACL_ERROR_RT_INTERNAL_ERROR;
}

static void label_switch_drop(void *payload)
{
	rts_object_put(&((struct label_switch *)payload)->list->obj);
}

static const struct rts_task_type label_switch_type = {
	.name = "label switch",
	.run = label_switch_run,
	.drop = label_switch_drop,
};

static int label_switch_append(struct label_switch *t, const struct rts_stream *st)
{
	struct model_track *track;
	int r;

	u_mutex_lock(&models_lock);
	track = bound_track(st, &r);
	r = r ? r : track_append(track, &label_switch_type, t, sizeof(*t));
	u_mutex_unlock(&models_lock);
	return r;
}

int rts_label_switch(void *ptr, uint32_t count, aclrtLabelList handle, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct label_switch t = { .index = ptr, .count = count };
	int r = rts_stream_get(stream, &st);

	if (r)
		return r;
	t.list = (struct label_list *)rts_object_get(handle, RTS_LABEL_LIST);
	if (!t.list)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "label list %p is no live one: destroyed, or never one",
				handle);
	if (!count || count > t.list->count)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "maxValue is %u; the list has %zu labels", count,
			     t.list->count);
	if (!r)
		r = place_check(ptr, sizeof(*t.index), "ptr");
	if (!r)
		r = label_switch_append(&t, st);
	if (r)
		label_switch_drop(&t);
	return r;
}

/* --- streams that start others ---------------------------------------------------------------- */

static bool compare(aclrtCondition condition, int64_t left, int64_t right)
{
	switch (condition) {
	case ACL_RT_EQUAL:
		return left == right;
	case ACL_RT_NOT_EQUAL:
		return left != right;
	case ACL_RT_GREATER:
		return left > right;
	case ACL_RT_GREATER_OR_EQUAL:
		return left >= right;
	case ACL_RT_LESS:
		return left < right;
	default:
		return left <= right;
	}
}

static bool operand_read(struct rts_stream *st, const void *ptr, aclrtCompareDataType type, int64_t *value)
{
	int32_t narrow;

	if (type == ACL_RT_SWITCH_INT64)
		return step_read(st, value, ptr, sizeof(*value));
	if (!step_read(st, &narrow, ptr, sizeof(narrow)))
		return false;
	*value = narrow;
	return true;
}

static int target_track(const struct stream_switch *t, struct rts_stream *st, struct model_track **track)
{
	u_mutex_lock(&models_lock);
	*track = atomic_load(&t->target->track);
	if (*track && (*track)->model != atomic_load(&st->track)->model)
		*track = NULL;
	u_mutex_unlock(&models_lock);
	if (*track)
		return 0;
	rts_stream_explain(st, "stream %d is not bound to this model any more", rts_stream_id(t->target));
	return ACL_ERROR_RT_STREAM_MODEL;
}

static int activate_run(void *payload, struct rts_stream *st)
{
	struct model_track *track;
	int r = target_track(payload, st, &track);

	return r ? r : run_activate(run_of(st), track, NULL);
}

static int switch_run(void *payload, struct rts_stream *st)
{
	const struct stream_switch *t = payload;
	const struct rts_compare *c = &t->compare;
	struct model_track *track;
	int64_t left, right;
	int r;

	if (!operand_read(st, c->left, c->type, &left) || !operand_read(st, c->right, c->type, &right))
		return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
	if (!compare(c->condition, left, right))
		return 0;
	r = target_track(t, st, &track);
	return r ? r : go_to(st, track, track->first);
}

static void stream_switch_drop(void *payload)
{
	rts_stream_put(&((struct stream_switch *)payload)->target);
}

static const struct rts_task_type activate_type = { .name = "stream activation",
						    .run = activate_run,
						    .drop = stream_switch_drop };
static const struct rts_task_type switch_type = { .name = "stream switch",
						  .run = switch_run,
						  .drop = stream_switch_drop };

/* Both streams are bound to one model. */
static int append_for(struct stream_switch *t, const struct rts_task_type *type, const struct rts_stream *st)
{
	struct model_track *track, *target;
	int r;

	u_mutex_lock(&models_lock);
	track = bound_track(st, &r);
	target = atomic_load(&t->target->track);
	if (!r && (!target || target->source))
		r = not_bound(t->target);
	if (!r && target->model != track->model)
		r = u_report(ACL_ERROR_RT_STREAM_MODEL, "streams %d and %d are bound to different models",
			     rts_stream_id(st), rts_stream_id(t->target));
	if (!r)
		r = track_append(track, type, t, sizeof(*t));
	u_mutex_unlock(&models_lock);
	return r;
}

static int submit(struct stream_switch *t, const struct rts_task_type *type, aclrtStream target, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	int r = rts_stream_get(stream, &st);

	if (!r)
		r = rts_stream_get(target, &t->target);
	if (!r)
		r = append_for(t, type, st);
	if (r)
		rts_stream_put(&t->target);
	return r;
}

int rts_stream_activate(aclrtStream target, aclrtStream stream)
{
	struct stream_switch t = { 0 };

	return submit(&t, &activate_type, target, stream);
}

int rts_stream_switch(const struct rts_compare *c, aclrtStream target, aclrtStream stream)
{
	struct stream_switch t = { .compare = *c };
	size_t size = c->type == ACL_RT_SWITCH_INT64 ? sizeof(int64_t) : sizeof(int32_t);
	int r = 0;

	if ((unsigned)c->condition > ACL_RT_LESS_OR_EQUAL)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "cond is %d; it must be from 0 to %d", (int)c->condition,
			     ACL_RT_LESS_OR_EQUAL);
	if (!r && (unsigned)c->type > ACL_RT_SWITCH_INT64)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "dataType is %d; it must be 0 or %d", (int)c->type,
			     ACL_RT_SWITCH_INT64);
	if (!r)
		r = place_check(c->left, size, "leftValue");
	if (!r)
		r = place_check(c->right, size, "rightValue");
	return r ? r : submit(&t, &switch_type, target, stream);
}
