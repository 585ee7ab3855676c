/* SPDX-License-Identifier: MIT */
/*
 * The translator on damaged sources. Whatever the bytes: no crash (the sanitizer builds see more), every message
 * has a line of the source, and a translation keeps the number of lines, which is what makes messages of the
 * compiler right. The damage comes from a fixed seed, so a failure repeats.
 */
#include <algorithm>
#include <cstdint>
#include <string>

#include "cmocka_cpp.h"
#include "translate.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t random_below(size_t bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return static_cast<uint32_t>((state >> 16) % bound);
}

static const char *const seeds[] = {
	("#include \"kernel_operator.h\"\n#define L(a, b) a##b<<<1, \\\n 0, s>>>(x)\n"
	"extern \"C\" {\n__global__ void k(int a) { if (a) { asm volatile(\"trap\"); } }\n}\n"),
	"n::k<A<B<int>>, (a > b)><<<f(x, y), C<D>::v, s>>> /* c */ (p, 'q', \"r\"); // t\n#if 0\nit's\n#else\n#endif\n",
	"auto r = u8R\"x(a\n<<<)\" )x\" \"e\\\"\\\n\" 1'000 0x1p+3 ->* ... <=> %:%: \\\r\n L'\\'' :: ::: ## # \xc3\xa9$\n",
	"#ifdef __cplusplus\n#if A\n{\n#elif B\n}{\n#else\n}\n#endif\n#endif\nnamespace a::b {}\noperator<<<T>(x);",
};

static const char *const pieces[] = {
	"<<<", ">>>", "<", ">", ">>>>", "(", ")", "{", "}", "\"", "'", "R\"(", ")\"", "/*", "*/", "//", "\\\n", "\n#",
	"\n#define ", "\n#if 0\n", "\n#else\n", "\n#endif\n", "extern \"C\"", "__global__", "asm(\"trap\")", "##", "::",
	"template", ",", ";", "\n", "k", "operator", "\xef\xbb\xbf", "static",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static std::string damage(std::string text)
{
	for (uint32_t n = 1 + random_below(6); n > 0; n--) {
		size_t at = random_below(text.size() + 1);

		switch (random_below(4)) {
		case 0:
			text.insert(at, pieces[random_below(COUNT(pieces))]);
			break;
		case 1:
			text.erase(at, 1 + random_below(12));
			break;
		case 2:
			text.insert(at, 1, static_cast<char>(random_below(256)));
			break;
		default:
			text.insert(at, text.substr(random_below(text.size() + 1), random_below(40)));
			break;
		}
	}
	return text;
}

static ptrdiff_t lines(const std::string &text)
{
	return std::count(text.begin(), text.end(), '\n');
}

static void check(const std::string &text)
{
	ascendc::translation t = ascendc::translate(text, "k.cpp");

	for (const ascendc::diagnostic &d : t.errors)
		assert_in_range(d.line, 1, lines(text) + 1);
	if (t.errors.empty())
		assert_int_equal(lines(t.text), lines(text) + 1);
	else
		assert_int_equal(t.text.size(), 0);
}

static void test_damaged(void **)
{
	for (int i = 0; i < 20000; i++)
		check(damage(seeds[random_below(COUNT(seeds))]));
}

/* A file that ends anywhere. */
static void test_cut_short(void **)
{
	for (const char *seed : seeds) {
		std::string text = seed;

		for (size_t n = 0; n <= text.size(); n++)
			check(text.substr(0, n));
	}
}

static void test_pieces_only(void **)
{
	for (int i = 0; i < 20000; i++) {
		std::string text;

		for (uint32_t n = random_below(24); n > 0; n--)
			text += pieces[random_below(COUNT(pieces))];
		check(text);
	}
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_pieces_only),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
