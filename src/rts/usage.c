/* SPDX-License-Identifier: MIT */
#include "rts/usage.h"

#include <stdio.h>
#include <string.h>

static struct {
	_Atomic uint64_t bytes, peak;
} usage[VINCI_MAX_DEVICES][RTS_COMPONENTS];

static const char *const names[RTS_COMPONENTS] = { "APP", "ASCENDCL" };

void rts_usage_add(uint32_t device, enum rts_component c, uint64_t bytes)
{
	uint64_t now = atomic_fetch_add(&usage[device][c].bytes, bytes) + bytes;
	uint64_t peak = atomic_load(&usage[device][c].peak);

	while (now > peak && !atomic_compare_exchange_weak(&usage[device][c].peak, &peak, now))
		continue;
}

void rts_usage_sub(uint32_t device, enum rts_component c, uint64_t bytes)
{
	atomic_fetch_sub(&usage[device][c].bytes, bytes);
}

size_t rts_usage_list(uint32_t device, aclrtMemUsageInfo *infos, size_t capacity)
{
	aclrtMemUsageInfo all[RTS_COMPONENTS], swap;
	size_t n = 0;

	for (size_t c = 0; c < RTS_COMPONENTS; c++) {
		aclrtMemUsageInfo info = { .curMemSize = atomic_load(&usage[device][c].bytes),
					   .memPeakSize = atomic_load(&usage[device][c].peak) };

		(void)snprintf(info.name, sizeof(info.name), "%s", names[c]);
		if (info.memPeakSize)
			all[n++] = info;
	}
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j && all[j].curMemSize > all[j - 1].curMemSize; j--) {
			swap = all[j];
			all[j] = all[j - 1];
			all[j - 1] = swap;
		}
	n = n < capacity ? n : capacity;
	memcpy(infos, all, n * sizeof(all[0]));
	return n;
}
