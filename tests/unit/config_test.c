/* SPDX-License-Identifier: MIT */
/* config_test.c - settings: VINCI_* variables, their file, visible devices, profiles. */
#include "rts/config.h"
#include "rts/rts.h"
#include "rts/visible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const names[] = { "VINCI_DEVICES", "VINCI_MEMORY", "VINCI_SOC",    "VINCI_PEERS", "VINCI_INSTANCE",
				     "VINCI_SOCKET",  "VINCI_SERVER", "VINCI_CONFIG", "VINCI_LOG" };

static struct rts_config config;

static int clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	(void)u_report_take();
	return 0;
}

static void read_with(const char *name, const char *value)
{
	setenv(name, value, 1);
	assert_int_equal(rts_config_read(&config), 0);
}

/* The sentence names the variable, the value and (a word of) what is wanted. */
static void refuse_with(const char *name, const char *value, const char *wanted)
{
	const char *text;

	setenv(name, value, 1);
	assert_int_equal(rts_config_read(&config), ACL_ERROR_RT_DEV_SETUP_ERROR);
	text = u_report_take();
	assert_non_null(text);
	if (!strstr(text, name) || !strstr(text, value) || !strstr(text, wanted) || !strstr(text, "(EE2002)"))
		fail_msg("%s=%s: %s", name, value, text);
	unsetenv(name);
}

static void nothing_is_set(void **state)
{
	static const struct rts_config none;

	(void)state;
	assert_int_equal(rts_config_read(&config), 0);
	assert_memory_equal(&config.settings, &none.settings, sizeof(config.settings));
}

static void variables(void **state)
{
	(void)state;
	read_with("VINCI_DEVICES", "64");
	assert_int_equal(config.settings.devices, 64);
	read_with("VINCI_MEMORY", "48G");
	assert_int_equal(config.settings.mem_bytes, 48ll << 30);
	read_with("VINCI_MEMORY", "512m");
	assert_int_equal(config.settings.mem_bytes, 512 << 20);
	read_with("VINCI_MEMORY", "4194304");
	assert_int_equal(config.settings.mem_bytes, 4 << 20);
	read_with("VINCI_INSTANCE", "a.b-C_9");
	assert_string_equal(config.settings.instance, "a.b-C_9");
	read_with("VINCI_SOCKET", "/run/vinci.sock");
	assert_string_equal(config.settings.socket, "/run/vinci.sock");
	read_with("VINCI_SERVER", "/opt/vincid");
	assert_string_equal(config.settings.server, "/opt/vincid");
	read_with("VINCI_LOG", "off");
	assert_int_equal(config.settings.driver, DRV_SOFT);
	read_with("VINCI_DRIVER", "drm");
	assert_int_equal(config.settings.driver, DRV_DRM);
	read_with("VINCI_DRIVER", "soft");
	assert_int_equal(config.settings.driver, DRV_SOFT);
}

static void wrong_values(void **state)
{
	static char long_path[300];

	(void)state;
	refuse_with("VINCI_DEVICES", "0", "1 to 64");
	refuse_with("VINCI_DEVICES", "65", "1 to 64");
	refuse_with("VINCI_DEVICES", "99999999999999999999", "1 to 64");
	refuse_with("VINCI_DEVICES", " 4", "1 to 64");
	refuse_with("VINCI_DEVICES", "4x", "1 to 64");
	refuse_with("VINCI_DEVICES", "-1", "1 to 64");
	refuse_with("VINCI_DEVICES", "", "1 to 64");
	refuse_with("VINCI_MEMORY", "1M", "multiple of 2M");
	refuse_with("VINCI_MEMORY", "0", "multiple of 2M");
	refuse_with("VINCI_MEMORY", "G", "multiple of 2M");
	refuse_with("VINCI_MEMORY", "64GB", "multiple of 2M");
	refuse_with("VINCI_MEMORY", "99999999T", "multiple of 2M");
	refuse_with("VINCI_SOC", "Ascend999", "Ascend910B1");
	refuse_with("VINCI_INSTANCE", "a b", "letters");
	refuse_with("VINCI_INSTANCE", "", "letters");
	refuse_with("VINCI_SOCKET", "relative", "absolute");
	refuse_with("VINCI_SERVER", "vincid", "absolute");
	refuse_with("VINCI_LOG", "loud", "debug");
	refuse_with("VINCI_DRIVER", "dr", "soft (vincid) or drm");
	refuse_with("VINCI_DRIVER", "", "soft (vincid) or drm");
	memset(long_path, 'p', sizeof(long_path) - 1);
	long_path[0] = '/';
	refuse_with("VINCI_SOCKET", long_path, "107");
}

static void a_soc_brings_what_differs(void **state)
{
	(void)state;
	read_with("VINCI_SOC", "Ascend910B4");
	assert_string_equal(config.settings.soc, "Ascend910B4");
	assert_int_equal(config.settings.mem_bytes, 32ll << 30);
	read_with("VINCI_SOC", "Ascend910_9391");
	assert_int_equal(config.settings.mem_bytes, 0);
	read_with("VINCI_MEMORY", "8G");
	assert_int_equal(config.settings.mem_bytes, 8ll << 30);
}

static void peers(void **state)
{
	(void)state;
	read_with("VINCI_PEERS", "0-3,4-7");
	assert_true(config.settings.has_peers);
	assert_int_equal(config.settings.peers[0], 0x0e);
	assert_int_equal(config.settings.peers[3], 0x07);
	assert_int_equal(config.settings.peers[4], 0xe0);
	assert_int_equal(config.settings.peers[8], 0);
	read_with("VINCI_PEERS", "0+2+4-5,1+3");
	assert_int_equal(config.settings.peers[0], 0x34);
	assert_int_equal(config.settings.peers[1], 0x08);
	assert_int_equal(config.settings.peers[6], 0);
	read_with("VINCI_PEERS", "none");
	assert_true(config.settings.has_peers);
	assert_int_equal(config.settings.peers[0], 0);
	setenv("VINCI_DEVICES", "2", 1);
	read_with("VINCI_PEERS", "all");
	assert_int_equal(config.settings.peers[0], 2);
	assert_int_equal(config.settings.peers[1], 1);
	assert_int_equal(config.settings.peers[2], 0);
	setenv("VINCI_PEERS", "0-2", 1);
	assert_int_equal(rts_config_read(&config), ACL_ERROR_RT_DEV_SETUP_ERROR);
	assert_non_null(strstr(u_report_take(), "VINCI_PEERS names device 2, but there are 2 devices"));
	refuse_with("VINCI_PEERS", "1-0", "groups");
	refuse_with("VINCI_PEERS", "0,", "groups");
	refuse_with("VINCI_PEERS", "0+", "groups");
	refuse_with("VINCI_PEERS", "0;1", "groups");
	refuse_with("VINCI_PEERS", "64", "groups");
}

/* ---- the file -------------------------------------------------------------------------------- */

static char path[] = "/tmp/vinci-config-XXXXXX";

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void refuse_file(const char *text, const char *wanted)
{
	const char *message;

	write_file(text);
	assert_int_equal(rts_config_read(&config), ACL_ERROR_RT_DEV_SETUP_ERROR);
	message = u_report_take();
	if (!strstr(message, path) || !strstr(message, wanted))
		fail_msg("%s", message);
}

static void a_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setenv("VINCI_CONFIG", path, 1);
	write_file("# a comment\n\n devices = 3 # three\nmemory=2G\r\n\tinstance =  x \n");
	assert_int_equal(rts_config_read(&config), 0);
	assert_int_equal(config.settings.devices, 3);
	assert_int_equal(config.settings.mem_bytes, 2ll << 30);
	assert_string_equal(config.settings.instance, "x");
	setenv("VINCI_DEVICES", "5", 1);
	assert_int_equal(rts_config_read(&config), 0);
	assert_int_equal(config.settings.devices, 5);
	unsetenv("VINCI_DEVICES");
	refuse_file("devices = 3\ndevice = 4\n", ":2: unknown setting \"device\"");
	refuse_file("devices\n", ":1: \"devices\" is not of the form");
	refuse_file("\ndevices = many\n", ":2: value \"many\" for devices");
	unlink(path);
	refuse_with("VINCI_CONFIG", path, "readable file");
}

/* ---- visible devices ------------------------------------------------------------------------- */

static void check_visible(const char *text, enum visible_fault fault, const char *wanted)
{
	struct visible v;
	char got[300] = "";

	visible_parse(text, 8, &v);
	assert_int_equal(v.fault, fault);
	for (uint32_t i = 0; i < v.count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ", v.device[i]);
	if (strcmp(got, wanted))
		fail_msg("\"%s\": %s instead of %s", text, got, wanted);
}

static void visible_devices(void **state)
{
	char longer[400] = "";

	(void)state;
	check_visible(NULL, VISIBLE_OK, "0 1 2 3 4 5 6 7 ");
	check_visible("2,3", VISIBLE_OK, "2 3 ");
	check_visible("7", VISIBLE_OK, "7 ");
	check_visible("1,2,", VISIBLE_OK, "1 2 ");
	check_visible("1,2,x,4", VISIBLE_OK, "1 2 ");
	check_visible("1, 2", VISIBLE_OK, "1 ");
	check_visible("1,2x,3", VISIBLE_OK, "1 ");
	check_visible("1,8", VISIBLE_OK, "1 ");
	check_visible("1,99999999999999999999", VISIBLE_OK, "1 ");
	check_visible("01,002", VISIBLE_OK, "1 2 ");
	check_visible("", VISIBLE_NONE, "");
	check_visible(" 1", VISIBLE_NONE, "");
	check_visible("-1", VISIBLE_NONE, "");
	check_visible("8", VISIBLE_NONE, "");
	check_visible(",1", VISIBLE_NONE, "");
	check_visible("2,1", VISIBLE_ORDER, "");
	check_visible("0,3,2,x", VISIBLE_ORDER, "");
	check_visible("1,1", VISIBLE_DUPLICATE, "");
	check_visible("1,2,2", VISIBLE_DUPLICATE, "");
	memset(longer, '0', VISIBLE_TEXT_MAX);
	strcpy(longer + VISIBLE_TEXT_MAX - 2, "1,2"); /* the 2 is beyond what is read */
	check_visible(longer, VISIBLE_OK, "1 ");
}

static void profiles(void **state)
{
	const struct rts_profile *a2 = rts_profile_find("Ascend910B1"), *a3 = rts_profile_find("Ascend910_9391");

	(void)state;
	assert_null(rts_profile_find("Ascend910b1"));
	assert_null(rts_profile_find(""));
	assert_non_null(a2);
	assert_non_null(a3);
	assert_int_equal(a2->cube_cores, 24);
	assert_int_equal(a2->vector_cores, 48);
	assert_int_equal(a2->mem_bytes, 64ll << 30);
	assert_int_equal(a2->notify_limit, 8192);
	assert_int_equal(a2->stream_limit, 1984);
	assert_false(a2->features & (RTS_FEATURE_SUPER_POD | RTS_FEATURE_IPC_ATTR));
	assert_int_equal(a3->features & (RTS_FEATURE_SUPER_POD | RTS_FEATURE_IPC_ATTR | RTS_FEATURE_PEER_COPY_FREE),
			 RTS_FEATURE_SUPER_POD | RTS_FEATURE_IPC_ATTR | RTS_FEATURE_PEER_COPY_FREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_set, clean),
		cmocka_unit_test_setup(variables, clean),
		cmocka_unit_test_setup(wrong_values, clean),
		cmocka_unit_test_setup(a_soc_brings_what_differs, clean),
		cmocka_unit_test_setup(peers, clean),
		cmocka_unit_test_setup(a_file, clean),
		cmocka_unit_test(visible_devices),
		cmocka_unit_test(profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
