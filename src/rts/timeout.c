/* SPDX-License-Identifier: MIT */
#include "rts/timeout.h"
#include "rts/halt.h"
#include "rts/rts.h"
#include "util/futex.h"

#define NS_PER_US 1000u

struct timing {
	uint32_t products;
	double interval; /* us */
	uint32_t most, usual; /* intervals */
};

static const struct timing timings[] = {
	{ RTS_PRODUCT_910, 68719476.736, 32, 1 },
	{ RTS_PRODUCT_310P, 2147483.648, 255, 255 },
	{ ~0u, 4294967.296, 254, 254 },
};

static _Atomic uint64_t limit_us = U_FOREVER; /* of the program; U_FOREVER: it has set none */

static const struct timing *timing(void)
{
	const struct timing *t = timings;

	while (!(t->products & rts_profile()->product))
		t++;
	return t;
}

/* Rounded up to whole intervals. */
static uint64_t effective_us(uint64_t us)
{
	const struct timing *t = timing();
	double n = (double)us / t->interval;

	if (!us || n > t->most)
		return (uint64_t)(t->interval * t->most);
	return (uint64_t)(t->interval * ((uint32_t)n + ((double)(uint32_t)n < n)));
}

uint64_t rts_op_interval(void)
{
	return (uint64_t)timing()->interval;
}

uint64_t rts_op_timeout(void)
{
	uint64_t set = atomic_load(&limit_us);

	return set != U_FOREVER ? set : (uint64_t)(timing()->interval * timing()->usual);
}

int rts_op_timeout_watch(void)
{
	int r = rts_process_start();

	return r ? r : halt_watch_start();
}

int rts_op_timeout_set(uint64_t us)
{
	int r = rts_op_timeout_watch();

	if (!r)
		atomic_store(&limit_us, effective_us(us));
	return r;
}

uint64_t rts_op_limit(uint64_t us)
{
	if (!us)
		us = atomic_load_explicit(&limit_us, memory_order_relaxed);
	else if (us != U_FOREVER)
		us = effective_us(us);
	return us < U_FOREVER / NS_PER_US ? us * NS_PER_US : U_FOREVER;
}
