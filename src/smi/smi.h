/* SPDX-License-Identifier: MIT */
/*
 * smi.h - vinci-smi: what the device of an instance holds, and for whom. It only looks: it starts no vincid and opens no
 * share.
 *
 * Everything comes from another process: counts and strings are checked before they are used or printed.
 */
#ifndef VINCI_SMI_SMI_H
#define VINCI_SMI_SMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/vinci_drm.h"

struct drv;

#define SMI_NAME_MAX 24 /* of a process, with NUL: the kernel keeps 15 characters */

struct smi_devices {
	struct drm_vinci_device_info info[VINCI_MAX_DEVICES];
	uint32_t count;
};

/* One answer of DRM_IOCTL_VINCI_LIST; @array is owned. */
struct smi_list {
	void *array;
	uint32_t count;
};

struct smi_view {
	const char *instance; /* borrowed */
	const char *socket; /* borrowed; NULL: the abstract socket */
	bool running; /* false: nothing below is set */
	uint32_t major, minor;
	int32_t self; /* this process as the device sees it */
	bool same_pids; /* the device's process ids are ours: names can be looked up */
	struct smi_devices devices;
	struct smi_list processes, shares, allowed, openers, notifies;
};

/* collect.c */
int smi_collect(struct drv *drv, struct smi_view *view); /* -errno; free in any case */
void smi_free(struct smi_view *view);
/* The program's name, printable, or "-" where it is not known. Returns @name. */
const char *smi_process_name(const struct smi_view *view, int32_t pid, char name[SMI_NAME_MAX]);
/* Copies at most @size - 1 printable characters, '?' for others. */
void smi_printable(char *out, const void *text, size_t size);
const char *smi_kind_name(uint32_t kind);
const struct vinci_list_process *smi_process(const struct smi_view *view, uint32_t i);
const struct vinci_list_share *smi_share(const struct smi_view *view, uint32_t i);
const struct vinci_list_notify *smi_notify(const struct smi_view *view, uint32_t i);
/* The @i-th member of the share; NULL: there are no more. @at: start with 0, moves on. */
const struct vinci_list_member *smi_member(const struct smi_list *list, uint64_t serial, uint32_t *at);

/* text.c */
void smi_print_overview(const struct smi_view *view);
void smi_print_processes(const struct smi_view *view);
void smi_print_shares(const struct smi_view *view);
void smi_print_notifies(const struct smi_view *view);

/* json.c */
void smi_print_json(const struct smi_view *view);

/* instances.c: one line for each vincid that listens on an abstract socket of this network namespace. -errno */
int smi_print_instances(void);

#endif
