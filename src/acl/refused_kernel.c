/* SPDX-License-Identifier: MIT */
/*
 * refused_kernel.c - chapters 13, 14 and 18: faults, kernels from binaries, dumps.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: kernels of many threads (simt_api) cannot be built: the AscendC headers here are those of vector kernels. */
REFUSE(aclrtLaunchSIMTKernelWithArgsArray, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args)
REFUSE(aclrtLaunchSIMTKernelWithHostArgs, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
	aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)

