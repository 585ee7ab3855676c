/* SPDX-License-Identifier: MIT */
/* cmocka 1.1 does not declare its functions for C++. */
#ifndef VINCI_TESTS_CMOCKA_CPP_H
#define VINCI_TESTS_CMOCKA_CPP_H

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

#endif /* VINCI_TESTS_CMOCKA_CPP_H */
