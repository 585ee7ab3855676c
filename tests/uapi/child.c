/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

struct drv *must_open(void)
{
	struct drv *drv;
	char why[WHY] = "";

	if (drv_open(test_settings(), &drv, why, sizeof(why)))
		fail_msg("open: %s", why);
	return drv;
}

void assert_refused(const struct drv_settings *s, int error, const char *one, const char *two)
{
	char why[WHY] = "";
	struct drv *drv = NULL;

	assert_fails(drv_open(s, &drv, why, sizeof(why)), error);
	assert_null(drv);
	if (!strstr(why, one) || !strstr(why, two))
		fail_msg("\"%s\" names not both of %s and %s", why, one, two);
}

pid_t fork_test(void)
{
	pid_t pid = fork();

	if (!pid)
		(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
	return pid;
}

int in_child(int (*body)(void))
{
	pid_t pid = fork_test();
	int status;

	if (!pid)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

unsigned int count_fds(pid_t pid)
{
	char path[64];
	unsigned int n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}
