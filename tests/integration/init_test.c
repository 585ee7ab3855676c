/* SPDX-License-Identifier: MIT */
/* init_test.c - aclInit and aclFinalize: references, the JSON file, callbacks, and settings that cannot be met. */
#include "scenario.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* ---- references ------------------------------------------------------------------------------ */

static void counts(void)
{
	uint64_t left = 99;

	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE);
	CHECK_CODE(aclFinalizeReference(&left), ACL_SUCCESS);
	CHECK(left == 1);
	CHECK_CODE(aclFinalizeReference(&left), ACL_SUCCESS);
	CHECK(left == 0);
	left = 99;
	CHECK_CODE(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
	CHECK(left == 99);
	CHECK_CODE(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK_CODE(aclFinalizeReference(NULL), ACL_ERROR_REPEAT_FINALIZE);
}

static void finalize_alone(void)
{
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK_SAYS(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE, "nothing to finalise");
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
}

/* Devices are another matter: nothing needs aclInit, and aclFinalize leaves them set. */
static void devices_are_apart(void)
{
	int32_t device = -1;

	CHECK_CODE(aclrtSetDevice(1), ACL_SUCCESS);
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
	CHECK(device == 1);
	CHECK_CODE(aclrtResetDevice(1), ACL_SUCCESS);
}

/* covers: aclInit, aclFinalize, aclFinalizeReference effect */
/* covers: aclInit, aclFinalize, aclFinalizeReference failure */
static void references(void **state)
{
	(void)state;
	run_scenario("counts");
	run_scenario("finalize_alone");
	run_scenario("devices_are_apart");
}

/* ---- the file -------------------------------------------------------------------------------- */

static char directory[] = "/tmp/vinci-init-XXXXXX";

static const char *write_file(const char *name, const char *text)
{
	static char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", getenv("INIT_TEST_DIRECTORY"), name);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
	return path;
}

static void wrong_files(void)
{
	CHECK_SAYS(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE, "/nonexistent/acl.json");
	CHECK_SAYS(aclInit("/tmp"), ACL_ERROR_INVALID_FILE, "regular file");
	CHECK_SAYS(aclInit("/dev/zero"), ACL_ERROR_INVALID_FILE, "regular file");
	CHECK_SAYS(aclInit(write_file("empty", "")), ACL_ERROR_PARSE_FILE, "not JSON");
	CHECK_SAYS(aclInit(write_file("comma", "{\"a\":1,}")), ACL_ERROR_PARSE_FILE, "byte 7 of 8");
	CHECK_SAYS(aclInit(write_file("array", "[]")), ACL_ERROR_PARSE_FILE, "object");
	CHECK_SAYS(aclInit(write_file("mode", "{\"err_msg_mode\":\"2\"}")), ACL_ERROR_INVALID_PARAM, "err_msg_mode");
	CHECK_SAYS(aclInit(write_file("mode1", "{\"err_msg_mode\":1}")), ACL_ERROR_INVALID_PARAM, "err_msg_mode");
	CHECK_SAYS(aclInit(write_file("dev", "{\"defaultDevice\":{\"default_device\":\"01\"}}")),
		   ACL_ERROR_INVALID_PARAM, "default_device");
	CHECK_SAYS(aclInit(write_file("dev2", "{\"defaultDevice\":{\"default_device\":\"-1\"}}")),
		   ACL_ERROR_INVALID_PARAM, "default_device");
	CHECK_SAYS(aclInit(write_file("dev3", "{\"defaultDevice\":{\"default_device\":\"64\"}}")),
		   ACL_ERROR_RT_INVALID_DEVICEID, "64");
	/* None of them has initialised anything. */
	CHECK_CODE(aclFinalizeReference(NULL), ACL_ERROR_REPEAT_FINALIZE);
	CHECK_CODE(aclInit(write_file("good", "{}")), ACL_SUCCESS);
}

static void contents_agree(void)
{
	CHECK_CODE(aclInit(write_file("one", "{\"a\": 1}")), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK_SAYS(aclInit(write_file("other", "{\"a\": 2}")), ACL_ERROR_INVALID_PARAM, "differs");
	CHECK_CODE(aclInit(NULL), ACL_ERROR_INVALID_PARAM);
	CHECK_CODE(aclInit(write_file("same", "{\"a\": 1}")), ACL_SUCCESS);
	/* While it is initialised the file is not even looked at. */
	CHECK_CODE(aclInit("/nonexistent/acl.json"), ACL_ERROR_REPEAT_INITIALIZE);
}

static void *has_device_3(void *arg)
{
	aclrtContext context;
	int32_t device = -1;

	(void)arg;
	CHECK_CODE(aclrtGetCurrentContext(&context), ACL_SUCCESS);
	CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
	CHECK(device == 3);
	return NULL;
}

static void *has_no_device(void *arg)
{
	int32_t device;

	(void)arg;
	CHECK_CODE(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
	return NULL;
}

static void in_a_thread(void *(*fn)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, fn, NULL));
	CHECK(!pthread_join(thread, NULL));
}

static void default_device(void)
{
	int32_t device = -1;

	in_a_thread(has_no_device);
	CHECK_CODE(aclInit(write_file("default", "{\"defaultDevice\":{\"default_device\":\"3\"}}")), ACL_SUCCESS);
	in_a_thread(has_device_3);
	CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
	CHECK(device == 3);
	CHECK_CODE(aclrtSetDevice(5), ACL_SUCCESS);
	CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
	CHECK(device == 5);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	in_a_thread(has_no_device);
}

static void *fail_here(void *arg)
{
	(void)arg;
	CHECK_CODE(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM);
	return NULL;
}

static void errors_of_the_process(void)
{
	in_a_thread(fail_here);
	CHECK(!aclGetRecentErrMsg());
	CHECK_CODE(aclInit(write_file("mode", "{\"err_msg_mode\": \"1\"}")), ACL_SUCCESS);
	in_a_thread(fail_here);
	CHECK(strstr(aclGetRecentErrMsg(), "deviceId is NULL"));
	CHECK(!aclGetRecentErrMsg());
}

static void run_with_directory(const char *name)
{
	char variable[300];
	const char *const env[] = { variable, NULL };

	snprintf(variable, sizeof(variable), "INIT_TEST_DIRECTORY=%s", directory);
	run_scenario_with(name, env);
}

/* covers: aclInit failure */
static void files(void **state)
{
	(void)state;
	run_with_directory("wrong_files");
	run_with_directory("contents_agree");
}

/* covers: aclInit effect */
/* covers: aclGetRecentErrMsg effect */
static void settings(void **state)
{
	(void)state;
	run_with_directory("default_device");
	run_with_directory("errors_of_the_process");
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static char calls[64];
static aclError answer;

static void note(const char *what)
{
	strncat(calls, what, sizeof(calls) - strlen(calls) - 1);
}

static aclError at_init(const char *text, size_t len, void *user)
{
	CHECK(len == strlen(text) && !strcmp(text, "{\"a\": 1}"));
	note(user);
	return answer;
}

static aclError at_init_other(const char *text, size_t len, void *user)
{
	(void)text;
	(void)len;
	CHECK_CODE(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE); /* from inside */
	CHECK_CODE(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
	CHECK_CODE(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, at_init_other), ACL_SUCCESS);
	note(user);
	return ACL_SUCCESS;
}

static aclError at_finalize(void *user)
{
	note(user);
	return answer;
}

static void callbacks_run(void)
{
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_init_other, (void *)"o"), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_init, (void *)"O"), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, at_init, (void *)"d"), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_OP_EXECUTOR, at_init, (void *)"e"), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_init, (void *)"m"), ACL_SUCCESS);
	CHECK_CODE(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_finalize, (void *)"M"), ACL_SUCCESS);
	CHECK_CODE(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_OP_COMPILER, at_finalize, (void *)"C"), ACL_SUCCESS);
	CHECK_CODE(aclInit(write_file("one", "{\"a\": 1}")), ACL_SUCCESS);
	CHECK(!strcmp(calls, "medoO"));
	CHECK_CODE(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, at_init), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, at_init, (void *)"D"), ACL_SUCCESS); /* at once */
	CHECK(!strcmp(calls, "medoOD"));
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK(!strcmp(calls, "medoODCM"));
	CHECK_CODE(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_OP_COMPILER, at_finalize), ACL_SUCCESS);
	CHECK_CODE(aclInit(write_file("one", "{\"a\": 1}")), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
	CHECK(!strcmp(calls, "medoODCMmeDOM"));
}

static void callbacks_fail(void)
{
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	CHECK_CODE(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL), ACL_ERROR_INVALID_PARAM);
	CHECK_CODE(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), ACL_ERROR_INVALID_PARAM);
	CHECK_CODE(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL), ACL_ERROR_INVALID_PARAM);
	CHECK_CODE(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, at_init), ACL_ERROR_INTERNAL_ERROR);
	CHECK_CODE(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, at_finalize), ACL_ERROR_INTERNAL_ERROR);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_init, (void *)"m"), ACL_SUCCESS);
	CHECK_CODE(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_init_other, NULL), ACL_ERROR_INTERNAL_ERROR);
	CHECK_CODE(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_finalize, (void *)"M"), ACL_SUCCESS);
	CHECK_CODE(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, at_finalize, NULL), ACL_ERROR_INTERNAL_ERROR);
	answer = 4711;
	CHECK_CODE(aclInit(write_file("one", "{\"a\": 1}")), 4711);
	CHECK_CODE(aclFinalizeReference(NULL), ACL_ERROR_REPEAT_FINALIZE);
	answer = 0;
	CHECK_CODE(aclInit(write_file("one", "{\"a\": 1}")), ACL_SUCCESS);
	answer = 4712;
	CHECK_CODE(aclFinalize(), 4712);
	answer = 0;
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
}

/* covers: aclInitCallbackRegister, aclInitCallbackUnRegister effect */
/* covers: aclFinalizeCallbackRegister, aclFinalizeCallbackUnRegister effect */
static void callbacks(void **state)
{
	(void)state;
	run_with_directory("callbacks_run");
}

/* covers: aclInitCallbackRegister, aclInitCallbackUnRegister failure */
/* covers: aclFinalizeCallbackRegister, aclFinalizeCallbackUnRegister failure */
static void callbacks_that_fail(void **state)
{
	(void)state;
	run_with_directory("callbacks_fail");
}

/* ---- settings that cannot be met ------------------------------------------------------------- */

static void bad_settings(void)
{
	uint32_t count = 77;
	int32_t pid = 77;

	CHECK_SAYS(aclInit(NULL), ACL_ERROR_RT_DEV_SETUP_ERROR, "VINCI_DEVICES");
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "VINCI_DEVICES");
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_ERROR_RT_DEV_SETUP_ERROR);
	CHECK(count == 77);
	CHECK(!aclrtGetSocName());
	CHECK_CODE(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
	CHECK(pid == -1);
}

static void no_server(void)
{
	uint32_t count = 77;
	int32_t pid = 77;

	CHECK_SAYS(aclInit(NULL), ACL_ERROR_INTERNAL_ERROR, "/nonexistent/vincid");
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "/nonexistent/vincid");
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE);
	CHECK(count == 77);
	CHECK(!aclrtGetSocName());
	CHECK_CODE(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
	CHECK(pid == -1);
}

static void other_settings(void)
{
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "3");
	CHECK_SAYS(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR, "8");
}

/* covers: aclInit, aclrtSetDevice, aclrtGetDeviceCount, aclrtGetSocName, aclrtDeviceGetBareTgid failure */
static void cannot_start(void **state)
{
	static const char *const bad[] = { "VINCI_DEVICES=many", NULL };
	static const char *const absent[] = { "VINCI_SERVER=/nonexistent/vincid", "VINCI_INSTANCE=test-init-absent",
					      NULL };
	static const char *const three[] = { "VINCI_DEVICES=3", NULL };
	uint32_t count = 0;

	(void)state;
	run_scenario_with("bad_settings", bad);
	run_scenario_with("no_server", absent);
	assert_int_equal(aclrtGetDeviceCount(&count), ACL_SUCCESS); /* starts this test's instance, with 8 */
	assert_int_equal(count, 8);
	run_scenario_with("other_settings", three);
}

/* ---- a program with another's rights --------------------------------------------------------- */

static void privileged(void)
{
	uint32_t count = 0;

	CHECK(getauxval(AT_SECURE));
	CHECK_CODE(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
	CHECK_CODE(aclrtGetDeviceCount(&count), ACL_SUCCESS); /* of the default instance: nothing was read */
	CHECK(count == 8);
}

static bool copy_program(const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chmod 4755 %s && chmod 755 %s", getpid(), path, path,
		 directory);
	return !system(command);
}

static void __attribute__((noreturn)) run_as_nobody(const char *path)
{
	static char *const args[] = { (char *)"init_test", (char *)"scenario", (char *)"privileged", NULL };
	static char *const env[] = { (char *)"VINCI_DEVICES=many",	  (char *)"VINCI_SERVER=/nonexistent",
				     (char *)"VINCI_CONFIG=/nonexistent", (char *)"ASCEND_RT_VISIBLE_DEVICES=9",
				     (char *)"VINCI_LOG=debug",		  NULL };

	if (!setgid(65534) && !setuid(65534))
		execve(path, args, env);
	_exit(127);
}

/* None of the caller's settings counts in a program that runs with more rights than the caller has. */
static void nothing_is_read_with_anothers_rights(void **state)
{
	struct statvfs fs;
	char path[300];
	pid_t pid;

	(void)state;
	assert_int_equal(statvfs(directory, &fs), 0);
	if (geteuid() || fs.f_flag & ST_NOSUID) {
		print_message("needs root, and a /tmp that is not mounted nosuid\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/init_test", directory);
	assert_true(copy_program(path));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_as_nobody(path);
	assert_int_equal(t_wait_pid(pid, 20000), 0);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "counts", counts },
		{ "finalize_alone", finalize_alone },
		{ "devices_are_apart", devices_are_apart },
		{ "wrong_files", wrong_files },
		{ "contents_agree", contents_agree },
		{ "default_device", default_device },
		{ "errors_of_the_process", errors_of_the_process },
		{ "callbacks_run", callbacks_run },
		{ "callbacks_fail", callbacks_fail },
		{ "bad_settings", bad_settings },
		{ "no_server", no_server },
		{ "other_settings", other_settings },
		{ "privileged", privileged },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references),
		cmocka_unit_test(files),
		cmocka_unit_test(settings),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(callbacks_that_fail),
		cmocka_unit_test(cannot_start),
		cmocka_unit_test(nothing_is_read_with_anothers_rights),
	};
	char command[300];
	int failed;

	scenario_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
	snprintf(command, sizeof(command), "test-init-%d", getpid());
	setenv("VINCI_INSTANCE", command, 1);
	if (!mkdtemp(directory))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command) ? 1 : failed;
}
