/* SPDX-License-Identifier: MIT */
/* reachable.c - a build tree that other users cannot enter must not fail the tests that become other users. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_util.h"

/* May everybody enter all directories above @path? */
static bool everybody_reaches(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *slash = strrchr(dir, '/'); slash; slash = strrchr(dir, '/')) {
		*slash = '\0';
		if (stat(*dir ? dir : "/", &st) || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

static int run_copy(const char *exe, char *const argv[])
{
	static const char script[] = "set -e; top=${1%/*/*}; mkdir \"$2/tests\"; cp -a \"$top/bin\" \"$top/lib64\" \"$2\"; "
				     "cp \"$1\" \"$2/tests\"; chmod -R a+rX \"$2\"";
	char dir[] = "/tmp/vinci-tests-XXXXXX", copy[PATH_MAX], libs[PATH_MAX];
	pid_t pid;
	int status;

	if (!mkdtemp(dir))
		return 1;
	snprintf(copy, sizeof(copy), "%s/tests%s", dir, strrchr(exe, '/'));
	snprintf(libs, sizeof(libs), "%s/lib64", dir);
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", script, "sh", exe, dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status) {
		pid = fork();
		if (!pid) {
			setenv("LD_LIBRARY_PATH", libs, 1);
			execv(copy, argv);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid)
			status = 1;
	}
	pid = fork();
	if (!pid) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void t_be_reachable(char *const argv[])
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (geteuid() || n <= 0)
		return;
	exe[n] = '\0';
	if (!everybody_reaches(exe))
		exit(run_copy(exe, argv));
}
