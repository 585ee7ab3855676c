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
	/* Of a function for the device's CPUs; else NULL. */
	char *cpu_name;
	uint32_t (*entry)(void *args); /* NULL: the library has no such function */
	struct vinci_kernel cpu;       /* *kernel */
};

/* A binary for the current context's device. 107002; 107000 when it cannot be read or is no object of this machine. */
int rts_binary_load_file(const char *path, const aclrtBinaryLoadOptions *options, void **handle);
int rts_binary_load_data(const void *data, size_t size, const aclrtBinaryLoadOptions *options, void **handle);
/* Functions of it are unknown from now on; what was launched goes on. */
int rts_binary_unload(void *handle);
/* The same handle for the same name. 107000 when there is no such kernel. */
int rts_binary_function(void *handle, const char *name, void **function);
/* The number behind the last '_' of a kernel's name tells its entry. 107000 */
int rts_binary_function_by_entry(void *handle, uint64_t entry, void **function);
/* A function named @function of a binary for the device's CPUs, which is called @kernel from now on. 107000 */
int rts_binary_cpu_function(void *handle, const char *function, const char *kernel, void **out);
/* Where the binary lies; base NULL if it was to be loaded lazily. 207000 */
int rts_binary_image(void *handle, void **base, size_t *size);
/* Address and size of a variable. 107042 */
int rts_binary_global(void *handle, const char *name, void **address, size_t *size);
int rts_binary_set_callback(void *handle, aclrtOpExceptionCallback callback, void *user_data);
/* NULL callback: none is set. */
aclrtOpExceptionCallback rts_binary_callback(struct rts_binary *binary, void **user_data);
/* 107017 when its kernels may not run on @device: it was loaded from memory, for another one. */
int rts_binary_check_device(const struct rts_binary *binary, uint32_t device);
void *rts_binary_handle(const struct rts_binary *binary); /* NULL once unloaded */

/* For symbol.c: a part of the program, opened as @dl, which is taken over on success; and a function of it. */
int rts_binary_of_program(void *dl, void **handle);
int rts_binary_function_of(void *handle, const struct vinci_kernel *kernel, void **function);
/* Makes what a program or a binary calls a variable of the device known as memory of @device. 207001 */
int rts_variables_insert(uintptr_t base, size_t size, uint32_t device);

int rts_function_get(const void *handle, struct rts_function **function);
void rts_function_put(struct rts_function **function);
/* 107000 when the descriptor tells nothing of parameters, or @index is too large. */
int rts_function_param_count(const struct rts_function *function, size_t *count);
int rts_function_param(const struct rts_function *function, size_t index, size_t *offset, size_t *size);

/* Of its code; 0: nobody knows, for it is not exported. */
size_t rts_function_bytes(const struct rts_function *function);

/* --- symbol.c --------------------------------------------------------------------------------- */

void rts_symbol_register(struct vinci_symbol *symbol);
void rts_symbol_unregister(struct vinci_symbol *symbol);
/* A __gm__ variable of the program, for the current context's device. 107002, 107043, 207000 */
int rts_symbol_variable(const void *symbol, void **address, size_t *size);
/* The handle of a __global__ function of the program. 107002, 107044 */
int rts_symbol_function(const void *symbol, void **function);
/* As rts_function_get(); @function may also be the address of a __global__ function. */
int rts_function_get_any(const void *function, struct rts_function **out);
/* The address of the __global__ function that @kernel describes; NULL if nobody told. */
const void *rts_symbol_of_kernel(const struct vinci_kernel *kernel);

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

/* 107000 for what no launch may ask for. *timeout_us as in rts_op_limit(). */
int rts_launch_config(const aclrtLaunchKernelCfg *cfg, uint64_t *timeout_us);
/* A finalized list. */
int rts_launch_args(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, uint64_t timeout_us,
		    void *args);
/* @args is device memory, read when the kernel runs. */
int rts_launch_device(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, uint64_t timeout_us,
		      const void *args, size_t size);
/* @args is host memory, copied; addresses of parts of the copy are stored into it at the place holders. */
int rts_launch_host(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, uint64_t timeout_us,
		    const void *args, size_t size, const struct rts_place_holder *holders, size_t count);
/* args[i] points at the value of parameter i. */
int rts_launch_array(struct rts_stream *stream, struct rts_function *function, uint32_t blocks, uint64_t timeout_us,
		     void *const *args);

/* --- kernel.c --------------------------------------------------------------------------------- */

/* 107000 unless it is a descriptor of this launch ABI. */
int rts_kernel_check(const struct vinci_kernel *kernel);

struct kernel_run {
	const struct vinci_kernel *kernel;
	uint32_t (*entry)(void *args); /* called instead of the kernel */
	const void *args;
	uint32_t blocks;
	struct rts_stream *stream;
	uint64_t timeout_us; /* the launch's own; 0: that of all, UINT64_MAX: none */
	uint64_t deadline;   /* set by kernel_run(), as is: */
	_Atomic uint32_t *overflows; /* NULL: they are not noted */
	atomic_uint status; /* what an entry has answered, if it was not 0 */
	atomic_uint faults;
	/* of the first one */
	uint32_t block;
	struct fault fault;
};

/*
 * Runs all blocks, on this thread and on idle workers. False: a block has faulted or was ended; blocks that had not
 * begun were left out.
 */
bool kernel_run(struct kernel_run *run);

/* --- exception.c ------------------------------------------------------------------------------ */

struct rtExceptionInfo {
	uint32_t task, stream, thread, device;
	int code;
	struct rts_function *function; /* NULL for <<<>>> */
	const void *args;
	uint32_t args_size;
};

/* What a task answers whose kernel has faulted; NULL: a kernel without a handle. */
int rts_fault_code(const struct rts_function *function);
int rts_timeout_code(void);
/* A kernel of the running task @payload has faulted: says so, calls the callbacks, returns the task's code. */
int exception_raise(void *payload, struct rts_stream *stream, const struct kernel_run *run,
		    struct rts_function *function, uint32_t args_size);

int rts_exception_register(aclrtExceptionInfoCallback callback);
int rts_exception_unregister(aclrtExceptionInfoCallback callback);
int rts_exception_set(aclrtExceptionInfoCallback callback); /* NULL: none */

#endif
