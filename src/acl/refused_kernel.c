/* SPDX-License-Identifier: MIT */
/*
 * refused_kernel.c - chapters 13, 14 and 18: faults, kernels from binaries, dumps.
 * A comment above a group is the reason that docs/status.md gives.
 */
#include "acl/refused.h"

/* Refused: CANN has it on other products than A2 and A3. */
REFUSE(aclrtLaunchSIMTKernelWithArgsArray, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args)
REFUSE(aclrtLaunchSIMTKernelWithHostArgs, void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
	aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
	aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)

