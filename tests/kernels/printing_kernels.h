/* SPDX-License-Identifier: MIT */
#ifndef VINCI_TESTS_PRINTING_KERNELS_H
#define VINCI_TESTS_PRINTING_KERNELS_H

#include <cstdint>

uint32_t launch_lines(uint32_t blocks, int count);
uint32_t launch_formats(void *address);
uint32_t launch_long(uint32_t blocks, int pieces);

#endif /* VINCI_TESTS_PRINTING_KERNELS_H */
