/* SPDX-License-Identifier: MIT */
#ifndef VINCI_TESTS_SCALAR_KERNELS_H
#define VINCI_TESTS_SCALAR_KERNELS_H

#include <cstdint>

struct odd {
	int32_t a;
	int32_t b;
	int32_t c;
};

struct alignas(16) wide {
	uint64_t words[4];
};

/* Not trivial to construct, yet copied byte by byte. */
struct picky {
	explicit picky(int v) : value(v)
	{
	}
	int value;
};

uint32_t launch_index(uint32_t blocks, void *stream, int64_t *out);
uint32_t launch_mixed(void *stream, int64_t *out, odd o, wide w, picky p);
uint32_t launch_no_args(void *stream);
uint32_t launch_fill(void *stream, float *floats, int16_t *shorts);
uint32_t launch_scale(void *stream, int *data);
uint32_t launch_spread_out(void *stream, int *data);
uint32_t launch_by_macro(void *stream, int *data);
int32_t launch_sum(void *stream, int *data);
uint32_t launch_dim(int64_t blocks, void *stream, int64_t *out);
uint32_t launch_meet(uint32_t blocks, void *stream, int32_t *seen, int32_t *count);
uint32_t launch_trap(void *stream);
int scalar_text(const char **raw);

#endif /* VINCI_TESTS_SCALAR_KERNELS_H */
