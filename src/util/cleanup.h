/* SPDX-License-Identifier: MIT */
/* cleanup.h - drops a reference when a variable goes out of scope: u_cleanup(rts_stream_put) struct rts_stream *st = NULL; */
#ifndef VINCI_UTIL_CLEANUP_H
#define VINCI_UTIL_CLEANUP_H

#define u_cleanup(fn) __attribute__((cleanup(fn)))

#endif
