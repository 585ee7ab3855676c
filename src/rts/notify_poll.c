/* SPDX-License-Identifier: MIT */
/*
 * notify_poll.c - waits that no thread sleeps for: when a worker meets a wait it has other streams to run, so a poller
 * watches the word of the notify, its peers and the deadline, and resumes the stream.
 *
 * A poller is a thread that sleeps on the words of its entries and on a control word by one futex_waitv(), which takes
 * 128 words; there are as many pollers as it takes. Where that call is missing (Linux before 5.16) or forbidden
 * (containers, emulators) a poller sleeps on one word only, and whoever changes its entries wakes that one.
 *
 * An entry ends when it has resumed its stream. One that is forgotten stays until its poller looks next, at most
 * SLEEP_NS, or its place is needed; if its poller takes a wake-up that was meant for another sleeper, it passes it on.
 */
#include "rts/notify.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define WAITV_MAX 128
#define ENTRIES (WAITV_MAX - 1)
#define STACK_BYTES (64 * 1024)
#define SLEEP_NS (100 * U_NS_PER_MS)
#define DISTURBED_MAX 32		/* for nothing, each within... */
#define DISTURBED_NS (10 * U_NS_PER_MS) /* ...of the last: then somebody means harm, and the entry rests */
#define LIFE_MIN_NS (100 * U_NS_PER_MS) /* between looks whether peers are alive: doubled up to the maximum */
#define LIFE_MAX_NS (1600 * U_NS_PER_MS)

/* struct futex_waitv of linux/futex.h, which older headers lack. */
struct waitv {
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

#define WAITV_32 2u
#define WAITV_PRIVATE 128u

struct entry {
	struct rts_stream *stream; /* a reference */
	struct rts_notify *notify; /* a reference; keeps the word mapped. NULL: only a deadline */
	struct shared_word *word;  /* NULL: only a deadline */
	uint32_t seen;		   /* word->lost at the beginning */
	uint64_t serial;
	uint64_t deadline;	  /* 0: none */
	uint64_t life, life_step; /* next look at the peers */
	bool armed;		  /* it has been slept for */
	uint32_t disturbed;	  /* sleeps that ended without a reason, in a row */
	uint64_t disturbed_at;	  /* the last of them */
	uint64_t rest;		  /* not looked at before */
};

struct poller {
	struct poller *next;
	_Atomic uint32_t control; /* futex: entries have been added */
	uint32_t count, words;	  /* the rest: polls.lock */
	struct entry entries[ENTRIES];
	_Atomic(_Atomic uint32_t *) sleeps_on; /* the one word, without futex_waitv() */
};

static struct {
	struct u_mutex lock; /* the entries of all pollers */
	struct poller *first;
	uint64_t serial;
	bool has_waitv; /* written once, before the first poller */
} polls = { .lock = U_MUTEX_INIT(RANK_NOTIFY_POLL, "pollers") };

/* --- one look at all entries ------------------------------------------------------------------ */

/* What a look found, done when the lock has been given back. */
struct round {
	struct entry ended[ENTRIES];
	bool resume[ENTRIES];
	uint32_t count;
	uint64_t until; /* when to look again */
	struct waitv waits[WAITV_MAX];
	uint64_t serials[WAITV_MAX]; /* the entries that they are for */
	uint32_t words;
	_Atomic uint32_t *word; /* the last of them */
	uint64_t woken;		/* the entry whose word was woken in the last sleep; 0: none, or unknown */
};

static bool entry_forgotten(const struct entry *e)
{
	return atomic_load(&e->stream->poll_serial) != e->serial;
}

/* The sleep for this word has ended for nothing. */
static void entry_disturbed(struct entry *e, uint64_t now)
{
	e->disturbed = now - e->disturbed_at < DISTURBED_NS ? e->disturbed + 1 : 0;
	e->disturbed_at = now;
	if (e->disturbed > DISTURBED_MAX)
		e->rest = now + WORD_REST_NS;
}

/* Is there a reason to resume the stream? Otherwise the word is armed, or the entry rests. */
static bool entry_due(struct entry *e, uint64_t now, uint64_t woken)
{
	uint32_t value;

	if (e->deadline && now >= e->deadline)
		return true;
	if (!e->word || now < e->rest)
		return false;
	value = word_arm(e->word);
	if (value == VINCI_NOTIFY_SET || atomic_load(&e->word->lost) != e->seen)
		return true;
	if (e->armed && (value != VINCI_NOTIFY_WAITED || e->serial == woken))
		entry_disturbed(e, now);
	e->armed = true;
	return false;
}

static void entry_watch(const struct entry *e, struct round *r, uint64_t now)
{
	if (e->deadline && e->deadline < r->until)
		r->until = e->deadline;
	if (!e->word)
		return;
	if (e->life < r->until)
		r->until = e->life;
	if (now < e->rest) {
		if (e->rest < r->until)
			r->until = e->rest;
		return;
	}
	r->word = e->word->word;
	r->serials[r->words] = e->serial;
	r->waits[r->words++] =
		(struct waitv){ .value = VINCI_NOTIFY_WAITED, .address = (uintptr_t)e->word->word, .flags = WAITV_32 };
}

static void look(struct poller *p, struct round *r, uint64_t now)
{
	uint32_t i = 0;

	r->count = r->words = 0;
	r->until = p->count ? now + SLEEP_NS : U_FOREVER;
	r->word = NULL;
	while (i < p->count) {
		struct entry *e = &p->entries[i];
		bool forgotten = entry_forgotten(e);

		if (!forgotten && !entry_due(e, now, r->woken)) {
			entry_watch(e, r, now);
			i++;
			continue;
		}
		r->resume[r->count] = !forgotten;
		r->ended[r->count++] = *e;
		p->words -= e->word != NULL;
		*e = p->entries[--p->count];
	}
}

static void entry_end(struct entry *e, bool resume)
{
	if (resume)
		rts_stream_resume(e->stream);
	else if (e->word && atomic_load(e->word->word) == VINCI_NOTIFY_SET)
		u_futex_wake(e->word->word, 1, true);
	rts_stream_put(&e->stream);
	if (e->notify)
		rts_object_put(&e->notify->obj);
}

/* The notify of entry @i, with a reference, if it is time to ask the device about its peers. False: there is no such
 * entry. */
static bool life_due(struct poller *p, uint32_t i, struct rts_notify **n, uint32_t *seen)
{
	uint64_t now = u_now_ns();
	bool more;

	*n = NULL;
	u_mutex_lock(&polls.lock);
	more = i < p->count;
	if (more && p->entries[i].word && now >= p->entries[i].life) {
		struct entry *e = &p->entries[i];

		e->life = now + e->life_step;
		e->life_step = e->life_step < LIFE_MAX_NS ? e->life_step * 2 : LIFE_MAX_NS;
		*n = e->notify;
		*seen = e->seen;
		rts_object_ref(&e->notify->obj);
	}
	u_mutex_unlock(&polls.lock);
	return more;
}

static void look_at_lives(struct poller *p)
{
	struct rts_notify *n;
	uint32_t seen = 0;

	for (uint32_t i = 0; life_due(p, i, &n, &seen); i++) {
		struct shared_word *word = n ? atomic_load(&n->shared) : NULL;

		if (word && word_lost_code(word))
			word_note_lost(word, seen);
		if (n)
			rts_object_put(&n->obj);
	}
}

/* --- sleeping --------------------------------------------------------------------------------- */

static void sleep_on_all(struct poller *p, struct round *r, uint32_t seq)
{
	struct timespec t = u_timespec(r->until);
	long woken;

	r->waits[r->words] =
		(struct waitv){ .value = seq, .address = (uintptr_t)&p->control, .flags = WAITV_32 | WAITV_PRIVATE };
	woken = syscall(SYS_futex_waitv, r->waits, r->words + 1, 0, r->until == U_FOREVER ? NULL : &t, CLOCK_MONOTONIC);
	r->woken = woken >= 0 && woken < r->words ? r->serials[woken] : 0;
}

/* One word at most. Whoever adds an entry raises control first and then wakes sleeps_on, again and again until we look.
 */
static void sleep_on_one(struct poller *p, struct round *r, uint32_t seq)
{
	r->woken = 0;
	if (!r->word) {
		u_futex_wait(&p->control, seq, r->until, false);
		return;
	}
	atomic_store(&p->sleeps_on, r->word);
	if (atomic_load(&p->control) == seq && u_futex_wait(r->word, VINCI_NOTIFY_WAITED, r->until, true))
		r->woken = r->serials[0];
	atomic_store(&p->sleeps_on, NULL);
}

static void *poller_main(void *arg)
{
	struct poller *p = arg;
	struct round r = { .woken = 0 };

	for (;;) {
		uint32_t seq = atomic_load(&p->control);

		look_at_lives(p);
		u_mutex_lock(&polls.lock);
		look(p, &r, u_now_ns());
		u_mutex_unlock(&polls.lock);
		for (uint32_t i = 0; i < r.count; i++)
			entry_end(&r.ended[i], r.resume[i]);
		if (r.count)
			continue;
		if (polls.has_waitv)
			sleep_on_all(p, &r, seq);
		else
			sleep_on_one(p, &r, seq);
	}
	return NULL;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* A call that cannot sleep because the value is another one. */
static void ask_for_waitv(void)
{
	_Atomic uint32_t word = 0;
	struct waitv wait = { .value = 1, .address = (uintptr_t)&word, .flags = WAITV_32 | WAITV_PRIVATE };

	polls.has_waitv = syscall(SYS_futex_waitv, &wait, 1, 0, NULL, CLOCK_MONOTONIC) < 0 && errno == EAGAIN;
}

static int poller_start(struct poller *p)
{
	size_t stack = STACK_BYTES + (size_t)sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r;

	r = pthread_attr_init(&attr);
	if (r)
		return r;
	sigfillset(&all);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attr, poller_main, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!r)
		pthread_setname_np(thread, "vinci-poll");
	return r;
}

static struct poller *poller_new(void)
{
	struct poller *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (poller_start(p)) {
		free(p);
		return NULL;
	}
	p->next = polls.first;
	polls.first = p;
	return p;
}

static bool poller_has_room(const struct poller *p, bool word)
{
	return p->count < ENTRIES && (!word || polls.has_waitv || !p->words);
}

/* A place for an entry: free, or a forgotten one's, which goes to *old. */
static struct entry *place_find(bool word, struct poller **at, struct entry *old)
{
	struct poller *p;

	for (p = polls.first; p; p = p->next)
		if (poller_has_room(p, word))
			break;
	for (*at = polls.first; !p && *at; *at = (*at)->next) {
		for (uint32_t i = 0; i < (*at)->count; i++) {
			struct entry *e = &(*at)->entries[i];

			if (entry_forgotten(e) && !!e->word == word) {
				*old = *e;
				(*at)->words -= word;
				return e;
			}
		}
	}
	*at = p ? p : poller_new();
	return *at ? &(*at)->entries[(*at)->count++] : NULL;
}

static void poller_kick(struct poller *p)
{
	_Atomic uint32_t *word;

	atomic_fetch_add(&p->control, 1);
	u_futex_wake(&p->control, 1, false);
	word = atomic_load(&p->sleeps_on);
	if (word)
		u_futex_wake(word, INT_MAX, true);
}

int poll_add(struct rts_stream *st, struct rts_notify *n, struct shared_word *sw, uint64_t deadline)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct entry old = { 0 };
	struct poller *p;
	struct entry *e;

	pthread_once(&once, ask_for_waitv);
	u_mutex_lock(&polls.lock);
	e = place_find(sw, &p, &old);
	if (e) {
		*e = (struct entry){ .stream = st, .notify = n, .word = sw, .deadline = deadline };
		e->seen = sw ? atomic_load(&sw->lost) : 0;
		e->life = u_deadline(u_now_ns(), LIFE_MIN_NS);
		e->life_step = LIFE_MIN_NS;
		e->serial = ++polls.serial;
		atomic_store(&st->poll_serial, e->serial);
		rts_object_ref(&st->obj);
		if (n)
			rts_object_ref(&n->obj);
		p->words += sw != NULL;
	}
	u_mutex_unlock(&polls.lock);
	if (!e) {
		rts_stream_explain(st, "no thread can be started that watches what stream %d waits for", st->id);
		return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
	}
	if (old.stream)
		entry_end(&old, false);
	poller_kick(p);
	return 0;
}

void poll_forget(struct rts_stream *st)
{
	atomic_store(&st->poll_serial, 0);
}
