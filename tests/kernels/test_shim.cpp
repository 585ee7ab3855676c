/* SPDX-License-Identifier: MIT */
/* Kernels built by ascendc.cmake, launched through the ABI. */
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_cpp.h"
#include "launcher.h"
#include "printing_kernels.h"
#include "scalar_kernels.h"

static int dummy_stream;
static void *const stream = &dummy_stream;

static void test_index(void **)
{
	int64_t out[4] = {};

	assert_int_equal(launch_index(4, stream, out), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out[i], i * 1000 + 4 + 1);
	assert_ptr_equal(launcher_last.stream, stream);
	assert_int_equal(launcher_last.block_dim, 4);
	assert_int_equal(launcher_last.args_size, 8);
}

static void test_descriptor(void **)
{
	int64_t out[1];

	assert_int_equal(launch_index(1, stream, out), 0);
	assert_int_equal(launcher_last.kernel->abi, VINCI_KERNEL_ABI);
	assert_int_equal(launcher_last.kernel->flags, VINCI_KERNEL_PARAMS);
	assert_string_equal(launcher_last.kernel->name, "Index");
	assert_int_equal(launcher_last.kernel->args_size, 8);
	assert_int_equal(launcher_last.kernel->param_count, 1);
	assert_int_equal(launcher_last.kernel->params[0].offset, 0);
	assert_int_equal(launcher_last.kernel->params[0].size, 8);
}

/* Slots: pointer 1, uint8 1, 12 bytes 2, bool 1, 32 bytes 4, double 1, int 1, int8 1. */
static void test_mixed_arguments(void **)
{
	static const struct vinci_param places[8] = {{0, 8}, {8, 1}, {16, 12}, {32, 1}, {40, 32}, {72, 8}, {80, 4}, {88, 1}};
	const odd o = {1, 2, 3};
	const wide w = {{40, 0, 0, 2}};
	int64_t out[8];

	memset(out, 0xff, sizeof(out));
	assert_int_equal(launch_mixed(stream, out, o, w, picky(77)), 0);
	assert_int_equal(launcher_last.args_size, 12 * VINCI_KERNEL_SLOT);
	assert_int_equal(launcher_last.kernel->param_count, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(launcher_last.kernel->params[i].offset, places[i].offset);
		assert_int_equal(launcher_last.kernel->params[i].size, places[i].size);
	}
	assert_int_equal(out[0], 250);
	assert_int_equal(out[1], 123);
	assert_int_equal(out[2], 1);
	assert_int_equal(out[3], 42);
	assert_int_equal(out[4], 10);
	assert_int_equal(out[5], 77);
	assert_int_equal(out[6], -3);
	assert_int_equal(out[7], 0);
}

static void test_no_arguments(void **)
{
	assert_int_equal(launch_no_args(stream), 0);
	assert_int_equal(launcher_last.args_size, 0);
}

static void test_templates(void **)
{
	float floats[3] = {0, 0, 9};
	int16_t shorts[3] = {0, 0, 9};

	assert_int_equal(launch_fill(stream, floats, shorts), 0);
	assert_true(floats[0] == 1.5f && floats[1] == 1.5f && floats[2] == 9.0f);
	assert_true(shorts[0] == -2 && shorts[1] == -2 && shorts[2] == 9);
	assert_string_equal(launcher_last.kernel->name, "Fill<int16_t, 2>");
}

static void test_syntax(void **)
{
	int data[3] = {1, 2, 3};
	unsigned before;

	assert_int_equal(launch_scale(stream, data), 0);
	assert_true(data[0] == 10 && data[1] == 20 && data[2] == 30);
	assert_string_equal(launcher_last.kernel->name, "::ops::Scale");

	assert_int_equal(launch_spread_out(stream, data), 0);
	assert_true(data[0] == 15 && data[1] == 25 && data[2] == 30);

	assert_int_equal(launch_by_macro(stream, data), 0);
	assert_true(data[0] == 1126 && data[1] == 26);
	assert_string_equal(launcher_last.kernel->name, "ops::Add");

	before = launcher_last.launches;
	assert_int_equal(launch_sum(stream, data), 107000);
	assert_int_equal(launcher_last.launches, before + 2);
	assert_int_equal(data[0], 1129);
}

static void test_block_dim_range(void **)
{
	int64_t out[2] = {-1, -1};

	assert_int_equal(launch_dim(0, stream, out), 107000);
	assert_int_equal(launch_dim(-1, stream, out), 107000);
	assert_int_equal(launch_dim((INT64_C(1) << 32) + 1, stream, out), 107000);
	assert_int_equal(out[0], -1);
	assert_int_equal(launch_dim(2, stream, out), 0);
	assert_int_equal(out[1], 1003);
}

static void test_source_is_kept(void **)
{
	const char *raw;
	int line = scalar_text(&raw);

	assert_string_equal(raw, "Add<<<1>>>(x) )\" \\\n");
	assert_int_equal(line, SCALAR_TEXT_LINE);
}

static void test_trap(void **)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGILL, SIG_DFL);
		signal(SIGTRAP, SIG_DFL);
		(void)launch_trap(stream);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
}

/* stdout into memory while a launch runs, without a flush of ours at its end: a program may leave by _exit(). */
class capture {
public:
	capture()
	{
		(void)fflush(stdout);
		saved = dup(STDOUT_FILENO);
		memory = memfd_create("stdout", MFD_CLOEXEC);
		assert_true(saved >= 0 && memory >= 0);
		assert_int_equal(dup2(memory, STDOUT_FILENO), STDOUT_FILENO);
	}

	std::string end()
	{
		std::string text;
		off_t size = lseek(memory, 0, SEEK_END);

		assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
		assert_true(size >= 0);
		text.resize(static_cast<size_t>(size));
		assert_int_equal(pread(memory, &text[0], text.size(), 0), size);
		(void)close(memory);
		(void)close(saved);
		return text;
	}

private:
	int saved;
	int memory;
};

static void test_blocks_see_each_other(void **)
{
	int32_t seen[4] = {}, count = 0;

	assert_int_equal(launch_meet(4, nullptr, seen, &count), 0);
	assert_int_equal(count, 4);
}

static void test_lines_are_atomic(void **)
{
	const int blocks = 8;
	const int count = 50;
	capture cap;
	uint32_t error = launch_lines(blocks, count);
	std::string out = cap.end();
	size_t ends = 0;

	assert_int_equal(error, 0);
	assert_int_equal(launcher_last.kernel->flags, VINCI_KERNEL_PRINTS | VINCI_KERNEL_PARAMS);
	for (int b = 0; b < blocks; b++) {
		std::string last = "end of " + std::to_string(b);
		size_t from = 0;

		for (int i = 0; i < count; i++) {
			std::string line = "block " + std::to_string(b) + " of 8 line " + std::to_string(i) + "\n";

			from = out.find(line, from);
			assert_true(from != std::string::npos);
			from += line.size();
			ends += line.size();
		}
		assert_true(out.find(last, from) != std::string::npos);
		ends += last.size();
	}
	assert_int_equal(out.size(), ends);
}

static void test_formats(void **)
{
	char expected[8192];
	int n;
	capture cap;
	uint32_t error = launch_formats(expected);
	std::string out = cap.end();

	n = snprintf(expected, sizeof(expected),
		     "plain 100%%\n"
		     "-1 2 4294967295 ff ABC 10\n"
		     "-5000000000 -5000000000 1099511627776 10000000000\n"
		     "ff -32768 z|   42|42   |00042|+42\n"
		     "   1|2   |3   |3.14\n"
		     "1.500000 2.2 1.000000e+03 0.5 10.00\n"
		     "text te (null) 3 1\n"
		     "%p\n"
		     "%%d %%s %%f %%n %%q %%5\n"
		     "1 %%d\n"
		     "%4096d|\n",
		     static_cast<void *>(expected), 1);
	assert_int_equal(error, 0);
	assert_true(n > 0 && static_cast<size_t>(n) < sizeof(expected));
	assert_string_equal(out.c_str(), expected);
}

static void test_long_lines(void **)
{
	const int pieces = 1024;
	std::string line;
	capture cap;
	uint32_t error = launch_long(4, pieces);
	std::string out = cap.end();

	for (int i = 0; i < pieces; i++)
		line += "0123456789abcdef";
	line += "\n";
	assert_int_equal(error, 0);
	assert_true(out == line + line + line + line);
}

/* The way of a loaded object: by name, with a flat buffer of slots, as aclrtKernelArgsAppend fills one. */
static void test_kernels_by_name(void **)
{
	void *object = dlopen(KERNELS_OBJECT, RTLD_NOW | RTLD_LOCAL);
	const struct vinci_kernel *kernel;
	struct vinci_block block = {1, 2};
	int data[2] = {5, 5};
	uint64_t slots[2] = {0, 0};
	int value = 7;

	assert_non_null(object);
	kernel = static_cast<const struct vinci_kernel *>(dlsym(object, VINCI_KERNEL_SYMBOL_PREFIX "Add"));
	assert_non_null(kernel);
	assert_string_equal(kernel->name, "Add");
	assert_int_equal(kernel->args_size, sizeof(slots));
	slots[0] = reinterpret_cast<uintptr_t>(data);
	memcpy(&slots[1], &value, sizeof(value));
	kernel->run(slots, &block);
	assert_int_equal(data[0], 5);
	assert_int_equal(data[1], 12);

	assert_non_null(dlsym(object, VINCI_KERNEL_SYMBOL_PREFIX "Mixed"));
	assert_null(dlsym(object, VINCI_KERNEL_SYMBOL_PREFIX "Scale"));
	assert_null(dlsym(object, VINCI_KERNEL_SYMBOL_PREFIX "Excluded"));
	assert_int_equal(kernel->flags, VINCI_KERNEL_PARAMS);
	kernel = static_cast<const struct vinci_kernel *>(dlsym(object, VINCI_KERNEL_SYMBOL_PREFIX "Lines"));
	assert_non_null(kernel);
	assert_int_equal(kernel->flags, VINCI_KERNEL_PRINTS | VINCI_KERNEL_PARAMS);
	assert_int_equal(dlclose(object), 0);
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),		 cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_mixed_arguments),	 cmocka_unit_test(test_no_arguments),
		cmocka_unit_test(test_templates),	 cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_block_dim_range),	 cmocka_unit_test(test_source_is_kept),
		cmocka_unit_test(test_trap),		 cmocka_unit_test(test_lines_are_atomic),
		cmocka_unit_test(test_formats),		 cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_kernels_by_name),	 cmocka_unit_test(test_blocks_see_each_other),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
