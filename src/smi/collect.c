/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv/drv.h"
#include "smi/smi.h"

#define LIST_TRIES 8 /* it may grow between the question how long it is and the answer */
#define LIST_MAX (1u << 22) /* elements; a device that claims more is broken */

void smi_printable(char *out, const void *text, size_t size)
{
	const unsigned char *in = text;
	size_t i;

	for (i = 0; i + 1 < size && in[i]; i++)
		out[i] = in[i] >= 0x20 && in[i] < 0x7f ? (char)in[i] : '?';
	out[i] = 0;
}

const char *smi_process_name(const struct smi_view *view, int32_t pid, char name[SMI_NAME_MAX])
{
	char path[32], comm[SMI_NAME_MAX] = "";
	ssize_t n = -1;
	int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (view->same_pids && pid > 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, comm, sizeof(comm) - 1);
		(void)close(fd);
	}
	comm[n > 0 ? n : 0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	smi_printable(name, comm[0] ? comm : "-", SMI_NAME_MAX);
	return name;
}

const char *smi_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[VINCI_SHARE_IPC_MEM] = "ipc-memory", [VINCI_SHARE_NOTIFY] = "notify", [VINCI_SHARE_VMM] = "physical",
		[VINCI_SHARE_FABRIC] = "fabric", [VINCI_SHARE_EVENT] = "event",
	};

	return kind && kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

const struct vinci_list_process *smi_process(const struct smi_view *view, uint32_t i)
{
	return (const struct vinci_list_process *)view->processes.array + i;
}

const struct vinci_list_share *smi_share(const struct smi_view *view, uint32_t i)
{
	return (const struct vinci_list_share *)view->shares.array + i;
}

const struct vinci_list_notify *smi_notify(const struct smi_view *view, uint32_t i)
{
	return (const struct vinci_list_notify *)view->notifies.array + i;
}

const struct vinci_list_member *smi_member(const struct smi_list *list, uint64_t serial, uint32_t *at)
{
	const struct vinci_list_member *members = list->array;

	while (*at < list->count)
		if (members[(*at)++].serial == serial)
			return &members[*at - 1];
	return NULL;
}

static int collect_list(struct drv *drv, uint32_t type, uint32_t elem_size, struct smi_list *list)
{
	uint32_t room = 64, count;
	int tries, r;

	for (tries = 0; tries < LIST_TRIES; tries++) {
		free(list->array);
		list->array = calloc(room, elem_size);
		if (!list->array)
			return -ENOMEM;
		count = room;
		r = drv_list(drv, type, list->array, elem_size, &count);
		if (r)
			return r;
		if (count > LIST_MAX)
			return -EPROTO;
		list->count = count < room ? count : room;
		if (count <= room)
			return 0;
		room = count + count / 8;
	}
	return 0; /* it grows faster than we ask: what fitted is shown */
}

static int collect_devices(struct drv *drv, struct smi_devices *devices)
{
	uint64_t count;
	int r = drv_get_param(drv, VINCI_PARAM_DEVICE_COUNT, &count);

	if (r)
		return r;
	if (count > VINCI_MAX_DEVICES)
		return -EPROTO;
	for (devices->count = 0; devices->count < count; devices->count++) {
		r = drv_device_info(drv, devices->count, &devices->info[devices->count]);
		if (r)
			return r;
	}
	return 0;
}

static int collect_identity(struct drv *drv, struct smi_view *view)
{
	uint64_t version, self;
	int r = drv_get_param(drv, VINCI_PARAM_UAPI_VERSION, &version);

	if (!r)
		r = drv_get_param(drv, VINCI_PARAM_TGID, &self);
	if (r)
		return r;
	view->major = (uint32_t)(version >> 32);
	view->minor = (uint32_t)version;
	view->self = (int32_t)self;
	view->same_pids = view->self == getpid();
	return 0;
}

/* This process is among those that have the device open: what a tool does itself is not news. */
static void drop_self(struct smi_view *view)
{
	struct vinci_list_process *p = view->processes.array;
	uint32_t i, kept = 0;

	for (i = 0; i < view->processes.count; i++)
		if (p[i].pid != view->self)
			p[kept++] = p[i];
	view->processes.count = kept;
}

int smi_collect(struct drv *drv, struct smi_view *view)
{
	const struct {
		uint32_t type, elem_size;
		struct smi_list *list;
	} lists[] = {
		{ VINCI_LIST_PROCESSES, sizeof(struct vinci_list_process), &view->processes },
		{ VINCI_LIST_SHARES, sizeof(struct vinci_list_share), &view->shares },
		{ VINCI_LIST_ALLOWED, sizeof(struct vinci_list_member), &view->allowed },
		{ VINCI_LIST_OPENERS, sizeof(struct vinci_list_member), &view->openers },
		{ VINCI_LIST_NOTIFIES, sizeof(struct vinci_list_notify), &view->notifies },
	};
	int r = collect_identity(drv, view);
	size_t i;

	if (!r)
		r = collect_devices(drv, &view->devices);
	for (i = 0; !r && i < sizeof(lists) / sizeof(lists[0]); i++)
		r = collect_list(drv, lists[i].type, lists[i].elem_size, lists[i].list);
	if (r)
		return r;
	drop_self(view);
	view->running = true;
	return 0;
}

void smi_free(struct smi_view *view)
{
	free(view->processes.array);
	free(view->shares.array);
	free(view->allowed.array);
	free(view->openers.array);
	free(view->notifies.array);
}
