/* SPDX-License-Identifier: MIT */
/* model_name.c - what a model is called, its streams, and what a program wants called at its end. */
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rts_model_set_name(aclmdlRI handle, const char *name)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	int r = model_get(handle, &model);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	snprintf(model->name, sizeof(model->name), "%s", name);
	u_mutex_unlock(&models_lock);
	return 0;
}

int rts_model_get_name(aclmdlRI handle, char *name, uint32_t size)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	char copy[RTS_MODEL_NAME_MAX];
	int r = model_get(handle, &model);

	if (r)
		return r;
	if (!size)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "maxLen is 0; it must be the size of name");
	u_mutex_lock(&models_lock);
	memcpy(copy, model->name, sizeof(copy));
	u_mutex_unlock(&models_lock);
	if (strlen(copy) >= size)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR, "the name has %zu bytes; maxLen is %u", strlen(copy) + 1,
				size);
	memcpy(name, copy, strlen(copy) + 1);
	return 0;
}

int rts_model_get_id(aclmdlRI handle, uint32_t *id)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	int r = model_get_any(handle, &model);

	if (!r)
		*id = model->id;
	return r;
}

int rts_model_get_streams(aclmdlRI handle, aclrtStream *streams, uint32_t *count)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	uint32_t room = *count, n = 0;
	int r = model_get(handle, &model);

	if (!r)
		r = model_check_whole(model);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	for (struct model_track *t = model->tracks; t; t = t->next, n++)
		if (streams && n < room)
			streams[n] = t->stream->obj.handle;
	u_mutex_unlock(&models_lock);
	*count = !streams || n < room ? n : room;
	for (uint32_t i = n; streams && i < room; i++)
		streams[i] = NULL;
	if (streams && n > room)
		return u_report(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, "the model has %u streams; numStreams is %u", n,
				room);
	return 0;
}

/* The place of the pointer to it, or of the one at the end. */
static struct model_callback **callback_find(struct rts_model *model, aclrtCallback fn)
{
	struct model_callback **at = &model->callbacks;

	while (*at && (*at)->fn != fn)
		at = &(*at)->next;
	return at;
}

static int callback_check(aclrtCallback fn)
{
	return fn ? 0 : u_report(ACL_ERROR_RT_PARAM_INVALID, "func is NULL; it must be the function to call");
}

int rts_model_on_destroy(aclmdlRI handle, aclrtCallback fn, void *arg)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	struct model_callback *cb, **at;
	bool known;
	int r = model_get_any(handle, &model);

	if (!r)
		r = model_check_whole(model);
	if (!r)
		r = callback_check(fn);
	if (r)
		return r;
	cb = malloc(sizeof(*cb));
	if (!cb)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a callback");
	*cb = (struct model_callback){ .fn = fn, .arg = arg };
	u_mutex_lock(&models_lock);
	at = callback_find(model, fn);
	known = *at;
	if (!known)
		*at = cb;
	u_mutex_unlock(&models_lock);
	if (!known)
		return 0;
	free(cb);
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "func is registered with model %u already", model->id);
}

int rts_model_off_destroy(aclmdlRI handle, aclrtCallback fn)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	struct model_callback *cb, **at;
	int r = model_get_any(handle, &model);

	if (!r)
		r = model_check_whole(model);
	if (!r)
		r = callback_check(fn);
	if (r)
		return r;
	u_mutex_lock(&models_lock);
	at = callback_find(model, fn);
	cb = *at;
	if (cb)
		*at = cb->next;
	u_mutex_unlock(&models_lock);
	free(cb);
	return cb ? 0 : u_report(ACL_ERROR_RT_PARAM_INVALID, "func is not registered with model %u", model->id);
}
