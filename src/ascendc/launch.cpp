/* SPDX-License-Identifier: MIT */
/*
 * The <<<>>> syntax. "<<<" without blanks is a launch wherever it stands, for C++ has no use for it but the name
 * `operator<<<T>`. ">>>" is what closes it only if no template is open, which takes a guess: a '<' behind a name
 * opens one, unless the counts do not come out even, as they do not for a comparison.
 */
#include "translate.h"

namespace ascendc {

namespace {

constexpr size_t none = static_cast<size_t>(-1);

bool is_keyword(const source &src, const token &t)
{
	static const char *const words[] = {
		"and", "case", "co_await", "co_return", "co_yield", "const_cast", "delete", "do", "dynamic_cast",
		"else", "goto", "if", "new", "not", "operator", "or", "reinterpret_cast", "return", "sizeof",
		"static_cast", "template", "this", "throw", "typename", "void", "while", "xor",
	};

	for (const char *w : words) {
		if (src.is(t, w))
			return true;
	}
	return false;
}

/* Index of the bracket that tokens[i], a closing one, belongs to; none if there is not one. */
size_t open_bracket(const token_list &tokens, size_t i)
{
	size_t depth = 0;

	for (size_t j = i + 1; j-- > 0;) {
		if (tokens[j].kind == token_kind::close)
			depth++;
		else if (tokens[j].kind == token_kind::open && --depth == 0)
			return j;
	}
	return none;
}

/* Index of the '<' of the template arguments that end with tokens[i], a run of '>'; none if there is not one. */
size_t open_angle(const source &src, const token_list &tokens, size_t i)
{
	size_t depth = 0;

	for (size_t j = i + 1; j-- > 0;) {
		const token &t = tokens[j];

		if (t.kind == token_kind::close) {
			j = open_bracket(tokens, j);
			if (j == none)
				return none;
		} else if (t.kind == token_kind::greater) {
			depth += t.length();
		} else if (t.kind == token_kind::less) {
			if (t.length() > depth)
				return none;
			depth -= t.length();
			if (depth == 0)
				return t.length() == 1 ? j : none;
		} else if (t.kind == token_kind::open || src.is(t, ";")) {
			return none;
		}
	}
	return none;
}

/* Start of the name, with template arguments or without, that ends just before tokens[end]; none if there is none. */
size_t simple_name(const source &src, const token_list &tokens, size_t end)
{
	size_t i = end;

	if (i > 0 && tokens[i - 1].kind == token_kind::greater) {
		i = open_angle(src, tokens, i - 1);
		if (i == none)
			return none;
	}
	if (i == 0 || tokens[i - 1].kind != token_kind::identifier || is_keyword(src, tokens[i - 1]))
		return none;
	i--;
	while (i >= 2 && src.is(tokens[i - 1], "##") && tokens[i - 2].kind == token_kind::identifier)
		i -= 2;
	return i;
}

/* Start of the qualified name of the kernel that tokens[end] launches. */
size_t kernel_name(const source &src, const token_list &tokens, size_t end)
{
	size_t i = simple_name(src, tokens, end);

	while (i != none && i > 0) {
		size_t before;

		if (i > 1 && src.is(tokens[i - 1], "template") && src.is(tokens[i - 2], "::"))
			i--;
		if (!src.is(tokens[i - 1], "::"))
			break;
		i--;
		before = simple_name(src, tokens, i);
		if (before == none)
			break;
		i = before;
	}
	if (i != none && i > 0 && (src.is(tokens[i - 1], ".") || src.is(tokens[i - 1], "->")))
		return none;
	return i;
}

struct closing {
	size_t at;      /* index of the run of '>' whose last three close the launch; none if there is none */
	size_t commas;  /* at top level */
	bool certain;   /* the templates came out even, so the commas count */
	size_t another; /* index of a "<<<" that stands in the way, or none */
};

/* Whether the run of '>' at i may end the configuration. A macro may leave the arguments to whoever uses it. */
bool may_close(const source &src, const token_list &tokens, size_t i, bool in_macro)
{
	if (tokens[i].length() < 3)
		return false;
	if (i + 1 == tokens.size())
		return in_macro;
	return src.is(tokens[i + 1], "(") || (in_macro && tokens[i + 1].kind == token_kind::identifier);
}

closing find_closing(const source &src, const token_list &tokens, size_t launch, bool in_macro)
{
	closing found = {none, 0, false, none};
	size_t depth = 0;
	size_t templates = 0;

	for (size_t i = launch + 1; i < tokens.size(); i++) {
		const token &t = tokens[i];

		if (t.kind == token_kind::open) {
			depth++;
		} else if (t.kind == token_kind::close) {
			if (depth-- == 0)
				break;
		} else if (depth > 0) {
			continue;
		} else if (t.kind == token_kind::less && t.length() >= 3) {
			found.another = i;
			break;
		} else if (t.kind == token_kind::less) {
			templates += t.length() == 1 && tokens[i - 1].kind == token_kind::identifier;
		} else if (t.kind == token_kind::greater) {
			if (may_close(src, tokens, i, in_macro) && templates == t.length() - 3) {
				found.at = i;
				found.certain = true;
				return found;
			}
			if (found.at == none && t.length() == 3 && may_close(src, tokens, i, in_macro))
				found.at = i;
			templates -= templates < t.length() ? templates : t.length();
		} else if (src.is(t, ";")) {
			break;
		} else if (templates == 0 && src.is(t, ",")) {
			found.commas++;
		}
	}
	return found;
}

bool names_one_macro(const token_list &tokens, size_t launch, const closing &end)
{
	return end.at == launch + 2 && tokens[launch + 1].kind == token_kind::identifier;
}

const char *complaint(const token_list &tokens, size_t launch, size_t name, const closing &end, bool in_macro)
{
	if (tokens[launch].length() != 3)
		return "more than three '<' in a row";
	if (name == none)
		return in_macro ? "a macro that launches needs the kernel's name before its <<<"
				: "no kernel's name before <<<";
	if (end.another != none)
		return "a launch within the <<<>>> of another one";
	if (end.at == none)
		return "no >>>(...) for this <<<";
	if (end.certain && end.commas != 2 && !in_macro && !names_one_macro(tokens, launch, end))
		return "a launch takes three values: <<<blockDim, l2ctrl, stream>>>";
	return nullptr;
}

} // namespace

void translate_launches(const source &src, const token_list &tokens, bool in_macro, editor *ed)
{
	for (size_t i = 0; i < tokens.size(); i++) {
		const char *wrong;
		closing end;
		size_t name;

		if (tokens[i].kind != token_kind::less || tokens[i].length() < 3)
			continue;
		if (i > 0 && src.is(tokens[i - 1], "operator"))
			continue;
		name = kernel_name(src, tokens, i);
		end = find_closing(src, tokens, i, in_macro);
		wrong = complaint(tokens, i, name, end, in_macro);
		if (wrong) {
			ed->error(tokens[i], wrong);
			continue;
		}
		ed->insert_before(tokens[name], "(VINCI_LAUNCH(");
		ed->replace(tokens[i].begin, tokens[i].end, ")(");
		ed->replace(tokens[end.at].end - 3, tokens[end.at].end, "))");
	}
}

} // namespace ascendc
