#!/bin/bash
# SPDX-License-Identifier: MIT
# What a refused call and a failing kernel tell.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together errors || fail "a call did not answer as it should"
printed "errors: the thread's last error is 107000, and taking it clears it: 0"
printed "errors: a sentence is handed out once: nothing is left"
printed "errors: exception: a stream, a task, a thread: all known"
printed "errors: the launch worked, waiting for it tells 507035:"
printed "errors: the other stream goes on: 1"
echo "PASS $example: every error had its code and its sentence"
