/* SPDX-License-Identifier: MIT */
/* The block that the calling thread runs. Outside a kernel it reads as block 0 of 1. */
#ifndef VINCI_ASCENDC_BLOCK_H
#define VINCI_ASCENDC_BLOCK_H

#include <cstdint>

/*
 * Registers of the core, as kernels name them. Hidden: each library has its own and its own launches set them.
 * They have CANN's type, so that kernels deduce and format them alike.
 */
__attribute__((visibility("hidden"))) inline thread_local int64_t block_idx = 0;
__attribute__((visibility("hidden"))) inline thread_local int64_t block_num = 1;

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

inline thread_local bool block_running = false;

} // namespace vinci_ascendc

namespace AscendC {

__attribute__((always_inline)) inline int64_t GetBlockIdx()
{
	return ::block_idx;
}

__attribute__((always_inline)) inline int64_t GetBlockNum()
{
	return ::block_num;
}

} // namespace AscendC

#endif /* VINCI_ASCENDC_BLOCK_H */
