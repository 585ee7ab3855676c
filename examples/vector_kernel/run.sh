#!/bin/bash
# SPDX-License-Identifier: MIT
# A vector kernel, launched through the header that the build makes, and a variable of its.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together norm || fail "a call did not answer as it should"
printed "norm: the kernel's variable has room for 256 gains"
printed "norm: 12800 values, 0 wrong"
echo "PASS $example: 12800 values of 8 blocks are right"
