/* SPDX-License-Identifier: MIT */
/*
 * The AscendCL runtime: devices, contexts, streams, synchronisation, memory, sharing between
 * processes, kernels, recorded models. Numbers in the headings are chapters of CANN's API
 * reference, which the rules come from.
 *
 * What holds unless a comment says otherwise:
 * - Every function may be called from any thread. A forked child can use the API only if its parent
 *   had not used it before. No function needs aclInit, most need a device set in their thread.
 * - Results are ACL_SUCCESS (0) or a code: 1000xx, 2000xx for what the interface checks (NULL where
 *   a value is needed: 100000), 107xxx, 207xxx, 507xxx for what runtime and device find. Outputs
 *   are written last and stay untouched on failure. aclGetRecentErrMsg names the violated rule.
 * - 107002: no context in this thread. 107003: the stream is not of the current context. 107017:
 *   the handle is stale or of another kind. 207000: not on this product, or not here yet.
 * - A NULL stream is the default stream of the current context.
 * - "Queues": the call returns when the task stands in the stream; its failure shows when the
 *   stream is synchronised. Arguments are read during the call, the memory that they point at when
 *   the task runs.
 * - Sizes, lengths and offsets are in bytes. "reserve" and "reserved" arguments must be NULL or 0.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_H_
#define INC_EXTERNAL_ACL_ACL_RT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MAJOR_VERSION 1	/* API level that these headers describe */
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/* ---- 2. Initialisation and finalisation ------------------------------------------------------ */

/*
 * Reads the JSON file at configPath (NULL or "": defaults) and counts a reference. 100002 when
 * already initialised (counted all the same), 100003 if the file cannot be read, 100000 when its
 * content differs from what the process was initialised with first.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

/*
 * Ends the API whatever the count is; devices stay as they are. 100037 when called twice in a row.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/*
 * Drops one reference of aclInit, ends the API with the last one and stores what is left in
 * *refCount (may be NULL). 100037 when none is held.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);

/* Component that wants to know when the API starts or ends. */
typedef enum aclRegisterCallbackType {
	ACL_REG_TYPE_ACL_MODEL,
	ACL_REG_TYPE_ACL_OP_EXECUTOR,
	ACL_REG_TYPE_ACL_OP_CBLAS,
	ACL_REG_TYPE_ACL_OP_COMPILER,
	ACL_REG_TYPE_ACL_TDT_CHANNEL,
	ACL_REG_TYPE_ACL_TDT_QUEUE,
	ACL_REG_TYPE_ACL_DVPP,
	ACL_REG_TYPE_ACL_RETR,
	ACL_REG_TYPE_OTHER = 0xFFFF,
} aclRegisterCallbackType;

/* Gets the text of aclInit's file, len bytes, valid during the call only. */
typedef aclError (*aclInitCallbackFunc)(const char *configStr, size_t len, void *userData);

typedef aclError (*aclFinalizeCallbackFunc)(void *userData);

/* Calls cbFunc at aclInit, or at once if that has happened already. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type,
		aclInitCallbackFunc cbFunc, void *userData);

ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
		aclInitCallbackFunc cbFunc);

/* Calls cbFunc when the API is finalised. */
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
		aclFinalizeCallbackFunc cbFunc, void *userData);

ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
		aclFinalizeCallbackFunc cbFunc);

/* ---- 3. Run-time configuration --------------------------------------------------------------- */

/* Options of the process. 0, the default, means off; a context may override them (chapter 5). */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);
typedef enum {
	ACL_RT_DEV_RES_CUBE_CORE = 0,
	ACL_RT_DEV_RES_VECTOR_CORE,
} aclrtDevResLimitType;

/*
 * Limits on cores, in numbers of cores. A stream's limit counts only in threads that use it, and
 * then wins over the device's, which wins over the hardware's own. They act on tasks queued
 * afterwards.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
		uint32_t *value);
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
		uint32_t value);
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceResLimit(int32_t deviceId);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
		uint32_t *value);
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
		uint32_t value);
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);

/* From here on this thread works under the limits of that stream; the last call counts. */
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/* The limit in force in this thread, after all of the above. */
ACL_FUNC_VISIBILITY aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value);

/* ---- 4. Devices ------------------------------------------------------------------------------ */

/*
 * Makes the device's default context, with its default stream, current in this thread, creating
 * them at first. Counted per device and process. 107001: no such id, or hidden by
 * ASCEND_RT_VISIBLE_DEVICES; 507033: the device cannot be opened.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/*
 * Undoes one aclrtSetDevice; the last one waits for the default context's work and removes it with
 * its streams. 507007 when the device is not set.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/* Like aclrtResetDevice, whatever the count is. Ends waits on peers that are dead or silent. */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/* Device of this thread's current context; 107002 before the first aclrtSetDevice in it. */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t *deviceId);

/* Number of visible devices; 207004 when there is none or the visible list is unusable. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count);

/* Where the program runs, as seen from the accelerator. */
typedef enum aclrtRunMode {
	ACL_DEVICE,
	ACL_HOST,
} aclrtRunMode;

/* ACL_HOST here: this library is always the host of its devices. */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode *runMode);

/* Task schedulers of a device. */
typedef enum aclrtTsId {
	ACL_TS_ID_AICORE = 0,
	ACL_TS_ID_AIVECTOR = 1,
	ACL_TS_ID_RESERVED = 2,
} aclrtTsId;

ACL_FUNC_VISIBILITY aclError aclrtSetTsDevice(aclrtTsId tsId);

/* Opaque; reserved for more detail. */
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/* Load in percent, -1 for what the device does not have. */
typedef struct aclrtUtilizationInfo {
	int32_t cubeUtilization;
	int32_t vectorUtilization;
	int32_t aicpuUtilization;
	int32_t memoryUtilization;
	aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
		aclrtUtilizationInfo *utilizationInfo);

typedef enum aclrtDeviceStatus {
	ACL_RT_DEVICE_STATUS_NORMAL = 0,
	ACL_RT_DEVICE_STATUS_ABNORMAL,
	ACL_RT_DEVICE_STATUS_END = 0xFFFF,
} aclrtDeviceStatus;

ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId,
		aclrtDeviceStatus *deviceStatus);

/* What arithmetic yields on overflow: the largest value, or infinity and NaN. */
typedef enum aclrtFloatOverflowMode {
	ACL_RT_OVERFLOW_MODE_SATURATION = 0,
	ACL_RT_OVERFLOW_MODE_INFNAN,
	ACL_RT_OVERFLOW_MODE_UNDEF,
} aclrtFloatOverflowMode;

/* For streams created on the current device from now on. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);

/* Queues a copy of the device's overflow flags to outputAddr, 64 bytes of device memory. */
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize,
		aclrtStream stream);

/* Queues the clearing of those flags. */
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);

/* Waits for all streams of the current context; returns the first error that a task left there. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/* The same for at most timeout ms, -1 for ever. 107000: 0 or < -1; 507046: time is over. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/* Attributes for aclrtGetDeviceInfo; sizes in bytes. */
typedef enum {
	ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
	ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
	ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
	ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
	ACL_DEV_ATTR_WARP_SIZE = 202,
	ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
	ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE
		ACL_DEPRECATED_MESSAGE("use ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE") = 204,
	ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
	ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
	ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
	ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
	ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
	ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
	ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
	ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
	ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
	ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
	ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
	ACL_DEV_ATTR_SMP_ID = 401U,	/* equal on devices under one operating system */
	ACL_DEV_ATTR_PHY_CHIP_ID = 402U,
	ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403U,	/* old misspelling of the next */
	ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403U,
	ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404U,
	ACL_DEV_ATTR_SUPER_POD_ID = 405U,
	/* custom operators may use privileged instructions */
	ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406U,
	ACL_DEV_ATTR_MAINBOARD_ID = 407U,
	ACL_DEV_ATTR_HD_CONNECT_TYPE = 408U,	/* ACL_HOST_DEVICE_CONNECT_TYPE_* */
	ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409U,	/* ACL_DEVICE_FORM_FACTOR_* */
	ACL_DEV_ATTR_IS_VIRTUAL = 501U,	/* 1: a slice of a split device */
	ACL_DEV_ATTR_NPU_ARCH = 601U,
} aclrtDevAttr;

#define ACL_HOST_DEVICE_CONNECT_TYPE_PCIE 0
#define ACL_HOST_DEVICE_CONNECT_TYPE_HCCS 1
#define ACL_HOST_DEVICE_CONNECT_TYPE_UB 2
#define ACL_DEVICE_FORM_FACTOR_POD 0
#define ACL_DEVICE_FORM_FACTOR_A_K 1	/* server class */
#define ACL_DEVICE_FORM_FACTOR_A_X 2	/* server class */
#define ACL_DEVICE_FORM_FACTOR_PCIE_CARD 3

ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr,
		int64_t *value);

typedef enum {
	ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
	ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21,
} aclrtDevFeatureType;

#define ACL_DEV_FEATURE_SUPPORT 0x00000001
#define ACL_DEV_FEATURE_NOT_SUPPORT 0x00000000

/* Stores ACL_DEV_FEATURE_SUPPORT or ACL_DEV_FEATURE_NOT_SUPPORT. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t deviceId,
		aclrtDevFeatureType devFeatureType, int32_t *value);

/* Numbers of the lowest (7) and the highest (0) priority. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority,
		int32_t *greatestPriority);

#define ACL_RT_DEVS_TOPOLOGY_HCCS 0x01ULL	/* direct HCCS link */
#define ACL_RT_DEVS_TOPOLOGY_PIX 0x02ULL	/* one PCIe switch */
#define ACL_RT_DEVS_TOPOLOGY_PIB 0x04ULL	/* reserved */
#define ACL_RT_DEVS_TOPOLOGY_PHB 0x08ULL	/* through the CPU's host bridge */
#define ACL_RT_DEVS_TOPOLOGY_SYS 0x10ULL	/* between NUMA nodes */
#define ACL_RT_DEVS_TOPOLOGY_SIO 0x20ULL	/* two dies of a chip */
#define ACL_RT_DEVS_TOPOLOGY_HCCS_SW 0x40ULL	/* HCCS through a switch */

/* How two devices are connected: one of ACL_RT_DEVS_TOPOLOGY_*. */
ACL_FUNC_VISIBILITY aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId,
		uint64_t *value);

typedef enum {
	ACL_RT_DEVICE_STATE_SET_PRE = 0,
	ACL_RT_DEVICE_STATE_SET_POST,
	ACL_RT_DEVICE_STATE_RESET_PRE,
	ACL_RT_DEVICE_STATE_RESET_POST,
} aclrtDeviceState;

/* Runs in the thread that sets or resets the device. */
typedef void (*aclrtDeviceStateCallback)(int32_t deviceId, aclrtDeviceState state, void *args);

/* Registers, or with a NULL callback removes, the callback named regName. */
ACL_FUNC_VISIBILITY aclError aclrtRegDeviceStateCallback(const char *regName,
		aclrtDeviceStateCallback callback, void *args);

/*
 * Numbers of a device: the user's (position in ASCEND_RT_VISIBLE_DEVICES), the logical and the
 * physical one. Without that variable they agree. In the pair Logic/Phy "logic" really is the
 * user's number.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(int32_t userDevid, int32_t *logicDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByLogicDevId(int32_t logicDevId, int32_t *userDevid);
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByPhyDevId(int32_t phyDevId, int32_t *logicDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(int32_t logicDevId, int32_t *phyDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByPhyDevId(int32_t phyDevId, int32_t *userDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByUserDevId(int32_t userDevId, int32_t *phyDevId);

/* 16 raw bytes, not text. */
typedef struct aclrtUuid {
	char bytes[16];
} aclrtUuid;

/* Stays the same for a device as long as its instance exists. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid);

/* Text dddd:bb:dd.f with its NUL in pciBusId; len must be 13 or more. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len);

ACL_FUNC_VISIBILITY aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId);

/*
 * This process's id as the device knows it: the number to put on another process's whitelist,
 * right in containers too. Needs neither device nor context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t *pid);

/* Bits of what an atomic operation supports between two places. */
typedef enum aclrtAtomicOperationCapability {
	ACL_RT_ATOMIC_CAPABILITY_SIGNED = 1U << 0,
	ACL_RT_ATOMIC_CAPABILITY_UNSIGNED = 1U << 1,
	ACL_RT_ATOMIC_CAPABILITY_REDUCATION = 1U << 2,	/* old misspelling of the next */
	ACL_RT_ATOMIC_CAPABILITY_REDUCTION = 1U << 2,
	ACL_RT_ATOMIC_CAPABILITY_SCALAR8 = 1U << 3,
	ACL_RT_ATOMIC_CAPABILITY_SCALAR16 = 1U << 4,
	ACL_RT_ATOMIC_CAPABILITY_SCALAR32 = 1U << 5,
	ACL_RT_ATOMIC_CAPABILITY_SCALAR64 = 1U << 6,
	ACL_RT_ATOMIC_CAPABILITY_SCALAR128 = 1U << 7,
	ACL_RT_ATOMIC_CAPABILITY_VECTOR32X4 = 1U << 8,
} aclrtAtomicOperationCapability;

typedef enum aclrtAtomicOperation {
	ACL_RT_ATOMIC_OPERATION_INTEGER_ADD = 0,
	ACL_RT_ATOMIC_OPERATION_INTEGER_MIN = 1,
	ACL_RT_ATOMIC_OPERATION_INTEGER_MAX = 2,
	ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
	ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
	ACL_RT_ATOMIC_OPERATION_AND = 5,
	ACL_RT_ATOMIC_OPERATION_OR = 6,
	ACL_RT_ATOMIC_OPERATION_XOR = 7,
	ACL_RT_ATOMIC_OPERATION_EXCHANGE = 8,
	ACL_RT_ATOMIC_OPERATION_CAS = 9,
	ACL_RT_ATOMIC_OPERATION_FLOAT_ADD = 10,
	ACL_RT_ATOMIC_OPERATION_FLOAT_MIN = 11,
	ACL_RT_ATOMIC_OPERATION_FLOAT_MAX = 12,
	ACL_RT_ATOMIC_OPERATION_DMA_ADD = 30,
	ACL_RT_ATOMIC_OPERATION_DMA_MIN = 31,
	ACL_RT_ATOMIC_OPERATION_DMA_MAX = 32,
	ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD = 40,
	ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN = 41,
	ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX = 42,
	ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS = 43,
	ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH = 44,
} aclrtAtomicOperation;

/*
 * capabilities[i] gets the aclrtAtomicOperationCapability bits of operations[i]; both hold count
 * elements.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities,
		const aclrtAtomicOperation *operations, uint32_t count, int32_t deviceId);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities,
		const aclrtAtomicOperation *operations, uint32_t count, int32_t srcDeviceId,
		int32_t dstDeviceId);

/* Sizes, in bytes, that kernels of this process get. */
typedef enum aclrtDeviceLimit {
	ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
	ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
	ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,
	ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3,
	ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4,
} aclrtDeviceLimit;

ACL_FUNC_VISIBILITY aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value);

/* 1 when a link joins the two devices, else 0. 100000 for a device and itself. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
		int32_t peerDeviceId);

/*
 * Opens the way from the current device to peerDeviceId; data pass once both directions are open.
 * Counted. flags must be 0 (else 200006); 100000 for the device itself.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/* Undoes one enable; 507899 without one. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/* 1 when the way is open now, else 0. */
ACL_FUNC_VISIBILITY aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId,
		int32_t *status);

/* Writes back the current device's L2 cache. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceL2CacheFlush(void *rsv);

/* Hardware engines of a device. */
typedef enum {
	ACL_RT_HAC_TYPE_STARS = 0,
	ACL_RT_HAC_TYPE_AICPU,
	ACL_RT_HAC_TYPE_AIC,
	ACL_RT_HAC_TYPE_AIV,
	ACL_RT_HAC_TYPE_PCIEDMA,
	ACL_RT_HAC_TYPE_RDMA,
	ACL_RT_HAC_TYPE_SDMA,
	ACL_RT_HAC_TYPE_DVPP,
	ACL_RT_HAC_TYPE_UDMA,
	ACL_RT_HAC_TYPE_CCU,
} aclrtHacType;

typedef enum {
	ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
	ACL_RT_HOST_MEM_MAP_SUPPORTED,
} aclrtHostMemMapCapability;

/* ---- 5. Contexts ----------------------------------------------------------------------------- */

/*
 * Makes a context with a default stream of its own and sets it in this thread; the caller destroys
 * it.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);

/* Not for a device's default context (107002). Threads that still point at it get 107002. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/* For this thread. 107000 when the context is unknown or destroyed. */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/* The last one set here, or the default one of aclrtSetDevice. */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

/* Options of the current context; 107021 when an option that was never set is read. */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/* Owned by the context; not to be destroyed. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);

/* *active: 1 when the device's default context exists. flags must be NULL. */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags,
		int32_t *active);

/* Overflow flags in saturation mode: kept in device memory that kernels get as workspace. */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr);
ACL_FUNC_VISIBILITY aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize,
		aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtResetFloatOverflowStatus(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize,
		uint32_t checkMode, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode,
		aclrtStream stream);

/* ---- 6. Streams ------------------------------------------------------------------------------ */

#define ACL_STREAM_FAST_LAUNCH 0x00000001U	/* resources taken at creation, not at first use */
#define ACL_STREAM_FAST_SYNC 0x00000002U	/* synchronising spins */
#define ACL_STREAM_PERSISTENT 0x00000004U	/* keeps its tasks, for models */
#define ACL_STREAM_HUGE 0x00000008U	/* more tasks in flight */
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U	/* reserved */
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U	/* fed from the device only */

/*
 * An ordered queue of tasks in the current context, of highest priority; the caller destroys it.
 * 207008 when the device has no more.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);

/* priority 0 (highest) to 7, clamped. flag: ACL_STREAM_* bits, unknown ones are ignored. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
		uint32_t flag);

typedef enum {
	ACL_RT_STREAM_WORK_ADDR_PTR = 0,
	ACL_RT_STREAM_WORK_SIZE,
	ACL_RT_STREAM_FLAG,
	ACL_RT_STREAM_PRIORITY,
} aclrtStreamConfigAttr;

/* Fields are set through aclrtSetStreamConfigOpt only. */
typedef struct aclrtStreamConfigHandle {
	void *workptr;
	size_t workSize;
	size_t flag;
	uint32_t priority;
} aclrtStreamConfigHandle;

/*
 * CANN has the next four in its embedded build only. The caller frees the handle with the destroy
 * call.
 */
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);

/* attrValue points at the value, valueSize is its size; for a pointer, at the pointer. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
		aclrtStreamConfigAttr attr, const void *attrValue, size_t valueSize);

ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream *stream,
		const aclrtStreamConfigHandle *handle);

/* Waits for the tasks, then frees the stream. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/* Does not wait: queued tasks are dropped, a running one is left to end by itself. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/* Waits for every task queued so far; returns the error of a failed one. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/* The same for at most timeout ms, -1 for ever. 107000: 0 or < -1; 507046: time is over. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

typedef enum aclrtStreamStatus {
	ACL_STREAM_STATUS_COMPLETE = 0,
	ACL_STREAM_STATUS_NOT_READY = 1,
	ACL_STREAM_STATUS_RESERVED = 0xFFFF,
} aclrtStreamStatus;

/* COMPLETE or NOT_READY, without waiting. Pending work is no error. */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);

/* How many more streams the current device can have. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t *streamCount);

#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

/* Whether tasks after a failed one still run. 207000 for the way back from stop to continue. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

typedef enum {
	ACL_STREAM_ATTR_FAILURE_MODE = 1,
	ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
	ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
	ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
	ACL_STREAM_ATTR_PRIORITY = 5,
} aclrtStreamAttr;

/* The member that belongs to the attribute counts. */
typedef union {
	uint64_t failureMode;
	uint32_t overflowSwitch;
	uint32_t userCustomTag;
	uint32_t cacheOpInfoSwitch;
	uint32_t streamPriority;
	uint32_t reserve[4];
} aclrtStreamAttrValue;

ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream,
		aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value);

ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream,
		aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value);

/* Overflow detection of the stream, 0 off or 1 on. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);

/* Queues on stream the start of activeStream, which then runs beside it. For models. */
ACL_FUNC_VISIBILITY aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);

typedef enum {
	ACL_RT_EQUAL = 0,
	ACL_RT_NOT_EQUAL,
	ACL_RT_GREATER,
	ACL_RT_GREATER_OR_EQUAL,
	ACL_RT_LESS,
	ACL_RT_LESS_OR_EQUAL,
} aclrtCondition;

typedef enum {
	ACL_RT_SWITCH_INT32 = 0,
	ACL_RT_SWITCH_INT64 = 1,
} aclrtCompareDataType;

/*
 * Queues a comparison of two device values; the stream that it chooses runs on, this one stops.
 * For models.
 */
ACL_FUNC_VISIBILITY aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond,
		void *rightValue, aclrtCompareDataType dataType, aclrtStream trueStream,
		aclrtStream falseStream, aclrtStream stream);

typedef enum {
	ACL_RT_STREAM_STATE_CREATE_POST = 1,
	ACL_RT_STREAM_STATE_DESTROY_PRE,
} aclrtStreamState;

/* Runs in the thread that creates or destroys the stream; default streams count as well. */
typedef void (*aclrtStreamStateCallback)(aclrtStream stm, aclrtStreamState state, void *args);

/* Registers, or with a NULL callback removes, the callback named regName. */
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char *regName,
		aclrtStreamStateCallback callback, void *args);

/* Stops the running task; what is queued stays. */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/* Stops the running task and drops what is queued; later synchronising answers 107023. */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/* Empties an ACL_STREAM_PERSISTENT stream so that it can be filled again. */
ACL_FUNC_VISIBILITY aclError aclrtPersistentTaskClean(aclrtStream stream);

/* ---- 7. Events ------------------------------------------------------------------------------- */

#define ACL_EVENT_SYNC 0x00000001U	/* streams can wait for it */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U	/* can be queried, not waited for */
#define ACL_EVENT_TIME_LINE 0x00000008U	/* carries a time stamp */
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U	/* alone; between tasks of the device */
#define ACL_EVENT_EXTERNAL 0x00000020U	/* alone; between models */
#define ACL_EVENT_IPC 0x00000040U	/* alone; between processes */
#define ACL_IPC_EVENT_HANDLE_SIZE 64U
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x01U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x01U

/* For waiting, timing and progress alike. The caller destroys it. 207007: no more events. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);

/* flag: bits 1, 2, 4, 8, or DEVICE_USE_ONLY or EXTERNAL alone; else 107000. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);

/*
 * Takes a hardware id only while it is recorded. flag: bits 1, 2, 4, 8, or ACL_EVENT_IPC alone.
 * Such events can be neither reset nor asked with the two old queries (207000).
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/* Legal while pending: it goes when the last task that uses it is done. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/* Queues a mark behind what the stream holds now; recording again replaces it. */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/* flag: ACL_EVENT_RECORD_*. The two kinds cannot be mixed on one event (107000). */
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
		uint32_t flag);

/* Queues the return to "not recorded". */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/* Mind that the three status types count in different directions. */
typedef enum aclrtEventStatus {
	ACL_EVENT_STATUS_COMPLETE = 0,
	ACL_EVENT_STATUS_NOT_READY = 1,
	ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

typedef enum aclrtEventRecordedStatus {
	ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
	ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

typedef enum aclrtEventWaitStatus {
	ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
	ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
	ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF,
} aclrtEventWaitStatus;

/* For events of aclrtCreateEvent and WithFlag; one that was never recorded counts as complete. */
ACL_DEPRECATED_MESSAGE("use aclrtQueryEventStatus")
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);

/* Whether the recorded work is done. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
		aclrtEventRecordedStatus *status);

/* Whether the waits queued for it are done. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
		aclrtEventWaitStatus *status);

/* Waits for the last record; returns at once if there is none. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/* The same for at most timeout ms, -1 for ever. 107000: 0 or < -1; 507047: time is over. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/*
 * End minus start in milliseconds, may be negative. 507000: one was never recorded; 107006: not
 * done yet, or it carries no time.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
		aclrtEvent endEvent);

/* When the mark was reached, in microseconds of the device's clock. */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

/* Queues a wait for the record that the event has now; none recorded, none waited for. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/* timeout in seconds, 0 for ever. flag: ACL_EVENT_WAIT_*; EXTERNAL takes no timeout (100000). */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
		uint32_t timeout, uint32_t flag);

/*
 * timeout in seconds, 0 for ever, negative 107000. Its end shows as 107020 at the next
 * synchronising.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
		int32_t timeout);

/* Default limit of event waits in this process, in seconds; 0, as at the start: none. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);

/* How many more events the current device can have. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t *eventCount);

/* Travels between processes as plain bytes. */
typedef struct aclrtIpcEventHandle {
	char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/*
 * Name of an ACL_EVENT_IPC event (others: 107000); the same each time, valid while its owner keeps
 * the event.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);

/*
 * The same event for this process, which destroys it for itself. There is no whitelist: whoever
 * knows the handle can open it. 507899 in the process that created it.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);

/* ---- 8. Notifies ----------------------------------------------------------------------------- */

#define ACL_NOTIFY_DEFAULT 0x00000000U
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x00000001U
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x02UL	/* no whitelist */
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x02UL

/* Processes of one server, for whitelists that span servers. */
typedef struct {
	uint32_t sdid;	/* number of the device within the pod */
	int32_t *pid;	/* array of num numbers from aclrtDeviceGetBareTgid */
	size_t num;
} aclrtServerPid;

/*
 * One bit on the current device: set by a record, cleared by the wait that it ends. 207009: no
 * more.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag);

/* Drops this process's hold; the object goes with its last one. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

/*
 * Queues the setting of the bit, also from another device or process. Twice before a wait is once.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/*
 * Queues a wait for the bit, which is then cleared. timeout in seconds, 0 for ever; its end shows
 * as 107020 at the next synchronising. A shared notify is waited for on its creator's device only
 * (107000).
 */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
		uint32_t timeout);

/* Number on its device; may change when the notify is exported. */
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId);

/* Clears num notifies in order, up to the first that fails. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num);

/*
 * Names the notify for other processes, once (again: 507000). len >= 65; the key is text with its
 * NUL. With the default flag nobody but the creator can import it before aclrtNotifySetImportPid.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len,
		uint64_t flags);

/*
 * Lets a process import; exporter only, after the export. num must be 1, at most 15 in all; 207006
 * when validation is disabled. The process must run already.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num);

/* The same across servers of a pod; num of every element must be 1. */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify,
		aclrtServerPid *serverPids, size_t num);

/*
 * Opens it in this process, each call counted. Whoever is not on the list gets 507899, as for a
 * key that does not exist.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key,
		uint64_t flags);

/* ---- 9. Counting notifies -------------------------------------------------------------------- */

/* How a record combines info's value with the counter. */
typedef enum {
	ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
	ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
	ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
	ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4,
} aclrtCntNotifyRecordMode;

typedef struct {
	aclrtCntNotifyRecordMode mode;
	uint32_t value;
} aclrtCntNotifyRecordInfo;

/* How a wait compares the counter with info's value. */
typedef enum {
	ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
	ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
	ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
	ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
	ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4,
} aclrtCntNotifyWaitMode;

typedef struct {
	aclrtCntNotifyWaitMode mode;
	uint32_t value;
	uint32_t timeout;	/* seconds, 0 for ever */
	uint8_t isClear;	/* 1: the counter becomes 0 when the wait ends */
	uint8_t rsv[3];
} aclrtCntNotifyWaitInfo;

/* A 32-bit counter on the current device, 0 at first. flag must be 0. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag);

ACL_FUNC_VISIBILITY aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
		aclrtCntNotifyRecordInfo *info);

ACL_FUNC_VISIBILITY aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify,
		aclrtStream stream, aclrtCntNotifyWaitInfo *info);

/* Queues the return to 0. */
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);

/* ---- 10. Labels ------------------------------------------------------------------------------ */

/* A place in a stream of a model to jump to; at most 65535 in a process. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabel(aclrtLabel *label);

/* Puts the label where the stream's next task will be. */
ACL_FUNC_VISIBILITY aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclrtDestroyLabel(aclrtLabel label);

/* num 1..65535 labels, addressed by their position. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num,
		aclrtLabelList *labelList);

ACL_FUNC_VISIBILITY aclError aclrtDestroyLabelList(aclrtLabelList labelList);

/*
 * Queues a jump: ptr is device memory with a uint32_t index; one beyond the list means the last
 * label.
 */
ACL_FUNC_VISIBILITY aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue,
		aclrtLabelList labelList, aclrtStream stream);

/* ---- 11.1 Device memory ---------------------------------------------------------------------- */

/*
 * Page size, peer-to-peer use and kind of memory. HUGE_FIRST takes 2 MiB pages above 1 MiB and
 * small ones if there are none; HUGE_ONLY, NORMAL_ONLY and HUGE1G_ONLY fail instead. The last
 * three are bits to add.
 */
typedef enum aclrtMemMallocPolicy {
	ACL_MEM_MALLOC_HUGE_FIRST,
	ACL_MEM_MALLOC_HUGE_ONLY,
	ACL_MEM_MALLOC_NORMAL_ONLY,
	ACL_MEM_MALLOC_HUGE_FIRST_P2P,
	ACL_MEM_MALLOC_HUGE_ONLY_P2P,
	ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
	ACL_MEM_MALLOC_HUGE1G_ONLY,
	ACL_MEM_MALLOC_HUGE1G_ONLY_P2P,
	ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
	ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
	ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000,	/* user space can only read it */
} aclrtMemMallocPolicy;

/* Kinds of memory: DDR or HBM, page size, peer-to-peer. */
typedef enum aclrtMemAttr {
	ACL_DDR_MEM,
	ACL_HBM_MEM,
	ACL_DDR_MEM_HUGE,
	ACL_DDR_MEM_NORMAL,
	ACL_HBM_MEM_HUGE,
	ACL_HBM_MEM_NORMAL,
	ACL_DDR_MEM_P2P_HUGE,
	ACL_DDR_MEM_P2P_NORMAL,
	ACL_HBM_MEM_P2P_HUGE,
	ACL_HBM_MEM_P2P_NORMAL,
	ACL_HBM_MEM_HUGE1G,
	ACL_HBM_MEM_P2P_HUGE1G,
	ACL_MEM_NORMAL,
	ACL_MEM_HUGE,
	ACL_MEM_HUGE1G,
	ACL_MEM_P2P_NORMAL,
	ACL_MEM_P2P_HUGE,
	ACL_MEM_P2P_HUGE1G,
} aclrtMemAttr;

enum aclrtMemPgType {
	NORMAL_PAGE_TYPE = 0U,
	HUGE_PAGE_TYPE,
	HUGE1G_PAGE_TYPE,
};

enum aclrtMemType {
	HBM_TYPE = 0U,
	DDR_TYPE,
	P2P_HBM_TYPE,
	P2P_DDR_TYPE,
};

/* One row of the mapping from page and memory kind to aclrtMemAttr. */
struct MemAttrMapping {
	uint32_t pgType;
	uint32_t memType;
	bool isHostAlloc;
	aclrtMemAttr memAttr;
};

typedef enum {
	ACL_RT_MEM_ATTR_RSV = 0,
	ACL_RT_MEM_ATTR_MODULE_ID,
	ACL_RT_MEM_ATTR_DEVICE_ID,
	ACL_RT_MEM_ATTR_VA_FLAG,
} aclrtMallocAttrType;

typedef union {
	uint16_t moduleId;
	uint32_t deviceId;
	uint32_t vaFlag;
	uint8_t rsv[8];
} aclrtMallocAttrValue;

typedef struct {
	aclrtMallocAttrType attr;
	aclrtMallocAttrValue value;
} aclrtMallocAttribute;

typedef struct {
	aclrtMallocAttribute *attrs;
	size_t numAttrs;
} aclrtMallocConfig;

typedef enum aclrtMemLocationType {
	ACL_MEM_LOCATION_TYPE_HOST = 0,
	ACL_MEM_LOCATION_TYPE_DEVICE,
	ACL_MEM_LOCATION_TYPE_UNREGISTERED,
	ACL_MEM_LOCATION_TYPE_MANAGED,
	ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

/* id: device id, or the node for HOST_NUMA; 0 for HOST. */
typedef struct aclrtMemLocation {
	uint32_t id;
	aclrtMemLocationType type;
} aclrtMemLocation;

/*
 * size bytes on the current device, not cleared, 64-byte aligned at least; rounded up to 32 and,
 * unless in 1 GiB pages or on Ascend 950, 32 more. Freed by aclrtFree. 100000: NULL or size 0;
 * 207001: out of memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/* Like aclrtMalloc; size is rounded up to 32 and not padded. */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void **devPtr, size_t size,
		aclrtMemMallocPolicy policy);

/* The same as aclrtMalloc: device memory is always cached. */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void **devPtr, size_t size,
		aclrtMemMallocPolicy policy);

/* Like aclrtMallocAlign32, with attributes (cfg may be NULL). */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void **devPtr, size_t size,
		aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg);

/* Memory that the device's task scheduler can reach. */
ACL_FUNC_VISIBILITY aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size,
		aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg);

/* Caches of host and device are coherent, so there is nothing to do for a correct program. */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void *devPtr, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void *devPtr, size_t size);

/*
 * Start of an allocation only, else 107000. Waits for nothing; tasks that still run keep the pages
 * until they end.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void *devPtr);

/* Waits for the device first. */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void *devPtr);

/*
 * Free and total bytes of a kind of memory on the current device, over all processes. 107016:
 * unknown kind.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

typedef struct aclrtMemUsageInfo {
	char name[32];	/* component */
	uint64_t curMemSize;	/* bytes in use */
	uint64_t memPeakSize;	/* most bytes ever in use */
	size_t reserved[8];
} aclrtMemUsageInfo;

/* Fills at most inputNum elements, stores how many in *outputNum. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo,
		size_t inputNum, size_t *outputNum);

#define ACL_RT_MEM_TYPE_DEV 0x2U
#define ACL_RT_MEM_TYPE_DVPP 0x8U	/* memory of the media engines */
#define ACL_RT_MEM_TYPE_RSVD 0x10U

/* *checkResult is 1 when every address is of a kind in the bits memType, else 0. */
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType,
		uint32_t *checkResult, uint32_t reserve);

/* ---- 11.2 Host memory ------------------------------------------------------------------------ */

/* Pinned host memory, which copies need to be asynchronous; freed by aclrtFreeHost. */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **hostPtr, size_t size);

/* With attributes (cfg may be NULL). */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size,
		aclrtMallocConfig *cfg);

/* Waits for nothing. 107000 for device memory. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *hostPtr);

/* Waits for the device first. */
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void *hostPtr);

typedef enum {
	ACL_HOST_REGISTER_MAPPED = 0,
	ACL_HOST_REGISTER_IOMEMORY = 0x04,
	ACL_HOST_REGISTER_READONLY = 0x08,
} aclrtHostRegisterType;

#define ACL_HOST_REG_MAPPED 0x2UL	/* gets a device address */
#define ACL_HOST_REG_IOMEMORY 0x4UL	/* is I/O memory */
#define ACL_HOST_REG_READONLY 0x8UL	/* device may only read */
#define ACL_HOST_REG_PINNED 0x10000000UL	/* only pin it */

/* Maps host memory for kernels, at *devPtr. ptr 4 KiB aligned. 207000: unsupported type bits. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
		void **devPtr);

/* flag: ACL_HOST_REG_* bits, at least one (else 107000). 507910: overlaps a registered range. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);

/* For kernels, not for copies. flag must be 0; 107000 when not registered. */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag);

/* 507911 when not registered. */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void *ptr);

/* Whether an engine of the device can reach registered memory. */
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
		aclrtHostMemMapCapability *capabilities);

/* ---- 11.3 Copying and setting ---------------------------------------------------------------- */

/* Direction of a copy; DEFAULT finds it from the addresses. */
typedef enum aclrtMemcpyKind {
	ACL_MEMCPY_HOST_TO_HOST,
	ACL_MEMCPY_HOST_TO_DEVICE,
	ACL_MEMCPY_DEVICE_TO_HOST,
	ACL_MEMCPY_DEVICE_TO_DEVICE,
	ACL_MEMCPY_DEFAULT,
	ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,	/* the host buffer may be reused at return */
	ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
	ACL_MEMCPY_INTER_DEVICE_TO_DEVICE,
} aclrtMemcpyKind;

/*
 * Lengths of 0 succeed at once. 100000: NULL or unknown kind; 107000: count exceeds the room at
 * dst; 507899: outside an allocation, or forbidden for memory imported from another device
 * (chapter 11.7).
 */

/* Done at return; the addresses decide the direction, not kind. Waits for no stream. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
		aclrtMemcpyKind kind);

/*
 * Queues. Host memory that is not pinned makes it wait for the stream and copy before it returns.
 * 207000 from host to host.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src,
		size_t count, aclrtMemcpyKind kind, aclrtStream stream);

/* The same as aclrtMemcpyAsync. */
ACL_DEPRECATED_MESSAGE("use aclrtMemcpyAsync")
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax,
		const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream);

/* height rows of width bytes, one every dpitch or spitch bytes. 100000: width above a pitch. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
		size_t width, size_t height, aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src,
		size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind,
		aclrtStream stream);

/* Where the two ends of a copy are. */
typedef struct {
	aclrtMemLocation dstLoc;
	aclrtMemLocation srcLoc;
	uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/*
 * numBatches copies in one call; attrs[k] holds for copies attrsIndexes[k] up to the next index.
 * *failIndex gets the number of the bad copy, or SIZE_MAX when the fault lies elsewhere. 207000 on
 * imported memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs,
		size_t *sizes, size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
		size_t numAttrs, size_t *failIndex);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs,
		size_t *sizes, size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
		size_t numAttrs, size_t *failIndex, aclrtStream stream);

/* Without failIndex. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs,
		size_t *sizes, size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
		size_t numAttrs);

/* Without failIndex. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs,
		size_t *sizes, size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
		size_t numAttrs, aclrtStream stream);

/* Indirect copies: a descriptor in device memory, filled by the host or by a kernel. */

/* How large desc must be. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize);
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr,
		void *dstAddr, size_t count, void *config);

/* Queues; the descriptor is read when the task runs. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind,
		aclrtStream stream);

/* Queues a copy between *dst + dstDataOffset and *src + srcDataOffset, both read when it runs. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax,
		size_t dstDataOffset, const void **src, size_t count, size_t srcDataOffset,
		aclrtMemcpyKind kind, aclrtStream stream);

/* Sets count bytes to the low byte of value, on host or device. 107000: count above maxCount. */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value,
		size_t count);

/* Queues the same. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value,
		size_t count, aclrtStream stream);

/* Sets N 32-bit words. ptr 4-byte aligned, memSize at least 4 * N. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N);

/* Queues the same. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value,
		size_t N, aclrtStream stream);

/* ---- 11.4 Virtual memory: physical handles, reserved addresses, mappings --------------------- */

#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL	/* no whitelist */

/* Physical memory, counted: 1 at creation or import, 1 for each mapping and each retain. */
typedef void *aclrtDrvMemHandle;

typedef enum aclrtMemAllocationType {
	ACL_MEM_ALLOCATION_TYPE_PINNED = 0,
} aclrtMemAllocationType;

typedef enum aclrtMemHandleType {
	ACL_MEM_HANDLE_TYPE_NONE = 0,
	ACL_MEM_HANDLE_TYPE_POSIX = 2,
} aclrtMemHandleType;

/*
 * DEFAULT: a uint64_t, within one server. FABRIC: an aclrtMemFabricHandle, across servers of a
 * pod.
 */
typedef enum aclrtMemSharedHandleType {
	ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 0x1,
	ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 0x2,
} aclrtMemSharedHandleType;

typedef struct aclrtMemFabricHandle {
	uint8_t data[128];
} aclrtMemFabricHandle;

typedef struct aclrtPhysicalMemProp {
	aclrtMemHandleType handleType;	/* NONE */
	aclrtMemAllocationType allocationType;
	aclrtMemAttr memAttr;
	aclrtMemLocation location;
	uint64_t reserve;	/* must be 0 */
} aclrtPhysicalMemProp;

typedef enum aclrtMemGranularityOptions {
	ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
	ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED,
	ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF,
} aclrtMemGranularityOptions;

/*
 * Physical memory without an address; size a multiple of the granularity (else 507899), flags 0.
 * 100000: a property that is not supported; 207001: out of memory.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
		const aclrtPhysicalMemProp *prop, uint64_t flags);

/* Drops one count; mapped memory stays until it is unmapped. 107000: one more than was held. */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/*
 * Addresses without memory, from 2 MiB up. alignment must be 0 (else 107000). expectPtr asks for a
 * place; if that is taken the call fails rather than choosing another.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment,
		void *expectPtr, uint64_t flags);

/* size in multiples of 1 GiB, expectPtr needed. */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size,
		size_t alignment, void *expectPtr, uint64_t flags);

/* After everything in it is unmapped. 107000: not a reservation. */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void *virPtr);

/*
 * Puts the memory at virPtr, any multiple of the page size in a reservation; offset and flags must
 * be 0. The memory's own device can use it at once, others after aclrtMemSetAccess. 507899:
 * overlap, or outside.
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void *virPtr, size_t size, size_t offset,
		aclrtDrvMemHandle handle, uint64_t flags);

/* Like aclrtMapMem; nobody can use it before aclrtMemSetAccess. */
ACL_FUNC_VISIBILITY aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset,
		aclrtDrvMemHandle handle, uint64_t flags);

/* virPtr as given to the mapping call, else 507899. */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void *virPtr);

typedef enum {
	ACL_RT_MEM_ACCESS_FLAGS_NONE = 0x0,
	ACL_RT_MEM_ACCESS_FLAGS_READ = 0x1,
	ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 0x3,
} aclrtMemAccessFlags;

typedef struct {
	aclrtMemAccessFlags flags;
	aclrtMemLocation location;
	uint8_t rsv[12];
} aclrtMemAccessDesc;

/*
 * virPtr and size of exactly one mapping. Only READWRITE can be set (207000 for others), and not
 * changed.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc,
		size_t count);

/* *flag: aclrtMemAccessFlags of that location; NONE if never set. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location,
		uint64_t *flag);

/*
 * Names the memory for other processes, once (again, or an imported one: 507899). handleType NONE.
 * With the default flag nobody can import it before the call below.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
		aclrtMemHandleType handleType, uint64_t flags, uint64_t *shareableHandle);

/*
 * Lets pidNum processes (1..65535) import; exporter only. They must run already. 107017: unknown
 * handle; 207006: validation is disabled.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid,
		size_t pidNum);

/*
 * Opens it for deviceId; the same handle, counted, when this process did so before. Release it
 * with aclrtFreePhysical. 107017: unknown or gone; 507899: not on the list, or this process
 * exported it.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle,
		int32_t deviceId, aclrtDrvMemHandle *handle);

/*
 * The same with a kind of handle: shareableHandle points at a uint64_t or an aclrtMemFabricHandle.
 * Importing is for the current device.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle,
		uint64_t flags, aclrtMemSharedHandleType shareType, void *shareableHandle);
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle,
		aclrtMemSharedHandleType shareType, int32_t *pid, size_t pidNum);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle,
		aclrtMemSharedHandleType shareType, uint64_t flags, aclrtDrvMemHandle *handle);

/* 2 MiB, or 1 GiB for memory of such pages. 207000: unknown option. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
		aclrtMemGranularityOptions option, size_t *granularity);

/* The handle mapped at virPtr (start of a mapping), counted: free it once more. */
ACL_FUNC_VISIBILITY aclError aclrtMemRetainAllocationHandle(void *virPtr,
		aclrtDrvMemHandle *handle);

ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
		aclrtPhysicalMemProp *prop);

/*
 * Start and size of the allocation or mapping around ptr; one output may be NULL. 107000: unknown
 * pointer.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize);

#define ACL_RT_MEM_LINK_IDX_0 0U	/* SIO */
#define ACL_RT_MEM_LINK_IDX_1 1U	/* HCCS */

typedef enum {
	ACL_RT_MEM_ACCESS_LINK_SIO = 0,
	ACL_RT_MEM_ACCESS_LINK_HCCS = 1,
	ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH = 2,
	ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH = 3,
} aclrtMemLinkType;

/*
 * Maps virPtrDst to the memory at virPtrSrc, reached over the chosen link (ACL_RT_MEM_LINK_IDX_*).
 */
ACL_FUNC_VISIBILITY aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc,
		uint32_t linkIdx);

/* Which link later mappings of the handle should use. */
ACL_FUNC_VISIBILITY aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle,
		aclrtMemLinkType adviceLink);

/*
 * Maps device memory of this process for another of its devices ahead of the first access. flags
 * 0.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId,
		uint64_t flags);

/* ---- 11.5 Managed memory and pointers -------------------------------------------------------- */

#define ACL_RT_MEM_ATTACH_GLOBAL 0x01U	/* visible to all devices */

typedef enum aclrtMemManagedLocationType {
	ACL_MEM_LOCATIONTYPE_INVALID = 0,
	ACL_MEM_LOCATIONTYPE_DEVICE,
	ACL_MEM_LOCATIONTYPE_HOST,
	ACL_MEM_LOCATIONTYPE_HOST_NUMA,
	ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT,
} aclrtMemManagedLocationType;

/* id: device or NUMA node, 0 where the type needs none. */
typedef struct aclrtMemManagedLocation {
	aclrtMemManagedLocationType type;
	int32_t id;
} aclrtMemManagedLocation;

typedef enum aclrtMemManagedAdviseType {
	ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
	ACL_MEM_ADVISE_UNSET_READ_MOSTLY,
	ACL_MEM_ADVISE_SET_PREFERRED_LOCATION,
	ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
	ACL_MEM_ADVISE_SET_ACCESSED_BY,
	ACL_MEM_ADVISE_UNSET_ACCESSED_BY,
} aclrtMemManagedAdviseType;

typedef enum aclrtMemManagedRangeAttribute {
	ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
	ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
	ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
	ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
	ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
	ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
	ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
	ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
} aclrtMemManagedRangeAttribute;

/*
 * Memory with one address on host and devices, whose pages move to where they are used. Ranges are
 * multiples of 2 MiB.
 */

/* size is rounded up to 2 MiB, flag ACL_RT_MEM_ATTACH_GLOBAL. Freed by aclrtFree. */
ACL_FUNC_VISIBILITY aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedAdvise(const void *ptr, uint64_t size,
		aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location);

/* Invalid values when the range is not uniform. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute,
		const void *ptr, size_t size, void *data, size_t dataSize);

ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes,
		size_t numAttributes, const void *ptr, size_t size, void **data, size_t *dataSizes);

/* Queues the move of the range. flags 0. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size,
		aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream);

/* Ranges from prefetchLocIdxs[k] up to the next index go to prefetchLocs[k]. */
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes,
		size_t count, aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs,
		size_t numPrefetchLocs, uint64_t flags, aclrtStream stream);

typedef struct aclrtPtrAttributes {
	aclrtMemLocation location;
	uint32_t pageSize;	/* bytes */
	uint32_t rsv[4];
} aclrtPtrAttributes;

/*
 * Where the memory is and its page size. 507899: a device address that is not allocated; 107017:
 * reserved and not mapped.
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void *ptr,
		aclrtPtrAttributes *attributes);

/* ---- 11.6 Cache maintenance ------------------------------------------------------------------ */

/* INVALID means: make invalid. */
typedef enum aclrtCmoType {
	ACL_RT_CMO_TYPE_PREFETCH = 0,
	ACL_RT_CMO_TYPE_WRITEBACK,
	ACL_RT_CMO_TYPE_INVALID,
	ACL_RT_CMO_TYPE_FLUSH,
} aclrtCmoType;

#define ACL_RT_CMO_MAX_BARRIER_NUM 6U

typedef struct {
	aclrtCmoType cmoType;
	uint32_t barrierId;
} aclrtBarrierCmoInfo;

typedef struct {
	size_t barrierNum;
	aclrtBarrierCmoInfo cmoInfo[ACL_RT_CMO_MAX_BARRIER_NUM];
} aclrtBarrierTaskInfo;

/* All queue, except the two that size and fill a descriptor. */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
		aclrtStream stream);

/*
 * For streams that are bound to a model (others: 507000). barrierId: above 0 for INVALID, 0 for the
 * other types (else 107000).
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType,
		uint32_t barrierId, aclrtStream stream);

/*
 * Waits for the INVALID operations with those barrier ids that the model's streams have recorded;
 * 107005: there is none. flag 0.
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream,
		uint32_t flag);

ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t *size);

/* cmoDesc is device memory of that size. */
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size);

ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType,
		aclrtStream stream, const void *reserve);

/* ---- 11.7 Device memory shared between processes --------------------------------------------- */

#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL	/* no whitelist */
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0UL

/* opens the way to the exporter's device */
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1UL

#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO 0
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS 1
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH 2
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3

typedef enum {
	ACL_RT_IPC_MEM_ATTR_ACCESS_LINK,
} aclrtIpcMemAttrType;

/*
 * Names device memory for other processes: devPtr a multiple of the allocation's page size and the
 * range inside it, else 507899. len >= 65; the key is 64 characters and a NUL. Each call makes
 * another key. With the default flag nobody can import it before aclrtIpcMemSetImportPid.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key,
		size_t len, uint64_t flags);

/*
 * Lets num processes (1..31 a call) import; exporter only. They must run already. 507899: unknown
 * key, not the exporter, or list full; 207006: validation is disabled.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num);

/* The same for processes on other servers of a pod; 207000 on products without pods. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportPidInterServer(const char *key,
		aclrtServerPid *serverPids, size_t num);

/*
 * Maps it for the current device; again in this process: the same address, counted. 507899: no
 * such key, not on the list, or imported for another device already. From another device it can be
 * copied device to device asynchronously, and used by kernels.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags);

/* Which link importers should use (ACL_RT_IPC_MEM_ATTR_*); 207000 where there is no choice. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type,
		uint64_t attr);

/*
 * One call for each import and one for the export. The key dies with its exporter; who imported
 * before keeps the memory until closing. 507899: nothing to close.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char *key);

/* ---- 11.9 Values in device memory ------------------------------------------------------------ */

#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U	/* (int64_t)(*devAddr - value) >= 0 */
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U	/* *devAddr == value */
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U	/* (*devAddr & value) != 0 */
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U	/* ~(*devAddr | value) != 0 */

/* Queues a 64-bit store; devAddr 8-byte aligned, flag 0. */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
		aclrtStream stream);

/* Queues a wait until the 64-bit word passes the test in flag (ACL_STREAM_WAIT_VALUE_*). */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
		aclrtStream stream);

/* ---- 11.11 Variables of device code ---------------------------------------------------------- */

/*
 * symbol: address of the variable's host stand-in. 107043: no such variable; offset + count within
 * its size.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr);
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolSize(const void *symbol, size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol,
		size_t count, size_t offset, aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax,
		const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind,
		aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count,
		size_t offset, aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src,
		size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream);

/* ---- 12. Execution control ------------------------------------------------------------------- */

/* Whether tasks after the callback wait for it. */
typedef enum aclrtCallbackBlockType {
	ACL_CALLBACK_NO_BLOCK,
	ACL_CALLBACK_BLOCK,
} aclrtCallbackBlockType;

typedef void (*aclrtCallback)(void *userData);
typedef void (*aclrtHostFunc)(void *args);

/*
 * Callbacks in a thread of the user: subscribe the thread, launch, and let it call
 * aclrtProcessReport. threadId is its pthread_self(). A blocking call on the callback's own stream
 * fails instead of hanging.
 */

/* 107011: the stream has a thread already; 107012: the thread serves another device. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Queues. 107015: no thread is subscribed to the stream. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
		aclrtCallbackBlockType blockType, aclrtStream stream);

/*
 * Waits up to timeout ms (-1 for ever, 0 is 100000) and runs what has come. 507012: nothing came.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/*
 * Queues fn for a thread of the library; the stream's later tasks wait for it. 107011: the stream
 * has a subscribed thread.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/*
 * CANN has the next three in its embedded build only: operators that run on the host, in a thread
 * of the user.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId,
		aclrtStream exeStream);

/* timeout in ms, -1 for ever. */
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId,
		aclrtStream exeStream);

/*
 * How long an operator may run, for the process; a launch can carry a limit of its own. 0 is the
 * largest limit.
 */

/* seconds */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/* milliseconds */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/* microseconds; what the hardware makes of it comes back */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout);

/* smallest step in microseconds */
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t *interval);

/* milliseconds, UINT32_MAX for no limit */
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t *timeoutMs);

/* Of the task this thread queued last. */
ACL_FUNC_VISIBILITY aclError aclrtGetThreadLastTaskId(uint32_t *taskId);

typedef enum {
	ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
	ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
	ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
	ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
} aclrtReduceKind;

/* Queues dst = dst op src over count bytes of elements of that type. */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count,
		aclrtReduceKind kind, aclDataType type, aclrtStream stream, void *reserve);

/* A value or where it is. */
typedef struct {
	uint8_t isAddr;	/* 1: valueOrAddr holds a device address */
	uint8_t valueOrAddr[8];
	uint8_t size;	/* of the value in bytes */
	uint8_t rsv[6];
} aclrtRandomParaInfo;

typedef struct {
	aclrtRandomParaInfo dropoutRation;
} aclrtDropoutBitmaskInfo;

typedef struct {
	aclrtRandomParaInfo min;
	aclrtRandomParaInfo max;
} aclrtUniformDisInfo;

typedef struct {
	aclrtRandomParaInfo mean;
	aclrtRandomParaInfo stddev;
} aclrtNormalDisInfo;

typedef enum {
	ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0,
	ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS,
	ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS,
	ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS,
} aclrtRandomNumFuncType;

/* The member that belongs to funcType counts. */
typedef struct {
	aclrtRandomNumFuncType funcType;
	union {
		aclrtDropoutBitmaskInfo dropoutBitmaskInfo;
		aclrtUniformDisInfo uniformDisInfo;
		aclrtNormalDisInfo normalDisInfo;
	} paramInfo;
} aclrtRandomNumFuncParaInfo;

typedef struct {
	aclDataType dataType;
	aclrtRandomNumFuncParaInfo randomNumFuncParaInfo;
	void *randomParaAddr;
	void *randomResultAddr;
	void *randomCounterAddr;
	aclrtRandomParaInfo randomSeed;
	aclrtRandomParaInfo randomNum;
	uint8_t rsv[8];
} aclrtRandomNumTaskInfo;

/* Queues the drawing of random numbers. */
ACL_FUNC_VISIBILITY aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo,
		aclrtStream stream, void *reserve);

typedef enum {
	ACL_RT_UPDATE_RANDOM_TASK = 1,
	ACL_RT_UPDATE_AIC_AIV_TASK,
} aclrtUpdateTaskAttrId;

typedef struct {
	void *srcAddr;
	size_t size;
	uint32_t rsv[4];
} aclrtRandomTaskUpdateAttr;

typedef struct {
	void *binHandle;
	void *funcEntryAddr;
	void *blockDimAddr;
	uint32_t rsv[4];
} aclrtAicAivTaskUpdateAttr;

typedef union {
	aclrtRandomTaskUpdateAttr randomTaskAttr;
	aclrtAicAivTaskUpdateAttr aicAivTaskAttr;
} aclrtUpdateTaskAttrVal;

typedef struct {
	aclrtUpdateTaskAttrId id;
	aclrtUpdateTaskAttrVal val;
} aclrtTaskUpdateInfo;

/* Queues on execStream the change of a task that stands in taskStream. */
ACL_FUNC_VISIBILITY aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId,
		aclrtTaskUpdateInfo *info, aclrtStream execStream);

/* ---- 13. Errors and faults ------------------------------------------------------------------- */

/*
 * This thread's messages since the last call, which clears them; NULL if there are none. Owned by
 * the library, valid until the thread calls it again.
 */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

typedef enum aclrtLastErrLevel {
	ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

/*
 * The last 107xxx, 207xxx or 507xxx code of this thread; checks of the interface (1000xx) do not
 * count.
 */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/* Clears it. */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/* Opaque; valid during the callback only. */
typedef struct rtExceptionInfo aclrtExceptionInfo;

/* Runs when a task fails, in a thread of the library. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *exceptionInfo);

typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo *exceptionInfo, void *userData);

/* Several functions may be registered; the same one counts once. */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackRegister(
		aclrtExceptionInfoCallback callback);

/* Not for what aclrtSetExceptionInfoCallback set. */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackUnregister(
		aclrtExceptionInfoCallback callback);

/* One function beside the registered ones; the last call counts. */
ACL_DEPRECATED_MESSAGE("use aclrtExceptionInfoCallbackRegister "
		       "and aclrtExceptionInfoCallbackUnregister")
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/* Which task failed. UINT32_MAX when info is NULL. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);

/* thread that queued it */
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);

ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);

#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20U

/* A range hit by a memory error that hardware could not correct. */
typedef struct aclrtMemUceInfo {
	void *addr;
	size_t len;
	size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

typedef enum {
	ACL_RT_NO_ERROR = 0,
	ACL_RT_ERROR_MEMORY = 1,
	ACL_RT_ERROR_L2 = 2,
	ACL_RT_ERROR_AICORE = 3,
	ACL_RT_ERROR_LINK = 4,
	ACL_RT_ERROR_L3_PORT = 5,
	ACL_RT_ERROR_OTHERS = 0xFFFF,
} aclrtErrorType;

typedef enum aclrtAicoreErrorType {
	ACL_RT_AICORE_ERROR_UNKNOWN,
	ACL_RT_AICORE_ERROR_SW,
	ACL_RT_AICORE_ERROR_HW_LOCAL,
} aclrtAicoreErrorType;

typedef struct {
	size_t arraySize;
	aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/* The member that belongs to errorType counts. */
typedef union aclrtErrorInfoDetail {
	aclrtMemUceInfoArray uceInfo;
	aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

typedef struct aclrtErrorInfo {
	uint8_t tryRepair;	/* 1: aclrtRepairError may help */
	uint8_t hasDetail;
	uint8_t reserved[2];
	aclrtErrorType errorType;
	aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

/* Fills at most arraySize ranges, stores how many in *retSize. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
		size_t arraySize, size_t *retSize);

ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
		size_t arraySize);

/* Stops the device's running tasks and drops queued ones. timeout in ms, 0 for ever. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

typedef enum {
	ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
	ACL_RT_DEVICE_TASK_ABORT_POST,
} aclrtDeviceTaskAbortStage;

/* Runs before and after an abort, in the thread that asked for it. */
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage,
		uint32_t timeout, void *args);

/* Registers, or with a NULL callback removes, the callback named regName. */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceTaskAbortCallback(const char *regName,
		aclrtDeviceTaskAbortCallback callback, void *args);

/* What is wrong with the device; ask before the tasks are aborted. */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo);

/* Tries to mend it; after the tasks are aborted. */
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo);

/* ---- 14. Loading and launching kernels ------------------------------------------------------- */

typedef void *aclrtBinary;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;

#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

typedef enum aclrtBinaryLoadOptionType {
	ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,	/* to the device at first use */
	ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2,	/* older name of the next */
	ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,	/* ACL_RT_BINARY_MAGIC_* */
	ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3,
} aclrtBinaryLoadOptionType;

typedef union aclrtBinaryLoadOptionValue {
	uint32_t isLazyLoad;
	uint32_t magic;
	int32_t cpuKernelMode;
	uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

typedef struct {
	aclrtBinaryLoadOptionType type;
	aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

typedef struct aclrtBinaryLoadOptions {
	aclrtBinaryLoadOption *options;
	size_t numOpt;
} aclrtBinaryLoadOptions;

typedef enum {
	ACL_RT_ENGINE_TYPE_AIC = 0,
	ACL_RT_ENGINE_TYPE_AIV,
} aclrtEngineType;

typedef enum {
	ACL_KERNEL_TYPE_AICORE = 0,
	ACL_KERNEL_TYPE_CUBE = 1,
	ACL_KERNEL_TYPE_VECTOR = 2,
	ACL_KERNEL_TYPE_MIX = 3,
	ACL_KERNEL_TYPE_AICPU = 100,
} aclrtKernelType;

typedef enum {
	ACL_FUNC_ATTR_KERNEL_TYPE = 1,
	ACL_FUNC_ATTR_KERNEL_RATIO = 2,
	ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3,
} aclrtFuncAttribute;

#ifndef __BISHENG_CCEC__ /* the device compiler has its own */
typedef struct dim3 {
	uint32_t x;
	uint32_t y;
	uint32_t z;
#if defined(__cplusplus) && __cplusplus >= 201103L
	constexpr dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz) {}
#elif defined(__cplusplus)
	dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz) {}
#endif
} dim3;
#endif

typedef enum aclrtLaunchKernelAttrId {
	ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
	ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE
		ACL_DEPRECATED_MESSAGE("use ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE") = 2,
	ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,
	ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
	ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
	ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
	ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
	ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,
	ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8,
	ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9,
} aclrtLaunchKernelAttrId;

/* A 64-bit number of microseconds. */
typedef struct {
	uint32_t timeoutLow;
	uint32_t timeoutHigh;
} aclrtTimeoutUs;

/* The member that belongs to the attribute counts. */
typedef union aclrtLaunchKernelAttrValue {
	uint8_t schemMode;
	ACL_DEPRECATED_MESSAGE("use dynUBufSize")
	uint32_t localMemorySize;
	uint32_t dynUBufSize;
	aclrtEngineType engineType;
	uint32_t blockDimOffset;
	uint8_t isBlockTaskPrefetch;
	uint8_t isDataDump;
	uint16_t timeout;	/* seconds */
	aclrtTimeoutUs timeoutUs;
	uint8_t enableProfiling;
	uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;

typedef struct aclrtLaunchKernelAttr {
	aclrtLaunchKernelAttrId id;
	aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

typedef struct aclrtLaunchKernelCfg {
	aclrtLaunchKernelAttr *attrs;
	size_t numAttrs;
} aclrtLaunchKernelCfg;

/* Where in the arguments an address goes, and where in them its data stand. */
typedef struct {
	uint32_t addrOffset;
	uint32_t dataOffset;
} aclrtPlaceHolderInfo;

/*
 * Kernels from a file or from memory. On this library a binary is host code that ascendc.cmake
 * built; functions and addresses die with the handle.
 */

/* options may be NULL. aclrtBinaryUnLoad frees it. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char *binPath,
		aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle);
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void *data, size_t length,
		const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle);

/* Describes data, which the caller keeps until the description is destroyed. NULL on failure. */
ACL_FUNC_VISIBILITY aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen);

ACL_FUNC_VISIBILITY aclError aclrtDestroyBinary(aclrtBinary binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoad(aclrtBinary binary, aclrtBinHandle *binHandle);
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/* By the kernel's name. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle,
		const char *kernelName, aclrtFuncHandle *funcHandle);

/* By the number that the binary gives the kernel. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle,
		uint64_t funcEntry, aclrtFuncHandle *funcHandle);

ACL_FUNC_VISIBILITY aclError aclrtBinaryGetDevAddress(aclrtBinHandle binHandle, void **binAddr,
		size_t *binSize);

/*
 * Address and size of a variable in the binary; one output may be NULL. 107042: no such variable.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name,
		void **dptr, size_t *size);

/* Called when a kernel of this binary fails; the last call counts. */
ACL_FUNC_VISIBILITY aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle,
		aclrtOpExceptionCallback callback, void *userData);

/* For that callback: arguments and kernel of the failed launch. */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info,
		void **devArgsPtr, uint32_t *devArgsLen);
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info,
		aclrtFuncHandle *func);

/* By the address of the kernel's host stub. 107044: there is no such kernel. */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle);

/* For operators of the device's CPUs only (else 107000). */
ACL_FUNC_VISIBILITY aclError aclrtRegisterCpuFunc(aclrtBinHandle handle, const char *funcName,
		const char *kernelName, aclrtFuncHandle *funcHandle);

/* Device addresses of the code for cube and vector cores; NULL where there is none. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr,
		void **aivAddr);

/* Sizes of that code; 0 where there is none. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize,
		size_t *aivSize);

/* Copies at most maxLen bytes with the NUL. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen,
		char *name);

ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle,
		aclrtFuncAttribute attrType, int64_t *attrValue);

ACL_FUNC_VISIBILITY aclError aclrtFunctionGetBinary(aclrtFuncHandle funcHandle,
		aclrtBinHandle *binHandle);

ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount);

/* Place and size of parameter paramIndex in the argument block. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex,
		size_t *paramOffset, size_t *paramSize);

/* Local memory that a launch can still ask for; 0 for kernels that are not SIMT. flags 0. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags,
		size_t *dynamicUbufSize);

/* Device address that cube and vector cores synchronise through. */
ACL_FUNC_VISIBILITY aclError aclrtGetHardwareSyncAddr(void **addr);

/*
 * An argument list: init, append in the order of the parameters, finalize, launch. Each value
 * takes a multiple of 8 bytes. A placeholder is a parameter whose data travel with the launch: it
 * becomes their address.
 */

/* In memory of the library. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle,
		aclrtArgsHandle *argsHandle);

/* In memory of the caller: list and handle, sized by the next two. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle,
		aclrtArgsHandle argsHandle, void *userHostMem, size_t actualArgsSize);

ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle,
		size_t userArgsSize, size_t *actualArgsSize);

ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle,
		size_t *memSize);

/* Copies the value. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param,
		size_t paramSize, aclrtParamHandle *paramHandle);

ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
		aclrtParamHandle *paramHandle);

/* Room for the data, after all parameters are appended; not to be freed. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
		aclrtParamHandle paramHandle, size_t dataSize, void **bufferAddr);

/* Replaces an appended value; same size. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle,
		aclrtParamHandle paramHandle, void *param, size_t paramSize);

/* Nothing can be appended from here on. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

/*
 * All launches queue; numBlocks is the number of cores that run the kernel. Arguments in host
 * memory are copied before return. cfg may be NULL.
 */

/* argsData is device memory of the stream's device and must stay until the kernel has run. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks,
		const void *argsData, size_t argsSize, aclrtStream stream);

/* The same with attributes. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks,
		const void *argsData, size_t argsSize, aclrtLaunchKernelCfg *cfg,
		aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle,
		uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
		aclrtArgsHandle argsHandle, void *reserve);

/* Arguments in host memory, with placeholders. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle,
		uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs,
		size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);

/* args[i] points at argument i. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks,
		aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args);

/* A grid of blocks of threads. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim,
		dim3 blockDim, size_t dynUbufSize, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
		void **args);

ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithHostArgs(void *func, dim3 gridDim,
		dim3 blockDim, size_t dynUbufSize, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
		void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
		size_t placeHolderNum);

/* ---- 15. Recorded models ("model running instances") ----------------------------------------- */

/* A recorded graph of tasks that can be run again and again. */
typedef void *aclmdlRI;

/* Which calls are refused in threads while a capture runs: those that would wait or act at once. */
typedef enum {
	ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
	ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
	ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
} aclmdlRICaptureMode;

typedef enum {
	ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
	ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
	ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED,
} aclmdlRICaptureStatus;

#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0x0UL
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 0x1UL

typedef enum aclmdlRITaskType {
	ACL_MODEL_RI_TASK_DEFAULT,
	ACL_MODEL_RI_TASK_KERNEL,
	ACL_MODEL_RI_TASK_EVENT_RECORD,
	ACL_MODEL_RI_TASK_EVENT_WAIT,
	ACL_MODEL_RI_TASK_EVENT_RESET,
	ACL_MODEL_RI_TASK_VALUE_WRITE,
	ACL_MODEL_RI_TASK_VALUE_WAIT,
} aclmdlRITaskType;

typedef struct aclmdlRIKernelTaskParams {
	aclrtFuncHandle funcHandle;
	aclrtLaunchKernelCfg *cfg;
	void *args;
	uint32_t isHostArgs;	/* 1: args is host memory */
	size_t argsSize;
	uint32_t numBlocks;
	uint32_t rsv[10];
} aclmdlRIKernelTaskParams;

typedef struct aclmdlRIEventRecordTaskParams {
	aclrtEvent event;
	uint32_t eventFlag;	/* as the event was created */
	uint32_t recordFlag;	/* ACL_EVENT_RECORD_* */
} aclmdlRIEventRecordTaskParams;

typedef struct aclmdlRIEventWaitTaskParams {
	aclrtEvent event;
	uint32_t eventFlag;
	uint32_t waitFlag;	/* ACL_EVENT_WAIT_* */
} aclmdlRIEventWaitTaskParams;

typedef struct aclmdlRIEventResetTaskParams {
	aclrtEvent event;
	uint32_t eventFlag;
	uint32_t resetFlag;
} aclmdlRIEventResetTaskParams;

typedef struct aclmdlRIValueWriteTaskParams {
	void *devAddr;
	uint64_t value;
} aclmdlRIValueWriteTaskParams;

typedef struct aclmdlRIValueWaitTaskParams {
	void *devAddr;
	uint64_t value;
	uint32_t flag;
} aclmdlRIValueWaitTaskParams;

/* The member that belongs to type counts. */
typedef struct aclmdlRITaskParams {
	aclmdlRITaskType type;
	uint32_t rsv0[3];
	aclrtTaskGrp taskGrp;
	void *opInfoPtr;
	size_t opInfoSize;
	uint8_t rsv1[32];
	union {
		uint8_t rsv2[128];
		struct aclmdlRIKernelTaskParams kernelTaskParams;
		struct aclmdlRIEventRecordTaskParams eventRecordTaskParams;
		struct aclmdlRIEventWaitTaskParams eventWaitTaskParams;
		struct aclmdlRIEventResetTaskParams eventResetTaskParams;
		struct aclmdlRIValueWriteTaskParams valueWriteTaskParams;
		struct aclmdlRIValueWaitTaskParams valueWaitTaskParams;
	};
} aclmdlRITaskParams;

/* A condition that decides what a conditional task runs. */
typedef void *aclmdlRICondHandle;

typedef enum {
	ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1,
} aclmdlRICondHandleFlag;

typedef enum {
	ACL_MODEL_RI_COND_TYPE_IF = 0,
	ACL_MODEL_RI_COND_TYPE_WHILE = 1,
	ACL_MODEL_RI_COND_TYPE_SWITCH = 2,
} aclmdlRICondTaskType;

typedef struct tagAclmdlRICondTaskParams {
	aclmdlRICondHandle handle;
	aclmdlRICondTaskType type;
	uint32_t size;	/* elements of modelRIArray: IF 1 or 2, WHILE 1, SWITCH 1 or more */
	aclmdlRI *modelRIArray;	/* written by the call: one sub-model a branch */
} aclmdlRICondTaskParams;

/* Capture: what is queued between begin and end is recorded, not run. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/* Into a model that exists, such as a branch of a conditional task. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
		aclmdlRICaptureMode mode);

ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
		aclmdlRICaptureStatus *status, aclmdlRI *modelRI);

/* Swaps this thread's mode with *mode. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode);

/* The caller destroys the model. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);

/*
 * Tasks between these belong together and can be updated together, by queueing the same calls
 * again between the update pair.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
		aclrtTaskGrp handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* Building by hand: begin, bind persistent streams, queue, end each stream, end. */

/* flag 0. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag);

/* flag: ACL_MODEL_STREAM_FLAG_* of acl_mdl.h. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream,
		uint32_t flag);

ACL_FUNC_VISIBILITY aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve);
ACL_FUNC_VISIBILITY aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);

/* Done at return. timeout in ms, -1 for ever. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/* Queues one run. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/* Ends the run; the model can be run again. */
ACL_FUNC_VISIBILITY aclError aclmdlRIAbort(aclmdlRI modelRI);

ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

/* Called when the model is destroyed. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func,
		void *userData);

ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI,
		aclrtCallback func);

ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char *name);

/* Copies at most maxLen bytes with the NUL; "" if it has none. */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name);

ACL_FUNC_VISIBILITY aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId);

/*
 * Both are asked twice: with a NULL array for the number, then with an array of that many
 * elements.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams,
		uint32_t *numStreams);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks,
		uint32_t *numTasks);

/* Tasks as aclmdlRIGetTasksByStream gave them; changes take effect with aclmdlRIUpdate. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params);
ACL_FUNC_VISIBILITY aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task,
		aclrtLaunchKernelAttrId attrId, aclrtLaunchKernelAttrValue *attrValue);

/* The task is skipped from then on. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskDisable(aclmdlRITask task);

ACL_FUNC_VISIBILITY aclError aclmdlRIUpdate(aclmdlRI modelRI);

/* The condition is defaultLaunchValue at the start of each run if flag says so. */
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
		aclmdlRICondHandleFlag flag, aclmdlRICondHandle *handle);

/* Where the condition's 8 bytes are in device memory; they go with the model. */
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle,
		uint64_t **ptr);

/* On a stream that is being captured. flags 0. */
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
		uint32_t flags);

/* Writes the model to the file path; flags: ACL_MDLRI_DEBUG_JSON_PRINT_*. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path,
		uint32_t flags);

ACL_DEPRECATED_MESSAGE("use aclmdlRIDebugJsonPrint")
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/* *canCompatible: 1 when code for socVersion runs on this device. */
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char *socVersion,
		int32_t *canCompatible);

/* ---- 16. Groups of cores --------------------------------------------------------------------- */

/* Opaque array, one element a group. */
typedef struct tagRtGroupInfo aclrtGroupInfo;

typedef enum aclrtGroupAttr {
	ACL_GROUP_AICORE_INT,
	ACL_GROUP_AIV_INT,
	ACL_GROUP_AIC_INT,
	ACL_GROUP_SDMANUM_INT,
	ACL_GROUP_ASQNUM_INT,
	ACL_GROUP_GROUPID_INT,
} aclrtGroupAttr;

/* Cores that this context computes with. */
ACL_FUNC_VISIBILITY aclError aclrtSetGroup(int32_t groupId);

ACL_FUNC_VISIBILITY aclError aclrtGetGroupCount(uint32_t *count);

/* Sized for the groups there are; freed by aclrtDestroyGroupInfo. NULL on failure. */
ACL_FUNC_VISIBILITY aclrtGroupInfo *aclrtCreateGroupInfo(void);

ACL_FUNC_VISIBILITY aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo);
ACL_FUNC_VISIBILITY aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo);

/*
 * Copies one attribute of group groupIndex, at most valueLen bytes; its size goes to
 * *paramRetSize.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo,
		int32_t groupIndex, aclrtGroupAttr attr, void *attrValue, size_t valueLen,
		size_t *paramRetSize);

/* ---- 18. Dumping operators' data ------------------------------------------------------------- */

ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);

/* Settings from a JSON file, as aclInit reads them. */
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char *dumpCfgPath);

ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

/* ---- 20. Shared buffers ---------------------------------------------------------------------- */

/*
 * Chained buffers with 96 bytes of user data each, passed through queues. Copies of a reference
 * share the data; every one is freed by itself. At most 128 in a chain.
 */

/* At most 4 GiB. */
ACL_FUNC_VISIBILITY aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtFreeBuf(aclrtMbuf buf);

/* Device address and room. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufData(aclrtMbuf buf, void **dataPtr, size_t *size);

ACL_FUNC_VISIBILITY aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);

/* As set; 0 before. */
ACL_FUNC_VISIBILITY aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len);

/* offset + size at most 96. */
ACL_FUNC_VISIBILITY aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size,
		size_t offset);

ACL_FUNC_VISIBILITY aclError aclrtGetBufUserData(aclrtMbuf buf, void *dataPtr, size_t size,
		size_t offset);

ACL_FUNC_VISIBILITY aclError aclrtCopyBufRef(aclrtMbuf buf, aclrtMbuf *newBuf);
ACL_FUNC_VISIBILITY aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);

ACL_FUNC_VISIBILITY aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index,
		aclrtMbuf *buf);

ACL_FUNC_VISIBILITY aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num);

/* ---- 21. Snapshots --------------------------------------------------------------------------- */

typedef enum aclrtProcessState {
	ACL_RT_PROCESS_STATE_RUNNING = 0,
	ACL_RT_PROCESS_STATE_LOCKED,
} aclrtProcessState;

typedef enum {
	ACL_RT_SNAPSHOT_LOCK_PRE = 0,
	ACL_RT_SNAPSHOT_BACKUP_PRE,
	ACL_RT_SNAPSHOT_BACKUP_POST,
	ACL_RT_SNAPSHOT_RESTORE_PRE,
	ACL_RT_SNAPSHOT_RESTORE_POST,
	ACL_RT_SNAPSHOT_UNLOCK_POST,
} aclrtSnapShotStage;

/* Non-zero makes the step fail. */
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void *args);

typedef struct aclrtSnapShotBackupArgs {
	uint32_t backupFlags;
	char reserved[60];
} aclrtSnapShotBackupArgs;

typedef struct aclrtSnapShotRestoreArgs {
	uint32_t restoreFlags;
	char reserved[60];
} aclrtSnapShotRestoreArgs;

/*
 * lock, back up, restore, unlock, in this order; pid must be the caller's own. While locked, calls
 * of the runtime wait.
 */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessLock(int pid, void *reserve);

/* Copies the device's state to the host; the last copy counts. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args);

ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessUnlock(int pid, void *reserve);

ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage,
		aclrtSnapShotCallBack callback, void *args);

ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage,
		aclrtSnapShotCallBack callback);

/* ---- 24. Others ------------------------------------------------------------------------------ */

#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

typedef enum aclCANNPackageName {
	ACL_PKG_NAME_CANN,
	ACL_PKG_NAME_RUNTIME,
	ACL_PKG_NAME_COMPILER,
	ACL_PKG_NAME_HCCL,
	ACL_PKG_NAME_TOOLKIT,
	ACL_PKG_NAME_OPP,
	ACL_PKG_NAME_OPP_KERNEL,
	ACL_PKG_NAME_DRIVER,
} aclCANNPackageName;

/* Texts with their NULs. */
typedef struct aclCANNPackageVersion {
	char version[ACL_PKG_VERSION_MAX_SIZE];
	char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
	char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
	char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
	char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
	char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

ACL_DEPRECATED_MESSAGE("use aclsysGetVersionStr and aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name,
		aclCANNPackageVersion *version);

/* pkgName: a directory under share/info; versionStr has room for ACL_PKG_VERSION_MAX_SIZE. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/* Larger is newer. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum);

/* Of the interface: ACL_MAJOR_VERSION and so on. */
ACL_DEPRECATED_MESSAGE("use aclsysGetVersionStr and aclsysGetVersionNum")
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
		int32_t *patchVersion);

/* Keeps up to 64 KiB about the operator with the task this thread queued last in a capture. */
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskOpInfo(const void *infoPtr, size_t infoSize);

/* Keeps up to 4 KiB of JSON with it, for aclmdlRIDebugJsonPrint. */
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskExtendInfo(const char *extendInfoPtr,
		size_t infoSize);

/* Queues a mark for the profiler; userdata is cut or filled with zeros to 18 bytes. */
ACL_FUNC_VISIBILITY aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_ACL_RT_H_ */
