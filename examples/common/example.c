/* SPDX-License-Identifier: MIT */
#include "example.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024
#define LAST_RESORT_S 100 /* a program that runs longer than this hangs */

static const char *self = "?";

void example_begin(const char *name)
{
	self = name;
	signal(SIGPIPE, SIG_IGN); /* a dead peer is an error of write() */
	alarm(LAST_RESORT_S);
}

/* One write() a line, so that lines of several processes on one output do not mix. */
static void print_line(const char *format, va_list args)
{
	char line[LINE_MAX_BYTES];
	size_t len;

	len = (size_t)snprintf(line, sizeof(line), "%s: ", self);
	vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	len = strlen(line);
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) != (ssize_t)len)
		_exit(1); /* nobody reads us any more */
}

void example_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

void example_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args);
	va_end(args);
	exit(1);
}

void example_explain(void)
{
	const char *text = aclGetRecentErrMsg(); /* NULL: nothing to say */
	int len;

	for (; text && *text; text += len + (text[len] == '\n')) {
		len = (int)strcspn(text, "\n");
		if (len > 0)
			example_say("    | %.*s", len, text);
	}
}

void example_check(aclError code, const char *call, const char *file, int line)
{
	if (code == ACL_SUCCESS)
		return;
	example_say("%s:%d: %s failed: %d", file, line, call, code);
	example_explain();
	exit(1);
}

void example_refused(aclError wanted, aclError code, const char *call, const char *file, int line)
{
	if (code != wanted)
		example_fail("%s:%d: %s gave %d instead of %d", file, line, call, code, wanted);
	/* The name of the function is enough: what it was given stands in the explanation. */
	example_say("%.*s is refused with %d:", (int)strcspn(call, "("), call, code);
	example_explain();
}

/* Milliseconds of CLOCK_MONOTONIC. */
static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int open_fifo(const char *directory, const char *from, const char *to, int flags)
{
	char path[LINE_MAX_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/%s-%s", directory, from, to);
	fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		example_fail("%s: %s (run.sh makes it)", path, strerror(errno));
	return fd;
}

void example_meet(struct example_peer *peer, const char *directory, const char *name)
{
	peer->name = name;
	/*
	 * The writing end is opened for reading too: opening does not wait for the peer then, and what is written
	 * stays until the peer has opened its end.
	 */
	peer->in = open_fifo(directory, name, self, O_RDONLY);
	peer->out = open_fifo(directory, self, name, O_RDWR);
}

void example_send(const struct example_peer *peer, const void *message, size_t size)
{
	/* All or nothing: not more than a FIFO takes at once. */
	if (write(peer->out, message, size) != (ssize_t)size)
		example_fail("cannot send %zu bytes to %s: %s", size, peer->name, strerror(errno));
}

void example_receive(const struct example_peer *peer, void *message, size_t size)
{
	struct pollfd fifo = {.fd = peer->in, .events = POLLIN};
	int64_t deadline = now_ms() + EXAMPLE_TIMEOUT_MS, left;
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		left = deadline - now_ms();
		if (left <= 0 || poll(&fifo, 1, (int)left) <= 0)
			example_fail("no message from %s within %d ms", peer->name, EXAMPLE_TIMEOUT_MS);
		n = read(peer->in, (char *)message + got, size - got);
		if (n == 0)
			example_fail("%s has gone", peer->name);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			example_fail("cannot receive from %s: %s", peer->name, strerror(errno));
		if (n > 0)
			got += (size_t)n;
	}
}

void example_signal(const struct example_peer *peer)
{
	example_send(peer, "!", 1);
}

void example_await(const struct example_peer *peer)
{
	char mark;

	example_receive(peer, &mark, 1);
}
