/* SPDX-License-Identifier: MIT */
/* call_line.h - the line that VINCI_LOG=debug prints for a call: aclrtMalloc(&0x7f0e40000000, 1024, 0) = 0, 21.048 us */
#ifndef VINCI_ACL_CALL_LINE_H
#define VINCI_ACL_CALL_LINE_H

#include <stddef.h>
#include <stdint.h>

enum call_kind {
	CALL_NOTHING, /* the result of a function without one */
	CALL_STRUCT,
	CALL_SIGNED,
	CALL_UNSIGNED,
	CALL_FLOAT,
	CALL_ADDRESS,
	CALL_TEXT,    /* const char *: a string, or nothing that can be read */
	CALL_TEXT_OUT /* char *: a string once the call has succeeded */
};
#define CALL_TO 0x10 /* a pointer to one of these: shown as & and what is there once the call has succeeded */

struct call_type {
	uint8_t kind, size; /* bytes of the value; with CALL_TO of what it points to */
};

/* Only what C knows of a type; that an argument is of an enumeration, or a handle, it does not. */
#define CALL_KIND(type)                                                                                             \
	_Generic(*(type *)0,                                                                                        \
		int8_t: CALL_SIGNED, int16_t: CALL_SIGNED, int32_t: CALL_SIGNED, int64_t: CALL_SIGNED,              \
		uint8_t: CALL_UNSIGNED, uint16_t: CALL_UNSIGNED, uint32_t: CALL_UNSIGNED, uint64_t: CALL_UNSIGNED,  \
		float: CALL_FLOAT, const char *: CALL_TEXT, char *: CALL_TEXT_OUT,                                  \
		int32_t *: CALL_TO | CALL_SIGNED, int64_t *: CALL_TO | CALL_SIGNED,                                 \
		uint32_t *: CALL_TO | CALL_UNSIGNED, uint64_t *: CALL_TO | CALL_UNSIGNED,                           \
		float *: CALL_TO | CALL_FLOAT, void **: CALL_TO | CALL_ADDRESS,                                     \
		const void **: CALL_TO | CALL_ADDRESS,                                                              \
		default: __builtin_classify_type(*(type *)0) == 5 ? CALL_ADDRESS : CALL_STRUCT)
#define CALL_SIZE(type)                                                                                             \
	_Generic(*(type *)0, int32_t *: 4, uint32_t *: 4, float *: 4, int64_t *: 8, uint64_t *: 8, void **: 8,      \
		 const void **: 8, default: sizeof(type))

/* Waits where the process is locked for a snapshot. */
void call_hold(const char *name) __attribute__((cold));
/* The code of a function that the running product lacks, after a sentence; 0: it has it. Of IPV350 only. */
int call_refusal(const char *name) __attribute__((cold));
/* The call's beginning, for call_end(); 0: nobody wants the line. */
uint64_t call_begin(void) __attribute__((cold));
/* Prints the line: @count types and where the values are, the result first. Keeps errno. */
void call_end(uint64_t begun, const char *name, const struct call_type *types, const void *const *values, size_t count)
	__attribute__((cold));

#endif
