/* SPDX-License-Identifier: MIT */
/* memory.c - chapter 11: device and host memory, allocation and questions. */
#include "acl/api.h"
#include "rts/memory.h"
#include "rts/usage.h"

/* Sizes are rounded up to this, and by most functions padded. */
#define SIZE_UNIT ((size_t)32)

static bool is_1g(aclrtMemMallocPolicy policy)
{
	return policy == ACL_MEM_MALLOC_HUGE1G_ONLY || policy == ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
}

/* padding_size in CANN's platform_config. Without a context nothing is allocated. */
static size_t product_padding(void)
{
	return rts_context_peek() && rts_profile()->product == RTS_PRODUCT_950 ? 0 : SIZE_UNIT;
}

/* What aclrtMalloc and its like have in common. */
static aclError malloc_device(const char *function, void **ptr, size_t size, aclrtMemMallocPolicy policy, bool pad)
{
	size_t extra = SIZE_UNIT + (pad && !is_1g(policy) ? product_padding() : 0);

	if (!ptr)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument devPtr is NULL", function);
	if (!size)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: size is 0; it must be a positive number of bytes",
				function);
	if (size + extra < size)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: size %zu is too large to be rounded up", function, size);
	/* Bits beside the policy are only known to the functions that take a configuration. */
	if ((uint32_t)policy > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
		policy = ACL_MEM_MALLOC_HUGE_FIRST;
	return api_result(rts_memory_alloc((size + extra - 1) / SIZE_UNIT * SIZE_UNIT, (uint32_t)policy, ptr));
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
	return malloc_device(__func__, devPtr, size, policy, true);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
	return malloc_device(__func__, devPtr, size, policy, false);
}

/* It knows four policies; the others are treated as unknown ones. */
aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
	if (policy != ACL_MEM_MALLOC_HUGE_ONLY && policy != ACL_MEM_MALLOC_NORMAL_ONLY &&
	    policy != ACL_MEM_MALLOC_HUGE1G_ONLY)
		policy = ACL_MEM_MALLOC_HUGE_FIRST;
	return malloc_device(__func__, devPtr, size, policy, true);
}

/* A device id is one that the user sees, and has to be the current one. */
static int check_device_attr(uint32_t user)
{
	struct rts_context *ctx;
	uint32_t device;
	int r = rts_context_current(&ctx);

	if (r)
		return r;
	if (user <= INT32_MAX && !rts_device_from_user((int32_t)user, &device) && device == ctx->device)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"ACL_RT_MEM_ATTR_DEVICE_ID is %u; memory is allocated on the current device, %d", user,
			rts_device_to_user(ctx->device));
}

/* Of attributes that are given more than once the last one counts, so each is checked. */
static int check_device_attrs(const aclrtMallocConfig *cfg)
{
	int r = 0;

	for (size_t i = 0; !r && i < cfg->numAttrs; i++) {
		switch (cfg->attrs[i].attr) {
		case ACL_RT_MEM_ATTR_RSV:
		case ACL_RT_MEM_ATTR_MODULE_ID: /* for CANN's own bookkeeping */
			break;
		case ACL_RT_MEM_ATTR_DEVICE_ID:
			r = check_device_attr(cfg->attrs[i].value.deviceId);
			break;
		default:
			r = u_report(ACL_ERROR_RT_PARAM_INVALID,
				     "attribute %zu of cfg is %d; device memory knows 0 to 2", i,
				     (int)cfg->attrs[i].attr);
		}
	}
	return r;
}

static int check_cfg(const aclrtMallocConfig *cfg)
{
	if (cfg->attrs)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"cfg has no attributes (attrs is NULL); pass NULL instead of cfg then");
}

static aclError malloc_with_cfg(const char *function, void **ptr, size_t size, aclrtMemMallocPolicy policy,
				const aclrtMallocConfig *cfg)
{
	int r = 0;

	if (!ptr)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: argument devPtr is NULL", function);
	if (cfg && cfg->numAttrs && !cfg->attrs)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: cfg->attrs is NULL, but cfg->numAttrs is %zu", function,
				cfg->numAttrs);
	if (!size)
		return u_report(ACL_ERROR_INVALID_PARAM, "%s: size is 0; it must be a positive number of bytes",
				function);
	if (cfg)
		r = check_cfg(cfg);
	if (cfg && !r)
		r = check_device_attrs(cfg);
	if (!r && (uint32_t)policy & ACL_MEM_ACCESS_USER_SPACE_READONLY)
		r = u_report(
			ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
			"%s: memory that user space can only read belongs to media engines, which this device has not",
			function);
	if (!r)
		r = rts_memory_alloc(size, (uint32_t)policy, ptr);
	return api_result(r);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
	return malloc_with_cfg(__func__, devPtr, size, policy, cfg);
}

/* The task scheduler is this process, so that all memory will do. */
aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
	return malloc_with_cfg(__func__, devPtr, size, policy, cfg);
}

aclError aclrtFree(void *devPtr)
{
	REQUIRE_NOT_NULL(devPtr);
	return api_result(rts_memory_free(devPtr));
}

aclError aclrtFreeWithDevSync(void *devPtr)
{
	int r;

	REQUIRE_NOT_NULL(devPtr);
	r = rts_device_synchronize(-1);
	if (!r)
		r = rts_memory_free(devPtr);
	return api_result(r);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
	REQUIRE_NOT_NULL(free);
	REQUIRE_NOT_NULL(total);
	return api_result(rts_memory_info((uint32_t)attr, free, total));
}

/* Cleared by whatever is wrong with the other arguments, too, as in CANN's runtime. */
static int usage_of(int32_t user, aclrtMemUsageInfo *infos, size_t capacity, size_t *count)
{
	uint32_t device;
	int r = 0;

	*count = 0;
	if (!capacity)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "inputNum is 0; at least one component is to be asked for");
	if (!r)
		r = rts_process_start();
	if (!r)
		r = rts_device_from_user(user, &device);
	if (!r)
		*count = rts_usage_list(device, infos, capacity);
	return r;
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(memUsageInfo);
	REQUIRE_NOT_NULL(outputNum);
	return api_result(usage_of(deviceId, memUsageInfo, inputNum, outputNum));
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(attributes);
	return api_result(rts_memory_attributes(ptr, attributes));
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
	REQUIRE_NOT_NULL(ptr);
	return api_result(rts_memory_range(ptr, pbase, psize));
}

aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve)
{
	bool same = false;
	int r;

	REQUIRE_NOT_NULL(addrList);
	REQUIRE_NOT_NULL(checkResult);
	if (reserve)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: reserve is %u; it must be 0", __func__, reserve);
	else
		r = rts_memory_check_type(addrList, size, memType, &same);
	if (!r)
		*checkResult = same;
	return api_result(r);
}

/* Host and device are coherent here as on the products, so that only order remains to be made. */
static aclError order_memory(void)
{
	struct rts_context *ctx;
	int r = rts_context_current(&ctx);

	if (!r)
		atomic_thread_fence(memory_order_seq_cst);
	return api_result(r);
}

aclError aclrtMemFlush(void *devPtr, size_t size)
{
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return order_memory();
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return order_memory();
}

/* ---- host memory ---- */

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
	REQUIRE_NOT_NULL(hostPtr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	return api_result(rts_host_alloc(size, hostPtr));
}

static int check_host_attrs(const aclrtMallocConfig *cfg)
{
	for (size_t i = 0; i < cfg->numAttrs; i++) {
		aclrtMallocAttrType attr = cfg->attrs[i].attr;

		/* A module id is for bookkeeping; one address for host and device is what there is anyway. */
		if (attr != ACL_RT_MEM_ATTR_MODULE_ID && attr != ACL_RT_MEM_ATTR_VA_FLAG)
			return u_report(ACL_ERROR_RT_PARAM_INVALID,
					"attribute %zu of cfg is %d; host memory knows ACL_RT_MEM_ATTR_MODULE_ID (1) "
					"and VA_FLAG (3)",
					i, (int)attr);
	}
	return 0;
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
	int r = 0;

	REQUIRE_NOT_NULL(ptr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	if (cfg)
		r = check_cfg(cfg);
	if (cfg && !r)
		r = check_host_attrs(cfg);
	if (!r)
		r = rts_host_alloc(size, ptr);
	return api_result(r);
}

aclError aclrtFreeHost(void *hostPtr)
{
	REQUIRE_NOT_NULL(hostPtr);
	return api_result(rts_host_free(hostPtr));
}

aclError aclrtFreeHostWithDevSync(void *hostPtr)
{
	int r;

	REQUIRE_NOT_NULL(hostPtr);
	r = rts_device_synchronize(-1);
	if (!r)
		r = rts_host_free(hostPtr);
	return api_result(r);
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
	const uint32_t known = ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY;
	void *device;
	int r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE_NOT_NULL(devPtr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	if ((uint32_t)type & ~known)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"%s: type is 0x%x; it must be ACL_HOST_REGISTER_MAPPED (0)", __func__, (unsigned)type);
	r = rts_host_register(ptr, size, (uint32_t)type | ACL_HOST_REG_MAPPED);
	if (!r)
		r = rts_host_device_pointer(ptr, &device);
	if (!r)
		*devPtr = device;
	return api_result(r);
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
	const uint32_t known =
		ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
	int r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	REQUIRE(size, "%s: size is 0; it must be a positive number of bytes", __func__);
	if (!flag || flag & ~known)
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "%s: flag is 0x%x; it must be an OR of ACL_HOST_REG_* (0x%x)",
			     __func__, flag, known);
	else
		r = rts_host_register(ptr, size, flag);
	return api_result(r);
}

aclError aclrtHostUnregister(void *ptr)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(ptr);
	return api_result(rts_host_unregister(ptr));
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(pHost);
	REQUIRE_NOT_NULL(pDevice);
	REQUIRE(!flag, "%s: flag is 0x%x; it is reserved and must be 0", __func__, flag);
	return api_result(rts_host_device_pointer(pHost, pDevice));
}
