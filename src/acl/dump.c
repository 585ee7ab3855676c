/* SPDX-License-Identifier: MIT */
/*
 * dump.c - chapter 18: what is to be dumped of models and operators. Both are described to the dump library by whoever
 * loads models or calls operators; the kernels of this library are launched without. So a configuration is checked as a
 * card checks it, and there is nothing that it applies to. What would apply to any kernel is refused.
 */
#include "acl/api.h"
#include "acl/init_file.h"
#include "util/json.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VALUES_MAX 3

static atomic_bool running; /* between aclmdlInitDump and aclmdlFinalizeDump */

static const struct field {
	const char *name;
	const char *values[VALUES_MAX]; /* NULL: any */
} fields[] = {
	{ "dump_mode", { "input", "output", "all" } },
	{ "dump_data", { "tensor", "stats" } },
	{ "dump_op_switch", { "on", "off" } },
	{ "dump_level", { "op", "kernel", "all" } },
	{ "dump_debug", { "on", "off" } },
	{ "dump_step", { NULL } },
	{ "dump_path", { NULL } },
};

/* Not of models and operators: of kernels that fail, and of what kernels print. */
static const char *const of_kernels[] = { "dump_scene", "dump_kernel_data" };

static bool find(const struct init_file *file, const char *name, struct u_json_value *v)
{
	const char *const path[] = { "dump", name, NULL };

	return u_json_find(file->text, file->len, path, v);
}

static bool is(const struct u_json_value *v, const char *text)
{
	return v->len == strlen(text) && !memcmp(v->text, text, v->len);
}

static aclError check_field(const struct init_file *file, const struct field *f)
{
	struct u_json_value v;

	if (!find(file, f->name, &v))
		return ACL_SUCCESS;
	if (v.type != U_JSON_STRING)
		return u_report(ACL_ERROR_INVALID_DUMP_CONFIG, "dump.%s in \"%s\" is not a string", f->name,
				file->path);
	for (int i = 0; i < VALUES_MAX && f->values[i]; i++)
		if (is(&v, f->values[i]))
			return ACL_SUCCESS;
	if (!f->values[0])
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_DUMP_CONFIG, "dump.%s in \"%s\" is \"%.*s\"; it must be %s, %s%s%s", f->name,
			file->path, (int)(v.len > 64 ? 64 : v.len), v.text, f->values[0], f->values[1],
			f->values[2] ? " or " : "", f->values[2] ? f->values[2] : "");
}

/* A directory of this machine that can be written to, or <address>:<directory>. */
static aclError check_path(const struct init_file *file)
{
	char path[PATH_MAX];
	struct u_json_value v;

	if (!find(file, "dump_path", &v) || !v.len)
		return u_report(ACL_ERROR_INVALID_DUMP_CONFIG, "dump.dump_path in \"%s\" is missing or empty",
				file->path);
	if (v.len >= sizeof(path))
		return u_report(ACL_ERROR_INVALID_DUMP_CONFIG,
				"dump.dump_path in \"%s\" has %zu bytes; %zu are the most", file->path, v.len,
				sizeof(path) - 1);
	snprintf(path, sizeof(path), "%.*s/.", (int)v.len, v.text);
	if (memchr(v.text, ':', v.len) || !access(path, R_OK | W_OK))
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_DUMP_CONFIG,
			"dump.dump_path in \"%s\" is no directory that can be read and written: %s", file->path, path);
}

static aclError check_config(const struct init_file *file)
{
	static const char *const top[] = { "dump", NULL };
	struct u_json_value v;
	aclError r = ACL_SUCCESS;

	if (!u_json_find(file->text, file->len, top, &v))
		return ACL_SUCCESS;
	if (v.type != U_JSON_OBJECT)
		return u_report(ACL_ERROR_INVALID_DUMP_CONFIG, "dump in \"%s\" is not an object ({ ... })", file->path);
	if (!memchr(v.text, '"', v.len)) /* no names: nothing is asked for */
		return ACL_SUCCESS;
	for (size_t i = 0; i < sizeof(of_kernels) / sizeof(of_kernels[0]); i++)
		if (find(file, of_kernels[i], &v))
			return api_result(u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
						   "dump.%s in \"%s\": what kernels leave behind is not dumped",
						   of_kernels[i], file->path));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !r; i++)
		r = check_field(file, &fields[i]);
	if (!r && find(file, "dump_list", &v) && v.type != U_JSON_ARRAY)
		r = u_report(ACL_ERROR_INVALID_DUMP_CONFIG, "dump.dump_list in \"%s\" is not an array ([ ... ])",
			     file->path);
	return r ? r : check_path(file);
}

static aclError check_state(const char *function)
{
	if (!api_initialized())
		return u_report(ACL_ERROR_UNINITIALIZE, "%s: aclInit comes first", function);
	if (!atomic_load(&running))
		return u_report(ACL_ERROR_DUMP_NOT_RUN, "%s: aclmdlInitDump comes first", function);
	return ACL_SUCCESS;
}

aclError aclmdlInitDump(void)
{
	if (!api_initialized())
		return u_report(ACL_ERROR_UNINITIALIZE, "%s: aclInit comes first", __func__);
	if (atomic_exchange(&running, true))
		return u_report(ACL_ERROR_REPEAT_INITIALIZE, "%s: called before; aclmdlFinalizeDump comes first",
				__func__);
	return ACL_SUCCESS;
}

aclError aclmdlSetDump(const char *dumpCfgPath)
{
	struct init_file *file;
	aclError r = check_state(__func__);

	if (r)
		return r;
	REQUIRE_NOT_NULL(dumpCfgPath);
	if (!*dumpCfgPath)
		return u_report(ACL_ERROR_INVALID_FILE, "%s: dumpCfgPath is empty", __func__);
	r = init_file_read(dumpCfgPath, &file);
	if (r)
		return r;
	r = check_config(file);
	init_file_free(file);
	return r;
}

aclError aclmdlFinalizeDump(void)
{
	aclError r = check_state(__func__);

	if (!r)
		atomic_store(&running, false);
	return r;
}
