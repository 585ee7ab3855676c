// SPDX-License-Identifier: MIT
#define OFFSET 0
