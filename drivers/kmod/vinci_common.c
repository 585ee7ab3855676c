// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What both devices decide alike, compiled here: kbuild wants its sources in this directory. */
#include "common/checks.c"
#include "common/device.c"
#include "common/list.c"
#include "common/notify.c"
#include "common/object.c"
#include "common/peer.c"
#include "common/share.c"
#include "common/share_policy.c"
#include "common/whitelist.c"
