/* SPDX-License-Identifier: MIT */
/*
 * The qualifiers of AscendC. Device memory, the buffers of a core and host memory are one address space here, so
 * they say nothing to the compiler; vinci-ascendc reads __global__ before it disappears.
 */
#ifndef VINCI_ASCENDC_QUALIFIERS_H
#define VINCI_ASCENDC_QUALIFIERS_H

#include <cstdint>

/* functions */
#define __global__
#define __aicore__
#define __host_aicore__
#define __cube__
#define __vector__
#define __mix__(cubes, vectors)

/* address spaces: global memory, unified buffer, L1, L0A, L0B, L0C, fixpipe and bias buffers */
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__

#define GM_ADDR __gm__ uint8_t *

#endif /* VINCI_ASCENDC_QUALIFIERS_H */
