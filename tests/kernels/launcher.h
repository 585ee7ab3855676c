/* SPDX-License-Identifier: MIT */
/* The other side of the launch ABI, for tests of what the translator and the shim make of a launch. */
#ifndef VINCI_TESTS_LAUNCHER_H
#define VINCI_TESTS_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>

#include "vinci/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the last vinciLaunchKernel was called with. */
struct launcher_record {
	const struct vinci_kernel *kernel;
	uint32_t block_dim;
	void *stream;
	size_t args_size;
	unsigned launches;
};

extern struct launcher_record launcher_last;
/* What has been registered. */
extern struct vinci_symbol *launcher_symbols;

#ifdef __cplusplus
}
#endif

#endif /* VINCI_TESTS_LAUNCHER_H */
