#!/bin/bash
# SPDX-License-Identifier: MIT
# Process A's stream waits for a notify without a whitelist, which process B records.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

mailboxes A-B
together proc_a proc_b || fail "a process failed"
printed "A: aclrtNotifySetImportPid is refused with 207006:"
printed "B: source value 123 written, notify recorded"
printed "A: the notify came, destination value 123"
printed "A: two records were one signal: the second wait timed out with 107020:"
echo "PASS $example: 123 on both sides"
