/* SPDX-License-Identifier: MIT */
/*
 * halt.c - seats, requests, and the thread that looks after deadlines.
 *
 * A seat belongs to its thread, which alone writes `work` and `turn`; odd turns are those in which it is writing.
 * Requests are written under seats.lock, `ask` last: a request holds as long as it names the seat's turn.
 */
#include "rts/halt.h"
#include "rts/fault.h"
#include "rts/module.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/futex.h"

#define RETRY_NS U_NS_PER_MS
#define SETTLE_NS U_NS_PER_S /* a thread of the program's that blocks the signal takes it later */

struct seat {
	_Atomic uint32_t turn;
	_Atomic(const struct rts_stream *) stream;
	_Atomic uint64_t task;
	_Atomic uintptr_t code;
	_Atomic uint64_t deadline;
	_Atomic uint32_t device;

	/* The request: for this turn; its reason; the code that may be left. */
	_Atomic uint32_t ask;
	_Atomic int reason;
	_Atomic uintptr_t low, high;
	atomic_bool sent; /* and not taken yet */

	pid_t tid;
	bool linked;
	struct seat *prev, *next; /* seats.lock */
};

static _Thread_local struct seat seat __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock; /* a leaf */
	struct seat *first;
	pthread_once_t once;
	pthread_key_t key; /* its destructor takes a thread's seat out of the list */
	bool key_made;
} seats = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

static struct {
	_Atomic uint32_t word; /* futex */
	_Atomic uint64_t until; /* when it looks again */
	atomic_bool started;
} watch = { .until = U_FOREVER };

static const char mark; /* its address tells our signals from others */

/* --- the thread's side ------------------------------------------------------------------------ */

static void seat_unlink(void *arg)
{
	struct seat *s = arg;

	if (rts_process_forked()) /* a thread of the parent may have held the lock */
		return;
	pthread_mutex_lock(&seats.lock);
	if (s->prev)
		s->prev->next = s->next;
	else
		seats.first = s->next;
	if (s->next)
		s->next->prev = s->prev;
	s->linked = false;
	pthread_mutex_unlock(&seats.lock);
}

static void key_make(void)
{
	seats.key_made = !pthread_key_create(&seats.key, seat_unlink);
}

/* A thread that gets no key stays unseen: its kernels cannot be ended. */
static void seat_link(struct seat *s)
{
	pthread_once(&seats.once, key_make);
	if (!seats.key_made || pthread_setspecific(seats.key, s))
		return;
	s->tid = gettid();
	s->linked = true;
	pthread_mutex_lock(&seats.lock);
	s->prev = NULL;
	s->next = seats.first;
	if (s->next)
		s->next->prev = s;
	seats.first = s;
	pthread_mutex_unlock(&seats.lock);
}

static void seat_write(struct seat *s, const struct halt_work *w)
{
	uint32_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed);

	atomic_store_explicit(&s->turn, turn + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->stream, w->stream, memory_order_relaxed);
	atomic_store_explicit(&s->task, w->task, memory_order_relaxed);
	atomic_store_explicit(&s->code, w->code, memory_order_relaxed);
	atomic_store_explicit(&s->deadline, w->deadline, memory_order_relaxed);
	atomic_store_explicit(&s->device, w->device, memory_order_relaxed);
	atomic_store_explicit(&s->turn, turn + 2, memory_order_release);
}

/* For the owner; relaxed loads are its own stores. */
static struct halt_work seat_work(const struct seat *s)
{
	return (struct halt_work){
		.stream = atomic_load_explicit(&s->stream, memory_order_relaxed),
		.task = atomic_load_explicit(&s->task, memory_order_relaxed),
		.code = atomic_load_explicit(&s->code, memory_order_relaxed),
		.deadline = atomic_load_explicit(&s->deadline, memory_order_relaxed),
		.device = atomic_load_explicit(&s->device, memory_order_relaxed),
	};
}

static void watch_wake(void)
{
	atomic_fetch_add(&watch.word, 1);
	u_futex_wake(&watch.word, 1, false);
}

void halt_enter(const struct halt_work *work, struct halt_work *outer)
{
	struct seat *s = &seat;

	if (!s->linked)
		seat_link(s);
	*outer = seat_work(s);
	seat_write(s, work);
	if (work->deadline == U_FOREVER)
		return;
	/* Either the watcher, which sets `until` before it looks at the seats, sees this one, or this sees `until`. */
	atomic_thread_fence(memory_order_seq_cst);
	if (work->deadline < atomic_load(&watch.until))
		watch_wake();
}

void halt_leave(const struct halt_work *outer)
{
	seat_write(&seat, outer);
}

bool halt_is_request(const siginfo_t *info)
{
	if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &mark)
		return false;
	atomic_store(&seat.sent, false);
	return true;
}

bool halt_due(uintptr_t pc, int *code)
{
	struct seat *s = &seat;

	if (atomic_load_explicit(&s->ask, memory_order_acquire) !=
	    atomic_load_explicit(&s->turn, memory_order_relaxed))
		return false;
	*code = atomic_load_explicit(&s->reason, memory_order_relaxed);
	return *code && pc >= atomic_load_explicit(&s->low, memory_order_relaxed) &&
	       pc < atomic_load_explicit(&s->high, memory_order_relaxed);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* False: the seat is empty, or being written. */
static bool seat_read(const struct seat *s, struct halt_work *w, uint32_t *turn)
{
	*turn = atomic_load_explicit(&s->turn, memory_order_acquire);
	*w = seat_work(s);
	atomic_thread_fence(memory_order_acquire);
	return !(*turn & 1) && w->stream && atomic_load_explicit(&s->turn, memory_order_relaxed) == *turn;
}

struct code_range {
	uintptr_t at, low, high;
};

static int range_find(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct code_range *r = arg;

	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		uintptr_t low = object->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && r->at >= low && r->at - low < p->p_memsz) {
			r->low = low;
			r->high = low + p->p_memsz;
			return 1;
		}
	}
	return 0;
}

static void signal_send(struct seat *s)
{
	siginfo_t info;

	if (atomic_exchange(&s->sent, true))
		return;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)&mark;
	if (syscall(SYS_rt_tgsigqueueinfo, info.si_pid, s->tid, HALT_SIGNAL, &info))
		atomic_store(&s->sent, false);
}

/* True: for the first time. The watcher goes on asking as long as the kernel runs. */
static bool seat_ask_locked(struct seat *s, uint32_t turn, const struct halt_work *w, int code)
{
	struct code_range range = { .at = w->code };
	bool first = atomic_load_explicit(&s->ask, memory_order_relaxed) != turn;

	if (!dl_iterate_phdr(range_find, &range))
		return false;
	atomic_store_explicit(&s->reason, code, memory_order_relaxed);
	atomic_store_explicit(&s->low, range.low, memory_order_relaxed);
	atomic_store_explicit(&s->high, range.high, memory_order_relaxed);
	atomic_store_explicit(&s->ask, turn, memory_order_release);
	signal_send(s);
	return first;
}

void halt_stream(const struct rts_stream *stream, uint64_t task, int code)
{
	struct halt_work w;
	bool first = false;
	uint32_t turn;

	fault_start(); /* a handler that the application has set since must not get the signal */
	pthread_mutex_lock(&seats.lock);
	for (struct seat *s = seats.first; s; s = s->next)
		if (seat_read(s, &w, &turn) && w.stream == stream && (task == HALT_ANY_TASK || w.task == task))
			first |= seat_ask_locked(s, turn, &w, code);
	pthread_mutex_unlock(&seats.lock);
	if (first && !halt_watch_start())
		watch_wake();
}

static bool signals_left(void)
{
	bool left = false;

	pthread_mutex_lock(&seats.lock);
	for (struct seat *s = seats.first; s; s = s->next)
		left |= atomic_load(&s->sent);
	pthread_mutex_unlock(&seats.lock);
	return left;
}

void halt_settle(void)
{
	uint64_t deadline = u_deadline(u_now_ns(), SETTLE_NS);
	_Atomic uint32_t never = 0;

	while (signals_left() && u_now_ns() < deadline)
		u_futex_wait(&never, 0, u_deadline(u_now_ns(), RETRY_NS / 10), false);
}

unsigned halt_count(uint32_t device)
{
	struct halt_work w;
	unsigned count = 0;
	uint32_t turn;

	pthread_mutex_lock(&seats.lock);
	for (struct seat *s = seats.first; s; s = s->next)
		count += seat_read(s, &w, &turn) && w.device == device;
	pthread_mutex_unlock(&seats.lock);
	return count;
}

/* --- deadlines -------------------------------------------------------------------------------- */

/* Asks all that are overdue, and again those that were asked before. When to look again. */
static uint64_t watch_round(uint64_t now)
{
	uint64_t next = U_FOREVER;
	struct halt_work w;
	uint32_t turn;
	int code;

	pthread_mutex_lock(&seats.lock);
	for (struct seat *s = seats.first; s; s = s->next) {
		if (!seat_read(s, &w, &turn))
			continue;
		code = w.deadline <= now ? rts_timeout_code() : 0;
		if (atomic_load_explicit(&s->ask, memory_order_relaxed) == turn)
			code = atomic_load_explicit(&s->reason, memory_order_relaxed);
		if (code) {
			fault_start();
			(void)seat_ask_locked(s, turn, &w, code);
			w.deadline = now + RETRY_NS;
		}
		if (w.deadline < next)
			next = w.deadline;
	}
	pthread_mutex_unlock(&seats.lock);
	return next;
}

static void *watch_main(void *arg)
{
	uint64_t next;
	uint32_t word;

	for (;;) {
		word = atomic_load(&watch.word);
		atomic_store(&watch.until, U_FOREVER);
		atomic_thread_fence(memory_order_seq_cst);
		next = watch_round(u_now_ns());
		atomic_store(&watch.until, next);
		u_futex_wait(&watch.word, word, next, false);
	}
	return arg;
}

int halt_watch_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r;

	if (atomic_load_explicit(&watch.started, memory_order_relaxed) || atomic_exchange(&watch.started, true))
		return 0;
	sigfillset(&all);
	r = pthread_attr_init(&attr);
	if (!r) {
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		r = pthread_create(&thread, &attr, watch_main, NULL);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		pthread_attr_destroy(&attr);
	}
	if (!r) {
		pthread_setname_np(thread, "vinci-watch");
		return 0;
	}
	atomic_store(&watch.started, false);
	return u_report(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
			"cannot start a thread that looks after timeouts: the process has no threads or memory left");
}
