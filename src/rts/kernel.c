/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - launches of kernels. The blocks of a launch run on the stream's owner and, when that pays, on idle workers beside it;
 * the launch ends when all have.
 *
 * Whether it pays is known from earlier launches of the same kernel: calling a helper costs about as much as CALL_NS of work.
 * A kernel that was never seen, or whose blocks were long last time, gets its helpers before its first block runs, so blocks that
 * wait for each other are not run one after the other.
 */
#include "rts/exec.h"
#include "vinci/kernel.h"

#include <stdlib.h>
#include <string.h>

#define INLINE_ARGS (RTS_TASK_BYTES - 16)
#define CALL_NS 10000
#define COSTS 256

struct launch {
	const struct vinci_kernel *kernel;
	uint32_t blocks;
	uint32_t args_size;
	union {
		unsigned char args[INLINE_ARGS]; /* 32 bytes of them end with the slot's first cache line */
		void *heap; /* when they are more */
	};
};

_Static_assert(sizeof(struct launch) == RTS_TASK_BYTES, "a launch fills its slot");

/* What the blocks of recent kernels cost, by hash of the descriptor; a hint. */
static struct cost {
	_Atomic(const struct vinci_kernel *) kernel;
	_Atomic uint32_t ns; /* a block, on average; 0: not known yet */
} costs[COSTS];

/* A launch that several threads run. Lives on the owner's stack until all have left. */
struct spread {
	struct pool_job job;
	const struct launch *launch;
	const void *args;
	_Atomic uint32_t next; /* block */
};

static const void *launch_args(const struct launch *l)
{
	return l->args_size > INLINE_ARGS ? l->heap : l->args;
}

static void spread_run(struct spread *s)
{
	struct vinci_block block = { .count = s->launch->blocks };

	for (;;) {
		block.index = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
		if (block.index >= block.count)
			return;
		s->launch->kernel->run(s->args, &block);
	}
}

static void spread_help(struct pool_job *job)
{
	spread_run((struct spread *)job);
}

static void run_spread(const struct launch *l, uint32_t helpers)
{
	struct spread s = { .job.help = spread_help, .launch = l, .args = launch_args(l) };

	pool_job_begin(&s.job, helpers);
	spread_run(&s);
	pool_job_end(&s.job);
}

static void run_alone(const struct launch *l)
{
	struct vinci_block block = { .count = l->blocks };

	for (; block.index < block.count; block.index++)
		l->kernel->run(launch_args(l), &block);
}

static struct cost *cost_of(const struct vinci_kernel *kernel)
{
	struct cost *c = &costs[((uintptr_t)kernel / sizeof(*kernel)) % COSTS];

	if (atomic_load_explicit(&c->kernel, memory_order_relaxed) != kernel) {
		atomic_store_explicit(&c->kernel, kernel, memory_order_relaxed);
		atomic_store_explicit(&c->ns, 0, memory_order_relaxed);
	}
	return c;
}

static uint32_t helpers_for(const struct launch *l, const struct cost *c)
{
	uint32_t ns = atomic_load_explicit(&c->ns, memory_order_relaxed);
	uint32_t most = u_cores() > 1 ? u_cores() - 1 : 1;

	if (ns && (uint64_t)ns * l->blocks < 2 * CALL_NS)
		return 0;
	return l->blocks - 1 < most ? l->blocks - 1 : most;
}

static void run_blocks(const struct launch *l)
{
	struct cost *c = cost_of(l->kernel);
	uint32_t helpers = helpers_for(l, c);
	uint64_t start = u_now_ns(), ns;

	if (helpers)
		run_spread(l, helpers);
	else
		run_alone(l);
	ns = (u_now_ns() - start) * (helpers + 1) / l->blocks;
	atomic_store_explicit(&c->ns, ns < UINT32_MAX ? (uint32_t)ns + 1 : UINT32_MAX, memory_order_relaxed);
}

static int launch_run(void *payload, struct rts_stream *st)
{
	const struct launch *l = payload;

	(void)st;
	if (l->blocks == 1)
		run_alone(l);
	else
		run_blocks(l);
	return 0;
}

static void launch_drop(void *payload)
{
	struct launch *l = payload;

	if (l->args_size <= CHUNK_BYTES)
		task_block_put(l->heap);
	else
		free(l->heap);
}

static const struct rts_task_type launch_type = { .name = "kernel", .run = launch_run };
static const struct rts_task_type launch_heap_type = { .name = "kernel", .run = launch_run, .drop = launch_drop };

static int launch_check(const struct vinci_kernel *k, uint32_t blocks, const void *args, size_t size)
{
	if (!k || !k->run || k->abi != VINCI_KERNEL_ABI || k->reserved || (k->flags & ~VINCI_KERNEL_PRINTS))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the kernel descriptor is not one of launch ABI %u; was it built by another version's ascendc.cmake?",
				VINCI_KERNEL_ABI);
	if (!blocks)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "kernel %s: the number of blocks is 0; it must be at least 1",
				k->name ? k->name : "?");
	if (size > VINCI_KERNEL_ARGS_MAX || size < k->args_size || (size && !args))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"kernel %s: %zu bytes of arguments; it takes %u, and %u are the most", k->name ? k->name : "?",
				size, k->args_size, VINCI_KERNEL_ARGS_MAX);
	return 0;
}

static void *heap_args(size_t size)
{
	return size <= CHUNK_BYTES ? task_block_get() : malloc(size);
}

int rts_launch_kernel(struct rts_stream *st, const struct vinci_kernel *kernel, uint32_t blocks, const void *args,
		      size_t size)
{
	struct launch l;
	int r;

	r = launch_check(kernel, blocks, args, size);
	if (r)
		return r;
	l.kernel = kernel;
	l.blocks = blocks;
	l.args_size = (uint32_t)size;
	if (size <= INLINE_ARGS) {
		if (size)
			memcpy(l.args, args, size);
		return rts_stream_submit(st, &launch_type, &l, offsetof(struct launch, args) + size);
	}
	l.heap = heap_args(size);
	if (!l.heap)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for %zu bytes of arguments", size);
	memcpy(l.heap, args, size);
	r = rts_stream_submit(st, &launch_heap_type, &l, offsetof(struct launch, heap) + sizeof(l.heap));
	if (r)
		launch_drop(&l);
	return r;
}
