/* SPDX-License-Identifier: MIT */
/* snapshot_memory.h - what devices' memory held, for snapshot.c. One step at a time. */
#ifndef VINCI_RTS_SNAPSHOT_MEMORY_H
#define VINCI_RTS_SNAPSHOT_MEMORY_H

/* In place of what was saved before. 207001 */
int snapshot_memory_save(void);
/* What has been freed since is left out. */
void snapshot_memory_restore(void);
void snapshot_memory_forget(void);

#endif
