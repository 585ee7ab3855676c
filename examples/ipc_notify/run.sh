#!/bin/bash
# SPDX-License-Identifier: MIT
# Process A's stream waits for a notify that process B records; process C is not on the whitelist.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

mailboxes A-B A-C
together proc_a proc_b stranger || fail "a process failed"
printed "B: source value 123 written, notify recorded"
printed "A: the notify came, destination value 123"
printed "C: aclrtNotifyImportByKey is refused with 507899:"
echo "PASS $example: 123 on both sides, the stranger was refused"
