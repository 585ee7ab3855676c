/* SPDX-License-Identifier: MIT */
/*
 * api.h - what every public function starts and ends with. The acl layer validates, resolves handles, calls rts and
 * keeps no state; it owns the 1000xx, 2000xx and 5000xx codes.
 */
#ifndef VINCI_ACL_API_H
#define VINCI_ACL_API_H

#include "acl/acl_rt.h"
#include "acl/names.h"
#include "rts/rts.h"
#include "util/report.h"

/* Records a failed rts call as the thread's last error and passes the code on. acl's own codes are not recorded. */
aclError api_result(int code);
/* The code recorded last in this thread, 0 if none. */
int api_last_error(bool clear);

/* aclInit has been called and aclFinalize not since. */
bool api_initialized(void);

/* The answer of a function that is not there: 207000 with a sentence naming it and saying why. */
aclError api_refuse(const char *function, const char *reason);

/* False: the running profile's product has no such function (products.def). Before the device was opened: true. */
bool api_product_has(const char *function);
aclError api_product_refuse(const char *function);

/* Begins every function that products.def lists. */
#define REQUIRE_PRODUCT()                                                                                           \
	do {                                                                                                        \
		if (!api_product_has(__func__))                                                                     \
			return api_product_refuse(__func__);                                                        \
	} while (0)

#define REQUIRE_NOT_NULL(arg)                                                                                       \
	do {                                                                                                        \
		if (!(arg))                                                                                         \
			return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument %s is NULL", __func__, #arg);        \
	} while (0)

#define REQUIRE(cond, ...)                                                                                          \
	do {                                                                                                        \
		if (!(cond))                                                                                        \
			return u_report(ACL_ERROR_INVALID_PARAM, __VA_ARGS__);                                      \
	} while (0)

#endif
