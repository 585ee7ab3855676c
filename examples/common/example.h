/* SPDX-License-Identifier: MIT */
/*
 * What the examples share and what is not AscendCL: checked calls, lines that say who speaks, and a mailbox between
 * processes. A program that uses AscendCL needs none of it.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

#define EXAMPLE_VALUE 123
#define EXAMPLE_KEY 65			/* an IPC key: 64 characters and a NUL */
#define EXAMPLE_TIMEOUT_MS 20000	/* for everything that waits for another process */

/* Ends the program, with the library's own explanation, if a call fails. */
#define CHECK(call) example_check((call), #call, __FILE__, __LINE__)
/* For a call that has to be refused with @code: shows the explanation, and ends the program if it is not. */
#define REFUSED(code, call) example_refused((code), (call), #call, __FILE__, __LINE__)

/* First thing in main(): @name ("A", "B", ...) begins every line that the process prints. */
void example_begin(const char *name);
/* Prints one line, whole, even if several processes print at once. */
void example_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the line and ends the program. */
void example_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

void example_check(aclError code, const char *call, const char *file, int line);
void example_refused(aclError wanted, aclError code, const char *call, const char *file, int line);
/* The pending sentences of the library, one line each. */
void example_explain(void);

/*
 * The mailbox to one other process: two FIFOs, which run.sh made in @directory, named "A-B" and "B-A" after their
 * ends. AscendCL does not care how keys, handles and PIDs travel.
 */
struct example_peer {
	const char *name;
	int in, out;
};

void example_meet(struct example_peer *peer, const char *directory, const char *name);
/* Messages have a fixed size that both sides know, at most 4096 bytes. Both end the program when time is over. */
void example_send(const struct example_peer *peer, const void *message, size_t size);
void example_receive(const struct example_peer *peer, void *message, size_t size);
/* A message without content: "I have come this far." */
void example_signal(const struct example_peer *peer);
void example_await(const struct example_peer *peer);

#endif
