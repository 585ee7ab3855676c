/* SPDX-License-Identifier: MIT */
/*
 * model_group.c - groups of recorded kernels whose places others take later.
 *
 * While a group is open on a captured stream, the capture takes nothing but its kernels. Later, between the beginning
 * and the end of an update on a stream that is not captured, each kernel launched there takes the place of the group's
 * next one. It does so when that stream comes to it, so a model that waits for the stream's event runs with what was
 * set before.
 */
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct task_group {
	struct model_part part;
	struct rts_model *model; /* whose list it is in; NULL once that is gone */
	struct task_group *next;
	/* The rest: models_lock */
	struct model_track *track; /* that it is recorded on, while it is open */
	struct model_step **steps;
	uint32_t count, room;
	int code; /* why it failed */
	bool updating;
	uint32_t changed; /* in the update that is under way */
};

/* Payload of a change. */
struct change {
	struct rts_model *model; /* a reference */
	struct model_step *step;
	struct model_step *with; /* owned until it has happened; afterwards the old slot */
};

/* --- recording -------------------------------------------------------------------------------- */

static struct task_group *open_group(const struct rts_model *model)
{
	struct task_group *g = model->groups;

	while (g && !g->track)
		g = g->next;
	return g;
}

int groups_check(const struct rts_model *model)
{
	if (!open_group(model))
		return 0;
	return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
			"a group of tasks is still open (aclmdlRICaptureTaskGrpEnd)");
}

static int group_fail(struct task_group *g, int code)
{
	g->code = code;
	capture_invalidate(g->model);
	return code;
}

int group_check(struct model_track *track, const struct rts_task_type *type)
{
	struct task_group *g = open_group(track->model);
	struct model_step **steps;
	uint32_t room;

	if (!g)
		return 0;
	if (g->track != track)
		return group_fail(
			g, u_report(ACL_ERROR_STREAM_TASK_GROUP_INTR, "a group of tasks is open on another stream of "
								      "the capture (aclmdlRICaptureTaskGrpEnd)"));
	if (!type->kernel)
		return group_fail(g, u_report(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
					      "a %s cannot be in a group of tasks; kernels can", type->name));
	if (g->count < g->room)
		return 0;
	room = g->room ? 2 * g->room : 8;
	steps = realloc(g->steps, room * sizeof(g->steps[0]));
	if (!steps)
		return group_fail(g,
				  u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a group of tasks"));
	g->steps = steps;
	g->room = room;
	return 0;
}

void group_note(struct model_track *track, struct model_step *step)
{
	struct task_group *g = open_group(track->model);

	if (!g)
		return;
	g->steps[g->count++] = step;
	track->changes = true;
}

static void group_released(struct rts_object *obj)
{
	struct task_group *g = (struct task_group *)obj;

	free(g->steps);
	free(g);
}

static void group_put(struct task_group **g)
{
	if (*g)
		rts_object_put(&(*g)->part.obj);
	*g = NULL;
}

/* models_lock. The model keeps a reference beside the handle's. */
static int group_open(struct rts_stream *st, struct task_group *g)
{
	struct model_track *track = atomic_load(&st->track);

	if (!track || track->source != st)
		return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured", rts_stream_id(st));
	if (st->group)
		return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %d has an open group of tasks already",
				rts_stream_id(st));
	rts_object_ref(&g->part.obj);
	g->model = track->model;
	g->track = track;
	g->next = track->model->groups;
	track->model->groups = g;
	st->group = g;
	return 0;
}

int rts_group_begin(aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	struct task_group *g;
	int r = rts_stream_get(handle, &st);

	if (r)
		return r;
	g = calloc(1, sizeof(*g));
	if (!g)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a group of tasks");
	g->part.kind = PART_GROUP;
	r = rts_object_publish(&g->part.obj, RTS_MODEL_PART, group_released);
	if (r) {
		free(g);
		return r;
	}
	u_mutex_lock(&models_lock);
	r = group_open(st, g);
	u_mutex_unlock(&models_lock);
	if (r)
		rts_object_put(rts_object_unpublish(g->part.obj.handle, RTS_MODEL_PART));
	return r;
}

/* models_lock */
static int group_close(struct rts_stream *st, aclrtTaskGrp *handle)
{
	struct model_track *track = atomic_load(&st->track);
	struct task_group *g = st->group;

	if (!track || track->source != st)
		return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured", rts_stream_id(st));
	if (!g)
		return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %d has no open group of tasks",
				rts_stream_id(st));
	st->group = NULL;
	g->track = NULL;
	if (g->code)
		return u_report(g->code, "a task could not be recorded while the group was open");
	if (atomic_load(&g->model->state) != MODEL_RECORDING)
		return u_report(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
				"the capture of stream %d is not valid any more", rts_stream_id(st));
	*handle = g->part.obj.handle;
	return 0;
}

int rts_group_end(aclrtStream handle, aclrtTaskGrp *out)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	aclrtTaskGrp result = NULL;
	int r = rts_stream_get(handle, &st);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = group_close(st, &result);
	u_mutex_unlock(&models_lock);
	*out = result;
	return r;
}

/* --- changing --------------------------------------------------------------------------------- */

/* The old slot is dropped when no run can be using it. */
static int change_run(void *payload, struct rts_stream *st)
{
	struct change *c = payload;
	struct task_slot old;
	bool used;

	(void)st;
	u_mutex_lock(&c->model->lock);
	old = c->step->slot;
	c->step->slot = c->with->slot;
	c->with->slot = old;
	used = c->model->last;
	if (used) {
		c->with->next = c->model->retired;
		c->model->retired = c->with;
	}
	u_mutex_unlock(&c->model->lock);
	if (used)
		c->with = NULL;
	return 0;
}

static void change_drop(void *payload)
{
	struct change *c = payload;

	steps_free(c->with);
	model_put(&c->model);
}

static const struct rts_task_type change_type = { .name = "task update", .run = change_run, .drop = change_drop };

/* models_lock. The group's next step and its model, with a reference. */
static int change_next(struct rts_stream *st, const struct rts_task_type *type, struct change *c)
{
	struct task_group *g = st->group;

	if (!type->kernel)
		return u_report(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
				"a %s cannot take a recorded task's place; a kernel can", type->name);
	if (!g || !g->model)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"the model whose tasks were to be changed has been destroyed");
	if (g->changed == g->count)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the group has %u tasks, and all have been changed",
				g->count);
	c->step = g->steps[g->changed++];
	c->model = g->model;
	rts_object_ref(&c->model->obj);
	return 0;
}

int group_update(struct rts_stream *st, const struct rts_task_type *type, const void *payload, size_t size,
		 uint64_t *position)
{
	struct change c = { .with = aligned_alloc(_Alignof(struct task_slot), sizeof(*c.with)) };
	int r;

	if (!c.with)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a change of a task");
	u_mutex_lock(&models_lock);
	r = change_next(st, type, &c);
	u_mutex_unlock(&models_lock);
	if (!r) {
		*c.with = (struct model_step){ .slot.type = type, .slot.thread = (uint64_t)gettid() };
		if (size)
			memcpy(c.with->slot.payload, payload, size);
		r = stream_submit_join(st, &change_type, &c, sizeof(c), position);
	}
	if (r) {
		free(c.with); /* the payload stays the caller's */
		model_put(&c.model);
	}
	return r;
}

int group_check_idle(const struct rts_stream *st)
{
	if (atomic_load(&st->track) || !st->group)
		return 0;
	return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
			"stream %d changes recorded tasks; until aclmdlRICaptureTaskUpdateEnd it cannot be captured",
			rts_stream_id(st));
}

static int update_check(const struct rts_stream *st)
{
	int r = rts_stream_check_captured(st, "used to change recorded tasks");

	if (!r && atomic_load(&st->track))
		r = u_report(ACL_ERROR_RT_STREAM_MODEL,
			     "stream %d belongs to a model; tasks are changed on one that does not", rts_stream_id(st));
	return r;
}

/* models_lock */
static int update_start(struct rts_stream *st, struct task_group *g)
{
	int r = update_check(st); /* again: it may have been captured meanwhile */

	if (r)
		return r;
	if (st->group)
		return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %d is changing tasks already",
				rts_stream_id(st));
	if (g->updating)
		return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "another stream is changing the group's tasks");
	g->updating = true;
	g->changed = 0;
	rts_object_ref(&g->part.obj);
	st->group = g;
	stream_state_change(st, STREAM_UPDATES, 0);
	return 0;
}

static int update_stream(aclrtStream handle, struct rts_stream **st)
{
	int r = rts_stream_get(handle, st);

	return r ? r : update_check(*st);
}

int rts_update_begin(aclrtStream handle, aclrtTaskGrp group)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	u_cleanup(group_put) struct task_group *g = NULL;
	int r = update_stream(handle, &st);

	if (r)
		return r;
	g = (struct task_group *)rts_object_get(group, RTS_MODEL_PART);
	if (!g || g->part.kind != PART_GROUP)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"group of tasks %p is no live one: its model was destroyed, or it never was one",
				group);
	u_mutex_lock(&models_lock);
	r = update_start(st, g);
	u_mutex_unlock(&models_lock);
	return r;
}

int rts_update_end(aclrtStream handle)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	u_cleanup(group_put) struct task_group *g = NULL;
	uint32_t changed = 0, count = 0;
	int r = update_stream(handle, &st);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	g = st->group; /* its reference */
	if (g) {
		st->group = NULL;
		stream_state_change(st, 0, STREAM_UPDATES);
		g->updating = false;
		changed = g->changed;
		count = g->count;
	}
	u_mutex_unlock(&models_lock);
	if (!g)
		return u_report(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %d is not changing tasks",
				rts_stream_id(st));
	if (changed != count)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the group has %u tasks, and %u have been changed", count,
				changed);
	return 0;
}

void group_forget(struct rts_stream *st)
{
	if (!(atomic_load(&st->state) & STREAM_UPDATES))
		return;
	u_mutex_lock(&models_lock);
	st->group->updating = false;
	u_mutex_unlock(&models_lock);
	group_put(&st->group);
}

/* --- the end ---------------------------------------------------------------------------------- */

void groups_close(struct rts_model *model)
{
	struct rts_object *obj;

	for (struct task_group *g = model->groups; g; g = g->next) {
		obj = rts_object_unpublish(g->part.obj.handle, RTS_MODEL_PART);
		u_mutex_lock(&models_lock);
		g->model = NULL;
		g->track = NULL;
		u_mutex_unlock(&models_lock);
		if (obj)
			rts_object_put(obj);
	}
}

void groups_free(struct rts_model *model)
{
	struct task_group *next;

	for (struct task_group *g = model->groups; g; g = next) {
		next = g->next;
		rts_object_put(&g->part.obj);
	}
	steps_free(model->retired);
}
