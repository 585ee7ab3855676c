/* SPDX-License-Identifier: MIT */
/* model_print.c - what is in a model, for people: in the log, and as trace events that chrome://tracing shows. */
#include "rts/model_impl.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEP_US 10 /* of the picture; it tells the order and not the time */

static void json_string(FILE *file, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ')
			fprintf(file, "\\u%04x", c);
		else
			fprintf(file, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
}

static void json_info(FILE *file, const struct model_info *info)
{
	if (!info->size)
		return;
	fputs(",\"ExtendInfo\":\"", file);
	json_string(file, info->text, info->size);
	fputc('"', file);
}

static void json_step(FILE *file, const struct rts_model *model, const struct model_track *track,
		      const struct model_step *step, uint32_t index, const char *comma)
{
	fprintf(file,
		"%s{\"name\":\"%s\",\"pid\":\"%d "
		"aclGraph\",\"tid\":\"stream%d\",\"ts\":%u,\"dur\":%u,\"ph\":\"X\",\"args\":{"
		"\"Model Id\":%u,\"Stream Id\":%d,\"Task Id\":%u,\"Task Type\":\"%s\"",
		comma, step->slot.type->name, (int)getpid(), rts_stream_id(track->stream), index * STEP_US, STEP_US,
		model->id, rts_stream_id(track->stream), index, step->slot.type->name);
	json_info(file, &step->info[RTS_TASK_EXTENDED]);
	fputs("}}", file);
}

/* models_lock */
static void json_write(FILE *file, const struct rts_model *model)
{
	const char *comma = "";

	fputs("[\n", file);
	for (const struct model_track *t = model->tracks; t; t = t->next) {
		uint32_t index = 0;

		for (const struct model_step *s = t->first; s; s = s->next) {
			json_step(file, model, t, s, index++, comma);
			comma = ",\n";
		}
	}
	fputs("\n]\n", file);
}

int rts_model_print_json(aclmdlRI handle, const char *path)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	FILE *file;
	bool written;
	int r = model_get(handle, &model);

	if (r)
		return r;
	file = fopen(path, "we");
	if (!file)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "path is \"%s\", which cannot be written: %s", path,
				strerror(errno));
	u_mutex_lock(&models_lock);
	json_write(file, model);
	u_mutex_unlock(&models_lock);
	written = !ferror(file);
	if (fclose(file) || !written)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "path is \"%s\", which could not be written whole", path);
	return 0;
}

int rts_model_print(aclmdlRI handle)
{
	u_cleanup(model_put) struct rts_model *model = NULL;
	int r = model_get(handle, &model);

	if (r)
		return r;
	u_mutex_lock(&models_lock);
	for (const struct model_track *t = model->tracks; t; t = t->next) {
		uint32_t index = 0;

		for (const struct model_step *s = t->first; s; s = s->next)
			u_log(U_INFO, "model %u: device_id=%d, stream_id=%d, task_id=%u, task_type=%s", model->id,
			      rts_device_to_user(model->context->device), rts_stream_id(t->stream), index++,
			      s->slot.type->name);
	}
	u_mutex_unlock(&models_lock);
	return 0;
}
