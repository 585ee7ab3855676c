/* SPDX-License-Identifier: MIT */
/*
 * share_peer.h - another process that does what a test tells it to, one call of the API a line.
 *
 * A command is a word and its arguments; the answer is a number, mostly the call's code. A peer has one pointer and one
 * handle: what it imported, allocated or mapped last.
 */
#ifndef VINCI_SHARE_PEER_H
#define VINCI_SHARE_PEER_H

#include <inttypes.h>

#include "mem_util.h"

#define ANSWER_MS 20000

/* True when this process was started as a peer: main() returns *status. */
bool share_peer_main(int argc, char **argv, int *status);

/* Starts one that has set @device; -1: none. */
void peer_start(struct t_peer *peer, int device);
void peer_start_env(struct t_peer *peer, int device, const char *const env[]);
/* Ends it by closing its stdin: it exits with everything still open. */
void peer_stop(struct t_peer *peer);
/*
 * pid                      its number for whitelists
 * set DEVICE, reset        aclrtSetDevice, aclrtResetDeviceForce
 * malloc SIZE, free        pointer
 * export OFFSET SIZE FLAGS pointer; the key is then had with peer_key()
 * allow KEY PID, import KEY FLAGS, close KEY
 * range                    size of the range around the pointer
 * reach                    bytes from the pointer to the end of its mapping
 * get OFFSET, put OFFSET VALUE          a word at the pointer (as a kernel would)
 * vimport NUMBER DEVICE    handle
 * vmap SIZE                reserves and maps the handle: pointer
 * vunmap, vfree, vrelease  mapping, handle, reservation
 * vexport FLAGS            handle; the number is had with "number"
 * vallow NUMBER PID
 * vcreate SIZE [DEVICE]    handle
 * vlocation                device of the handle
 * vaccess SIZE DEVICE      aclrtMemSetAccess of the mapping
 * fimport HEX              handle, from a fabric handle
 * attr KEY LINK
 * p2p PEER, unp2p PEER     enables, disables peer access
 * p2pstatus DEVICE PEER, canp2p DEVICE PEER
 * sync                     aclrtSynchronizeDevice
 */
int64_t peer_ask(struct t_peer *peer, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void peer_key(struct t_peer *peer, char key[65]);
/* The sentence about its last failure. */
void peer_message(struct t_peer *peer, char *text, size_t size);

#define assert_ask(peer, code, ...) assert_int_equal(peer_ask(peer, __VA_ARGS__), code)

#endif
