#!/bin/bash
# SPDX-License-Identifier: MIT
# What two streams do is recorded once and run five times.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together replay || fail "a call failed"
printed "replay: recorded: nothing has run, the result is still 123"
printed "replay: 5 runs of 3 launches each: the results' sum is 300"
echo "PASS $example: a record was run for five inputs"
