/* SPDX-License-Identifier: MIT */
/* dump_test.c - configurations of dumps: when they may be set, and what they may say. */
#include "mem_util.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char config[64];

static const char *write_config(const char *text)
{
	int fd = open(config, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return config;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(config, sizeof(config), "dump-test-%d.json", getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(config);
	return 0;
}

/* covers: aclmdlInitDump, aclmdlSetDump, aclmdlFinalizeDump effect */
static void configurations(void **state)
{
	static const char *const good[] = {
		"{}",
		"{\"dump\":{ }}",
		"{\"dump\":{\"dump_path\":\"./\","
		"\"dump_list\":[{}],\"dump_op_switch\":\"on\",\"dump_data\":\"tensor\"}}",
		"{\"dump\":{\"dump_path\":\".\",\"dump_mode\":\"all\",\"dump_list\":[{\"model_name\":\"m\",\"layer\":"
		"[\"a\"]}]}}",
		"{\"dump\":{\"dump_path\":\"10.0.0.1:/var/dump\",\"dump_debug\":\"on\"}}",
	};

	(void)state;
	assert_ok(aclInit(NULL));
	for (int round = 0; round < 2; round++) {
		assert_ok(aclmdlInitDump());
		for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
			assert_ok(aclmdlSetDump(write_config(good[i])));
		assert_ok(aclmdlFinalizeDump());
	}
	assert_ok(aclFinalize());
}

/* covers: aclmdlInitDump, aclmdlSetDump, aclmdlFinalizeDump failure */
static void out_of_order(void **state)
{
	(void)state;
	assert_refused(aclmdlInitDump(), ACL_ERROR_UNINITIALIZE);
	assert_refused(aclmdlSetDump(config), ACL_ERROR_UNINITIALIZE);
	assert_refused(aclmdlFinalizeDump(), ACL_ERROR_UNINITIALIZE);
	assert_ok(aclInit(NULL));
	assert_refused(aclmdlSetDump(write_config("{}")), ACL_ERROR_DUMP_NOT_RUN);
	assert_refused(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
	assert_ok(aclmdlInitDump());
	assert_refused(aclmdlInitDump(), ACL_ERROR_REPEAT_INITIALIZE);
	assert_ok(aclmdlFinalizeDump());
	assert_ok(aclFinalize());
}

static void wrong_configurations(void **state)
{
	static const struct {
		const char *text;
		int code;
	} bad[] = {
		{ "{", ACL_ERROR_PARSE_FILE },
		{ "{\"dump\":1}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\"\"}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":1}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\"./no-such-directory\"}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\".\",\"dump_mode\":\"some\"}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\".\",\"dump_mode\":[]}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\".\",\"dump_list\":{}}}", ACL_ERROR_INVALID_DUMP_CONFIG },
		{ "{\"dump\":{\"dump_path\":\".\",\"dump_scene\":\"aic_err_brief_dump\"}}",
		  ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
		{ "{\"dump\":{\"dump_path\":\".\",\"dump_kernel_data\":\"printf\"}}",
		  ACL_ERROR_RT_FEATURE_NOT_SUPPORT },
	};

	(void)state;
	assert_ok(aclInit(NULL));
	assert_ok(aclmdlInitDump());
	assert_refused(aclmdlSetDump(NULL), ACL_ERROR_INVALID_PARAM);
	assert_refused(aclmdlSetDump(""), ACL_ERROR_INVALID_FILE);
	assert_refused(aclmdlSetDump("no-such-file.json"), ACL_ERROR_INVALID_FILE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(aclmdlSetDump(write_config(bad[i].text)), bad[i].code);
	assert_ok(aclmdlFinalizeDump());
	assert_ok(aclFinalize());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(configurations),
		cmocka_unit_test(wrong_configurations),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
