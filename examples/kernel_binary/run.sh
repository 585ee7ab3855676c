#!/bin/bash
# SPDX-License-Identifier: MIT
# A kernel from a binary, with a list of arguments and a table that travels with the launch.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

cp "$programs/polynomial.o" "$dir"
together launch || fail "a call did not answer as it should"
printed "launch: the kernel has 4 parameters"
printed "launch: 1000 values, 0 wrong"
echo "PASS $example: 1000 values of 8 blocks are right"
