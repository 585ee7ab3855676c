#!/bin/bash
# SPDX-License-Identifier: MIT
# A stream waits for an event of another, and the time between two events.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together order || fail "a call failed"
printed "order: all is queued: the event is not reached, the reader waits"
printed "order: the gate is open: the event is reached, the reader read 123"
printed "order: from event to event the writer took some time"
echo "PASS $example: the reader waited for the writer"
