/* SPDX-License-Identifier: MIT */
/*
 * acl_dump.h - writing the data of operators to files: of all, of those that overflow, of those
 * that fail.
 */
#ifndef INC_EXTERNAL_ACL_DUMP_H_
#define INC_EXTERNAL_ACL_DUMP_H_

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __GNUC__
#define ACL_DUMP_API __attribute__((visibility("default")))
/* NULL in a program whose libraries do not have the function. */
#define ACL_DUMP_WEAK __attribute__((weak))
#else
#define ACL_DUMP_API
#define ACL_DUMP_WEAK
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096	/* bytes, with the NUL */
#define ACL_DUMP_MAX_SHAPE_NUM 25	/* dimensions */

/* ---- Receiving a dump instead of files ------------------------------------------------------- */

/* A piece of one file: bufLen bytes at offset (-1: append). */
typedef struct acldumpChunk {
	char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH];	/* absolute */
	uint32_t bufLen;
	uint32_t isLastChunk;	/* 1 when the file is complete with it */
	int64_t offset;
	int32_t flag;	/* reserved */
	__extension__ uint8_t dataBuf[0];
} acldumpChunk;

/* From now on the callback gets the chunks (with their length in bytes) and no file is written. */
ACL_DUMP_API aclError acldumpRegCallback(
		int32_t (*const messageCallback)(const acldumpChunk *, int32_t), int32_t flag);
ACL_DUMP_API void acldumpUnregCallback(void);

/* ---- Arguments of operators ------------------------------------------------------------------ */

#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U

/* Starts to write what dumpType says under the directory path. */
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char *path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

/* The first three are written when a kernel fails, each with more than the one before. */
typedef enum acldumpType {
	AIC_ERR_BRIEF_DUMP = 1,
	AIC_ERR_NORM_DUMP = 2,	/* and shapes, types, formats */
	AIC_ERR_DETAIL_DUMP = 3,	/* and the core's memories and registers */
	DATA_DUMP = 4,
	OVERFLOW_DUMP = 5,
} acldumpType;

/* Where dumps of that kind go; NULL when they are off. */
ACL_FUNC_VISIBILITY const char *acldumpGetPath(acldumpType dumpType);

/* ---- Own data beside the dump of a failure --------------------------------------------------- */

typedef enum acldumpTensorType {
	ACL_DUMP_TENSOR_INPUT = 0,
	ACL_DUMP_TENSOR_OUTPUT,
	ACL_DUMP_TENSOR_WORKSPACE,
} acldumpTensorType;

/* How many pointers tensorAddr is away from the data: one, two, none. */
typedef enum acldumpTensorAddressType {
	ACL_DUMP_ADDR_PTR = 0,
	ACL_DUMP_ADDR_PTR_PTR,
	ACL_DUMP_ADDR_RAW,
} acldumpTensorAddressType;

typedef enum acldumpTensorPlacement {
	ACL_DUMP_PLACEMENT_DEVICE = 0,
	ACL_DUMP_PLACEMENT_HOST,
	ACL_DUMP_PLACEMENT_END,	/* not a place: the number of them */
} acldumpTensorPlacement;

typedef struct acldumpTensorInfo {
	acldumpTensorType type;
	size_t tensorSize;	/* bytes */
	int32_t format;	/* aclFormat */
	int32_t dataType;	/* aclDataType */
	int64_t *tensorAddr;
	acldumpTensorAddressType addrType;
	acldumpTensorPlacement placement;
	uint32_t argsOffset;	/* bytes into the kernel's arguments */
	uint32_t shapeNum;	/* dimensions in use */
	uint32_t originShapeNum;
	uint64_t shape[ACL_DUMP_MAX_SHAPE_NUM];
	uint64_t originShape[ACL_DUMP_MAX_SHAPE_NUM];
} acldumpTensorInfo;

/*
 * Writes tensors of device memory (placement DEVICE, address RAW) to a file of that relative name,
 * with a time stamp appended, under the directory below. userTag may be NULL. 100000: no name, a ".."
 * in it, no tensors, one without address or size, or with more than ACL_DUMP_MAX_SHAPE_NUM dimensions.
 */
ACL_DUMP_WEAK ACL_FUNC_VISIBILITY aclError acldumpSaveExceptionInfo(const char *fileName,
		const char *userTag, const acldumpTensorInfo *tensors, size_t tensorCount);
/* The directory of the current device, with its NUL, into maxLen bytes. */
ACL_DUMP_WEAK ACL_FUNC_VISIBILITY aclError acldumpGetExceptionInfoPath(char *path, size_t maxLen);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_DUMP_H_ */
