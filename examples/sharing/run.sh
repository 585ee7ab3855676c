#!/bin/bash
# SPDX-License-Identifier: MIT
# Two processes share device memory, physical memory and a notify; a third, which is on no whitelist, gets nothing.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

mailboxes A-B A-C
together proc_a proc_b stranger || fail "a process failed"
printed "B: a kernel on device 3 reads 123 from the IPC memory"
printed "B: a kernel on device 3 reads 123 from the physical memory"
printed "A: the notify came; B's answer in the physical memory is 124"
printed "C: aclrtIpcMemImportByKey is refused with 507899:"
printed "C: aclrtMemImportFromShareableHandle is refused with 507899:"
printed "C: aclrtNotifyImportByKey is refused with 507899:"
echo "PASS $example: A and B exchanged 123 and 124 in both kinds of memory and by notify; C was refused three times"
