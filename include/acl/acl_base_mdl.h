/* SPDX-License-Identifier: MIT */
/*
 * Place of the basic types of models and operators. They belong to CANN's graph engine, which
 * replaces this file when it is installed; the runtime declares none.
 */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_MDL_H_
#define INC_EXTERNAL_ACL_ACL_BASE_MDL_H_

#include "acl_base_rt.h"

#endif /* INC_EXTERNAL_ACL_ACL_BASE_MDL_H_ */
