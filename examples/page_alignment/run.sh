#!/bin/bash
# SPDX-License-Identifier: MIT
# Which pieces of device memory can be exported, and what the library says about those that cannot. The program
# compares every answer with the one that its table expects.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together alignment || fail "an answer was not the expected one"
printed "alignment: its second page: exported, the importer is told 2097152 bytes"
printed "alignment: physical memory comes in multiples of 2048 KiB"
echo "PASS $example: whole pages are exportable, nothing else is"
