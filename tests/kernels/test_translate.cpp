/* SPDX-License-Identifier: MIT */
/* The translator as a function from text to text. */
#include <cstdint>
#include <string>

#include "cmocka_cpp.h"
#include "translate.h"

#define PROLOGUE "#line 1 \"k.cpp\"\n"

struct sample {
	const char *in;
	const char *out;
};

static void check_all(const sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ascendc::translation t = ascendc::translate(samples[i].in, "k.cpp");

		for (const ascendc::diagnostic &d : t.errors)
			print_error("%s\n\t%zu: %s\n", samples[i].in, d.line, d.text.c_str());
		assert_int_equal(t.errors.size(), 0);
		assert_string_equal(t.text.c_str(), (PROLOGUE + std::string(samples[i].out)).c_str());
	}
}

#define CHECK_ALL(samples) check_all(samples, sizeof(samples) / sizeof((samples)[0]))

static void check_unchanged(const char *text)
{
	const sample s = {text, text};

	check_all(&s, 1);
}

static void test_launches(void **)
{
	static const sample samples[] = {
		{"k<<<1, nullptr, s>>>(x);", "(VINCI_LAUNCH(k)(1, nullptr, s))(x);"},
		{"return k<<<f(a, b), 0, s>>>();", "return (VINCI_LAUNCH(k)(f(a, b), 0, s))();"},
		{"int32_t r = (int)n::k<<<1, 0, s>>>(x) + ::k<<<1, 0, s>>>(y);",
		 "int32_t r = (int)(VINCI_LAUNCH(n::k)(1, 0, s))(x) + (VINCI_LAUNCH(::k)(1, 0, s))(y);"},
		{"return ::k<<<1, 0, s>>>(x);", "return (VINCI_LAUNCH(::k)(1, 0, s))(x);"},
		{"else k<<<1, 0, s>>>(x);", "else (VINCI_LAUNCH(k)(1, 0, s))(x);"},
		{"k<int, (a > b)><<<1, 0, s>>>(x);", "(VINCI_LAUNCH(k<int, (a > b)>)(1, 0, s))(x);"},
		{"k<A<B<int>>><<<1, 0, s>>>(x);", "(VINCI_LAUNCH(k<A<B<int>>>)(1, 0, s))(x);"},
		{"A<B<int>>::k<C><<<1, 0, s>>>(x);", "(VINCI_LAUNCH(A<B<int>>::k<C>)(1, 0, s))(x);"},
		{"T::template k<C><<<1, 0, s>>>(x);", "(VINCI_LAUNCH(T::template k<C>)(1, 0, s))(x);"},
		{"k<<<1,\n\t0,\n\ts>>>\n(x,\ny);", "(VINCI_LAUNCH(k)(1,\n\t0,\n\ts))\n(x,\ny);"},
		{"k /* a */ <<< // b >>>(\n1, \">>>(\" /* >>>( */, s >>> /* c */ (x);",
		 "(VINCI_LAUNCH(k /* a */ )( // b >>>(\n1, \">>>(\" /* >>>( */, s )) /* c */ (x);"},
		{"k<<<1, 0, s>>>(j<<<2, 0, s>>>(x));",
		 "(VINCI_LAUNCH(k)(1, 0, s))((VINCI_LAUNCH(j)(2, 0, s))(x));"},
		{"CHECK(k<<<1, 0, s>>>(x));", "CHECK((VINCI_LAUNCH(k)(1, 0, s))(x));"},
		{"k<<\\\n<1, 0, s>\\\r\n>> (x);", "(VINCI_LAUNCH(k)(\\\n1, 0, s))\\\r\n (x);"},
	};

	CHECK_ALL(samples);
}

/* Which >>> closes a launch. */
static void test_closing(void **)
{
	static const sample samples[] = {
		{"k<<<A<B<C<int>>>::v, 0, s>>>(x);", "(VINCI_LAUNCH(k)(A<B<C<int>>>::v, 0, s))(x);"},
		{"k<<<A<B<C<int>>>(3), 0, s>>>(x);", "(VINCI_LAUNCH(k)(A<B<C<int>>>(3), 0, s))(x);"},
		{"k<<<1, 0, get<int>>>>(x);", "(VINCI_LAUNCH(k)(1, 0, get<int>))(x);"},
		{"k<<<1, 0, get<A<int>>>>>(x);", "(VINCI_LAUNCH(k)(1, 0, get<A<int>>))(x);"},
		{"k<<<a < b ? 1 : 2, 0, s>>>(x);", "(VINCI_LAUNCH(k)(a < b ? 1 : 2, 0, s))(x);"},
		{"k<<<a > b, a >> 1, s>>>(x);", "(VINCI_LAUNCH(k)(a > b, a >> 1, s))(x);"},
		{"k<<<a << 1, p->n, s>>>(x);", "(VINCI_LAUNCH(k)(a << 1, p->n, s))(x);"},
		{"k<<<f(a >>>(b)), 0, s>>>(x);", "(VINCI_LAUNCH(k)(f(a >>>(b)), 0, s))(x);"},
		{"k<<<1, 0, s>>>(x) + A<B<C<int>>>(y);", "(VINCI_LAUNCH(k)(1, 0, s))(x) + A<B<C<int>>>(y);"},
	};

	CHECK_ALL(samples);
}

static void test_macros(void **)
{
	static const sample samples[] = {
		{"#define L(k) k<<<1, 0, s>>>(x)\n", "#define L(k) (VINCI_LAUNCH(k)(1, 0, s))(x)\n"},
		{"#define L(k, ...) do { \\\n k<<<1, 0, s>>>(__VA_ARGS__); \\\n} while (0)\nint k;\n",
		 "#define L(k, ...) do { \\\n (VINCI_LAUNCH(k)(1, 0, s))(__VA_ARGS__); \\\n} while (0)\nint k;\n"},
		{"#define L(a, b) a##b<<<1, 0, s>>>(x)\n", "#define L(a, b) (VINCI_LAUNCH(a##b)(1, 0, s))(x)\n"},
		{"#define L(x) (k<<<1, 0, s>>>(x))\n", "#define L(x) ((VINCI_LAUNCH(k)(1, 0, s))(x))\n"},
		{"#define L(k) k<<<1, 0, s>>>\n", "#define L(k) (VINCI_LAUNCH(k)(1, 0, s))\n"},
		{"#define L(k, a) k<<<1, 0, s>>> a\n", "#define L(k, a) (VINCI_LAUNCH(k)(1, 0, s)) a\n"},
		{"#define L(k, ...) k<<<__VA_ARGS__>>>(x)\n", "#define L(k, ...) (VINCI_LAUNCH(k)(__VA_ARGS__))(x)\n"},
		{"k<<<CONFIG>>>(x);", "(VINCI_LAUNCH(k)(CONFIG))(x);"},
		/* a directive in the middle of a launch is none of the launch's tokens */
		{"k<<<1, 0,\n#if A\ns\n#else\nt\n#endif\n>>>(x);",
		 "(VINCI_LAUNCH(k)(1, 0,\n#if A\ns\n#else\nt\n#endif\n))(x);"},
	};

	CHECK_ALL(samples);
}

static void test_left_alone(void **)
{
	check_unchanged("");
	check_unchanged("A<B<C<int>>> a; b = A<B<C<int>>>(1);");
	check_unchanged("os << a << b; x = a >> b; y <<= 2; z >>= 3; if (a<b && c>d) {}");
	check_unchanged("os.operator<<<int>(a); operator<<<int>(os, a);");
	check_unchanged("// k<<<1, 0, s>>>(x)\n/* k<<<1>>>(x)\n*/ \"k<<<\" '<<<' u8\"<<<\" L'<'");
	check_unchanged("auto a = R\"(k<<<1)\" + LR\"x(<<<)\"\\\n)x\"; int b = 1'000'000 + 0x1p-3;");
	check_unchanged("#include <a<<<b>\n#if A <<< B\n#endif\n#error it's k<<<1\n#pragma k<<<\n");
	check_unchanged("// a comment \\\n k<<<1, 0, s>>>(x)\n");
	check_unchanged("#if 0\n<<<<<<< HEAD\nit's \"\n#if 1\nk<<<\n#endif\n#endif\nint a;\n");
	check_unchanged("\"a \\\" <<<\"; '\\'' ; \"\\\\\"; /* it's */ ;");
	check_unchanged("#define A \"<<<\" // <<<\n#define B(x) #x\n");
	check_unchanged("auto trap = \"asm(\\\"trap\\\")\"; asm(\"nop\"); trap(\"trap\"); asm(\"traps\");");
	check_unchanged("a\r\nb\r\n\tc\0d");
	check_unchanged("int no_newline_at_end");
}

static void test_line_directive(void **)
{
	ascendc::translation t = ascendc::translate("\xef\xbb\xbfint a;\n", "a \"b\" \\c.cpp");

	assert_string_equal(t.text.c_str(), "#line 1 \"a \\\"b\\\" \\\\c.cpp\"\nint a;\n");
}

static void test_traps(void **)
{
	static const sample samples[] = {
		{"asm(\"trap\");", "__builtin_trap();"},
		{"asm volatile (\n\"trap\"\n);", "__builtin_trap()  \n\n;"},
		{"__asm__ __volatile__(\" trap;\" ::: \"memory\"); x();", "__builtin_trap()   ; x();"},
		{"#define T() asm(\"trap\")\n", "#define T() __builtin_trap()\n"},
	};

	CHECK_ALL(samples);
}

#define K "extern \"C\" __global__ __aicore__ void "

static void test_exports(void **)
{
	static const sample samples[] = {
		{K "k(GM_ADDR x) { if (x) { } }\nint a;", K "k(GM_ADDR x) { if (x) { } } VINCI_KERNEL_EXPORT(k)\nint a;"},
		{K "k(int (*x)(int)) noexcept(true) {}", K "k(int (*x)(int)) noexcept(true) {} VINCI_KERNEL_EXPORT(k)"},
		{K "__attribute__((aligned(8))) k() {}", K "__attribute__((aligned(8))) k() {} VINCI_KERNEL_EXPORT(k)"},
		{"extern \"C\" {\nnamespace a {\n__global__ void k() {}\n}\n}",
		 "extern \"C\" {\nnamespace a {\n__global__ void k() {} VINCI_KERNEL_EXPORT(k)\n}\n}"},
		{"namespace a::b { " K "k() {} }", "namespace a::b { " K "k() {} VINCI_KERNEL_EXPORT(k) }"},
		{"#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ void k() {}\n",
		 "#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ void k() {} VINCI_KERNEL_EXPORT(k)\n"},
		/* branches that each open or close what is closed or opened once */
		{K "k()\n{\n#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n}\n" K "j() {}",
		 K "k()\n{\n#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n} VINCI_KERNEL_EXPORT(k)\n" K
		   "j() {} VINCI_KERNEL_EXPORT(j)"},
		{K "k()\n{\n#if A\nif (a) {\n#endif\nb();\n#if A\n}\n#endif\n}\n",
		 K "k()\n{\n#if A\nif (a) {\n#endif\nb();\n#if A\n}\n#endif\n} VINCI_KERNEL_EXPORT(k)\n"},
		{"#if A\n" K "k() { a(); }\n#else\n" K "k() { b(); }\n#endif\n",
		 "#if A\n" K "k() { a(); } VINCI_KERNEL_EXPORT(k)\n#else\n" K
		 "k() { b(); } VINCI_KERNEL_EXPORT(k)\n#endif\n"},
	};

	CHECK_ALL(samples);
}

static void test_not_exported(void **)
{
	check_unchanged(K "k(GM_ADDR x);\nint f() { return 1; }");
	check_unchanged("__global__ __aicore__ void k() {}");
	check_unchanged("template <class T> __global__ __aicore__ void k() {}");
	check_unchanged("extern \"C\" static __global__ void k() {}");
	check_unchanged("struct s { " K "k() {} };");
	check_unchanged("extern \"C\" { extern \"C++\" { __global__ void k() {} } }");
	check_unchanged("extern \"C\" {} __global__ void k() {}");
}

static void check_error(const char *text, size_t line, const char *part)
{
	ascendc::translation t = ascendc::translate(text, "k.cpp");

	assert_true(t.errors.size() >= 1);
	assert_int_equal(t.errors[0].line, line);
	if (t.errors[0].text.find(part) == std::string::npos)
		fail_msg("\"%s\" says \"%s\", not \"%s\"", text, t.errors[0].text.c_str(), part);
	assert_string_equal(t.text.c_str(), "");
}

static void test_errors(void **)
{
	check_error("\n\nk<<<1, 0, s>>>;", 3, "no >>>(...)");
	check_error("k<<<1, 0, s>> >(x);", 1, "no >>>(...)");
	check_error("\\\n\\\n\nk<<<1, 0, s; >>>(x);", 4, "no >>>(...)");
	check_error("(k<<<1, 0, s)>>>(x);", 1, "no >>>(...)");
	check_error("\n<<<1, 0, s>>>(x);", 2, "no kernel's name");
	check_error("return <<<1, 0, s>>>(x);", 1, "no kernel's name");
	check_error("(k)<<<1, 0, s>>>(x);", 1, "no kernel's name");
	check_error("a.k<<<1, 0, s>>>(x);", 1, "no kernel's name");
	check_error("k<int>><<<1, 0, s>>>(x);", 1, "no kernel's name");
	check_error("#define L <<<1, 0, s>>>\n", 1, "a macro that launches needs");
	check_error("k<<<1, s>>>(x);", 1, "three values");
	check_error("k<<<>>>(x);", 1, "three values");
	check_error("k<<<1, 0, 0, s>>>(x);", 1, "three values");
	check_error("k<<<j<<<1, 0, s>>>(x), 0, s>>>(y);", 1, "within");
	check_error("int a;\n<<<<<<< HEAD\n", 2, "more than three");
	check_error("int a;\n/* open", 2, "comment is not closed");
	check_error("int a;\n\nauto b = R\"x(open)\";", 3, "raw string is not closed");
}

/* Code for another compiler does not have to make sense to this one. */
static void test_conditional_errors(void **)
{
	static const sample samples[] = {
		{"#ifdef __CUDACC__\nk<<<1, 2>>>(x);\n#endif\n",
		 "#ifdef __CUDACC__\nk _Pragma(\"GCC error \\\"a launch takes three values: "
		 "<<<blockDim, l2ctrl, stream>>>\\\"\") <<<1, 2>>>(x);\n#endif\n"},
		{"#ifdef A\n#define L <<<1, 0, s>>>\n#endif\n",
		 "#ifdef A\n#define L  _Pragma(\"GCC error \\\"a macro that launches needs the kernel's name before its "
		 "<<<\\\"\") <<<1, 0, s>>>\n#endif\n"},
		{"#ifdef A\nk<<<1, 0, s>>>(x);\n#endif\n",
		 "#ifdef A\n(VINCI_LAUNCH(k)(1, 0, s))(x);\n#endif\n"},
	};

	CHECK_ALL(samples);
}

static void test_every_error_is_told(void **)
{
	ascendc::translation t = ascendc::translate("k<<<1>>>(x);\nint a;\n<<<\nk<<<1, 0, s>>>(x);", "k.cpp");

	assert_int_equal(t.errors.size(), 2);
	assert_int_equal(t.errors[0].line, 1);
	assert_int_equal(t.errors[1].line, 3);
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launches),	 cmocka_unit_test(test_closing),
		cmocka_unit_test(test_macros),		 cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_line_directive),	 cmocka_unit_test(test_traps),
		cmocka_unit_test(test_exports),		 cmocka_unit_test(test_not_exported),
		cmocka_unit_test(test_errors),		 cmocka_unit_test(test_every_error_is_told),
		cmocka_unit_test(test_conditional_errors),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
