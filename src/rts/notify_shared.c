/* SPDX-License-Identifier: MIT */
/*
 * notify_shared.c - notifies that several processes use: the protocol of their word, export, whitelist, import.
 *
 * The other processes may be hostile: whatever they write into a page, and whenever, a wait here goes on or ends, and
 * nothing else. They may be dead: then a wait whose notify no living process but this one holds, though another one
 * did, and which no other stream of this process is going to record, fails with ACL_ERROR_RT_SUSPECT_REMOTE_ERROR
 * (507057). It is the code for an error whose cause is suspected on the remote side, and nothing more is known here;
 * without it the wait would last for ever. When the device has died, nobody can tell any more who is left: a wait that
 * has to ask fails with ACL_ERROR_RT_LOST_HEARTBEAT (507010).
 */
#include "rts/notify.h"
#include "rts/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_LEN 40
#define KEY_ROOM_MIN 65		     /* what CANN asks of an exporter's buffer */
#define SLEEP_NS (100 * U_NS_PER_MS) /* nobody is trusted to wake us */
#define LIFE_NS (400 * U_NS_PER_MS)  /* between looks whether anybody is left, while nothing happens */
#define EARLY_NS (U_NS_PER_MS / 5)   /* a sleep this short was ended by somebody... */
#define EARLY_MAX 32		     /* ...who, so often in a row and for nothing, means harm */
#define WORKER_PAUSES 64	     /* about 1 us: a worker has other streams */

struct u_mutex words_lock = U_MUTEX_INIT(RANK_NOTIFY, "shared notifies");
static struct shared_word *words;

/* --- the word --------------------------------------------------------------------------------- */

void word_record(struct shared_word *sw)
{
	uint32_t old = atomic_exchange_explicit(sw->word, VINCI_NOTIFY_SET, memory_order_release);

	if (old != VINCI_NOTIFY_CLEAR && old != VINCI_NOTIFY_SET)
		u_futex_wake(sw->word, 1, true);
}

/*
 * @others: somebody else may sleep on the word, so the next record has to wake. No look before the exchange: it would
 * fetch the line for reading first, and then once more for writing.
 */
bool word_take(struct shared_word *sw, bool others)
{
	uint32_t set = VINCI_NOTIFY_SET;

	return atomic_compare_exchange_strong_explicit(sw->word, &set,
						       others ? VINCI_NOTIFY_WAITED : VINCI_NOTIFY_CLEAR,
						       memory_order_acquire, memory_order_relaxed);
}

void word_reset(struct shared_word *sw)
{
	atomic_exchange_explicit(sw->word, VINCI_NOTIFY_CLEAR, memory_order_acq_rel);
}

uint32_t word_arm(struct shared_word *sw)
{
	uint32_t value = atomic_load_explicit(sw->word, memory_order_relaxed);

	if (value != VINCI_NOTIFY_WAITED && value != VINCI_NOTIFY_SET)
		atomic_compare_exchange_strong_explicit(sw->word, &value, VINCI_NOTIFY_WAITED, memory_order_relaxed,
							memory_order_relaxed);
	return value;
}

int word_lost_code(struct shared_word *sw)
{
	uint32_t holders = 0, lost = 0;
	int r = drv_notify_status(rts_drv_at(sw->epoch), sw->handle, &holders, &lost);

	if (r)
		return r == -ENOTCONN ? ACL_ERROR_RT_LOST_HEARTBEAT : 0;
	return holders <= 1 && lost ? ACL_ERROR_RT_SUSPECT_REMOTE_ERROR : 0;
}

void word_note_lost(struct shared_word *sw, uint32_t seen)
{
	(void)atomic_compare_exchange_strong(&sw->lost, &seen, seen + 1);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/*
 * Nobody else is left, but this process may record it itself. A record does not count in a stream whose own wait is in vain, as
 * this one's is now: of streams that wait for each other's records one at most goes on waiting.
 */
static bool word_still_comes(struct rts_stream *st, struct shared_word *sw, int lost)
{
	atomic_store(&st->waits_in_vain, lost != 0);
	if (!lost)
		atomic_store(&sw->lost, 0);
	return !lost || notify_coming(st, sw->serial);
}

static int word_check(struct notify_task *t, struct rts_stream *st, struct shared_word *sw)
{
	uint32_t lost = atomic_load_explicit(&sw->lost, memory_order_relaxed);
	int r = wait_check(t, st);

	if (r || lost == t->lost_seen)
		return r;
	t->lost_seen = lost;
	r = lost ? word_lost_code(sw) : 0;
	if (word_still_comes(st, sw, r))
		r = 0;
	else
		rts_stream_explain(st, "stream %d waits for notify %u, and %s", st->id, atomic_load(&t->notify->id),
				   r == ACL_ERROR_RT_LOST_HEARTBEAT
					   ? "the device, which knew who else holds it, is gone"
					   : "every other process that held it has ended");
	return r;
}

static bool stream_dropped(struct rts_stream *st)
{
	return atomic_load(&st->state) & STREAM_DROP;
}

/* A first look without sleeping. */
static bool word_spin(struct rts_stream *st, struct shared_word *sw)
{
	struct u_spin spin = { 0 };

	if (stream_may_park(st)) {
		do {
			if (word_take(sw, false))
				return true;
		} while (u_spin_once(&spin) && !stream_dropped(st));
		return false;
	}
	for (unsigned i = 0; i < WORKER_PAUSES && u_cores() > 1; i++) {
		if (word_take(sw, false))
			return true;
		u_relax();
	}
	return false;
}

/*
 * Sleeps on the word itself. Somebody may end the stream at any moment: he sets its state, then looks at parked_on and
 * wakes the word; if he does so just before the system call, the sleep is short anyway.
 */
static void word_sleep(struct notify_task *t, struct rts_stream *st, struct shared_word *sw, uint64_t until)
{
	if (t->deadline && t->deadline < until)
		until = t->deadline;
	atomic_store(&st->parked_on, sw->word);
	if (!(atomic_load(&st->state) & (STREAM_DROP | STREAM_NO_WAITS)) && !stream_task_stopped(st) &&
	    word_arm(sw) != VINCI_NOTIFY_SET)
		u_futex_wait(sw->word, VINCI_NOTIFY_WAITED, until, true);
	atomic_store(&st->parked_on, NULL);
}

/* Sleeps from one look at the word to the next. Somebody who changes it or wakes us all the time does not keep us busy.
 */
static void word_doze(struct notify_task *t, struct rts_stream *st, struct shared_word *sw, uint32_t *early)
{
	static _Atomic uint32_t never;
	uint64_t begin = u_now_ns(), end;

	word_sleep(t, st, sw, begin + SLEEP_NS);
	end = u_now_ns();
	*early = end - begin < EARLY_NS ? *early + 1 : 0;
	if (*early > EARLY_MAX)
		u_futex_wait(&never, 0, end + WORD_REST_NS, false);
}

/* The owner is a thread that waits for the stream: there is nothing else for it to do. */
static int word_wait_here(struct notify_task *t, struct rts_stream *st, struct shared_word *sw)
{
	uint64_t look = u_now_ns() + SLEEP_NS, now;
	uint32_t early = 0;
	int r = 0;

	pool_worker_blocks();
	while (!r && !stream_dropped(st) && !word_take(sw, true)) {
		r = word_check(t, st, sw);
		if (!r)
			word_doze(t, st, sw, &early);
		now = u_now_ns();
		if (now >= look) {
			look = now + LIFE_NS;
			if (word_lost_code(sw))
				word_note_lost(sw, t->lost_seen);
		}
	}
	pool_worker_continues();
	return r;
}

int word_wait(struct notify_task *t, struct rts_stream *st, struct shared_word *sw)
{
	int r;

	if (word_spin(st, sw))
		return 0;
	if (stream_may_park(st))
		return word_wait_here(t, st, sw);
	r = word_check(t, st, sw);
	if (!r)
		r = poll_add(st, t->notify, sw, t->deadline);
	if (r)
		return r;
	t->polled = true;
	return RTS_TASK_BLOCKED;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Maps the page of an object that was just created or imported. words_lock. */
static int word_map(uint32_t handle, uint64_t mmap_offset, uint32_t serial, struct shared_word **out)
{
	struct shared_word *sw = calloc(1, sizeof(*sw));
	void *page;
	int r;

	if (!sw)
		return -ENOMEM;
	r = drv_map(rts_drv(), mmap_offset, VINCI_NOTIFY_PAGE_SIZE, NULL, true, &page);
	if (r) {
		free(sw);
		return r;
	}
	sw->word = page;
	sw->handle = handle;
	sw->serial = serial;
	sw->epoch = rts_process_epoch();
	sw->refs = 1;
	sw->next = words;
	words = sw;
	*out = sw;
	return 0;
}

static struct shared_word *word_find(uint32_t handle)
{
	struct shared_word *sw;

	for (sw = words; sw; sw = sw->next)
		if (sw->handle == handle && sw->epoch == rts_process_epoch())
			return sw;
	return NULL;
}

/* Closing under the lock: an import meanwhile would be given the handle that is about to go. */
static void word_close_locked(struct shared_word *sw)
{
	struct shared_word **at;

	for (at = &words; *at != sw; at = &(*at)->next)
		;
	*at = sw->next;
	(void)drv_unmap(rts_drv(), sw->word, VINCI_NOTIFY_PAGE_SIZE);
	(void)drv_close_handle(rts_drv_at(sw->epoch), sw->handle);
	free(sw);
}

void word_put(struct shared_word *sw)
{
	if (rts_process_forked())
		return;
	u_mutex_lock(&words_lock);
	if (!--sw->refs)
		word_close_locked(sw);
	u_mutex_unlock(&words_lock);
}

/* --- exporting -------------------------------------------------------------------------------- */

/*
 * The object that the device knows. An id whose last user another process still holds cannot have a new one: then the
 * notify gets another id, as CANN's may too when it is exported.
 */
static int word_create(struct rts_notify *n, uint32_t *handle, uint64_t *mmap_offset)
{
	uint32_t tries = rts_profile()->notify_limit;
	int r;

	for (;;) {
		uint32_t id;

		r = drv_notify_create(rts_drv(), n->device, atomic_load(&n->id), handle, mmap_offset);
		if (r != -EBUSY || !tries--)
			break;
		r = notify_id_take(n->device, &id);
		if (r)
			return r;
		notify_id_give(n);
		atomic_store(&n->id, id);
	}
	if (r)
		return u_report(rts_errno_code(VINCI_SHARE_NOTIFY, RTS_OP_NOTIFY_CREATE, r),
				"the device did not make notify %u a shared one: %s", atomic_load(&n->id),
				rts_errno_text(r));
	return 0;
}

static int word_export(struct rts_notify *n, uint32_t flags)
{
	struct shared_word *sw;
	uint64_t mmap_offset;
	struct drv_name name;
	uint32_t handle;
	int r;

	r = word_create(n, &handle, &mmap_offset);
	if (r)
		return r;
	r = drv_share_export(rts_drv(), handle, VINCI_SHARE_NOTIFY, flags, 0, &name);
	if (!r && name.len != KEY_LEN)
		r = -EPROTO;
	if (!r)
		r = word_map(handle, mmap_offset, n->serial, &sw);
	if (r) {
		(void)drv_close_handle(rts_drv(), handle);
		return u_report(rts_errno_code(VINCI_SHARE_NOTIFY, RTS_OP_EXPORT, r),
				"notify %u cannot be exported: %s", atomic_load(&n->id), rts_errno_text(r));
	}
	n->name = name;
	n->exported = true;
	notify_move(n, sw);
	return 0;
}

static int export_check(size_t len, uint64_t flags)
{
	if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is 0x%llx; it must be 0 or 0x%x",
				(unsigned long long)flags, (unsigned)ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION);
	if ((uint32_t)len < KEY_ROOM_MIN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "len is %zu; a key needs a buffer of at least %d bytes",
				len, KEY_ROOM_MIN);
	return 0;
}

/* words_lock */
static int notify_export_locked(struct rts_notify *n, uint64_t flags)
{
	if (n->imported || n->exported)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"notify %u was %s: it can be exported once, by its creator", atomic_load(&n->id),
				n->imported ? "imported" : "exported before");
	return word_export(n, flags ? VINCI_SHARE_UNVALIDATED : 0);
}

int rts_notify_export(aclrtNotify handle, char *key, size_t len, uint64_t flags)
{
	struct rts_notify *n = NULL;
	struct rts_context *ctx;
	int r;

	r = export_check(len, flags);
	if (!r)
		r = rts_context_current(&ctx);
	if (!r)
		r = notify_get(handle, &n);
	if (r)
		return r;
	u_mutex_lock(&words_lock);
	r = notify_export_locked(n, flags);
	if (!r) {
		/* Users pass on 65 bytes, whatever the key's length. */
		memset(key, 0, KEY_ROOM_MIN);
		memcpy(key, n->name.bytes, KEY_LEN);
	}
	u_mutex_unlock(&words_lock);
	rts_object_put(&n->obj);
	return r;
}

/* --- whitelist -------------------------------------------------------------------------------- */

static int allow_check(const struct rts_notify *n, bool exported, size_t count)
{
	if (n->imported)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
				"notify %u was imported; only its exporter decides who may import it",
				atomic_load(&n->id));
	if (!exported)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"notify %u has no key yet; aclrtNotifyGetExportKey comes before its whitelist",
				atomic_load(&n->id));
	if (count != 1)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "num is %zu; a call puts exactly 1 process on the list",
				count);
	return 0;
}

int rts_notify_allow(aclrtNotify handle, const uint32_t *sdid, const int32_t *pids, size_t count)
{
	struct drv_name name = { 0 };
	struct rts_notify *n = NULL;
	bool exported;
	int r, err;

	r = notify_get(handle, &n);
	if (r)
		return r;
	u_mutex_lock(&words_lock);
	exported = n->exported;
	if (exported)
		name = n->name;
	u_mutex_unlock(&words_lock);
	r = allow_check(n, exported, count);
	if (!r) {
		err = drv_share_allow(rts_drv(), &name, sdid, pids, 1);
		if (err)
			r = rts_allow_failed(&name, "notify key", err);
	}
	rts_object_put(&n->obj);
	return r;
}

/* --- importing -------------------------------------------------------------------------------- */

static int import_check(const char *key, uint64_t flags, struct drv_name *name)
{
	size_t len = strnlen(key, KEY_ROOM_MIN);

	if ((uint32_t)flags > 3)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "flags is 0x%llx; it must be from 0 to 3",
				(unsigned long long)flags);
	if (!len || len == KEY_ROOM_MIN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the key is %s; it must be the text that aclrtNotifyGetExportKey gave",
				len ? "longer than 64 characters" : "empty");
	*name = (struct drv_name){ .kind = VINCI_SHARE_NOTIFY, .len = (uint32_t)len };
	memcpy(name->bytes, key, len);
	return 0;
}

/* words_lock. The device gives one handle to a process, however often it imports. */
static int word_import(const struct drv_name *name, uint32_t device, uint32_t serial,
		       struct drm_vinci_share_import *import, struct shared_word **out)
{
	struct shared_word *sw;
	int r;

	r = name->len == KEY_LEN ? drv_share_import(rts_drv(), name, device, import) : -ESTALE;
	if (r)
		return rts_import_failed(name, "notify key", device, r);
	sw = word_find(import->handle);
	if (sw) {
		sw->refs++;
		*out = sw;
		return 0;
	}
	r = import->object == VINCI_OBJECT_NOTIFY && import->owner_device < VINCI_MAX_DEVICES
		    ? word_map(import->handle, import->mmap_offset, serial, out)
		    : -EPROTO;
	if (!r)
		return 0;
	(void)drv_close_handle(rts_drv(), import->handle);
	return u_report(rts_errno_code(VINCI_SHARE_NOTIFY, RTS_OP_MAP, r),
			"the page of an imported notify cannot be mapped: %s", rts_errno_text(r));
}

static int notify_import(struct rts_notify *n, const struct drv_name *name, const struct rts_context *ctx, bool peer)
{
	struct drm_vinci_share_import import;
	struct shared_word *sw;
	int r;

	u_mutex_lock(&words_lock);
	r = word_import(name, ctx->device, n->serial, &import, &sw);
	u_mutex_unlock(&words_lock);
	if (r)
		return r;
	n->device = import.owner_device;
	n->serial = sw->serial;
	atomic_store(&n->id, import.id);
	atomic_store(&n->shared, sw);
	return peer ? rts_peer_enable_both(ctx->device, n->device) : 0;
}

int rts_notify_import(const char *key, uint64_t flags, aclrtNotify *handle)
{
	struct drv_name name;
	struct rts_context *ctx;
	struct rts_notify *n = NULL;
	int r;

	r = import_check(key, flags, &name);
	if (!r)
		r = rts_context_current(&ctx);
	if (r)
		return r;
	n = notify_alloc(ctx->device);
	if (!n)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a notify");
	n->imported = true;
	atomic_store(&n->word, NOTIFY_MOVED);
	r = notify_import(n, &name, ctx, flags & ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS);
	if (!r)
		r = notify_publish(n, handle);
	if (r)
		rts_object_put(&n->obj);
	return r;
}
