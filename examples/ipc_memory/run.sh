#!/bin/bash
# SPDX-License-Identifier: MIT
# Process A exports device memory by key for process B; process C is not on the whitelist.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

mailboxes A-B A-C
together proc_a proc_b stranger || fail "a process failed"
printed "A: source value 123"
printed "B: destination value 123"
printed "C: aclrtIpcMemImportByKey is refused with 507899:"
echo "PASS $example: 123 on both sides, the stranger was refused"
