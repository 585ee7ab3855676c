#!/bin/bash
# SPDX-License-Identifier: MIT
# Two streams take turns by a number in device memory.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

together handshake || fail "a call did not answer as it should"
printed "handshake: 6 turns are queued: the first stream waits, the second waits"
printed "handshake: the word counted to 7, the first stream's value is 123"
echo "PASS $example: six turns without the host"
