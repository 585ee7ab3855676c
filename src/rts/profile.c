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
		.soc = (name), .product = RTS_PRODUCT_A2, .arch = 2201, .mem_bytes = GIB(mem), .l2_bytes = MIB(l2), \
		.cube_cores = (cores), .vector_cores = 2 * (cores), .aicpu_cores = 6, .stream_limit = 1984,            \
		.event_limit = 65536, .notify_limit = 8192, .features = RTS_FEATURE_IPC_EVENT                          \
	}

/* Atlas A3: two dies a chip, one address space over a super pod. */
#define A3(name, mem, l2, cores)                                                                                       \
	{                                                                                                              \
		.soc = (name), .product = RTS_PRODUCT_A3, .arch = 2201, .mem_bytes = GIB(mem), .l2_bytes = MIB(l2), \
		.cube_cores = (cores), .vector_cores = 2 * (cores), .aicpu_cores = 6, .stream_limit = 1984,            \
		.event_limit = 65536, .notify_limit = 8192,                                                            \
		.features = RTS_FEATURE_IPC_ATTR | RTS_FEATURE_SUPER_POD | RTS_FEATURE_PEER_COPY_FREE |                \
			    RTS_FEATURE_IPC_EVENT                                                                      \
	}

/* Ascend 950; memory in pages of 2 MiB. */
#define P950(name, mem, l2, cores, aicpu)                                                                              \
	{                                                                                                              \
		.soc = "Ascend" name, .product = RTS_PRODUCT_950, .arch = 3510, .mem_bytes = 2 * MIB(mem),             \
		.l2_bytes = MIB(l2), .cube_cores = (cores), .vector_cores = 2 * (cores), .aicpu_cores = (aicpu),       \
		.stream_limit = 1984, .event_limit = 65536, .notify_limit = 65535, .features = RTS_FEATURE_IPC_EVENT   \
	}

/* Atlas 200I/500 A2. Memory of all but the first: neither source says, so what the smallest boards have. */
#define P310B(name, mem)                                                                                               \
	{                                                                                                              \
		.soc = (name), .product = RTS_PRODUCT_310B, .arch = 3002, .mem_bytes = GIB(mem), .l2_bytes = MIB(4), \
		.cube_cores = 1, .vector_cores = 1, .aicpu_cores = 4, .stream_limit = 512, .event_limit = 65536,       \
		.notify_limit = 2048                                                                                   \
	}

/* Atlas inference: 24 * 10^9 bytes, in whole pages of 2 MiB. */
#define P310P(name, cores, vectors, aicpu)                                                                             \
	{                                                                                                              \
		.soc = (name), .product = RTS_PRODUCT_310P, .arch = 2002, .mem_bytes = 2 * MIB(11444),                 \
		.l2_bytes = MIB(16), .cube_cores = (cores), .vector_cores = (vectors), .aicpu_cores = (aicpu),         \
		.stream_limit = 1024, .event_limit = 1023, .notify_limit = 1024                                        \
	}

/* Atlas training: no cores for vectors beside the others. */
#define P910(name, cores, aicpu)                                                                                       \
	{                                                                                                              \
		.soc = (name), .product = RTS_PRODUCT_910, .arch = 1001, .mem_bytes = GIB(32), .l2_bytes = MIB(32), \
		.cube_cores = (cores), .aicpu_cores = (aicpu), .stream_limit = 2048, .event_limit = 65535,             \
		.notify_limit = 1024                                                                                   \
	}

/*
 * IPV350: one core, and streams as CANN's configuration of the chip has them. Nothing says how much memory there is, so
 * it is what fits beside an embedded system. It has neither events nor notifies.
 */
#define IPV350(name)                                                                                                   \
	{                                                                                                              \
		.soc = (name), .product = RTS_PRODUCT_IPV350, .arch = 3505, .mem_bytes = MIB(256), .cube_cores = 1, \
		.stream_limit = 56, .event_limit = 1, .notify_limit = 1, .features = RTS_FEATURE_NO_DEFAULT_CONTEXT    \
	}

static const struct rts_profile profiles[] = {
	A2("Ascend910B1", 64, 192, 24),	   A2("Ascend910B2", 64, 192, 24),    A2("Ascend910B2C", 64, 192, 24),
	A2("Ascend910B3", 64, 192, 20),	   A2("Ascend910B4", 32, 96, 20),     A2("Ascend910B4-1", 32, 168, 20),
	A3("Ascend910_9362", 64, 168, 20), A3("Ascend910_9363", 32, 168, 20), A3("Ascend910_9372", 64, 192, 20),
	A3("Ascend910_9381", 64, 192, 24), A3("Ascend910_9382", 64, 192, 24), A3("Ascend910_9391", 64, 192, 24),
	A3("Ascend910_9392", 64, 192, 24),

	P910("Ascend910A", 32, 4),	   P910("Ascend910B", 30, 6),	      P910("Ascend910ProA", 32, 4),
	P910("Ascend910ProB", 30, 4),	   P910("Ascend910PremiumA", 32, 4),

	P310P("Ascend310P1", 10, 8, 8),	   P310P("Ascend310P3", 8, 7, 7),     P310P("Ascend310P5", 8, 7, 8),
	P310P("Ascend310P7", 8, 7, 8),

	P310B("Ascend310B1", 32),	   P310B("Ascend310B2", 4),	      P310B("Ascend310B3", 4),
	P310B("Ascend310B4", 4),

	IPV350("Ascend035"),		   IPV350("Ascend035A"),	      IPV350("Ascend035B"),

	P950("950DT_950x", 12288, 32, 8, 5),
	P950("950DT_950y", 8192, 32, 8, 5),
	P950("950DT_9571", 73728, 128, 28, 7),
	P950("950DT_9572", 49152, 128, 28, 7),
	P950("950DT_9573", 64512, 112, 28, 5),
	P950("950DT_9574", 43008, 112, 28, 5),
	P950("950DT_9575", 49152, 128, 28, 7),
	P950("950DT_9576", 32768, 128, 28, 7),
	P950("950DT_9577", 43008, 112, 28, 5),
	P950("950DT_9578", 28672, 112, 28, 5),
	P950("950DT_9581", 73728, 128, 32, 6),
	P950("950DT_9581x", 73728, 128, 32, 6),
	P950("950DT_9582", 49152, 128, 32, 6),
	P950("950DT_9582x", 49152, 128, 32, 6),
	P950("950DT_9583", 64512, 112, 32, 7),
	P950("950DT_9584", 43008, 112, 32, 7),
	P950("950DT_9585", 49152, 128, 32, 6),
	P950("950DT_9586", 32768, 128, 32, 6),
	P950("950DT_9587", 43008, 112, 32, 7),
	P950("950DT_9588", 28672, 112, 32, 7),
	P950("950DT_9591", 73728, 128, 36, 6),
	P950("950DT_9592", 49152, 128, 36, 6),
	P950("950DT_9595", 49152, 128, 36, 6),
	P950("950DT_9596", 32768, 128, 36, 6),
	P950("950DT_95A1", 73728, 128, 36, 6),
	P950("950DT_95A2", 49152, 128, 36, 6),
	P950("950PR_950z", 12288, 16, 4, 5),
	P950("950PR_9579", 65536, 128, 28, 7),
	P950("950PR_957b", 57344, 112, 28, 5),
	P950("950PR_957bx", 57344, 112, 28, 5),
	P950("950PR_957c", 43008, 112, 28, 5),
	P950("950PR_957d", 49152, 96, 28, 5),
	P950("950PR_9589", 65536, 128, 32, 6),
	P950("950PR_958b", 57344, 112, 32, 7),
	P950("950PR_9599", 65536, 128, 36, 6),
};

const struct rts_profile *rts_profile_find(const char *soc)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (!strcmp(profiles[i].soc, soc))
			return &profiles[i];
	return NULL;
}

uint32_t rts_soc_arch(const char *soc)
{
	const struct rts_profile *p = rts_profile_find(soc);

	if (p)
		return p->arch;
	return strcmp(soc, "Ascend031") ? 0 : 3004; /* which no profile is for */
}

bool rts_profile_lacks(void)
{
	const struct rts_profile *profile = rts_profile();

	return profile && profile->product == RTS_PRODUCT_IPV350;
}

/* The names, comma separated, for a message. */
const char *rts_profile_names(void)
{
	return "Ascend910B1, B2, B2C, B3, B4, B4-1, Ascend910_9362, 9363, 9372, 9381, 9382, 9391, 9392, Ascend910A, "
	       "910B, 910ProA, 910ProB, 910PremiumA, Ascend310P1, P3, P5, P7, Ascend310B1, B2, B3, B4, Ascend035, 035A, 035B, and Ascend950* as "
	       "in CANN's platform_config";
}
