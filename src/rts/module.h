/* SPDX-License-Identifier: MIT */
/*
 * module.h - binaries, their functions, argument lists and launches of them; and what happens when a kernel fails.
 *
 * Every handle is checked: 107017 for one that is stale or of another kind.
 */
#ifndef VINCI_RTS_MODULE_H
#define VINCI_RTS_MODULE_H

#include "rts/fault.h"
#include "rts/rts.h"
#include "vinci/kernel.h"

#define RTS_ARGS_PARAMS_MAX 128u
#define RTS_ARGS_BYTES_MAX (64u * 1024)

/* --- module.c --------------------------------------------------------------------------------- */

/* Loaded code. Lives until its handle is gone and none of its kernels is queued or runs. */
struct rts_binary;

struct rts_function {
	struct rts_object obj;
	struct rts_function *next; /* of the binary's; its lock */
	struct rts_binary *binary; /* a reference */
	const struct vinci_kernel *kernel;
};

/* A binary for the current context's device. 107002; 107000 when it cannot be read or is no object of this machine. */
int rts_binary_load_file(const char *path, const aclrtBinaryLoadOptions *options, void **handle);
int rts_binary_load_data(const void *data, size_t size, const aclrtBinaryLoadOptions *options, void **handle);
/* Functions of it are unknown from now on; what was launched goes on. */
int rts_binary_unload(void *handle);
/* The same handle for the same name. 107000 when there is no such kernel. */
int rts_binary_function(void *handle, const char *name, void **function);
/* Address and size of a variable. 107042 */
int rts_binary_global(void *handle, const char *name, void **address, size_t *size);
int rts_binary_set_callback(void *handle, aclrtOpExceptionCallback callback, void *user_data);
/* NULL callback: none is set. */
aclrtOpExceptionCallback rts_binary_callback(struct rts_binary *binary, void **user_data);
/* 107017 when its kernels may not run on @device: it was loaded from memory, for another one. */
int rts_binary_check_device(const struct rts_binary *binary, uint32_t device);
void *rts_binary_handle(const struct rts_binary *binary); /* NULL once unloaded */

int rts_function_get(const void *handle, struct rts_function **function);
void rts_function_put(struct rts_function **function);
/* 107000 when the descriptor tells nothing of parameters, or @index is too large. */
int rts_function_param_count(const struct rts_function *function, size_t *count);
int rts_function_param(const struct rts_function *function, size_t index, size_t *offset, size_t *size);

/* --- args.c ----------------------------------------------------------------------------------- */

/* What a launch takes over from an argument list. */
struct rts_place_holder {
	uint32_t slot; /* where the address goes, */
	uint32_t data; /* and where in the same block what it points at begins */
};

/* The thread's list of arguments, emptied; the same handle each time. It ends with the thread. */
int rts_args_init(void **handle);
/* A list in memory of the caller's, at @memory (rts_args_handle_bytes()), its arguments at @buffer. */
int rts_args_init_in(void *memory, void *buffer, size_t size);
size_t rts_args_handle_bytes(void);
int rts_args_append(void *handle, const void *value, size_t size, void **param);
int rts_args_append_place_holder(void *handle, void **param);
int rts_args_place_holder_buffer(void *handle, void *param, size_t size, void **buffer);
int rts_args_update(void *handle, void *param, const void *value, size_t size);
int rts_args_finalize(void *handle);

/* --- launch.c --------------------------------------------------------------------------------- */

/* 107000 for what no launch may ask for. */
int rts_launch_check_config(const aclrtLaunchKernelCfg *cfg);
/* A finalized list. */
int rts_launch_args(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, void *args);
/* @args is device memory, read when the kernel runs. */
int rts_launch_device(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, const void *args,
		      size_t size);
/* @args is host memory, copied; addresses of parts of the copy are stored into it at the place holders. */
int rts_launch_host(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, const void *args,
		    size_t size, const struct rts_place_holder *holders, size_t count);
/* args[i] points at the value of parameter i. */
int rts_launch_array(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, void *const *args);

/* --- kernel.c --------------------------------------------------------------------------------- */

/* 107000 unless it is a descriptor of this launch ABI. */
int rts_kernel_check(const struct vinci_kernel *kernel);

struct kernel_run {
	const struct vinci_kernel *kernel;
	const void *args;
	uint32_t blocks;
	atomic_uint faults;
	/* of the first one */
	uint32_t block;
	struct fault fault;
};

/* Runs all blocks, on this thread and on idle workers. False: a block has faulted; blocks that had not begun were left
 * out. */
bool kernel_run(struct kernel_run *run);

/* --- exception.c ------------------------------------------------------------------------------ */

struct rtExceptionInfo {
	uint32_t task, stream, thread, device;
	int code;
	struct rts_function *function; /* NULL for <<<>>> */
	const void *args;
	uint32_t args_size;
};

/* What a task answers whose kernel has faulted. */
int rts_fault_code(void);
/* A kernel of the running task @payload has faulted: says so, calls the callbacks, returns the task's code. */
int exception_raise(void *payload, struct rts_stream *stream, const struct kernel_run *run,
		    struct rts_function *function, uint32_t args_size);

int rts_exception_register(aclrtExceptionInfoCallback callback);
int rts_exception_unregister(aclrtExceptionInfoCallback callback);
int rts_exception_set(aclrtExceptionInfoCallback callback); /* NULL: none */

#endif
