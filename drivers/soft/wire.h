/* SPDX-License-Identifier: MIT */
/*
 * wire.h - what vincid and its clients say to each other over a SOCK_SEQPACKET socket, host byte order.
 *
 *   client: struct wire_hello                                once, first
 *   vincid: struct wire_welcome [+ the ring]                 once; a refusal (status < 0) ends the connection
 *   client: struct wire_request, argument, array             one message a request
 *   vincid: struct wire_reply, argument [+ one descriptor]   none for WIRE_ONE_WAY
 *
 * Handles that need no answer are closed through the ring, a page that both map: it costs no system call and wakes
 * nobody, because vincid looks at all rings before it runs any request. A full ring: WIRE_ONE_WAY.
 *
 * The argument is the request's UAPI structure, of as many bytes as the request number says. A pointer inside it means
 * the array that follows (an input), or the memfd that comes with the reply (an output, DRM_IOCTL_VINCI_LIST).
 * The hello and the welcome keep their leading fields in every version.
 */
#ifndef VINCI_SOFT_WIRE_H
#define VINCI_SOFT_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

#include "uapi/vinci_drm.h"

#define WIRE_HELLO_MAGIC 0x6f6c6876u /* "vhlo" */
#define WIRE_WELCOME_MAGIC 0x636c6576u /* "velc" */
#define WIRE_WHY_MAX 256

/* Largest argument that fits a request number, and largest message: 65,536 pids and the rest. */
#define WIRE_ARG_MAX 16384u
#define WIRE_ARRAY_MAX (256u << 10)
#define WIRE_MESSAGE_MAX (WIRE_ARRAY_MAX + WIRE_ARG_MAX + 64)

/* Largest output array. All whitelist entries of a file are a quarter of it; what a caller can ask for is more. */
#define WIRE_LISTING_MAX (64u << 20)

/* 0 (and an empty soc): whatever the instance has. */
struct wire_settings {
	uint32_t devices;
	uint32_t notify_limit;
	uint64_t mem_bytes;
	uint8_t soc[VINCI_SOC_NAME_MAX];
	uint32_t has_peers;
	uint32_t pad;
	uint64_t peers[VINCI_MAX_DEVICES];
};

struct wire_hello {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t settings_size; /* bytes of @settings that follow: a newer minor may append */
	uint32_t pad;
	struct wire_settings settings;
};

struct wire_welcome {
	uint32_t magic;
	int32_t status; /* 0 or -errno */
	uint16_t major;
	uint16_t minor;
	uint32_t pad;
	char why[WIRE_WHY_MAX]; /* one sentence for the user when status is not 0 */
};

#define WIRE_RING_SLOTS 992u

/* Comes as a sealed memfd. Each side writes its own count only and trusts nothing of the other's. */
struct wire_ring {
	_Atomic uint32_t put; /* handles that the client has put in, ever; release */
	uint32_t pad[15];
	_Atomic uint32_t taken; /* that vincid has taken out; release */
	uint32_t pad2[15];
	_Atomic uint32_t handles[WIRE_RING_SLOTS]; /* the n-th at n % WIRE_RING_SLOTS */
};

#define WIRE_ONE_WAY (1u << 0) /* no reply; DRM_IOCTL_GEM_CLOSE only */

struct wire_request {
	uint32_t seq; /* comes back in the reply */
	uint32_t flags;
	uint32_t request; /* ioctl number, or WIRE_MMAP */
	uint32_t array_size; /* bytes of the array after the argument */
};

/* Asks for the descriptor behind an mmap offset: what mmap() is to a device node. */
struct wire_mmap {
	uint64_t offset;
	uint64_t size;
};
#define WIRE_MMAP DRM_IOW(0xff, struct wire_mmap)

struct wire_reply {
	uint32_t seq;
	int32_t ret; /* 0 or -errno; only with 0 an argument follows */
	uint32_t flags; /* WIRE_REPLY_* */
	uint32_t page_kind; /* of the object */
	uint64_t base; /* mmap offset of the object's first byte, or 0 */
	uint64_t size; /* bytes of the object, or of the array */
	uint32_t handle; /* the caller's handle of the object, 0 for WIRE_MMAP */
	uint32_t pad;
};

#define WIRE_REPLY_OBJECT (1u << 0) /* the descriptor is the object's memory */
#define WIRE_REPLY_ARRAY (1u << 1) /* the descriptor holds the output array */

_Static_assert(sizeof(struct wire_settings) == 568, "wire_settings");
_Static_assert(sizeof(struct wire_hello) == 584, "wire_hello");
_Static_assert(sizeof(struct wire_welcome) == 272, "wire_welcome");
_Static_assert(sizeof(struct wire_ring) == 4096, "wire_ring");
_Static_assert(sizeof(struct wire_request) == 16, "wire_request");
_Static_assert(sizeof(struct wire_reply) == 40, "wire_reply");

#endif
