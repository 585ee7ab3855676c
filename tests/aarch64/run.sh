#!/bin/bash
# SPDX-License-Identifier: MIT
# Cross-builds everything for aarch64 and runs what is labelled qemu (unit, abi, uapi in process) under qemu-user, beside a vincid
# under qemu-user: an emulated program cannot start one. Needs: gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user and
# libcmocka-dev, libdrm-dev, libnuma-dev of arm64.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build-aarch64}
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
cmake -S "$top" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$top/cmake/aarch64-linux-gnu.cmake"
cmake --build "$build" -j"$(nproc)"

meeting=$(mktemp -d)
qemu-aarch64 "$build/bin/vincid" --socket="$meeting/vincid" &
server=$!
trap 'kill $server; wait $server || true; rm -r "$meeting"' EXIT
until [ -S "$meeting/vincid" ]; do kill -0 $server; done
export VINCI_SOCKET=$meeting/vincid
ctest --test-dir "$build" --output-on-failure --no-tests=error -L qemu
