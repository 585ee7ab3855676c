/* SPDX-License-Identifier: MIT */
/*
 * module.c - binaries and their functions. A binary is a shared object of this machine, as ascendc_fatbin_library()
 * makes them.
 *
 * It is read into a file of its own without a name and loaded from there, so that each load has its own variables, as
 * on a card, and a file that was replaced meanwhile is not taken for the one that is loaded already. The loader knows
 * objects by their path: each load spells the same path in another way.
 */
#include "rts/module.h"
#include "rts/lock_order.h"
#include "util/mutex.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

#define SERIAL_BITS 24
#define PATH_BYTES (64 + 2 * SERIAL_BITS)
#define BINARY_BYTES_MAX ((size_t)1 << 30)
#define ANY_DEVICE UINT32_MAX

struct rts_binary {
	struct rts_object obj;
	void *dl;
	uint32_t device;		/* index, or ANY_DEVICE */
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
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"operators of the device's own CPUs (ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE) are not "
				"supported");
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

/* The loader takes what the headers say for granted: a file that ends early would end the process. */
static bool segments_fit(const unsigned char *data, size_t size, const Elf64_Ehdr *h)
{
	Elf64_Phdr ph;

	if (h->e_phentsize != sizeof(ph) || h->e_phoff > size || h->e_phnum > (size - h->e_phoff) / sizeof(ph))
		return false;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		memcpy(&ph, data + h->e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && (ph.p_offset > size || ph.p_filesz > size - ph.p_offset))
			return false;
	}
	return true;
}

static int image_check(const void *data, size_t size, const char *what)
{
	Elf64_Ehdr h;

	if (size < sizeof(h) || memcmp(data, ELFMAG, SELFMAG))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is no binary: it does not begin with an ELF header",
				what);
	memcpy(&h, data, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != MACHINE || h.e_type != ET_DYN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%s is an object of type %u for machine %u; kernels for this library are shared "
				"objects (type 3) for "
				"machine %u, made by ascendc_fatbin_library()",
				what, h.e_type, h.e_machine, MACHINE);
	if (!segments_fit(data, size, &h))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%s is cut off: it has %zu bytes, and its segments lie beyond", what, size);
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Each bit of the serial number is a component of the path that leads nowhere: "/." or "/". */
static void spell_path(char *path, int fd)
{
	static atomic_uint serials;
	unsigned serial = atomic_fetch_add(&serials, 1);
	char *at = path + sprintf(path, "/proc/self");

	for (unsigned bit = 0; bit < SERIAL_BITS; bit++) {
		*at++ = '/';
		if (serial >> bit & 1)
			*at++ = '.';
	}
	sprintf(at, "/fd/%d", fd);
}

static void *image_open(const void *data, size_t size)
{
	char path[PATH_BYTES];
	void *dl = NULL;
	int fd = memfd_create("kernels", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!write_all(fd, data, size)) {
		spell_path(path, fd);
		dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	close(fd);
	return dl;
}

static void binary_released(struct rts_object *obj)
{
	struct rts_binary *b = (struct rts_binary *)obj;

	dlclose(b->dl);
	u_mutex_destroy(&b->lock);
	free(b);
}

static int binary_publish(void *dl, uint32_t device, void **handle)
{
	struct rts_binary *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a binary");
	b->dl = dl;
	b->device = device;
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

static int image_load(const void *data, size_t size, uint32_t device, const char *what, void **handle)
{
	const char *why;
	void *dl;
	int r;

	r = image_check(data, size, what);
	if (r)
		return r;
	dl = image_open(data, size);
	if (!dl) {
		why = dlerror();
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s cannot be loaded: %s", what,
				why ? why : "no memory, or /proc is not mounted");
	}
	r = binary_publish(dl, device, handle);
	if (r)
		dlclose(dl);
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
			r = u_report(ACL_ERROR_RT_PARAM_INVALID, "the binary %s cannot be read: %s", path,
				     n ? strerror(errno) : "it became shorter meanwhile");
		}
		got += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return r;
}

int rts_binary_load_file(const char *path, const aclrtBinaryLoadOptions *options, void **handle)
{
	struct rts_context *ctx;
	size_t size = 0;
	void *data = NULL;
	int r;

	r = options_check(options, true);
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = file_map(path, &data, &size);
	if (r)
		return r;
	r = image_load(data, size, ANY_DEVICE, path, handle);
	free(data);
	return r;
}

int rts_binary_load_data(const void *data, size_t size, const aclrtBinaryLoadOptions *options, void **handle)
{
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
	return image_load(data, size, ctx->device, "the data", handle);
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

static int kernel_find(struct rts_binary *b, const char *name, const struct vinci_kernel **kernel)
{
	size_t size = strlen(name) + sizeof(VINCI_KERNEL_SYMBOL_PREFIX);
	char *symbol = malloc(size);

	if (!symbol)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a name of %zu bytes", size);
	snprintf(symbol, size, "%s%s", VINCI_KERNEL_SYMBOL_PREFIX, name);
	*kernel = dlsym(b->dl, symbol);
	free(symbol);
	if (!*kernel)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the binary has no kernel \"%.200s\"; kernels are found by the names of their extern "
				"\"C\" functions",
				name);
	return rts_kernel_check(*kernel);
}

static int function_new_locked(struct rts_binary *b, const struct vinci_kernel *kernel, void **out)
{
	struct rts_function *fn = calloc(1, sizeof(*fn));
	int r;

	if (!fn)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a function");
	fn->binary = b;
	fn->kernel = kernel;
	r = rts_object_publish(&fn->obj, RTS_FUNCTION, function_released);
	if (r) {
		free(fn);
		return r;
	}
	rts_object_ref(&b->obj);
	fn->next = b->functions;
	b->functions = fn;
	*out = atomic_load(&fn->obj.handle);
	return 0;
}

static int function_of(struct rts_binary *b, const struct vinci_kernel *kernel, void **out)
{
	struct rts_function *fn;
	int r = 0;

	u_mutex_lock(&b->lock);
	for (fn = b->functions; fn && fn->kernel != kernel; fn = fn->next)
		;
	if (fn)
		*out = atomic_load(&fn->obj.handle);
	else if (!b->closed)
		r = function_new_locked(b, kernel, out);
	else
		r = u_report(ACL_ERROR_RT_INVALID_HANDLE, "the binary has just been unloaded");
	u_mutex_unlock(&b->lock);
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
	r = kernel_find(b, name, &kernel);
	if (!r)
		r = function_of(b, kernel, out);
	binary_put(b);
	return r;
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
	const ElfW(Sym) *symbol = NULL;
	struct rts_binary *b = NULL;
	void *at = NULL;
	Dl_info info;
	int r;

	r = binary_get(handle, &b);
	if (r)
		return r;
	at = dlsym(b->dl, name);
	if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || info.dli_saddr != at || !symbol ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		r = u_report(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "the binary has no variable \"%.200s\"", name);
	if (!r && address)
		*address = at;
	if (!r && size)
		*size = symbol->st_size;
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
