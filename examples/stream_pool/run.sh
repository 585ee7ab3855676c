#!/bin/bash
# SPDX-License-Identifier: MIT
# Batches share memory because they follow each other in a stream.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together batches || fail "a call did not answer as it should"
printed "pool: 8 batches were right; at most 2 MiB were in use and 2 MiB taken from the device"
printed "pool: another stream gets other memory, and the same after an event"
printed "pool: trimmed: 0 MiB are left"
echo "PASS $example: eight batches in the memory of one"
