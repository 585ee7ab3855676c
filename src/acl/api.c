/* SPDX-License-Identifier: MIT */
/* api.c - the common end of every public function: the thread's last error, and the answer of what is not there yet. */
#include "acl/api.h"
#include "acl/call_line.h"
#include "rts/snapshot.h"

#include <string.h>

static _Thread_local int last_error;

/* Only failures of the runtime count as a thread's last error; what the acl layer itself rejects does not, as in CANN. */
static bool is_runtime_code(int code)
{
	int class = code % 100000 / 1000;

	return class == 7;
}

aclError api_result(int code)
{
	if (code && is_runtime_code(code))
		last_error = code;
	return code;
}

int api_last_error(bool clear)
{
	int code = last_error;

	if (clear)
		last_error = 0;
	return code;
}

aclError api_refuse(const char *function, const char *reason)
{
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is not supported: %s", function, reason);
}

/* ---- products -------------------------------------------------------------------------------- */

#define A2 RTS_PRODUCT_A2
#define A3 RTS_PRODUCT_A3
#define P950 RTS_PRODUCT_950
#define P310B RTS_PRODUCT_310B
#define P310P RTS_PRODUCT_310P
#define P910 RTS_PRODUCT_910

static const struct {
	const char *function;
	uint32_t products;
} restricted[] = {
#define PRODUCTS(function, products) { #function, products },
#include "acl/products.def"
#undef PRODUCTS
};

static const char *const on_ipv350[] = {
#define PRODUCTS(function, products)
#define IPV350(function) #function,
#include "acl/products.def"
#undef PRODUCTS
};

static bool ipv350_has(const char *function)
{
	for (size_t i = 0; i < sizeof(on_ipv350) / sizeof(on_ipv350[0]); i++)
		if (!strcmp(on_ipv350[i], function))
			return true;
	return false;
}

void call_hold(const char *name)
{
	rts_snapshot_hold(name);
}

int call_refusal(const char *name)
{
	return !rts_profile_lacks() || ipv350_has(name) ? 0 : api_product_refuse(name);
}

/* What A2 and A3 lack is refused where it would be done, so that their calls do not pay for this; IPV350's: calls.c. */
bool api_product_has(const char *function)
{
	const struct rts_profile *profile = rts_profile();

	if (!profile || profile->product & (A2 | A3 | RTS_PRODUCT_IPV350))
		return true;
	for (size_t i = 0; i < sizeof(restricted) / sizeof(restricted[0]); i++)
		if (!strcmp(restricted[i].function, function))
			return restricted[i].products & profile->product;
	return true;
}

aclError api_product_refuse(const char *function)
{
	return api_result(u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is not available on %s", function,
				   rts_profile()->soc));
}
