/* SPDX-License-Identifier: MIT */
/*
 * fault.c - signals that the processor raises inside of kernels.
 *
 * One handler for five signals looks whether its thread is inside a guard. If so it jumps out of the kernel; if not, or if the
 * signal was sent by somebody, it does what the handler before it would have done. The pointer to the innermost guard is in the
 * initial TLS block, since a handler cannot wait for memory for it.
 *
 * The mask stays as it is while the handler runs (SA_NODEFER), so that jumping out needs no system call and guards can do without one.
 */
#include "rts/fault.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIGNALS 5
#define STACK_MIN (64 * 1024)

static const int signals[SIGNALS] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

struct guard {
	sigjmp_buf env;
	struct guard *outer;
	struct fault *fault;
};

static _Thread_local struct guard *innermost __attribute__((tls_model("initial-exec")));

enum mask_state { MASK_UNKNOWN, MASK_OPEN, MASK_BLOCKS };

static _Thread_local enum mask_state mask_state;

static struct sigaction before[SIGNALS]; /* written by fault_start() before its handlers can run */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool started;

/* --- what the application would have seen ----------------------------------------------------- */

/* Back to how it was; the instruction faults again, or the signal comes again, and now it counts. */
static void default_action(int sig, const siginfo_t *info)
{
	struct sigaction act = { .sa_handler = SIG_DFL };

	sigaction(sig, &act, NULL);
	if (info->si_code <= 0)
		raise(sig);
}

static void call_handler(const struct sigaction *act, int sig, siginfo_t *info, void *context)
{
	sigset_t old, mask = act->sa_mask;

	if (!(act->sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	pthread_sigmask(SIG_BLOCK, &mask, &old);
	if (act->sa_flags & SA_SIGINFO)
		act->sa_sigaction(sig, info, context);
	else
		act->sa_handler(sig);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void chain(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *act = &before[0];

	for (unsigned i = 0; i < SIGNALS; i++)
		if (signals[i] == sig)
			act = &before[i];
	if (act->sa_flags & SA_SIGINFO || (act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN))
		call_handler(act, sig, info, context);
	else if (act->sa_handler == SIG_DFL || info->si_code > 0) /* the processor's cannot be ignored */
		default_action(sig, info);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct guard *guard = innermost;
	int kept = errno;

	/* Positive codes are the kernel's: raised by the instruction, not sent. */
	if (guard && info->si_code > 0) {
		guard->fault->signal = sig;
		guard->fault->address = info->si_addr;
		siglongjmp(guard->env, 1);
	}
	chain(sig, info, context);
	errno = kept;
}

static void take_over(void)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigemptyset(&act.sa_mask);
	for (unsigned i = 0; i < SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		sigaction(signals[i], &act, NULL);
	}
	atomic_store_explicit(&started, true, memory_order_release);
}

void fault_start(void)
{
	if (!atomic_load_explicit(&started, memory_order_acquire))
		pthread_once(&once, take_over);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void signals_fill(sigset_t *set)
{
	sigemptyset(set);
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaddset(set, signals[i]);
}

/* The thread lasts as long as the process, and so does the stack. Without one an overflow ends the process. */
static void give_stack(void)
{
	long wanted = sysconf(_SC_SIGSTKSZ);
	stack_t stack = { .ss_size = wanted > STACK_MIN ? (size_t)wanted : STACK_MIN };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp != MAP_FAILED && sigaltstack(&stack, NULL))
		munmap(stack.ss_sp, stack.ss_size);
}

void fault_thread_start(void)
{
	sigset_t set;

	signals_fill(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	mask_state = MASK_OPEN;
	give_stack();
}

/* Whether an application's thread blocks any of them: a fault would end the process. Looked up once a thread. */
static enum mask_state mask_look(void)
{
	sigset_t now;

	if (mask_state == MASK_UNKNOWN) {
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		mask_state = MASK_OPEN;
		for (unsigned i = 0; i < SIGNALS; i++)
			if (sigismember(&now, signals[i]))
				mask_state = MASK_BLOCKS;
	}
	return mask_state;
}

/* --- guards ----------------------------------------------------------------------------------- */

static bool guard_call(void (*fn)(void *arg), void *arg, struct fault *fault)
{
	struct guard guard = { .outer = innermost, .fault = fault };

	if (sigsetjmp(guard.env, 0)) {
		innermost = guard.outer;
		return false;
	}
	innermost = &guard;
	atomic_signal_fence(memory_order_seq_cst);
	fn(arg);
	atomic_signal_fence(memory_order_seq_cst);
	innermost = guard.outer;
	return true;
}

bool fault_guard(void (*fn)(void *arg), void *arg, struct fault *fault)
{
	sigset_t set, old;
	bool well;

	if (mask_look() == MASK_OPEN)
		return guard_call(fn, arg, fault);
	signals_fill(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, &old);
	well = guard_call(fn, arg, fault);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return well;
}

const char *fault_name(const struct fault *fault)
{
	switch (fault->signal) {
	case SIGSEGV:
		return "touched an address where nothing is mapped, or that it may not write";
	case SIGBUS:
		return "touched an address behind which there is no memory";
	case SIGILL:
	case SIGTRAP:
		return "trapped";
	default:
		return "divided by zero";
	}
}
