/* SPDX-License-Identifier: MIT */
#ifndef VINCI_TESTS_SYMBOL_KERNELS_H
#define VINCI_TESTS_SYMBOL_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum symbol { SYMBOL_WEIGHTS, SYMBOL_RUNS, SYMBOL_PAIR, SYMBOL_WEIGH, SYMBOL_COUNT_RUN };

struct filling {
	int32_t value, count;
};

const void *symbol_of(enum symbol symbol);
uint32_t launch_fill(void *stream, void *out, int32_t value, int32_t count);
uint32_t launch_weigh(uint32_t blocks, void *stream, void *out, float scale);

#ifdef __cplusplus
}
#endif

#endif /* VINCI_TESTS_SYMBOL_KERNELS_H */
