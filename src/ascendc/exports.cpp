/* SPDX-License-Identifier: MIT */
/*
 * Makes extern "C" kernels findable by name. The export goes behind the kernel's body, into the same scope and the
 * same #if group, so bodies have to be followed to their end through directives: a group without #else is taken to
 * change nothing (but for the usual `#ifdef __cplusplus`), one with #else to do what its first branch does. Where
 * that guess is wrong a kernel goes unexported; nothing else depends on it.
 */
#include "translate.h"

#include <utility>

namespace ascendc {

namespace {

constexpr size_t none = static_cast<size_t>(-1);

enum class scope_kind { other, transparent, linkage_c };

struct scope {
	scope_kind kind;
	size_t kernel; /* index of the name of the kernel whose body this is, or none */
	size_t groups; /* how many groups the scope's beginning is in */
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
	exporter(const source &src, editor *ed) : src(src), t(src.code), ed(ed)
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
	bool has_c_linkage(size_t i) const;
	bool may_name(size_t i) const;
	scope_kind kind_of(size_t brace) const;
	void close(size_t i);

	const source &src;
	const token_list &t;
	editor *ed;
	scope_stack scopes;
	std::vector<group> groups;
	size_t body = none;   /* index of the '{' of a kernel seen ahead */
	size_t kernel = none; /* and of its name */
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

/* Whether the declaration with __global__ at i is extern "C" and not static. */
bool exporter::has_c_linkage(size_t i) const
{
	bool linkage = !scopes.empty() && scopes.back().kind == scope_kind::linkage_c;

	for (; i > 0 && (t[i - 1].kind == token_kind::identifier || is(i - 1, "\"C\"")); i--) {
		if (is(i - 1, "static"))
			return false;
		if (is(i - 1, "\"C\"") && i > 1 && is(i - 2, "extern"))
			linkage = true;
	}
	return linkage && (i == 0 || t[i - 1].kind != token_kind::greater);
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

	if (!exported_scope(scopes) || !has_c_linkage(i))
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
	if (ended.kernel != none && ended.groups == groups.size())
		ed->insert_after(t[i], " VINCI_KERNEL_EXPORT(" + src.spelling(t[ended.kernel]) + ")");
}

void exporter::run()
{
	size_t next = 0;

	for (size_t i = 0; i < t.size(); i++) {
		for (; next < src.directives.size() && src.directives[next].at <= i; next++)
			conditional(src.directives[next]);
		if (is(i, "__global__"))
			find_kernel(i);
		else if (is(i, "{"))
			scopes.push_back({kind_of(i), i == body ? kernel : none, groups.size()});
		else if (is(i, "}"))
			close(i);
	}
}

} // namespace

void export_kernels(const source &src, editor *ed)
{
	exporter(src, ed).run();
}

} // namespace ascendc
