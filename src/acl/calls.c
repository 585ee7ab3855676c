/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the symbols that libascendcl.so exports. Each is a load, a branch and a jump to the function that src/acl defines
 * under the symbol vinci_<name> (names.h); when VINCI_LOG asks for calls, it tells of one once it has returned.
 */
#include "acl/acl_rt_memory_soma.h"
#include "acl/call_line.h"
#include "acl/extras.h"
#include "util/each.h"
#include "util/report.h"
#include "vinci/kernel.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define PARAMETER(n, type) type a##n
#define ARGUMENT(n, type) a##n
#define TYPE(n, type) { CALL_KIND(type), CALL_SIZE(type) }
#define VALUE(n, type) (type[]){ a##n }

/* IPV350 lacks most functions; those that return no code are left alone there. Other products: REQUIRE_PRODUCT(). */
#define REFUSAL(name, result)                                                                                       \
	(call_hold(#name), __builtin_types_compatible_p(result, aclError) ? call_refusal(#name) : 0)

/* The way with a line is a function of its own, so that the other one keeps no registers. */
#define WRAP(name, result, parameters, arguments, types_, values_)                                                  \
	extern __typeof__(name) real_##name __asm__("vinci_" #name) __attribute__((visibility("hidden")));          \
	static __attribute__((noinline, cold)) result told_##name parameters                                        \
	{                                                                                                           \
		static const struct call_type types[] = { types_ };                                                 \
		uint64_t begun = call_begin();                                                                      \
		int refusal = REFUSAL(name, result);                                                                \
		result a0 = refusal ? (result)(uintptr_t)refusal : real_##name arguments;                           \
                                                                                                                    \
		call_end(begun, #name, types, (const void *const[]){ values_ }, sizeof(types) / sizeof(types[0]));  \
		return a0;                                                                                          \
	}                                                                                                           \
	result name parameters                                                                                      \
	{                                                                                                           \
		return u_log_may_want(U_DEBUG) ? told_##name arguments : real_##name arguments;                     \
	}

#define LIST(...) __VA_ARGS__
#define ABI_FUNCTION(name, result, ...)                                                                             \
	WRAP(name, result, (EACH(PARAMETER, __VA_ARGS__)), (EACH(ARGUMENT, __VA_ARGS__)),                           \
	     LIST(TYPE(0, result), EACH(TYPE, __VA_ARGS__)), LIST(VALUE(0, result), EACH(VALUE, __VA_ARGS__)))
#define ABI_NO_PARAMETERS(name, result) WRAP(name, result, (void), (), TYPE(0, result), VALUE(0, result))
#define ABI_VARIADIC(name, ...)
#include "acl/functions.def"
ABI_FUNCTION(aclrtSetDeviceWithoutTsdVXX, aclError, int32_t)
ABI_FUNCTION(aclrtResetDeviceWithoutTsdVXX, aclError, int32_t)
ABI_FUNCTION(vinciLaunchKernel, uint32_t, const struct vinci_kernel *, uint32_t, void *, const void *, size_t)

/* ---- the two that have no list of parameters ---- */

extern __typeof__(aclAppLogWithArgs) real_log __asm__("vinci_aclAppLogWithArgs") __attribute__((visibility("hidden")));

static void app_log(const char *name, aclLogLevel a5, const char *a4, const char *a3, uint32_t a2, const char *a1,
		    va_list args)
{
#define EACH_OF_LOG(f) EACH(f, aclLogLevel, const char *, const char *, uint32_t, const char *)
	static const struct call_type types[] = { { CALL_NOTHING, 0 }, EACH_OF_LOG(TYPE) };
	uint64_t begun = call_begin();

	real_log(a5, a4, a3, a2, a1, args);
	call_end(begun, name, types, (const void *const[]){ NULL, EACH_OF_LOG(VALUE) }, 6);
}

void aclAppLogWithArgs(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt,
		       va_list args)
{
	app_log("aclAppLogWithArgs", logLevel, func, file, line, fmt, args);
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	app_log("aclAppLog", logLevel, func, file, line, fmt, args);
	va_end(args);
}
