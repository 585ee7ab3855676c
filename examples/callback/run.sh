#!/bin/bash
# SPDX-License-Identifier: MIT
# Host functions and callbacks: each in its stream's order, and in whose thread.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

# numbers_of callback: in the order in which they ran
numbers_of() {
	grep -oE "$1 [0-9] runs" "$dir/log" | tr -cd '0-9'
}

together callbacks || fail "a call did not answer as it should"
[ "$(numbers_of 'host function')$(numbers_of callback)" = 123123 ] || fail "they ran in another order"
printed "callbacks: host function 3 runs in a thread of the library"
printed "callbacks: callback 3 runs in the subscribed thread"
printed "callbacks: the kernel after callback 3 was the last"
echo "PASS $example: everything ran in its order and in its thread"
