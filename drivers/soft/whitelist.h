/* SPDX-License-Identifier: MIT */
/* whitelist.h - who may open a share, and how often one may guess. */
#ifndef VINCI_SOFT_WHITELIST_H
#define VINCI_SOFT_WHITELIST_H

#include <stdbool.h>
#include <stdint.h>

struct soft_file;
struct soft_process;
struct soft_share;

/* All or none. -EINVAL: nobody to add, or a negative pid; -ENOSPC: no room. */
int soft_whitelist_add(struct soft_share *share, uint32_t sdid, const int32_t *pids, uint32_t count);
/* Is the process's pid on the list? @current: and is the entry about this very process? */
bool soft_whitelist_find(const struct soft_share *share, const struct soft_process *process, bool *current);

/* Failed imports have a budget by process and by user, so that names cannot be searched for. */
bool soft_guess_exhausted(const struct soft_file *file);
void soft_guess_count(struct soft_file *file);

#endif
