/* SPDX-License-Identifier: MIT */
/* Always the whole view, whatever table was asked for: scripts pick. Numbers are plain, sizes in bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "smi/smi.h"

/* @text is printable already, or an argument of ours: anything else becomes '?'. */
static void string(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	putchar('"');
	for (; *c; c++) {
		if (*c == '"' || *c == '\\')
			putchar('\\');
		putchar(*c >= 0x20 && *c < 0x7f ? *c : '?');
	}
	putchar('"');
}

static void process(const struct smi_view *view, int32_t pid)
{
	char name[SMI_NAME_MAX];

	printf("{\"pid\": %" PRId32 ", \"name\": ", pid);
	string(smi_process_name(view, pid, name));
	putchar('}');
}

static void peers(uint64_t mask)
{
	const char *comma = "";
	unsigned int d;

	for (d = 0; d < VINCI_MAX_DEVICES; d++) {
		if (!(mask >> d & 1))
			continue;
		printf("%s%u", comma, d);
		comma = ", ";
	}
}

static void device(const struct drm_vinci_device_info *info, uint32_t id)
{
	char soc[VINCI_SOC_NAME_MAX];

	smi_printable(soc, info->soc, sizeof(soc));
	printf("{\"id\": %" PRIu32 ", \"name\": ", id);
	string(soc);
	printf(", \"numa_node\": %" PRId32 ", \"memory_total\": %" PRIu64 ", \"memory_used\": %" PRIu64,
	       info->numa_node, (uint64_t)info->mem_total, (uint64_t)info->mem_used);
	printf(", \"notify_limit\": %" PRIu32 ", \"sdid\": %" PRIu32 ", \"peers\": [", info->notify_limit, info->sdid);
	peers(info->peer_mask);
	printf("]}");
}

static void client(const struct smi_view *view, const struct vinci_list_process *p)
{
	printf("{\"process\": ");
	process(view, p->pid);
	printf(", \"uid\": %" PRIu32 ", \"device\": ", p->uid);
	if (p->device < VINCI_MAX_DEVICES)
		printf("%" PRIu32, p->device);
	else
		printf("null");
	printf(", \"objects\": %" PRIu32 ", \"bytes\": %" PRIu64 "}", p->objects, (uint64_t)p->bytes);
}

static void members(const struct smi_view *view, const struct smi_list *list, uint64_t serial)
{
	const struct vinci_list_member *m;
	const char *comma = "";
	uint32_t at = 0;

	while ((m = smi_member(list, serial, &at))) {
		printf("%s", comma);
		process(view, m->pid);
		comma = ", ";
	}
}

static void share(const struct smi_view *view, const struct vinci_list_share *s)
{
	char hint[sizeof(s->hint)];

	smi_printable(hint, s->hint, sizeof(hint));
	printf("{\"serial\": %" PRIu64 ", \"kind\": ", (uint64_t)s->serial);
	string(smi_kind_name(s->kind));
	printf(", \"key_start\": ");
	string(hint);
	printf(", \"device\": %" PRIu32 ", \"size\": %" PRIu64 ", \"owner\": ", s->device, (uint64_t)s->size);
	process(view, s->pid);
	printf(", \"validated\": %s, \"whitelist\": [", s->flags & VINCI_SHARE_UNVALIDATED ? "false" : "true");
	members(view, &view->allowed, s->serial);
	printf("], \"openers\": [");
	members(view, &view->openers, s->serial);
	printf("]}");
}

static void notify(const struct smi_view *view, const struct vinci_list_notify *n)
{
	printf("{\"device\": %" PRIu32 ", \"id\": %" PRIu32 ", \"owner\": ", n->device, n->id);
	process(view, n->pid);
	printf(", \"holders\": %" PRIu32 "}", n->holders);
}

/* Elements on lines of their own. */
#define LIST(name, count, ...)                                                     \
	do {                                                                       \
		uint32_t i;                                                        \
		printf(",\n\"%s\": [", name);                                      \
		for (i = 0; i < (count); i++) {                                    \
			printf(i ? ",\n\t" : "\n\t");                              \
			__VA_ARGS__;                                               \
		}                                                                  \
		printf("]");                                                       \
	} while (0)

void smi_print_json(const struct smi_view *view)
{
	printf("{\"instance\": ");
	string(view->instance);
	printf(", \"socket\": ");
	if (view->socket)
		string(view->socket);
	else
		printf("null");
	printf(", \"running\": %s", view->running ? "true" : "false");
	if (view->running)
		printf(", \"interface\": \"%" PRIu32 ".%" PRIu32 "\"", view->major, view->minor);
	LIST("devices", view->devices.count, device(&view->devices.info[i], i));
	LIST("processes", view->processes.count, client(view, smi_process(view, i)));
	LIST("shares", view->shares.count, share(view, smi_share(view, i)));
	LIST("notifies", view->notifies.count, notify(view, smi_notify(view, i)));
	printf("}\n");
}
