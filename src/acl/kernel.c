/* SPDX-License-Identifier: MIT */
/* kernel.c - what code built by cmake/ascendc.cmake calls. */
#include "acl/api.h"
#include "rts/module.h"
#include "rts/stream.h"

/* A task that launches on its own stream cannot wait for the kernel: it runs when the task has ended. */
static int launch(struct rts_stream *st, const struct vinci_kernel *kernel, uint32_t block_dim, const void *args,
		  size_t args_size)
{
	int code = rts_launch_kernel(st, kernel, block_dim, args, args_size);

	if (!code && (kernel->flags & VINCI_KERNEL_PRINTS) && !rts_stream_running_here(st))
		code = rts_stream_synchronize(st, -1);
	return code;
}

uint32_t vinciLaunchKernel(const struct vinci_kernel *kernel, uint32_t block_dim, void *stream, const void *args,
			   size_t args_size)
{
	struct rts_stream *st;
	int code;

	code = rts_stream_get(stream, &st);
	if (!code) {
		code = launch(st, kernel, block_dim, args, args_size);
		rts_stream_put(&st);
	}
	return (uint32_t)api_result(code);
}

void vinciRegisterSymbol(struct vinci_symbol *symbol)
{
	rts_symbol_register(symbol);
}

void vinciUnregisterSymbol(struct vinci_symbol *symbol)
{
	rts_symbol_unregister(symbol);
}
