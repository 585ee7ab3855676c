// SPDX-License-Identifier: MIT
// layout.cpp - the ABI tables against our headers, as a C++ compiler sees them: enumerators with their enumeration,
// qualifiers exactly, and the overloads of acl_rt_api.h.
#include <cstddef>
#include <type_traits>

#include "public_headers.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wpedantic"

template <typename A, typename B> constexpr bool same = std::is_same<A, B>::value;
template <typename T> constexpr bool negative_enum = (static_cast<typename std::underlying_type<T>::type>(-1) < 0);

#define ABI_ENUM(type, size, negative) \
	static_assert(sizeof(type) == (size) && negative_enum<type> == (negative), #type ": size or sign");
#define ABI_STRUCT(type, size, align) \
	static_assert(sizeof(type) == (size) && alignof(type) == (align), #type ": size or alignment");
#define ABI_FIELD(type, field, offset, ...)                                                  \
	static_assert(offsetof(type, field) == (offset), #type "." #field ": offset");       \
	static_assert(same<decltype(static_cast<type *>(nullptr)->field), __VA_ARGS__>, #type "." #field ": type");
#define ABI_FIELD_SIZE(type, field, offset, size)                                            \
	static_assert(offsetof(type, field) == (offset), #type "." #field ": offset");       \
	static_assert(sizeof(static_cast<type *>(nullptr)->field) == (size), #type "." #field ": size");
#define ABI_TAG(type, tag) static_assert(same<type, tag>, #type ": tag");
#define ABI_ALIAS(type, ...) static_assert(same<type, __VA_ARGS__>, #type ": type");
#include "types.def"

#define ABI_ENUMERATOR(type, name, value) \
	static_assert((name) == (value) && same<decltype(name), type>, #name ": value or type");
#define ABI_MACRO(type, name, value) \
	static_assert(static_cast<long long>(name) == (value) && same<decltype(name), type>, #name ": value or type");
#define ABI_OBJECT(type, name, value) \
	static_assert((name) == (value) && same<decltype(name), const type>, #name ": value or type");
#include "values_base.def"
#include "values_codes.def"
#include "values_rt.def"
#include "values_tools.def"

#define ABI_FUNCTION(name, result, ...) static_assert(same<decltype(name), result(__VA_ARGS__)>, #name ": signature");
#include "../../src/acl/functions.def"
#include "functions_tools.def"
