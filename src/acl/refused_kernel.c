/* SPDX-License-Identifier: MIT */
/*
 * refused_kernel.c - chapters 13, 14 and 18: faults, kernels from binaries, dumps.
 * REASON is what the message and docs/status.md give for the functions below it.
 */
#include "acl/refused.h"

#define REASON "kernels of many threads (simt_api) cannot be built: the AscendC headers here are those of vector kernels"
REFUSE(aclrtLaunchSIMTKernelWithArgsArray, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args)
REFUSE(aclrtLaunchSIMTKernelWithHostArgs, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
	aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)

