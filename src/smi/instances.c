/* SPDX-License-Identifier: MIT */
/* The kernel lists the abstract sockets of a network namespace: no instance has to be asked. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smi/smi.h"

#define LISTENING 0x10000ul /* __SO_ACCEPTCON in the Flags column */

/* "vinci-<uid>-<instance>-<major>"; the instance may have dashes of its own. */
static bool parse_name(char *name, unsigned long *uid, char **instance, char **major)
{
	static const char prefix[] = "vinci-";
	char *end;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || !isdigit((unsigned char)name[sizeof(prefix) - 1]))
		return false;
	*uid = strtoul(name + sizeof(prefix) - 1, &end, 10);
	*major = strrchr(name, '-');
	if (*end != '-' || *major <= end)
		return false;
	*instance = end + 1;
	*(*major)++ = 0;
	return **major && strspn(*major, "0123456789") == strlen(*major);
}

static bool print_line(const char *line)
{
	char name[128], clean[128], *instance, *major;
	unsigned long flags, uid;

	if (sscanf(line, "%*s %*x %*x %lx %*x %*x %*u @%127[^\n]", &flags, name) != 2 || !(flags & LISTENING))
		return false;
	if (!parse_name(name, &uid, &instance, &major))
		return false;
	smi_printable(clean, instance, sizeof(clean));
	printf("%-32s  %8lu  %5s\n", clean, uid, major);
	return true;
}

int smi_print_instances(void)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];
	bool any = false;
	int r = 0;

	if (!f)
		return -errno;
	printf("%-32s  %8s  %5s\n", "INSTANCE", "USER", "MAJOR");
	while (fgets(line, sizeof(line), f))
		any |= print_line(line);
	if (ferror(f))
		r = -EIO;
	fclose(f);
	if (!any)
		printf("(no vincid listens on an abstract socket here)\n");
	return r;
}
