/* SPDX-License-Identifier: MIT */
/* layout.c - the ABI tables against our headers, as a C compiler sees them. A difference does not compile. */
#include "public_headers.h"

/* The headers mark deprecated names; the tables cover them all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wpedantic"

#define SAME(a, b) __builtin_types_compatible_p(a, b)

#define ABI_ENUM(type, size, negative) \
	_Static_assert(sizeof(type) == (size) && ((type)-1 < (type)1) == (negative), #type ": size or sign");
#define ABI_STRUCT(type, size, align) \
	_Static_assert(sizeof(type) == (size) && _Alignof(type) == (align), #type ": size or alignment");
#define ABI_FIELD(type, field, offset, field_type)                                           \
	_Static_assert(offsetof(type, field) == (offset), #type "." #field ": offset");      \
	_Static_assert(SAME(__typeof__(((type *)0)->field), field_type), #type "." #field ": type");
#define ABI_FIELD_SIZE(type, field, offset, size)                                            \
	_Static_assert(offsetof(type, field) == (offset), #type "." #field ": offset");      \
	_Static_assert(sizeof(((type *)0)->field) == (size), #type "." #field ": size");
#define ABI_TAG(type, tag) _Static_assert(SAME(type *, tag *), #type ": tag");
#define ABI_ALIAS(type, ...) _Static_assert(SAME(type, __VA_ARGS__), #type ": type");
#include "types.def"

/* Enumerators are int in C; layout.cpp checks which enumeration they belong to. */
#define ABI_ENUMERATOR(type, name, value) _Static_assert((name) == (value), #name ": value");
#define ABI_MACRO(type, name, value)                                                         \
	_Static_assert((long long)(name) == (value), #name ": value");                       \
	_Static_assert(SAME(__typeof__(name), type), #name ": type");
#define ABI_OBJECT(type, name, value) _Static_assert(SAME(__typeof__(name), const type), #name ": type");
#include "values_base.def"
#include "values_codes.def"
#include "values_rt.def"
#include "values_tools.def"

#define ABI_FUNCTION(name, result, ...) \
	_Static_assert(SAME(__typeof__(name), __typeof__(result(__VA_ARGS__))), #name ": signature");
#include "../../src/acl/functions.def"
#include "functions_tools.def"
