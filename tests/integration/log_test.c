/* SPDX-License-Identifier: MIT */
/* log_test.c - the application's log: levels, standard output, files, and what CANN's variables say about them. */
#include "mem_util.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "acl/acl_base_rt.h"

/* Exported beyond the headers. */
void aclAppLogWithArgs(aclLogLevel level, const char *func, const char *file, uint32_t line, const char *fmt,
		       va_list args);

/* ---- the processes that log ---- */

static void __attribute__((format(printf, 2, 3))) log_by_list(aclLogLevel level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	aclAppLogWithArgs(level, "f", "x.c", 7, fmt, args);
	va_end(args);
}

static int log_each_level(void)
{
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ACL_APP_LOG(ACL_DEBUG, "debug %d", 1);
	ACL_APP_LOG(ACL_INFO, "info %d", 2);
	log_by_list(ACL_WARNING, "warning %s", "three");
	ACL_APP_LOG(ACL_ERROR, "error %d", 4);
	ACL_APP_LOG(ACL_ERROR, "%s", text);
	aclAppLog(ACL_ERROR, NULL, "x.c", 1, "no function");
	aclAppLog(ACL_ERROR, "f", NULL, 1, "no file");
	aclAppLog(ACL_ERROR, "f", "x.c", 1, NULL);
	aclAppLog((aclLogLevel)4, "f", "x.c", 1, "no level");
	return 0;
}

/* A file for each process. */
static int log_and_fork(void)
{
	pid_t child;

	ACL_APP_LOG(ACL_ERROR, "parent");
	child = fork();
	if (child)
		return child < 0 || t_wait_pid(child, 20000);
	ACL_APP_LOG(ACL_ERROR, "child");
	_exit(0);
}

/* Three files of 20 MB and a bit. */
static int log_much(void)
{
	char text[900];

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 66000; i++)
		ACL_APP_LOG(ACL_ERROR, "%s", text);
	return 0;
}

/* ---- standard output ---- */

static void assert_line(struct t_peer *peer, const char *level, const char *words)
{
	char line[T_LINE_MAX + 512], wanted[64];

	assert_true(t_read_line(peer, line, T_LINE_MAX, 20000));
	snprintf(wanted, sizeof(wanted), "[%s] APP(%d,", level, peer->pid);
	assert_memory_equal(line, wanted, strlen(wanted));
	if (!strstr(line, words))
		fail_msg("no %s in: %s", words, line);
}

static void assert_last_lines(struct t_peer *peer)
{
	char line[T_LINE_MAX];

	assert_line(peer, "ERROR", ": \"error 4\"");
	/* The long one has more than a line of this test's; what follows it is the end. */
	assert_false(t_read_line(peer, line, sizeof(line), 20000));
	assert_int_equal(t_wait(peer, 20000), 0);
}

static void start(struct t_peer *peer, const char *what, const char *const env[])
{
	const char *const args[] = { what, NULL };

	assert_true(t_spawn(peer, args, env));
}

/* covers: aclAppLog, aclAppLogWithArgs effect */
static void all_levels(void **state)
{
	const char *const env[] = { "ASCEND_LOG_PRINT_TO_STDOUT=1", "ASCEND_GLOBAL_LOG_LEVEL=0", NULL };
	struct t_peer peer;

	(void)state;
	start(&peer, "levels", env);
	assert_line(&peer, "DEBUG", " log_each_level:");
	assert_line(&peer, "INFO", ": \"info 2\"");
	assert_line(&peer, "WARNING", " f:x.c:7: \"warning three\"");
	assert_last_lines(&peer);
}

/* covers: aclAppLog, aclAppLogWithArgs failure */
static void levels_are_filtered(void **state)
{
	const char *const by_default[] = { "ASCEND_SLOG_PRINT_TO_STDOUT=1", "ASCEND_GLOBAL_LOG_LEVEL=9", NULL };
	const char *const by_module[] = { "ASCEND_LOG_PRINT_TO_STDOUT=1", "ASCEND_GLOBAL_LOG_LEVEL=0",
					  "ASCEND_MODULE_LOG_LEVEL=RUNTIME=0:APP=2", NULL };
	const char *const none[] = { "ASCEND_LOG_PRINT_TO_STDOUT=1", "ASCEND_GLOBAL_LOG_LEVEL=4", NULL };
	struct t_peer peer;
	char line[T_LINE_MAX];

	(void)state;
	start(&peer, "levels", by_default); /* errors only, and none of the calls that lack something */
	assert_last_lines(&peer);
	start(&peer, "levels", by_module);
	assert_line(&peer, "WARNING", "three");
	assert_last_lines(&peer);
	start(&peer, "levels", none);
	assert_false(t_read_line(&peer, line, sizeof(line), 20000));
	assert_int_equal(t_wait(&peer, 20000), 0);
}

/* ---- files ---- */

static char root[] = "/tmp/vinci-log-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

/* Of the files in @dir: how many; the last one's text, as far as it fits, when @text is given. */
static unsigned read_files(const char *dir, char *text, size_t size, off_t *bytes)
{
	char path[600];
	unsigned count = 0;
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir);
	FILE *f;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "plog-", 5))
			continue;
		count++;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		assert_int_equal(stat(path, &st), 0);
		*bytes += st.st_size;
		f = fopen(path, "r");
		assert_non_null(f);
		text[fread(text, 1, size - 1, f)] = 0;
		fclose(f);
	}
	if (d)
		closedir(d);
	return count;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) ? -1 : 0;
}

/* covers: aclAppLog effect */
static void a_file_of_its_own(void **state)
{
	char env_text[128], dir[256], text[4096];
	const char *const env[] = { env_text, "ASCEND_WORK_PATH=/nowhere", NULL };
	struct t_peer peer;
	off_t bytes = 0;

	(void)state;
	snprintf(env_text, sizeof(env_text), "ASCEND_PROCESS_LOG_PATH=%s/a/b", root);
	snprintf(dir, sizeof(dir), "%s/a/b/debug/plog", root);
	start(&peer, "levels", env);
	assert_int_equal(t_wait(&peer, 20000), 0);
	assert_int_equal(read_files(dir, text, sizeof(text), &bytes), 1);
	assert_non_null(strstr(text, "\"error 4\"\n"));
	assert_null(strstr(text, "warning"));
	assert_non_null(strstr(text, "...[truncated]\n"));
	assert_in_range(bytes, 1024, 1300);
	start(&peer, "fork", env);
	assert_int_equal(t_wait(&peer, 20000), 0);
	assert_int_equal(read_files(dir, text, sizeof(text), &bytes), 3);
}

/* covers: aclAppLog effect */
static void old_files_go(void **state)
{
	char env_text[128], dir[256], text[4096];
	const char *const env[] = { env_text, "ASCEND_HOST_LOG_FILE_NUM=2", NULL };
	struct t_peer peer;
	off_t bytes = 0;

	(void)state;
	snprintf(env_text, sizeof(env_text), "ASCEND_WORK_PATH=%s/w", root);
	snprintf(dir, sizeof(dir), "%s/w/log/debug/plog", root);
	start(&peer, "much", env);
	assert_int_equal(t_wait(&peer, 60000), 0);
	assert_int_equal(read_files(dir, text, sizeof(text), &bytes), 2);
	assert_true(bytes > 20 << 20 && bytes < 42 << 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_levels),
		cmocka_unit_test(levels_are_filtered),
		cmocka_unit_test(a_file_of_its_own),
		cmocka_unit_test(old_files_go),
	};

	if (argc == 2 && !strcmp(argv[1], "levels"))
		return log_each_level();
	if (argc == 2 && !strcmp(argv[1], "fork"))
		return log_and_fork();
	if (argc == 2 && !strcmp(argv[1], "much"))
		return log_much();
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
