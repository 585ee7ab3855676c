/* SPDX-License-Identifier: MIT */
/*
 * profile.c - what a SoC is and may do. Names, core counts and memory sizes: CANN's platform_config; limits: the
 * product tables of its reference. Where platform_config gives no memory size, the product's data sheet does.
 */
#include "rts/process.h"
#include "rts/rts.h"

#include <string.h>

#define GIB(n) ((uint64_t)(n) << 30)
#define MIB(n) ((uint64_t)(n) << 20)

/* Atlas A2: limits of streams, events and notifies, and features. */
#define A2(name, mem, l2, cores)                                                                                       \
	{                                                                                                              \
		.soc = (name), .mem_bytes = GIB(mem), .l2_bytes = MIB(l2), .cube_cores = (cores),                      \
		.vector_cores = 2 * (cores), .aicpu_cores = 6, .stream_limit = 1984, .event_limit = 65536,             \
		.notify_limit = 8192, .features = RTS_FEATURE_IPC_EVENT                                                \
	}

/* Atlas A3: two dies a chip, one address space over a super pod. */
#define A3(name, mem, l2, cores)                                                                                       \
	{                                                                                                              \
		.soc = (name), .mem_bytes = GIB(mem), .l2_bytes = MIB(l2), .cube_cores = (cores),                      \
		.vector_cores = 2 * (cores), .aicpu_cores = 6, .stream_limit = 1984, .event_limit = 65536,             \
		.notify_limit = 8192,                                                                                  \
		.features = RTS_FEATURE_IPC_ATTR | RTS_FEATURE_SUPER_POD | RTS_FEATURE_PEER_COPY_FREE |                \
			    RTS_FEATURE_IPC_EVENT                                                                      \
	}

static const struct rts_profile profiles[] = {
	A2("Ascend910B1", 64, 192, 24),	   A2("Ascend910B2", 64, 192, 24),    A2("Ascend910B2C", 64, 192, 24),
	A2("Ascend910B3", 64, 192, 20),	   A2("Ascend910B4", 32, 96, 20),     A2("Ascend910B4-1", 32, 168, 20),
	A3("Ascend910_9362", 64, 168, 20), A3("Ascend910_9363", 32, 168, 20), A3("Ascend910_9372", 64, 192, 20),
	A3("Ascend910_9381", 64, 192, 24), A3("Ascend910_9382", 64, 192, 24), A3("Ascend910_9391", 64, 192, 24),
	A3("Ascend910_9392", 64, 192, 24),
};

const struct rts_profile *rts_profile_find(const char *soc)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (!strcmp(profiles[i].soc, soc))
			return &profiles[i];
	return NULL;
}

/* The names, comma separated, for a message. */
const char *rts_profile_names(void)
{
	return "Ascend910B1, B2, B2C, B3, B4, B4-1, Ascend910_9362, 9363, 9372, 9381, 9382, 9391, 9392";
}
