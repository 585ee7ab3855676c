/* SPDX-License-Identifier: MIT */
#include "lexer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ascendc {

size_t source::line_of(size_t logical_offset) const
{
	size_t end = origin[std::min(logical_offset, logical.size())];

	return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n'));
}

namespace {

bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of UTF-8 and '$' may stand in identifiers; a wrong guess only joins what the compiler will refuse. */
bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       static_cast<unsigned char>(c) >= 0x80;
}

bool is_name(char c)
{
	return is_name_start(c) || is_digit(c);
}

bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Length of the line splice at text[at], or 0. Compilers let blanks stand behind the backslash. */
size_t splice_length(const std::string &text, size_t at)
{
	size_t i = at + 1;

	if (text[at] != '\\')
		return 0;
	while (i < text.size() && is_blank(text[i]))
		i++;
	return i < text.size() && text[i] == '\n' ? i + 1 - at : 0;
}

void join_lines(source *src)
{
	size_t i = 0;

	src->logical.reserve(src->text.size());
	src->origin.reserve(src->text.size() + 1);
	while (i < src->text.size()) {
		size_t splice = splice_length(src->text, i);

		if (splice) {
			i += splice;
			continue;
		}
		src->logical.push_back(src->text[i]);
		src->origin.push_back(i++);
	}
	src->origin.push_back(src->text.size());
}

class lexer {
public:
	explicit lexer(source *src) : src(src), s(src->logical)
	{
	}

	void run();

private:
	/* One #if...#endif being read. */
	struct group {
		bool outer_dead;
		bool dead;
	};

	char peek(size_t ahead = 0) const
	{
		return pos + ahead < s.size() ? s[pos + ahead] : '\0';
	}

	bool dead() const
	{
		return !groups.empty() && groups.back().dead;
	}

	void error(size_t at, const char *text)
	{
		src->errors.push_back({src->line_of(at), text});
	}

	bool skip_space(bool over_newlines);
	void skip_comment();
	void read_token(token_list *out);
	void read_number();
	void read_quoted();
	void read_raw_string(size_t begin);
	bool read_literal(size_t begin);
	token_kind read_punct();
	token_kind read_angles(char c);
	void read_directive();
	void skip_line();
	void skip_macro_head();
	void enter(const directive &d);

	source *src;
	const std::string &s;
	size_t pos = 0;
	bool line_start = true;
	std::vector<group> groups;
};

void lexer::skip_comment()
{
	size_t begin = pos;
	size_t end;

	if (s[pos + 1] == '/') {
		end = s.find('\n', pos);
		pos = end == std::string::npos ? s.size() : end;
		return;
	}
	end = s.find("*/", pos + 2);
	if (end == std::string::npos)
		error(begin, "comment is not closed");
	pos = end == std::string::npos ? s.size() : end + 2;
}

/* True: something was skipped. A comment does not end a line. */
bool lexer::skip_space(bool over_newlines)
{
	size_t begin = pos;

	while (pos < s.size()) {
		if (s[pos] == '\n' && over_newlines) {
			line_start = true;
			pos++;
		} else if (is_blank(s[pos])) {
			pos++;
		} else if (s[pos] == '/' && (peek(1) == '/' || peek(1) == '*')) {
			skip_comment();
		} else {
			break;
		}
	}
	return pos != begin;
}

void lexer::read_number()
{
	while (pos < s.size()) {
		if (std::strchr("eEpP", s[pos]) && (peek(1) == '+' || peek(1) == '-'))
			pos += 2;
		else if (s[pos] == '\'' && is_name(peek(1)))
			pos += 2;
		else if (is_name(s[pos]) || s[pos] == '.')
			pos++;
		else
			break;
	}
}

/* A literal without its second quote ends with the line: apostrophes are common in #error and excluded groups. */
void lexer::read_quoted()
{
	char quote = s[pos++];

	while (pos < s.size() && s[pos] != '\n') {
		if (s[pos] == '\\' && pos + 1 < s.size() && s[pos + 1] != '\n')
			pos += 2;
		else if (s[pos++] == quote)
			break;
	}
}

/* Lines are not spliced within a raw string, so this looks at the text as read. */
void lexer::read_raw_string(size_t begin)
{
	size_t from = src->origin[pos] + 1;
	size_t paren = src->text.find('(', from);
	std::string closing;
	size_t end;

	if (paren == std::string::npos || paren - from > 16) {
		read_quoted();
		return;
	}
	closing = ")" + src->text.substr(from, paren - from) + "\"";
	end = src->text.find(closing, paren);
	if (end == std::string::npos) {
		error(begin, "raw string is not closed");
		pos = s.size();
		return;
	}
	end += closing.size();
	pos = static_cast<size_t>(std::lower_bound(src->origin.begin(), src->origin.end(), end) - src->origin.begin());
}

/* At a quote; what stands in [begin, pos) is an identifier that may be the prefix of the literal. */
bool lexer::read_literal(size_t begin)
{
	static const char *const raw[] = {"R", "LR", "uR", "UR", "u8R"};
	static const char *const plain[] = {"", "L", "u", "U", "u8"};
	std::string prefix = s.substr(begin, pos - begin);

	for (const char *p : raw) {
		if (peek() == '"' && prefix == p) {
			read_raw_string(begin);
			return true;
		}
	}
	for (const char *p : plain) {
		if (prefix == p) {
			read_quoted();
			return true;
		}
	}
	return false;
}

token_kind lexer::read_angles(char c)
{
	while (peek() == c)
		pos++;
	if (peek() != '=')
		return c == '<' ? token_kind::less : token_kind::greater;
	pos++;
	if (c == '<' && peek() == '>')
		pos++;
	return token_kind::punct;
}

token_kind lexer::read_punct()
{
	char c = s[pos];

	if (c == '<' || c == '>')
		return read_angles(c);
	if (std::strchr("([{", c) && c)
		return pos++, token_kind::open;
	if (std::strchr(")]}", c) && c)
		return pos++, token_kind::close;
	if ((c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>') || (c == '#' && peek(1) == '#'))
		pos += 2;
	else
		pos++;
	return token_kind::punct;
}

void lexer::read_token(token_list *out)
{
	size_t begin = pos;
	token_kind kind;

	line_start = false;
	if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
		kind = token_kind::number;
		read_number();
	} else if (is_name_start(peek())) {
		kind = token_kind::identifier;
		while (is_name(peek()))
			pos++;
		if ((peek() == '"' || peek() == '\'') && read_literal(begin))
			kind = token_kind::literal;
	} else if (peek() == '"' || peek() == '\'') {
		kind = token_kind::literal;
		read_quoted();
	} else {
		kind = read_punct();
	}
	if (!dead())
		out->push_back({kind, !groups.empty(), begin, pos});
}

void lexer::skip_line()
{
	size_t end = s.find('\n', pos);

	pos = end == std::string::npos ? s.size() : end;
}

/* Groups that no compiler reads are left out, whatever is in them. */
void lexer::enter(const directive &d)
{
	bool is_zero = d.body.size() == 1 && src->is(d.body[0], "0");

	if (d.name == "if" || d.name == "ifdef" || d.name == "ifndef") {
		groups.push_back({dead(), dead() || (d.name == "if" && is_zero)});
	} else if (d.name == "endif") {
		if (!groups.empty())
			groups.pop_back();
	} else if (d.name == "else" || d.name.compare(0, 4, "elif") == 0) {
		if (!groups.empty())
			groups.back().dead = groups.back().outer_dead;
	}
}

/* The name of a macro and its parameters, which stand at the name without a blank. */
void lexer::skip_macro_head()
{
	while (is_name(peek()))
		pos++;
	if (peek() != '(')
		return;
	while (pos < s.size() && s[pos] != '\n' && s[pos] != ')')
		pos++;
	if (peek() == ')')
		pos++;
}

void lexer::read_directive()
{
	directive d = {src->code.size(), "", {}};
	size_t begin;

	pos++;
	skip_space(false);
	begin = pos;
	while (is_name(peek()))
		pos++;
	d.name = s.substr(begin, pos - begin);
	/* the name of a header is not made of tokens */
	if (d.name == "include" || d.name == "include_next" || d.name == "import")
		skip_line();
	skip_space(false);
	if (d.name == "define")
		skip_macro_head();
	while (skip_space(false), pos < s.size() && s[pos] != '\n')
		read_token(&d.body);
	enter(d);
	if (!dead() || !d.name.compare(0, 2, "if"))
		src->directives.push_back(std::move(d));
}

void lexer::run()
{
	while (skip_space(true), pos < s.size()) {
		if (line_start && s[pos] == '#')
			read_directive();
		else
			read_token(&src->code);
	}
}

} // namespace

source lex(std::string text)
{
	source src = {};

	src.text = std::move(text);
	join_lines(&src);
	lexer(&src).run();
	return src;
}

} // namespace ascendc
