/* SPDX-License-Identifier: MIT */
/*
 * launch.c - launches of functions of binaries. They keep their function, and with it the code, until they have ended.
 * Arguments that were in host memory travel in a block of the launch's own, which place holders point into.
 */
#include "rts/args.h"
#include "rts/exec.h"
#include "rts/timeout.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 64

struct function_launch {
	struct rts_function *function; /* a reference */
	void *args;		       /* a block of the launch's, or device memory */
	uint32_t size;
	uint32_t blocks;
	bool owned;
	uint64_t timeout_us; /* 0: that of all */
};

/* --- running ---------------------------------------------------------------------------------- */

static void launch_drop(void *payload)
{
	struct function_launch *l = payload;

	if (l->owned)
		free(l->args);
	rts_function_put(&l->function);
}

static int launch_run(void *payload, struct rts_stream *st)
{
	struct function_launch *l = payload;
	struct kernel_run run = {
		.kernel = l->function->kernel, .entry = l->function->entry, .args = l->args, .blocks = l->blocks,
		.stream = st, .timeout_us = l->timeout_us
	};
	struct rts_segment seg;

	if (!l->owned && !rts_va_range(l->args, l->size, &seg)) {
		rts_stream_explain(st, "kernel %s: its %u bytes of arguments at %p are not in memory of a device",
				   run.kernel->name, l->size, l->args);
		return rts_fault_code(l->function);
	}
	if (l->function->cpu_name && !run.entry) {
		rts_stream_explain(st, "%s: the library has no function of the name that it was registered with",
				   run.kernel->name);
		return ACL_ERROR_RT_AICPU_EXCEPTION;
	}
	if (!kernel_run(&run))
		return exception_raise(payload, st, &run, l->function, l->size);
	if (!run.status)
		return 0;
	rts_stream_explain(st, "%s, which runs on the device's CPUs, returned %u", run.kernel->name, run.status);
	return ACL_ERROR_RT_AICPU_EXCEPTION;
}

static const struct rts_task_type launch_type = {
	.name = "kernel", .run = launch_run, .drop = launch_drop, .kernel = true,
};

/* --- checks ----------------------------------------------------------------------------------- */

static int flag_check(const char *what, uint8_t value)
{
	if (value <= 1)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "launch attribute %s is %u; it must be 0 or 1", what, value);
}

static int attr_check(const aclrtLaunchKernelAttr *attr)
{
	switch ((int)attr->id) {
	case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
		if (attr->value.schemMode > 2)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"launch attribute schemMode is %u; it must be 0, 1 or 2",
					attr->value.schemMode);
		return 0;
	case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
		return flag_check("isBlockTaskPrefetch", attr->value.isBlockTaskPrefetch);
	case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
		return flag_check("isDataDump", attr->value.isDataDump);
	case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
		return flag_check("enableProfiling", attr->value.enableProfiling);
	default:
		return 0;
	}
}

static uint64_t attr_timeout_us(const aclrtLaunchKernelAttr *attr)
{
	if (attr->id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT)
		return attr->value.timeout * UINT64_C(1000000);
	return (uint64_t)attr->value.timeoutUs.timeoutHigh << 32 | attr->value.timeoutUs.timeoutLow;
}

int rts_launch_config(const aclrtLaunchKernelCfg *cfg, uint64_t *timeout_us)
{
	bool seconds = false, us = false;
	uint64_t timeout = 0;
	int r = 0;

	*timeout_us = 0;
	if (!cfg)
		return 0;
	if (!cfg->attrs)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs is NULL; without attributes pass NULL for cfg");
	for (size_t i = 0; i < cfg->numAttrs && !r; i++) {
		seconds |= cfg->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
		us |= cfg->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
		r = attr_check(&cfg->attrs[i]);
		if (cfg->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT ||
		    cfg->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US)
			timeout = attr_timeout_us(&cfg->attrs[i]);
	}
	if (!r && seconds && us)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"a launch has one timeout: in seconds or in microseconds, not both");
	if (!r && timeout)
		r = rts_op_timeout_watch();
	if (!r)
		*timeout_us = timeout;
	return r;
}

/* Bytes that the kernel reads: its slots without the padding behind the last value, where it tells its parameters. */
static size_t bytes_read(const struct vinci_kernel *k)
{
	const struct vinci_param *last;

	if (!(k->flags & VINCI_KERNEL_PARAMS) || !k->param_count)
		return k->args_size;
	last = &k->params[k->param_count - 1];
	return (size_t)last->offset + last->size;
}

static int size_check(const struct rts_function *fn, uint32_t blocks, size_t size)
{
	if (!blocks)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"kernel %s: the number of blocks is 0; it must be at least 1", fn->kernel->name);
	if (!size || size < bytes_read(fn->kernel) || size > RTS_ARGS_BYTES_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"kernel %s: %zu bytes of arguments; it takes %zu, and %u are the most",
				fn->kernel->name, size, bytes_read(fn->kernel), RTS_ARGS_BYTES_MAX);
	return 0;
}

/* --- launching -------------------------------------------------------------------------------- */

/* Takes the block over, also on failure. */
static int submit(struct rts_stream *st, struct rts_function *fn, uint32_t blocks, uint64_t timeout_us, void *args,
		  size_t size, bool owned)
{
	struct function_launch l = {
		.function = fn, .args = args, .size = (uint32_t)size, .blocks = blocks, .owned = owned,
		.timeout_us = timeout_us
	};
	int r;

	rts_object_ref(&fn->obj);
	fault_start_once();
	r = rts_binary_check_device(fn->binary, rts_stream_device(st));
	if (!r)
		r = rts_stream_submit(st, &launch_type, &l, sizeof(l));
	if (r)
		launch_drop(&l);
	return r;
}

static int block_new(size_t size, unsigned char **block)
{
	*block = aligned_alloc(BLOCK_ALIGN, (size + BLOCK_ALIGN) / BLOCK_ALIGN * BLOCK_ALIGN);
	if (*block)
		return 0;
	return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for %zu bytes of arguments", size);
}

int rts_launch_device(struct rts_stream *st, struct rts_function *fn, uint32_t blocks, uint64_t timeout_us,
		      const void *args, size_t size)
{
	int r = size_check(fn, blocks, size);

	return r ? r : submit(st, fn, blocks, timeout_us, (void *)(uintptr_t)args, size, false);
}

static void store_address(unsigned char *block, uint32_t slot, uint32_t data)
{
	void *at = block + data;

	memcpy(block + slot, &at, sizeof(at));
}

static int holders_check(const struct rts_place_holder *holders, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (size < sizeof(void *) || holders[i].slot > size - sizeof(void *) || holders[i].data >= size)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"place holder %zu: address at %u, data at %u; both must lie in the %zu bytes "
					"of arguments",
					i, holders[i].slot, holders[i].data, size);
	return 0;
}

int rts_launch_host(struct rts_stream *st, struct rts_function *fn, uint32_t blocks, uint64_t timeout_us,
		    const void *args, size_t size, const struct rts_place_holder *holders, size_t count)
{
	unsigned char *block;
	int r;

	r = size_check(fn, blocks, size);
	if (!r)
		r = holders_check(holders, count, size);
	if (!r)
		r = block_new(size, &block);
	if (r)
		return r;
	memcpy(block, args, size);
	for (size_t i = 0; i < count; i++)
		store_address(block, holders[i].slot, holders[i].data);
	return submit(st, fn, blocks, timeout_us, block, size, true);
}

static int list_check(const struct args_list *list, const struct rts_function *fn, uint32_t blocks)
{
	if (!list->finalized || list->updating)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the list of arguments is not finalized%s",
				list->updating ? ": a value was updated since" : "");
	if (!list->used || list->used > list->capacity)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the list of arguments is empty");
	for (uint32_t i = 0; i < list->count; i++)
		if (list->params[i].offset > list->used - sizeof(void *) && list->params[i].holder)
			return u_report(ACL_ERROR_RT_PARAM_INVALID, "parameter %u lies outside of the list", i);
	return size_check(fn, blocks, list->slots < list->used ? list->slots : list->used);
}

static int list_copy(const struct args_list *list, unsigned char **block)
{
	int r = block_new(list->used, block);

	if (r)
		return r;
	memcpy(*block, list->buffer, list->used);
	for (uint32_t i = 0; i < list->count; i++)
		if (list->params[i].holder)
			store_address(*block, list->params[i].offset, list->params[i].data);
	return 0;
}

int rts_launch_args(struct rts_stream *st, struct rts_function *fn, uint32_t blocks, uint64_t timeout_us, void *args)
{
	struct args_list *list;
	unsigned char *block;
	size_t size;
	int r;

	r = args_lock(args, &list);
	if (r)
		return r;
	size = list->used;
	r = list_check(list, fn, blocks);
	if (!r)
		r = list_copy(list, &block);
	args_unlock(list);
	return r ? r : submit(st, fn, blocks, timeout_us, block, size, true);
}

int rts_launch_array(struct rts_stream *st, struct rts_function *fn, uint32_t blocks, uint64_t timeout_us,
		     void *const *args)
{
	const struct vinci_kernel *k = fn->kernel;
	unsigned char *block;
	size_t count;
	int r;

	r = rts_function_param_count(fn, &count);
	if (!r)
		r = size_check(fn, blocks, k->args_size ? k->args_size : 1);
	for (size_t i = 0; i < count && !r; i++)
		if (!args || !args[i])
			r = u_report(ACL_ERROR_RT_PARAM_INVALID, "kernel %s: the pointer to argument %zu is NULL",
				     k->name, i);
	if (!r)
		r = block_new(k->args_size, &block);
	if (r)
		return r;
	memset(block, 0, k->args_size);
	for (size_t i = 0; i < count; i++)
		memcpy(block + k->params[i].offset, args[i], k->params[i].size);
	return submit(st, fn, blocks, timeout_us, block, k->args_size, true);
}
