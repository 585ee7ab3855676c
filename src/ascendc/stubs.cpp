/* SPDX-License-Identifier: MIT */
/*
 * aclrtlaunch_<kernel>(blockDim, stream, ...): how host code that does not know <<<>>> launches an extern "C" kernel,
 * by way of ACLRT_LAUNCH_KERNEL(kernel) in a header of its own. Pointers are void * there, for host compilers know no
 * address spaces, and so are structs: as in CANN's headers, the host passes where they are.
 */
#include "translate.h"

#include <initializer_list>

namespace ascendc {

namespace {

struct parameter {
	std::string type; /* in the kernel; of no interest for a pointer */
	bool pointer = false;
	bool structure = false;
};

bool is_any_of(const std::string &word, std::initializer_list<const char *> words)
{
	for (const char *w : words) {
		if (word == w)
			return true;
	}
	return false;
}

/* What can be a type, or a part of one, and never a parameter's name. */
bool is_builtin(const std::string &word)
{
	return is_any_of(word, {"bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "half",
				"size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
				"uint64_t", "uintptr_t", "intptr_t", "bfloat16_t", "GM_ADDR"});
}

/* Without knowing what is included: not a name of a number, and not one that the source itself says is another type. */
bool is_struct(const source &src, const std::string &name)
{
	if (is_builtin(name) || (name.size() > 2 && name.compare(name.size() - 2, 2, "_t") == 0))
		return false;
	for (size_t i = 1; i < src.code.size(); i++) {
		if (src.is(src.code[i], name.c_str()) &&
		    is_any_of(src.spelling(src.code[i - 1]), {"using", "enum", "typename", "class"}))
			return false;
	}
	return true;
}

/* The tokens [begin, end) between two commas; false: not a parameter that a launch can have. */
bool read_parameter(const source &src, size_t begin, size_t end, parameter *p)
{
	std::vector<std::string> words;

	for (size_t i = begin; i < end && !src.is(src.code[i], "="); i++) {
		std::string word = src.spelling(src.code[i]);

		if (word == "&" || word == "(" || word == "...")
			return false;
		p->pointer |= word == "*" || word == "[" || word == "GM_ADDR";
		if (!is_any_of(word, {"__gm__", "const", "volatile", "__restrict__", "__restrict", "struct"}))
			words.push_back(word);
	}
	if (words.empty())
		return false;
	if (p->pointer)
		return true;
	if (words.size() > 1 && !is_builtin(words.back()) && words[words.size() - 2] != "::")
		words.pop_back(); /* the name */
	p->structure = words.size() == 1 && is_struct(src, words[0]);
	for (const std::string &w : words)
		p->type += w + " ";
	return true;
}

/* The parameters between the brackets behind code[name]. */
bool read_parameters(const source &src, size_t name, std::vector<parameter> *parameters)
{
	size_t depth = 0, angles = 0, begin = name + 2;

	for (size_t i = name + 1; i < src.code.size(); i++) {
		const token &t = src.code[i];
		bool last;

		depth += t.kind == token_kind::open;
		depth -= t.kind == token_kind::close;
		if (depth == 1 && t.kind == token_kind::less)
			angles += t.length();
		if (depth == 1 && t.kind == token_kind::greater && t.length() > angles)
			return false; /* a comparison */
		if (depth == 1 && t.kind == token_kind::greater)
			angles -= t.length();
		last = depth == 0;
		if (!last && (depth > 1 || angles > 0 || !src.is(t, ",")))
			continue;
		if (last && (i == name + 2 || (i == name + 3 && src.is(src.code[name + 2], "void"))))
			return true;
		parameters->emplace_back();
		if (!read_parameter(src, begin, i, &parameters->back()))
			return false;
		begin = i + 1;
		if (last)
			return true;
	}
	return false;
}

std::string declaration(const std::string &kernel, const std::vector<parameter> &parameters, const char *stream)
{
	std::string out = "uint32_t aclrtlaunch_" + kernel + "(uint32_t blockDim, " + stream;

	for (size_t i = 0; i < parameters.size(); i++)
		out += ", " + (parameters[i].pointer || parameters[i].structure ? "void *" : parameters[i].type) + "arg" +
		       std::to_string(i);
	return out + ")";
}

std::string header(const std::string &kernel, const std::vector<parameter> &parameters)
{
	std::string guard = "HEADER_ACLRTLAUNCH_" + kernel + "_H";
	std::string out;

	out = "#ifndef " + guard + "\n#define " + guard + "\n#include <stdint.h>\n#include \"acl/acl_base.h\"\n\n"
	      "#ifndef ACLRT_LAUNCH_KERNEL\n#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func\n"
	      "#endif\n\n";
	return out + "#ifdef __cplusplus\nextern \"C\"\n#endif\n" +
	       declaration(kernel, parameters, "aclrtStream stream") + ";\n#endif\n";
}

} // namespace

std::string launch_function(const source &src, size_t name, std::vector<launch_header> *headers)
{
	std::string kernel = src.spelling(src.code[name]);
	std::vector<parameter> parameters;
	std::string out;

	if (!read_parameters(src, name, &parameters))
		return "";
	headers->push_back({kernel, header(kernel, parameters)});
	out = " extern \"C\" " + declaration(kernel, parameters, "void *stream") + " { return VINCI_LAUNCH(" + kernel +
	      ")(blockDim, nullptr, stream)(";
	for (size_t i = 0; i < parameters.size(); i++) {
		std::string arg = "arg" + std::to_string(i);

		if (parameters[i].pointer)
			arg = "::vinci_ascendc::any_pointer{" + arg + "}";
		else if (parameters[i].structure)
			arg = "*static_cast<" + parameters[i].type + "*>(" + arg + ")";
		out += (i ? ", " : "") + arg;
	}
	return out + "); }";
}

} // namespace ascendc
