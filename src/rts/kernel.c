/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - launches of kernels. The blocks of a launch run on the stream's owner and, when that pays, on idle workers
 * beside it; the launch ends when all have.
 *
 * Whether it pays is known from earlier launches of the same kernel: calling a helper costs about as much as CALL_NS of
 * work. A kernel that was never seen, or whose blocks were long last time, gets its helpers before its first block
 * runs, so blocks that wait for each other are not run one after the other.
 */
#include "rts/exec.h"
#include "rts/fault.h"
#include "rts/halt.h"
#include "rts/module.h"
#include "rts/timeout.h"
#include "vinci/kernel.h"

#include <fenv.h>
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
		void *heap;			 /* when they are more */
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
	struct kernel_run *run;
	_Atomic uint32_t next; /* block */
};

/* One thread's share of it. */
struct share {
	struct kernel_run *run;
	struct spread *spread; /* NULL: all blocks */
	struct vinci_block block;
};

static void block_run(struct kernel_run *run, const struct vinci_block *block)
{
	uint32_t status;

	if (!run->entry) {
		run->kernel->run(run->args, block);
		return;
	}
	status = run->entry((void *)(uintptr_t)run->args);
	if (status)
		atomic_store_explicit(&run->status, status, memory_order_relaxed);
}

static void share_run(void *arg)
{
	struct share *s = arg;

	for (; s->block.index < s->block.count; s->block.index++)
		block_run(s->run, &s->block);
}

static void share_run_spread(void *arg)
{
	struct share *s = arg;
	struct kernel_run *run = s->run;

	while (!atomic_load_explicit(&run->faults, memory_order_relaxed)) {
		s->block.index = atomic_fetch_add_explicit(&s->spread->next, 1, memory_order_relaxed);
		if (s->block.index >= s->block.count)
			return;
		block_run(run, &s->block);
	}
}

/*
 * Where the stream's overflows are noted (aclrtSetStreamOverflowSwitch), those that the processor's own arithmetic
 * flags are. The thread may be the application's, whose flags come back.
 */
#define OVERFLOWS (FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID)

static void overflow_begin(const struct kernel_run *run, fexcept_t *before)
{
	if (!run->overflows)
		return;
	fegetexceptflag(before, FE_ALL_EXCEPT);
	feclearexcept(OVERFLOWS);
}

static void overflow_end(const struct kernel_run *run, const fexcept_t *before)
{
	if (!run->overflows)
		return;
	if (fetestexcept(OVERFLOWS))
		atomic_fetch_add(run->overflows, 1);
	fesetexceptflag(before, FE_ALL_EXCEPT);
}

static void share_guard(struct share *s)
{
	struct kernel_run *run = s->run;
	struct halt_work work = {
		.stream = run->stream,
		.task = atomic_load_explicit(&run->stream->completed, memory_order_relaxed),
		.code = run->entry ? (uintptr_t)run->entry : (uintptr_t)run->kernel->run,
		.deadline = run->deadline,
		.device = rts_stream_device(run->stream),
	};
	struct fault fault;
	fexcept_t before;
	bool well;

	s->block = (struct vinci_block){ .count = run->blocks };
	overflow_begin(run, &before);
	well = fault_guard_work(s->spread ? share_run_spread : share_run, s, &work, &fault);
	overflow_end(run, &before);
	if (well)
		return;
	if (atomic_fetch_add(&run->faults, 1))
		return;
	run->fault = fault;
	run->block = s->block.index;
}

static void spread_help(struct pool_job *job)
{
	struct spread *s = (struct spread *)job;
	struct share share = { .run = s->run, .spread = s };

	share_guard(&share);
}

static void run_spread(struct kernel_run *run, uint32_t helpers)
{
	struct spread s = { .job.help = spread_help, .run = run };

	pool_job_begin(&s.job, helpers);
	spread_help(&s.job);
	pool_job_end(&s.job);
}

static void run_alone(struct kernel_run *run)
{
	struct share share = { .run = run };

	share_guard(&share);
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

static uint32_t helpers_for(const struct kernel_run *run, const struct cost *c)
{
	uint32_t ns = atomic_load_explicit(&c->ns, memory_order_relaxed);
	uint32_t most = u_cores() > 1 ? u_cores() - 1 : 1;

	if (ns && (uint64_t)ns * run->blocks < 2 * CALL_NS)
		return 0;
	return run->blocks - 1 < most ? run->blocks - 1 : most;
}

static void run_blocks(struct kernel_run *run)
{
	struct cost *c = cost_of(run->kernel);
	uint32_t helpers = helpers_for(run, c);
	uint64_t start = u_now_ns(), ns;

	if (helpers)
		run_spread(run, helpers);
	else
		run_alone(run);
	ns = (u_now_ns() - start) * (helpers + 1) / run->blocks;
	atomic_store_explicit(&c->ns, ns < UINT32_MAX ? (uint32_t)ns + 1 : UINT32_MAX, memory_order_relaxed);
}

bool kernel_run(struct kernel_run *run)
{
	uint64_t limit = rts_op_limit(run->timeout_us);
	bool saturate; /* kernels clamp or not as they are written */

	run->overflows = rts_overflow_counter(run->stream, &saturate);
	run->deadline = limit == U_FOREVER ? U_FOREVER : u_deadline(u_now_ns(), limit);
	if (run->blocks == 1)
		run_alone(run);
	else
		run_blocks(run);
	return !atomic_load_explicit(&run->faults, memory_order_relaxed);
}

static const void *launch_args(const struct launch *l)
{
	return l->args_size > INLINE_ARGS ? l->heap : l->args;
}

static int launch_run(void *payload, struct rts_stream *st)
{
	const struct launch *l = payload;
	struct kernel_run run = {
		.kernel = l->kernel, .args = launch_args(l), .blocks = l->blocks, .stream = st
	};

	if (kernel_run(&run))
		return 0;
	return exception_raise(payload, st, &run, NULL, l->args_size);
}

static void launch_drop(void *payload)
{
	struct launch *l = payload;

	if (l->args_size <= CHUNK_BYTES)
		task_block_put(l->heap);
	else
		free(l->heap);
}

static const struct rts_task_type launch_type = { .name = "kernel", .run = launch_run, .kernel = true };
static const struct rts_task_type launch_heap_type = {
	.name = "kernel", .run = launch_run, .drop = launch_drop, .kernel = true,
};

int rts_kernel_check(const struct vinci_kernel *k)
{
	bool known =
		k && k->run && k->abi == VINCI_KERNEL_ABI && !(k->flags & ~(VINCI_KERNEL_PRINTS | VINCI_KERNEL_PARAMS));

	if (known && (k->flags & VINCI_KERNEL_PARAMS))
		known = k->param_count == 0 || k->params;
	else if (known)
		known = !k->param_count;
	if (!known)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the kernel descriptor is not one of launch ABI %u; was it built by another version's "
				"ascendc.cmake?",
				VINCI_KERNEL_ABI);
	return 0;
}

static int launch_check(const struct vinci_kernel *k, uint32_t blocks, const void *args, size_t size)
{
	int r = rts_kernel_check(k);

	if (r)
		return r;
	if (!blocks)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"kernel %s: the number of blocks is 0; it must be at least 1", k->name ? k->name : "?");
	if (size > VINCI_KERNEL_ARGS_MAX || size < k->args_size || (size && !args))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"kernel %s: %zu bytes of arguments; it takes %u, and %u are the most",
				k->name ? k->name : "?", size, k->args_size, VINCI_KERNEL_ARGS_MAX);
	fault_start_once();
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
