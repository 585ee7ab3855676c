// SPDX-License-Identifier: MIT
#include <cstdint>

extern "C" uint32_t run_twice(int *data);
