#!/bin/bash
# SPDX-License-Identifier: MIT
# install_test.sh <build directory> <cmake>: installs to a place of its own, moves it, and uses it in each way that is promised.
set -euo pipefail
build=$1
cmake=$2
source_dir=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/install_tree
sanitize=${VINCI_SANITIZE:+-fsanitize=$VINCI_SANITIZE}
: "${CC:=cc}"

fail() {
	echo "install_test: $*" >&2
	exit 1
}

# A fresh shell with no trace of another installation; prints what the script set.
clean_shell() {
	env -u LD_LIBRARY_PATH -u ASCEND_HOME_PATH -u ASCEND_INSTALL_PATH -u ASCEND_TOOLKIT_HOME "$@"
}

rm -rf "$work"
mkdir -p "$work"

# Staged under DESTDIR for a prefix that does not exist here, as a package is made; then moved.
DESTDIR=$work/stage "$cmake" --install "$build" --prefix /opt/vinci >"$work/install.log"
root="$work/moved tree"
mv "$work/stage/opt/vinci" "$root"

check_tree() {
	local path
	for path in include/acl/acl.h include/acl/error_codes/rt_error_codes.h include/uapi/vinci_drm.h include/vinci/kernel.h \
		include/ascendc/kernel_operator.h lib64/libascendcl.so lib64/libacl_rt.so lib64/libacl_rt_impl.so set_env.sh \
		bin/setenv.bash bin/vincid bin/vinci-ascendc lib/cmake/vinci/vinciConfig.cmake lib/pkgconfig/vinci.pc; do
		[ -e "$root/$path" ] || fail "$path is missing"
	done
	machine=$(compgen -G "$root/*-linux/tikcpp/ascendc_kernel_cmake/ascendc.cmake") || fail "ascendc.cmake is missing"
	machine=${machine#"$root/"}
	machine=${machine%%-linux/*}
	for path in lib64/libacl_rt.so lib64/libacl_rt_impl.so lib64/libruntime.so; do
		[ "$root/$path" -ef "$root/lib64/libascendcl.so" ] || fail "$path is not libascendcl.so"
	done
	for path in lib64/stub "$machine-linux/lib64" "$machine-linux/devlib" runtime/lib64/stub acllib/lib64 compiler/lib64; do
		[ "$root/$path/libascendcl.so" -ef "$root/lib64/libascendcl.so" ] || fail "$path has not the library"
	done
	for path in "$machine-linux" runtime acllib compiler; do
		[ "$root/$path/include/acl/acl.h" -ef "$root/include/acl/acl.h" ] || fail "$path has not the headers"
	done
	for path in compiler tools; do
		[ -e "$root/$path/tikcpp/ascendc_kernel_cmake/ascendc.cmake" ] || fail "$path/tikcpp is missing"
	done
	! grep -rlI "$build" "$root" || fail "files above name the build directory"
}

# Sourcing: under set -eu, from elsewhere, by a relative path, twice; in bash by both names.
check_environment() {
	local script
	for script in set_env.sh bin/setenv.bash; do
		# shellcheck disable=SC2016
		clean_shell CDPATH=/tmp:/ bash -euc '
			cd "$1"
			source "$2"
			source "$2"
			[ "$ASCEND_HOME_PATH" = "$1" ] && [ "$ASCEND_INSTALL_PATH" = "$1" ]
			[ "$LD_LIBRARY_PATH" = "$1/lib64" ]
			case $PATH in "$1/bin:"*"$1/bin"*) exit 1 ;; "$1/bin:"*) ;; *) exit 1 ;; esac
			cd /
			source "$1/$2"
			[ "$ASCEND_HOME_PATH" = "$1" ] && [ "$LD_LIBRARY_PATH" = "$1/lib64" ]
		' - "$root" "$script" || fail "$script does not set what it should"
	done
	# A shell that cannot tell where the file is (not bash as sh) says so instead of pointing nowhere.
	configured=$(sed -n 's/^\t_vinci_root=\(\/.*\)/\1/p' "$root/set_env.sh")
	# shellcheck disable=SC2016
	! clean_shell sh -c '[ -z "${BASH_VERSION:-}" ] && . "$1/set_env.sh"' - "$root" 2>/dev/null ||
		[ -e "$configured/lib64/libascendcl.so" ] ||
		fail "set_env.sh accepts a prefix that is not there"
}

run_consumer() {
	local out
	# shellcheck disable=SC2016
	out=$(clean_shell bash -euc 'source "$1/set_env.sh"; LD_LIBRARY_PATH=${3:-$LD_LIBRARY_PATH} "$2"' - "$root" "$2" "${3:-}") ||
		fail "$1: the program failed"
	[ "$out" = 123 ] || fail "$1: the program printed '$out'"
}

check_cmake() {
	"$cmake" -S "$source_dir/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$CC" \
		-DCMAKE_C_FLAGS="$sanitize" >"$work/cmake.log"
	"$cmake" --build "$work/cmake" >>"$work/cmake.log" || fail "CMake package: $(tail -20 "$work/cmake.log")"
	run_consumer "CMake package" "$work/cmake/consumer"
}

check_pkg_config() {
	local flags
	flags=$(PKG_CONFIG_PATH="$root/lib/pkgconfig" pkg-config --cflags --libs vinci)
	# pkg-config escapes the spaces of a path, so its answer is read by the shell.
	# shellcheck disable=SC2086
	eval "\"$CC\" $sanitize \"$source_dir/consumer/consumer.c\" -o \"$work/by_pkg_config\" $flags" || fail "pkg-config"
	run_consumer "pkg-config" "$work/by_pkg_config"
}

# As CANN's users do it; all names at once still load one library.
check_plain() {
	# shellcheck disable=SC2086
	"$CC" $sanitize "$source_dir/consumer/consumer.c" -I"$root/include" -L"$root/lib64" -lascendcl -lacl_rt -lacl_rt_impl \
		-lruntime -o "$work/by_hand" || fail "plain compiler call"
	run_consumer "plain compiler call" "$work/by_hand"
	[ "$(LD_LIBRARY_PATH="$root/lib64" ldd "$work/by_hand" | grep -c "$root/lib64/")" = 1 ] ||
		fail "the names of the library do not lead to one file"
}

# Linked and run by the paths of a part: vincid is found from there too.
check_part() {
	# shellcheck disable=SC2086
	"$CC" $sanitize "$source_dir/consumer/consumer.c" -I"$root/runtime/include" -L"$root/runtime/lib64/stub" -lascendcl -lruntime \
		-o "$work/by_part" || fail "runtime/lib64/stub"
	run_consumer "runtime/lib64/stub" "$work/by_part" "$root/runtime/lib64/stub"
}

check_tree
check_environment
check_cmake
check_pkg_config
check_plain
check_part
