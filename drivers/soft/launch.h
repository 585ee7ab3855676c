/* SPDX-License-Identifier: MIT */
/* launch.h - what passes between vincid and the process that starts it (src/drv/soft_launch.c). */
#ifndef VINCI_SOFT_LAUNCH_H
#define VINCI_SOFT_LAUNCH_H

#include <stdint.h>

/* Descriptors that vincid --inherited finds open: its listening socket, and a pipe to say how the start went. */
#define LAUNCH_FD_LISTEN 3
#define LAUNCH_FD_REPORT 4

#define LAUNCH_BACKLOG 1024

enum launch_stage {
	LAUNCH_READY,
	LAUNCH_FORK,
	LAUNCH_SOCKET,
	LAUNCH_BIND,
	LAUNCH_EXEC,
	LAUNCH_SETUP,
};

struct launch_report {
	int32_t stage; /* how far it came */
	int32_t error; /* errno, 0 with LAUNCH_READY */
};

#endif
