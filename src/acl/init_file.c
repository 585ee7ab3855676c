/* SPDX-License-Identifier: MIT */
#include "acl/init_file.h"
#include "acl/api.h"
#include "util/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (10u << 20)

static aclError read_all(int fd, struct init_file *file, size_t size)
{
	ssize_t n;

	file->text = malloc(size + 1);
	if (!file->text)
		return u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left for the %zu bytes of \"%s\"", size,
				file->path);
	while (file->len < size) {
		n = read(fd, file->text + file->len, size - file->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return u_report(ACL_ERROR_INVALID_FILE, "\"%s\" cannot be read: %s", file->path,
					strerror(errno));
		if (!n)
			break;
		file->len += (size_t)n;
	}
	file->text[file->len] = '\0';
	return ACL_SUCCESS;
}

static aclError load(struct init_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for a fifo's writer */
	struct stat st;
	aclError r;

	if (fd < 0 || fstat(fd, &st))
		r = u_report(ACL_ERROR_INVALID_FILE, "\"%s\" cannot be opened: %s", file->path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		r = u_report(ACL_ERROR_INVALID_FILE, "\"%s\" is not a regular file", file->path);
	else if ((uint64_t)st.st_size > FILE_MAX)
		r = u_report(ACL_ERROR_INVALID_FILE_SIZE, "\"%s\" has %lld bytes; aclInit reads at most %u", file->path,
			     (long long)st.st_size, FILE_MAX);
	else
		r = read_all(fd, file, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return r;
}

static aclError check(const struct init_file *file)
{
	struct u_json_value top;
	size_t where;

	if (!u_json_check(file->text, file->len, &where))
		return u_report(ACL_ERROR_PARSE_FILE, "\"%s\" is not JSON: wrong at byte %zu of %zu", file->path, where,
				file->len);
	if (!u_json_find(file->text, file->len, (const char *const[]){ NULL }, &top) || top.type != U_JSON_OBJECT)
		return u_report(ACL_ERROR_PARSE_FILE, "\"%s\" does not hold a JSON object ({ ... })", file->path);
	return ACL_SUCCESS;
}

static aclError read_error_mode(struct init_file *file)
{
	static const char *const path[] = { "err_msg_mode", NULL };
	struct u_json_value v;

	if (!u_json_find(file->text, file->len, path, &v))
		return ACL_SUCCESS;
	if (v.type != U_JSON_STRING || v.len != 1 || (*v.text != '0' && *v.text != '1'))
		return u_report(ACL_ERROR_INVALID_PARAM,
				"Value %.*s for err_msg_mode in \"%s\" is invalid. Expected value: \"0\" (errors of "
				"the thread) or "
				"\"1\" (of the process)",
				(int)(v.len > 64 ? 64 : v.len), v.text, file->path);
	file->errors_of_process = *v.text == '1';
	return ACL_SUCCESS;
}

/* 0, or digits that do not begin with 0. */
static bool parse_device(const struct u_json_value *v, int32_t *out)
{
	int64_t n = 0;

	if ((v->type != U_JSON_STRING && v->type != U_JSON_NUMBER) || !v->len || (*v->text == '0' && v->len > 1))
		return false;
	for (size_t i = 0; i < v->len; i++) {
		if (v->text[i] < '0' || v->text[i] > '9')
			return false;
		n = n * 10 + (v->text[i] - '0');
		if (n > INT32_MAX)
			return false;
	}
	*out = (int32_t)n;
	return true;
}

static aclError read_default_device(struct init_file *file)
{
	static const char *const path[] = { "defaultDevice", "default_device", NULL };
	struct u_json_value v;

	if (!u_json_find(file->text, file->len, path, &v) || parse_device(&v, &file->default_device))
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM,
			"Value %.*s for defaultDevice.default_device in \"%s\" is invalid. Expected value: 0 or a "
			"positive integer",
			(int)(v.len > 64 ? 64 : v.len), v.text, file->path);
}

static aclError read_settings(struct init_file *file)
{
	aclError r = load(file);

	if (!r)
		r = check(file);
	if (!r)
		r = read_error_mode(file);
	if (!r)
		r = read_default_device(file);
	return r;
}

aclError init_file_read(const char *path, struct init_file **out)
{
	struct init_file *file = calloc(1, sizeof(*file));
	aclError r = ACL_SUCCESS;

	if (file)
		file->path = strdup(path && *path ? path : "no file");
	if (!file || !file->path) {
		free(file);
		return u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left to read the file of aclInit");
	}
	file->default_device = -1;
	if (path && *path) {
		r = read_settings(file);
	} else {
		file->text = strdup("");
		if (!file->text)
			r = u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left to read the file of aclInit");
	}
	if (r)
		init_file_free(file);
	else
		*out = file;
	return r;
}

void init_file_free(struct init_file *file)
{
	if (!file)
		return;
	free(file->text);
	free(file->path);
	free(file);
}
