/* SPDX-License-Identifier: MIT */
/* symbol.c - chapter 11: variables of the program's kernels. A count of 0 is success before anything else is looked at. */
#include "acl/api.h"
#include "rts/memory.h"
#include "rts/module.h"

aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr)
{
	size_t size;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(devPtr);
	return api_result(rts_symbol_variable(symbol, devPtr, &size));
}

aclError aclrtGetSymbolSize(const void *symbol, size_t *size)
{
	void *address;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(size);
	return api_result(rts_symbol_variable(symbol, &address, size));
}

static aclError check_kind(const char *function, aclrtMemcpyKind kind, aclrtMemcpyKind wanted, const char *name)
{
	if (kind == wanted || kind == ACL_MEMCPY_DEFAULT)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "%s: kind is %d; it must be %s or ACL_MEMCPY_DEFAULT", function,
			(int)kind, name);
}

/* The address of @count bytes at @offset of the variable. */
static aclError part(const char *function, const void *symbol, size_t count, size_t offset, void **at)
{
	void *address;
	size_t size;
	int code = rts_symbol_variable(symbol, &address, &size);

	if (code)
		return code;
	if (offset > size || count > size - offset)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: %zu bytes from %zu on; the variable has %zu", function,
				count, offset, size);
	*at = (char *)address + offset;
	return ACL_SUCCESS;
}

static aclError from(const char *function, size_t max, const void *symbol, size_t count, size_t offset,
		     aclrtMemcpyKind kind, void **at)
{
	aclError r;

	if (count > max)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: count is %zu; dstMax allows %zu", function, count, max);
	r = check_kind(function, kind, ACL_MEMCPY_DEVICE_TO_HOST, "ACL_MEMCPY_DEVICE_TO_HOST");
	return r ? r : part(function, symbol, count, offset, at);
}

static aclError to(const char *function, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind,
		   void **at)
{
	aclError r = check_kind(function, kind, ACL_MEMCPY_HOST_TO_DEVICE, "ACL_MEMCPY_HOST_TO_DEVICE");

	return r ? r : part(function, symbol, count, offset, at);
}

aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
			       aclrtMemcpyKind kind)
{
	aclError r;
	void *at;

	REQUIRE_PRODUCT();
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(dst);
	r = from(__func__, dstMax, symbol, count, offset, kind, &at);
	return api_result(r ? r : rts_copy(dst, dstMax, at, count, ACL_MEMCPY_DEVICE_TO_HOST));
}

aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
				    aclrtMemcpyKind kind, aclrtStream stream)
{
	aclError r;
	void *at;

	REQUIRE_PRODUCT();
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(dst);
	r = from(__func__, dstMax, symbol, count, offset, kind, &at);
	return api_result(r ? r : rts_copy_async(dst, dstMax, at, count, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
	aclError r;
	void *at;

	REQUIRE_PRODUCT();
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(src);
	r = to(__func__, symbol, count, offset, kind, &at);
	return api_result(r ? r : rts_copy(at, count, src, count, ACL_MEMCPY_HOST_TO_DEVICE));
}

aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
				  aclrtMemcpyKind kind, aclrtStream stream)
{
	aclError r;
	void *at;

	REQUIRE_PRODUCT();
	if (!count)
		return ACL_SUCCESS;
	REQUIRE_NOT_NULL(symbol);
	REQUIRE_NOT_NULL(src);
	r = to(__func__, symbol, count, offset, kind, &at);
	return api_result(r ? r : rts_copy_async(at, count, src, count, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}
