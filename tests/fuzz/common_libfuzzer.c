/* SPDX-License-Identifier: MIT */
/* libFuzzer's entry: see docs/testing.md. */
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	world_run(data, size);
	return 0;
}
