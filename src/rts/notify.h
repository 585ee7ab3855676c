/* SPDX-License-Identifier: MIT */
/*
 * notify.h - a notify inside: one bit that a record sets and a wait takes.
 *
 * A notify that no other process knows is `word`, private to this process, and a list of the streams that wait for it.
 * Its export moves the bit to a page of the device, for good: word becomes MOVED, the waiting streams start over and
 * follow the protocol of the page's word (uapi/vinci_drm.h). An imported notify has a page from the start.
 */
#ifndef VINCI_RTS_NOTIFY_H
#define VINCI_RTS_NOTIFY_H

#include "rts/exec.h"

/* Who looks at a shared word in vain again and again, because somebody disturbs its sleep, rests so long before the
 * next look. */
#define WORD_REST_NS (2 * U_NS_PER_MS)

#define NOTIFY_MOVED 3u /* value of rts_notify.word beside VINCI_NOTIFY_CLEAR and _SET */

/* The page of a shared notify; one in a process however many notifies of it stand for it. Protected by words_lock. */
struct shared_word {
	_Atomic uint32_t *word; /* other processes write it: every value at any time */
	struct shared_word *next;
	uint32_t refs; /* notifies */
	uint32_t serial; /* theirs */
	uint32_t handle;
	uint64_t epoch;	   /* of the connection that handle belongs to */
	/* How often somebody found that no other process can record it any more; asked again before it counts. 0: it can. */
	_Atomic uint32_t lost;
};

struct rts_notify {
	struct rts_object obj;
	uint32_t device; /* its creator's */
	_Atomic uint32_t id;
	uint64_t epoch; /* of the connection that reserved the id */
	uint32_t serial; /* the same for all notifies of this process that stand for one */
	bool imported;
	bool exported; /* words_lock; so is name */
	struct drv_name name;
	_Atomic(struct shared_word *) shared; /* set once */

	_Atomic uint32_t word;
	_Atomic uint32_t waiting; /* streams in the list */
	struct u_mutex lock;	  /* the list */
	struct stream_wait *first, *last;
};

/* Payload of a record and of a wait. */
struct notify_task {
	struct rts_notify *notify; /* a reference */
	struct rts_stream *stream; /* its own, once it has run */
	uint64_t timeout_ns;	   /* 0: none */
	uint64_t deadline;	   /* 0: not started yet */
	uint32_t lost_seen;	   /* shared_word.lost, as it was when this wait asked */
	bool linked;		   /* it has been in the list */
	bool polled;		   /* it has been with a poller */
};

/* Ends with the process; it is never destroyed. */
extern struct u_mutex words_lock;

/* --- notify.c --------------------------------------------------------------------------------- */

int notify_get(aclrtNotify handle, struct rts_notify **out);
struct rts_notify *notify_alloc(uint32_t device);
int notify_publish(struct rts_notify *n, aclrtNotify *handle); /* the caller's reference stays its own */
/* Ids of a device that this process has reserved. 207009 */
int notify_id_take(uint32_t device, uint32_t *id);
void notify_id_give(struct rts_notify *n);
/* The bit has moved to n->shared, which is set: the list's streams start over. */
void notify_move(struct rts_notify *n, struct shared_word *sw);
/* Is a record of the notify with this serial queued in another stream than @st, one that may get to it? */
bool notify_coming(const struct rts_stream *st, uint32_t serial);
/* A failure that the stream is told about, or 0 if the wait may go on. */
int wait_check(struct notify_task *t, struct rts_stream *st);

/* --- notify_shared.c -------------------------------------------------------------------------- */

void word_record(struct shared_word *sw);
bool word_take(struct shared_word *sw, bool others);
void word_reset(struct shared_word *sw);
/*
 * Before sleeping until the word is no longer VINCI_NOTIFY_WAITED: the next record will wake. Returns what was found
 * there; if that is VINCI_NOTIFY_SET there is no need to sleep.
 */
uint32_t word_arm(struct shared_word *sw);
/* Asks the device: the code that a wait fails with because every other process that held it, or the device, has gone;
 * or 0. */
int word_lost_code(struct shared_word *sw);
/* The device says so, and nobody has noticed since @seen: all who wait ask again. */
void word_note_lost(struct shared_word *sw, uint32_t seen);
/* The wait of a task for a shared notify: as rts_task_run. */
int word_wait(struct notify_task *t, struct rts_stream *st, struct shared_word *sw);
void word_put(struct shared_word *sw);

/* --- notify_poll.c ---------------------------------------------------------------------------- */

/*
 * Resumes the stream when the word is set, when its peers are gone (sw->lost changes), or at the deadline, whichever is first;
 * @sw NULL: at the deadline (then @n may be NULL too). Once; the stream's owner calls it before its task returns
 * RTS_TASK_BLOCKED. 207005
 */
int poll_add(struct rts_stream *st, struct rts_notify *n, struct shared_word *sw, uint64_t deadline);
/* The owner's: what poll_add() was asked for is of no interest any more. */
void poll_forget(struct rts_stream *st);

#endif
