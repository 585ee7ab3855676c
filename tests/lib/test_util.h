/* SPDX-License-Identifier: MIT */
/*
 * test_util.h - what tests with several processes need: peers started by exec, lines with deadlines, leak counts.
 *
 * A test program starts itself again as a peer. The two talk in lines: the peer's stdin and stdout are pipes to the
 * test. Every wait has a deadline; nothing sleeps. A false or negative result means "not in time" or "gone": tests
 * assert on it.
 *
 * VINCI_TEST_CASE and VINCI_TEST_SKIP (patterns of * and ?) choose among a program's cases.
 */
#ifndef VINCI_TEST_UTIL_H
#define VINCI_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define T_LINE_MAX 1024
#define T_PEER_ARGS_MAX 30

/* Built with a sanitizer: gcc defines a macro, clang has a feature. */
#if defined(__has_feature)
#define T_HAS_FEATURE(x) __has_feature(x)
#else
#define T_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || T_HAS_FEATURE(thread_sanitizer)
#define T_TSAN 1
#else
#define T_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || T_HAS_FEATURE(address_sanitizer)
#define T_ASAN 1
#else
#define T_ASAN 0
#endif
#define T_SANITIZED (T_ASAN || T_TSAN)

struct t_peer {
	pid_t pid;    /* 0: none */
	int to, from; /* its stdin and stdout; -1: closed */
	size_t len;   /* bytes read from it that are not handed out yet */
	char buf[4 * T_LINE_MAX];
};

uint64_t t_now_ms(void); /* monotonic */

/*
 * Starts this very program (/proc/self/exe) with @args (NULL-terminated, without argv[0]). @env: NULL or "NAME=value"
 * strings, NULL-terminated, on top of this process's environment.
 */
bool t_spawn(struct t_peer *peer, const char *const args[], const char *const env[]);
/* One line without its newline; false: deadline, end of file, or longer than @size - 1. */
bool t_read_line(struct t_peer *peer, char *line, size_t size, int timeout_ms);
/* Reads a line and compares it whole; prints what came instead. */
bool t_expect(struct t_peer *peer, const char *wanted, int timeout_ms);
bool t_write_line(struct t_peer *peer, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Closes the peer's pipes and waits for its end: exit status, 128 + signal, or -1 after @timeout_ms (it is then
 * killed). */
int t_wait(struct t_peer *peer, int timeout_ms);
/* SIGKILL, then reaps it. */
void t_kill(struct t_peer *peer);
/* As t_wait() for any child. */
int t_wait_pid(pid_t pid, int timeout_ms);

/* The peer's side. */
bool t_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool t_hear(char *line, size_t size, int timeout_ms);

/*
 * For programs that become another user, first in main(): if not everybody can enter the directories above this program (a build
 * tree in root's home), runs a copy of it, of bin and of lib64 from below /tmp instead and exits as that does.
 */
void t_be_reachable(char *const argv[]);

/* Names in a directory; 0 when it cannot be read. */
unsigned t_count_dir(const char *path);
/* Counts of this process, for comparing before and after. */
unsigned t_count_fds(void);
unsigned t_count_maps(void);
/* Without ranges that are only kept from other uses (no access, nothing behind them). */
unsigned t_count_backed_maps(void);
unsigned t_count_threads(void);
/* Names in /dev/shm. */
unsigned t_count_shm(void);
/* Resident set in KiB. */
unsigned long t_rss_kib(void);
/* Polls @done(arg) until it is true; the pauses are waits for a timer that grows from 50 us to 10 ms. */
bool t_until(bool (*done)(void *arg), void *arg, int timeout_ms);

#endif
