/* SPDX-License-Identifier: MIT */
/* peer.h - peer access for the acl layer; what imports and copies need is in rts.h. Devices are indices and differ. */
#ifndef VINCI_RTS_PEER_H
#define VINCI_RTS_PEER_H

#include "rts/rts.h"

/* Access from @device to @peer, counted. 207000: no link; 207001: too many processes; disable without enable: 507899. */
int rts_peer_enable(uint32_t device, uint32_t peer);
int rts_peer_disable(uint32_t device, uint32_t peer);
/* Could it be enabled? After rts_process_start(). */
int rts_peer_linked(uint32_t device, uint32_t peer, bool *linked);
/* Have both directions been enabled by somebody? */
int rts_peer_status(uint32_t device, uint32_t peer, bool *active);

#endif
