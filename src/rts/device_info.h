/* SPDX-License-Identifier: MIT */
/* device_info.h - what a device can tell about itself. */
#ifndef VINCI_RTS_DEVICE_INFO_H
#define VINCI_RTS_DEVICE_INFO_H

#include "rts/rts.h"

/* Asks the device. */
bool rts_device_alive(uint32_t device);
/* 207000 for an attribute that has no meaning for this SoC or for a device of a CPU; 107000 for an unknown one. */
int rts_device_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value);

/*
 * How busy this process keeps the workers that run kernels of @device, in percent. Takes some 10 ms: what the workers
 * do is looked at again and again meanwhile.
 */
unsigned rts_device_load(uint32_t device);

/* One of ACL_RT_DEVS_TOPOLOGY_*. */
int rts_device_link(uint32_t a, uint32_t b, uint64_t *kind);
/*
 * What kernels do atomically to memory that the host, or another device, is working on: bits of aclrtAtomicOperationCapability for
 * each operation. 107000 for one that there is not.
 */
int rts_atomics(const aclrtAtomicOperation *operations, uint32_t count, uint32_t *capabilities);
/* The same for one device of one instance of one host, whatever its number is here; another for every other device. */
int rts_device_uuid(uint32_t device, unsigned char out[16]);
/* dddd:bb:dd.f; 207000 where devices are not on such a bus. */
#define RTS_PCI_BYTES 13
int rts_device_pci(uint32_t device, char *out, size_t size);
int rts_device_by_pci(const char *text, int32_t *user);

#endif
