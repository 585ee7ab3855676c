/* SPDX-License-Identifier: MIT */
/*
 * halt.h - ending kernels from outside: those that run longer than they may, and those of streams that are stopped.
 *
 * A thread that runs a kernel has a *seat*, in which others read what it is doing. Whoever wants the kernel to end
 * leaves a request there and sends the thread a signal, whose handler (fault.c) leaves the kernel as it would after a
 * fault, but only if it interrupted code of the object that the kernel is from: then no lock of libc or of this library
 * is held. Elsewhere the request has no effect, and is made again a moment later. So a kernel that sleeps in a system
 * call for ever is not ended.
 */
#ifndef VINCI_RTS_HALT_H
#define VINCI_RTS_HALT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct rts_stream;

/* What a thread is doing. */
struct halt_work {
	const struct rts_stream *stream; /* only compared; NULL: nothing */
	uint64_t task; /* tasks that the stream had completed before */
	uintptr_t code;			 /* an address in the kernel */
	uint64_t deadline;		 /* U_FOREVER: none */
	uint32_t device;
};

/* This thread begins @work; what it did before is left in *outer, for halt_leave(). Guards nest. */
void halt_enter(const struct halt_work *work, struct halt_work *outer);
void halt_leave(const struct halt_work *outer);

/*
 * One that programs hardly use: SIGRTMAX - 6. ThreadSanitizer holds back all but those that an instruction can raise
 * until the kernel calls libc.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HALT_SIGNAL SIGILL
#endif
#elif defined(__SANITIZE_THREAD__)
#define HALT_SIGNAL SIGILL
#endif
#ifndef HALT_SIGNAL
#define HALT_SIGNAL 58
#endif
/* The handler's: is it this signal, sent by halt.c? Does the request hold for what was interrupted at @pc, and why? */
bool halt_is_request(const siginfo_t *info);
bool halt_due(uintptr_t pc, int *code);

/* Threads that run a kernel of @stream just now, of its task @task, are asked to end it with @code until they have. */
#define HALT_ANY_TASK UINT64_MAX
void halt_stream(const struct rts_stream *stream, uint64_t task, int code);
/*
 * Returns when threads that were sent signals have taken them: a handler of the program's that comes later gets none of
 * them.
 */
void halt_settle(void);
/* Makes sure that somebody looks after deadlines. 207005 */
int halt_watch_start(void);
/* Threads that run kernels of @device just now. */
unsigned halt_count(uint32_t device);

#endif
