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

/* What follows an extern "C" kernel: @p are the parameters of its launch function, @v what it passes on. */
#define BEHIND(k, p, v)                                                                                    \
	" VINCI_KERNEL_EXPORT(" k ") extern \"C\" uint32_t aclrtlaunch_" k "(uint32_t blockDim, void *stream" p \
	") { return VINCI_LAUNCH(" k ")(blockDim, nullptr, stream)(" v "); }"
#define POINTER(n) "::vinci_ascendc::any_pointer{arg" n "}"

static void test_exports(void **)
{
	static const sample samples[] = {
		{K "k(GM_ADDR x) { if (x) { } }\nint a;",
		 K "k(GM_ADDR x) { if (x) { } }" BEHIND("k", ", void *arg0", POINTER("0")) "\nint a;"},
		{K "__attribute__((aligned(8))) k() {}",
		 K "__attribute__((aligned(8))) k() {}" BEHIND("k", "", "")},
		{"extern \"C\" {\nnamespace a {\n__global__ void k() {}\n}\n}",
		 "extern \"C\" {\nnamespace a {\n__global__ void k() {}" BEHIND("k", "", "") "\n}\n}"},
		{"namespace a::b { " K "k() {} }", "namespace a::b { " K "k() {}" BEHIND("k", "", "") " }"},
		{"#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ void k() {}\n",
		 "#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ void k() {}" BEHIND("k", "", "") "\n"},
		/* branches that each open or close what is closed or opened once */
		{K "k()\n{\n#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n}\n" K "j() {}",
		 K "k()\n{\n#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n}" BEHIND("k", "", "") "\n" K
		   "j() {}" BEHIND("j", "", "")},
		{K "k()\n{\n#if A\nif (a) {\n#endif\nb();\n#if A\n}\n#endif\n}\n",
		 K "k()\n{\n#if A\nif (a) {\n#endif\nb();\n#if A\n}\n#endif\n}" BEHIND("k", "", "") "\n"},
		{"#if A\n" K "k() { a(); }\n#else\n" K "k() { b(); }\n#endif\n",
		 "#if A\n" K "k() { a(); }" BEHIND("k", "", "") "\n#else\n" K "k() { b(); }" BEHIND("k", "", "") "\n#endif\n"},
		/* parameters */
		{K "k(void) {}", K "k(void) {}" BEHIND("k", "", "")},
		{K "k(__gm__ uint8_t *x, const int32_t n = 3, unsigned int, n::s t, float f[4]) {}",
		 K "k(__gm__ uint8_t *x, const int32_t n = 3, unsigned int, n::s t, float f[4]) {}" BEHIND(
			 "k", ", void *arg0, int32_t arg1, unsigned int arg2, n :: s arg3, void *arg4",
			 POINTER("0") ", arg1, arg2, arg3, " POINTER("4"))},
		{K "k(tiling t, my_t n) {}",
		 K "k(tiling t, my_t n) {}" BEHIND("k", ", void *arg0, my_t arg1", "*static_cast<tiling *>(arg0), arg1")},
		{K "k(A<B<int>, C> x, half h) {}",
		 K "k(A<B<int>, C> x, half h) {}" BEHIND("k", ", A < B < int > , C > arg0, half arg1", "arg0, arg1")},
		{K "k(bool b = 2 > 1, int n = 0) {}", K "k(bool b = 2 > 1, int n = 0) {} VINCI_KERNEL_EXPORT(k)"},
		{K "k(int n = f(2 > 1, 3)) {}", K "k(int n = f(2 > 1, 3)) {}" BEHIND("k", ", int arg0", "arg0")},
		{K "k(int (*x)(int)) noexcept(true) {}", K "k(int (*x)(int)) noexcept(true) {} VINCI_KERNEL_EXPORT(k)"},
		/* by address only */
		{"__global__ __aicore__ void k() {}", "__global__ __aicore__ void k() {} VINCI_KERNEL_SYMBOL(k)"},
		{"extern \"C\" { extern \"C++\" { __global__ void k() {} } }",
		 "extern \"C\" { extern \"C++\" { __global__ void k() {} VINCI_KERNEL_SYMBOL(k) } }"},
		{"extern \"C\" {} __global__ void k() {}", "extern \"C\" {} __global__ void k() {} VINCI_KERNEL_SYMBOL(k)"},
	};

	CHECK_ALL(samples);
}

static void test_not_exported(void **)
{
	check_unchanged(K "k(GM_ADDR x);\nint f() { return 1; }");
	check_unchanged("template <class T> __global__ __aicore__ void k() {}");
	check_unchanged("extern \"C\" static __global__ void k() {}");
	check_unchanged("struct s { " K "k() {} };");
	check_unchanged("__global__ void k(int a) { f(a); }\n__global__ void k(float a) { f(a); }");
}

#define V(v) " VINCI_VARIABLE_SYMBOL(" v ")"

static void test_variables(void **)
{
	static const sample samples[] = {
		{"__gm__ float a;\nint b;", "__gm__ float a;" V("a") "\nint b;"},
		{"__gm__ float a[2][N + 1] = {{1, 2}, {3}}, b, c{f(1, 2)}; __gm__ n::t<int> d;",
		 "__gm__ float a[2][N + 1] = {{1, 2}, {3}}, b, c{f(1, 2)};" V("a") V("b") V("c") " __gm__ n::t<int> d;" V("d")},
		{"namespace { static __gm__ int a = 1 * 2; }", "namespace { static __gm__ int a = 1 * 2;" V("a") " }"},
		{"__gm__ struct { int a; } b; __gm__ struct c { int a; } d{1};",
		 "__gm__ struct { int a; } b;" V("b") " __gm__ struct c { int a; } d{1};" V("d")},
		{"extern \"C\" __gm__ int a = 1;", "extern \"C\" __gm__ int a = 1;" V("a")},
	};

	CHECK_ALL(samples);
	check_unchanged("extern __gm__ float a;");
	check_unchanged("__gm__ float *a; __gm__ uint8_t *f(int); __gm__ int g();");
	check_unchanged("__gm__ const float a = 1; const __gm__ int b = 2; using t = __gm__ int; typedef __gm__ int u;");
	check_unchanged("void f(__gm__ float *x) { __gm__ float *y = x; } struct s { __gm__ float x; };");
	check_unchanged("__gm__ float a");
}

static void test_launch_headers(void **)
{
	ascendc::translation t = ascendc::translate(
		"enum e : int { x };\n" K "k(GM_ADDR a, tiling t, e x, uint32_t n) {}\n" K "j(int (*f)()) {}\n", "k.cpp");

	assert_int_equal(t.headers.size(), 1);
	assert_string_equal(t.headers[0].kernel.c_str(), "k");
	assert_string_equal(t.headers[0].text.c_str(),
			    "#ifndef HEADER_ACLRTLAUNCH_k_H\n#define HEADER_ACLRTLAUNCH_k_H\n#include <stdint.h>\n"
			    "#include \"acl/acl_base.h\"\n\n#ifndef ACLRT_LAUNCH_KERNEL\n"
			    "#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func\n#endif\n\n"
			    "#ifdef __cplusplus\nextern \"C\"\n#endif\nuint32_t aclrtlaunch_k(uint32_t blockDim, aclrtStream stream, "
			    "void *arg0, void *arg1, e arg2, uint32_t arg3);\n#endif\n");
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
		cmocka_unit_test(test_variables),	 cmocka_unit_test(test_launch_headers),
		cmocka_unit_test(test_errors),		 cmocka_unit_test(test_every_error_is_told),
		cmocka_unit_test(test_conditional_errors),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
