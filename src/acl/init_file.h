/* SPDX-License-Identifier: MIT */
/* init_file.h - the JSON file that aclInit reads. */
#ifndef VINCI_ACL_INIT_FILE_H
#define VINCI_ACL_INIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base_rt.h"

struct init_file {
	char *text; /* NUL-terminated; "" without a path */
	size_t len;
	char *path;		/* for messages */
	int32_t default_device; /* user's number; -1: not set */
	bool errors_of_process; /* err_msg_mode "1" */
};

/* @path NULL or "": no file. 100003 unreadable, 100005 too large, 100006 not JSON, 100000 a setting with a wrong value.
 */
aclError init_file_read(const char *path, struct init_file **out);
void init_file_free(struct init_file *file);

#endif
