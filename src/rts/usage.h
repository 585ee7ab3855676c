/* SPDX-License-Identifier: MIT */
/* usage.h - how much memory of each device this process is charged for, by component. */
#ifndef VINCI_RTS_USAGE_H
#define VINCI_RTS_USAGE_H

#include "rts/rts.h"

/* In CANN's words: APP is what the application allocated, ASCENDCL what the runtime holds for it (pools). */
enum rts_component { RTS_COMPONENT_APP, RTS_COMPONENT_ASCENDCL, RTS_COMPONENTS };

void rts_usage_add(uint32_t device, enum rts_component component, uint64_t bytes);
void rts_usage_sub(uint32_t device, enum rts_component component, uint64_t bytes);
/* Those that ever had memory, the largest first, at most @capacity; returns how many. */
size_t rts_usage_list(uint32_t device, aclrtMemUsageInfo *infos, size_t capacity);

#endif
