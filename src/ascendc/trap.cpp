/* SPDX-License-Identifier: MIT */
/* asm("trap") is the device's way to fail a kernel; no host assembler knows the instruction by that name. */
#include "translate.h"

namespace ascendc {

namespace {

bool is_any(const source &src, const token &t, const char *const *words)
{
	for (; *words; words++) {
		if (src.is(t, *words))
			return true;
	}
	return false;
}

/* The instruction of an asm literal, without quotes and the blanks, separators and escapes around it. */
bool is_trap(const source &src, const token &t)
{
	std::string text = src.spelling(t);
	size_t begin = text.find("trap");

	if (t.kind != token_kind::literal || begin == std::string::npos)
		return false;
	return text.find_first_not_of("\" \t;") == begin &&
	       text.find_first_not_of("\" \t;", begin + 4) == std::string::npos;
}

/* Index of the ')' of the asm statement at i, or 0. */
size_t trap_end(const source &src, const token_list &tokens, size_t i)
{
	static const char *const qualifiers[] = {"volatile", "__volatile__", "__volatile", "inline", nullptr};
	size_t j = i + 1;
	size_t depth = 0;

	while (j < tokens.size() && is_any(src, tokens[j], qualifiers))
		j++;
	if (j + 2 >= tokens.size() || !src.is(tokens[j], "(") || !is_trap(src, tokens[j + 1]))
		return 0;
	if (!src.is(tokens[j + 2], ")") && !src.is(tokens[j + 2], ":") && !src.is(tokens[j + 2], "::"))
		return 0;
	for (; j < tokens.size(); j++) {
		depth += tokens[j].kind == token_kind::open;
		if (tokens[j].kind == token_kind::close && --depth == 0)
			return j;
	}
	return 0;
}

} // namespace

void translate_traps(const source &src, const token_list &tokens, editor *ed)
{
	static const char *const words[] = {"asm", "__asm__", "__asm", nullptr};

	for (size_t i = 0; i < tokens.size(); i++) {
		size_t end = is_any(src, tokens[i], words) ? trap_end(src, tokens, i) : 0;

		if (!end)
			continue;
		ed->replace(tokens[i].begin, tokens[i].end, "__builtin_trap()");
		while (i < end) {
			i++;
			ed->replace(tokens[i].begin, tokens[i].end, "");
		}
	}
}

} // namespace ascendc
