/* SPDX-License-Identifier: MIT */
/*
 * config.h - the settings of a device instance: VINCI_* variables, and below them the file that VINCI_CONFIG names.
 *
 *	VINCI_DEVICES	1 .. 64
 *	VINCI_MEMORY	bytes of one device, with K, M, G or T: a multiple of 2M
 *	VINCI_SOC	a SoC name that rts/profile.c knows
 *	VINCI_PEERS	groups of devices that reach each other: "0-3,4-7", "0+2+4,1+3", "all", "none"
 *	VINCI_DRIVER	soft (vincid), drm (vinci.ko)
 *	VINCI_INSTANCE	letters, digits, '.', '_', '-'; at most 63
 *	VINCI_SOCKET	absolute path of the device's socket
 *	VINCI_SERVER	absolute path of vincid
 *	VINCI_LOG	off, error, warn, info, debug; in a file: from when the device is opened
 *
 * In the file the same names without VINCI_, in lower case, as "name = value" lines; '#' starts a comment. A variable
 * wins. A program that runs with another's rights (AT_SECURE) reads none of them.
 */
#ifndef VINCI_RTS_CONFIG_H
#define VINCI_RTS_CONFIG_H

#include "drv/drv.h"

#define CONFIG_INSTANCE_MAX 64
#define CONFIG_SOCKET_MAX 108 /* sun_path */
#define CONFIG_PATH_MAX 4096

struct rts_config {
	struct drv_settings settings; /* its strings point below */
	bool all_peers;
	char instance[CONFIG_INSTANCE_MAX];
	char socket[CONFIG_SOCKET_MAX];
	char server[CONFIG_PATH_MAX];
};

/* 507033 with a sentence that names variable or line, the value and what is wanted. */
int rts_config_read(struct rts_config *config);

#endif
