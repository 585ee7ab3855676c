/* SPDX-License-Identifier: MIT */
/*
 * fault.c - signals that the processor raises inside of kernels.
 *
 * One handler for these and for halt.c's signal looks whether its thread is inside a guard. If so it jumps out of the
 * kernel; if not, or if the signal was sent by somebody, it does what the handler before it would have done. Its
 * thread-local variables are in the initial TLS block, since a handler cannot wait for memory for them.
 *
 * The mask stays as it is while the handler runs (SA_NODEFER), so that jumping out needs no system call and guards can
 * do without one.
 */
#include "rts/fault.h"
#include "rts/halt.h"
#include "util/futex.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
#define STACK_MIN (64 * 1024)

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, HALT_SIGNAL };

struct guard {
	sigjmp_buf env;
	struct guard *outer;
	struct fault *fault;
	sigset_t mask; /* of the thread when it faulted */
	struct halt_work before; /* of the thread, restored afterwards */
};

static _Thread_local struct guard *innermost __attribute__((tls_model("initial-exec")));

enum mask_state { MASK_UNKNOWN, MASK_OPEN, MASK_BLOCKS };

static _Thread_local enum mask_state mask_state;

/*
 * The handlers that were there before ours. An application may set its own after ours came, and then ours comes again
 * in front of it (fault_start). Such a handler may call, for what it does not want, the one that it replaced: ours.
 * Then it is the turn of the one before it.
 */
struct before {
	int signal;
	struct sigaction act;
	const struct before *older;
};

#define BEFORE_MAX 64

static struct before known[BEFORE_MAX];				 /* never change once they are there */
static unsigned known_count;					 /* install_lock */
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static _Atomic(const struct before *) newest[SIGNALS];

/* What this thread's handler is calling just now. It may never come back from it. */
struct calling {
	const struct before *before;
	const void *context, *frame;
};

static _Thread_local struct calling calling __attribute__((tls_model("initial-exec")));

static atomic_bool started;

static pthread_key_t stack_key;
static bool stack_key_made; /* by stack_once */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

/* --- what the application would have seen ----------------------------------------------------- */

static unsigned signal_index(int sig)
{
	unsigned i = 0;

	while (i < SIGNALS - 1 && signals[i] != sig)
		i++;
	return i;
}

static bool is_function(const struct sigaction *act)
{
	return act->sa_flags & SA_SIGINFO || (act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN);
}

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

/*
 * The handler whose turn it is. The same signal comes again, further down the stack, when the one that was called has
 * called ours; if it jumped away instead, a later signal has another context, or the same place on the stack.
 */
static const struct before *before_next(int sig, const void *context, const void *frame)
{
	if (calling.before && calling.context == context && (uintptr_t)frame < (uintptr_t)calling.frame)
		return calling.before->older;
	return atomic_load_explicit(&newest[signal_index(sig)], memory_order_acquire);
}

static void chain(int sig, siginfo_t *info, void *context)
{
	const void *frame = __builtin_frame_address(0);
	const struct before *before = before_next(sig, context, frame);
	struct calling outer = calling;

	if (before && is_function(&before->act)) {
		calling = (struct calling){ before, context, frame };
		call_handler(&before->act, sig, info, context);
		calling = outer;
	} else if (!before || before->act.sa_handler == SIG_DFL ||
		   info->si_code > 0) { /* the processor's cannot be ignored */
		default_action(sig, info);
	}
}

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)context->uc_mcontext.pc;
#endif
}

static _Noreturn void leave(struct guard *guard, const struct fault *fault, const ucontext_t *context)
{
	*guard->fault = *fault;
	guard->mask = context->uc_sigmask;
	siglongjmp(guard->env, 1);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct guard *guard = innermost;
	struct fault fault = { 0 };
	int kept = errno;

	if (halt_is_request(info)) {
		fault.address = (void *)interrupted_at(context);
		if (guard && halt_due((uintptr_t)fault.address, &fault.code))
			leave(guard, &fault, context);
		errno = kept;
		return;
	}
	/* Positive codes are the kernel's: raised by the instruction, not sent. */
	if (guard && info->si_code > 0)
		leave(guard, &(struct fault){ .signal = sig, .address = info->si_addr }, context);
	chain(sig, info, context);
	errno = kept;
}

/* --- taking over ------------------------------------------------------------------------------ */

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
	return (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO) &&
	       (a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler);
}

/* NULL: too many different ones have come. */
static const struct before *before_locked(int sig, const struct sigaction *act)
{
	const struct before *older = atomic_load(&newest[signal_index(sig)]);

	if (!is_function(act))
		older = NULL;
	for (const struct before *b = older; b; b = b->older)
		if (same_handler(&b->act, act))
			older = b->older; /* it was here: what it replaced is what it replaced then */
	for (unsigned i = 0; i < known_count; i++)
		if (known[i].signal == sig && known[i].older == older && same_handler(&known[i].act, act))
			return &known[i];
	if (known_count == BEFORE_MAX)
		return NULL;
	known[known_count] = (struct before){ .signal = sig, .act = *act, .older = older };
	return &known[known_count++];
}

static void take_over_locked(int sig)
{
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART };
	const struct before *before;
	struct sigaction now;

	sigemptyset(&act.sa_mask);
	if (sigaction(sig, NULL, &now) || same_handler(&now, &act))
		return;
	before = before_locked(sig, &now);
	if (!before)
		return;
	atomic_store_explicit(&newest[signal_index(sig)], before, memory_order_release);
	sigaction(sig, &act, NULL);
}

void fault_start(void)
{
	pthread_mutex_lock(&install_lock);
	for (unsigned i = 0; i < SIGNALS; i++)
		take_over_locked(signals[i]);
	atomic_store_explicit(&started, true, memory_order_release);
	pthread_mutex_unlock(&install_lock);
}

void fault_start_once(void)
{
	if (!atomic_load_explicit(&started, memory_order_acquire))
		fault_start();
}

/* --- threads ---------------------------------------------------------------------------------- */

static void signals_fill(sigset_t *set)
{
	sigemptyset(set);
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaddset(set, signals[i]);
}

static size_t stack_bytes(void)
{
	long wanted = sysconf(_SC_SIGSTKSZ);

	return wanted > STACK_MIN ? (size_t)wanted : STACK_MIN;
}

/* An application's thread ends: unless it has set another stack since, it has none now. */
static void stack_take_back(void *sp)
{
	stack_t now, none = { .ss_flags = SS_DISABLE };

	if (!sigaltstack(NULL, &now) && now.ss_sp == sp && sigaltstack(&none, NULL))
		return;
	munmap(sp, stack_bytes());
}

static void stack_key_make(void)
{
	stack_key_made = !pthread_key_create(&stack_key, stack_take_back);
}

/*
 * A stack for the handler, for when a kernel has used up the thread's; a thread that has one keeps it. Without one an
 * overflow ends the process.
 */
static void stack_give(void)
{
	stack_t now, stack = { .ss_size = stack_bytes() };

	pthread_once(&stack_once, stack_key_make);
	if (!stack_key_made || sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED)
		return;
	if (pthread_setspecific(stack_key, stack.ss_sp) || sigaltstack(&stack, NULL)) {
		pthread_setspecific(stack_key, NULL);
		munmap(stack.ss_sp, stack.ss_size);
	}
}

void fault_thread_start(void)
{
	sigset_t set;

	signals_fill(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	mask_state = MASK_OPEN;
	stack_give();
}

/* Whether an application's thread blocks any of them, and a fault would end the process: looked up at its first kernel.
 */
static enum mask_state mask_look(void)
{
	sigset_t now;

	if (mask_state == MASK_UNKNOWN) {
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		mask_state = MASK_OPEN;
		for (unsigned i = 0; i < SIGNALS; i++)
			if (sigismember(&now, signals[i]))
				mask_state = MASK_BLOCKS;
		stack_give();
	}
	return mask_state;
}

/* --- guards ----------------------------------------------------------------------------------- */

static bool guard_call(void (*fn)(void *arg), void *arg, const struct halt_work *work, struct fault *fault)
{
	struct guard guard = { .outer = innermost, .fault = fault };

	if (sigsetjmp(guard.env, 0)) {
		halt_leave(&guard.before);
		innermost = guard.outer;
		/* As it was already, except where handlers run under a wrapper that blocks signals (sanitizers). */
		pthread_sigmask(SIG_SETMASK, &guard.mask, NULL);
		return false;
	}
	innermost = &guard;
	atomic_signal_fence(memory_order_seq_cst);
	halt_enter(work, &guard.before);
	fn(arg);
	halt_leave(&guard.before);
	atomic_signal_fence(memory_order_seq_cst);
	innermost = guard.outer;
	return true;
}

bool fault_guard_work(void (*fn)(void *arg), void *arg, const struct halt_work *work, struct fault *fault)
{
	sigset_t set, old;
	bool well;

	if (mask_look() == MASK_OPEN)
		return guard_call(fn, arg, work, fault);
	signals_fill(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, &old);
	well = guard_call(fn, arg, work, fault);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return well;
}

bool fault_guard(void (*fn)(void *arg), void *arg, struct fault *fault)
{
	static const struct halt_work nothing = { .deadline = U_FOREVER };

	return fault_guard_work(fn, arg, &nothing, fault);
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
