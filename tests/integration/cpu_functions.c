/* SPDX-License-Identifier: MIT */
/* cpu_functions.c - what binary_test loads for the device's own CPUs. */
#include <stdint.h>

struct args {
	int64_t *out;
	int64_t add;
};

uint32_t add_value(void *args);
uint32_t say_no(void *args);
uint32_t touch_nothing(void *args);

uint32_t add_value(void *args)
{
	const struct args *a = args;

	__atomic_add_fetch(a->out, a->add, __ATOMIC_RELAXED);
	return 0;
}

uint32_t say_no(void *args)
{
	(void)args;
	return 17;
}

/* A fault is what it is for. */
__attribute__((no_sanitize("undefined"))) uint32_t touch_nothing(void *args)
{
	const struct args *a = args;

	return (uint32_t) * (volatile int64_t *)(uintptr_t)a->add;
}
