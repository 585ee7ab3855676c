/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/drv.h"
#include "rts/config.h"
#include "smi/smi.h"
#include "util/report.h"

static const char usage[] =
	"usage: vinci-smi [options] [processes | shares | notifies | instances]\n"
	"\n"
	"What the vinci devices of an instance hold, and for whom. Starts nothing and changes nothing.\n"
	"\n"
	"  (no table)      devices, and the processes that have memory on them\n"
	"  processes       memory by process and device\n"
	"  shares          exported memory, physical handles and notifies: owner, whitelist, who has them open\n"
	"  notifies        notifies known to the device\n"
	"  instances       every vincid that listens on an abstract socket here\n"
	"\n"
	"  -i, --instance NAME   that instance instead of VINCI_INSTANCE\n"
	"  -j, --json            everything, for scripts\n"
	"  -h, --help            this text\n"
	"\n"
	"An ordinary user sees its own processes and shares; root sees all of the instance's.\n"
	"Exit status: 0, also when no vincid is running; 1: it could not be asked; 2: wrong arguments.\n";

struct table {
	const char *name;
	void (*print)(const struct smi_view *view);
};

static const struct table tables[] = {
	{ "devices", smi_print_overview },
	{ "processes", smi_print_processes },
	{ "shares", smi_print_shares },
	{ "notifies", smi_print_notifies },
	{ "instances", NULL },
};

struct options {
	const struct table *table;
	bool json;
};

static int usage_error(const char *what, const char *got)
{
	(void)fprintf(stderr, "vinci-smi: %s%s; vinci-smi -h lists what there is\n", what, got);
	return 2;
}

static const struct table *find_table(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

/* -1: go on, else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "instance", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "i:jh", options, NULL)) != -1) {
		if (c == 'h')
			return fputs(usage, stdout) < 0;
		if (c == 'j')
			o->json = true;
		else if (c != 'i')
			return 2; /* getopt has said why */
		/* Checked with the other settings, as if it came from the environment. */
		else if (setenv("VINCI_INSTANCE", optarg, 1))
			return usage_error("no memory for ", optarg);
	}
	o->table = optind < argc ? find_table(argv[optind]) : &tables[0];
	if (!o->table)
		return usage_error("there is no table ", argv[optind]);
	if (argc - optind > 1)
		return usage_error("one table at a time, not also ", argv[optind + 1]);
	if (o->json && !o->table->print)
		return usage_error("--json does not go with ", o->table->name);
	return -1;
}

static int print(const struct options *o, const struct smi_view *view)
{
	if (o->json)
		smi_print_json(view);
	else if (view->running)
		o->table->print(view);
	else if (view->socket)
		printf("no vincid is running at VINCI_SOCKET=%s\n", view->socket);
	else
		printf("no vincid is running for instance %s\n", view->instance);
	return 0;
}

static int look(const struct options *o, struct rts_config *config)
{
	bool kernel = config->settings.driver == DRV_DRM;
	struct smi_view view = { .instance = config->settings.instance ? config->instance : "default",
				 .socket = config->settings.socket };
	/* The instance is shown as it is, whatever size this environment would ask for. */
	struct drv_settings settings = { .driver = config->settings.driver, .instance = config->settings.instance,
					 .socket = config->settings.socket, .no_start = true };
	struct drv *drv = NULL;
	char why[256] = "";
	int r = drv_open(&settings, &drv, why, sizeof(why));

	if (kernel) {
		view.instance = "vinci.ko";
		view.socket = NULL;
	}
	if (r == -ECONNREFUSED || (r == -ENOENT && view.socket))
		return print(o, &view);
	if (!r) {
		r = smi_collect(drv, &view);
		if (r)
			(void)snprintf(why, sizeof(why), "the device does not answer as it should (%s)", strerror(-r));
		drv_close(drv);
	}
	if (!r)
		r = print(o, &view);
	else
		(void)fprintf(stderr, "vinci-smi: instance %s: %s\n", view.instance, why);
	smi_free(&view);
	return r ? 1 : 0;
}

static int look_for_instances(void)
{
	int r = smi_print_instances();

	if (r)
		(void)fprintf(stderr, "vinci-smi: /proc/net/unix cannot be read (%s)\n", strerror(-r));
	return r ? 1 : 0;
}

static int run(const struct options *o)
{
	struct rts_config *config;
	const char *said;
	int r;

	if (!o->table->print)
		return look_for_instances();
	config = malloc(sizeof(*config));
	if (!config) {
		(void)fprintf(stderr, "vinci-smi: out of memory\n");
		return 1;
	}
	if (rts_config_read(config)) {
		said = u_report_take();
		(void)fprintf(stderr, "vinci-smi: %s", said ? said : "the settings are invalid\n");
		r = 1;
	} else {
		r = look(o, config);
	}
	free(config);
	return r;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	int status = parse(argc, argv, &o);

	if (status < 0)
		status = run(&o);
	if (fflush(stdout) || ferror(stdout)) {
		(void)fprintf(stderr, "vinci-smi: the output could not be written (%s)\n", strerror(errno));
		return 1;
	}
	return status;
}
