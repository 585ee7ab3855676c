/* SPDX-License-Identifier: MIT */
/* Place of the single-operator API (aclop*), which belongs to CANN's graph engine. */
#ifndef INC_EXTERNAL_ACL_ACL_OP_H_
#define INC_EXTERNAL_ACL_ACL_OP_H_

#include "acl_base.h"
#include "acl_rt.h"

#endif /* INC_EXTERNAL_ACL_ACL_OP_H_ */
