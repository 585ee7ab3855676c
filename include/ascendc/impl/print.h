/* SPDX-License-Identifier: MIT */
/*
 * AscendC::printf. Blocks print in parallel, so output goes out in whole lines: each call hands the lines it has
 * completed to one fwrite() and flushes, which keeps the order with the program's own stdio, survives _exit() and a
 * kill, and lets `app | tee log` show them at once. The end of an unfinished line waits in the thread's buffer for
 * the rest or for the end of the block.
 *
 * As on the device an argument knows its own type: the conversion only says how to show it, the length modifiers
 * can narrow it, and one that does not fit its argument, or has none, is printed as it stands. Nothing is written
 * through %n.
 */
#ifndef VINCI_ASCENDC_PRINT_H
#define VINCI_ASCENDC_PRINT_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "block.h"
#include "vinci/kernel.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

/* Trivial, so that reaching it costs no guard; its memory goes with the end of the block. */
struct line_printer {
	char *data;
	size_t len;
	size_t cap;

	bool reserve(size_t more)
	{
		size_t want = len + more;
		char *bigger;

		if (want <= cap)
			return true;
		want = want < 256 ? 256 : want * 2;
		bigger = static_cast<char *>(std::realloc(data, want));
		if (!bigger)
			return false;
		data = bigger;
		cap = want;
		return true;
	}

	/* A kernel has no way to hear of a write error (stdout closed, disk full), nor has it one on the device. */
	static void write(const char *text, size_t n)
	{
		(void)std::fwrite(text, 1, n, stdout);
		(void)std::fflush(stdout);
	}

	void flush(size_t n)
	{
		if (n == 0)
			return;
		write(data, n);
		len -= n;
		std::memmove(data, data + n, len);
	}

	/* Out of memory costs the line its atomicity rather than its text. */
	void append(const char *text, size_t n)
	{
		if (n == 0)
			return;
		if (!reserve(n)) {
			flush(len);
			write(text, n);
			return;
		}
		std::memcpy(data + len, text, n);
		len += n;
	}

	template <typename T> void append_value(const char *spec, T value)
	{
		int n = std::snprintf(nullptr, 0, spec, value);

		if (n <= 0 || !reserve(static_cast<size_t>(n) + 1))
			return;
		(void)std::snprintf(data + len, static_cast<size_t>(n) + 1, spec, value);
		len += static_cast<size_t>(n);
	}

	void flush_lines()
	{
		size_t n = len;

		while (n > 0 && data[n - 1] != '\n')
			n--;
		flush(n);
	}

	void finish()
	{
		if (!data)
			return;
		flush(len);
		std::free(data);
		data = nullptr;
		cap = 0;
	}
};

inline thread_local line_printer printer = {nullptr, 0, 0};

enum class print_kind { integer, real, text, address };

struct print_arg {
	print_kind kind;
	unsigned size; /* of an integer, in bytes */
	int64_t integer;
	double real;
	const void *address;
};

template <typename T> print_arg make_print_arg(T value)
{
	print_arg arg = {print_kind::integer, sizeof(int64_t), 0, 0.0, nullptr};

	if constexpr (std::is_null_pointer_v<T>) {
		arg.kind = print_kind::address;
	} else if constexpr (std::is_pointer_v<T>) {
		using target = std::remove_cv_t<std::remove_pointer_t<T>>;
		arg.kind = std::is_same_v<target, char> ? print_kind::text : print_kind::address;
		arg.address = reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(value));
	} else if constexpr (std::is_floating_point_v<T> || (std::is_class_v<T> && std::is_convertible_v<T, float>)) {
		arg.kind = print_kind::real;
		arg.real = static_cast<double>(static_cast<std::conditional_t<std::is_class_v<T>, float, T>>(value));
	} else {
		static_assert(std::is_integral_v<T> || std::is_enum_v<T>,
			      "AscendC::printf takes numbers, enumerators and pointers");
		arg.size = sizeof(T);
		arg.integer = static_cast<int64_t>(value);
	}
	return arg;
}

/* One conversion of a format. The numbers of width and precision are bounded: a slip must not print gigabytes. */
struct print_spec {
	static constexpr int number_max = 4096;

	char flags[8];
	int width;     /* -1: none */
	int precision; /* -1: none */
	unsigned size; /* bytes that the length modifier asks for */
	char conversion;

	void build(char *out, size_t size_of_out, const char *length) const
	{
		char w[16] = "";
		char p[16] = "";

		if (width >= 0)
			(void)std::snprintf(w, sizeof(w), "%d", width);
		if (precision >= 0)
			(void)std::snprintf(p, sizeof(p), ".%d", precision);
		(void)std::snprintf(out, size_of_out, "%%%s%s%s%s%c", flags, w, p, length, conversion);
	}

	void add_flag(char c)
	{
		size_t n = std::strlen(flags);

		if (!std::strchr(flags, c) && n + 1 < sizeof(flags))
			flags[n] = c;
	}
};

/* The arguments of one call, taken one by one. */
struct print_args {
	const print_arg *next;
	const print_arg *end;

	const print_arg *take()
	{
		return next < end ? next++ : nullptr;
	}
};

inline int print_number(const char **at, print_args *args)
{
	const print_arg *arg;
	int n = 0;

	if (**at != '*') {
		for (; **at >= '0' && **at <= '9'; (*at)++)
			n = n > print_spec::number_max ? n : n * 10 + (**at - '0');
		return n > print_spec::number_max ? print_spec::number_max : n;
	}
	(*at)++;
	arg = args->take();
	if (!arg || arg->kind != print_kind::integer)
		return 0;
	if (arg->integer > print_spec::number_max)
		return print_spec::number_max;
	return arg->integer < -print_spec::number_max ? -print_spec::number_max : static_cast<int>(arg->integer);
}

inline unsigned print_length(const char **at)
{
	unsigned size = sizeof(int64_t);

	for (; **at && std::strchr("hljztLq", **at); (*at)++) {
		if (**at == 'h')
			size = size == 2 ? 1 : 2;
	}
	return size;
}

/* Reads what follows a '%'; leaves *at behind the conversion. */
inline print_spec read_spec(const char **at, print_args *args)
{
	print_spec spec = {"", -1, -1, sizeof(int64_t), '\0'};

	for (; **at && std::strchr("-+ #0", **at); (*at)++)
		spec.add_flag(**at);
	if (**at == '*' || (**at >= '1' && **at <= '9'))
		spec.width = print_number(at, args);
	if (spec.width < -1) {
		spec.width = -spec.width;
		spec.add_flag('-');
	}
	if (**at == '.') {
		(*at)++;
		spec.precision = print_number(at, args);
	}
	spec.size = print_length(at);
	spec.conversion = **at;
	if (**at)
		(*at)++;
	return spec;
}

inline uint64_t narrow(const print_arg *arg, const print_spec *spec)
{
	unsigned size = arg->size < spec->size ? arg->size : spec->size;

	return static_cast<uint64_t>(arg->integer) << (64 - 8 * size) >> (64 - 8 * size);
}

inline int64_t sign_extend(const print_arg *arg, const print_spec *spec)
{
	unsigned size = arg->size < spec->size ? arg->size : spec->size;
	uint64_t high = static_cast<uint64_t>(arg->integer) << (64 - 8 * size);

	return static_cast<int64_t>(high) >> (64 - 8 * size);
}

inline bool print_integer(const print_spec *spec, const print_arg *arg)
{
	char text[64];

	if (arg->kind != print_kind::integer)
		return false;
	if (spec->conversion == 'c') {
		spec->build(text, sizeof(text), "");
		printer.append_value(text, static_cast<int>(arg->integer));
		return true;
	}
	spec->build(text, sizeof(text), "ll");
	if (spec->conversion == 'd' || spec->conversion == 'i')
		printer.append_value(text, static_cast<long long>(sign_extend(arg, spec)));
	else
		printer.append_value(text, static_cast<unsigned long long>(narrow(arg, spec)));
	return true;
}

inline bool print_pointer(const print_spec *spec, const print_arg *arg)
{
	char text[64];

	spec->build(text, sizeof(text), "");
	if (spec->conversion == 's') {
		if (arg->kind != print_kind::text)
			return false;
		printer.append_value(text, arg->address ? static_cast<const char *>(arg->address) : "(null)");
		return true;
	}
	if (arg->kind == print_kind::real)
		return false;
	printer.append_value(text, arg->kind == print_kind::integer
					   ? reinterpret_cast<const void *>(static_cast<uintptr_t>(arg->integer))
					   : arg->address);
	return true;
}

inline bool print_real(const print_spec *spec, const print_arg *arg)
{
	char text[64];

	if (arg->kind != print_kind::real)
		return false;
	spec->build(text, sizeof(text), "");
	printer.append_value(text, arg->real);
	return true;
}

/* False: nothing was printed, the caller shows the conversion itself. */
inline bool print_one(const print_spec *spec, print_args *args)
{
	const print_arg *arg;

	if (!spec->conversion || !std::strchr("diouxXcspfFeEgGaA", spec->conversion))
		return false;
	arg = args->take();
	if (!arg)
		return false;
	if (std::strchr("diouxXc", spec->conversion))
		return print_integer(spec, arg);
	if (std::strchr("sp", spec->conversion))
		return print_pointer(spec, arg);
	return print_real(spec, arg);
}

inline void print(const char *format, print_args args)
{
	const char *at = format ? format : "(null)";

	while (*at) {
		const char *start = at;
		size_t plain = std::strcspn(at, "%");
		print_spec spec;

		printer.append(at, plain);
		at += plain;
		if (!*at)
			break;
		start = at++;
		if (*at == '%') {
			printer.append(at++, 1);
			continue;
		}
		spec = read_spec(&at, &args);
		if (!print_one(&spec, &args))
			printer.append(start, static_cast<size_t>(at - start));
	}
	printer.flush_lines();
	if (!block_running)
		printer.finish();
}

/*
 * Whether this translation unit prints, found out by the compiler: instantiating printf instantiates printing<>,
 * whose initialiser runs before all others of the program (101 is the first priority that is not reserved). One
 * copy for each translation unit, hence the unnamed namespace.
 */
namespace {

[[maybe_unused]] uint32_t unit_flags;

struct mark_prints {
	mark_prints()
	{
		unit_flags |= VINCI_KERNEL_PRINTS;
	}
};

template <typename T> struct printing {
	static mark_prints mark;
};

template <typename T> __attribute__((init_priority(101))) mark_prints printing<T>::mark;

} // namespace
} // namespace vinci_ascendc

namespace AscendC {

template <typename... A> static inline void printf(const char *format, A... values)
{
	const ::vinci_ascendc::print_arg args[sizeof...(A) + 1] = {::vinci_ascendc::make_print_arg(values)..., {}};

	(void)&::vinci_ascendc::printing<void>::mark;
	::vinci_ascendc::print(format, {args, args + sizeof...(A)});
}

template <typename... A> static inline void PRINTF(const char *format, A... values)
{
	::AscendC::printf(format, values...);
}

} // namespace AscendC

/* The condition, a format and its values; a kernel that it ends fails. */
#define ascendc_assert(condition, ...) \
	((condition) ? static_cast<void>(0) : ::vinci_ascendc::assert_failed(__FILE__, __LINE__, #condition, ##__VA_ARGS__))

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

template <typename... A>
[[noreturn]] void assert_failed(const char *file, int line, const char *condition, const char *format = "", A... values)
{
	::AscendC::printf("[ASSERT] %s:%d: Assertion `%s' ", file, line, condition);
	::AscendC::printf(format, values...);
	::AscendC::printf("\n");
	__builtin_trap();
}

} // namespace vinci_ascendc

#pragma GCC diagnostic pop

#endif /* VINCI_ASCENDC_PRINT_H */
