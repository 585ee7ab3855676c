// SPDX-License-Identifier: MIT
// A launch as host code writes it that is compiled without the kernel.
#include "aclrtlaunch_Twice.h"

extern "C" uint32_t run_twice_by_stub(int *data)
{
	return ACLRT_LAUNCH_KERNEL(Twice)(3, nullptr, data);
}
