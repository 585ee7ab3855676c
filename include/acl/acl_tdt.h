/* SPDX-License-Identifier: MIT */
/*
 * acl_tdt.h - channels that carry datasets, each a list of tensors, between the host and a model on a
 * device.
 */
#ifndef INC_EXTERNAL_ACL_ACL_TDT_H_
#define INC_EXTERNAL_ACL_ACL_TDT_H_

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an item is: data, a slice of it, or a mark in the sequence. */
typedef enum acltdtTensorType {
	ACL_TENSOR_DATA_UNDEFINED = -1,
	ACL_TENSOR_DATA_TENSOR,
	ACL_TENSOR_DATA_END_OF_SEQUENCE,
	ACL_TENSOR_DATA_ABNORMAL,
	ACL_TENSOR_DATA_SLICE_TENSOR,
	ACL_TENSOR_DATA_END_TENSOR,
} acltdtTensorType;

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

/* ---- Items ----------------------------------------------------------------------------------- */

/* The item points at data, which stays the caller's. NULL on failure. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType,
		const int64_t *dims, size_t dimNum, aclDataType dataType, void *data, size_t size);
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataItem(acltdtDataItem *dataItem);
/* Of a NULL item: undefined, NULL, 0. */
ACL_FUNC_VISIBILITY acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem,
		size_t *sliceNum, size_t *sliceId);
/* dimNum: elements that dims has room for. */
ACL_FUNC_VISIBILITY aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims,
		size_t dimNum);

/* ---- Datasets -------------------------------------------------------------------------------- */

ACL_FUNC_VISIBILITY acltdtDataset *acltdtCreateDataset(void);
/* Its items stay the caller's. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataset(acltdtDataset *dataset);
ACL_FUNC_VISIBILITY aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem);
/* Borrowed; NULL beyond the last. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index);
ACL_FUNC_VISIBILITY size_t acltdtGetDatasetSize(const acltdtDataset *dataset);
/* Of a received one; NULL on failure. */
ACL_FUNC_VISIBILITY const char *acltdtGetDatasetName(const acltdtDataset *dataset);

/* ---- Channels -------------------------------------------------------------------------------- */

/* NULL on failure. */
ACL_FUNC_VISIBILITY acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name);
/* Holds up to capacity datasets, then sending waits. */
ACL_FUNC_VISIBILITY acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId,
		const char *name, size_t capacity);
/* Ends what waits on the channel; then it can be destroyed. */
ACL_FUNC_VISIBILITY aclError acltdtStopChannel(acltdtChannelHandle *handle);
ACL_FUNC_VISIBILITY aclError acltdtDestroyChannel(acltdtChannelHandle *handle);
/* Drops what is in it. */
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel(acltdtChannelHandle *handle);
/* timeout in milliseconds, -1: none, 0: do not wait. */
ACL_FUNC_VISIBILITY aclError acltdtSendTensor(const acltdtChannelHandle *handle,
		const acltdtDataset *dataset, int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtReceiveTensor(const acltdtChannelHandle *handle,
		acltdtDataset *dataset, int32_t timeout);
/* How many datasets are in it. */
ACL_FUNC_VISIBILITY aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle,
		size_t *size);

#ifdef __cplusplus
}
#endif

#endif /* INC_EXTERNAL_ACL_ACL_TDT_H_ */
