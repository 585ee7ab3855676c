/* SPDX-License-Identifier: MIT */
/* mem_util.h - what the tests of memory and copies share: sizes, accounting, and a kernel that waits to be let go. */
#ifndef VINCI_MEM_UTIL_H
#define VINCI_MEM_UTIL_H

#include <poll.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "acl/acl.h"
#include "test_util.h"
#include "vinci/kernel.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* The call fails with this code, and the thread has a sentence about it. */
#define assert_refused(call, code)                                                                                     \
	do {                                                                                                           \
		(void)aclGetRecentErrMsg();                                                                            \
		assert_int_equal(call, code);                                                                          \
		assert_non_null(aclGetRecentErrMsg());                                                                 \
	} while (0)

#define assert_ok(call)                                                                                                \
	do {                                                                                                           \
		aclError code_ = (call);                                                                               \
		if (code_) {                                                                                           \
			const char *text_ = aclGetRecentErrMsg();                                                      \
			print_error("%s: %d %s\n", #call, code_, text_ ? text_ : "");                                  \
		}                                                                                                      \
		assert_int_equal(code_, 0);                                                                            \
	} while (0)

static inline size_t m_free(void)
{
	size_t left = 0, total = 0;

	assert_ok(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
	return left;
}

/* ---- a gate: a kernel that holds up its stream until m_open() ---- */

struct m_gate {
	int pipe[2];
	atomic_int *store_to; /* written after the gate has opened; may be NULL */
	int value;
};

/* Waits for a byte, at most 20 seconds: a test that fails does not hang. */
static inline void m_gate_run(const void *args, const struct vinci_block *block)
{
	const struct m_gate *gate = *(const struct m_gate *const *)args;
	struct pollfd fd = { .fd = gate->pipe[0], .events = POLLIN };
	char byte;

	(void)block;
	if (poll(&fd, 1, 20000) == 1 && read(gate->pipe[0], &byte, 1) == 1 && gate->store_to)
		atomic_store(gate->store_to, gate->value);
}

static const struct vinci_kernel m_gate_kernel = {
	.abi = VINCI_KERNEL_ABI, .name = "gate", .run = m_gate_run, .args_size = sizeof(void *)
};

static inline void m_close(struct m_gate *gate, aclrtStream stream)
{
	assert_int_equal(pipe(gate->pipe), 0);
	assert_int_equal(vinciLaunchKernel(&m_gate_kernel, 1, stream, &gate, sizeof(gate)), 0);
}

static inline void m_open(struct m_gate *gate)
{
	assert_int_equal(write(gate->pipe[1], "g", 1), 1);
}

/* After the stream was synchronised. */
static inline void m_gate_end(struct m_gate *gate)
{
	close(gate->pipe[0]);
	close(gate->pipe[1]);
}

#endif
