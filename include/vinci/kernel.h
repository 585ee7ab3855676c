/* SPDX-License-Identifier: MIT */
/*
 * The launch ABI: what code built by cmake/ascendc.cmake and libascendcl.so know of each other.
 *
 * A kernel is host code. Its arguments are a flat buffer of 8-byte slots: each argument starts on a slot and fills
 * as many as its size needs, rounded up (CANN aligns each argument of a kernel to 8 bytes), with the value in the
 * lowest bytes. The same layout serves <<<>>> and the aclrtKernelArgs calls.
 */
#ifndef VINCI_KERNEL_H
#define VINCI_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VINCI_KERNEL_ABI 1u

/* Bytes. The slots of one launch are copied into its task, so they are bounded. */
#define VINCI_KERNEL_SLOT 8u
#define VINCI_KERNEL_ARGS_MAX 8192u

/* Flag: the kernel may print, so the launch synchronises its stream, as the stubs that CANN generates do. */
#define VINCI_KERNEL_PRINTS 1u
/* Flag: param_count and params tell what the arguments are. A descriptor without it may end before params. */
#define VINCI_KERNEL_PARAMS 2u

/* One block of a running kernel: 0 <= index < count. */
struct vinci_block {
	uint32_t index;
	uint32_t count;
};

/* Where a parameter's value begins in the slots, and its bytes. */
struct vinci_param {
	uint32_t offset;
	uint32_t size;
};

/*
 * A kernel. Descriptors are static and outlive every launch of theirs; an object built by ascendc.cmake exports
 * one named vinci_kernel_<name> for each extern "C" kernel.
 */
struct vinci_kernel {
	uint32_t abi;   /* VINCI_KERNEL_ABI */
	uint32_t flags; /* VINCI_KERNEL_*; unknown ones are refused */
	const char *name;
	/* Runs one block. Blocks of a launch may run in any order and in parallel; args is shared and read-only. */
	void (*run)(const void *args, const struct vinci_block *block);
	uint32_t args_size;   /* bytes of slots that run() reads */
	uint32_t param_count; /* 0 without VINCI_KERNEL_PARAMS */
	const struct vinci_param *params;
};

#define VINCI_KERNEL_SYMBOL_PREFIX "vinci_kernel_"

/* A __global__ function or a __gm__ variable of the program, for those who know its address. */
struct vinci_symbol {
	const void *address;
	size_t size; /* bytes of a variable */
	const char *name;
	const struct vinci_kernel *kernel; /* of a function; NULL for a variable */
	/* the library's */
	struct vinci_symbol *next;
	int32_t device;
	uint32_t pad;
};

/* As the object that holds it is loaded and unloaded. */
__attribute__((visibility("default")))
void vinciRegisterSymbol(struct vinci_symbol *symbol);
__attribute__((visibility("default")))
void vinciUnregisterSymbol(struct vinci_symbol *symbol);

/*
 * Queues a launch of block_dim blocks on the stream (NULL: the default stream of the current context). The
 * arguments are copied before it returns. Returns 0 or an aclError; block_dim 0 is 107000.
 */
__attribute__((visibility("default")))
uint32_t vinciLaunchKernel(const struct vinci_kernel *kernel, uint32_t block_dim, void *stream, const void *args,
			   size_t args_size);

#ifdef __cplusplus
}
#endif

#endif /* VINCI_KERNEL_H */
