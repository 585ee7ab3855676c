// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What both devices decide alike, compiled here: kbuild wants its sources in this directory. */
#include "common/checks.c"
#include "common/share_policy.c"
