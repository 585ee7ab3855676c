/* SPDX-License-Identifier: MIT */
/* transport_inproc.h - the device library called in process, for tests: no socket, and any identity. */
#ifndef VINCI_TESTS_UAPI_TRANSPORT_INPROC_H
#define VINCI_TESTS_UAPI_TRANSPORT_INPROC_H

#include <stdint.h>
#include <sys/types.h>

#include "drv/transport.h"

extern const struct transport_ops transport_inproc;

/* Who opens the files from now on. */
void inproc_identity(pid_t pid, uint64_t start);

#endif
