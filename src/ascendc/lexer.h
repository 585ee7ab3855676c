/* SPDX-License-Identifier: MIT */
/*
 * A C++ source as tokens: enough of translation phases 1 to 4 to tell code from comments, literals and directives.
 * Nothing is expanded or evaluated, and what only a compiler can judge is left to it.
 */
#ifndef VINCI_ASCENDC_LEXER_H
#define VINCI_ASCENDC_LEXER_H

#include <cstddef>
#include <string>
#include <vector>

namespace ascendc {

enum class token_kind {
	identifier,
	number,
	literal, /* string or character, with its prefix */
	open,    /* ( [ { */
	close,   /* ) ] } */
	less,    /* a run of '<' of any length, with no '=' behind it */
	greater, /* a run of '>', likewise; not that of "->" */
	punct,   /* anything else; "::", "->", "##" and operators with '=' are one token */
};

/* Offsets into source::logical. */
struct token {
	token_kind kind;
	bool conditional; /* within an #if: the compiler may never see it */
	size_t begin;
	size_t end;

	size_t length() const
	{
		return end - begin;
	}
};

using token_list = std::vector<token>;

/* A preprocessor line. */
struct directive {
	size_t at;        /* it stands before code[at] */
	std::string name; /* "define", "if", ... or empty */
	token_list body;  /* tokens behind the name; of a define, behind the macro's name and parameters */
};

struct diagnostic {
	size_t line;
	std::string text;
};

struct source {
	std::string text;           /* as read */
	std::string logical;        /* text without line splices */
	std::vector<size_t> origin; /* for each character of logical, and its end: the offset in text */
	token_list code;            /* outside directives, without `#if 0` groups */
	std::vector<directive> directives;
	std::vector<diagnostic> errors;

	std::string spelling(const token &t) const
	{
		return logical.substr(t.begin, t.length());
	}

	bool is(const token &t, const char *spelling) const
	{
		return logical.compare(t.begin, t.length(), spelling) == 0;
	}

	size_t line_of(size_t logical_offset) const;
};

/* Never fails: errors are in the result. */
source lex(std::string text);

} // namespace ascendc

#endif /* VINCI_ASCENDC_LEXER_H */
