#!/bin/bash
# SPDX-License-Identifier: MIT
# What two devices are, and which thread works on which.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together contexts || fail "a call did not answer as it should"
printed "contexts: device 1: Ascend910B1, 64 GiB, 48 vector cores"
printed "contexts: the context made last is current: device 1"
printed "contexts: it took one, is on device 1, and reads 123 there"
printed "contexts: this thread is still on device 0"
echo "PASS $example: each thread was on the device of its context"
