/* SPDX-License-Identifier: MIT */
/* exec_test.c - the execution engine below the public API: order, blocking, waking, dropping, deferring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "rts/exec.h"
#include "test_util.h"

#define LONG_MS 30000 /* a deadline that only a lost wake-up reaches */

static struct rts_stream *stream_new(void)
{
	struct rts_context *ctx;
	struct rts_stream *st;

	assert_int_equal(rts_context_current(&ctx), 0);
	assert_int_equal(rts_stream_create(ctx, 0, 0, &st), 0);
	return st;
}

static void stream_end(struct rts_stream *st)
{
	assert_int_equal(rts_stream_destroy(st->obj.handle, false), 0);
	rts_stream_put(&st);
}

static void spin(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		u_relax();
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static bool is_set(void *arg)
{
	return atomic_load((atomic_uint *)arg);
}

/* --- tasks -------------------------------------------------------------------------------- */

struct step {
	_Atomic uint32_t *counter;
	uint32_t expected; /* value of the counter when the task runs */
	atomic_uint *wrong;
	atomic_uint *drops;
	atomic_uint *gate; /* run waits until it is set; NULL: none */
	atomic_uint *started;
	int result;
};

static int step_run(void *payload, struct rts_stream *st)
{
	struct step *s = payload;

	(void)st;
	if (s->started)
		atomic_store(s->started, 1);
	while (s->gate && !atomic_load(s->gate))
		u_relax();
	if (s->counter && atomic_fetch_add(s->counter, 1) != s->expected)
		atomic_fetch_add(s->wrong, 1);
	return s->result;
}

static void step_drop(void *payload)
{
	struct step *s = payload;

	if (s->drops)
		atomic_fetch_add(s->drops, 1);
}

static const struct rts_task_type step_type = { .name = "step", .run = step_run, .drop = step_drop };
static const struct rts_task_type step_worker_type = { .name = "step", .run = step_run, .drop = step_drop, .worker_only = true };

static void submit(struct rts_stream *st, const struct step *s)
{
	assert_int_equal(rts_stream_submit(st, &step_type, s, sizeof(*s)), 0);
}

/* --- order -------------------------------------------------------------------------------- */

static void tasks_run_in_order(void **state)
{
	struct rts_stream *st = stream_new();
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0, drops = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		submit(st, &(struct step){ .counter = &counter, .expected = i, .wrong = &wrong, .drops = &drops });
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	assert_int_equal(counter, 20000);
	assert_int_equal(wrong, 0);
	assert_int_equal(drops, 20000);
	stream_end(st);
}

struct producer {
	struct rts_stream *st;
	_Atomic uint32_t counter;
	atomic_uint *wrong;
	pthread_t thread;
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (uint32_t i = 0; i < 5000; i++) {
		struct step s = { .counter = &p->counter, .expected = i, .wrong = p->wrong };

		if (rts_stream_submit(p->st, &step_type, &s, sizeof(s)))
			atomic_fetch_add(p->wrong, 1);
		if (i % 64 == 0 && rts_stream_synchronize(p->st, -1))
			atomic_fetch_add(p->wrong, 1);
	}
	return NULL;
}

static void producers_keep_their_order(void **state)
{
	struct rts_stream *st = stream_new();
	struct producer p[6];
	atomic_uint wrong = 0;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		p[i] = (struct producer){ .st = st, .wrong = &wrong };
		assert_int_equal(pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
	}
	for (unsigned i = 0; i < 6; i++)
		pthread_join(p[i].thread, NULL);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(p[i].counter, 5000);
	assert_int_equal(wrong, 0);
	stream_end(st);
}

/* --- nobody waits ------------------------------------------------------------------------- */

/* Also after the stream's launches have long been run by the thread that waits, so that workers leave it alone. */
static void a_task_that_nobody_waits_for_runs(void **state)
{
	struct rts_stream *st = stream_new();
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t hot = round % 4 * 500;
		atomic_uint done = 0;

		atomic_store(&counter, 0);
		for (uint32_t i = 0; i < hot; i++) {
			submit(st, &(struct step){ .counter = &counter, .expected = i, .wrong = &wrong });
			assert_int_equal(rts_stream_synchronize(st, -1), 0);
		}
		submit(st, &(struct step){ .started = &done });
		assert_true(t_until(is_set, &done, LONG_MS));
	}
	assert_int_equal(wrong, 0);
	stream_end(st);
}

/* Submitting, sleeping and waking at all distances in time from each other. A lost wake-up shows as a timeout. */
struct racer {
	struct rts_stream *st;
	unsigned seed;
	bool timed;
	atomic_uint *wrong;
	pthread_t thread;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	_Atomic uint32_t counter = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		struct step s = { .counter = &counter, .expected = i, .wrong = r->wrong };

		if (rts_stream_submit(r->st, &step_type, &s, sizeof(s)))
			atomic_fetch_add(r->wrong, 1);
		spin(next_random(&r->seed) % 8 ? next_random(&r->seed) % 64 : next_random(&r->seed) % 6000);
		if (rts_stream_synchronize(r->st, r->timed && next_random(&r->seed) % 2 ? LONG_MS : -1))
			atomic_fetch_add(r->wrong, 1);
		if (atomic_load(&counter) != i + 1)
			atomic_fetch_add(r->wrong, 1);
		spin(next_random(&r->seed) % 8 ? next_random(&r->seed) % 64 : next_random(&r->seed) % 6000);
	}
	return NULL;
}

static void no_wake_up_is_lost(void **state)
{
	struct rts_stream *shared = stream_new();
	struct racer r[6];
	atomic_uint wrong = 0;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		/* Two threads have a stream each, the others share one. */
		r[i] = (struct racer){ .st = i < 2 ? stream_new() : shared, .seed = i + 1, .timed = i % 2, .wrong = &wrong };
		assert_int_equal(pthread_create(&r[i].thread, NULL, race, &r[i]), 0);
	}
	for (unsigned i = 0; i < 6; i++)
		pthread_join(r[i].thread, NULL);
	assert_int_equal(wrong, 0);
	stream_end(r[0].st);
	stream_end(r[1].st);
	stream_end(shared);
}

/* --- blocking ----------------------------------------------------------------------------- */

struct gate {
	atomic_uint open;
	_Atomic(struct rts_stream *) waiting;
	atomic_uint runs;
};

static int gate_run(void *payload, struct rts_stream *st)
{
	struct gate *g = *(struct gate **)payload;

	atomic_fetch_add(&g->runs, 1);
	if (atomic_load(&g->open))
		return 0;
	atomic_store(&g->waiting, st);
	return atomic_load(&g->open) ? 0 : RTS_TASK_BLOCKED;
}

static const struct rts_task_type gate_type = { .name = "gate", .run = gate_run };

static void submit_gate(struct rts_stream *st, struct gate *g)
{
	assert_int_equal(rts_stream_submit(st, &gate_type, &g, sizeof(g)), 0);
}

static void gate_open(struct gate *g)
{
	struct rts_stream *st;

	atomic_store(&g->open, 1);
	st = atomic_load(&g->waiting);
	if (st)
		rts_stream_resume(st);
}

static void *open_later(void *arg)
{
	struct gate *gates = arg;
	unsigned seed = 7;

	for (unsigned i = 0; i < 4000; i++) {
		while (!atomic_load(&gates[i].runs))
			u_relax();
		spin(next_random(&seed) % 16 ? next_random(&seed) % 32 : next_random(&seed) % 4000);
		gate_open(&gates[i]);
	}
	return NULL;
}

/* Resumed before, while and after the task says that it is blocked; run by workers and by the waiting thread. */
static void a_blocked_task_goes_on_when_resumed(void **state)
{
	struct gate *gates = calloc(4000, sizeof(*gates));
	struct rts_stream *st = stream_new();
	unsigned seed = 3;
	pthread_t thread;

	(void)state;
	assert_non_null(gates);
	assert_int_equal(pthread_create(&thread, NULL, open_later, gates), 0);
	for (unsigned i = 0; i < 4000; i++) {
		submit_gate(st, &gates[i]);
		if (i % 3 == 0)
			spin(next_random(&seed) % 512);
		assert_int_equal(rts_stream_synchronize(st, i % 2 ? -1 : LONG_MS), 0);
		assert_true(atomic_load(&gates[i].open));
	}
	pthread_join(thread, NULL);
	stream_end(st);
	free(gates);
}

static void a_resume_that_nobody_asked_for_does_no_harm(void **state)
{
	struct rts_stream *st = stream_new();
	struct gate g = { 0 };

	(void)state;
	rts_stream_resume(st);
	submit_gate(st, &g);
	assert_int_equal(rts_stream_synchronize(st, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	rts_stream_resume(st);
	assert_int_equal(rts_stream_synchronize(st, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	gate_open(&g);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	rts_stream_resume(st);
	stream_end(st);
}

static void blocked_streams_hold_no_worker(void **state)
{
	struct rts_stream *st[300], *free_one = stream_new();
	struct gate g[300];
	unsigned threads;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		memset(&g[i], 0, sizeof(g[i]));
		st[i] = stream_new();
		submit_gate(st[i], &g[i]);
	}
	submit(free_one, &(struct step){ 0 });
	assert_int_equal(rts_stream_synchronize(free_one, LONG_MS), 0);
	threads = t_count_threads();
	assert_true(threads < 300);
	for (unsigned i = 0; i < 300; i++)
		gate_open(&g[i]);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(rts_stream_synchronize(st[i], LONG_MS), 0);
		stream_end(st[i]);
	}
	stream_end(free_one);
}

/* More streams than workers, and none of their tasks ends before all have begun: the machine's cores do not bound it. */
static void tasks_that_wait_for_each_other_all_run(void **state)
{
	struct rts_stream *st[8];
	_Atomic uint32_t counter = 0;
	atomic_uint gate = 0, started[8], wrong = 0;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		atomic_init(&started[i], 0);
		st[i] = stream_new();
		submit(st[i], &(struct step){ .gate = &gate, .started = &started[i], .wrong = &wrong });
	}
	for (unsigned i = 0; i < 8; i++)
		assert_true(t_until(is_set, &started[i], LONG_MS));
	atomic_store(&gate, 1);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(rts_stream_synchronize(st[i], LONG_MS), 0);
		stream_end(st[i]);
	}
	assert_int_equal(counter, 0);
}

/* --- who runs what ------------------------------------------------------------------------ */

static pthread_t ran_on;

static int where_run(void *payload, struct rts_stream *st)
{
	(void)payload;
	(void)st;
	ran_on = pthread_self();
	return 0;
}

static void callbacks_stay_off_the_waiting_thread(void **state)
{
	static const struct rts_task_type type = { .name = "where", .run = where_run, .worker_only = true };
	struct rts_stream *st = stream_new();
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0;

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		submit(st, &(struct step){ .counter = &counter, .expected = 3 * i, .wrong = &wrong });
		assert_int_equal(rts_stream_submit(st, &type, NULL, 0), 0);
		assert_int_equal(rts_stream_submit(st, &step_worker_type,
						   &(struct step){ .counter = &counter, .expected = 3 * i + 1, .wrong = &wrong },
						   sizeof(struct step)),
				 0);
		submit(st, &(struct step){ .counter = &counter, .expected = 3 * i + 2, .wrong = &wrong });
		assert_int_equal(rts_stream_synchronize(st, -1), 0);
		assert_false(pthread_equal(ran_on, pthread_self()));
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(counter, 1500);
	stream_end(st);
}

struct nested {
	struct rts_stream *own, *other;
	int own_code, other_code, destroy_code;
	atomic_uint done;
};

static void nested_call(void *arg)
{
	struct nested *n = arg;

	n->own_code = rts_stream_synchronize(n->own, -1);
	n->destroy_code = rts_stream_destroy(n->own->obj.handle, true);
	n->other_code = rts_stream_synchronize(n->other, -1);
	atomic_store(&n->done, 1);
}

static void a_callback_may_wait_for_others_but_not_for_itself(void **state)
{
	struct nested n = { .own = stream_new(), .other = stream_new() };
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		submit(n.other, &(struct step){ .counter = &counter, .expected = i, .wrong = &wrong });
	assert_int_equal(rts_launch_host_func(n.own, nested_call, &n), 0);
	assert_int_equal(rts_stream_synchronize(n.own, LONG_MS), 0);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.own_code, ACL_ERROR_RT_PARAM_INVALID);
	/* The callback's thread has no context of its own. */
	assert_int_equal(n.destroy_code, ACL_ERROR_RT_CONTEXT_NULL);
	assert_int_equal(n.other_code, 0);
	assert_int_equal(counter, 1000);
	stream_end(n.own);
	stream_end(n.other);
}

/* --- failures ----------------------------------------------------------------------------- */

static void the_first_error_is_told_once(void **state)
{
	struct rts_stream *st = stream_new();
	atomic_uint drops = 0;

	(void)state;
	(void)u_report_take();
	submit(st, &(struct step){ .result = ACL_ERROR_RT_AICORE_EXCEPTION, .drops = &drops });
	submit(st, &(struct step){ .result = ACL_ERROR_RT_TASK_TIMEOUT, .drops = &drops });
	submit(st, &(struct step){ .drops = &drops });
	assert_int_equal(rts_stream_synchronize(st, -1), ACL_ERROR_RT_AICORE_EXCEPTION);
	assert_non_null(strstr(u_report_take(), "a step task of stream"));
	assert_int_equal(drops, 3);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	stream_end(st);
}

static void a_stream_that_stops_drops_the_rest(void **state)
{
	struct rts_context *before, *own; /* stops with it */
	struct rts_stream *st;
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0, drops = 0;
	struct step bad = { .result = ACL_ERROR_RT_AICORE_EXCEPTION, .drops = &drops };
	struct step good = { .counter = &counter, .wrong = &wrong, .drops = &drops };
	struct gate g = { 0 };

	(void)state;
	assert_int_equal(rts_context_current(&before), 0);
	assert_int_equal(rts_context_create(0, &own), 0);
	st = stream_new();
	assert_int_equal(rts_stream_set_failure_mode(st, ACL_STOP_ON_FAILURE), 0);
	assert_int_equal(rts_stream_set_failure_mode(st, ACL_STOP_ON_FAILURE), 0);
	assert_int_equal(rts_stream_set_failure_mode(st, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
	submit_gate(st, &g);
	submit(st, &bad);
	submit(st, &good);
	gate_open(&g);
	assert_int_equal(rts_stream_synchronize(st, -1), ACL_ERROR_RT_AICORE_EXCEPTION);
	assert_int_equal(counter, 0);
	assert_int_equal(drops, 2);
	assert_int_equal(rts_stream_submit(st, &step_type, &good, sizeof(good)), ACL_ERROR_RT_AICORE_EXCEPTION);
	assert_int_equal(rts_stream_synchronize(st, -1), ACL_ERROR_RT_AICORE_EXCEPTION);
	stream_end(st);
	assert_int_equal(rts_context_destroy(own->obj.handle), 0);
	assert_int_equal(rts_context_set_current(before->obj.handle), 0);
}

static void force_drops_what_is_queued(void **state)
{
	struct rts_stream *st = stream_new();
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0, drops = 0;
	struct gate g = { 0 };
	struct step s = { .counter = &counter, .wrong = &wrong, .drops = &drops };

	(void)state;
	submit_gate(st, &g);
	for (unsigned i = 0; i < 100; i++)
		submit(st, &s);
	assert_int_equal(rts_stream_destroy(st->obj.handle, true), 0);
	assert_int_equal(rts_stream_submit(st, &step_type, &s, sizeof(s)), ACL_ERROR_RT_INVALID_HANDLE);
	while (stream_pending(st))
		u_relax();
	assert_int_equal(drops, 100);
	assert_int_equal(counter, 0);
	rts_stream_put(&st);
}

static void force_leaves_a_running_task_alone(void **state)
{
	struct rts_stream *st = stream_new();
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0, drops = 0, gate = 0, started = 0;

	(void)state;
	submit(st, &(struct step){ .counter = &counter, .wrong = &wrong, .drops = &drops, .gate = &gate, .started = &started });
	submit(st, &(struct step){ .counter = &counter, .wrong = &wrong, .drops = &drops });
	assert_true(t_until(is_set, &started, LONG_MS));
	assert_int_equal(rts_stream_destroy(st->obj.handle, true), 0);
	assert_int_equal(counter, 0);
	atomic_store(&gate, 1);
	while (stream_pending(st))
		u_relax();
	assert_int_equal(counter, 1);
	assert_int_equal(drops, 2);
	rts_stream_put(&st);
}

static void *wait_for_stream(void *arg)
{
	struct rts_stream *st = arg;

	return (void *)(intptr_t)rts_stream_synchronize(st, -1);
}

static void abort_ends_waits(void **state)
{
	struct rts_stream *st = stream_new();
	struct step s = { 0 };
	struct gate g = { 0 };
	pthread_t thread;
	void *code;

	(void)state;
	submit_gate(st, &g);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_stream, st), 0);
	while (!atomic_load(&g.runs) || !atomic_load(&st->runners))
		u_relax();
	assert_int_equal(rts_stream_abort(st), 0);
	pthread_join(thread, &code);
	assert_int_equal((intptr_t)code, ACL_ERROR_RT_STREAM_ABORT);
	assert_int_equal(rts_stream_submit(st, &step_type, &s, sizeof(s)), 0);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	stream_end(st);
}

/* --- deferring ---------------------------------------------------------------------------- */

static void count_call(void *arg)
{
	atomic_fetch_add((atomic_uint *)arg, 1);
}

static void deferred_work_waits_for_what_was_submitted(void **state)
{
	struct rts_stream *a = stream_new(), *b = stream_new();
	struct gate g = { 0 }, later = { 0 };
	atomic_uint calls = 0;

	(void)state;
	assert_int_equal(rts_exec_quiesce(LONG_MS), 0);
	rts_exec_defer(count_call, &calls);
	assert_int_equal(calls, 1);

	submit_gate(a, &g);
	submit(b, &(struct step){ 0 });
	rts_exec_defer(count_call, &calls);
	submit_gate(a, &later); /* after the call: not waited for */
	assert_int_equal(rts_stream_synchronize(b, LONG_MS), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(rts_exec_quiesce(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
	assert_int_equal(calls, 1);
	gate_open(&g);
	while (atomic_load(&calls) != 2)
		u_relax();
	gate_open(&later);
	assert_int_equal(rts_exec_quiesce(LONG_MS), 0);
	stream_end(a);
	stream_end(b);
}

static void *defer_often(void *arg)
{
	for (unsigned i = 0; i < 2000; i++)
		rts_exec_defer(count_call, arg);
	return NULL;
}

/* Every deferred call is made exactly once, whatever runs meanwhile. */
static void deferred_work_is_done_once(void **state)
{
	struct rts_stream *st[3] = { stream_new(), stream_new(), stream_new() };
	atomic_uint calls = 0;
	pthread_t thread[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, defer_often, &calls), 0);
	for (unsigned i = 0; i < 20000; i++) {
		submit(st[i % 3], &(struct step){ 0 });
		if (i % 50 == 0)
			assert_int_equal(rts_stream_synchronize(st[i % 3], -1), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(rts_exec_quiesce(LONG_MS), 0);
	while (atomic_load(&calls) != 4000)
		u_relax();
	for (unsigned i = 0; i < 3; i++)
		stream_end(st[i]);
}

/* --- contexts ----------------------------------------------------------------------------- */

/* Reset of a device ends waits that nothing in this process can end any more, after what they wait behind has run. */
static void shutdown_ends_hopeless_waits(void **state)
{
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0;
	aclrtNotify notify;
	aclrtStream handle;
	struct rts_stream *st;

	(void)state;
	assert_int_equal(aclrtSetDevice(1), 0);
	assert_int_equal(aclrtCreateStream(&handle), 0);
	assert_int_equal(rts_stream_get(handle, &st), 0);
	assert_int_equal(aclrtCreateNotify(&notify, 0), 0);
	for (uint32_t i = 0; i < 100; i++)
		submit(st, &(struct step){ .counter = &counter, .expected = i, .wrong = &wrong });
	assert_int_equal(aclrtWaitAndResetNotify(notify, handle, 0), 0);
	submit(st, &(struct step){ .counter = &counter, .expected = 100, .wrong = &wrong });
	assert_int_equal(aclrtResetDevice(1), 0);
	assert_int_equal(counter, 101);
	assert_int_equal(wrong, 0);
	rts_stream_put(&st);
	assert_int_equal(aclrtSetDevice(0), 0);
	assert_int_equal(aclrtDestroyNotify(notify), 0);
}

/* --- resources ---------------------------------------------------------------------------- */

static atomic_int alloc_fails, thread_fails;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return atomic_load(&alloc_fails) ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return atomic_load(&thread_fails) ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

/* First in the file's order: no worker exists yet. */
static void without_threads_nothing_is_accepted(void **state)
{
	struct rts_stream *st = stream_new();
	struct step s = { 0 };

	(void)state;
	atomic_store(&thread_fails, 1);
	assert_int_equal(rts_stream_submit(st, &step_type, &s, sizeof(s)), ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	atomic_store(&thread_fails, 0);
	submit(st, &s);
	assert_int_equal(rts_stream_synchronize(st, LONG_MS), 0);
	stream_end(st);
}

static void without_memory_a_task_is_refused(void **state)
{
	struct rts_stream *st = stream_new(), *none;
	_Atomic uint32_t counter = 0;
	atomic_uint wrong = 0;
	struct rts_context *ctx;
	struct gate g = { 0 };
	uint32_t n = 0;
	int r = 0;

	(void)state;
	assert_int_equal(rts_context_current(&ctx), 0);
	submit_gate(st, &g);
	atomic_store(&alloc_fails, 1);
	assert_int_equal(rts_stream_create(ctx, 0, 0, &none), ACL_ERROR_RT_MEMORY_ALLOCATION);
	while (!r) {
		struct step s = { .counter = &counter, .expected = n, .wrong = &wrong };

		r = rts_stream_submit(st, &step_type, &s, sizeof(s));
		n += !r;
	}
	atomic_store(&alloc_fails, 0);
	assert_int_equal(r, ACL_ERROR_RT_MEMORY_ALLOCATION);
	submit(st, &(struct step){ .counter = &counter, .expected = n, .wrong = &wrong });
	gate_open(&g);
	assert_int_equal(rts_stream_synchronize(st, -1), 0);
	assert_int_equal(counter, n + 1);
	assert_int_equal(wrong, 0);
	stream_end(st);
}

static int setup(void **state)
{
	(void)state;
	return aclInit(NULL) || aclrtSetDevice(0);
}

static int teardown(void **state)
{
	(void)state;
	return aclrtResetDevice(0) || aclFinalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_threads_nothing_is_accepted),
		cmocka_unit_test(without_memory_a_task_is_refused),
		cmocka_unit_test(tasks_run_in_order),
		cmocka_unit_test(producers_keep_their_order),
		cmocka_unit_test(a_task_that_nobody_waits_for_runs),
		cmocka_unit_test(no_wake_up_is_lost),
		cmocka_unit_test(a_blocked_task_goes_on_when_resumed),
		cmocka_unit_test(a_resume_that_nobody_asked_for_does_no_harm),
		cmocka_unit_test(blocked_streams_hold_no_worker),
		cmocka_unit_test(tasks_that_wait_for_each_other_all_run),
		cmocka_unit_test(callbacks_stay_off_the_waiting_thread),
		cmocka_unit_test(a_callback_may_wait_for_others_but_not_for_itself),
		cmocka_unit_test(the_first_error_is_told_once),
		cmocka_unit_test(a_stream_that_stops_drops_the_rest),
		cmocka_unit_test(force_drops_what_is_queued),
		cmocka_unit_test(force_leaves_a_running_task_alone),
		cmocka_unit_test(abort_ends_waits),
		cmocka_unit_test(deferred_work_waits_for_what_was_submitted),
		cmocka_unit_test(deferred_work_is_done_once),
		cmocka_unit_test(shutdown_ends_hopeless_waits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
