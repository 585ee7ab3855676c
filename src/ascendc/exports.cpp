/* SPDX-License-Identifier: MIT */
/*
 * Makes kernels and variables in global memory findable: extern "C" kernels by name, and all that are no templates by
 * address. What does that goes behind the kernel's body, into the same scope and the same #if group, so bodies have to
 * be followed to their end through directives: a group without #else is taken to change nothing (but for the usual
 * `#ifdef __cplusplus`), one with #else to do what its first branch does. Where that guess is wrong a kernel goes
 * unexported; nothing else depends on it.
 */
#include "translate.h"

#include <utility>

namespace ascendc {

namespace {

constexpr size_t none = static_cast<size_t>(-1);

enum class linkage { none, c, cpp };

enum class scope_kind { other, transparent, linkage_c };

struct scope {
	scope_kind kind;
	size_t kernel; /* index of the name of the kernel whose body this is, or none */
	size_t groups; /* how many groups the scope's beginning is in */
	linkage language; /* of the kernel */
};

using scope_stack = std::vector<scope>;

struct group {
	scope_stack before;
	scope_stack first; /* after the first branch, once there is a second one */
	bool has_else;
	bool always; /* #ifdef __cplusplus */
};

class exporter {
public:
	exporter(const source &src, editor *ed, std::vector<launch_header> *headers)
		: src(src), t(src.code), ed(ed), headers(headers)
	{
	}

	void run();

private:
	bool is(size_t i, const char *word) const
	{
		return i < t.size() && src.is(t[i], word);
	}

	void conditional(const directive &d);
	void find_kernel(size_t i);
	size_t closing(size_t i) const;
	size_t initializer_end(size_t i) const;
	bool no_variable(size_t i) const;
	void find_variables(size_t i);
	linkage linkage_of(size_t i) const;
	bool overloaded(size_t name) const;
	bool may_name(size_t i) const;
	scope_kind kind_of(size_t brace) const;
	void close(size_t i);

	const source &src;
	const token_list &t;
	editor *ed;
	std::vector<launch_header> *headers;
	scope_stack scopes;
	std::vector<group> groups;
	size_t body = none;   /* index of the '{' of a kernel seen ahead */
	size_t kernel = none; /* and of its name */
	linkage language = linkage::none;
};

bool mentions(const source &src, const directive &d, const char *word)
{
	for (const token &tok : d.body) {
		if (src.is(tok, word))
			return true;
	}
	return false;
}

void exporter::conditional(const directive &d)
{
	if (d.name.compare(0, 2, "if") == 0) {
		bool always = d.name != "ifndef" && mentions(src, d, "__cplusplus");

		groups.push_back({scopes, {}, false, always});
	} else if (groups.empty()) {
		return;
	} else if (d.name == "else" || d.name.compare(0, 4, "elif") == 0) {
		group &g = groups.back();

		if (!g.has_else)
			g.first = std::move(scopes);
		g.has_else = true;
		scopes = g.before;
	} else if (d.name == "endif") {
		group &g = groups.back();

		if (g.has_else)
			scopes = std::move(g.first);
		else if (!g.always)
			scopes = std::move(g.before);
		groups.pop_back();
	}
}

/* Kernels are functions of a namespace. In any other scope there is nothing to export. */
bool exported_scope(const scope_stack &scopes)
{
	for (const scope &s : scopes) {
		if (s.kind == scope_kind::other)
			return false;
	}
	return true;
}

/* Of the declaration with __global__ at i; none for templates and what is static. */
linkage exporter::linkage_of(size_t i) const
{
	bool c = !scopes.empty() && scopes.back().kind == scope_kind::linkage_c;

	for (; i > 0 && (t[i - 1].kind == token_kind::identifier || is(i - 1, "\"C\"")); i--) {
		if (is(i - 1, "static"))
			return linkage::none;
		if (is(i - 1, "\"C\"") && i > 1 && is(i - 2, "extern"))
			c = true;
	}
	if (i > 0 && t[i - 1].kind == token_kind::greater)
		return linkage::none;
	return c ? linkage::c : linkage::cpp;
}

/* A name that several kernels of the source have is no address. */
bool exporter::overloaded(size_t name) const
{
	size_t found = 0;

	for (size_t i = 0; i + 1 < t.size(); i++) {
		if (is(i + 1, "(") && src.spelling(t[i]) == src.spelling(t[name]))
			found += is(closing(i + 1) + 1, "{");
	}
	return found > 1;
}

/* Not what else has brackets around a function's declarator. */
bool exporter::may_name(size_t i) const
{
	return t[i].kind == token_kind::identifier && !is(i, "noexcept") && !is(i, "throw") &&
	       !is(i, "__attribute__") && !is(i, "alignas");
}

/* Looks from __global__ for the name: it stands before the last brackets in front of the body. */
void exporter::find_kernel(size_t i)
{
	size_t depth = 0;
	size_t name = none;

	language = linkage_of(i);
	if (!exported_scope(scopes) || language == linkage::none)
		return;
	for (size_t j = i + 1; j < t.size(); j++) {
		if (is(j, "static") || is(j, ";") || (depth == 0 && t[j].kind == token_kind::close))
			return;
		if (is(j, "{")) {
			if (depth == 0 && name != none) {
				kernel = name;
				body = j;
			}
			return;
		}
		if (t[j].kind == token_kind::close)
			depth--;
		else if (t[j].kind == token_kind::open && depth++ == 0 && may_name(j - 1))
			name = j - 1;
	}
}

/* What the '{' at brace begins. A namespace changes nothing about linkage. */
scope_kind exporter::kind_of(size_t brace) const
{
	size_t i = brace;

	if (i >= 2 && is(i - 1, "\"C\"") && is(i - 2, "extern"))
		return scope_kind::linkage_c;
	if (i >= 2 && is(i - 1, "\"C++\"") && is(i - 2, "extern"))
		return scope_kind::transparent;
	while (i > 0 && (t[i - 1].kind == token_kind::identifier || is(i - 1, "::")) && !is(i - 1, "namespace"))
		i--;
	if (i == 0 || !is(i - 1, "namespace"))
		return scope_kind::other;
	return !scopes.empty() && scopes.back().kind == scope_kind::linkage_c ? scope_kind::linkage_c
									      : scope_kind::transparent;
}

void exporter::close(size_t i)
{
	scope ended;

	if (scopes.empty())
		return;
	ended = scopes.back();
	scopes.pop_back();
	/* in a group of its own this may close something else: see above */
	if (ended.kernel == none || ended.groups != groups.size())
		return;
	if (ended.language == linkage::c)
		ed->insert_after(t[i], " VINCI_KERNEL_EXPORT(" + src.spelling(t[ended.kernel]) + ")" +
					       launch_function(src, ended.kernel, headers));
	else if (!overloaded(ended.kernel))
		ed->insert_after(t[i], " VINCI_KERNEL_SYMBOL(" + src.spelling(t[ended.kernel]) + ")");
}

/* Index of the bracket that closes the one at i, or of the last token. */
size_t exporter::closing(size_t i) const
{
	size_t depth = 0;

	for (; i + 1 < t.size(); i++) {
		depth += t[i].kind == token_kind::open;
		if (t[i].kind == token_kind::close && --depth == 0)
			break;
	}
	return i;
}

/* The last token before the ',' or ';' behind the initialiser at i. */
size_t exporter::initializer_end(size_t i) const
{
	for (;; i++) {
		if (t[i].kind == token_kind::open)
			i = closing(i);
		if (i + 1 >= t.size() || is(i + 1, ",") || is(i + 1, ";"))
			return i;
	}
}

/* Whether what stands here makes a declaration one of something else than variables that can be written. */
bool exporter::no_variable(size_t i) const
{
	static const char *const words[] = {"typedef", "using",      "const",  "constexpr", "template", "*",
					    "&",       "__global__", "friend", "(",	    "operator"};

	for (const char *w : words) {
		if (is(i, w))
			return true;
	}
	return t[i].kind == token_kind::close;
}

/* The declaration with __gm__ at i may be one of variables in global memory. */
void exporter::find_variables(size_t i)
{
	std::vector<size_t> names;
	size_t name = none;
	bool declared = false; /* only: extern, without an initialiser */

	while (i > 0 && (t[i - 1].kind == token_kind::identifier || is(i - 1, "\"C\"")))
		declared |= is(--i, "extern");
	if (!exported_scope(scopes) || (i > 0 && !is(i - 1, ";") && !is(i - 1, "}") && !is(i - 1, "{")))
		return;
	for (; i < t.size() && !is(i, ";"); i++) {
		if (no_variable(i))
			return;
		if (t[i].kind == token_kind::identifier)
			name = i;
		else if (is(i, ","))
			names.push_back(name);
		else if (is(i, "[") || (is(i, "{") && (is(i - 1, "struct") || is(i - 2, "struct"))))
			i = closing(i);
		else if (is(i, "=") || is(i, "{"))
			i = initializer_end(i), declared = false;
	}
	names.push_back(name);
	for (size_t n : names) {
		if (n != none && !declared && i < t.size())
			ed->insert_after(t[i], " VINCI_VARIABLE_SYMBOL(" + src.spelling(t[n]) + ")");
	}
}

void exporter::run()
{
	size_t next = 0;

	for (size_t i = 0; i < t.size(); i++) {
		for (; next < src.directives.size() && src.directives[next].at <= i; next++)
			conditional(src.directives[next]);
		if (is(i, "__global__"))
			find_kernel(i);
		else if (is(i, "__gm__"))
			find_variables(i);
		else if (is(i, "{"))
			scopes.push_back({kind_of(i), i == body ? kernel : none, groups.size(), language});
		else if (is(i, "}"))
			close(i);
	}
}

} // namespace

void export_kernels(const source &src, editor *ed, std::vector<launch_header> *headers)
{
	exporter(src, ed, headers).run();
}

} // namespace ascendc
