/* SPDX-License-Identifier: MIT */
/* vmm.h - physical memory, reserved addresses and mappings: what the acl layer calls, and what vmm*.c and ipc.c share. */
#ifndef VINCI_RTS_VMM_H
#define VINCI_RTS_VMM_H

#include <sys/queue.h>

#include "rts/rts.h"

#define RTS_VMM_PAGE (UINT64_C(2) << 20) /* granularity of addresses and sizes; of 1 GiB pages: sizes in GiB */
#define RTS_VMM_PIDS_MAX 65535 /* per call */

struct rts_phys_request {
	size_t size;
	uint32_t device; /* 0 when @host */
	uint32_t page_kind;
	bool host;
	int32_t numa_node; /* -1: no preference */
	aclrtPhysicalMemProp prop; /* as the user will read it back */
};

/* 507899: size not a multiple of 2 MiB, or a device that this process has not set; 207001. */
int rts_phys_create(const struct rts_phys_request *request, aclrtDrvMemHandle *handle);
/* Which link mappings of the memory should use. 107000, 207000 for host memory, 207021 where there is no such link */
int rts_phys_advise_link(aclrtDrvMemHandle handle, aclrtMemLinkType link);
/* Drops one count that a create, import or retain gave. 107000: not a handle, or only mappings hold it. */
int rts_phys_free(aclrtDrvMemHandle handle);
int rts_phys_prop(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop);

/* @expect: NULL, or the address wanted. @no_uc: aclrtReserveMemAddressNoUCMemory's rules. */
int rts_vmm_reserve(size_t size, size_t alignment, void *expect, bool no_uc, void **out);
int rts_vmm_release(void *va);
int rts_vmm_map(void *va, size_t size, size_t offset, aclrtDrvMemHandle handle);
/*
 * The address is free at once; its pages stay until the tasks submitted before have ended. Mapping something else there
 * meanwhile waits for them.
 */
int rts_vmm_unmap(void *va);
/* Maps at @dst what is mapped from @src on, mapping by mapping, until @size bytes are covered; all of it or nothing. */
int rts_vmm_map_again(void *dst, size_t size, void *src);
int rts_vmm_retain(void *va, aclrtDrvMemHandle *handle);
int rts_vmm_set_access(void *va, size_t size, const aclrtMemAccessDesc *desc, size_t count);
int rts_vmm_get_access(void *va, const aclrtMemLocation *location, uint64_t *flags);
/* Lets @device use the range without page faults: maps into this process what is backed of it. */
int rts_vmm_p2p_map(void *ptr, size_t size, uint32_t device);

/* @kind: VINCI_SHARE_VMM or VINCI_SHARE_FABRIC */
int rts_phys_export(aclrtDrvMemHandle handle, uint32_t kind, uint64_t flags, struct drv_name *name);
int rts_phys_allow(const struct drv_name *name, const int32_t *pids, size_t count);
int rts_phys_import(const struct drv_name *name, uint32_t device, aclrtDrvMemHandle *handle);

/* --- for vmm*.c and ipc.c; under rts_share_lock --------------------------------------------- */

struct rts_phys {
	struct rts_object obj;
	LIST_ENTRY(rts_phys) link; /* all that are alive */
	/* set at creation */
	uint32_t bo;
	uint64_t mmap_offset;
	uint64_t size; /* of the object */
	uint64_t asked; /* what the user gave, in pages of 2 MiB: smaller than size when that is in pages of 1 GiB */
	uint64_t epoch; /* of the connection that bo belongs to */
	uint32_t page_kind;
	uint32_t device; /* that it was created or imported for */
	uint32_t owner; /* whose memory it is */
	bool host, imported;
	aclrtPhysicalMemProp prop;
	/* changing */
	struct drv_name name; /* under which it was exported or imported; len 0: neither */
	uint32_t user_refs, map_refs;
};

struct vmm_reservation {
	uintptr_t base;
	size_t size;
	bool no_uc;
	bool bound; /* something was mapped once: unless @no_uc, later mappings have to be of the same side and device */
	bool host;
	bool released; /* waits for tasks that use its old mappings */
	uint32_t device;
	uint32_t dying; /* unmapped, but earlier tasks may still use the pages */
	LIST_HEAD(, vmm_mapping) mappings, dead;
};

struct vmm_mapping {
	LIST_ENTRY(vmm_mapping) link;
	struct vmm_reservation *reservation;
	struct rts_phys *phys; /* NULL once unmapped */
	uintptr_t base;
	size_t size;
	uint64_t access; /* bit d: device d was given access */
	bool host_access;
	uint32_t keys; /* exports by key that pin it */
};

/* With PROT_NONE: addresses without memory, which cost nothing. */
#define VMM_NO_ACCESS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* The reservation around @addr, or NULL. */
struct vmm_reservation *vmm_reservation_of(uintptr_t addr);
void vmm_reservation_free(struct vmm_reservation *res);
/* The mapping that starts at @va, or NULL. */
struct vmm_mapping *vmm_mapping_at(const void *va);
int vmm_map_locked(uintptr_t base, size_t size, struct rts_phys *phys);
/* Any mapping of memory that was created or imported for @device, or NULL. */
struct vmm_mapping *vmm_mapping_of_device(uint32_t device);
/* Takes the mapping out; what is left of it is for vmm_mapping_defer(), without the lock. */
void vmm_mapping_end(struct vmm_mapping *mapping);
void vmm_mapping_defer(struct vmm_mapping *mapping);

/* A live handle with a reference (rts_object_put), else NULL; takes no lock. 107000 is reported. */
int vmm_phys_get(aclrtDrvMemHandle handle, struct rts_phys **phys);
/* Gives the object its handle with one count. */
int vmm_phys_publish(struct rts_phys *phys);
/* 107000 when it was freed since the lookup, or belongs to a device that has died. */
int vmm_phys_check(const struct rts_phys *phys);
/* A count was dropped: ends the handle and its memory if it was the last. */
void vmm_phys_settle(struct rts_phys *phys);
/* What was imported under this name for this device. */
struct rts_phys *vmm_phys_imported(const struct drv_name *name, uint32_t device);

#endif
