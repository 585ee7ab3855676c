/* SPDX-License-Identifier: MIT */
/* binary_test.c - kernels from binaries: loading, functions, lists of arguments, and every way to launch. */
#include "mem_util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#define OTHER_DEVICE 1

static aclrtBinHandle bin;
static aclrtFuncHandle scale, add_step, count_calls;

static aclrtFuncHandle function(aclrtBinHandle of, const char *name)
{
	aclrtFuncHandle fn = NULL;

	assert_ok(aclrtBinaryGetFunction(of, name, &fn));
	assert_non_null(fn);
	return fn;
}

static void *image_of(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(read(fd, data, *size), (ssize_t)*size);
	close(fd);
	return data;
}

static void *image(size_t *size)
{
	return image_of(BINARY_PATH, size);
}

static void assert_says(int code, int wanted, const char *word)
{
	const char *text = aclGetRecentErrMsg();

	assert_int_equal(code, wanted);
	assert_non_null(text);
	assert_non_null(strstr(text, word));
}

static void *device_new(size_t size)
{
	void *p = NULL;

	assert_ok(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
	assert_ok(aclrtMemset(p, size, 0, size));
	return p;
}

static int64_t value_at(const void *device)
{
	int64_t value = -1;

	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(&value, sizeof(value), device, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
	return value;
}

static int setup(void **state)
{
	(void)state;
	assert_ok(aclInit(NULL));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &bin));
	scale = function(bin, "scale");
	add_step = function(bin, "add_step");
	count_calls = function(bin, "count_calls");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_ok(aclrtBinaryUnLoad(bin));
	assert_ok(aclrtResetDevice(0));
	assert_ok(aclFinalize());
	return 0;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int64_t count_of(aclrtFuncHandle fn, void *out)
{
	struct {
		void *out;
	} args = { out };

	assert_ok(aclrtLaunchKernelWithHostArgs(fn, 1, NULL, NULL, &args, sizeof(args), NULL, 0));
	return value_at(out);
}

/* covers: aclrtBinaryLoadFromFile, aclrtBinaryLoadFromData, aclrtCreateBinary effect */
/* covers: aclrtBinaryLoad, aclrtDestroyBinary, aclrtBinaryUnLoad effect */
static void every_load_has_variables_of_its_own(void **state)
{
	aclrtBinaryLoadOption lazy[2] = { { .type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, .value.isLazyLoad = 1 },
					  { .type = ACL_RT_BINARY_LOAD_OPT_MAGIC,
					    .value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE } };
	aclrtBinaryLoadOptions options = { .options = lazy, .numOpt = 2 };
	aclrtBinHandle from_file, from_data, old;
	void *out = device_new(8), *data;
	aclrtBinary described;
	size_t size;

	(void)state;
	data = image(&size);
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &from_file));
	assert_ok(aclrtBinaryLoadFromData(data, size, &options, &from_data));
	described = aclrtCreateBinary(data, size);
	assert_non_null(described);
	assert_ok(aclrtBinaryLoad(described, &old));
	assert_ok(aclrtDestroyBinary(described));
	free(data);

	assert_int_equal(count_of(function(from_file, "count_calls"), out), 1);
	assert_int_equal(count_of(function(from_file, "count_calls"), out), 2);
	assert_int_equal(count_of(function(from_data, "count_calls"), out), 1);
	assert_int_equal(count_of(function(old, "count_calls"), out), 1);

	assert_ok(aclrtBinaryUnLoad(from_file));
	assert_ok(aclrtBinaryUnLoad(from_data));
	assert_ok(aclrtBinaryUnLoad(old));
	assert_ok(aclrtFree(out));
}

static void nothing_is_left_of_a_load(void **state)
{
	unsigned fds = t_count_fds(), maps;
	aclrtBinHandle b;

	(void)state;
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &b));
	assert_ok(aclrtBinaryUnLoad(b));
	maps = t_count_maps();
	for (unsigned i = 0; i < 40; i++) {
		assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &b));
		function(b, "scale");
		assert_ok(aclrtBinaryUnLoad(b));
	}
	assert_int_equal(t_count_fds(), fds);
	assert_in_range(t_count_maps(), 0, maps + 8);
}

/* covers: aclrtBinaryLoadFromFile failure */
static void files_that_are_no_binaries(void **state)
{
	aclrtBinaryLoadOption opt = { .type = ACL_RT_BINARY_LOAD_OPT_MAGIC,
				      .value.magic = ACL_RT_BINARY_MAGIC_ELF_AICORE };
	aclrtBinaryLoadOptions options = { .options = &opt, .numOpt = 1 };
	aclrtBinHandle b = (aclrtBinHandle)1;

	(void)state;
	assert_refused(aclrtBinaryLoadFromFile(NULL, NULL, &b), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryLoadFromFile("/nowhere/at/all.o", NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile("/", NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile("/dev/null", NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile("/etc/passwd", NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	opt = (aclrtBinaryLoadOption){ .type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, .value.isLazyLoad = 2 };
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	opt.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	opt.type = (aclrtBinaryLoadOptionType)99;
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	options.options = NULL;
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_ptr_equal(b, (aclrtBinHandle)1);
}

/* covers: aclrtBinaryLoadFromData, aclrtCreateBinary, aclrtBinaryLoad, aclrtDestroyBinary failure */
static void data_that_are_no_binary(void **state)
{
	aclrtBinaryLoadOption opt = { .type = ACL_RT_BINARY_LOAD_OPT_MAGIC, .value.magic = 7 };
	aclrtBinaryLoadOptions options = { .options = &opt, .numOpt = 1 };
	aclrtBinHandle b = (aclrtBinHandle)1;
	aclrtBinary described;
	unsigned char *data;
	size_t size;

	(void)state;
	data = image(&size);
	assert_refused(aclrtBinaryLoadFromData(NULL, size, NULL, &b), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryLoadFromData(data, size, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryLoadFromData(data, 0, NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromData(data, 30, NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromData(data, 4096, NULL, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromData(data, size, &options, &b), ACL_ERROR_RT_PARAM_INVALID);
	data[18] ^= 0xff; /* e_machine: as an object of a card's would have it */
	assert_refused(aclrtBinaryLoadFromData(data, size, NULL, &b), ACL_ERROR_RT_PARAM_INVALID);

	assert_null(aclrtCreateBinary(NULL, size));
	described = aclrtCreateBinary(data, size);
	assert_refused(aclrtBinaryLoad(described, &b), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoad(described, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryLoad(NULL, &b), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDestroyBinary(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtDestroyBinary(data), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtDestroyBinary(described));
	free(data);
	assert_ptr_equal(b, (aclrtBinHandle)1);
}

/* covers: aclrtBinaryUnLoad, aclrtBinaryGetFunction failure */
static void handles_die_with_the_binary(void **state)
{
	aclrtFuncHandle fn, kept = (aclrtFuncHandle)1;
	uint64_t args[3] = { 0 };
	aclrtBinHandle b;
	char name[16];

	(void)state;
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &b));
	fn = function(b, "scale");
	assert_refused(aclrtBinaryGetFunction(b, "no_such_kernel", &kept), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryGetFunction(b, NULL, &kept), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetFunction(b, "scale", NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetFunction(NULL, "scale", &kept), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetFunction(fn, "scale", &kept), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtBinaryUnLoad(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryUnLoad(fn), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtBinaryUnLoad(b));
	assert_refused(aclrtBinaryUnLoad(b), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtBinaryGetFunction(b, "scale", &kept), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtGetFunctionName(fn, sizeof(name), name), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtLaunchKernelWithHostArgs(fn, 1, NULL, NULL, args, sizeof(args), NULL, 0),
		       ACL_ERROR_RT_INVALID_HANDLE);
	assert_ptr_equal(kept, (aclrtFuncHandle)1);
}

static void a_binary_lasts_as_long_as_its_kernels(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	void *out = device_new(8);
	aclrtBinHandle b;
	aclrtFuncHandle fn;

	(void)state;
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &b));
	fn = function(b, "count_calls");
	m_close(&gate, NULL);
	assert_ok(aclrtLaunchKernelWithHostArgs(fn, 1, NULL, NULL, &out, sizeof(out), NULL, 0));
	assert_ok(aclrtBinaryUnLoad(b));
	m_open(&gate);
	assert_int_equal(value_at(out), 1);
	m_gate_end(&gate);
	assert_ok(aclrtFree(out));
}

static void variables_last_as_long_as_their_copies(void **state)
{
	struct m_gate gate = { .store_to = NULL };
	int32_t *host;
	aclrtBinHandle b;
	void *factor;

	(void)state;
	assert_ok(aclrtMallocHost((void **)&host, 4));
	*host = 0;
	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, NULL, &b));
	assert_ok(aclrtBinaryGetGlobal(b, "shared_factor", &factor, NULL));
	m_close(&gate, NULL);
	assert_ok(aclrtMemcpyAsync(host, 4, factor, 4, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
	assert_ok(aclrtBinaryUnLoad(b));
	m_open(&gate);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_int_equal(*host, 3);
	m_gate_end(&gate);
	assert_ok(aclrtFreeHost(host));
}

/* --- what functions and binaries tell --------------------------------------------------------- */

/* covers: aclrtBinaryGetFunction, aclrtGetFunctionName, aclrtFunctionGetBinary effect */
/* covers: aclrtGetFunctionAddr, aclrtGetFunctionAttribute effect */
static void functions_know_themselves(void **state)
{
	void *aic = (void *)1, *aiv = NULL, *aiv2 = NULL;
	aclrtBinHandle of = NULL;
	int64_t value = -1;
	char name[6];

	(void)state;
	assert_ptr_equal(function(bin, "scale"), scale);
	assert_ptr_not_equal(scale, add_step);
	assert_ok(aclrtGetFunctionName(scale, sizeof(name), name));
	assert_string_equal(name, "scale");
	assert_ok(aclrtFunctionGetBinary(scale, &of));
	assert_ptr_equal(of, bin);
	assert_ok(aclrtGetFunctionAddr(scale, &aic, &aiv));
	assert_null(aic);
	assert_non_null(aiv);
	assert_ok(aclrtGetFunctionAddr(add_step, &aic, &aiv2));
	assert_ptr_not_equal(aiv, aiv2);
	assert_ok(aclrtGetFunctionAttribute(scale, ACL_FUNC_ATTR_KERNEL_TYPE, &value));
	assert_int_equal(value, ACL_KERNEL_TYPE_VECTOR);
	assert_ok(aclrtGetFunctionAttribute(scale, ACL_FUNC_ATTR_KERNEL_RATIO, &value));
	assert_int_equal(value, 1);
	assert_ok(aclrtGetFunctionAttribute(scale, ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &value));
	assert_int_equal(value, 0);
}

/* covers: aclrtGetFunctionName, aclrtFunctionGetBinary, aclrtGetFunctionAddr, aclrtGetFunctionAttribute failure */
static void functions_refuse(void **state)
{
	aclrtBinHandle of = (aclrtBinHandle)1;
	int64_t value = 5;
	char name[6] = "-";
	void *a, *b;

	(void)state;
	assert_refused(aclrtGetFunctionName(scale, 5, name), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetFunctionName(scale, 6, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFunctionName(bin, 6, name), ACL_ERROR_RT_INVALID_HANDLE);
	assert_string_equal(name, "-");
	assert_refused(aclrtFunctionGetBinary(bin, &of), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtFunctionGetBinary(scale, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ptr_equal(of, (aclrtBinHandle)1);
	assert_refused(aclrtGetFunctionAddr(NULL, &a, &b), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFunctionAddr(scale, NULL, &b), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFunctionAddr(scale, &a, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFunctionAddr(bin, &a, &b), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtGetFunctionAttribute(scale, (aclrtFuncAttribute)4, &value), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtGetFunctionAttribute(scale, ACL_FUNC_ATTR_KERNEL_TYPE, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtGetFunctionAttribute(bin, ACL_FUNC_ATTR_KERNEL_TYPE, &value), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(value, 5);
}

/* covers: aclrtBinaryGetFunctionByEntry effect */
static void functions_by_entry(void **state)
{
	aclrtFuncHandle fn = NULL;
	void *out = device_new(8);
	char name[16];

	(void)state;
	assert_ok(aclrtBinaryGetFunctionByEntry(bin, 7, &fn));
	assert_ptr_equal(fn, function(bin, "keyed_7"));
	assert_int_equal(count_of(fn, out), 7);
	assert_ok(aclrtBinaryGetFunctionByEntry(bin, UINT64_MAX, &fn));
	assert_int_equal(count_of(fn, out), 8);
	/* 0 is what has no number, the first by name. */
	assert_ok(aclrtBinaryGetFunctionByEntry(bin, 0, &fn));
	assert_ok(aclrtGetFunctionName(fn, sizeof(name), name));
	assert_string_equal(name, "add_halves");
	assert_ok(aclrtFree(out));
}

/* covers: aclrtBinaryGetFunctionByEntry failure */
static void entries_that_are_not_there(void **state)
{
	aclrtFuncHandle fn = (aclrtFuncHandle)1;

	(void)state;
	assert_refused(aclrtBinaryGetFunctionByEntry(bin, 8, &fn), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryGetFunctionByEntry(scale, 7, &fn), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtBinaryGetFunctionByEntry(NULL, 7, &fn), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetFunctionByEntry(bin, 7, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(fn, (aclrtFuncHandle)1);
}

/* covers: aclrtBinaryGetDevAddress effect */
static void where_a_binary_lies(void **state)
{
	aclrtBinaryLoadOption lazy = { .type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, .value.isLazyLoad = 1 };
	aclrtBinaryLoadOptions options = { .options = &lazy, .numOpt = 1 };
	void *base = NULL, *aic, *aiv, *factor;
	aclrtBinHandle late;
	unsigned char *copy;
	size_t size = 0;

	(void)state;
	assert_ok(aclrtBinaryGetDevAddress(bin, &base, &size));
	assert_ok(aclrtGetFunctionAddr(scale, &aic, &aiv));
	assert_in_range((uintptr_t)aiv, (uintptr_t)base, (uintptr_t)base + size - 1);
	assert_ok(aclrtBinaryGetGlobal(bin, "shared_factor", &factor, NULL));
	assert_in_range((uintptr_t)factor, (uintptr_t)base, (uintptr_t)base + size - 4);
	copy = malloc(size);
	assert_non_null(copy);
	assert_ok(aclrtMemcpy(copy, 4096, base, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_memory_equal(copy, "\x7f" "ELF", 4);
	free(copy);

	assert_ok(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &late));
	assert_ok(aclrtBinaryGetDevAddress(late, &base, &size));
	assert_null(base);
	assert_ok(aclrtBinaryUnLoad(late));
}

/* covers: aclrtBinaryGetDevAddress failure */
static void where_no_binary_lies(void **state)
{
	void *base = (void *)1;
	size_t size = 5;

	(void)state;
	assert_refused(aclrtBinaryGetDevAddress(scale, &base, &size), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtBinaryGetDevAddress(NULL, &base, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetDevAddress(bin, NULL, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetDevAddress(bin, &base, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ptr_equal(base, (void *)1);
	assert_int_equal(size, 5);
}

static void variables_are_device_memory(void **state)
{
	aclrtPtrAttributes attributes;
	int32_t *host, factor = 0;
	void *at;

	(void)state;
	assert_ok(aclrtBinaryGetGlobal(bin, "shared_factor", &at, NULL));
	assert_ok(aclrtPointerGetAttributes(at, &attributes));
	assert_int_equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
	assert_ok(aclrtMallocHost((void **)&host, 4));
	*host = 3;
	assert_ok(aclrtMemcpyAsync(at, 4, host, 4, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(&factor, 4, at, 4, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(factor, 3);
	assert_refused(aclrtFree(at), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtFreeHost(host));
}

/* --- the device's own CPUs -------------------------------------------------------------------- */

static aclrtBinHandle cpu_load(void)
{
	aclrtBinaryLoadOption opt = { .type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, .value.cpuKernelMode = 2 };
	aclrtBinaryLoadOptions options = { .options = &opt, .numOpt = 1 };
	aclrtBinHandle cpu = NULL;
	size_t size;
	void *data = image_of(CPU_LIBRARY_PATH, &size);

	assert_ok(aclrtBinaryLoadFromData(data, size, &options, &cpu));
	free(data);
	return cpu;
}

struct cpu_args {
	void *out;
	int64_t add;
};

static aclError cpu_run(aclrtFuncHandle fn, uint32_t blocks, struct cpu_args args)
{
	aclrtParamHandle param;
	aclrtArgsHandle list;

	assert_ok(aclrtKernelArgsInit(fn, &list));
	assert_ok(aclrtKernelArgsAppend(list, &args, sizeof(args), &param));
	assert_ok(aclrtKernelArgsFinalize(list));
	assert_ok(aclrtLaunchKernelWithConfig(fn, blocks, NULL, NULL, list, NULL));
	return aclrtSynchronizeStream(NULL);
}

/* covers: aclrtRegisterCpuFunc effect */
static void functions_for_cpus(void **state)
{
	void *out = device_new(8);
	aclrtBinHandle cpu = cpu_load(), of = NULL;
	aclrtFuncHandle fn = NULL, again = NULL;
	int64_t type = -1;
	char name[8];

	(void)state;
	assert_ok(aclrtRegisterCpuFunc(cpu, "add_value", "Adder", &fn));
	assert_ok(aclrtRegisterCpuFunc(cpu, "add_value", "Adder", &again));
	assert_ptr_equal(fn, again);
	assert_ok(aclrtGetFunctionName(fn, sizeof(name), name));
	assert_string_equal(name, "Adder");
	assert_ok(aclrtGetFunctionAttribute(fn, ACL_FUNC_ATTR_KERNEL_TYPE, &type));
	assert_int_equal(type, ACL_KERNEL_TYPE_AICPU);
	assert_ok(aclrtFunctionGetBinary(fn, &of));
	assert_ptr_equal(of, cpu);
	assert_ok(cpu_run(fn, 1, (struct cpu_args){ out, 5 }));
	assert_ok(cpu_run(fn, 3, (struct cpu_args){ out, 5 }));
	assert_int_equal(value_at(out), 20);
	assert_ok(aclrtBinaryUnLoad(cpu));
	assert_ok(aclrtFree(out));
}

/* A description beside the library says what its functions are called. */
static void functions_for_cpus_by_description(void **state)
{
	static const char text[] = "{ \"Adder\": { \"opInfo\": { \"functionName\": \"add_value\", \"kernelSo\": \"x.so\" } },"
				   " \"Half\": { \"opInfo\": {} } }";
	aclrtBinaryLoadOption opt = { .type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, .value.cpuKernelMode = 1 };
	aclrtBinaryLoadOptions options = { .options = &opt, .numOpt = 1 };
	char path[] = CPU_LIBRARY_PATH "\0json";
	void *out = device_new(8);
	aclrtBinHandle cpu = NULL;
	aclrtFuncHandle fn = NULL;
	int fd;

	(void)state;
	strcpy(strrchr(path, '.'), ".json");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	assert_ok(aclrtBinaryLoadFromFile(path, &options, &cpu));
	assert_ok(aclrtBinaryGetFunction(cpu, "Adder", &fn));
	assert_ok(cpu_run(fn, 2, (struct cpu_args){ out, 21 }));
	assert_int_equal(value_at(out), 42);
	assert_refused(aclrtBinaryGetFunction(cpu, "Half", &fn), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryGetFunction(cpu, "add_value", &fn), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtBinaryUnLoad(cpu));

	assert_int_equal(write(fd, "]", 1), 1);
	assert_says(aclrtBinaryLoadFromFile(path, &options, &cpu), ACL_ERROR_RT_PARAM_INVALID, "is not JSON");
	close(fd);
	unlink(path);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtRegisterCpuFunc failure */
static void functions_for_cpus_that_fail(void **state)
{
	aclrtBinaryLoadOption opt = { .type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, .value.cpuKernelMode = 1 };
	aclrtBinaryLoadOptions options = { .options = &opt, .numOpt = 1 };
	aclrtBinHandle cpu = cpu_load(), none = NULL;
	aclrtFuncHandle fn = NULL;

	(void)state;
	assert_refused(aclrtRegisterCpuFunc(bin, "scale", "Scale", &fn), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtRegisterCpuFunc(cpu, NULL, "Adder", &fn), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtRegisterCpuFunc(cpu, "add_value", NULL, &fn), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtRegisterCpuFunc(cpu, "add_value", "Adder", NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtRegisterCpuFunc(scale, "add_value", "Adder", &fn), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtBinaryGetFunction(cpu, "add_value", &fn), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromData("", 1, &options, &none), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile("/nowhere/at/all.json", &options, &none), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtBinaryLoadFromFile(BINARY_PATH, &options, &none), ACL_ERROR_RT_PARAM_INVALID);
	opt.value.cpuKernelMode = 0;
	assert_refused(aclrtBinaryLoadFromFile(CPU_LIBRARY_PATH, &options, &none), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	opt.value.cpuKernelMode = 2;
	assert_refused(aclrtBinaryLoadFromFile(CPU_LIBRARY_PATH, &options, &none), ACL_ERROR_RT_PARAM_INVALID);
	assert_null(fn);

	/* What is wrong with the function itself is the task's. */
	assert_ok(aclrtRegisterCpuFunc(cpu, "no_such_function", "None", &fn));
	assert_int_equal(cpu_run(fn, 1, (struct cpu_args){ 0 }), ACL_ERROR_RT_AICPU_EXCEPTION);
	assert_ok(aclrtRegisterCpuFunc(cpu, "say_no", "No", &fn));
	assert_says(cpu_run(fn, 1, (struct cpu_args){ 0 }), ACL_ERROR_RT_AICPU_EXCEPTION, "returned 17");
	assert_ok(aclrtRegisterCpuFunc(cpu, "touch_nothing", "Touch", &fn));
	assert_int_equal(cpu_run(fn, 1, (struct cpu_args){ NULL, 8 }), ACL_ERROR_RT_AICPU_EXCEPTION);
	assert_ok(aclrtBinaryUnLoad(cpu));
}

/* covers: aclrtFunctionGetParamCount, aclrtFunctionGetParamInfo, aclrtFunctionGetAvailDynUbufPerBlock effect */
static void parameters_of_a_function(void **state)
{
	static const size_t offsets[] = { 0, 8, 16 }, sizes[] = { 8, 4, 1 };
	size_t count = 0, offset = 99, size = 99, ubuf = 99;

	(void)state;
	assert_ok(aclrtFunctionGetParamCount(scale, &count));
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++) {
		assert_ok(aclrtFunctionGetParamInfo(scale, i, &offset, NULL));
		assert_ok(aclrtFunctionGetParamInfo(scale, i, NULL, &size));
		assert_int_equal(offset, offsets[i]);
		assert_int_equal(size, sizes[i]);
	}
	assert_ok(aclrtFunctionGetAvailDynUbufPerBlock(scale, 0, &ubuf));
	assert_int_equal(ubuf, 0);
}

/* covers: aclrtFunctionGetParamCount, aclrtFunctionGetParamInfo, aclrtFunctionGetAvailDynUbufPerBlock failure */
static void parameters_refuse(void **state)
{
	size_t out = 7;

	(void)state;
	assert_refused(aclrtFunctionGetParamCount(NULL, &out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFunctionGetParamCount(scale, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFunctionGetParamCount(bin, &out), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtFunctionGetParamInfo(scale, 3, &out, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtFunctionGetParamInfo(scale, 0, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFunctionGetAvailDynUbufPerBlock(scale, 1, &out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtFunctionGetAvailDynUbufPerBlock(bin, 0, &out), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(out, 7);
}

/* covers: aclrtBinaryGetGlobal effect */
static void variables_of_a_binary(void **state)
{
	struct {
		void *out;
		int32_t a, pad;
		uint64_t b;
	} args = { .a = 1, .b = 10 };
	int32_t *factor = NULL;
	size_t size = 0;

	(void)state;
	assert_ok(aclrtBinaryGetGlobal(bin, "shared_factor", (void **)&factor, &size));
	assert_int_equal(size, 4);
	assert_int_equal(*factor, 3);
	*factor = 5;
	args.out = device_new(8);
	assert_ok(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), NULL, 0));
	assert_int_equal(value_at(args.out), 51);
	*factor = 3;
	assert_ok(aclrtFree(args.out));
}

/* covers: aclrtBinaryGetGlobal failure */
static void variables_that_are_not_there(void **state)
{
	void *at = (void *)1;
	size_t size = 9;

	(void)state;
	assert_refused(aclrtBinaryGetGlobal(bin, "no_such_variable", &at, &size), ACL_ERROR_RT_SYMBOL_NOT_FOUND);
	assert_refused(aclrtBinaryGetGlobal(bin, "printf", &at, &size), ACL_ERROR_RT_SYMBOL_NOT_FOUND);
	assert_refused(aclrtBinaryGetGlobal(bin, "scale", &at, &size), ACL_ERROR_RT_SYMBOL_NOT_FOUND);
	assert_refused(aclrtBinaryGetGlobal(bin, "shared_factor", NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtBinaryGetGlobal(scale, "shared_factor", &at, &size), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ptr_equal(at, (void *)1);
	assert_int_equal(size, 9);
}

/* --- lists of arguments ----------------------------------------------------------------------- */

struct list {
	aclrtArgsHandle args;
	aclrtParamHandle out, a, b;
};

static void fill_scale(struct list *l, void *out, int32_t a, uint8_t b)
{
	assert_ok(aclrtKernelArgsAppend(l->args, &out, sizeof(out), &l->out));
	assert_ok(aclrtKernelArgsAppend(l->args, &a, sizeof(a), &l->a));
	assert_ok(aclrtKernelArgsAppend(l->args, &b, sizeof(b), &l->b));
	assert_ok(aclrtKernelArgsFinalize(l->args));
}

/* covers: aclrtKernelArgsInit, aclrtKernelArgsAppend, aclrtKernelArgsFinalize effect */
/* covers: aclrtKernelArgsParaUpdate, aclrtLaunchKernelWithConfig effect */
static void values_in_a_list(void **state)
{
	aclrtLaunchKernelAttr attrs[2] = { { .id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, .value.schemMode = 1 },
					   { .id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, .value.timeout = 10 } };
	aclrtLaunchKernelCfg cfg = { .attrs = attrs, .numAttrs = 2 };
	int64_t *out = device_new(4 * sizeof(*out));
	struct list l;
	int32_t a = 1000;

	(void)state;
	assert_ok(aclrtKernelArgsInit(scale, &l.args));
	fill_scale(&l, out, 100, 7);
	assert_ok(aclrtLaunchKernelWithConfig(scale, 4, NULL, NULL, l.args, NULL));
	for (int i = 0; i < 4; i++)
		assert_int_equal(value_at(out + i), 121 + i);

	assert_ok(aclrtKernelArgsParaUpdate(l.args, l.a, &a, sizeof(a)));
	assert_ok(aclrtKernelArgsFinalize(l.args));
	assert_ok(aclrtLaunchKernelWithConfig(scale, 1, NULL, &cfg, l.args, NULL));
	assert_int_equal(value_at(out), 1021);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtKernelArgsAppendPlaceHolder, aclrtKernelArgsGetPlaceHolderBuffer effect */
static void place_holders_in_a_list(void **state)
{
	int32_t *out = device_new(3 * sizeof(*out)), *step, *count, values[3];
	aclrtParamHandle first, second, third;
	aclrtArgsHandle args;

	(void)state;
	assert_ok(aclrtKernelArgsInit(add_step, &args));
	assert_ok(aclrtKernelArgsAppend(args, &out, sizeof(out), &first));
	assert_ok(aclrtKernelArgsAppendPlaceHolder(args, &second));
	assert_ok(aclrtKernelArgsAppendPlaceHolder(args, &third));
	assert_ok(aclrtKernelArgsGetPlaceHolderBuffer(args, second, sizeof(*step), (void **)&step));
	assert_ok(aclrtKernelArgsGetPlaceHolderBuffer(args, third, sizeof(*count), (void **)&count));
	*step = 11;
	*count = 3;
	assert_ok(aclrtKernelArgsFinalize(args));
	assert_ok(aclrtLaunchKernelWithConfig(add_step, 1, NULL, NULL, args, NULL));
	*step = 1000; /* the launch has a copy */
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(values, sizeof(values), out, sizeof(values), ACL_MEMCPY_DEVICE_TO_HOST));
	for (int i = 0; i < 3; i++)
		assert_int_equal(values[i], 11);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtKernelArgsInitByUserMem, aclrtKernelArgsGetMemSize, aclrtKernelArgsGetHandleMemSize effect */
static void a_list_in_memory_of_the_caller(void **state)
{
	size_t handle_size = 0, args_size = 0;
	void *out = device_new(8), *memory;
	struct list l;

	(void)state;
	assert_ok(aclrtKernelArgsGetHandleMemSize(scale, &handle_size));
	assert_ok(aclrtKernelArgsGetMemSize(scale, 24, &args_size));
	assert_true(args_size >= 24);
	l.args = malloc(handle_size);
	memory = malloc(args_size);
	assert_ok(aclrtKernelArgsInitByUserMem(scale, l.args, memory, args_size));
	fill_scale(&l, out, 5, 5);
	assert_ok(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, l.args, NULL));
	free(memory);
	free(l.args);
	assert_int_equal(value_at(out), 20);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtKernelArgsInit, aclrtKernelArgsInitByUserMem failure */
/* covers: aclrtKernelArgsGetMemSize, aclrtKernelArgsGetHandleMemSize failure */
static void lists_that_cannot_begin(void **state)
{
	aclrtArgsHandle args = (aclrtArgsHandle)1;
	_Alignas(16) char memory[64];
	size_t size = 3;

	(void)state;
	assert_refused(aclrtKernelArgsInit(NULL, &args), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsInit(scale, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsInit(bin, &args), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ptr_equal(args, (aclrtArgsHandle)1);
	assert_refused(aclrtKernelArgsInitByUserMem(scale, NULL, memory, 8), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsInitByUserMem(scale, memory, NULL, 8), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsInitByUserMem(scale, memory, memory, 0), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsInitByUserMem(scale, memory + 1, memory, 8), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtKernelArgsInitByUserMem(bin, memory, memory, 8), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsGetMemSize(scale, 8, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsGetMemSize(bin, 8, &size), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsGetHandleMemSize(NULL, &size), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsGetHandleMemSize(bin, &size), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(size, 3);
}

/* covers: aclrtKernelArgsAppend, aclrtKernelArgsAppendPlaceHolder, aclrtKernelArgsGetPlaceHolderBuffer failure */
static void what_a_list_does_not_take(void **state)
{
	aclrtParamHandle param = NULL, holder, old;
	static char big[64 * 1024];
	aclrtArgsHandle args;
	void *buffer = NULL;
	uint64_t value = 0;

	(void)state;
	assert_ok(aclrtKernelArgsInit(scale, &args));
	assert_ok(aclrtKernelArgsAppend(args, &value, 8, &old));
	assert_ok(aclrtKernelArgsInit(scale, &args));
	assert_refused(aclrtKernelArgsAppend(NULL, &value, 8, &param), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsAppend(args, NULL, 8, &param), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsAppend(args, &value, 0, &param), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsAppend(args, &value, 8, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsAppend(scale, &value, 8, &param), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsAppend((void *)8, &value, 8, &param), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsAppend(big, &value, 8, &param), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsAppendPlaceHolder(scale, &param), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsAppendPlaceHolder(args, NULL), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtKernelArgsAppend(args, &value, 8, &param));
	assert_refused(aclrtKernelArgsAppend(args, big, sizeof(big), &param), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtKernelArgsAppendPlaceHolder(args, &holder));
	assert_refused(aclrtKernelArgsGetPlaceHolderBuffer(args, param, 8, &buffer), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtKernelArgsGetPlaceHolderBuffer(args, old, 8, &buffer), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsGetPlaceHolderBuffer(args, holder, 0, &buffer), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsGetPlaceHolderBuffer(args, holder, sizeof(big), &buffer),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_null(buffer);
	assert_ok(aclrtKernelArgsGetPlaceHolderBuffer(args, holder, 8, &buffer));
	assert_refused(aclrtKernelArgsAppend(args, &value, 8, &param), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_ok(aclrtKernelArgsFinalize(args));
	assert_refused(aclrtKernelArgsAppendPlaceHolder(args, &param), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	assert_refused(aclrtKernelArgsGetPlaceHolderBuffer(args, holder, 8, &buffer), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

static void a_list_has_128_parameters(void **state)
{
	aclrtParamHandle param;
	aclrtArgsHandle args;
	uint64_t value = 0;

	(void)state;
	assert_ok(aclrtKernelArgsInit(scale, &args));
	for (int i = 0; i < 128; i++)
		assert_ok(aclrtKernelArgsAppend(args, &value, 8, &param));
	assert_refused(aclrtKernelArgsAppend(args, &value, 8, &param), ACL_ERROR_RT_PARAM_INVALID);
}

/* covers: aclrtKernelArgsParaUpdate, aclrtKernelArgsFinalize, aclrtLaunchKernelWithConfig failure */
static void lists_that_cannot_be_launched(void **state)
{
	aclrtLaunchKernelAttr attrs[2] = { { .id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT },
					   { .id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US } };
	aclrtLaunchKernelCfg cfg = { .attrs = attrs, .numAttrs = 2 };
	void *out = device_new(8);
	int32_t value = 1;
	struct list l;

	(void)state;
	assert_ok(aclrtKernelArgsInit(scale, &l.args));
	assert_ok(aclrtKernelArgsAppend(l.args, &out, sizeof(out), &l.out));
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, l.args, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtKernelArgsFinalize(l.args));
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, l.args, NULL),
		       ACL_ERROR_RT_PARAM_INVALID); /* too short */
	assert_ok(aclrtKernelArgsInit(scale, &l.args));
	fill_scale(&l, out, 1, 1);
	assert_refused(aclrtLaunchKernelWithConfig(NULL, 1, NULL, NULL, l.args, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 0, NULL, NULL, l.args, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, l.args, out), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, scale, NULL), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtLaunchKernelWithConfig(bin, 1, NULL, NULL, l.args, NULL), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, bin, NULL, l.args, NULL), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, &cfg, l.args, NULL), ACL_ERROR_RT_PARAM_INVALID);
	attrs[0] = attrs[1] =
		(aclrtLaunchKernelAttr){ .id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, .value.schemMode = 3 };
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, &cfg, l.args, NULL), ACL_ERROR_RT_PARAM_INVALID);
	cfg.attrs = NULL;
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, &cfg, l.args, NULL), ACL_ERROR_RT_PARAM_INVALID);

	assert_refused(aclrtKernelArgsParaUpdate(l.args, l.a, &value, 8), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtKernelArgsParaUpdate(l.args, l.args, &value, 4), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtKernelArgsParaUpdate(l.args, l.a, NULL, 4), ACL_ERROR_INVALID_PARAM);
	assert_ok(aclrtKernelArgsParaUpdate(l.args, l.a, &value, 4));
	assert_refused(aclrtLaunchKernelWithConfig(scale, 1, NULL, NULL, l.args, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtKernelArgsFinalize(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtKernelArgsFinalize(scale), ACL_ERROR_RT_INVALID_HANDLE);
	assert_int_equal(value_at(out), 0);
	assert_ok(aclrtFree(out));
}

static void *init_and_end(void *arg)
{
	assert_ok(aclrtKernelArgsInit(scale, arg));
	return NULL;
}

static void a_list_ends_with_its_thread(void **state)
{
	aclrtArgsHandle args = NULL, own;
	pthread_t thread;

	(void)state;
	assert_ok(aclrtKernelArgsInit(scale, &own));
	assert_int_equal(pthread_create(&thread, NULL, init_and_end, &args), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_not_equal(args, own);
	assert_refused(aclrtKernelArgsFinalize(args), ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtKernelArgsFinalize(own));
}

/* --- the other ways to launch ----------------------------------------------------------------- */

struct scale_args {
	void *out;
	int32_t a, pad;
	uint64_t b;
};

/* covers: aclrtLaunchKernel, aclrtLaunchKernelV2 effect */
static void arguments_in_device_memory(void **state)
{
	struct scale_args host = { .out = device_new(8), .a = 2, .b = 2 };
	struct scale_args *args = device_new(sizeof(*args));
	struct m_gate gate = { .store_to = NULL };

	(void)state;
	assert_ok(aclrtMemcpy(args, sizeof(*args), &host, sizeof(host), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtLaunchKernel(scale, 1, args, sizeof(*args), NULL));
	assert_int_equal(value_at(host.out), 8);

	/* They are read when the kernel runs. */
	m_close(&gate, NULL);
	assert_ok(aclrtLaunchKernelV2(scale, 1, args, sizeof(*args), NULL, NULL));
	host.a = 30;
	assert_ok(aclrtMemcpy(args, sizeof(*args), &host, sizeof(host), ACL_MEMCPY_HOST_TO_DEVICE));
	m_open(&gate);
	assert_int_equal(value_at(host.out), 36);
	m_gate_end(&gate);
	assert_ok(aclrtFree(args));
	assert_ok(aclrtFree(host.out));
}

/* covers: aclrtLaunchKernel, aclrtLaunchKernelV2 failure */
static void arguments_that_are_not_in_device_memory(void **state)
{
	struct scale_args host = { .out = device_new(8) };
	aclrtLaunchKernelCfg cfg = { 0 };

	(void)state;
	assert_refused(aclrtLaunchKernel(NULL, 1, &host, sizeof(host), NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernel(scale, 1, NULL, sizeof(host), NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernel(scale, 0, &host, sizeof(host), NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernel(scale, 1, &host, 0, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernel(bin, 1, &host, sizeof(host), NULL), ACL_ERROR_RT_INVALID_HANDLE);
	assert_refused(aclrtLaunchKernelV2(scale, 1, &host, sizeof(host), &cfg, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_ok(aclrtLaunchKernel(scale, 1, &host, sizeof(host), NULL));
	assert_refused(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
	assert_ok(aclrtLaunchKernelV2(scale, 1, &host, sizeof(host), NULL, NULL));
	assert_refused(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
	assert_ok(aclrtFree(host.out));
}

struct step_args {
	int32_t *out;
	uint64_t step, count;
	int32_t step_value, count_value;
};

/* covers: aclrtLaunchKernelWithHostArgs effect */
static void arguments_in_host_memory(void **state)
{
	aclrtPlaceHolderInfo holders[2] = {
		{ offsetof(struct step_args, step), offsetof(struct step_args, step_value) },
		{ offsetof(struct step_args, count), offsetof(struct step_args, count_value) },
	};
	struct step_args args = { .out = device_new(8), .step_value = -4, .count_value = 2 };
	int32_t values[2];

	(void)state;
	assert_ok(aclrtLaunchKernelWithHostArgs(add_step, 1, NULL, NULL, &args, sizeof(args), holders, 2));
	args.step_value = 77;
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(values, 8, args.out, 8, ACL_MEMCPY_DEVICE_TO_HOST));
	assert_int_equal(values[0], -4);
	assert_int_equal(values[1], -4);
	assert_int_equal(args.step, 0); /* the caller's copy is as it was */
	assert_ok(aclrtFree(args.out));
}

/* covers: aclrtLaunchKernelWithHostArgs failure */
static void host_arguments_refuse(void **state)
{
	aclrtPlaceHolderInfo holder = { sizeof(struct step_args) - 4, 0 };
	struct step_args args = { 0 };

	(void)state;
	assert_refused(aclrtLaunchKernelWithHostArgs(NULL, 1, NULL, NULL, &args, sizeof(args), NULL, 0),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, NULL, sizeof(args), NULL, 0),
		       ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 0, NULL, NULL, &args, sizeof(args), NULL, 0),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, 0, NULL, 0),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, 16, NULL, 0),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), NULL, 1),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), &holder, 1),
		       ACL_ERROR_RT_PARAM_INVALID);
	holder = (aclrtPlaceHolderInfo){ 0, sizeof(args) };
	assert_refused(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), &holder, 1),
		       ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithHostArgs(bin, 1, NULL, NULL, &args, sizeof(args), NULL, 0),
		       ACL_ERROR_RT_INVALID_HANDLE);
}

/* covers: aclrtLaunchKernelWithArgsArray effect */
static void arguments_in_an_array(void **state)
{
	void *out = device_new(16);
	int32_t a = 6;
	uint8_t b = 200;
	void *args[] = { &out, &a, &b };

	(void)state;
	assert_ok(aclrtLaunchKernelWithArgsArray(scale, 2, NULL, NULL, args));
	assert_int_equal(value_at(out), 606);
	assert_int_equal(value_at((int64_t *)out + 1), 607);
	assert_ok(aclrtFree(out));
}

/* covers: aclrtLaunchKernelWithArgsArray failure */
static void arrays_refuse(void **state)
{
	void *args[3] = { 0 };

	(void)state;
	assert_refused(aclrtLaunchKernelWithArgsArray(NULL, 1, NULL, NULL, args), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithArgsArray(scale, 0, NULL, NULL, args), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclrtLaunchKernelWithArgsArray(scale, 1, NULL, NULL, args), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithArgsArray(scale, 1, NULL, NULL, NULL), ACL_ERROR_RT_PARAM_INVALID);
	assert_refused(aclrtLaunchKernelWithArgsArray(bin, 1, NULL, NULL, args), ACL_ERROR_RT_INVALID_HANDLE);
}

#define HALVES 2048 /* a block */
#define BLOCKS 8

/* Small integers, which halves hold exactly: sums of them up to 2048 as well. */
static uint16_t half_bits(unsigned value)
{
	unsigned exponent = 0;

	if (!value)
		return 0;
	while (value >> (exponent + 1))
		exponent++;
	return (uint16_t)((exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff));
}

static void vector_code_in_blocks(void **state)
{
	static uint16_t in[2][BLOCKS * HALVES], out[BLOCKS * HALVES];
	struct {
		void *a, *b, *out;
		int32_t length, pad;
		int32_t tile;
	} args = { .length = HALVES, .tile = 256 };

	(void)state;
	for (unsigned i = 0; i < BLOCKS * HALVES; i++) {
		in[0][i] = half_bits(i % 1000);
		in[1][i] = half_bits(i % 37);
	}
	args.a = device_new(sizeof(out));
	args.b = device_new(sizeof(out));
	args.out = device_new(sizeof(out));
	assert_ok(aclrtMemcpy(args.a, sizeof(out), in[0], sizeof(out), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtMemcpy(args.b, sizeof(out), in[1], sizeof(out), ACL_MEMCPY_HOST_TO_DEVICE));
	assert_ok(aclrtLaunchKernelWithHostArgs(function(bin, "add_halves"), BLOCKS, NULL, NULL, &args, sizeof(args),
						NULL, 0));
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtMemcpy(out, sizeof(out), args.out, sizeof(out), ACL_MEMCPY_DEVICE_TO_HOST));
	for (unsigned i = 0; i < BLOCKS * HALVES; i++)
		assert_int_equal(out[i], half_bits(i % 1000 + i % 37));
	assert_ok(aclrtFree(args.a));
	assert_ok(aclrtFree(args.b));
	assert_ok(aclrtFree(args.out));
}

/* From a file a kernel runs on any device, from memory on the one that it was loaded for. */
static void binaries_and_devices(void **state)
{
	aclrtBinHandle from_data;
	struct scale_args args;
	aclrtFuncHandle fn;
	size_t size;
	void *data;

	(void)state;
	data = image(&size);
	assert_ok(aclrtBinaryLoadFromData(data, size, NULL, &from_data));
	free(data);
	fn = function(from_data, "scale");
	assert_ok(aclrtSetDevice(OTHER_DEVICE));
	args = (struct scale_args){ .out = device_new(8), .a = 1 };
	assert_ok(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), NULL, 0));
	assert_int_equal(value_at(args.out), 1);
	assert_refused(aclrtLaunchKernelWithHostArgs(fn, 1, NULL, NULL, &args, sizeof(args), NULL, 0),
		       ACL_ERROR_RT_INVALID_HANDLE);
	assert_ok(aclrtFree(args.out));
	assert_ok(aclrtResetDevice(OTHER_DEVICE));
	assert_ok(aclrtSetDevice(0));
	assert_ok(aclrtResetDevice(0)); /* the second one of this device */
	assert_ok(aclrtBinaryUnLoad(from_data));
}

/* covers: aclrtGetThreadLastTaskId effect */
static void the_last_task_of_a_thread(void **state)
{
	struct scale_args args = { .out = device_new(8) };
	uint32_t first = 0, second = 0;

	(void)state;
	assert_ok(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), NULL, 0));
	assert_ok(aclrtGetThreadLastTaskId(&first));
	assert_ok(aclrtLaunchKernelWithHostArgs(scale, 1, NULL, NULL, &args, sizeof(args), NULL, 0));
	assert_ok(aclrtGetThreadLastTaskId(&second));
	assert_int_equal(second, first + 1);
	assert_ok(aclrtSynchronizeStream(NULL));
	assert_ok(aclrtFree(args.out));
}

static void *ask_without_context(void *arg)
{
	uint32_t id;

	*(aclError *)arg = aclrtGetThreadLastTaskId(&id);
	return NULL;
}

/* covers: aclrtGetThreadLastTaskId failure */
static void the_last_task_needs_a_context(void **state)
{
	aclError code = 0;
	pthread_t thread;

	(void)state;
	assert_refused(aclrtGetThreadLastTaskId(NULL), ACL_ERROR_INVALID_PARAM);
	assert_int_equal(pthread_create(&thread, NULL, ask_without_context, &code), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(code, ACL_ERROR_RT_CONTEXT_NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_load_has_variables_of_its_own),
		cmocka_unit_test(nothing_is_left_of_a_load),
		cmocka_unit_test(files_that_are_no_binaries),
		cmocka_unit_test(data_that_are_no_binary),
		cmocka_unit_test(handles_die_with_the_binary),
		cmocka_unit_test(a_binary_lasts_as_long_as_its_kernels),
		cmocka_unit_test(variables_last_as_long_as_their_copies),
		cmocka_unit_test(functions_know_themselves),
		cmocka_unit_test(functions_refuse),
		cmocka_unit_test(functions_by_entry),
		cmocka_unit_test(entries_that_are_not_there),
		cmocka_unit_test(where_a_binary_lies),
		cmocka_unit_test(where_no_binary_lies),
		cmocka_unit_test(variables_are_device_memory),
		cmocka_unit_test(functions_for_cpus),
		cmocka_unit_test(functions_for_cpus_by_description),
		cmocka_unit_test(functions_for_cpus_that_fail),
		cmocka_unit_test(parameters_of_a_function),
		cmocka_unit_test(parameters_refuse),
		cmocka_unit_test(variables_of_a_binary),
		cmocka_unit_test(variables_that_are_not_there),
		cmocka_unit_test(values_in_a_list),
		cmocka_unit_test(place_holders_in_a_list),
		cmocka_unit_test(a_list_in_memory_of_the_caller),
		cmocka_unit_test(lists_that_cannot_begin),
		cmocka_unit_test(what_a_list_does_not_take),
		cmocka_unit_test(a_list_has_128_parameters),
		cmocka_unit_test(lists_that_cannot_be_launched),
		cmocka_unit_test(a_list_ends_with_its_thread),
		cmocka_unit_test(arguments_in_device_memory),
		cmocka_unit_test(arguments_that_are_not_in_device_memory),
		cmocka_unit_test(arguments_in_host_memory),
		cmocka_unit_test(host_arguments_refuse),
		cmocka_unit_test(arguments_in_an_array),
		cmocka_unit_test(arrays_refuse),
		cmocka_unit_test(vector_code_in_blocks),
		cmocka_unit_test(binaries_and_devices),
		cmocka_unit_test(the_last_task_of_a_thread),
		cmocka_unit_test(the_last_task_needs_a_context),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
