/* SPDX-License-Identifier: MIT */
/*
 * event_page.h - the pages by which processes share an event.
 *
 * A record is a ticket. Whoever records takes the next one, marks its slot as pending, makes it the event's current one, and marks the
 * slot as done when his stream has come there; who waits takes the current ticket and looks at its slot. Slots are used in turn, one
 * that is pending is passed over, and one that has been taken for a later ticket says that the earlier is done.
 *
 * Nobody holds anything while others wait: a process can be killed at any instruction, and what it leaves behind is a ticket that never
 * becomes current or a slot that stays pending. Whether the process that should mark a slot is still there is known from its
 * *member*: each process exports an empty page, whose name goes when the process does, and notes the name in the event's pages.
 *
 * Other processes write all of this. Every value is legal at every time: it can make a wait end or fail, and no more.
 */
#ifndef VINCI_RTS_EVENT_PAGE_H
#define VINCI_RTS_EVENT_PAGE_H

#include "rts/rts.h"

struct event_page; /* counted; one in a process however many events stand for it */

int event_page_create(uint32_t device, struct event_page **out);
/* The name, the same each time. */
int event_page_name(struct event_page *page, aclrtIpcEventHandle *handle);
int event_page_open(const aclrtIpcEventHandle *handle, uint32_t device, struct event_page **out);
void event_page_put(struct event_page *page);
/* The creator's device, as the pages say; VINCI_MAX_DEVICES when that is nonsense. */
uint32_t event_page_device(struct event_page *page);

/* The ticket of the latest record; 0: none yet. */
uint32_t event_page_current(struct event_page *page);
bool event_page_done(struct event_page *page, uint32_t ticket);
/* Begins a record. May wait for room. 207005 when there is none, for a record or for one more process. */
int event_page_record(struct event_page *page, uint32_t *ticket);
void event_page_complete(struct event_page *page, uint32_t ticket);
/* Sleeps until some record has been completed, or @until; not if the ticket is done. */
void event_page_sleep(struct event_page *page, uint32_t ticket, uint64_t until);
/* The word that event_page_sleep() sleeps on, for whoever wants to wake this process's threads. */
_Atomic uint32_t *event_page_word(struct event_page *page);
/* Asks the device: has the process gone that should complete the ticket? */
bool event_page_lost(struct event_page *page, uint32_t ticket);

#endif
