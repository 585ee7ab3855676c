# SPDX-License-Identifier: MIT
# Read by every run.sh: builds if nobody has, gives the example a device instance and a directory of its own, and
# removes what is left of it at the end. Needs bash and coreutils.
#
#   run.sh              configures and builds the project in <top>/build and runs what was built there
#   run.sh <build-dir>  runs what was built there
#
# EXAMPLE_UNDER="valgrind -q" runs the programs under that.
set -euo pipefail

example_dir=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
example=$(basename "$example_dir")
top=$(cd "$example_dir/../.." && pwd)

if [ $# -gt 0 ]; then
	build=$(cd "$1" && pwd)
else
	build=$top/build
	cmake -S "$top" -B "$build"
	cmake --build "$build" --target "example-$example" -j"$(nproc)"
fi
programs=$build/examples/$example

# Its own device: nobody else's programs are on it.
export VINCI_INSTANCE=example-$example-$$
dir=$(mktemp -d)

finish() {
	# Only what this script started and has not waited for.
	for pid in $(jobs -p); do kill -9 "$pid" 2>/dev/null || true; done
	rm -rf "$dir"
}
trap finish EXIT

# mailboxes A-B A-C: the FIFOs for these pairs of processes, in both directions
mailboxes() {
	local pair
	for pair; do mkfifo -m 600 "$dir/$pair" "$dir/${pair#*-}-${pair%-*}"; done
}

# run proc_a argument...: becomes that program, so it is for subshells and the background
run() {
	exec ${EXAMPLE_UNDER:-} "$programs/$1" "${@:2}"
}

# together proc_a proc_b...: runs these programs at once, each with the directory of the mailboxes; what they
# print goes to our output and to $dir/log, in the order in which it was printed. Fails if one of them does.
together() {
	all_of "$@" | tee "$dir/log"
}

all_of() {
	local program pids=() pid status=0
	for program; do
		run "$program" "$dir" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
	return "$status"
}

# printed 'B: it reads 123': that very line was printed
printed() {
	local line
	while IFS= read -r line; do
		[ "$line" != "$1" ] || return 0
	done <"$dir/log"
	fail "this line is missing: $1"
}

fail() {
	echo "FAIL $example: $*"
	exit 1
}
