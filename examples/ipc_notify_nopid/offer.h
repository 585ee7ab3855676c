/* SPDX-License-Identifier: MIT */
/*
 * What process A tells about itself: the key of its notify, and the key of the memory that the notify says is
 * ready.
 */
#ifndef NOTIFY_OFFER_H
#define NOTIFY_OFFER_H

#include "example.h"

struct offer {
	char notify[EXAMPLE_KEY];
	char memory[EXAMPLE_KEY];
};

#endif
