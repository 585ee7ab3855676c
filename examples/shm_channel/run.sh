#!/bin/bash
# SPDX-License-Identifier: MIT
# A writer and a reader exchange batches in place through shared device memory, with small and with huge pages.
# Then either is killed: the other ends with an error within its timeout, the next pair works, and nothing is left
# behind.
. "$(dirname "${BASH_SOURCE[0]}")/../common/run.bash"

batches=1000
timeout=3 # seconds that either side waits for the other
lost=3 # exit status of the one whose peer has gone

# Everything that could be left behind by a name would be left in one of these, which are empty now, or in /dev/shm.
mkdir "$dir/tmp" "$dir/home" "$dir/run" "$dir/work"
export TMPDIR=$dir/tmp HOME=$dir/home XDG_RUNTIME_DIR=$dir/run
cd "$dir/work"
shm_before=$(ls -A /dev/shm)
# The device runs under a name of its own, so that it is told apart from those of other instances.
ln -s "$build/bin/vincid" "$dir/vincid"
export VINCI_SERVER=$dir/vincid

# exchange small|huge: a pair of processes passes all batches
exchange() {
	local writer reader
	run writer "$dir" $batches $timeout "$1" &
	writer=$!
	run reader "$dir" $timeout &
	reader=$!
	wait $writer || fail "the writer ended with $?"
	wait $reader || fail "the reader ended with $?"
	echo "-- $batches batches through $1 pages"
}

# kill_one writer|reader: starts an endless pair, kills one when batches flow, and sees what becomes of the other
kill_one() {
	local victim=$1 survivor pid_writer pid_reader line status=0 since
	survivor=$([ "$victim" = writer ] && echo reader || echo writer)
	run writer "$dir" 0 $timeout small >"$dir/progress" &
	pid_writer=$!
	run reader "$dir" $timeout >"$dir/progress" &
	pid_reader=$!

	exec 5<"$dir/progress"
	while IFS= read -r -t 30 line <&5; do
		echo "$line"
		[ "$line" != "$survivor: batches flow" ] || break
	done
	[ "$line" = "$survivor: batches flow" ] || fail "no batch came through"
	[ "${VINCI_DRIVER:-soft}" != soft ] || [ -n "$(device_pids)" ] || fail "the device does not run as $VINCI_SERVER"
	local -n pid_victim=pid_$victim pid_survivor=pid_$survivor
	kill -9 "$pid_victim"
	since=$SECONDS
	{ wait "$pid_victim" || true; } 2>/dev/null
	wait "$pid_survivor" || status=$?
	cat <&5
	exec 5<&-
	[ $status -eq $lost ] || fail "the $survivor ended with $status instead of $lost"
	[ $((SECONDS - since)) -le $((timeout + 5)) ] || fail "the $survivor took $((SECONDS - since)) s"
	echo "-- the $victim was killed, the $survivor noticed"
}

# The device leaves with its last client. There can be two for a moment: one that leaves and its successor.
device_pids() {
	local file arguments
	for file in /proc/[0-9]*/cmdline; do
		IFS= read -r -d '' arguments <"$file" || continue
		[ "$arguments" != "$VINCI_SERVER" ] || { file=${file#/proc/}; echo "${file%/cmdline}"; }
	done 2>/dev/null
}

nothing_left() {
	local pid place
	for pid in $(device_pids); do
		timeout 10 tail --pid="$pid" -s 0.1 -f /dev/null || fail "vincid $pid is still there"
	done
	case $(cat /proc/net/unix) in
	*"@vinci-$(id -u)-$VINCI_INSTANCE-"*) fail "its socket is still there" ;;
	esac
	[ "$(ls -A /dev/shm)" = "$shm_before" ] || fail "left in /dev/shm: $(ls -A /dev/shm)"
	for place in tmp home run work; do
		[ -z "$(ls -A "$dir/$place")" ] || fail "left in $place: $(ls -A "$dir/$place")"
	done
	echo "-- nothing is left behind"
}

mailboxes writer-reader
mkfifo "$dir/progress"
exchange small
exchange huge
kill_one writer
exchange small
nothing_left
kill_one reader
exchange small
nothing_left
echo "PASS $example: $batches batches four times, both deaths survived"
