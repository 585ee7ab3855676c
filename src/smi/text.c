/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "smi/smi.h"

#define MEMBERS_SHOWN 8 /* in a line; --json has all */

/* "64.0 GiB", "4 KiB", "17 B" */
static const char *human(uint64_t bytes, char out[24])
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	while (value >= 1024 && unit < 5) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		(void)snprintf(out, 24, "%u B", (unsigned int)bytes);
	else
		(void)snprintf(out, 24, unit ? "%.1f %ciB" : "%.0f %ciB", value, units[unit]);
	return out;
}

static void print_heading(const struct smi_view *view)
{
	printf("instance %s%s%s, interface %u.%u, %u devices\n\n", view->instance, view->socket ? " at " : "",
	       view->socket ? view->socket : "", view->major, view->minor, view->devices.count);
}

static uint32_t processes_on(const struct smi_view *view, uint32_t device)
{
	uint32_t i, n = 0;

	for (i = 0; i < view->processes.count; i++)
		n += smi_process(view, i)->device == device;
	return n;
}

static uint32_t shares_of(const struct smi_view *view, uint32_t device)
{
	uint32_t i, n = 0;

	for (i = 0; i < view->shares.count; i++)
		n += smi_share(view, i)->device == device;
	return n;
}

static uint32_t notifies_of(const struct smi_view *view, uint32_t device)
{
	uint32_t i, n = 0;

	for (i = 0; i < view->notifies.count; i++)
		n += smi_notify(view, i)->device == device;
	return n;
}

static void print_devices(const struct smi_view *view)
{
	char soc[VINCI_SOC_NAME_MAX], used[24], total[24];
	uint32_t d;

	printf("%-6s  %-16s  %4s  %24s  %9s  %6s  %8s\n", "DEVICE", "NAME", "NUMA", "MEMORY USED / TOTAL", "PROCESSES",
	       "SHARES", "NOTIFIES");
	for (d = 0; d < view->devices.count; d++) {
		const struct drm_vinci_device_info *info = &view->devices.info[d];

		smi_printable(soc, info->soc, sizeof(soc));
		printf("%-6u  %-16s  %4d  %11s / %10s  %9u  %6u  %8u\n", d, soc, info->numa_node,
		       human(info->mem_used, used), human(info->mem_total, total), processes_on(view, d),
		       shares_of(view, d), notifies_of(view, d));
	}
}

static void print_process(const struct smi_view *view, const struct vinci_list_process *p)
{
	char name[SMI_NAME_MAX], device[16] = "-", bytes[24];

	if (p->device < VINCI_MAX_DEVICES)
		(void)snprintf(device, sizeof(device), "%u", p->device);
	printf("%-8d  %-16s  %8u  %6s  %7u  %10s\n", p->pid, smi_process_name(view, p->pid, name), p->uid, device,
	       p->objects, human(p->bytes, bytes));
}

static void print_process_table(const struct smi_view *view)
{
	uint32_t i;

	printf("%-8s  %-16s  %8s  %6s  %7s  %10s\n", "PID", "PROCESS", "USER", "DEVICE", "OBJECTS", "MEMORY");
	for (i = 0; i < view->processes.count; i++)
		print_process(view, smi_process(view, i));
	if (!view->processes.count)
		printf("(no process uses a device)\n");
}

void smi_print_overview(const struct smi_view *view)
{
	print_heading(view);
	print_devices(view);
	printf("\n");
	print_process_table(view);
}

void smi_print_processes(const struct smi_view *view)
{
	print_heading(view);
	print_process_table(view);
}

static void print_members(const struct smi_view *view, const char *what, const struct smi_list *list, uint64_t serial,
			  uint32_t count)
{
	const struct vinci_list_member *m;
	char name[SMI_NAME_MAX];
	uint32_t at = 0, shown = 0;

	printf("        %s:", what);
	while (shown < MEMBERS_SHOWN && (m = smi_member(list, serial, &at))) {
		printf("%s %d (%s)", shown ? "," : "", m->pid, smi_process_name(view, m->pid, name));
		shown++;
	}
	if (count > shown)
		printf(" and %u more", count - shown);
	printf("%s\n", count || shown ? "" : " nobody");
}

static void print_share(const struct smi_view *view, const struct vinci_list_share *s)
{
	char name[SMI_NAME_MAX], size[24], hint[sizeof(s->hint) + 1];

	smi_printable(hint, s->hint, sizeof(s->hint));
	if (hint[0])
		strcat(hint, "~"); /* the rest is secret */
	printf("%-6llu  %-10s  %-8s  %6u  %10s  %-8d  %-16s\n", (unsigned long long)s->serial, smi_kind_name(s->kind),
	       hint[0] ? hint : "-", s->device, human(s->size, size), s->pid, smi_process_name(view, s->pid, name));
	if (s->flags & VINCI_SHARE_UNVALIDATED)
		printf("        whitelist: switched off, whoever knows the name may import\n");
	else
		print_members(view, "whitelist", &view->allowed, s->serial, s->allowed);
	print_members(view, "opened by", &view->openers, s->serial, s->openers);
}

void smi_print_shares(const struct smi_view *view)
{
	uint32_t i;

	print_heading(view);
	printf("%-6s  %-10s  %-8s  %6s  %10s  %-8s  %-16s\n", "SHARE", "KIND", "KEY", "DEVICE", "SIZE", "OWNER",
	       "PROCESS");
	for (i = 0; i < view->shares.count; i++)
		print_share(view, smi_share(view, i));
	if (!view->shares.count)
		printf("(nothing is shared)\n");
}

void smi_print_notifies(const struct smi_view *view)
{
	char name[SMI_NAME_MAX];
	uint32_t i;

	print_heading(view);
	printf("%-6s  %-6s  %-8s  %-16s  %7s\n", "DEVICE", "ID", "OWNER", "PROCESS", "HOLDERS");
	for (i = 0; i < view->notifies.count; i++) {
		const struct vinci_list_notify *n = smi_notify(view, i);

		printf("%-6u  %-6u  %-8d  %-16s  %7u\n", n->device, n->id, n->pid, smi_process_name(view, n->pid, name),
		       n->holders);
	}
	if (!view->notifies.count)
		printf("(no notify is shared; one that its process keeps to itself is not known to the device)\n");
}
