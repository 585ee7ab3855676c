/* SPDX-License-Identifier: MIT */
/*
 * symbol.c - what the program's own kernels are called by the address that their sources give them: __global__
 * functions and __gm__ variables. Code built by ascendc_library() tells of them as it is loaded (vinci/kernel.h).
 *
 * A variable is there once in a process, and not once for each device as on cards, so it belongs to the first device
 * that asks for it.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "rts/lock_order.h"
#include "rts/module.h"
#include "util/mutex.h"

/* A part of the program that has kernels. */
struct part {
	struct part *next;
	void *dl;     /* dlopen()'s, which is the same for the same part */
	void *binary; /* a handle, perhaps unloaded by now */
};

static struct {
	struct u_mutex lock; /* everything here, and next and device of the symbols */
	struct vinci_symbol *symbols;
	struct part *parts;
} program = { .lock = U_MUTEX_INIT(RANK_MODULE, "symbols") };

/* --- for the program's parts as they come and go ---------------------------------------------- */

/* A forked child, which may load and end as well, looks nothing up and takes no lock that a thread of its parent held. */
void rts_symbol_register(struct vinci_symbol *symbol)
{
	if (rts_process_forked())
		return;
	u_mutex_lock(&program.lock);
	symbol->device = -1;
	symbol->next = program.symbols;
	program.symbols = symbol;
	u_mutex_unlock(&program.lock);
}

void rts_symbol_unregister(struct vinci_symbol *symbol)
{
	struct vinci_symbol **at;

	if (rts_process_forked())
		return;
	u_mutex_lock(&program.lock);
	for (at = &program.symbols; *at && *at != symbol; at = &(*at)->next)
		;
	if (*at)
		*at = symbol->next;
	if (symbol->device >= 0)
		(void)rts_va_remove((uintptr_t)symbol->address, RTS_SEG_VARIABLES, NULL);
	u_mutex_unlock(&program.lock);
}

static struct vinci_symbol *find_locked(const void *address, bool function)
{
	struct vinci_symbol *s;

	for (s = program.symbols; s; s = s->next)
		if (s->address == address && (function ? s->kernel != NULL : !s->kernel && s->size))
			break;
	return s;
}

/* --- variables -------------------------------------------------------------------------------- */

/* The first device gets it. */
static int place_locked(struct vinci_symbol *s, uint32_t device)
{
	int r = 0;

	if (s->device < 0) {
		r = rts_variables_insert((uintptr_t)s->address, s->size, device);
		if (!r)
			s->device = (int32_t)device;
	} else if ((uint32_t)s->device != device) {
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			     "the variable %s is there once and belongs to device %d, which asked for it first; device "
			     "%d cannot have one of its own",
			     s->name, rts_device_to_user((uint32_t)s->device), rts_device_to_user(device));
	}
	return r;
}

int rts_symbol_variable(const void *symbol, void **address, size_t *size)
{
	struct rts_context *ctx;
	struct vinci_symbol *s;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	u_mutex_lock(&program.lock);
	s = find_locked(symbol, false);
	r = s ? place_locked(s, ctx->device)
	      : u_report(ACL_ERROR_RT_INVALID_SYMBOL,
			 "%p is not the address of a __gm__ variable of a source in an ascendc_library()",
			 (void *)(uintptr_t)symbol);
	if (!r) {
		*address = (void *)(uintptr_t)s->address;
		*size = s->size;
	}
	u_mutex_unlock(&program.lock);
	return r;
}

/* --- functions -------------------------------------------------------------------------------- */

const void *rts_symbol_of_kernel(const struct vinci_kernel *kernel)
{
	const struct vinci_symbol *s;

	u_mutex_lock(&program.lock);
	for (s = program.symbols; s && s->kernel != kernel; s = s->next)
		;
	u_mutex_unlock(&program.lock);
	return s ? s->address : NULL;
}

/* Opens the part that has @address; it stays loaded from now on. */
static void *part_open(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	return dlopen(map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

/* The entry for @dl; of one that was unloaded the handle is stale. */
static int part_locked(void *dl, struct part **out)
{
	struct part *part;

	for (part = program.parts; part && part->dl != dl; part = part->next)
		;
	if (!part) {
		part = calloc(1, sizeof(*part));
		if (!part)
			return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a binary");
		part->dl = dl;
		part->next = program.parts;
		program.parts = part;
	}
	*out = part;
	return 0;
}

static int part_binary(const void *address, void **binary)
{
	struct rts_object *loaded = NULL;
	void *dl = part_open(address);
	struct part *part = NULL;
	int r;

	if (!dl)
		return u_report(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "nothing that is loaded has the function %p",
				(void *)(uintptr_t)address);
	u_mutex_lock(&program.lock);
	r = part_locked(dl, &part);
	if (!r)
		loaded = rts_object_get(part->binary, RTS_BINARY);
	if (!r && !loaded) {
		r = rts_binary_of_program(dl, &part->binary);
		dl = r ? dl : NULL; /* the binary's now */
	}
	if (!r)
		*binary = part->binary;
	u_mutex_unlock(&program.lock);
	/* Either may unload the part, which then takes the lock. */
	if (loaded)
		rts_object_put(loaded);
	if (dl)
		dlclose(dl);
	return r;
}

int rts_symbol_function(const void *symbol, void **function)
{
	const struct vinci_kernel *kernel = NULL;
	const struct vinci_symbol *s;
	struct rts_context *ctx;
	void *binary = NULL;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	u_mutex_lock(&program.lock);
	s = find_locked(symbol, true);
	if (s)
		kernel = s->kernel;
	u_mutex_unlock(&program.lock);
	if (!kernel)
		return u_report(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
				"%p is not the address of a __global__ function of a source in an ascendc_library()",
				(void *)(uintptr_t)symbol);
	r = part_binary(symbol, &binary);
	if (r)
		return r;
	fault_start();
	return rts_binary_function_of(binary, kernel, function);
}

static bool known_function(const void *address)
{
	bool known;

	u_mutex_lock(&program.lock);
	known = find_locked(address, true);
	u_mutex_unlock(&program.lock);
	return known;
}

int rts_function_get_any(const void *function, struct rts_function **out)
{
	void *handle = (void *)(uintptr_t)function;
	struct rts_object *obj;
	int r = 0;

	if (rts_process_forked())
		return rts_function_get(function, out);
	obj = rts_object_get(function, RTS_FUNCTION);
	if (obj) {
		*out = (struct rts_function *)obj;
		return 0;
	}
	if (known_function(function))
		r = rts_symbol_function(function, &handle);
	return r ? r : rts_function_get(handle, out);
}
