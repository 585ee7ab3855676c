/* SPDX-License-Identifier: MIT */
/*
 * Which process has a pid now: a number that its successor in the pid will not have. On new kernels that is the inode
 * of its pidfd, which is never used twice; on older ones its start time, which needs /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "soft/internal.h"

#define PIDFS_MAGIC_NUMBER 0x50494446

/* Field 22 of /proc/PID/stat, counted behind the command name, which may hold anything. */
static int parse_start(const char *stat, uint64_t *start)
{
	const char *p = strrchr(stat, ')');
	int field;

	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -ESRCH;
	*start = strtoull(p + 1, NULL, 10);
	return *start ? 0 : -ESRCH;
}

/* That we cannot look does not mean that there is nobody. */
static int not_found(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ? -ENOSPC : -ESRCH;
}

static int start_by_proc(int32_t pid, uint64_t *start)
{
	char path[32], text[1024];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return not_found(errno);
	do
		n = read(fd, text, sizeof(text) - 1);
	while (n < 0 && errno == EINTR);
	(void)close(fd);
	if (n <= 0)
		return -ESRCH;
	text[n] = 0;
	return parse_start(text, start);
}

int soft_process_start_fd(int pidfd, int32_t pid, uint64_t *start)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(pidfd, &fs) || fs.f_type != PIDFS_MAGIC_NUMBER)
		return start_by_proc(pid, start);
	/* Never the other number instead: the two do not compare. */
	if (fstat(pidfd, &st) || !st.st_ino)
		return -ENOSPC;
	*start = st.st_ino;
	return 0;
}

int soft_process_start(int32_t pid, uint64_t *start)
{
	int fd, r;

	if (pid <= 0)
		return -ESRCH;
	fd = (int)syscall(SYS_pidfd_open, pid, 0u);
	if (fd < 0)
		return errno == ENOSYS || errno == EPERM ? start_by_proc(pid, start) : not_found(errno);
	r = soft_process_start_fd(fd, pid, start);
	(void)close(fd);
	return r;
}

int vinci_identity_find(__s32 pid, struct vinci_identity *out)
{
	int r = soft_process_start(pid, &out->start);

	return r == -ESRCH ? 0 : r;
}
