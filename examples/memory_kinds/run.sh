#!/bin/bash
# SPDX-License-Identifier: MIT
# Two-dimensional and batched copies, and host memory that a kernel writes.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together memory || fail "a call did not answer as it should"
printed "memory: rows: \"Atlas, Titan bears up the whole heaven\", '.' between them"
printed "memory: batch: \"three.cop.ieso..\""
printed "memory: host memory: a kernel wrote 123"
echo "PASS $example: all bytes where they belong"
