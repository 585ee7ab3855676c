/* SPDX-License-Identifier: MIT */
#include "rts/config.h"
#include "rts/process.h"
#include "rts/rts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_DEFAULT 8 /* of drivers/soft */
#define MEMORY_DEFAULT (UINT64_C(64) << 30)
#define MEMORY_UNIT (UINT64_C(2) << 20)
#define NOTIFY_LIMIT_DEFAULT 8192
#define LINE_MAX_BYTES 8192

struct setting {
	const char *name; /* after VINCI_, lower case */
	const char *wanted;
	bool (*parse)(struct rts_config *config, const char *text);
};

/* ---- values ---------------------------------------------------------------------------------- */

/* A decimal number without sign or space; moves *text behind it. */
static bool parse_number(const char **text, uint64_t max, uint64_t *out)
{
	const char *p = *text;
	uint64_t n = 0;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*text = p;
	*out = n;
	return true;
}

static bool parse_devices(struct rts_config *config, const char *text)
{
	uint64_t n;

	if (!parse_number(&text, VINCI_MAX_DEVICES, &n) || *text || !n)
		return false;
	config->settings.devices = (uint32_t)n;
	return true;
}

static bool parse_memory(struct rts_config *config, const char *text)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	unsigned shift = 0;
	uint64_t n;

	if (!parse_number(&text, UINT64_C(1) << 50, &n))
		return false;
	if (*text) {
		suffix = strchr(suffixes, toupper((unsigned char)*text));
		if (!suffix || text[1])
			return false;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (!n || n > (UINT64_C(1) << 50) >> shift || (n << shift) % MEMORY_UNIT)
		return false;
	config->settings.mem_bytes = n << shift;
	return true;
}

static bool parse_soc(struct rts_config *config, const char *text)
{
	const struct rts_profile *profile = rts_profile_find(text);

	if (!profile)
		return false;
	snprintf(config->settings.soc, sizeof(config->settings.soc), "%s", profile->soc);
	return true;
}

/* "3" or "1-4": sets the bits of the devices. */
static bool parse_range(const char **text, uint64_t *mask)
{
	uint64_t first, last;

	if (!parse_number(text, VINCI_MAX_DEVICES - 1, &first))
		return false;
	last = first;
	if (**text == '-') {
		++*text;
		if (!parse_number(text, VINCI_MAX_DEVICES - 1, &last) || last < first)
			return false;
	}
	for (; first <= last; first++)
		*mask |= UINT64_C(1) << first;
	return true;
}

/* "0-3" or "0+2+4-5" */
static bool parse_group(const char **text, uint64_t *mask)
{
	*mask = 0;
	while (parse_range(text, mask)) {
		if (**text != '+')
			return true;
		++*text;
	}
	return false;
}

static void connect_group(uint64_t *peers, uint64_t mask)
{
	for (unsigned d = 0; d < VINCI_MAX_DEVICES; d++)
		if (mask >> d & 1)
			peers[d] |= mask & ~(UINT64_C(1) << d);
}

static bool parse_peers(struct rts_config *config, const char *text)
{
	uint64_t peers[VINCI_MAX_DEVICES] = { 0 };
	bool all = !strcmp(text, "all");
	uint64_t mask;

	if (all) {
		connect_group(peers, ~UINT64_C(0));
		text = "";
	} else if (!strcmp(text, "none")) {
		text = "";
	} else {
		do {
			if (!parse_group(&text, &mask))
				return false;
			connect_group(peers, mask);
		} while (*text == ',' && text++);
	}
	if (*text)
		return false;
	memcpy(config->settings.peers, peers, sizeof(peers));
	config->settings.has_peers = true;
	config->all_peers = all;
	return true;
}

static bool parse_instance(struct rts_config *config, const char *text)
{
	size_t len = strlen(text);

	if (!len || len >= sizeof(config->instance))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return false;
	memcpy(config->instance, text, len + 1);
	config->settings.instance = config->instance;
	return true;
}

static bool parse_path(const char *text, char *out, size_t size)
{
	size_t len = strlen(text);

	if (text[0] != '/' || len >= size)
		return false;
	memcpy(out, text, len + 1);
	return true;
}

static bool parse_driver(struct rts_config *config, const char *text)
{
	if (strcmp(text, "soft") && strcmp(text, "drm"))
		return false;
	config->settings.driver = text[0] == 'd' ? DRV_DRM : DRV_SOFT;
	return true;
}

static bool parse_socket(struct rts_config *config, const char *text)
{
	if (!parse_path(text, config->socket, sizeof(config->socket)))
		return false;
	config->settings.socket = config->socket;
	return true;
}

static bool parse_server(struct rts_config *config, const char *text)
{
	if (!parse_path(text, config->server, sizeof(config->server)))
		return false;
	config->settings.server = config->server;
	return true;
}

static bool parse_log(struct rts_config *config, const char *text)
{
	(void)config;
	return u_log_set_level(text);
}

static const struct setting settings[] = {
	{ "devices", "a number from 1 to 64", parse_devices },
	{ "memory", "bytes per device, with K, M, G or T, a multiple of 2M: 64G", parse_memory },
	{ "soc", NULL, parse_soc },
	{ "peers", "groups of devices that reach each other (0-3,4-7 or 0+2,1+3), all or none", parse_peers },
	{ "driver", "soft (vincid) or drm (the kernel module)", parse_driver },
	{ "instance", "1 to 63 letters, digits, '.', '_' or '-'", parse_instance },
	{ "socket", "an absolute path of at most 107 bytes", parse_socket },
	{ "server", "the absolute path of vincid", parse_server },
	{ "log", "off, error, warn, info or debug", parse_log },
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static const char *wanted(const struct setting *s)
{
	return s->wanted ? s->wanted : rts_profile_names();
}

/* ---- the environment ------------------------------------------------------------------------- */

static const char *variable(const struct setting *s, char name[32])
{
	size_t n = (size_t)snprintf(name, 32, "VINCI_");

	for (const char *p = s->name; *p && n < 31; p++)
		name[n++] = (char)toupper((unsigned char)*p);
	name[n] = '\0';
	return secure_getenv(name);
}

static int read_environment(struct rts_config *config)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		char name[32];
		const char *text = variable(&settings[i], name);

		if (text && !settings[i].parse(config, text))
			return u_report_as("EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
					   "Value \"%s\" for environment variable %s is invalid. Expected value: %s",
					   text, name, wanted(&settings[i]));
	}
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static const struct setting *find_setting(const char *name)
{
	for (size_t i = 0; i < SETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

static int read_line(struct rts_config *config, char *line, const char *path, unsigned number)
{
	const struct setting *s;
	char *name, *value;

	line[strcspn(line, "#\n")] = '\0';
	name = trim(line);
	if (!*name)
		return 0;
	value = strchr(name, '=');
	if (!value)
		return u_report_as("EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
				   "%s:%u: \"%s\" is not of the form name = value (the file VINCI_CONFIG names)", path,
				   number, name);
	*value++ = '\0';
	name = trim(name);
	value = trim(value);
	s = find_setting(name);
	if (!s)
		return u_report_as("EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
				   "%s:%u: unknown setting \"%s\"; there are devices, memory, soc, peers, driver, "
				   "instance, socket, server and log",
				   path, number, name);
	if (!s->parse(config, value))
		return u_report_as("EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
				   "%s:%u: value \"%s\" for %s is invalid. Expected value: %s", path, number, value,
				   name, wanted(s));
	return 0;
}

static int read_file(struct rts_config *config, const char *path)
{
	char line[LINE_MAX_BYTES];
	unsigned number = 0;
	FILE *f = fopen(path, "re");
	int code = 0;

	if (!f)
		return u_report_as(
			"EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
			"Value \"%s\" for environment variable VINCI_CONFIG is invalid (%s). Expected value: "
			"a readable file of name = value lines",
			path, strerror(errno));
	while (!code && fgets(line, sizeof(line), f))
		code = read_line(config, line, path, ++number);
	if (!code && ferror(f))
		code = u_report_as("EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR, "%s cannot be read (VINCI_CONFIG)", path);
	fclose(f);
	return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/*
 * What a SoC brings along is asked for only where it differs from the device's defaults: who sets a SoC alone must not
 * be refused by an instance of that SoC that was given another memory size.
 */
static void add_profile(struct rts_config *config)
{
	const struct rts_profile *profile = rts_profile_find(config->settings.soc);

	if (!profile)
		return;
	if (!config->settings.mem_bytes && profile->mem_bytes != MEMORY_DEFAULT)
		config->settings.mem_bytes = profile->mem_bytes;
	if (profile->notify_limit != NOTIFY_LIMIT_DEFAULT)
		config->settings.notify_limit = profile->notify_limit;
}

/* "all" is all that there are; a group that names a device that is not there is a mistake. */
static int check_peers(struct rts_config *config)
{
	uint32_t devices = config->settings.devices ? config->settings.devices : DEVICES_DEFAULT;
	uint64_t present = devices == VINCI_MAX_DEVICES ? ~UINT64_C(0) : (UINT64_C(1) << devices) - 1;
	uint64_t named = 0;

	for (unsigned d = 0; d < VINCI_MAX_DEVICES; d++)
		named |= config->settings.peers[d];
	if (named & ~present && !config->all_peers)
		return u_report_as(
			"EE2002", ACL_ERROR_RT_DEV_SETUP_ERROR,
			"VINCI_PEERS names device %d, but there are %u devices (VINCI_DEVICES); the last is %u",
			63 - __builtin_clzll(named), devices, devices - 1);
	for (unsigned d = 0; d < VINCI_MAX_DEVICES; d++)
		config->settings.peers[d] &= d < devices ? present : 0;
	return 0;
}

int rts_config_read(struct rts_config *config)
{
	const char *path = secure_getenv("VINCI_CONFIG");
	int code = 0;

	memset(config, 0, sizeof(*config));
	if (path)
		code = read_file(config, path);
	if (!code)
		code = read_environment(config);
	if (code)
		return code;
	add_profile(config);
	return check_peers(config);
}
