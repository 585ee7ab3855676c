/* SPDX-License-Identifier: MIT */
/*
 * Place of the offline model API, which belongs to CANN's graph engine. Only what the runtime's own
 * functions take as arguments is here.
 */
#ifndef INC_EXTERNAL_ACL_ACL_MODEL_H_
#define INC_EXTERNAL_ACL_ACL_MODEL_H_

#include "acl_base.h"
#include "acl_rt.h"

/* Roles of a stream in aclmdlRIBindStream: HEAD starts with the model, others when activated. */
#define ACL_MODEL_STREAM_FLAG_HEAD 0x00000000U
#define ACL_MODEL_STREAM_FLAG_DEFAULT 0x7FFFFFFFU

#endif /* INC_EXTERNAL_ACL_ACL_MODEL_H_ */
