/* SPDX-License-Identifier: MIT */
#include "translate.h"

#include <algorithm>
#include <utility>

namespace ascendc {

void editor::replace(size_t begin, size_t end, const std::string &text)
{
	edits.push_back({src.origin[begin], src.origin[begin] + 1, text});
	for (size_t i = begin + 1; i < end; i++)
		edits.push_back({src.origin[i], src.origin[i] + 1, ""});
}

void editor::insert_before(const token &t, const std::string &text)
{
	edits.push_back({src.origin[t.begin], src.origin[t.begin], text});
}

void editor::insert_after(const token &t, const std::string &text)
{
	size_t at = src.origin[t.end - 1] + 1;

	edits.push_back({at, at, text});
}

void editor::error(const token &t, const std::string &text)
{
	if (t.conditional)
		insert_before(t, " _Pragma(\"GCC error \\\"" + text + "\\\"\") ");
	else
		errors.push_back({src.line_of(t.begin), text});
}

std::string editor::apply()
{
	std::string out;
	size_t at = 0;

	/* an insertion goes before a replacement at the same place */
	std::stable_sort(edits.begin(), edits.end(), [](const edit &a, const edit &b) {
		return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
	});
	for (const edit &e : edits) {
		out.append(src.text, at, e.begin - at);
		out += e.text;
		at = e.end;
	}
	return out.append(src.text, at, std::string::npos);
}

namespace {

std::string line_directive(const std::string &file)
{
	std::string out = "#line 1 \"";

	for (char c : file) {
		if (c == '"' || c == '\\')
			out += '\\';
		out += c;
	}
	return out + "\"\n";
}

void sort_errors(std::vector<diagnostic> *errors)
{
	std::stable_sort(errors->begin(), errors->end(),
			 [](const diagnostic &a, const diagnostic &b) { return a.line < b.line; });
}

} // namespace

translation translate(std::string text, const std::string &file)
{
	translation result = {};

	/* a byte order mark is only one at the very beginning, which the #line takes */
	if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
		text.erase(0, 3);
	source src = lex(std::move(text));
	editor ed(src);

	translate_launches(src, src.code, false, &ed);
	translate_traps(src, src.code, &ed);
	for (const directive &d : src.directives) {
		if (d.name != "define")
			continue;
		translate_launches(src, d.body, true, &ed);
		translate_traps(src, d.body, &ed);
	}
	export_kernels(src, &ed, &result.headers);

	result.errors = std::move(src.errors);
	result.errors.insert(result.errors.end(), ed.errors.begin(), ed.errors.end());
	sort_errors(&result.errors);
	if (result.errors.empty())
		result.text = line_directive(file) + ed.apply();
	return result;
}

} // namespace ascendc
