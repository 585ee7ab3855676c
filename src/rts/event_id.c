/* SPDX-License-Identifier: MIT */
/*
 * event_id.c - the ids of events, of which a device has a limited number.
 *
 * Some events keep theirs from creation to destruction. The others take one at a record and need it until the record has been
 * reached and waited for; it is taken from them when somebody else needs one or asks how many there are.
 */
#include "rts/event_impl.h"

#define IDS_MAX 65536u /* the largest limit of any profile */
#define WORDS (IDS_MAX / 64)

static struct {
	struct u_mutex lock;
	struct device_ids {
		uint64_t taken[WORDS];
		uint32_t used;
		uint32_t hint; /* word where the search begins */
		struct rts_event *lenders; /* events whose id can be taken back once they are through */
	} of[VINCI_MAX_DEVICES];
} ids = { .lock = U_MUTEX_INIT(RANK_EVENT, "event ids") };

static uint32_t id_limit(void)
{
	uint32_t limit = rts_profile()->event_limit;

	return limit < IDS_MAX ? limit : IDS_MAX;
}

static bool keeps_id(const struct rts_event *ev)
{
	return !ev->ex && ev->flags != RTS_EVENT_ALL;
}

static int32_t id_take_locked(struct device_ids *d)
{
	if (d->used >= id_limit())
		return -1;
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t word = (d->hint + i) % WORDS;
		uint64_t taken = d->taken[word];

		if (!~taken)
			continue;
		d->taken[word] = taken | (taken + 1);
		d->hint = word;
		d->used++;
		return (int32_t)(word * 64 + (uint32_t)__builtin_ctzll(~taken));
	}
	return -1;
}

static void lender_unlink(struct device_ids *d, struct rts_event *ev)
{
	if (keeps_id(ev))
		return;
	if (ev->prev)
		ev->prev->next = ev->next;
	else
		d->lenders = ev->next;
	if (ev->next)
		ev->next->prev = ev->prev;
	ev->prev = ev->next = NULL;
}

static void lender_link(struct device_ids *d, struct rts_event *ev)
{
	if (keeps_id(ev))
		return;
	ev->next = d->lenders;
	if (ev->next)
		ev->next->prev = ev;
	d->lenders = ev;
}

static void id_give_locked(struct device_ids *d, struct rts_event *ev)
{
	d->taken[ev->id / 64] &= ~(UINT64_C(1) << (ev->id % 64));
	d->used--;
	ev->holds_id = false;
	lender_unlink(d, ev);
}

static bool event_is_through(struct rts_event *ev)
{
	bool through;

	u_lock_take(&ev->lock);
	through = place_reached(&ev->record);
	u_lock_give(&ev->lock);
	return through && !atomic_load(&ev->waits);
}

static void ids_collect_locked(struct device_ids *d)
{
	struct rts_event *ev, *next;

	for (ev = d->lenders; ev; ev = next) {
		next = ev->next;
		if (event_is_through(ev))
			id_give_locked(d, ev);
	}
}

int event_id_hold(struct rts_event *ev)
{
	struct device_ids *d = &ids.of[ev->device];
	int32_t id = 0;

	u_mutex_lock(&ids.lock);
	if (!ev->holds_id) {
		id = id_take_locked(d);
		if (id < 0) {
			ids_collect_locked(d);
			id = id_take_locked(d);
		}
		if (id >= 0) {
			ev->id = id;
			ev->holds_id = true;
			lender_link(d, ev);
		}
	}
	u_mutex_unlock(&ids.lock);
	if (id < 0)
		return u_report(ACL_ERROR_RT_NO_EVENT_RESOURCE, "device %d has no event left: %s allows %u at once",
				rts_device_to_user(ev->device), rts_profile()->soc, id_limit());
	return 0;
}

void event_id_drop(struct rts_event *ev)
{
	u_mutex_lock(&ids.lock);
	if (ev->holds_id)
		id_give_locked(&ids.of[ev->device], ev);
	u_mutex_unlock(&ids.lock);
}

uint32_t rts_events_available(uint32_t device)
{
	struct device_ids *d = &ids.of[device];
	uint32_t used;

	u_mutex_lock(&ids.lock);
	ids_collect_locked(d);
	used = d->used;
	u_mutex_unlock(&ids.lock);
	return id_limit() - used;
}

static int id_read(struct rts_event *ev, uint32_t *id)
{
	int32_t value;

	u_mutex_lock(&ids.lock);
	value = ev->id;
	u_mutex_unlock(&ids.lock);
	if (value < 0)
		return u_report(ACL_ERROR_RT_INTERNAL_ERROR,
				"the event has no id: it has not been recorded, or its flags (0x%x) need none", ev->flags);
	*id = (uint32_t)value;
	return 0;
}

int rts_event_id(aclrtEvent handle, uint32_t *id)
{
	struct rts_event *ev = NULL;
	int r = event_get(handle, &ev);

	if (r)
		return r;
	if (ev->flags == ACL_EVENT_IPC)
		r = u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an ACL_EVENT_IPC event has no id");
	else
		r = id_read(ev, id);
	event_put(&ev);
	return r;
}
