#!/bin/bash
# SPDX-License-Identifier: MIT
# Process A exports physical memory without a whitelist; process B reads it after A has released it.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

mailboxes A-B
together proc_a proc_b || fail "a process failed"
printed "A: source value 123"
printed "A: aclrtMemSetPidToShareableHandle is refused with 207006:"
printed "B: destination value 123"
echo "PASS $example: 123 on both sides"
