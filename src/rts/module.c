/* SPDX-License-Identifier: MIT */
/*
 * module.c - binaries and their functions. A binary is a shared object of this machine: as ascendc_fatbin_library()
 * makes them, one with functions for the device's CPUs, or a part of the program that has kernels (symbol.c).
 *
 * Variables of a binary are device memory of the device that was current when it was loaded.
 */
#include "rts/image.h"
#include "rts/lock_order.h"
#include "rts/module.h"
#include "util/json.h"
#include "util/mutex.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BINARY_BYTES_MAX ((size_t)1 << 30)
#define ANY_DEVICE UINT32_MAX
#define KERNEL_NAME_MAX 4096

struct rts_binary {
	struct rts_object obj;
	void *dl;
	uint32_t device;		/* index, or ANY_DEVICE */
	bool own;			/* loaded from an image, by its caller's wish */
	bool cpu, lazy;
	char *description;		/* JSON, of functions for the device's CPUs; NULL: none */
	size_t description_bytes;
	struct u_mutex lock;		/* protects what follows */
	struct rts_function *functions; /* that have handles */
	bool closed;
	aclrtOpExceptionCallback callback;
	void *user_data;
};

/* --- options ---------------------------------------------------------------------------------- */

static int magic_check(uint32_t magic, bool file)
{
	if (file)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"option ACL_RT_BINARY_LOAD_OPT_MAGIC is for binaries in memory; a file has its own");
	if (magic != ACL_RT_BINARY_MAGIC_ELF_AICORE && magic != ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE &&
	    magic != ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the magic number is 0x%x; it must be one of ACL_RT_BINARY_MAGIC_*", magic);
	return 0;
}

/* A file is a description, in mode 0 of operators that CANN brings, in mode 1 of those of a library beside it. */
static int cpu_mode_check(int32_t mode, bool file)
{
	if (file ? mode != 0 && mode != 1 : mode != 2)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode is %d; it must be %s", mode,
				file ? "0 or 1 for a file" : "2 for data");
	if (file && mode == 0)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"cpuKernelMode 0 is for the operators that CANN brings, which are not here; mode 1 loads "
				"a library beside the description");
	return 0;
}

static int option_check(const aclrtBinaryLoadOption *opt, bool file)
{
	switch ((int)opt->type) {
	case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
		if (opt->value.isLazyLoad > 1)
			return u_report(ACL_ERROR_RT_PARAM_INVALID, "isLazyLoad is %u; it must be 0 or 1",
					opt->value.isLazyLoad);
		return 0;
	case ACL_RT_BINARY_LOAD_OPT_MAGIC:
		return magic_check(opt->value.magic, file);
	case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
		return cpu_mode_check(opt->value.cpuKernelMode, file);
	default:
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "load option %d is unknown; 1 to 3 are known",
				(int)opt->type);
	}
}

static int options_check(const aclrtBinaryLoadOptions *options, bool file)
{
	int r = 0;

	if (!options)
		return 0;
	if (!options->options)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"options->options is NULL; without options pass NULL for all of it");
	for (size_t i = 0; i < options->numOpt && !r; i++)
		r = option_check(&options->options[i], file);
	return r;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Options that have been checked. */
static void options_read(const aclrtBinaryLoadOptions *options, struct rts_binary *b)
{
	for (size_t i = 0; options && i < options->numOpt; i++) {
		const aclrtBinaryLoadOption *opt = &options->options[i];

		if (opt->type == ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD)
			b->lazy = opt->value.isLazyLoad;
		b->cpu |= opt->type == ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
	}
}

static int variables_remove(uintptr_t base, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	(void)rts_va_remove(base, RTS_SEG_VARIABLES, NULL);
	return 0;
}

static int variables_insert(uintptr_t base, size_t size, void *arg)
{
	return rts_variables_insert(base, size, *(const uint32_t *)arg);
}

int rts_variables_insert(uintptr_t base, size_t size, uint32_t device)
{
	const struct rts_segment seg = { .base = base,
					 .size = size,
					 .kind = RTS_SEG_VARIABLES,
					 .device = device,
					 .owner = device,
					 .page_kind = VINCI_PAGE_4K };

	return rts_va_insert(&seg);
}

static void close_late(void *dl)
{
	dlclose(dl);
}

/* Copies to and from its variables may still be queued. */
static void image_close(void *dl)
{
	(void)image_for_variables(dl, variables_remove, NULL);
	rts_exec_defer(close_late, dl);
}

static void binary_released(struct rts_object *obj)
{
	struct rts_binary *b = (struct rts_binary *)obj;

	if (b->own)
		image_close(b->dl);
	else
		dlclose(b->dl);
	u_mutex_destroy(&b->lock);
	free(b->description);
	free(b);
}

static int binary_publish(const struct rts_binary *what, void **handle)
{
	struct rts_binary *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a binary");
	*b = *what;
	u_mutex_init(&b->lock, RANK_MODULE, "binary");
	r = rts_object_publish(&b->obj, RTS_BINARY, binary_released);
	if (r) {
		u_mutex_destroy(&b->lock);
		free(b);
		return r;
	}
	*handle = atomic_load(&b->obj.handle);
	return 0;
}

/* A part of the program, opened as @dl, which it takes over unless it fails. */
int rts_binary_of_program(void *dl, void **handle)
{
	const struct rts_binary b = { .dl = dl, .device = ANY_DEVICE };

	return binary_publish(&b, handle);
}

static int binary_load(const void *data, size_t size, const char *what, uint32_t current, struct rts_binary *b,
		       void **handle)
{
	int r = image_load(data, size, what, &b->dl);

	if (r)
		return r;
	b->own = true;
	r = image_for_variables(b->dl, variables_insert, &current);
	if (!r)
		r = binary_publish(b, handle);
	if (r)
		image_close(b->dl);
	return r;
}

static int file_map(const char *path, void **data, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;

	if (fd < 0)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the binary %s cannot be opened: %s", path,
				strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > BINARY_BYTES_MAX)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is no binary: it is empty, too large, or no file at all",
			     path);
	if (!r) {
		*size = (size_t)st.st_size;
		*data = malloc(*size);
		if (!*data)
			r = u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for the %zu bytes of %s",
				     *size, path);
	}
	for (size_t got = 0; !r && got < *size;) {
		ssize_t n = read(fd, (char *)*data + got, *size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(*data);
			*data = NULL;
			r = u_report(ACL_ERROR_RT_PARAM_INVALID, "the binary %s cannot be read: %s", path,
				     n ? strerror(errno) : "it became shorter meanwhile");
		}
		got += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return r;
}

/* The path with another extension. */
static int beside(const char *path, const char *extension, char **out)
{
	const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
	size_t stem = dot ? (size_t)(dot - path) : strlen(path);

	*out = malloc(stem + strlen(extension) + 1);
	if (!*out)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a path");
	memcpy(*out, path, stem);
	strcpy(*out + stem, extension);
	return 0;
}

static int description_read(const char *path, struct rts_binary *b)
{
	void *text = NULL;
	size_t where;
	int r = file_map(path, &text, &b->description_bytes);

	if (r)
		return r;
	if (!u_json_check(text, b->description_bytes, &where)) {
		free(text);
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is not JSON: byte %zu is wrong", path, where);
	}
	b->description = text;
	return 0;
}

/* A description and the library that it is of, which have one name but for the extension. */
static int cpu_load_file(const char *path, uint32_t current, struct rts_binary *b, void **handle)
{
	char *json = NULL, *so = NULL;
	void *data = NULL;
	size_t size;
	int r;

	r = beside(path, ".json", &json);
	if (!r)
		r = beside(path, ".so", &so);
	if (!r)
		r = description_read(json, b);
	if (!r)
		r = file_map(so, &data, &size);
	if (!r)
		r = binary_load(data, size, so, current, b, handle);
	if (r)
		free(b->description);
	free(data);
	free(so);
	free(json);
	return r;
}

int rts_binary_load_file(const char *path, const aclrtBinaryLoadOptions *options, void **handle)
{
	struct rts_binary b = { .device = ANY_DEVICE };
	struct rts_context *ctx;
	size_t size = 0;
	void *data = NULL;
	int r;

	r = options_check(options, true);
	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	options_read(options, &b);
	if (b.cpu)
		return cpu_load_file(path, ctx->device, &b, handle);
	r = file_map(path, &data, &size);
	if (r)
		return r;
	r = binary_load(data, size, path, ctx->device, &b, handle);
	free(data);
	return r;
}

int rts_binary_load_data(const void *data, size_t size, const aclrtBinaryLoadOptions *options, void **handle)
{
	struct rts_binary b = { 0 };
	struct rts_context *ctx;
	int r;

	if (!size || size > BINARY_BYTES_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the binary has %zu bytes; it must have between 1 and %zu",
				size, BINARY_BYTES_MAX);
	r = options_check(options, false);
	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	options_read(options, &b);
	b.device = ctx->device;
	return binary_load(data, size, "the data", ctx->device, &b, handle);
}

static int binary_get(void *handle, struct rts_binary **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_BINARY);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "%p is no loaded binary: unloaded, or never one", handle);
	*out = (struct rts_binary *)obj;
	return 0;
}

static void binary_put(struct rts_binary *b)
{
	rts_object_put(&b->obj);
}

int rts_binary_image(void *handle, void **base, size_t *size)
{
	struct rts_binary *b = NULL;
	size_t bytes = 0;
	void *at = NULL;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	if (!image_span(b->dl, &at, &bytes))
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the binary's segments lie apart, not in one piece");
	if (!r && base)
		*base = b->lazy ? NULL : at;
	if (!r)
		*size = bytes;
	binary_put(b);
	return r;
}

void *rts_binary_handle(const struct rts_binary *b)
{
	return atomic_load(&b->obj.handle);
}

int rts_binary_check_device(const struct rts_binary *b, uint32_t device)
{
	if (b->device == ANY_DEVICE || b->device == device)
		return 0;
	return u_report(ACL_ERROR_RT_INVALID_HANDLE,
			"the kernel was loaded from memory for device %d; this stream is of device %d",
			rts_device_to_user(b->device), rts_device_to_user(device));
}

/* --- functions -------------------------------------------------------------------------------- */

static void function_released(struct rts_object *obj)
{
	struct rts_function *fn = (struct rts_function *)obj;

	binary_put(fn->binary);
	free(fn->cpu_name);
	free(fn);
}

int rts_function_get(const void *handle, struct rts_function **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_FUNCTION);
	if (!obj)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"%p is no kernel function: its binary was unloaded, or it never was one",
				(void *)(uintptr_t)handle);
	*out = (struct rts_function *)obj;
	return 0;
}

void rts_function_put(struct rts_function **fn)
{
	if (*fn)
		rts_object_put(&(*fn)->obj);
	*fn = NULL;
}

int rts_binary_unload(void *handle)
{
	struct rts_function *fn, *next;
	struct rts_binary *b;
	int r = rts_process_check_fork();

	if (r)
		return r;
	b = (struct rts_binary *)rts_object_unpublish(handle, RTS_BINARY);
	if (!b)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE, "%p is no loaded binary: unloaded, or never one", handle);
	u_mutex_lock(&b->lock);
	b->closed = true;
	fn = b->functions;
	b->functions = NULL;
	u_mutex_unlock(&b->lock);
	for (; fn; fn = next) {
		next = fn->next;
		if (rts_object_unpublish(atomic_load(&fn->obj.handle), RTS_FUNCTION))
			rts_object_put(&fn->obj);
	}
	binary_put(b);
	return 0;
}

static const struct vinci_kernel *kernel_symbol(struct rts_binary *b, const char *name)
{
	char symbol[sizeof(VINCI_KERNEL_SYMBOL_PREFIX) + KERNEL_NAME_MAX];
	int n = snprintf(symbol, sizeof(symbol), "%s%s", VINCI_KERNEL_SYMBOL_PREFIX, name);

	return (size_t)n < sizeof(symbol) ? dlsym(b->dl, symbol) : NULL;
}

static int kernel_find(struct rts_binary *b, const char *name, const struct vinci_kernel **kernel)
{
	*kernel = kernel_symbol(b, name);
	if (!*kernel)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the binary has no kernel \"%.200s\"; kernels are found by the names of their extern "
				"\"C\" functions",
				name);
	return rts_kernel_check(*kernel);
}

/* As CANN reads a name: the digits behind its last '_'; without any the entry is 0. */
static uint64_t entry_of(const char *name)
{
	const char *digits = strrchr(name, '_');
	uint64_t entry = 0;

	digits = digits ? digits + 1 : name;
	if (!*digits || digits[strspn(digits, "0123456789")])
		return 0;
	for (; *digits; digits++)
		if (__builtin_mul_overflow(entry, 10, &entry) || __builtin_add_overflow(entry, *digits - '0', &entry))
			return 0;
	return entry;
}

struct entry_search {
	uint64_t entry;
	const char *name; /* the first in the alphabet, NULL: none yet */
};

static void compare_entry(const char *symbol, void *arg)
{
	const size_t prefix = sizeof(VINCI_KERNEL_SYMBOL_PREFIX) - 1;
	struct entry_search *s = arg;
	const char *name = symbol + prefix;

	if (strncmp(symbol, VINCI_KERNEL_SYMBOL_PREFIX, prefix) || entry_of(name) != s->entry)
		return;
	if (!s->name || strcmp(name, s->name) < 0)
		s->name = name;
}

/* @model is copied and published. The name of a function for the device's CPUs goes with it. */
static int function_new_locked(const struct rts_function *model, void **out)
{
	struct rts_function *fn = malloc(sizeof(*fn));
	int r;

	if (!fn)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a function");
	*fn = *model;
	if (fn->cpu_name) {
		fn->cpu = (struct vinci_kernel){ .abi = VINCI_KERNEL_ABI, .name = fn->cpu_name };
		fn->kernel = &fn->cpu;
	}
	fn->next = fn->binary->functions;
	rts_object_ref(&fn->binary->obj);
	r = rts_object_publish(&fn->obj, RTS_FUNCTION, function_released);
	if (r) {
		binary_put(fn->binary);
		free(fn);
		return r;
	}
	fn->binary->functions = fn;
	*out = atomic_load(&fn->obj.handle);
	return 0;
}

static bool same_function(const struct rts_function *a, const struct rts_function *b)
{
	return a->cpu_name ? b->cpu_name && !strcmp(a->cpu_name, b->cpu_name) : a->kernel == b->kernel;
}

/* The handle of the function that is like @model, a new one if need be; *kept then says so. */
static int function_of(const struct rts_function *model, void **out, bool *kept)
{
	struct rts_binary *b = model->binary;
	struct rts_function *fn;
	int r = 0;

	u_mutex_lock(&b->lock);
	for (fn = b->functions; fn && !same_function(fn, model); fn = fn->next)
		;
	*kept = false;
	if (fn) {
		*out = atomic_load(&fn->obj.handle);
	} else if (!b->closed) {
		r = function_new_locked(model, out);
		*kept = !r;
	} else {
		r = u_report(ACL_ERROR_RT_INVALID_HANDLE, "the binary has just been unloaded");
	}
	u_mutex_unlock(&b->lock);
	return r;
}

static int function_of_kernel(struct rts_binary *b, const struct vinci_kernel *kernel, void **out)
{
	const struct rts_function model = { .binary = b, .kernel = kernel };
	bool kept;

	return function_of(&model, out, &kept);
}

static int cpu_function(struct rts_binary *b, const char *function, const char *name, void **out)
{
	struct rts_function model = { .binary = b, .cpu_name = strdup(name) };
	bool kept = false;
	int r;

	if (!model.cpu_name)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for the name of a function");
	*(void **)&model.entry = dlsym(b->dl, function);
	r = function_of(&model, out, &kept);
	if (!kept)
		free(model.cpu_name);
	return r;
}

/* By the description: the name is an operator's, which tells the function's. */
static int cpu_function_described(struct rts_binary *b, const char *name, void **out)
{
	const char *const path[] = { name, "opInfo", "functionName", NULL };
	struct u_json_value value;
	char *function;
	int r;

	if (!b->description || !u_json_find(b->description, b->description_bytes, path, &value) ||
	    value.type != U_JSON_STRING)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the binary's description has no functionName of \"%.200s\"; without a description "
				"functions for the device's CPUs are named with aclrtRegisterCpuFunc",
				name);
	function = strndup(value.text, value.len);
	if (!function)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for the name of a function");
	r = cpu_function(b, function, name, out);
	free(function);
	return r;
}

int rts_binary_function(void *handle, const char *name, void **out)
{
	const struct vinci_kernel *kernel = NULL;
	struct rts_binary *b = NULL;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	fault_start();
	if (b->cpu) {
		r = cpu_function_described(b, name, out);
	} else {
		r = kernel_find(b, name, &kernel);
		if (!r)
			r = function_of_kernel(b, kernel, out);
	}
	binary_put(b);
	return r;
}

int rts_binary_function_of(void *handle, const struct vinci_kernel *kernel, void **out)
{
	struct rts_binary *b = NULL;
	int r;

	r = binary_get(handle, &b);
	if (!r)
		r = rts_kernel_check(kernel);
	if (!r)
		r = function_of_kernel(b, kernel, out);
	if (b)
		binary_put(b);
	return r;
}

int rts_binary_function_by_entry(void *handle, uint64_t entry, void **out)
{
	struct entry_search search = { .entry = entry };
	struct rts_binary *b = NULL;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	if (!b->cpu)
		image_for_symbols(b->dl, compare_entry, &search);
	r = search.name ? rts_binary_function(handle, search.name, out)
			: u_report(ACL_ERROR_RT_PARAM_INVALID,
				   "the binary has no kernel with the entry %llu; it is the number behind the last _ of "
				   "a kernel's name, 0 where there is none",
				   (unsigned long long)entry);
	binary_put(b);
	return r;
}

int rts_binary_cpu_function(void *handle, const char *function, const char *kernel, void **out)
{
	struct rts_binary *b = NULL;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	fault_start();
	r = b->cpu ? cpu_function(b, function, kernel, out)
		   : u_report(ACL_ERROR_RT_PARAM_INVALID,
			      "the binary was not loaded with ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE");
	binary_put(b);
	return r;
}

size_t rts_function_bytes(const struct rts_function *fn)
{
	const void *at = rts_symbol_of_kernel(fn->kernel);

	return image_symbol_bytes(at ? at : dlsym(fn->binary->dl, fn->kernel->name), STT_FUNC);
}

static int params_check(const struct rts_function *fn)
{
	if (fn->kernel->flags & VINCI_KERNEL_PARAMS)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "kernel %s does not say what its parameters are", fn->kernel->name);
}

int rts_function_param_count(const struct rts_function *fn, size_t *count)
{
	int r = params_check(fn);

	if (!r)
		*count = fn->kernel->param_count;
	return r;
}

int rts_function_param(const struct rts_function *fn, size_t index, size_t *offset, size_t *size)
{
	int r = params_check(fn);

	if (r)
		return r;
	if (index >= fn->kernel->param_count)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "kernel %s has no parameter %zu: it has %u",
				fn->kernel->name, index, fn->kernel->param_count);
	if (offset)
		*offset = fn->kernel->params[index].offset;
	if (size)
		*size = fn->kernel->params[index].size;
	return 0;
}

/* --- variables and callbacks ------------------------------------------------------------------ */

int rts_binary_global(void *handle, const char *name, void **address, size_t *size)
{
	struct rts_binary *b = NULL;
	size_t bytes;
	void *at;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	at = dlsym(b->dl, name);
	bytes = image_symbol_bytes(at, STT_OBJECT);
	if (!bytes)
		r = u_report(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "the binary has no variable \"%.200s\"", name);
	if (!r && address)
		*address = at;
	if (!r && size)
		*size = bytes;
	binary_put(b);
	return r;
}

int rts_binary_set_callback(void *handle, aclrtOpExceptionCallback callback, void *user_data)
{
	struct rts_binary *b = NULL;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	u_mutex_lock(&b->lock);
	b->callback = callback;
	b->user_data = user_data;
	u_mutex_unlock(&b->lock);
	binary_put(b);
	return 0;
}

aclrtOpExceptionCallback rts_binary_callback(struct rts_binary *b, void **user_data)
{
	aclrtOpExceptionCallback callback;

	u_mutex_lock(&b->lock);
	callback = b->callback;
	*user_data = b->user_data;
	u_mutex_unlock(&b->lock);
	return callback;
}
