/* SPDX-License-Identifier: MIT */
/*
 * refused.h - definitions of public functions that nothing stands behind yet. They are exported, so that a program that only
 * names them links and loads, and each call answers 207000 (or the value that the function documents for failure) with a
 * sentence that names the function and gives the REASON.
 *
 * Whoever makes a function real deletes its line. docs/status.md is generated from these files.
 */
#ifndef VINCI_ACL_REFUSED_H
#define VINCI_ACL_REFUSED_H

#include "acl/api.h"

/* The parameters are named as the headers name them and nobody reads them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define REFUSE(name, ...)				\
	aclError name(__VA_ARGS__)			\
	{						\
		return api_refuse(__func__, REASON);	\
	}

#define REFUSE_AS(type, value, name, ...)		\
	type name(__VA_ARGS__)				\
	{						\
		(void)api_refuse(__func__, REASON);	\
		return value;				\
	}

#endif
