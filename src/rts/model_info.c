/* SPDX-License-Identifier: MIT */
/* model_info.c - what a program says about the tasks that it records. It goes with the model. */
#include "rts/model_impl.h"

#include <stdlib.h>
#include <string.h>

/* The last step of a track as a rule. models_lock */
static struct model_step *track_find(const struct model_track *track, uint64_t serial)
{
	struct model_step *step = track->last && track->last->serial == serial ? track->last : track->first;

	while (step && step->serial != serial)
		step = step->next;
	return step;
}

/* models_lock */
static struct model_step *step_find(uint64_t serial, struct model_track **track)
{
	struct model_step *step;

	for (struct rts_model *m = serial ? models_first() : NULL; m; m = m->next_all)
		for (*track = m->tracks; *track; *track = (*track)->next) {
			step = track_find(*track, serial);
			if (step)
				return step;
		}
	return NULL;
}

/* models_lock */
static const char *refusal(enum rts_task_info kind, const struct rts_model *model)
{
	if (kind != RTS_TASK_OPERATOR)
		return NULL;
	if (!model->captured)
		return "is in a model that is built, not captured";
	for (const struct model_track *t = model->tracks; t; t = t->next)
		if (t->source && atomic_load(&t->source->cache_op))
			return NULL;
	return "is in a model none of whose streams, being captured, keeps it (ACL_STREAM_ATTR_CACHE_OP_INFO)";
}

int rts_task_note(enum rts_task_info kind, const void *text, size_t size)
{
	const char *why = "is in no model that is there";
	struct rts_context *ctx;
	struct model_track *track;
	struct model_step *step;
	char *copy;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	copy = malloc(size);
	if (!copy)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for %zu bytes about a task", size);
	memcpy(copy, text, size);
	u_mutex_lock(&models_lock);
	step = step_find(model_last_serial(), &track);
	if (step)
		why = refusal(kind, track->model);
	if (!why) {
		free(step->info[kind].text);
		step->info[kind] = (struct model_info){ copy, size };
	}
	u_mutex_unlock(&models_lock);
	if (!why)
		return 0;
	free(copy);
	return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the task that this thread has recorded last %s", why);
}
