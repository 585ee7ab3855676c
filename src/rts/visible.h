/* SPDX-License-Identifier: MIT */
/*
 * visible.h - ASCEND_RT_VISIBLE_DEVICES: which devices the user sees, in which order. Pure; process.c keeps the result.
 *
 * Comma separated device indices; the place in the list is the user's number. Reading stops at the first token that is
 * not all digits or names no device; what came before counts. A number that is not above the one before it makes the
 * list unusable.
 */
#ifndef VINCI_RTS_VISIBLE_H
#define VINCI_RTS_VISIBLE_H

#include <stdint.h>

#include "uapi/vinci_drm.h"

#define VISIBLE_TEXT_MAX 128 /* bytes that are looked at */

enum visible_fault { VISIBLE_OK, VISIBLE_NONE, VISIBLE_ORDER, VISIBLE_DUPLICATE };

struct visible {
	uint32_t count;
	uint32_t device[VINCI_MAX_DEVICES]; /* by user's number */
	enum visible_fault fault;	    /* count is 0 */
};

/* @text NULL: not set, all @total devices. */
void visible_parse(const char *text, uint32_t total, struct visible *out);

#endif
