/* SPDX-License-Identifier: MIT */
/*
 * AscendC for the CPU: the header that kernel sources include. Sources go through vinci-ascendc first (see
 * ascendc.cmake), which replaces the <<<>>> syntax; the rest is C++17.
 */
#ifndef VINCI_ASCENDC_KERNEL_OPERATOR_H
#define VINCI_ASCENDC_KERNEL_OPERATOR_H

#ifndef __cplusplus
#error "kernel_operator.h is for C++17"
#endif

#include "impl/qualifiers.h"
#include "impl/print.h"
#include "impl/block.h"
#include "impl/half.h"
#include "impl/tensor.h"
#include "impl/pipe.h"
#include "impl/copy.h"
#include "impl/vector.h"
#include "impl/convert.h"
#include "impl/reduce.h"
#include "impl/arrange.h"
#include "impl/core.h"
#include "impl/launch.h"

#endif /* VINCI_ASCENDC_KERNEL_OPERATOR_H */
