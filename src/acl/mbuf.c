/* SPDX-License-Identifier: MIT */
/* mbuf.c - chapter 20: shared buffers. */
#include "acl/api.h"
#include "rts/mbuf.h"

aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size)
{
	REQUIRE_NOT_NULL(buf);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_buf_alloc(size, buf));
}

aclError aclrtFreeBuf(aclrtMbuf buf)
{
	REQUIRE_NOT_NULL(buf);
	return api_result(rts_buf_free(buf));
}

aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size)
{
	REQUIRE_NOT_NULL(buf);
	REQUIRE_NOT_NULL(dataPtr);
	REQUIRE_NOT_NULL(size);
	return api_result(rts_buf_data(buf, dataPtr, size));
}

aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len)
{
	REQUIRE_NOT_NULL(buf);
	return api_result(rts_buf_set_len(buf, len));
}

aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len)
{
	REQUIRE_NOT_NULL(buf);
	REQUIRE_NOT_NULL(len);
	return api_result(rts_buf_len(buf, len));
}

static aclError check_user(const char *function, size_t size, size_t offset)
{
	if (size <= RTS_BUF_USER_BYTES && offset <= RTS_BUF_USER_BYTES - size)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM,
			"%s: %zu bytes at offset %zu do not fit the %d that a buffer has for them", function, size,
			offset, RTS_BUF_USER_BYTES);
}

aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset)
{
	aclError r = check_user(__func__, size, offset);

	if (r)
		return r;
	REQUIRE_NOT_NULL(buf);
	REQUIRE_NOT_NULL(dataPtr);
	return api_result(rts_buf_set_user(buf, dataPtr, size, offset));
}

aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset)
{
	aclError r = check_user(__func__, size, offset);

	if (r)
		return r;
	REQUIRE_NOT_NULL(buf);
	REQUIRE_NOT_NULL(dataPtr);
	return api_result(rts_buf_user(buf, dataPtr, size, offset));
}

aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf)
{
	REQUIRE_NOT_NULL(buf);
	REQUIRE_NOT_NULL(newBuf);
	return api_result(rts_buf_copy_ref(buf, newBuf));
}

aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf)
{
	REQUIRE_NOT_NULL(headBuf);
	REQUIRE_NOT_NULL(buf);
	return api_result(rts_buf_append(headBuf, buf));
}

aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf)
{
	REQUIRE_NOT_NULL(headBuf);
	REQUIRE_NOT_NULL(buf);
	return api_result(rts_buf_at(headBuf, index, buf));
}

aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num)
{
	REQUIRE_NOT_NULL(headBuf);
	REQUIRE_NOT_NULL(num);
	return api_result(rts_buf_count(headBuf, num));
}
