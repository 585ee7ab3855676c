/* SPDX-License-Identifier: MIT */
/*
 * model_cond.c - branches of captured models. A condition is a word of device memory; a task of the model reads it when
 * the run comes to it and runs the branch that it chooses: a captured model of its own, which belongs to the one that
 * it was made in.
 */
#include "rts/fault.h"
#include "rts/memory.h"
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>

struct model_cond {
	struct model_part part;
	struct rts_model *model; /* models_lock: that it decides in; NULL once that is gone */
	struct model_cond *next;
	uint64_t *value; /* device memory */
	uint64_t start;
	bool assigns; /* start, when a run begins */
	/* models_lock; of its task */
	aclmdlRICondTaskType type;
	uint32_t count;
	struct rts_model **branches; /* references */
};

/* Payload. */
struct cond_task {
	struct model_cond *cond; /* a reference */
	struct model_run *run;	 /* of a branch, under way; a reference */
	struct rts_stream *stream;
	bool linked;
};

/* --- conditions ------------------------------------------------------------------------------- */

static void branches_free(struct rts_model **branches, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		model_discard(branches[i]);
		model_put(&branches[i]);
	}
	free(branches);
}

static void cond_released(struct rts_object *obj)
{
	struct model_cond *c = (struct model_cond *)obj;

	branches_free(c->branches, c->count);
	(void)rts_memory_free(c->value);
	free(c);
}

static void cond_put(struct model_cond **c)
{
	if (*c)
		rts_object_put(&(*c)->part.obj);
	*c = NULL;
}

static int cond_get(aclmdlRICondHandle handle, struct model_cond **out)
{
	struct model_part *part = (struct model_part *)rts_object_get(handle, RTS_MODEL_PART);

	if (part && part->kind == PART_CONDITION) {
		*out = (struct model_cond *)part;
		return 0;
	}
	if (part)
		rts_object_put(&part->obj);
	return u_report(ACL_ERROR_RT_INVALID_HANDLE,
			"condition %p is no live one: its model was destroyed, or it never was one", handle);
}

static int cond_new(struct rts_model *model, struct model_cond **out)
{
	struct model_cond *c = calloc(1, sizeof(*c));
	void *value;
	int r;

	if (!c)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a condition");
	r = rts_small_alloc(model->context->device, sizeof(*c->value), &value);
	if (r)
		goto err_free;
	c->value = value;
	*c->value = 0;
	c->part.kind = PART_CONDITION;
	r = rts_object_publish(&c->part.obj, RTS_MODEL_PART, cond_released);
	if (r)
		goto err_memory;
	*out = c;
	return 0;

err_memory:
	(void)rts_memory_free(value);
err_free:
	free(c);
	return r;
}

int rts_cond_create(aclmdlRI handle, uint64_t start, uint32_t flag, aclmdlRICondHandle *out)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	struct model_cond *c = NULL;
	bool open;
	int r = flag > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT
			? u_report(ACL_ERROR_RT_PARAM_INVALID,
				   "flag is %u; it must be 0 or ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT (1)", flag)
			: model_get(handle, &model);

	if (!r && !model->captured)
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "model %u is built; conditions are for captured ones",
			     model->id);
	if (!r)
		r = cond_new(model, &c);
	if (r)
		return r;
	c->start = start;
	c->assigns = flag;
	u_mutex_lock(&models_lock);
	open = model->origin && atomic_load(&model->state) == MODEL_RECORDING;
	if (open) {
		rts_object_ref(&c->part.obj); /* the model's */
		c->model = model;
		c->next = model->conds;
		model->conds = c;
		*out = c->part.obj.handle;
	}
	u_mutex_unlock(&models_lock);
	if (open)
		return 0;
	rts_object_put(rts_object_unpublish(c->part.obj.handle, RTS_MODEL_PART));
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "model %u is not being captured", model->id);
}

int rts_cond_pointer(aclmdlRICondHandle handle, uint64_t **ptr)
{
	u_cleanup(cond_put) struct model_cond *c = NULL;
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (!r)
		r = cond_get(handle, &c);
	if (!r)
		*ptr = c->value;
	return r;
}

/* --- the task --------------------------------------------------------------------------------- */

static void cond_leave(struct cond_task *t)
{
	if (t->linked)
		run_leave(t->run->model, t->stream);
	t->linked = false;
}

static void cond_task_leave(void *payload)
{
	struct cond_task *t = payload;

	cond_leave(t);
	if (!t->run)
		return;
	run_stop(t->run, ACL_ERROR_RT_STREAM_ABORT, "the model that the branch belongs to was stopped");
	run_put(t->run);
	t->run = NULL;
}

/* NULL: none. */
static struct rts_model *branch_chosen(const struct model_cond *c, uint64_t value)
{
	switch (c->type) {
	case ACL_MODEL_RI_COND_TYPE_IF:
		return value ? c->branches[0] : c->count > 1 ? c->branches[1] : NULL;
	case ACL_MODEL_RI_COND_TYPE_WHILE:
		return value ? c->branches[0] : NULL;
	default:
		return value < c->count ? c->branches[value] : NULL;
	}
}

/* The branch that was run has ended: *code. False: it has not, and the stream will be resumed. */
static bool branch_ended(struct cond_task *t, struct rts_stream *st, int *code)
{
	int r = atomic_load(&t->run->over) ? 0 : stream_wait_ended(st, "a branch");

	if (r)
		run_stop(t->run, r, "the model that the branch belongs to was stopped");
	else
		run_help(t->run, st);
	t->linked = run_wait_for(t->run, st);
	if (t->linked)
		return false;
	*code = t->run->code;
	if (*code)
		rts_stream_explain(st, "%s", t->run->why);
	run_put(t->run);
	t->run = NULL;
	return true;
}

static int cond_run(void *payload, struct rts_stream *st)
{
	struct cond_task *t = payload;
	struct rts_model *branch;
	bool again = !t->run;
	uint64_t value;
	int r = 0;

	t->stream = st;
	cond_leave(t);
	for (;;) {
		if (t->run) {
			if (!branch_ended(t, st, &r))
				return RTS_TASK_BLOCKED;
			again = t->cond->type == ACL_MODEL_RI_COND_TYPE_WHILE;
		}
		if (r || !again || atomic_load(&run_of(st)->stop))
			return r;
		if (!step_read(st, &value, t->cond->value, sizeof(value)))
			return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
		branch = branch_chosen(t->cond, value);
		if (!branch)
			return 0;
		r = run_branch(branch, st, &t->run);
		if (r)
			return r;
	}
}

static void cond_drop(void *payload)
{
	cond_put(&((struct cond_task *)payload)->cond);
}

static const struct rts_task_type cond_type = {
	.name = "condition",
	.run = cond_run,
	.drop = cond_drop,
	.leave = cond_task_leave,
};

/* --- adding it -------------------------------------------------------------------------------- */

static int params_check(const aclmdlRICondTaskParams *p)
{
	static const uint32_t most[] = { 2, 1, UINT32_MAX };

	if ((unsigned)p->type > ACL_MODEL_RI_COND_TYPE_SWITCH)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "type is %d; it must be from 0 to %d", (int)p->type,
				ACL_MODEL_RI_COND_TYPE_SWITCH);
	if (!p->handle || !p->modelRIArray)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "handle or modelRIArray is NULL");
	if (!p->size || p->size > most[p->type])
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is %u; type %d has 1 to %u branches", p->size,
				(int)p->type, most[p->type]);
	return 0;
}

/* Each with a reference beside its handle's. */
static int branches_new(struct rts_context *ctx, uint32_t count, struct rts_model ***out)
{
	struct rts_model **branches = calloc(count, sizeof(branches[0]));
	uint32_t made = 0;
	int r = 0;

	if (!branches)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for %u branches", count);
	for (; made < count && !r; made += !r) {
		r = model_new(ctx, true, &branches[made]);
		if (r)
			break;
		branches[made]->branch = true;
		rts_object_ref(&branches[made]->obj);
	}
	if (r)
		branches_free(branches, made);
	else
		*out = branches;
	return r;
}

/* models_lock. The condition takes the branches over. */
static int cond_append(struct model_cond *c, struct rts_stream *st, const aclmdlRICondTaskParams *p,
		       struct rts_model **branches)
{
	struct model_track *track = atomic_load(&st->track);
	struct cond_task t = { .cond = c };
	int r;

	if (!track || track->source != st)
		return u_report(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured", rts_stream_id(st));
	if (c->count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the condition has a task already; each takes one of its own");
	if (c->model != track->model)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the condition is not of the model that stream %d is captured for", rts_stream_id(st));
	r = track_append(track, &cond_type, &t, sizeof(t));
	if (r)
		return r;
	rts_object_ref(&c->part.obj);
	c->type = p->type;
	c->count = p->size;
	c->branches = branches;
	return 0;
}

int rts_cond_add(const aclmdlRICondTaskParams *p, aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;
	u_cleanup(cond_put) struct model_cond *c = NULL;
	struct rts_model **branches = NULL;
	int r = params_check(p);

	if (!r)
		r = cond_get(p->handle, &c);
	if (!r)
		r = rts_stream_get(stream, &st);
	if (!r)
		r = branches_new(rts_stream_context(st), p->size, &branches);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	r = cond_append(c, st, p, branches);
	u_mutex_unlock(&models_lock);
	for (uint32_t i = 0; !r && i < p->size; i++)
		p->modelRIArray[i] = branches[i]->obj.handle;
	if (r)
		branches_free(branches, p->size);
	return r;
}

/* --- for the model ---------------------------------------------------------------------------- */

int conds_check(const struct rts_model *model)
{
	for (const struct model_cond *c = model->conds; c; c = c->next)
		for (uint32_t i = 0; i < c->count; i++)
			if (atomic_load(&c->branches[i]->state) < MODEL_READY && c->branches[i]->origin)
				return u_report(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
						"branch %u of a condition is still being captured", i);
	return 0;
}

static void assign(void *arg)
{
	const struct model_cond *c = arg;

	*c->value = c->start;
}

/* Where the program has freed the word, the condition's task says so. */
void conds_assign(const struct rts_model *model)
{
	struct fault fault;

	for (struct model_cond *c = model->conds; c; c = c->next) {
		if (c->assigns)
			(void)fault_guard(assign, c, &fault);
		for (uint32_t i = 0; i < c->count; i++)
			conds_assign(c->branches[i]);
	}
}

void conds_close(struct rts_model *model)
{
	for (struct model_cond *c = model->conds; c; c = c->next) {
		struct rts_object *obj = rts_object_unpublish(c->part.obj.handle, RTS_MODEL_PART);

		u_mutex_lock(&models_lock);
		c->model = NULL;
		u_mutex_unlock(&models_lock);
		for (uint32_t i = 0; i < c->count; i++)
			model_discard(c->branches[i]);
		if (obj)
			rts_object_put(obj);
	}
}

void conds_free(struct rts_model *model)
{
	struct model_cond *next;

	for (struct model_cond *c = model->conds; c; c = next) {
		next = c->next;
		rts_object_put(&c->part.obj);
	}
}
