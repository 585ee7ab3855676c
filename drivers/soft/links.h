/* SPDX-License-Identifier: MIT */
/* links.h - circular doubly linked list threaded through its elements. */
#ifndef VINCI_SOFT_LINKS_H
#define VINCI_SOFT_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct links {
	struct links *next;
	struct links *prev;
};

static inline void links_init(struct links *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool links_empty(const struct links *head)
{
	return head->next == head;
}

static inline void links_add(struct links *head, struct links *item)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}

/* Leaves the item an empty list: removing it again is harmless. */
static inline void links_del(struct links *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	links_init(item);
}

#define links_entry(item, type, member) ((type *)((char *)(item) - offsetof(type, member)))

#define links_for_each(pos, head, type, member) \
	for (pos = links_entry((head)->next, type, member); &pos->member != (head); \
	     pos = links_entry(pos->member.next, type, member))

/* The current element may be removed. */
#define links_for_each_safe(pos, tmp, head, type, member) \
	for (pos = links_entry((head)->next, type, member), tmp = links_entry(pos->member.next, type, member); \
	     &pos->member != (head); pos = tmp, tmp = links_entry(tmp->member.next, type, member))

#endif
