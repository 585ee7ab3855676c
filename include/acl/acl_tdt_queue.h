/* SPDX-License-Identifier: MIT */
/*
 * acl_tdt_queue.h - queues of shared buffers between processes, routes between queues.
 */
#ifndef INC_EXTERNAL_ACL_ACL_TDT_QUEUE_H_
#define INC_EXTERNAL_ACL_ACL_TDT_QUEUE_H_

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What another process may do with a queue: bits. */
#define ACL_TDT_QUEUE_PERMISSION_MANAGE 1
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 2
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 4

/* State of a route. */
#define ACL_TDT_QUEUE_ROUTE_UNBIND 0
#define ACL_TDT_QUEUE_ROUTE_BIND 1
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2

typedef void *acltdtBuf;
typedef struct tagMemQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;
typedef struct acltdtQueueRoute acltdtQueueRoute;

/* The names end in the type of the value. NAME_PTR's value is the pointer, not the characters. */
typedef enum {
	ACL_TDT_QUEUE_NAME_PTR = 0,
	ACL_TDT_QUEUE_DEPTH_UINT32,
} acltdtQueueAttrType;

typedef enum {
	ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
	ACL_TDT_QUEUE_ROUTE_DST_UINT32,
	ACL_TDT_QUEUE_ROUTE_STATUS_INT32,
} acltdtQueueRouteParamType;

/* Which routes a query finds. */
typedef enum {
	ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
	ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
	ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
	ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100,
} acltdtQueueRouteQueryMode;

typedef enum {
	ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
	ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32,
	ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32,
} acltdtQueueRouteQueryInfoParamType;

typedef enum {
	ACL_TDT_NORMAL_MEM = 0,
	ACL_TDT_DVPP_MEM,	/* that the media engines can use */
} acltdtAllocBufType;

/* ---- Queues. Timeouts are in milliseconds, -1: none ------------------------------------------ */

/* Its id, valid in this process and in those that attach. */
ACL_FUNC_VISIBILITY aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueue(uint32_t qid);
/* The buffer goes over to the queue. */
ACL_FUNC_VISIBILITY aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);
/* The buffer goes over to the caller. */
ACL_FUNC_VISIBILITY aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout);
/* Copies in; userData of up to 96 bytes goes along. rsv 0. */
ACL_FUNC_VISIBILITY aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize,
		const void *userData, size_t userDataSize, int32_t timeout, uint32_t rsv);
/* Copies out, *retDataSize bytes. */
ACL_FUNC_VISIBILITY aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize,
		size_t *retDataSize, void *userData, size_t userDataSize, int32_t timeout);
/* Lets a process attach, with ACL_TDT_QUEUE_PERMISSION_* bits. */
ACL_FUNC_VISIBILITY aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission,
		int32_t timeout);
/* Waits until the queue is granted to this process. */
ACL_FUNC_VISIBILITY aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission);

/* ---- Attributes of a queue ------------------------------------------------------------------- */

/* NULL on failure. */
ACL_FUNC_VISIBILITY acltdtQueueAttr *acltdtCreateQueueAttr(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr);
ACL_FUNC_VISIBILITY aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type,
		size_t len, const void *param);
/* len: room at param; *paramRetSize: bytes stored. */
ACL_FUNC_VISIBILITY aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr,
		acltdtQueueAttrType type, size_t len, size_t *paramRetSize, void *param);

/* ---- Routes: what is put into one queue comes out of another --------------------------------- */

/* Each route of the list gets its state. */
ACL_FUNC_VISIBILITY aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList);
ACL_FUNC_VISIBILITY aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList);
ACL_FUNC_VISIBILITY aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo,
		acltdtQueueRouteList *qRouteList);

ACL_FUNC_VISIBILITY acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route);
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route,
		acltdtQueueRouteParamType type, size_t len, size_t *paramRetSize, void *param);

ACL_FUNC_VISIBILITY acltdtQueueRouteList *acltdtCreateQueueRouteList(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList);
/* Copies the route. */
ACL_FUNC_VISIBILITY aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList,
		const acltdtQueueRoute *route);
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList,
		size_t index, acltdtQueueRoute *route);
ACL_FUNC_VISIBILITY size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList);

ACL_FUNC_VISIBILITY acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRouteQueryInfo(
		const acltdtQueueRouteQueryInfo *info);
ACL_FUNC_VISIBILITY aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
		acltdtQueueRouteQueryInfoParamType type, size_t len, const void *value);

/* ---- Buffers, and chains of them ------------------------------------------------------------- */

/* type: acltdtAllocBufType. */
ACL_FUNC_VISIBILITY aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf);
/* A chain is freed by its head. */
ACL_FUNC_VISIBILITY aclError acltdtFreeBuf(acltdtBuf buf);
/* Address and size in bytes of the data. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size);
/* How much of the size is in use; at most all of it. */
ACL_FUNC_VISIBILITY aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);
ACL_FUNC_VISIBILITY aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len);
ACL_FUNC_VISIBILITY aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);
ACL_FUNC_VISIBILITY aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num);
ACL_FUNC_VISIBILITY aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index,
		acltdtBuf *buf);
/* 96 bytes of the program's own that travel with the buffer: size bytes of them, from offset on. */
ACL_FUNC_VISIBILITY aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size,
		size_t offset);
ACL_FUNC_VISIBILITY aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size,
		size_t offset);
/* Another head for the same data, counted. */
ACL_FUNC_VISIBILITY aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_ACL_TDT_QUEUE_H_ */
