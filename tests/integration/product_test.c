/* SPDX-License-Identifier: MIT */
/*
 * product_test.c - the same program on each line of products: names, sizes, and 207000 from every function that CANN's
 * reference says the product does not have. Each runs as a process of its own, against an instance of its own.
 */
#include "mem_util.h"

#include <dlfcn.h>
#include <stdbool.h>

enum { A2 = 1, A3 = 2, P950 = 4, P310B = 8, P310P = 16, P910 = 32, PIPV350 = 64 };

static const struct {
	const char *function;
	unsigned products;
} restricted[] = {
#define PRODUCTS(function, products) { #function, products },
#include "acl/products.def"
#undef PRODUCTS
};

static const char *const on_ipv350[] = {
#define PRODUCTS(function, products)
#define IPV350(function) #function,
#include "acl/products.def"
#undef PRODUCTS
};

static const char *const codes[] = { /* all functions that return one */
#define ABI_FUNCTION(name, result, ...) _Generic(*(result *)0, aclError: #name, default: NULL),
#define ABI_NO_PARAMETERS(name, result) ABI_FUNCTION(name, result, )
#define ABI_VARIADIC(name, ...)
#include "acl/functions.def"
};

static const struct product {
	const char *soc;
	unsigned product;
	uint32_t cubes, vectors, streams;
	uint64_t memory; /* bytes */
} products[] = {
	{ "Ascend910B1", A2, 24, 48, 1984, (uint64_t)64 << 30 },
	{ "Ascend910_9391", A3, 24, 48, 1984, (uint64_t)64 << 30 },
	{ "Ascend950PR_9589", P950, 32, 64, 1984, 137438953472 },
	{ "Ascend310B1", P310B, 1, 1, 512, (uint64_t)32 << 30 },
	{ "Ascend310P3", P310P, 8, 7, 1024, (uint64_t)22888 << 20 },
	{ "Ascend910A", P910, 32, 0, 2048, (uint64_t)32 << 30 },
	{ "Ascend035", PIPV350, 1, 0, 56, (uint64_t)256 << 20 },
};

#define PRODUCT_COUNT (sizeof(products) / sizeof(products[0]))

/* ---- in the process of one product ---- */

/* Zeros for every argument: the product is looked at before them. */
typedef aclError (*any_call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			     uintptr_t, uintptr_t);

static aclError call(const char *function)
{
	union {
		void *symbol;
		any_call call;
	} f = { .symbol = dlsym(RTLD_DEFAULT, function) };

	return f.symbol ? f.call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : -1;
}

/* The one that returns no code. */
static bool returns_pointer(const char *function)
{
	return !strcmp(function, "aclrtCreateStreamConfigHandle") || !strcmp(function, "aclrtCreateGroupInfo") ||
	       !strcmp(function, "aclrtCreateBinary") || !strcmp(function, "aclrtAllocatorCreateDesc");
}

static int count_wrong_answers(const struct product *p)
{
	int wrong = 0;
	aclError code;

	for (size_t i = 0; i < sizeof(restricted) / sizeof(restricted[0]); i++) {
		if (restricted[i].products & p->product || returns_pointer(restricted[i].function))
			continue;
		code = call(restricted[i].function);
		/* A2 and A3 refuse what they lack where it would be done, behind the checks of arguments. */
		if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || (p->product & (A2 | A3) && code))
			continue;
		fprintf(stderr, "%s on %s answers %d\n", restricted[i].function, p->soc, code);
		wrong++;
	}
	return wrong;
}

static bool sizes_are_right(const struct product *p)
{
	int64_t cubes = -1, vectors = -1;
	size_t left = 0, total = 0;
	uint32_t streams = 0;

	return !aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cubes) && cubes == p->cubes &&
	       !aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vectors) && vectors == p->vectors &&
	       !aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) && total == p->memory &&
	       !aclrtGetStreamAvailableNum(&streams) && streams == p->streams - 1 &&
	       !strcmp(aclrtGetSocName(), p->soc);
}

/* Whatever the product is, memory, streams and copies work. */
static bool work_gets_done(void)
{
	const uint32_t in = 0x12345678;
	uint32_t out = 0;
	aclrtStream stream;
	void *memory;

	return !aclrtCreateStream(&stream) && !aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) &&
	       !aclrtMemcpyAsync(memory, 4096, &in, sizeof(in), ACL_MEMCPY_HOST_TO_DEVICE, stream) &&
	       !aclrtSynchronizeStream(stream) &&
	       !aclrtMemcpy(&out, sizeof(out), memory, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST) && out == in &&
	       !aclrtFree(memory) && !aclrtDestroyStream(stream);
}

/* aclrtMalloc rounds sizes up to 32 bytes and adds what the product's platform_config says. */
static bool padding_is_right(const struct product *p)
{
	const size_t added = p->product == P950 ? 0 : 32;
	size_t padded = 0, plain = 0;
	void *with, *without, *base;

	return !aclrtMalloc(&with, 5000, ACL_MEM_MALLOC_HUGE_FIRST) &&
	       !aclrtMallocAlign32(&without, 5000, ACL_MEM_MALLOC_HUGE_FIRST) &&
	       !aclrtMemGetAddressRange(with, &base, &padded) && !aclrtMemGetAddressRange(without, &base, &plain) &&
	       !aclrtFree(with) && !aclrtFree(without) && plain == 5024 && padded == plain + added;
}

/* Rows are copied within a device by newer products alone. */
static bool rows_are_right(const struct product *p)
{
	const aclError wanted = p->product & (A2 | A3 | P950) ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
	aclError code;
	void *m;

	if (aclrtMalloc(&m, 8192, ACL_MEM_MALLOC_HUGE_FIRST))
		return false;
	code = aclrtMemcpy2dAsync(m, 64, (char *)m + 4096, 64, 32, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL);
	return !aclrtSynchronizeStream(NULL) && !aclrtFree(m) && code == wanted;
}

/* Which sums and which types: by the product. */
static bool reductions_are_right(const struct product *p)
{
	const bool sums_only = p->product & (P310P | P910), int8 = !sums_only, uint32 = p->product == P950;
	void *m;
	bool ok;

	if (aclrtMalloc(&m, 64, ACL_MEM_MALLOC_HUGE_FIRST))
		return false;
#define REDUCE(kind, type) (!aclrtReduceAsync(m, m, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_##kind, type, NULL, NULL))
	ok = REDUCE(SUM, ACL_FLOAT) && REDUCE(MAX, ACL_FLOAT) == !sums_only && REDUCE(SUM, ACL_INT8) == int8 &&
	     REDUCE(SUM, ACL_UINT32) == uint32;
#undef REDUCE
	return !aclrtSynchronizeDevice() && !aclrtFree(m) && ok;
}

static bool ipv350_has(const char *function)
{
	for (size_t i = 0; i < sizeof(on_ipv350) / sizeof(on_ipv350[0]); i++)
		if (!strcmp(on_ipv350[i], function))
			return true;
	return false;
}

/* It has a part of the functions and no default context. */
static int be_ipv350(const struct product *p)
{
	const uint32_t in = 0x12345678;
	uint32_t out = 0;
	size_t left, total;
	aclrtContext ctx;
	void *memory;

	if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_RT_CONTEXT_NULL ||
	    aclrtCreateContext(&ctx, 0))
		return 3;
	if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) ||
	    aclrtMemcpy(memory, 4096, &in, sizeof(in), ACL_MEMCPY_HOST_TO_DEVICE) ||
	    aclrtMemcpy(&out, sizeof(out), memory, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST) || out != in ||
	    aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) || total != p->memory || aclrtFree(memory))
		return 4;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (!codes[i] || ipv350_has(codes[i]))
			continue;
		if (call(codes[i]) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
			continue;
		fprintf(stderr, "%s is there on %s\n", codes[i], p->soc);
		return 6;
	}
	return aclrtDestroyContext(ctx) || strcmp(aclrtGetSocName(), p->soc) || aclrtResetDevice(0) ? 7 : 0;
}

static int be(const char *soc)
{
	for (size_t i = 0; i < PRODUCT_COUNT; i++) {
		if (strcmp(products[i].soc, soc))
			continue;
		if (aclrtSetDevice(0))
			return 2;
		if (products[i].product == PIPV350)
			return be_ipv350(&products[i]);
		if (!sizes_are_right(&products[i]))
			return 3;
		if (!work_gets_done())
			return 4;
		if (!reductions_are_right(&products[i]))
			return 5;
		if (count_wrong_answers(&products[i]))
			return 6;
		if (!padding_is_right(&products[i]) || !rows_are_right(&products[i]))
			return 8;
		return aclrtResetDevice(0) ? 7 : 0;
	}
	return 1;
}

/* ---- the test ---- */

/* covers: aclrtIpcMemGetExportKey, aclrtMemcpyBatch, aclrtCmoAsync, aclrtValueWrite failure */
/* covers: aclrtDeviceCanAccessPeer failure */
static void each_product(void **state)
{
	char soc[64], instance[64];
	const char *const env[] = { soc, instance, NULL };
	struct t_peer peer;

	(void)state;
	for (size_t i = 0; i < PRODUCT_COUNT; i++) {
		const char *const args[] = { "be", products[i].soc, NULL };

		snprintf(soc, sizeof(soc), "VINCI_SOC=%s", products[i].soc);
		snprintf(instance, sizeof(instance), "VINCI_INSTANCE=product-%d-%zu", getpid(), i);
		assert_true(t_spawn(&peer, args, env));
		assert_int_equal(t_wait(&peer, 60000), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_product) };

	if (argc == 3 && !strcmp(argv[1], "be"))
		return be(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
