/* SPDX-License-Identifier: MIT */
/*
 * AscendC to C++. The text is edited in place and every newline stays where it is, so that one #line in front makes
 * the compiler speak of the user's lines:
 *
 *	k<T><<<dim, l2ctrl, stream>>>(args)   ->  (VINCI_LAUNCH(k<T>)(dim, l2ctrl, stream))(args)
 *	asm("trap")                           ->  __builtin_trap()
 *	extern "C" __global__ ... void k(...) {...}   gets VINCI_KERNEL_EXPORT(k) and aclrtlaunch_k() behind it
 *	__global__ ... void k(...) {...}              gets VINCI_KERNEL_SYMBOL(k) behind it
 *	__gm__ T v;                                   gets VINCI_VARIABLE_SYMBOL(v) behind it
 */
#ifndef VINCI_ASCENDC_TRANSLATE_H
#define VINCI_ASCENDC_TRANSLATE_H

#include <string>
#include <vector>

#include "lexer.h"

namespace ascendc {

/* Replaces text[begin, end), in offsets of source::text. */
struct edit {
	size_t begin;
	size_t end;
	std::string text;
};

/* Edits and errors of one source, in any order. */
class editor {
public:
	explicit editor(const source &src) : src(src)
	{
	}

	/* Replaces tokens' characters only: line splices within them stay. */
	void replace(size_t begin, size_t end, const std::string &text);
	void insert_before(const token &t, const std::string &text);
	void insert_after(const token &t, const std::string &text);
	/* Within an #if the compiler says it instead, if it comes there: other dialects have a <<<>>> as well. */
	void error(const token &t, const std::string &text);
	std::string apply();

	std::vector<diagnostic> errors;

private:
	const source &src;
	std::vector<edit> edits;
};

/* launch.cpp: one run of tokens, the code or the body of one #define (which may be cut anywhere). */
void translate_launches(const source &src, const token_list &tokens, bool in_macro, editor *ed);
/* trap.cpp */
void translate_traps(const source &src, const token_list &tokens, editor *ed);

/* aclrtlaunch_<kernel>.h, as CANN's build makes it for the host */
struct launch_header {
	std::string kernel;
	std::string text;
};

/* exports.cpp */
void export_kernels(const source &src, editor *ed, std::vector<launch_header> *headers);
/* stubs.cpp: the definition of aclrtlaunch_<kernel>(), on one line, for the kernel that is named at code[name]; its
 * header is appended. Empty if its parameters are beyond what is understood. */
std::string launch_function(const source &src, size_t name, std::vector<launch_header> *headers);

struct translation {
	std::string text; /* empty if there are errors */
	std::vector<launch_header> headers;
	std::vector<diagnostic> errors;
};

/* file is the name that the compiler shall use for the source. */
translation translate(std::string text, const std::string &file);

} // namespace ascendc

#endif /* VINCI_ASCENDC_TRANSLATE_H */
