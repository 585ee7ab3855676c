/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - tests that need a process of their own: state of a process begins at its first call, settings are read
 * once.
 *
 * A scenario is a function that runs in a copy of the test program, started by exec; it ends with 0 or says what it
 * missed. main() is scenario_main().
 */
#ifndef VINCI_SCENARIO_H
#define VINCI_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "acl/acl.h"
#include "test_util.h"

struct scenario {
	const char *name;
	void (*run)(void);
};

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                                     \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

#define CHECK_CODE(call, wanted)                                                                                       \
	do {                                                                                                           \
		int code_ = (call);                                                                                    \
		if (code_ != (wanted)) {                                                                               \
			const char *text_ = aclGetRecentErrMsg();                                                      \
			fprintf(stderr, "%s:%d: %s: %d instead of %d: %s\n", __FILE__, __LINE__, #call, code_,         \
				(int)(wanted), text_ ? text_ : "");                                                    \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

/* The call fails with @wanted and the thread's text holds @word. */
#define CHECK_SAYS(call, wanted, word)                                                                                 \
	do {                                                                                                           \
		const char *said_;                                                                                     \
		(void)aclGetRecentErrMsg();                                                                            \
		CHECK_CODE(call, wanted);                                                                              \
		said_ = aclGetRecentErrMsg();                                                                          \
		if (!said_ || !strstr(said_, word)) {                                                                  \
			fprintf(stderr, "%s:%d: \"%s\" is not in: %s\n", __FILE__, __LINE__, word,                     \
				said_ ? said_ : "");                                                                   \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

/* Runs it in a fresh process; fails the test unless it ends with 0 in time. */
static inline void run_scenario_with(const char *name, const char *const env[])
{
	const char *const args[] = { "scenario", name, NULL };
	struct t_peer peer;
	int r;

	assert_true(t_spawn(&peer, args, env));
	r = t_wait(&peer, 60000);
	if (r)
		fail_msg("scenario %s ended with %d", name, r);
}

static inline void run_scenario(const char *name)
{
	run_scenario_with(name, NULL);
}

/* In main(): does not return when this process is a scenario's. */
static inline void scenario_main(int argc, char **argv, const struct scenario *list, size_t count)
{
	if (argc != 3 || strcmp(argv[1], "scenario"))
		return;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, argv[2])) {
			list[i].run();
			exit(0);
		}
	fprintf(stderr, "there is no scenario %s\n", argv[2]);
	exit(2);
}

#endif
