/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* list.h - circular doubly linked lists threaded through their elements, by the names of the kernel's own. */
#ifndef VINCI_COMMON_LIST_H
#define VINCI_COMMON_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}

/* Leaves the item an empty list: removing it again is harmless. */
static inline void list_del_init(struct list_head *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	INIT_LIST_HEAD(item);
}

#define list_entry(item, type, member) ((type *)((char *)(item) - offsetof(type, member)))

#define list_for_each_entry(pos, head, member) \
	for (pos = list_entry((head)->next, __typeof__(*pos), member); &pos->member != (head); \
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))

/* The current element may be removed. */
#define list_for_each_entry_safe(pos, tmp, head, member) \
	for (pos = list_entry((head)->next, __typeof__(*pos), member), \
	     tmp = list_entry(pos->member.next, __typeof__(*pos), member); \
	     &pos->member != (head); pos = tmp, tmp = list_entry(tmp->member.next, __typeof__(*tmp), member))

#endif
