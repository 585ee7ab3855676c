/* SPDX-License-Identifier: MIT */
/*
 * file_id.h - which file a kept descriptor is of. The application may close descriptors that are not its own and get the number
 * for a file of its own: what has changed its file is neither used nor closed by a transport.
 */
#ifndef VINCI_DRV_FILE_ID_H
#define VINCI_DRV_FILE_ID_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

struct file_id {
	dev_t dev;
	ino_t ino;
};

static inline int file_of(int fd, struct file_id *id)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*id = (struct file_id){ .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

static inline bool still_is(int fd, struct file_id id)
{
	struct file_id now = { 0 };
	int r = file_of(fd, &now);

	return r ? r != -EBADF : now.ino == id.ino && now.dev == id.dev;
}

#endif
